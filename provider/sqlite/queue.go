package sqlite

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// EnqueueForOrchestrator implements [provider.Provider] (§5.9). It adds a row for any
// instance, whether that exists or not, each time it is called.
//
// Error: [provider.ErrInvalidArgument] for an ActivityExecute, an item without
// instance, or a negative delay.
func (s *Store) EnqueueForOrchestrator(ctx context.Context, item provider.WorkItem, after time.Duration) error {
	const operation = "enqueue_for_orchestrator"
	m, err := newMessage(operation, item)
	if err != nil {
		return err
	}
	hideFor, err := delay(operation, "delay", after)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		if err := t.send(ctx, m, hideFor); err != nil {
			return err
		}
		return t.refresh(ctx, m.instance)
	})
}

// EnqueueForWorker implements [provider.Provider] (§5.8).
//
// Error: [provider.ErrInvalidArgument] for anything but an ActivityExecute of an
// instance.
func (s *Store) EnqueueForWorker(ctx context.Context, item provider.WorkItem) error {
	const operation = "enqueue_for_worker"
	work, err := newWork(operation, item)
	if err != nil {
		return err
	}
	return s.write(ctx, operation, func(ctx context.Context, t *tx) error {
		work.Now = t.now
		t.activities++
		return t.EnqueueWork(ctx, work)
	})
}
