package provider

// The wire names. Three differ from the Go names: they keep the older spelling
// under which the reference stores queue events.

// Type implements [EventKind].
func (OrchestrationStarted) Type() string { return "OrchestrationStarted" }

// Type implements [EventKind].
func (OrchestrationCompleted) Type() string { return "OrchestrationCompleted" }

// Type implements [EventKind].
func (OrchestrationFailed) Type() string { return "OrchestrationFailed" }

// Type implements [EventKind].
func (OrchestrationContinuedAsNew) Type() string { return "OrchestrationContinuedAsNew" }

// Type implements [EventKind].
func (OrchestrationCancelRequested) Type() string { return "OrchestrationCancelRequested" }

// Type implements [EventKind].
func (ActivityScheduled) Type() string { return "ActivityScheduled" }

// Type implements [EventKind].
func (ActivityCompleted) Type() string { return "ActivityCompleted" }

// Type implements [EventKind].
func (ActivityFailed) Type() string { return "ActivityFailed" }

// Type implements [EventKind].
func (ActivityCancelRequested) Type() string { return "ActivityCancelRequested" }

// Type implements [EventKind].
func (TimerCreated) Type() string { return "TimerCreated" }

// Type implements [EventKind].
func (TimerFired) Type() string { return "TimerFired" }

// Type implements [EventKind].
func (ExternalSubscribed) Type() string { return "ExternalSubscribed" }

// Type implements [EventKind].
func (ExternalEvent) Type() string { return "ExternalEvent" }

// Type implements [EventKind].
func (ExternalSubscribedCancelled) Type() string { return "ExternalSubscribedCancelled" }

// Type implements [EventKind].
func (QueueSubscribed) Type() string { return "ExternalSubscribedPersistent" }

// Type implements [EventKind].
func (QueueEventDelivered) Type() string { return "ExternalEventPersistent" }

// Type implements [EventKind].
func (QueueSubscriptionCancelled) Type() string { return "ExternalSubscribedPersistentCancelled" }

// Type implements [EventKind].
func (OrchestrationChained) Type() string { return "OrchestrationChained" }

// Type implements [EventKind].
func (SubOrchestrationScheduled) Type() string { return "SubOrchestrationScheduled" }

// Type implements [EventKind].
func (SubOrchestrationCompleted) Type() string { return "SubOrchestrationCompleted" }

// Type implements [EventKind].
func (SubOrchestrationFailed) Type() string { return "SubOrchestrationFailed" }

// Type implements [EventKind].
func (SubOrchestrationCancelRequested) Type() string { return "SubOrchestrationCancelRequested" }

// Type implements [EventKind].
func (CustomStatusUpdated) Type() string { return "CustomStatusUpdated" }

// Type implements [EventKind].
func (KeyValueSet) Type() string { return "KeyValueSet" }

// Type implements [EventKind].
func (KeyValueCleared) Type() string { return "KeyValueCleared" }

// Type implements [EventKind].
func (KeyValuesCleared) Type() string { return "KeyValuesCleared" }

func (OrchestrationStarted) isEventKind()            {}
func (OrchestrationCompleted) isEventKind()          {}
func (OrchestrationFailed) isEventKind()             {}
func (OrchestrationContinuedAsNew) isEventKind()     {}
func (OrchestrationCancelRequested) isEventKind()    {}
func (ActivityScheduled) isEventKind()               {}
func (ActivityCompleted) isEventKind()               {}
func (ActivityFailed) isEventKind()                  {}
func (ActivityCancelRequested) isEventKind()         {}
func (TimerCreated) isEventKind()                    {}
func (TimerFired) isEventKind()                      {}
func (ExternalSubscribed) isEventKind()              {}
func (ExternalEvent) isEventKind()                   {}
func (ExternalSubscribedCancelled) isEventKind()     {}
func (QueueSubscribed) isEventKind()                 {}
func (QueueEventDelivered) isEventKind()             {}
func (QueueSubscriptionCancelled) isEventKind()      {}
func (OrchestrationChained) isEventKind()            {}
func (SubOrchestrationScheduled) isEventKind()       {}
func (SubOrchestrationCompleted) isEventKind()       {}
func (SubOrchestrationFailed) isEventKind()          {}
func (SubOrchestrationCancelRequested) isEventKind() {}
func (CustomStatusUpdated) isEventKind()             {}
func (KeyValueSet) isEventKind()                     {}
func (KeyValueCleared) isEventKind()                 {}
func (KeyValuesCleared) isEventKind()                {}
