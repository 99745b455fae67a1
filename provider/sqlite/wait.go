package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// waitList holds the fetches of one queue that have found nothing and wait.
//
// A signal for n new pieces of work wakes n of them, in the order in which they
// came. A fetch that is woken and finds nothing it may take (it has another
// filter) passes the signal on to the next that has not looked since. So each
// signal reaches somebody who can use it, if there is one, and wakes nobody else.
type waitList struct {
	mu sync.Mutex
	// signals counts them. A fetch remembers the count from before it looked.
	signals uint64
	waiters []*waiter
	// wakeAt is the earliest time known at which there will be something, in
	// milliseconds; 0 for none. It is kept only while somebody waits.
	wakeAt int64
	// forgotten counts the times that were not kept as nobody waited. A fetch that
	// had looked before and waits after would sleep past such a time.
	forgotten uint64
	// changed is told when wakeAt or whether anybody waits has changed.
	changed func()
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
func (l *waitList) ticket() ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return ticket{signals: l.signals, forgotten: l.forgotten}
}

// wait registers a fetch that took the ticket and then found nothing. wakeAt is
// when there will be something as far as it has seen.
func (l *waitList) wait(t ticket, wakeAt int64) *waiter {
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
func (l *waitList) leave(w *waiter) {
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

// signal announces n new pieces of work.
func (l *waitList) signal(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signals++
	for range min(n, len(l.waiters)) {
		l.waiters[0].woken <- struct{}{}
		l.remove(0)
	}
}

// signalAll wakes everybody: how much has changed is not known.
func (l *waitList) signalAll() { l.signal(int(^uint(0) >> 1)) }

// passOn hands a signal to the next fetch that has not looked since the last.
func (l *waitList) passOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passOnLocked()
}

func (l *waitList) passOnLocked() {
	for i, w := range l.waiters {
		if w.looked < l.signals {
			w.woken <- struct{}{}
			l.remove(i)
			return
		}
	}
}

// remove takes waiter i off the list. The caller holds the lock.
func (l *waitList) remove(i int) {
	l.waiters = append(l.waiters[:i], l.waiters[i+1:]...)
	if len(l.waiters) == 0 && l.wakeAt != 0 {
		l.wakeAt = 0
		l.forgotten++
	}
}

// note announces a time at which there will be something.
func (l *waitList) note(wakeAt int64) {
	l.mu.Lock()
	tell := l.setWake(wakeAt)
	l.mu.Unlock()
	if tell {
		l.changed()
	}
}

// setWake makes wakeAt earlier and reports whether it did.
func (l *waitList) setWake(wakeAt int64) bool {
	if wakeAt == 0 || (l.wakeAt != 0 && l.wakeAt <= wakeAt) {
		return false
	}
	if len(l.waiters) == 0 {
		l.forgotten++
		return false
	}
	l.wakeAt = wakeAt
	return true
}

// due wakes one fetch if wakeAt has come, and otherwise returns wakeAt. The fetch
// that is woken will note the next such time.
func (l *waitList) due(now int64) (wakeAt int64, waiting bool) {
	l.mu.Lock()
	wakeAt, waiting = l.wakeAt, len(l.waiters) > 0
	if wakeAt == 0 || wakeAt > now {
		l.mu.Unlock()
		return wakeAt, waiting
	}
	l.wakeAt = 0
	l.mu.Unlock()
	l.signal(1)
	return 0, waiting
}

// poll calls look until it finds something, fails, or timeout has passed. look is
// told whether it was woken; it returns the time from which it is worth looking
// again, 0 for unknown.
func poll[T any](
	ctx context.Context, s *Store, list *waitList, operation string, timeout time.Duration,
	look func(woken bool) (*T, int64, error),
) (*T, error) {
	if timeout <= 0 {
		found, _, err := look(false)
		return found, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for woken := false; ; woken = true {
		ticket := list.ticket()
		found, wakeAt, err := look(woken)
		if found != nil || err != nil {
			list.note(wakeAt)
			if err != nil && woken {
				list.passOn()
			}
			return found, err
		}
		if woken {
			list.passOn()
		}
		w := list.wait(ticket, wakeAt)
		select {
		case <-w.woken:
		case <-timer.C:
			list.leave(w)
			return nil, nil
		case <-ctx.Done():
			list.leave(w)
			return nil, provider.ContextError(ctx, operation)
		case <-s.closing:
			list.leave(w)
			return nil, errClosed(operation)
		}
	}
}
