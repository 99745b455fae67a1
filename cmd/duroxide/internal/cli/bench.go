package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// rigFlags are the flags of all rigs.
type rigFlags struct {
	store string
	json  bool
}

func (f *rigFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.store, "store", "sqlite:?synchronous=full", "`URL` of the store to measure; without a path, a temporary SQLite file")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
}

// inFlightFlag is the flag of the rigs that run orchestrations.
func inFlightFlag(cmd *cobra.Command, inFlight *int, value int) {
	cmd.Flags().IntVar(inFlight, "in-flight", value, "`number` of orchestrations at a time")
}

// positive reports whether each number is.
func positive(numbers ...int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return n < 1 })
}

func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a store with a worker and a client",
		Long: `Measure a store with a worker and a client, which run in this process; "parity",
"sequence" and "single" also have the client in another. The method is in
docs/performance.md. Only figures of the same run on the same machine are
comparable. The store must be empty, because a rig would take the work that it finds.`,
		GroupID: measureGroup,
		Args:    usage(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.benchParityCommand(), a.benchSequenceCommand(), a.benchSingleCommand(), a.benchCitiesCommand(), a.benchClaimCommand(),
		a.benchChildrenCommand(), a.benchHistoryCommand(), a.benchTimersCommand(), a.benchStartupCommand(), a.benchIdleCommand(),
		a.benchMemoryCommand(), a.benchPayloadCommand(), a.benchCompareCommand(),
	)
	return cmd
}

// benchStore is the store that a rig measures.
type benchStore struct {
	Store

	// url is where another process finds it.
	url string
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

// withBenchStore opens the store to measure, which must be empty, and is so before the
// first of the run's workers starts.
func (a *app) withBenchStore(ctx context.Context, storeURL string, run func(benchStore) error) error {
	return withBenchPlace(storeURL, func(storeURL string) (err error) {
		measured, err := a.openBenchStore(ctx, storeURL)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, measured.close()) }()
		if err := rig.MustBeEmpty(ctx, measured); err != nil {
			return err
		}
		return run(measured)
	})
}

// withBenchPlace finds a place for the store to measure: one without a path is a
// SQLite file in a temporary folder.
func withBenchPlace(storeURL string, run func(storeURL string) error) (err error) {
	rest, onSQLite := strings.CutPrefix(storeURL, "sqlite:")
	path, options, _ := strings.Cut(rest, "?")
	if !onSQLite || path != "" {
		return run(storeURL)
	}
	dir, err := os.MkdirTemp("", "duroxide-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return run("sqlite:" + filepath.Join(dir, "bench.db") + "?" + options)
}

func (a *app) openBenchStore(ctx context.Context, storeURL string) (benchStore, error) {
	store, err := a.env.Stores.Open(ctx, storeURL, true)
	if err != nil {
		return benchStore{}, openingError{err}
	}
	s := benchStore{Store: store, url: storeURL}
	place, ok := strings.CutPrefix(storeURL, "sqlite:")
	if !ok {
		return s, nil
	}
	p, err := parseSQLite(place)
	if err != nil {
		return s, errors.Join(err, store.Close())
	}
	s.synchronous = "full"
	if p.options.Synchronous == sqlite.Normal {
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

// figure is one line of a rig's table, for one configuration.
type figure struct{ label, value string }

func latencyFigures(l rig.Latency) []figure {
	return []figure{
		{"latency p50", milliseconds(l.P50)},
		{"latency p95", milliseconds(l.P95)},
		{"latency p99", milliseconds(l.P99)},
		{"slowest", milliseconds(l.Max)},
		{"slower than 1 s", strconv.Itoa(l.OverSecond)},
	}
}

// costFigures are the costs of orchestrations. raw is the file's raw commit rate, 0
// when it was not measured.
func costFigures(c rig.Costs, raw float64) []figure {
	figures := []figure{
		{"per orchestration: calls by the worker", fraction(c.WorkerCalls)},
		{"  of these, fetches that found nothing", fraction(c.EmptyFetches)},
		{"  calls by the client", fraction(c.ClientCalls)},
		{"  calls that changed the store", fraction(c.Writes)},
		{"  transactions", known(c.Commits, 1, "%.1f")},
		{"  round trips to the server", known(c.RoundTrips, 1, "%.1f")},
		{"  processor time", known(c.CPUMilliseconds, 1, "%.2f ms")},
		{"  written", known(c.BytesWritten, 1.0/1024, "%.1f KiB")},
		{"transactions/s", known(c.CommitsPerSecond, 1, "%.0f")},
	}
	if raw > 0 {
		figures = append(figures, figure{"  of the raw commit rate", known(c.CommitsPerSecond, 100/raw, "%.0f %%")})
	}
	return append(figures, figure{"peak memory", megabytes(c.PeakRSS)})
}

// printColumns prints a column for each configuration. All have the same lines.
func (a *app) printColumns(columns [][]figure) {
	rows := make([][]string, len(columns[0]))
	for i, f := range columns[0] {
		rows[i] = []string{f.label}
		for _, column := range columns {
			rows[i] = append(rows[i], column[i].value)
		}
	}
	printTable(a.screen, rows)
}

// printMethods prints how long the worker's calls took, a column for each
// configuration.
func (a *app) printMethods(slots []int, methods [][]rig.MethodTime) {
	header := []string{"mean time of a call by the worker"}
	rows := [][]string{}
	byName := map[string]int{}
	for column, list := range methods {
		header = append(header, ratio(slots[column]))
		for _, m := range list {
			at, ok := byName[m.Method]
			if !ok {
				at = len(rows)
				byName[m.Method] = at
				rows = append(rows, append([]string{"  " + m.Method}, make([]string, len(methods))...))
			}
			rows[at][column+1] = short(m.Mean)
		}
	}
	a.screen.Printf("\n")
	printTable(a.screen, append([][]string{header}, rows...))
}

// storeLabel names a store with its durability, if it has a choice.
func storeLabel(name, synchronous string) string {
	return strings.TrimSpace(name + " " + synchronous)
}

// ratio shows the slots of a worker.
func ratio(slots int) string { return fmt.Sprintf("%d:%d", slots, slots) }

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

// short is for what takes far less than a second.
func short(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", d.Seconds()*1000)
}

func megabytes(n uint64) string {
	const mib = 1 << 20
	return fmt.Sprintf("%.1f MiB", float64(n)/mib)
}
