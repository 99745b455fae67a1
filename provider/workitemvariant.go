package provider

// Variant implements [WorkItem].
func (StartOrchestrationItem) Variant() string { return "StartOrchestration" }

// Variant implements [WorkItem].
func (ActivityExecuteItem) Variant() string { return "ActivityExecute" }

// Variant implements [WorkItem].
func (ActivityCompletedItem) Variant() string { return "ActivityCompleted" }

// Variant implements [WorkItem].
func (ActivityFailedItem) Variant() string { return "ActivityFailed" }

// Variant implements [WorkItem].
func (TimerFiredItem) Variant() string { return "TimerFired" }

// Variant implements [WorkItem].
func (ExternalRaisedItem) Variant() string { return "ExternalRaised" }

// Variant implements [WorkItem].
func (QueueMessageItem) Variant() string { return "QueueMessage" }

// Variant implements [WorkItem].
func (SubOrchCompletedItem) Variant() string { return "SubOrchCompleted" }

// Variant implements [WorkItem].
func (SubOrchFailedItem) Variant() string { return "SubOrchFailed" }

// Variant implements [WorkItem].
func (CancelInstanceItem) Variant() string { return "CancelInstance" }

// Variant implements [WorkItem].
func (ContinueAsNewItem) Variant() string { return "ContinueAsNew" }

// Target implements [WorkItem].
func (i StartOrchestrationItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i ActivityExecuteItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i ActivityCompletedItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i ActivityFailedItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i TimerFiredItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i ExternalRaisedItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i QueueMessageItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i SubOrchCompletedItem) Target() string { return i.ParentInstance }

// Target implements [WorkItem].
func (i SubOrchFailedItem) Target() string { return i.ParentInstance }

// Target implements [WorkItem].
func (i CancelInstanceItem) Target() string { return i.Instance }

// Target implements [WorkItem].
func (i ContinueAsNewItem) Target() string { return i.Instance }

func (StartOrchestrationItem) isWorkItem() {}
func (ActivityExecuteItem) isWorkItem()    {}
func (ActivityCompletedItem) isWorkItem()  {}
func (ActivityFailedItem) isWorkItem()     {}
func (TimerFiredItem) isWorkItem()         {}
func (ExternalRaisedItem) isWorkItem()     {}
func (QueueMessageItem) isWorkItem()       {}
func (SubOrchCompletedItem) isWorkItem()   {}
func (SubOrchFailedItem) isWorkItem()      {}
func (CancelInstanceItem) isWorkItem()     {}
func (ContinueAsNewItem) isWorkItem()      {}
