package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// compareDocument is what `bench compare --json` prints.
type compareDocument struct {
	Old     string           `json:"old"`
	New     string           `json:"new"`
	Rig     []string         `json:"rig"`
	Rounds  int              `json:"rounds"`
	Figures []rig.Comparison `json:"figures"`
}

func (a *app) benchCompareCommand() *cobra.Command {
	var rounds int
	var json bool
	cmd := &cobra.Command{
		Use:   "compare OLD NEW -- RIG [FLAG...]",
		Short: "Run a rig by two programs in turn and compare the figures",
		Long: `Run a rig by two programs in turn, each in a process of its own, and compare the
figures: medians of the rounds, and the ratios new to old with their spread. It adds the
processor time of each process and, on Linux, the bytes that the process has written; for
each orchestration, if the rig says how many have ended.`,
		Example: "  duroxide bench compare ./before ./after -- parity --slots 2 --activity 0",
		Args:    usage(cobra.MinimumNArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !positive(rounds) {
				return usageError{cmd, errors.New("--rounds must be positive")}
			}
			return a.benchCompare(cmd.Context(), compareDocument{Old: args[0], New: args[1], Rig: args[2:], Rounds: rounds}, json)
		},
	}
	cmd.Flags().IntVar(&rounds, "rounds", 5, "how often to run both programs")
	cmd.Flags().BoolVar(&json, "json", false, "print JSON for programs")
	return cmd
}

func (a *app) benchCompare(ctx context.Context, d compareDocument, json bool) (err error) {
	d.Figures, err = rig.Compare(ctx, rig.CompareConfig{Old: d.Old, New: d.New, Args: d.Rig, Rounds: d.Rounds})
	if err != nil {
		return err
	}
	if json {
		return a.printJSON(d)
	}
	rows := [][]string{{"FIGURE", "OLD", "NEW", "NEW / OLD", "LOWEST", "HIGHEST"}}
	for _, f := range d.Figures {
		rows = append(rows, []string{
			f.Figure, fmt.Sprintf("%.4g", f.Old), fmt.Sprintf("%.4g", f.New),
			fmt.Sprintf("%.2f", f.Ratio), fmt.Sprintf("%.2f", f.Lowest), fmt.Sprintf("%.2f", f.Highest),
		})
	}
	printTable(a.screen, rows)
	return nil
}
