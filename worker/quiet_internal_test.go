package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// A store that is away for an hour is told eleven times and not 72,000 times: at once, after
// 10 s, 20 s more, and so on up to every ten minutes; and once more when it is back.
func TestOutageIsToldEverMoreRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := outage{logger: slog.New(slog.NewTextHandler(&log, nil)), failing: map[string]int{}}
		var told []int // seconds
		began, seen := time.Now(), 0
		for time.Since(began) < time.Hour {
			o.observe(t.Context(), "fetch_work_item", errors.New("away"))
			o.observe(t.Context(), "fetch_orchestration_item", errors.New("away"))
			if n := strings.Count(log.String(), "level=ERROR"); n > seen {
				told, seen = append(told, int(time.Since(began).Seconds())), n
			}
			time.Sleep(100 * time.Millisecond)
		}
		if diff := cmp.Diff([]int{0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430, 3030}, told); diff != "" {
			t.Errorf("told at (-want +got):\n%s", diff)
		}
		o.observe(t.Context(), "fetch_work_item", nil)
		if !o.under() || strings.Contains(log.String(), "the store is back") {
			t.Error("taken for back while another operation fails")
		}
		for range 3 {
			o.observe(t.Context(), "fetch_orchestration_item", nil)
		}
		if o.under() || strings.Count(log.String(), `level=WARN msg="the store is back"`) != 1 {
			t.Errorf("not told, once, that it is back:\n%s", &log)
		}
	})
}

// A fetch that ended with the worker is no outage.
func TestShutdownIsNoOutage(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := outage{logger: slog.New(slog.DiscardHandler), failing: map[string]int{}}
	o.observe(ctx, "fetch_work_item", ctx.Err())
	if o.under() {
		t.Error("taken for an outage")
	}
}

// Only the history knows what other workers have done with an activity.
func TestAwaited(t *testing.T) {
	t.Parallel()
	history := func(kinds ...provider.EventKind) []provider.Event {
		events := []provider.Event{{EventID: 1, Kind: provider.OrchestrationStarted{}}, {EventID: 2, Kind: provider.ActivityScheduled{}}}
		for i, kind := range kinds {
			events = append(events, provider.Event{EventID: uint64(i + 3), SourceEventID: new(uint64(2)), Kind: kind})
		}
		return events
	}
	for name, test := range map[string]struct {
		history []provider.Event
		want    bool
	}{
		"open":                 {history(), true},
		"another came":         {history(provider.TimerFired{}), true},
		"completed":            {history(provider.ActivityCompleted{}), false},
		"failed":               {history(provider.ActivityFailed{}), false},
		"cancelled":            {history(provider.ActivityCancelRequested{}), false},
		"the execution ended":  {history(provider.OrchestrationCompleted{}), false},
		"the instance is gone": {nil, false},
	} {
		if got := awaited(test.history, 2); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
