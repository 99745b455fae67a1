package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// childrenDocument is what `bench children --json` prints.
type childrenDocument struct {
	Store string `json:"store"`
	// Synchronous is the durability of a SQLite store, full or normal.
	Synchronous    string         `json:"synchronous"`
	Configurations []rig.Children `json:"configurations"`
}

func (a *app) benchChildrenCommand() *cobra.Command {
	var f rigFlags
	var children []int
	var slots int
	cmd := &cobra.Command{
		Use:   "children",
		Short: "Measure what the children of one parent cost",
		Long: `Measure what the children of one parent cost: an orchestration starts all its
sub-orchestrations at once and waits for them. Each number of children is
measured with a parent of its own. The time for a child should not grow with the number.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(slots) || !positive(children...) {
				return usageError{cmd, errors.New("--children and --slots must be positive")}
			}
			return a.benchChildren(cmd.Context(), f, children, slots)
		},
	}
	cmd.Flags().IntSliceVar(&children, "children", []int{500, 1000, 2000}, "children of a parent: one `number` for each configuration")
	cmd.Flags().IntVar(&slots, "slots", 4, "the `number` of turns at a time")
	f.add(cmd)
	return cmd
}

func (a *app) benchChildren(ctx context.Context, f rigFlags, children []int, slots int) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		document := childrenDocument{
			Store: store.Name(), Synchronous: store.synchronous, Configurations: []rig.Children{},
		}
		for _, n := range children {
			c, err := rig.RunChildren(ctx, rig.ChildrenConfig{
				Store: store.Store, Commits: store.commits, Slots: slots, Children: n, Logger: a.errorLog(),
			})
			if err != nil {
				return err
			}
			document.Configurations = append(document.Configurations, c)
		}
		if f.json {
			return a.printJSON(document)
		}
		a.printChildren(document)
		return nil
	})
}

// printChildren prints a column for each family.
func (a *app) printChildren(d childrenDocument) {
	a.screen.Printf("One parent, all its children at once. Store: %s.\n\n", storeLabel(d.Store, d.Synchronous))
	var columns [][]figure
	first := d.Configurations[0].Rate
	for _, c := range d.Configurations {
		columns = append(columns, append([]figure{
			{"children", strconv.Itoa(c.Children)},
			{"seconds", known(&c.Seconds, 1, "%.2f")},
			{"children/s", fraction(c.Rate)},
			{"time of a child, to the first column", known(new(first/c.Rate), 1, "%.2f")},
		}, costFigures(c.Costs, 0)...))
	}
	a.printColumns(columns)
}
