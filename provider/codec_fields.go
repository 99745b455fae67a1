package provider

// This file is the wire format: which fields an event, a work item and a
// failure have, in wire order. Each list exists once and serves
// both directions. Given an object to write, a fields method writes its
// receiver; given one to read, it fills its receiver, a copy, and returns it.

func (c *codec) event(e *Event) {
	c.number("event_id", &e.EventID)
	c.nullableNumber("source_event_id", &e.SourceEventID)
	c.text("instance_id", &e.InstanceID)
	c.number("execution_id", &e.ExecutionID)
	c.number("timestamp_ms", &e.TimestampMs)
	c.text("duroxide_version", &e.DuroxideVersion)
	c.kind("type", &e.Kind)
}

// Kinds about the orchestration itself.

func (k OrchestrationStarted) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	c.text("version", &k.Version)
	c.text("input", &k.Input)
	c.nullableText("parent_instance", &k.ParentInstance)
	c.nullableNumber("parent_id", &k.ParentID)
	c.optionalNumber("parent_execution_id", &k.ParentExecutionID)
	c.optionalPairs("carry_forward_events", &k.CarryForwardEvents)
	c.optionalText("initial_custom_status", &k.InitialCustomStatus)
	c.numberUnlessZero("dropped_messages", &k.DroppedMessages)
	c.textUnlessEmpty("headers", &k.Headers)
	c.flagUnlessFalse("cleans_up", &k.CleansUp)
	return k
}

func (k OrchestrationCompleted) fields(c *codec) EventKind {
	c.text("output", &k.Output)
	return k
}

func (k OrchestrationFailed) fields(c *codec) EventKind {
	c.details("details", &k.Details)
	return k
}

func (k OrchestrationContinuedAsNew) fields(c *codec) EventKind {
	c.text("input", &k.Input)
	c.numberUnlessZero("dropped_messages", &k.DroppedMessages)
	return k
}

func (k OrchestrationCancelRequested) fields(c *codec) EventKind {
	c.text("reason", &k.Reason)
	return k
}

// Kinds about activities.

func (k ActivityScheduled) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	c.text("input", &k.Input)
	c.optionalText("session_id", &k.SessionID)
	c.optionalText("tag", &k.Tag)
	return k
}

func (k ActivityCompleted) fields(c *codec) EventKind {
	c.text("result", &k.Result)
	return k
}

func (k ActivityFailed) fields(c *codec) EventKind {
	c.details("details", &k.Details)
	return k
}

func (k ActivityCancelRequested) fields(c *codec) EventKind {
	c.text("reason", &k.Reason)
	return k
}

// Kinds about timers.

func (k TimerCreated) fields(c *codec) EventKind {
	c.number("fire_at_ms", &k.FireAtMs)
	return k
}

func (k TimerFired) fields(c *codec) EventKind {
	c.number("fire_at_ms", &k.FireAtMs)
	return k
}

// Kinds about external events and queues.

func (k ExternalSubscribed) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	return k
}

func (k ExternalEvent) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	c.text("data", &k.Data)
	return k
}

func (k ExternalSubscribedCancelled) fields(c *codec) EventKind {
	c.text("reason", &k.Reason)
	return k
}

func (k QueueSubscribed) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	return k
}

func (k QueueEventDelivered) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	c.text("data", &k.Data)
	return k
}

func (k QueueSubscriptionCancelled) fields(c *codec) EventKind {
	c.text("reason", &k.Reason)
	return k
}

// Kinds about other orchestrations.

func (k OrchestrationChained) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	c.text("instance", &k.Instance)
	c.text("input", &k.Input)
	return k
}

func (k SubOrchestrationScheduled) fields(c *codec) EventKind {
	c.text("name", &k.Name)
	c.text("instance", &k.Instance)
	c.text("input", &k.Input)
	return k
}

func (k SubOrchestrationCompleted) fields(c *codec) EventKind {
	c.text("result", &k.Result)
	return k
}

func (k SubOrchestrationFailed) fields(c *codec) EventKind {
	c.details("details", &k.Details)
	return k
}

func (k SubOrchestrationCancelRequested) fields(c *codec) EventKind {
	c.text("reason", &k.Reason)
	return k
}

// Kinds about custom status and the key-value map.

func (k CustomStatusUpdated) fields(c *codec) EventKind {
	c.nullableText("status", &k.Status)
	return k
}

func (k KeyValueSet) fields(c *codec) EventKind {
	c.text("key", &k.Key)
	c.text("value", &k.Value)
	c.numberOrZero("last_updated_at_ms", &k.LastUpdatedAtMs)
	return k
}

func (k KeyValueCleared) fields(c *codec) EventKind {
	c.text("key", &k.Key)
	return k
}

func (k KeyValuesCleared) fields(*codec) EventKind { return k }

// Work items.

