package providertest

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// The soak's orchestrations run that many activities one after the other and take
// that many external events, in any order.
const (
	soakSteps  = 5
	soakEvents = 4
)

// soakTurn is one turn of such an orchestration: it records what arrived,
// schedules the next activity, and ends when everything has come.
func soakTurn(got *provider.FetchedOrchestration) provider.AckOrchestrationParams {
	turn := turnOf(got, provider.AckOrchestrationParams{})
	instance, next := got.Item.Instance, uint64(len(got.Item.History))
	scheduled, completed, arrived := soakCounts(got.Item.History)
	add := func(kind provider.EventKind) *provider.Event {
		next++
		turn.HistoryDelta = append(turn.HistoryDelta, event(instance, 1, next, kind))
		return &turn.HistoryDelta[len(turn.HistoryDelta)-1]
	}
	for _, message := range got.Item.Messages {
		switch m := message.(type) {
		case provider.StartOrchestrationItem:
			add(provider.OrchestrationStarted{Name: m.Orchestration, Version: *m.Version, Input: m.Input})
			turn.Metadata = created()
		case provider.ActivityCompletedItem:
			add(provider.ActivityCompleted{Result: m.Result}).SourceEventID = &m.ID
			completed++
		case provider.ExternalRaisedItem:
			add(provider.ExternalEvent{Name: m.Name, Data: m.Data})
			arrived++
		}
	}
	switch {
	case scheduled == completed && scheduled < soakSteps:
		id := add(provider.ActivityScheduled{Name: "Charge", Input: "{}"}).EventID
		turn.WorkerItems = []provider.WorkItem{activityItem(instance, id)}
	case completed == soakSteps && arrived == soakEvents:
		add(provider.OrchestrationCompleted{Output: "done"})
		status := provider.StatusCompleted
		turn.Metadata.Status, turn.Metadata.Output = &status, new("done")
	}
	return turn
}

// soakCounts counts a history's scheduled and completed activities and its
// external events.
func soakCounts(history []provider.Event) (scheduled, completed, arrived int) {
	for _, e := range history {
		switch e.Kind.(type) {
		case provider.ActivityScheduled:
			scheduled++
		case provider.ActivityCompleted:
			completed++
		case provider.ExternalEvent:
			arrived++
		}
	}
	return scheduled, completed, arrived
}

// Many orchestrations run from start to end while dispatchers, workers and
// clients all use the store at once: each history has exactly the events it must
// have, and nothing is left in the queues.
func soak(e *env) {
	const instances, loops = 16, 12
	var queue atomic.Int32
	var finished atomic.Int32
	e.loops(loops, ruleEffect, func() bool { return finished.Load() >= instances }, func(i int) (bool, error) {
		if n := int(queue.Add(1)) - 1; n < instances*(soakEvents+1) {
			instance := fmt.Sprint("i", n%instances)
			var item provider.WorkItem = startItem(instance)
			if n >= instances {
				item = raised(instance, strconv.Itoa(n))
			}
			return true, patiently(func() error { return e.p.EnqueueForOrchestrator(e.ctx, item, 0) })
		}
		if i%2 == 0 {
			return e.soakWork()
		}
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return false, err
		}
		turn := soakTurn(got)
		err = e.ackPatiently(e.p, turn)
		if turn.Metadata.Status != nil {
			finished.Add(1)
		}
		return true, err
	})
	for i := range instances {
		e.soaked(fmt.Sprint("i", i))
	}
	same(e, finished.Load(), instances, ruleEffect)
	e.fetchNone(ruleEffect)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleEffect)
}

// soakWork runs one activity.
func (e *env) soakWork() (bool, error) {
	got, err := e.grabWork(e.p, held)
	if err != nil || got == nil {
		return false, err
	}
	item := got.Item.(provider.ActivityExecuteItem)
	err = patiently(func() error { return e.p.AckWorkItem(e.ctx, got.LockToken, completedItem(item.Instance, item.ID)) })
	if err != nil {
		return false, violation(ruleWorkAck, "the ack of a live token failed: %v", err)
	}
	return true, nil
}

// soaked asserts that an orchestration's history is complete and has no event
// twice.
func (e *env) soaked(instance string) {
	e.Helper()
	history := e.history(instance, 1)
	scheduled, completed, arrived := soakCounts(history)
	e.check(len(history) == 2+2*soakSteps+soakEvents && scheduled == soakSteps && completed == soakSteps && arrived == soakEvents,
		ruleEffect, "%s: %d events: %d scheduled, %d completed, %d external", instance, len(history), scheduled, completed, arrived)
	open := map[uint64]bool{}
	for i, event := range history {
		same(e, event.EventID, uint64(i+1), ruleIsolation)
		switch event.Kind.(type) {
		case provider.ActivityScheduled:
			open[event.EventID] = true
		case provider.ActivityCompleted:
			e.check(open[*event.SourceEventID], ruleEffect, "%s: event %d completes activity %d, which is not open",
				instance, event.EventID, *event.SourceEventID)
			delete(open, *event.SourceEventID)
		}
	}
	e.check(history[len(history)-1].Terminal(), ruleEffect, "%s has not ended", instance)
}
