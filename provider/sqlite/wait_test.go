package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// long is a PollTimeout that no test waits for.
const long = 30 * second

// fetched starts a fetch in the background.
func fetched(t *testing.T, s *Store) <-chan *provider.FetchedOrchestration {
	t.Helper()
	turns := make(chan *provider.FetchedOrchestration, 1)
	go func() {
		turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour, PollTimeout: long})
		if err != nil && !errors.Is(err, provider.ErrClosed) {
			t.Error(err)
		}
		turns <- turn
	}()
	return turns
}

// waiting waits until n fetches sleep.
func waiting(t *testing.T, list *wakeup.List, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * second); time.Now().Before(deadline); time.Sleep(millisecond) {
		if list.Len() == n {
			return
		}
	}
	t.Fatalf("never were %d fetches waiting", n)
}

// soon receives what must come long before the poll timeout.
func soon[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-after(10 * second):
		t.Fatal("nobody woke the fetch")
		panic("unreachable")
	}
}

func TestFetchWakes(t *testing.T) {
	t.Parallel()
	enqueue := func(delay time.Duration) func(t *testing.T, s *Store) {
		return func(t *testing.T, s *Store) {
			t.Helper()
			must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), delay))
		}
	}
	for name, c := range map[string]struct {
		before func(t *testing.T, s *Store)
		// then is done while the fetch waits; turn is an instance fetched before.
		then func(t *testing.T, s *Store, turn *provider.FetchedOrchestration)
	}{
		"on a message":      {nil, func(t *testing.T, s *Store, _ *provider.FetchedOrchestration) { enqueue(0)(t, s) }},
		"when a delay ends": {nil, func(t *testing.T, s *Store, _ *provider.FetchedOrchestration) { enqueue(30*millisecond)(t, s) }},
		"when a turn is abandoned": {enqueue(0), func(t *testing.T, s *Store, turn *provider.FetchedOrchestration) {
			must(t, s.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: turn.LockToken}))
		}},
		"when an abandoned turn's delay ends": {enqueue(0), func(t *testing.T, s *Store, turn *provider.FetchedOrchestration) {
			must(t, s.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: turn.LockToken, Delay: 30 * millisecond}))
		}},
		"when a shortened lease ends": {enqueue(0), func(t *testing.T, s *Store, turn *provider.FetchedOrchestration) {
			must(t, s.RenewOrchestrationItemLock(t.Context(), turn.LockToken, 30*millisecond))
		}},
		"when a turn ends with a message left": {enqueue(0), func(t *testing.T, s *Store, turn *provider.FetchedOrchestration) {
			enqueue(0)(t, s)
			must(t, s.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMemory(t, Options{})
			var turn *provider.FetchedOrchestration
			if c.before != nil {
				c.before(t, s)
				turn = fetch(t, s)
			}
			turns := fetched(t, s)
			waiting(t, s.instances, 1)
			c.then(t, s, turn)
			if got := soon(t, turns); got == nil || got.Item.Instance != "i" {
				t.Errorf("fetched %v", got)
			}
		})
	}
}

// What was written before the store was opened comes due as well.
func TestFetchWakesForWhatWasThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	first := openFile(t, path, Options{})
	must(t, first.EnqueueForOrchestrator(t.Context(), start("delayed"), 300*millisecond))
	must(t, first.EnqueueForOrchestrator(t.Context(), start("leased"), 0))
	turn, err := first.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: 300 * millisecond})
	if err != nil || turn == nil {
		t.Fatalf("fetched %v, %v", turn, err)
	}
	must(t, first.Close())

	// Only time can wake these fetches.
	second := openFile(t, path, Options{PollInterval: Never})
	a, b := fetched(t, second), fetched(t, second)
	got := map[string]bool{soon(t, a).Item.Instance: true, soon(t, b).Item.Instance: true}
	if !got["delayed"] || !got["leased"] {
		t.Errorf("fetched %v", got)
	}
}

