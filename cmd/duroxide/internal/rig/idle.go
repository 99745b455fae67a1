package rig

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// IdleConfig is one configuration of the idle rig.
type IdleConfig struct {
	// Open opens the store, anew for each worker, as each process would.
	Open func(ctx context.Context) (Store, error)
	// Workers is the number of workers.
	Workers int
	// Sleepers means that the store is not empty but holds what [FillSleepers] has brought.
	Sleepers bool
	// Settle is how long the workers run before the measurement, and Duration how
	// long it takes.
	Settle, Duration time.Duration
	Logger           *slog.Logger
}

// Idle is what workers cost that have nothing to do, all of them together.
type Idle struct {
	Workers int `json:"workers"`
	// CallsPerSecond counts the store's calls, which may wait inside the store.
	CallsPerSecond float64 `json:"calls_per_second"`
	// RoundTripsPerSecond counts what was sent to a server; nil for a store without
	// one.
	RoundTripsPerSecond *float64 `json:"round_trips_per_second"`
	// CPU is the processor time of this process, 1 being one core; nil when the
	// system does not tell.
	CPU *float64 `json:"cpu"`
	// RSS is the memory in bytes at the end.
	RSS uint64 `json:"rss_bytes"`
}

// sleeper waits for a day.
var sleeper = orchestration.New("Sleeper", func(ctx *orchestration.Context, n int) (int, error) {
	return n, ctx.Sleep(24 * time.Hour)
})

// FillSleepers starts so many orchestrations on an empty store, each of which waits for a day.
func FillSleepers(ctx context.Context, store provider.Provider, sleepers int, logger *slog.Logger) error {
	if err := MustBeEmpty(ctx, store); err != nil {
		return err
	}
	const slots = 8
	stop, err := startWorker(ctx, store, nil, slots, logger, sleeper)
	if err != nil {
		return err
	}
	defer stop()
	return startAll(ctx, client.New(store, client.Options{}), sleeper, sleepers)
}

// RunIdle runs one configuration. The store must be empty, see [MustBeEmpty], but for sleepers.
func RunIdle(ctx context.Context, config IdleConfig) (idle Idle, err error) {
	var w idleWorkers
	defer func() { err = errors.Join(err, w.end()) }()
	for range config.Workers {
		if err := w.start(ctx, config); err != nil {
			return idle, err
		}
	}
	if err := clock.Sleep(ctx, config.Settle); err != nil {
		return idle, err
	}
	calls, trips, _ := w.sum()
	cpu, _ := cpuTime()
	began := time.Now()
	if err := clock.Sleep(ctx, config.Duration); err != nil {
		return idle, err
	}
	elapsed := time.Since(began).Seconds()
	callsAfter, tripsAfter, tripsKnown := w.sum()
	cpuAfter, cpuKnown := cpuTime()
	idle = Idle{Workers: config.Workers, CallsPerSecond: float64(callsAfter-calls) / elapsed, RSS: RSS()}
	if tripsKnown {
		rate := float64(tripsAfter-trips) / elapsed
		idle.RoundTripsPerSecond = &rate
	}
	if cpuKnown {
		cores := (cpuAfter - cpu).Seconds() / elapsed
		idle.CPU = &cores
	}
	return idle, nil
}

// idleWorkers are the workers that run, each with its store.
type idleWorkers struct {
	counters []*Counter
	stops    []func()
	stores   []Store
}

// start adds a worker.
func (w *idleWorkers) start(ctx context.Context, config IdleConfig) error {
	store, err := config.Open(ctx)
	if err != nil {
		return err
	}
	w.stores = append(w.stores, store)
	if len(w.counters) == 0 && !config.Sleepers {
		if err := MustBeEmpty(ctx, store); err != nil {
			return err
		}
	}
	counter := NewCounter()
	const slots = 2 // a worker's default
	stop, err := startWorker(ctx, store, counter, slots, config.Logger, tour, sleeper)
	if err != nil {
		return err
	}
	w.counters, w.stops = append(w.counters, counter), append(w.stops, stop)
	return nil
}

// end stops the workers and closes the stores.
func (w *idleWorkers) end() (err error) {
	for _, stop := range w.stops {
		stop()
	}
	for _, store := range w.stores {
		err = errors.Join(err, store.Close())
	}
	return err
}

// sum adds up what the workers have asked of their stores.
func (w *idleWorkers) sum() (calls, trips int64, tripsKnown bool) {
	for i, c := range w.counters {
		calls += c.Calls()
		n, known := roundTrips(w.stores[i])
		trips, tripsKnown = trips+n, known
	}
	return calls, trips, tripsKnown
}
