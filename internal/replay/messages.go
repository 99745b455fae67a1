package replay

import (
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// arrival is a message of the batch that has not become an event yet.
type arrival struct {
	source *uint64
	kind   provider.EventKind
}

// receive decides which messages of the batch become events (contract §7.11 A). Messages that come
// too late or a second time are left out; they are consumed all the same.
func (e *engine) receive() {
	in := &e.inbox
	for _, event := range e.events[in.noted:] {
		in.note(event)
	}
	in.noted = len(e.events)
	e.arriving, e.waiting = nil, nil
	if e.persisted == 0 {
		e.recordCarried()
	}
	for _, message := range e.turn.Messages {
		in.accept(message)
		if e.failure != nil {
			return
		}
	}
}

// recordCarried records what the execution has from the one before. It comes first.
func (e *engine) recordCarried() {
	for _, carried := range e.started.CarryForwardEvents {
		e.record(nil, provider.QueueEventDelivered(carried))
	}
}

// arrive records the next message of the batch and reports whether there was one. Of a
// peeked batch, a queue message becomes an event only when a dequeue is there to read it.
func (e *engine) arrive() bool {
	for len(e.arriving) > 0 {
		next := e.arriving[0]
		e.arriving = e.arriving[1:]
		if m, queued := next.kind.(provider.QueueEventDelivered); queued && e.turn.Peeked {
			if !e.queues.get(m.Name).admits() {
				e.waiting = append(e.waiting, m)
				continue
			}
			e.read(m)
		} else {
			e.record(next.source, next.kind)
		}
		return true
	}
	return false
}

// arriveUnseen records what is left of the batch when the function looks at no more of it.
func (e *engine) arriveUnseen() {
	for _, next := range e.arriving {
		if _, queued := next.kind.(provider.QueueEventDelivered); !queued || !e.turn.Peeked {
			e.record(next.source, next.kind)
		}
	}
	e.arriving = nil
}

// read records a queue message of a peeked batch, which thereby leaves the store.
func (e *engine) read(m provider.QueueEventDelivered) provider.Event {
	if e.res.Read == nil {
		e.res.Read = map[string]int{}
	}
	e.res.Read[m.Name]++
	return e.record(nil, m)
}

// readWaiting records and applies the oldest waiting message that a dequeue can read, and
// reports whether there is one: messages of several queues come in the order of their arrival.
// So it stops where an older one may still be in the store.
func (e *engine) readWaiting() bool {
	if e.lacksMessages() {
		return false
	}
	for i, m := range e.waiting {
		if e.queues.get(m.Name).admits() {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			e.apply(e.read(m))
			return true
		}
	}
	return false
}

// lacksMessages reports whether the function waits for a queue of which it has read all that the
// batch had: the next turn may have more.
func (e *engine) lacksMessages() bool {
	for name := range e.res.Read {
		left := slices.ContainsFunc(e.waiting, func(m provider.QueueEventDelivered) bool { return m.Name == name })
		if !left && e.queues.get(name).admits() {
			return true
		}
	}
	return false
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

func (in *inbox) arrives(source *uint64, kind provider.EventKind) {
	in.engine.arriving = append(in.engine.arriving, arrival{source, kind})
}

func (in *inbox) accept(message provider.WorkItem) {
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
		in.arrives(nil, provider.ExternalEvent{Name: m.Name, Data: m.Data})
	case provider.QueueMessageItem:
		in.arrives(nil, provider.QueueEventDelivered{Name: m.Name, Data: m.Data})
	case provider.CancelInstanceItem:
		if !in.cancelRequested {
			in.cancelRequested = true
			in.arrives(nil, provider.OrchestrationCancelRequested{Reason: m.Reason})
		}
	}
}

// complete notes the completion of a schedule event. Any completion of an id
// makes a later one a duplicate, whatever its kind: a redelivered failure must
// not look like nondeterminism.
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
	in.arrives(&id, kind)
	if details == nil {
		return
	}
	// A failure that is not the application's own ends the orchestration with
	// the same details; user code never sees it.
	if _, application := details.(provider.ApplicationFailure); !application && e.failure == nil {
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
