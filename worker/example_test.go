package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

var (
	resize = activity.New("Resize", func(_ context.Context, picture string) (string, error) {
		return "small " + picture, nil
	})
	publish = orchestration.New("Publish", func(ctx *orchestration.Context, picture string) (string, error) {
		return orchestration.Activity(ctx, resize, picture, orchestration.WithTag("gpu")).Await()
	})
)

// A whole program: a store, a worker, and a client.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, nil) // sqlite.Open for one that lasts
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	anything := worker.Options{Tags: provider.AnyTag(), Logger: slog.New(slog.DiscardHandler)}
	w, err := worker.New(store, anything)
	if err == nil {
		err = w.Register(publish, resize)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()

	run, err := client.Start(ctx, client.New(store), publish, "publish-1", "cat.png")
	if err == nil {
		var result string
		result, err = run.Wait(ctx)
		fmt.Println(result)
	}
	cancel() // Run returns once what was running has ended or is handed back
	fmt.Println(err, <-done)
	// Output:
	// small cat.png
	// <nil> <nil>
}

// A worker in a process of its own, which ends in order when it is told to.
func ExampleWorker_Run() {
	serve := func(store provider.Provider) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		w, err := worker.New(store, worker.Options{
			ActivityConcurrency: 16,
			ShutdownTimeout:     10 * time.Second, // then another worker takes over what is left
		})
		if err != nil {
			return err
		}
		if err := w.Register(publish, resize); err != nil {
			return err
		}
		return w.Run(ctx)
	}
	_ = serve
}

// Activities that need a certain machine carry a tag, and a worker there asks for it.
func ExampleOptions_tags() {
	gpu, err := provider.Tags("gpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = worker.Options{Tags: gpu, OrchestrationConcurrency: -1} // the machine with the card
	_ = worker.Options{}                                        // every other
}

// A new version beside the old one: instances under way keep to theirs. A pin holds
// new ones back until every process has the new code.
func ExampleWorker_Pin() {
	v2 := orchestration.New("Publish", func(ctx *orchestration.Context, picture string) (string, error) {
		return orchestration.Activity(ctx, resize, "bright "+picture).Await()
	}).WithVersion("2.0.0")

	register := func(w *worker.Worker) error {
		if err := w.Register(publish, v2, resize); err != nil {
			return err
		}
		return w.Pin("Publish", "1.0.0")
	}
	_ = register
}
