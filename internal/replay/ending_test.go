package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

var cancelled = provider.OrchestrationFailed{Details: provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "user"}}

// A cancel request ends the turn whatever the function does in it (§7.7).
func TestCancellation(t *testing.T) {
	t.Parallel()
	requested := provider.OrchestrationCancelRequested{Reason: "user"}
	for _, test := range []struct {
		name     string
		fn       func(f flow, _ string) (string, error)
		before   []provider.WorkItem // of a turn before
		messages []provider.WorkItem
		want     []any
		items    []provider.WorkItem
		ids      []uint64
	}{
		{
			name:     "before the first turn",
			fn:       func(f flow, _ string) (string, error) { return f.await(f.activity("A", "")) },
			messages: []provider.WorkItem{cancel("user")},
			want: []any{
				started, requested,
				provider.ActivityScheduled{Name: "A"},
				cancelled,
				to(3, provider.ActivityCancelRequested{Reason: "orchestration_terminal_failed"}),
			},
			ids: []uint64{3},
		},
		{
			name:   "waiting for everything",
			fn:     func(f flow, input string) (string, error) { f.dequeue("q"); return everything(f.Env, input) },
			before: []provider.WorkItem{}, messages: []provider.WorkItem{cancel("user"), cancel("again")},
			want: []any{
				requested,
				to(2, provider.QueueSubscriptionCancelled{Reason: "orchestration_terminal"}),
				to(6, provider.ExternalSubscribedCancelled{Reason: "orchestration_terminal"}),
				cancelled,
				to(3, provider.ActivityCancelRequested{Reason: "orchestration_terminal_failed"}),
			},
			items: []provider.WorkItem{provider.CancelInstanceItem{Instance: instance + "::sub::5", Reason: "parent canceled"}},
			ids:   []uint64{3},
		},
		{
			name:   "function completes in that turn",
			fn:     func(f flow, _ string) (string, error) { return f.await(f.activity("A", "")) },
			before: []provider.WorkItem{}, messages: []provider.WorkItem{activityDone(2, "ok"), cancel("user")},
			want: []any{to(2, provider.ActivityCompleted{Result: "ok"}), requested, cancelled},
		},
		{
			name: "function continues as new in that turn",
			fn: func(f flow, _ string) (string, error) {
				f.text(f.activity("A", ""))
				return f.continueAsNew("next")
			},
			before: []provider.WorkItem{}, messages: []provider.WorkItem{cancel("user"), activityDone(2, "ok")},
			want: []any{requested, to(2, provider.ActivityCompleted{Result: "ok"}), cancelled},
		},
		{
			name: "function drops a child in that turn",
			fn: func(f flow, _ string) (string, error) {
				f.sub("Kept", "")
				f.sel(f.sub("Dropped", ""), f.activity("A", ""))
				f.sub("Never sent", "")
				f.Halt()
				return "", nil
			},
			before: []provider.WorkItem{}, messages: []provider.WorkItem{activityDone(4, "ok"), cancel("user")},
			want: []any{
				to(4, provider.ActivityCompleted{Result: "ok"}), requested,
				provider.SubOrchestrationScheduled{Name: "Never sent", Instance: "sub::7"},
				to(3, provider.SubOrchestrationCancelRequested{Reason: "dropped_future"}), cancelled,
			},
			items: []provider.WorkItem{
				provider.CancelInstanceItem{Instance: instance + "::sub::3", Reason: "parent dropped sub-orchestration future"},
				provider.CancelInstanceItem{Instance: instance + "::sub::2", Reason: "parent canceled"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var past []provider.Event
			if test.before != nil {
				past = after(nil, run(t, newTurn(do(test.fn), nil, test.before...)))
			}
			result := run(t, newTurn(do(test.fn), past, test.messages...))
			wantOutcome(t, result, replay.Cancelled)
			wantDelta(t, result, test.want...)
			wantItems(t, "orchestrator items", result.OrchestratorItems, test.items...)
			wantItems(t, "worker items", result.WorkerItems)
			wantCancelled(t, result, test.ids...)
			if got := *result.Metadata.Output; got != "canceled: user" {
				t.Errorf("output = %q", got)
			}
		})
	}
}

// What breaks a turn counts more than a cancel request (§7.11, finalize).
func TestFailureBeatsCancellation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		fn       replay.Func
		past     []provider.Event
		messages []provider.WorkItem
		category string
	}{
		{
			name: "panic", fn: do(func(flow, string) (string, error) { panic("boom") }),
			messages: []provider.WorkItem{cancel("user")}, category: "application",
		},
		{
			name: "nondeterminism", fn: charge, past: pastOf(started, provider.TimerCreated{}),
			messages: []provider.WorkItem{cancel("user")}, category: "configuration",
		},
		{
			name: "system failure", fn: charge, past: pastOf(started, scheduledCharge),
			messages: []provider.WorkItem{cancel("user"), provider.ActivityFailedItem{
				Instance: instance, ExecutionID: 1, ID: 2, Details: provider.InfrastructureFailure{Operation: "op", Message: "m"},
			}}, category: "infrastructure",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(test.fn, test.past, test.messages...))
			wantOutcome(t, result, replay.Failed)
			if got := result.Details.Category(); got != test.category {
				t.Errorf("category = %s, want %s", got, test.category)
			}
		})
	}
}

