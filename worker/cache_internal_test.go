package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// cacheStores runs a test on SQLite and on the T-SQL server.
func cacheStores(t *testing.T, test func(t *testing.T, store provider.Provider)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, store)
	})
	t.Run("mssql", func(t *testing.T) {
		t.Parallel()
		db, schema := mssqltest.Pooled(t)
		store, err := mssql.New(db, mssql.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, store)
	})
}

// cacheWorker runs a worker until stop or the test's end.
func cacheWorker(t testing.TB, store provider.Provider, options Options, forget func() bool, definitions ...Registrable) (w *Worker, stop func()) {
	t.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	w, err := New(store, options)
	if err != nil {
		t.Fatal(err)
	}
	w.cache.forget = forget
	if err := w.Register(definitions...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	done.Go(func() { _ = w.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		done.Wait()
	})
	t.Cleanup(stop)
	return w, stop
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// awaitKept waits until a worker keeps an instance's function of that execution with at
// least that many events.
func awaitKept(t *testing.T, w *Worker, instance string, execution, events uint64) {
	t.Helper()
	for ctx := soon(t); w.cache.held(instance, execution) < events; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("%d events of %s are kept, want %d", w.cache.held(instance, execution), instance, events)
		}
	}
}

// steps calls that many activities, each with the last one's result, and counts its runs.
func steps(n int, runs *atomic.Int32) orchestration.Definition[int, int] {
	return orchestration.New("Steps", func(ctx *orchestration.Context, sum int) (int, error) {
		runs.Add(1)
		for range n {
			var err error
			if sum, err = orchestration.Activity(ctx, addOne, sum).Await(); err != nil {
				return 0, err
			}
		}
		return sum, nil
	})
}

var addOne = activity.New("AddOne", func(_ context.Context, n int) (int, error) { return n + 1, nil })

// A function runs once for all its turns as long as it is kept, and in each turn without.
func TestCachedFunctionRunsOnce(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		for cached, want := range map[int]int32{0: 1, None: 51} {
			var runs atomic.Int32
			def := steps(50, &runs)
			// One slot, so that a turn seldom overtakes the one before, whose function is put back just after its
			// commit.
			_, stop := cacheWorker(t, store, Options{Cache: Cache{Instances: cached}, OrchestrationConcurrency: 1}, nil, def, addOne)
			run, err := client.Start(t.Context(), client.New(store, client.Options{}), def, fmt.Sprint("cached", cached), 7)
			if err != nil {
				t.Fatal(err)
			}
			if sum, err := run.Wait(soon(t)); sum != 57 || err != nil {
				t.Errorf("ended with %d, %v", sum, err)
			}
			stop()
			if got := runs.Load(); got < want || cached == 0 && got > want+20 {
				t.Errorf("Cache.Instances %d: the function ran %d times, want %d", cached, got, want)
			}
		}
	})
}

// Two workers that forget functions at random give each instance the result it has without
// a cache.
func TestRandomEvictions(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		var runs atomic.Int32
		def := steps(10, &runs)
		mixed := orchestration.New("Mixed", func(ctx *orchestration.Context, n int) (int, error) {
			for range 2 {
				a, b := orchestration.Activity(ctx, addOne, n), orchestration.Activity(ctx, addOne, n)
				if _, err := orchestration.Join(a, b); err != nil {
					return 0, err
				}
				sum, err := orchestration.SubOrchestration(ctx, def, n).Await()
				if err != nil {
					return 0, err
				}
				n = sum - 9
				orchestration.NewKey[int]("n").Set(ctx, n)
			}
			if n < 4 {
				return orchestration.Declare[int, int]("Mixed").ContinueAsNew(ctx, n)
			}
			return n, nil
		})
		forget := func() bool { return rand.IntN(3) == 0 }
		for range 2 {
			cacheWorker(t, store, Options{Cache: Cache{Instances: 3}}, forget, def, mixed, addOne)
		}
		c := client.New(store, client.Options{})
		var all []*client.Run[int]
		for i := range 3 {
			run, err := client.Start(t.Context(), c, mixed, fmt.Sprint("mixed", i), 0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, run)
		}
		for _, run := range all {
			if n, err := run.Wait(soon(t)); n != 4 || err != nil {
				t.Errorf("%s ended with %d, %v", run.Instance(), n, err)
			}
		}
	})
}

// letters waits for events and returns what they said.
var letters = orchestration.New("Letters", func(ctx *orchestration.Context, n int) (string, error) {
	var text strings.Builder
	for range n {
		letter, err := orchestration.NewQueue[string]("letters").Dequeue(ctx).Await()
		if err != nil {
			return "", err
		}
		text.WriteString(letter)
	}
	return text.String(), nil
})

