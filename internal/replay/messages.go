package replay

import "github.com/duroxide/duroxide-go/provider"

// receive turns the batch into events (§7.11 A). Messages that come too late or
// a second time are left out; they are consumed all the same.
func (e *engine) receive() {
	in := &e.inbox
	for _, event := range e.events[in.noted:] {
		in.note(event)
	}
	in.noted = len(e.events)
	for _, message := range e.turn.Messages {
		in.accept(message)
		if e.failure != nil {
			return
		}
	}
}

// inbox decides which messages become events.
type inbox struct {
	engine *engine
	// noted is the number of events that were noted.
	noted int
	// schedules are the recorded schedule events that are not done, by id.
	schedules map[uint64]provider.EventKind
	// done are the schedules that have a completion, recorded or in this batch.
	done            map[uint64]bool
	cancelRequested bool
}

func (in *inbox) note(event provider.Event) {
	switch event.Kind.(type) {
	case provider.ActivityScheduled, provider.TimerCreated, provider.SubOrchestrationScheduled:
		in.schedules[event.EventID] = event.Kind
	case provider.ActivityCompleted, provider.ActivityFailed, provider.TimerFired,
		provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed:
		if event.SourceEventID != nil {
			in.finish(*event.SourceEventID)
		}
	case provider.OrchestrationCancelRequested:
		in.cancelRequested = true
	}
}

func (in *inbox) finish(id uint64) {
	in.done[id] = true
	delete(in.schedules, id)
}

func (in *inbox) accept(message provider.WorkItem) {
	e := in.engine
	switch m := message.(type) {
	case provider.ActivityCompletedItem:
		in.complete(m.ExecutionID, m.ID, provider.ActivityCompleted{Result: m.Result}, nil)
	case provider.ActivityFailedItem:
		in.complete(m.ExecutionID, m.ID, provider.ActivityFailed{Details: m.Details}, m.Details)
	case provider.TimerFiredItem:
		in.complete(m.ExecutionID, m.ID, provider.TimerFired{FireAtMs: m.FireAtMs}, nil)
	case provider.SubOrchCompletedItem:
		in.complete(m.ParentExecutionID, m.ParentID, provider.SubOrchestrationCompleted{Result: m.Result}, nil)
	case provider.SubOrchFailedItem:
		in.complete(m.ParentExecutionID, m.ParentID, provider.SubOrchestrationFailed{Details: m.Details}, m.Details)
	case provider.ExternalRaisedItem:
		e.record(nil, provider.ExternalEvent{Name: m.Name, Data: m.Data})
	case provider.QueueMessageItem:
		e.record(nil, provider.QueueEventDelivered{Name: m.Name, Data: m.Data})
	case provider.CancelInstanceItem:
		if !in.cancelRequested {
			in.cancelRequested = true
			e.record(nil, provider.OrchestrationCancelRequested{Reason: m.Reason})
		}
	}
}

// complete records the completion of a schedule event. Any completion of an id
// makes a later one a duplicate, whatever its kind: a redelivered failure must
// not look like nondeterminism (P44).
func (in *inbox) complete(execution, id uint64, kind provider.EventKind, details provider.ErrorDetails) {
	e := in.engine
	if execution != e.turn.ExecutionID || in.done[id] {
		return
	}
	schedule, known := in.schedules[id]
	if !known || !completes(kind, schedule) {
		e.nondeterministicf("%s arrived for event %d, which is %s", kind.Type(), id, describe(schedule))
		return
	}
	in.finish(id)
	e.record(&id, kind)
	if details == nil {
		return
	}
	// A failure that is not the application's own ends the orchestration with
	// the same details; user code never sees it.
	if _, application := details.(provider.Application); !application && e.failure == nil {
		e.failure = details
	}
}

// completes reports whether a completion belongs to that kind of schedule.
func completes(completion, schedule provider.EventKind) bool {
	switch completion.(type) {
	case provider.ActivityCompleted, provider.ActivityFailed:
		_, ok := schedule.(provider.ActivityScheduled)
		return ok
	case provider.TimerFired:
		_, ok := schedule.(provider.TimerCreated)
		return ok
	case provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed:
		_, ok := schedule.(provider.SubOrchestrationScheduled)
		return ok
	}
	return false
}
