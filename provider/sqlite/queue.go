package sqlite

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// EnqueueForOrchestrator implements [provider.Provider] (§5.9). It adds a row for any
// instance, whether that exists or not, each time it is called.
//
// Error: [provider.ErrInvalidArgument] for an ActivityExecute, an item without
// instance, or a negative delay.
func (s *Store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, after time.Duration) error {
	const operation = "enqueue_for_orchestrator"
	m, err := columns.NewMessage(operation, item)
	if err != nil {
		return err
	}
	hideFor, err := columns.Delay(operation, "delay", after)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.deliver(ctx, m, hideFor)
	})
}

// EnqueueForWorker implements [provider.Provider] (§5.8).
//
// Error: [provider.ErrInvalidArgument] for anything but an ActivityExecute of an
// instance.
func (s *Store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	const operation = "enqueue_for_worker"
	work, err := columns.NewWork(operation, item)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		return t.queue(ctx, work)
	})
}

// queue stores an activity that becomes visible now.
func (t *tx) queue(ctx context.Context, work columns.Work) error {
	code, err := t.codeID(ctx, work.Code)
	if err != nil {
		return err
	}
	id, err := t.EnqueueWork(ctx, sqlitedb.EnqueueWorkParams{
		InstanceID: work.Instance, ExecutionID: work.ExecutionID, ActivityID: work.Activity,
		SessionID: work.Session, Tag: work.Tag, CodeID: code, WorkItem: work.Body, Now: t.now,
	})
	if err != nil {
		return err
	}
	t.workReady(work.Tag, work.Session, code, id)
	return nil
}
