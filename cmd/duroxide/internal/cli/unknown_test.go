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

// short is a store in which work waits for code, and on which an instance "o" of Order
// 2.0.0 waits for its activity Charge.
type short struct{ cli.Store }

func (short) UnknownCode(context.Context, time.Duration) ([]provider.UnknownCode, error) {
	since := time.UnixMilli(1738310400000)
	return []provider.UnknownCode{
		{CodeName: provider.CodeName{Name: "Other", Version: "3.0.0"}, Waiting: 2, Since: since},
		{CodeName: provider.CodeName{Name: "Charge"}, Activity: true, Waiting: 1, Since: since},
	}, nil
}

func (short) KnownVersions(context.Context, string, time.Duration) ([]string, error) {
	return []string{"1.0.0", "2.0.0"}, nil
}

func openShort(ctx context.Context, _ string, _ bool) (cli.Store, error) {
	store, err := sqlite.OpenMemory(ctx, nil)
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
	return short{store}, store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1,
		HistoryDelta: []provider.Event{
			event(1, provider.OrchestrationStarted{Name: "Order", Version: "2.0.0"}), event(2, provider.ActivityScheduled{Name: "Charge"}),
		},
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("2.0.0")},
	})
}

// Code that nobody has is shown with name, version, since when and the versions known.
func TestUnknownCodeIsShown(t *testing.T) {
	t.Parallel()
	stores := cli.Stores{"test": openShort}
	for _, test := range []struct {
		args []string
		want []string
		not  string
	}{
		{[]string{"metrics"}, []string{
			"orchestration Other 3.0.0, which no worker has; 2 waiting since 2025-01-31 08:00:00; known versions: 1.0.0, 2.0.0",
			"activity Charge, which no worker has; 1 waiting since 2025-01-31 08:00:00",
		}, "null"},
		{[]string{"metrics", "--json"}, []string{
			`"unknown":[{"orchestration":"Other","version":"3.0.0","activity":null,"waiting":2,"since":"2025-01-31T08:00:00.000Z","known_versions":["1.0.0","2.0.0"]},` +
				`{"orchestration":null,"version":null,"activity":"Charge","waiting":1,"since":"2025-01-31T08:00:00.000Z","known_versions":[]}]`,
		}, "\n\n"},
		{[]string{"status", "o"}, []string{"waits for      activity Charge, which no worker has; 1 waiting since 2025-01-31 08:00:00"}, "Other"},
		{[]string{"status", "o", "--json"}, []string{`"waits_for":[{"orchestration":null,"version":null,"activity":"Charge"`}, "Other"},
	} {
		code, stdout, stderr := run(t.Context(), stores, append(test.args, "--store", "test:")...)
		if code != cli.ExitOK || stderr != "" {
			t.Errorf("%v: exit code %d, %q", test.args, code, stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%v prints\n%s\nwithout %q", test.args, stdout, want)
			}
		}
		if strings.Contains(stdout, test.not) {
			t.Errorf("%v prints %q:\n%s", test.args, test.not, stdout)
		}
	}
}
