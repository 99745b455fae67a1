package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// Reasons that cancellation events give (contract §3.3).
const (
	reasonDropped  = "dropped_future"
	reasonTerminal = "orchestration_terminal"
)

// finish decides the turn's outcome, first match wins (contract §7.11, finalize), and
// records the events that end the execution.
func (e *engine) finish() {
	if e.failure == nil {
		e.convert() // what was asked for in the function's last moments
	}
	e.applied = len(e.events)
	e.noteCleanup()
	reason, cancelled := e.cancelRequest()
	switch {
	case e.failure != nil:
		e.cancelDropped()
		e.fail(Failed, e.failure)
	case cancelled && e.env.mostCleanup() == 0:
		e.cancelDropped()
		e.finishCancelled(reason)
	case e.next != nil:
		e.finishContinued()
	case e.returned():
		e.finishReturned()
	default:
		e.cancelDropped()
	}
	if e.failure != nil && e.outcome == Continue {
		e.fail(Failed, e.failure)
	}
	e.enforceLimits()
	if e.outcome != Continue {
		e.cancelActivities()
	} else {
		e.res.Stuck = e.stuck()
	}
}

// finishContinued ends the execution in favour of the next one. What the function gave
// up in this turn is cancelled like all that is open, and its children are left to
// themselves (contract §7.6).
func (e *engine) finishContinued() {
	e.checkDropped()
	if e.failure != nil {
		return
	}
	e.outcome = ContinuedAsNew
	e.carryForward()
	e.end(provider.OrchestrationContinuedAsNew{Input: e.next.Input})
}

// finishReturned ends the execution with the function's result.
func (e *engine) finishReturned() {
	// Nothing can wait for a child any more. One that should outlive its parent
	// is started detached (contract §7.7).
	for _, h := range e.unresolvedChildren() {
		if !h.dropped {
			h.dropped = true
			e.env.dropped = append(e.env.dropped, h)
		}
	}
	e.cancelDropped()
	if e.failure != nil {
		return
	}
	if err := e.coroutine.err; err != nil {
		e.finishFailed(*err)
		return
	}
	e.outcome = Completed
	e.end(provider.OrchestrationCompleted{Output: e.coroutine.output})
}

func (e *engine) fail(outcome Outcome, why provider.ErrorDetails) {
	e.outcome = outcome
	e.res.Details = why
	e.end(provider.OrchestrationFailed{Details: why})
}

// end takes back all waits and records the terminal event.
func (e *engine) end(kind provider.EventKind) {
	for _, wait := range history.OpenWaits(e.events) {
		id := wait.EventID
		if _, queue := wait.Kind.(provider.QueueSubscribed); queue {
			e.record(&id, provider.QueueSubscriptionCancelled{Reason: reasonTerminal})
		} else {
			e.record(&id, provider.ExternalSubscribedCancelled{Reason: reasonTerminal})
		}
	}
	e.record(nil, kind)
}

// alreadyEnded reports a history that was terminal before this turn.
func (e *engine) alreadyEnded() bool {
	for _, event := range e.events[e.known:e.persisted] {
		if event.Terminal() {
			return true
		}
	}
	return false
}

func (e *engine) cancelRequest() (reason string, ok bool) {
	for _, event := range e.events[e.known:] {
		if request, is := event.Kind.(provider.OrchestrationCancelRequested); is {
			return request.Reason, true
		}
	}
	request, ok := e.arrivingCancelRequest()
	return request.Reason, ok
}

// cancelDropped records a cancellation for everything the function gave up, once:
// only with the event goes the side effect, so that replays do not repeat it.
func (e *engine) cancelDropped() {
	if e.failure != nil {
		return
	}
	recorded := e.checkDropped()
	given := slices.Clone(e.env.dropped)
	slices.SortFunc(given, func(a, b *Handle) int {
		return cmp.Or(cmp.Compare(cancellationRank(a.action), cancellationRank(b.action)), cmp.Compare(a.eventID, b.eventID))
	})
	for _, h := range given {
		if e.failure == nil && !recorded[h.eventID] && h.eventID != 0 {
			recorded[h.eventID] = true
			e.cancelOne(h)
		}
	}
}

