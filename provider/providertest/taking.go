package providertest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// taking checks what a store promises that locks work in the call that commits (§5.23).
// Another store skips the scenarios. What ends several activities in one call is in
// taking_acks.go, what is told of work that is ready in taking_notices.go, and a Claim that waits
// in taking_waits.go.
func taking() category {
	scenarios := []scenario{
		{"what_is_ready_is_taken", takesWhatIsReady},
		{"without_entries_nothing_is_taken", takesNothingUnasked},
		{"never_waits", takesWithoutWaiting},
		{"turn_hands_on_what_it_made", turnHandsOn},
		{"completion_hands_on_its_turn", completionHandsOn},
		{"failed_ack_takes_nothing", failedAckTakesNothing},
		{"bad_entries_commit_nothing", badEntriesCommitNothing},
		{"ended_context_commits_nothing", endedContextTakesNothing},
		{"each_entry_by_its_own_terms", takesByEntry},
		{"turn_by_its_own_terms", takesTurnByTerms},
		{"work_by_code", takesByCode},
		{"sessions_are_claimed_for_their_owner", takesSessions},
		{"attempts_are_counted_and_leases_end", takesForALease},
		{"tokens_are_those_of_fetches", takesWithTokens},
		{"nothing_is_taken_twice", takesOnce},
	}
	scenarios = append(scenarios, endingTogether()...)
	scenarios = append(scenarios, takingNotices()...)
	scenarios = append(scenarios, takingWaits()...)
	return category{"taking", needing(scenarios)}
}

const (
	ruleTakes      = "§5.23 what is taken: one turn at most, and one activity at most for each entry of Work"
	ruleTakenNow   = "§5.23 what is taken: without waiting: PollTimeout is not used"
	ruleTakenTerms = "§5.23 what is taken: exactly as §5.1, and for each entry as §5.10, says; For is the index of the entry"
	ruleTakenMade  = "§5.23 what the call itself made: is seen"
	ruleAckFailed  = "§5.23 atomicity: when a turn's acknowledgement fails, nothing is taken and the call returns its error"
	ruleTakeArgs   = "§5.23 arguments: those of the taking are checked first: ErrInvalidArgument, and nothing is committed"
)

// aTurn takes a turn under a lease that does not end, and an activity for each entry.
func aTurn(entries ...provider.FetchWorkParams) provider.ClaimParams {
	return provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: held}, Work: entries}
}

// someWork takes an activity for each entry.
func someWork(entries ...provider.FetchWorkParams) provider.ClaimParams {
	return provider.ClaimParams{Work: entries}
}

// took checks that a call has taken without an error, and returns what.
func (e *env) took(taken provider.Claimed, err error) provider.Claimed {
	e.Helper()
	e.ok(err, ruleTakes)
	e.ok(taken.Err, ruleTakes)
	return taken
}

// take takes without committing anything.
func (e *env) take(params provider.ClaimParams) provider.Claimed {
	e.Helper()
	return e.took(e.full().Claim(e.ctx, params))
}

// gotWork asserts which activities were taken, in whatever order, each as entry:id.
func (e *env) gotWork(taken provider.Claimed, rule string, want ...string) {
	e.Helper()
	var got []string
	for _, work := range taken.Work {
		got = append(got, fmt.Sprintf("%d:%d", work.For, e.work(work.FetchedWorkItem).ID))
	}
	sameSet(e, got, want, rule)
}

// gotTurn asserts whose turn was taken, "" for none.
func (e *env) gotTurn(taken provider.Claimed, instance, rule string) {
	e.Helper()
	got := ""
	if taken.Turn != nil {
		got = taken.Turn.Item.Instance
	}
	e.check(got == instance, rule, "took a turn of %q, want %q", got, instance)
}

// An entry that finds nothing leaves what there is to the others.
func takesWhatIsReady(e *env) {
	e.createWithActivities("A", 2, 3, 4)
	e.enqueue(startItem("B"), startItem("C"))
	taken := e.take(aTurn(noSession(), noSession()))
	e.gotTurn(taken, "B", ruleTakes)
	e.batch(taken.Turn, ruleTakes, startItem("B"))
	e.gotWork(taken, ruleTakes, "0:2", "1:3")
	taken = e.take(someWork(e.onlyTags("gpu"), noSession(), noSession()))
	e.gotTurn(taken, "", ruleTakes)
	e.check(len(taken.Work) == 1 && e.work(taken.Work[0].FetchedWorkItem).ID == 4 && taken.Work[0].For > 0, ruleTakes,
		"took %s, want activity 4 for an entry that it fits", render(taken.Work))
	e.gotTurn(e.take(aTurn(noSession())), "C", ruleTakes)
	taken = e.take(aTurn(noSession()))
	e.gotTurn(taken, "", ruleTakes)
	e.gotWork(taken, ruleTakes)
}

