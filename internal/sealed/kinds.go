package sealed

import "github.com/duroxide/duroxide-go/provider"

// event changes the payloads of a kind.
func (m *mapper) event(kind provider.EventKind) provider.EventKind {
	before := m.changes
	switch k := kind.(type) {
	case provider.OrchestrationStarted:
		k.Input, k.InitialCustomStatus = m.text(k.Input), m.optional(k.InitialCustomStatus)
		k.CarryForwardEvents = m.pairs(k.CarryForwardEvents)
		return kindOf(m, before, kind, k)
	case provider.OrchestrationCompleted:
		k.Output = m.text(k.Output)
		return kindOf(m, before, kind, k)
	case provider.OrchestrationFailed:
		k.Details = m.details(k.Details)
		return kindOf(m, before, kind, k)
	case provider.OrchestrationContinuedAsNew:
		k.Input = m.text(k.Input)
		return kindOf(m, before, kind, k)
	case provider.OrchestrationCancelRequested:
		k.Reason = m.text(k.Reason)
		return kindOf(m, before, kind, k)
	case provider.ActivityScheduled:
		k.Input = m.text(k.Input)
		return kindOf(m, before, kind, k)
	case provider.ActivityCompleted:
		k.Result = m.text(k.Result)
		return kindOf(m, before, kind, k)
	case provider.ActivityFailed:
		k.Details = m.details(k.Details)
		return kindOf(m, before, kind, k)
	}
	return m.otherEvent(kind)
}

// otherEvent is event for what the orchestration exchanges with others.
func (m *mapper) otherEvent(kind provider.EventKind) provider.EventKind {
	before := m.changes
	switch k := kind.(type) {
	case provider.ExternalEvent:
		k.Data = m.text(k.Data)
		return kindOf(m, before, kind, k)
	case provider.QueueEventDelivered:
		k.Data = m.text(k.Data)
		return kindOf(m, before, kind, k)
	case provider.OrchestrationChained:
		k.Input = m.text(k.Input)
		return kindOf(m, before, kind, k)
	case provider.SubOrchestrationScheduled:
		k.Input = m.text(k.Input)
		return kindOf(m, before, kind, k)
	case provider.SubOrchestrationCompleted:
		k.Result = m.text(k.Result)
		return kindOf(m, before, kind, k)
	case provider.SubOrchestrationFailed:
		k.Details = m.details(k.Details)
		return kindOf(m, before, kind, k)
	case provider.CustomStatusUpdated:
		k.Status = m.optional(k.Status)
		return kindOf(m, before, kind, k)
	case provider.KeyValueSet:
		k.Value = m.text(k.Value)
		return kindOf(m, before, kind, k)
	}
	return kind
}

// item changes the payloads of an item, nil for none.
func (m *mapper) item(item provider.WorkItem) provider.WorkItem {
	before := m.changes
	switch i := item.(type) {
	case provider.StartOrchestrationItem:
		i.Input = m.text(i.Input)
		return itemOf(m, before, item, i)
	case provider.ActivityExecuteItem:
		i.Input = m.text(i.Input)
		i.Heartbeat = m.unlessEmpty(i.Heartbeat)
		return itemOf(m, before, item, i)
	case provider.ActivityCompletedItem:
		i.Result = m.text(i.Result)
		return itemOf(m, before, item, i)
	case provider.ActivityFailedItem:
		i.Details = m.details(i.Details)
		return itemOf(m, before, item, i)
	case provider.ExternalRaisedItem:
		i.Data = m.text(i.Data)
		return itemOf(m, before, item, i)
	case provider.QueueMessageItem:
		i.Data = m.text(i.Data)
		return itemOf(m, before, item, i)
	case provider.SubOrchCompletedItem:
		i.Result = m.text(i.Result)
		return itemOf(m, before, item, i)
	case provider.SubOrchFailedItem:
		i.Details = m.details(i.Details)
		return itemOf(m, before, item, i)
	case provider.CancelInstanceItem:
		i.Reason = m.text(i.Reason)
		return itemOf(m, before, item, i)
	case provider.ContinueAsNewItem:
		i.Input, i.InitialCustomStatus = m.text(i.Input), m.optional(i.InitialCustomStatus)
		i.CarryForwardEvents = m.pairs(i.CarryForwardEvents)
		return itemOf(m, before, item, i)
	}
	return item
}

// details changes what user code has said of a failure, and the work that one quotes.
func (m *mapper) details(details provider.ErrorDetails) provider.ErrorDetails {
	before := m.changes
	switch d := details.(type) {
	case provider.ApplicationFailure:
		d.Message = m.text(d.Message)
		if d.Kind == provider.AppCancelled {
			d.CancelReason = m.text(d.CancelReason)
		}
		d.FailureDetails, d.Heartbeat = m.unlessEmpty(d.FailureDetails), m.unlessEmpty(d.Heartbeat)
		if m.changes != before {
			return d
		}
	case provider.PoisonFailure:
		d.Message = m.text(d.Message)
		if m.changes != before {
			return d
		}
	}
	return details
}

// kindOf is the changed kind, or the one from before if no payload has changed: to make an
// interface of a struct costs an allocation.
func kindOf[K provider.EventKind](m *mapper, before int, kind provider.EventKind, changed K) provider.EventKind {
	if m.changes == before {
		return kind
	}
	return changed
}

// itemOf is as kindOf.
func itemOf[I provider.WorkItem](m *mapper, before int, item provider.WorkItem, changed I) provider.WorkItem {
	if m.changes == before {
		return item
	}
	return changed
}
