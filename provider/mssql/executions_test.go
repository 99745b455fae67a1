package mssql

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// races is decided by who holds the first place of its queue once the first select is
// lost (trace T1 of §7.11); kin is a family over several executions.
var (
	races = orchestration.New("Races", func(ctx *orchestration.Context, _ string) (string, error) {
		one, two := orchestration.Dequeue[string](ctx, "q"), orchestration.Dequeue[string](ctx, "q")
		first, second := orchestration.Timer(ctx, time.Hour), orchestration.Timer(ctx, time.Hour)
		orchestration.Select(one, first)
		if orchestration.Select(two, second) == 0 {
			return two.Await()
		}
		return "timer", nil
	})
	kid = orchestration.New("Kid", func(ctx *orchestration.Context, n int) (int, error) {
		if n < 3 {
			return 0, orchestration.ContinueAsNew(ctx, n+1)
		}
		return n, nil
	})
	kin = orchestration.New("Kin", func(ctx *orchestration.Context, round int) (int, error) {
		n, err := orchestration.Sub(ctx, kid, round).Await()
		if err != nil || round == 2 {
			return n, err
		}
		return 0, orchestration.ContinueAsNew(ctx, round+1)
	})
)

// begunBy records the first turn of an instance of Races as a worker of that framework
// version would have.
func begunBy(t *testing.T, store provider.Provider, stamp string) {
	t.Helper()
	start := provider.StartOrchestrationItem{Instance: stamp, Orchestration: "Races", ExecutionID: 1}
	if err := store.EnqueueForOrchestrator(t.Context(), start, 0); err != nil {
		t.Fatal(err)
	}
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil || fetched == nil {
		t.Fatal(fetched, err)
	}
	var past []provider.Event
	for i, kind := range []provider.EventKind{
		provider.OrchestrationStarted{Name: "Races", Version: "1.0.0"},
		provider.QueueSubscribed{Name: "q"},
		provider.QueueSubscribed{Name: "q"},
		provider.TimerCreated{FireAtMs: 1},
		provider.TimerCreated{FireAtMs: 1},
	} {
		past = append(past, provider.Event{EventID: uint64(i + 1), InstanceID: stamp, ExecutionID: 1, DuroxideVersion: stamp, Kind: kind})
	}
	if err := store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1, HistoryDelta: past,
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Races"), OrchestrationVersion: new("1.0.0")},
	}); err != nil {
		t.Fatal(err)
	}
}

// Executions of old and new workers live in one store, each by the rules it began with,
// beside a family whose messages carry the parent's execution.
func TestMixedExecutions(t *testing.T) {
	t.Parallel()
	store := openPooled(t).Provider
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := map[string]string{
		"0.1.26": "timer", "0.1.30": "timer", "0.1.31-rc.1": "timer", "garbage": "timer", "0.1.31": "first", worker.FrameworkVersion: "first",
	}
	for stamp := range want {
		begunBy(t, store, stamp)
	}
	for stamp := range want {
		for _, item := range []provider.WorkItem{
			provider.TimerFiredItem{Instance: stamp, ExecutionID: 1, ID: 4, FireAtMs: 1},
			provider.QueueMessageItem{Instance: stamp, Name: "q", Data: "first"},
			provider.TimerFiredItem{Instance: stamp, ExecutionID: 1, ID: 5, FireAtMs: 1},
		} {
			if err := store.EnqueueForOrchestrator(ctx, item, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(races, kid, kin); err != nil {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Run(working) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	c := client.New(store)
	for stamp, decided := range want {
		if got, err := client.Attach[string](c, stamp).Wait(ctx); err != nil || got != decided {
			t.Errorf("%s: %s, %v, want %s", stamp, got, err, decided)
		}
		past, err := store.Read(ctx, stamp)
		if err != nil || past[0].DuroxideVersion != stamp {
			t.Errorf("%s begins with %+v, %v", stamp, past[0], err)
		}
	}
	run, err := client.Start(ctx, c, kin, "kin", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Wait(ctx); err != nil || got != 3 {
		t.Errorf("the family ends with %d, %v", got, err)
	}
	for i, id := range []string{"kin::sub::2", "kin::sub::2_2", "kin::sub::3_2"} {
		past, err := store.Read(ctx, id)
		if err != nil || len(past) == 0 {
			t.Fatalf("%s: %v", id, err)
		}
		begun, _ := past[0].Kind.(provider.OrchestrationStarted)
		if begun.ParentExecutionID == nil || *begun.ParentExecutionID != uint64(i+1) {
			t.Errorf("%s begins with %+v", id, begun)
		}
	}
}
