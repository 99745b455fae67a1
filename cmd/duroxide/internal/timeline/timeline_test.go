package timeline_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/timeline"
	"github.com/duroxide/duroxide-go/provider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// written is a history in which event 1 happens at second 1000, and each kind 5 ms
// after the one before.
func written(kinds ...provider.EventKind) []provider.Event {
	events := make([]provider.Event, 0, len(kinds))
	for i, kind := range kinds {
		event := provider.Event{EventID: uint64(i + 1), InstanceID: "order-1", TimestampMs: 1_000_000 + 5*uint64(i), Kind: kind}
		if to, ok := kind.(answer); ok {
			event.Kind, event.SourceEventID = to.EventKind, &to.source
		}
		events = append(events, event)
	}
	return events
}

type answer struct {
	provider.EventKind

	source uint64
}

// everyKind holds each of the 26 kinds.
func everyKind() []provider.Event {
	failure := provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "card declined"}
	parent, session, status := "batch-7", "printer", "half done"
	return written(
		provider.OrchestrationStarted{Name: "Order", Version: "1.2.0", Input: `{"sku":7}`, ParentInstance: &parent},
		provider.ActivityScheduled{Name: "Charge", Input: "x\x1b[2J\nsecond line"},
		provider.ActivityScheduled{Name: "Print", Input: "", SessionID: &session},
		answer{provider.ActivityCompleted{Result: "ok"}, 2},
		answer{provider.ActivityFailed{Details: failure}, 3},
		provider.ActivityScheduled{Name: "Slow"},
		answer{provider.ActivityCancelRequested{Reason: "dropped_future"}, 6},
		provider.TimerCreated{FireAtMs: 1_002_000},
		answer{provider.TimerFired{FireAtMs: 1_002_000}, 8},
		provider.ExternalSubscribed{Name: "paid"},
		provider.ExternalEvent{Name: "paid", Data: "yes"},
		provider.ExternalSubscribed{Name: "paid"},
		answer{provider.ExternalSubscribedCancelled{Reason: "dropped_future"}, 12},
		provider.QueueSubscribed{Name: "inbox"},
		provider.QueueEventDelivered{Name: "inbox", Data: "m1"},
		provider.QueueSubscribed{Name: "inbox"},
		answer{provider.QueueSubscriptionCancelled{Reason: "dropped_future"}, 16},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::18", Input: "7"},
		answer{provider.SubOrchestrationCompleted{Result: "sent"}, 18},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::20", Input: "8"},
		answer{provider.SubOrchestrationFailed{Details: failure}, 20},
		provider.SubOrchestrationScheduled{Name: "Ship", Instance: "sub::22", Input: "9"},
		answer{provider.SubOrchestrationCancelRequested{Reason: "dropped_future"}, 22},
		provider.OrchestrationChained{Name: "Audit", Instance: "audit-1", Input: "x"},
		provider.CustomStatusUpdated{Status: &status},
		provider.CustomStatusUpdated{},
		provider.KeyValueSet{Key: "price", Value: "12"},
		provider.KeyValueCleared{Key: "price"},
		provider.KeyValuesCleared{},
		provider.OrchestrationCancelRequested{Reason: "by hand"},
		provider.OrchestrationContinuedAsNew{Input: "next"},
		provider.OrchestrationContinuedAsNew{Input: "next", DroppedMessages: 11},
		provider.OrchestrationStarted{Name: "Order", Version: "1.2.0", ParentInstance: &parent, DroppedMessages: 11},
		provider.OrchestrationStarted{Name: "Order", Version: "1.2.0", DroppedMessages: 14},
		provider.OrchestrationFailed{Details: failure},
		provider.OrchestrationCompleted{Output: "done"},
	)
}

// TestEveryKindIsHere compares the kinds here with those of the codec's golden file, which has all.
func TestEveryKindIsHere(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("../../../../provider/testdata/events.golden")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, match := range regexp.MustCompile(`"type":"(\w+)"`).FindAllStringSubmatch(string(golden), -1) {
		want = append(want, match[1])
	}
	for _, event := range everyKind() {
		got = append(got, event.Kind.Type())
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
		t.Errorf("kinds (-codec +everyKind): add what is missing to everyKind, then go test -update .\n%s", diff)
	}
}

// fanOut is a history with like events in a row.
func fanOut() []provider.Event {
	kinds := []provider.EventKind{provider.OrchestrationStarted{Name: "Squares", Version: "1.0.0", Input: "4"}}
	for range 4 {
		kinds = append(kinds, provider.ActivityScheduled{Name: "Square", Input: "1"})
	}
	for id := uint64(2); id < 6; id++ {
		kinds = append(kinds, answer{provider.ActivityCompleted{Result: "1"}, id})
	}
	return written(append(kinds, provider.OrchestrationCompleted{Output: "4"})...)
}

func TestTimelines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events  []provider.Event
		options timeline.Options
	}{
		"sizes":    {everyKind(), timeline.Options{}},
		"data":     {everyKind(), timeline.Options{Data: true}},
		"folded":   {fanOut(), timeline.Options{Fold: true, Data: true}},
		"unfolded": {fanOut(), timeline.Options{}},
		"cut": {fanOut(), timeline.Options{Fold: true, Cuts: []timeline.Cut{
			{Events: 8, Text: "the worker was killed"}, {Events: 10, Text: "and again"},
		}}},
		"empty": {nil, timeline.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			timeline.Write(screen.New(&out, os.Getenv), test.events, test.options)
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("timeline (-want +got); -update accepts it:\n%s", diff)
			}
		})
	}
}
