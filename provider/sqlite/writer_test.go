package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// errOops is the failure of a call.
var errOops = provider.Permanent("test", "oops", nil)

// hold keeps the writer busy until release is called, so that what is queued
// meanwhile becomes one group.
func hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	begun, end := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		must(t, s.write(t.Context(), "hold", func(context.Context, *tx) error {
			close(begun)
			<-end
			return nil
		}))
	})
	<-begun
	return sync.OnceFunc(func() {
		close(end)
		group.Wait()
	})
}

// queuedCalls waits until so many calls wait for the writer.
func (w *writer) queuedCalls(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * second); time.Now().Before(deadline); time.Sleep(millisecond) {
		w.mu.Lock()
		got := len(w.queue)
		w.mu.Unlock()
		if got == n {
			return
		}
	}
	t.Fatalf("%d calls never queued up", n)
}

// A call that fails, before or after it has written, takes nothing with it.
func TestGroupIsolation(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	const n = 30
	errs := together(t, s, n, func(ctx context.Context, t *tx, i int) error {
		if i%3 == 0 {
			return errOops
		}
		if err := sendStart(ctx, t, i); err != nil {
			return err
		}
		if i%3 == 1 {
			return errOops
		}
		return nil
	})
	for i, err := range errs {
		if failed := i%3 != 2; failed != errors.Is(err, errOops) {
			t.Errorf("call %d returned %v", i, err)
		}
	}
	if got := depth(t, s); got != n/3 {
		t.Errorf("%d messages are stored, want %d", got, n/3)
	}
}

// Many callers, in groups and each alone, store everything once.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprint("single=", single), func(t *testing.T) {
			t.Parallel()
			s := openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{DisableGroupCommit: single})
			const callers, each = 64, 10
			var group sync.WaitGroup
			for c := range callers {
				group.Go(func() {
					for i := range each {
						must(t, s.EnqueueForOrchestrator(t.Context(), start(fmt.Sprintf("%d-%d", c, i)), 0))
					}
				})
			}
			group.Wait()
			seen := map[string]bool{}
			for range callers * each {
				seen[fetch(t, s).Item.Instance] = true
			}
			if len(seen) != callers*each {
				t.Errorf("fetched %d instances, want %d", len(seen), callers*each)
			}
		})
	}
}

// A transaction larger than maxGroup would keep the first caller waiting.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	w := &writer{queue: make([]*job, maxGroup+1)}
	if group, _ := w.take(); len(group) != maxGroup {
		t.Errorf("took %d calls, want %d", len(group), maxGroup)
	}
	if group, _ := w.take(); len(group) != 1 {
		t.Errorf("took %d calls, want the one that was left", len(group))
	}
	w = &writer{queue: make([]*job, 2), single: true}
	if group, _ := w.take(); len(group) != 1 {
		t.Errorf("took %d calls although groups are off", len(group))
	}
}

