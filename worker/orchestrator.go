package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// orchestrator is one slot that runs turns.
type orchestrator struct {
	worker *Worker
	id     string
	// scout looks often whether a store that is away is back.
	scout bool
	// unknown is set for the slot of [Worker.watchUnknown].
	unknown *unknownWatch
	// settler is that of a slot of the dispatcher.
	settler *settler
}

// lentPerSlot is how many turns whose function is slow are waited for outside a slot.
const lentPerSlot = 32

// loop runs turns until ctx ends; work ends when running turns must stop (§7.4).
func (o *orchestrator) loop(ctx, work context.Context) {
	w := o.worker
	backoff := fetchBackoff{outage: &w.outage, scout: o.scout}
	last := newSettler()
	defer last.wait()
	for ctx.Err() == nil {
		began := time.Now()
		params := w.fetchTurn()
		params.PollTimeout = w.pollTimeout()
		returned := w.outage.expect(ctx, opFetchTurn, params.PollTimeout)
		fetched, err := w.store.FetchOrchestrationItem(ctx, params)
		returned()
		w.outage.observe(ctx, opFetchTurn, err)
		if fetched == nil {
			backoff.wait(ctx, err, began, w.options.MinPollInterval)
			continue
		}
		backoff.failures = 0
		replaced := false
		settle := o.process(work, fetched, func() { replaced = o.replace(ctx, work) })
		if replaced {
			settle(func() {}, nil)
			w.lent.Add(-1)
			return
		}
		last.settle(func(free func()) { settle(free, nil) })
	}
}

// replace lets another goroutine go on as this slot, so that a function that blocks keeps
// only its own turn waiting. It reports false when too many turns are waited for already.
func (o *orchestrator) replace(ctx, work context.Context) bool {
	if !o.worker.lend() {
		return false
	}
	o.worker.loops.Go(func() { o.loop(ctx, work) })
	return true
}

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
	l := holdLease(work, w.options.OrchestrationLockTimeout, w.options.OrchestrationRenewalBuffer,
		func(ctx context.Context) error {
			return w.store.RenewOrchestrationItemLock(ctx, fetched.LockToken, w.options.OrchestrationLockTimeout)
		}, cancel, logger)
	w.renewals.join(l, provider.LockRenewal{LockToken: fetched.LockToken, Turn: true, ExtendFor: w.options.OrchestrationLockTimeout})
	t := &turn{worker: w, slot: o.id, fetched: fetched, item: &fetched.Item, logger: logger, slow: slow, unknown: o.unknown}
	commit := t.run(ctx)
	return func(free func(), take *taking) {
		defer cancel(nil)
		defer l.stop()
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
