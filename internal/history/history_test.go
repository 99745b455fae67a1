package history_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const instance = "order-1"

var (
	started         = provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"}
	scheduledCharge = provider.ActivityScheduled{Name: "Charge", Input: "7"}
)

// recorded numbers events from 1.
func recorded(kinds ...provider.EventKind) []provider.Event {
	var events []provider.Event
	for i, kind := range kinds {
		events = append(events, provider.Event{
			EventID: uint64(i + 1), InstanceID: instance, ExecutionID: 1, DuroxideVersion: "0.1.30", Kind: kind,
		})
	}
	return events
}

func declined(message string) provider.ErrorDetails {
	return provider.ApplicationFailure{Kind: provider.AppOrchestrationFailed, Message: message}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	odd := recorded(started)
	odd[0].DuroxideVersion = "not a version"
	for _, test := range []struct {
		name  string
		delta []provider.Event
		want  provider.ExecutionMetadata
	}{
		{name: "nothing"},
		{
			name: "work only", delta: recorded(scheduledCharge),
		},
		{
			name: "unreadable framework version", delta: odd,
			want: provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")},
		},
		{
			name:  "cancellations after the end",
			delta: recorded(provider.OrchestrationCompleted{Output: "o"}, provider.ActivityCancelRequested{Reason: "r"}),
			want:  provider.ExecutionMetadata{Status: new(provider.StatusCompleted), Output: new("o")},
		},
		{
			name: "poison",
			delta: recorded(provider.OrchestrationFailed{Details: provider.PoisonFailure{
				AttemptCount: 11, MaxAttempts: 10, MessageType: provider.PoisonOrchestration{Instance: "i", ExecutionID: 1},
			}}),
			want: provider.ExecutionMetadata{
				Status: new(provider.StatusFailed), Output: new("poison: orchestration i exceeded 11 attempts (max 10)"),
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, history.Metadata(test.delta)); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParentMessage(t *testing.T) {
	t.Parallel()
	ended := recorded(provider.OrchestrationCompleted{Output: "o"})
	child := provider.OrchestrationStarted{ParentInstance: new("p"), ParentID: new(uint64(3))}
	stamped := child
	stamped.ParentExecutionID = new(uint64(7))
	for _, test := range []struct {
		name    string
		started provider.OrchestrationStarted
		delta   []provider.Event
		want    provider.WorkItem
	}{
		{name: "root", delta: ended},
		{name: "no event of the parent", started: provider.OrchestrationStarted{ParentInstance: new("p")}, delta: ended},
		{name: "goes on", started: child, delta: recorded(scheduledCharge)},
		{name: "continues as new", started: child, delta: recorded(provider.OrchestrationContinuedAsNew{Input: "i"})},
		{
			name: "completed", started: child, delta: ended,
			want: provider.SubOrchCompletedItem{ParentInstance: "p", ParentID: 3, Result: "o"},
		},
		{
			name: "completed, with a stamp", started: stamped, delta: ended,
			want: provider.SubOrchCompletedItem{ParentInstance: "p", ParentExecutionID: 7, ParentID: 3, Result: "o"},
		},
		{
			name: "failed, with a stamp", started: stamped, delta: recorded(provider.OrchestrationFailed{Details: declined("no")}),
			want: provider.SubOrchFailedItem{ParentInstance: "p", ParentExecutionID: 7, ParentID: 3, Details: declined("no")},
		},
		{
			name: "failed", started: child, delta: recorded(provider.OrchestrationFailed{Details: declined("no")}),
			want: provider.SubOrchFailedItem{ParentInstance: "p", ParentID: 3, Details: declined("no")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, history.ParentMessage(test.started, test.delta)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExecutionOfChild(t *testing.T) {
	t.Parallel()
	past := recorded(started,
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::2"},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "ship-1"},
		scheduledCharge)
	for i := range past {
		past[i].ExecutionID = 5
	}
	for _, test := range []struct {
		name  string
		id    uint64
		child string
		want  uint64
	}{
		{"generated id", 2, instance + "::sub::2", 5},
		{"explicit id", 3, "ship-1", 5},
		{"other child", 3, "ship-2", 0},
		{"other event", 2, "ship-1", 0},
		{"not a child", 4, "ship-1", 0},
		{"no such event", 9, "ship-1", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := history.ExecutionOfChild(past, test.id, instance, test.child); got != test.want {
				t.Errorf("execution = %d, want %d", got, test.want)
			}
		})
	}
}
