package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// turn is a locked instance whose history is still to be decoded.
type turn struct {
	provider.FetchedOrchestration
	// secret is what the database has of LockToken.
	secret string
	// taken are its messages, and queued counts the queue messages among them, by queue.
	taken  []int64
	queued map[string]int
	// history is that of Item.ExecutionID, in order, from Item.HistoryFrom on.
	history []columns.Event
	// hidden is set if the instance may have messages that are not visible yet.
	hidden bool
	// held is that of the fetch.
	held func(instance string, executionID uint64) (lastEventID uint64)
	// setAside is that of the fetch.
	setAside func(provider.DeadLetter)
	// unnamed is 1 if the fetch named no code.
	unnamed int64
}

// newTurn is a turn of an instance that is locked with a secret for a fetch.
func newTurn(secret, instance string, f *turnFetch) *turn {
	t := &turn{secret: secret, held: f.held, unnamed: f.unnamed()}
	t.Item.Peeked = f.peek
	t.LockToken = turnToken(secret, instance)
	t.Item.Instance = instance
	return t
}

// decoded is the turn with its history.
func (t *turn) decoded() *provider.FetchedOrchestration {
	columns.DecodeHistory(&t.Item, t.history)
	return &t.FetchedOrchestration
}

// openTurn takes the messages of an instance just locked and finds out what the
// turn is about (contract §5.1 steps 7 to 11). It returns nil, with the instance unlocked,
// when there is no turn to run.
func (t *tx) openTurn(ctx context.Context, log *slog.Logger, found *turn) (*turn, error) {
	instance := found.Item.Instance
	k, err := t.takeMessages(ctx, log, found)
	if err != nil {
		return nil, err
	}
	if k != nil {
		return found, t.loadKept(ctx, found, k)
	}
	if len(found.Item.Messages) == 0 {
		// None of them could be decoded.
		return nil, t.unlock(ctx, instance)
	}
	row, err := t.GetInstanceContext(ctx, instance)
	if err != nil {
		return nil, err
	}
	if row.OrchestrationName == nil {
		return t.openUnknown(ctx, log, found, row.HasHistory == 1, row.HasValues)
	}
	// The row's word is final: a start among the messages is a duplicate, and a
	// ContinueAsNew belongs to the execution that the runtime is about to begin.
	k = &kept{
		name: *row.OrchestrationName, version: row.OrchestrationVersion, execution: *row.CurrentExecutionID, values: row.HasValues,
	}
	if row.Status != nil && provider.Status(*row.Status) == provider.StatusRunning {
		k.versionID, k.codeID = *row.VersionID, *row.CodeID
		k.lock(found.secret, t.now, found.taken, found.queued)
		t.keep(instance, k)
	}
	return found, t.loadKept(ctx, found, k)
}

