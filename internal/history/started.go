package history

import "github.com/duroxide/duroxide-go/provider"

// StartedBy is the beginning of the execution that a start begins. The version is left to the
// registry.
func StartedBy(m provider.StartOrchestrationItem) provider.OrchestrationStarted {
	return provider.OrchestrationStarted{
		Name: m.Orchestration, Input: m.Input,
		ParentInstance: m.ParentInstance, ParentID: m.ParentID, ParentExecutionID: m.ParentExecutionID,
		Headers: m.Headers,
	}
}

// ContinuedBy is StartedBy for what continues as new.
func ContinuedBy(m provider.ContinueAsNewItem) provider.OrchestrationStarted {
	return provider.OrchestrationStarted{
		Name: m.Orchestration, Input: m.Input,
		ParentInstance: m.ParentInstance, ParentID: m.ParentID, ParentExecutionID: m.ParentExecutionID,
		CarryForwardEvents: m.CarryForwardEvents, InitialCustomStatus: m.InitialCustomStatus,
		DroppedMessages: m.DroppedMessages, Headers: m.Headers,
	}
}
