package linear

import (
	"github.com/duroxide/duroxide-go/provider"
)

// turn makes the result of a turn: events for the messages, then what the orchestration does, at random.
func (c *client) turn(got *provider.FetchedOrchestration) provider.AckOrchestrationParams {
	item := &got.Item
	b := &turnBuilder{client: c, instance: item.Instance, next: 1}
	b.LockToken, b.ExecutionID = got.LockToken, item.ExecutionID
	for _, e := range item.History {
		b.next = max(b.next, e.EventID+1)
		b.ended = b.ended || e.Terminal()
	}
	for _, message := range item.Messages {
		b.take(message)
	}
	if !b.begun && len(item.History) == 0 || b.ended {
		return b.AckOrchestrationParams // nothing but the messages go
	}
	for range c.random.IntN(3) {
		b.work()
	}
	b.end()
	return b.AckOrchestrationParams
}

// turnBuilder is a turn that is being made.
type turnBuilder struct {
	provider.AckOrchestrationParams

	client       *client
	instance     string
	next         uint64
	begun, ended bool
}

func (b *turnBuilder) add(kind provider.EventKind) uint64 {
	id := b.next
	b.HistoryDelta = append(b.HistoryDelta, provider.Event{
		EventID: id, InstanceID: b.instance, ExecutionID: b.ExecutionID, DuroxideVersion: "0.1.32", Kind: kind,
	})
	b.next++
	return id
}

// take records a message.
func (b *turnBuilder) take(message provider.WorkItem) {
	switch m := message.(type) {
	case provider.StartOrchestrationItem:
		if b.next == 1 && !b.begun {
			b.begin(m.Orchestration, *m.Version, m.Input, m.ParentInstance)
		}
	case provider.ContinueAsNewItem:
		if b.ended {
			b.ended, b.next = false, 1
			b.ExecutionID++
			b.begin(m.Orchestration, *m.Version, m.Input, m.ParentInstance)
		}
	case provider.ExternalRaisedItem:
		if b.next > 1 && !b.ended {
			b.add(provider.ExternalEvent{Name: m.Name, Data: m.Data})
		}
	}
}

// begin begins an execution.
func (b *turnBuilder) begin(name, version, input string, parent *string) {
	b.begun = true
	b.add(provider.OrchestrationStarted{Name: name, Version: version, Input: input, ParentInstance: parent})
	b.Metadata.OrchestrationName, b.Metadata.OrchestrationVersion, b.Metadata.ParentInstanceID = &name, &version, parent
}

// work is something that the orchestration does.
func (b *turnBuilder) work() {
	c := b.client
	key := string("ab"[c.random.IntN(2)])
	switch c.random.IntN(9) {
	case 0, 1:
		b.add(provider.KeyValueSet{Key: key, Value: c.unique(), LastUpdatedAtMs: 1})
	case 2:
		b.add(provider.KeyValueCleared{Key: key})
	case 3:
		b.add(provider.KeyValuesCleared{})
	case 4:
		status := c.unique()
		b.add(provider.CustomStatusUpdated{Status: &status})
	case 5:
		b.OrchestratorItems = append(b.OrchestratorItems, provider.ExternalRaisedItem{Instance: c.instance(), Name: "sent", Data: c.unique()})
	case 6:
		b.OrchestratorItems = append(b.OrchestratorItems, c.start(c.instance()+"::sub::1", &b.instance))
	case 7:
		b.CancelledActivities = append(b.CancelledActivities, provider.ActivityRef{Instance: b.instance, ExecutionID: b.ExecutionID, ActivityID: b.next - 1})
	default:
		id := b.add(provider.ActivityScheduled{Name: "Charge", Input: "{}"})
		b.WorkerItems = append(b.WorkerItems, c.activity(b.instance, b.ExecutionID, id))
	}
}

// end ends the execution, sometimes.
func (b *turnBuilder) end() {
	c := b.client
	var status provider.Status
	output := c.unique()
	switch c.random.IntN(8) {
	case 0:
		b.add(provider.OrchestrationCompleted{Output: output})
		status = provider.StatusCompleted
	case 1:
		b.add(provider.OrchestrationContinuedAsNew{Input: output})
		status = provider.StatusContinuedAsNew
		version := "1.0.0"
		b.OrchestratorItems = append(b.OrchestratorItems, provider.ContinueAsNewItem{
			Instance: b.instance, Orchestration: "Order", Version: &version, Input: output,
		})
	default:
		return
	}
	b.Metadata.Status, b.Metadata.Output = &status, &output
}
