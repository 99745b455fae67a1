package replay_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

var scheduledCharge = provider.ActivityScheduled{Name: "Charge", Input: "7"}

// charge is the smallest orchestration with a result of its own.
var charge = do(func(f flow, _ string) (string, error) { return f.await(f.activity("Charge", "7")) })

func TestFirstTurnRecordsTheStartAndTheWork(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(charge, nil))
	wantOutcome(t, result, replay.Continue)
	wantDelta(t, result, started, scheduledCharge)
	wantItems(t, "worker items", result.WorkerItems, execute(2, "Charge", "7"))
	wantItems(t, "orchestrator items", result.OrchestratorItems)
	want := provider.ExecutionMetadata{
		OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0"),
		PinnedDuroxideVersion: &provider.Version{Minor: 1, Patch: 32},
	}
	if diff := cmp.Diff(want, result.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestEveryActionBecomesItsEventAndItsItem(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		f.Emit(replay.CallActivity{Name: "Charge", Input: "7", SessionID: new("s"), Tag: new("gpu")})
		f.timer(now + 5)
		f.event("approve")
		f.dequeue("inbox")
		f.sub("Ship", "x")
		f.Emit(replay.CallSub{Name: "Ship", Input: "y", Instance: "ship-1", Version: new("2.0.0")})
		f.Emit(replay.StartDetached{Name: "Audit", Instance: "audit-1", Input: "z", Version: new("3.0.0")})
		f.status("50%")
		f.Emit(replay.SetStatus{})
		f.set("k", "v")
		f.Emit(replay.ClearKV{Key: "k"})
		f.Emit(replay.ClearAllKV{})
		return f.await(f.event("never"))
	})
	result := run(t, newTurn(fn, nil))
	wantDelta(t, result, started,
		provider.ActivityScheduled{Name: "Charge", Input: "7", SessionID: new("s"), Tag: new("gpu")},
		provider.TimerCreated{FireAtMs: now + 5},
		provider.ExternalSubscribed{Name: "approve"},
		provider.QueueSubscribed{Name: "inbox"},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::6", Input: "x"},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "ship-1", Input: "y"},
		provider.OrchestrationChained{Name: "Audit", Instance: "audit-1", Input: "z"},
		provider.CustomStatusUpdated{Status: new("50%")},
		provider.CustomStatusUpdated{},
		provider.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: now},
		provider.KeyValueCleared{Key: "k"},
		provider.KeyValuesCleared{},
		provider.ExternalSubscribed{Name: "never"},
	)
	wantItems(t, "worker items", result.WorkerItems, provider.ActivityExecuteItem{
		Instance: instance, ExecutionID: 1, ID: 2, Name: "Charge", Input: "7", SessionID: new("s"), Tag: new("gpu"),
	})
	wantItems(t, "orchestrator items", result.OrchestratorItems,
		provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 3, FireAtMs: now + 5},
		provider.StartOrchestrationItem{
			Instance: instance + "::sub::6", Orchestration: "Ship", Input: "x",
			ParentInstance: new(instance), ParentID: new(uint64(6)), ParentExecutionID: new(uint64(1)), ExecutionID: 1,
		},
		provider.StartOrchestrationItem{
			Instance: "ship-1", Orchestration: "Ship", Input: "y", Version: new("2.0.0"),
			ParentInstance: new(instance), ParentID: new(uint64(7)), ParentExecutionID: new(uint64(1)), ExecutionID: 1,
		},
		provider.StartOrchestrationItem{
			Instance: "audit-1", Orchestration: "Audit", Input: "z", Version: new("3.0.0"), ExecutionID: 1,
		},
	)
	// The next turn finds everything recorded and has nothing to add.
	again := run(t, newTurn(fn, after(nil, result)))
	wantDelta(t, again)
	wantItems(t, "items of the replay", append(again.WorkerItems, again.OrchestratorItems...))
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	child := started
	child.ParentInstance, child.ParentID = new("parent"), new(uint64(4))
	for _, test := range []struct {
		name     string
		fn       func(f flow, input string) (string, error)
		messages []provider.WorkItem
		outcome  replay.Outcome
		end      provider.EventKind
		status   provider.Status
		output   string
		parent   provider.WorkItem
	}{
		{
			name:    "completed",
			fn:      func(_ flow, input string) (string, error) { return input + "!", nil },
			outcome: replay.Completed, end: provider.OrchestrationCompleted{Output: "in!"},
			status: provider.StatusCompleted, output: "in!",
			parent: provider.SubOrchCompletedItem{ParentInstance: "parent", ParentID: 4, Result: "in!"},
		},
		{
			name:    "failed",
			fn:      func(flow, string) (string, error) { return "", errors.New("sold out") },
			outcome: replay.Failed,
			end: provider.OrchestrationFailed{Details: provider.ApplicationFailure{
				Kind: provider.AppOrchestrationFailed, Message: "sold out",
			}},
			status: provider.StatusFailed, output: "sold out",
			parent: provider.SubOrchFailedItem{ParentInstance: "parent", ParentID: 4, Details: provider.ApplicationFailure{
				Kind: provider.AppOrchestrationFailed, Message: "sold out",
			}},
		},
		{
			name:    "panicked",
			fn:      func(flow, string) (string, error) { panic("index out of range") },
			outcome: replay.Failed,
			end: provider.OrchestrationFailed{Details: provider.ApplicationFailure{
				Kind: provider.AppPanicked, Message: "index out of range",
			}},
			status: provider.StatusFailed, output: "orchestration panicked: index out of range",
			parent: provider.SubOrchFailedItem{ParentInstance: "parent", ParentID: 4, Details: provider.ApplicationFailure{
				Kind: provider.AppPanicked, Message: "index out of range",
			}},
		},
		{
			name:    "continued as new",
			fn:      func(f flow, _ string) (string, error) { return f.continueAsNew("next") },
			outcome: replay.ContinuedAsNew, end: provider.OrchestrationContinuedAsNew{Input: "next"},
			status: provider.StatusContinuedAsNew, output: "next",
		},
		{
			name:     "cancelled",
			fn:       func(flow, string) (string, error) { return "done all the same", nil },
			messages: []provider.WorkItem{cancel("user")},
			outcome:  replay.Cancelled,
			end: provider.OrchestrationFailed{Details: provider.ApplicationFailure{
				Kind: provider.AppCancelled, CancelReason: "user",
			}},
			status: provider.StatusFailed, output: "canceled: user",
			parent: provider.SubOrchFailedItem{ParentInstance: "parent", ParentID: 4, Details: provider.ApplicationFailure{
				Kind: provider.AppCancelled, CancelReason: "user",
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(do(test.fn), nil, test.messages...)
			turn.Started = child
			result := run(t, turn)
			wantOutcome(t, result, test.outcome)
			last := result.HistoryDelta[len(result.HistoryDelta)-1]
			if diff := cmp.Diff(test.end, last.Kind); diff != "" {
				t.Errorf("terminal event (-want +got):\n%s", diff)
			}
			want := provider.ExecutionMetadata{
				OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0"), ParentInstanceID: new("parent"),
				PinnedDuroxideVersion: &provider.Version{Minor: 1, Patch: 32},
				Status:                &test.status, Output: &test.output,
			}
			if diff := cmp.Diff(want, result.Metadata); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.parent, result.Parent); diff != "" {
				t.Errorf("message to the parent (-want +got):\n%s", diff)
			}
			if (result.PanicStack != nil) != (test.name == "panicked") {
				t.Errorf("panic stack = %q", result.PanicStack)
			}
		})
	}
}

