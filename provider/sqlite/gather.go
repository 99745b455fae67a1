package sqlite

import (
	"runtime"
	"time"
)

// Those whom a transaction answers are usually about to call again: a worker with what it
// has done, for one. What they ask for should share the next transaction rather than be one
// each, so the writer gives them a moment before it takes what is there. On two busy cores a
// sequence of five activities took 6.0 transactions without that and takes 3.7 with it, a
// fan-out of five 6.3 and 4.1, by a worker of two slots (docs/performance-2026-11.md).
const (
	// gatherYields is how often the writer lets others run first. On an idle machine that is
	// a few microseconds.
	gatherYields = 8
	// gatherFor is how long it waits then for those who run on other processors.
	gatherFor = 40 * time.Microsecond
	// mostUngathered bounds how many transactions pass without that wait after it was in vain.
	mostUngathered = 63
)

// gathering is what the writer knows about waiting for callers of one kind. Only its goroutine uses it.
type gathering struct {
	// next is how many transactions pass without a wait after the next one in vain, and
	// pass how many still do.
	next, pass int
}

// gather waits until as many calls are queued as were answered, for a moment at most. A caller
// who is alone therefore never waits.
func (w *writer) gather(answered int) {
	for range gatherYields {
		runtime.Gosched()
		if w.queued() >= answered {
			return
		}
	}
	if w.gathering.passes() {
		return
	}
	before := w.queued()
	w.gathering.learn(w.awaitQueue(answered) > before)
}

// passes reports whether the writer does not wait this time.
func (g *gathering) passes() bool {
	if g.pass == 0 {
		return false
	}
	g.pass--
	return true
}

// learn notes whether a wait was worth it.
func (g *gathering) learn(worth bool) {
	if worth {
		g.next = 0
		return
	}
	g.next = min(2*g.next+1, mostUngathered)
	g.pass = g.next
}

// awaitQueue waits for n calls, for gatherFor at most, and returns how many are queued.
func (w *writer) awaitQueue(n int) int {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	for {
		queued := w.queued()
		if queued >= n {
			return queued
		}
		select {
		case <-w.wake: // work looks at the queue in any case
		case <-timer.C:
			return queued
		}
	}
}

// queued is how many calls wait for the next transaction. When the writer is closed there
// are no more to wait for.
func (w *writer) queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return maxGroup
	}
	return len(w.queue)
}
