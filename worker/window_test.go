package worker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// inbox returns the messages that reach it, in order, up to "end".
var inbox = orchestration.New("Inbox", func(ctx *orchestration.Context, _ string) (string, error) {
	for seen := ""; ; {
		message, err := orchestration.NewQueue[string]("inbox").Dequeue(ctx).Await()
		if err != nil || message == "end" {
			return seen, err
		}
		seen += message
	}
})

// betweenExecutions is a store with an instance of Inbox whose first execution continued
// as new and whose next one has not begun, nor has anybody sent its start. Its history is
// followed by what a test adds.
func betweenExecutions(t *testing.T, more ...provider.EventKind) *sqlite.Store {
	t.Helper()
	store := openStore(t)
	send(t, store, provider.StartOrchestrationItem{Instance: "i", Orchestration: "Inbox", ExecutionID: 1})
	fetched, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	parent, id := "p", uint64(4)
	kinds := append([]provider.EventKind{
		provider.OrchestrationStarted{Name: "Inbox", Version: "1.0.0", Input: "first", ParentInstance: &parent, ParentID: &id, ParentExecutionID: new(uint64(3))},
		provider.OrchestrationContinuedAsNew{Input: "next"},
	}, more...)
	var past []provider.Event
	for i, kind := range kinds {
		past = append(past, provider.Event{EventID: uint64(i + 1), InstanceID: "i", ExecutionID: 1, DuroxideVersion: "0.1.30", Kind: kind})
	}
	if err := store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: fetched.LockToken, ExecutionID: 1, HistoryDelta: past,
		Metadata: provider.ExecutionMetadata{
			OrchestrationName: new("Inbox"), OrchestrationVersion: new("1.0.0"),
			Status: new(provider.StatusContinuedAsNew), Output: new("next"),
		},
	}); err != nil {
		t.Fatal(err)
	}
	return store
}

