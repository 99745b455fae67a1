package taking

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// lookAgain is how long a dispatcher leaves it to the turn that it has found to find the
// next one, with its commit, before it looks for more by itself. It is longer than a turn and
// its commit take, but for a function that blocks.
const lookAgain = 50 * time.Millisecond

// slots are the free slots of one kind, and whether it is worthwhile to look for work. Beside
// those that run work there are spare ones, which have work in hand while it waits to run, and
// while it is settled.
type slots[S comparable] struct {
	// ready are the store's notices.
	ready <-chan struct{}
	// changed has a place for one signal to the dispatcher.
	changed chan struct{}

	// running has a place for each piece of work that runs, as many as there are slots that
	// are not spare.
	running chan struct{}
	// patience is how long work waits for a place.
	patience time.Duration
	// quiet reports whether the slots of other kinds are all free; nil means that nobody asks.
	quiet func() bool
	// spare has the spare ones, and unspared reports whether they stay free; nil means no.
	spare    map[S]bool
	unspared func() bool

	mu sync.Mutex
	// free are the free slots, the spare ones first, as the last are taken first.
	free []S
	// used counts those that are not free.
	used int
	pace pace
	// storeWaits means that a look waits in the store when it finds nothing, so that there is one
	// also when nothing is expected: at once while the worker has nothing to do, and else at
	// rest, as work that runs looks for more by itself.
	storeWaits bool
	rest       time.Time
	// interrupt, if set, ends the wait of a look.
	interrupt func()
	// look means that there may be work that no look has found, and again when it is time
	// to look.
	look  bool
	again time.Time
	// notices counts those of the store, and fresh means that nothing was found since the
	// last one.
	notices uint64
	fresh   bool
	// unseen means that a slot is free for which no call has looked since the last notice, and whose
	// work a call for others does not find: that of its sessions.
	unseen bool
}

// newSlots returns the slots, all free. The first look is made without a notice.
func newSlots[S comparable](ready <-chan struct{}, free []S, spare ...S) *slots[S] {
	s := &slots[S]{
		ready: ready, changed: make(chan struct{}, 1), running: make(chan struct{}, len(free)), patience: aheadPatience,
		spare: map[S]bool{}, free: slices.Concat(spare, free), pace: newPace(), look: true, fresh: true,
	}
	for _, slot := range spare {
		s.spare[slot] = true
	}
	return s
}

// put frees slots. unseen means that they may get work that a look for other slots does not
// find: that of their sessions.
func (s *slots[S]) put(unseen bool, free ...S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give(free)
	s.look, s.unseen = s.look || unseen, s.unseen || unseen
	s.signal()
}

// give is put for a caller that has the lock, and does not wake the dispatcher.
func (s *slots[S]) give(free []S) {
	for _, slot := range free {
		if s.spare[slot] {
			s.free = slices.Insert(s.free, 0, slot)
		} else {
			s.free = append(s.free, slot)
		}
	}
	s.used -= len(free)
}

// run waits for a place among those that run, and reports whether there is one. It is to be left
// by [slots.ran].
func (s *slots[S]) run(ctx context.Context) bool {
	select {
	case s.running <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case s.running <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-timer.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pace.waited()
	}
	return false
}

// ran leaves the place of work that began to run then.
func (s *slots[S]) ran(began time.Time) {
	ran := time.Since(began)
	<-s.running
	runtime.Gosched() // what waits for the place comes before the call that settles this
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.ran(ran)
}

// called notes how long a call has taken that settled work.
func (s *slots[S]) called(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.called(d)
}

// notice makes the dispatcher look as soon as a slot is free.
func (s *slots[S]) notice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noticed()
	if s.interrupt != nil {
		s.interrupt()
	}
	s.signal()
}

// waiting notes how to end the wait of a look, nil when it has ended.
func (s *slots[S]) waiting(interrupt func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = interrupt
}

// cannotWait notes that a look that found nothing has not waited in the store.
func (s *slots[S]) cannotWait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeWaits = false
}

// allFree reports whether no slot is in use.
func (s *slots[S]) allFree() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used == 0
}

// noticed is called with the lock held, as are hear and signal.
func (s *slots[S]) noticed() {
	s.look, s.fresh, s.again = true, true, time.Time{}
	s.unseen = s.unspared != nil && s.unspared()
	s.notices++
}

// hear takes note of what the store has said until now.
func (s *slots[S]) hear() {
	select {
	case <-s.ready:
		s.noticed()
	default:
	}
}

func (s *slots[S]) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// noticedSince reports whether the store has given notice since a call.
func (s *slots[S]) noticedSince(seen uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notices != seen
}

// reserve takes up to n slots for a call that begins now, instead of those given. seen is for
// [slots.looked].
func (s *slots[S]) reserve(n int, instead ...S) (reserved []S, seen uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear()
	s.give(instead)
	return s.take(n), s.notices
}

// take is called with the lock held.
func (s *slots[S]) take(n int) []S {
	room := s.room()
	left := len(s.free) - min(n, room)
	taken := append([]S(nil), s.free[left:]...)
	clear(s.free[left:])
	s.free = s.free[:left]
	s.used += len(taken)
	s.unseen = s.unseen && n < room
	return taken
}

// room is how many slots may be taken. It is called with the lock held.
func (s *slots[S]) room() int {
	most := cap(s.running)
	if s.unspared == nil || !s.unspared() {
		most += s.pace.ahead(most)
	}
	return max(0, min(len(s.free), most-s.used))
}

// looked notes what a call found that asked for so much. It wakes the dispatcher only if there is
// something to look for, and reports whether there may well be more, as there was more than one for the
// last notice.
func (s *slots[S]) looked(seen uint64, asked, found int) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case asked == 0:
	case found < asked:
		s.look = s.look && (s.unseen || s.notices != seen)
		s.rest = time.Now().Add(lookAgain)
	case s.fresh:
		s.fresh, s.again = false, time.Now().Add(lookAgain)
	default:
		s.again, more = time.Time{}, true
	}
	if s.look {
		s.signal()
	}
	return more
}

// due is reserve if it is time to look and a slot is free. Otherwise pause is how long it is
// until then, 0 if that is not known.
func (s *slots[S]) due(n int) (reserved []S, seen uint64, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear()
	switch {
	case s.room() == 0, !s.look && !s.storeWaits:
		return nil, 0, 0
	case s.storeWaits && s.used == 0 && s.quiet(): // nothing runs that would look
	case s.look:
		pause = time.Until(s.again)
	default:
		pause = time.Until(s.rest)
	}
	if pause > 0 {
		return nil, 0, pause
	}
	return s.take(n), s.notices, 0
}
