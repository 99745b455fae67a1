package worker

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// maxAckRetries is how often a turn is committed again after a transient failure
// (§7.5). A repeated ack is safe: if the first did commit, the token is gone.
const maxAckRetries = 5

// commit acknowledges a turn. When the store refuses it for good, for instance
// because an id is too long, the instance fails with the reason.
func (t *turn) commit(ctx context.Context, b begin, result *replay.Result) {
	params := provider.AckOrchestrationParams{
		LockToken: t.fetched.LockToken, ExecutionID: b.executionID,
		HistoryDelta: result.HistoryDelta, WorkerItems: result.WorkerItems,
		OrchestratorItems: result.OrchestratorItems, Metadata: result.Metadata,
		CancelledActivities: result.CancelledActivities,
	}
	message, err := t.addressParent(ctx, result.Parent)
	if err != nil {
		t.logger.WarnContext(ctx, "the parent's history could not be read, the turn is tried again", "error", err)
		t.abandon(ctx, 100*time.Millisecond, false)
		return
	}
	if message != nil {
		params.OrchestratorItems = append(params.OrchestratorItems, message)
	}
	err = t.ack(ctx, params)
	if err == nil || errors.Is(err, provider.ErrLockLost) {
		return
	}
	if provider.IsRetryable(err) {
		t.abandon(ctx, 50*time.Millisecond, false)
		return
	}
	t.refused(ctx, b, err)
}

// refused fails an instance whose turn the store does not accept.
func (t *turn) refused(ctx context.Context, b begin, cause error) {
	t.logger.ErrorContext(ctx, "the store refused a turn, the orchestration fails", "error", cause)
	delta := failureDelta(t.item.Instance, b.executionID, b.history, b.started, provider.AsError(cause).Infrastructure())
	if !t.fail(ctx, b.executionID, b.started, delta) {
		t.abandon(ctx, 50*time.Millisecond, false)
	}
}

// fail commits a delta that ends the execution, and tells the parent.
func (t *turn) fail(ctx context.Context, executionID uint64, started provider.OrchestrationStarted, delta []provider.Event) bool {
	params := provider.AckOrchestrationParams{
		LockToken: t.fetched.LockToken, ExecutionID: executionID, HistoryDelta: delta, Metadata: replay.Metadata(delta),
	}
	// Nothing of it is ever replayed, so it is bound to no framework version and any
	// worker may clear its late messages away (§7.9).
	params.Metadata.PinnedDuroxideVersion = nil
	message, err := t.addressParent(ctx, replay.ParentMessage(started, delta))
	if err != nil {
		return false
	}
	if message != nil {
		params.OrchestratorItems = []provider.WorkItem{message}
	}
	err = t.ack(ctx, params)
	return err == nil || errors.Is(err, provider.ErrLockLost)
}

// ack commits with retries. A lost lock is logged and returned: somebody else owns
// the instance, or the ack had in fact succeeded.
func (t *turn) ack(ctx context.Context, params provider.AckOrchestrationParams) error {
	ctx, cancel := t.settling(ctx)
	defer cancel()
	var err error
	for try := range maxAckRetries + 1 {
		if try > 0 {
			sleep(ctx, 10*time.Millisecond<<(try-1))
		}
		err = t.worker.store.AckOrchestrationItem(ctx, params)
		if err == nil {
			return nil
		}
		if errors.Is(err, provider.ErrLockLost) {
			t.logger.WarnContext(ctx, "a turn was not committed because its lock was lost", "error", err)
			return err
		}
		if !provider.IsRetryable(err) {
			return err
		}
	}
	t.logger.ErrorContext(ctx, "committing a turn failed", "error", err, "tries", maxAckRetries+1)
	return err
}

// settling returns a context for the end of a turn. It is not bound to the turn's:
// the store knows best whether the lock still holds, and a shutdown should not undo a
// finished turn. But a store that does not answer holds it up no longer than a lease.
func (t *turn) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), t.worker.options.OrchestrationLockTimeout)
}

// addressParent fills in the parent's execution. A parent ignores results for any
// but its current execution, and only its history says which execution started
// this child (P40). nil means that nobody waits any more.
func (t *turn) addressParent(ctx context.Context, message provider.WorkItem) (provider.WorkItem, error) {
	if message == nil {
		return nil, nil // no parent, no message
	}
	ctx, cancel := t.settling(ctx)
	defer cancel()
	history, err := t.worker.store.Read(ctx, message.Target())
	if err != nil {
		if errors.Is(err, provider.ErrCorrupt) {
			return nil, nil // a parent that cannot be replayed cannot be told
		}
		return nil, err
	}
	execution := func(id uint64) uint64 {
		return replay.ExecutionOfChild(history, id, message.Target(), t.item.Instance)
	}
	switch m := message.(type) {
	case provider.SubOrchCompletedItem:
		if m.ParentExecutionID = execution(m.ParentID); m.ParentExecutionID != 0 {
			return m, nil
		}
	case provider.SubOrchFailedItem:
		if m.ParentExecutionID = execution(m.ParentID); m.ParentExecutionID != 0 {
			return m, nil
		}
	}
	return nil, nil // the parent has moved on
}
