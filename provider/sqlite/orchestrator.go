package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
)

// opFetchOrchestration labels the fetch's errors.
const opFetchOrchestration = "fetch_orchestration_item"

// FetchOrchestrationItem implements [provider.Provider]. It honours PollTimeout.
// When ctx ends while the instance is being locked, the lock is given back.
func (s *Store) FetchOrchestrationItem(
	ctx context.Context, params provider.FetchOrchestrationParams,
) (*provider.FetchedOrchestration, error) {
	lockFor, err := lease(opFetchOrchestration, "LockTimeout", params.LockTimeout)
	if err != nil {
		return nil, err
	}
	versions := provider.VersionRange{
		Max: provider.Version{Major: math.MaxInt64, Minor: math.MaxInt64, Patch: math.MaxInt64},
	}
	if params.Filter != nil {
		var ok bool
		if versions, ok = params.Filter.Range(); !ok {
			return nil, nil
		}
	}
	if err := s.enter(opFetchOrchestration); err != nil {
		return nil, err
	}
	defer s.leave()
	turn, err := poll(ctx, s, s.instances, opFetchOrchestration, params.PollTimeout,
		func(woken bool) (*turn, int64, error) { return s.lockTurn(ctx, lockFor, versions, woken) })
	if turn == nil {
		return nil, err
	}
	// Only now, so that nobody else waits for it.
	turn.decodeHistory()
	return &turn.FetchedOrchestration, nil
}

// turn is a locked instance whose history is still to be decoded.
type turn struct {
	provider.FetchedOrchestration
	history []sqlitedb.ReadExecutionRow
}

// lockTurn is one try of a fetch. It returns when a try that finds nothing is
// worth repeating; a try that was woken wants to know that in any case.
func (s *Store) lockTurn(
	ctx context.Context, lockFor int64, versions provider.VersionRange, woken bool,
) (*turn, int64, error) {
	// Not to be read when the call was left: it may still be under way.
	var outcome struct {
		found  *turn
		wakeAt int64
	}
	err := s.writer.do(ctx, &job{
		operation: opFetchOrchestration,
		run: func(ctx context.Context, t *tx) (err error) {
			outcome.found, err = t.dueOrNextTurn(ctx, s.log, lockFor, versions)
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
			return t.abandonTurn(ctx, opFetchOrchestration, outcome.found.LockToken, 0, true)
		},
	})
	if err != nil {
		return nil, 0, err
	}
	return outcome.found, outcome.wakeAt, nil
}

