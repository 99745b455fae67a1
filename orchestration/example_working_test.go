package orchestration_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// resultOf runs an orchestration of an example to its end, beside the definitions that it calls,
// and returns its result.
func resultOf[I, O any](def orchestration.Definition[I, O], input I, called ...worker.Registrable) (O, error) {
	ctx, c, stop := working(append(called, def)...)
	defer stop()
	run, err := client.Start(ctx, c, def, "example", input)
	check(err)
	return run.Wait(ctx)
}

// working starts a worker in this process on a store in memory, and returns a client of the
// store. stop ends both, and the context.
func working(definitions ...worker.Registrable) (ctx context.Context, c *client.Client, stop func()) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	check(err)
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	check(err)
	check(w.Register(definitions...))
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	return ctx, client.New(store, client.Options{}), func() {
		cancel()
		check(<-done)
		check(store.Close())
	}
}

// check ends an example that went wrong.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
