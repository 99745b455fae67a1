package orchestration_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// Activities that many tests call.
var (
	greet = activity.New("Greet", func(_ context.Context, name string) (string, error) {
		return "Hello, " + name + "!", nil
	})
	double = activity.New("Double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	refuse = activity.New("Refuse", func(_ context.Context, reason string) (string, error) {
		return "", errors.New(reason)
	})
	hang = activity.New("Hang", func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
)

// engine is a store in memory with a client and, if it is given something to run, a
// worker.
type engine struct {
	t      *testing.T
	store  *sqlite.Store
	client *client.Client
}

func newEngine(t *testing.T, definitions ...worker.Registrable) *engine {
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
	e := &engine{t: t, store: store, client: client.New(store, client.Options{})}
	if len(definitions) > 0 {
		e.work(definitions...)
	}
	return e
}

// work runs a worker until the returned function is called or the test ends.
func (e *engine) work(definitions ...worker.Registrable) (stop func()) {
	e.t.Helper()
	w, err := worker.New(e.store, worker.Options{
		Logger: slog.New(slog.DiscardHandler), ActivityConcurrency: 4,
		Cache: worker.Cache{Instances: worker.None}, // so that each turn replays
		Code:  worker.Code{FailMisfits: true},
	})
	if err != nil {
		e.t.Fatal(err)
	}
	if err := w.Register(definitions...); err != nil {
		e.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if stopped {
			return
		}
		stopped = true
		if err := <-done; err != nil {
			e.t.Errorf("the worker ended with %v", err)
		}
	}
	e.t.Cleanup(stop)
	return stop
}

// deadline bounds a wait that a defect would make endless.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// start starts an instance named after the test.
func start[I, O any](e *engine, def orchestration.Definition[I, O], input I) *client.Run[O] {
	e.t.Helper()
	run, err := client.Start(e.t.Context(), e.client, def, e.t.Name(), input)
	if err != nil {
		e.t.Fatal(err)
	}
	return run
}

// result waits for a result.
func result[O any](t *testing.T, run *client.Run[O]) O {
	t.Helper()
	output, err := run.Wait(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// failureText waits for a failure and returns its text.
func failureText[O any](t *testing.T, run *client.Run[O]) string {
	t.Helper()
	output, err := run.Wait(deadline(t))
	if err == nil {
		t.Fatalf("completed with %v", output)
	}
	return err.Error()
}

// status waits until the custom status has that text, which is how orchestrations
// tell these tests how far they are.
func (e *engine) status(instance, text string) {
	e.t.Helper()
	seen := uint64(0)
	for {
		s, err := e.client.WaitForCustomStatus(deadline(e.t), instance, seen)
		if err != nil {
			e.t.Fatal(err)
		}
		if s.CustomStatus != nil && *s.CustomStatus == text {
			return
		}
		if s.Finished() {
			e.t.Fatalf("%s ended as %+v before its status was %q", instance, s, text)
		}
		seen = s.CustomStatusVersion
	}
}