// nextInstanceWake returns when the next instance may become fetchable by itself,
// 0 for never.
func (t *tx) nextInstanceWake(ctx context.Context) (int64, error) {
	wakeAt, err := t.NextInboxWake(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return *wakeAt, nil
}

// dueOrNextTurn makes what has come due fetchable, a portion at a time, until
// there is a turn to run.
func (t *tx) dueOrNextTurn(
	ctx context.Context, log *slog.Logger, lockFor int64, versions provider.VersionRange,
) (*turn, error) {
	for {
		due, err := t.refreshDue(ctx)
		if err != nil {
			return nil, err
		}
		found, err := t.nextTurn(ctx, log, lockFor, versions)
		if found != nil || err != nil || due == 0 {
			return found, err
		}
	}
}

// nextTurn locks instances until one of them has a turn to run.
func (t *tx) nextTurn(
	ctx context.Context, log *slog.Logger, lockFor int64, versions provider.VersionRange,
) (*turn, error) {
	for {
		token := uuid.NewString()
		until := t.now + lockFor
		instance, err := t.LockNextInstance(ctx, sqlitedb.LockNextInstanceParams{
			LockToken:   &token,
			LockedUntil: &until,
			Now:         &t.now,
			MinMajor:    clamp(versions.Min.Major),
			MinMinor:    clamp(versions.Min.Minor),
			MinPatch:    clamp(versions.Min.Patch),
			MaxMajor:    clamp(versions.Max.Major),
			MaxMinor:    clamp(versions.Max.Minor),
			MaxPatch:    clamp(versions.Max.Patch),
		})
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		found, err := t.openTurn(ctx, log, instance, token)
		if err != nil {
			return nil, err
		}
		if found != nil {
			t.instanceWake = earlier(t.instanceWake, until)
			return found, nil
		}
	}
}

// openTurn takes the messages of an instance just locked and finds out what the
// turn is about. It returns nil, with the instance unlocked, when there is no
// turn to run.
func (t *tx) openTurn(ctx context.Context, log *slog.Logger, instance, token string) (*turn, error) {
	found := &turn{}
	found.LockToken = token
	found.Item.Instance = instance
	if err := t.takeMessages(ctx, log, found); err != nil {
		return nil, err
	}
	if len(found.Item.Messages) == 0 {
		return nil, t.unlock(ctx, instance)
	}
	row, err := t.GetInstanceContext(ctx, instance)
	if errors.Is(err, sql.ErrNoRows) {
		return t.openUnknown(ctx, log, found)
	}
	if err != nil {
		return nil, err
	}
	found.Item.OrchestrationName = row.OrchestrationName
	found.Item.Version = orUnknown(row.OrchestrationVersion)
	found.Item.ExecutionID = uint64(row.CurrentExecutionID)
	return found, t.loadState(ctx, found, row.HasValues)
}

// openUnknown resolves the context of an instance without a row: from its history
// if there is one, else from the message that starts it. Queue messages alone
// belong to nobody and are dropped; anything else waits for the instance to come.
func (t *tx) openUnknown(ctx context.Context, log *slog.Logger, found *turn) (*turn, error) {
	item := &found.Item
	item.Version = provider.UnknownVersion
	item.ExecutionID = 1
	start := startOf(item)
	execution, err := t.LatestStartedExecution(ctx, item.Instance)
	switch {
	case err == nil:
		item.ExecutionID = uint64(execution)
		if err := t.loadState(ctx, found, true); err != nil {
			return nil, err
		}
		found.nameFromHistory()
		return found, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	case start:
		return found, t.loadSnapshot(ctx, found)
	case onlyQueueMessages(item.Messages):
		return nil, t.dropOrphans(ctx, log, found)
	}
	if err := t.UnlockMessages(ctx, sqlitedb.UnlockMessagesParams{
		GiveBack: 1, InstanceID: item.Instance, LockedAt: t.now, LockToken: &found.LockToken,
	}); err != nil {
		return nil, err
	}
	return nil, t.unlock(ctx, item.Instance)
}

// startOf takes name and version from the first message that starts an execution,
// and reports whether there is one.
func startOf(item *provider.OrchestrationItem) bool {
	for _, m := range item.Messages {
		switch m := m.(type) {
		case provider.StartOrchestrationItem:
			item.OrchestrationName, item.Version = m.Orchestration, orUnknown(m.Version)
			return true
		case provider.ContinueAsNewItem:
			item.OrchestrationName, item.Version = m.Orchestration, orUnknown(m.Version)
			return true
		}
	}
	return false
}

func onlyQueueMessages(messages []provider.WorkItem) bool {
	return !slices.ContainsFunc(messages, func(m provider.WorkItem) bool {
		_, ok := m.(provider.QueueMessageItem)
		return !ok
	})
}

// dropOrphans deletes the batch of an instance that nobody has started.
func (t *tx) dropOrphans(ctx context.Context, log *slog.Logger, found *turn) error {
	instance, count := found.Item.Instance, len(found.Item.Messages)
	if err := t.DeleteBatch(ctx, instance, t.now, &found.LockToken); err != nil {
		return err
	}
	t.reports = append(t.reports, func() {
		log.WarnContext(ctx, "dropped queue messages of an instance that does not exist", "instance_id", instance, "count", count)
	})
	return t.unlock(ctx, instance)
}

// takeMessages gives the turn the instance's visible messages, in the order of
// their arrival.
func (t *tx) takeMessages(ctx context.Context, log *slog.Logger, found *turn) error {
	rows, err := t.LockMessages(ctx, &found.LockToken, found.Item.Instance, t.now)
	if err != nil {
		return err
	}
	// RETURNING promises no order.
	slices.SortFunc(rows, func(a, b sqlitedb.LockMessagesRow) int { return cmp.Compare(a.ID, b.ID) })
	for _, row := range rows {
		item, err := provider.DecodeWorkItem([]byte(row.WorkItem))
		if err != nil {
			if err := t.setAside(ctx, log, sqlitedb.AddDeadLetterParams{
				Queue: "orchestrator", QueueID: row.ID, InstanceID: found.Item.Instance,
				WorkItem: row.WorkItem, Error: err.Error(),
			}); err != nil {
				return err
			}
			if err := t.DeleteMessage(ctx, row.ID); err != nil {
				return err
			}
			continue
		}
		found.Item.Messages = append(found.Item.Messages, item)
		found.AttemptCount = max(found.AttemptCount, uint32(row.AttemptCount))
	}
	return nil
}

// setAside keeps a message that cannot be decoded (§5.1, §5.10). The caller
// deletes it from its queue.
func (t *tx) setAside(ctx context.Context, log *slog.Logger, letter sqlitedb.AddDeadLetterParams) error {
	letter.CreatedAt = t.now
	t.reports = append(t.reports, func() {
		log.ErrorContext(ctx, "set a message aside that cannot be decoded: see table dead_letters",
			"queue", letter.Queue, "queue_id", letter.QueueID, "instance_id", letter.InstanceID, "error", letter.Error)
	})
	return t.AddDeadLetter(ctx, letter)
}

// loadState reads the execution's history and, if there may be one, the snapshot
// of the key-value map.
func (t *tx) loadState(ctx context.Context, found *turn, values bool) error {
	var err error
	found.history, err = t.ReadExecution(ctx, found.Item.Instance, int64(found.Item.ExecutionID))
	if err != nil || !values {
		return err
	}
	return t.loadSnapshot(ctx, found)
}

func (t *tx) loadSnapshot(ctx context.Context, found *turn) error {
	rows, err := t.ReadSnapshot(ctx, found.Item.Instance)
	if err != nil || len(rows) == 0 {
		return err
	}
	found.Item.KVSnapshot = make(map[string]provider.KVEntry, len(rows))
	for _, row := range rows {
		found.Item.KVSnapshot[row.Key] = provider.KVEntry{Value: row.Value, LastUpdatedAtMs: uint64(row.LastUpdatedAtMs)}
	}
	return nil
}

// nameFromHistory takes name and version from the history's start event. If that
// cannot be decoded, decodeHistory will say so.
func (found *turn) nameFromHistory() {
	for _, row := range found.history {
		event, err := provider.DecodeEvent([]byte(row.EventData))
		if err != nil {
			return
		}
		if started, ok := event.Kind.(provider.OrchestrationStarted); ok {
			found.Item.OrchestrationName, found.Item.Version = started.Name, started.Version
			return
		}
	}
}

// decodeHistory decodes the events, or says why that is impossible: then the item
// carries neither history nor snapshot (§5.1).
func (found *turn) decodeHistory() {
	item := &found.Item
	events, err := decodeEvents(item.Instance, item.ExecutionID, found.history)
	if err != nil {
		item.HistoryError = fmt.Errorf("%s%w", deserializeFailed, err)
		item.KVSnapshot = nil
		return
	}
	item.History = events
}

// orUnknown is the version to report for one that may not have been recorded.
func orUnknown(version *string) string {
	if version == nil {
		return provider.UnknownVersion
	}
	return *version
}

// AbandonOrchestrationItem implements [provider.Provider].
func (s *Store) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	const operation = "abandon_orchestration_item"
	hideFor, err := delay(operation, "Delay", params.Delay)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.abandonTurn(ctx, operation, params.LockToken, hideFor, params.IgnoreAttempt)
	})
}

