package mssql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
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

// waiter makes a fetch of the kind wait in the queue. It ends when it is woken, and
// then sends the reason.
func waiter(t *testing.T, q *queue, kind string) <-chan wakeup.Reason {
	t.Helper()
	n := q.waiting.Len()
	reasons := make(chan wakeup.Reason, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		_, _ = wakeup.Poll(ctx, q.waiting, wakeup.Fetch{Operation: "fetch", Kind: kind, Timeout: long},
			func(why wakeup.Reason) (*int, int64, error) {
				if why == wakeup.Arrived {
					return nil, 0, nil
				}
				reasons <- why
				return new(1), 0, nil
			})
	}()
	waitFor(t, q, n+1)
	return reasons
}

// patience is how long a test waits for what must happen without any timeout, on a machine that others keep busy too.
const patience = 2 * time.Minute

// waitFor waits until n fetches sleep.
func waitFor(t *testing.T, q *queue, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(millisecond) {
		if q.waiting.Len() == n {
			return
		}
	}
	t.Errorf("never were %d fetches waiting", n)
}

// Any number of fetches may wait on a pool of one connection: they hold none.
func TestFetchesThatWaitHoldNoConnection(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	s := opened(t, mssqltest.DSN(t), Options{Schema: schema, MaxOpenConns: 1, MaxPollInterval: Never})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const each = 10
	type answer struct {
		found bool
		err   error
	}
	turns, activities := make(chan answer, each), make(chan answer, each)
	var waiting sync.WaitGroup
	for range each {
		waiting.Go(func() {
			turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: long, PollTimeout: long})
			turns <- answer{turn != nil, err}
		})
		waiting.Go(func() {
			work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: long, PollTimeout: long})
			activities <- answer{work != nil, err}
		})
	}
	waitFor(t, s.instances, each)
	waitFor(t, s.activities, each)
	if inUse := s.db.Stats().InUse; inUse != 0 {
		t.Errorf("%d connections are in use", inUse)
	}
	start := provider.StartOrchestrationItem{Instance: "i", Orchestration: "o", ExecutionID: 1}
	if err := s.EnqueueForOrchestrator(ctx, start, 0); err != nil {
		t.Error(err)
	}
	if err := s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}); err != nil {
		t.Error(err)
	}
	for _, one := range []answer{soon(t, turns), soon(t, activities)} {
		if !one.found || one.err != nil {
			t.Errorf("the fetch that was woken found something: %t, %v", one.found, one.err)
		}
	}
	cancel()
	waiting.Wait()
	for range each - 1 {
		for _, one := range []answer{<-turns, <-activities} {
			if !errors.Is(one.err, context.Canceled) {
				t.Errorf("a fetch that went on waiting ended with %v; want %v", one.err, context.Canceled)
			}
		}
	}
}

