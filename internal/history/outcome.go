package history

import (
	"github.com/duroxide/duroxide-go/provider"
)

// Metadata computes what an ack says about a history delta.
func Metadata(delta []provider.Event) provider.ExecutionMetadata {
	var m provider.ExecutionMetadata
	for _, event := range delta {
		switch k := event.Kind.(type) {
		case provider.OrchestrationStarted:
			m.OrchestrationName, m.OrchestrationVersion = &k.Name, &k.Version
			m.ParentInstanceID = k.ParentInstance
			if v, err := provider.ParseVersion(event.DuroxideVersion); err == nil {
				m.PinnedDuroxideVersion = &v
			}
		case provider.OrchestrationCompleted:
			m.Status, m.Output = new(provider.StatusCompleted), &k.Output
		case provider.OrchestrationFailed:
			m.Status, m.Output = new(provider.StatusFailed), new(k.Details.DisplayMessage())
		case provider.OrchestrationContinuedAsNew:
			m.Status, m.Output = new(provider.StatusContinuedAsNew), &k.Input
		}
	}
	return m
}

// ParentMessage is the message that tells a parent how its child ended, nil when
// there is no parent or the child goes on. Its ParentExecutionID is the parent stamp,
// 0 when an older worker left none.
func ParentMessage(started provider.OrchestrationStarted, delta []provider.Event) provider.WorkItem {
	if started.ParentInstance == nil || started.ParentID == nil {
		return nil
	}
	var stamp uint64
	if started.ParentExecutionID != nil {
		stamp = *started.ParentExecutionID
	}
	for _, event := range delta {
		switch k := event.Kind.(type) {
		case provider.OrchestrationCompleted:
			return provider.SubOrchCompletedItem{
				ParentInstance: *started.ParentInstance, ParentExecutionID: stamp, ParentID: *started.ParentID, Result: k.Output,
			}
		case provider.OrchestrationFailed:
			return provider.SubOrchFailedItem{
				ParentInstance: *started.ParentInstance, ParentExecutionID: stamp, ParentID: *started.ParentID, Details: k.Details,
			}
		}
	}
	return nil
}

// LastStatus is the custom status at the end of a history.
func LastStatus(events []provider.Event) *string {
	var status *string
	for _, event := range events {
		switch k := event.Kind.(type) {
		case provider.OrchestrationStarted:
			status = k.InitialCustomStatus
		case provider.CustomStatusUpdated:
			status = k.Status
		}
	}
	return status
}
