package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
		return orchestration.Activity(ctx, resize, picture).Await()
	})
)

// quiet is for the examples' output; leave Options.Logger out to see what goes on.
var quiet = slog.New(slog.DiscardHandler)

// A whole program: a store, a worker, and a client.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{}) // sqlite.Open for one that lasts
	check(err)
	defer store.Close()

	w, err := worker.New(store, worker.Options{Logger: quiet})
	check(err)
	check(w.Register(publish, resize))
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()

	run, err := client.Start(ctx, client.New(store, client.Options{}), publish, "publish-1", "cat.png")
	check(err)
	fmt.Println(run.Wait(ctx))
	cancel() // Run returns once what was running has ended or is handed back
	fmt.Println(<-done)
	// Output:
	// small cat.png <nil>
	// <nil>
}

// A worker in a process of its own ends in order when its context does. In a real one
// that is
//
//	signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
func ExampleWorker_Run() {
	store, err := sqlite.OpenMemory(context.Background(), sqlite.Options{})
	check(err)
	defer store.Close()
	w, err := worker.New(store, worker.Options{
		ActivityConcurrency: 16,
		ShutdownTimeout:     10 * time.Second, // then another worker takes over what is left
		Logger:              quiet,
	})
	check(err)
	check(w.Register(publish, resize))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	fmt.Println("ended:", w.Run(ctx))
	// Output: ended: <nil>
}

// Activities that need a certain machine carry a tag, orchestration.WithTag("gpu"),
// and a worker there asks for it.
func ExampleOptions_tags() {
	gpu, err := provider.Tags("gpu")
	check(err)
	there := worker.Options{Tags: gpu, OrchestrationConcurrency: worker.None} // the machine with the card
	elsewhere := worker.Options{}                                             // every other
	tag := "gpu"
	fmt.Println(there.Tags.Matches(&tag), there.Tags.Matches(nil))
	fmt.Println(elsewhere.Tags.Matches(&tag), elsewhere.Tags.Matches(nil))
	// Output:
	// true false
	// false true
}

// A new version stands beside the old one, and instances under way keep to theirs. A
// pin holds new instances back until every process has the new code.
func ExampleWorker_Pin() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	check(err)
	defer store.Close()

	second := orchestration.New("Publish", func(ctx *orchestration.Context, picture string) (string, error) {
		return orchestration.Activity(ctx, resize, "bright "+picture).Await()
	}).WithVersion("2.0.0")
	w, err := worker.New(store, worker.Options{Logger: quiet})
	check(err)
	check(w.Register(publish, second, resize))
	check(w.Pin("Publish", "1.0.0"))
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	for i, def := range []orchestration.Definition[string, string]{publish, publish.AtVersion("2.0.0")} {
		run, err := client.Start(ctx, client.New(store, client.Options{}), def, fmt.Sprint("publish-", i), "cat.png")
		check(err)
		fmt.Println(run.Wait(ctx))
	}
	cancel()
	<-done
	// Output:
	// small cat.png <nil>
	// small bright cat.png <nil>
}

// Before a deploy: does the code of tomorrow fit the histories of today? Package
// orchestrationtest and duroxide replay ask the same of many instances.
func ExampleWorker_Check() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := sqlite.OpenMemory(ctx, sqlite.Options{})
	check(err)
	defer store.Close()
	history := []provider.Event{ // of store.Admin().ReadHistory, say
		{EventID: 1, Kind: provider.OrchestrationStarted{Name: "Publish", Version: "1.0.0", Input: `"cat.png"`}},
		{EventID: 2, Kind: provider.ActivityScheduled{Name: "Shrink", Input: `"cat.png"`}},
	}
	w, err := worker.New(store, worker.Options{Logger: quiet})
	check(err)
	check(w.Register(publish, resize))
	err = w.Check(ctx, history)
	if misfit, ok := errors.AsType[*worker.MisfitError](err); ok {
		fmt.Println("event", misfit.EventID, "does not fit")
	}
	// Output: event 2 does not fit
}

// An instance whose code does not fit waits for code that fits.
func ExampleWorker_Held() {
	store, err := sqlite.OpenMemory(context.Background(), sqlite.Options{})
	check(err)
	defer store.Close()
	w, err := worker.New(store, worker.Options{Logger: quiet})
	check(err)
	check(w.Register(publish, resize))
	for _, held := range w.Held() { // none so far
		fmt.Println(held.Instance, held.Reason)
	}
	fmt.Println(len(w.Held()))
	// Output: 0
}

// check ends an example that went wrong.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
