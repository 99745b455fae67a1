package explore

import (
	"math"
	"slices"
)

// Runner runs a scenario from its beginning.
type Runner interface {
	// Machine returns a machine with the scenario's actors, at the beginning. The run before is over.
	Machine() *Machine
	// Finish looks at what a run has come to, and reports whether the exploration goes on.
	Finish(s Schedule, fault Fault) bool
	// Abandon makes the actors of a run that has a fault come to their end.
	Abandon()
}

// Follow runs a schedule, and returns whether the exploration goes on and how many preemptions it had. It can interrupt
// an actor at every point, whatever is known of the scenario.
func Follow(r Runner, s Schedule) (on bool, preemptions int) {
	f := &follower{schedule: s}
	m := r.Machine()
	m.Everywhere = true
	fault := m.run(f, r.Abandon)
	return r.Finish(s, fault), f.preempts
}

// Search runs every schedule that has no more preemptions than a bound, those with fewer first, but for those that come
// to the same as another one. It returns the greatest bound within which it has run all of them; -1 if not even those
// without preemptions.
func Search(r Runner, bound int) (complete int) {
	for b := 0; b <= bound; b++ {
		s := &search{runner: r, bound: b, known: map[uint64]int8{}}
		switch {
		case !s.visit(nil, 0):
			return b - 1
		case s.space != nil && s.space.grown: // what it has passed over may have been worth a try
			s.space.grown = false
			b--
		case !s.reached: // there are none with more preemptions either
			return bound
		}
	}
	return bound
}

// search is the pass for schedules with exactly as many preemptions as bound.
type search struct {
	runner  Runner
	bound   int
	reached bool // there was one
	space   *Space
	known   map[uint64]int8 // the states that runs have come to, with how many preemptions could follow
}

// maxKnown bounds how many states are remembered. Those that come later may be tried more than once.
const maxKnown = 1 << 20

// visit runs a schedule and all that begin with it.
func (s *search) visit(at Schedule, preemptions int) bool {
	m := s.runner.Machine()
	f := &follower{schedule: at, wanted: true}
	if s.space = m.Space; s.space != nil && !m.Everywhere {
		f.known = func(p Position) bool { return s.seen(m.state(p.Actor), s.bound-preemptions) }
	}
	fault := m.run(f, s.runner.Abandon)
	on := true
	if preemptions == s.bound {
		s.reached = true
		if fault != alike {
			on = s.runner.Finish(at, fault)
		}
	}
	for _, c := range f.choices {
		for _, o := range c.options[1:] {
			if !on {
				return false
			}
			cost := preemptions
			if o.Preempt {
				cost++
			}
			if cost > s.bound {
				continue
			}
			on = s.visit(append(slices.Clip(at), Deviation{At: c.at, Actor: o.Actor, Expire: o.Expire}), cost)
		}
	}
	return on
}

// seen reports whether a run has come to a state with as many preemptions left, and remembers that one has.
func (s *search) seen(state uint64, left int) bool {
	before, ok := s.known[state]
	if ok && int(before) >= left {
		return true
	}
	if ok || len(s.known) < maxKnown {
		s.known[state] = int8(min(left, math.MaxInt8))
	}
	return false
}
