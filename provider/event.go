package provider

// Event is one immutable entry of an execution's history, identified by
// instance, execution and event id.
//
// Its JSON is one flat object: the six fields of Event other than Kind, "type", and the kind's own fields.
// [EncodeEvent] and [DecodeEvent] write and read it.
type Event struct {
	// EventID is the position in the execution's history, from 1.
	EventID uint64
	// SourceEventID is the schedule or subscription a completion or cancellation
	// belongs to.
	SourceEventID *uint64
	// InstanceID and ExecutionID identify the execution. A store overwrites the values in the JSON with the keys of
	// the row that it read.
	InstanceID  string
	ExecutionID uint64
	// TimestampMs is when the event was created.
	TimestampMs uint64
	// DuroxideVersion is the framework version that wrote the event. On
	// OrchestrationStarted it is the version the execution is pinned to.
	DuroxideVersion string
	// Kind says what happened.
	Kind EventKind
}

// EventKind is what happened: one of 26 kinds, each a struct of this
// package, held by value.
type EventKind interface {
	// Type is the kind's name in JSON and in the store's event_type column.
	Type() string
	isEventKind()
}

// CarriedMessage is a carried-forward message: a queue name and its data, in JSON the
// array ["name","data"].
type CarriedMessage struct {
	Name, Data string
}

// Kinds about the orchestration itself.
type (
	// OrchestrationStarted is the first event of every execution.
	OrchestrationStarted struct {
		Name, Version, Input string
		// ParentInstance and ParentID name the parent and its
		// SubOrchestrationScheduled event; nil for a root.
		ParentInstance *string
		ParentID       *uint64
		// ParentExecutionID is the execution of the parent that contains that event; nil in histories of framework
		// versions before 0.1.30.
		ParentExecutionID *uint64
		// CarryForwardEvents are messages the previous execution did not consume.
		CarryForwardEvents []CarriedMessage
		// InitialCustomStatus is the previous execution's last custom status.
		InitialCustomStatus *string
		// DroppedMessages counts the messages that all earlier executions dropped at their ends, see
		// [OrchestrationContinuedAsNew].
		DroppedMessages uint64
		// Headers carry data of hooks, such as trace contexts; empty for none.
		Headers string
		// CleansUp means that the function cleans up after a cancellation, so a request to cancel needs its code.
		CleansUp bool
	}
	// OrchestrationCompleted ends an execution with a result.
	OrchestrationCompleted struct{ Output string }
	// OrchestrationFailed ends an execution that failed, was cancelled, was tried too often, or did not fit its
	// history.
	OrchestrationFailed struct{ Details ErrorDetails }
	// OrchestrationContinuedAsNew ends an execution; Input starts the next one.
	OrchestrationContinuedAsNew struct {
		Input string
		// DroppedMessages counts the unread queue messages that the next execution does not get. Our runtime drops
		// none.
		DroppedMessages uint64
	}
	// OrchestrationCancelRequested records an accepted cancellation.
	OrchestrationCancelRequested struct{ Reason string }
)

// Kinds about activities.
type (
	// ActivityScheduled records that an activity was scheduled.
	ActivityScheduled struct {
		Name, Input string
		// SessionID binds the activity to a session.
		SessionID *string
		// Tag routes the activity to workers that ask for it.
		Tag *string
	}
	// ActivityCompleted carries an activity's result.
	ActivityCompleted struct{ Result string }
	// ActivityFailed carries an activity's failure.
	ActivityFailed struct{ Details ErrorDetails }
	// ActivityCancelRequested records that the result of an activity is no longer needed.
	ActivityCancelRequested struct{ Reason string }
)

// Kinds about timers.
type (
	// TimerCreated records when a timer is due.
	TimerCreated struct{ FireAtMs uint64 }
	// TimerFired records that a timer became due.
	TimerFired struct{ FireAtMs uint64 }
)

// Kinds about external events and queues.
type (
	// ExternalSubscribed waits for a positional event.
	ExternalSubscribed struct{ Name string }
	// ExternalEvent is a positional event that arrived: the n-th wait for its name receives the n-th event.
	ExternalEvent struct{ Name, Data string }
	// ExternalSubscribedCancelled cancels a wait for a positional event.
	ExternalSubscribedCancelled struct{ Reason string }
	// QueueSubscribed asks for the next message of a queue.
	QueueSubscribed struct{ Name string }
	// QueueEventDelivered is a queue message that arrived.
	QueueEventDelivered struct{ Name, Data string }
	// QueueSubscriptionCancelled cancels a dequeue.
	QueueSubscriptionCancelled struct{ Reason string }
)

// Kinds about other orchestrations.
type (
	// OrchestrationChained records the start of a detached orchestration.
	OrchestrationChained struct{ Name, Instance, Input string }
	// SubOrchestrationScheduled records the start of a sub-orchestration. Instance is a suffix such as "sub::7" for a
	// generated id, and otherwise the full id.
	SubOrchestrationScheduled struct{ Name, Instance, Input string }
	// SubOrchestrationCompleted carries the result of a sub-orchestration.
	SubOrchestrationCompleted struct{ Result string }
	// SubOrchestrationFailed carries the failure of a sub-orchestration.
	SubOrchestrationFailed struct{ Details ErrorDetails }
	// SubOrchestrationCancelRequested records that the result of a sub-orchestration is no longer needed.
	SubOrchestrationCancelRequested struct{ Reason string }
)

// Kinds about custom status and the key-value map.
type (
	// CustomStatusUpdated sets the custom status; nil resets it.
	CustomStatusUpdated struct{ Status *string }
	// KeyValueSet sets a key.
	KeyValueSet struct {
		Key, Value      string
		LastUpdatedAtMs uint64
	}
	// KeyValueCleared removes a key.
	KeyValueCleared struct{ Key string }
	// KeyValuesCleared removes all keys.
	KeyValuesCleared struct{}
)

// Terminal reports whether the event ends its execution.
func (e Event) Terminal() bool {
	switch e.Kind.(type) {
	case OrchestrationCompleted, OrchestrationFailed, OrchestrationContinuedAsNew:
		return true
	}
	return false
}
