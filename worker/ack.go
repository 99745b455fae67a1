package worker

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// commit acknowledges a turn. When the store refuses it for good, for instance
// because an id is too long, the instance fails with the reason.
func (t *turn) commit(ctx context.Context, b turns.Begin, result *replay.Result) verdict {
	params := provider.AckOrchestrationParams{
		LockToken: t.fetched.LockToken, ExecutionID: b.ExecutionID,
		HistoryDelta: result.HistoryDelta, WorkerItems: result.WorkerItems,
		Metadata: result.Metadata, CancelledActivities: result.CancelledActivities,
		Queues: &provider.QueueReads{Read: result.Read, Awaited: result.Awaited},
	}
	var err error
	if params.OrchestratorItems, err = t.outgoing(ctx, b.ExecutionID, result); err != nil {
		t.worker.failed(t.key(), err)
		return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: noAttempt(err)}
	}
	notices, err := t.notices(ctx)
	if err != nil {
		t.worker.failed(t.key(), err)
		return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: noAttempt(err)}
	}
	err = t.ackNoticing(ctx, params, notices)
	switch {
	case err == nil:
		t.committed = true
		t.worker.failures.forget(t.key())
		t.worker.held.forget(t.key())
		t.worker.active.cancel(params.CancelledActivities)
		t.worker.unserved.answered(t.item.Messages)
		t.worker.unserved.add(mayHang(params.WorkerItems))
	case errors.Is(err, provider.ErrLockLost):
	case provider.IsRetryable(err):
		return giveBack{Delay: 50 * time.Millisecond, IgnoreAttempt: noAttempt(err)}
	default:
		return t.refused(ctx, b, err)
	}
	return nil
}

// outgoing are the messages of a turn. One that ends the instance also has some for its
// parent and for the children of earlier executions, whom the replay does not know.
func (t *turn) outgoing(ctx context.Context, executionID uint64, result *replay.Result) ([]provider.WorkItem, error) {
	items, err := t.withoutStrangers(ctx, result.OrchestratorItems)
	if err != nil || !result.Outcome.Ends() {
		return items, err
	}
	children, err := t.cancelEarlier(ctx, executionID)
	if err != nil {
		return nil, err
	}
	items = append(items, children...)
	message, err := t.addressParent(ctx, result.Parent)
	if message != nil {
		items = append(items, message)
	}
	return items, err
}

// refused fails an instance whose turn the store does not accept. ack has logged
// the cause.
func (t *turn) refused(ctx context.Context, b turns.Begin, cause error) verdict {
	t.logger.ErrorContext(ctx, "the store refused a turn, the orchestration fails")
	delta := failureDelta(t.item.Instance, b.ExecutionID, b.History, b.Started, provider.AsError(cause).Infrastructure())
	return failure{executionID: b.ExecutionID, started: b.Started, delta: delta, otherwise: giveBack{Delay: 50 * time.Millisecond}}
}

// fail ends an execution, and forgets that its instance was held.
func (t *turn) fail(ctx context.Context, f failure) verdict {
	if !t.commitFailure(ctx, f.executionID, f.started, f.delta) {
		return f.otherwise
	}
	if f.unrun {
		t.worker.offers.forget(t.key())
		t.worker.held.forget(t.key())
	}
	return nil
}

// commitFailure commits a delta that ends the execution, tells the parent and cancels the
// children. It reports whether that settled the batch. What the store refuses of the metadata is
// left out: otherwise the failure would be refused like the turn before it, for ever.
func (t *turn) commitFailure(ctx context.Context, executionID uint64, started provider.OrchestrationStarted, delta []provider.Event) bool {
	params := provider.AckOrchestrationParams{
		LockToken: t.fetched.LockToken, ExecutionID: executionID, HistoryDelta: delta, Metadata: history.Metadata(delta),
	}
	// Nothing of it is ever replayed, so it is bound to no framework version and any
	// worker may clear its late messages away (contract §7.9).
	params.Metadata.PinnedDuroxideVersion = nil
	if executionID == t.item.ExecutionID {
		params.CancelledActivities = openActivities(t.item.History)
	}
	message, err := t.addressParent(ctx, history.ParentMessage(started, delta))
	if err != nil {
		return false
	}
	if params.OrchestratorItems, err = t.cancelChildren(ctx, executionID); err != nil {
		return false
	}
	if message != nil {
		params.OrchestratorItems = append(params.OrchestratorItems, message)
	}
	notices, err := t.notices(ctx)
	if err != nil {
		return false
	}
	err = t.ackNoticing(ctx, params, notices)
	for more := true; more && errors.Is(err, provider.ErrInvalidArgument); {
		if params.Metadata, more = plainer(params.Metadata); more {
			err = t.ack(ctx, params)
		}
	}
	if err == nil {
		b := turns.Begin{ExecutionID: executionID, Started: started}
		if executionID == t.item.ExecutionID {
			b.History = t.item.History
		}
		t.tellFailed(ctx, b, delta)
	}
	return err == nil || errors.Is(err, provider.ErrLockLost)
}

