package history

import (
	"maps"
	"math"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// Why children are cancelled (contract §7.7).
const (
	ParentFailed    = "parent failed"
	ParentCancelled = "parent canceled"
	// ParentEnded is for the children of an execution that had continued as new.
	ParentEnded = "parent ended"
	// ParentDropped is for those that it has given up.
	ParentDropped = "parent dropped sub-orchestration future"
)

// ByParent reports whether a reason is that of a parent that cancels a child.
func ByParent(reason string) bool {
	return reason == ParentDropped || reason == ParentFailed || reason == ParentCancelled || reason == ParentEnded
}

// MaxEarlierExecutions bounds how many executions of an instance are searched for its children,
// the latest first.
const MaxEarlierExecutions = 1000

// OpenChildren are the ids of the children that a recorded history started and that have
// neither reported nor been cancelled. A turn that ends an execution dispatches none of the
// children that it schedules.
func OpenChildren(instance string, history []provider.Event) []string {
	last := lastTurn(history)
	children := ChildrenOf(history, func(id uint64) bool { return id < last })
	for i, child := range children {
		children[i] = ChildInstance(instance, child)
	}
	return children
}

// ChildrenOf are the dispatched children that have neither reported nor been
// cancelled.
func ChildrenOf(events []provider.Event, dispatched func(id uint64) bool) []string {
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

// isMessage reports an event that records a message: a turn records all of its messages
// before what the function asked for.
func isMessage(kind provider.EventKind) bool {
	switch kind.(type) {
	case provider.ActivityCompleted, provider.ActivityFailed, provider.TimerFired,
		provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed,
		provider.ExternalEvent, provider.QueueEventDelivered, provider.OrchestrationCancelRequested:
		return true
	}
	return false
}

// UnreportedChildren are the ids of the children that a recorded history started and that have not
// reported, cancelled or not.
func UnreportedChildren(instance string, history []provider.Event) []string {
	children := map[uint64]string{}
	for _, event := range history {
		switch k := event.Kind.(type) {
		case provider.SubOrchestrationScheduled:
			children[event.EventID] = ChildInstance(instance, k.Instance)
		case provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed:
			if event.SourceEventID != nil {
				delete(children, *event.SourceEventID)
			}
		}
	}
	return slices.Collect(maps.Values(children))
}

// CallOfChild returns the event of the parent's history that started that child and has no result.
func CallOfChild(history []provider.Event, parent, child string) (call provider.Event, ok bool) {
	for _, event := range Unsettled(history) {
		k, ok := event.Kind.(provider.SubOrchestrationScheduled)
		if ok && ChildInstance(parent, k.Instance) == child {
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
		if ok && event.EventID == id && ChildInstance(parent, k.Instance) == child {
			return event.ExecutionID
		}
	}
	return 0
}
