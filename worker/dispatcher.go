package worker

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/outage"
)

// dispatcher finds work for the slots of a worker. Work
// comes with the acknowledgement of other work: a turn's commit brings the next turn, and
// activities for idle slots; that of activities brings the next ones, and a turn for an idle
// slot. What no acknowledgement brings is looked for, once for all free slots, when the
// store gives notice. Spare slots have work in hand that is short: see [pace].
type dispatcher struct {
	worker *Worker
	// ctx ends when nothing is to be taken any more, and work when what runs must stop.
	ctx, work  context.Context //nolint:containedctx // of the worker's run
	turns      *slots[*orchestrator]
	activities *slots[*activities]
	acks       *activityAcks
	// turnRunners run the turns.
	turnRunners *runners
}

// dispatch starts a dispatcher for the slots. stop ends the store's notices; it is called when all work has ended.
func (w *Worker) dispatch(ctx, work context.Context) (stop func()) {
	turns := w.turnSlots(0, max(0, w.options.OrchestrationConcurrency))
	activities := w.activitySlots(0, max(0, w.options.ActivityConcurrency))
	turnReady, workReady, stop := w.store.WorkReady()
	d := &dispatcher{
		worker: w, ctx: ctx, work: work,
		turns:      newSlots(turnReady, turns, w.turnSlots(len(turns), mostAhead)...),
		activities: newSlots(workReady, activities, w.activitySlots(len(activities), mostAhead)...),

		turnRunners: newRunners(&w.loops, ctx.Done()),
	}
	d.turns.quiet, d.turns.storeWaits = d.activities.allFree, true // until it is seen that the store cannot
	d.turns.patience = min(aheadPatience, w.options.OrchestrationLockTimeout/4)
	d.activities.patience = min(aheadPatience, w.options.ActivityLockTimeout/4)
	d.activities.unspared = w.sessions.used // whose slots must all look for what is in them
	d.acks = &activityAcks{dispatcher: d, apart: ackApart}
	w.sessions.freed = d.activities.notice
	if len(turns) > 0 {
		w.loops.Go(func() { d.look(outage.OpFetchTurn, d.turnsAwaited) }) //nolint:contextcheck // it has its own contexts
	}
	if len(activities) > 0 {
		w.loops.Go(func() { d.look(outage.OpFetchWork, d.activitiesAwaited) }) //nolint:contextcheck // as above
	}
	return stop
}

// mostLooks bounds the looks for turns at a time.
const mostLooks = 8