func TestFetchWorkWakes(t *testing.T) {
	t.Parallel()
	activity := func(id uint64, session, tag *string) provider.ActivityExecuteItem {
		return provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: id, SessionID: session, Tag: tag}
	}
	gpu, err := provider.Tags("gpu")
	must(t, err)
	mine := &provider.SessionFetchConfig{OwnerID: "mine", LockTimeout: time.Hour}
	for name, c := range map[string]struct {
		params provider.FetchWorkParams
		wake   func(t *testing.T, s *Store)
	}{
		"on an activity": {provider.FetchWorkParams{}, func(t *testing.T, s *Store) {
			must(t, s.EnqueueForWorker(t.Context(), activity(2, nil, nil)))
		}},
		"past others that wait for another tag": {provider.FetchWorkParams{Tags: gpu}, func(t *testing.T, s *Store) {
			must(t, s.EnqueueForWorker(t.Context(), activity(2, nil, new("gpu"))))
		}},
		"when a session becomes free": {provider.FetchWorkParams{Session: mine}, func(t *testing.T, s *Store) {
			must(t, s.EnqueueForWorker(t.Context(), activity(8, new("s"), nil)))
			work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{
				LockTimeout: time.Hour, Session: &provider.SessionFetchConfig{OwnerID: "other", LockTimeout: 100 * millisecond},
			})
			must(t, err)
			if work == nil {
				return // mine was faster
			}
			must(t, s.EnqueueForWorker(t.Context(), activity(9, new("s"), nil)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openMemory(t, Options{})
			// Others that wait for something that never comes.
			never, err := provider.Tags("never")
			must(t, err)
			for range 5 {
				go func() {
					_, _ = s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour, PollTimeout: long, Tags: never})
				}()
			}
			waiting(t, s.activities, 5)
			found := make(chan *provider.FetchedWorkItem, 1)
			go func() {
				params := c.params
				params.LockTimeout, params.PollTimeout = time.Hour, long
				work, err := s.FetchWorkItem(t.Context(), params)
				must(t, err)
				found <- work
			}()
			waiting(t, s.activities, 6)
			c.wake(t, s)
			if work := soon(t, found); work == nil {
				t.Error("fetched nothing")
			}
			must(t, s.Close())
		})
	}
}

// Another process has written: its commits are noticed within PollInterval.
func TestFetchWakesForAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, Options{PollInterval: 20 * millisecond})
	turns := fetched(t, s)
	waiting(t, s.instances, 1)
	if out, err := child(t, t.Context(), "enqueue", path, "i").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if turn := soon(t, turns); turn == nil || turn.Item.Instance != "i" {
		t.Errorf("fetched %v", turn)
	}
}

// One message wakes one of many fetches.
func TestNoThunderingHerd(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := openMemory(t, Options{now: counted(&calls)})
	const n = 32
	var group sync.WaitGroup
	for range n {
		turns := fetched(t, s)
		group.Go(func() { <-turns })
	}
	waiting(t, s.instances, n)
	calls.Store(0)
	for i := range n / 2 {
		must(t, s.EnqueueForOrchestrator(t.Context(), start(fmt.Sprint("i", i)), 0))
		waiting(t, s.instances, n-1-i)
	}
	// Per message: the enqueue, one fetch, the watch that is told of its lease, and
	// now and then a fetch that looks once more.
	if got := calls.Load(); got > 6*n/2 {
		t.Errorf("the clock was read %d times for %d messages", got, n/2)
	}
	must(t, s.Close())
	group.Wait()
}

// counted is the clock, and counts how often somebody looks at it: every call that
// is carried out does, once.
func counted(calls *atomic.Int64) func() int64 {
	return func() int64 {
		calls.Add(1)
		return time.Now().UnixMilli()
	}
}

