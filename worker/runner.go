package worker

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// runner runs what package taking takes for the worker's slots.
type runner struct{ worker *Worker }

// dispatch starts to take work. stop ends the store's notices; it is called when all work has ended.
func (w *Worker) dispatch(ctx, work context.Context) (stop func()) {
	return taking.Start(ctx, work, taking.Config{
		Store: w.store, Outage: w.outage, Sessions: w.sessions, Logger: w.options.Logger, Loops: &w.loops,
		Turns: w.options.OrchestrationConcurrency, TurnLease: w.options.OrchestrationLockTimeout,
		Activities: w.options.ActivityConcurrency, ActivityLease: w.options.ActivityLockTimeout,
		PollTimeout: w.options.PollTimeout, TurnSlot: w.turnSlotID, ActivitySlot: w.slotID,
	}, runner{w})
}

// FetchTurn is what this worker asks for when it fetches a turn.
func (r runner) FetchTurn() provider.FetchOrchestrationParams {
	w := r.worker
	return provider.FetchOrchestrationParams{
		LockTimeout: w.options.OrchestrationLockTimeout,
		Filter:      &provider.CapabilityFilter{SupportedVersions: w.options.SupportedVersions},
		Held:        w.cache.held,
		Peek:        true,
		Known:       w.known.orchestrations,
		SetAside:    w.tellSetAside,
	}
}

// FetchActivity is what a slot asks for when it fetches an activity, also of a session if that is allowed and a
// further one may begin.
func (r runner) FetchActivity(slot string, sessions bool) provider.FetchWorkParams {
	w := r.worker
	params := provider.FetchWorkParams{LockTimeout: w.options.ActivityLockTimeout, Tags: w.options.Tags, Known: w.known.activities, SetAside: w.tellSetAside}
	if sessions && !w.sessions.Full() {
		params.Session = &provider.SessionFetchConfig{OwnerID: w.ownerID(slot), LockTimeout: w.options.SessionLockTimeout}
	}
	return params
}

// RunTurn runs a turn and decides what becomes of it.
func (r runner) RunTurn(ctx context.Context, slot string, fetched *provider.FetchedOrchestration, slow func()) taking.Decided {
	return r.worker.decideTurn(ctx, slot, fetched, slow, nil)
}

// RunActivity runs an activity and decides what becomes of it.
func (r runner) RunActivity(ctx context.Context, slot string, fetched *provider.FetchedWorkItem) taking.Decided {
	return r.worker.decideCall(ctx, slot, fetched, nil)
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

// turnSlotID names a slot for turns.
func (w *Worker) turnSlotID(slot int) string { return fmt.Sprintf("orch-%d-%s", slot, w.id) }

// slotID names an activity slot, and with it the owner of its sessions.
func (w *Worker) slotID(slot int) string {
	if w.options.NodeID != "" {
		return fmt.Sprintf("work-%d-%s", slot, w.options.NodeID)
	}
	return fmt.Sprintf("work-%d-%s", slot, w.id)
}

// ownerID names the owner of an activity slot's sessions (contract §7.1).
func (w *Worker) ownerID(slotID string) string {
	if w.options.NodeID != "" {
		return w.options.NodeID
	}
	return slotID
}
