package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// maxNap bounds how long watch sleeps towards a known time, so that a clock set
// forward is noticed.
const maxNap = time.Second

// watch is the goroutine that tells waiting fetches and subscribers when time has passed rather
// than because of a call: when a delay or lease ends, and when another process
// has written. While nobody waits it sleeps.
type watch struct {
	store  *Store
	others *others
	// poke has room for one: something has changed that it should look at.
	poke     chan struct{}
	quit     chan struct{}
	finished sync.WaitGroup
}

// startWatch starts it, and makes the lists that it watches.
func startWatch(s *Store, others *others) *watch {
	w := &watch{store: s, others: others, poke: make(chan struct{}, 1), quit: make(chan struct{})}
	s.instances = wakeup.NewList(w.notify)
	s.activities = wakeup.NewList(w.notify)
	s.ends.Begun = w.notify
	w.finished.Go(w.run)
	return w
}

// notify makes it look at the lists again: somebody has begun to wait, or an earlier
// time has become known.
func (w *watch) notify() {
	select {
	case w.poke <- struct{}{}:
	default: // a notice is already there
	}
}

func (w *watch) stop() {
	close(w.quit)
	w.finished.Wait()
}

// run is the goroutine. Each round wakes whom it is time to wake, looks for other
// processes' writes if that is due, and sleeps until the next of either.
func (w *watch) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer := time.NewTimer(maxNap)
	defer timer.Stop()
	defer w.others.close()
	for {
		nap, waiting := w.wakeDue()
		if waiting && w.others.interval > 0 {
			nap = min(nap, w.others.lookIfDue(ctx))
		}
		// Without anybody waiting there is no alarm: only a notice ends the sleep.
		var alarm <-chan time.Time
		if waiting {
			timer.Reset(nap)
			alarm = timer.C
		}
		select {
		case <-alarm:
		case <-w.poke:
		case <-w.others.written():
			w.others.notice()
		case <-w.quit:
			return
		}
	}
}

// wakeDue wakes fetches for which it is time, and returns how long it is until the
// next one's, and whether anybody waits for anything.
func (w *watch) wakeDue() (nap time.Duration, waiting bool) {
	nap, waiting = maxNap, w.others.interval > 0 && w.store.ends.Awaited() > 0
	now := w.store.now()
	for _, list := range []*wakeup.List{w.store.instances, w.store.activities} {
		wakeAt, some := list.Due(now)
		waiting = waiting || some
		if wakeAt != 0 {
			nap = min(nap, napUntil(now, wakeAt))
		}
	}
	return nap, waiting
}

// napUntil is how long to sleep at now towards wakeAt, both in milliseconds. A timer may
// be due later than a time.Duration can say, so the bound comes before the unit.
func napUntil(now, wakeAt int64) time.Duration {
	return time.Duration(min(wakeAt-now, maxNap.Milliseconds())) * time.Millisecond
}

// published is what the writer calls after each transaction, when its effects can be
// seen by everybody.
func (s *Store) published(e effects) {
	instances, activities := e.fetchable()
	if instances > 0 {
		s.instances.Signal(instances)
	}
	if activities > 0 {
		s.activities.Signal(activities)
	}
	s.instances.Note(e.instanceWake)
	s.activities.Note(e.activityWake)
	if !s.found.Load() && e.foundAny() {
		s.found.Store(true)
		s.watch.notify()
	}
	s.changes.Announce(e.changed...)
	for _, instance := range e.ended {
		s.ends.Tell(instance, e.outcomes[instance])
	}
	for _, report := range e.reports {
		report()
	}
}
