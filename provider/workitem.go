package provider

// WorkItem is a queue message: one of 11 variants, each a struct of
// this package, held by value.
type WorkItem interface {
	// Variant is the item's name in JSON.
	Variant() string
	// Target is the instance the item is addressed to: the parent for the
	// results of sub-orchestrations.
	Target() string
	isWorkItem()
}

// Items for the orchestrator queue, except ActivityExecuteItem, the only one of
// the worker queue.
type (
	// StartOrchestrationItem starts an instance.
	StartOrchestrationItem struct {
		Instance, Orchestration, Input string
		// Version is nil if the worker chooses the version.
		Version *string
		// ParentInstance and ParentID link a sub-orchestration to its parent,
		// ParentExecutionID to the parent's execution that scheduled it; the latter
		// is nil in items of writers before 0.1.30.
		ParentInstance    *string
		ParentID          *uint64
		ParentExecutionID *uint64
		ExecutionID       uint64
		// Headers are for the execution that begins, see OrchestrationStarted.
		Headers string
	}
	// ActivityExecuteItem asks a worker to run an activity.
	ActivityExecuteItem struct {
		Instance    string
		ExecutionID uint64
		// ID is the event id of the ActivityScheduled event.
		ID          uint64
		Name, Input string
		SessionID   *string
		Tag         *string
		// Headers carry data of hooks, such as trace contexts; empty for none.
		Headers string
		// Heartbeat holds the last heartbeat details of earlier attempts of this call, as JSON; empty for none.
		// Runtimes in other languages ignore Heartbeat, StartTimeoutMs and RunTimeoutMs.
		Heartbeat string
		// StartTimeoutMs limits the time until a worker begins the activity, and RunTimeoutMs the time that it then
		// runs, both in milliseconds; 0 is no limit.
		StartTimeoutMs, RunTimeoutMs uint64
	}
	// ActivityCompletedItem delivers an activity's result.
	ActivityCompletedItem struct {
		Instance    string
		ExecutionID uint64
		ID          uint64
		Result      string
	}
	// ActivityFailedItem delivers an activity's failure.
	ActivityFailedItem struct {
		Instance    string
		ExecutionID uint64
		ID          uint64
		Details     ErrorDetails
	}
	// TimerFiredItem becomes visible when a timer is due.
	TimerFiredItem struct {
		Instance    string
		ExecutionID uint64
		// ID is the event id of the TimerCreated event.
		ID       uint64
		FireAtMs uint64
	}
	// ExternalRaisedItem raises a positional event.
	ExternalRaisedItem struct{ Instance, Name, Data string }
	// QueueMessageItem puts a message into a queue of an instance.
	QueueMessageItem struct{ Instance, Name, Data string }
	// SubOrchCompletedItem delivers the result of a sub-orchestration to its parent.
	SubOrchCompletedItem struct {
		ParentInstance    string
		ParentExecutionID uint64
		ParentID          uint64
		Result            string
	}
	// SubOrchFailedItem delivers the failure of a sub-orchestration to its parent.
	SubOrchFailedItem struct {
		ParentInstance    string
		ParentExecutionID uint64
		ParentID          uint64
		Details           ErrorDetails
	}
	// CancelInstanceItem asks an instance to end.
	CancelInstanceItem struct{ Instance, Reason string }
	// ContinueAsNewItem starts an instance's next execution.
	ContinueAsNewItem struct {
		Instance, Orchestration, Input string
		Version                        *string
		// ParentInstance, ParentID and ParentExecutionID are those of the execution
		// that ends; nil for a root and in items of writers before 0.1.30.
		ParentInstance      *string
		ParentID            *uint64
		ParentExecutionID   *uint64
		CarryForwardEvents  []CarriedMessage
		InitialCustomStatus *string
		// DroppedMessages is the value for the next [OrchestrationStarted].
		DroppedMessages uint64
		// Headers are for the execution that begins, see OrchestrationStarted.
		Headers string
	}
)
