package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// everything asks for one thing of each kind and never ends. Its history is busy.
var everything = do(func(f flow, _ string) (string, error) {
	f.activity("A", "")
	f.timer(now)
	f.sub("S", "")
	f.event("e")
	f.Halt()
	return "", nil
})

func busy(more ...any) []provider.Event {
	return pastOf(append([]any{
		started,
		provider.ActivityScheduled{Name: "A"},
		provider.TimerCreated{FireAtMs: now},
		provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::4"},
		provider.ExternalSubscribed{Name: "e"},
	}, more...)...)
}

// §7.11 A: which messages become events.
func TestMessagesBecomeEvents(t *testing.T) {
	t.Parallel()
	other := func(item provider.WorkItem) provider.WorkItem {
		switch m := item.(type) {
		case provider.ActivityCompletedItem:
			m.ExecutionID++
			return m
		case provider.ActivityFailedItem:
			m.ExecutionID++
			return m
		case provider.TimerFiredItem:
			m.ExecutionID++
			return m
		case provider.SubOrchCompletedItem:
			m.ParentExecutionID++
			return m
		case provider.SubOrchFailedItem:
			m.ParentExecutionID++
			return m
		}
		panic("not a completion")
	}
	childFailed := provider.SubOrchFailedItem{
		ParentInstance: instance, ParentExecutionID: 1, ParentID: 4, Details: declined("c"),
	}
	for _, test := range []struct {
		name     string
		past     []provider.Event
		messages []provider.WorkItem
		want     []any
	}{
		{
			name: "every kind, in order of the batch",
			past: busy(),
			messages: []provider.WorkItem{
				raised("x", "1"), queued("q", "2"), timerFired(3), activityDone(2, "a"), childDone(4, "c"),
			},
			want: []any{
				provider.ExternalEvent{Name: "x", Data: "1"},
				provider.QueueEventDelivered{Name: "q", Data: "2"},
				to(3, provider.TimerFired{FireAtMs: now}), to(2, provider.ActivityCompleted{Result: "a"}),
				to(4, provider.SubOrchestrationCompleted{Result: "c"}),
			},
		},
		{
			name: "failures", past: busy(),
			messages: []provider.WorkItem{activityFailed(2, "a"), childFailed},
			want: []any{
				to(2, provider.ActivityFailed{Details: declined("a")}),
				to(4, provider.SubOrchestrationFailed{Details: declined("c")}),
			},
		},
		{
			name: "completions of another execution", past: busy(),
			messages: []provider.WorkItem{
				other(activityDone(2, "")), other(activityFailed(2, "")), other(timerFired(3)), other(childDone(4, "")), other(childFailed),
			},
		},
		{
			name: "completions that history has", past: busy(
				to(2, provider.ActivityFailed{Details: declined("a")}), to(3, provider.TimerFired{FireAtMs: now}),
				to(4, provider.SubOrchestrationFailed{Details: declined("c")})),
			messages: []provider.WorkItem{
				activityDone(2, ""), activityFailed(2, ""), timerFired(3), childDone(4, ""), childFailed,
			},
		},
		{
			name: "completions twice in a batch", past: busy(),
			messages: []provider.WorkItem{
				activityFailed(2, "a"), activityFailed(2, "a"), activityDone(2, ""), timerFired(3), timerFired(3), childFailed, childDone(4, ""),
			},
			want: []any{
				to(2, provider.ActivityFailed{Details: declined("a")}), to(3, provider.TimerFired{FireAtMs: now}),
				to(4, provider.SubOrchestrationFailed{Details: declined("c")}),
			},
		},
		{
			name:     "events and messages are never duplicates",
			past:     busy(provider.ExternalEvent{Name: "x", Data: "1"}, provider.QueueEventDelivered{Name: "q", Data: "1"}),
			messages: []provider.WorkItem{raised("x", "1"), queued("q", "1")},
			want:     []any{provider.ExternalEvent{Name: "x", Data: "1"}, provider.QueueEventDelivered{Name: "q", Data: "1"}},
		},
		{
			name: "completion after the result was given up", past: busy(to(2, provider.ActivityCancelRequested{Reason: "other"})),
			messages: []provider.WorkItem{activityDone(2, "late")},
			want:     []any{to(2, provider.ActivityCompleted{Result: "late"})},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, newTurn(everything, test.past, test.messages...))
			wantOutcome(t, result, replay.Continue)
			wantDelta(t, result, test.want...)
		})
	}
}

// A failure that is not the application's own ends the orchestration with the same
// details; the code never sees it, whatever else the batch holds.
func TestSystemFailuresEndTheOrchestration(t *testing.T) {
	t.Parallel()
	for name, details := range map[string]provider.ErrorDetails{
		"infrastructure": provider.InfrastructureFailure{Operation: "ack", Message: "db down"},
		"configuration":  provider.ConfigurationFailure{Kind: provider.Nondeterminism, Message: new("m")},
		"poison": provider.PoisonFailure{
			AttemptCount: 11, MaxAttempts: 10,
			MessageType: provider.PoisonActivity{Instance: instance, ExecutionID: 1, ActivityName: "A", ActivityID: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := false
			fn := do(func(f flow, _ string) (string, error) {
				_, err := f.await(f.activity("A", ""))
				seen = true
				return "", err
			})
			result := run(t, newTurn(fn, pastOf(started, provider.ActivityScheduled{Name: "A"}),
				queued("q", "1"),
				provider.ActivityFailedItem{Instance: instance, ExecutionID: 1, ID: 2, Details: details},
				cancel("user"), queued("q", "2")))
			wantOutcome(t, result, replay.Failed)
			wantDelta(t, result, provider.QueueEventDelivered{Name: "q", Data: "1"},
				to(2, provider.ActivityFailed{Details: details}), provider.OrchestrationFailed{Details: details})
			if diff := cmp.Diff(details, result.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
			if seen {
				t.Error("the function saw the failure")
			}
		})
	}
}

func TestApplicationFailuresReachTheCode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		details provider.ErrorDetails
		want    string
	}{
		{"failed", declined("card declined"), "card declined"},
		{"cancelled", provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: "user"}, "canceled: user"},
		{"panicked", provider.ApplicationFailure{Kind: provider.AppPanicked, Message: "boom"}, "orchestration panicked: boom"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fn := do(func(f flow, _ string) (string, error) { return f.text(f.sub("S", "")), nil })
			past := pastOf(started, provider.SubOrchestrationScheduled{Name: "S", Instance: "sub::2"})
			result := run(t, newTurn(fn, past, provider.SubOrchFailedItem{
				ParentInstance: instance, ParentExecutionID: 1, ParentID: 2, Details: test.details,
			}))
			wantDelta(t, result, to(2, provider.SubOrchestrationFailed{Details: test.details}),
				provider.OrchestrationCompleted{Output: "error: " + test.want})
		})
	}
}