func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
		f.status("1")
		f.activity("A", "")
		f.event("e")
		f.dequeue("q")
		f.status("2")
		f.Emit(replay.NextExecution{Input: "next", Version: new("2.0.0")})
		f.Halt()
		t.Error("the function went on")
		return "", nil
	}), nil, raised("e", "lost"), queued("r", "kept")))
	wantOutcome(t, result, replay.ContinuedAsNew)
	wantDelta(t, result, started, provider.ExternalEvent{Name: "e", Data: "lost"}, provider.QueueEventDelivered{Name: "r", Data: "kept"},
		provider.CustomStatusUpdated{Status: new("1")}, provider.ActivityScheduled{Name: "A"},
		provider.ExternalSubscribed{Name: "e"}, provider.QueueSubscribed{Name: "q"}, provider.CustomStatusUpdated{Status: new("2")},
		to(6, provider.ExternalSubscribedCancelled{Reason: "orchestration_terminal"}),
		to(7, provider.QueueSubscriptionCancelled{Reason: "orchestration_terminal"}),
		provider.OrchestrationContinuedAsNew{Input: "next"},
		to(5, provider.ActivityCancelRequested{Reason: "orchestration_terminal_continued_as_new"}))
	wantCancelled(t, result, 5)
	wantItems(t, "worker items", result.WorkerItems)
	wantItems(t, "orchestrator items", result.OrchestratorItems, provider.ContinueAsNewItem{
		Instance: instance, Orchestration: "Order", Input: "next", Version: new("2.0.0"),
		CarryForwardEvents: []provider.CarriedMessage{{Name: "r", Data: "kept"}}, InitialCustomStatus: new("2"),
	})
}

func TestCarriedStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		initial *string
		set     func(f flow)
		want    *string
	}{
		{name: "none", set: func(flow) {}},
		{name: "carried before", initial: new("0"), set: func(flow) {}, want: new("0")},
		{name: "set", initial: new("0"), set: func(f flow) { f.status("1") }, want: new("1")},
		{name: "reset", initial: new("0"), set: func(f flow) { f.status("1"); f.Emit(replay.SetStatus{}) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			turn := newTurn(do(func(f flow, _ string) (string, error) {
				test.set(f)
				return f.continueAsNew("next")
			}), nil)
			turn.Started.InitialCustomStatus = test.initial
			next := run(t, turn).OrchestratorItems[0].(provider.ContinueAsNewItem)
			if diff := cmp.Diff(test.want, next.InitialCustomStatus); diff != "" {
				t.Errorf("carried status (-want +got):\n%s", diff)
			}
		})
	}
}

