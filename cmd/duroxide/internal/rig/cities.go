package rig

import (
	"context"
	"log/slog"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// CitiesConfig is one configuration of rig B.
type CitiesConfig struct {
	Store provider.Provider
	// Commits counts the transactions below the store, nil when nothing does.
	Commits *CommitCounter
	// Slots is the number of turns and of activities at a time.
	Slots int
	// Orchestrations is how many are run, InFlight of them at a time.
	Orchestrations, InFlight int
	Logger                   *slog.Logger
}

// Cities is what one configuration of rig B came to. Durations are nanoseconds in
// Go and milliseconds in JSON.
type Cities struct {
	Slots     int `json:"slots"`
	Completed int `json:"completed"`
	// Rate is orchestrations a second, from the first start to the last known end.
	Rate float64 `json:"rate"`
	// Latency is as in [Parity].
	Latency Latency `json:"latency_ms"`

	Costs
}

// CitiesFloor is the number of changing calls that an orchestration of rig B needs at the
// least, unless activities share calls: six turns and five activities, each acknowledged by a
// call that brings the next, and the start. CitiesApart is the number when each is fetched by a call of its own.
const (
	CitiesFloor = 6 + 5 + 1
	CitiesApart = (6+5)*2 + 1
)

// RunCities runs one configuration, on a store that has passed [MustBeEmpty] before the
// first one.
func RunCities(ctx context.Context, config CitiesConfig) (Cities, error) {
	m, err := startMeter(ctx, config.Store, config.Commits)
	if err != nil {
		return Cities{}, err
	}
	defer m.rss.Stop()
	stop, err := startWorker(ctx, m.store, m.work, config.Slots, config.Logger, tour,
		greet.Implement(func(_ context.Context, city string) (string, error) { return "Hello, " + city + "!", nil }))
	if err != nil {
		return Cities{}, err
	}
	defer stop()
	var samples []Sample
	load := load[int]{
		client: m.client(), inFlight: config.InFlight, definition: tour,
		ended: func(s Sample) { samples = append(samples, s) },
	}
	if err := load.run(ctx, func(started int) bool { return started < config.Orchestrations }); err != nil {
		return Cities{}, err
	}
	costs, elapsed, err := m.read(len(samples), stop)
	return Cities{
		Slots: config.Slots, Completed: len(samples), Rate: float64(len(samples)) / elapsed.Seconds(),
		Latency: latencyOf(durationsOf(samples)), Costs: costs,
	}, err
}

// The work of rig B: one greeting after the other.
var (
	cities = []string{"Lagos", "Lima", "London", "Lisbon", "Lusaka"}
	greet  = activity.Declare[string, string]("Greet")
	tour   = orchestration.New("Tour", func(ctx *orchestration.Context, _ int) (int, error) {
		greetings := 0
		for _, city := range cities {
			if _, err := orchestration.Activity(ctx, greet, city).Await(); err != nil {
				return greetings, err
			}
			greetings++
		}
		return greetings, nil
	})
)
