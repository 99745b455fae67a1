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

// short is a store on which the instance "o" of Order 2.0.0 waits for its activity Charge, and "typo" for Oder.
type short struct{ *sqlite.Store }

func (s short) WaitingForCode(ctx context.Context, instance string, unknownFor time.Duration) ([]provider.WaitingInstance, error) {
	list, err := s.Store.WaitingForCode(ctx, instance, unknownFor)
	for i := range list {
		list[i].Since = time.UnixMilli(1738310400000)
		if list[i].Name == "Charge" {
			list[i].LastKnown = time.UnixMilli(1738310340000)
		}
	}
	return list, err
}

func (short) KnownVersions(context.Context, string, time.Duration) ([]string, error) {
	return []string{"1.0.0", "2.0.0"}, nil
}

func openShort(ctx context.Context, _ string, _ bool) (cli.Store, error) {
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	start := func(instance, name string, version *string) error {
		return store.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{
			Instance: instance, Orchestration: name, Version: version, ExecutionID: 1,
		}, 0)
	}
	if err := start("o", "Order", nil); err != nil {
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
			event(1, provider.OrchestrationStarted{Name: "Order", Version: "2.0.0"}), event(2, provider.ActivityScheduled{Name: "Charge"}),
		},
		WorkerItems: []provider.WorkItem{provider.ActivityExecuteItem{Instance: "o", ExecutionID: 1, ID: 2, Name: "Charge"}},
		Metadata: provider.ExecutionMetadata{
			Status: new(provider.StatusRunning), OrchestrationName: new("Order"), OrchestrationVersion: new("2.0.0"),
		},
	})
	if err != nil {
		return nil, err
	}
	return short{store}, start("typo", "Oder", new("3.0.0"))
}

// Work that no worker takes is shown as held, with what it waits for: an instance whose activity no worker has, and one
// that has not begun because of a misspelt name.
func TestUnknownCodeIsShown(t *testing.T) {
	t.Parallel()
	stores := cli.Stores{"test": openShort}
	const (
		charge = "activity Charge, which no worker has had since 2025-01-31 07:59 UTC"
		oder   = "version 3.0.0 of Oder, which no worker has; workers have 1.0.0, 2.0.0"
	)
	for _, test := range []struct {
		args   []string
		code   int
		want   []string
		stderr string
	}{
		{args: []string{"metrics"}, want: []string{"held 2", "held 1 instance since 2025-01-31 08:00:00: " + charge, oder}},
		{args: []string{"metrics", "--json"}, want: []string{`"held":2}`, `{"reason":"` + charge + `","instances":1,"since":"2025-01-31T08:00:00.000Z"}`}},
		{args: []string{"status", "o"}, want: []string{"status Held", "held since 2025-01-31 08:00:00 " + charge}},
		{args: []string{"status", "o", "--json"}, want: []string{`"status":"Held"`, `"held":{"reason":"` + charge + `","since":"2025-01-31T08:00:00.000Z","next_try":null}`}},
		{args: []string{"list"}, want: []string{"typo Oder Held", "o Order 2.0.0 Held"}},
		{args: []string{"list", "--status", "Held"}, want: []string{"typo Oder Held", "o Order 2.0.0 Held"}},
		{args: []string{"retry", "--all"}, want: []string{"2 instances will be tried again"}},
		{args: []string{"status", "typo"}, code: cli.ExitNotFound, stderr: `instance "typo" is queued and held: it waits for ` + oder},
		{args: []string{"status", "typo", "--wait", "--timeout", "20ms"}, code: cli.ExitTimeout, stderr: "it is held before its begin, it waits for " + oder},
	} {
		code, stdout, stderr := run(t.Context(), stores, append(test.args, "--store", "test:")...)
		if code != test.code || !strings.Contains(stderr, test.stderr) || (test.stderr == "") != (stderr == "") {
			t.Errorf("%v: exit code %d, %q", test.args, code, stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
				t.Errorf("%v prints\n%s\nwithout %q", test.args, stdout, want)
			}
		}
	}
}
