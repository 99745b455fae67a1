package providertest

import (
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// heldHistory is about fetches whose caller has the beginning of a history.
func heldHistory() category {
	return category{"held history", []scenario{
		{"history_is_whole_or_begins_with_held_event", heldBegins},
		{"held_beyond_the_end_brings_all", heldBeyond},
		{"held_of_another_execution_brings_all", heldOtherExecution},
		{"held_of_an_earlier_life_brings_the_new_one", heldEarlierLife},
		{"held_is_asked_at_most_once", heldAskedOnce},
		{"unreadable_event_after_held_is_reported", heldDamaged},
	}}
}

const ruleHeld = "§5.1 held: History is whole, or begins with the event that the caller holds last"

// longHistory commits a first turn of n events and leaves a message for the next.
func (e *env) longHistory(instance string, n uint64) []provider.Event {
	e.Helper()
	e.enqueue(startItem(instance))
	events := []provider.Event{started(instance, 1)}
	for id := uint64(2); id <= n; id++ {
		events = append(events, event(instance, 1, id, provider.ExternalEvent{Name: "e", Data: "data"}))
	}
	e.commit(e.fetch(held), provider.AckOrchestrationParams{ExecutionID: 1, HistoryDelta: events, Metadata: created()})
	e.enqueue(raised(instance, "next"))
	return events
}

// fetchHeld fetches with the answer of a caller who holds the events up to an id.
func (e *env) fetchHeld(answer func(instance string, executionID uint64) uint64) *provider.FetchedOrchestration {
	e.Helper()
	got, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: held, Held: answer})
	e.ok(err, ruleHeld)
	if got == nil {
		e.Fatalf("%s: nothing was fetched", ruleHeld)
	}
	return got
}

// holding is a caller that has the same of every history.
func holding(lastEventID uint64) func(string, uint64) uint64 {
	return func(string, uint64) uint64 { return lastEventID }
}

// heldPart asserts that a fetch brought all of a history, or what follows the held event.
func (e *env) heldPart(got *provider.FetchedOrchestration, whole []provider.Event, lastEventID uint64) {
	e.Helper()
	want := whole
	if from := got.Item.HistoryFrom; from != 0 {
		if from != lastEventID || from > uint64(len(whole)) {
			e.Fatalf("%s: HistoryFrom is %d, held was %d of %d", ruleHeld, from, lastEventID, len(whole))
		}
		want = whole[from-1:]
	}
	e.sameEvents(got.Item.History, want, ruleHeld)
	if got.Item.OrchestrationName != "Order" || len(got.Item.Messages) != 1 {
		e.Fatalf("%s: orchestration %q, %d messages", ruleHeld, got.Item.OrchestrationName, len(got.Item.Messages))
	}
}

// heldBegins: histories of all lengths, of which the caller holds nothing, some or all.
func heldBegins(e *env) {
	for _, n := range []uint64{2, 31, 32, 33, 100} {
		instance := "instance"
		whole := e.longHistory(instance, n)
		for _, last := range []uint64{0, 1, n / 2, n - 1, n} {
			got := e.fetchHeld(holding(last))
			e.heldPart(got, whole, last)
			e.abandon(got, 0, true)
		}
		e.drop(e.fetch(held))
		e.delete(instance, true)
	}
}

// heldBeyond: the caller holds more than there is, of an instance that began anew.
func heldBeyond(e *env) {
	for _, n := range []uint64{2, 40} {
		whole := e.longHistory("instance", n)
		got := e.fetchHeld(holding(n + 1))
		if got.Item.HistoryFrom != 0 {
			e.Errorf("%s: HistoryFrom is %d of %d events, held was one more", ruleHeld, got.Item.HistoryFrom, n)
		}
		e.heldPart(got, whole, 0)
		e.drop(got)
		e.delete("instance", true)
	}
}

// heldOtherExecution: what is held is asked for by the current execution.
func heldOtherExecution(e *env) {
	e.longHistory("instance", 40)
	got := e.fetch(held)
	e.commit(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("instance", 1, 41, terminal(provider.StatusContinuedAsNew, "{}"))},
		Metadata:     ended(provider.StatusContinuedAsNew, "{}"),
	})
	e.enqueue(provider.ContinueAsNewItem{Instance: "instance", Orchestration: "Order", Input: "{}", Version: new("1.0.0")})
	second := []provider.Event{started("instance", 2)}
	e.commit(e.fetch(held), provider.AckOrchestrationParams{ExecutionID: 2, HistoryDelta: second, Metadata: created()})
	e.enqueue(raised("instance", "next"))
	e.heldPart(e.fetchHeld(func(instance string, executionID uint64) uint64 {
		if instance != "instance" || executionID != 2 {
			e.Errorf("%s: asked for %q, execution %d", ruleHeld, instance, executionID)
		}
		return 0
	}), second, 0)
}

// heldEarlierLife: an instance that was deleted and started again has other events under
// the same ids, and these come.
func heldEarlierLife(e *env) {
	for _, n := range []uint64{3, 50} {
		e.longHistory("instance", n)
		e.drop(e.fetch(held))
		e.delete("instance", true)
		e.enqueue(startItem("instance"))
		whole := []provider.Event{started("instance", 1)}
		for id := uint64(2); id <= n+2; id++ {
			whole = append(whole, event("instance", 1, id, provider.ExternalEvent{Name: "another", Data: "life"}))
		}
		e.commit(e.fetch(held), provider.AckOrchestrationParams{ExecutionID: 1, HistoryDelta: whole, Metadata: created()})
		e.enqueue(raised("instance", "next"))
		got := e.fetchHeld(holding(n))
		e.heldPart(got, whole, n)
		e.drop(got)
		e.delete("instance", true)
	}
}

// heldAskedOnce: the store asks once for each item, and never for an instance it does not
// deliver.
func heldAskedOnce(e *env) {
	for _, n := range []uint64{2, 40} {
		e.longHistory("instance", n)
		var asked []string
		got := e.fetchHeld(func(instance string, _ uint64) uint64 {
			asked = append(asked, instance)
			return n
		})
		if len(asked) > 1 || slices.ContainsFunc(asked, func(id string) bool { return id != got.Item.Instance }) {
			e.Errorf("§5.1 held: a store asks at most once for each item it fetches; it asked for %q", asked)
		}
		e.drop(got)
		e.delete("instance", true)
	}
}

// heldDamaged: an event that cannot be decoded among those sent is reported as ever.
func heldDamaged(e *env) {
	for _, n := range []uint64{3, 40} {
		e.longHistory("instance", n)
		e.corrupt("instance", 1, n, "{")
		got := e.fetchHeld(holding(n - 1))
		if got.Item.HistoryError == nil || len(got.Item.History) > 0 || got.Item.HistoryFrom != 0 {
			e.Errorf("§5.1: an event that cannot be decoded is reported, without a history; error %v, %d events from %d",
				got.Item.HistoryError, len(got.Item.History), got.Item.HistoryFrom)
		}
		e.drop(got)
		e.delete("instance", true)
	}
}
