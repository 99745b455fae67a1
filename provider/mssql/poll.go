package mssql

import (
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// mostNotes bounds the delays that a queue remembers. What is beyond it is found by
// polling, a little later.
const mostNotes = 100_000

// queue is one of the two queues as this process sees it.
type queue struct {
	poller *poller
	// waiting are the subscribers of [Store.WorkReady].
	waiting *wakeup.List
	// marks are from where fetches look in the database.
	marks marks
	// notes are when the noted delays have passed. The poller's lock guards them.
	notes moments
}

// poller gives notice to the subscribers of a queue when a noted delay has passed, and, at a pace that slows down from
// shortest to longest while nobody finds anything, to look for what other processes have done: to those of both queues
// at the same time, so that one call looks in both. Without subscribers there is nothing to do.
type poller struct {
	instances, activities queue
	// shortest and longest bound the time between two polls; see [Options.MinPollInterval].
	shortest, longest time.Duration

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
		shortest: o.MinPollInterval, longest: o.MaxPollInterval, interval: o.MinPollInterval,
		poke: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	for _, q := range p.queues() {
		q.poller, q.waiting = p, wakeup.NewList(p.notify)
	}
	return p
}

func (p *poller) queues() []*queue { return []*queue{&p.instances, &p.activities} }

// stop ends the goroutine, and gives notice: who looks for work only then learns by a look that there will be none.
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

// signal gives notice of n pieces of work.
func (q *queue) signal(n int) {
	if n > 0 {
		q.waiting.Signal(n)
	}
}

// putBack gives notice of what a call has made fetchable again, however old it is.
func (q *queue) putBack() {
	q.marks.putBack()
	q.signal(1)
}

// note gives notice after the delay.
func (q *queue) note(delay time.Duration) {
	p := q.poller
	at := time.Now().Add(delay)
	p.mu.Lock()
	first := len(q.notes) < mostNotes && q.notes.add(at)
	p.mu.Unlock()
	if first {
		p.notify()
	}
}

// expect makes polls frequent again, since something was found, or there may soon be something to find.
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

// round gives notice to whom it is time to, and returns how long it is until the next time;
// ok is false if that is not known.
func (p *poller) round(now time.Time) (nap time.Duration, ok bool) {
	p.mu.Lock()
	poll := p.due(now)
	at := p.next
	var ready []*queue
	for _, q := range p.queues() {
		if q.notes.pop(now) > 0 || poll {
			ready = append(ready, q)
		}
		if len(q.notes) > 0 && (at.IsZero() || q.notes[0].Before(at)) {
			at = q.notes[0]
		}
	}
	p.mu.Unlock()
	for _, q := range ready {
		q.waiting.Signal(1)
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
