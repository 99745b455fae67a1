package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// opFetchWork labels the fetch's errors.
const opFetchWork = "fetch_work_item"

// FetchWorkItem implements [provider.Provider]. It honours PollTimeout. When ctx
// ends while the activity is being locked, the lock is given back.
func (s *Store) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	f, err := newWorkFetch(params)
	if err != nil {
		return nil, err
	}
	if params.Tags.Mode() == provider.TagNone {
		return nil, nil
	}
	if err := s.enter(opFetchWork); err != nil {
		return nil, err
	}
	defer s.leave()
	return poll(ctx, s, s.activities, opFetchWork, params.PollTimeout,
		func(woken bool) (*provider.FetchedWorkItem, int64, error) { return s.lockWork(ctx, f, woken) })
}

// workFetch is what a fetch is looking for.
type workFetch struct {
	// lockFor is the activity's lease, sessionFor the session's, in milliseconds.
	lockFor, sessionFor int64
	// owner claims sessions; sessions says whether it does.
	owner    string
	sessions bool
	tags     provider.TagFilter
}

func newWorkFetch(params provider.FetchWorkParams) (workFetch, error) {
	f := workFetch{tags: params.Tags}
	var err error
	if f.lockFor, err = lease(opFetchWork, "LockTimeout", params.LockTimeout); err != nil {
		return workFetch{}, err
	}
	if params.Session == nil {
		return f, nil
	}
	f.sessions = true
	f.owner = params.Session.OwnerID
	if err := checkID(opFetchWork, "session owner id", f.owner); err != nil {
		return workFetch{}, err
	}
	if f.sessionFor, err = lease(opFetchWork, "Session.LockTimeout", params.Session.LockTimeout); err != nil {
		return workFetch{}, err
	}
	return f, nil
}

// lockWork is one try of a fetch. It returns when a try that finds nothing is
// worth repeating; a try that was woken wants to know that in any case.
func (s *Store) lockWork(ctx context.Context, f workFetch, woken bool) (*provider.FetchedWorkItem, int64, error) {
	// Not to be read when the call was left: it may still be under way.
	var outcome struct {
		found  *provider.FetchedWorkItem
		wakeAt int64
	}
	err := s.writer.do(ctx, &job{
		operation: opFetchWork,
		run: func(ctx context.Context, t *tx) (err error) {
			outcome.found, err = t.dueOrNextWork(ctx, s.log, f)
			if err != nil || (outcome.found != nil && !woken) {
				return err
			}
			outcome.wakeAt, err = t.nextActivityWake(ctx, f.sessions)
			return err
		},
		undo: func(ctx context.Context, t *tx) error {
			if outcome.found == nil {
				return nil
			}
			return t.abandonWork(ctx, opFetchWork, outcome.found.LockToken, 0, true)
		},
	})
	if err != nil {
		return nil, 0, err
	}
	return outcome.found, outcome.wakeAt, nil
}