// §7.6: what no dequeue returned to the function, in order across names, however many.
func TestCarryForward(t *testing.T) {
	t.Parallel()
	pairs := func(items ...string) (list []provider.CarriedMessage) {
		for _, item := range items {
			list = append(list, provider.CarriedMessage{Name: item[:1], Data: item})
		}
		return list
	}
	var many []string
	for i := range 110 {
		many = append(many, fmt.Sprintf("a%03d", i))
	}
	for _, test := range []struct {
		name   string
		fn     func(f flow)
		arrive []string
		want   []provider.CarriedMessage
	}{
		{name: "nothing arrived", fn: func(f flow) { f.dequeue("a") }},
		{
			name: "nobody dequeued", fn: func(flow) {},
			arrive: []string{"a1", "b1", "a2"}, want: pairs("a1", "b1", "a2"),
		},
		{
			name: "read ones are gone", fn: func(f flow) { f.text(f.dequeue("a")) },
			arrive: []string{"b1", "a1", "a2", "b2"}, want: pairs("b1", "a2", "b2"),
		},
		{
			name: "an open dequeue is no reader", fn: func(f flow) { f.dequeue("a"); f.dequeue("a") },
			arrive: []string{"a1", "b1", "a2", "a3"}, want: pairs("a1", "b1", "a2", "a3"),
		},
		{
			name: "what was read need not be the first", fn: func(f flow) { f.dequeue("a"); f.text(f.dequeue("a")) },
			arrive: []string{"a1", "a2", "b1", "a3"}, want: pairs("a1", "b1", "a3"),
		},
		{
			name: "a dropped dequeue does not", fn: func(f flow) { f.sel(f.dequeue("b"), f.dequeue("a")) },
			arrive: []string{"a1", "a2"}, want: pairs("a2"),
		},
		{name: "many", fn: func(flow) {}, arrive: many, want: pairs(many...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fn := do(func(f flow, _ string) (string, error) {
				f.text(f.activity("Gate", ""))
				test.fn(f)
				return f.continueAsNew("next")
			})
			past := after(nil, run(t, newTurn(fn, nil)))
			var messages []provider.WorkItem
			for _, data := range test.arrive {
				messages = append(messages, queued(data[:1], data))
			}
			result := run(t, newTurn(fn, past, append(messages, activityDone(2, ""))...))
			wantOutcome(t, result, replay.ContinuedAsNew)
			next := result.OrchestratorItems[0].(provider.ContinueAsNewItem)
			if diff := cmp.Diff(test.want, next.CarryForwardEvents); diff != "" {
				t.Errorf("carried (-want +got):\n%s", diff)
			}
		})
	}
}

// A message that arrives after the function asked for its next execution goes along.
func TestMessagesBehindContinueAsNewAreCarried(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		f.text(f.activity("Gate", ""))
		return f.continueAsNew("next")
	})
	past := after(nil, run(t, newTurn(fn, nil)))
	result := run(t, newTurn(fn, past, activityDone(2, ""), queued("q", "late")))
	next := result.OrchestratorItems[0].(provider.ContinueAsNewItem)
	if diff := cmp.Diff([]provider.CarriedMessage{{Name: "q", Data: "late"}}, next.CarryForwardEvents); diff != "" {
		t.Errorf("carried (-want +got):\n%s", diff)
	}
}

// Generated ids name the execution from the second on, or they would repeat (P42).
func TestChildIDs(t *testing.T) {
	t.Parallel()
	for execution, want := range map[uint64]string{1: "sub::2", 2: "sub::2_2", 17: "sub::17_2"} {
		turn := newTurn(do(func(f flow, _ string) (string, error) { return f.await(f.sub("S", "")) }), nil)
		turn.ExecutionID = execution
		result := run(t, turn)
		wantDelta(t, result, started, provider.SubOrchestrationScheduled{Name: "S", Instance: want})
		got := result.OrchestratorItems[0].(provider.StartOrchestrationItem)
		if got.Instance != instance+"::"+want || *got.ParentInstance != instance || *got.ParentID != 2 || *got.ParentExecutionID != execution {
			t.Errorf("started %+v", got)
		}
	}
}

// The next execution learns of the parent by the message that starts it (§7.6).
func TestContinueAsNewHandsTheParentOn(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		f.text(f.activity("A", ""))
		return f.continueAsNew("next")
	})
	for _, stamp := range []*uint64{nil, new(uint64(7))} {
		first := newTurn(fn, nil)
		first.Started.ParentInstance, first.Started.ParentID, first.Started.ParentExecutionID = new("p"), new(uint64(4)), stamp
		result := run(t, newTurn(fn, after(nil, run(t, first)), activityDone(2, "")))
		wantItems(t, "orchestrator items", result.OrchestratorItems, provider.ContinueAsNewItem{
			Instance: instance, Orchestration: "Order", Input: "next",
			ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: stamp,
		})
	}
}

