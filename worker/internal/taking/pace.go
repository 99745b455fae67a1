package taking

import (
	"time"
)

// mostAhead is the most work of a kind that a worker has in hand beyond what its slots run.
const mostAhead = 32

// aheadPatience is how long work waits for a slot in the worker that has taken it, before it is
// given back for others.
const aheadPatience = 100 * time.Millisecond

// longestRun is what counts of a run that takes longer, so that some thirty short ones make up for
// a long one.
const longestRun = time.Second

// pace is how long the work of a kind has run lately, and how long the calls have taken that
// settle it and take more. A slot that waits for its store runs nothing, and a store commits
// calls together that come together. So a worker takes work ahead, unless a call is short beside
// what the work takes: see [pace.ahead].
type pace struct {
	// run and call are moving averages.
	run, call time.Duration
}

// newPace supposes that work takes long.
func newPace() pace { return pace{run: longestRun} }

// ran notes how long work has run.
func (p *pace) ran(d time.Duration) { p.run = moved(p.run, min(d, longestRun)) }

// called notes how long a call has taken that settled work.
func (p *pace) called(d time.Duration) { p.call = moved(p.call, d) }

// waited notes that work has waited too long for a slot, until which nothing has ended.
func (p *pace) waited() { p.run = longestRun }

func moved(mean, sample time.Duration) time.Duration { return mean + (sample-mean)/8 }

// ahead is how much work may be in hand beyond what so many slots run: one for each slot, as they
// may end together, or more. It is none if the slots stand idle for less than a fiftieth of their
// time without.
func (p *pace) ahead(slots int) int {
	if p.call < p.run/50 {
		return 0
	}
	duringCall := time.Duration(slots) * p.call / max(1, p.run)
	return min(mostAhead, max(slots, int(duringCall)))
}
