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
	Configurations  []rig.Idle `json:"configurations"`
}

// idleSettle is how long workers run before they are measured: until each of them
// has looked for work in vain and waits.
const idleSettle = time.Second

func (a *app) benchIdleCommand() *cobra.Command {
	var f rigFlags
	var workers []int
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "idle",
		Short: "Measure what workers cost that have nothing to do",
		Long: `Measure what workers cost that have nothing to do: what they ask of the store, and
the processor time of this process. Each worker opens the store for itself, as each
would in a process of its own.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(workers...) || duration <= 0 {
				return usageError{cmd, errors.New("--workers and --duration must be positive")}
			}
			return a.benchIdle(cmd.Context(), f, workers, duration)
		},
	}
	cmd.Flags().IntSliceVar(&workers, "workers", []int{1, 10, 100}, "workers: one `number` for each configuration")
	cmd.Flags().DurationVar(&duration, "duration", 10*time.Second, "how long each configuration is measured")
	f.add(cmd)
	return cmd
}

func (a *app) benchIdle(ctx context.Context, f rigFlags, workers []int, duration time.Duration) error {
	return withBenchPlace(f.store, func(storeURL string) error {
		document := idleDocument{DurationSeconds: duration.Seconds(), Configurations: []rig.Idle{}}
		for _, n := range workers {
			idle, err := rig.RunIdle(ctx, rig.IdleConfig{
				Open: func(ctx context.Context) (rig.Store, error) {
					store, err := a.env.Stores.Open(ctx, storeURL, true)
					if err != nil {
						return nil, openingError{err}
					}
					return store, nil
				},
				Workers: n, Settle: min(idleSettle, duration), Duration: duration, Logger: a.errorLog(),
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
