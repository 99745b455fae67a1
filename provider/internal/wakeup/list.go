package wakeup

import (
	"slices"
	"sync"
)

// List holds the fetches of one queue that have found nothing and wait.
//
// A signal for n new pieces of work wakes n of them, in the order in which they
// came. A fetch that is woken and finds nothing it may take (it has another
// filter) passes the signal on to the next that has not looked since. So each
// signal reaches somebody who can use it, if there is one, and wakes nobody else.
type List struct {
	mu sync.Mutex
	// signals counts them. A fetch remembers the count from before it looked.
	signals uint64
	waiters []*waiter
	// subscribers are told of what waiters are told, and look by themselves.
	subscribers []chan struct{}
	// wakeAt is the earliest time known at which there will be something, in
	// milliseconds; 0 for none. It is kept only while somebody waits or subscribes.
	wakeAt int64
	// forgotten counts the times that were not kept as nobody waited. A fetch that
	// had looked before and waits after would sleep past such a time.
	forgotten uint64
	// changed is told when wakeAt or whether anybody waits has changed.
	changed func()
}

// NewList returns a list without waiters. changed is called, from whatever goroutine
// it was and without a lock held, when somebody begins to wait where nobody did, somebody
// subscribes, or an earlier time has become known; nil tells nobody.
func NewList(changed func()) *List {
	if changed == nil {
		changed = func() {}
	}
	return &List{changed: changed}
}

// waiter is one waiting fetch.
type waiter struct {
	// looked is the number of signals the fetch had seen when it last looked.
	looked uint64
	woken  chan struct{}
}

// ticket tells whether anything came between looking and waiting.
type ticket struct {
	signals, forgotten uint64
}

// ticket is to be taken before looking for work, and given to wait.
func (l *List) ticket() ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return ticket{signals: l.signals, forgotten: l.forgotten}
}

// wait registers a fetch that took the ticket and then found nothing. wakeAt is
// when there will be something as far as it has seen.
func (l *List) wait(t ticket, wakeAt int64) *waiter {
	w := &waiter{looked: t.signals, woken: make(chan struct{}, 1)}
	l.mu.Lock()
	if l.signals != t.signals || l.forgotten != t.forgotten {
		// Something came between looking and waiting.
		w.woken <- struct{}{}
		l.mu.Unlock()
		return w
	}
	l.waiters = append(l.waiters, w)
	tell := l.setWake(wakeAt) || len(l.waiters) == 1
	l.mu.Unlock()
	if tell {
		l.changed()
	}
	return w
}

// leave removes a waiter that gives up. A signal it has been given meanwhile goes
// to the next.
func (l *List) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.waiters {
		if other == w {
			l.remove(i)
			return
		}
	}
	l.passOnLocked()
}

// Subscribe returns a channel that is given a notice now, and whenever fetches are woken
// or would be if any waited. It holds one notice. stop ends the notices and must be
// called, once or more.
func (l *List) Subscribe() (notices <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	c <- struct{}{}
	l.mu.Lock()
	l.subscribers = append(l.subscribers, c)
	l.mu.Unlock()
	l.changed()
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if i := slices.Index(l.subscribers, c); i >= 0 {
			l.subscribers = slices.Delete(l.subscribers, i, i+1)
			l.forgetUnwatched()
		}
	}
}

// notice gives one to every subscriber. The caller holds the lock.
func (l *List) notice() {
	for _, c := range l.subscribers {
		select {
		case c <- struct{}{}:
		default: // one is already there
		}
	}
}

// watched reports whether anybody waits or subscribes. The caller holds the lock.
func (l *List) watched() bool { return len(l.waiters) > 0 || len(l.subscribers) > 0 }

// Signal announces n new pieces of work.
func (l *List) Signal(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signals++
	l.notice()
	for range min(n, len(l.waiters)) {
		l.wake(0)
	}
}

// SignalAll wakes everybody: how much has changed is not known.
func (l *List) SignalAll() { l.Signal(int(^uint(0) >> 1)) }

// Watched reports whether anybody waits or subscribes.
func (l *List) Watched() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watched()
}

// Len is the number of fetches that wait.
func (l *List) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiters)
}

// passOn hands a signal to the next fetch that has not looked since the last.
func (l *List) passOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passOnLocked()
}

func (l *List) passOnLocked() {
	for i, w := range l.waiters {
		if w.looked < l.signals {
			l.wake(i)
			return
		}
	}
}

// wake takes waiter i off the list and wakes it. The caller holds the lock. Nobody but
// this sends to a waiter on the list, so there is room.
func (l *List) wake(i int) {
	l.waiters[i].woken <- struct{}{}
	l.remove(i)
}

// remove takes waiter i off the list. The caller holds the lock.
func (l *List) remove(i int) {
	l.waiters = append(l.waiters[:i], l.waiters[i+1:]...)
	l.forgetUnwatched()
}

// forgetUnwatched drops the time when nobody is left for it. The caller holds the lock.
func (l *List) forgetUnwatched() {
	if !l.watched() && l.wakeAt != 0 {
		l.wakeAt = 0
		l.forgotten++
	}
}

// Note announces a time at which there will be something, in milliseconds on the
// store's clock; 0 for none.
func (l *List) Note(wakeAt int64) {
	l.mu.Lock()
	tell := l.setWake(wakeAt)
	l.mu.Unlock()
	if tell {
		l.changed()
	}
}

// setWake makes wakeAt earlier and reports whether it did.
func (l *List) setWake(wakeAt int64) bool {
	if wakeAt == 0 || (l.wakeAt != 0 && l.wakeAt <= wakeAt) {
		return false
	}
	if !l.watched() {
		l.forgotten++
		return false
	}
	l.wakeAt = wakeAt
	return true
}

// Due wakes one fetch, and tells subscribers, if the earliest time noted has come, and
// otherwise returns that time, 0 for none. Whoever looks then will note the next such
// time. watched says whether anybody waits or subscribes.
func (l *List) Due(now int64) (wakeAt int64, watched bool) {
	l.mu.Lock()
	wakeAt, watched = l.wakeAt, l.watched()
	if wakeAt == 0 || wakeAt > now {
		l.mu.Unlock()
		return wakeAt, watched
	}
	l.wakeAt = 0
	l.mu.Unlock()
	l.Signal(1)
	return 0, watched
}
