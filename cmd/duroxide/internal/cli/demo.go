package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/demo"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// demoPoll is how often the demo's processes look for what the other one has
// written to the file.
const demoPoll = 20 * time.Millisecond

func (a *app) demoCommand() *cobra.Command {
	var path string
	var keep bool
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "See orchestrations survive the death of their worker",
		GroupID: showGroup,
		Long: `See orchestrations survive the death of their worker. The demo runs six of them on
a SQLite file: activities one after the other, fifty side by side, a timer, an
event from outside, sub-orchestrations, and one that continues as new. The worker
is a process of its own; the demo kills it in the middle, starts another, and
shows from the histories that nothing was lost and nothing counted twice.

It checks all that itself, and fails if anything is not so.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path != "" {
				return a.demo(cmd.Context(), path)
			}
			return a.demoInTemp(cmd.Context(), keep)
		},
	}
	cmd.Flags().StringVar(&path, "db", "", "run on this SQLite `file`, which stays (default: a temporary one)")
	cmd.Flags().BoolVar(&keep, "keep", false, "do not remove the temporary file")
	return cmd
}

// demoInTemp runs the demo in a folder that is removed afterwards, unless there is
// a failure to look into.
func (a *app) demoInTemp(ctx context.Context, keep bool) error {
	dir, err := os.MkdirTemp("", "duroxide-demo-")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "demo.db")
	err = a.demo(ctx, path)
	if keep || (err != nil && ctx.Err() == nil) {
		a.screen.Printf("The database stays in %s; look at it with\n  duroxide list --store sqlite:%s\n", path, path)
		return err
	}
	return errors.Join(err, os.RemoveAll(dir))
}

func (a *app) demo(ctx context.Context, path string) (err error) {
	program, err := a.env.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, to run it as the worker: %w", err)
	}
	store, err := sqlite.Open(ctx, path, &sqlite.Config{PollInterval: demoPoll})
	if err != nil {
		return openingError{err}
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	a.screen.Printf("Everything is kept in the SQLite file %s\n\n", path)
	return demo.Run(ctx, demo.Config{
		Store: store, Worker: []string{program, "demo-worker", "--db", path},
		Screen: a.screen, Stderr: a.env.Stderr, Timeout: time.Minute,
	})
}

// demoWorkerCommand is the child process of the demo.
func (a *app) demoWorkerCommand() *cobra.Command {
	var path string
	var options demo.WorkOptions
	cmd := &cobra.Command{
		Use:    "demo-worker",
		Short:  "Be the worker of the demo, until the standard input ends",
		Hidden: true,
		Args:   usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, cancel := demo.UntilEOF(cmd.Context(), cmd.InOrStdin())
			defer cancel()
			store, err := sqlite.Open(ctx, path, &sqlite.Config{PollInterval: demoPoll})
			if err != nil && ctx.Err() != nil {
				return nil // told to end before it had begun
			}
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			options.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
			return demo.Work(ctx, store, cmd.OutOrStdout(), options)
		},
	}
	cmd.Flags().StringVar(&path, "db", "", "the SQLite `file`")
	// Long enough for a turn on a busy machine, short enough for somebody to wait for
	// after the kill.
	cmd.Flags().DurationVar(&options.Lease, "lease", 2*time.Second, "length of the leases")
	cmd.Flags().DurationVar(&options.Pause, "pause", 200*time.Millisecond, "how long an activity takes")
	cmd.Flags().IntVar(&options.Slots, "slots", 8, "activities at a time")
	return cmd
}
