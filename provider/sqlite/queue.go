package sqlite

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// EnqueueForOrchestrator implements [provider.Provider]. Each call adds a message, whether the instance exists or
// not.
//
// Error: [provider.ErrInvalidArgument] for an ActivityExecute, an item without
// instance, or a negative delay.
func (s *Store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, after time.Duration) error {
	const operation = "enqueue_for_orchestrator"
	m, hideFor, err := newMessage(operation, item, after)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.deliver(ctx, m, hideFor)
	})
}

// newMessage checks a message and its delay.
func newMessage(operation string, item provider.WorkItem, after time.Duration) (m columns.Message, hideFor int64, err error) {
	if m, err = columns.NewMessage(operation, item, longText); err != nil {
		return m, 0, err
	}
	hideFor, err = columns.Delay(operation, "delay", after)
	return m, hideFor, err
}

// EnqueueForWorker implements [provider.Provider].
//
// Error: [provider.ErrInvalidArgument] for anything but an ActivityExecute of an
// instance.
func (s *Store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	const operation = "enqueue_for_worker"
	work, err := columns.NewWork(operation, item, longText)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.queue(ctx, []columns.Work{work}, false)
	})
}

// queue stores activities that become visible now. With handOn, those that the call itself
// takes are locked at once.
func (t *tx) queue(ctx context.Context, list []columns.Work, handOn bool) error {
	rows := make([]sqlitedb.EnqueueWorkParams, len(list))
	handed := make([]*handedWork, len(list))
	var left []sqlitedb.EnqueueWorkParams
	for i, w := range list {
		code, err := t.codeID(ctx, w.Code)
		if err != nil {
			return err
		}
		payload, err := t.payloadOf(ctx, w.Apart)
		if err != nil {
			return err
		}
		rows[i] = sqlitedb.EnqueueWorkParams{
			InstanceID: w.Instance, ExecutionID: w.ExecutionID, ActivityID: w.Activity,
			SessionID: w.Session, Tag: w.Tag, CodeID: code, WorkItem: w.Body, PayloadID: payload, Now: t.now, Ready: 1,
		}
		if handOn && t.taking != nil {
			if handed[i], err = t.taking.handOn(t, w, &rows[i], left); err != nil {
				return err
			}
		}
		if handed[i] == nil {
			left = append(left, rows[i])
		}
	}
	id, err := addRows(ctx, t, enqueueWorks, rows, t.EnqueueWork)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if handed[i] != nil {
			t.taking.handedOn(t, handed[i], id+int64(i))
		} else {
			t.workReady(row.Tag, row.SessionID, row.CodeID, id+int64(i))
			t.keepWork(id+int64(i), row)
		}
	}
	return nil
}
