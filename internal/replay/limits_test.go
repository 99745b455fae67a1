package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// Each limit at its edge and one beyond (§7.2). Sizes are bytes, not characters.
func TestLimits(t *testing.T) {
	t.Parallel()
	keys := func(n int) func(f flow) {
		return func(f flow) {
			for i := range n {
				f.set(fmt.Sprint(i), "v")
			}
		}
	}
	for _, test := range []struct {
		name    string
		fn      func(f flow)
		message string
	}{
		{"tag", func(f flow) { f.Emit(replay.CallActivity{Name: "A", Tag: new(strings.Repeat("t", 256))}) }, ""},
		{
			"long tag", func(f flow) { f.Emit(replay.CallActivity{Name: "A", Tag: new(strings.Repeat("é", 129))}) },
			`the tag of activity "A" has 258 bytes, the limit is 256`,
		},
		{"status", func(f flow) { f.status(strings.Repeat("s", 256<<10)) }, ""},
		{
			"long status", func(f flow) { f.status(strings.Repeat("s", 256<<10+1)) },
			"the custom status has 262145 bytes, the limit is 262144",
		},
		{"long status that the same turn replaces", func(f flow) { f.status(strings.Repeat("s", 256<<10+1)); f.status("") }, ""},
		{
			"long status before a reset", func(f flow) { f.status(strings.Repeat("s", 256<<10+1)); f.Emit(replay.SetStatus{}) },
			"the custom status has 262145 bytes, the limit is 262144",
		},
		{"value", func(f flow) { f.set("k", strings.Repeat("v", 64<<10)) }, ""},
		{
			"long value", func(f flow) { f.set("k", strings.Repeat("v", 64<<10+1)) },
			`the value of key "k" has 65537 bytes, the limit is 65536`,
		},
		{"long value, cleared again", func(f flow) {
			f.set("k", strings.Repeat("v", 64<<10+1))
			f.Emit(replay.ClearKV{Key: "k"})
		}, `the value of key "k" has 65537 bytes, the limit is 65536`},
		{"keys", keys(150), ""},
		{"too many keys", keys(151), "the instance has 151 keys, the limit is 150"},
		{"too many keys, cleared in time", func(f flow) { keys(151)(f); f.Emit(replay.ClearKV{Key: "7"}) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
				test.fn(f)
				f.Halt()
				return "", nil
			}), nil))
			if test.message == "" {
				wantOutcome(t, result, replay.Continue)
				return
			}
			wantOutcome(t, result, replay.Failed)
			want := provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: test.message}
			if diff := cmp.Diff(provider.ErrorDetails(want), result.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}

// Keys of earlier turns and executions count too.
func TestKeyLimitCountsTheWholeMap(t *testing.T) {
	t.Parallel()
	snapshot := map[string]provider.KVEntry{}
	for i := range 75 {
		snapshot[fmt.Sprint("old", i)] = provider.KVEntry{Value: "v"}
	}
	fn := do(func(f flow, _ string) (string, error) {
		for i := range 75 {
			f.set(fmt.Sprint("new", i), "v")
		}
		f.text(f.activity("A", ""))
		f.set("old1", "replaced")
		f.text(f.activity("B", ""))
		f.set("one too many", "v")
		return "", nil
	})
	var past []provider.Event
	for i, messages := range [][]provider.WorkItem{nil, {activityDone(77, "")}, {activityDone(80, "")}} {
		turn := newTurn(fn, past, messages...)
		turn.KV = snapshot
		result := run(t, turn)
		past = after(past, result)
		want := replay.Continue
		if i == 2 {
			want = replay.Failed
		}
		wantOutcome(t, result, want)
	}
}

