package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/rig"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/server"
)

// claimFlags are the flags of rig C.
type claimFlags struct {
	rigFlags

	queue                  string
	rows, claimers         []int
	timers, claims, rounds int
	names                  int
}

// claimDocument is what `bench claim --json` prints.
type claimDocument struct {
	Queue          rig.Queue   `json:"queue"`
	ClaimsPerRound int         `json:"claims_per_round"`
	Rounds         int         `json:"rounds"`
	Configurations []rig.Claim `json:"configurations"`
}

func (a *app) benchClaimCommand() *cobra.Command {
	var f claimFlags
	cmd := &cobra.Command{
		Use:   "claim",
		Short: "Measure what it costs to claim work (rig C)",
		Long: `Measure what it costs to claim work (rig C): how long a fetch takes that finds work,
depending on the number of ready rows, of waiting timers and of claimers, and how long
a fetch takes that finds nothing. With --names the rows have many names, and the store
also has rows with names that no claimer knows.

Each population has a store of its own, which the rig fills. The rig
measures them in turn, for several rounds, and puts claimed work back after each. The column
"to the first" is the time of a claim relative to the first line with as many
claimers: the median of what the rounds have shown. CPU is this process's processor time for a claim,
without its waiting for a disk or a server.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return usageError{cmd, err}
			}
			return a.benchClaim(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVar(&f.queue, "queue", string(rig.Turns), "what is claimed: `turns` or activities")
	cmd.Flags().IntSliceVar(&f.rows, "rows", []int{1000, 1_000_000}, "ready rows: one `number` for each population")
	cmd.Flags().IntVar(&f.timers, "timers", 100_000, "the `number` of timers that wait in a further population, which is otherwise like the first, and in another one without ready rows; 0 leaves both out")
	cmd.Flags().IntSliceVar(&f.claimers, "claimers", []int{1, 8, 64}, "claims at a time: one `number` for each configuration")
	cmd.Flags().IntVar(&f.claims, "claims", 500, "claims of each population and round")
	cmd.Flags().IntVar(&f.rounds, "rounds", 5, "how often to measure each population")
	cmd.Flags().IntVar(&f.names, "names", 1, "the `number` of names of the ready rows, all known to the claimers; with more than one, the store has a quarter more rows, with names that no claimer knows")
	f.add(cmd)
	return cmd
}

// check returns what is wrong with the flags.
func (f *claimFlags) check() error {
	switch {
	case f.queue != string(rig.Turns) && f.queue != string(rig.Activities):
		return fmt.Errorf("unknown queue %q: it is turns or activities", f.queue)
	case len(f.rows) == 0 || len(f.claimers) == 0 || !positive(f.rows...) || !positive(f.claimers...) || !positive(f.claims, f.rounds, f.names):
		return errors.New("--rows, --claimers, --claims, --rounds and --names must be positive")
	case f.timers < 0:
		return errors.New("--timers must not be negative")
	case f.claims > slices.Min(f.rows):
		return errors.New("--claims must not exceed --rows: what a round claims is put back at its end")
	}
	return nil
}

// populations are what rig C compares: nothing, nothing but timers, each number of
// rows, and the first number with timers beside. If there are several names, foreign rows
// are beside each: where nothing is ready, as many as beside the first number of rows.
func (f *claimFlags) populations() []rig.Population {
	of := func(ready, timers int) rig.Population {
		p := rig.Population{Ready: ready, Timers: timers, Names: f.names}
		if f.names > 1 {
			p.Foreign = max(cmp.Or(ready, f.rows[0])/4, 1)
		}
		return p
	}
	list := []rig.Population{of(0, 0)}
	if f.timers > 0 {
		list = append(list, of(0, f.timers))
	}
	for i, rows := range f.rows {
		list = append(list, of(rows, 0))
		if i == 0 && f.timers > 0 {
			list = append(list, of(rows, f.timers))
		}
	}
	return list
}

func (a *app) benchClaim(ctx context.Context, f claimFlags) error {
	return withBenchPlace(f.store, func(storeURL string) error {
		config := rig.ClaimConfig{
			Open: func(ctx context.Context, p rig.Population) (rig.Store, error) {
				return a.openBeside(ctx, storeURL, fmt.Sprintf("claim-%d-%d", p.Ready, p.Timers))
			},
			Queue: rig.Queue(f.queue), Populations: f.populations(), Claimers: f.claimers, Claims: f.claims, Rounds: f.rounds,
		}
		progress := fillProgress{screen: a.screen}
		if !f.json {
			config.Filling, config.Filled = progress.next, progress.set
		}
		claims, err := rig.RunClaim(ctx, config)
		progress.stop()
		if err != nil {
			return err
		}
		if f.json {
			return a.printJSON(claimDocument{config.Queue, f.claims, f.rounds, claims})
		}
		a.printClaims(config, claims)
		return nil
	})
}

// openBeside opens a new store of the same kind as the one of a URL, whose name ends
// in a label.
func (a *app) openBeside(ctx context.Context, storeURL, label string) (Store, error) {
	if server.IsAddress(storeURL) {
		store, err := server.OpenScratch(ctx, a.env.Login, server.Address(storeURL), label)
		if err != nil {
			return nil, openingError{err}
		}
		return store, nil
	}
	beside := storeURL
	if place, ok := strings.CutPrefix(storeURL, "sqlite:"); ok && !strings.HasPrefix(place, memory) {
		path, options, _ := strings.Cut(place, "?")
		beside = "sqlite:" + path + "-" + label + "?" + options
	}
	store, err := a.env.Stores.Open(ctx, beside, true)
	if err != nil {
		return nil, openingError{err}
	}
	return store, nil
}

// fillProgress shows how far the filling of the stores is.
type fillProgress struct {
	screen *screen.Screen
	bar    *screen.Bar
}

func (f *fillProgress) next(p rig.Population) {
	f.stop()
	if total := p.Ready + p.Timers + p.Foreign; total > 0 {
		f.bar = f.screen.Bar(fmt.Sprintf("filling a store: %d ready, %d timers, %d of other names", p.Ready, p.Timers, p.Foreign), total)
		f.bar.Set(0)
	}
}

func (f *fillProgress) set(rows int) { f.bar.Set(rows) }

func (f *fillProgress) stop() {
	if f.bar != nil {
		f.bar.Stop()
	}
}

// printClaims prints a line for each number of claimers and population.
func (a *app) printClaims(config rig.ClaimConfig, claims []rig.Claim) {
	a.screen.Printf("\n%d claims of %s in each of %d rounds. Without ready rows, what is measured is a claim that finds nothing.\n\n",
		config.Claims, config.Queue, config.Rounds)
	rows := [][]string{{"CLAIMERS", "READY", "NAMES", "FOREIGN", "TIMERS", "CLAIMS/S", "P50", "P99", "SLOWEST", "TO THE FIRST", "CPU", "CPU TO THE FIRST", "ERRORS", "MISSED"}}
	for _, c := range claims {
		rows = append(rows, []string{
			strconv.Itoa(c.Claimers), strconv.Itoa(c.Ready), strconv.Itoa(c.Names), strconv.Itoa(c.Foreign), strconv.Itoa(c.Timers),
			strconv.FormatFloat(c.Rate, 'f', 0, 64), short(c.Latency.P50), short(c.Latency.P99), short(c.Latency.Max),
			fmt.Sprintf("%.2f", c.Ratio), known(c.CPUMilliseconds, 1, "%.3f ms"), known(c.CPURatio, 1, "%.2f"), strconv.FormatInt(c.Errors, 10), strconv.FormatInt(c.Missed, 10),
		})
	}
	printTable(a.screen, rows)
}
