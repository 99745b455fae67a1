package worker

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func event(id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{EventID: id, InstanceID: "i", ExecutionID: 1, DuroxideVersion: FrameworkVersion, Kind: kind}
}

var (
	begun       = event(1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4))})
	completed   = event(2, provider.OrchestrationCompleted{})
	failed      = event(2, provider.OrchestrationFailed{Details: provider.Infrastructure{}})
	endedByNext = event(2, provider.OrchestrationContinuedAsNew{Input: "next"})
	cancelled   = event(3, provider.ActivityCancelRequested{Reason: "orchestration_terminal_continued_as_new"})

	next      = provider.ContinueAsNewItem{Instance: "i", Orchestration: "Order", Input: "next", CarryForwardEvents: []provider.Pair{{Name: "q", Data: "m"}}, InitialCustomStatus: new("s")}
	duplicate = provider.StartOrchestrationItem{Instance: "i", Orchestration: "Other", Input: "other", Version: new("9.0.0"), ExecutionID: 1}
	raised    = provider.ExternalRaisedItem{Instance: "i", Name: "e"}
	late      = provider.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: 2}
)

func newTurn(past []provider.Event, messages ...provider.WorkItem) *turn {
	item := provider.OrchestrationItem{
		Instance: "i", OrchestrationName: "Row", Version: "0.9.0", ExecutionID: 1, History: past, Messages: messages,
	}
	w := &Worker{options: settings{SupportedVersions: []provider.VersionRange{{Max: provider.Version{Minor: 1, Patch: 26}}}}}
	return &turn{
		worker: w, fetched: &provider.FetchedOrchestration{Item: item, AttemptCount: 1}, item: &item,
		logger: slog.New(slog.DiscardHandler),
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		past []provider.Event
		want historyEnd
	}{
		{"none", nil, open},
		{"running", []provider.Event{begun}, open},
		{"completed", []provider.Event{begun, completed}, ended},
		{"failed", []provider.Event{begun, failed}, ended},
		{"continued", []provider.Event{begun, endedByNext}, continued},
		{"continued, with cancellations behind", []provider.Event{begun, endedByNext, cancelled}, continued},
		{"continued and then poisoned", []provider.Event{begun, endedByNext, failed}, ended},
	} {
		if got := terminal(test.past); got != test.want {
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
		want     begin
	}{
		{
			name: "start", messages: []provider.WorkItem{raised, first, duplicate},
			want: begin{executionID: 1, version: "1.2.0", started: provider.OrchestrationStarted{
				Name: "Order", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4)),
			}},
		},
		{
			name: "start with a parent stamp", messages: []provider.WorkItem{stamped},
			want: begin{executionID: 1, version: "1.2.0", started: provider.OrchestrationStarted{
				Name: "Order", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(7)),
			}},
		},
		{
			name: "continue, told of the parent", past: []provider.Event{begun, endedByNext}, messages: []provider.WorkItem{told},
			want: begin{executionID: 2, started: byMessage},
		},
		{
			name: "continue an execution with a parent stamp, not told", past: []provider.Event{stampedBegun, endedByNext},
			messages: []provider.WorkItem{next},
			want:     begin{executionID: 2, started: byHistory},
		},
		{
			name: "running, with a duplicate start", past: []provider.Event{begun}, messages: []provider.WorkItem{duplicate, raised},
			want: begin{executionID: 1, history: []provider.Event{begun}, started: recorded, version: "1.0.0"},
		},
		{
			name: "running, with a stale message to continue", past: []provider.Event{begun}, messages: []provider.WorkItem{next},
			want: begin{executionID: 1, history: []provider.Event{begun}, started: recorded, version: "1.0.0"},
		},
		{
			name: "continue", past: []provider.Event{begun, endedByNext, cancelled}, messages: []provider.WorkItem{raised, next},
			want: begin{executionID: 2, started: withParent},
		},
		{
			name: "continue beside a duplicate start", past: []provider.Event{begun, endedByNext}, messages: []provider.WorkItem{duplicate, exact},
			want: begin{executionID: 2, started: withParent, version: "2.0.0"},
		},
		{
			name: "continue an instance that was deleted", messages: []provider.WorkItem{next},
			want: begin{executionID: 1, started: renewed},
		},
		{
			name: "history without a beginning", past: []provider.Event{completed}, messages: []provider.WorkItem{raised},
			want: begin{
				executionID: 1, history: []provider.Event{completed}, version: "0.9.0",
				started: provider.OrchestrationStarted{Name: "Row", Version: "0.9.0"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := newTurn(test.past, test.messages...).begin()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(begin{})); diff != "" {
				t.Errorf("begin (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := newTurn(nil, raised).begin(); err == nil {
		t.Error("a batch without history and start began")
	}
}

// Starts are no messages.
func TestMessages(t *testing.T) {
	t.Parallel()
	turn := newTurn([]provider.Event{begun, endedByNext}, raised, next, duplicate, late)
	b, err := turn.begin()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]provider.WorkItem{raised, late}, b.messages(turn.item.Messages)); diff != "" {
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
	for version, want := range map[string]bool{"0.1.26": true, "0.0.1": true, "0.1.27": false, "1.0.0": false, "unreadable": true} {
		if got := newTurn(pinned(version), raised).unsupported() == ""; got != want {
			t.Errorf("%s: %t", version, got)
		}
		// The next execution is pinned anew.
		if newTurn(append(pinned(version), endedByNext), next).unsupported() != "" {
			t.Errorf("%s: the next execution is not taken", version)
		}
	}
}

func TestFailureDelta(t *testing.T) {
	t.Parallel()
	details := provider.Infrastructure{Operation: "op", Message: "m"}
	kinds := func(events []provider.Event) (list []provider.EventKind) {
		for i, e := range events {
			if e.InstanceID != "i" || e.ExecutionID != 2 || e.TimestampMs == 0 || e.DuroxideVersion != FrameworkVersion {
				t.Errorf("event %d: %+v", i, e)
			}
			list = append(list, e.Kind)
		}
		return list
	}
	start := provider.OrchestrationStarted{Name: "Order"}
	fresh := failureDelta("i", 2, nil, start, details)
	if diff := cmp.Diff([]provider.EventKind{start, provider.OrchestrationFailed{Details: details}}, kinds(fresh)); diff != "" {
		t.Errorf("first turn (-want +got):\n%s", diff)
	}
	later := failureDelta("i", 2, []provider.Event{begun, event(7, provider.TimerCreated{})}, start, details)
	if diff := cmp.Diff([]provider.EventKind{provider.OrchestrationFailed{Details: details}}, kinds(later)); diff != "" || later[0].EventID != 8 {
		t.Errorf("event %d (-want +got):\n%s", later[0].EventID, diff)
	}
}

func TestMessagesJSON(t *testing.T) {
	t.Parallel()
	want := `[{"CancelInstance":{"instance":"i","reason":"r"}},{"ExternalRaised":{"instance":"i","name":"e","data":""}}]`
	if got := messagesJSON([]provider.WorkItem{provider.CancelInstanceItem{Instance: "i", Reason: "r"}, raised}); got != want {
		t.Errorf("JSON %s", got)
	}
	if got := messagesJSON(nil); got != "[]" {
		t.Errorf("JSON of nothing %s", got)
	}
}

// The built-in activities are there without being registered.
func TestBuiltInActivities(t *testing.T) {
	t.Parallel()
	w, err := New(keyed{values: map[string]string{"i/k": "v"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, input string) string {
		fn, ok := w.handler("__duroxide_syscall:" + name)
		if !ok {
			t.Fatalf("%s is not there", name)
		}
		out, err := fn(t.Context(), input)
		if err != nil {
			return "error: " + err.Error()
		}
		return out
	}
	if a, b := call("new_guid", ""), call("new_guid", ""); a == b || len(a) != 36 {
		t.Errorf("GUIDs %s and %s", a, b)
	}
	if ms := call("utc_now_ms", ""); len(ms) != 13 || strings.Trim(ms, "0123456789") != "" {
		t.Errorf("time %s", ms)
	}
	for input, want := range map[string]string{
		`{"instance_id":"i","key":"k"}`:   `"v"`,
		`{"instance_id":"i","key":"l"}`:   `null`,
		`{"instance_id":"bad","key":"k"}`: `error: reading a key of instance "bad": no such store`,
		`secret`:                          "error: reading a key of another instance: the request is not valid JSON",
	} {
		if got := call("get_kv_value", input); got != want {
			t.Errorf("%s: %s", input, got)
		}
	}
	if _, ok := w.handler("unknown"); ok {
		t.Error("an unknown activity has a handler")
	}
}
