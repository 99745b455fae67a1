// Package outage notices that a store is away, and says so in the log: when it goes, ever more rarely while it is away,
// and when it is back.
//
// All parts of a worker report their calls to one [Watch], or each would log the same. Whoever repeats a failed call
// waits in [Watch.Pause], which ends when another call succeeds. A [Backoff] paces calls that look for work.
package outage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// How often a store that is away is told again: after firstReminder, then after twice as
// long each time, up to maxReminder.
const (
	firstReminder = 10 * time.Second
	maxReminder   = 10 * time.Minute
)

// silence is how long a call may take, beyond what it may wait for work, before the store
// counts as away.
const silence = 5 * time.Second

// shortest is how long an outage lasts that is told also shortly after another. A store that fails
// now and then would otherwise be told away and back again and again.
const shortest = time.Second

// Watch tells of a store that is away.
type Watch struct {
	logger *slog.Logger
	// Closed is called when the store was closed. It is set before the first call is observed.
	Closed func()

	mu sync.Mutex
	// failing counts the failures in a row of each operation that fails.
	failing map[string]int
	// silent counts the calls of each operation that are under way and were told as silent.
	silent map[string]int
	since  time.Time
	// told means that the present outage was told, toldAt is when the last one was, and apart how
	// long after that a short one is not.
	told   bool
	toldAt time.Time
	apart  time.Duration
	// steady is when the last outage ended.
	steady time.Time
	// remind is when the store is told to be away again, and interval how long that was
	// from the time before.
	remind   time.Time
	interval time.Duration
	// back is closed when a call succeeds that had failed before.
	back chan struct{}
}

// New returns a watch that logs there.
func New(logger *slog.Logger) *Watch {
	return &Watch{logger: logger, failing: map[string]int{}, silent: map[string]int{}}
}

// Operations of the store, as the log names them.
const (
	OpFetchTurn = "fetch_orchestration_item"
	OpSettle    = "acknowledge"
	OpFetchWork = "fetch_work_item"
)

// Observe takes note of how a call ended. One that ended with its context says nothing
// about the store.
func (o *Watch) Observe(ctx context.Context, operation string, err error) {
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, provider.ErrClosed) {
		o.Closed()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.answered(ctx, operation)
		return
	}
	o.failed(ctx, operation, err)
}

// Expect takes note of a call that does not return: after silence beyond what it may wait, and
// then as often as it is time to tell again. returned is called when the call has returned.
func (o *Watch) Expect(ctx context.Context, operation string, wait time.Duration) (returned func()) {
	began, over, silent := time.Now(), false, false
	var timer *time.Timer
	o.mu.Lock()
	defer o.mu.Unlock()
	timer = time.AfterFunc(min(wait, math.MaxInt64-silence)+silence, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !over && ctx.Err() == nil {
			if !silent {
				silent = true
				o.silent[operation]++
			}
			o.failed(ctx, operation, fmt.Errorf("a call has not returned for %v", time.Since(began).Round(time.Second)))
			timer.Reset(silence)
		}
	})
	return func() {
		timer.Stop()
		o.mu.Lock()
		defer o.mu.Unlock()
		over = true
		if silent {
			o.silent[operation]--
		}
	}
}

// failed notes a failure. The caller has the mutex.
func (o *Watch) failed(ctx context.Context, operation string, err error) {
	now := time.Now()
	if len(o.failing) == 0 {
		o.since, o.told = now, false
	}
	o.failing[operation]++
	switch {
	case !o.told && now.Sub(o.toldAt) < o.apart && now.Sub(o.since) < shortest:
	case !o.told:
		if now.Sub(o.toldAt) < 2*o.apart {
			o.apart = min(2*o.apart, maxReminder)
		} else {
			o.apart = firstReminder
		}
		o.told, o.toldAt = true, now
		o.interval, o.remind = firstReminder, now.Add(firstReminder)
		o.logger.ErrorContext(ctx, "the store fails; its calls are repeated until it is back", "operation", operation, "error", err)
	case !now.Before(o.remind):
		o.interval = min(2*o.interval, maxReminder)
		o.remind = now.Add(o.interval)
		o.logger.ErrorContext(ctx, "the store still fails", "operations", slices.Sorted(maps.Keys(o.failing)),
			"failing_for", now.Sub(o.since).Round(time.Millisecond), "next_line_in", o.interval, "error", err)
	}
}

func (o *Watch) answered(ctx context.Context, operation string) {
	// Nobody repeats an acknowledgement that did not return and was given up, so another call tells.
	givenUp := o.failing[OpSettle] > 0 && o.silent[OpSettle] == 0
	if o.failing[operation] == 0 && !givenUp {
		return
	}
	delete(o.failing, operation)
	if givenUp {
		delete(o.failing, OpSettle)
	}
	o.wake()
	if len(o.failing) == 0 {
		o.steady = time.Now()
	}
	if len(o.failing) == 0 && o.told {
		o.logger.WarnContext(ctx, "the store is back", "failed_for", time.Since(o.since).Round(time.Millisecond))
	}
}

// Recovered is told of a call that succeeded after it had failed.
func (o *Watch) Recovered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wake()
}

// wake ends all pauses.
func (o *Watch) wake() {
	if o.back != nil {
		close(o.back)
		o.back = nil
	}
}

// Pause waits before a call that failed is made again: for so long, until the store answers
// another call of which the same is true, or until ctx ends, whose error it returns.
func (o *Watch) Pause(ctx context.Context, d time.Duration) error {
	o.mu.Lock()
	if o.back == nil {
		o.back = make(chan struct{})
	}
	back := o.back
	o.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-back:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Ongoing reports whether the store is away.
func (o *Watch) Ongoing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.failing) > 0
}

// SteadySince is since when the store has answered: the zero time if it always did, now
// while it is away.
func (o *Watch) SteadySince() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.failing) > 0 {
		return time.Now()
	}
	return o.steady
}

// longestLook is how often a worker looks whether a store that is away is back.
const longestLook = 500 * time.Millisecond

// Backoff paces looks for work that fail.
type Backoff struct {
	watch    *Watch
	failures int
}

// NewBackoff returns one whose waits end when the store is back.
func NewBackoff(watch *Watch) *Backoff { return &Backoff{watch: watch} }

// Wait waits after a look that failed; nil is one that did not.
func (b *Backoff) Wait(ctx context.Context, err error) {
	switch {
	case err == nil:
		b.failures = 0
	case provider.IsRetryable(err):
		b.failures++
		_ = b.watch.Pause(ctx, min(100*time.Millisecond<<min(b.failures, 10), longestLook))
	default:
		_ = clock.Sleep(ctx, 100*time.Millisecond)
	}
}
