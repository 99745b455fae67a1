package worker

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Only the history knows what other workers have done with an activity.
func TestFateOfAnActivity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		history []provider.Event
		want    fate
	}{
		"open":                 {sentActivity(), awaited},
		"another came":         {sentActivity(provider.TimerFired{}), awaited},
		"completed":            {sentActivity(provider.ActivityCompleted{}), answered},
		"failed":               {sentActivity(provider.ActivityFailed{}), answered},
		"completed at the end": {sentActivity(provider.ActivityCompleted{}, provider.OrchestrationCompleted{}), answered},
		"cancelled":            {sentActivity(provider.ActivityCancelRequested{}), withdrawn},
		"the execution ended":  {sentActivity(provider.OrchestrationCompleted{}), withdrawn},
		"the instance is gone": {nil, withdrawn},
	} {
		if got := fateOf(test.history, 2); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// sentActivity is a history with activity 2 and events about it.
func sentActivity(kinds ...provider.EventKind) []provider.Event {
	events := []provider.Event{{EventID: 1, Kind: provider.OrchestrationStarted{}}, {EventID: 2, Kind: provider.ActivityScheduled{}}}
	for i, kind := range kinds {
		events = append(events, provider.Event{EventID: uint64(i + 3), SourceEventID: new(uint64(2)), Kind: kind})
	}
	return events
}

// readHistories is a store with these histories, which counts the reads.
type readHistories struct {
	provider.Store

	events map[string][]provider.Event
	reads  int
}

func (h *readHistories) ReadWithExecution(_ context.Context, instance string, _ uint64) ([]provider.Event, error) {
	h.reads++
	return h.events[instance], nil
}

// Many activities of one tag whose results other workers receive don't hide that nobody serves another tag, and cost
// one read.
func TestServedTagHidesNoOther(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	store := &readHistories{events: map[string][]provider.Event{"alone": sentActivity(), "later": sentActivity()}}
	w := &Worker{store: store, options: settings{Logger: slog.New(slog.NewTextHandler(&log, nil))}, unserved: unserved{
		routes: map[provider.ActivityRef]route{}, open: map[route]map[provider.ActivityRef]sent{}, told: map[route]bool{},
	}}
	send := func(instance, tag string) {
		w.unserved.add([]provider.ActivityExecuteItem{{Instance: instance, ExecutionID: 1, ID: 2, Name: "Act", Tag: &tag}})
	}
	look := func() (told int) {
		for _, route := range w.unserved.overdue(time.Now().Add(time.Hour)) {
			w.tellUnserved(t.Context(), route)
		}
		defer log.Reset()
		return strings.Count(log.String(), "an activity has no result yet")
	}
	for i := range maxSent {
		instance := fmt.Sprint(i)
		send(instance, "busy")
		store.events[instance] = sentActivity(provider.ActivityCompleted{})
	}
	send("alone", "nobody's")
	if told := look(); told != 1 || store.reads != 2 {
		t.Errorf("told %d times after %d reads", told, store.reads)
	}
	send("later", "busy")
	if told := look(); told != 1 {
		t.Errorf("told %d times when the busy tag was left alone", told)
	}
}
