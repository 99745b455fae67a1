package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// takenStore is a store whose combined calls are watched. A hook that is nil watches nothing.
type takenStore struct {
	*sqlite.Store

	// turn and work are given what a call has taken, and return what the worker is told.
	turn, work func(provider.Claimed, error) (provider.Claimed, error)
}

func (s *takenStore) AckTurnAndClaim(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
	taken, err := s.Store.AckTurnAndClaim(ctx, ack, params)
	if s.turn == nil {
		return taken, err
	}
	return s.turn(taken, err)
}

func (s *takenStore) AckWorkAndClaim(
	ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams,
) ([]error, provider.Claimed, error) {
	outcomes, taken, err := s.Store.AckWorkAndClaim(ctx, acks, params)
	if s.work != nil {
		taken, err = s.work(taken, err)
	}
	return outcomes, taken, err
}

// What comes with an acknowledgement when the worker is told to stop is handed back at once,
// and that is no attempt.
func TestTakenAtShutdownIsHandedBack(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"an activity", "a turn"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			store := &takenStore{Store: openStore(t)}
			stop := func(taken provider.Claimed, err error) (provider.Claimed, error) {
				if taken.Turn != nil || len(taken.Work) > 0 {
					cancel()
				}
				return taken, err
			}
			if kind == "a turn" {
				store.work = stop
			} else {
				store.turn = stop
			}
			w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Register(callEcho, echo); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- w.Run(ctx) }()
			var instance string
			// The first look of the worker may be what finds it.
			for i := 0; ctx.Err() == nil; i++ {
				instance = fmt.Sprint(i)
				run, err := client.Start(t.Context(), client.New(store.Store, client.Options{}), callEcho, instance, "x")
				if err != nil {
					t.Fatal(err)
				}
				_, _ = run.Wait(ctx)
			}
			if err := receive(t, "the worker's end", ended); err != nil {
				t.Fatal(err)
			}
			taken, err := store.Claim(t.Context(), provider.ClaimParams{
				Turn: &provider.FetchOrchestrationParams{
					LockTimeout: time.Minute, Known: provider.Know(provider.CodeName{Name: callEcho.Name(), Version: "1.0.0"}),
				},
				Work: []provider.FetchWorkParams{{LockTimeout: time.Minute, Known: provider.Know(provider.CodeName{Name: echo.Name()})}},
			})
			if err != nil {
				t.Fatal(err)
			}
			switch kind {
			case "a turn":
				if taken.Turn == nil || taken.Turn.Item.Instance != instance || taken.Turn.AttemptCount != 1 {
					t.Errorf("left behind: %+v", taken)
				}
			default:
				if len(taken.Work) != 1 || taken.Work[0].AttemptCount != 1 {
					t.Errorf("left behind: %+v", taken)
				}
			}
		})
	}
}

// When an acknowledgement fails, it is made again without taking anything.
func TestOnlyTheFirstTryTakes(t *testing.T) {
	t.Parallel()
	counter := &callCounter{Store: openStore(t)}
	store := providerfault.New(counter,
		providerfault.Rule{Operation: providerfault.AckOrchestrationItem, Times: 1, Fault: providerfault.Fault{Fail: providerfault.Busy()}},
		providerfault.Rule{Operation: providerfault.AckWorkItem, Times: 1, Fault: providerfault.Fault{Fail: providerfault.Busy()}})
	runWorker(t, store, worker.Options{}, callEcho, echo)
	if got := result(t, start(t, counter.Store, callEcho, "x")); got != "x" {
		t.Errorf("output %q", got)
	}
	calls := counter.reset()
	for _, call := range []string{"ack turn", "ack activity"} {
		if n := countOf(calls, call); n != 1 {
			t.Errorf("%d calls %q, want 1: %v", n, call, calls)
		}
	}
	if n := countOf(calls, "ack activities and take"); n != 1 { // of nothing, as the only one failed
		t.Errorf("a repeated acknowledgement takes work: %v", calls)
	}
}

func countOf(calls []string, call string) int {
	return len(slices.DeleteFunc(slices.Clone(calls), func(other string) bool { return other != call }))
}

