package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// openDropped is a store with an instance "o" whose executions lost 11 and 3 messages.
func openDropped(ctx context.Context, _ string, _ bool) (cli.Store, error) {
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	item := provider.StartOrchestrationItem{Instance: "o", Orchestration: "Order", ExecutionID: 1}
	if err := store.EnqueueForOrchestrator(ctx, item, 0); err != nil {
		return nil, err
	}
	fetched, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		return nil, err
	}
	event := func(id uint64, kind provider.EventKind) provider.Event {
		return provider.Event{EventID: id, InstanceID: "o", ExecutionID: 1, Kind: kind}
	}
	err = store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1,
		HistoryDelta: []provider.Event{
			event(1, provider.OrchestrationStarted{Name: "Order", Version: "2.0.0", DroppedMessages: 11}),
			event(2, provider.OrchestrationContinuedAsNew{Input: "next", DroppedMessages: 3}),
		},
		Metadata: provider.ExecutionMetadata{
			OrchestrationName: new("Order"), OrchestrationVersion: new("2.0.0"), Status: new(provider.StatusContinuedAsNew),
		},
	})
	return store, err
}

// Messages that continue-as-new lost are shown, also between two executions.
func TestDroppedMessagesAreShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		want []string
	}{
		{"status o", []string{"dropped        14 messages"}},
		{"status o --json", []string{`"dropped_messages":14,"stats":`}},
		{"history o", []string{"messages dropped: 11", "messages dropped: 3"}},
		{"history o --json", []string{`"dropped_messages":11}`, `"dropped_messages":3}`}},
	} {
		args := append(strings.Fields(test.args), "--store", "test:")
		code, stdout, stderr := run(t.Context(), cli.Stores{"test": openDropped}, args...)
		if code != cli.ExitOK || stderr != "" {
			t.Errorf("%s: exit code %d, %q", test.args, code, stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s says\n%s\nand not %q", test.args, stdout, want)
			}
		}
	}
}