// nextActivityWake returns when the next activity may become fetchable by itself,
// 0 for never.
func (t *tx) nextActivityWake(ctx context.Context, sessions bool) (int64, error) {
	wakeAt, err := t.NextWorkWake(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if !sessions {
		return wakeAt, nil
	}
	end, err := t.NextSessionWake(ctx, t.now)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	return earlier(wakeAt, end), nil
}

// dueOrNextWork makes what has come due fetchable, a portion at a time, until
// there is something to fetch.
func (t *tx) dueOrNextWork(ctx context.Context, log *slog.Logger, f workFetch) (*provider.FetchedWorkItem, error) {
	for {
		due, err := t.ReadyDueWork(ctx, &t.now)
		if err != nil {
			return nil, err
		}
		t.activities += int(due)
		found, err := t.nextWork(ctx, log, f)
		if found != nil || err != nil || due == 0 {
			return found, err
		}
	}
}

// nextWork locks activities until one can be decoded.
func (t *tx) nextWork(ctx context.Context, log *slog.Logger, f workFetch) (*provider.FetchedWorkItem, error) {
	for {
		id, err := t.findWork(ctx, f)
		if err != nil || id == 0 {
			return nil, err
		}
		token := uuid.NewString()
		until := t.now + f.lockFor
		row, err := t.LockWork(ctx, &token, &until, id)
		if err != nil {
			return nil, err
		}
		item, err := provider.DecodeWorkItem([]byte(row.WorkItem))
		if err != nil {
			if err := t.setWorkAside(ctx, log, id, row, err); err != nil {
				return nil, err
			}
			continue
		}
		if row.SessionID != nil {
			end := t.now + f.sessionFor
			if err := t.ClaimSession(ctx, sqlitedb.ClaimSessionParams{
				SessionID: *row.SessionID, WorkerID: f.owner, LockedUntil: end, Now: t.now,
			}); err != nil {
				return nil, err
			}
			t.activityWake = earlier(t.activityWake, end)
		}
		t.activityWake = earlier(t.activityWake, until)
		return &provider.FetchedWorkItem{Item: item, LockToken: token, AttemptCount: uint32(row.AttemptCount)}, nil
	}
}

// setWorkAside moves an activity that cannot be decoded out of the queue, whose
// head it would block for ever.
func (t *tx) setWorkAside(
	ctx context.Context, log *slog.Logger, id int64, row sqlitedb.LockWorkRow, cause error,
) error {
	if err := t.setAside(ctx, log, sqlitedb.AddDeadLetterParams{
		Queue: "worker", QueueID: id, InstanceID: row.InstanceID, WorkItem: row.WorkItem, Error: cause.Error(),
	}); err != nil {
		return err
	}
	return t.DeleteWork(ctx, id)
}

// findWork returns the oldest activity that fits, 0 for none.
func (t *tx) findWork(ctx context.Context, f workFetch) (int64, error) {
	tags, err := t.tagsOf(ctx, f.tags)
	if err != nil {
		return 0, err
	}
	var oldest int64
	for _, tag := range tags {
		id, err := t.NextPlainWork(ctx, tag)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		oldest = earlier(oldest, id)
		if !f.sessions {
			continue
		}
		if id, err = t.NextSessionWork(ctx, tag, t.now, f.owner); err != nil {
			return 0, err
		}
		oldest = earlier(oldest, id)
	}
	return oldest, nil
}

// tagsOf lists the tags to look under; nil is the tag of untagged activities.
func (t *tx) tagsOf(ctx context.Context, filter provider.TagFilter) ([]*string, error) {
	var named []string
	untagged := true
	switch filter.Mode() {
	case provider.TagAny:
		var err error
		if named, err = t.ReadyTags(ctx); err != nil {
			return nil, err
		}
	case provider.TagDefaultAndSet:
		named = filter.Tags()
	case provider.TagSet:
		named, untagged = filter.Tags(), false
	case provider.TagDefaultOnly, provider.TagNone:
	}
	tags := make([]*string, 0, len(named)+1)
	if untagged {
		tags = append(tags, nil)
	}
	for _, tag := range named {
		tags = append(tags, &tag)
	}
	return tags, nil
}

// AckWorkItem implements [provider.Provider].
func (s *Store) AckWorkItem(ctx context.Context, lockToken string, completion provider.WorkItem) error {
	const operation = "ack_work_item"
	var m message
	switch completion.(type) {
	case nil, provider.ActivityCompletedItem, provider.ActivityFailedItem:
	default:
		return invalid(operation, "an activity ends with ActivityCompleted or ActivityFailed, not with %s", completion.Variant())
	}
	if completion != nil {
		var err error
		if m, err = newMessage(operation, completion); err != nil {
			return err
		}
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		session, err := t.FinishWork(ctx, &lockToken, &t.now)
		if err := t.afterWork(ctx, operation, lockToken, session, err); err != nil {
			return err
		}
		if completion == nil {
			return nil
		}
		if err := t.send(ctx, m, 0); err != nil {
			return err
		}
		return t.refresh(ctx, m.instance)
	})
}

// RenewWorkItemLock implements [provider.Provider].
func (s *Store) RenewWorkItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	const operation = "renew_work_item_lock"
	lockFor, err := lease(operation, "extendFor", extendFor)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		until := t.now + lockFor
		t.activityWake = earlier(t.activityWake, until)
		session, err := t.RenewWork(ctx, &until, &lockToken, &t.now)
		return t.afterWork(ctx, operation, lockToken, session, err)
	})
}

// afterWork turns "no such live lease" into the reason, and otherwise stamps the
// session that the activity belongs to.
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
	expired, err := t.WorkTokenExists(ctx, &token)
	if err != nil {
		return err
	}
	if expired {
		return provider.Permanent(operation,
			"Activity lock expired: the activity took longer than its lease and will be delivered again", provider.ErrLockExpired)
	}
	return invalidToken(operation,
		"the activity was cancelled, was already acknowledged, or its lock expired and somebody else has it")
}

// AbandonWorkItem implements [provider.Provider].
func (s *Store) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	const operation = "abandon_work_item"
	hideFor, err := delay(operation, "Delay", params.Delay)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.abandonWork(ctx, operation, params.LockToken, hideFor, params.IgnoreAttempt)
	})
}

// abandonWork puts the activity back (§5.13).
func (t *tx) abandonWork(ctx context.Context, operation, token string, hideFor int64, ignoreAttempt bool) error {
	found, err := t.UnlockWork(ctx, sqlitedb.UnlockWorkParams{
		Ready: toInt(hideFor == 0), VisibleAt: t.now + hideFor, GiveBack: toInt(ignoreAttempt), LockToken: &token,
	})
	if err != nil {
		return err
	}
	if found == 0 {
		return provider.Permanent(operation,
			"Invalid lock token or already acked: the activity was cancelled, acknowledged, or somebody else has it",
			provider.ErrInvalidLockToken)
	}
	if hideFor == 0 {
		t.activities++
	} else {
		t.activityWake = earlier(t.activityWake, t.now+hideFor)
	}
	return nil
}