// soon receives what must come long before any timeout.
func soon[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nobody woke the fetch")
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

// The looks of waiting fetches slow down, and a fetch that finds something makes them
// fast again.
func TestPollingSlowsDown(t *testing.T) {
	t.Parallel()
	q := quiet(second, 8*second)
	first := waiter(t, q, "")
	now := time.Now()
	within := func(what string, nap, bound time.Duration) {
		t.Helper()
		if nap < bound/2 || nap > bound {
			t.Errorf("%s: the next look is in %v; want %v to %v", what, nap, bound/2, bound)
		}
	}
	nap, ok := q.poller.round(now)
	within("at first", nap, second)
	if again, _ := q.poller.round(now.Add(nap / 2)); !ok || again > nap-nap/2 {
		t.Errorf("a round in between moved the look from %v to %v", nap-nap/2, again)
	}
	for i, bound := range []time.Duration{2 * second, 4 * second, 8 * second, 8 * second} {
		if i > 0 {
			first = waiter(t, q, "")
		}
		now = now.Add(nap)
		nap, _ = q.poller.round(now)
		if why := soon(t, first); why != wakeup.Probed {
			t.Errorf("woken because of %d; want a probe", why)
		}
		if q.waiting.Len() != 0 {
			t.Error("one more waits")
		}
		// Nobody is left, so the goroutine has chosen the time for who comes next.
		within("later", nap, bound)
	}
	waiter(t, q, "")
	q.found("", wakeup.Arrived)
	nap, _ = q.poller.round(now)
	within("after something was found", nap, second)
}

// However long it was idle: when the first fetch waits the time runs from then on.
func TestPollingBeginsWithWaiting(t *testing.T) {
	t.Parallel()
	q := quiet(second, 8*second)
	now := time.Now()
	q.poller.round(now)
	reasons := waiter(t, q, "")
	if nap, ok := q.poller.round(now.Add(time.Hour)); !ok || nap < second/2 {
		t.Errorf("the next look is in %v, %v", nap, ok)
	}
	select {
	case <-reasons:
		t.Error("the fetch was woken at once")
	default:
	}
}

func TestNeverPolls(t *testing.T) {
	t.Parallel()
	q := quiet(second, 0)
	waiter(t, q, "")
	if nap, ok := q.poller.round(time.Now()); ok {
		t.Errorf("the next look is in %v; want none", nap)
	}
}

// A noted delay wakes a fetch when it has passed, and not before.
func TestNotes(t *testing.T) {
	t.Parallel()
	q := quiet(second, 0)
	a := waiter(t, q, "")
	begin := time.Now()
	q.note(3 * time.Hour)
	q.note(time.Hour)
	q.note(2 * time.Hour)
	end := time.Now()
	nap, ok := q.poller.round(begin)
	if !ok || nap < time.Hour || nap > time.Hour+end.Sub(begin) {
		t.Fatalf("the next round is in %v, %v; want one hour", nap, ok)
	}
	if q.waiting.Len() != 1 {
		t.Fatal("woken too early")
	}
	nap, _ = q.poller.round(end.Add(2 * time.Hour))
	if why := soon(t, a); why != wakeup.Signalled {
		t.Errorf("woken because of %d; want a signal", why)
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

func TestDeafQueue(t *testing.T) {
	t.Parallel()
	q := &newPoller(Options{MinPollInterval: second, MaxPollInterval: second, DisableWakeups: true}).instances
	waiter(t, q, "")
	q.signal(1)
	q.note(0)
	q.poller.round(time.Now())
	if q.waiting.Len() != 1 {
		t.Error("the fetch was woken by what the process did")
	}
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

// piles is a database as other processes fill it: so much is there to be found.
type piles struct{ left, looks atomic.Int64 }

func (p *piles) look(context.Context) (*int, error) {
	p.looks.Add(1)
	for {
		n := p.left.Load()
		if n == 0 {
			return nil, nil
		}
		if p.left.CompareAndSwap(n, n-1) {
			return new(1), nil
		}
	}
}

// What other processes enqueue is found by polling, and once one fetch has found
// something, by all of them, long before it would be the turn of each.
func TestPollFindsWhatOthersEnqueue(t *testing.T) {
	t.Parallel()
	s := bare(t, Options{MinPollInterval: millisecond, MaxPollInterval: millisecond})
	const n = 50
	var p piles
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			if found, err := poll(t.Context(), s, s.instances, "fetch", "", long, p.look); found == nil || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
	waitFor(t, s.instances, n)
	p.left.Store(n)
	group.Wait()
}

// The fetches of one kind take turns; each kind looks.
func TestPollLooksForEachKind(t *testing.T) {
	t.Parallel()
	s := bare(t, Options{MinPollInterval: millisecond, MaxPollInterval: millisecond})
	var never, p piles
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() { _, _ = poll(ctx, s, s.activities, "fetch", "never", long, never.look) })
	}
	waitFor(t, s.activities, 20)
	p.left.Store(1)
	found := make(chan *int, 1)
	// It arrives before there is anything, so that only a probe can wake it.
	p.left.Store(0)
	group.Go(func() {
		got, _ := poll(ctx, s, s.activities, "fetch", "other", long, p.look)
		found <- got
	})
	for p.looks.Load() == 0 {
		time.Sleep(millisecond)
	}
	p.left.Store(1)
	if soon(t, found) == nil {
		t.Error("found nothing")
	}
	cancel()
	group.Wait()
}

// What this process enqueues is found at once, and delays when they end.
func TestPollFindsWhatThisProcessDoes(t *testing.T) {
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
			var p piles
			found := make(chan *int, 1)
			go func() {
				got, _ := poll(t.Context(), s, s.instances, "fetch", "", long, p.look)
				found <- got
			}()
			waitFor(t, s.instances, 1)
			p.left.Store(1)
			do(s)
			if soon(t, found) == nil {
				t.Error("found nothing")
			}
		})
	}
}

// Many idle fetches cost as many looks as one.
func TestIdleFetchesTakeTurns(t *testing.T) {
	t.Parallel()
	s := bare(t, Options{MinPollInterval: time.Hour, MaxPollInterval: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	var p piles
	var group sync.WaitGroup
	const n = 100
	for range n {
		group.Go(func() { _, _ = poll(ctx, s, s.instances, "fetch", "", long, p.look) })
	}
	waitFor(t, s.instances, n)
	for range 5 {
		before := p.looks.Load()
		s.instances.waiting.Probe()
		for p.looks.Load() == before {
			time.Sleep(millisecond)
		}
		waitFor(t, s.instances, n)
	}
	if got := p.looks.Load(); got != n+5 {
		t.Errorf("%d looks for the arrival of %d fetches and 5 probes", got, n)
	}
	cancel()
	group.Wait()
}

func TestPollEndsWithTheStore(t *testing.T) {
	t.Parallel()
	s := bare(t, Options{})
	go func() {
		waitFor(t, s.instances, 1)
		_ = s.Close()
	}()
	var p piles
	_, err := poll(t.Context(), s, s.instances, "fetch", "", long, p.look)
	if !errors.Is(err, provider.ErrClosed) || provider.IsRetryable(err) {
		t.Errorf("error %v; want a permanent %v", err, provider.ErrClosed)
	}
	if _, err := poll(t.Context(), s, s.instances, "fetch", "", long, p.look); !errors.Is(err, provider.ErrClosed) {
		t.Errorf("error %v of a closed store; want %v", err, provider.ErrClosed)
	}
}

// Who waits for turns and who waits for activities is told by the same poll, so that one call looks for both.
func TestOnePollServesBothQueues(t *testing.T) {
	t.Parallel()
	p := newPoller(Options{MinPollInterval: second, MaxPollInterval: 8 * second})
	notices := make([]<-chan struct{}, 0, 2)
	for _, q := range p.queues() {
		c, stop := q.waiting.Subscribe()
		defer stop()
		<-c // that of the subscription
		notices = append(notices, c)
	}
	now := time.Now()
	nap, _ := p.round(now)
	for range 5 {
		now = now.Add(nap)
		nap, _ = p.round(now)
		for i, c := range notices {
			select {
			case <-c:
			default:
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
	found := make(chan *provider.FetchedOrchestration, 1)
	go func() {
		turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: long, PollTimeout: long})
		if err != nil {
			t.Error(err)
		}
		found <- turn
	}()
	waitFor(t, s.instances, 1)
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
	if soon(t, found) == nil {
		t.Error("found nothing")
	}
}
