package client_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// The sizes of an instance, in the contract's JSON, and none of one that nobody has begun.
func TestStats(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := client.New(store, client.Options{})
	ctx := t.Context()
	if _, err := client.Start(ctx, c, orchestration.Declare[string, any]("O"), "i", ""); err != nil {
		t.Fatal(err)
	}
	if stats, err := c.Stats(ctx, "i"); err != nil || stats != nil {
		t.Fatalf("before the first turn: %+v, %v", stats, err)
	}
	fetched, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	begun := provider.Event{EventID: 1, InstanceID: "i", ExecutionID: 1, DuroxideVersion: "0.1.32", Kind: provider.OrchestrationStarted{
		Name: "O", Version: "1.0.0", CarryForwardEvents: []provider.CarriedMessage{{Name: "q", Data: "a"}, {Name: "q", Data: "b"}},
	}}
	set := provider.Event{EventID: 2, InstanceID: "i", ExecutionID: 1, DuroxideVersion: "0.1.32", Kind: provider.KeyValueSet{Key: "k", Value: "sieben"}}
	if err := store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1, HistoryDelta: []provider.Event{begun, set},
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("O"), OrchestrationVersion: new("1.0.0")},
	}); err != nil {
		t.Fatal(err)
	}
	stats, err := c.Stats(ctx, "i")
	if err != nil || stats == nil {
		t.Fatalf("%+v, %v", stats, err)
	}
	stats.HistorySizeBytes = 1 // which the conformance kit counts
	text, err := json.Marshal(stats)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"history_event_count":2,"history_size_bytes":1,"queue_pending_count":2,"kv_user_key_count":1,"kv_total_value_bytes":6}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
