package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
)

// send stores a message, visible after delay and not before its own time. The
// caller refreshes the inbox, once for all messages of an instance.
func (t *tx) send(ctx context.Context, m message, delay int64) error {
	return t.EnqueueMessage(ctx, sqlitedb.EnqueueMessageParams{
		InstanceID: m.instance,
		Kind:       m.kind,
		WorkItem:   m.body,
		VisibleAt:  max(m.notBefore, t.now+delay),
		CreatedAt:  t.now,
	})
}

// refresh stores anew whether the instance may be fetched (§5.1).
func (t *tx) refresh(ctx context.Context, instance string) error {
	inbox, err := t.RefreshInbox(ctx, &t.now, instance)
	if errors.Is(err, sql.ErrNoRows) {
		// Leased, or without messages.
		return nil
	}
	if err != nil {
		return err
	}
	if inbox.HeadID != nil {
		t.instances++
	}
	if inbox.WakeAt != nil {
		t.instanceWake = earlier(t.instanceWake, *inbox.WakeAt)
	}
	return nil
}

// refreshDue refreshes instances of which a lease or delay has ended and returns how
// many. When very many timers fire at once it is a portion of them, so that everybody
// else gets a turn in between.
func (t *tx) refreshDue(ctx context.Context) (int, error) {
	due, err := t.ResetDueInboxes(ctx, &t.now)
	if err != nil {
		return 0, err
	}
	for _, instance := range due {
		if err := t.refresh(ctx, instance); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// unlock ends the instance's lease.
func (t *tx) unlock(ctx context.Context, instance string) error {
	gone, err := t.DeleteEmptyInbox(ctx, instance)
	if err != nil || gone == 1 {
		return err
	}
	if err := t.UnlockInbox(ctx, instance); err != nil {
		return err
	}
	return t.refresh(ctx, instance)
}

// lock is an instance's lease. It may have ended.
type lock struct {
	token, instance string
	// since and until bound it.
	since, until int64
}

// findLock returns the lease that the token opens.
func (t *tx) findLock(ctx context.Context, operation, token string) (lock, error) {
	inbox, err := t.GetInboxByToken(ctx, &token)
	if errors.Is(err, sql.ErrNoRows) {
		return lock{}, invalidToken(operation,
			"the turn was already acknowledged or abandoned, its lease ended and somebody else has the instance, or the instance was deleted")
	}
	if err != nil {
		return lock{}, err
	}
	return lock{token: token, instance: inbox.InstanceID, since: *inbox.LockedAt, until: *inbox.LockedUntil}, nil
}