func send(t *testing.T, store provider.Provider, items ...provider.WorkItem) {
	t.Helper()
	for _, item := range items {
		if err := store.EnqueueForOrchestrator(t.Context(), item, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func message(text string) provider.WorkItem {
	return provider.QueueMessageItem{Instance: "i", Name: "inbox", Data: text}
}

// What arrives between two executions waits for the next one's start, with a growing
// pause and without getting its attempts back; what the old execution left is not lost
// with it. The start's carried messages come first (§7.6).
func TestMessagesWaitForTheNextExecution(t *testing.T) {
	t.Parallel()
	inner := betweenExecutions(t)
	store := blind{Provider: inner, abandoned: make(chan provider.AbandonParams, 64)}
	send(t, inner, message("b"), provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: 7})
	runWorker(t, store, worker.Options{Code: worker.Code{Backoff: time.Millisecond}, Limits: worker.Limits{Attempts: 1000}}, inbox)
	for _, delay := range []time.Duration{time.Millisecond, 2 * time.Millisecond} {
		if params := receive(t, "deferral", store.abandoned); params.Delay != delay || params.IgnoreAttempt {
			t.Errorf("abandoned with %+v, want %v", params, delay)
		}
	}
	send(t, inner, provider.ContinueAsNewItem{
		Instance: "i", Orchestration: "Inbox", Input: "next", CarryForwardEvents: []provider.CarriedMessage{{Name: "inbox", Data: "a"}},
	})
	waitForKind(t, inner, "i", provider.QueueEventDelivered{Name: "inbox", Data: "b"})
	send(t, inner, message("c"), message("end"))
	if got := result(t, client.Attach[string](client.New(inner, client.Options{}), "i")); got != "abc" {
		t.Errorf("read %q", got)
	}
	first, err := inner.ReadWithExecution(t.Context(), "i", 1)
	if err != nil || len(first) != 2 {
		t.Errorf("first execution %+v, %v", first, err)
	}
	second := history(t, inner, "i")
	started, ok := second[0].Kind.(provider.OrchestrationStarted)
	if !ok || second[0].DuroxideVersion != provider.FrameworkVersion || started.ParentExecutionID == nil || *started.ParentExecutionID != 3 {
		t.Errorf("second execution begins with %+v", second[0])
	}
}

func waitForExecution(t *testing.T, store provider.Provider, execution uint64) {
	t.Helper()
	ctx := deadline(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		if past := history(t, store, "i"); len(past) > 0 && past[0].ExecutionID == execution {
			return
		}
		<-tick.C
	}
	t.Fatalf("execution %d does not begin", execution)
}

// A start that never comes is poison after exactly Limits.Attempts deferrals: an execution of
// its own, which later messages find finished, and whose parent is told (§7.9).
func TestPoisonedSuccessor(t *testing.T) {
	t.Parallel()
	poison := provider.PoisonFailure{
		AttemptCount: 3, MaxAttempts: 2, MessageType: provider.PoisonOrchestration{Instance: "i", ExecutionID: 2},
	}
	for _, test := range []struct {
		name    string
		starts  []provider.WorkItem
		started provider.OrchestrationStarted
	}{
		{
			name: "no start", started: provider.OrchestrationStarted{
				Name: "Inbox", Version: "1.0.0", ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(3)),
			},
		},
		{
			name: "only a duplicate start", started: provider.OrchestrationStarted{
				Name: "Inbox", Version: "1.0.0", ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(3)),
			},
			starts: []provider.WorkItem{provider.StartOrchestrationItem{Instance: "i", Orchestration: "Other", Input: "x", ExecutionID: 1}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inner := betweenExecutions(t)
			ended := make(chan provider.AckOrchestrationParams, 16)
			abandoned := make(chan provider.AbandonParams, 64)
			store := providerfault.New(watched{blind{inner, abandoned}, func(params provider.AckOrchestrationParams) { ended <- params }})
			send(t, inner, append(test.starts, message("b"))...)
			runWorker(t, store, worker.Options{Code: worker.Code{Backoff: time.Millisecond}, Limits: worker.Limits{Attempts: 2}}, inbox)
			params := receive(t, "poison", ended)
			if len(abandoned) != 2 {
				t.Errorf("%d deferrals, want 2", len(abandoned))
			}
			failed := params.HistoryDelta[1].Kind.(provider.OrchestrationFailed).Details.(provider.PoisonFailure)
			poison := poison
			poison.Message = failed.Message
			want := []provider.EventKind{test.started, provider.OrchestrationFailed{Details: poison}}
			if diff := cmp.Diff(want, []provider.EventKind{params.HistoryDelta[0].Kind, params.HistoryDelta[1].Kind}); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if params.ExecutionID != 2 || params.Metadata.PinnedDuroxideVersion != nil || *params.Metadata.Status != provider.StatusFailed {
				t.Errorf("execution %d, metadata %+v", params.ExecutionID, params.Metadata)
			}
			parent := provider.SubOrchFailedItem{
				ParentInstance: *test.started.ParentInstance, ParentID: *test.started.ParentID,
				ParentExecutionID: *test.started.ParentExecutionID, Details: poison,
			}
			if diff := cmp.Diff([]provider.WorkItem{parent}, params.OrchestratorItems); diff != "" {
				t.Errorf("message to the parent (-want +got):\n%s", diff)
			}
			if first, err := inner.ReadWithExecution(t.Context(), "i", 1); err != nil || len(first) != 2 {
				t.Errorf("first execution %+v, %v", first, err)
			}
			send(t, inner, provider.ExternalRaisedItem{Instance: "i", Name: "late"})
			if late := receive(t, "late message", ended); late.ExecutionID != 2 && len(late.HistoryDelta) > 0 {
				t.Errorf("a late message made %+v", late)
			}
		})
	}
}

// An instance that an older worker ended with poison behind continue-as-new is finished:
// its messages are taken at once.
func TestOldPoisonIsTheEnd(t *testing.T) {
	t.Parallel()
	inner := betweenExecutions(t, provider.OrchestrationFailed{Details: provider.PoisonFailure{
		AttemptCount: 11, MaxAttempts: 10, MessageType: provider.PoisonOrchestration{Instance: "i", ExecutionID: 1},
	}})
	settled := make(chan provider.AckOrchestrationParams, 4)
	abandoned := make(chan provider.AbandonParams, 4)
	send(t, inner, message("late"))
	runWorker(t, watched{blind{inner, abandoned}, func(params provider.AckOrchestrationParams) { settled <- params }}, worker.Options{}, inbox)
	if params := receive(t, "drop", settled); len(params.HistoryDelta) > 0 || len(abandoned) > 0 {
		t.Errorf("%+v, %d deferrals", params, len(abandoned))
	}
}
