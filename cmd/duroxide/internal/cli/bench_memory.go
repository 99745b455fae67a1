package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

func (a *app) benchMemoryCommand() *cobra.Command {
	var f rigFlags
	var orchestrations, inFlight, slots int
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Measure memory over many orchestrations",
		Long: `Run many orchestrations of one activity each, and see whether the memory of this
process grows with their number.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(orchestrations, slots, inFlight) {
				return usageError{cmd, errors.New("--orchestrations, --slots and --in-flight must be positive")}
			}
			return a.benchMemory(cmd.Context(), f, orchestrations, inFlight, slots)
		},
	}
	cmd.Flags().IntVar(&orchestrations, "orchestrations", 100_000, "run this `number`")
	cmd.Flags().IntVar(&slots, "slots", 4, "turns and activities at a time")
	inFlightFlag(cmd, &inFlight, 40)
	f.add(cmd)
	return cmd
}

func (a *app) benchMemory(ctx context.Context, f rigFlags, orchestrations, inFlight, slots int) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		config := rig.MemoryConfig{
			Store: store.Store, Orchestrations: orchestrations, InFlight: inFlight, Slots: slots, Logger: a.errorLog(),
		}
		if !f.json {
			a.screen.Printf("%10s  %14s  %10s\n", "seconds", "orchestrations", "memory")
			config.Observe = func(s rig.MemorySample) {
				a.screen.Printf("%10.1f  %14d  %10s\n", s.ElapsedSeconds, s.Ended, megabytes(s.RSS))
			}
		}
		m, err := rig.RunMemory(ctx, config)
		if err != nil {
			return err
		}
		if f.json {
			return a.printJSON(m)
		}
		verdict := "flat"
		if !m.Flat() {
			verdict = "not flat"
		}
		a.screen.Printf("\n%d orchestrations, %.0f/s. Peak memory %s. From the second to the last quarter it changed by %+.1f %%: %s.\n",
			m.Orchestrations, m.Rate, megabytes(m.PeakRSS), 100*m.Growth, verdict)
		return nil
	})
}
