package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "See orchestrations survive the death of their worker",
		GroupID: showGroup,
		Long: `See orchestrations survive the death of their worker. The demo runs six of them on
a SQLite file: activities one after the other, fifty side by side, a timer, an
event from outside, sub-orchestrations, and one that continues as new. The worker
is a process of its own; the demo kills it in the middle, starts another, and
shows from the histories that nothing was lost and nothing counted twice.

The demo checks all of this itself and fails if anything is wrong. At the end it prints
commands that look at the file. An interrupted demo removes its temporary file.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path != "" {
				return a.demo(cmd.Context(), path)
			}
			return a.demoInTemp(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&path, "db", "", "run on this SQLite `file` (default: a new temporary one)")
	return cmd
}

// demoInTemp runs the demo in a folder of its own, which is removed if the demo is
// interrupted.
func (a *app) demoInTemp(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "duroxide-demo-")
	if err != nil {
		return err
	}
	err = a.demo(ctx, filepath.Join(dir, "demo.db"))
	if ctx.Err() != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
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
	a.screen.Printf("The demo runs on the SQLite file %s\n\n", path)
	err = demo.Run(ctx, demo.Config{
		Store: store, Worker: []string{program, "demo-worker", "--db", path},
		Screen: a.screen, Stderr: a.env.Stderr, Timeout: time.Minute,
	})
	if ctx.Err() == nil {
		a.lookAt(program, path)
	}
	return err
}

// lookAt prints commands that look at what the demo leaves.
func (a *app) lookAt(program, path string) {
	a.screen.Printf("\nThe file stays. Look at it:\n\n")
	for _, command := range []string{"list", "status fan-out", "history hello-cities --data"} {
		a.screen.Printf("  %s %s --store %s\n", typed(program), command, quoted("sqlite:"+path))
	}
}

// typed is what a user types to run this program: go run, if that has built it, or the
// program's name, if the shell finds it by that.
func typed(program string) string {
	if strings.Contains(filepath.ToSlash(program), "/go-build") {
		return "go run ./cmd/duroxide"
	}
	name := filepath.Base(program)
	if found, err := exec.LookPath(name); err == nil && found == program {
		return name
	}
	return quoted(program)
}

// quoted is an argument as shells want it.
func quoted(argument string) string {
	if strings.Contains(argument, " ") {
		return `"` + argument + `"`
	}
	return argument
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