func takesNothingUnasked(e *env) {
	e.createWithActivities("A", 2)
	e.enqueue(startItem("B"))
	for range 2 {
		taken := e.take(provider.ClaimParams{})
		e.gotTurn(taken, "", ruleTakes)
		e.gotWork(taken, ruleTakes)
	}
	taken := e.took(e.full().AckTurnAndClaim(e.ctx, turnOf(e.fetchInstance("B", held), provider.AckOrchestrationParams{}), provider.ClaimParams{}))
	e.gotTurn(taken, "", ruleTakes)
	e.gotWork(taken, ruleTakes)
	same(e, e.fetchWork(held).AttemptCount, 1, ruleTakes)
}

func takesWithoutWaiting(e *env) {
	params := aTurn(noSession())
	wait := 4 * e.lease
	params.Turn.PollTimeout, params.Work[0].PollTimeout = wait, wait
	took := fastest(3, func() { e.take(params) })
	e.check(took < wait/2, ruleTakenNow, "a call that found nothing took %v", took)
}

// A turn queues activities and starts an instance, which the call that commits it takes.
func turnHandsOn(e *env) {
	e.create("A")
	e.wake("A")
	turn := turnOf(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		WorkerItems:       []provider.WorkItem{activityItem("A", 2), activityItem("A", 3), activityItem("A", 4)},
		OrchestratorItems: []provider.WorkItem{startItem("B")},
	})
	taken := e.took(e.full().AckTurnAndClaim(e.ctx, turn, aTurn(noSession(), noSession())))
	e.gotTurn(taken, "B", ruleTakenMade)
	e.check(len(taken.Work) == 2, ruleTakenMade, "took %d activities of the 3 that the turn queued, want 2", len(taken.Work))
	e.fetchWork(held)
	e.fetchNoWork(noSession(), ruleTakenMade)
}

// An activity's result makes its instance ready, whose turn the same call takes.
func completionHandsOn(e *env) {
	e.createWithActivities("A", 2, 3)
	work := e.fetchWork(held)
	taken := e.ackAndTake(aTurn(noSession()), ackOf(work, completedItem("A", 2)))
	e.gotTurn(taken, "A", ruleTakenMade)
	e.batch(taken.Turn, ruleTakenMade, completedItem("A", 2))
	e.gotWork(taken, ruleTakes, "0:3")
}

// Whatever a turn's acknowledgement fails for, what is ready stays so, at its first attempt.
func failedAckTakesNothing(e *env) {
	e.create("A")
	e.wake("A")
	turn := e.fetchInstance("A", held)
	e.enqueueWork(activityItem("A", 3))
	e.enqueue(startItem("B"))
	twice := turnOf(turn, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{started("A", 1)}})
	unknown := provider.AckOrchestrationParams{LockToken: "no token", ExecutionID: 1}
	for name, c := range map[string]struct {
		ack  provider.AckOrchestrationParams
		want error
	}{
		"a turn without lock":        {unknown, provider.ErrInvalidLockToken},
		"a turn with an event twice": {twice, provider.ErrDuplicateEvent},
	} {
		taken, err := e.full().AckTurnAndClaim(e.ctx, c.ack, aTurn(noSession()))
		e.permanent(err, c.want, ruleAckFailed)
		e.check(taken.Turn == nil && len(taken.Work) == 0, ruleAckFailed, "%s: took %s", name, render(taken))
	}
	left := e.tryFetch(held)
	e.check(left != nil && left.Item.Instance == "B" && left.AttemptCount == 1, ruleAckFailed, "fetched %s, want B at its first attempt", render(left))
	same(e, e.claim(noSession(), 3, ruleAckFailed).AttemptCount, 1, ruleAckFailed)
}