// openActivities are those of a history that have no result.
func openActivities(events []provider.Event) []provider.ActivityRef {
	var open []provider.ActivityRef
	for _, event := range history.Unsettled(events) {
		if _, ok := event.Kind.(provider.ActivityScheduled); ok {
			open = append(open, provider.ActivityRef{Instance: event.InstanceID, ExecutionID: event.ExecutionID, ActivityID: event.EventID})
		}
	}
	return open
}

// plainer takes something out of the metadata that a store may be unable to hold; ok
// is false when nothing of that sort is left. Status and output always stay. A name
// is replaced before it is left out, since an instance without a name gets no row
// (contract §5.2, step 3): clients would wait for it in vain, and no tool would find it.
func plainer(m provider.ExecutionMetadata) (_ provider.ExecutionMetadata, ok bool) {
	switch {
	case m.ParentInstanceID != nil:
		m.ParentInstanceID = nil
	case m.OrchestrationName != nil && *m.OrchestrationName != provider.UnknownVersion:
		m.OrchestrationName, m.OrchestrationVersion = new(provider.UnknownVersion), new(provider.UnknownVersion)
	case m.OrchestrationName != nil:
		m.OrchestrationName, m.OrchestrationVersion = nil, nil
	default:
		return m, false
	}
	return m, true
}

// ack commits, with retries while the lease lasts, and logs why when that fails. After a
// lost lock there is nothing to be done: somebody else owns the instance, or the ack had
// in fact succeeded.
func (t *turn) ack(ctx context.Context, params provider.AckOrchestrationParams) error {
	tries, err := t.tryAck(params)
	t.logUncommitted(ctx, err, tries)
	return err
}

// tryAck is ack without the log.
func (t *turn) tryAck(params provider.AckOrchestrationParams) (tries int, err error) {
	status := params.Metadata.Status
	params.DropTimers = params.DropTimers || status != nil && status.Ended()
	switch {
	case !t.item.Peeked:
		params.Queues = nil // the store keeps nothing
	case params.Queues == nil:
		params.Queues = &provider.QueueReads{} // and nothing was read
	}
	var encoded provider.AckOrchestrationParams
	tries, err = t.settling.Do(func(ctx context.Context) (err error) {
		encoded, err = sealed.Turn(ctx, t.worker.options.Codec, params)
		return err
	})
	if err != nil {
		return tries, err
	}
	params = encoded
	return t.settling.AckTurn(len(params.WorkerItems), func(ctx context.Context) error {
		return t.worker.store.AckOrchestrationItem(ctx, params)
	}, func(ctx context.Context, take provider.ClaimParams) (provider.Claimed, error) {
		if take.Turn != nil {
			turn := *take.Turn
			turn.Held, take.Turn = t.heldBeside, &turn
		}
		return t.worker.store.AckTurnAndClaim(ctx, params, take)
	})
}

func (t *turn) logUncommitted(ctx context.Context, err error, tries int) {
	if err != nil {
		t.worker.failed(t.key(), err)
	}
	switch {
	case err == nil:
	case errors.Is(err, provider.ErrLockLost):
		t.logger.WarnContext(ctx, "a turn was not committed because its lock was lost", "error", err)
	default:
		t.logger.ErrorContext(ctx, "a turn was not committed", "error", err, "tries", tries)
	}
}

// addressParent finds out which execution of the parent started this child, unless
// the message says so: a worker before 0.1.30 left no stamp in the child, and then
// only the parent's history tells. nil means that nobody waits any more. An
// error is logged here and means that the turn must be tried again.
func (t *turn) addressParent(ctx context.Context, message provider.WorkItem) (provider.WorkItem, error) {
	var err error
	switch m := message.(type) {
	case provider.SubOrchCompletedItem:
		if m.ParentExecutionID, err = t.parentExecution(ctx, m.ParentExecutionID, m.ParentInstance, m.ParentID); m.ParentExecutionID != 0 {
			return m, nil
		}
	case provider.SubOrchFailedItem:
		if m.ParentExecutionID, err = t.parentExecution(ctx, m.ParentExecutionID, m.ParentInstance, m.ParentID); m.ParentExecutionID != 0 {
			return m, nil
		}
	}
	return nil, err
}

// parentExecution returns the stamp or, if that is 0, reads which execution of the parent
// scheduled this child in its event id: 0 if none that could still hear of it.
func (t *turn) parentExecution(ctx context.Context, stamp uint64, parent string, id uint64) (uint64, error) {
	if stamp != 0 {
		return stamp, nil
	}
	var events []provider.Event
	err := t.read(ctx, "the parent's history", func(ctx context.Context) (err error) {
		events, err = t.worker.store.Read(ctx, parent)
		return err
	})
	if err != nil {
		return 0, err
	}
	return history.ExecutionOfChild(events, id, parent, t.item.Instance), nil
}
