// Package audit checks histories for what a crash must never leave behind: gaps,
// events written twice, results counted twice, lost ends.
package audit

import (
	"fmt"

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
	// Lost lists external events and queue messages that nobody waited for. That is
	// legal (§7.13), and a sign that somebody raised an event too early or twice.
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
			a.problemf("event %d stands at place %d", event.EventID, i+1)
		}
		if event.InstanceID != instance || event.ExecutionID != execution {
			a.problemf("event %d belongs to execution %d of %q", event.EventID, event.ExecutionID, event.InstanceID)
		}
		if _, started := event.Kind.(provider.OrchestrationStarted); started != (i == 0) {
			a.problemf("event %d is %s", event.EventID, event.Kind.Type())
		}
		a.event(event)
	}
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
	case provider.ExternalSubscribed, provider.QueueSubscribed:
		a.open[event.EventID] = kind
		a.waits = append(a.waits, event.EventID)
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
		a.deliver(event, provider.ExternalSubscribed{Name: kind.Name})
	case provider.QueueEventDelivered:
		a.deliver(event, provider.QueueSubscribed{Name: kind.Name})
	case provider.OrchestrationCompleted, provider.OrchestrationFailed, provider.OrchestrationContinuedAsNew:
		a.report.End = kind
	}
}

// settle matches an outcome with its schedule of kind S, which can have only one.
func settle[S provider.EventKind](a *auditor, event provider.Event) (id uint64, ok bool) {
	if event.SourceEventID == nil {
		a.problemf("event %d, %s, names no source", event.EventID, event.Kind.Type())
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

// deliver matches an event or message with the oldest wait for its name.
func (a *auditor) deliver(event provider.Event, wanted provider.EventKind) {
	for i, id := range a.waits {
		if a.open[id] == wanted {
			delete(a.open, id)
			a.waits = append(a.waits[:i], a.waits[i+1:]...)
			return
		}
	}
	a.report.Lost = append(a.report.Lost, event.EventID)
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
