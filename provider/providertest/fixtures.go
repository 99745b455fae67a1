package providertest

import "github.com/duroxide/duroxide-go/provider"

// baseMs is the timestamp of events whose time does not matter.
const baseMs = 1_760_000_000_000

// event builds an event of the given execution.
func event(instance string, execution, id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{
		EventID: id, InstanceID: instance, ExecutionID: execution,
		TimestampMs: baseMs, DuroxideVersion: "0.1.26", Kind: kind,
	}
}

// after is event with a source event id.
func after(source uint64, e provider.Event) provider.Event {
	e.SourceEventID = &source
	return e
}

// started is event 1 of an execution of orchestration "Order" version 1.0.0.
func started(instance string, execution uint64) provider.Event {
	return event(instance, execution, 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}"})
}

// terminal is the event that ends an execution with the given status.
func terminal(status provider.Status, output string) provider.EventKind {
	switch status {
	case provider.StatusFailed:
		return provider.OrchestrationFailed{Details: provider.ApplicationFailure{
			Kind: provider.AppOrchestrationFailed, Message: output,
		}}
	case provider.StatusContinuedAsNew:
		return provider.OrchestrationContinuedAsNew{Input: output}
	default:
		return provider.OrchestrationCompleted{Output: output}
	}
}

// startItem starts orchestration "Order" version 1.0.0.
func startItem(instance string) provider.StartOrchestrationItem {
	return provider.StartOrchestrationItem{
		Instance: instance, Orchestration: "Order", Input: "{}", Version: new("1.0.0"), ExecutionID: 1,
	}
}

// activityItem is activity "Charge" with the given event id, execution 1.
func activityItem(instance string, id uint64) provider.ActivityExecuteItem {
	return provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: id, Name: "Charge", Input: "{}"}
}

// completedItem is the result "ok" of an activity of execution 1.
func completedItem(instance string, id uint64) provider.ActivityCompletedItem {
	return provider.ActivityCompletedItem{Instance: instance, ExecutionID: 1, ID: id, Result: "ok"}
}

// raised is a positional event.
func raised(instance, name string) provider.ExternalRaisedItem {
	return provider.ExternalRaisedItem{Instance: instance, Name: name, Data: "data"}
}

// created is the metadata of a first turn of "Order" 1.0.0.
func created() provider.ExecutionMetadata {
	return provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")}
}

// ended is the metadata of a last turn.
func ended(status provider.Status, output string) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{Status: &status, Output: &output}
}

// childOf is the metadata of the first turn of parent's sub-orchestration.
func childOf(parent string) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{ParentInstanceID: &parent}
}

// lookalikes are different strings that a careless comparison takes for one
// another: by case, accents, width, blanks, or as a pattern or a list.
var lookalikes = []string{
	"a", "A", "a ", " a", "a  ", "a\t", "aa", "ａ", "á", "a\u0301", "à", "ß", "ss", "SS",
	"_", "%", "[a]", "a,b", `["a"]`, `a"`, "a'", `a\`, "a/b", "a.b", "ａ.ｂ", "日本語", "日本", "😀", "😁",
}
