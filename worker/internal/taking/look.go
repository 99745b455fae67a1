package taking

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// mostLooks bounds the looks for turns at a time.
const mostLooks = 8

// look is a call that is made only to take work.
type look struct {
	seats seats
	// turnsSeen and activitiesSeen count the store's notices before the call.
	turnsSeen, activitiesSeen uint64
}

// round is looks that are made at the same time: one, or several of which each is for a turn.
type round struct {
	looks []look
	// turns and activities say what the round looks for. There is one round at a time for each of them.
	turns, activities bool
	// more means that each look has found a turn, and that there may well be more.
	more bool
}

// looker looks for work whenever it is time to, for turns and activities in one call if it is time for both, as it is
// when the store polls. A look finds one turn. When three rounds in a row have found that there are more, two looks at
// a time follow, then four and eight: a store may commit together what comes together, and slots for which there is
// work do not stand idle.
type looker struct {
	*dispatcher

	// most is how many looks the next round may make, and found counts the rounds in a row that have found more turns.
	most, found int
	// turnsUnder and activitiesUnder mean that a round is under way that looks for them.
	turnsUnder, activitiesUnder bool
	// turnsBackoff is used by rounds that look for turns, and activitiesBackoff by the others.
	turnsBackoff, activitiesBackoff *outage.Backoff
	// ended has room for all rounds that may be under way.
	ended chan round
}

func newLooker(d *dispatcher) *looker {
	return &looker{
		dispatcher: d, most: 1, turnsBackoff: outage.NewBackoff(d.Outage), activitiesBackoff: outage.NewBackoff(d.Outage),
		ended: make(chan round, 2),
	}
}

// run looks until nothing is to be taken any more.
func (l *looker) run() {
	for l.ctx.Err() == nil {
		r, pause := l.due()
		if len(r.looks) > 0 {
			l.Loops.Go(func() {
				l.make(&r)
				l.ended <- r
			})
			continue
		}
		var alarm <-chan time.Time
		if pause > 0 {
			alarm = time.After(pause)
		}
		// A look that waits in the store is told by the store.
		turnReady, workReady := l.turns.ready, l.activities.ready
		if l.turnsUnder {
			turnReady = nil
		}
		if l.activitiesUnder {
			workReady = nil
		}
		select {
		case <-l.ctx.Done():
		case <-turnReady:
			l.turns.notice()
			runtime.Gosched() // a store that polls gives notice of activities next, which the same call looks for
		case <-workReady:
			l.activities.notice()
			runtime.Gosched()
		case <-l.turns.changed:
		case <-l.activities.changed:
		case <-alarm:
		case r := <-l.ended:
			l.over(r)
		}
	}
}

// due reserves slots for the next round if it is time for one. Otherwise pause is how long it is until then, 0 if that
// is not known.
func (l *looker) due() (r round, pause time.Duration) {
	if !l.turnsUnder {
		free, seen, wait := l.turns.due(l.most)
		for _, seat := range free {
			r.looks = append(r.looks, look{seats: seats{turn: seat}, turnsSeen: seen})
		}
		r.turns, pause = len(free) > 0, wait
	}
	if !l.activitiesUnder {
		free, seen, wait := l.activities.due(math.MaxInt)
		if r.activities = len(free) > 0; r.activities {
			if !r.turns {
				r.looks = make([]look, 1)
			}
			r.looks[0].seats.activities, r.looks[0].activitiesSeen = free, seen
		}
		if pause == 0 || wait > 0 && wait < pause {
			pause = wait
		}
	}
	l.turnsUnder, l.activitiesUnder = l.turnsUnder || r.turns, l.activitiesUnder || r.activities
	return r, pause
}

// make makes the looks of a round. A look for a turn may wait in the store if it is the only one. Activities need no
// such wait, as they come from turns, which ask for them.
func (l *looker) make(r *round) {
	var others sync.WaitGroup
	more := make([]bool, len(r.looks))
	for i, look := range r.looks[1:] {
		others.Go(func() { more[1+i], _ = l.lookFor(look, false) })
	}
	var err error
	more[0], err = l.lookFor(r.looks[0], len(r.looks) == 1 && !r.activities)
	others.Wait()
	r.more = !slices.Contains(more, false)
	if r.turns {
		l.turnsBackoff.Wait(l.ctx, err)
	} else {
		l.activitiesBackoff.Wait(l.ctx, err)
	}
}

// over notes what a round has found.
func (l *looker) over(r round) {
	if r.activities {
		l.activitiesUnder = false
	}
	if !r.turns {
		return
	}
	l.turnsUnder = false
	if l.found++; !r.more {
		l.most, l.found = 1, 0
	} else if l.found >= 3 {
		l.most = min(2*l.most, mostLooks)
	}
}

// lookFor makes a look, which may wait in the store. It reports whether there may well be more turns.
func (d *dispatcher) lookFor(l look, wait bool) (moreTurns bool, err error) {
	r := d.request(l.seats, l.turnsSeen, l.activitiesSeen)
	taken, err := d.takeFor(r, wait)
	for _, operation := range r.operations() {
		d.Outage.Observe(d.ctx, operation, err)
	}
	if err != nil {
		d.free(l.seats, true)
		return d.note(r, taken, err), err
	}
	moreTurns = d.note(r, taken, nil)
	d.start(l.seats, r, taken)
	return moreTurns, nil
}

// takeFor makes the call. It waits only for a turn.
func (d *dispatcher) takeFor(r request, wait bool) (provider.Claimed, error) {
	params, operation := r.params, r.operations()[0]
	if params.Turn == nil || !wait {
		defer d.Outage.Expect(d.ctx, operation, 0)()
		return d.Store.Claim(d.ctx, params)
	}
	params.Wait = d.pollTimeout()
	defer d.Outage.Expect(d.ctx, operation, params.Wait)()
	ctx, interrupt := context.WithCancel(d.ctx)
	defer interrupt()
	d.turns.waiting(interrupt)
	defer d.turns.waiting(nil)
	taken, err := d.Store.Claim(ctx, params)
	if err != nil && ctx.Err() != nil && d.ctx.Err() == nil {
		return provider.Claimed{}, nil // interrupted: there is something to look for
	}
	if err == nil && taken.Err == nil && taken.Turn == nil && !taken.Waited {
		d.turns.cannotWait()
	}
	return taken, err
}

// pollTimeout is how long a look may wait. After a failure it is short: a look that waits long for work would be as
// late to tell that the store is back.
func (d *dispatcher) pollTimeout() time.Duration {
	if d.Outage.Ongoing() {
		return min(d.PollTimeout, 100*time.Millisecond)
	}
	return d.PollTimeout
}
