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
	store    *Store
	interval time.Duration
	// poke has room for one: something has changed that it should look at.
	poke     chan struct{}
	quit     chan struct{}
	finished sync.WaitGroup
}

// startWatch starts it, and makes the lists that it watches. An interval of 0 or less never looks for other processes.
func startWatch(s *Store, interval time.Duration) *watch {
	w := &watch{store: s, interval: interval, poke: make(chan struct{}, 1), quit: make(chan struct{})}
	s.instances = wakeup.NewList(w.notify)
	s.activities = wakeup.NewList(w.notify)
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

// run is the goroutine. Each round wakes whom it is time to wake, asks for other
// processes' writes if that is due, and sleeps until the next of either.
func (w *watch) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer := time.NewTimer(maxNap)
	defer timer.Stop()
	var polled time.Time
	for {
		nap, waiting := w.wakeDue()
		if waiting && w.interval > 0 {
			if since := time.Since(polled); since >= w.interval {
				w.pollOthers(ctx)
				polled = time.Now()
				nap = min(nap, w.interval)
			} else {
				nap = min(nap, w.interval-since)
			}
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
		case <-w.quit:
			return
		}
	}
}

// wakeDue wakes fetches for which it is time, and returns how long it is until the
// next one's.
func (w *watch) wakeDue() (nap time.Duration, waiting bool) {
	nap = maxNap
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

// pollOthers wakes everybody if another process has written: what it wrote, and for
// how many, is not known. There are as many waiting fetches as the worker has slots,
// and they run as one transaction, which changes nothing and so costs no flush.
func (w *watch) pollOthers(ctx context.Context) {
	changed, err := w.store.writer.changedElsewhere(ctx)
	// On trouble too: the fetches will meet it and report it.
	if changed || err != nil {
		w.store.instances.SignalAll()
		w.store.activities.SignalAll()
	}
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
	s.changes.Announce(e.changed...)
	for _, instance := range e.ended {
		s.ends.Tell(instance, e.outcomes[instance])
	}
	for _, report := range e.reports {
		report()
	}
}
