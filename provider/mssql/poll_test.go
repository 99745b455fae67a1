package mssql

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

const (
	millisecond = time.Millisecond
	second      = time.Second
	// long is a timeout that no test waits for.
	long = time.Minute
)

// quiet is a queue of a poller without a goroutine, whose rounds the test runs.
func quiet(shortest, longest time.Duration) *queue {
	return &newPoller(Options{MinPollInterval: shortest, MaxPollInterval: longest}).instances
}

// subscriber subscribes to a queue, and takes the notice of the subscription.
func subscriber(t *testing.T, q *queue) <-chan struct{} {
	t.Helper()
	notices, stop := q.waiting.Subscribe()
	t.Cleanup(stop)
	<-notices
	return notices
}

// told reports whether there is a notice, and takes it.
func told(notices <-chan struct{}) bool {
	select {
	case <-notices:
		return true
	default:
		return false
	}
}

// patience is how long a test waits for what must happen without any timeout, on a machine that others keep busy too.
const patience = 2 * time.Minute

// A fetch does not wait, however long it may.
func TestFetchesAnswerAtOnce(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	s := opened(t, mssqltest.DSN(t), Options{Schema: schema})
	turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Hour, PollTimeout: 24 * time.Hour})
	if turn != nil || err != nil {
		t.Errorf("fetched %v, %v", turn, err)
	}
	work, err := s.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: time.Hour, PollTimeout: 24 * time.Hour})
	if work != nil || err != nil {
		t.Errorf("fetched %v, %v", work, err)
	}
}

// soon receives what must come long before any timeout.
func soon[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestNobodyWaitsNobodyLooks(t *testing.T) {
	t.Parallel()
	q := quiet(second, 8*second)
	if nap, ok := q.poller.round(time.Now()); ok {
		t.Errorf("an idle queue is to be looked at in %v", nap)
	}
}

// Polls slow down while nothing is found, and begin again when something is.
func TestPollingSlowsDown(t *testing.T) {
	t.Parallel()
	q := quiet(second, 8*second)
	notices := subscriber(t, q)
	now := time.Now()
	within := func(what string, nap, bound time.Duration) {
		t.Helper()
		if nap < bound/2 || nap > bound {
			t.Errorf("%s: the next poll is in %v; want %v to %v", what, nap, bound/2, bound)
		}
	}
	nap, ok := q.poller.round(now)
	within("at first", nap, second)
	if again, _ := q.poller.round(now.Add(nap / 2)); !ok || again > nap-nap/2 {
		t.Errorf("a round in between moved the poll from %v to %v", nap-nap/2, again)
	}
	for _, bound := range []time.Duration{2 * second, 4 * second, 8 * second, 8 * second} {
		if told(notices) {
			t.Error("there is a notice too early")
		}
		now = now.Add(nap)
		if nap, _ = q.poller.round(now); !told(notices) {
			t.Error("there is no notice")
		}
		within("later", nap, bound)
	}
	q.poller.expect()
	nap, _ = q.poller.round(now)
	within("after something was found", nap, second)
}

// However long it was idle: when somebody subscribes the time runs from then on.
func TestPollingBeginsWithWaiting(t *testing.T) {
	t.Parallel()
	q := quiet(second, 8*second)
	now := time.Now()
	q.poller.round(now)
	notices := subscriber(t, q)
	if nap, ok := q.poller.round(now.Add(time.Hour)); !ok || nap < second/2 || told(notices) {
		t.Errorf("the next poll is in %v, %v, or was at once", nap, ok)
	}
}

func TestNeverPolls(t *testing.T) {
	t.Parallel()
	q := quiet(second, 0)
	subscriber(t, q)
	if nap, ok := q.poller.round(time.Now()); ok {
		t.Errorf("the next poll is in %v; want none", nap)
	}
}

// There is a notice when a noted delay has passed, and not before.
func TestNotes(t *testing.T) {
	t.Parallel()
	q := quiet(second, 0)
	notices := subscriber(t, q)
	begin := time.Now()
	q.note(3 * time.Hour)
	q.note(time.Hour)
	q.note(2 * time.Hour)
	end := time.Now()
	nap, ok := q.poller.round(begin)
	if !ok || nap < time.Hour || nap > time.Hour+end.Sub(begin) {
		t.Fatalf("the next round is in %v, %v; want one hour", nap, ok)
	}
	if told(notices) {
		t.Fatal("there is a notice too early")
	}
	if nap, _ = q.poller.round(end.Add(2 * time.Hour)); !told(notices) {
		t.Error("there is no notice")
	}
	if nap < time.Hour-second || nap > time.Hour {
		t.Errorf("the next round is in %v; want one hour: two delays have passed", nap)
	}
}

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	q := quiet(second, second)
	for range mostNotes + 10 {
		q.note(time.Hour)
	}
	if len(q.notes) != mostNotes {
		t.Errorf("%d delays are remembered; want %d", len(q.notes), mostNotes)
	}
}

func TestMomentsComeInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := quiet(second, 0)
		begin := time.Now()
		delays := rapid.SliceOf(rapid.IntRange(0, 100)).Draw(t, "delays")
		for _, d := range delays {
			q.note(time.Duration(d) * time.Hour)
		}
		at := rapid.IntRange(0, 100).Draw(t, "at")
		want := 0
		for _, d := range delays {
			if d <= at {
				want++
			}
		}
		if got := q.notes.pop(begin.Add(time.Duration(at)*time.Hour + time.Minute)); got != want {
			t.Fatalf("%d delays have passed; want %d", got, want)
		}
	})
}

// bare is a store without a database, for what needs none.
func bare(t *testing.T, options Options) *Store {
	t.Helper()
	options.CallTimeout = Forever
	s, err := New(fakeDB(t, &fake{}), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// There is a notice of what this process enqueues at once, and of delays when they end.
func TestNoticesOfWhatThisProcessDoes(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *Store){
		"a message":  func(s *Store) { s.signalInstances(1) },
		"a delay":    func(s *Store) { s.noteInstanceWake(millisecond) },
		"many":       func(s *Store) { s.signalInstances(7) },
		"and others": func(s *Store) { s.signalActivities(1); s.noteActivityWake(0); s.signalInstances(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := bare(t, Options{MaxPollInterval: Never})
			notices := subscriber(t, s.instances)
			do(s)
			soon(t, notices)
		})
	}
}

// Who waits for notices hears of the end of the store, and learns of it by a call.
func TestNoticesEndWithTheStore(t *testing.T) {
	t.Parallel()
	s := bare(t, Options{MaxPollInterval: Never})
	turns, activities, stop := s.WorkReady()
	defer stop()
	<-turns
	<-activities
	go func() { _ = s.Close() }()
	soon(t, turns)
	soon(t, activities)
	_, err := s.Claim(t.Context(), provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: long}})
	if !errors.Is(err, provider.ErrClosed) || provider.IsRetryable(err) {
		t.Errorf("error %v; want a permanent %v", err, provider.ErrClosed)
	}
}

// Who waits for turns and who waits for activities is told by the same poll, so that one call looks for both.
func TestOnePollServesBothQueues(t *testing.T) {
	t.Parallel()
	p := newPoller(Options{MinPollInterval: second, MaxPollInterval: 8 * second})
	notices := []<-chan struct{}{subscriber(t, &p.instances), subscriber(t, &p.activities)}
	now := time.Now()
	nap, _ := p.round(now)
	for range 5 {
		now = now.Add(nap)
		nap, _ = p.round(now)
		for i, c := range notices {
			if !told(c) {
				t.Errorf("no notice for queue %d", i)
			}
		}
	}
	if nap < 4*second {
		t.Errorf("five polls in vain, and the next is in %v", nap)
	}
}

// Nothing tells the store when a transaction ends in which something was sent, so it polls often again, however slow
// polling had become.
func TestPollsAreFrequentAfterATransaction(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	s, err := New(db, Options{Schema: schema, MaxPollInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.poller.mu.Lock()
	s.poller.interval = time.Hour
	s.poller.mu.Unlock()
	notices := subscriber(t, s.instances)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EnqueueTx(t.Context(), tx, provider.StartOrchestrationItem{Instance: "i", Orchestration: "o", ExecutionID: 1}, 0); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	soon(t, notices)
}
