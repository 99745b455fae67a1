// Package explore runs sessions in chosen orders. It knows nothing of T-SQL: a [Machine] runs coroutines one at a time
// and asks at each scheduling point which one goes on, a [Schedule] says so where it is not the obvious one, and the
// strategies ([Search], [Random]) make schedules.
//
//	machine.go    one run: coroutines, virtual time
//	space.go      which steps are in each other's way, so that others need not be interrupted
//	schedule.go   what a run did differently from the obvious, as text that repeats it
//	search.go     every schedule within a bound of preemptions
//	random.go     schedules with random priorities
//	minimize.go   the shortest schedule that still fails
package explore

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// Machine is a [schedule.Scheduler] for one run. Code outside of its coroutines may use it as long as it has nothing to
// wait for.
type Machine struct {
	// Space is what is known of the scenario. A session that has done nothing that others may notice since it was last
	// resumed is not interrupted: others would find what they would have found before. Nil: every point counts.
	Space *Space
	// Everywhere makes every point count all the same.
	Everywhere bool
	// Watch is told of each scheduling point before somebody is chosen; nil for nobody.
	Watch func(actor int, at schedule.Point)
	// Limit is how many scheduling points a run may have.
	Limit int

	// Stalls counts how often all that had not ended waited for locks until a time-out was over.
	Stalls int

	actors  []*actor
	byID    map[schedule.ID]*actor
	current *actor
	next    *actor
	strategy
	now     time.Duration
	steps   int
	noticed uint64 // counts what others may notice
	fault   Fault
}

// strategy says who goes on.
type strategy interface {
	// choose returns one of the options. The first one is the obvious: who runs goes on, or else the first who can. A
	// negative number ends the run.
	choose(p Position, options []Option) int
	// gaveWay is told that an actor lets others go on since it has nothing else to do.
	gaveWay(actor int)
}

// Fault is why a run did not come to its end.
type Fault string

// The faults.
const (
	Stuck   Fault = "nobody can go on"
	Endless Fault = "the sessions do not come to an end"
	// alike is that the strategy has seen enough of the run.
	alike Fault = "it goes on like another one"
)

// Position names a scheduling point: the n-th at which an actor let go of the machine. Actor is -1 before the first.
type Position struct{ Actor, N int }

// Option is what can happen next.
type Option struct {
	Actor   int
	Expire  bool // the time-out of what the actor waits for is over
	Preempt bool // it is a preemption: somebody who could go on does not, or time passes although nobody had to wait
}

// state is what an actor is doing.
type state uint8

const (
	ready state = iota
	parked
	finished
)

type actor struct {
	index    int
	id       schedule.ID
	resume   func() (struct{}, bool)
	stop     func()
	pause    func(struct{}) bool
	state    state
	at       string // the kind of the last Park
	token    bool
	expired  bool
	ctx      context.Context //nolint:containedctx // of the Park that it is in
	deadline time.Duration   // of that Park; negative: none
	pauses   int
	seen     uint64 // noticed when it was resumed
	past     uint64 // stands for what it has done, and for what had to be done before
	refused  map[uint64]refusal
	spins    bool // it tries again and again what others do not let it do
}

// NewMachine returns a machine without actors.
func NewMachine() *Machine { return &Machine{byID: map[schedule.ID]*actor{}, Limit: 1 << 20} }

// Go adds an actor, which has a session. Its function runs when the machine does.
func (m *Machine) Go(id schedule.ID, f func()) {
	a := &actor{index: len(m.actors), id: id}
	a.resume, a.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() { a.state = finished }()
		a.past = mix(a.past, uint64(a.index))
		a.pause = yield
		f()
	})
	m.actors = append(m.actors, a)
	m.byID[id] = a
}

// Now is the virtual time since the beginning of the run.
func (m *Machine) Now() time.Duration { return m.now }

// Advance moves the clock on.
func (m *Machine) Advance(d time.Duration) {
	m.Changed(schedule.Clock, 0, 0)
	m.now += d
}

// Pause lets others run, in an actor that is between two requests ("step") or waits for the answer to one ("answer").
func (m *Machine) Pause(kind string) {
	if m.current != nil {
		m.point(m.current, schedule.Point{Kind: kind})
	}
}

// run runs all actors to their end, or to a fault. After a fault the actors that have not ended are stuck: abandon is
// asked to make them end, and they are run on without a choice.
func (m *Machine) run(s strategy, abandon func()) Fault {
	m.strategy = s
	if m.Space != nil {
		m.Space.runs++
	}
	m.decide(nil)
	for m.next != nil && m.fault == "" {
		m.resume(m.next)
	}
	if m.fault != "" {
		abandon()
		m.drain()
	}
	return m.fault
}

func (m *Machine) resume(a *actor) {
	m.current, m.next, a.seen = a, nil, m.noticed
	if _, paused := a.resume(); !paused || a.state == parked {
		m.current = nil
		a.pauses++
		m.decide(a)
	}
	m.current = nil
}

// drain lets actors that were abandoned come to their end, one after the other.
func (m *Machine) drain() {
	for range m.Limit {
		moved := false
		for _, a := range m.actors {
			if a.runnable() {
				m.current, moved = a, true
				a.resume()
				m.current = nil
			}
		}
		if !moved {
			return
		}
	}
}

