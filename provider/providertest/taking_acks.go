package providertest

import (
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// endingTogether checks what a store promises that ends several activities in one call, and
// takes the next ones with it (§5.23).
func endingTogether() []scenario {
	return []scenario{
		{"each_acknowledgement_has_its_outcome", endsEach},
		{"failed_acknowledgements_take_all_the_same", failedEndsTake},
		{"completions_of_one_call_share_a_turn", endsShareATurn},
		{"without_acknowledgements_it_is_a_take", endsNothing},
		{"acknowledged_together_stamps_sessions", endsStampSessions},
		{"what_is_acknowledged_together_ends_once", endsOnce},
	}
}

const (
	ruleEndsEach = "§5.23 outcomes: one for each acknowledgement, in order, as §5.11 says; one that fails keeps no other from being committed"
	ruleEndsTake = "§5.23 outcomes: one that fails keeps nothing from being taken"
)

// ackOf ends an activity with a completion, nil for none.
func ackOf(work *provider.FetchedWorkItem, completion provider.WorkItem) provider.WorkAck {
	return provider.WorkAck{LockToken: work.LockToken, Completion: completion}
}

// ackAndTake ends activities and returns what was taken, all without an error.
func (e *env) ackAndTake(params provider.ClaimParams, acks ...provider.WorkAck) provider.Claimed {
	e.Helper()
	outcomes, taken, err := e.full().AckWorkAndClaim(e.ctx, acks, params)
	e.outcomes(outcomes, err, make([]error, len(acks)))
	return e.took(taken, nil)
}

// outcomes asserts what became of each acknowledgement.
func (e *env) outcomes(got []error, err error, want []error) {
	e.Helper()
	e.ok(err, ruleEndsEach)
	e.check(len(got) == len(want), ruleEndsEach, "%d outcomes of %d acknowledgements", len(got), len(want))
	for i, outcome := range got {
		if want[i] == nil {
			e.ok(outcome, ruleEndsEach)
		} else {
			e.permanent(outcome, want[i], ruleEndsEach)
		}
	}
}

// Leases that live, one that has ended, one that was used, one used twice in the call, tokens of
// nothing and of a turn, and a completion that is none.
func endsEach(e *env) {
	e.createWithActivities("A", 2, 3, 4, 5, 6)
	e.createWithActivities("B", 2)
	e.wake("A")
	turn := e.fetchInstance("A", held)
	done, first, bad, second, other := e.fetchWork(held), e.fetchWork(held), e.fetchWork(held), e.fetchWork(held), e.claim(noSession(), 6, ruleEndsEach)
	last := e.fetchWork(held)
	e.enqueueWork(activityItem("A", 7))
	late := e.fetchWork(e.lease)
	e.ackWork(done)
	e.expire()
	outcomes, _, err := e.full().AckWorkAndClaim(e.ctx, []provider.WorkAck{
		{LockToken: "no token", Completion: completedItem("A", 2)},
		ackOf(first, completedItem("A", 3)),
		ackOf(late, completedItem("A", 7)),
		ackOf(bad, startItem("C")),
		ackOf(second, completedItem("A", 5)),
		ackOf(done, completedItem("A", 2)),
		ackOf(second, completedItem("A", 5)),
		{LockToken: turn.LockToken, Completion: completedItem("A", 2)},
		ackOf(other, nil),
		ackOf(last, completedItem("B", 2)),
	}, provider.ClaimParams{})
	e.outcomes(outcomes, err, []error{
		provider.ErrInvalidLockToken, nil, provider.ErrLockExpired, provider.ErrInvalidArgument, nil,
		provider.ErrInvalidLockToken, provider.ErrInvalidLockToken, provider.ErrInvalidLockToken, nil, nil,
	})
	e.batch(e.fetchInstance("B", held), ruleEndsEach, completedItem("B", 2))
	e.drop(turn)
	e.batch(e.fetchInstance("A", held), ruleEndsEach, completedItem("A", 2), completedItem("A", 3), completedItem("A", 5))
	e.ok(e.p.RenewWorkItemLock(e.ctx, bad.LockToken, held), ruleEndsEach)
	same(e, e.claim(noSession(), 7, ruleEndsEach).AttemptCount, 2, ruleEndsEach)
	e.fetchNoWork(noSession(), ruleEndsEach)
}

// All acknowledgements fail, and what is ready is taken.
func failedEndsTake(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	late := e.fetchWork(e.lease)
	e.expire()
	e.ackWork(e.claim(noSession(), 2, ruleEndsTake))
	e.wake("A")
	e.drop(e.fetchInstance("A", held))
	e.enqueueWork(activityItem("A", 3))
	e.enqueue(startItem("B"))
	outcomes, taken, err := e.full().AckWorkAndClaim(e.ctx, []provider.WorkAck{
		ackOf(late, completedItem("A", 2)), {LockToken: "no token"},
	}, aTurn(noSession()))
	e.outcomes(outcomes, err, []error{provider.ErrInvalidLockToken, provider.ErrInvalidLockToken})
	e.took(taken, nil)
	e.gotTurn(taken, "B", ruleEndsTake)
	e.gotWork(taken, ruleEndsTake, "0:3")
}

// The turn that the call takes has what all of its completions bring.
func endsShareATurn(e *env) {
	e.createWithActivities("A", 2, 3, 4)
	a, b, c := e.fetchWork(held), e.fetchWork(held), e.fetchWork(held)
	taken := e.ackAndTake(aTurn(noSession()),
		ackOf(b, completedItem("A", 3)), ackOf(a, completedItem("A", 2)), ackOf(c, completedItem("A", 4)))
	e.gotTurn(taken, "A", ruleTakenMade)
	e.batch(taken.Turn, ruleTakenMade, completedItem("A", 3), completedItem("A", 2), completedItem("A", 4))
}

func endsNothing(e *env) {
	e.createWithActivities("A", 2)
	e.enqueue(startItem("B"))
	taken := e.ackAndTake(aTurn(noSession()))
	e.gotTurn(taken, "B", ruleTakes)
	e.gotWork(taken, ruleTakes, "0:2")
	taken = e.ackAndTake(provider.ClaimParams{})
	e.gotTurn(taken, "", ruleTakes)
	e.gotWork(taken, ruleTakes)
}

// An activity's end counts as its session's activity, in whatever company.
func endsStampSessions(e *env) {
	stamps(e, 1, "§5.23 outcomes: a session is stamped as §5.11 says", func(got *provider.FetchedWorkItem) {
		outcomes, _, err := e.full().AckWorkAndClaim(e.ctx, []provider.WorkAck{{LockToken: "no token"}, ackOf(got, nil)}, provider.ClaimParams{})
		e.outcomes(outcomes, err, []error{provider.ErrInvalidLockToken, nil})
	})
}

// Many loops end the same activities at once, several in a call and in opposite orders: each ends
// for one of them, and is completed once.
func endsOnce(e *env) {
	const n, loops = 40, 6
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i) + 2
	}
	e.createWithActivities("A", ids...)
	acks := make([]provider.WorkAck, n)
	for i := range acks {
		work := e.fetchWork(held)
		acks[i] = ackOf(work, completedItem("A", e.work(work).ID))
	}
	var ended atomic.Int32
	var next [loops]int
	e.loops(loops, ruleEndsEach, func() bool { return ended.Load() >= n }, func(i int) (bool, error) {
		const together = 4
		from := next[i]
		if i%2 == 1 {
			from = n - together - from
		}
		next[i] = (next[i] + together) % n
		var outcomes []error
		err := patiently(func() (err error) {
			outcomes, _, err = e.full().AckWorkAndClaim(e.ctx, acks[from:from+together], provider.ClaimParams{})
			return err
		})
		for _, outcome := range outcomes {
			if outcome == nil {
				ended.Add(1)
			}
		}
		return true, err
	})
	same(e, ended.Load(), n, ruleEndsEach)
	turn := e.fetchInstance("A", held)
	same(e, len(turn.Item.Messages), n, ruleEndsEach)
	e.fetchNoWork(noSession(), ruleEndsEach)
}
