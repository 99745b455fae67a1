package outage

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
		o := New(slog.New(slog.NewTextHandler(&log, nil)))
		var told []int // seconds
		began, seen := time.Now(), 0
		for time.Since(began) < time.Hour {
			o.Observe(t.Context(), "fetch_work_item", errors.New("away"))
			o.Observe(t.Context(), "fetch_orchestration_item", errors.New("away"))
			if n := strings.Count(log.String(), "level=ERROR"); n > seen {
				told, seen = append(told, int(time.Since(began).Seconds())), n
			}
			time.Sleep(100 * time.Millisecond)
		}
		if diff := cmp.Diff([]int{0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430, 3030}, told); diff != "" {
			t.Errorf("told at (-want +got):\n%s", diff)
		}
		o.Observe(t.Context(), "fetch_work_item", nil)
		if !o.Ongoing() || strings.Contains(log.String(), "the store is back") {
			t.Error("taken for back while another operation fails")
		}
		for range 3 {
			o.Observe(t.Context(), "fetch_orchestration_item", nil)
		}
		if o.Ongoing() || strings.Count(log.String(), `level=WARN msg="the store is back"`) != 1 {
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
		o := New(slog.New(slog.NewTextHandler(&log, nil)))
		counts := func() (away, back int) {
			return strings.Count(log.String(), "level=ERROR"), strings.Count(log.String(), `level=WARN msg="the store is back"`)
		}
		for began := time.Now(); time.Since(began) < time.Hour; time.Sleep(100 * time.Millisecond) {
			o.Observe(t.Context(), "take", errors.New("busy"))
			time.Sleep(100 * time.Millisecond)
			o.Observe(t.Context(), "take", nil)
		}
		away, back := counts()
		if away < 2 || away > 15 || away != back {
			t.Errorf("told %d times that it is away, and %d times that it is back", away, back)
		}
		for range 11 {
			o.Observe(t.Context(), "take", errors.New("away"))
			time.Sleep(100 * time.Millisecond)
		}
		o.Observe(t.Context(), "take", nil)
		if again, backAgain := counts(); again != away+1 || backAgain != back+1 {
			t.Errorf("an outage of a second was told %d times, and its end %d times", again-away, backAgain-back)
		}
	})
}

// A fetch that ended with the worker is no outage.
func TestShutdownIsNoOutage(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := New(slog.New(slog.DiscardHandler))
	o.Observe(ctx, "fetch_work_item", ctx.Err())
	if o.Ongoing() {
		t.Error("taken for an outage")
	}
}

// How long a dispatcher waits before it looks again.
func TestLookBackoff(t *testing.T) {
	t.Parallel()
	transient, permanent := provider.Retryable("fetch", "busy", nil), provider.Permanent("fetch", "no", nil)
	synctest.Test(t, func(t *testing.T) {
		b := NewBackoff(New(slog.New(slog.DiscardHandler)))
		var got []time.Duration
		for _, err := range []error{
			nil, transient, transient, transient, transient, transient, transient, permanent, transient, nil, transient,
		} {
			before := time.Now()
			b.Wait(t.Context(), err)
			got = append(got, time.Since(before))
		}
		ms := time.Millisecond
		want := []time.Duration{0, 200 * ms, 400 * ms, 500 * ms, 500 * ms, 500 * ms, 500 * ms, 100 * ms, 500 * ms, 0, 200 * ms}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
	})
}

// Whoever waits for the store goes on when a call succeeds that had failed.
func TestRecoveryEndsPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := New(slog.New(slog.DiscardHandler))
		busy := provider.Retryable("ack", "busy", nil)
		o.Observe(t.Context(), "fetch_work_item", busy)
		began := time.Now()
		time.AfterFunc(time.Second, func() { o.Observe(t.Context(), "fetch_work_item", nil) })
		_ = o.Pause(t.Context(), time.Hour)
		if took := time.Since(began); took != time.Second {
			t.Errorf("paused for %v", took)
		}
		time.AfterFunc(time.Second, o.Recovered)
		_ = o.Pause(t.Context(), time.Hour)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("paused for %v", took)
		}
		look := Backoff{watch: o, failures: 7}
		look.Wait(t.Context(), busy)
		if took := time.Since(began); took != 2*time.Second+longestLook {
			t.Errorf("the next look is after %v", took-2*time.Second)
		}
	})
}
