package mssql

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// poll calls look until it finds something, fails, or timeout has passed, which is no
// error. look is one call that fetches, by [Store.call].
//
// Between two looks it waits until a call of this process has made something fetchable,
// until a delay that this process set has passed, or until it is its turn to poll for
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

// queue is one of the two queues as the fetches and subscribers of this process see it.
type queue struct {
	poller  *poller
	waiting *wakeup.List
	// marks are from where fetches look in the database.
	marks marks
	// notes are when the noted delays have passed. The poller's lock guards them.
	notes moments
}

// poller wakes who waits in one of the queues when a noted delay has passed, and, at a pace that slows down from
// shortest to longest while nobody finds anything, to look for what other processes have done: in both queues at the
// same time, so that one call looks in both. While nobody waits it asks nothing.
type poller struct {
	instances, activities queue
	// shortest and longest bound the time between two polls; see [Options.MinPollInterval].
	shortest, longest time.Duration
	// deaf ignores what this process does: [Options.DisableWakeups].
	deaf bool

	mu sync.Mutex
	// interval is the present time between two polls, next the time of the next one;
	// zero if none has been chosen.
	interval time.Duration
	next     time.Time

	// poke has room for one: something has changed that the goroutine should look at.
	poke     chan struct{}
	quit     chan struct{}
	finished sync.WaitGroup
}

// startPoller starts the poller's goroutine, which stop ends.
func startPoller(o Options) *poller {
	p := newPoller(o)
	p.finished.Go(p.run)
	return p
}

func newPoller(o Options) *poller {
	p := &poller{
		shortest: o.MinPollInterval, longest: o.MaxPollInterval, interval: o.MinPollInterval, deaf: o.DisableWakeups,
		poke: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	for _, q := range p.queues() {
		q.poller, q.waiting = p, wakeup.NewList(p.notify)
	}
	return p
}

func (p *poller) queues() []*queue { return []*queue{&p.instances, &p.activities} }

// stop ends the goroutine. Who looks for work only when there is notice of some learns by a look that there will be
// none.
func (p *poller) stop() {
	close(p.quit)
	p.finished.Wait()
	for _, q := range p.queues() {
		q.waiting.SignalAll()
	}
}

// notify makes the goroutine look again.
func (p *poller) notify() {
	select {
	case p.poke <- struct{}{}:
	default: // a notice is already there
	}
}

// signal wakes n fetches.
func (q *queue) signal(n int) {
	if n > 0 && !q.poller.deaf {
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
	p := q.poller
	if p.deaf {
		return
	}
	at := time.Now().Add(delay)
	p.mu.Lock()
	first := len(q.notes) < mostNotes && q.notes.add(at)
	p.mu.Unlock()
	if first {
		p.notify()
	}
}

// found is told that a fetch has found something, and why it had looked.
func (q *queue) found(kind string, why wakeup.Reason) {
	q.poller.expect()
	if why == wakeup.Probed {
		// Another process has been busy: as long as there is more, each fetch that
		// finds something calls two others, so that all are soon at work.
		q.waiting.ProbeKind(kind, 2)
	}
}

// expect makes polls frequent again, since there may soon be something to find.
func (p *poller) expect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.interval > p.shortest {
		p.interval, p.next = p.shortest, time.Time{}
		p.notify()
	}
}

// run is the goroutine.
func (p *poller) run() {
	for {
		var alarm <-chan time.Time
		if nap, ok := p.round(time.Now()); ok {
			alarm = time.After(nap)
		}
		select {
		case <-alarm:
		case <-p.poke:
		case <-p.quit:
			return
		}
	}
}

// round wakes whom it is time to wake, and returns how long it is until the next time;
// ok is false if that is not known.
func (p *poller) round(now time.Time) (nap time.Duration, ok bool) {
	p.mu.Lock()
	var passed [2]int
	poll := p.due(now)
	at := p.next
	for i, q := range p.queues() {
		passed[i] = q.notes.pop(now)
		if len(q.notes) > 0 && (at.IsZero() || q.notes[0].Before(at)) {
			at = q.notes[0]
		}
	}
	p.mu.Unlock()
	for i, q := range p.queues() {
		if passed[i] > 0 {
			q.waiting.Signal(passed[i])
		}
		if poll {
			q.waiting.Probe()
		}
	}
	return at.Sub(now), !at.IsZero()
}

// due reports whether it is time to poll, and chooses the next such time. The caller holds the lock.
func (p *poller) due(now time.Time) bool {
	if p.longest <= 0 || !p.instances.waiting.Watched() && !p.activities.waiting.Watched() {
		p.next = time.Time{}
		return false
	}
	due := !p.next.IsZero() && !now.Before(p.next)
	if due {
		p.interval = min(2*p.interval, p.longest)
	}
	if due || p.next.IsZero() {
		p.next = now.Add(jitter(p.interval))
	}
	return due
}

// moments are times in order.
type moments []time.Time

// add adds a time, and reports whether it is the first.
func (m *moments) add(at time.Time) bool {
	i, _ := slices.BinarySearchFunc(*m, at, time.Time.Compare)
	*m = slices.Insert(*m, i, at)
	return i == 0
}

// pop removes the times that have come and returns how many they were.
func (m *moments) pop(now time.Time) (passed int) {
	for passed < len(*m) && !(*m)[passed].After(now) {
		passed++
	}
	*m = (*m)[passed:]
	return passed
}