// look looks for work whenever await says for which slots: none at the end. A look finds one turn. When
// three in a row have found that there are more, two looks at a time follow, then four and eight: a store
// may commit together what comes together, and slots for which there is work do not stand idle.
func (d *dispatcher) look(operation string, await func(most int) []look) {
	backoff := outage.NewBackoff(d.worker.outage)
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
	d.worker.outage.Observe(d.ctx, operation, err)
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
func (d *dispatcher) takeFor(operation string, r request, wait bool) (provider.Taken, error) {
	params := r.params
	if params.Turn == nil || !wait {
		defer d.worker.outage.Expect(d.ctx, operation, 0)()
		return d.worker.store.Take(d.ctx, params)
	}
	params.Wait = d.worker.pollTimeout()
	defer d.worker.outage.Expect(d.ctx, operation, params.Wait)()
	ctx, interrupt := context.WithCancel(d.ctx)
	defer interrupt()
	d.turns.waiting(interrupt)
	defer d.turns.waiting(nil)
	taken, err := d.worker.store.Take(ctx, params)
	if err != nil && ctx.Err() != nil && d.ctx.Err() == nil {
		return provider.Taken{}, nil // interrupted: there is something to look for
	}
	if err == nil && taken.Err == nil && taken.Turn == nil && !taken.Waited {
		d.turns.cannotWait()
	}
	return taken, err
}

// pollTimeout is how long a fetch may wait. After a failure it is short: a fetch that
// waits long for work would be as late to tell that the store is back.
func (w *Worker) pollTimeout() time.Duration {
	if w.outage.Ongoing() {
		return min(w.options.PollTimeout, 100*time.Millisecond)
	}
	return w.options.PollTimeout
}

// look is a call that is made for nothing else than to take work.
type look struct {
	seats seats
	// seen counts the store's notices before the call.
	seen uint64
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

// startTurn runs a turn that was taken for a slot, nil if it waits no longer.
func (d *dispatcher) startTurn(o *orchestrator, fetched *provider.FetchedOrchestration) {
	start(d, d.turns, o, d.turnRunners.Go, func(o *orchestrator) { d.runTurn(o, fetched) },
		func() {
			d.handBack(anOrchestration, fetched.LockToken, d.worker.options.OrchestrationLockTimeout, d.worker.store.AbandonOrchestrationItem)
		})
}

// runTurn runs a turn on a slot that is free afterwards.
func (d *dispatcher) runTurn(o *orchestrator, fetched *provider.FetchedOrchestration) {
	began, lent := time.Now(), false
	t := o.decide(d.work, fetched, func() { lent = d.lend(o, began) })
	if lent {
		t.settle(new(claim))
		d.worker.lent.Add(-1)
		return
	}
	d.turns.ran(began)
	d.settle(o.kept, t, d.newClaim(seats{turn: o}, d.turns.called))
}

// lend frees the slot of a turn whose function blocks, so that it keeps only its own turn
// waiting. It reports false when too many turns are waited for already.
func (d *dispatcher) lend(o *orchestrator, began time.Time) bool {
	if !d.worker.lend() {
		return false
	}
	d.turns.ran(began)
	d.turns.put(false, o)
	return true
}

// startActivity is as startTurn.
func (d *dispatcher) startActivity(a *activities, fetched *provider.FetchedWorkItem) {
	d.worker.sessions.taken(fetched.Item)
	// On a goroutine of its own, as its function may change what belongs to one: that it is locked to
	// its thread, for instance.
	start(d, d.activities, a, d.worker.loops.Go, func(a *activities) {
		began := time.Now()
		c := a.decide(d.work, fetched)
		d.activities.ran(began)
		d.settle(a.kept, c, d.newClaim(seats{activities: []*activities{a}}, d.activities.called))
	}, func() {
		d.handBack(anActivity, fetched.LockToken, d.worker.options.ActivityLockTimeout, d.worker.store.AbandonWorkItem)
	})
}

// start runs what was taken for a slot, or on another free one if that waits no longer. What
// there is no slot for, or comes when the worker has to stop, is given back at once, and what
// other work keeps waiting a moment later.
func start[S any](d *dispatcher, all *slots[*S], slot *S, begin func(func()), run func(*S), handBack func()) {
	if slot == nil {
		if free, _ := all.reserve(1); len(free) > 0 {
			slot = free[0]
		}
	}
	begin(func() {
		if slot != nil && d.ctx.Err() == nil && all.run(d.ctx) {
			run(slot)
			return
		}
		handBack()
		if slot != nil {
			all.put(false, slot)
		}
	})
}

// handBack gives back what nobody has tried, again after each failure that may pass, as nobody
// has it otherwise before its lease ends. When the worker has to stop there is one try.
func (d *dispatcher) handBack(kind, token string, lease time.Duration, abandon func(context.Context, provider.AbandonParams) error) {
	s, stop := newSettling(d.ctx, lease, d.worker.outage, new(claim))
	defer stop()
	_, err := s.do(func(ctx context.Context) error {
		return abandon(ctx, provider.AbandonParams{LockToken: token, IgnoreAttempt: true})
	})
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		d.worker.options.Logger.WarnContext(d.ctx, "work could not be handed back, it returns when its lease ends", "kind", kind, "error", err)
	}
}

// settle settles a slot's work, which takes more work for the slot. The slot is free sooner if the store fails or does
// not answer.
func (d *dispatcher) settle(kept chan struct{}, work decided, c *claim) {
	kept <- struct{}{}
	defer func() { <-kept }()
	c.began = time.Now()
	patience := time.AfterFunc(settlePatience, c.release)
	defer patience.Stop()
	work.settle(c)
}
