package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// opFetchOrchestration labels the fetch's errors.
const opFetchOrchestration = "fetch_orchestration_item"

// FetchOrchestrationItem implements [provider.Provider].
//
// It waits up to PollTimeout: it returns as soon as there is work, or with nothing a few milliseconds after
// PollTimeout.
//
// When ctx ends while an instance is being locked, the lock and the attempt are given back at once.
//
// Errors: [provider.ErrInvalidArgument] for a LockTimeout that is not positive or an
// UnknownFor that is negative, and trouble with the database. A history that can't be decoded is no error: see
// [provider.OrchestrationItem.HistoryError].
func (s *Store) FetchOrchestrationItem(
	ctx context.Context, params provider.FetchOrchestrationParams,
) (*provider.FetchedOrchestration, error) {
	f, err := newTurnFetch(params)
	if f == nil || err != nil {
		return nil, err
	}
	if f.unknownFor > 0 {
		params.PollTimeout = 0
	}
	if err := s.enter(opFetchOrchestration); err != nil {
		return nil, err
	}
	defer s.leave()
	turn, err := poll(ctx, s, s.instances, opFetchOrchestration, params.PollTimeout,
		func(woken bool) (*turn, int64, error) { return s.lockTurn(ctx, *f, woken) })
	if turn == nil {
		return nil, err
	}
	// Decoding takes longer than all of the transaction. It is done here, by the
	// caller's goroutine, so that no other call waits for it.
	return turn.decoded(), nil
}

// turnFetch is what a fetch is looking for, checked.
type turnFetch struct {
	// lockFor is the instance's lease in milliseconds.
	lockFor  int64
	versions provider.VersionRange
	// cancelled restricts a fetch of unknown code to instances with a request to cancel them.
	cancelled bool
	// held is what the caller has of histories, nil for nothing.
	held func(instance string, executionID uint64) (lastEventID uint64)
	// peek leaves queue messages where they are.
	peek bool
	// setAside is called with what cannot be decoded, nil for the store's log.
	setAside func(provider.DeadLetter)
	codeSelection
}

// newTurnFetch checks what a fetch asks for; nil is one that no version fits. Error:
// [provider.ErrInvalidArgument].
func newTurnFetch(params provider.FetchOrchestrationParams) (*turnFetch, error) {
	f := turnFetch{versions: anyVersion, cancelled: params.Cancelled, held: params.Held, peek: params.Peek, setAside: params.SetAside}
	var err error
	if f.lockFor, err = columns.Lease(opFetchOrchestration, "LockTimeout", params.LockTimeout); err != nil {
		return nil, err
	}
	if f.codeSelection, err = newTurnSelection(params.Known, params.UnknownFor); err != nil {
		return nil, err
	}
	if params.Filter != nil {
		var ok bool
		if f.versions, ok = params.Filter.Range(); !ok {
			return nil, nil
		}
	}
	return &f, nil
}

// anyVersion is the range of a fetch without a filter.
var anyVersion = provider.VersionRange{
	Max: provider.Version{Major: math.MaxInt64, Minor: math.MaxInt64, Patch: math.MaxInt64},
}

// lockTurn is one try of a fetch. It returns when a try that finds nothing is
// worth repeating; a try that was woken wants to know that in any case, because the
// time for which it was woken has been used up.
func (s *Store) lockTurn(ctx context.Context, f turnFetch, woken bool) (*turn, int64, error) {
	// Not to be read when the call was left: it may still be under way.
	var outcome struct {
		found  *turn
		wakeAt int64
	}
	err := s.writer.do(ctx, &job{
		operation: opFetchOrchestration,
		run: func(ctx context.Context, t *tx) (err error) {
			outcome.wakeAt = 0
			outcome.found, err = t.dueOrNextTurn(ctx, s.log, f)
			if err != nil || (outcome.found != nil && !woken) {
				return err
			}
			outcome.wakeAt, err = t.nextInstanceWake(ctx)
			return err
		},
		undo: func(ctx context.Context, t *tx) error {
			if outcome.found == nil {
				return nil
			}
			return t.abandonTurn(ctx, opFetchOrchestration, provider.AbandonParams{LockToken: outcome.found.LockToken, IgnoreAttempt: true}, 0)
		},
	})
	if err != nil {
		return nil, 0, err
	}
	return outcome.found, outcome.wakeAt, nil
}

// dueOrNextTurn makes what has come due fetchable, a portion at a time, and locks
// instances until one of them has a turn to run.
//
// What is due comes first, whether there is something else or not: the instance
// with the oldest message may be among it.
func (t *tx) dueOrNextTurn(ctx context.Context, log *slog.Logger, f turnFetch) (*turn, error) {
	known, err := t.see(ctx, f.codeSelection)
	if err != nil {
		return nil, err
	}
	for {
		due, err := t.findDue(ctx, f, known)
		if err != nil {
			return nil, err
		}
		next, err := t.nextInstance(ctx, f, known)
		if err != nil || (next.inbox == 0 && due == 0) {
			return nil, err
		}
		if next.inbox == 0 {
			continue
		}
		if found, err := t.lockInstance(ctx, log, f, next); found != nil || err != nil {
			return found, err
		}
	}
}

// lockInstance locks an instance if it has a turn to run (contract §5.1 step 6). One that has none
// is left in a state in which it is not fetchable.
func (t *tx) lockInstance(ctx context.Context, log *slog.Logger, f turnFetch, next readyInstance) (*turn, error) {
	secret := newSecret()
	until := t.now + f.lockFor
	instance, err := t.LockInstance(ctx, sqlitedb.LockInstanceParams{
		LockToken: &secret, LockedUntil: &until, Now: &t.now, ID: next.inbox,
	})
	if err != nil {
		return nil, err
	}
	found := newTurn(secret, instance, &f)
	found.hidden, found.setAside = next.hidden, f.setAside
	found, err = t.openTurn(ctx, log, found)
	if found == nil || err != nil {
		return nil, err
	}
	t.instancesTaken = append(t.instancesTaken, instance)
	// Others that wait look again when this lease ends.
	t.wakeInstance(until)
	return found, nil
}

// readyInstance is an instance that may be fetched.
type readyInstance struct {
	// inbox is its inboxes.id, 0 for no instance.
	inbox int64
	// hidden is set if it may have messages that are not visible yet.
	hidden bool
}

// nextInstance finds the instance to lock. Nobody can be faster: there is one writer at a
// time.
func (t *tx) nextInstance(ctx context.Context, f turnFetch, known seenSet) (readyInstance, error) {
	if f.unknownFor > 0 {
		return t.nextUnknownInstance(ctx, f)
	}
	if t.looksByBounds(f.codeSelection) {
		return t.oldestInstance(ctx, f, known)
	}
	row, err := t.NextInstance(ctx, sqlitedb.NextInstanceParams{
		KnownID:  known.id,
		MinMajor: columns.Clamp(f.versions.Min.Major),
		MinMinor: columns.Clamp(f.versions.Min.Minor),
		MinPatch: columns.Clamp(f.versions.Min.Patch),
		MaxMajor: columns.Clamp(f.versions.Max.Major),
		MaxMinor: columns.Clamp(f.versions.Max.Minor),
		MaxPatch: columns.Clamp(f.versions.Max.Patch),
	})
	if errors.Is(err, sql.ErrNoRows) {
		return readyInstance{}, nil
	}
	return readyInstance{inbox: row.ID, hidden: row.WakeAt != nil}, err
}
