package worker

import (
	"context"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
)

// orchestrator is one slot that runs turns.
type orchestrator struct {
	worker *Worker
	id     string
	// unknown is set for the slot of [Worker.watchUnknown].
	unknown *unknownWatch
	// kept has a place for each call that settles work of the slot and that the store has failed or not answered, so
	// that there are no more than keptPerSlot.
	kept chan struct{}
}

// lentPerSlot is how many turns whose function is slow are waited for outside a slot.
const lentPerSlot = 32

// lend counts a turn that is waited for outside its slot, unless there are too many.
func (w *Worker) lend() bool {
	if int(w.lent.Add(1)) > lentPerSlot*w.options.OrchestrationConcurrency {
		w.lent.Add(-1)
		return false
	}
	return true
}

// fetchTurn is what this worker asks for when it fetches a turn.
func (w *Worker) fetchTurn() provider.FetchOrchestrationParams {
	return provider.FetchOrchestrationParams{
		LockTimeout: w.options.OrchestrationLockTimeout,
		Filter:      &provider.CapabilityFilter{SupportedVersions: w.options.SupportedVersions},
		Held:        w.cache.held,
		Peek:        true,
		Known:       w.known.orchestrations,
		SetAside:    w.tellSetAside,
	}
}

// tellSetAside logs what the store could not decode and has set aside.
func (w *Worker) tellSetAside(letter provider.DeadLetter) {
	attributes := []any{"instance_id", letter.InstanceID, "kind", letter.Kind, "error", letter.Reason}
	if letter.Activity {
		w.options.Logger.Error("the store has set aside an activity that it cannot decode; 'duroxide dead-letters' shows it, sends it again or deletes it", attributes...)
	} else {
		w.options.Logger.Error("the store has set aside a message that it cannot decode; 'duroxide dead-letters' shows it, sends it again or deletes it", attributes...)
	}
}

// decide runs one turn, which settle ends. The lease is kept alive until then. slow is called when the orchestration
// function keeps the turn waiting.
func (o *orchestrator) decide(work context.Context, fetched *provider.FetchedOrchestration, slow func()) *turn {
	w := o.worker
	ctx, cancel := context.WithCancelCause(work)
	logger := w.options.Logger.With("instance_id", fetched.Item.Instance,
		"orchestration_name", fetched.Item.OrchestrationName, "worker_id", o.id)
	l := leases.Hold(work, w.options.OrchestrationLockTimeout, w.options.OrchestrationRenewalBuffer,
		func(ctx context.Context) error {
			return w.store.RenewOrchestrationItemLock(ctx, fetched.LockToken, w.options.OrchestrationLockTimeout)
		}, cancel, logger)
	w.renewals.Join(l, provider.LockRenewal{LockToken: fetched.LockToken, Turn: true, ExtendFor: w.options.OrchestrationLockTimeout})
	t := &turn{
		worker: w, slot: o.id, fetched: fetched, item: &fetched.Item, logger: logger, slow: slow, unknown: o.unknown,
		ctx: ctx, cancel: cancel, lease: l,
	}
	t.verdict = t.decide(ctx)
	return t
}
