package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/demo"
)

// workerArgument is the first argument of the program's child process. The help text does not tell it.
const workerArgument = "worker"

// work is the worker of the demo, until the standard input ends.
func (a *app) work(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet(workerArgument, flag.ContinueOnError)
	path := flags.String("db", "", "the SQLite `file`")
	var options demo.WorkOptions
	// Long enough for a turn on a busy machine, short enough for somebody to wait for
	// after the kill.
	flags.DurationVar(&options.Lease, "lease", 2*time.Second, "length of the leases")
	flags.DurationVar(&options.Pause, "pause", 200*time.Millisecond, "how long an activity takes")
	flags.IntVar(&options.Slots, "slots", 8, "activities at a time")
	if err := parse(flags, args); err != nil {
		return err
	}
	ctx, cancel := demo.UntilEOF(ctx, a.env.stdin)
	defer cancel()
	store, err := open(ctx, *path)
	if err != nil && ctx.Err() != nil {
		return nil // told to end before it had begun
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	options.Logger = slog.New(slog.NewTextHandler(a.env.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	return demo.Work(ctx, store, a.screen, options)
}