// A kept function is not taken for an instance's that was deleted and started again under
// its id, whether the new one has fewer events or more.
func TestCacheAndRecreatedInstances(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		c := client.New(store, client.Options{})
		w, _ := cacheWorker(t, store, Options{}, nil, letters)
		for _, before := range []int{0, 40} {
			start := func(n int) *client.Run[string] {
				run, err := client.Start(t.Context(), c, letters, "again", n)
				if err != nil {
					t.Fatal(err)
				}
				return run
			}
			send := func(n int, letter string) {
				for range n {
					if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("letters"), "again", letter); err != nil {
						t.Fatal(err)
					}
				}
			}
			start(100)
			send(before, "old ")
			awaitKept(t, w, "again", 1, uint64(2+2*before))
			if _, err := store.Admin().DeleteInstance(t.Context(), "again", true); err != nil {
				t.Fatal(err)
			}
			run := start(20)
			send(20, "n")
			if text, err := run.Wait(soon(t)); text != strings.Repeat("n", 20) || err != nil {
				t.Errorf("ended with %q, %v", text, err)
			}
			if _, err := store.Admin().DeleteInstance(t.Context(), "again", true); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Cancellation and continue-as-new end what is kept.
func TestCacheAndEnds(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, store provider.Provider) {
		var ends atomic.Int32
		def := orchestration.New("Rounds", func(ctx *orchestration.Context, round int) (int, error) {
			defer ends.Add(1)
			if _, err := orchestration.NewQueue[string]("go").Dequeue(ctx).Await(); err != nil {
				return 0, err
			}
			return orchestration.Declare[int, int]("Rounds").ContinueAsNew(ctx, round+1)
		})
		w, stop := cacheWorker(t, store, Options{OrchestrationConcurrency: 1}, nil, def)
		c := client.New(store, client.Options{})
		run, err := client.Start(t.Context(), c, def, "rounds", 0)
		if err != nil {
			t.Fatal(err)
		}
		for execution := uint64(1); execution <= 3; execution++ {
			awaitKept(t, w, "rounds", execution, 2)
			if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[string]("go"), "rounds", ""); err != nil {
				t.Fatal(err)
			}
		}
		awaitKept(t, w, "rounds", 4, 2)
		if ends.Load() != 3 {
			t.Errorf("%d functions have ended, want 3", ends.Load())
		}
		if err := c.Cancel(t.Context(), "rounds", "enough"); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(soon(t)); err == nil {
			t.Error("the instance completed")
		}
		stop()
		if ends.Load() != 4 || w.cache.held("rounds", 4) != 0 {
			t.Errorf("%d functions have ended, event %d is kept", ends.Load(), w.cache.held("rounds", 4))
		}
	})
}

// A turn that was not committed leaves nothing behind: neither when its answer is lost nor
// when the store refuses it.
func TestUncommittedTurnsAreNotKept(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, inner provider.Provider) {
		store := providerfault.New(inner,
			providerfault.Rule{Operation: providerfault.AckOrchestrationItem, Skip: 2, Times: 6, Fault: providerfault.Fault{Lose: providerfault.Unreachable()}},
			providerfault.Rule{Operation: providerfault.AckOrchestrationItem, Skip: 5, Times: 8, Fault: providerfault.Fault{Fail: providerfault.Unreachable()}})
		var runs atomic.Int32
		def := steps(20, &runs)
		// An answer that is lost may have had an activity with it, which nobody gets until its lease ends.
		options := Options{Leases: Leases{Orchestration: 300 * time.Millisecond, Activity: 300 * time.Millisecond}}
		cacheWorker(t, store, options, nil, def, addOne)
		run, err := client.Start(t.Context(), client.New(inner, client.Options{}), def, "steps", 0)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := run.Wait(soon(t)); sum != 20 || err != nil {
			t.Errorf("ended with %d, %v", sum, err)
		}
		history, err := inner.Read(t.Context(), "steps")
		if err != nil || len(history) != 42 {
			t.Errorf("%d events, %v", len(history), err)
		}
	})
}

// A function that was evicted between the fetch and its turn runs from its start, with the
// whole history; if that cannot be read the turn is tried again.
func TestEvictedAfterTheFetch(t *testing.T) {
	t.Parallel()
	cacheStores(t, func(t *testing.T, inner provider.Provider) {
		var evicted *Worker
		var mu sync.Mutex
		store := providerfault.New(evicting{inner, func() {
			mu.Lock()
			defer mu.Unlock()
			if evicted != nil {
				evicted.cache.end("steps", evicted.cache.take("steps"))
			}
		}}, providerfault.Rule{Operation: providerfault.ReadWithExecution, Skip: 3, Times: 2, Fault: providerfault.Fault{Fail: providerfault.Unreachable()}})
		var runs atomic.Int32
		def := steps(40, &runs)
		w, _ := cacheWorker(t, store, Options{OrchestrationConcurrency: 1}, nil, def, addOne)
		mu.Lock()
		evicted = w
		mu.Unlock()
		run, err := client.Start(t.Context(), client.New(inner, client.Options{}), def, "steps", 0)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := run.Wait(soon(t)); sum != 40 || err != nil {
			t.Errorf("ended with %d, %v", sum, err)
		}
		if runs.Load() < 20 || store.Calls(providerfault.ReadWithExecution) < 20 {
			t.Errorf("%d runs, %d histories read", runs.Load(), store.Calls(providerfault.ReadWithExecution))
		}
	})
}

