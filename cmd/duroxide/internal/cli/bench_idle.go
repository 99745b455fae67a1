package cli

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// idleDocument is what `bench idle --json` prints.
type idleDocument struct {
	DurationSeconds float64    `json:"duration_seconds"`
	Sleepers        int        `json:"sleepers"`
	Configurations  []rig.Idle `json:"configurations"`
}

// idleSettle is how long workers run before they are measured: until a store that polls less and less often does so at
// its longest interval.
const idleSettle = 10 * time.Second

func (a *app) benchIdleCommand() *cobra.Command {
	var f rigFlags
	var workers []int
	var sleepers int
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "idle",
		Short: "Measure what idle workers cost",
		Long: `Measure what idle workers cost: their calls of the store, and the processor time of
this process. With --sleepers, that number of orchestrations wait for a timer that is
due in a day. Each worker opens the store for itself, as if it had a process of its
own.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(workers...) || duration <= 0 || sleepers < 0 {
				return usageError{cmd, errors.New("--workers and --duration must be positive, --sleepers not negative")}
			}
			return a.benchIdle(cmd.Context(), f, workers, sleepers, duration)
		},
	}
	cmd.Flags().IntSliceVar(&workers, "workers", []int{1, 10, 100}, "workers: one `number` for each configuration")
	cmd.Flags().IntVar(&sleepers, "sleepers", 0, "the `number` of waiting orchestrations")
	cmd.Flags().DurationVar(&duration, "duration", 10*time.Second, "how long each configuration is measured")
	f.add(cmd)
	return cmd
}

func (a *app) benchIdle(ctx context.Context, f rigFlags, workers []int, sleepers int, duration time.Duration) error {
	return withBenchPlace(f.store, func(storeURL string) error {
		if sleepers > 0 {
			if err := a.fillBenchStore(ctx, storeURL, func(store Store) error {
				return rig.FillSleepers(ctx, store, sleepers, a.errorLog())
			}); err != nil {
				return err
			}
		}
		document := idleDocument{DurationSeconds: duration.Seconds(), Sleepers: sleepers, Configurations: []rig.Idle{}}
		for _, n := range workers {
			idle, err := rig.RunIdle(ctx, rig.IdleConfig{
				Open:    func(ctx context.Context) (rig.Store, error) { return a.openStore(ctx, storeURL) },
				Workers: n, Sleepers: sleepers > 0, Settle: min(idleSettle, duration), Duration: duration, Logger: a.errorLog(),
			})
			if err != nil {
				return err
			}
			document.Configurations = append(document.Configurations, idle)
		}
		if f.json {
			return a.printJSON(document)
		}
		rows := [][]string{{"WORKERS", "CALLS/S", "ROUND TRIPS/S", "CPU", "MEMORY"}}
		for _, idle := range document.Configurations {
			rows = append(rows, []string{
				strconv.Itoa(idle.Workers), fraction(idle.CallsPerSecond), known(idle.RoundTripsPerSecond, 1, "%.1f"),
				known(idle.CPU, 100, "%.1f %%"), megabytes(idle.RSS),
			})
		}
		printTable(a.screen, rows)
		return nil
	})
}

// openStore opens a store, or makes it.
func (a *app) openStore(ctx context.Context, storeURL string) (Store, error) {
	store, err := a.env.Stores.Open(ctx, storeURL, true)
	if err != nil {
		return nil, openingError{err}
	}
	return store, nil
}

// fillBenchStore opens a store, fills it and closes it.
func (a *app) fillBenchStore(ctx context.Context, storeURL string, fill func(Store) error) error {
	store, err := a.openStore(ctx, storeURL)
	if err != nil {
		return err
	}
	return errors.Join(fill(store), store.Close())
}
