package sqlite

import (
	"context"
	"log/slog"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opFetchWork labels the fetch's errors.
const opFetchWork = "fetch_work_item"

// FetchWorkItem implements [provider.Provider].
//
// It honours PollTimeout, as [Store.FetchOrchestrationItem] does. When ctx ends while an activity is being locked,
// the lock and the attempt are given back at once. A session that was claimed stays claimed until its lease ends.
//
// Errors: [provider.ErrInvalidArgument] for a lease that is not positive, a session owner
// without a name or an UnknownFor that is negative, and trouble with the database.
func (s *Store) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	f, err := newWorkFetch(params)
	if err != nil {
		return nil, err
	}
	if f.nothing() {
		return nil, nil
	}
	if f.unknownFor > 0 {
		params.PollTimeout = 0
	}
	if err := s.enter(opFetchWork); err != nil {
		return nil, err
	}
	defer s.leave()
	return poll(ctx, s, s.activities, opFetchWork, params.PollTimeout,
		func(woken bool) (*provider.FetchedWorkItem, int64, error) { return s.lockWork(ctx, f, woken) })
}

// workFetch is what a fetch is looking for, checked.
type workFetch struct {
	// lockFor is the activity's lease, sessionFor the session's, in milliseconds.
	lockFor, sessionFor int64
	// owner claims sessions; sessions says whether it does.
	owner    string
	sessions bool
	tags     provider.TagFilter
	// setAside is that of the fetch.
	setAside func(provider.DeadLetter)
	codeSelection
}

// nothing reports whether no activity can fit.
func (f *workFetch) nothing() bool { return f.unknownFor == 0 && f.tags.Mode() == provider.TagNone }

// newWorkFetch checks what a fetch asks for. Error: [provider.ErrInvalidArgument].
func newWorkFetch(params provider.FetchWorkParams) (workFetch, error) {
	f := workFetch{tags: params.Tags, setAside: params.SetAside}
	var err error
	if f.lockFor, err = columns.Lease(opFetchWork, "LockTimeout", params.LockTimeout); err != nil {
		return workFetch{}, err
	}
	if f.codeSelection, err = newWorkSelection(params.Known, params.Tags, params.UnknownFor); err != nil {
		return workFetch{}, err
	}
	if params.Session == nil {
		return f, nil
	}
	f.sessions = true
	f.owner = params.Session.OwnerID
	if err := columns.CheckID(opFetchWork, "session owner id", f.owner); err != nil {
		return workFetch{}, err
	}
	if f.sessionFor, err = columns.Lease(opFetchWork, "Session.LockTimeout", params.Session.LockTimeout); err != nil {
		return workFetch{}, err
	}
	return f, nil
}

