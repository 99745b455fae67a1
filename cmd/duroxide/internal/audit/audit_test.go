package audit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/audit"
	"github.com/duroxide/duroxide-go/provider"
)

const instance = "order-1"

// history numbers the kinds from 1. A kind may stand in an answer, which names
// its source.
func history(kinds ...provider.EventKind) []provider.Event {
	events := make([]provider.Event, 0, len(kinds))
	for i, kind := range kinds {
		event := provider.Event{EventID: uint64(i + 1), InstanceID: instance, ExecutionID: 1, Kind: kind}
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

var (
	started   = provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"}
	scheduled = provider.ActivityScheduled{Name: "Charge"}
	done      = provider.ActivityCompleted{Result: "ok"}
	end       = provider.OrchestrationCompleted{Output: "ok"}
)

func TestSoundHistories(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events []provider.Event
		want   audit.Report
	}{
		"every kind of wait is answered": {
			events: history(
				started,
				scheduled, answer{done, 2},
				provider.TimerCreated{FireAtMs: 5}, answer{provider.TimerFired{FireAtMs: 5}, 4},
				provider.SubOrchestrationScheduled{Name: "Ship"}, answer{provider.SubOrchestrationCompleted{}, 6},
				provider.ExternalSubscribed{Name: "paid"}, provider.ExternalEvent{Name: "paid"},
				provider.QueueSubscribed{Name: "inbox"}, provider.QueueEventDelivered{Name: "inbox"},
				provider.CustomStatusUpdated{}, end,
			),
			want: audit.Report{Activities: []uint64{2}, Results: []uint64{2}, End: end},
		},
		"results come in any order": {
			events: history(started, scheduled, scheduled, answer{done, 3}, answer{done, 2}, end),
			want:   audit.Report{Activities: []uint64{2, 3}, Results: []uint64{3, 2}, End: end},
		},
		"it still runs": {
			events: history(started, scheduled, scheduled, answer{done, 3}),
			want:   audit.Report{Activities: []uint64{2, 3}, Results: []uint64{3}, Unanswered: []uint64{2}},
		},
		"what is called off may follow the end": {
			events: history(
				started, scheduled, provider.ExternalSubscribed{Name: "paid"}, end,
				answer{provider.ActivityCancelRequested{}, 2}, answer{provider.ExternalSubscribedCancelled{}, 3},
			),
			want: audit.Report{Activities: []uint64{2}, Unanswered: []uint64{2}, End: end},
		},
		"an event that nobody waits for is lost": {
			events: history(
				started, provider.ExternalEvent{Name: "paid"},
				provider.ExternalSubscribed{Name: "paid"}, provider.ExternalEvent{Name: "shipped"},
			),
			want: audit.Report{Unanswered: []uint64{3}, Lost: []uint64{2, 4}},
		},
		"waits of one name are served in their order": {
			events: history(
				started, provider.QueueSubscribed{Name: "inbox"}, provider.QueueSubscribed{Name: "inbox"},
				provider.QueueEventDelivered{Name: "inbox"},
			),
			want: audit.Report{Unanswered: []uint64{3}},
		},
		"a message is kept until somebody waits for it": {
			events: history(
				started, provider.QueueEventDelivered{Name: "inbox"}, provider.QueueEventDelivered{Name: "other"},
				provider.QueueSubscribed{Name: "inbox"}, end,
			),
			want: audit.Report{Lost: []uint64{3}, End: end},
		},
		"the next execution has the messages that are left": {
			events: history(
				started, provider.QueueEventDelivered{Name: "inbox"}, provider.OrchestrationContinuedAsNew{},
			),
			want: audit.Report{End: provider.OrchestrationContinuedAsNew{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := audit.History(instance, 1, test.events)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnsoundHistories(t *testing.T) {
	t.Parallel()
	renumbered := func(events []provider.Event, ids ...uint64) []provider.Event {
		for i := range events {
			events[i].EventID = ids[i]
		}
		return events
	}
	foreign := history(started, scheduled)
	foreign[1].InstanceID = "order-2"
	for name, test := range map[string]struct {
		events []provider.Event
		want   string
	}{
		"nothing":                    {nil, "the history is empty"},
		"a gap":                      {renumbered(history(started, scheduled, end), 1, 2, 4), "event 4 is at position 3"},
		"an event twice":             {renumbered(history(started, scheduled, scheduled), 1, 2, 2), "event 2 is at position 3"},
		"another instance's event":   {foreign, `event 2 belongs to execution 1 of "order-2"`},
		"no start":                   {history(scheduled), "event 1 is ActivityScheduled"},
		"two starts":                 {history(started, started), "event 2 is OrchestrationStarted"},
		"a result counted twice":     {history(started, scheduled, answer{done, 2}, answer{done, 2}), "event 4, ActivityCompleted, answers event 2, which waits for no such answer"},
		"a result of nothing":        {history(started, answer{done, 7}), "event 2, ActivityCompleted, answers event 7, which"},
		"a result of something else": {history(started, provider.TimerCreated{}, answer{done, 2}), "event 3, ActivityCompleted, answers event 2, which"},
		"a timer fired twice": {
			history(started, provider.TimerCreated{}, answer{provider.TimerFired{}, 2}, answer{provider.TimerFired{}, 2}),
			"event 4, TimerFired, answers event 2, which",
		},
		"a result without source": {history(started, scheduled, done), "event 3, ActivityCompleted, has no source event"},
		"two ends":                {history(started, end, end), "event 3, OrchestrationCompleted, follows the end"},
		"work after the end":      {history(started, end, scheduled), "event 3, ActivityScheduled, follows the end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(audit.History(instance, 1, test.events).Problems, "\n")
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("problems are\n\t%s\nwant\n\t%s", got, test.want)
			}
		})
	}
}