// Leases that are not positive are found before anything else, a bad token included.
func badEntriesCommitNothing(e *env) {
	e.createWithActivities("A", 2)
	work := e.fetchWork(held)
	e.wake("A")
	turn := turnOf(e.fetchInstance("A", held), provider.AckOrchestrationParams{})
	e.enqueueWork(activityItem("A", 3))
	bad := aTurn()
	bad.Turn.LockTimeout = 0
	for name, params := range map[string]provider.ClaimParams{
		"turn":       bad,
		"activity":   aTurn(noSession(), provider.FetchWorkParams{}),
		"no session": someWork(ownerFor("ann", held, -time.Second)),
	} {
		_, err := e.full().Claim(e.ctx, params)
		e.permanent(err, provider.ErrInvalidArgument, ruleTakeArgs)
		for _, token := range []string{work.LockToken, "no token"} {
			ack := provider.WorkAck{LockToken: token, Completion: completedItem("A", 2)}
			_, _, err = e.full().AckWorkAndClaim(e.ctx, []provider.WorkAck{ack}, params)
			e.permanent(err, provider.ErrInvalidArgument, ruleTakeArgs)
		}
		for _, token := range []string{turn.LockToken, "no token"} {
			params, ack := params, turn
			ack.LockToken = token
			_, err = e.full().AckTurnAndClaim(e.ctx, ack, params)
			e.permanent(err, provider.ErrInvalidArgument, ruleTakeArgs)
		}
		e.ok(e.p.RenewWorkItemLock(e.ctx, work.LockToken, held), ruleTakeArgs+", with a bad "+name)
		e.ok(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, held), ruleTakeArgs+", with a bad "+name)
	}
	same(e, e.claim(noSession(), 3, ruleTakeArgs).AttemptCount, 1, ruleTakeArgs)
}

func endedContextTakesNothing(e *env) {
	e.createWithActivities("A", 2, 3)
	work := e.fetchWork(held)
	e.wake("A")
	turn := turnOf(e.fetchInstance("A", held), provider.AckOrchestrationParams{})
	for name, call := range map[string]func(ctx context.Context) error{
		"Claim": func(ctx context.Context) error {
			_, err := e.full().Claim(ctx, aTurn(noSession()))
			return err
		},
		"AckTurnAndClaim": func(ctx context.Context) error {
			_, err := e.full().AckTurnAndClaim(ctx, turn, aTurn(noSession()))
			return err
		},
		"AckWorkAndClaim": func(ctx context.Context) error {
			_, _, err := e.full().AckWorkAndClaim(ctx, []provider.WorkAck{ackOf(work, completedItem("A", 2))}, aTurn(noSession()))
			return err
		},
	} {
		for _, ctx := range endedContexts(e.ctx) {
			e.contextEnded(ctx, call(ctx), name)
		}
	}
	same(e, e.claim(noSession(), 3, ruleCancelledContext).AttemptCount, 1, ruleCancelledContext)
	e.ackWork(work)
	e.ack(turn)
}

// Tags and sessions are each entry's own, and For says for which it was taken.
func takesByEntry(e *env) {
	e.enqueueWork(plain(2), tagged("gpu", 3), inSession("s", 4), tagged("cpu", 5), tagged("cpu", 6))
	taken := e.take(someWork(e.onlyTags("gpu"), filtered(provider.NoActivities()), e.onlyTags("cpu"), e.onlyTags("none")))
	e.gotWork(taken, ruleTakenTerms, "0:3", "2:5")
	taken = e.take(someWork(e.onlyTags("gpu"), noSession(), owner("ann"), noSession(), e.onlyTags("cpu")))
	e.gotWork(taken, ruleTakenTerms, "1:2", "2:4", "4:6")
}

// The filter of framework versions, and the histories that the caller holds.
func takesTurnByTerms(e *env) {
	e.createPinned("old", v(1, 0, 0))
	e.createPinned("new", v(2, 0, 0))
	e.wake("old", "new")
	params := aTurn()
	params.Turn.Filter = &provider.CapabilityFilter{}
	e.gotTurn(e.take(params), "", ruleTakenTerms)
	params.Turn.Filter = only(v(2, 0, 0), v(2, 9, 0))
	taken := e.take(params)
	e.gotTurn(taken, "new", ruleTakenTerms)
	e.sameEvents(taken.Turn.Item.History, []provider.Event{started("new", 1)}, ruleTakenTerms)
	e.gotTurn(e.take(params), "", ruleTakenTerms)
	same(e, e.fetchInstance("old", held).AttemptCount, 1, ruleTakenTerms)
}

// A set of code selects turns and activities as it does in a fetch.
func takesByCode(e *env) {
	e.full()
	e.enqueue(startOf("x", "X", ""), startOf("a", "A", ""))
	e.enqueueWork(activityOf("X", 2), activityOf("A", 3), activityOf("B", 4))
	params := aTurn(knownWork(knows("A")), knownWork(knows("B")))
	params.Turn.Known = knows("A")
	taken := e.take(params)
	e.gotTurn(taken, "a", ruleTakenTerms)
	e.gotWork(taken, ruleTakenTerms, "0:3", "1:4")
	taken = e.take(params)
	e.gotTurn(taken, "", ruleTakenTerms)
	e.gotWork(taken, ruleTakenTerms)
}

// A session that an entry claims belongs to its owner, like one that a fetch claims.
func takesSessions(e *env) {
	e.enqueueWork(inSession("s", 2), inSession("s", 3), inSession("t", 4))
	taken := e.take(someWork(owner("ann"), owner("bob")))
	e.gotWork(taken, ruleTakenTerms, "0:2", "1:4")
	e.fetchNoWork(owner("bob"), ruleForeign)
	e.claim(owner("ann"), 3, ruleOwned)
	e.renewSessions(1, ruleRenewed, held, forever, "ann")
}

