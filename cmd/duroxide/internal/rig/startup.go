package rig

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// StartupConfig is a run of the rig of starts.
type StartupConfig struct {
	// Open opens one of the stores, or makes it. It is called once to fill it, and once in
	// each round.
	Open func(ctx context.Context, instances int) (Store, error)
	// Instances is the number of ended instances of each store; Rounds is how often each is
	// measured, in turn.
	Instances []int
	Rounds    int
	Logger    *slog.Logger
}

// Startup is what a start takes on one of the stores: medians of the rounds.
type Startup struct {
	Instances int `json:"instances"`
	// OpenMilliseconds is the time until the store is open, FirstMilliseconds that until a
	// first orchestration, of nothing but a turn, has ended on a worker of it.
	OpenMilliseconds  float64 `json:"open_ms"`
	FirstMilliseconds float64 `json:"first_ms"`
	// Ratio is that of FirstMilliseconds to the first store's, the median of the rounds.
	Ratio float64 `json:"ratio"`
}

// RunStartup fills the stores and measures them.
func RunStartup(ctx context.Context, config StartupConfig) ([]Startup, error) {
	for _, n := range config.Instances {
		if err := fillEnded(ctx, config, n); err != nil {
			return nil, err
		}
	}
	opened, first := make([][]float64, len(config.Instances)), make([][]float64, len(config.Instances))
	ratios := make([][]float64, len(config.Instances))
	for range config.Rounds {
		for i, n := range config.Instances {
			open, end, err := startOnce(ctx, config, n)
			if err != nil {
				return nil, err
			}
			opened[i], first[i] = append(opened[i], open.Seconds()*1000), append(first[i], end.Seconds()*1000)
			ratios[i] = append(ratios[i], last(first[i])/last(first[0]))
		}
	}
	list := make([]Startup, len(config.Instances))
	for i, n := range config.Instances {
		list[i] = Startup{Instances: n, OpenMilliseconds: middle(opened[i]), FirstMilliseconds: middle(first[i]), Ratio: middle(ratios[i])}
	}
	return list, nil
}

func last(list []float64) float64 { return list[len(list)-1] }

// startOnce opens a store and runs an orchestration.
func startOnce(ctx context.Context, config StartupConfig, instances int) (opened, ended time.Duration, err error) {
	began := time.Now()
	store, err := config.Open(ctx, instances)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	opened = time.Since(began)
	err = runTrivial(ctx, store, 1, 1, config.Logger)
	return opened, time.Since(began), err
}

// fillEnded fills an empty store with ended instances.
func fillEnded(ctx context.Context, config StartupConfig, instances int) error {
	store, err := config.Open(ctx, instances)
	if err != nil {
		return err
	}
	if err = MustBeEmpty(ctx, store); err == nil && instances > 0 {
		err = runTrivial(ctx, store, instances, 100, config.Logger)
	}
	return errors.Join(err, store.Close())
}

// trivial ends in its first turn.
var trivial = orchestration.New("Trivial", func(_ *orchestration.Context, n int) (int, error) { return n, nil })

// runTrivial runs a number of orchestrations, some of them at a time, on a worker of its own.
func runTrivial(ctx context.Context, store provider.Provider, n, inFlight int, logger *slog.Logger) error {
	const slots = 4
	stop, err := startWorker(ctx, store, nil, slots, logger, trivial)
	if err != nil {
		return err
	}
	defer stop()
	l := load[int]{client: client.New(store, client.Options{}), inFlight: inFlight, definition: trivial, ended: func(Sample) {}}
	return l.run(ctx, func(started int) bool { return started < n })
}
