package providertest

import "github.com/duroxide/duroxide-go/provider"

// moreAttempts covers that a store counts attempts and draws no conclusion from them.
func moreAttempts() category {
	return category{"more attempts", []scenario{
		{"activity_is_delivered_without_end", workWithoutEnd},
		{"activity_whose_leases_end_is_delivered_without_end", workLeasesWithoutEnd},
		{"turn_is_delivered_without_end", turnsWithoutEnd},
	}}
}

const ruleNoLimit = "§1 (Poison): the runtime decides and fails the work; the provider only counts: " +
	"the eleventh delivery is like the first"

// manyAttempts is well beyond the runtime's limit of 10.
const manyAttempts = 30

// An activity that is given up comes back as often as it is given up.
func workWithoutEnd(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	for attempt := uint32(1); attempt <= manyAttempts; attempt++ {
		got := e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleNoLimit)
		same(e, got.AttemptCount, attempt, ruleNoLimit)
		e.abandonWork(got, 0, false)
	}
	e.ackWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleNoLimit))
	e.batch(e.fetchInstance("A", held), ruleNoLimit, completedItem("A", 2))
}

// So does one whose workers die.
func workLeasesWithoutEnd(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	for attempt := uint32(1); attempt <= 12; attempt++ {
		got := e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleNoLimit)
		same(e, got.AttemptCount, attempt, ruleNoLimit)
		e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, 1e6), "§5.12: locked_until = now + extendFor")
		e.tick()
	}
	e.ackWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleNoLimit))
	e.batch(e.fetchInstance("A", held), ruleNoLimit, completedItem("A", 2))
}

// So does a turn.
func turnsWithoutEnd(e *env) {
	e.enqueue(startItem("A"))
	for attempt := uint32(1); attempt <= manyAttempts; attempt++ {
		got := e.tryFetch(held)
		e.check(got != nil, ruleNoLimit, "attempt %d: nothing to fetch", attempt)
		same(e, got.AttemptCount, attempt, ruleNoLimit)
		e.batch(got, ruleNoLimit, startItem("A"))
		e.abandon(got, 0, false)
	}
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		Metadata: created(), HistoryDelta: []provider.Event{started("A", 1)},
	})
}