// When the commit fails, everybody hears of it and nothing is visible.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	must(t, s.bare(t, func(ctx context.Context) error {
		_, err := s.writer.conn.ExecContext(ctx, `
			PRAGMA foreign_keys = ON;
			CREATE TABLE parent (id INTEGER PRIMARY KEY);
			CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
		return err
	}))
	errs := together(t, s, 5, func(ctx context.Context, t *tx, i int) error {
		if i == 3 {
			// Found out by the commit.
			_, err := s.writer.conn.ExecContext(ctx, "INSERT INTO child VALUES (7)")
			return err
		}
		return sendStart(ctx, t, i)
	})
	for i, err := range errs {
		if err == nil {
			t.Errorf("call %d was told that it was stored", i)
		}
	}
	must(t, s.EnqueueForOrchestrator(t.Context(), start("later"), 0))
	if n := depth(t, s); n != 1 {
		t.Errorf("%d messages are stored, want only the later one", n)
	}
}

// SQLite itself rolls everything back when the disk is full. Then the calls of the
// group that had seemed to succeed have failed as well.
func TestDiskFullInAGroup(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	must(t, s.EnqueueForOrchestrator(t.Context(), start("earlier"), 0))
	must(t, s.bare(t, func(ctx context.Context) error {
		_, err := s.writer.conn.ExecContext(ctx, "PRAGMA max_page_count = 1")
		return err
	}))
	errs := together(t, s, 5, func(ctx context.Context, t *tx, i int) error {
		if i == 3 {
			_, err := s.writer.conn.ExecContext(ctx, "CREATE TABLE big AS SELECT zeroblob(1000000)")
			return err
		}
		return sendStart(ctx, t, i)
	})
	if !errors.Is(errs[3], ErrDiskFull) {
		t.Errorf("the greedy call returned %v, want %v", errs[3], ErrDiskFull)
	}
	stored := uint64(1)
	for _, err := range errs {
		if err == nil {
			stored++
		} else if !provider.IsRetryable(err) {
			t.Errorf("%v should be retryable", err)
		}
	}
	if n := depth(t, s); n != stored {
		t.Errorf("%d messages are stored, %d calls were told so", n, stored)
	}
}

// together runs n calls as one group, in order, and returns what they returned.
func together(t *testing.T, s *Store, n int, f func(ctx context.Context, t *tx, i int) error) []error {
	t.Helper()
	release := hold(t, s)
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			errs[i] = s.write(t.Context(), "test", func(ctx context.Context, t *tx) error { return f(ctx, t, i) })
		})
		s.writer.queuedCalls(t, i+1)
	}
	release()
	group.Wait()
	return errs
}

// sendStart queues a start for instance i.
func sendStart(ctx context.Context, t *tx, i int) error {
	m, err := columns.NewMessage("test", start(fmt.Sprint("i", i)), longText)
	if err != nil {
		return err
	}
	return t.deliver(ctx, m, 0)
}

// bare runs f on the writer's connection outside any transaction.
func (s *Store) bare(t *testing.T, f func(context.Context) error) error {
	t.Helper()
	return s.writer.do(t.Context(), &job{operation: "test", bare: f})
}

func TestCallersContext(t *testing.T) {
	t.Parallel()
	t.Run("ended before", func(t *testing.T) {
		t.Parallel()
		s := openMemory(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		contextEnded(t, s.EnqueueForOrchestrator(ctx, start("i"), 0), context.Canceled)
		contextEnded(t, func() error { _, err := s.Read(ctx, "i"); return err }(), context.Canceled)
		if n := depth(t, s); n != 0 {
			t.Errorf("%d messages are stored", n)
		}
	})
	t.Run("ends in the queue", func(t *testing.T) {
		t.Parallel()
		s := openMemory(t, Options{})
		release := hold(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 20*millisecond)
		defer cancel()
		contextEnded(t, s.EnqueueForOrchestrator(ctx, start("i"), 0), context.DeadlineExceeded)
		release()
		if n := depth(t, s); n != 0 {
			t.Errorf("the call was carried out although its caller had withdrawn it")
		}
	})
	t.Run("ends while running", func(t *testing.T) {
		t.Parallel()
		s := openMemory(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		finish := make(chan struct{})
		m, err := columns.NewMessage("test", start("i"), longText)
		must(t, err)
		err = s.write(ctx, "test", func(ctx context.Context, t *tx) error {
			cancel()
			<-finish
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err := t.send(ctx, []columns.Message{m}, 0)
			return err
		})
		close(finish)
		contextEnded(t, err, context.Canceled)
		if n := depth(t, s); n != 1 {
			t.Errorf("the call was left half done")
		}
	})
}

func contextEnded(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, want)
	}
}

func depth(t *testing.T, s *Store) uint64 {
	t.Helper()
	depths, err := s.GetQueueDepths(t.Context())
	must(t, err)
	return depths.OrchestratorQueue
}

// A fetch whose caller has gone gives back what it has locked, and the attempt.
func TestFetchGivesBack(t *testing.T) {
	t.Parallel()
	for name, fetch := range map[string]func(ctx context.Context, s *Store) (attempts uint32, err error){
		"turn": func(ctx context.Context, s *Store) (uint32, error) {
			turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: time.Hour})
			if turn == nil {
				return 0, err
			}
			return turn.AttemptCount, err
		},
		"activity": func(ctx context.Context, s *Store) (uint32, error) {
			work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: time.Hour})
			if work == nil {
				return 0, err
			}
			return work.AttemptCount, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The clock is read when a call begins to be carried out: that is when
			// the caller goes.
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan struct{})
			var armed atomic.Bool
			s := openMemory(t, Options{now: func() int64 {
				if armed.CompareAndSwap(true, false) {
					cancel()
					<-gone
				}
				return time.Now().UnixMilli()
			}})
			must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
			must(t, s.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}))
			armed.Store(true)
			_, err := fetch(ctx, s)
			contextEnded(t, err, context.Canceled)
			close(gone)
			if attempts, err := fetch(t.Context(), s); attempts != 1 {
				t.Errorf("fetched at attempt %d, %v; want 1", attempts, err)
			}
		})
	}
}
