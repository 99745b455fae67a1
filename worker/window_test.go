package worker_test

import (
	"errors"
	"log/slog"
	"strings"
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
		message, err := orchestration.Dequeue[string](ctx, "inbox").Await()
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
	runWorker(t, store, worker.Options{UnregisteredBackoff: time.Millisecond, MaxAttempts: 1000}, inbox)
	for _, delay := range []time.Duration{time.Millisecond, 2 * time.Millisecond} {
		if params := receive(t, "deferral", store.abandoned); params.Delay != delay || params.IgnoreAttempt {
			t.Errorf("abandoned with %+v, want %v", params, delay)
		}
	}
	send(t, inner, provider.ContinueAsNewItem{
		Instance: "i", Orchestration: "Inbox", Input: "next", CarryForwardEvents: []provider.Pair{{Name: "inbox", Data: "a"}},
	})
	waitForKind(t, inner, "i", provider.QueueEventDelivered{Name: "inbox", Data: "b"})
	send(t, inner, message("c"), message("end"))
	if got := result(t, client.Attach[string](client.New(inner), "i")); got != "abc" {
		t.Errorf("read %q", got)
	}
	first, err := inner.ReadWithExecution(t.Context(), "i", 1)
	if err != nil || len(first) != 2 {
		t.Errorf("first execution %+v, %v", first, err)
	}
	second := history(t, inner, "i")
	started, ok := second[0].Kind.(provider.OrchestrationStarted)
	if !ok || second[0].DuroxideVersion != worker.FrameworkVersion || started.ParentExecutionID == nil || *started.ParentExecutionID != 3 {
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

// A start that never comes is poison after exactly MaxAttempts deferrals: an execution of
// its own, which later messages find finished, and whose parent is told (§7.9).
func TestPoisonedSuccessor(t *testing.T) {
	t.Parallel()
	poison := provider.Poison{
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
		{
			name: "start of a version nobody has", started: provider.OrchestrationStarted{
				Name: "Inbox", Version: "1.0.0", Input: "next", ParentInstance: new("q"), ParentID: new(uint64(9)), ParentExecutionID: new(uint64(5)),
				CarryForwardEvents: []provider.Pair{{Name: "inbox", Data: "a"}},
			},
			starts: []provider.WorkItem{provider.ContinueAsNewItem{
				Instance: "i", Orchestration: "Inbox", Input: "next", Version: new("9.0.0"), InitialCustomStatus: new("s"),
				ParentInstance: new("q"), ParentID: new(uint64(9)), ParentExecutionID: new(uint64(5)),
				CarryForwardEvents: []provider.Pair{{Name: "inbox", Data: "a"}},
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inner := betweenExecutions(t)
			ended := make(chan provider.AckOrchestrationParams, 16)
			abandoned := make(chan provider.AbandonParams, 64)
			store := providerfault.New(watched{blind{inner, abandoned}, func(params provider.AckOrchestrationParams) { ended <- params }})
			send(t, inner, append(test.starts, message("b"))...)
			runWorker(t, store, worker.Options{UnregisteredBackoff: time.Millisecond, MaxAttempts: 2}, inbox)
			params := receive(t, "poison", ended)
			if len(abandoned) != 2 {
				t.Errorf("%d deferrals, want 2", len(abandoned))
			}
			failed := params.HistoryDelta[1].Kind.(provider.OrchestrationFailed).Details.(provider.Poison)
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
			send(t, inner, message("late"))
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
	inner := betweenExecutions(t, provider.OrchestrationFailed{Details: provider.Poison{
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

// Starts that collide with an instance are answered, unless they are the call that the
// instance came from; the instance goes on as it was (§7.5, colliding child starts).
func TestCollidingStarts(t *testing.T) {
	t.Parallel()
	start := func(parent string, id uint64, stamp *uint64) provider.StartOrchestrationItem {
		return provider.StartOrchestrationItem{
			Instance: "i", Orchestration: "Inbox", Input: "x", ParentInstance: &parent, ParentID: &id, ParentExecutionID: stamp, ExecutionID: 1,
		}
	}
	failed := func(parent string, id, execution uint64, terminal string) provider.WorkItem {
		return provider.SubOrchFailedItem{ParentInstance: parent, ParentID: id, ParentExecutionID: execution, Details: provider.Application{
			Kind: provider.AppOrchestrationFailed, Message: "sub-orchestration instance id 'i' already exists" + terminal,
		}}
	}
	one, two := new(uint64(1)), new(uint64(2))
	for _, test := range []struct {
		name string
		// of the instance, as it was started
		own   provider.StartOrchestrationItem
		end   bool
		later []provider.WorkItem
		want  []provider.WorkItem
	}{
		{name: "own call again", own: start("p", 4, one), later: []provider.WorkItem{start("p", 4, one)}},
		{name: "start without a parent", own: start("p", 4, one), later: []provider.WorkItem{
			provider.StartOrchestrationItem{Instance: "i", Orchestration: "Other", ExecutionID: 1},
		}},
		{
			name: "another call, parent and execution", own: start("p", 4, one),
			later: []provider.WorkItem{start("p", 5, one), start("q", 4, one), start("p", 4, two)},
			want:  []provider.WorkItem{failed("p", 5, 1, ""), failed("q", 4, 1, ""), failed("p", 4, 2, "")},
		},
		{
			name: "own call, but the instance has no stamp", own: start("p", 4, nil),
			later: []provider.WorkItem{start("p", 4, one)}, want: []provider.WorkItem{failed("p", 4, 1, "")},
		},
		{
			name: "finished", own: start("p", 4, one), end: true, later: []provider.WorkItem{start("p", 4, one), start("q", 7, two)},
			want: []provider.WorkItem{failed("p", 4, 1, " and is terminal"), failed("q", 7, 2, " and is terminal")},
		},
		{
			name: "a parent that no store accepts", own: start("p", 4, one),
			later: []provider.WorkItem{start("", 4, one)},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			send(t, store, test.own)
			if test.end {
				send(t, store, message("end"))
			}
			stop := runWorker(t, store, worker.Options{}, inbox)
			waitForExecution(t, store, 1)
			if test.end {
				result(t, client.Attach[string](client.New(store), "i"))
			}
			stop()
			settled := make(chan provider.AckOrchestrationParams, 16)
			send(t, store, test.later...)
			send(t, store, message("a"))
			stop = runWorker(t, watched{store, func(params provider.AckOrchestrationParams) { settled <- params }}, worker.Options{OrchestrationConcurrency: 1}, inbox)
			params := receive(t, "turn", settled)
			for params.Metadata.ParentInstanceID != nil { // what parents that are not there are told ends nothing
				params = receive(t, "turn", settled)
			}
			if diff := cmp.Diff(test.want, params.OrchestratorItems); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			stop()
			if test.end {
				return
			}
			send(t, store, message("b"), message("end"))
			runWorker(t, store, worker.Options{}, inbox)
			if got := result(t, client.Attach[string](client.New(store), "i")); got != "ab" {
				t.Errorf("read %q", got)
			}
		})
	}
}

// Two starts of two parents that arrive before the first turn: the first counts, the
// other's parent is told.
func TestCollidingStartsOfANewInstance(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(_ *orchestration.Context, who string) (string, error) { return who, nil })
	family := orchestration.New("Parent", func(ctx *orchestration.Context, who string) (string, error) {
		return orchestration.Sub(ctx, child, who, orchestration.WithInstanceID("shared")).Await()
	})
	store := openStore(t)
	stop := runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, UnregisteredBackoff: time.Millisecond, MaxAttempts: 1000}, family)
	var runs []*client.Run[string]
	for _, who := range []string{"one", "two"} {
		run, err := client.Start(t.Context(), client.New(store), family, who, who)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		waitForKind(t, store, who, provider.SubOrchestrationScheduled{Name: "Child", Instance: "shared", Input: who})
	}
	stop()
	runWorker(t, store, worker.Options{}, family, child)
	if got := result(t, runs[0]); got != "one" {
		t.Errorf("first parent: %s", got)
	}
	if got := failure(t, runs[1]).DisplayMessage(); got != "sub-orchestration instance id 'shared' already exists" && got != "sub-orchestration instance id 'shared' already exists and is terminal" {
		t.Errorf("second parent: %s", got)
	}
}

// A child's id that is taken fails the call, whoever has it: a running instance, a
// finished one, or the parent itself. None of them is disturbed.
func TestTakenChildIDs(t *testing.T) {
	t.Parallel()
	child := orchestration.New("Child", func(_ *orchestration.Context, _ string) (string, error) { return "child", nil })
	family := orchestration.New("Parent", func(ctx *orchestration.Context, ids []string) ([]string, error) {
		var answers []string
		for _, id := range ids {
			got, err := orchestration.Sub(ctx, child, "", orchestration.WithInstanceID(id)).Await()
			if failed, ok := errors.AsType[*orchestration.CallError](err); ok {
				got = failed.Source + ": " + failed.Message
			}
			answers = append(answers, got)
		}
		return answers, nil
	})
	store := openStore(t)
	var log lockedBuffer
	runWorker(t, store, worker.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, family, child, waiting, callEcho, echo)
	c := client.New(store)
	running, err := client.Start(t.Context(), c, waiting, "running", "")
	if err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, store, "running")
	finished, err := client.Start(t.Context(), c, callEcho, "finished", "x")
	if err != nil {
		t.Fatal(err)
	}
	result(t, finished)
	run := start(t, store, family, []string{"running", "finished", t.Name(), "free", "sub::reserved"})
	want := []string{
		`sub-orchestration "Child": sub-orchestration instance id 'running' already exists`,
		`sub-orchestration "Child": sub-orchestration instance id 'finished' already exists and is terminal`,
		`sub-orchestration "Child": sub-orchestration instance id 'TestTakenChildIDs' already exists`,
		"child",
		`sub-orchestration "Child": sub-orchestration id 'sub::reserved' begins with the reserved marker 'sub::'; choose another id, or none to have one made`,
	}
	if diff := cmp.Diff(want, result(t, run)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for _, line := range []string{"starts of an instance that has begun are ignored", "a sub-orchestration is not started, its id is taken"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log lacks %q", line)
		}
	}
	raise(t, store, "running", "go")
	result(t, running)
}