func TestLaterTurnsSendNoStartMetadata(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(charge, pastOf(started, scheduledCharge), activityDone(2, "ok")))
	wantDelta(t, result, to(2, provider.ActivityCompleted{Result: "ok"}), provider.OrchestrationCompleted{Output: "ok"})
	want := provider.ExecutionMetadata{Status: new(provider.StatusCompleted), Output: new("ok")}
	if diff := cmp.Diff(want, result.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if result.Parent != nil {
		t.Errorf("a root told a parent: %+v", result.Parent)
	}
}

// Work scheduled in the turn that ends the execution is recorded and never sent; a
// detached start is.
func TestOnlyDetachedStartsOutliveTheLastTurn(t *testing.T) {
	t.Parallel()
	audit := provider.StartOrchestrationItem{Instance: "audit-1", Orchestration: "Audit", Input: "z", ExecutionID: 1}
	for _, test := range []struct {
		name     string
		end      func(f flow) (string, error)
		messages []provider.WorkItem
		want     []provider.WorkItem
	}{
		{name: "completed", end: func(flow) (string, error) { return "", nil }, want: []provider.WorkItem{audit}},
		{name: "failed", end: func(flow) (string, error) { return "", errors.New("no") }, want: []provider.WorkItem{audit}},
		{
			name: "continued as new", end: func(f flow) (string, error) { return f.continueAsNew("n") },
			want: []provider.WorkItem{audit, provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: "n"}},
		},
		{
			name: "cancelled", end: func(flow) (string, error) { return "", nil },
			messages: []provider.WorkItem{cancel("user")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
				f.activity("Charge", "7")
				f.timer(now)
				f.sub("Ship", "x")
				f.Emit(replay.StartDetached{Name: "Audit", Instance: "audit-1", Input: "z"})
				return test.end(f)
			}), nil, test.messages...))
			wantItems(t, "worker items", result.WorkerItems)
			wantItems(t, "orchestrator items", result.OrchestratorItems, test.want...)
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	var got replay.Info
	turn := newTurn(do(func(f flow, _ string) (string, error) {
		got = f.Info()
		return "", nil
	}), nil)
	turn.Started.ParentInstance, turn.Started.ParentID = new("parent"), new(uint64(4))
	run(t, turn)
	want := replay.Info{Instance: instance, ExecutionID: 1, Name: "Order", Version: "1.0.0", ParentInstance: "parent"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
}

