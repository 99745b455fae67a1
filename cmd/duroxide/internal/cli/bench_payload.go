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

// payloadFlags are the flags of the rig of payloads.
type payloadFlags struct {
	rigFlags

	kibibytes                       []int
	orchestrations, inFlight, slots int
}

// payloadDocument is what `bench payload --json` prints.
type payloadDocument struct {
	Store          string         `json:"store"`
	Synchronous    string         `json:"synchronous"`
	InFlight       int            `json:"in_flight"`
	Slots          int            `json:"slots"`
	Configurations []rig.Payloads `json:"configurations"`
}

func (a *app) benchPayloadCommand() *cobra.Command {
	var f payloadFlags
	cmd := &cobra.Command{
		Use:   "payload",
		Short: "Measure what large payloads cost",
		Long: `Measure what large payloads cost: each orchestration gives its input to an activity,
which greets it, and returns the greeting, four payloads in all.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !positive(f.kibibytes...) || !positive(f.orchestrations, f.slots, f.inFlight) {
				return usageError{cmd, errors.New("--kib, --orchestrations, --slots and --in-flight must be positive")}
			}
			return a.benchPayload(cmd.Context(), f)
		},
	}
	cmd.Flags().IntSliceVar(&f.kibibytes, "kib", []int{1, 16, 1024}, "size of a payload in KiB: one `number` for each configuration")
	cmd.Flags().IntVar(&f.orchestrations, "orchestrations", 100, "run this `number`, for each configuration")
	cmd.Flags().IntVar(&f.slots, "slots", 2, "turns and activities at a time")
	inFlightFlag(cmd, &f.inFlight, 2)
	f.add(cmd)
	return cmd
}

func (a *app) benchPayload(ctx context.Context, f payloadFlags) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		document := payloadDocument{Store: store.Name(), Synchronous: store.synchronous, InFlight: f.inFlight, Slots: f.slots}
		for _, kibibytes := range f.kibibytes {
			p, err := rig.RunPayloads(ctx, rig.PayloadConfig{
				Store: store.Store, Commits: store.commits, Size: kibibytes << 10,
				Orchestrations: f.orchestrations, InFlight: f.inFlight, Slots: f.slots, Logger: a.errorLog(),
			})
			if err != nil {
				return err
			}
			document.Configurations = append(document.Configurations, p)
		}
		if f.json {
			return a.printJSON(document)
		}
		a.screen.Printf("At most %d orchestrations in flight, %s slots. Store: %s.\n\n",
			f.inFlight, ratio(f.slots), storeLabel(document.Store, document.Synchronous))
		var columns [][]figure
		for _, p := range document.Configurations {
			columns = append(columns, payloadFigures(p))
		}
		a.printColumns(columns)
		return nil
	})
}

func payloadFigures(p rig.Payloads) []figure {
	times := "unknown"
	if p.Times != nil {
		times = fmt.Sprintf("%.2f times", *p.Times)
	}
	return slices.Concat([]figure{
		{"size of a payload", fmt.Sprintf("%d KiB", p.Size>>10)},
		{"orchestrations", strconv.Itoa(p.Completed)},
		{"orchestrations/s", fraction(p.Rate)},
		{"each payload was written", times},
	}, latencyFigures(p.Latency), costFigures(p.Costs, 0))
}
