package turns

import (
	"slices"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// Refused returns the starts of the batch by parents whose child this instance is not, and the text for those parents:
// their id is taken.
func (b Batch) Refused() (starts []provider.StartOrchestrationItem, text string) {
	starts = b.colliding()
	if len(starts) == 0 {
		return nil, ""
	}
	owner, text := b.existing()
	return slices.DeleteFunc(starts, func(m provider.StartOrchestrationItem) bool { return b.repeats(owner, m) }), text
}

// colliding returns the starts of the batch that have a parent, but for the one that the instance begins with.
func (b Batch) colliding() []provider.StartOrchestrationItem {
	begins := len(b.Item.History) == 0 && b.Next() == nil
	var starts []provider.StartOrchestrationItem
	for _, message := range b.Item.Messages {
		m, ok := message.(provider.StartOrchestrationItem)
		if ok && !begins && m.ParentInstance != nil && m.ParentID != nil {
			starts = append(starts, m)
		}
		begins = begins && !ok
	}
	return starts
}

// Ignored counts the starts of an instance that has begun and not ended.
func (b Batch) Ignored() (n int) {
	if len(b.Item.History) == 0 || b.End() == Ended {
		return 0
	}
	for _, message := range b.Item.Messages {
		if _, start := message.(provider.StartOrchestrationItem); start {
			n++
		}
	}
	return n
}

// existing is what a colliding start meets: the beginning of the instance as it is now, and the text for a parent whose
// child it is not. Of a finished instance nobody is the parent any more.
func (b Batch) existing() (provider.OrchestrationStarted, string) {
	text := history.TakenText(b.Item.Instance)
	if b.End() != Ended {
		begin, _ := b.Begin() // an error means that there is no beginning
		return begin.Started, text
	}
	if !continuedBefore(b.Item.History) {
		text += history.TakenByFinished
	}
	return provider.OrchestrationStarted{}, text
}

// continuedBefore reports a history that an older worker ended with poison behind continue-as-new.
func continuedBefore(events []provider.Event) bool {
	return slices.ContainsFunc(events, func(event provider.Event) bool {
		_, ok := event.Kind.(provider.OrchestrationContinuedAsNew)
		return ok
	})
}

// repeats reports whether a start is the very call that the instance came from. Of a running instance that is only
// known by the parent stamps; two starts that arrive together are also compared without.
func (b Batch) repeats(owner provider.OrchestrationStarted, m provider.StartOrchestrationItem) bool {
	if owner.ParentInstance == nil || owner.ParentID == nil || *owner.ParentInstance != *m.ParentInstance || *owner.ParentID != *m.ParentID {
		return false
	}
	if owner.ParentExecutionID == nil || m.ParentExecutionID == nil {
		return len(b.Item.History) == 0 && owner.ParentExecutionID == m.ParentExecutionID
	}
	return *owner.ParentExecutionID == *m.ParentExecutionID
}