// An answer that is lost after work was taken with it costs that work the rest of its lease,
// and nothing more.
func TestLostAnswerWithWork(t *testing.T) {
	t.Parallel()
	store := providerfault.New(openStore(t),
		providerfault.Rule{Operation: providerfault.AckOrchestrationItem, Times: 2, Fault: providerfault.Fault{Lose: providerfault.Unreachable()}},
		providerfault.Rule{Operation: providerfault.AckWorkItem, Times: 2, Fault: providerfault.Fault{Lose: providerfault.Unreachable()}})
	runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: 300 * time.Millisecond, Orchestration: 300 * time.Millisecond}}, sequenceOfFive, echo)
	result(t, start(t, store, sequenceOfFive, ""))
}

// A look that fails beside an acknowledgement is told as one that fails by itself, and what
// it did not find is looked for again.
func TestTakingFails(t *testing.T) {
	t.Parallel()
	store := &takenStore{Store: openStore(t)}
	var failures atomic.Int32
	fail := func(taken provider.Claimed, err error) (provider.Claimed, error) {
		if failures.Add(1) > 2 {
			return taken, err
		}
		return provider.Claimed{Err: providerfault.Unreachable()}, err
	}
	store.turn, store.work = fail, fail
	logger, log := logged()
	runWorker(t, store, worker.Options{
		Logger: logger, Leases: worker.Leases{Activity: 300 * time.Millisecond, Orchestration: 300 * time.Millisecond},
	}, callEcho, echo)
	if got := result(t, start(t, store.Store, callEcho, "x")); got != "x" {
		t.Errorf("output %q", got)
	}
	if told := lines(log, "the store fails"); len(told) == 0 {
		t.Errorf("the log does not tell:\n%s", log)
	}
	if told := lines(log, "the store is back"); len(told) == 0 {
		t.Errorf("the log does not tell that the store is back:\n%s", log)
	}
}

// What was taken beside an acknowledgement that the store refuses for now runs at once, and does
// not wait until that has been repeated with success.
func TestTakenDoesNotWaitForARepeatedAck(t *testing.T) {
	t.Parallel()
	bothQueued := make(chan struct{})
	var commits atomic.Int32
	inner := &takenStore{Store: openStore(t), turn: func(taken provider.Claimed, err error) (provider.Claimed, error) {
		if commits.Add(1) == 2 {
			close(bothQueued)
		}
		return taken, err
	}}
	var accepted atomic.Bool
	store := providerfault.New(inner, providerfault.Rule{
		Operation: providerfault.AckWorkItem, Fault: providerfault.Fault{Fail: providerfault.Busy()},
		If: func(c providerfault.Call) bool { return c.Instance == "first" && !accepted.Load() },
	})
	patient := echo.Implement(func(_ context.Context, input string) (string, error) {
		<-bothQueued
		return input, nil
	})
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1}, callEcho, patient)
	var runs []*client.Run[string]
	for _, instance := range []string{"first", "second"} {
		run, err := client.Start(t.Context(), client.New(inner.Store, client.Options{}), callEcho, instance, instance)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	if got := result(t, runs[1]); got != "second" {
		t.Errorf("output %q", got)
	}
	accepted.Store(true)
	if got := result(t, runs[0]); got != "first" {
		t.Errorf("output %q", got)
	}
}

// A slot does not wait for an acknowledgement that is not answered. What that brings in the
// end is done all the same.
func TestSlotGoesOnWhileAnAckHangs(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"before it has its effect": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := openStore(t)
			hanging, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			hang := func() {
				once.Do(func() {
					close(hanging)
					<-release
				})
			}
			var store provider.Provider
			if before {
				store = providerfault.New(inner, providerfault.Rule{
					Operation: providerfault.AckWorkItem, Times: 1, Fault: providerfault.Fault{Hold: release},
					If: func(providerfault.Call) bool { once.Do(func() { close(hanging) }); return true },
				})
			} else {
				store = &takenStore{Store: inner, work: func(taken provider.Claimed, err error) (provider.Claimed, error) {
					hang()
					return taken, err
				}}
			}
			runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1}, callEcho, echo)
			begin := func(instance string) *client.Run[string] {
				run, err := client.Start(t.Context(), client.New(inner, client.Options{}), callEcho, instance, instance)
				if err != nil {
					t.Fatal(err)
				}
				return run
			}
			first := begin("first")
			receive(t, "the acknowledgement that hangs", hanging)
			if got := result(t, begin("second")); got != "second" {
				t.Errorf("output %q", got)
			}
			close(release)
			if got := result(t, first); got != "first" {
				t.Errorf("output %q", got)
			}
		})
	}
}

