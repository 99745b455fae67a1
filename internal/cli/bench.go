package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/internal/cli/rig"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// rigFlags are the flags of all rigs.
type rigFlags struct {
	store    string
	inFlight int
	json     bool
}

func (f *rigFlags) add(cmd *cobra.Command, inFlight int) {
	cmd.Flags().StringVar(&f.store, "store", "sqlite:?synchronous=full", "`URL` of the store to measure; without a path, a temporary SQLite file")
	cmd.Flags().IntVar(&f.inFlight, "in-flight", inFlight, "the `number` of orchestrations at a time")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
}

func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a store under the runtime",
		Long: `Measure a store under the runtime, worker and client in this process. The method is
in docs/performance.md. A figure is only comparable with others of the same run on
the same machine.`,
		GroupID: showGroup,
		Args:    usage(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.benchParityCommand(), a.benchMemoryCommand())
	return cmd
}

// parityFlags are the flags of rig A.
type parityFlags struct {
	rigFlags

	slots            []int
	window, activity time.Duration
}

// benchStore is the store that a rig measures.
type benchStore struct {
	Store

	// file is the SQLite file below it, empty when there is none, and synchronous the
	// degree of its durability.
	file, synchronous string
	// commits is nil without a file.
	commits *rig.CommitCounter
}

// close closes the store and then, in that order, the counter.
func (s benchStore) close() error {
	err := s.Close()
	if s.commits != nil {
		err = errors.Join(err, s.commits.Close())
	}
	return err
}

// parityDocument is what `bench parity --json` prints.
type parityDocument struct {
	Store string `json:"store"`
	// Synchronous is the durability of a SQLite store, full or normal.
	Synchronous    string       `json:"synchronous"`
	FanOut         int          `json:"fan_out"`
	InFlight       int          `json:"in_flight"`
	WindowSeconds  float64      `json:"window_seconds"`
	ActivityMS     float64      `json:"activity_ms"`
	Configurations []rig.Parity `json:"configurations"`
	// RawCommits is the file's raw commit rate before and after, null when the store
	// is no SQLite file.
	RawCommits []float64 `json:"raw_commits_per_second"`
}

func (a *app) benchParityCommand() *cobra.Command {
	var f parityFlags
	cmd := &cobra.Command{
		Use:   "parity",
		Short: "Measure orchestrations a second (rig A)",
		Long: `Measure orchestrations a second (rig A): a bounded number in flight, each with five
activities side by side, for some seconds and for several numbers of slots.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, n := range f.slots {
				if n < 1 {
					return usageError{cmd, errors.New("--slots must be positive")}
				}
			}
			if f.inFlight < 1 || f.window <= 0 || f.activity < 0 {
				return usageError{cmd, errors.New("--in-flight and --duration must be positive, --activity not negative")}
			}
			return a.benchParity(cmd.Context(), f)
		},
	}
	cmd.Flags().IntSliceVar(&f.slots, "slots", []int{1, 2, 4}, "turns and activities at a time: one `number` for each configuration")
	cmd.Flags().DurationVar(&f.window, "duration", 10*time.Second, "how long orchestrations are started, for each configuration")
	cmd.Flags().DurationVar(&f.activity, "activity", 10*time.Millisecond, "how long an activity takes")
	f.add(cmd, 20)
	return cmd
}

// rawCommitTime is how long the raw commit rate is measured each time.
const rawCommitTime = time.Second

func (a *app) benchParity(ctx context.Context, f parityFlags) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		document := parityDocument{
			Store: store.Name(), FanOut: rig.FanOut, InFlight: f.inFlight, WindowSeconds: f.window.Seconds(),
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
			p, err := rig.RunParity(ctx, rig.ParityConfig{
				Store: store.Store, Commits: store.commits, Slots: slots, InFlight: f.inFlight,
				Window: f.window, Activity: f.activity, Logger: a.errorLog(),
			})
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

// figures are the lines of rig A's table. raw is the file's raw commit rate.
var figures = []struct {
	label string
	of    func(p rig.Parity, raw float64) string
}{
	{"turns : activities", func(p rig.Parity, _ float64) string { return fmt.Sprintf("%d:%d", p.Slots, p.Slots) }},
	{"orchestrations", func(p rig.Parity, _ float64) string { return strconv.Itoa(p.Completed) }},
	{"orchestrations/s, within the window", func(p rig.Parity, _ float64) string { return fraction(p.WindowRate) }},
	{"orchestrations/s, with the drain", func(p rig.Parity, _ float64) string { return fraction(p.OverallRate) }},
	{"  cap", func(p rig.Parity, _ float64) string {
		if p.Cap == 0 {
			return "none"
		}
		return fraction(p.Cap)
	}},
	{"latency p50", func(p rig.Parity, _ float64) string { return milliseconds(p.Latency.P50) }},
	{"latency p95", func(p rig.Parity, _ float64) string { return milliseconds(p.Latency.P95) }},
	{"latency p99", func(p rig.Parity, _ float64) string { return milliseconds(p.Latency.P99) }},
	{"slowest", func(p rig.Parity, _ float64) string { return milliseconds(p.Latency.Max) }},
	{"slower than 1 s", func(p rig.Parity, _ float64) string { return strconv.Itoa(p.Latency.OverSecond) }},
	{"per orchestration: calls by the worker", func(p rig.Parity, _ float64) string { return fraction(p.WorkerCalls) }},
	{"  of these, fetches that found nothing", func(p rig.Parity, _ float64) string { return fraction(p.EmptyFetches) }},
	{"  calls by the client", func(p rig.Parity, _ float64) string { return fraction(p.ClientCalls) }},
	{"  calls that changed the store", func(p rig.Parity, _ float64) string { return fraction(p.Writes) }},
	{"  transactions", func(p rig.Parity, _ float64) string { return known(p.Commits, 1, "%.1f") }},
	{"transactions/s", func(p rig.Parity, _ float64) string { return known(p.CommitsPerSecond, 1, "%.0f") }},
	{"  of the raw commit rate", func(p rig.Parity, raw float64) string { return known(p.CommitsPerSecond, 100/raw, "%.0f %%") }},
	{"peak memory", func(p rig.Parity, _ float64) string { return megabytes(p.PeakRSS) }},
}

// printParity prints a column for each configuration.
func (a *app) printParity(d parityDocument) {
	a.screen.Printf("At most %d orchestrations in flight, each %d activities of %g ms, for %g s. Store: %s %s.\n\n",
		d.InFlight, d.FanOut, d.ActivityMS, d.WindowSeconds, d.Store, d.Synchronous)
	raw := 0.0
	for _, rate := range d.RawCommits {
		raw += rate / float64(len(d.RawCommits))
	}
	rows := make([][]string, 0, len(figures))
	for _, figure := range figures {
		row := []string{figure.label}
		for _, p := range d.Configurations {
			row = append(row, figure.of(p, raw))
		}
		rows = append(rows, row)
	}
	printTable(a.screen, rows)
	a.printMethods(d)
	if len(d.RawCommits) > 0 {
		a.screen.Printf("\nRaw commit rate of the same file: %.0f/s before, %.0f/s after.\n", d.RawCommits[0], d.RawCommits[len(d.RawCommits)-1])
	}
}

// printMethods prints how long the worker's calls took.
func (a *app) printMethods(d parityDocument) {
	header := []string{"mean time of a call by the worker"}
	rows := [][]string{}
	byName := map[string]int{}
	for column, p := range d.Configurations {
		header = append(header, fmt.Sprintf("%d:%d", p.Slots, p.Slots))
		for _, m := range p.Methods {
			at, ok := byName[m.Method]
			if !ok {
				at = len(rows)
				byName[m.Method] = at
				rows = append(rows, append([]string{"  " + m.Method}, make([]string, len(d.Configurations))...))
			}
			rows[at][column+1] = fmt.Sprintf("%.2f ms", m.Mean.Seconds()*1000)
		}
	}
	a.screen.Printf("\n")
	printTable(a.screen, append([][]string{header}, rows...))
}

func (a *app) benchMemoryCommand() *cobra.Command {
	var f rigFlags
	var orchestrations, slots int
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Measure memory over many orchestrations",
		Long: `Run many orchestrations of one activity each, and see whether the memory of this
process grows with their number.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if orchestrations < 1 || slots < 1 || f.inFlight < 1 {
				return usageError{cmd, errors.New("--orchestrations, --slots and --in-flight must be positive")}
			}
			return a.benchMemory(cmd.Context(), f, orchestrations, slots)
		},
	}
	cmd.Flags().IntVar(&orchestrations, "orchestrations", 100_000, "run this `number`")
	cmd.Flags().IntVar(&slots, "slots", 4, "turns and activities at a time")
	f.add(cmd, 40)
	return cmd
}

