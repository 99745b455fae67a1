package turns

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func event(id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{EventID: id, InstanceID: "i", ExecutionID: 1, DuroxideVersion: "0.1.26", Kind: kind}
}

var (
	begun       = event(1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4))})
	completed   = event(2, provider.OrchestrationCompleted{})
	failed      = event(2, provider.OrchestrationFailed{Details: provider.InfrastructureFailure{}})
	endedByNext = event(2, provider.OrchestrationContinuedAsNew{Input: "next"})
	cancelled   = event(3, provider.ActivityCancelRequested{Reason: "orchestration_terminal_continued_as_new"})

	next      = provider.ContinueAsNewItem{Instance: "i", Orchestration: "Order", Input: "next", CarryForwardEvents: []provider.CarriedMessage{{Name: "q", Data: "m"}}, InitialCustomStatus: new("s")}
	duplicate = provider.StartOrchestrationItem{Instance: "i", Orchestration: "Other", Input: "other", Version: new("9.0.0"), ExecutionID: 1}
	raised    = provider.ExternalRaisedItem{Instance: "i", Name: "e"}
	late      = provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: 2}
)

func newBatch(past []provider.Event, messages ...provider.WorkItem) Batch {
	return Batch{Item: &provider.OrchestrationItem{
		Instance: "i", OrchestrationName: "Row", Version: "0.9.0", ExecutionID: 1, History: past, Messages: messages,
	}}
}

func TestEndOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		past []provider.Event
		want End
	}{
		{"none", nil, Open},
		{"running", []provider.Event{begun}, Open},
		{"completed", []provider.Event{begun, completed}, Ended},
		{"failed", []provider.Event{begun, failed}, Ended},
		{"continued", []provider.Event{begun, endedByNext}, Continued},
		{"continued, with cancellations behind", []provider.Event{begun, endedByNext, cancelled}, Continued},
		{"continued and then poisoned", []provider.Event{begun, endedByNext, failed}, Ended},
	} {
		if got := EndOf(test.past); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// Where a turn begins: history is binding, and of several starts the one that
// continues (§7.5, rows 4 to 8).
func TestBegin(t *testing.T) {
	t.Parallel()
	first := provider.StartOrchestrationItem{
		Instance: "i", Orchestration: "Order", Input: "in", Version: new("1.2.0"),
		ParentInstance: new("p"), ParentID: new(uint64(4)), ExecutionID: 1,
	}
	recorded := begun.Kind.(provider.OrchestrationStarted)
	renewed := provider.OrchestrationStarted{
		Name: "Order", Input: "next", CarryForwardEvents: next.CarryForwardEvents, InitialCustomStatus: new("s"),
	}
	withParent := renewed
	withParent.ParentInstance, withParent.ParentID = new("p"), new(uint64(4))
	stamped, told := first, next
	stamped.ParentExecutionID = new(uint64(7))
	told.ParentInstance, told.ParentID, told.ParentExecutionID = new("q"), new(uint64(5)), new(uint64(7))
	byMessage := renewed
	byMessage.ParentInstance, byMessage.ParentID, byMessage.ParentExecutionID = told.ParentInstance, told.ParentID, told.ParentExecutionID
	stampedBegun := begun
	begunStamped := recorded
	begunStamped.ParentExecutionID = new(uint64(7))
	stampedBegun.Kind = begunStamped
	byHistory := withParent
	byHistory.ParentExecutionID = new(uint64(7))
	exact := next
	exact.Version = new("2.0.0")
	for _, test := range []struct {
		name     string
		past     []provider.Event
		messages []provider.WorkItem
		want     Begin
	}{
		{
			name: "start", messages: []provider.WorkItem{raised, first, duplicate},
			want: Begin{ExecutionID: 1, Version: "1.2.0", Started: provider.OrchestrationStarted{
				Name: "Order", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4)),
			}},
		},
		{
			name: "start with a parent stamp", messages: []provider.WorkItem{stamped},
			want: Begin{ExecutionID: 1, Version: "1.2.0", Started: provider.OrchestrationStarted{
				Name: "Order", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(7)),
			}},
		},
		{
			name: "continue, told of the parent", past: []provider.Event{begun, endedByNext}, messages: []provider.WorkItem{told},
			want: Begin{ExecutionID: 2, Started: byMessage},
		},
		{
			name: "continue an execution with a parent stamp, not told", past: []provider.Event{stampedBegun, endedByNext},
			messages: []provider.WorkItem{next},
			want:     Begin{ExecutionID: 2, Started: byHistory},
		},
		{
			name: "running, with a duplicate start", past: []provider.Event{begun}, messages: []provider.WorkItem{duplicate, raised},
			want: Begin{ExecutionID: 1, History: []provider.Event{begun}, Started: recorded, Version: "1.0.0"},
		},
		{
			name: "running, with a stale message to continue", past: []provider.Event{begun}, messages: []provider.WorkItem{next},
			want: Begin{ExecutionID: 1, History: []provider.Event{begun}, Started: recorded, Version: "1.0.0"},
		},
		{
			name: "continue", past: []provider.Event{begun, endedByNext, cancelled}, messages: []provider.WorkItem{raised, next},
			want: Begin{ExecutionID: 2, Started: withParent},
		},
		{
			name: "continue beside a duplicate start", past: []provider.Event{begun, endedByNext}, messages: []provider.WorkItem{duplicate, exact},
			want: Begin{ExecutionID: 2, Started: withParent, Version: "2.0.0"},
		},
		{
			name: "continue an instance that was deleted", messages: []provider.WorkItem{next},
			want: Begin{ExecutionID: 1, Started: renewed},
		},
		{
			name: "history without a beginning", past: []provider.Event{completed}, messages: []provider.WorkItem{raised},
			want: Begin{
				ExecutionID: 1, History: []provider.Event{completed}, Version: "0.9.0",
				Started: provider.OrchestrationStarted{Name: "Row", Version: "0.9.0"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := newBatch(test.past, test.messages...).Begin()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("begin (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := newBatch(nil, raised).Begin(); err == nil {
		t.Error("a batch without history and start began")
	}
}

// Starts are no messages.
func TestMessages(t *testing.T) {
	t.Parallel()
	batch := newBatch([]provider.Event{begun, endedByNext}, raised, next, duplicate, late)
	b, err := batch.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]provider.WorkItem{raised, late}, b.Messages(batch.Item.Messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestSupported(t *testing.T) {
	t.Parallel()
	pinned := func(version string) []provider.Event {
		e := begun
		e.DuroxideVersion = version
		return []provider.Event{e}
	}
	supported := []provider.VersionRange{{Max: provider.Version{Minor: 1, Patch: 26}}}
	for version, want := range map[string]bool{"0.1.26": true, "0.0.1": true, "0.1.27": false, "1.0.0": false, "unreadable": true} {
		if got := newBatch(pinned(version), raised).Unsupported(supported) == ""; got != want {
			t.Errorf("%s: %t", version, got)
		}
		// The next execution is pinned anew.
		if newBatch(append(pinned(version), endedByNext), next).Unsupported(supported) != "" {
			t.Errorf("%s: the next execution is not taken", version)
		}
	}
}