func takesForALease(e *env) {
	e.createWithActivities("A", 2)
	e.enqueue(startItem("B"))
	params := aTurn(provider.FetchWorkParams{LockTimeout: e.lease})
	params.Turn.LockTimeout = e.lease
	for attempt := range uint32(3) {
		taken := e.take(params)
		e.gotTurn(taken, "B", ruleTakenTerms)
		e.gotWork(taken, ruleTakenTerms, "0:2")
		same(e, taken.Turn.AttemptCount, attempt+1, ruleTakenTerms)
		same(e, taken.Work[0].AttemptCount, attempt+1, ruleTakenTerms)
		e.fetchNone(ruleTakenTerms)
		e.expire()
	}
}

// What was taken is renewed, abandoned and acknowledged like what was fetched, by the
// combined calls as well.
func takesWithTokens(e *env) {
	e.createWithActivities("A", 2, 3)
	e.enqueue(startItem("B"))
	params := aTurn(noSession(), noSession())
	taken := e.take(params)
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, taken.Turn.LockToken, held), ruleTakenTerms)
	e.abandon(taken.Turn, 0, true)
	for _, work := range taken.Work {
		e.ok(e.p.RenewWorkItemLock(e.ctx, work.LockToken, held), ruleTakenTerms)
		e.abandonWork(work.FetchedWorkItem, 0, true)
	}
	taken = e.take(params)
	same(e, taken.Turn.AttemptCount, 1, ruleTakenTerms)
	e.commit(taken.Turn, provider.AckOrchestrationParams{Metadata: created(), HistoryDelta: []provider.Event{started("B", 1)}})
	e.ackWork(taken.Work[0].FetchedWorkItem)
	taken = e.ackAndTake(aTurn(), ackOf(taken.Work[1].FetchedWorkItem, nil))
	e.gotTurn(taken, "A", ruleTakenTerms)
	e.took(e.full().AckTurnAndClaim(e.ctx, turnOf(taken.Turn, provider.AckOrchestrationParams{}), provider.ClaimParams{}))
	e.fetchNone(ruleTakenTerms)
	e.fetchNoWork(noSession(), ruleTakenTerms)
}

// Combined calls and fetches side by side: every turn and every activity goes to one.
func takesOnce(e *env) {
	const instances, each = 20, 5
	var turns, works [instances * each]atomic.Int32
	var done atomic.Int32
	for i := range instances {
		e.enqueue(startItem(instanceNumber(i)))
	}
	gotTurn := func(turn *provider.FetchedOrchestration) (ack provider.AckOrchestrationParams, err error) {
		i := numberOf(turn.Item.Instance)
		if turns[i].Add(1) > 1 || turn.AttemptCount != 1 {
			return ack, violation(ruleExclusive, "a turn of %s was taken twice", turn.Item.Instance)
		}
		for id := range uint64(each) {
			ack.WorkerItems = append(ack.WorkerItems, activityItem(turn.Item.Instance, id))
		}
		return turnOf(turn, ack), nil
	}
	gotWork := func(work *provider.FetchedWorkItem) error {
		item := work.Item.(provider.ActivityExecuteItem)
		if works[numberOf(item.Instance)*each+int(item.ID)].Add(1) > 1 || work.AttemptCount != 1 {
			return violation(rulePeekLock, "activity %d of %s was taken twice", item.ID, item.Instance)
		}
		done.Add(1)
		return nil
	}
	e.loops(8, ruleTakes, func() bool { return done.Load() >= instances*each }, func(i int) (bool, error) {
		if i%4 == 3 {
			work, err := e.grabWork(e.p, held)
			if work != nil {
				err = gotWork(work)
			}
			return work != nil, err
		}
		params := aTurn(noSession(), noSession())
		var taken provider.Claimed
		err := patiently(func() (err error) { taken, err = e.full().Claim(e.ctx, params); return err })
		busy := false
		for err == nil {
			for _, work := range taken.Work {
				busy = true
				if err := gotWork(work.FetchedWorkItem); err != nil {
					return false, err
				}
			}
			if taken.Turn == nil {
				return busy, nil
			}
			busy = true
			var ack provider.AckOrchestrationParams
			if ack, err = gotTurn(taken.Turn); err == nil {
				err = patiently(func() (err error) { taken, err = e.full().AckTurnAndClaim(e.ctx, ack, params); return err })
			}
		}
		return false, err
	})
	same(e, done.Load(), instances*each, ruleTakes)
}
