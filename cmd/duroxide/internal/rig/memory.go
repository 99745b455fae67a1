package rig

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// MemoryConfig is a run of the memory rig.
type MemoryConfig struct {
	Store provider.Provider
	// Orchestrations is how many are run, InFlight of them at a time.
	Orchestrations, InFlight int
	// Slots is the number of turns and of activities at a time.
	Slots  int
	Logger *slog.Logger
	// Observe, if set, is told of each sample as it is taken.
	Observe func(MemorySample)
}

// MemorySample is the state at one moment.
type MemorySample struct {
	ElapsedSeconds float64 `json:"elapsed_seconds"`
	Ended          int     `json:"ended"`
	RSS            uint64  `json:"rss_bytes"`
}

// Memory is what a run of the memory rig came to.
type Memory struct {
	Orchestrations int            `json:"orchestrations"`
	Rate           float64        `json:"rate"`
	PeakRSS        uint64         `json:"peak_rss_bytes"`
	Samples        []MemorySample `json:"samples"`
	// Growth is the median of the last quarter of the samples relative to that of
	// the second quarter, minus 1. The first quarter is warming up.
	Growth float64 `json:"growth"`
}

// FlatGrowth is the growth up to which memory counts as flat.
const FlatGrowth = 0.1

// Flat reports whether memory did not grow with the number of orchestrations.
func (m Memory) Flat() bool { return m.Growth <= FlatGrowth }

// memorySamples is how many samples a run takes.
const memorySamples = 40

// RunMemory runs many orchestrations of one activity each, on a store that has passed
// [MustBeEmpty].
func RunMemory(ctx context.Context, config MemoryConfig) (Memory, error) {
	stop, err := startWorker(ctx, config.Store, nil, config.Slots, config.Logger, single,
		step.Implement(func(_ context.Context, input int) (int, error) { return input, nil }))
	if err != nil {
		return Memory{}, err
	}
	defer stop()
	rss := WatchRSS(ctx)
	defer rss.Stop()
	m := Memory{Orchestrations: config.Orchestrations}
	began := time.Now()
	ended, every := 0, max(config.Orchestrations/memorySamples, 1)
	load := load[int]{client: client.New(config.Store, client.Options{}), inFlight: config.InFlight, definition: single, ended: func(Sample) {
		ended++
		if ended%every != 0 {
			return
		}
		s := MemorySample{ElapsedSeconds: time.Since(began).Seconds(), Ended: ended, RSS: RSS()}
		m.Samples = append(m.Samples, s)
		if config.Observe != nil {
			config.Observe(s)
		}
	}}
	if err := load.run(ctx, func(started int) bool { return started < config.Orchestrations }); err != nil {
		return Memory{}, err
	}
	rss.Stop()
	m.Rate = float64(config.Orchestrations) / time.Since(began).Seconds()
	m.PeakRSS = rss.Peak()
	m.Growth = growth(m.Samples)
	return m, nil
}

// single is an orchestration of one activity.
var single = orchestration.New("Single", func(ctx *orchestration.Context, input int) (int, error) {
	return orchestration.Activity(ctx, step, input).Await()
})

// growth compares the last quarter with the second.
func growth(samples []MemorySample) float64 {
	quarter := len(samples) / 4
	if quarter == 0 {
		return 0
	}
	early, late := median(samples[quarter:2*quarter]), median(samples[len(samples)-quarter:])
	return float64(late)/float64(early) - 1
}

func median(samples []MemorySample) uint64 {
	values := make([]uint64, 0, len(samples))
	for _, s := range samples {
		values = append(values, s.RSS)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