// Each line of a function is new in exactly one turn: the one that first ran it.
func TestReplayingIsFalseOnceForEachStep(t *testing.T) {
	t.Parallel()
	var fresh []string
	fn := do(func(f flow, _ string) (string, error) {
		step := func(name string) {
			if !f.Replaying() {
				fresh = append(fresh, name)
			}
		}
		step("begin")
		one := f.text(f.activity("One", ""))
		step("one " + one)
		two := f.text(f.dequeue("inbox"))
		step("two " + two)
		three := f.text(f.dequeue("inbox"))
		step("three " + three)
		return "", nil
	})
	past := []provider.Event(nil)
	for _, messages := range [][]provider.WorkItem{
		nil,
		{raised("nobody", "waits")}, // a turn without progress
		{activityDone(2, "a"), queued("inbox", "b")},
		{raised("nobody", "waits")},
		{queued("inbox", "c")},
	} {
		past = after(past, run(t, newTurn(fn, past, messages...)))
	}
	if diff := cmp.Diff([]string{"begin", "one a", "two b", "three c"}, fresh); diff != "" {
		t.Errorf("steps that were not replays (-want +got):\n%s", diff)
	}
}

func TestTerminalHistoryHasNoTurn(t *testing.T) {
	t.Parallel()
	called := false
	fn := do(func(flow, string) (string, error) { called = true; return "", nil })
	for _, end := range []provider.EventKind{
		provider.OrchestrationCompleted{Output: "o"},
		provider.OrchestrationFailed{Details: declined("no")},
		provider.OrchestrationContinuedAsNew{Input: "i"},
	} {
		result := run(t, newTurn(fn, pastOf(started, end), activityDone(7, "late"), cancel("late"), queued("q", "late")))
		wantOutcome(t, result, replay.Continue)
		wantDelta(t, result)
		if diff := cmp.Diff(provider.ExecutionMetadata{}, result.Metadata); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	}
	if called {
		t.Error("the function ran")
	}
}
