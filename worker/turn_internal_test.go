package worker

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func event(id uint64, kind provider.EventKind) provider.Event {
	return provider.Event{EventID: id, InstanceID: "i", ExecutionID: 1, DuroxideVersion: provider.FrameworkVersion, Kind: kind}
}

var (
	begun       = event(1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "in", ParentInstance: new("p"), ParentID: new(uint64(4))})
	completed   = event(2, provider.OrchestrationCompleted{})
	endedByNext = event(2, provider.OrchestrationContinuedAsNew{Input: "next"})

	raised = provider.ExternalRaisedItem{Instance: "i", Name: "e"}
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

func TestFailureDelta(t *testing.T) {
	t.Parallel()
	details := provider.InfrastructureFailure{Operation: "op", Message: "m"}
	kinds := func(events []provider.Event) (list []provider.EventKind) {
		for i, e := range events {
			if e.InstanceID != "i" || e.ExecutionID != 2 || e.TimestampMs == 0 || e.DuroxideVersion != provider.FrameworkVersion {
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
