package sqlite

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// A queue message waits in the store until a turn reads it (contract §5.28). At most one for each queue
// that the instance awaits makes the instance fetchable, the oldest; the others have the kind
// columns.KindWaiting, which neither the inbox nor the lock of a turn looks at. So what waits
// costs nothing until it is read.

// lineUp decides which queue messages wait behind others, of those about to be stored.
func (t *tx) lineUp(ctx context.Context, messages []columns.Message) error {
	leads := map[string]bool{} // the instances that one of these messages makes fetchable
	for i := range messages {
		m := &messages[i]
		if m.Queue == nil {
			continue
		}
		waits := leads[m.Instance]
		if k := t.kept(m.Instance); !waits && (!k.idle() || len(k.waiting) > 0) {
			var err error
			if waits, err = t.MessageWaits(ctx, m.Instance, *m.Queue, t.now); err != nil {
				return err
			}
		}
		m.Kind = columns.KindQueueMessage
		if waits {
			m.Kind = columns.KindWaiting
		}
		leads[m.Instance] = true
	}
	return nil
}

// waits reports whether all messages wait.
func waits(messages []columns.Message) bool {
	return !slices.ContainsFunc(messages, func(m columns.Message) bool { return m.Kind != columns.KindWaiting })
}

// peek finds the messages that wait and that a turn may read: those of the queues that made the
// instance fetchable, and one of some others. It leaves them as they are, since the turn's lease
// keeps everybody else away.
func (t *tx) peek(ctx context.Context, log *slog.Logger, found *turn) ([]columns.Arrived, error) {
	instance := found.Item.Instance
	var rows []sqlitedb.PeekQueueRow
	for _, queue := range slices.Sorted(maps.Keys(found.queued)) {
		oldest, err := t.PeekQueue(ctx, instance, queue)
		if err != nil {
			return nil, err
		}
		rows = append(rows, untilHidden(oldest, t.now)...)
	}
	others, err := t.PeekQueues(ctx, instance)
	if err != nil {
		return nil, err
	}
	for _, row := range others {
		if _, seen := found.queued[*row.Queue]; !seen && row.VisibleAt <= t.now {
			rows = append(rows, sqlitedb.PeekQueueRow(row))
		}
	}
	var list []columns.Arrived
	for _, row := range rows {
		if row.Kind != columns.KindWaiting {
			continue // the turn has it
		}
		item, undecodable, err := t.decodeItem(ctx, row.WorkItem, row.PayloadID)
		if err != nil {
			return nil, err
		}
		if undecodable != nil {
			aside := sqlitedb.LockMessagesRow{ID: row.ID, Kind: row.Kind, WorkItem: row.WorkItem, PayloadID: row.PayloadID}
			if err := t.setMessageAside(ctx, log, found, aside, undecodable); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, columns.Arrived{ID: row.ID, Item: item})
	}
	return list, nil
}

// untilHidden cuts a queue before the first message that is not visible: the order of a queue
// stays, whatever is hidden.
func untilHidden(queue []sqlitedb.PeekQueueRow, now int64) []sqlitedb.PeekQueueRow {
	if i := slices.IndexFunc(queue, func(row sqlitedb.PeekQueueRow) bool { return row.VisibleAt > now }); i >= 0 {
		return queue[:i]
	}
	return queue
}

// readsAll reports whether the turn has read all queue messages that it holds, and none that
// wait. Then its batch is deleted as any other.
func (r *turnResult) readsAll() bool {
	return r.Queues == nil || r.kept != nil && maps.Equal(r.Queues.Read, r.kept.queued)
}

// deleteRead deletes what a turn has read of queues, and lets the rest wait.
func (r *turnResult) deleteRead(ctx context.Context, t *tx, held lock) error {
	for _, queue := range slices.Sorted(maps.Keys(r.Queues.Read)) {
		if err := t.DeleteRead(ctx, held.instance, queue, int64(r.Queues.Read[queue])); err != nil {
			return err
		}
	}
	return t.ParkMessages(ctx, held.instance, held.since, &held.secret)
}

// awaitQueues makes the oldest message of each queue that the instance awaits one that makes it
// fetchable.
func (r *turnResult) awaitQueues(ctx context.Context, t *tx) error {
	if r.kept != nil && r.kept.complete {
		return nil // none waits
	}
	if r.Queues == nil {
		_, err := t.AwaitQueues(ctx, r.instance)
		return err
	}
	for _, queue := range r.Queues.Awaited {
		if _, err := t.AwaitQueue(ctx, r.instance, queue); err != nil {
			return err
		}
	}
	return nil
}