// evicting is a store after whose fetches something happens, if they found a turn.
type evicting struct {
	provider.Provider
	after func()
}

func (s evicting) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	fetched, err := s.Provider.FetchOrchestrationItem(ctx, params)
	if fetched != nil {
		s.after()
	}
	return fetched, err
}

// No more than Cache.Instances are kept, the last used ones, nor more than Cache.Bytes; all
// others and, at the worker's end, all have run their deferred calls.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	for _, options := range []Options{{Cache: Cache{Instances: 3}}, {Cache: Cache{Bytes: 3 * 10 << 10}}} {
		store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		var ends atomic.Int32
		def := orchestration.New("Waits", func(ctx *orchestration.Context, _ string) (string, error) {
			defer ends.Add(1)
			return orchestration.NewQueue[string]("go").Dequeue(ctx).Await()
		})
		options.OrchestrationConcurrency = 1
		w, stop := cacheWorker(t, store, options, nil, def)
		for i := range 10 {
			id := fmt.Sprint("waits", i)
			if _, err := client.Start(t.Context(), client.New(store, client.Options{}), def, id, ""); err != nil {
				t.Fatal(err)
			}
			awaitKept(t, w, id, 1, 2)
		}
		kept := 0
		for i := range 10 {
			if w.cache.held(fmt.Sprint("waits", i), 1) != 0 {
				kept++
			} else if i > 6 {
				t.Errorf("instance %d is not kept", i)
			}
		}
		w.cache.mu.Lock()
		held := w.cache.bytes
		w.cache.mu.Unlock()
		if kept != 3 || held > 3*10<<10 {
			t.Errorf("%d instances and %d bytes are kept", kept, held)
		}
		stop()
		if ends.Load() != 10 {
			t.Errorf("%d functions have ended", ends.Load())
		}
	}
}

// Deferred calls of an evicted function that block hold up nobody, and are told.
func TestEvictedFunctionThatBlocks(t *testing.T) {
	t.Parallel()
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	release, left := make(chan struct{}), make(chan struct{})
	def := orchestration.New("Lingers", func(ctx *orchestration.Context, n int) (string, error) {
		if n == 0 {
			defer close(left)
			defer func() { <-release }()
		}
		return orchestration.NewQueue[string]("go").Dequeue(ctx).Await()
	})
	var log syncedBuffer
	w, stop := cacheWorker(t, store, Options{
		Cache: Cache{Instances: 1}, OrchestrationConcurrency: 1, Limits: Limits{BlockedTime: 50 * time.Millisecond},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}, nil, def)
	for i := range 5 {
		id := fmt.Sprint("lingers", i)
		if _, err := client.Start(t.Context(), client.New(store, client.Options{}), def, id, i); err != nil {
			t.Fatal(err)
		}
		awaitKept(t, w, id, 1, 2)
	}
	stop()
	if text := log.String(); strings.Count(text, "its goroutine is left behind") != 1 || !strings.Contains(text, "instance_id=lingers0") {
		t.Errorf("log:\n%s", text)
	}
	close(release)
	<-left
}

// syncedBuffer is a buffer for concurrent use.
type syncedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// A history that is read for a turn and is gone, or cannot be decoded.
func TestReadWhole(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		events  []provider.Event
		err     error
		history error
		fails   bool
	}{
		{"read", []provider.Event{begun}, nil, nil, false},
		{"gone", nil, nil, nil, true},
		{"away", nil, providerfault.Unreachable(), nil, true},
		{"corrupt", nil, provider.Permanent("read", "no event", provider.ErrCorrupt), provider.ErrCorrupt, false},
	} {
		turn := newTurn([]provider.Event{completed})
		turn.worker.cache = newCache(turn.worker.options)
		turn.worker.options.OrchestrationLockTimeout = time.Minute
		turn.item.HistoryFrom = 2
		turn.worker.store = histories{events: test.events, err: test.err}
		err := turn.recall(t.Context())
		if (err != nil) != test.fails || !errors.Is(turn.item.HistoryError, test.history) {
			t.Errorf("%s: %v, history %v", test.name, err, turn.item.HistoryError)
		}
		if !test.fails && (turn.item.HistoryFrom != 0 || len(turn.item.History) != len(test.events)) {
			t.Errorf("%s: %d events from %d", test.name, len(turn.item.History), turn.item.HistoryFrom)
		}
	}
}

// histories is a store that can only be read.
type histories struct {
	provider.Store
	events []provider.Event
	err    error
}

func (s histories) ReadWithExecution(context.Context, string, uint64) ([]provider.Event, error) {
	return s.events, s.err
}
