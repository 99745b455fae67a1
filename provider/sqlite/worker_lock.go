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

// The operations that label errors of calls on an activity's lease.
const (
	opAckWork   = "ack_work_item"
	opRenewWork = "renew_work_item_lock"
)

// AckWorkItem implements [provider.Provider]. One transaction deletes the activity and enqueues its completion.
//
// Errors: [provider.ErrInvalidLockToken], [provider.ErrLockExpired]; [provider.ErrInvalidArgument] for a completion
// that is not an ActivityCompletedItem or ActivityFailedItem.
func (s *Store) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	end, err := newWorkEnd(lockToken, completion)
	if err != nil {
		return err
	}
	return s.write(ctx, opAckWork, func(ctx context.Context, t *tx) error {
		if err := end.store(ctx, t); err != nil || completion == nil {
			return err
		}
		return t.deliver(ctx, end.message, 0)
	})
}

// workEnd is the end of an activity, checked.
type workEnd struct {
	token   string
	message columns.Message
}

// newWorkEnd checks an acknowledgement. Error: [provider.ErrInvalidArgument].
func newWorkEnd(lockToken string, completion provider.WorkItem) (workEnd, error) {
	m, err := columns.NewCompletion(opAckWork, completion, longText)
	return workEnd{lockToken, m}, err
}

// store ends the activity. The caller delivers the message, if there is a completion.
func (e workEnd) store(ctx context.Context, t *tx) error {
	secret, id := cutWorkToken(e.token)
	if t.noSession() {
		if n, err := t.EndWork(ctx, id, &secret, &t.now); err != nil || n == 1 {
			return err
		}
		return t.workLockLost(ctx, opAckWork, e.token)
	}
	session, err := t.FinishWork(ctx, id, &secret, &t.now)
	return t.afterWork(ctx, opAckWork, e.token, session, err)
}

// RenewWorkItemLock implements [provider.Provider].
//
// Errors: [provider.ErrInvalidLockToken], which tells the worker that the activity was cancelled, and
// [provider.ErrLockExpired]; both match [provider.ErrLockLost] and are permanent. Any other error says nothing about
// the lock.
func (s *Store) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	renew, err := renewWork(lockToken, extendFor)
	if err != nil {
		return err
	}
	return s.write(ctx, opRenewWork, renew)
}

// renewWork prepares the renewal. Error: [provider.ErrInvalidArgument].
func renewWork(lockToken string, extendFor time.Duration) (func(context.Context, *tx) error, error) {
	return renewWorkWith(opRenewWork, lockToken, extendFor, nil)
}

// renewWorkWith is renewWork with the details of a heartbeat, nil for none.
func renewWorkWith(
	operation, lockToken string, extendFor time.Duration, heartbeat *string,
) (func(context.Context, *tx) error, error) {
	lockFor, err := columns.Lease(operation, "extendFor", extendFor)
	secret, id := cutWorkToken(lockToken)
	return func(ctx context.Context, t *tx) error {
		until := t.now + lockFor
		t.wakeActivity(until)
		session, err := t.RenewWork(ctx, sqlitedb.RenewWorkParams{
			LockedUntil: &until, Heartbeat: heartbeat, ID: id, LockToken: &secret, Now: &t.now,
		})
		return t.afterWork(ctx, operation, lockToken, session, err)
	}, err
}

// KeepHeartbeat implements [provider.Store].
func (s *Store) KeepHeartbeat(ctx context.Context, lockToken string, extendFor time.Duration, details string) error {
	const operation = "keep_heartbeat"
	if err := columns.CheckHeartbeat(operation, details); err != nil {
		return err
	}
	renew, err := renewWorkWith(operation, lockToken, extendFor, &details)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, renew)
}

// afterWork ends a call on an activity's lease: it turns "no such live lease" into
// the reason, and otherwise stamps the session that the activity belongs to, if that
// is still live (contract §5.11, §5.12).
func (t *tx) afterWork(ctx context.Context, operation, token string, session *string, err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return t.workLockLost(ctx, operation, token)
	case err != nil || session == nil:
		return err
	}
	return t.StampSession(ctx, t.now, *session)
}

// workLockLost says why a token opens nothing.
func (t *tx) workLockLost(ctx context.Context, operation, token string) error {
	secret, id := cutWorkToken(token)
	expired, err := t.WorkTokenExists(ctx, id, &secret)
	if err != nil {
		return err
	}
	if expired {
		return columns.LockExpired(operation)
	}
	return columns.InvalidToken(operation)
}

// AbandonWorkItem implements [provider.Provider]. The activity keeps its
// session and its tag, and the owner keeps the session.
//
// Errors: [provider.ErrInvalidLockToken]; [provider.ErrInvalidArgument] for a
// negative Delay.
func (s *Store) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	const operation = "abandon_work_item"
	hideFor, err := columns.Delay(operation, "Delay", params.Delay)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.abandonWork(ctx, operation, params.LockToken, hideFor, params.IgnoreAttempt)
	})
}

// abandonWork puts the activity back, hidden for so many milliseconds. That the lease
// may have ended by itself does not matter as long as nobody else took it.
func (t *tx) abandonWork(ctx context.Context, operation, token string, hideFor int64, ignoreAttempt bool) error {
	secret, id := cutWorkToken(token)
	row, err := t.UnlockWork(ctx, sqlitedb.UnlockWorkParams{
		Ready: toInt(hideFor == 0), VisibleAt: t.now + hideFor, GiveBack: toInt(ignoreAttempt), ID: id, LockToken: &secret,
	})
	if errors.Is(err, sql.ErrNoRows) {
		return columns.InvalidToken(operation)
	}
	if err != nil {
		return err
	}
	if row.UnnamedCount > 0 && !ignoreAttempt {
		if named, err := t.isNamed(ctx, activityCode, row.CodeID); err != nil {
			return err
		} else if named {
			if err := t.GiveUnnamedBack(ctx, id); err != nil {
				return err
			}
		}
	}
	if hideFor == 0 {
		t.workReady(row.Tag, row.SessionID, row.CodeID, id)
	} else {
		t.wakeActivity(t.now + hideFor)
	}
	return nil
}

// LostWorkItems implements [provider.Store]. It only reads, so it never waits for a write.
func (s *Store) LostWorkItems(ctx context.Context, lockTokens []string) (lost []string, err error) {
	const operation = "lost_work_items"
	if len(lockTokens) == 0 {
		return nil, nil
	}
	list := make([][2]any, len(lockTokens))
	for i, token := range lockTokens {
		secret, id := cutWorkToken(token)
		list[i] = [2]any{id, secret}
	}
	tokens, err := jsonList(operation, list)
	if err != nil {
		return nil, err
	}
	var places []int64
	err = s.read(ctx, operation, func(ctx context.Context, q *sqlitedb.Queries) (err error) {
		places, err = q.ListLostWork(ctx, tokens)
		return err
	})
	for _, place := range places {
		lost = append(lost, lockTokens[place])
	}
	return lost, err
}
