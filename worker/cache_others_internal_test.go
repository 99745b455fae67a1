package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// pausing is a store whose fetches of turns find nothing for a while.
type pausing struct {
	provider.Provider

	mu     sync.RWMutex
	paused bool
}

// pause begins or ends that while. No fetch is under way when it begins.
func (s *pausing) pause(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = paused
}

func (s *pausing) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.paused {
		return nil, nil
	}
	return s.Provider.FetchOrchestrationItem(ctx, params)
}

// often asks the store so often that it can be paused at any time.
func often() Options {
	return Options{PollTimeout: time.Millisecond, Limits: Limits{Attempts: 3}}
}

// What another worker did meanwhile, a worker that comes back to the instance replays.
func TestCacheAndOtherWorkers(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, inner provider.Provider) {
		c := client.New(inner, client.Options{})
		store := &pausing{Provider: inner}
		first, _ := cacheWorker(t, store, often(), nil, letters)
		run, err := client.Start(t.Context(), c, letters, "shared", 60)
		if err != nil {
			t.Fatal(err)
		}
		send := func(n int, letter string) {
			for range n {
				if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("letters"), "shared", letter); err != nil {
					t.Fatal(err)
				}
			}
		}
		send(20, "a")
		awaitKept(t, first, "shared", 1, 42)
		store.pause(true)
		second, stop := cacheWorker(t, inner, Options{}, nil, letters)
		send(20, "b")
		awaitKept(t, second, "shared", 1, 82)
		stop()
		store.pause(false)
		send(20, "c")
		want := strings.Repeat("a", 20) + strings.Repeat("b", 20) + strings.Repeat("c", 20)
		if text, err := run.Wait(soon(t)); text != want || err != nil {
			t.Errorf("ended with %q, %v", text, err)
		}
	})
}

// A kept function ends, and nothing of it is used, when its worker comes back to an instance
// that another worker has continued as new.
func TestCacheAndContinuedElsewhere(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		k := keep(t, store)
		second, stop := k.second(t)
		k.send(t)
		awaitKept(t, second, "kept", 2, 2)
		stop()
		k.store.pause(false)
		k.send(t)
		if round, err := k.run.Wait(soon(t)); round != 2 || err != nil {
			t.Errorf("ended with %d, %v", round, err)
		}
		k.awaitEnds(t)
	})
}

// The same when another worker has cancelled the instance.
func TestCacheAndCancelledElsewhere(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		k := keep(t, store)
		_, stop := k.second(t)
		if err := k.client.Cancel(t.Context(), "kept", "enough"); err != nil {
			t.Fatal(err)
		}
		if failed := k.failure(t); !failed.Cancelled() {
			t.Errorf("ended with %v", failed)
		}
		stop()
		k.staysEnded(t)
	})
}

// The same when another worker has found the instance poisoned.
func TestCacheAndPoisonedElsewhere(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		k := keep(t, store)
		k.giveBack(t)
		_, stop := k.second(t)
		k.isPoisoned(t)
		stop()
		k.staysEnded(t)
	})
}

// The same when the worker that keeps the function finds the poison.
func TestCacheAndPoison(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		k := keep(t, store)
		k.giveBack(t)
		k.store.pause(false)
		k.isPoisoned(t)
		k.awaitEnds(t)
	})
}

// kept is an instance whose function a paused worker keeps.
type kept struct {
	store  *pausing
	worker *Worker
	stop   func()
	client *client.Client
	run    *client.Run[int]
	rounds orchestration.Definition[int, int]
	// running is how many functions have not ended.
	running atomic.Int32
}

// keep starts an instance of two rounds, each of which waits for a message, and pauses its
// worker in the first.
func keep(t *testing.T, store provider.Provider) *kept {
	t.Helper()
	k := &kept{
		store:  &pausing{Provider: store},
		client: client.New(store, client.Options{}),
	}
	k.rounds = orchestration.New("Rounds", func(ctx *orchestration.Context, round int) (int, error) {
		k.running.Add(1)
		defer k.running.Add(-1)
		if _, err := orchestration.NewQueue[string]("go").Dequeue(ctx).Await(); err != nil || round == 2 {
			return round, err
		}
		return orchestration.Declare[int, int]("Rounds").ContinueAsNew(ctx, round+1)
	})
	k.worker, k.stop = cacheWorker(t, k.store, often(), nil, k.rounds)
	var err error
	if k.run, err = client.Start(t.Context(), k.client, k.rounds, "kept", 1); err != nil {
		t.Fatal(err)
	}
	awaitKept(t, k.worker, "kept", 1, 2)
	k.store.pause(true)
	return k
}

// second is another worker.
func (k *kept) second(t *testing.T) (w *Worker, stop func()) {
	t.Helper()
	return cacheWorker(t, k.store.Provider, often(), nil, k.rounds)
}

func (k *kept) send(t *testing.T) {
	t.Helper()
	if err := client.Enqueue(t.Context(), k.client, orchestration.NewQueue[string]("go"), "kept", ""); err != nil {
		t.Fatal(err)
	}
}

// giveBack sends a message and fetches it as often as may be, for nothing.
func (k *kept) giveBack(t *testing.T) {
	t.Helper()
	k.send(t)
	for range often().Limits.Attempts {
		fetched, err := k.store.Provider.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{
			LockTimeout: time.Minute, Known: provider.Know(provider.CodeName{Name: k.rounds.Name(), Version: "1.0.0"}),
		})
		if err != nil || fetched == nil {
			t.Fatalf("fetched %v, %v", fetched, err)
		}
		if err := k.store.Provider.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: fetched.LockToken}); err != nil {
			t.Fatal(err)
		}
	}
}

// failure is how the instance has failed.
func (k *kept) failure(t *testing.T) *client.FailedError {
	t.Helper()
	_, err := k.run.Wait(soon(t))
	failed, ok := errors.AsType[*client.FailedError](err)
	if !ok {
		t.Fatalf("ended with %v, want a failure", err)
	}
	return failed
}

func (k *kept) isPoisoned(t *testing.T) {
	t.Helper()
	failed := k.failure(t)
	if poison, ok := failed.Details.(provider.PoisonFailure); !ok || int(poison.AttemptCount) != often().Limits.Attempts+1 {
		t.Errorf("ended with %v, want poison", failed)
	}
}

// staysEnded lets the worker go on with a message that comes too late, which changes nothing.
func (k *kept) staysEnded(t *testing.T) {
	t.Helper()
	before, err := k.store.Read(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	k.store.pause(false)
	if err := client.RaiseEvent(t.Context(), k.client, orchestration.NewEvent[string]("late"), "kept", ""); err != nil {
		t.Fatal(err)
	}
	k.awaitEnds(t)
	k.stop()
	after, err := k.store.Read(t.Context(), "kept")
	if err != nil || len(after) != len(before) {
		t.Errorf("%d events, %v, want %d", len(after), err, len(before))
	}
	k.failure(t)
}

// awaitEnds waits until the worker keeps nothing of the instance and its functions have ended.
func (k *kept) awaitEnds(t *testing.T) {
	t.Helper()
	held := func() uint64 { return k.worker.cache.held("kept", 1) + k.worker.cache.held("kept", 2) }
	for ctx := soon(t); held() != 0 || k.running.Load() != 0; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("event %d is kept, %d functions have not ended", held(), k.running.Load())
		}
	}
}