// openUnknown resolves the context of an instance without a row: from its history
// if that has a start event, else from the message that starts it. Queue messages
// alone belong to nobody and are dropped.
//
// Anything else is put back as if it had not been fetched. The rules of the inbox
// keep such instances from being fetched at all; it takes a start that could not be
// decoded to get here.
func (t *tx) openUnknown(ctx context.Context, log *slog.Logger, found *turn, history, values bool) (*turn, error) {
	item := &found.Item
	found.held = nil // the names are in the first event
	item.Version = provider.UnknownVersion
	item.ExecutionID = 1
	starts := columns.NameFromStart(item)
	if history {
		execution, err := t.LatestStartedExecution(ctx, item.Instance)
		if err == nil {
			item.ExecutionID = uint64(execution)
			if err := t.loadState(ctx, found, values); err != nil {
				return nil, err
			}
			columns.NameFromHistory(item, found.history)
			return found, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	switch {
	case starts && values:
		return found, t.loadSnapshot(ctx, found)
	case starts:
		if !history {
			k := &kept{fresh: true}
			k.lock(found.secret, t.now, found.taken, found.queued)
			t.keep(item.Instance, k)
		}
		return found, nil
	case columns.OnlyQueueMessages(item.Messages):
		return nil, t.dropOrphans(ctx, log, found)
	}
	return nil, t.abandonTurn(ctx, opFetchOrchestration, provider.AbandonParams{LockToken: found.LockToken, IgnoreAttempt: true}, 0)
}

// dropOrphans deletes the batch of an instance that nobody has started. Kept, it
// would be fetched again and again.
func (t *tx) dropOrphans(ctx context.Context, log *slog.Logger, found *turn) error {
	instance := found.Item.Instance
	count, err := t.DeleteQueueMessages(ctx, instance, t.now)
	if err != nil {
		return err
	}
	t.reports = append(t.reports, func() {
		log.WarnContext(ctx, "dropped queue messages of an instance that does not exist", "instance_id", instance, "count", count)
	})
	return t.unlock(ctx, instance)
}

// takeMessages gives the turn the instance's visible messages, in the order of
// their arrival, and counts the attempt. A message that cannot be decoded is set
// aside: the turn goes on without it rather than fail for ever.
//
// It returns what is known of the instance if that is all there is to know.
func (t *tx) takeMessages(ctx context.Context, log *slog.Logger, found *turn) (*kept, error) {
	instance := found.Item.Instance
	k := t.kept(instance)
	if !k.idle() {
		t.drop(instance)
		k = nil
	}
	rows, err := t.lockMessages(ctx, found, k)
	if err != nil {
		return nil, err
	}
	whole := k != nil && len(rows) == len(k.waiting)
	var messages []columns.Arrived
	for _, row := range rows {
		found.taken = append(found.taken, row.ID)
		// Each message counts its own attempts; the batch reports the most, of those too
		// that cannot be decoded (contract §5.1 step 9).
		found.AttemptCount = max(found.AttemptCount, uint32(row.AttemptCount))
		item, undecodable, err := t.decodeItem(ctx, row.WorkItem, row.PayloadID)
		if err != nil {
			return nil, err
		}
		if undecodable != nil {
			if err := t.setMessageAside(ctx, log, found, row, undecodable); err != nil {
				return nil, err
			}
			whole = false
			continue
		}
		messages = append(messages, columns.Arrived{ID: row.ID, Item: item})
		if row.Queue != nil {
			if found.queued == nil {
				found.queued = map[string]int{}
			}
			found.queued[*row.Queue]++
		}
	}
	if found.Item.Peeked && !whole {
		waiting, err := t.peek(ctx, log, found)
		if err != nil {
			return nil, err
		}
		messages = append(messages, waiting...)
	}
	found.Item.Messages = columns.Shown(messages, found.Item.Peeked)
	if !whole {
		t.drop(instance)
		return nil, nil
	}
	k.lock(found.secret, t.now, found.taken, found.queued)
	return k, nil
}

// setMessageAside moves a message out of the orchestrator queue.
func (t *tx) setMessageAside(
	ctx context.Context, log *slog.Logger, found *turn, row sqlitedb.LockMessagesRow, cause error,
) error {
	if err := t.setAside(ctx, log, found.setAside, sqlitedb.AddDeadLetterParams{
		Queue: messageQueue, QueueID: row.ID, InstanceID: found.Item.Instance, WorkItem: row.WorkItem, PayloadID: row.PayloadID, Error: cause.Error(),
	}); err != nil {
		return err
	}
	return t.DeleteMessage(ctx, row.ID)
}

// loadKept is loadState for an instance of which this is known.
func (t *tx) loadKept(ctx context.Context, found *turn, k *kept) error {
	item := &found.Item
	item.OrchestrationName, item.Version, item.ExecutionID = k.name, columns.OrUnknown(k.version), uint64(k.execution)
	if found.held != nil && k.last.ID != 0 {
		if from := found.held(item.Instance, item.ExecutionID); columns.Clamp(from) == k.last.ID {
			item.HistoryFrom, found.history = from, []columns.Event{k.last}
		}
	}
	if found.history == nil {
		if err := t.loadHistory(ctx, found); err != nil {
			return err
		}
		if n := len(found.history); n > 0 {
			k.remember(found.history[n-1])
		}
	}
	if k.values {
		return t.loadSnapshot(ctx, found)
	}
	return nil
}

// loadState reads the execution's history and, if there may be one, the snapshot
// of the key-value map.
func (t *tx) loadState(ctx context.Context, found *turn, values bool) error {
	if err := t.loadHistory(ctx, found); err != nil {
		return err
	}
	if !values {
		return nil
	}
	return t.loadSnapshot(ctx, found)
}

// loadHistory reads the execution's history, or what follows the last event that the
// caller holds.
func (t *tx) loadHistory(ctx context.Context, found *turn) error {
	instance, execution := found.Item.Instance, int64(found.Item.ExecutionID)
	if found.held != nil {
		if from := found.held(instance, found.Item.ExecutionID); from != 0 {
			rows, err := t.ReadExecutionFrom(ctx, instance, execution, columns.Clamp(from))
			if err != nil {
				return err
			}
			if len(rows) > 0 && rows[0].EventID == columns.Clamp(from) {
				found.Item.HistoryFrom = from
				for _, row := range rows {
					found.history = append(found.history, columns.Event{ID: row.EventID, Data: row.EventData, Apart: row.Payload})
				}
				return nil
			}
		}
	}
	rows, err := t.ReadExecution(ctx, instance, execution)
	found.history = storedEvents(rows)
	return err
}

// loadSnapshot reads the key-value map as the execution found it. What the
// execution itself has changed stands in the delta and is left out: replay will
// make the same changes again.
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
