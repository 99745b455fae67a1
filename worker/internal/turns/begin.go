package turns

import (
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
)

// Begin is how an execution starts: from its history, or from a start message.
type Begin struct {
	ExecutionID uint64
	History     []provider.Event
	Started     provider.OrchestrationStarted
	// Version is what the start asked for, empty to let the registry choose.
	Version string
}

// Begin finds out what the turn works on. History is binding as soon as there is one; a duplicate start changes
// nothing.
func (b Batch) Begin() (Begin, error) {
	if next := b.Next(); next != nil && (len(b.Item.History) == 0 || b.End() == Continued) {
		return b.beginNext(next), nil
	}
	if len(b.Item.History) > 0 {
		started, ok := b.Item.History[0].Kind.(provider.OrchestrationStarted)
		if !ok {
			started = provider.OrchestrationStarted{Name: b.Item.OrchestrationName, Version: b.Item.Version}
		}
		return Begin{ExecutionID: b.Item.ExecutionID, History: b.Item.History, Started: started, Version: started.Version}, nil
	}
	for _, message := range b.Item.Messages {
		if m, ok := message.(provider.StartOrchestrationItem); ok {
			begin := Begin{ExecutionID: b.Item.ExecutionID, Started: history.StartedBy(m)}
			if m.Version != nil {
				begin.Version = *m.Version
			}
			return begin, nil
		}
	}
	return Begin{}, errors.New("the batch has neither a history nor a start")
}

// beginNext starts the execution after the fetched one. The parent comes with the message or, when an older worker
// wrote that, from the execution before.
func (b Batch) beginNext(m *provider.ContinueAsNewItem) Begin {
	begin := Begin{ExecutionID: b.Item.ExecutionID, Started: history.ContinuedBy(*m)}
	if m.Version != nil {
		begin.Version = *m.Version
	}
	if len(b.Item.History) > 0 {
		begin.ExecutionID++
		previous, ok := b.Item.History[0].Kind.(provider.OrchestrationStarted)
		if ok && m.ParentInstance == nil && m.ParentID == nil {
			begin.Started.ParentInstance, begin.Started.ParentID = previous.ParentInstance, previous.ParentID
			begin.Started.ParentExecutionID = previous.ParentExecutionID
		}
	}
	return begin
}

// FailedNext is the beginning of a next execution that fails before it began: what the message that starts it says, or
// else what the execution before was (contract §7.9). The version is in either case that of the execution before, as
// none was resolved.
func (b Batch) FailedNext() provider.OrchestrationStarted {
	m := b.Next()
	if m == nil {
		m = &provider.ContinueAsNewItem{Orchestration: b.Item.OrchestrationName}
	}
	started := b.beginNext(m).Started
	started.Version, started.InitialCustomStatus = b.Item.Version, nil
	return started
}

// Messages returns those of a batch that the replay gets: starts are left out.
func (b Begin) Messages(batch []provider.WorkItem) []provider.WorkItem {
	messages := make([]provider.WorkItem, 0, len(batch))
	begun := len(b.History) > 0 || slices.ContainsFunc(batch, continues)
	strangers := 0 // children of other parents that were to begin under this id and do not
	for _, message := range batch {
		switch m := message.(type) {
		case provider.StartOrchestrationItem:
			if begun && b.isStranger(m) {
				strangers++
			}
			begun = true
		case provider.ContinueAsNewItem:
		case provider.CancelInstanceItem:
			// A request from before the start was meant for somebody else (contract §7.7), and so is that of
			// a parent whose child has not begun.
			if strangers > 0 && history.ByParent(m.Reason) {
				strangers--
			} else if begun {
				messages = append(messages, message)
			}
		default:
			messages = append(messages, message)
		}
	}
	return messages
}

// isStranger reports a start by a parent, of which this instance has none. Of one that is a child itself, a parent's
// request may be that of its own.
func (b Begin) isStranger(m provider.StartOrchestrationItem) bool {
	return m.ParentInstance != nil && b.Started.ParentInstance == nil
}

// continues reports the start of a next execution.
func continues(message provider.WorkItem) bool {
	_, ok := message.(provider.ContinueAsNewItem)
	return ok
}

// Code is what the execution needs.
func (b Begin) Code() provider.CodeName {
	if !NamesVersion(b.Version) {
		return provider.CodeName{Name: b.Started.Name}
	}
	return provider.CodeName{Name: b.Started.Name, Version: b.Version}
}

// placeholderVersion stands for no version in histories of early releases.
const placeholderVersion = "0.0.0"

// NamesVersion is false for the texts that stand for no version.
func NamesVersion(text string) bool {
	return text != "" && text != placeholderVersion && text != provider.UnknownVersion
}
