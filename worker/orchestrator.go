package worker

import (
	"context"
	"log/slog"

	"github.com/duroxide/duroxide-go/internal/replay"
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

// process runs one turn and returns the call that commits or abandons it. The
// lease is kept alive until that call has returned. slow is called when the
// orchestration function keeps the turn waiting.
func (o *orchestrator) process(work context.Context, fetched *provider.FetchedOrchestration, slow func()) settleFunc {
	w := o.worker
	ctx, cancel := context.WithCancelCause(work)
	logger := w.options.Logger.With("instance_id", fetched.Item.Instance,
		"orchestration_name", fetched.Item.OrchestrationName, "worker_id", o.id)
	l := leases.Hold(work, w.options.OrchestrationLockTimeout, w.options.OrchestrationRenewalBuffer,
		func(ctx context.Context) error {
			return w.store.RenewOrchestrationItemLock(ctx, fetched.LockToken, w.options.OrchestrationLockTimeout)
		}, cancel, logger)
	w.renewals.Join(l, provider.LockRenewal{LockToken: fetched.LockToken, Turn: true, ExtendFor: w.options.OrchestrationLockTimeout})
	t := &turn{worker: w, slot: o.id, fetched: fetched, item: &fetched.Item, logger: logger, slow: slow, unknown: o.unknown}
	commit := t.run(ctx)
	return func(free func(), take *taking) {
		defer cancel(nil)
		defer l.Stop()
		var stop func()
		t.settling, stop = newSettling(ctx, w.options.OrchestrationLockTimeout, &w.outage, free)
		t.settling.take = take
		defer stop()
		commit()
		t.settled()
		t.tellEnd()
		take.finish()
	}
}

// turn is one fetched batch on its way to an ack or an abandon.
type turn struct {
	worker *Worker
	// slot is the slot's id.
	slot    string
	fetched *provider.FetchedOrchestration
	item    *provider.OrchestrationItem
	logger  *slog.Logger
	// slow is called when the function keeps the turn waiting.
	slow func()
	// known is how many events of the history the suspended function knows that the turn
	// began with, and suspended that one, or what the turn made of it.
	known     int
	suspended *replay.Suspended
	// committed means that the turn's effects are in the store.
	committed bool
	hooked    hookedTurn
	// settling is set when the turn is decided.
	settling settling
	// unknown is set for a turn that is to fail because no worker has its code.
	unknown *unknownWatch
}
