package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// lock is an instance's lease. It may have ended: as long as nobody else has taken
// the instance, the token still finds it.
type lock struct {
	secret, instance string
	// code is that of the turn.
	code int64
	// since and until bound it, in milliseconds.
	since, until int64
}

// findLock returns the lease that the token opens. Error:
// [provider.ErrInvalidLockToken].
func (t *tx) findLock(ctx context.Context, operation, token string) (lock, error) {
	secret, instance := cutTurnToken(token)
	row, err := t.GetLock(ctx, instance, &secret)
	if errors.Is(err, sql.ErrNoRows) {
		return lock{}, columns.InvalidToken(operation)
	}
	if err != nil {
		return lock{}, err
	}
	return lock{secret: secret, instance: instance, code: row.CodeID, since: *row.LockedAt, until: *row.LockedUntil}, nil
}

// liveLock is findLock for a lease that must not have ended. Errors:
// [provider.ErrInvalidLockToken], [provider.ErrLockExpired].
func (t *tx) liveLock(ctx context.Context, operation, token string) (lock, error) {
	held, err := t.findLock(ctx, operation, token)
	if err == nil && held.until <= t.now {
		err = columns.LockExpired(operation)
	}
	return held, err
}

// endLock ends a live lease that the token opens, for a turn that is committed: at once if the
// turn has all messages of the instance. If not, ended is false, and the caller unlocks when
// everything else is done. Errors: as liveLock's.
func (t *tx) endLock(ctx context.Context, operation, token string) (held lock, ended bool, err error) {
	secret, instance := cutTurnToken(token)
	if k := t.kept(instance); k.lockedBy(secret) && k.complete {
		if len(k.waiting) > 0 {
			held, err = t.liveLock(ctx, operation, token)
			return held, false, err
		}
		n, err := t.EndLastLock(ctx, instance, &secret, &t.now)
		if err != nil || n == 1 {
			return lock{secret: secret, instance: instance, since: k.since}, true, err
		}
	}
	since, err := t.EndLock(ctx, instance, &secret, &t.now)
	if errors.Is(err, sql.ErrNoRows) {
		held, err = t.liveLock(ctx, operation, token)
		return held, false, err
	}
	if err != nil {
		return lock{}, false, err
	}
	return lock{secret: secret, instance: instance, since: *since}, true, nil
}

// unlock ends the instance's lease, whoever has it.
func (t *tx) unlock(ctx context.Context, instance string) error {
	t.drop(instance)
	// Most turns leave no message behind, and then there is nothing to compute.
	gone, err := t.DeleteEmptyInbox(ctx, instance)
	if err != nil || gone == 1 {
		return err
	}
	if err := t.UnlockInbox(ctx, instance); err != nil {
		return err
	}
	return t.refresh(ctx, instance)
}

// AbandonOrchestrationItem implements [provider.Provider]. It affects only messages that the token holds, not the
// instance's timers or messages that arrived later.
//
// Errors: [provider.ErrInvalidLockToken]; [provider.ErrInvalidArgument] for a
// negative Delay.
func (s *Store) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	const operation = "abandon_orchestration_item"
	hideFor, err := columns.Delay(operation, "Delay", params.Delay)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.abandonTurn(ctx, operation, params, hideFor)
	})
}

// abandonTurn puts the batch back, hidden for so many milliseconds, and ends the
// lease. That the lease may have ended by itself does not matter.
func (t *tx) abandonTurn(ctx context.Context, operation string, given provider.AbandonParams, hideFor int64) error {
	held, err := t.findLock(ctx, operation, given.LockToken)
	if err != nil {
		return err
	}
	params := sqlitedb.UnlockMessagesParams{
		InstanceID: held.instance, LockedAt: held.since, LockToken: &held.secret, GiveBack: toInt(given.IgnoreAttempt), Now: t.now,
	}
	unnamedBack := given.IgnoreAttempt
	if !unnamedBack {
		if unnamedBack, err = t.isNamed(ctx, orchestrationCode, held.code); err != nil {
			return err
		}
	}
	params.UnnamedBack = toInt(unnamedBack)
	if given.Misfit != "" {
		params.Misfit = new(columns.Text(given.Misfit))
	}
	// Without a delay each message keeps the time it has: a new one would change
	// nothing but the order.
	if hideFor > 0 {
		params.VisibleAt = new(t.now + hideFor)
	}
	if err := t.UnlockMessages(ctx, params); err != nil {
		return err
	}
	return t.unlock(ctx, held.instance)
}

// toInt is a truth value as SQL has it.
func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// RenewOrchestrationItemLock implements [provider.Provider]. The new lease counts from now, so it can end earlier
// than the old one.
//
// Errors: [provider.ErrInvalidLockToken], [provider.ErrLockExpired];
// [provider.ErrInvalidArgument] when extendFor is not positive.
func (s *Store) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	renew, err := renewTurn(lockToken, extendFor)
	if err != nil {
		return err
	}
	return s.write(ctx, opRenewTurn, renew)
}

// opRenewTurn labels the renewal's errors.
const opRenewTurn = "renew_orchestration_item_lock"

// renewTurn prepares the renewal. Error: [provider.ErrInvalidArgument].
func renewTurn(lockToken string, extendFor time.Duration) (func(context.Context, *tx) error, error) {
	lockFor, err := columns.Lease(opRenewTurn, "extendFor", extendFor)
	secret, instance := cutTurnToken(lockToken)
	return func(ctx context.Context, t *tx) error {
		until := t.now + lockFor
		t.wakeInstance(until)
		renewed, err := t.RenewInbox(ctx, sqlitedb.RenewInboxParams{
			LockedUntil: &until, InstanceID: instance, LockToken: &secret, Now: &t.now,
		})
		if err != nil || renewed == 1 {
			return err
		}
		// Nothing was renewed: is the token unknown, or too late?
		if _, err := t.findLock(ctx, opRenewTurn, lockToken); err != nil {
			return err
		}
		return columns.LockExpired(opRenewTurn)
	}, err
}

// RenewLocks implements [provider.Store], as one transaction.
func (s *Store) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	if len(locks) == 0 {
		return nil, nil
	}
	const operation = "renew_locks"
	renewals := make([]func(context.Context, *tx) error, len(locks))
	for i, lock := range locks {
		if _, err := columns.Lease(operation, "ExtendFor", lock.ExtendFor); err != nil {
			return nil, err
		}
		renew := renewWork
		if lock.Turn {
			renew = renewTurn
		}
		var err error
		if renewals[i], err = renew(lock.LockToken, lock.ExtendFor); err != nil {
			return nil, err
		}
	}
	return written(ctx, s, operation, func(ctx context.Context, t *tx) ([]error, error) {
		outcomes := make([]error, len(renewals))
		for i, renew := range renewals {
			err := renew(ctx, t)
			if err != nil && !errors.Is(err, provider.ErrLockLost) {
				return nil, err
			}
			outcomes[i] = err
		}
		return outcomes, nil
	})
}
