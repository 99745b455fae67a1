package replay

import (
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// apply brings one event of the history to the function and reports whether the
// function has to look at it (contract §7.11, apply).
func (e *engine) apply(event provider.Event) (mustPoll bool) {
	if isSchedule(event.Kind) {
		e.applySchedule(event)
		return false
	}
	switch k := event.Kind.(type) {
	case provider.ActivityCompleted:
		return e.deliver(event, func(h *Handle) { h.resolve(k.Result) })
	case provider.ActivityFailed:
		return e.deliver(event, func(h *Handle) { h.fail(k.Details) })
	case provider.TimerFired:
		mustPoll = e.deliver(event, func(h *Handle) { h.resolve("") })
		e.endCleanup()
		return mustPoll
	case provider.OrchestrationCancelRequested:
		return e.env.cancel(k.Reason)
	case provider.SubOrchestrationCompleted:
		return e.deliver(event, func(h *Handle) { h.resolve(k.Result) })
	case provider.SubOrchestrationFailed:
		return e.deliver(event, func(h *Handle) { h.fail(k.Details) })
	case provider.ExternalEvent:
		heard := e.deliverExternal(k)
		if !heard && !e.persistedEvent(event.EventID) {
			e.res.Unheard = append(e.res.Unheard, k.Name)
		}
		return heard
	case provider.QueueEventDelivered:
		e.queues.get(k.Name).arrive(k.Data)
		return true
	case provider.ExternalSubscribedCancelled, provider.QueueSubscriptionCancelled:
		if h := e.source(event); h != nil && h.sub != nil {
			h.sub.cancel()
		}
	}
	return false
}

// applySchedule matches a recorded schedule event with the oldest thing the
// function asked for.
func (e *engine) applySchedule(event provider.Event) {
	if len(e.env.emitted) == 0 {
		// State changes were made when the function asked for them; a missing one
		// is tolerated, a missing schedule is not.
		if !isStateChange(event.Kind) {
			e.misfitAt(event, nil)
		}
		return
	}
	at := e.pendingClear(event.Kind)
	h := e.env.emitted[at]
	if !matches(h.action, event.Kind) {
		e.misfitAt(event, h)
		return
	}
	e.env.emitted = slices.Delete(e.env.emitted, at, at+1)
	e.bind(h, event)
}

// pendingClear is the place of the action that a recorded event may match: the head,
// but for the clearing of a key. Older workers recorded the clears of one run in any
// order, so such an event matches the same key's within the run at the head (contract §7.12).
func (e *engine) pendingClear(recorded provider.EventKind) int {
	cleared, ok := recorded.(provider.KeyValueCleared)
	if !ok {
		return 0
	}
	for i, h := range e.env.emitted {
		pending, ok := h.action.(ClearKV)
		if !ok {
			break
		}
		if pending.Key == cleared.Key {
			return i
		}
	}
	return 0
}

// bind ties a handle to its schedule event. What is recorded wins over what the
// code asked for now: a timer's due time, a child's id, a key's time stamp.
func (e *engine) bind(h *Handle, event provider.Event) {
	h.eventID = event.EventID
	e.bound[event.EventID] = h
	switch k := event.Kind.(type) {
	case provider.ActivityScheduled, provider.TimerCreated:
		e.open[event.EventID] = true
	case provider.SubOrchestrationScheduled:
		e.open[event.EventID] = true
		h.child = k.Instance
	case provider.ExternalSubscribed:
		h.sub = e.external.get(k.Name).subscribe(event.EventID)
	case provider.QueueSubscribed:
		h.sub = e.queues.get(k.Name).subscribe(event.EventID)
		if h.dropped && e.exact {
			h.sub.cancel()
		}
		e.dequeued = true
	case provider.KeyValueSet:
		e.bindTime(k)
	}
}

// bindTime gives a key the recorded time, unless it was set anew or cleared since.
func (e *engine) bindTime(set provider.KeyValueSet) {
	if entry, ok := e.env.kv[set.Key]; ok && entry.Value == set.Value {
		e.env.kv[set.Key] = provider.KVEntry{Value: set.Value, LastUpdatedAtMs: set.LastUpdatedAtMs}
	}
}

// deliver hands a completion to the handle of its schedule event.
func (e *engine) deliver(event provider.Event, complete func(*Handle)) (mustPoll bool) {
	h := e.source(event)
	if h == nil || !e.open[h.eventID] || !completesAction(event.Kind, h.action) {
		e.nondeterministicf("history has event %d, %s, without an open schedule event for it",
			event.EventID, describe(event.Kind))
		return false
	}
	delete(e.open, h.eventID)
	complete(h)
	return true
}

// deliverExternal hands a positional event to the first active subscription that
// has none yet; without one the event is lost for good.
func (e *engine) deliverExternal(event provider.ExternalEvent) (mustPoll bool) {
	ch := e.external.get(event.Name)
	if !ch.admits() {
		return false
	}
	ch.arrive(event.Data)
	return true
}

// source is the handle of the schedule event that an event belongs to.
func (e *engine) source(event provider.Event) *Handle {
	if event.SourceEventID == nil {
		return nil
	}
	return e.bound[*event.SourceEventID]
}

// completesAction is completes for the code's side.
func completesAction(completion provider.EventKind, action Action) bool {
	switch completion.(type) {
	case provider.ActivityCompleted, provider.ActivityFailed:
		_, ok := action.(CallActivity)
		return ok
	case provider.TimerFired:
		_, ok := action.(CreateTimer)
		return ok
	case provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed:
		_, ok := action.(CallSub)
		return ok
	}
	return false
}
