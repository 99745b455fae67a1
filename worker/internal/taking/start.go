package taking

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// startTurn runs a turn that was taken for a slot, nil if it waits no longer.
func (d *dispatcher) startTurn(s *slot, fetched *provider.FetchedOrchestration) {
	d.run(d.turns, s, d.turnRunners.Go, func(s *slot) { d.runTurn(s, fetched) },
		func() { d.handBack("orchestration", fetched.LockToken, d.TurnLease, d.Store.AbandonOrchestrationItem) })
}

// runTurn runs a turn on a slot that is free afterwards.
func (d *dispatcher) runTurn(s *slot, fetched *provider.FetchedOrchestration) {
	began, lent := time.Now(), false
	turn := d.runner.RunTurn(d.work, s.id, fetched, func() { lent = d.lend(s, began) })
	if lent {
		turn.Settle(new(Claim))
		d.lent.Add(-1)
		return
	}
	d.turns.ran(began)
	d.settle(s, turn, d.newClaim(seats{turn: s}, d.turns.called))
}

// lentPerSlot is how many turns whose function is slow are waited for outside a slot.
const lentPerSlot = 32

// lend frees the slot of a turn whose function blocks, so that it keeps only its own turn
// waiting. It reports false when too many turns are waited for already.
func (d *dispatcher) lend(s *slot, began time.Time) bool {
	if int(d.lent.Add(1)) > lentPerSlot*d.Turns {
		d.lent.Add(-1)
		return false
	}
	d.turns.ran(began)
	d.turns.put(false, s)
	return true
}

// startActivity runs an activity that was taken for a slot, nil if it waits no longer.
func (d *dispatcher) startActivity(s *slot, fetched *provider.FetchedWorkItem) {
	d.Sessions.taken(fetched.Item)
	// On a goroutine of its own, as its function may change what belongs to one: that it is locked to
	// its thread, for instance.
	d.run(d.activities, s, d.Loops.Go, func(s *slot) { d.runActivity(s, fetched) },
		func() { d.handBack("activity", fetched.LockToken, d.ActivityLease, d.Store.AbandonWorkItem) })
}

// runActivity runs an activity on a slot that is free afterwards.
func (d *dispatcher) runActivity(s *slot, fetched *provider.FetchedWorkItem) {
	began := time.Now()
	call := d.runner.RunActivity(d.work, s.id, fetched)
	d.activities.ran(began)
	d.settle(s, call, d.newClaim(seats{activities: []*slot{s}}, d.activities.called))
}

// run runs what was taken for a slot, or on another free one if that waits no longer. What
// there is no slot for, or comes when the worker has to stop, is given back at once, and what
// other work keeps waiting a moment later.
func (d *dispatcher) run(all *slots[*slot], s *slot, begin func(func()), run func(*slot), handBack func()) {
	if s == nil {
		if free, _ := all.reserve(1); len(free) > 0 {
			s = free[0]
		}
	}
	begin(func() {
		if s != nil && d.ctx.Err() == nil && all.run(d.ctx) {
			run(s)
			return
		}
		handBack()
		if s != nil {
			all.put(false, s)
		}
	})
}

// handBack gives back what nobody has tried, again after each failure that may pass, as nobody
// has it otherwise before its lease ends. When the worker has to stop there is one try.
func (d *dispatcher) handBack(kind, token string, lease time.Duration, abandon func(context.Context, provider.AbandonParams) error) {
	s, stop := NewSettling(d.ctx, lease, d.Outage, new(Claim))
	defer stop()
	_, err := s.Do(func(ctx context.Context) error {
		return abandon(ctx, provider.AbandonParams{LockToken: token, IgnoreAttempt: true})
	})
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		d.Logger.WarnContext(d.ctx, "work could not be handed back, it returns when its lease ends", "kind", kind, "error", err)
	}
}

// settle settles a slot's work, which takes more work for the slot. The slot is free sooner if the store fails or does
// not answer.
func (d *dispatcher) settle(s *slot, work Decided, c *Claim) {
	s.kept <- struct{}{}
	defer func() { <-s.kept }()
	c.began = time.Now()
	patience := time.AfterFunc(settlePatience, c.release)
	defer patience.Stop()
	work.Settle(c)
}