// renewalWatch tells of calls that renew many leases.
type renewalWatch struct {
	*sqlite.Store

	together chan int
}

func (s *renewalWatch) RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error) {
	outcomes, err := s.Store.RenewLocks(ctx, locks)
	if err == nil {
		s.together <- len(locks)
	}
	return outcomes, err
}

// The leases of activities that run side by side are renewed by one call.
func TestRunningActivitiesAreRenewedTogether(t *testing.T) {
	t.Parallel()
	const n = 100
	store := &renewalWatch{Store: openStore(t), together: make(chan int, 1000)}
	finish := make(chan struct{})
	wait := activity.New("Wait", func(context.Context, string) (string, error) {
		<-finish
		return "", nil
	})
	def := orchestration.New("Many", func(ctx *orchestration.Context, _ string) (string, error) {
		var calls []*orchestration.Future[string]
		for range n {
			calls = append(calls, orchestration.Activity(ctx, wait, ""))
		}
		for _, call := range calls {
			if _, err := call.Await(); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	runWorker(t, store, worker.Options{ActivityConcurrency: n, Leases: worker.Leases{Activity: 2 * time.Second}}, def, wait)
	run := start(t, store.Store, def, "")
	for locks := 0; locks < n; {
		locks = receive(t, "a renewal", store.together)
	}
	close(finish)
	if got := result(t, run); got != "done" {
		t.Errorf("output %q", got)
	}
}

// Slots that run sessions find what belongs to them, also with a limit of sessions.
func TestTakingWithinSessions(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	def := orchestration.New("Sessions", func(ctx *orchestration.Context, _ string) (string, error) {
		var calls []*orchestration.Future[string]
		for i := range 30 {
			calls = append(calls, orchestration.Activity(ctx, echo, "", orchestration.InSession(fmt.Sprint(i%5))))
		}
		for _, call := range calls {
			if _, err := call.Await(); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	runWorker(t, store, worker.Options{ActivityConcurrency: 4, Sessions: worker.Sessions{Max: 2}}, def, echo)
	if got := result(t, start(t, store, def, "")); got != "done" {
		t.Errorf("output %q", got)
	}
}

// waitedStore tells of the calls that may wait for long, and of those that have waited.
type waitedStore struct {
	*sqlite.Store

	waits, waited chan struct{}
}

func (s *waitedStore) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	if params.Wait > time.Millisecond {
		tell(s.waits)
	}
	taken, err := s.Store.Claim(ctx, params)
	if taken.Waited {
		tell(s.waited)
	}
	return taken, err
}

func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // somebody has
	}
}

// A worker with nothing to do waits in the store, which returns when something is started.
func TestIdleWorkerWaitsInTheStore(t *testing.T) {
	t.Parallel()
	store := &waitedStore{Store: openStore(t), waits: make(chan struct{}, 1), waited: make(chan struct{}, 1)}
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1}, callEcho, echo)
	<-store.waits
	// A call that has not begun to wait yet may be what finds it.
	for i := range 100 {
		run, err := client.Start(t.Context(), client.New(store.Store, client.Options{}), callEcho, fmt.Sprint(i), "x")
		if err != nil {
			t.Fatal(err)
		}
		result(t, run)
		select {
		case <-store.waited:
			return
		default:
		}
	}
	t.Error("of 100 starts on an idle worker none has ended a wait")
}

// A worker whose first look finds something waits in the store afterwards, as any that has nothing
// to do: nothing but a look that finds nothing tells that a store cannot wait.
func TestWorkerWaitsInTheStoreAfterWork(t *testing.T) {
	t.Parallel()
	store := &waitedStore{Store: openStore(t), waits: make(chan struct{}, 1), waited: make(chan struct{}, 1)}
	run := start(t, store.Store, callEcho, "x")
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 1, ActivityConcurrency: 1}, callEcho, echo)
	receive(t, "the look that finds the start", store.waits)
	result(t, run)
	receive(t, "a look that waits", store.waits)
}
