package worker_test

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// changed is waiting after a change that does not fit.
var changed = waiting.Implement(func(ctx *orchestration.Context, _ string) (string, error) {
	return orchestration.Activity(ctx, echo, "").Await()
})

// holding begins a worker that holds what does not fit, and returns what it gives back.
func holding(t *testing.T, store provider.Provider, log io.Writer) (w *worker.Worker, given chan provider.AbandonParams, stop func()) {
	t.Helper()
	given = make(chan provider.AbandonParams, 256)
	w, err := worker.New(named(handsBack{store, given}, store), worker.Options{
		Code: worker.Code{Backoff: time.Millisecond, MaxBackoff: time.Hour}, Limits: worker.Limits{Attempts: 1},
		Logger: slog.New(slog.NewJSONHandler(log, nil)),
	})
	if err == nil {
		err = w.Register(changed, echo)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w, given, run(t, w)
}

// TestMisfitsAreHeld: an instance whose code does not fit is given back with a growing delay,
// which is no attempt, and told with the line. It goes on when the code fits again.
func TestMisfitsAreHeld(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	log := &lockedBuffer{}
	w, given, stop := holding(t, store, log)
	raise(t, store, run.Instance(), "go")
	const want = `history has event 2, a wait for event "go", where the code asks for activity "Echo" with 0 bytes at worker/hold_test.go:`
	for _, delay := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond} {
		if params := receive(t, "given back", given); params.Delay != delay || !params.IgnoreAttempt || !strings.HasPrefix(params.Misfit, want) {
			t.Errorf("given back with %+v, want %v", params, delay)
		}
	}
	held := w.Held()
	if len(held) != 1 || held[0].Instance != run.Instance() || held[0].Orchestration != "Waiting" || held[0].Version != "1.0.0" || held[0].ExecutionID != 1 {
		t.Fatalf("%+v", held)
	}
	if !strings.HasPrefix(held[0].Reason, want) {
		t.Errorf("%s\nwant %s", held[0].Reason, want)
	}
	for range 2 {
		receive(t, "given back", given)
	}
	stop()
	// The first, the second and the fourth try, perhaps the eighth.
	if lines := strings.Count(log.String(), "the instance is held"); lines < 3 || lines > 4 || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%d lines in\n%s", lines, log)
	}
	runWorker(t, store, worker.Options{}, waiting)
	result(t, run)
}

// TestHeldMessagesKeepTheirOrder: what arrives after the rollback does not overtake what was held, neither events nor
// messages of a queue.
func TestHeldMessagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		ordered := orchestration.New("Ordered", func(ctx *orchestration.Context, _ string) (string, error) {
			first, second := orchestration.NewEvent[string]("event").Wait(ctx), orchestration.NewEvent[string]("event").Wait(ctx)
			ctx.SetCustomStatus("waiting")
			var all []string
			for _, event := range []*orchestration.Future[string]{first, second} {
				text, err := event.Await()
				if err != nil {
					return "", err
				}
				all = append(all, text)
			}
			for range 2 {
				text, err := orchestration.NewQueue[string]("queue").Dequeue(ctx).Await()
				if err != nil {
					return "", err
				}
				all = append(all, text)
			}
			return strings.Join(all, ", "), nil
		})
		c := client.New(store, client.Options{})
		send := func(nth string) {
			t.Helper()
			err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("queue"), t.Name(), nth+" message")
			if err := errors.Join(err, client.RaiseEvent(t.Context(), c, orchestration.NewEvent[string]("event"), t.Name(), nth+" event")); err != nil {
				t.Fatal(err)
			}
		}
		stop := runWorker(t, store, worker.Options{}, ordered)
		run := start(t, store, ordered, "")
		waitForStatus(t, store, run.Instance())
		stop()
		send("first")
		given := make(chan provider.AbandonParams, 256)
		stop = runWorker(t, named(handsBack{store, given}, store), worker.Options{Code: worker.Code{Backoff: time.Hour}},
			orchestration.New("Ordered", func(ctx *orchestration.Context, _ string) (string, error) {
				return orchestration.Activity(ctx, echo, "").Await()
			}), echo)
		receive(t, "given back", given)
		stop()
		send("second") // the held ones are hidden for an hour
		runWorker(t, store, worker.Options{}, ordered)
		if got, want := result(t, run), "first event, second event, first message, second message"; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
}

// TestHeldInstanceIsRetried: clients see why an instance is held, whoever holds it, and have it
// tried again long before its time.
func TestHeldInstanceIsRetried(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	c, instance := client.New(store, client.Options{}), run.Instance()
	given := make(chan provider.AbandonParams, 256)
	stop := runWorker(t, named(handsBack{store, given}, store), worker.Options{Code: worker.Code{Backoff: time.Hour}}, changed, echo)
	if err := c.RetryHeld(t.Context(), instance); !errors.Is(err, client.ErrNotHeld) {
		t.Errorf("retrying what waits: %v", err)
	}
	raise(t, store, instance, "go")
	reason := receive(t, "given back", given).Misfit
	stop() // the store has answered
	held, err := c.Held(t.Context(), instance)
	if err != nil || held == nil || held.InstanceID != instance || held.Reason != reason || held.NextTry.Sub(held.Since) != time.Hour {
		t.Fatalf("held: %+v, %v", held, err)
	}
	runWorker(t, store, worker.Options{}, waiting)
	if err := c.RetryHeld(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	result(t, run)
	if held, err := c.Held(t.Context(), instance); held != nil || err != nil {
		t.Errorf("it has ended, and is held: %+v, %v", held, err)
	}
	if err := c.RetryHeld(t.Context(), instance); !errors.Is(err, client.ErrNotHeld) || !errors.Is(err, client.ErrEnded) {
		t.Errorf("retrying what has ended: %v", err)
	}
	if err := c.RetryHeld(t.Context(), "nobody"); !errors.Is(err, client.ErrNotHeld) || !errors.Is(err, client.ErrNoInstance) {
		t.Errorf("retrying nobody: %v", err)
	}
}

// TestHeldMisfitsCanBeCancelled: then they end as cancelled.
func TestHeldMisfitsCanBeCancelled(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	w, given, stop := holding(t, store, io.Discard)
	raise(t, store, run.Instance(), "go")
	receive(t, "given back", given)
	if err := client.New(store, client.Options{}).Cancel(t.Context(), run.Instance(), "enough"); err != nil {
		t.Fatal(err)
	}
	if details, ok := failure(t, run).(provider.ApplicationFailure); !ok || details.Kind != provider.AppCancelled || details.CancelReason != "enough" {
		t.Errorf("%+v", details)
	}
	stop() // it is taken out when the store has answered
	if held := w.Held(); len(held) > 0 {
		t.Errorf("still held: %+v", held)
	}
}

// TestMisfitsFailIfAsked: with FailMisfits an instance fails with what does not fit.
func TestMisfitsFailIfAsked(t *testing.T) {
	t.Parallel()
	store, run := leftWaiting(t)
	raise(t, store, run.Instance(), "go")
	runWorker(t, store, worker.Options{Code: worker.Code{FailMisfits: true}}, changed, echo)
	if details, ok := failure(t, run).(provider.ConfigurationFailure); !ok || !strings.HasPrefix(details.DisplayMessage(), "nondeterministic: history has event 2") {
		t.Errorf("%+v", details)
	}
}
