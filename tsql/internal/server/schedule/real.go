package schedule

import (
	"context"
	"sync"
	"time"
)

// slice is how long a session may run while another waits. It is long against a change of goroutines (about a
// microsecond) and short against what a client would notice.
const slice = time.Millisecond

// Real runs sessions on goroutines of their own, in the order of their asking, with real timers. It starts no
// goroutine.
type Real struct {
	mu       sync.Mutex
	sessions map[ID]*seat
	spare    []*seat
	held     bool      // somebody has the latch
	since    time.Time // when the latch was handed over last
	ready    []*seat   // who waits for the latch, first come first served
	first    int       // index of the first one in ready
}

// seat is what the scheduler knows of a session. All of it is guarded by Real.mu, but for the channel and the timer.
type seat struct {
	parked bool // in Park, and nobody has called Unpark
	token  bool // an Unpark that nobody has waited for so far
	run    chan struct{}
	timer  *time.Timer // made when it is needed first
}

// NewReal returns the scheduler of a server that serves clients.
func NewReal() *Real { return &Real{sessions: make(map[ID]*seat)} }

// Enter waits for the latch.
func (s *Real) Enter(id ID) {
	s.mu.Lock()
	if s.sessions[id] != nil {
		s.mu.Unlock()
		panic("schedule: the session has entered already")
	}
	p := s.newSeat()
	s.sessions[id] = p
	s.take(p)
}

// Leave gives the latch to who waits longest.
func (s *Real) Leave(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.seat(id)
	p.token = false
	delete(s.sessions, id)
	s.spare = append(s.spare, p)
	s.pass()
}

// Yield hands the latch over if somebody waits for it and the session has had its slice.
func (s *Real) Yield(id ID, _ Point) {
	s.mu.Lock()
	if s.first == len(s.ready) || time.Since(s.since) < slice {
		s.mu.Unlock()
		return
	}
	p := s.seat(id)
	s.pass()
	s.take(p)
}

// Park gives the latch away until the session is woken.
func (s *Real) Park(ctx context.Context, id ID, _ Point, timeout time.Duration) Outcome {
	s.mu.Lock()
	p := s.seat(id)
	switch {
	case p.token:
		p.token = false
		s.mu.Unlock()
		return Woken
	case ctx.Err() != nil:
		s.mu.Unlock()
		return Cancelled
	case timeout == 0:
		s.mu.Unlock()
		return TimedOut
	}
	p.parked = true
	s.pass()
	s.mu.Unlock()

	outcome := Woken
	select {
	case <-p.run: // whoever woke the session has put it in the queue, and the latch came with the signal
	case <-ctx.Done():
		outcome = s.wakeUp(p, Cancelled)
	case <-p.after(timeout):
		outcome = s.wakeUp(p, TimedOut)
	}
	if timeout > 0 {
		p.timer.Stop()
	}
	return outcome
}

// wakeUp takes the latch again for a session that nobody has woken. An Unpark that comes before it has the latch counts
// all the same.
func (s *Real) wakeUp(p *seat, outcome Outcome) Outcome {
	s.mu.Lock()
	if !p.parked { // woken meanwhile, and in the queue already
		s.mu.Unlock()
		<-p.run
		return Woken
	}
	p.parked = false
	s.take(p)

	s.mu.Lock()
	defer s.mu.Unlock()
	if p.token {
		p.token = false
		return Woken
	}
	return outcome
}

// Unpark wakes a session.
func (s *Real) Unpark(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.sessions[id]
	switch {
	case p == nil: // between requests: there is nothing that it could wait for
	case !p.parked:
		p.token = true
	default:
		p.parked = false
		if s.held {
			s.ready = append(s.ready, p)
			return
		}
		s.held, s.since = true, time.Now()
		p.run <- struct{}{}
	}
}

// Outside runs f without the latch.
func (s *Real) Outside(id ID, f func()) {
	s.mu.Lock()
	p := s.seat(id)
	s.pass()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.take(p)
	}()
	f()
}

// take waits until p has the latch. The mutex is held before and is not afterwards.
func (s *Real) take(p *seat) {
	if !s.held {
		s.held, s.since = true, time.Now()
		s.mu.Unlock()
		return
	}
	s.ready = append(s.ready, p)
	s.mu.Unlock()
	<-p.run
}

// pass hands the latch to who waits longest, or leaves it free. The mutex is held. Nobody can get in between, so a
// session that comes back again and again cannot starve the others.
func (s *Real) pass() {
	if s.first == len(s.ready) {
		s.held = false
		s.ready, s.first = s.ready[:0], 0
		return
	}
	next := s.ready[s.first]
	s.ready[s.first] = nil
	s.first++
	if s.first > 64 && s.first*2 > len(s.ready) {
		s.ready = append(s.ready[:0], s.ready[s.first:]...)
		s.first = 0
	}
	s.since = time.Now()
	next.run <- struct{}{}
}

// seat is the record of a session that is between Enter and Leave.
func (s *Real) seat(id ID) *seat {
	p := s.sessions[id]
	if p == nil {
		panic("schedule: the session has not entered")
	}
	return p
}

func (s *Real) newSeat() *seat {
	if n := len(s.spare); n > 0 {
		p := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return p
	}
	return &seat{run: make(chan struct{}, 1)}
}

// after is the channel of the session's timer; nil if timeout is negative.
func (p *seat) after(timeout time.Duration) <-chan time.Time {
	if timeout < 0 {
		return nil
	}
	if p.timer == nil {
		p.timer = time.NewTimer(timeout)
	} else {
		p.timer.Reset(timeout)
	}
	return p.timer.C
}