// The limit's failure takes the place of the end the turn had come to, work is
// discarded, and the parent is told (P45).
func TestLimitReplacesTheEnd(t *testing.T) {
	t.Parallel()
	tooLong := strings.Repeat("v", 64<<10+1)
	for _, test := range []struct {
		name string
		end  func(f flow) (string, error)
	}{
		{"goes on", func(f flow) (string, error) { f.Halt(); return "", nil }},
		{"completed", func(flow) (string, error) { return "done", nil }},
		{"continued as new", func(f flow) (string, error) { return f.continueAsNew("next") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(do(func(f flow, _ string) (string, error) {
				f.activity("A", "")
				f.event("e")
				f.timer(now)
				f.sub("S", "")
				f.Emit(replay.StartDetached{Name: "D", Instance: "d"})
				f.set("k", tooLong)
				return test.end(f)
			}), nil)
			turn.Started.ParentInstance, turn.Started.ParentID = new("parent"), new(uint64(4))
			begun := turn.Started
			result := run(t, turn)
			wantOutcome(t, result, replay.Failed)
			wantDelta(t, result, begun,
				provider.ActivityScheduled{Name: "A"}, provider.ExternalSubscribed{Name: "e"}, provider.TimerCreated{FireAtMs: now},
				provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::5"}, provider.OrchestrationChained{Name: "D", Instance: "d"},
				provider.KeyValueSet{Key: "k", Value: tooLong, LastUpdatedAtMs: now},
				to(3, provider.ExternalSubscribedCancelled{Reason: "orchestration_terminal"}),
				provider.OrchestrationFailed{Details: result.Details},
				to(2, provider.ActivityCancelRequested{Reason: "orchestration_terminal_failed"}))
			wantItems(t, "worker items", result.WorkerItems)
			wantItems(t, "orchestrator items", result.OrchestratorItems)
			wantCancelled(t, result, 2)
			want := provider.SubOrchFailedItem{ParentInstance: "parent", ParentID: 4, Details: result.Details}
			if diff := cmp.Diff(provider.WorkItem(want), result.Parent); diff != "" {
				t.Errorf("message to the parent (-want +got):\n%s", diff)
			}
			if *result.Metadata.Status != provider.StatusFailed || *result.Metadata.Output != result.Details.DisplayMessage() {
				t.Errorf("metadata = %+v", result.Metadata)
			}
		})
	}
}

// A turn that failed anyway keeps its own reason.
func TestLimitDoesNotHideAFailure(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		f.set("k", strings.Repeat("v", 64<<10+1))
		return "", errors.New("no")
	}), nil))
	if got := *result.Metadata.Output; got != "no" {
		t.Errorf("output = %q", got)
	}
}

// Whoever reads what is there comes to rest, however much that is.
func TestBacklogsAreRead(t *testing.T) {
	t.Parallel()
	const many = 20_000
	fn := do(func(f flow, _ string) (string, error) {
		f.text(f.activity("Gate", ""))
		for range many {
			f.text(f.dequeue("q"))
		}
		return "done", nil
	})
	past := after(nil, run(t, newTurn(fn, nil)))
	for _, peeked := range []bool{false, true} {
		turn := newTurn(fn, past)
		turn.Peeked, turn.Limits = peeked, replay.Limits{Actions: 100}
		for range many {
			turn.Messages = append(turn.Messages, queued("q", ""))
		}
		turn.Messages = append(turn.Messages, activityDone(2, ""))
		wantOutcome(t, run(t, turn), replay.Completed)
	}
}

// §7.2: at most 100 rounds of reacting to one's own actions, if none of them reads a message.
func TestQuiescence(t *testing.T) {
	t.Parallel()
	chain := func(rounds int) *replay.Result {
		return run(t, newTurn(do(func(f flow, _ string) (string, error) {
			asked := 0
			f.WaitUntil(func() bool {
				f.status("again")
				asked++
				return asked > rounds
			})
			return "done", nil
		}), nil))
	}
	wantOutcome(t, chain(100), replay.Completed)
	result := chain(101)
	wantOutcome(t, result, replay.Failed)
	want := provider.InfrastructureFailure{
		Operation: "quiescence_loop", Message: "the orchestration did not come to rest within 100 rounds: it has asked for as many things in a row " +
			"without having to wait; let it sleep or continue as new after fewer",
	}
	if diff := cmp.Diff(provider.ErrorDetails(want), result.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
