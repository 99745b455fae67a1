package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
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

// A store that fails now and then is told ever more rarely, too: not at each failure. An outage of a second or more is
// told all the same.
func TestFlappingStoreIsToldEverMoreRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := outage{logger: slog.New(slog.NewTextHandler(&log, nil)), failing: map[string]int{}}
		counts := func() (away, back int) {
			return strings.Count(log.String(), "level=ERROR"), strings.Count(log.String(), `level=WARN msg="the store is back"`)
		}
		for began := time.Now(); time.Since(began) < time.Hour; time.Sleep(100 * time.Millisecond) {
			o.observe(t.Context(), "take", errors.New("busy"))
			time.Sleep(100 * time.Millisecond)
			o.observe(t.Context(), "take", nil)
		}
		away, back := counts()
		if away < 2 || away > 15 || away != back {
			t.Errorf("told %d times that it is away, and %d times that it is back", away, back)
		}
		for range 11 {
			o.observe(t.Context(), "take", errors.New("away"))
			time.Sleep(100 * time.Millisecond)
		}
		o.observe(t.Context(), "take", nil)
		if again, backAgain := counts(); again != away+1 || backAgain != back+1 {
			t.Errorf("an outage of a second was told %d times, and its end %d times", again-away, backAgain-back)
		}
	})
}

// A store that does not answer is away like one that fails: it is told when a call takes longer
// than it may wait and 5 s more, rarely after that, and once when the store is back.
func TestSilentStoreIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := outage{logger: slog.New(slog.NewTextHandler(&log, nil)), failing: map[string]int{}}
		returned, forEver := o.expect(t.Context(), "take", time.Minute), o.expect(t.Context(), "fetch", math.MaxInt64)
		time.Sleep(time.Minute + silence - 1)
		synctest.Wait()
		returned()
		forEver()
		time.Sleep(time.Minute)
		if log.Len() > 0 {
			t.Errorf("told of a call that returned in time:\n%s", &log)
		}

		s, stop := newSettling(t.Context(), time.Hour, &o, nil)
		if _, err := s.do(func(context.Context) error { time.Sleep(31 * time.Second); return nil }); err != nil {
			t.Error(err)
		}
		stop()
		synctest.Wait()
		for text, want := range map[string]int{
			`level=ERROR msg="the store fails; its calls are repeated until it is back" operation=acknowledge error="a call has not returned for 5s"`: 1,
			`level=ERROR msg="the store still fails"`:           1, // after 10 s, and next after 20 more
			`level=WARN msg="the store is back" failed_for=26s`: 1,
		} {
			if n := strings.Count(log.String(), text); n != want {
				t.Errorf("%d times, want %d: %s\nlog:\n%s", n, want, text, &log)
			}
		}
		if o.under() {
			t.Error("the store is still taken for away")
		}
	})
}

// An acknowledgement that does not return and is given up, as its lease is lost, is not repeated: the store is back
// when it answers something else.
func TestAcknowledgementThatIsGivenUpIsNoLastingOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := outage{logger: slog.New(slog.NewTextHandler(&log, nil)), failing: map[string]int{}}
		work, lost := context.WithCancel(t.Context())
		s, stop := newSettling(work, time.Hour, &o, nil)
		defer stop()
		var settled sync.WaitGroup
		settled.Go(func() {
			_, _ = s.do(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		})
		time.Sleep(silence + time.Second)
		o.observe(t.Context(), opFetchWork, nil)
		if !o.under() {
			t.Error("taken for back while the acknowledgement does not return")
		}
		lost()
		settled.Wait()
		if !o.under() {
			t.Error("taken for back before the store has answered")
		}
		o.observe(t.Context(), opFetchWork, nil)
		if o.under() || strings.Count(log.String(), `msg="the store is back"`) != 1 {
			t.Errorf("still away: %v; log:\n%s", o.under(), &log)
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
	w := &Worker{store: store, options: Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, unserved: unserved{
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
