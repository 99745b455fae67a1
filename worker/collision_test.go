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
	"github.com/duroxide/duroxide-go/worker"
)

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
		return provider.SubOrchFailedItem{ParentInstance: parent, ParentID: id, ParentExecutionID: execution, Details: provider.ApplicationFailure{
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
				result(t, client.Attach[string](client.New(store, client.Options{}), "i"))
			}
			stop()
			settled := make(chan provider.AckOrchestrationParams, 16)
			send(t, store, test.later...)
			send(t, store, message("a"))
			stop = runWorker(t, named(watched{store, func(params provider.AckOrchestrationParams) { settled <- params }}, store), worker.Options{OrchestrationConcurrency: 1}, inbox)
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
			if got := result(t, client.Attach[string](client.New(store, client.Options{}), "i")); got != "ab" {
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
		return orchestration.SubOrchestration(ctx, child, who, orchestration.WithInstanceID("shared")).Await()
	})
	store := openStore(t)
	stop := runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, Code: worker.Code{Backoff: time.Millisecond}, Limits: worker.Limits{Attempts: 1000}}, family)
	var runs []*client.Run[string]
	for _, who := range []string{"one", "two"} {
		run, err := client.Start(t.Context(), client.New(store, client.Options{}), family, who, who)
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
			got, err := orchestration.SubOrchestration(ctx, child, "", orchestration.WithInstanceID(id)).Await()
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
	c := client.New(store, client.Options{})
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

// The answer to a colliding start goes out whatever becomes of the turn: a limit, a turn
// that the store refuses, poison.
func TestNoticesOutliveAFailure(t *testing.T) {
	t.Parallel()
	big := orchestration.New("Inbox", func(ctx *orchestration.Context, _ string) (string, error) {
		message, err := orchestration.NewQueue[string]("inbox").Dequeue(ctx).Await()
		ctx.SetCustomStatus(strings.Repeat("x", 256<<10+1))
		return message, err
	})
	for _, test := range []struct {
		name    string
		rule    providerfault.Rule
		options worker.Options
		defs    []worker.Registrable
	}{
		{name: "limit", defs: []worker.Registrable{big}},
		{
			name: "refused turn", defs: []worker.Registrable{inbox},
			rule: providerfault.Rule{
				Operation: providerfault.AckOrchestrationItem, Times: 2, // the second is the try without the notices
				If:    func(call providerfault.Call) bool { return call.Turn.Metadata.Status == nil },
				Fault: providerfault.Fault{Fail: providerfault.Refused()},
			},
		},
		{name: "code that nobody has", options: worker.Options{Code: worker.Code{UnknownTimeout: 100 * time.Millisecond, Backoff: time.Millisecond}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inner := openStore(t)
			stop := runWorker(t, inner, worker.Options{}, inbox)
			send(t, inner, provider.StartOrchestrationItem{
				Instance: "i", Orchestration: "Inbox", ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(1)), ExecutionID: 1,
			})
			waitForExecution(t, inner, 1)
			stop()
			send(t, inner, provider.StartOrchestrationItem{
				Instance: "i", Orchestration: "Inbox", ParentInstance: new("q"), ParentID: new(uint64(7)), ParentExecutionID: new(uint64(2)), ExecutionID: 1,
			}, message("a"))
			ended := make(chan provider.AckOrchestrationParams, 16)
			store := providerfault.New(named(watched{inner, func(params provider.AckOrchestrationParams) {
				if params.Metadata.Status != nil {
					ended <- params
				}
			}}, inner), test.rule)
			runWorker(t, store, test.options, test.defs...)
			params := receive(t, "end", ended)
			failed := params.HistoryDelta[len(params.HistoryDelta)-1].Kind.(provider.OrchestrationFailed)
			want := []provider.WorkItem{
				provider.SubOrchFailedItem{ParentInstance: "p", ParentID: 4, ParentExecutionID: 1, Details: failed.Details},
				provider.SubOrchFailedItem{ParentInstance: "q", ParentID: 7, ParentExecutionID: 2, Details: provider.ApplicationFailure{
					Kind: provider.AppOrchestrationFailed, Message: "sub-orchestration instance id 'i' already exists",
				}},
			}
			if diff := cmp.Diff(want, params.OrchestratorItems); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}
