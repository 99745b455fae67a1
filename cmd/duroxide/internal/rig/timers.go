package rig

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// TimersConfig is one configuration of the rig of timers.
type TimersConfig struct {
	Store provider.Provider
	// Commits counts the transactions below the store, nil when nothing does.
	Commits *CommitCounter
	// Slots is the number of turns and of activities at a time.
	Slots int
	// Timers is how many are due together, each of an orchestration of its own.
	Timers int
	// Ahead is how long before that the first is set. All must be set by then.
	Ahead  time.Duration
	Logger *slog.Logger
}

// Timers is what many timers came to that were due together. Durations are nanoseconds in Go
// and milliseconds in JSON.
type Timers struct {
	Timers int `json:"timers"`
	Slots  int `json:"slots"`
	// Late is how long after its time a timer let its orchestration go on.
	Late Latency `json:"late_ms"`
	// Within is the share of timers that were late by [TimersWithin] at most.
	Within float64 `json:"within_150_ms"`

	Costs
}

// TimersWithin is how late a timer may be for [Timers.Within].
const TimersWithin = 150 * time.Millisecond

// RunTimers sets the timers, on a store that has passed [MustBeEmpty], and takes the time at which the orchestrations
// go on.
func RunTimers(ctx context.Context, config TimersConfig) (Timers, error) {
	m, err := startMeter(ctx, config.Store, config.Commits)
	if err != nil {
		return Timers{}, err
	}
	defer m.rss.Stop()
	due := time.Now().Add(config.Ahead)
	wait, fired := waiting(due, config.Timers)
	stop, err := startWorker(ctx, m.store, m.work, config.Slots, config.Logger, wait)
	if err != nil {
		return Timers{}, err
	}
	defer stop()
	if err := startAll(ctx, m.client(), wait, config.Timers); err != nil {
		return Timers{}, err
	}
	if !time.Now().Before(due) {
		return Timers{}, fmt.Errorf("the timers were due before all of them were set: give --ahead more than %v", config.Ahead)
	}
	late := make([]time.Duration, 0, config.Timers)
	for range config.Timers {
		select {
		case at := <-fired:
			late = append(late, at.Sub(due))
		case <-ctx.Done():
			return Timers{}, ctx.Err()
		}
	}
	costs, _, err := m.read(config.Timers, stop)
	t := Timers{Timers: config.Timers, Slots: config.Slots, Late: latencyOf(late), Costs: costs}
	for _, d := range late {
		if d <= TimersWithin {
			t.Within += 1 / float64(len(late))
		}
	}
	return t, err
}

// waiting is an orchestration that waits until a time; fired gets the moment at which each of
// so many has gone on.
func waiting(due time.Time, timers int) (orchestration.Definition[int, int], <-chan time.Time) {
	fired := make(chan time.Time, timers)
	told := make([]atomic.Bool, timers)
	return orchestration.New("Wait", func(ctx *orchestration.Context, n int) (int, error) {
		left := time.Until(due) //duroxide:deterministic a replay takes the time that was recorded
		if err := ctx.Sleep(left); err != nil {
			return n, err
		}
		if told[n].CompareAndSwap(false, true) { //duroxide:deterministic a turn may be replayed, and the first tells the rig
			fired <- time.Now() //duroxide:deterministic there is room for all, and nothing is decided by it
		}
		return n, nil
	}), fired
}

// startAll starts so many orchestrations on a store that was empty, which are given their
// numbers, and returns when the first turn of each is committed.
func startAll(ctx context.Context, c *client.Client, definition orchestration.Definition[int, int], n int) error {
	const atATime = 64
	group, starting := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for i := range n {
		group.Go(func() error {
			_, err := client.Start(starting, c, definition, "bench-"+strconv.Itoa(i), i)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	admin, err := c.Admin()
	if err != nil {
		return err
	}
	for {
		metrics, err := admin.GetSystemMetrics(ctx)
		if err != nil || metrics.TotalInstances >= uint64(n) {
			return err
		}
		if err := clock.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}
