package explore

import "math/rand/v2"

// Random runs one schedule with random priorities, as PCT does (probabilistic concurrency testing): the actor with the
// highest priority runs, and at a few random points the priority of who runs becomes the lowest. A defect that needs d
// such points among n is found with a probability of about 1/(k·n^(d-1)) for k actors. Whoever is interrupted comes
// behind all that were interrupted before: a defect that needs another order among them is not found so.
func Random(r Runner, seed uint64, points, length int) (on bool, steps int) {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a seed must repeat
	m := r.Machine()
	p := &priorities{random: random, rank: random.Perm(len(m.actors)), lowest: -1}
	for range points {
		p.changes = append(p.changes, random.IntN(max(length, 1)))
	}
	fault := m.run(p, r.Abandon)
	return r.Finish(p.schedule, fault), p.steps
}

type priorities struct {
	random   *rand.Rand
	rank     []int // of the actors; the highest runs
	lowest   int
	changes  []int
	steps    int
	schedule Schedule
}

// gaveWay makes an actor the last.
func (p *priorities) gaveWay(actor int) {
	p.rank[actor] = p.lowest
	p.lowest--
}

func (p *priorities) choose(at Position, options []Option) int {
	p.steps++
	for _, c := range p.changes {
		if c == p.steps {
			p.gaveWay(options[0].Actor)
		}
	}
	best := -1
	for i, o := range options {
		switch {
		case o.Expire && p.random.IntN(64) != 0: // time passes seldom while somebody can run
		case best < 0 || p.rank[o.Actor] > p.rank[options[best].Actor]:
			best = i
		}
	}
	if best > 0 {
		o := options[best]
		p.schedule = append(p.schedule, Deviation{At: at, Actor: o.Actor, Expire: o.Expire})
	}
	return max(best, 0)
}
