// Package turns says what a fetched turn is about: with what its execution begins, which messages are for its function,
// which are for somebody else, and what somebody has asked. It reads a history and messages and has no effect, so that
// a worker decides with it before it makes any call.
//
// Files: turns.go (a [Batch] and how its history ends), begin.go (with what the execution begins), others.go (starts
// that meet an instance that is there), requests.go (who asks to cancel the instance).
package turns

import "github.com/duroxide/duroxide-go/provider"

// Batch is a fetched turn.
type Batch struct {
	Item *provider.OrchestrationItem
	// Known is how many events of the history a suspended function knows, which has not ended.
	Known int
}

// End says how a history ends.
type End int

// The ends of a history.
const (
	Open End = iota
	Ended
	Continued
)

// EndOf looks at all events: cancellations may follow the terminal one.
func EndOf(events []provider.Event) End {
	end := Open
	for _, event := range events {
		switch event.Kind.(type) {
		case provider.OrchestrationCompleted, provider.OrchestrationFailed:
			return Ended
		case provider.OrchestrationContinuedAsNew:
			end = Continued
		}
	}
	return end
}

// End says how the batch's history ends.
func (b Batch) End() End { return EndOf(b.Item.History[b.Known:]) }

// Next returns the batch's start of the next execution, nil if there is none.
func (b Batch) Next() *provider.ContinueAsNewItem {
	for _, message := range b.Item.Messages {
		if m, ok := message.(provider.ContinueAsNewItem); ok {
			return new(m) // not &m, for which each message would be allocated
		}
	}
	return nil
}

// Unsupported returns the framework version that the execution is pinned to if the worker does not support it, else "".
// A store may not filter (contract §7.4).
func (b Batch) Unsupported(supported []provider.VersionRange) (version string) {
	if len(b.Item.History) == 0 || b.Next() != nil {
		return ""
	}
	v, err := provider.ParseVersion(b.Item.History[0].DuroxideVersion)
	filter := provider.CapabilityFilter{SupportedVersions: supported}
	if err != nil || filter.Allows(&v) {
		return ""
	}
	return v.String()
}
