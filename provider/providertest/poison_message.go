package providertest

import "github.com/duroxide/duroxide-go/provider"

// poisonMessage checks the attempt counts from which the runtime tells that a
// message cannot be processed. The store draws no conclusion from them.
func poisonMessage() category {
	return category{"poison message", []scenario{
		{"orchestration_attempt_count_starts_at_one", attemptsStartAtOne},
		{"orchestration_attempt_count_increments_on_refetch", attemptsGrow},
		{"worker_attempt_count_starts_at_one", workAttemptsStartAtOne},
		{"worker_attempt_count_increments_on_lock_expiry", workAttemptsGrow},
		{"attempt_count_is_per_message", attemptsArePerMessage},
		{"abandon_work_item_ignore_attempt_decrements", workAttemptGivenBack},
		{"abandon_orchestration_item_ignore_attempt_decrements", attemptGivenBack},
		{"ignore_attempt_never_goes_negative", attemptsStopAtZero},
		{"max_attempt_count_across_message_batch", attemptsOfABatch},
		{"orchestration_ignore_attempt_preserves_hidden_start", hiddenStartKeepsItsAttempts},
		{"orchestration_delayed_abandon_preserves_unlocked_rows", delayOfTheBatchAlone},

		{"activity_is_delivered_without_end", workWithoutEnd},
		{"activity_whose_leases_end_is_delivered_without_end", workLeasesWithoutEnd},
		{"turn_is_delivered_without_end", turnsWithoutEnd},
	}}
}

const (
	ruleFirst     = "§5.1 step 9: first delivery reports 1"
	ruleCounts    = "§5.1 step 7: for every visible message: attempt_count += 1"
	ruleWorkCount = "§5.10 step 6: lock: attempt_count += 1"
	ruleGiveBack  = "§5.3: ignoreAttempt: batch rows: attempt_count = max(0, attempt_count − 1)"
	ruleWorkBack  = "§5.13: ignoreAttempt: attempt_count = max(0, attempt_count − 1)"
	ruleScope     = "§5.3: MUST touch exactly the rows carrying this token: neither hidden rows nor rows that came after the fetch"
	ruleMaximum   = "§5.1 step 9: maximum attempt_count over the batch after the increment"
	ruleNoLimit   = "§1 (Poison): the runtime decides and fails the work; the provider only counts: " +
		"the eleventh delivery is like the first"
)

// A message's first delivery is attempt 1, for a start and for any later turn.
func attemptsStartAtOne(e *env) {
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	same(e, got.AttemptCount, 1, ruleFirst)
	e.commit(got, provider.AckOrchestrationParams{Metadata: created()})
	e.enqueue(raised("A", "go"))
	same(e, e.fetchInstance("A", held).AttemptCount, 1, ruleFirst)
}

// Each further fetch counts, after an abandon and after a lost lease alike; a
// fetch that finds nothing does not.
func attemptsGrow(e *env) {
	e.enqueue(startItem("A"))
	for want := uint32(1); want <= 3; want++ {
		got := e.fetchInstance("A", held)
		same(e, got.AttemptCount, want, ruleCounts)
		e.fetchNone(ruleExclusive)
		e.abandon(got, 0, false)
	}
	for want := uint32(4); want <= 5; want++ {
		same(e, e.fetchInstance("A", e.lease).AttemptCount, want, ruleCounts)
		e.expire()
	}
	same(e, e.fetchInstance("A", held).AttemptCount, 6, ruleCounts)
}

// An activity's first delivery is attempt 1, queued directly or by a turn.
func workAttemptsStartAtOne(e *env) {
	e.enqueueWork(activityItem("A", 2))
	same(e, e.fetchWork(held).AttemptCount, 1, "§5.10 step 9: first delivery = 1")
	e.createWith("B", provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{activityItem("B", 2)}})
	same(e, e.fetchWork(held).AttemptCount, 1, "§5.10 step 9: first delivery = 1")
}

// Each lost lease and each abandon of an activity leads to one attempt more.
func workAttemptsGrow(e *env) {
	e.enqueueWork(activityItem("A", 2))
	for want := uint32(1); want <= 2; want++ {
		same(e, e.fetchWork(e.lease).AttemptCount, want, ruleWorkCount)
		e.expire()
	}
	for want := uint32(3); want <= 4; want++ {
		got := e.fetchWork(held)
		same(e, got.AttemptCount, want, ruleWorkCount)
		e.abandonWork(got, 0, false)
	}
}

