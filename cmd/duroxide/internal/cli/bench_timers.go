package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// timersFlags are the flags of the rig of timers.
type timersFlags struct {
	rigFlags

	timers, slots int
	ahead         time.Duration
}

// timersDocument is what `bench timers --json` prints.
type timersDocument struct {
	Store string `json:"store"`
	// Synchronous is the durability of a SQLite store, full or normal.
	Synchronous string `json:"synchronous"`
	rig.Timers
}

func (a *app) benchTimersCommand() *cobra.Command {
	var f timersFlags
	cmd := &cobra.Command{
		Use:   "timers",
		Short: "Measure how late timers fire that are due together",
		Long: `Measure how late timers fire that are due together. Each belongs to an orchestration of
its own, and all are set before the first is due. The delay is the time from when the
timer is due until the orchestration continues.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(f.timers, f.slots) || f.ahead <= 0 {
				return usageError{cmd, errors.New("--timers, --slots and --ahead must be positive")}
			}
			return a.benchTimers(cmd.Context(), f)
		},
	}
	cmd.Flags().IntVar(&f.timers, "timers", 1000, "the `number` of timers")
	cmd.Flags().IntVar(&f.slots, "slots", 4, "turns at a time")
	cmd.Flags().DurationVar(&f.ahead, "ahead", 10*time.Second, "how long before the due time the first timer is set")
	f.add(cmd)
	return cmd
}

func (a *app) benchTimers(ctx context.Context, f timersFlags) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		t, err := rig.RunTimers(ctx, rig.TimersConfig{
			Store: store.Store, Commits: store.commits, Slots: f.slots, Timers: f.timers, Ahead: f.ahead, Logger: a.errorLog(),
		})
		if err != nil {
			return err
		}
		document := timersDocument{Store: store.Name(), Synchronous: store.synchronous, Timers: t}
		if f.json {
			return a.printJSON(document)
		}
		a.screen.Printf("%d timers due together. Store: %s.\n\n", f.timers, storeLabel(document.Store, document.Synchronous))
		a.printColumns([][]figure{slices.Concat([]figure{
			{"turns : activities", ratio(f.slots)},
			{"late p50", milliseconds(t.Late.P50)},
			{"late p99", milliseconds(t.Late.P99)},
			{"latest", milliseconds(t.Late.Max)},
			{"within " + rig.TimersWithin.String(), strconv.FormatFloat(100*t.Within, 'f', 1, 64) + " %"},
		}, costFigures(t.Costs, 0))})
		return nil
	})
}
