package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/retry"
	"github.com/duroxide/duroxide-go/worker"
)

// moment numbers the moments at which a worker process may die: each beginning and each end of a call to its store.
type moment = int64

// killVariable is how many moments are passed over between two that are tried: 0 tries all, in half a minute.
const killVariable = "DUROXIDE_TEST_KILLS_APART"

// A worker that is killed between any two of its calls to the store, and so between any two events, costs no retried
// call an attempt beyond its policy, and its saga undoes each charge once.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	apart := int64(12)
	if text := os.Getenv(killVariable); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			t.Fatalf("%s is %q", killVariable, text)
		}
		apart = n
	}
	died := 0
	for at := moment(1); killedAt(t, at); at += 1 + apart {
		died++
	}
	if t.Logf("%d workers have died", died); died < 5 {
		t.Errorf("only %d workers have died before the end", died)
	}
}

// killedAt runs an order by a worker that dies at a moment, and by another one, and checks its history. It reports
// whether the first one has died: it may have ended the order before.
func killedAt(t *testing.T, at moment) (died bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprint(at, ".db"))
	order := ordering(filepath.Dir(path))
	use := func(f func(*sqlite.Store) error) {
		t.Helper()
		store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f(store), store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	use(func(store *sqlite.Store) error {
		_, err := client.Start(t.Context(), client.New(store, client.Options{}), order.run, "order", "")
		return err
	})
	for _, dies := range []moment{at, 0} {
		process := exec.CommandContext(deadline(t), os.Args[0], path, fmt.Sprint(dies))
		process.Env = append(os.Environ(), mortalVariable+"=1")
		out, err := process.CombinedOutput()
		if err != nil && dies > 0 && len(out) == 0 { // one that fails says why
			died = true
		} else if err != nil {
			t.Fatalf("the worker that was to die at %d: %v\n%s", dies, err, out)
		}
	}
	use(func(store *sqlite.Store) error {
		for _, problem := range order.problems(history(t, store, "order")) {
			t.Errorf("killed at %d: %s", at, problem)
		}
		return nil
	})
	return died
}

// mortalVariable makes this test binary a worker that runs the order in a file until it ends, or dies.
const mortalVariable = "DUROXIDE_WORKER_TEST_MORTAL"

// mortal is the process of that worker.
func mortal(path, dies string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at, err := strconv.ParseInt(dies, 10, 64)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	fragile := &fragile{}
	fragile.left.Store(at)
	const lease = 200 * time.Millisecond
	w, err := worker.New(store, worker.Options{
		Leases: worker.Leases{Orchestration: lease, Activity: lease}, Hook: fragile, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	order := ordering(filepath.Dir(path))
	if err := w.Register(order.run, order.charge, order.refund); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.New(store, client.Options{}).Wait(ctx, "order")
		cancel()
		ended <- err
	}()
	return errors.Join(w.Run(ctx), <-ended)
}

// fragile kills its process when so many calls to the store are left to begin or end. From 0 on it never does.
type fragile struct {
	hook.None

	left atomic.Int64
}

// Store implements [hook.Hook].
func (f *fragile) Store(context.Context, string) (ended func(hook.StoreEnd)) {
	f.step()
	return func(hook.StoreEnd) { f.step() }
}

func (f *fragile) step() {
	if f.left.Add(-1) != 0 {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // nothing more happens
}

// order is an order of five charges, of which the last never succeeds.
type order struct {
	run            orchestration.Definition[string, string]
	charge, refund activity.Definition[string, string]
}

// attempts are those that the order's calls have.
const attempts = 3

// ordering is the order. Refunds fail at first: what they have tried is in files.
func ordering(dir string) order {
	var o order
	o.charge = activity.New("Charge", func(_ context.Context, item string) (string, error) {
		if item == "4" {
			return "", errors.New("refused")
		}
		return "receipt " + item, nil
	})
	o.refund = activity.New("Refund", func(_ context.Context, receipt string) (string, error) {
		file, err := os.OpenFile(filepath.Join(dir, receipt), os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			return "", nil
		}
		return "", errors.Join(err, file.Close(), errors.New("busy"))
	})
	retried := orchestration.WithRetry(retry.Policy{MaxAttempts: attempts, Backoff: retry.Constant(time.Millisecond)})
	o.run = orchestration.New("Order", func(ctx *orchestration.Context, _ string) (string, error) {
		var saga orchestration.Saga
		for i := range 5 {
			_, err := orchestration.Step(ctx, &saga, func(ctx *orchestration.Context) (string, error) {
				return orchestration.Activity(ctx, o.charge, fmt.Sprint(i), retried).Await()
			}, func(ctx *orchestration.Context, receipt string) error {
				_, err := orchestration.Activity(ctx, o.refund, receipt, retried).Await()
				return err
			})
			if err != nil {
				return "", saga.Undo(ctx, err)
			}
		}
		return "done", nil
	})
	return o
}

// problems are what is wrong with a history of the order.
func (o order) problems(history []provider.Event) (problems []string) {
	asked, tried, succeeded := map[uint64]string{}, map[string]int{}, map[string]int{}
	for _, event := range history {
		switch k := event.Kind.(type) {
		case provider.ActivityScheduled:
			call := k.Name + " " + strings.Trim(k.Input, `"`)
			asked[event.EventID] = call
			tried[call]++
		case provider.ActivityCompleted:
			succeeded[asked[*event.SourceEventID]]++
		}
	}
	expect := func(call string, most, want int) {
		if tried[call] > most || succeeded[call] != want {
			problems = append(problems, fmt.Sprintf("%s was tried %d times and succeeded %d times; %d and %d are right", call, tried[call], succeeded[call], most, want))
		}
	}
	for i := range 4 {
		expect(fmt.Sprint("Charge ", i), 1, 1)
		expect(fmt.Sprint("Refund receipt ", i), 2, 1)
	}
	expect("Charge 4", attempts, 0)
	if failed, ok := history[len(history)-1].Kind.(provider.OrchestrationFailed); !ok || !strings.Contains(fmt.Sprint(failed.Details), "refused") {
		problems = append(problems, fmt.Sprintf("the last event is %#v", history[len(history)-1].Kind))
	}
	if len(tried) != 9 || tried["Charge 4"] != attempts {
		problems = append(problems, fmt.Sprintf("the calls are %v", tried))
	}
	return problems
}
