package rig

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// PayloadConfig is one configuration of the rig of payloads.
type PayloadConfig struct {
	Store provider.Provider
	// Commits counts the transactions below the store, nil when nothing does.
	Commits *CommitCounter
	// Size is that of a payload in bytes.
	Size int
	// Orchestrations is how many are run, InFlight at a time, by that many slots.
	Orchestrations, InFlight, Slots int
	Logger                          *slog.Logger
}

// Payloads are what orchestrations have cost that have large payloads: each gives its input to an activity, which
// greets it, and returns the greeting.
type Payloads struct {
	// Size is that of a payload in bytes, and Completed the number of orchestrations.
	Size      int     `json:"size"`
	Completed int     `json:"completed"`
	Rate      float64 `json:"rate"`
	// Latency is the time from an orchestration's start to the moment the client
	// knows of its end.
	Latency Latency `json:"latency_ms"`
	// Times is how often each of the four payloads was written, nil when the system does not tell.
	Times *float64 `json:"times_written"`

	Costs
}

// payloadsEach is how many payloads an orchestration of the rig has.
const payloadsEach = 4

// RunPayloads runs one configuration, on a store that has passed [MustBeEmpty] before the
// first one.
func RunPayloads(ctx context.Context, config PayloadConfig) (Payloads, error) {
	m, err := startMeter(ctx, config.Store, config.Commits)
	if err != nil {
		return Payloads{}, err
	}
	defer m.rss.Stop()
	stop, err := startWorker(ctx, m.store, m.work, config.Slots, config.Logger, greetAtLength, hello)
	if err != nil {
		return Payloads{}, err
	}
	defer stop()
	var samples []Sample
	load := load[string]{
		client: m.client(), inFlight: config.InFlight, definition: greetAtLength, input: func(n int) string { return prose(n, config.Size) },
		ended: func(s Sample) { samples = append(samples, s) },
	}
	if err := load.run(ctx, func(started int) bool { return started < config.Orchestrations }); err != nil {
		return Payloads{}, err
	}
	costs, elapsed, err := m.read(len(samples), stop)
	if err != nil {
		return Payloads{}, err
	}
	p := Payloads{
		Size: config.Size, Completed: len(samples), Rate: float64(len(samples)) / elapsed.Seconds(),
		Latency: latencyOf(durationsOf(samples)), Costs: costs,
	}
	if costs.BytesWritten != nil {
		times := *costs.BytesWritten / payloadsEach / float64(config.Size)
		p.Times = &times
	}
	return p, nil
}

// The work of the rig of payloads.
var (
	hello         = activity.New("Hello", func(_ context.Context, text string) (string, error) { return "Hello, " + text, nil })
	greetAtLength = orchestration.New("Greet", func(ctx *orchestration.Context, text string) (string, error) {
		return orchestration.Activity(ctx, hello, text).Await()
	})
)

// prose is a text of that many bytes, another for each number. In JSON two characters of each line are escaped.
func prose(n, size int) string {
	line := fmt.Sprintf("Each line of text %d says \"the same\" as the one before it, and ends here.\n", n)
	return strings.Repeat(line, size/len(line)+1)[:size]
}
