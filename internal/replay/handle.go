package replay

import (
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// Action is something the function asked for. Its recorded form is a schedule
// event.
type Action interface {
	// event is the kind that records the action. It is nil for ContinueAsNew,
	// which only the terminal event records.
	event(h *Handle) provider.EventKind
}

// The actions.
type (
	// CallActivity runs an activity.
	CallActivity struct {
		Name, Input    string
		SessionID, Tag *string
		// These go along with the item. No event has them: a heartbeat is recorded with the
		// failure that it comes from.
		Heartbeat                    string
		StartTimeoutMs, RunTimeoutMs uint64
	}
	// CreateTimer becomes due at a time.
	CreateTimer struct{ FireAtMs uint64 }
	// WaitEvent waits for the next positional event of that name.
	WaitEvent struct{ Name string }
	// Dequeue takes the next message of a queue.
	Dequeue struct{ Name string }
	// CallSub runs a sub-orchestration.
	CallSub struct {
		Name, Input string
		// Version is nil to leave the choice to the registry.
		Version *string
		// Instance is empty for a generated id.
		Instance string
	}
	// StartDetached starts an orchestration and forgets it.
	StartDetached struct {
		Name, Instance, Input string
		Version               *string
	}
	// SetStatus sets the custom status; nil resets it.
	SetStatus struct{ Status *string }
	// SetKV sets a key of the key-value map.
	SetKV struct {
		Key, Value string
		AtMs       uint64
	}
	// ClearKV removes a key.
	ClearKV struct{ Key string }
	// ClearAllKV removes all keys.
	ClearAllKV struct{}
	// NextExecution ends the execution and starts the next.
	NextExecution struct {
		Input   string
		Version *string
	}
)

// Handle is the function's side of an action: the place where its result will
// appear.
type Handle struct {
	coroutine *coroutine
	action    Action
	// at is the line that asks, empty unless the turn asks for places.
	at string
	// branch is the part of the function that asks, nil for the function itself.
	branch *Branch
	// eventID is the schedule event, 0 until the action is bound to one.
	eventID uint64
	// child is the recorded instance of a sub-orchestration: a suffix or a full id.
	child string
	// instance is the orchestration that asks.
	instance string
	// sub is the place among the subscriptions of the same name.
	sub *subscription

	resolved bool
	result   string
	failure  *string
	// details are what is recorded of the failure; nil for a call that was never recorded.
	details provider.ErrorDetails
	// read means that the function has seen that the result is there.
	read bool
	// dropped means that the function no longer wants the result.
	dropped bool
}

// Ready reports whether the result is there, which counts as reading it: from then on
// it belongs to this handle. One that was dropped unread is never ready.
func (h *Handle) Ready() bool {
	h.coroutine.mustOwn()
	if h.dropped {
		return false
	}
	if !h.resolved && h.sub != nil {
		if data, ok := h.sub.take(); ok {
			h.resolve(data)
		}
	}
	h.read = h.resolved
	return h.resolved
}

// Result returns the result, or the failure's display message with ok false. It
// is valid once Ready is true.
func (h *Handle) Result() (text string, ok bool) {
	h.coroutine.mustOwn()
	if h.failure != nil {
		return *h.failure, false
	}
	return h.result, true
}

// Details are what is recorded of the failure, nil when there is none. They are valid once
// Ready is true.
func (h *Handle) Details() provider.ErrorDetails {
	h.coroutine.mustOwn()
	return h.details
}

// InstanceTaken reports whether the failure is that the child's id is taken. The text is
// the contract's (contract §7.5); with another id in it, it is one that the child itself reports.
func (h *Handle) InstanceTaken() bool {
	h.coroutine.mustOwn()
	if _, sub := h.action.(CallSub); !sub || h.failure == nil || h.child == "" {
		return false
	}
	text := history.TakenText(history.ChildInstance(h.instance, h.child))
	return *h.failure == text || *h.failure == text+history.TakenByFinished
}

// Dropped reports whether the handle was dropped by a select.
func (h *Handle) Dropped() bool {
	h.coroutine.mustOwn()
	return h.dropped
}

func (h *Handle) resolve(result string) { h.resolved, h.result = true, result }

func (h *Handle) fail(details provider.ErrorDetails) {
	text := details.DisplayMessage()
	h.resolved, h.failure, h.details = true, &text, details
}

// event implementations record an action as it was asked for.

func (a CallActivity) event(*Handle) provider.EventKind {
	return provider.ActivityScheduled{Name: a.Name, Input: a.Input, SessionID: a.SessionID, Tag: a.Tag}
}

func (a CreateTimer) event(*Handle) provider.EventKind {
	return provider.TimerCreated{FireAtMs: a.FireAtMs}
}

func (a WaitEvent) event(*Handle) provider.EventKind {
	return provider.ExternalSubscribed{Name: a.Name}
}

func (a Dequeue) event(*Handle) provider.EventKind {
	return provider.QueueSubscribed{Name: a.Name}
}

func (a CallSub) event(h *Handle) provider.EventKind {
	return provider.SubOrchestrationScheduled{Name: a.Name, Instance: h.child, Input: a.Input}
}

func (a StartDetached) event(*Handle) provider.EventKind {
	return provider.OrchestrationChained{Name: a.Name, Instance: a.Instance, Input: a.Input}
}

func (a SetStatus) event(*Handle) provider.EventKind {
	return provider.CustomStatusUpdated{Status: a.Status}
}

func (a SetKV) event(*Handle) provider.EventKind {
	return provider.KeyValueSet{Key: a.Key, Value: a.Value, LastUpdatedAtMs: a.AtMs}
}

func (a ClearKV) event(*Handle) provider.EventKind { return provider.KeyValueCleared{Key: a.Key} }

func (ClearAllKV) event(*Handle) provider.EventKind { return provider.KeyValuesCleared{} }

func (NextExecution) event(*Handle) provider.EventKind { return nil }
