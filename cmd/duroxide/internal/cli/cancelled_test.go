package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// openCancelled is a store with an instance "i0" that was cancelled, and an instance "i1" that
// failed with the same text.
func openCancelled(ctx context.Context, _ string, _ bool) (cli.Store, error) {
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	for i, details := range []provider.ErrorDetails{
		provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "why"},
		provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: "canceled: why"},
	} {
		id := fmt.Sprint("i", i)
		if err == nil {
			err = store.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{Instance: id, Orchestration: "Order", ExecutionID: 1}, 0)
		}
		if err != nil {
			return nil, err
		}
		fetched, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Minute})
		if err != nil {
			return nil, err
		}
		err = store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
			LockToken: fetched.LockToken, ExecutionID: 1,
			HistoryDelta: []provider.Event{
				{EventID: 1, InstanceID: id, ExecutionID: 1, Kind: provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"}},
				{EventID: 2, InstanceID: id, ExecutionID: 1, Kind: provider.OrchestrationFailed{Details: details}},
			},
			Metadata: provider.ExecutionMetadata{
				OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0"),
				Status: new(provider.StatusFailed), Output: new("canceled: why"),
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return store, err
}

// A cancelled instance is shown as such, and one that failed with such a text is not.
func TestCancelledIsAState(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"status i0":                      {"status         Cancelled", "canceled: why"},
		"status i1":                      {"status         Failed"},
		"status i0 --json":               {`"status":"Cancelled"`, `"message":"canceled: why"`},
		"list":                           {"Cancelled  1", "Failed     1"},
		"list --status Cancelled":        {"i0"},
		"list --status Cancelled --json": {`{"total":1,"instances":[{"instance":"i0","orchestration":"Order","version":"1.0.0","status":"Cancelled"`},
		"list --status Failed":           {"i0", "i1"},
		"history i0":                     {"cancelled"},
		"history i1":                     {"failed"},
	} {
		code, stdout, stderr := run(t.Context(), cli.Stores{"test": openCancelled}, append(strings.Fields(args), "--store", "test:")...)
		if code != cli.ExitOK || stderr != "" {
			t.Errorf("%s: exit code %d, %q", args, code, stderr)
		}
		for _, want := range want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s says\n%s\nand not %q", args, stdout, want)
			}
		}
		if strings.Contains(args, "Cancelled") && strings.Contains(stdout, "i1") {
			t.Errorf("%s says\n%s", args, stdout)
		}
	}
}
