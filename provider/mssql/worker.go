package mssql

import (
	"context"
	"errors"
	"fmt"
	"time"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opFetchWork labels the fetch's errors.
const opFetchWork = "fetch_work_item"

// FetchWorkItem implements [provider.Provider]. It answers at once, as [Store.FetchOrchestrationItem] does. When ctx
// ends or the connection is lost while an activity is being locked, it gives the lock and the attempt back in the same
// way. A session that it claimed stays claimed until its lease ends.
//
// Errors: [provider.ErrInvalidArgument] for a lease that is not positive, a session
// owner without a name, or an UnknownFor that is negative, and trouble with the database.
func (s *Store) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	f, err := newWorkFetch(params)
	if err != nil {
		return nil, err
	}
	if f.code.unknownMs == 0 && params.Tags.Mode() == provider.TagNone {
		return nil, nil
	}
	return s.lockWork(ctx, f)
}

// workFetch is what a fetch is looking for, checked and encoded.
type workFetch struct {
	// row is a row of the request, but for its places, its token and from where it looks.
	row  mssqldb.TakeListV1Row
	code codeSelection
	// setAside is called with what cannot be decoded, nil for the store's log.
	setAside func(provider.DeadLetter)
	// kind is the same for fetches that would find the same, but for the owner of sessions.
	kind string
}

// newWorkFetch checks and encodes what a fetch is looking for.
func newWorkFetch(params provider.FetchWorkParams) (f workFetch, err error) {
	fetch := &f.row
	f.setAside = params.SetAside
	if fetch.LockMs, err = columns.Lease(opFetchWork, "LockTimeout", params.LockTimeout); err != nil {
		return f, err
	}
	if params.Session != nil {
		if err := columns.CheckID(opFetchWork, "session owner id", params.Session.OwnerID); err != nil {
			return f, err
		}
		if fetch.Owner, err = storedOptional(opFetchWork, "session owner id", &params.Session.OwnerID); err != nil {
			return f, err
		}
		if fetch.SessionMs, err = columns.Lease(opFetchWork, "Session.LockTimeout", params.Session.LockTimeout); err != nil {
			return f, err
		}
	}
	if f.code, err = newWorkSelection(params.Known, params.Tags, params.UnknownFor); err != nil {
		return f, err
	}
	fetch.Known, fetch.UnknownMs = f.code.digest, f.code.unknownMs
	mode := params.Tags.Mode()
	fetch.AnyTag = mode == provider.TagAny
	f.kind = fmt.Sprintf("%t %d %q %s", fetch.Owner != nil, mode, params.Tags.Tags(), f.code.kind())
	if f.code.unknownMs > 0 {
		// Of any tag and any session, which stays its owner's.
		fetch.AnyTag, fetch.Owner = true, nil
		return f, nil
	}
	to := []**string{&fetch.Tag1, &fetch.Tag2, &fetch.Tag3, &fetch.Tag4, &fetch.Tag5, &fetch.Tag6}
	for i, tag := range storedTags(params.Tags) {
		*to[i] = &tag
	}
	return f, nil
}

// lockWork is one try of a fetch. An activity that cannot be decoded is set aside and
// the next one's turn: it would block the head of the queue for ever (contract §5.10). If it
// cannot be set aside now it is given back: nothing stays locked by a fetch that failed.
func (s *Store) lockWork(ctx context.Context, f workFetch) (*provider.FetchedWorkItem, error) {
	if err := s.enter(opFetchWork); err != nil {
		return nil, err
	}
	defer s.leave()
	began := time.Now()
	for {
		var rows []mssqldb.FetchWorkItemWorkRow
		err := s.claim(ctx, opFetchWork, func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) error {
			f.row.LockToken = tokenAt(token, 0)
			f.row.FromID, f.row.DueFrom = s.activities.marks.from(f.kind, time.Now())
			return f.code.fetch(ctx, q, func() error {
				result, err := q.FetchWorkItem(ctx, mssqldb.FetchWorkItemParams{Work: []mssqldb.TakeListV1Row{f.row}, Holder: &s.holder})
				rows = result.Work
				return err
			})
		}, s.giveTakenBack(taking{work: []workFetch{f}}, began))
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		row := rows[0]
		s.activities.marks.found(f.kind, time.Now(), row.ID, row.DueUntil, row.LookedMs)
		if item, err := s.openWork(ctx, f, f.row.LockToken, row); item != nil || err != nil {
			return item, err
		}
	}
}

// openWork makes of a locked activity what the runtime works on, nil for one that was set
// aside.
func (s *Store) openWork(
	ctx context.Context, f workFetch, token mssqldriver.UniqueIdentifier, row mssqldb.FetchWorkItemWorkRow,
) (*provider.FetchedWorkItem, error) {
	item, err := provider.DecodeWorkItem([]byte(row.WorkItem))
	if err == nil {
		return &provider.FetchedWorkItem{
			Item: item, LockToken: workToken(token, row.ID), AttemptCount: uint32(row.AttemptCount),
			Waited: columns.Since(0, row.WaitedMs), Heartbeat: restoredText(columns.OrEmpty(row.Heartbeat)),
		}, nil
	}
	err = s.setWorkAside(ctx, f, token, row, err)
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		//nolint:contextcheck // this context may be what ended the call
		s.unclaim(token, s.giveWorkBack(row.ID))
		return nil, err
	}
	return nil, nil
}

// giveWorkBack returns a claimCall that puts back an activity.
func (s *Store) giveWorkBack(id int64) claimCall {
	return func(ctx context.Context, q *mssqldb.Queries, token mssqldriver.UniqueIdentifier) error {
		err := q.AbandonWorkItem(ctx, mssqldb.AbandonWorkItemParams{ID: id, LockToken: token, GiveBack: true})
		if err == nil {
			s.activities.putBack()
		}
		return err
	}
}

// setWorkAside moves an activity that cannot be decoded out of the queue.
func (s *Store) setWorkAside(
	ctx context.Context, f workFetch, token mssqldriver.UniqueIdentifier, row mssqldb.FetchWorkItemWorkRow, cause error,
) error {
	err := s.call(ctx, opFetchWork, once, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.SetWorkAside(ctx, mssqldb.SetWorkAsideParams{
			ID: row.ID, LockToken: token, Error: storedString(cause.Error()), FreeSession: row.FreshSession,
		})
	})
	if err != nil {
		return err
	}
	columns.TellSetAside(ctx, s.log, f.setAside, provider.DeadLetter{
		InstanceID: restored(row.InstanceID), Activity: true, Kind: columns.ItemKind(row.WorkItem), Reason: cause.Error(), SetAsideAt: time.Now(),
	})
	return nil
}
