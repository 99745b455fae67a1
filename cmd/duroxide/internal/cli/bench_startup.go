package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// startupDocument is what `bench startup --json` prints.
type startupDocument struct {
	Rounds         int           `json:"rounds"`
	Configurations []rig.Startup `json:"configurations"`
}

func (a *app) benchStartupCommand() *cobra.Command {
	var f rigFlags
	var instances []int
	var rounds int
	cmd := &cobra.Command{
		Use:   "startup",
		Short: "Measure how long a worker takes to start on a large store",
		Long: `Measure how long a worker takes to start on a large store: the time until the store is
open, and until a worker has completed a first orchestration. Each number of ended
instances has a store of its own, a SQLite file, which the rig fills. The rig measures
the stores in turn, for several rounds.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(rounds) || len(instances) == 0 || slices.Min(instances) < 0 {
				return usageError{cmd, errors.New("--rounds must be positive, --instances not negative")}
			}
			return a.benchStartup(cmd.Context(), f, instances, rounds)
		},
	}
	cmd.Flags().IntSliceVar(&instances, "instances", []int{0, 100_000}, "ended instances: one `number` for each store")
	cmd.Flags().IntVar(&rounds, "rounds", 9, "how often to start on each store")
	f.add(cmd)
	return cmd
}

func (a *app) benchStartup(ctx context.Context, f rigFlags, instances []int, rounds int) error {
	return withBenchPlace(f.store, func(storeURL string) error {
		list, err := rig.RunStartup(ctx, rig.StartupConfig{
			Open: func(ctx context.Context, n int) (rig.Store, error) {
				return a.openBeside(ctx, storeURL, fmt.Sprintf("startup-%d", n))
			},
			Instances: instances, Rounds: rounds, Logger: a.errorLog(),
		})
		if err != nil {
			return err
		}
		if f.json {
			return a.printJSON(startupDocument{rounds, list})
		}
		rows := [][]string{{"ENDED INSTANCES", "OPEN", "FIRST ENDED", "TO THE FIRST"}}
		for _, s := range list {
			rows = append(rows, []string{
				strconv.Itoa(s.Instances), fmt.Sprintf("%.2f ms", s.OpenMilliseconds), fmt.Sprintf("%.2f ms", s.FirstMilliseconds), fmt.Sprintf("%.2f", s.Ratio),
			})
		}
		printTable(a.screen, rows)
		return nil
	})
}