func (i StartOrchestrationItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.text("orchestration", &i.Orchestration)
	c.text("input", &i.Input)
	c.nullableText("version", &i.Version)
	c.nullableText("parent_instance", &i.ParentInstance)
	c.nullableNumber("parent_id", &i.ParentID)
	c.optionalNumber("parent_execution_id", &i.ParentExecutionID)
	c.number("execution_id", &i.ExecutionID)
	c.textUnlessEmpty("headers", &i.Headers)
	return i
}

func (i ActivityExecuteItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.number("execution_id", &i.ExecutionID)
	c.number("id", &i.ID)
	c.text("name", &i.Name)
	c.text("input", &i.Input)
	c.optionalText("session_id", &i.SessionID)
	c.optionalText("tag", &i.Tag)
	c.textUnlessEmpty("headers", &i.Headers)
	c.textUnlessEmpty("heartbeat", &i.Heartbeat)
	c.numberUnlessZero("start_timeout_ms", &i.StartTimeoutMs)
	c.numberUnlessZero("run_timeout_ms", &i.RunTimeoutMs)
	return i
}

func (i ActivityCompletedItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.number("execution_id", &i.ExecutionID)
	c.number("id", &i.ID)
	c.text("result", &i.Result)
	return i
}

func (i ActivityFailedItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.number("execution_id", &i.ExecutionID)
	c.number("id", &i.ID)
	c.details("details", &i.Details)
	return i
}

func (i TimerFiredItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.number("execution_id", &i.ExecutionID)
	c.number("id", &i.ID)
	c.number("fire_at_ms", &i.FireAtMs)
	return i
}

func (i ExternalRaisedItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.text("name", &i.Name)
	c.text("data", &i.Data)
	return i
}

func (i QueueMessageItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.text("name", &i.Name)
	c.text("data", &i.Data)
	return i
}

func (i SubOrchCompletedItem) fields(c *codec) WorkItem {
	c.text("parent_instance", &i.ParentInstance)
	c.number("parent_execution_id", &i.ParentExecutionID)
	c.number("parent_id", &i.ParentID)
	c.text("result", &i.Result)
	return i
}

func (i SubOrchFailedItem) fields(c *codec) WorkItem {
	c.text("parent_instance", &i.ParentInstance)
	c.number("parent_execution_id", &i.ParentExecutionID)
	c.number("parent_id", &i.ParentID)
	c.details("details", &i.Details)
	return i
}

func (i CancelInstanceItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.text("reason", &i.Reason)
	return i
}

func (i ContinueAsNewItem) fields(c *codec) WorkItem {
	c.text("instance", &i.Instance)
	c.text("orchestration", &i.Orchestration)
	c.text("input", &i.Input)
	c.nullableText("version", &i.Version)
	c.optionalText("parent_instance", &i.ParentInstance)
	c.optionalNumber("parent_id", &i.ParentID)
	c.optionalNumber("parent_execution_id", &i.ParentExecutionID)
	c.pairs("carry_forward_events", &i.CarryForwardEvents)
	c.optionalText("initial_custom_status", &i.InitialCustomStatus)
	c.numberUnlessZero("dropped_messages", &i.DroppedMessages)
	c.textUnlessEmpty("headers", &i.Headers)
	return i
}

// Failures.

func (d InfrastructureFailure) fields(c *codec) ErrorDetails {
	c.text("operation", &d.Operation)
	c.text("message", &d.Message)
	c.flag("retryable", &d.Retryable)
	return d
}

func (d ConfigurationFailure) fields(c *codec) ErrorDetails {
	c.configurationKind("kind", &d.Kind)
	c.text("resource", &d.Resource)
	c.nullableText("message", &d.Message)
	return d
}

func (d ApplicationFailure) fields(c *codec) ErrorDetails {
	c.applicationKind("kind", &d.Kind, &d.CancelReason)
	c.text("message", &d.Message)
	c.flag("retryable", &d.Retryable)
	c.textUnlessEmpty("failure_kind", &d.FailureKind)
	c.textUnlessEmpty("failure_details", &d.FailureDetails)
	c.flagUnlessFalse("final", &d.Final)
	c.textUnlessEmpty("heartbeat", &d.Heartbeat)
	return d
}

func (d PoisonFailure) fields(c *codec) ErrorDetails {
	c.count("attempt_count", &d.AttemptCount)
	c.count("max_attempts", &d.MaxAttempts)
	c.messageType("message_type", &d.MessageType)
	c.text("message", &d.Message)
	return d
}

func (m PoisonOrchestration) fields(c *codec) PoisonMessageType {
	c.text("instance", &m.Instance)
	c.number("execution_id", &m.ExecutionID)
	return m
}

func (m PoisonActivity) fields(c *codec) PoisonMessageType {
	c.text("instance", &m.Instance)
	c.number("execution_id", &m.ExecutionID)
	c.text("activity_name", &m.ActivityName)
	c.number("activity_id", &m.ActivityID)
	return m
}

func (m PoisonDeserialization) fields(c *codec) PoisonMessageType {
	c.text("instance", &m.Instance)
	c.number("execution_id", &m.ExecutionID)
	c.text("error", &m.Error)
	return m
}
