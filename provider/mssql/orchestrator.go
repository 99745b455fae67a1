package mssql

import (
	"context"
	"math"
	"time"

	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opFetchOrchestration labels the fetch's errors.
const opFetchOrchestration = "fetch_orchestration_item"

// FetchOrchestrationItem implements [provider.Provider]. It answers at once, whatever PollTimeout is: [Store.WorkReady]
// tells when to fetch.
//
// When ctx ends or the connection is lost while an instance is being locked, the store gives the lock and the attempt
// back over another connection. It tries this for 5 s; the fetch waits at most one second for it. The instance stays
// locked until its lease ends only if the server is unreachable for that time, takes longer to complete the fetch, or
// the process ends first.
//
// A fetch makes one round trip. The first fetch with a new set of known code makes three. A history of more than 32
// events, of which Held says that the caller lacks the end, takes one more, and so does setting aside a message that
// cannot be decoded.
//
// Errors: [provider.ErrInvalidArgument] for a LockTimeout that is not positive and an
// UnknownFor that is negative, and trouble with the database. A history that can't be decoded is no error: see
// [provider.OrchestrationItem.HistoryError].
func (s *Store) FetchOrchestrationItem(
	ctx context.Context, params provider.FetchOrchestrationParams,
) (*provider.FetchedOrchestration, error) {
	f, possible, err := newTurnFetch(params)
	if err != nil || !possible {
		return nil, err
	}
	return s.lockTurn(ctx, f)
}

// turnFetch is what a fetch is looking for, checked and encoded.
type turnFetch struct {
	claim  mssqldb.TurnClaimV1Row
	code   codeSelection
	caller holder
}

// newTurnFetch reports possible as false for a filter that admits nothing. Error:
// [provider.ErrInvalidArgument].
func newTurnFetch(params provider.FetchOrchestrationParams) (f turnFetch, possible bool, err error) {
	c := &f.claim
	if c.LockMs, err = columns.Lease(opFetchOrchestration, "LockTimeout", params.LockTimeout); err != nil {
		return f, false, err
	}
	if f.code, err = newTurnSelection(params.Known, params.UnknownFor); err != nil {
		return f, false, err
	}
	f.code.fetches = "turns " + filterKind(params.Filter) + f.code.kind()
	f.caller = holder{held: params.Held, lease: params.LockTimeout, peek: params.Peek, setAside: params.SetAside}
	c.Known, c.UnknownMs, c.Cancelled = f.code.digest, f.code.unknownMs, params.Cancelled
	c.Peek, c.HistoryLimit = params.Peek, f.caller.limit()
	if params.Filter == nil {
		return f, true, nil
	}
	versions, possible := params.Filter.Range()
	c.Filtered = true
	c.MinMajor, c.MaxMajor = columns.Clamp(versions.Min.Major), columns.Clamp(versions.Max.Major)
	c.MinMinor, c.MaxMinor = columns.Clamp(versions.Min.Minor), columns.Clamp(versions.Max.Minor)
	c.MinPatch, c.MaxPatch = columns.Clamp(versions.Min.Patch), columns.Clamp(versions.Max.Patch)
	return f, possible, nil
}

// lockTurn is one try of a fetch.
func (s *Store) lockTurn(ctx context.Context, f turnFetch) (*provider.FetchedOrchestration, error) {
	taken, err := s.claimNow(ctx, opFetchOrchestration, taking{turn: &f})
	if err != nil {
		return nil, err
	}
	return taken.Turn, taken.Err
}

// lockedTurn is a locked instance as the database returns it.
type lockedTurn struct {
	mssqldb.TakeResult

	token mssqldriver.UniqueIdentifier
}

// lease is the turn's lease, as procedures take it.
func (l *lockedTurn) lease() turnLease { return turnLease{l.token, l.Item.InstanceID} }

// markTurn tells the next fetches where this one has found something.
func (s *Store) markTurn(f turnFetch, locked *lockedTurn) {
	if item := locked.Item; item != nil && len(locked.Messages) > 0 {
		s.instances.marks.found(f.code.fetches, time.Now(), locked.Messages[0].ID, item.DueUntil, item.LookedMs)
	}
}

func (s *Store) tellDropped(ctx context.Context, dropped []mssqldb.TakeDroppedRow) {
	for _, orphan := range dropped {
		s.log.WarnContext(ctx, "dropped queue messages of an instance that does not exist",
			"instance_id", restored(orphan.InstanceID), "count", orphan.Messages)
	}
}

// giveTurnBack puts back a turn that cannot be opened. The store must be in a call.
func (s *Store) giveTurnBack(lease turnLease) {
	awaitRelease(s.release(true, func(ctx context.Context, q *mssqldb.Queries) error {
		err := q.AbandonOrchestrationItem(ctx, mssqldb.AbandonOrchestrationItemParams{
			InstanceID: lease.instance, LockToken: lease.secret, GiveBack: true,
		})
		if err == nil {
			s.instances.putBack()
		}
		return err
	}))
}

// openTurn makes of a locked instance what the runtime works on. It returns nil when
// nothing is left of the turn because none of its messages could be decoded.
func (s *Store) openTurn(ctx context.Context, locked *lockedTurn, caller holder) (*provider.FetchedOrchestration, error) {
	row := locked.Item
	found := &provider.FetchedOrchestration{LockToken: locked.lease().text(), AttemptCount: uint32(min(int64(row.AttemptCount), math.MaxUint32))}
	item := &found.Item
	item.Instance, item.ExecutionID, item.Peeked = restored(row.InstanceID), uint64(row.ExecutionID), caller.peek
	if err := s.decodeMessages(ctx, locked, item, caller.setAside); err != nil {
		return nil, err
	}
	if len(item.Messages) == 0 {
		return nil, nil
	}
	history, err := caller.missing(ctx, s, locked, item)
	if err != nil {
		return nil, err
	}
	item.Version = provider.UnknownVersion
	starts := columns.NameFromStart(item)
	switch {
	case row.OrchestrationName != nil:
		// The row's word is final: a start among the messages is a duplicate, and a
		// ContinueAsNew belongs to the execution that the runtime is about to begin.
		item.OrchestrationName = restoredText(*row.OrchestrationName)
		item.Version = restoredText(columns.OrUnknown(row.OrchestrationVersion))
	case len(history) > 0:
		columns.NameFromHistory(item, history)
	case !starts:
		// It takes a start that could not be decoded to get here: put the rest back, as
		// if it had not been fetched. It waits for another start.
		return nil, s.abandonTurn(ctx, opFetchOrchestration, mssqldb.AbandonOrchestrationItemParams{InstanceID: row.InstanceID, LockToken: locked.token, GiveBack: true})
	}
	if len(locked.Values) > 0 {
		item.KVSnapshot = make(map[string]provider.KVEntry, len(locked.Values))
		for _, value := range locked.Values {
			item.KVSnapshot[restored(value.KVKey)] = provider.KVEntry{
				Value: restoredText(value.Value), LastUpdatedAtMs: uint64(value.LastUpdatedAtMs),
			}
		}
	}
	columns.DecodeHistory(item, history)
	return found, nil
}

// decodeMessages decodes the batch. A message that cannot be decoded is set aside: the
// turn goes on without it rather than fail for ever (contract §5.1).
func (s *Store) decodeMessages(
	ctx context.Context, locked *lockedTurn, item *provider.OrchestrationItem, told func(provider.DeadLetter),
) error {
	var letters []mssqldb.LetterListV1Row
	var messages []columns.Arrived
	var setAside []provider.DeadLetter
	for _, row := range locked.Messages {
		message, err := provider.DecodeWorkItem([]byte(row.WorkItem))
		if err != nil {
			letters = append(letters, mssqldb.LetterListV1Row{
				Position: int32(len(letters)), QueueID: row.ID, Error: storedString(err.Error()),
			})
			setAside = append(setAside, provider.DeadLetter{
				InstanceID: item.Instance, Kind: columns.ItemKind(row.WorkItem), Reason: err.Error(), SetAsideAt: time.Now(),
			})
			continue
		}
		messages = append(messages, columns.Arrived{ID: row.ID, Item: message})
	}
	item.Messages = columns.Shown(messages, item.Peeked)
	if len(letters) == 0 {
		return nil
	}
	err := s.call(ctx, opFetchOrchestration, once, func(ctx context.Context, q *mssqldb.Queries) error {
		return q.SetMessagesAside(ctx, mssqldb.SetMessagesAsideParams{
			InstanceID: locked.Item.InstanceID, LockToken: locked.token, Letters: letters, Release: len(letters) == len(locked.Messages),
		})
	})
	if err != nil {
		return err
	}
	for _, letter := range setAside {
		columns.TellSetAside(ctx, s.log, told, letter)
	}
	return nil
}
