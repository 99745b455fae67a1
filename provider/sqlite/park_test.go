package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// waitingTake starts a Take that waits, and returns when it is parked.
func waitingTake(ctx context.Context, t *testing.T, s *Store, params provider.TakeParams) <-chan outcome {
	t.Helper()
	params.Wait = long
	parked := s.parkedJobs(t)
	taken := make(chan outcome, 1)
	go func() {
		got, err := s.Take(ctx, params)
		taken <- outcome{got, err}
	}()
	for deadline := time.Now().Add(10 * second); s.parkedJobs(t) == parked; time.Sleep(millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the call does not wait")
		}
	}
	return taken
}

// outcome is what a Take has returned.
type outcome struct {
	provider.Taken
	err error
}

// parkedJobs counts the calls that wait in the writer.
func (s *Store) parkedJobs(t *testing.T) (n int) {
	t.Helper()
	must(t, s.writer.do(t.Context(), &job{operation: "test", bare: func(context.Context) error {
		for _, j := range s.writer.parking.jobs {
			if j.state.Load() == queued {
				n++
			}
		}
		return nil
	}}))
	return n
}

func turnOnly() provider.TakeParams { return provider.TakeParams{Turn: everything().Turn} }

// A Take that waits is served by the transaction that makes something ready: a start and the
// lock on its first turn are one transaction, and so are a turn that queues activities and the
// locks on them.
func TestWaitingTakeIsServedByTheGroup(t *testing.T) { //nolint:paralleltest // all statements are counted
	s := openCounted(t)
	// So that the store knows the queues.
	for range 2 {
		_, err := s.Take(t.Context(), everything())
		must(t, err)
	}
	statements.take()
	turns := waitingTake(t.Context(), t, s, turnOnly())
	if counts, _ := statements.take(); counts["BEGIN"] != 0 {
		t.Errorf("a call waits only after %v", counts)
	}
	_, err := s.StartInstance(t.Context(), start("i"))
	must(t, err)
	got := soon(t, turns)
	must(t, got.err)
	if got.Turn == nil || got.Turn.Item.Instance != "i" || got.Turn.AttemptCount != 1 || !got.Waited {
		t.Fatalf("served %+v", got.Taken)
	}
	work := waitingTake(t.Context(), t, s, provider.TakeParams{Work: everything().Work})
	must(t, s.AckOrchestrationItem(t.Context(), firstTurn(got.Turn)))
	activities := soon(t, work)
	must(t, activities.err)
	if len(activities.Work) != 2 || !activities.Waited {
		t.Fatalf("served %+v", activities.Taken)
	}
	for _, w := range activities.Work {
		must(t, s.AckWorkItem(t.Context(), w.LockToken, nil))
	}
	if counts, _ := statements.take(); counts["COMMIT"] != 4 {
		t.Errorf("%d transactions for a start, a turn and two activities; want 4: %v", counts["COMMIT"], counts)
	}
}

