package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
)

// parityFlags are the flags of rig A.
type parityFlags struct {
	rigFlags

	slots            []int
	inFlight         int
	window, activity time.Duration
	client           string
}

// The places of the client.
const (
	clientInside  = "inside"
	clientProcess = "process"
)

// check says what is wrong with the flags.
func (f parityFlags) check() error {
	switch {
	case !positive(f.slots...):
		return errors.New("--slots must be positive")
	case f.inFlight < 1 || f.window <= 0 || f.activity < 0:
		return errors.New("--in-flight and --duration must be positive, --activity not negative")
	case f.client != clientInside && f.client != clientProcess:
		return errors.New(`--client must be "inside" or "process"`)
	case f.client == clientProcess && strings.HasPrefix(f.store, "sqlite:"+memory):
		return errors.New("a client in a process of its own cannot open a database in memory")
	}
	return nil
}

// parityDocument is what `bench parity --json` prints.
type parityDocument struct {
	Store string `json:"store"`
	// Synchronous is the durability of a SQLite store, full or normal.
	Synchronous    string       `json:"synchronous"`
	Shape          string       `json:"shape"`
	Activities     int          `json:"activities"`
	InFlight       int          `json:"in_flight"`
	Client         string       `json:"client"`
	WindowSeconds  float64      `json:"window_seconds"`
	ActivityMS     float64      `json:"activity_ms"`
	Configurations []rig.Parity `json:"configurations"`
	// RawCommits is the file's raw commit rate before and after, null when the store
	// is no SQLite file.
	RawCommits []float64 `json:"raw_commits_per_second"`
}

func (a *app) benchParityCommand() *cobra.Command {
	return a.benchShapeCommand(rig.FanOut, &cobra.Command{
		Use:   "parity",
		Short: "Measure orchestrations a second (rig A)",
		Long: `Measure orchestrations a second (rig A): a bounded number in flight, each with five
activities side by side, for some seconds and for several numbers of slots.`,
	})
}

func (a *app) benchSequenceCommand() *cobra.Command {
	return a.benchShapeCommand(rig.Sequence, &cobra.Command{
		Use:   "sequence",
		Short: "Measure orchestrations a second, of five activities in sequence",
		Long: `Measure orchestrations a second as "duroxide bench parity" does, of five activities
one after the other.`,
	})
}

func (a *app) benchSingleCommand() *cobra.Command {
	return a.benchShapeCommand(rig.Single, &cobra.Command{
		Use:   "single",
		Short: "Measure orchestrations a second, of one activity",
		Long: `Measure orchestrations a second as "duroxide bench parity" does, of one activity
each. With --in-flight 1 the latency is that of a single call on an idle worker.`,
	})
}

// benchShapeCommand completes the command of rig A for a shape.
func (a *app) benchShapeCommand(shape rig.Shape, cmd *cobra.Command) *cobra.Command {
	var f parityFlags
	cmd.Args = usage(cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(); err != nil {
			return usageError{cmd, err}
		}
		return a.benchParity(cmd.Context(), f, shape)
	}
	cmd.Flags().IntSliceVar(&f.slots, "slots", []int{1, 2, 4}, "turns and activities at a time: one `number` for each configuration")
	cmd.Flags().DurationVar(&f.window, "duration", 10*time.Second, "how long orchestrations are started, for each configuration")
	cmd.Flags().DurationVar(&f.activity, "activity", 10*time.Millisecond, "how long an activity takes")
	cmd.Flags().StringVar(&f.client, "client", clientInside, "`place` of the client: inside the worker's process, or in a process of its own")
	inFlightFlag(cmd, &f.inFlight, 20)
	f.add(cmd)
	return cmd
}

// rawCommitTime is how long the raw commit rate is measured each time.
const rawCommitTime = time.Second

func (a *app) benchParity(ctx context.Context, f parityFlags, shape rig.Shape) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		document := parityDocument{
			Store: store.Name(), Shape: shape.Name, Activities: shape.Activities, InFlight: f.inFlight, Client: f.client, WindowSeconds: f.window.Seconds(),
			ActivityMS: f.activity.Seconds() * 1000, RawCommits: []float64{},
		}
		raw := func() error {
			if store.file == "" {
				return nil
			}
			rate, err := rig.RawCommitRate(ctx, store.file, store.synchronous, rawCommitTime)
			document.RawCommits = append(document.RawCommits, rate)
			return err
		}
		if err := raw(); err != nil {
			return err
		}
		for _, slots := range f.slots {
			config := rig.ParityConfig{
				Store: store.Store, Commits: store.commits, Shape: shape, Slots: slots, InFlight: f.inFlight,
				Window: f.window, Activity: f.activity, Logger: a.errorLog(),
			}
			if f.client == clientProcess {
				config.Elsewhere = func(ctx context.Context) (rig.Load, error) { return a.loadElsewhere(ctx, store.url, config) }
			}
			p, err := rig.RunParity(ctx, config)
			if err != nil {
				return err
			}
			document.Configurations = append(document.Configurations, p)
		}
		if err := raw(); err != nil {
			return err
		}
		document.Synchronous = store.synchronous
		if f.json {
			return a.printJSON(document)
		}
		a.printParity(document)
		return nil
	})
}

func parityFigures(p rig.Parity, raw float64) []figure {
	limit, taken := "none", "none"
	if p.Cap > 0 {
		limit, taken = fraction(p.Cap), fraction(p.CapTaken)
	}
	return slices.Concat([]figure{
		{"turns : activities", ratio(p.Slots)},
		{"orchestrations", strconv.Itoa(p.Completed)},
		{"orchestrations/s, within the window", fraction(p.WindowRate)},
		{"orchestrations/s, with the drain", fraction(p.OverallRate)},
		{"  cap", limit},
		{"an activity took", fmt.Sprintf("%.2f ms", p.ActivityTook)},
		{"  cap for activities that take so long", taken},
	}, latencyFigures(p.Latency), costFigures(p.Costs, raw))
}

// printParity prints a column for each configuration.
func (a *app) printParity(d parityDocument) {
	a.screen.Printf("At most %d orchestrations in flight (%s), activities of %g ms, for %g s. Client: %s. Store: %s.\n\n",
		d.InFlight, d.Shape, d.ActivityMS, d.WindowSeconds, d.Client, storeLabel(d.Store, d.Synchronous))
	raw := 0.0
	for _, rate := range d.RawCommits {
		raw += rate / float64(len(d.RawCommits))
	}
	var columns [][]figure
	var slots []int
	var methods [][]rig.MethodTime
	for _, p := range d.Configurations {
		columns = append(columns, parityFigures(p, raw))
		slots, methods = append(slots, p.Slots), append(methods, p.Methods)
	}
	a.printColumns(columns)
	a.printMethods(slots, methods)
	if len(d.RawCommits) > 0 {
		a.screen.Printf("\nRaw commit rate of the same file: %.0f/s before, %.0f/s after.\n", d.RawCommits[0], d.RawCommits[len(d.RawCommits)-1])
	}
}