// One message's attempts say nothing about another's: not of other instances or
// activities, not of the same instance's next message.
func attemptsArePerMessage(e *env) {
	e.enqueue(startItem("A"), startItem("B"))
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	for range 2 {
		e.abandon(e.fetchInstance("A", held), 0, false)
		e.abandonWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO), 0, false)
	}
	a := e.fetchInstance("A", held)
	same(e, a.AttemptCount, 3, ruleCounts)
	same(e, e.fetchInstance("B", held).AttemptCount, 1, ruleFirst)
	same(e, e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO).AttemptCount, 3, ruleWorkCount)
	same(e, e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, ruleFIFO).AttemptCount, 1, ruleWorkCount)
	e.commit(a, provider.AckOrchestrationParams{Metadata: created()})
	e.enqueue(raised("A", "go"))
	same(e, e.fetchInstance("A", held).AttemptCount, 1, ruleFirst)
}

// An activity abandoned with ignoreAttempt is delivered with the same count
// again, with and without a delay.
func workAttemptGivenBack(e *env) {
	e.enqueueWork(activityItem("A", 2))
	e.abandonWork(e.fetchWork(held), 0, false)
	got := e.fetchWork(held)
	same(e, got.AttemptCount, 2, ruleWorkCount)
	e.abandonWork(got, 0, true)
	got = e.fetchWork(held)
	same(e, got.AttemptCount, 2, ruleWorkBack)
	e.abandonWork(got, e.lease, true)
	same(e, e.awaitWork(held, ruleWorkAbandon).AttemptCount, 2, ruleWorkBack)
}

// A turn abandoned with ignoreAttempt is delivered with the same count again,
// with and without a delay.
func attemptGivenBack(e *env) {
	e.enqueue(startItem("A"), raised("A", "go"))
	e.abandon(e.fetchInstance("A", held), 0, false)
	got := e.fetchInstance("A", held)
	same(e, got.AttemptCount, 2, ruleCounts)
	e.abandon(got, 0, true)
	got = e.fetchInstance("A", held)
	same(e, got.AttemptCount, 2, ruleGiveBack)
	e.abandon(got, e.lease, true)
	same(e, e.awaitFetch(held, "§5.3: visible_at = now + delay").AttemptCount, 2, ruleGiveBack)
}

// Attempts given back again and again never fall below zero: the next delivery
// is always attempt 1, and each that counts adds one.
func attemptsStopAtZero(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	for range 4 {
		turn, work := e.fetchInstance("A", held), e.fetchWork(held)
		same(e, turn.AttemptCount, 1, ruleGiveBack)
		same(e, work.AttemptCount, 1, ruleWorkBack)
		e.abandon(turn, 0, true)
		e.abandonWork(work, 0, true)
	}
	e.abandon(e.fetchInstance("A", held), 0, false)
	e.abandonWork(e.fetchWork(held), 0, false)
	same(e, e.fetchInstance("A", held).AttemptCount, 2, ruleCounts)
	same(e, e.fetchWork(held).AttemptCount, 2, ruleWorkCount)
}

// A batch reports the largest count of its messages, wherever in it that is.
func attemptsOfABatch(e *env) {
	e.create("A")
	e.enqueueLater(raised("A", "first but late"), e.lease)
	e.enqueue(raised("A", "often"))
	for range 2 {
		e.abandon(e.fetchInstance("A", held), 0, false)
	}
	e.expire()
	e.enqueue(raised("A", "last"))
	got := e.fetchInstance("A", held)
	e.batch(got, "§5.1: message order: row id", raised("A", "first but late"), raised("A", "often"), raised("A", "last"))
	same(e, got.AttemptCount, 3, ruleMaximum)
	e.abandon(got, 0, true)
	same(e, e.fetchInstance("A", held).AttemptCount, 3, ruleMaximum)
}

// An abandon gives attempts back to its own batch: a hidden start keeps its two.
func hiddenStartKeepsItsAttempts(e *env) {
	e.create("A")
	again := startItem("A")
	e.enqueue(again)
	e.abandon(e.fetchInstance("A", held), 0, false)
	e.abandon(e.fetchInstance("A", held), e.lease, false)
	queued := provider.QueueMessageItem{Instance: "A", Name: "inbox", Data: "m"}
	e.enqueue(queued)
	got := e.fetchInstance("A", held)
	e.batch(got, "§5.3: batch rows: visible_at = now + delay", queued)
	same(e, got.AttemptCount, 1, ruleFirst)
	e.abandon(got, 0, true)
	e.expire()
	got = e.fetchInstance("A", held)
	e.batch(got, "§5.1: message order: row id", again, queued)
	same(e, got.AttemptCount, 3, ruleScope)
}

// An abandon delays its own batch: what came while that was locked is visible at once,
// and is all that the next fetch has.
func delayOfTheBatchAlone(e *env) {
	e.create("A")
	e.enqueue(raised("A", "first"))
	got := e.fetchInstance("A", held)
	e.enqueue(raised("A", "second"))
	e.abandon(got, held, false)
	got = e.fetchInstance("A", held)
	e.batch(got, ruleScope, raised("A", "second"))
	same(e, got.AttemptCount, 1, ruleFirst)
}

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
