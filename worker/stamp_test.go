package worker_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// races is decided by who holds the first place of its queue once the first select is
// lost: trace T1 of §7.11.
var races = orchestration.New("Races", func(ctx *orchestration.Context, _ string) (string, error) {
	one, two := orchestration.NewQueue[string]("q").Dequeue(ctx), orchestration.NewQueue[string]("q").Dequeue(ctx)
	first, second := ctx.Timer(time.Hour), ctx.Timer(time.Hour)
	orchestration.SelectAndDrop(one, first)
	if orchestration.SelectAndDrop(two, second) == 0 {
		return two.Await()
	}
	return "timer", nil
})

// begunBy puts an instance of Races into the store whose first turn a worker of that
// framework version ran.
func begunBy(t *testing.T, store provider.Provider, instance, stamp string) {
	t.Helper()
	send(t, store, provider.StartOrchestrationItem{Instance: instance, Orchestration: "Races", ExecutionID: 1})
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var past []provider.Event
	for i, kind := range []provider.EventKind{
		provider.OrchestrationStarted{Name: "Races", Version: "1.0.0"},
		provider.QueueSubscribed{Name: "q"},
		provider.QueueSubscribed{Name: "q"},
		provider.TimerCreated{FireAtMs: 1},
		provider.TimerCreated{FireAtMs: 1},
	} {
		past = append(past, provider.Event{EventID: uint64(i + 1), InstanceID: instance, ExecutionID: 1, DuroxideVersion: stamp, Kind: kind})
	}
	if err := store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1, HistoryDelta: past,
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Races"), OrchestrationVersion: new("1.0.0")},
	}); err != nil {
		t.Fatal(err)
	}
}

// sendRace is the batch for the second turn.
func sendRace(t *testing.T, store provider.Provider, instance string) {
	t.Helper()
	send(t, store,
		provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 4, FireAtMs: 1},
		provider.QueueMessageItem{Instance: instance, Name: "q", Data: "first"},
		provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 5, FireAtMs: 1})
}

// Executions of old and new workers live in one store, each by the rules it began with,
// and none is stamped anew. A stamp that nobody can read counts as old and is told.
func TestExecutionsKeepTheRulesTheyBeganWith(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		want := map[string]string{
			"0.1.26": "timer", "0.1.30": "timer", "0.1.31-rc.1": "timer", "garbage": "timer", "0.1.31": "first", provider.FrameworkVersion: "first",
		}
		for stamp := range want {
			begunBy(t, store, stamp, stamp)
		}
		for stamp := range want {
			sendRace(t, store, stamp)
		}
		var log lockedBuffer
		stop := runWorker(t, store, worker.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, races)
		for stamp, decided := range want {
			if got := result(t, client.Attach[string](client.New(store, client.Options{}), stamp)); got != decided {
				t.Errorf("%s: %s, want %s", stamp, got, decided)
			}
			for _, event := range history(t, store, stamp)[:5] {
				if event.DuroxideVersion != stamp {
					t.Errorf("%s: event %d is now stamped %s", stamp, event.EventID, event.DuroxideVersion)
				}
			}
		}
		stop()
		if n := strings.Count(log.String(), "the execution's framework version is unreadable"); n != 1 {
			t.Errorf("the log tells %d times of an unreadable stamp, want once:\n%s", n, log.String())
		}
	})
}

// A family over several executions of parent and children: each child names the execution
// of the parent that it belongs to.
func TestFamiliesOverExecutions(t *testing.T) {
	t.Parallel()
	kid := orchestration.New("Kid", func(ctx *orchestration.Context, n int) (int, error) {
		if n < 3 {
			return orchestration.Declare[int, int]("Kid").ContinueAsNew(ctx, n+1)
		}
		return n, nil
	})
	kin := orchestration.New("Kin", func(ctx *orchestration.Context, round int) (int, error) {
		n, err := orchestration.SubOrchestration(ctx, kid, round).Await()
		if err != nil || round == 2 {
			return n, err
		}
		return orchestration.Declare[int, int]("Kin").ContinueAsNew(ctx, round+1)
	})
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		runWorker(t, store, worker.Options{}, kid, kin)
		run, err := client.Start(t.Context(), client.New(store, client.Options{}), kin, "kin", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := result(t, run); got != 3 {
			t.Errorf("the family ends with %d", got)
		}
		for i, id := range []string{"kin::sub::2", "kin::sub::2_2", "kin::sub::3_2"} {
			past := history(t, store, id)
			if len(past) == 0 {
				t.Fatalf("%s has no history", id)
			}
			begun, _ := past[0].Kind.(provider.OrchestrationStarted)
			if begun.ParentExecutionID == nil || *begun.ParentExecutionID != uint64(i+1) {
				t.Errorf("%s begins with %+v", id, begun)
			}
		}
	})
}

// A child of an execution that an older worker began, and that this one goes on with, is
// told its parent's execution like any other.
func TestChildrenOfOldExecutionsAreStamped(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return ctx.Info().ParentInstance, nil
	})
	family := orchestration.New("Races", func(ctx *orchestration.Context, _ string) (string, error) {
		one, two := orchestration.NewQueue[string]("q").Dequeue(ctx), orchestration.NewQueue[string]("q").Dequeue(ctx)
		ctx.Timer(time.Hour)
		ctx.Timer(time.Hour)
		orchestration.WaitAny(one, two)
		return orchestration.SubOrchestration(ctx, child, "").Await()
	})
	store := openStore(t)
	begunBy(t, store, "i", "0.1.26")
	sendRace(t, store, "i")
	runWorker(t, store, worker.Options{}, family, child)
	if got := result(t, client.Attach[string](client.New(store, client.Options{}), "i")); got != "i" {
		t.Errorf("output = %s", got)
	}
	var found *provider.OrchestrationStarted
	for id := range 12 {
		if past := history(t, store, fmt.Sprintf("i::sub::%d", id)); len(past) > 0 {
			started := past[0].Kind.(provider.OrchestrationStarted)
			found = &started
		}
	}
	if found == nil || found.ParentExecutionID == nil || *found.ParentExecutionID != 1 {
		t.Errorf("the child began with %+v", found)
	}
}