// abandonTurn puts the batch back and ends the lease (§5.3).
func (t *tx) abandonTurn(ctx context.Context, operation, token string, hideFor int64, ignoreAttempt bool) error {
	held, err := t.findLock(ctx, operation, token)
	if err != nil {
		return err
	}
	params := sqlitedb.UnlockMessagesParams{
		InstanceID: held.instance, LockedAt: held.since, LockToken: &token, GiveBack: toInt(ignoreAttempt),
	}
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

// RenewOrchestrationItemLock implements [provider.Provider].
func (s *Store) RenewOrchestrationItemLock(ctx context.Context, lockToken string, extendFor time.Duration) error {
	const operation = "renew_orchestration_item_lock"
	lockFor, err := lease(operation, "extendFor", extendFor)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		until := t.now + lockFor
		t.instanceWake = earlier(t.instanceWake, until)
		renewed, err := t.RenewInbox(ctx, &until, &lockToken, &t.now)
		if err != nil || renewed == 1 {
			return err
		}
		if _, err := t.findLock(ctx, operation, lockToken); err != nil {
			return err
		}
		return instanceLockExpired(operation)
	})
}

// instanceLockExpired is a lease on an instance that has ended.
func instanceLockExpired(operation string) error {
	return provider.Permanent(operation,
		"Instance lock expired: the turn took longer than its lease; its messages will be delivered again",
		provider.ErrLockExpired)
}