// checkDropped checks that the code still gives up what history says it gave up, and
// returns what that is.
func (e *engine) checkDropped() map[uint64]bool {
	recorded := map[uint64]bool{}
	for i, event := range e.events[e.known:] {
		reason, ok := droppedReason(event.Kind)
		if !ok || reason != reasonDropped || event.SourceEventID == nil {
			continue
		}
		id := *event.SourceEventID
		recorded[id] = true
		if h := e.bound[id]; e.known+i < e.persisted && (h == nil || !h.dropped) {
			e.misfit(Misfit{Message: fmt.Sprintf("history says that the result of event %d was no longer wanted, but the code still waits for it", id)})
			break
		}
	}
	return recorded
}

// cancellationRank orders cancellations by what they cancel (contract §7.11, reconciliation).
func cancellationRank(action Action) int {
	switch action.(type) {
	case CallActivity:
		return 0
	case CallSub:
		return 1
	case WaitEvent:
		return 2
	}
	return 3
}

// cancelOne records the cancellation of a dropped handle and notes its side
// effect, which there is only while the result is not there.
func (e *engine) cancelOne(h *Handle) {
	id := h.eventID
	switch h.action.(type) {
	case CallActivity:
		e.record(&id, provider.ActivityCancelRequested{Reason: reasonDropped})
		if e.open[id] {
			e.cancelActivity(id)
		}
	case CallSub:
		e.record(&id, provider.SubOrchestrationCancelRequested{Reason: reasonDropped})
		if e.open[id] {
			e.cancelledChildren = append(e.cancelledChildren, h)
		}
	case WaitEvent:
		e.record(&id, provider.ExternalSubscribedCancelled{Reason: reasonDropped})
	case Dequeue:
		e.record(&id, provider.QueueSubscriptionCancelled{Reason: reasonDropped})
	}
}

// droppedReason returns the reason of a cancellation event.
func droppedReason(kind provider.EventKind) (string, bool) {
	switch k := kind.(type) {
	case provider.ActivityCancelRequested:
		return k.Reason, true
	case provider.SubOrchestrationCancelRequested:
		return k.Reason, true
	case provider.ExternalSubscribedCancelled:
		return k.Reason, true
	case provider.QueueSubscriptionCancelled:
		return k.Reason, true
	}
	return "", false
}

func (e *engine) cancelActivity(id uint64) {
	e.res.CancelledActivities = append(e.res.CancelledActivities, provider.ActivityRef{
		Instance: e.turn.Instance, ExecutionID: e.turn.ExecutionID, ActivityID: id,
	})
}

// cancelActivities cancels whatever still runs when an execution ends. The
// events follow the terminal event (contract §7.5 row 13).
func (e *engine) cancelActivities() {
	reason := reasonTerminal + "_failed"
	switch e.outcome {
	case Completed:
		reason = reasonTerminal + "_completed"
	case ContinuedAsNew:
		reason = reasonTerminal + "_continued_as_new"
	case Continue, Failed, Cancelled:
	}
	for _, id := range runningActivities(e.events) {
		e.record(&id, provider.ActivityCancelRequested{Reason: reason})
		e.cancelActivity(id)
	}
}

// runningActivities are the activities that neither ended nor were cancelled.
func runningActivities(events []provider.Event) []uint64 {
	settled := map[uint64]bool{}
	for _, event := range events {
		switch event.Kind.(type) {
		case provider.ActivityCompleted, provider.ActivityFailed, provider.ActivityCancelRequested:
			if event.SourceEventID != nil {
				settled[*event.SourceEventID] = true
			}
		}
	}
	var running []uint64
	for _, event := range events {
		if _, ok := event.Kind.(provider.ActivityScheduled); ok && !settled[event.EventID] {
			running = append(running, event.EventID)
		}
	}
	return running
}

// unresolvedChildren are the children that an earlier turn started and that have
// not reported yet.
func (e *engine) unresolvedChildren() []*Handle {
	var children []*Handle
	for _, event := range e.events[:e.persisted] {
		h := e.bound[event.EventID]
		if _, ok := event.Kind.(provider.SubOrchestrationScheduled); ok && h != nil && e.open[event.EventID] {
			children = append(children, h)
		}
	}
	return children
}