// What does not fit, or is there already, is not served: a call with another filter waits on,
// and what one of two takes the other does not get.
func TestWaitingTakesAreServedByTheirTerms(t *testing.T) {
	t.Parallel()
	s := openMemory(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	stranger := turnOnly()
	params := *stranger.Turn
	params.Known = provider.Know(provider.CodeName{Name: "Other", Version: "1.0.0"})
	stranger.Turn = &params
	other := waitingTake(ctx, t, s, stranger)
	first := waitingTake(ctx, t, s, turnOnly())
	second := waitingTake(ctx, t, s, turnOnly())
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	if got := soon(t, first); got.err != nil || got.Turn == nil {
		t.Errorf("the call that waits longest got %+v", got)
	}
	if n := s.parkedJobs(t); n != 2 {
		t.Errorf("%d calls wait on; want 2", n)
	}
	cancel()
	for _, c := range []<-chan outcome{other, second} {
		if got := soon(t, c); !errors.Is(got.err, context.Canceled) || got.Turn != nil {
			t.Errorf("a call that was cancelled got %+v", got)
		}
	}
	if n := s.parkedJobs(t); n != 0 {
		t.Errorf("%d calls wait that were cancelled", n)
	}
}

// A call that waits returns at once when something becomes ready that no transaction has
// served it: by itself, or because there was more than one thing.
func TestWaitingTakeReturnsAtANotice(t *testing.T) {
	t.Parallel()
	s := openMemory(t, nil)
	waiting := waitingTake(t.Context(), t, s, turnOnly())
	must(t, s.EnqueueForOrchestrator(t.Context(), start("delayed"), 20*millisecond))
	got := soon(t, waiting)
	must(t, got.err)
	if got.Turn != nil || !got.Waited {
		t.Fatalf("got %+v; want to be told to look", got.Taken)
	}
	again, err := s.Take(t.Context(), turnOnly())
	must(t, err)
	if again.Turn == nil {
		t.Error("told to look, and there is nothing")
	}
}

// A group whose transaction fails serves nobody: the call waits on, and is served by the next.
func TestWaitingTakeSurvivesAFailedGroup(t *testing.T) {
	t.Parallel()
	s := openMemory(t, nil)
	turns := waitingTake(t.Context(), t, s, turnOnly())
	broken := errors.New("broken")
	m, err := columns.NewMessage("test", start("i"), longText)
	must(t, err)
	if err := s.write(t.Context(), "test", func(ctx context.Context, t *tx) error {
		return errors.Join(t.deliver(ctx, m, 0), broken)
	}); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if n := s.parkedJobs(t); n != 1 {
		t.Fatalf("%d calls wait on; want 1", n)
	}
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	if got := soon(t, turns); got.err != nil || got.Turn == nil || got.Turn.AttemptCount != 1 {
		t.Errorf("served %+v", got)
	}
}

// Close ends a wait.
func TestCloseEndsAWaitingTake(t *testing.T) {
	t.Parallel()
	s := openMemory(t, nil)
	turns := waitingTake(t.Context(), t, s, turnOnly())
	must(t, s.Close())
	if got := soon(t, turns); !errors.Is(got.err, provider.ErrClosed) {
		t.Errorf("got %+v; want an error that the store is closed", got)
	}
}

// What another process writes ends a wait within the poll interval, though the writer
// believed that there was nothing.
func TestWaitingTakeHearsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/store.db"
	s := openFile(t, path, &Config{PollInterval: 5 * millisecond})
	other := openFile(t, path, &Config{PollInterval: -1})
	turns := waitingTake(t.Context(), t, s, turnOnly())
	must(t, other.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	for deadline := time.Now().Add(10 * second); time.Now().Before(deadline); {
		got := soon(t, turns)
		must(t, got.err)
		if got.Turn != nil {
			return
		}
		c := make(chan outcome, 1)
		params := turnOnly()
		params.Wait = long
		taken, err := s.Take(t.Context(), params)
		c <- outcome{taken, err}
		turns = c
	}
	t.Error("the other's instance was not found")
}

// What a waiting Take does beside finding nothing is reported as well: that it has dropped messages that
// belong to nobody.
func TestServedTakeThatFindsNothingReports(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := openMemory(t, &Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	turns := waitingTake(t.Context(), t, s, turnOnly())
	must(t, s.EnqueueForOrchestrator(t.Context(), provider.QueueMessageItem{Instance: "nobody", Name: "q"}, 0))
	if got := soon(t, turns); got.err != nil || got.Turn != nil {
		t.Errorf("got %+v, want nothing", got)
	}
	must(t, s.Close())
	if n := strings.Count(log.String(), "dropped queue messages"); n != 1 {
		t.Errorf("%d reports of the messages that were dropped, want 1: %s", n, &log)
	}
}

// Where nobody looks for what others write, a Take that comes finds all the same what was sent in a transaction of
// the process's own.
func TestWaitingTakeFindsWhatNobodyLooksFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, &Config{PollInterval: -1})
	for range 2 { // after which the store knows the queue
		taken, err := s.Take(t.Context(), turnOnly())
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
	params := turnOnly()
	params.Wait = 100 * millisecond
	taken, err := s.Take(t.Context(), params)
	must(t, err)
	if taken.Turn == nil {
		t.Errorf("took nothing, waited: %t", taken.Waited)
	}
}
