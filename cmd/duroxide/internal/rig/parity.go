// Package rig measures a store under the runtime: how many orchestrations a second
// (rig A, parity.go, and rig B, cities.go), what work costs to claim (rig C, claim.go
// with fill.go), what the children of one parent cost (children.go), what a step of a
// long history costs (history.go), how late many timers are that are due together
// (timers.go), how long a start takes on a full store (startup.go), how much memory many
// orchestrations take (memory.go), and what workers cost that have nothing to do (idle.go).
// compare.go runs any of them by two programs in turn.
//
// Its other parts: load.go starts orchestrations and waits for them, count.go counts a store's calls, costs.go sums up
// what orchestrations cost, latency.go, rss.go, cpu_unix.go and written_linux.go turn samples into figures,
// sqlitefile.go measures the file below a SQLite store. docs/performance.md explains the method.
package rig

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// Shape is what an orchestration of rig A does.
type Shape struct {
	// Name is short, for a document.
	Name string
	// Activities is the number of activities of an orchestration.
	Activities int

	definition orchestration.Definition[int, int]
}

// The shapes: five activities side by side, which are joined; five, one after the other; and one.
var (
	FanOut   = Shape{"fan-out", five, fanOut}
	Sequence = Shape{"sequence", five, inSequence("Sequence", five)}
	Single   = Shape{"single", 1, inSequence("Single", 1)}
)

const five = 5

// ParityConfig is one configuration of rig A.
type ParityConfig struct {
	Store provider.Provider
	// Commits counts the transactions below the store, nil when nothing does.
	Commits *CommitCounter
	Shape   Shape
	// Slots is the number of turns and of activities at a time.
	Slots int
	// InFlight is the number of orchestrations that are started and not ended.
	InFlight int
	// Window is how long orchestrations are started.
	Window time.Duration
	// Activity is how long an activity takes, 0 for no time at all.
	Activity time.Duration
	// Elsewhere, if set, has [RunLoad] run in another process. Without it the client is in this one.
	Elsewhere func(context.Context) (Load, error)
	Logger    *slog.Logger
}

// Parity is what one configuration of rig A came to. Durations are nanoseconds in
// Go and milliseconds in JSON.
type Parity struct {
	Slots     int `json:"slots"`
	Completed int `json:"completed"`
	// WindowRate counts the orchestrations a second that ended within the window.
	WindowRate float64 `json:"window_rate"`
	// OverallRate counts all over the window and the drain after it, which is
	// Duroxide's formula.
	OverallRate float64 `json:"overall_rate"`
	// Cap is the highest rate the slots allow, 0 for no limit.
	Cap float64 `json:"cap"`
	// ActivityTook is how long an activity took in fact, on average: a timer ends late.
	ActivityTook float64 `json:"activity_took_ms"`
	// CapTaken is Cap for activities that take so long, 0 for no limit or if none has ended.
	CapTaken float64 `json:"cap_as_taken"`
	// Latency is the time from an orchestration's start to the moment the client
	// knows of its end.
	Latency Latency `json:"latency_ms"`

	Costs
}

// RunParity runs one configuration, on a store that has passed [MustBeEmpty] before the
// first one.
func RunParity(ctx context.Context, config ParityConfig) (Parity, error) {
	m, err := startMeter(ctx, config.Store, config.Commits)
	if err != nil {
		return Parity{}, err
	}
	defer m.rss.Stop()
	var took, ran atomic.Int64
	stop, err := startWorker(ctx, m.store, m.work, config.Slots, config.Logger, config.Shape.definition,
		step.Implement(func(ctx context.Context, input int) (int, error) {
			began := time.Now()
			defer func() { took.Add(int64(time.Since(began))); ran.Add(1) }()
			return input, workFor(ctx, config.Activity)
		}))
	if err != nil {
		return Parity{}, err
	}
	defer stop()
	load, err := config.load(ctx, m.client())
	if err != nil {
		return Parity{}, err
	}
	costs, _, err := m.read(len(load.Samples), stop)
	if err != nil {
		return Parity{}, err
	}
	if config.Elsewhere != nil {
		costs.add(load)
	}
	p := Parity{
		Slots: config.Slots, Completed: len(load.Samples), OverallRate: float64(len(load.Samples)) / load.Took.Seconds(),
		Latency: latencyOf(durationsOf(load.Samples)), Costs: costs,
		ActivityTook: float64(took.Load()) / float64(max(1, ran.Load())) / float64(time.Millisecond),
	}
	for _, s := range load.Samples {
		if s.Ended.Sub(load.Began) <= config.Window {
			p.WindowRate += 1 / config.Window.Seconds()
		}
	}
	if config.Activity > 0 {
		p.Cap = float64(config.Slots) / (float64(config.Shape.Activities) * config.Activity.Seconds())
	}
	if p.ActivityTook > 0 {
		p.CapTaken = p.Cap * float64(config.Activity) / float64(time.Millisecond) / p.ActivityTook
	}
	return p, nil
}

// load has the client do its part, in this process or in another one.
func (config ParityConfig) load(ctx context.Context, c *client.Client) (Load, error) {
	if config.Elsewhere != nil {
		return config.Elsewhere(ctx)
	}
	return runLoad(ctx, c, LoadConfig{Shape: config.Shape, InFlight: config.InFlight, Window: config.Window})
}

// The work of rig A.
var (
	step   = activity.Declare[int, int]("Step")
	fanOut = orchestration.New("FanOut", func(ctx *orchestration.Context, _ int) (int, error) {
		futures := make([]*orchestration.Future[int], 0, five)
		for i := range five {
			futures = append(futures, orchestration.Activity(ctx, step, i))
		}
		results, err := orchestration.Join(futures...)
		return len(results), err
	})
)

// workFor takes exactly d. A timer may end a millisecond late, so the end is not left to one.
func workFor(ctx context.Context, d time.Duration) error {
	end := time.Now().Add(d)
	err := clock.Sleep(ctx, d-time.Millisecond)
	for err == nil && time.Now().Before(end) {
		runtime.Gosched()
		err = ctx.Err()
	}
	return err
}

// inSequence makes an orchestration that runs activities one after the other.
func inSequence(name string, activities int) orchestration.Definition[int, int] {
	return orchestration.New(name, func(ctx *orchestration.Context, _ int) (done int, err error) {
		for done < activities && err == nil {
			_, err = orchestration.Activity(ctx, step, done).Await()
			done++
		}
		return done, err
	})
}

// startWorker runs a worker. stop ends it, once or more, and returns when it has
// ended.
func startWorker(
	ctx context.Context, store provider.Provider, told hook.Hook, slots int, logger *slog.Logger, definitions ...worker.Registrable,
) (stop func(), err error) {
	return runWorker(ctx, store, worker.Options{
		OrchestrationConcurrency: slots, ActivityConcurrency: slots, Logger: logger, Hook: told,
	}, definitions...)
}

// runWorker runs a worker until stop.
func runWorker(ctx context.Context, store provider.Provider, options worker.Options, definitions ...worker.Registrable) (stop func(), err error) {
	w, err := worker.New(store, options)
	if err != nil {
		return nil, err
	}
	if err := w.Register(definitions...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Run(ctx); err != nil {
			options.Logger.ErrorContext(ctx, "the worker ended", "error", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}, nil
}
