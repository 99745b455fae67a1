package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// historyCostDocument is what `bench history --json` prints.
type historyCostDocument struct {
	Store string `json:"store"`
	// Synchronous is the durability of a SQLite store, full or normal.
	Synchronous string `json:"synchronous"`
	rig.History
}

func (a *app) benchHistoryCommand() *cobra.Command {
	var f rigFlags
	var steps int
	var cache string
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Measure what a step of a long history costs",
		Long: `Measure what a step of a long history costs: one orchestration calls activities that
take no time, one after the other. The cost of a step around the 100th, the 1,000th and
so on should not grow when the worker keeps the function between its turns (--cache on).`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if steps < rig.HistoryWindow || cache != "on" && cache != "off" {
				return usageError{cmd, errors.New("--steps must be at least 100, and --cache on or off")}
			}
			return a.benchHistory(cmd.Context(), f, steps, cache == "on")
		},
	}
	cmd.Flags().IntVar(&steps, "steps", 10_000, "the `number` of activities")
	cmd.Flags().StringVar(&cache, "cache", "on", "`on` or off: whether the worker keeps the function between turns")
	f.add(cmd)
	return cmd
}

func (a *app) benchHistory(ctx context.Context, f rigFlags, steps int, cached bool) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		history, err := rig.RunHistory(ctx, rig.HistoryConfig{Store: store.Store, Steps: steps, Cached: cached, Logger: a.errorLog()})
		if err != nil {
			return err
		}
		document := historyCostDocument{Store: store.Name(), Synchronous: store.synchronous, History: history}
		if f.json {
			return a.printJSON(document)
		}
		a.printHistoryCosts(document)
		return nil
	})
}

// printHistoryCosts prints a column for each window.
func (a *app) printHistoryCosts(d historyCostDocument) {
	cache := "off"
	if d.Cached {
		cache = "on"
	}
	a.screen.Printf("One sequence of %d activities, cache %s, %.1f s. Store: %s.\n\n", d.Steps, cache, d.Seconds, storeLabel(d.Store, d.Synchronous))
	var columns [][]figure
	for _, w := range d.Windows {
		columns = append(columns, []figure{
			{"step", strconv.Itoa(w.Step)},
			{"ms a step", known(&w.Milliseconds, 1, "%.2f")},
			{"to the first column", known(&w.Ratio, 1, "%.2f")},
		})
	}
	a.printColumns(columns)
}
