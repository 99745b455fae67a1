package mssql

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// poll calls look until it finds something, fails, or timeout has passed, which is no
// error. look is one call that fetches, by [Store.call].
//
// Between two looks it waits until a call of this process has made something fetchable,
// until a delay that this process set has passed, or until it is its turn to look for
// what other processes have done. kind is the same for fetches that would find the
// same, such as those with the same filter: they take turns.
func poll[T any](
	ctx context.Context, s *Store, q *queue, operation, kind string, timeout time.Duration,
	look func(context.Context) (*T, error),
) (*T, error) {
	if err := s.enter(operation); err != nil {
		return nil, err
	}
	defer s.leave()
	fetch := wakeup.Fetch{Operation: operation, Kind: kind, Timeout: timeout, Closing: s.calls.Closing(), Closed: columns.Closed}
	return wakeup.Poll(ctx, q.waiting, fetch, func(why wakeup.Reason) (*T, int64, error) {
		found, err := look(ctx)
		if found != nil {
			q.found(kind, why)
		}
		return found, 0, err
	})
}

// mostNotes bounds the delays that a queue remembers. What is beyond it is found by
// polling, a little later.
const mostNotes = 100_000

// queue is one of the two queues as the fetches of this process see it: those that
// wait, and when to wake whom.
//
// Its goroutine wakes a fetch when a noted delay has passed, and, at a pace that slows
// down from shortest to longest while there is nothing to do, one fetch of each kind to
// look for what other processes have done. While nobody waits it asks nothing.
type queue struct {
	waiting *wakeup.List
	// marks are from where fetches look in the database.
	marks marks
	// shortest and longest bound the time between two such looks; see
	// [Options.MinPollInterval].
	shortest, longest time.Duration
	// deaf ignores what this process does: [Options.DisableWakeups].
	deaf bool

	mu sync.Mutex
	// notes are when the noted delays have passed.
	notes moments
	// interval is the present time between two looks, next the time of the next one;
	// zero if none has been chosen.
	interval time.Duration
	next     time.Time

	// poke has room for one: something has changed that the goroutine should look at.
	poke     chan struct{}
	quit     chan struct{}
	finished sync.WaitGroup
}

// startQueue starts the queue's goroutine, which stop ends.
func startQueue(o Options) *queue {
	q := newQueue(o)
	q.finished.Go(q.run)
	return q
}

func newQueue(o Options) *queue {
	q := &queue{
		shortest: o.MinPollInterval, longest: o.MaxPollInterval, interval: o.MinPollInterval, deaf: o.DisableWakeups,
		poke: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	q.waiting = wakeup.NewList(q.notify)
	return q
}

func (q *queue) stop() {
	close(q.quit)
	q.finished.Wait()
}

// notify makes the goroutine look again.
func (q *queue) notify() {
	select {
	case q.poke <- struct{}{}:
	default: // a notice is already there
	}
}

// signal wakes n fetches.
func (q *queue) signal(n int) {
	if n > 0 && !q.deaf {
		q.waiting.Signal(n)
	}
}

// putBack wakes a fetch that finds what a call has made fetchable again, however old it is.
func (q *queue) putBack() {
	q.marks.putBack()
	q.signal(1)
}

// note wakes a fetch after the delay.
func (q *queue) note(delay time.Duration) {
	if q.deaf {
		return
	}
	at := time.Now().Add(delay)
	q.mu.Lock()
	first := false
	if len(q.notes) < mostNotes {
		heap.Push(&q.notes, at)
		first = q.notes[0].Equal(at)
	}
	q.mu.Unlock()
	if first {
		q.notify()
	}
}

// found is told that a fetch has found something, and why it had looked.
func (q *queue) found(kind string, why wakeup.Reason) {
	q.mu.Lock()
	idle := q.interval > q.shortest
	q.interval = q.shortest
	if idle {
		q.next = time.Time{}
	}
	q.mu.Unlock()
	if idle {
		q.notify()
	}
	if why == wakeup.Probed {
		// Another process has been busy: as long as there is more, each fetch that
		// finds something calls two others, so that all are soon at work.
		q.waiting.ProbeKind(kind, 2)
	}
}

// run is the goroutine.
func (q *queue) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var alarm <-chan time.Time
		if nap, ok := q.round(time.Now()); ok {
			timer.Reset(nap)
			alarm = timer.C
		}
		select {
		case <-alarm:
		case <-q.poke:
		case <-q.quit:
			return
		}
	}
}

// round wakes whom it is time to wake, and returns how long it is until the next time;
// ok is false if that is not known.
func (q *queue) round(now time.Time) (nap time.Duration, ok bool) {
	q.mu.Lock()
	passed := q.notes.pop(now)
	probe := q.poll(now)
	var at time.Time
	if len(q.notes) > 0 {
		at = q.notes[0]
	}
	if at.IsZero() || (!q.next.IsZero() && q.next.Before(at)) {
		at = q.next
	}
	q.mu.Unlock()
	if passed > 0 {
		q.waiting.Signal(passed)
	}
	if probe {
		q.waiting.Probe()
	}
	return at.Sub(now), !at.IsZero()
}

// poll reports whether it is time to look for what other processes have done, and
// chooses the next such time. The caller holds the lock.
func (q *queue) poll(now time.Time) bool {
	if q.longest <= 0 || !q.waiting.Watched() {
		q.next = time.Time{}
		return false
	}
	due := !q.next.IsZero() && !now.Before(q.next)
	if due {
		q.interval = min(2*q.interval, q.longest)
	}
	if due || q.next.IsZero() {
		q.next = now.Add(jitter(q.interval))
	}
	return due
}

// moments is a heap of times.
type moments []time.Time

// Len implements [heap.Interface].
func (m *moments) Len() int { return len(*m) }

// Less implements [heap.Interface].
func (m *moments) Less(i, j int) bool { return (*m)[i].Before((*m)[j]) }

// Swap implements [heap.Interface].
func (m *moments) Swap(i, j int) { (*m)[i], (*m)[j] = (*m)[j], (*m)[i] }

// Push implements [heap.Interface]. Nothing but times is pushed.
func (m *moments) Push(x any) {
	if at, ok := x.(time.Time); ok {
		*m = append(*m, at)
	}
}

// Pop implements [heap.Interface].
func (m *moments) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// pop removes the times that have come and returns how many they were.
func (m *moments) pop(now time.Time) (passed int) {
	for len(*m) > 0 && !(*m)[0].After(now) {
		heap.Pop(m)
		passed++
	}
	return passed
}
