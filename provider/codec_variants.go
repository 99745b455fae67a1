package provider

// This file picks the fields method for a value's type. The switches are long
// and flat on purpose: static calls let the compiler keep the codec and the
// fields on the stack, and only a case that names a type proves that the value
// is not a pointer, on which even asking for its name could panic.
//
// Reading goes through the same switches, started with the zero value that the
// name on the wire stands for.

// The zero value, or for kinds of failure the value, that each name stands for.
var (
	eventKinds = byName[EventKind](EventKind.Type,
		OrchestrationStarted{}, OrchestrationCompleted{}, OrchestrationFailed{},
		OrchestrationContinuedAsNew{}, OrchestrationCancelRequested{},
		ActivityScheduled{}, ActivityCompleted{}, ActivityFailed{}, ActivityCancelRequested{},
		TimerCreated{}, TimerFired{},
		ExternalSubscribed{}, ExternalEvent{}, ExternalSubscribedCancelled{},
		QueueSubscribed{}, QueueEventDelivered{}, QueueSubscriptionCancelled{},
		OrchestrationChained{},
		SubOrchestrationScheduled{}, SubOrchestrationCompleted{}, SubOrchestrationFailed{},
		SubOrchestrationCancelRequested{},
		CustomStatusUpdated{}, KeyValueSet{}, KeyValueCleared{}, KeyValuesCleared{})

	workItems = byName[WorkItem](WorkItem.Variant,
		StartOrchestrationItem{}, ActivityExecuteItem{}, ActivityCompletedItem{}, ActivityFailedItem{},
		TimerFiredItem{}, ExternalRaisedItem{}, QueueMessageItem{},
		SubOrchCompletedItem{}, SubOrchFailedItem{}, CancelInstanceItem{}, ContinueAsNewItem{})

	errorDetails = map[string]ErrorDetails{
		"Infrastructure": InfrastructureFailure{},
		"Configuration":  ConfigurationFailure{},
		"Application":    ApplicationFailure{},
		"Poison":         PoisonFailure{},
	}

	messageTypes = map[string]PoisonMessageType{
		"Orchestration":         PoisonOrchestration{},
		"Activity":              PoisonActivity{},
		"FailedDeserialization": PoisonDeserialization{},
	}

	// A cancellation is left out of applicationKinds: it carries a reason and so
	// is never a bare name.
	applicationKinds   = byName(AppErrorKind.name, AppActivityFailed, AppOrchestrationFailed, AppPanicked)
	cancelledKind      = byName(AppErrorKind.name, AppCancelled)
	configurationKinds = map[string]string{Nondeterminism: Nondeterminism}
)

func (k AppErrorKind) name() string { return string(k) }

func byName[T any](name func(T) string, zeros ...T) map[string]T {
	m := make(map[string]T, len(zeros))
	for _, zero := range zeros {
		m[name(zero)] = zero
	}
	return m
}

// eventKind writes or reads the fields of k. It returns nil when k is not a
// value of one of the kinds.
func (c *codec) eventKind(k EventKind) EventKind {
	switch k := k.(type) {
	case OrchestrationStarted:
		return k.fields(c.tag(k.Type()))
	case OrchestrationCompleted:
		return k.fields(c.tag(k.Type()))
	case OrchestrationFailed:
		return k.fields(c.tag(k.Type()))
	case OrchestrationContinuedAsNew:
		return k.fields(c.tag(k.Type()))
	case OrchestrationCancelRequested:
		return k.fields(c.tag(k.Type()))
	case ActivityScheduled:
		return k.fields(c.tag(k.Type()))
	case ActivityCompleted:
		return k.fields(c.tag(k.Type()))
	case ActivityFailed:
		return k.fields(c.tag(k.Type()))
	case ActivityCancelRequested:
		return k.fields(c.tag(k.Type()))
	case TimerCreated:
		return k.fields(c.tag(k.Type()))
	case TimerFired:
		return k.fields(c.tag(k.Type()))
	case ExternalSubscribed:
		return k.fields(c.tag(k.Type()))
	case ExternalEvent:
		return k.fields(c.tag(k.Type()))
	case ExternalSubscribedCancelled:
		return k.fields(c.tag(k.Type()))
	case QueueSubscribed:
		return k.fields(c.tag(k.Type()))
	case QueueEventDelivered:
		return k.fields(c.tag(k.Type()))
	case QueueSubscriptionCancelled:
		return k.fields(c.tag(k.Type()))
	case OrchestrationChained:
		return k.fields(c.tag(k.Type()))
	case SubOrchestrationScheduled:
		return k.fields(c.tag(k.Type()))
	case SubOrchestrationCompleted:
		return k.fields(c.tag(k.Type()))
	case SubOrchestrationFailed:
		return k.fields(c.tag(k.Type()))
	case SubOrchestrationCancelRequested:
		return k.fields(c.tag(k.Type()))
	case CustomStatusUpdated:
		return k.fields(c.tag(k.Type()))
	case KeyValueSet:
		return k.fields(c.tag(k.Type()))
	case KeyValueCleared:
		return k.fields(c.tag(k.Type()))
	case KeyValuesCleared:
		return k.fields(c.tag(k.Type()))
	}
	return nil
}

// workItem is eventKind for work items.
func (c *codec) workItem(item WorkItem) WorkItem {
	switch i := item.(type) {
	case StartOrchestrationItem:
		return i.fields(c.variant(i.Variant()))
	case ActivityExecuteItem:
		return i.fields(c.variant(i.Variant()))
	case ActivityCompletedItem:
		return i.fields(c.variant(i.Variant()))
	case ActivityFailedItem:
		return i.fields(c.variant(i.Variant()))
	case TimerFiredItem:
		return i.fields(c.variant(i.Variant()))
	case ExternalRaisedItem:
		return i.fields(c.variant(i.Variant()))
	case QueueMessageItem:
		return i.fields(c.variant(i.Variant()))
	case SubOrchCompletedItem:
		return i.fields(c.variant(i.Variant()))
	case SubOrchFailedItem:
		return i.fields(c.variant(i.Variant()))
	case CancelInstanceItem:
		return i.fields(c.variant(i.Variant()))
	case ContinueAsNewItem:
		return i.fields(c.variant(i.Variant()))
	}
	return nil
}

// errorDetails is eventKind for failures.
func (c *codec) errorDetails(details ErrorDetails) ErrorDetails {
	switch d := details.(type) {
	case InfrastructureFailure:
		return d.fields(c.variant("Infrastructure"))
	case ConfigurationFailure:
		return d.fields(c.variant("Configuration"))
	case ApplicationFailure:
		return d.fields(c.variant("Application"))
	case PoisonFailure:
		return d.fields(c.variant("Poison"))
	}
	return nil
}

// poisonMessage is eventKind for the subject of a PoisonFailure.
func (c *codec) poisonMessage(message PoisonMessageType) PoisonMessageType {
	switch m := message.(type) {
	case PoisonOrchestration:
		return m.fields(c.variant("Orchestration"))
	case PoisonActivity:
		return m.fields(c.variant("Activity"))
	case PoisonDeserialization:
		return m.fields(c.variant("FailedDeserialization"))
	}
	return nil
}
