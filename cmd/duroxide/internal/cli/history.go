package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/timeline"
	"github.com/duroxide/duroxide-go/provider"
)

// historyDocument is what `history --json` prints. The events are in the
// contract's own form.
type historyDocument struct {
	Instance    string           `json:"instance"`
	ExecutionID uint64           `json:"execution_id"`
	Executions  []uint64         `json:"executions"`
	Events      []provider.Event `json:"events"`
}

func (a *app) historyCommand() *cobra.Command {
	var execution uint64
	var data bool
	var wanted sampling
	cmd := &cobra.Command{
		Use:   "history ID",
		Short: "Show what an instance has done, event by event",
		Long: `Show what an instance has done, event by event. An instance that continued as new has
several executions, each with its own history; the latest is shown.

Payloads are shown by their size only. --data shows how each begins, and --json prints
them whole.

--into writes histories with their payloads into a folder, one file each. Without ids it
writes a sample: the newest instances of each orchestration, version and status. A test
with orchestrationtest.ReplayDir replays them against the code that you want to deploy.
This program cannot do that, because it does not have your code. Payloads that a codec
has encoded stay encoded.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wanted.check(cmd, a.json, args); err != nil {
				return err
			}
			return a.withStore(cmd, false, func(ctx context.Context, s session) error {
				if wanted.folder != "" {
					return a.sample(ctx, s, wanted, args)
				}
				return a.history(ctx, s, args[0], execution, data)
			})
		},
	}
	cmd.Flags().Uint64Var(&execution, "execution", 0, "`number` of the execution to show (default: the latest)")
	cmd.Flags().BoolVar(&data, "data", false, "show how each payload begins")
	cmd.Flags().StringVar(&wanted.folder, "into", "", "write histories as JSON into this `folder`")
	cmd.Flags().IntVar(&wanted.each, "each", 20, "with --into: `number` of instances of each kind in a sample")
	return a.onStore(cmd)
}

func (a *app) history(ctx context.Context, s session, instance string, execution uint64, data bool) error {
	info, err := s.lookUp(ctx, instance)
	if err != nil {
		return err
	}
	executions, err := s.store.ListExecutions(ctx, instance)
	if err != nil {
		return err
	}
	if execution == 0 {
		execution = info.CurrentExecutionID
	}
	if !slices.Contains(executions, execution) {
		return notFound("instance %q has no execution %d; its executions are %s", instance, execution, numbers(executions))
	}
	events, err := s.store.ReadHistoryWithExecutionID(ctx, instance, execution)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(historyDocument{instance, execution, executions, events})
	}
	if len(executions) > 1 {
		a.screen.Printf("Execution %d of %s. --execution shows another.\n", execution, numbers(executions))
	}
	timeline.Write(a.screen, events, timeline.Options{Data: data})
	return nil
}

// numbers lists execution ids: 1–3, or 1, 5–7 when some were pruned.
func numbers(ids []uint64) string {
	var parts []string
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && ids[last+1] == ids[last]+1 {
			last++
		}
		if last > i {
			parts = append(parts, fmt.Sprintf("%d–%d", ids[i], ids[last]))
		} else {
			parts = append(parts, decimal(ids[i]))
		}
		i = last + 1
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
