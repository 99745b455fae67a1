package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// citiesDocument is what `bench cities --json` prints.
type citiesDocument struct {
	Store string `json:"store"`
	// Synchronous is the durability of a SQLite store, full or normal.
	Synchronous string `json:"synchronous"`
	InFlight    int    `json:"in_flight"`
	// Floor is the number of changing calls that there must be.
	Floor          int          `json:"floor"`
	Configurations []rig.Cities `json:"configurations"`
}

func (a *app) benchCitiesCommand() *cobra.Command {
	var f rigFlags
	var orchestrations, inFlight int
	var slots []int
	cmd := &cobra.Command{
		Use:   "cities",
		Short: "Measure what a sequence of activities costs (rig B)",
		Long: `Measure what a sequence of activities costs (rig B). Each orchestration runs five
activities that take no time, one after the other. The command prints orchestrations
a second, and the calls of the store for each orchestration.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(orchestrations, inFlight) || !positive(slots...) {
				return usageError{cmd, errors.New("--orchestrations, --slots and --in-flight must be positive")}
			}
			return a.benchCities(cmd.Context(), f, orchestrations, inFlight, slots)
		},
	}
	cmd.Flags().IntVar(&orchestrations, "orchestrations", 1000, "run this `number`, for each configuration")
	cmd.Flags().IntSliceVar(&slots, "slots", []int{1, 4, 16}, "turns and activities at a time: one `number` for each configuration")
	inFlightFlag(cmd, &inFlight, 100)
	f.add(cmd)
	return cmd
}

func (a *app) benchCities(ctx context.Context, f rigFlags, orchestrations, inFlight int, slots []int) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		document := citiesDocument{
			Store: store.Name(), Synchronous: store.synchronous, InFlight: inFlight, Floor: rig.CitiesFloor,
			Configurations: []rig.Cities{},
		}
		for _, n := range slots {
			c, err := rig.RunCities(ctx, rig.CitiesConfig{
				Store: store.Store, Commits: store.commits, Slots: n,
				Orchestrations: orchestrations, InFlight: inFlight, Logger: a.errorLog(),
			})
			if err != nil {
				return err
			}
			document.Configurations = append(document.Configurations, c)
		}
		if f.json {
			return a.printJSON(document)
		}
		a.printCities(document)
		return nil
	})
}

// printCities prints a column for each configuration.
func (a *app) printCities(d citiesDocument) {
	a.screen.Printf("Orchestrations of five activities, one after the other; at most %d in flight. Store: %s.\n\n",
		d.InFlight, storeLabel(d.Store, d.Synchronous))
	var columns [][]figure
	var slots []int
	var methods [][]rig.MethodTime
	for _, c := range d.Configurations {
		columns = append(columns, slices.Concat([]figure{
			{"turns : activities", ratio(c.Slots)},
			{"orchestrations", strconv.Itoa(c.Completed)},
			{"orchestrations/s", fraction(c.Rate)},
		}, latencyFigures(c.Latency), costFigures(c.Costs, 0)))
		slots, methods = append(slots, c.Slots), append(methods, c.Methods)
	}
	a.printColumns(columns)
	a.printMethods(slots, methods)
	a.screen.Printf("\nSix turns and five activities, each acknowledged, and the start make %d changing calls, and %d if each is also\nfetched by a call of its own.\n",
		d.Floor, rig.CitiesApart)
}
