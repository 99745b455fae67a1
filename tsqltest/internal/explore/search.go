package explore

import "slices"

// Runner runs a scenario from its beginning.
type Runner interface {
	// Machine returns a machine with the scenario's actors, at the beginning. The run before is over.
	Machine() *Machine
	// Finish looks at what a run has come to, and reports whether the exploration goes on.
	Finish(s Schedule, fault Fault) bool
	// Abandon makes the actors of a run that has a fault come to their end.
	Abandon()
}

// Follow runs a schedule, and returns whether the exploration goes on and how many preemptions it had.
func Follow(r Runner, s Schedule) (on bool, preemptions int) {
	f := &follower{schedule: s}
	m := r.Machine()
	fault := m.run(f, r.Abandon)
	return r.Finish(s, fault), f.preempts
}

// Search runs every schedule that has no more preemptions than a bound, those with fewer first. It returns the greatest
// bound within which it has run all of them; -1 if not even those without preemptions.
func Search(r Runner, bound int) (complete int) {
	for b := range bound + 1 {
		s := &search{runner: r, bound: b}
		if !s.visit(nil, 0) {
			return b - 1
		}
		if !s.reached { // there are none with more preemptions either
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
}

// visit runs a schedule and all that begin with it.
func (s *search) visit(at Schedule, preemptions int) bool {
	f := &follower{schedule: at, wanted: true}
	fault := s.runner.Machine().run(f, s.runner.Abandon)
	on := true
	if preemptions == s.bound {
		s.reached = true
		on = s.runner.Finish(at, fault)
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
