package replay

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
	open := outstandingWaits(history)
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
