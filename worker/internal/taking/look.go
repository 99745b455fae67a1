package taking

import (
	"context"
	"math"
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
	// seen counts the store's notices before the call.
	seen uint64
}

// look looks for work whenever await says for which slots: none at the end. A look finds one turn. When
// three in a row have found that there are more, two looks at a time follow, then four and eight: a store
// may commit together what comes together, and slots for which there is work do not stand idle.
func (d *dispatcher) look(operation string, await func(most int) []look) {
	backoff := outage.NewBackoff(d.Outage)
	most, found := 1, 0
	for looks := await(most); len(looks) > 0; looks = await(most) {
		var others sync.WaitGroup
		more := make([]bool, len(looks))
		for i, l := range looks[1:] {
			others.Go(func() { more[1+i], _ = d.lookFor(operation, l, false) })
		}
		var err error
		more[0], err = d.lookFor(operation, looks[0], len(looks) == 1)
		others.Wait()
		if found++; slices.Contains(more, false) {
			most, found = 1, 0
		} else if found >= 3 {
			most = min(2*most, mostLooks)
		}
		backoff.Wait(d.ctx, err)
	}
}

// lookFor makes a look, which may wait in the store. It reports whether there may well be more turns.
func (d *dispatcher) lookFor(operation string, l look, wait bool) (moreTurns bool, err error) {
	r := d.request(l.seats, l.seen, l.seen)
	taken, err := d.takeFor(operation, r, wait)
	d.Outage.Observe(d.ctx, operation, err)
	if err != nil {
		d.free(l.seats, true)
		return d.note(r, taken, err), err
	}
	moreTurns = d.note(r, taken, nil)
	d.start(l.seats, r, taken)
	return moreTurns, nil
}

// takeFor makes the call. One for a turn may wait in the store if the store can. Activities need no such wait, as
// they come from turns, which ask for them.
func (d *dispatcher) takeFor(operation string, r request, wait bool) (provider.Claimed, error) {
	params := r.params
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

func (d *dispatcher) turnsAwaited(most int) (looks []look) {
	free, seen := d.turns.await(d.ctx, most)
	for _, slot := range free {
		looks = append(looks, look{seats{turn: slot}, seen})
	}
	return looks
}

func (d *dispatcher) activitiesAwaited(int) []look {
	free, seen := d.activities.await(d.ctx, math.MaxInt)
	if len(free) == 0 {
		return nil
	}
	return []look{{seats{activities: free}, seen}}
}
