package replay

import (
	"maps"
	"math"
	"slices"

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
			Instance: childInstance(instance, h.child), Orchestration: a.Name, Input: a.Input, Version: a.Version,
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
			e.cancelChild(h.child, parentDropped)
		}
	}
	switch e.outcome {
	case Failed:
		e.cancelOpenChildren(ParentFailed)
	case Cancelled:
		e.cancelOpenChildren(ParentCancelled)
	case Continue, Completed, ContinuedAsNew:
	}
}

// Why children are cancelled (contract §7.7).
const (
	ParentFailed    = "parent failed"
	ParentCancelled = "parent canceled"
	// ParentEnded is for the children of an execution that had continued as new.
	ParentEnded = "parent ended"
	// parentDropped is for those that it has given up.
	parentDropped = "parent dropped sub-orchestration future"
)

// ByParent reports whether a reason is that of a parent that cancels a child.
func ByParent(reason string) bool {
	return reason == parentDropped || reason == ParentFailed || reason == ParentCancelled || reason == ParentEnded
}

func (e *engine) cancelOpenChildren(reason string) {
	for _, child := range openChildren(e.events, e.persistedEvent) {
		e.cancelChild(child, reason)
	}
}

func (e *engine) cancelChild(child, reason string) {
	e.post(provider.CancelInstanceItem{Instance: childInstance(e.turn.Instance, child), Reason: reason})
}

// MaxEarlierExecutions bounds how many executions of an instance are searched for its children,
// the latest first.
const MaxEarlierExecutions = 1000

// OpenChildren are the ids of the children that a recorded history started and that have
// neither reported nor been cancelled. A turn that ends an execution dispatches none of the
// children that it schedules.
func OpenChildren(instance string, history []provider.Event) []string {
	last := lastTurn(history)
	children := openChildren(history, func(id uint64) bool { return id < last })
	for i, child := range children {
		children[i] = childInstance(instance, child)
	}
	return children
}

// lastTurn is the event id from which on the function of an ended execution asked for things
// in its last turn: the messages of a turn are recorded before them. It is past all events if
// the history has no end.
func lastTurn(history []provider.Event) uint64 {
	from, ended := uint64(0), false
	for _, event := range history {
		ended = ended || event.Terminal()
		if isMessage(event.Kind) {
			from = event.EventID
		}
	}
	if !ended {
		return math.MaxUint64
	}
	return from
}

// UnreportedChildren are the ids of the children that a recorded history started and that have not
// reported, cancelled or not.
func UnreportedChildren(instance string, history []provider.Event) []string {
	children := map[uint64]string{}
	for _, event := range history {
		switch k := event.Kind.(type) {
		case provider.SubOrchestrationScheduled:
			children[event.EventID] = childInstance(instance, k.Instance)
		case provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed:
			if event.SourceEventID != nil {
				delete(children, *event.SourceEventID)
			}
		}
	}
	return slices.Collect(maps.Values(children))
}

// openChildren are the dispatched children that have neither reported nor been
// cancelled.
func openChildren(events []provider.Event, dispatched func(id uint64) bool) []string {
	settled := map[uint64]bool{}
	for _, event := range events {
		switch event.Kind.(type) {
		case provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed,
			provider.SubOrchestrationCancelRequested:
			if event.SourceEventID != nil {
				settled[*event.SourceEventID] = true
			}
		}
	}
	var open []string
	for _, event := range events {
		k, ok := event.Kind.(provider.SubOrchestrationScheduled)
		if ok && !settled[event.EventID] && dispatched(event.EventID) {
			open = append(open, k.Instance)
		}
	}
	return open
}

// nextExecution is the message that starts the next execution. It hands the parent on.
func (e *engine) nextExecution() provider.WorkItem {
	return provider.ContinueAsNewItem{
		Instance: e.turn.Instance, Orchestration: e.started.Name, Input: e.next.Input, Version: e.next.Version,
		ParentInstance: e.started.ParentInstance, ParentID: e.started.ParentID, ParentExecutionID: e.started.ParentExecutionID,
		CarryForwardEvents: e.carried, InitialCustomStatus: lastStatus(e.events),
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
				e.carried = append(e.carried, provider.Pair(k))
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

// lastStatus is the custom status at the end of a history.
func lastStatus(events []provider.Event) *string {
	var status *string
	for _, event := range events {
		switch k := event.Kind.(type) {
		case provider.OrchestrationStarted:
			status = k.InitialCustomStatus
		case provider.CustomStatusUpdated:
			status = k.Status
		}
	}
	return status
}

// describeTurn computes the metadata from the delta (contract §7.5 row 11).
func (e *engine) describeTurn() { e.res.Metadata = Metadata(e.delta()) }

// Metadata computes what an ack says about a history delta.
func Metadata(delta []provider.Event) provider.ExecutionMetadata {
	var m provider.ExecutionMetadata
	for _, event := range delta {
		switch k := event.Kind.(type) {
		case provider.OrchestrationStarted:
			m.OrchestrationName, m.OrchestrationVersion = &k.Name, &k.Version
			m.ParentInstanceID = k.ParentInstance
			if v, err := provider.ParseVersion(event.DuroxideVersion); err == nil {
				m.PinnedDuroxideVersion = &v
			}
		case provider.OrchestrationCompleted:
			m.Status, m.Output = new(provider.StatusCompleted), &k.Output
		case provider.OrchestrationFailed:
			m.Status, m.Output = new(provider.StatusFailed), new(k.Details.DisplayMessage())
		case provider.OrchestrationContinuedAsNew:
			m.Status, m.Output = new(provider.StatusContinuedAsNew), &k.Input
		}
	}
	return m
}

// notifyParent prepares the message for the parent of a finished child.
func (e *engine) notifyParent() {
	e.res.Parent = ParentMessage(e.started, e.delta())
}

// ParentMessage is the message that tells a parent how its child ended, nil when
// there is no parent or the child goes on. Its ParentExecutionID is the parent stamp,
// 0 when an older worker left none.
func ParentMessage(started provider.OrchestrationStarted, delta []provider.Event) provider.WorkItem {
	if started.ParentInstance == nil || started.ParentID == nil {
		return nil
	}
	var stamp uint64
	if started.ParentExecutionID != nil {
		stamp = *started.ParentExecutionID
	}
	for _, event := range delta {
		switch k := event.Kind.(type) {
		case provider.OrchestrationCompleted:
			return provider.SubOrchCompletedItem{
				ParentInstance: *started.ParentInstance, ParentExecutionID: stamp, ParentID: *started.ParentID, Result: k.Output,
			}
		case provider.OrchestrationFailed:
			return provider.SubOrchFailedItem{
				ParentInstance: *started.ParentInstance, ParentExecutionID: stamp, ParentID: *started.ParentID, Details: k.Details,
			}
		}
	}
	return nil
}

// CallOfChild returns the event of the parent's history that started that child and has no result.
func CallOfChild(history []provider.Event, parent, child string) (call provider.Event, ok bool) {
	for _, event := range Unsettled(history) {
		k, ok := event.Kind.(provider.SubOrchestrationScheduled)
		if ok && childInstance(parent, k.Instance) == child {
			return event, true
		}
	}
	return provider.Event{}, false
}

// ExecutionOfChild returns the execution of the parent's history in which event
// id started that child, 0 when it is another history.
func ExecutionOfChild(history []provider.Event, id uint64, parent, child string) uint64 {
	for _, event := range history {
		k, ok := event.Kind.(provider.SubOrchestrationScheduled)
		if ok && event.EventID == id && childInstance(parent, k.Instance) == child {
			return event.ExecutionID
		}
	}
	return 0
}
