package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// sentinelEventID is the id of the event that ends a history nobody can read: the next free id is unknown (contract
// §7.9).
const sentinelEventID = 99999

// unread decides about an instance whose history cannot be decoded. It is held: somebody may mend the history, and
// another release may know an event that this one does not.
func (t *turn) unread(ctx context.Context) verdict {
	var use *provider.IDUse
	err := t.read(ctx, "whether the instance has ended", func(ctx context.Context) (err error) {
		use, err = t.worker.store.FindInstance(ctx, t.item.Instance)
		return err
	})
	limit := t.worker.options.MaxAttempts
	switch {
	case err != nil:
		return giveBack{Delay: time.Second, IgnoreAttempt: true}
	case use != nil && use.Status.Ended():
		t.logger.WarnContext(ctx, "messages for an instance that has ended, and whose history cannot be read, are dropped",
			"messages", len(t.item.Messages))
		return drop{}
	case !t.worker.options.FailMisfits:
		return t.holdUnread(ctx)
	case t.fetched.AttemptCount <= limit:
		t.logger.ErrorContext(ctx, "a history cannot be read", "error", t.item.HistoryError, "attempt", t.fetched.AttemptCount)
		return giveBack{Delay: time.Second}
	}
	t.logger.WarnContext(ctx, "an orchestration fails because its history cannot be read", "attempt", t.fetched.AttemptCount)
	text := t.item.HistoryError.Error()
	return unreadFailure{provider.PoisonFailure{
		AttemptCount: t.fetched.AttemptCount, MaxAttempts: limit, Message: text,
		MessageType: provider.PoisonDeserialization{Instance: t.item.Instance, ExecutionID: t.item.ExecutionID, Error: text},
	}}
}

// holdUnread gives the turn back, or ends the instance if somebody has asked for that. Whether the instance would clean
// up is not known, so workers that may be able to read the history come first.
func (t *turn) holdUnread(ctx context.Context) verdict {
	o := t.worker.offered(t.key(), 0, t.fetched.AttemptCount)
	if reason, ok := t.batch().ClientsRequest(); ok && time.Since(o.since) >= t.worker.requestPatience() {
		t.logger.WarnContext(ctx, "an instance whose history cannot be read is cancelled, without its clean-up if it has one")
		return unreadFailure{provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: reason}}
	}
	reason := fmt.Sprintf("its history cannot be read: %v; mend the event in the store, or run the release that wrote it; "+
		"'duroxide cancel' ends the instance", t.item.HistoryError)
	b := turns.Begin{ExecutionID: t.item.ExecutionID, Started: provider.OrchestrationStarted{Name: t.item.OrchestrationName, Version: t.item.Version}}
	tries, delay := t.note(b, reason, t.worker.unregisteredDelay)
	if tellsTry(tries) {
		t.logger.ErrorContext(ctx, "a history cannot be read, the instance is held", "execution_id", b.ExecutionID,
			"reason", reason, "tries", tries, "retry_in", delay, "next_line_after", 2*tries)
	}
	return giveBack{Delay: delay, IgnoreAttempt: true, Misfit: reason}
}

// endUnread ends an instance without knowing its history, and tells its parent and its children.
func (t *turn) endUnread(ctx context.Context, details provider.ErrorDetails) verdict {
	delta := []provider.Event{newEvent(t.item.Instance, t.item.ExecutionID, sentinelEventID, provider.OrchestrationFailed{Details: details})}
	items, err := t.cancelListed(ctx)
	if err == nil {
		var told provider.WorkItem
		if told, err = t.parentListed(ctx, details); told != nil {
			items = append(items, told)
		}
	}
	if err == nil {
		err = t.ack(ctx, provider.AckOrchestrationParams{
			LockToken: t.fetched.LockToken, ExecutionID: t.item.ExecutionID, HistoryDelta: delta,
			Metadata: history.Metadata(delta), OrchestratorItems: items,
		})
	}
	if err != nil {
		return giveBack{Delay: time.Second, IgnoreAttempt: noAttempt(err) || !t.worker.options.FailMisfits}
	}
	t.tellFailed(ctx, turns.Begin{ExecutionID: t.item.ExecutionID, Started: provider.OrchestrationStarted{
		Name: t.item.OrchestrationName, Version: t.item.Version,
	}}, delta)
	t.worker.offers.forget(t.key())
	t.worker.held.forget(t.key())
	return nil
}

// parentListed is the message to the parent that the store knows of, nil if that waits for nothing. Which of its calls
// has started this instance is in the parent's history.
func (t *turn) parentListed(ctx context.Context, details provider.ErrorDetails) (provider.WorkItem, error) {
	admin := t.worker.store.Admin()
	if admin == nil {
		return nil, nil
	}
	var parent *string
	var events []provider.Event
	err := t.read(ctx, "the parent's history", func(ctx context.Context) (err error) {
		if parent, err = admin.GetParentID(ctx, t.item.Instance); err == nil && parent != nil {
			events, err = t.worker.store.Read(ctx, *parent)
		}
		return err
	})
	if errors.Is(err, provider.ErrNotFound) || parent == nil && err == nil {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	call, ok := history.CallOfChild(events, *parent, t.item.Instance)
	if !ok {
		return nil, nil
	}
	return provider.SubOrchFailedItem{ParentInstance: *parent, ParentExecutionID: call.ExecutionID, ParentID: call.EventID, Details: details}, nil
}
