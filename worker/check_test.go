package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/worker"
)

// panicking is waiting after a change that panics.
var panicking = waiting.Implement(func(ctx *orchestration.Context, text string) (string, error) {
	orchestration.NewEvent[string]("go").Wait(ctx)
	panic("secret " + text)
})

// foreign is waiting after a change that uses the context in another goroutine.
var foreign = waiting.Implement(func(ctx *orchestration.Context, text string) (string, error) {
	event, used := orchestration.NewEvent[string]("go").Wait(ctx), make(chan struct{})
	go func() {
		defer close(used)
		ctx.SetCustomStatus(text)
	}()
	<-used
	return event.Await()
})

// TestCheck replays what a worker has recorded against code that fits and code that does not.
func TestCheck(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	history := history(t, store, run.Instance())
	for name, c := range map[string]struct {
		definition worker.Registrable
		want       string
		event      uint64
		misfit     bool
	}{
		"fits":              {waiting, "", 0, false},
		"does not fit":      {changed, `execution 1: event 2 was a wait for event "go", the code now asks for activity "Echo" with 0 bytes at worker/hold_test.go:19`, 2, true},
		"panics":            {panicking, `execution 1: the function panics at worker/check_test.go:15`, 0, true},
		"another goroutine": {foreign, `execution 1: another goroutine uses the context at worker/check_test.go:23`, 0, true},
		"another version":   {waiting.WithVersion("2.0.0"), `orchestration "Waiting" version 1.0.0 is not registered (versions that are: [2.0.0])`, 0, false},
	} {
		w, err := worker.New(store, worker.Options{})
		if err == nil {
			err = w.Register(c.definition)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = w.Check(t.Context(), history)
		misfit, ok := errors.AsType[*worker.MisfitError](err)
		if ok != c.misfit || ok && (misfit.Instance != run.Instance() || misfit.EventID != c.event) {
			t.Errorf("%s: %+v", name, misfit)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error quotes the panic: %v", name, err)
		}
		if err := w.Check(t.Context(), nil); err == nil {
			t.Errorf("%s: an empty history fits", name)
		}
	}
}

// TestCheckOfPanic replays the history of a function that panicked, which still does.
func TestCheckOfPanic(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	stop := runWorker(t, store, worker.Options{}, panicking)
	failure(t, start(t, store, panicking, ""))
	stop()
	w, err := worker.New(store, worker.Options{})
	if err == nil {
		err = w.Register(panicking)
	}
	if err == nil {
		err = w.Check(t.Context(), history(t, store, t.Name()))
	}
	if err != nil {
		t.Error(err)
	}
}
