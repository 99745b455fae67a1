// Package history reads what the events of an execution say: what is open, what its children are called and how far
// they are, how it began and ended. Replay, worker and client share these readings. None of them runs code of an
// orchestration.
//
// Files: history.go (calls and waits that are open), children.go, childid.go (the ids of children), outcome.go (what a
// turn's events say of the execution), started.go (the first event of an execution).
package history

import (
	"cmp"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// Unsettled are the calls and waits of a history that have neither a result nor a
// cancellation, in order. Of an execution that has ended there are none. A timer that
// lost a select is among them, since histories do not tell.
func Unsettled(history []provider.Event) []provider.Event {
	settled := map[uint64]bool{}
	for _, event := range history {
		if event.Terminal() {
			return nil
		}
		if event.SourceEventID != nil {
			settled[*event.SourceEventID] = true
		}
	}
	open := OpenWaits(history)
	for _, event := range history {
		switch event.Kind.(type) {
		case provider.ActivityScheduled, provider.TimerCreated, provider.SubOrchestrationScheduled:
			if !settled[event.EventID] {
				open = append(open, event)
			}
		}
	}
	slices.SortFunc(open, func(a, b provider.Event) int { return cmp.Compare(a.EventID, b.EventID) })
	return open
}

// OpenWaits are the subscriptions that were neither satisfied nor taken
// back. It looks at events only, so that it also works for a history that the
// code no longer fits.
func OpenWaits(events []provider.Event) []provider.Event {
	cancelled := map[uint64]bool{}
	for _, event := range events {
		switch event.Kind.(type) {
		case provider.ExternalSubscribedCancelled, provider.QueueSubscriptionCancelled:
			if event.SourceEventID != nil {
				cancelled[*event.SourceEventID] = true
			}
		}
	}
	external, queued := map[string][]provider.Event{}, map[string][]provider.Event{}
	arrived := map[string]int{}
	for _, event := range events {
		switch k := event.Kind.(type) {
		case provider.ExternalSubscribed:
			if !cancelled[event.EventID] {
				external[k.Name] = append(external[k.Name], event)
			}
		case provider.ExternalEvent:
			// The oldest wait takes it; without a wait it is lost.
			external[k.Name] = external[k.Name][min(1, len(external[k.Name])):]
		case provider.QueueSubscribed:
			if !cancelled[event.EventID] {
				queued[k.Name] = append(queued[k.Name], event)
			}
		case provider.QueueEventDelivered:
			arrived[k.Name]++
		}
	}
	var waits []provider.Event
	for _, subs := range external {
		waits = append(waits, subs...)
	}
	for name, subs := range queued {
		waits = append(waits, subs[min(arrived[name], len(subs)):]...)
	}
	slices.SortFunc(waits, func(a, b provider.Event) int { return cmp.Compare(a.EventID, b.EventID) })
	return waits
}
