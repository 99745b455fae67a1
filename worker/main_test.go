package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(mortalVariable) {
	case "":
		mssqltest.Run(m)
	case mortalReader:
		err = readOn(os.Args[1], os.Args[2], os.Args[3])
	default:
		err = mortal(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// openStore opens an empty store in memory.
func openStore(t testing.TB) *sqlite.Store {
	t.Helper()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// runWorker runs a worker until the returned function is called or the test ends.
func runWorker(t testing.TB, store provider.Provider, options worker.Options, definitions ...worker.Registrable) (stop func()) {
	t.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	w, err := worker.New(store, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(definitions...); err != nil {
		t.Fatal(err)
	}
	return run(t, w)
}

func run(t testing.TB, w *worker.Worker) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the worker ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// deadline bounds a wait that a defect would make endless.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// receive waits for a signal.
func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-deadline(t).Done():
		t.Fatalf("no signal: %s", what)
		panic("unreachable")
	}
}

// start starts an instance named after the test.
func start[I, O any](t *testing.T, store provider.Provider, def orchestration.Definition[I, O], input I) *client.Run[O] {
	t.Helper()
	run, err := client.Start(t.Context(), client.New(store, client.Options{}), def, t.Name(), input)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func result[O any](t *testing.T, run *client.Run[O]) O {
	t.Helper()
	output, err := run.Wait(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// failure waits for a failure and returns its details.
func failure[O any](t *testing.T, run *client.Run[O]) provider.ErrorDetails {
	t.Helper()
	output, err := run.Wait(deadline(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok {
		t.Fatalf("ended with %v, %v", output, err)
	}
	return failed.Details
}

// history reads an instance's latest execution.
func history(t *testing.T, store provider.Provider, instance string) []provider.Event {
	t.Helper()
	events, err := store.Read(t.Context(), instance)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// types are the kinds of a history, in order.
func types(events []provider.Event) []string {
	var list []string
	for _, event := range events {
		list = append(list, event.Kind.Type())
	}
	return list
}

func raise(t *testing.T, store provider.Provider, instance, event string) {
	t.Helper()
	if err := client.RaiseEvent(t.Context(), client.New(store, client.Options{}), orchestration.NewEvent[string](event), instance, ""); err != nil {
		t.Fatal(err)
	}
}

// waitForStatus waits for the next custom status.
func waitForStatus(t *testing.T, store provider.Provider, instance string) {
	t.Helper()
	s, err := client.New(store, client.Options{}).WaitForCustomStatus(deadline(t), instance, 0)
	if err != nil || s.CustomStatus == nil {
		t.Fatalf("status %+v, %v", s, err)
	}
}

// echo is the plainest activity, and calls the plainest orchestration of one.
var (
	echo = activity.New("Echo", func(_ context.Context, text string) (string, error) { return text, nil })

	callEcho = orchestration.New("CallEcho", func(ctx *orchestration.Context, text string) (string, error) {
		return orchestration.Activity(ctx, echo, text).Await()
	})
)

// calling makes an orchestration that calls one activity and returns what it says.
func calling(def activity.Definition[string, string], options ...orchestration.ActivityOption) orchestration.Definition[string, string] {
	return orchestration.New("Call"+def.Name(), func(ctx *orchestration.Context, input string) (string, error) {
		return orchestration.Activity(ctx, def, input, options...).Await()
	})
}

// waiting waits for the event "go", having said so as custom status.
var waiting = orchestration.New("Waiting", func(ctx *orchestration.Context, _ string) (string, error) {
	event := orchestration.NewEvent[string]("go").Wait(ctx)
	ctx.SetCustomStatus("waiting")
	return event.Await()
})

// leftWaiting is a store with an instance of waiting that has had its first turn, and
// whose worker has stopped.
func leftWaiting(t *testing.T) (*sqlite.Store, *client.Run[string]) {
	t.Helper()
	store := openStore(t)
	stop := runWorker(t, store, worker.Options{}, waiting)
	run := start(t, store, waiting, "")
	waitForStatus(t, store, run.Instance())
	stop()
	return store, run
}
