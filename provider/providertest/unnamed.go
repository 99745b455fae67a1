package providertest

import "github.com/duroxide/duroxide-go/provider"

// unnamed is about fetches that name no code, on a store on which others name theirs.
func unnamed() []scenario {
	return []scenario{
		{"fetch_without_names_leaves_alone_what_others_named", unnamedLeavesNamed},
		{"fetch_without_names_sees_what_another_handle_named", unnamedSeesOtherHandle},
		{"taking_without_names_leaves_alone_what_others_named", unnamedTakesNothingNamed},
		{"attempts_without_names_do_not_count_for_names", unnamedAttempts},
		{"attempt_without_names_is_given_back", unnamedGivenBack},
	}
}

const (
	ruleLeaves  = "§5.20 Known nil: a fetch leaves alone what another fetch has named in the last 75 seconds"
	ruleRest    = "§5.20 Known nil: everything else is taken, in the order of §5.1 and §5.10"
	ruleUnnamed = "§5.20 Attempts: for a fetch with Known, fetches without it do not count"
)

// enqueueNamed queues turns and activities of A, which somebody names, between those of X and any.
func (e *env) enqueueNamed() {
	e.Helper()
	e.enqueue(startOf("a", "A", ""), startOf("x", "X", ""), startOf("a1", "A", "1"), startOf("a2", "A", "2"))
	e.enqueueWork(activityOf("A", 2), activityOf("X", 3), inSession("s", 4), activityOf("A", 5))
}

// leavesNamed asserts that fetches without names get what is neither A, A@1 nor Charge, and nothing else.
func (e *env) leavesNamed() {
	e.Helper()
	e.admits(nil, "x", ruleRest)
	e.admits(nil, "a2", ruleRest)
	e.refuses(nil, ruleLeaves)
	e.claim(owner("w"), 3, ruleRest)
	e.fetchNoWork(owner("w"), ruleLeaves)
	e.fetchNoWork(filtered(provider.AnyTag()), ruleLeaves)
}

// What nobody has named is there for all. What somebody has named waits for its first attempt by those who name it.
func unnamedLeavesNamed(e *env) {
	e.refuses(knows("A@1", "B"), ruleAdmitted)
	e.fetchNoWork(knownWork(knows("A", "Charge")), ruleAdmitted)
	e.enqueueNamed()
	e.leavesNamed()
	for _, instance := range []string{"a", "a1"} {
		same(e, e.admits(knows("A@1"), instance, ruleAdmittedIn).AttemptCount, 1, ruleNotAdmitted)
	}
	params := owner("w")
	params.Known = knows("A", "Charge")
	for _, id := range []uint64{2, 4, 5} {
		same(e, e.claim(params, id, ruleAdmittedIn).AttemptCount, 1, ruleNotAdmitted)
	}
}

// What is named through one handle on the store is left alone through another.
func unnamedSeesOtherHandle(e *env) {
	other := e.reopen()
	e.refuses(nil, ruleNothing)
	e.enqueueNamed()
	got, err := other.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: held, Known: knows("A@1")})
	e.ok(err, ruleSeen)
	e.check(got != nil && got.Item.Instance == "a", ruleAdmitted, "fetched %s, want \"a\"", render(got))
	params := knownWork(knows("A", "Charge"))
	work, err := other.FetchWorkItem(e.ctx, params)
	e.ok(err, ruleSeen)
	e.check(work != nil && e.work(work).ID == 2, ruleAdmitted, "fetched %v, want activity 2", work)
	e.leavesNamed()
}

// The same holds for Claim.
func unnamedTakesNothingNamed(e *env) {
	taker := e.full()
	take := func() provider.Claimed {
		taken, err := taker.Claim(e.ctx, provider.ClaimParams{
			Turn: &provider.FetchOrchestrationParams{LockTimeout: held}, Work: []provider.FetchWorkParams{owner("w")},
		})
		e.ok(err, ruleRest)
		return taken
	}
	e.refuses(knows("A@1", "A@2"), ruleAdmitted)
	e.fetchNoWork(knownWork(knows("A", "Charge")), ruleAdmitted)
	e.enqueueNamed()
	taken := take()
	e.check(taken.Turn != nil && taken.Turn.Item.Instance == "x", ruleRest, "took %s, want \"x\"", render(taken.Turn))
	e.check(len(taken.Work) == 1 && e.work(taken.Work[0].FetchedWorkItem).ID == 3, ruleRest, "took %v, want activity 3", taken.Work)
	taken = take()
	e.check(taken.Turn == nil && len(taken.Work) == 0, ruleLeaves, "took %s and %v", render(taken.Turn), taken.Work)
}

// A node without names that has put work back, or lost it, as often as makes poison, leaves none of it to the worker
// that comes with the code. The worker's own attempts count.
func unnamedAttempts(e *env) {
	e.enqueue(startOf("a", "A", "1"))
	e.enqueueWork(activityOf("A", 2))
	const many = 11
	for attempt := uint32(1); attempt <= many; attempt++ {
		got := e.admits(nil, "a", ruleRest)
		same(e, got.AttemptCount, attempt, ruleCounts)
		e.abandon(got, 0, false)
		work := e.fetchWork(held)
		same(e, work.AttemptCount, attempt, ruleWorkCount)
		e.abandonWork(work, 0, false)
	}
	e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: e.lease})
	e.fetchWork(e.lease)
	e.expire()
	for attempt := uint32(1); attempt <= 2; attempt++ {
		got := e.admits(knows("A@1"), "a", ruleAdmitted)
		same(e, got.AttemptCount, attempt, ruleUnnamed)
		e.abandon(got, 0, false)
		work := e.claim(knownWork(knows("A")), 2, ruleAdmitted)
		same(e, work.AttemptCount, attempt, ruleUnnamed)
		e.abandonWork(work, 0, false)
	}
}

// IgnoreAttempt takes back the attempt of the fetch, and no other.
func unnamedGivenBack(e *env) {
	e.enqueue(startOf("a", "A", "1"))
	e.enqueueWork(activityOf("A", 2))
	e.abandon(e.admits(nil, "a", ruleRest), 0, false)
	e.abandonWork(e.fetchWork(held), 0, false)
	for range 2 {
		got := e.admits(nil, "a", ruleRest)
		same(e, got.AttemptCount, 2, ruleGiveBack)
		e.release(got)
		work := e.fetchWork(held)
		same(e, work.AttemptCount, 2, ruleWorkBack)
		e.abandonWork(work, 0, true)
	}
	for range 2 {
		got := e.admits(knows("A@1"), "a", ruleAdmitted)
		same(e, got.AttemptCount, 1, ruleUnnamed)
		e.release(got)
		work := e.claim(knownWork(knows("A")), 2, ruleAdmitted)
		same(e, work.AttemptCount, 1, ruleUnnamed)
		e.abandonWork(work, 0, true)
	}
}