// lockWork is one try of a fetch. It returns when a try that finds nothing is
// worth repeating; a try that was woken wants to know that in any case, because the
// time for which it was woken has been used up.
func (s *Store) lockWork(ctx context.Context, f workFetch, woken bool) (*provider.FetchedWorkItem, int64, error) {
	// Not to be read when the call was left: it may still be under way.
	var outcome struct {
		found  *provider.FetchedWorkItem
		wakeAt int64
	}
	err := s.writer.do(ctx, &job{
		operation: opFetchWork,
		run: func(ctx context.Context, t *tx) (err error) {
			outcome.wakeAt = 0
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

// dueOrNextWork makes what has come due fetchable, a portion at a time, until
// there is something to fetch.
func (t *tx) dueOrNextWork(ctx context.Context, log *slog.Logger, f workFetch) (*provider.FetchedWorkItem, error) {
	known, err := t.see(ctx, f.codeSelection)
	if err != nil {
		return nil, err
	}
	for {
		due, err := t.readyDue(ctx)
		if err != nil {
			return nil, err
		}
		found, err := t.nextWork(ctx, log, f, known)
		if found != nil || err != nil || due == 0 {
			return found, err
		}
	}
}

// nextWork locks activities until one can be decoded. Nobody can be faster: there is
// one writer at a time, so what was found is still there to be locked, and its
// session still free.
func (t *tx) nextWork(
	ctx context.Context, log *slog.Logger, f workFetch, known seenSet,
) (*provider.FetchedWorkItem, error) {
	for {
		id, err := t.findWork(ctx, f, known)
		if err != nil || id == 0 {
			return nil, err
		}
		secret := newSecret()
		until := t.now + f.lockFor
		row, err := t.lockWork(ctx, sqlitedb.LockWorkParams{
			LockToken: &secret, LockedUntil: &until, Unnamed: f.unnamed(), WorkID: id,
		})
		if err != nil {
			return nil, err
		}
		item, undecodable, err := t.decodeItem(ctx, row.WorkItem, row.PayloadID)
		if err != nil {
			return nil, err
		}
		if undecodable != nil {
			if err := t.setWorkAside(ctx, log, f, id, row, undecodable); err != nil {
				return nil, err
			}
			continue
		}
		if row.SessionID != nil && f.unknownFor == 0 {
			end := t.now + f.sessionFor
			if err := t.ClaimSession(ctx, sqlitedb.ClaimSessionParams{
				SessionID: *row.SessionID, WorkerID: f.owner, LockedUntil: end, Now: t.now,
			}); err != nil {
				return nil, err
			}
			t.wakeSession(end)
		}
		t.activitiesTaken = append(t.activitiesTaken, id)
		// Others that wait look again when this lease ends.
		t.wakeActivity(until)
		return &provider.FetchedWorkItem{
			Item: item, LockToken: workToken(secret, id), AttemptCount: uint32(row.AttemptCount),
			Waited: columns.Since(row.CreatedAt, t.now), Heartbeat: columns.OrEmpty(row.Heartbeat),
		}, nil
	}
}

// setWorkAside moves an activity that cannot be decoded out of the queue, whose
// head it would block for ever.
func (t *tx) setWorkAside(
	ctx context.Context, log *slog.Logger, f workFetch, id int64, row sqlitedb.LockWorkRow, cause error,
) error {
	if err := t.setAside(ctx, log, f.setAside, sqlitedb.AddDeadLetterParams{
		Queue: workQueue, QueueID: id, InstanceID: row.InstanceID, WorkItem: row.WorkItem, PayloadID: row.PayloadID, Error: cause.Error(),
	}); err != nil {
		return err
	}
	return t.DeleteWork(ctx, id)
}

// findWork returns the oldest activity that fits, 0 for none. The oldest of each tag
// and code is one index seek away, with and without sessions; the oldest of all is the
// least of those.
func (t *tx) findWork(ctx context.Context, f workFetch, known seenSet) (int64, error) {
	if f.unknownFor > 0 {
		return t.nextUnknownWork(ctx, t.now-f.unknownFor)
	}
	if t.looksByBounds(f.codeSelection) {
		return t.oldestWork(ctx, f, known)
	}
	tags, err := tagsOf(ctx, t.Queries, f.tags)
	if err != nil {
		return 0, err
	}
	var oldest int64
	for _, tag := range tags {
		id, err := t.NextPlainWork(ctx, tag, known.id)
		if err != nil {
			return 0, err
		}
		oldest = earlier(oldest, id)
		if !f.sessions {
			continue
		}
		if id, err = t.nextSessionWork(ctx, tag, f.owner, known.id); err != nil {
			return 0, err
		}
		oldest = earlier(oldest, id)
	}
	return oldest, nil
}

// nextSessionWork returns the oldest activity of a tag that fits and is in a session
// that the owner has or may claim, 0 for none.
func (t *tx) nextSessionWork(ctx context.Context, tag *string, owner string, knownID int64) (int64, error) {
	codes, err := t.SessionWorkCodes(ctx, knownID, tag)
	if err != nil {
		return 0, err
	}
	var oldest int64
	for _, code := range codes {
		row, err := t.NextSessionWork(ctx, sqlitedb.NextSessionWorkParams{Tag: tag, CodeID: code, Now: t.now, Owner: owner})
		if err != nil {
			return 0, err
		}
		oldest = earlier(oldest, row.ID)
	}
	return oldest, nil
}

// tagsOf lists the tags to look under; nil is the tag of untagged activities.
func tagsOf(ctx context.Context, q *sqlitedb.Queries, filter provider.TagFilter) ([]*string, error) {
	var named []string
	untagged := true
	switch filter.Mode() {
	case provider.TagAny:
		var err error
		if named, err = q.ReadyTags(ctx); err != nil {
			return nil, err
		}
	case provider.TagDefaultAndSet:
		named = columns.Tags(filter)
	case provider.TagSet:
		named, untagged = columns.Tags(filter), false
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