// A reserved id for a child fails the call, records nothing and lets the function go
// on; below another instance the marker is an id like any other (§7.13).
func TestReservedChildIDs(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		call := func(id string, version *string) *replay.Handle {
			return f.Emit(replay.CallSub{Name: "S", Instance: id, Version: version})
		}
		var seen []string
		for _, h := range []*replay.Handle{call("sub::9", nil), call("sub::pending_1", nil), call("sub::x", new("2.0.0"))} {
			seen = append(seen, f.text(h))
		}
		f.text(f.sub("S", ""))
		call("other::sub::2", nil)
		return f.await(f.activity(strings.Join(seen, "\n"), ""))
	})
	p := newPlay(t, func(f flow, input string) (string, error) { return fn(f.Env, input) })
	refused := func(id string) string {
		return "error: sub-orchestration id '" + id + "' begins with the reserved marker 'sub::'; choose another id, or none to have one made"
	}
	p.turn(childDone(2, ""))
	want := []any{
		started,
		provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::2"},
		to(2, provider.SubOrchestrationCompleted{}),
		provider.SubOrchestrationScheduled{Name: "S", Instance: "other::sub::2"},
		provider.ActivityScheduled{Name: refused("sub::9") + "\n" + refused("sub::pending_1") + "\n" + refused("sub::x")},
	}
	if diff := cmp.Diff(entries(pastOf(want...)), entries(p.past)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// A detached start under a reserved id fails the orchestration and starts nothing.
func TestReservedDetachedIDs(t *testing.T) {
	t.Parallel()
	for id, reserved := range map[string]bool{
		"sub::9": true, "a::sub::9": true, "a::b": false, "Sub::9": false, "resub::9": false, "sub:9": false,
	} {
		result := run(t, newTurn(do(func(f flow, _ string) (string, error) {
			f.Emit(replay.StartDetached{Name: "S", Instance: id})
			return "", nil
		}), nil))
		if !reserved {
			wantOutcome(t, result, replay.Completed)
			continue
		}
		want := provider.ApplicationFailure{
			Kind:    provider.AppPanicked,
			Message: "instance id '" + id + "' uses the reserved sub-orchestration marker 'sub::'",
		}
		wantOutcome(t, result, replay.Failed)
		wantDelta(t, result, started, provider.OrchestrationFailed{Details: want})
		wantItems(t, "items", result.OrchestratorItems)
	}
}

// The recorded child counts: a history of another runtime may have named it otherwise.
func TestRecordedChildIDCounts(t *testing.T) {
	t.Parallel()
	fn := do(func(f flow, _ string) (string, error) {
		f.sel(f.sub("S", ""), f.activity("A", ""))
		f.Halt()
		return "", nil
	})
	past := pastOf(started, provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::77"}, provider.ActivityScheduled{Name: "A"})
	result := run(t, newTurn(fn, past, activityDone(3, "")))
	wantItems(t, "orchestrator items", result.OrchestratorItems,
		provider.CancelInstanceItem{Instance: instance + "::sub::77", Reason: "parent dropped sub-orchestration future"})
}

// A parent that fails takes its children along, however it fails, but for those that have
// reported and those that were never sent. One that continues as new takes none (§7.7).
func TestFailureCancelsChildren(t *testing.T) {
	t.Parallel()
	broken := provider.ActivityFailedItem{Instance: instance, ExecutionID: 1, ID: 4, Details: provider.InfrastructureFailure{Operation: "op"}}
	late := provider.CancelInstanceItem{Instance: instance + "::sub::2", Reason: history.ParentFailed}
	for _, test := range []struct {
		name    string
		message provider.WorkItem
		then    func(f flow) (string, error)
		outcome replay.Outcome
		items   []provider.WorkItem
	}{
		{"panic", activityDone(4, ""), func(flow) (string, error) { panic("boom") }, replay.Failed, []provider.WorkItem{late}},
		{
			"limit", activityDone(4, ""),
			func(f flow) (string, error) { f.status(strings.Repeat("x", 300<<10)); f.Halt(); return "", nil },
			replay.Failed,
			[]provider.WorkItem{late},
		},
		{"system failure", broken, nil, replay.Failed, []provider.WorkItem{late}},
		{"nondeterminism", activityDone(5, ""), nil, replay.Failed, []provider.WorkItem{late}},
		{
			"continue-as-new", activityDone(4, ""), func(f flow) (string, error) { return f.continueAsNew("next") },
			replay.ContinuedAsNew,
			[]provider.WorkItem{provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: "next"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, func(f flow, _ string) (string, error) {
				f.sub("Open", "")
				f.sub("Reported", "")
				f.await(f.activity("A", ""))
				f.sub("Never sent", "")
				return test.then(f)
			})
			result := p.turn(childDone(3, ""), test.message)
			wantOutcome(t, result, test.outcome)
			wantItems(t, "orchestrator items", result.OrchestratorItems, test.items...)
		})
	}
}

// A failure by the function itself, in combination with what is still open.
func TestFailedFunctionStillCancelsWhatItDropped(t *testing.T) {
	t.Parallel()
	p := newPlay(t, func(f flow, _ string) (string, error) {
		f.sel(f.activity("A", ""), f.activity("B", ""))
		return "", errors.New("no")
	})
	result := p.turn(activityDone(3, ""))
	wantDelta(t, result, to(3, provider.ActivityCompleted{}),
		to(2, provider.ActivityCancelRequested{Reason: "dropped_future"}),
		provider.OrchestrationFailed{Details: provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: "no"}})
	wantCancelled(t, result, 2) // once, not again as a running activity
}
