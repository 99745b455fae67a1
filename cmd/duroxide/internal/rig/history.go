package rig

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// HistoryConfig is one configuration of the rig of a long history.
type HistoryConfig struct {
	Store provider.Provider
	// Steps is the number of activities, one after the other; at least HistoryWindow.
	Steps int
	// Cached says whether the worker keeps the function between its turns.
	Cached bool
	Logger *slog.Logger
}

// HistoryWindow is over how many steps the cost of one is taken, the median of them.
const HistoryWindow = 100

// History is what one long history came to.
type History struct {
	Steps  int  `json:"steps"`
	Cached bool `json:"cached"`
	// Seconds is the time of all steps.
	Seconds float64 `json:"seconds"`
	// Windows are around the 100th, the 1,000th, … and up to the last step.
	Windows []HistoryCost `json:"windows"`
}

// HistoryCost is the cost of a step in one window.
type HistoryCost struct {
	// Step is the last of the window.
	Step int `json:"step"`
	// Milliseconds is the median time of a step.
	Milliseconds float64 `json:"milliseconds"`
	// Ratio is to the first window.
	Ratio float64 `json:"ratio"`
}

// RunHistory runs one orchestration of many steps, and takes the time at which each of its
// activities begins.
func RunHistory(ctx context.Context, config HistoryConfig) (History, error) {
	began := make([]time.Time, config.Steps)
	mark := activity.New("Mark", func(_ context.Context, i int) (int, error) {
		began[i] = time.Now()
		return i + 1, nil
	})
	sequence := orchestration.New("Sequence", func(ctx *orchestration.Context, steps int) (i int, err error) {
		for i < steps && err == nil {
			i, err = orchestration.Activity(ctx, mark, i).Await()
		}
		return i, err
	})
	options := worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1, Logger: config.Logger}
	if !config.Cached {
		options.Cache.Instances = worker.None
	}
	stop, err := runWorker(ctx, config.Store, options, sequence, mark)
	if err != nil {
		return History{}, err
	}
	defer stop()
	run, err := client.Start(ctx, client.New(config.Store, client.Options{}), sequence, "bench-"+rand.Text(), config.Steps)
	if err != nil {
		return History{}, err
	}
	if _, err := run.Wait(ctx); err != nil {
		return History{}, err
	}
	return costsOfSteps(began, config.Cached), nil
}

// costsOfSteps takes the windows that end at 100, 1,000, … and at the last step.
func costsOfSteps(began []time.Time, cached bool) History {
	steps := len(began)
	h := History{Steps: steps, Cached: cached, Seconds: began[steps-1].Sub(began[0]).Seconds()}
	for last := HistoryWindow; ; last = min(10*last, steps) {
		var times []time.Duration
		for i := last - HistoryWindow + 1; i < last; i++ {
			times = append(times, began[i].Sub(began[i-1]))
		}
		slices.Sort(times)
		cost := HistoryCost{Step: last, Milliseconds: float64(times[len(times)/2]) / float64(time.Millisecond), Ratio: 1}
		if len(h.Windows) > 0 {
			cost.Ratio = cost.Milliseconds / h.Windows[0].Milliseconds
		}
		h.Windows = append(h.Windows, cost)
		if last == steps {
			return h
		}
	}
}
