package cli

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// An event is refused for an instance that waits for a message of that name, and only while it does.
func TestEventsForQueuesAreRefused(t *testing.T) {
	t.Parallel()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := session{Client: client.New(store, client.Options{}), store: store}
	next := uint64(0)
	for _, step := range []struct {
		kind    provider.EventKind
		source  uint64
		refused bool
	}{
		{kind: provider.OrchestrationStarted{Name: "A", Version: "1"}},
		{kind: provider.QueueSubscribed{Name: "other"}},
		{kind: provider.QueueSubscribed{Name: "go"}, refused: true},
		{kind: provider.QueueEventDelivered{Name: "go"}},
		{kind: provider.QueueSubscribed{Name: "go"}, refused: true},
		{kind: provider.QueueSubscriptionCancelled{}, source: 5},
		{kind: provider.QueueSubscribed{Name: "go"}, refused: true},
		{kind: provider.ExternalSubscribed{Name: "go"}},
	} {
		next++
		event := provider.Event{EventID: next, InstanceID: "a", ExecutionID: 1, Kind: step.kind}
		if step.source > 0 {
			event.SourceEventID = &step.source
		}
		if err := store.AppendWithExecution(t.Context(), "a", 1, []provider.Event{event}); err != nil {
			t.Fatal(err)
		}
		err := s.mustNotDequeue(t.Context(), "a", "go")
		if got := err != nil; got != step.refused || (got && !strings.Contains(err.Error(), `waits for a message of the queue "go"`)) {
			t.Errorf("after event %d: %v", next, err)
		}
	}
}
