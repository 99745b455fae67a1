// Package scheduletest has a scheduler for tests: sessions are coroutines, and the test says which one goes on.
//
//	c := scheduletest.New()
//	defer c.Close()
//	c.Go(1, func() { … })
//	c.Go(2, func() { … })
//	c.Step(1)            // to its next scheduling point
//	c.Step(2)
//	c.Finish()           // both, in turns
//
// Time is virtual: a time-out is over when the test calls Expire, or when Finish finds that nothing else can happen.
package scheduletest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// State is what a session is doing.
type State uint8

// The states.
const (
	Ready    State = iota // can go on
	Parked                // waits in Park
	Finished              // its function has returned
)

// String says it in a word.
func (s State) String() string { return [...]string{"ready", "parked", "finished"}[s] }

// Controlled is a schedule.Scheduler that a test drives. Code that runs outside a coroutine, such as the preparation of
// a test, may use it too as long as it has nothing to wait for.
type Controlled struct {
	sessions map[schedule.ID]*session
	order    []*session
	current  *session
	// Now is the virtual time.
	Now time.Duration
}

type session struct {
	id       schedule.ID
	resume   func() (schedule.Point, bool)
	stop     func()
	pause    func(schedule.Point) bool
	state    State
	at       schedule.Point
	token    bool
	expired  bool
	ctx      context.Context //nolint:containedctx // of the Park that the session is in
	deadline time.Duration   // negative: none
}

// killed is what a coroutine panics with when the test is over before it.
type killed struct{}

// New returns a scheduler without sessions.
func New() *Controlled { return &Controlled{sessions: make(map[schedule.ID]*session)} }

// Go adds a session. Its function runs when it is stepped.
func (c *Controlled) Go(id schedule.ID, f func()) {
	s := &session{id: id}
	s.resume, s.stop = iter.Pull(func(yield func(schedule.Point) bool) {
		defer func() {
			s.state = Finished
			if r := recover(); r != nil {
				if _, ok := r.(killed); !ok {
					panic(r)
				}
			}
		}()
		s.pause = yield
		f()
	})
	c.sessions[id] = s
	c.order = append(c.order, s)
}

// Step lets a session run to its next scheduling point, and returns what it is doing then. A session that waits goes on
// waiting unless it has been woken, cancelled or expired.
func (c *Controlled) Step(id schedule.ID) State {
	s := c.sessions[id]
	if !s.runnable() {
		return s.state
	}
	c.current = s
	at, ok := s.resume()
	c.current = nil
	if ok {
		s.at = at
	}
	return s.state
}

// Run steps a session until it waits or has finished.
func (c *Controlled) Run(id schedule.ID) State {
	for c.sessions[id].runnable() {
		c.Step(id)
	}
	return c.sessions[id].state
}

// Expire ends the time-out of a session that waits, and moves the clock there.
func (c *Controlled) Expire(id schedule.ID) {
	s := c.sessions[id]
	if s.state == Parked && s.deadline >= 0 {
		s.expired = true
		c.Now = max(c.Now, s.deadline)
	}
}

// State is what a session is doing, and the point where it is.
func (c *Controlled) State(id schedule.ID) (State, schedule.Point) {
	s := c.sessions[id]
	return s.state, s.at
}

// Runnable are the sessions that can go on, in the order of Go.
func (c *Controlled) Runnable() []schedule.ID {
	var ids []schedule.ID
	for _, s := range c.order {
		if s.runnable() {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// Finish steps all sessions in turns until they have finished.
func (c *Controlled) Finish() {
	turn := 0
	c.FinishBy(func(runnable []schedule.ID) schedule.ID {
		turn++
		return runnable[turn%len(runnable)]
	})
}

// FinishBy steps the sessions that choose names until all have finished. When none can go on, the nearest time-out is
// over. It panics if there is none: then the sessions wait for each other.
func (c *Controlled) FinishBy(choose func(runnable []schedule.ID) schedule.ID) {
	for {
		runnable := c.Runnable()
		if len(runnable) > 0 {
			c.Step(choose(runnable))
			continue
		}
		if c.finished() {
			return
		}
		next := c.nearest()
		if next == nil {
			panic("scheduletest: nobody can go on" + c.String())
		}
		c.Expire(next.id)
	}
}

// Close ends coroutines that have not finished.
func (c *Controlled) Close() {
	for _, s := range c.order {
		if s.state != Finished { // else its panic, if it had one, would come once more
			s.stop()
		}
	}
}

// String says where the sessions are.
func (c *Controlled) String() string {
	var b strings.Builder
	for _, s := range c.order {
		fmt.Fprintf(&b, "; session %d: %v at %s %s", s.id, s.state, s.at.Kind, s.at.What)
	}
	return b.String()
}

func (c *Controlled) finished() bool {
	for _, s := range c.order {
		if s.state != Finished {
			return false
		}
	}
	return true
}

func (c *Controlled) nearest() *session {
	var best *session
	for _, s := range c.order {
		if s.state == Parked && s.deadline >= 0 && (best == nil || s.deadline < best.deadline) {
			best = s
		}
	}
	return best
}

func (s *session) runnable() bool {
	return s.state == Ready || s.state == Parked && (s.token || s.expired || s.ctx.Err() != nil)
}

// Enter does nothing: a session runs when it is stepped.
func (c *Controlled) Enter(schedule.ID) {}

// Leave does nothing.
func (c *Controlled) Leave(schedule.ID) {}

// Yield is a scheduling point.
func (c *Controlled) Yield(id schedule.ID, at schedule.Point) { c.stop(id, at) }

// Outside is a scheduling point before f.
func (c *Controlled) Outside(id schedule.ID, f func()) {
	c.stop(id, schedule.Point{Kind: "outside"})
	f()
}

// Park is a scheduling point after which the session goes on only when something has happened.
func (c *Controlled) Park(ctx context.Context, id schedule.ID, at schedule.Point, timeout time.Duration) schedule.Outcome {
	s := c.current
	if s == nil || s.id != id {
		panic(fmt.Sprintf("scheduletest: session %d waits at %s %s outside its coroutine", id, at.Kind, at.What))
	}
	s.deadline = -1
	if timeout >= 0 {
		s.deadline = c.Now + timeout
	}
	s.state, s.ctx, s.expired = Parked, ctx, timeout == 0
	c.stop(id, at)
	s.state = Ready
	switch {
	case s.token:
		s.token = false
		return schedule.Woken
	case ctx.Err() != nil:
		return schedule.Cancelled
	default:
		return schedule.TimedOut
	}
}

// Unpark wakes a session.
func (c *Controlled) Unpark(id schedule.ID) {
	if s := c.sessions[id]; s != nil {
		s.token = true
	}
}

// stop leaves the coroutine for the test.
func (c *Controlled) stop(id schedule.ID, at schedule.Point) {
	s := c.current
	if s == nil || s.id != id {
		return
	}
	if !s.pause(at) {
		panic(killed{})
	}
}
