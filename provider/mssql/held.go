package mssql

import (
	"context"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// historyLimit is the longest history that a fetch brings at once although the caller may
// have it. Of a longer one it brings the last event, and if the caller has not that very
// one, a second call brings what it lacks.
const historyLimit = 32

// holder is what the caller of a fetch has of histories.
type holder struct {
	held  func(instance string, executionID uint64) (lastEventID uint64)
	lease time.Duration
	peek  bool
	// setAside is called with what cannot be decoded, nil for the store's log.
	setAside func(provider.DeadLetter)
}

// limit is the procedure's parameter.
func (h holder) limit() *int64 {
	if h.held == nil {
		return nil
	}
	return new(int64(historyLimit))
}

// missing returns the events of a locked turn that its caller lacks, and says in the item
// from where on these are. Error: [provider.ErrLockLost] when the instance was deleted or
// taken over meanwhile.
func (h holder) missing(ctx context.Context, s *Store, locked *lockedTurn, item *provider.OrchestrationItem) ([]columns.Event, error) {
	events := make([]columns.Event, len(locked.History))
	for i, event := range locked.History {
		events[i] = columns.Event{ID: event.EventID, Data: event.EventData}
	}
	if h.held == nil || len(events) == 0 {
		return events, nil
	}
	last, known := events[len(events)-1], int64(0)
	if locked.Item.OrchestrationName != nil { // else the name is in the first event
		known = columns.Clamp(h.held(item.Instance, item.ExecutionID))
	}
	if last.ID > historyLimit && known != last.ID {
		if known > last.ID {
			known = 0
		}
		var err error
		if events, err = h.read(ctx, s, locked, known, last); err != nil {
			return nil, err
		}
	}
	at := slices.IndexFunc(events, func(event columns.Event) bool { return event.ID == known })
	if at < 0 {
		return events, nil
	}
	item.HistoryFrom = uint64(known)
	return events[at:], nil
}

// read reads a locked history from an event on, or all of it when it does not have that
// event. Whoever deletes the instance does so a portion at a time, so that what is not there
// without a gap up to the last event counts only if the lease still lasts.
func (h holder) read(ctx context.Context, s *Store, locked *lockedTurn, from int64, last columns.Event) ([]columns.Event, error) {
	for ; ; from = 0 {
		params := mssqldb.ReadHistoryParams{InstanceID: locked.Item.InstanceID, ExecutionID: &locked.Item.ExecutionID, FirstEvent: from}
		result, err := read(ctx, s, opFetchOrchestration, func(ctx context.Context, q *mssqldb.Queries) (mssqldb.ReadHistoryResult, error) {
			return q.ReadHistory(ctx, params)
		})
		if err != nil {
			return nil, err
		}
		events := historyEvents(result.Events)
		if leadsTo(events, max(from, 1), last) {
			return events, nil
		}
		if err := s.RenewOrchestrationItemLock(ctx, locked.lease().text(), h.lease); err != nil {
			return nil, err
		}
		if from == 0 || len(events) > 0 && events[0].ID == from {
			return events, nil
		}
	}
}

// leadsTo reports whether events go from one id to the last event without a gap.
func leadsTo(events []columns.Event, from int64, last columns.Event) bool {
	for i, event := range events {
		if event.ID != from+int64(i) {
			return false
		}
	}
	return len(events) > 0 && events[len(events)-1] == last
}

func historyEvents(rows []mssqldb.ReadHistoryEventsRow) []columns.Event {
	events := make([]columns.Event, len(rows))
	for i, row := range rows {
		events[i] = columns.Event{ID: row.EventID, Data: row.EventData}
	}
	return events
}