// Close ends actors that could not be brought to their end, and reports whether there were any.
func (m *Machine) Close() (some bool) {
	for _, a := range m.actors {
		if a.state != finished {
			some = true
		}
		a.stop()
	}
	return some
}

// point is a scheduling point of an actor that could go on.
func (m *Machine) point(a *actor, at schedule.Point) {
	if m.fault != "" {
		a.pause(struct{}{})
		return
	}
	a.pauses++
	if m.Watch != nil {
		m.Watch(a.index, at)
	}
	if seen := a.seen; m.Space != nil && !m.Everywhere && !m.Space.met[a.index] && !a.spins {
		if a.seen = m.noticed; a.seen == seen {
			return
		}
	}
	if m.decide(a); m.next == a {
		m.next = nil
		return
	}
	a.pause(struct{}{})
}

// decide sets next: nil when all have ended, or at a fault.
func (m *Machine) decide(a *actor) {
	if m.steps++; m.steps > m.Limit {
		m.fault = Endless
		return
	}
	options := m.options(a)
	if len(options) == 0 {
		if m.unfinished() {
			m.fault = Stuck
		}
		return
	}
	at := Position{Actor: -1}
	if a != nil {
		at = Position{a.index, a.pauses}
	}
	chosen := options[0]
	if len(options) > 1 {
		i := m.choose(at, options)
		if i < 0 {
			m.fault = alike
			return
		}
		chosen = options[i]
	}
	m.next = m.actors[chosen.Actor]
	if chosen.Expire {
		m.expire(m.next)
	}
}

// expire ends the time-out of what an actor waits for.
func (m *Machine) expire(a *actor) {
	a.expired = true
	before := m.current
	m.current = a
	m.Changed(schedule.Waits, 0, schedule.Always)
	if a.deadline > m.now {
		m.Changed(schedule.Clock, 0, 0)
		m.now = a.deadline
	}
	m.current = before
}

// options are what can happen next, the obvious first.
func (m *Machine) options(a *actor) []Option {
	var options []Option
	busy := a != nil && a.runnable()
	if busy && a.spins {
		if a.spins, busy = false, !m.another(a); !busy {
			m.gaveWay(a.index)
		}
	}
	if busy {
		options = append(options, Option{Actor: a.index})
	}
	for _, b := range m.actors {
		if b != a && b.runnable() {
			options = append(options, Option{Actor: b.index, Preempt: busy})
		}
	}
	forced := len(options) == 0
	nearest := 0
	for _, b := range m.actors {
		if b.state == parked && !b.runnable() && b.deadline >= 0 {
			if forced && len(options) > 0 && b.deadline < m.actors[options[nearest].Actor].deadline {
				nearest = len(options)
			}
			options = append(options, Option{Actor: b.index, Expire: true, Preempt: !forced})
		}
	}
	if forced && len(options) > 0 {
		if m.allWaitForLocks() {
			m.Stalls++
		}
		return options[nearest : nearest+1] // nothing happens before the nearest time-out
	}
	return options
}

// another reports whether somebody else could go on.
func (m *Machine) another(a *actor) bool {
	return slices.ContainsFunc(m.actors, func(b *actor) bool { return b != a && b.runnable() })
}

func (m *Machine) allWaitForLocks() bool {
	for _, a := range m.actors {
		if a.state == parked && a.at != "lock" {
			return false
		}
	}
	return true
}

func (m *Machine) unfinished() bool {
	for _, a := range m.actors {
		if a.state != finished {
			return true
		}
	}
	return false
}

func (a *actor) runnable() bool {
	return a.state == ready || a.state == parked && (a.token || a.expired || a.ctx.Err() != nil)
}

// Enter does nothing: an actor runs when it is resumed.
func (m *Machine) Enter(schedule.ID) {}

// Leave does nothing.
func (m *Machine) Leave(schedule.ID) {}

// Yield is a scheduling point.
func (m *Machine) Yield(id schedule.ID, at schedule.Point) {
	if a := m.current; a != nil && a.id == id {
		m.point(a, at)
	}
}

// Outside runs f at once: nothing here blocks.
func (m *Machine) Outside(_ schedule.ID, f func()) { f() }

// Park is a scheduling point after which the actor goes on only when something has happened.
func (m *Machine) Park(ctx context.Context, id schedule.ID, at schedule.Point, timeout time.Duration) schedule.Outcome {
	a := m.current
	if a == nil || a.id != id {
		panic("explore: a session waits outside of its coroutine, at " + at.Kind + " " + at.What)
	}
	a.deadline = -1
	if timeout >= 0 {
		a.deadline = m.now + timeout
		m.Looked(schedule.Clock, schedule.Always)
	}
	a.state, a.at, a.ctx, a.expired, a.spins = parked, at.Kind, ctx, timeout == 0, false
	if m.Watch != nil {
		m.Watch(a.index, schedule.Point{Kind: "wait", What: at.What})
	}
	a.pause(struct{}{})
	a.state = ready
	outcome := schedule.TimedOut
	switch {
	case a.token:
		a.token = false
		outcome = schedule.Woken
	case ctx.Err() != nil:
		outcome = schedule.Cancelled
	}
	a.past = mix(a.past, uint64(outcome))
	return outcome
}

// Unpark wakes an actor.
func (m *Machine) Unpark(id schedule.ID) {
	if a := m.byID[id]; a != nil {
		a.token = true
		if m.current != nil {
			a.past = mix(a.past, m.current.past)
		}
	}
}
