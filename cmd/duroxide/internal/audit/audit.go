// Package audit checks histories for what a crash must never leave behind: gaps,
// events written twice, results counted twice, lost ends.
package audit

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// Report is what an execution's history shows.
type Report struct {
	// Problems say what is wrong, each naming the event. None is a sound history.
	Problems []string
	// Activities lists the scheduled activities, Results those whose outcome was
	// counted, both by the event id of the schedule and in the order of the history.
	Activities, Results []uint64
	// Unanswered lists the schedules and waits without an outcome. A running
	// execution has some; one that ended has those it no longer wanted.
	Unanswered []uint64
	// Lost lists external events that nobody waited for, and the queue messages that
	// nobody had taken at the end, unless the next execution has them. That is legal
	// (contract §7.13), and a sign that somebody raised an event too early or twice.
	Lost []uint64
	// End is the event that ended the execution, nil while it runs.
	End provider.EventKind
}

// History checks the history of one execution, given in event id order.
func History(instance string, execution uint64, events []provider.Event) Report {
	a := auditor{open: map[uint64]provider.EventKind{}}
	if len(events) == 0 {
		a.problemf("the history is empty")
		return a.report
	}
	for i, event := range events {
		if event.EventID != uint64(i)+1 {
			a.problemf("event %d is at position %d", event.EventID, i+1)
		}
		if event.InstanceID != instance || event.ExecutionID != execution {
			a.problemf("event %d belongs to execution %d of %q", event.EventID, event.ExecutionID, event.InstanceID)
		}
		if _, started := event.Kind.(provider.OrchestrationStarted); started != (i == 0) {
			a.problemf("event %d is %s", event.EventID, event.Kind.Type())
		}
		a.event(event)
	}
	a.leftBehind()
	for _, event := range events {
		if _, ok := a.open[event.EventID]; ok {
			a.report.Unanswered = append(a.report.Unanswered, event.EventID)
		}
	}
	return a.report
}

// auditor reads a history from its start.
type auditor struct {
	report Report
	// open holds what is waiting for an outcome, by event id.
	open map[uint64]provider.EventKind
	// kept holds the messages that came before anybody waited for them, oldest first.
	kept []message
	// waits holds the ids in open that wait for a named event or message, oldest
	// first: their outcome carries a name instead of an id.
	waits []uint64
}

func (a *auditor) problemf(format string, args ...any) {
	a.report.Problems = append(a.report.Problems, fmt.Sprintf(format, args...))
}

// event accounts for one event.
func (a *auditor) event(event provider.Event) {
	if a.report.End != nil && !cancellation(event.Kind) {
		a.problemf("event %d, %s, follows the end", event.EventID, event.Kind.Type())
	}
	switch kind := event.Kind.(type) {
	case provider.ActivityScheduled:
		a.open[event.EventID] = kind
		a.report.Activities = append(a.report.Activities, event.EventID)
	case provider.TimerCreated, provider.SubOrchestrationScheduled:
		a.open[event.EventID] = kind
	case provider.ExternalSubscribed:
		a.open[event.EventID] = kind
		a.waits = append(a.waits, event.EventID)
	case provider.QueueSubscribed:
		a.dequeue(event.EventID, kind)
	case provider.ActivityCompleted, provider.ActivityFailed:
		if id, ok := settle[provider.ActivityScheduled](a, event); ok {
			a.report.Results = append(a.report.Results, id)
		}
	case provider.TimerFired:
		settle[provider.TimerCreated](a, event)
	case provider.SubOrchestrationCompleted, provider.SubOrchestrationFailed:
		settle[provider.SubOrchestrationScheduled](a, event)
	case provider.ExternalSubscribedCancelled:
		settle[provider.ExternalSubscribed](a, event)
	case provider.QueueSubscriptionCancelled:
		settle[provider.QueueSubscribed](a, event)
	case provider.ExternalEvent:
		if !a.deliver(provider.ExternalSubscribed{Name: kind.Name}) {
			a.report.Lost = append(a.report.Lost, event.EventID)
		}
	case provider.QueueEventDelivered:
		if !a.deliver(provider.QueueSubscribed{Name: kind.Name}) {
			a.kept = append(a.kept, message{event.EventID, kind.Name})
		}
	case provider.OrchestrationCompleted, provider.OrchestrationFailed, provider.OrchestrationContinuedAsNew:
		a.report.End = kind
	}
}

// settle matches an outcome with its schedule of kind S, which can have only one.
func settle[S provider.EventKind](a *auditor, event provider.Event) (id uint64, ok bool) {
	if event.SourceEventID == nil {
		a.problemf("event %d, %s, has no source event", event.EventID, event.Kind.Type())
		return 0, false
	}
	id = *event.SourceEventID
	if _, ok = a.open[id].(S); !ok {
		a.problemf("event %d, %s, answers event %d, which waits for no such answer", event.EventID, event.Kind.Type(), id)
		return 0, false
	}
	delete(a.open, id)
	return id, true
}

// deliver gives an event or message to the oldest wait for its name, if there is one.
func (a *auditor) deliver(wanted provider.EventKind) bool {
	for i, id := range a.waits {
		if a.open[id] == wanted {
			delete(a.open, id)
			a.waits = slices.Delete(a.waits, i, i+1)
			return true
		}
	}
	return false
}

// message is a queue message by its event id.
type message struct {
	id   uint64
	name string
}

// dequeue takes the oldest message that is kept, or waits for the next.
func (a *auditor) dequeue(id uint64, kind provider.QueueSubscribed) {
	at := slices.IndexFunc(a.kept, func(m message) bool { return m.name == kind.Name })
	if at >= 0 {
		a.kept = slices.Delete(a.kept, at, at+1)
		return
	}
	a.open[id] = kind
	a.waits = append(a.waits, id)
}

// leftBehind counts the messages as lost that an execution leaves to no other.
func (a *auditor) leftBehind() {
	if _, continued := a.report.End.(provider.OrchestrationContinuedAsNew); continued || a.report.End == nil {
		return
	}
	for _, m := range a.kept {
		a.report.Lost = append(a.report.Lost, m.id)
	}
}

// cancellation reports the kinds that may stand after an end: what it calls off.
func cancellation(kind provider.EventKind) bool {
	switch kind.(type) {
	case provider.ActivityCancelRequested, provider.SubOrchestrationCancelRequested,
		provider.ExternalSubscribedCancelled, provider.QueueSubscriptionCancelled:
		return true
	}
	return false
}