func (a *app) benchMemory(ctx context.Context, f rigFlags, orchestrations, slots int) error {
	return a.withBenchStore(ctx, f.store, func(store benchStore) error {
		config := rig.MemoryConfig{
			Store: store.Store, Orchestrations: orchestrations, InFlight: f.inFlight, Slots: slots, Logger: a.errorLog(),
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

// withBenchStore opens the store to measure. One without a path is a SQLite file
// in a temporary folder.
func (a *app) withBenchStore(ctx context.Context, storeURL string, run func(benchStore) error) (err error) {
	if options, temporary := strings.CutPrefix(storeURL, "sqlite:?"); temporary {
		dir, err := os.MkdirTemp("", "duroxide-bench-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		storeURL = "sqlite:" + filepath.Join(dir, "bench.db") + "?" + options
	}
	measured, err := a.openBenchStore(ctx, storeURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, measured.close()) }()
	return run(measured)
}

func (a *app) openBenchStore(ctx context.Context, storeURL string) (benchStore, error) {
	store, err := a.env.Stores.Open(ctx, storeURL, true)
	if err != nil {
		return benchStore{}, fmt.Errorf("opening the store: %w", err)
	}
	s := benchStore{Store: store}
	place, ok := strings.CutPrefix(storeURL, "sqlite:")
	if !ok {
		return s, nil
	}
	p, err := parseSQLite(place)
	if err != nil {
		return s, errors.Join(err, store.Close())
	}
	s.synchronous = "full"
	if p.config.Synchronous == sqlite.Normal {
		s.synchronous = "normal"
	}
	if p.path == memory {
		return s, nil
	}
	s.file = p.path
	if s.commits, err = rig.OpenCommitCounter(p.path); err != nil {
		return s, errors.Join(err, store.Close())
	}
	return s, nil
}

// errorLog logs errors of the worker only.
func (a *app) errorLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

func fraction(x float64) string { return fmt.Sprintf("%.1f", x) }

// known formats a figure times a factor, or that there is none.
func known(x *float64, factor float64, format string) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, *x*factor)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

func megabytes(n uint64) string {
	const mib = 1 << 20
	return fmt.Sprintf("%.1f MiB", float64(n)/mib)
}