// Fetches that wait cost nothing but the check for other processes.
func TestIdleCost(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{now: counted(&calls), PollInterval: 20 * millisecond})
	var group sync.WaitGroup
	for range 100 {
		turns := fetched(t, s)
		group.Go(func() { <-turns })
	}
	waiting(t, s.instances, 100)
	calls.Store(0)
	<-after(500 * millisecond)
	// The watch looks at the clock 25 times; a fetch would be 100 more.
	if got := calls.Load(); got > 60 {
		t.Errorf("the clock was read %d times by 100 sleeping fetches", got)
	}
	must(t, s.Close())
	group.Wait()
}

func TestPollTimeout(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	for _, timeout := range []time.Duration{0, 50 * millisecond, 200 * millisecond} {
		begin := time.Now()
		turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour, PollTimeout: timeout})
		took := time.Since(begin)
		if turn != nil || err != nil || took < timeout || took > timeout+5*second {
			t.Errorf("fetched %v, %v after %v; want nothing after %v", turn, err, took, timeout)
		}
	}
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	t.Run("with the context", func(t *testing.T) {
		t.Parallel()
		s := openMemory(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			waiting(t, s.instances, 1)
			cancel()
		}()
		_, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Hour, PollTimeout: long})
		contextEnded(t, err, context.Canceled)
	})
	t.Run("with the store", func(t *testing.T) {
		t.Parallel()
		s := openMemory(t, Options{})
		go func() {
			waiting(t, s.activities, 1)
			must(t, s.Close())
		}()
		_, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour, PollTimeout: long})
		if !errors.Is(err, provider.ErrClosed) || provider.IsRetryable(err) {
			t.Errorf("error %v; want a permanent %v", err, provider.ErrClosed)
		}
	})
}

// takesATurn takes a turn in the background, with calls that may wait.
func takesATurn(t *testing.T, s *Store) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		params := provider.ClaimParams{Turn: everything().Turn, Wait: long}
		for {
			taken, err := s.Claim(t.Context(), params)
			if taken.Turn != nil || err != nil {
				done <- err
				return
			}
			if !taken.Waited {
				done <- errors.New("a Claim has found nothing and not waited")
				return
			}
		}
	}()
	return done
}

// A Claim that waits returns when something becomes ready: by a call, by itself, or by another process.
func TestWaitingTakeReturnsAtANotice(t *testing.T) {
	t.Parallel()
	for name, makes := range map[string]func(t *testing.T, s, other *Store){
		"a start": func(t *testing.T, s, _ *Store) {
			t.Helper()
			_, err := s.StartInstance(t.Context(), start("i"))
			must(t, err)
		},
		"a delay ends": func(t *testing.T, s, _ *Store) {
			t.Helper()
			must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 20*millisecond))
		},
		"another process": func(t *testing.T, _, other *Store) {
			t.Helper()
			must(t, other.EnqueueForOrchestrator(t.Context(), start("i"), 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s := openFile(t, path, Options{PollInterval: 5 * millisecond})
			taken := takesATurn(t, s)
			makes(t, s, openFile(t, path, Options{PollInterval: Never}))
			must(t, soon(t, taken))
		})
	}
}

// Close ends the wait of a Claim.
func TestCloseEndsAWaitingTake(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	taken := takesATurn(t, s)
	must(t, s.Close())
	if err := soon(t, taken); !errors.Is(err, provider.ErrClosed) {
		t.Errorf("error %v; want %v", err, provider.ErrClosed)
	}
}

// Where nobody looks for what others write, a Claim that comes finds all the same what was sent in a transaction of
// the process's own.
func TestWaitingTakeFindsWhatNobodyLooksFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, Options{PollInterval: Never})
	for range 2 { // after which the store knows the queue
		taken, err := s.Claim(t.Context(), everything())
		must(t, err)
		if taken.Turn != nil {
			t.Fatalf("took %s", taken.Turn.Item.Instance)
		}
	}
	db, err := sql.Open(driverName, "file:"+path+"?_txlock=immediate")
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	must(t, s.EnqueueTx(t.Context(), tx, start("i"), 0))
	must(t, tx.Commit())
	must(t, soon(t, takesATurn(t, s)))
}
