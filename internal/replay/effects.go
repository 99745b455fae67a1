package replay

import (
	"slices"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// result gathers the turn's effects.
func (e *engine) result() *Result {
	e.res.Outcome = e.outcome
	e.res.HistoryDelta = e.delta()
	if !e.alreadyEnded() {
		e.send()
		e.describeTurn()
		e.notifyParent()
		if e.outcome == Continue && e.turn.Peeked {
			e.res.Awaited = e.awaited()
		}
	}
	if e.turn.Places {
		e.res.Places = e.places()
	}
	r := e.res // a copy, as the next turn has its own
	return &r
}

// send adds the items of new actions (contract §7.5, turn results). Whatever the outcome,
// detached starts go out; work for a finished execution does not.
func (e *engine) send() {
	for _, h := range e.pending {
		if start, ok := h.action.(StartDetached); ok {
			e.sendDetached(start)
		} else if e.outcome == Continue {
			e.sendWork(h)
		}
	}
	// After the starts: a child that was started and dropped in one turn must see
	// its start first, or the cancellation would wait for ever.
	e.cancelChildren()
	if e.outcome == ContinuedAsNew {
		e.post(e.nextExecution())
		// The function was not told of a cancellation that came with what made it
		// continue: it is the next execution that cleans up.
		if reason, cancelled := e.cancelRequest(); cancelled {
			e.post(provider.CancelInstanceItem{Instance: e.turn.Instance, Reason: reason})
		}
	}
}

func (e *engine) post(item provider.WorkItem) {
	e.res.OrchestratorItems = append(e.res.OrchestratorItems, item)
}

// sendWork dispatches an activity, a timer or a child.
func (e *engine) sendWork(h *Handle) {
	instance, execution, id := e.turn.Instance, e.turn.ExecutionID, h.eventID
	switch a := h.action.(type) {
	case CallActivity:
		e.res.WorkerItems = append(e.res.WorkerItems, provider.ActivityExecuteItem{
			Instance: instance, ExecutionID: execution, ID: id,
			Name: a.Name, Input: a.Input, SessionID: a.SessionID, Tag: a.Tag, Headers: e.started.Headers,
			Heartbeat: a.Heartbeat, StartTimeoutMs: a.StartTimeoutMs, RunTimeoutMs: a.RunTimeoutMs,
		})
	case CreateTimer:
		e.post(provider.TimerFiredItem{Instance: instance, ExecutionID: execution, ID: id, FireAtMs: a.FireAtMs})
	case CallSub:
		e.post(provider.StartOrchestrationItem{
			Instance: history.ChildInstance(instance, h.child), Orchestration: a.Name, Input: a.Input, Version: a.Version,
			ParentInstance: &instance, ParentID: &id, ParentExecutionID: &execution, ExecutionID: 1,
			Headers: e.started.Headers,
		})
	}
}

func (e *engine) sendDetached(a StartDetached) {
	if e.outcome == Cancelled && e.env.mostCleanup() == 0 || e.limitExceeded {
		return
	}
	e.post(provider.StartOrchestrationItem{
		Instance: a.Instance, Orchestration: a.Name, Input: a.Input, Version: a.Version, ExecutionID: 1,
		Headers: e.started.Headers,
	})
}

// cancelChildren asks children to end: those the function gave up and, when the parent
// failed or was cancelled, all that have not reported. A parent that returned has given
// up what it did not wait for, and one that continues as new leaves its children to
// themselves. A child that was never dispatched gets no message, which nobody would ever
// take.
func (e *engine) cancelChildren() {
	for _, h := range e.cancelledChildren {
		if e.outcome == Continue || e.persistedEvent(h.eventID) {
			e.cancelChild(h.child, history.ParentDropped)
		}
	}
	switch e.outcome {
	case Failed:
		e.cancelOpenChildren(history.ParentFailed)
	case Cancelled:
		e.cancelOpenChildren(history.ParentCancelled)
	case Continue, Completed, ContinuedAsNew:
	}
}

func (e *engine) cancelOpenChildren(reason string) {
	for _, child := range history.ChildrenOf(e.events, e.persistedEvent) {
		e.cancelChild(child, reason)
	}
}

func (e *engine) cancelChild(child, reason string) {
	e.post(provider.CancelInstanceItem{Instance: history.ChildInstance(e.turn.Instance, child), Reason: reason})
}

// nextExecution is the message that starts the next execution. It hands the parent on.
func (e *engine) nextExecution() provider.WorkItem {
	return provider.ContinueAsNewItem{
		Instance: e.turn.Instance, Orchestration: e.started.Name, Input: e.next.Input, Version: e.next.Version,
		ParentInstance: e.started.ParentInstance, ParentID: e.started.ParentID, ParentExecutionID: e.started.ParentExecutionID,
		CarryForwardEvents: e.carried, InitialCustomStatus: history.LastStatus(e.events),
		DroppedMessages: e.started.DroppedMessages,
		Headers:         e.started.Headers,
	}
}

// carryForward collects the recorded queue messages that the function has not read, also those
// behind the point where it returned. They go along in history order; the others are still in
// the store.
func (e *engine) carryForward() {
	places := map[string]int{}
	for _, event := range e.events {
		if k, ok := event.Kind.(provider.QueueEventDelivered); ok {
			if e.isUnread(k.Name, places[k.Name]) {
				e.carried = append(e.carried, provider.CarriedMessage(k))
			}
			places[k.Name]++
		}
	}
}

// isUnread reports whether the function has not read a message of a queue, given by its place
// among all that came. Those that it was not even told of have not arrived at its side.
func (e *engine) isUnread(queue string, place int) bool {
	ch := e.queues.get(queue)
	return place >= ch.arrived || ch.unread[place]
}

// awaited are the queues of which the function waits for a message, in order.
func (e *engine) awaited() []string {
	var names []string
	for name, ch := range e.queues.byName {
		if ch.admits() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// describeTurn computes the metadata from the delta (contract §7.5 row 11).
func (e *engine) describeTurn() { e.res.Metadata = history.Metadata(e.delta()) }

// notifyParent prepares the message for the parent of a finished child.
func (e *engine) notifyParent() {
	e.res.Parent = history.ParentMessage(e.started, e.delta())
}
