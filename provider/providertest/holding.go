package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// heldInstances checks what a store promises that knows why instances are held (§5.26). Another store
// skips the scenarios.
func heldInstances() category {
	return category{"holding", needing([]scenario{
		{"hold_is_told_with_its_reason", tellsHolds},
		{"reason_that_is_no_text_is_kept_all_the_same", keepsReasons},
		{"hold_is_over_when_its_messages_are", forgetsHolds},
		{"hold_stays_through_other_abandons", keepsHolds},
		{"retry_shows_what_the_hold_has_hidden", retriesHeld},
		{"retried_instance_has_its_place_again", retriesInPlace},
		{"retry_of_what_is_not_held_changes_nothing", retriesNothing},
		{"message_does_not_overtake_what_is_held", overtakesNothing},
		{"timer_does_not_overtake_what_is_held", timesNothingAhead},
	})}
}

const (
	ruleIsHeld     = "§5.26 Held: as long as a message that was abandoned with a Misfit is in the queue"
	ruleHeldList   = "§5.26 ListHeldInstances: those held longest first"
	ruleHeldReason = "§5.26 Reason: the last one of the oldest message; Since: its first abandon"
	ruleHeldText   = "§5.26 Reason: each byte that is no valid UTF-8 becomes U+FFFD"
	ruleHeldKept   = "§5.26: an abandon without a Misfit leaves what is kept"
	ruleRetry      = "§5.26 RetryHeldInstance: exactly the messages that were abandoned with a Misfit are visible at once"
	ruleHeldFirst  = "§5.26 Fetch: a fetch of the instance takes these messages too, visible or not"
	ruleNotHeld    = "§5.26 RetryHeldInstance: false for an instance that is not held, and nothing has changed"
)

// farOff is longer than any scenario takes.
const farOff = time.Hour

// hold gives a fetched turn up for an hour, as code does that does not fit.
func (e *env) hold(got *provider.FetchedOrchestration, why string) {
	e.Helper()
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{
		LockToken: got.LockToken, Delay: farOff, IgnoreAttempt: true, Misfit: why,
	}), "§5.3: abandon gives up a turn whose token exists")
}

// createHeld is an instance that is held with one message.
func (e *env) createHeld(instance, why string) {
	e.Helper()
	e.create(instance)
	e.enqueue(raised(instance, "go"))
	e.hold(e.fetchInstance(instance, held), why)
}

// heldInstance asks for one instance, nil if it is not held.
func (e *env) heldInstance(instance string) *provider.HeldInstance {
	e.Helper()
	got, err := e.full().GetHeldInstance(e.ctx, instance)
	e.ok(err, ruleIsHeld)
	return got
}

// heldAre wants that exactly these are listed, in this order.
func (e *env) heldAre(rule string, instances ...string) {
	e.Helper()
	list, err := e.full().ListHeldInstances(e.ctx)
	e.ok(err, rule)
	ids := []string{}
	for _, h := range list {
		ids = append(ids, h.InstanceID)
		e.sameValue(e.heldInstance(h.InstanceID), &h, rule, "the same instance by its id")
	}
	e.sameValue(ids, append([]string{}, instances...), rule, "the instances that are held")
}

// retry wants that the instance is, or is not, held.
func (e *env) retry(instance string, want bool, rule string) {
	e.Helper()
	got, err := e.full().RetryHeldInstance(e.ctx, instance)
	e.ok(err, rule)
	e.sameValue(got, want, rule, "held")
}

// A reason may name what the code asks for, and a name may be any string.
func keepsReasons(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{
		LockToken: got.LockToken, Delay: farOff, Misfit: "asks for \xff\xfe",
	}), ruleHeldText)
	e.sameValue(e.heldInstance("A").Reason, "asks for \ufffd\ufffd", ruleHeldText, "reason")
}

func tellsHolds(e *env) {
	e.heldAre(ruleIsHeld)
	e.createHeld("B", "first\x00 reason, \U0001F600")
	e.tick()
	e.createHeld("A", "another")
	e.create("C")
	e.heldAre(ruleHeldList, "B", "A")
	b := e.heldInstance("B")
	e.sameValue(b.Reason, "first\x00 reason, \U0001F600", ruleHeldReason, "reason")
	rest := b.NextTry.Sub(b.Since)
	e.check(rest == farOff, ruleHeldReason, "the next try is %v after the first", rest)
	e.check(e.heldInstance("C") == nil && e.heldInstance("nobody") == nil, ruleIsHeld, "what is not held has a reason")
	// A message comes, and another worker says it in other words.
	e.tick()
	e.retry("B", true, ruleRetry)
	e.enqueue(raised("B", "again"))
	e.hold(e.fetchInstance("B", held), "second")
	again := e.heldInstance("B")
	e.sameValue(again.Reason, "second", ruleHeldReason, "reason")
	e.sameValue(again.Since, b.Since, ruleHeldReason, "since")
	e.heldAre(ruleHeldList, "B", "A")
}

func forgetsHolds(e *env) {
	e.createHeld("A", "why")
	e.tick()
	e.createHeld("B", "why")
	e.retry("A", true, ruleRetry)
	e.drop(e.fetchInstance("A", held))
	e.heldAre(ruleIsHeld, "B")
	e.delete("B", true)
	e.heldAre(ruleIsHeld)
}

func keepsHolds(e *env) {
	e.createHeld("A", "why")
	e.retry("A", true, ruleRetry)
	e.abandon(e.fetchInstance("A", held), 0, true)
	e.heldAre(ruleHeldKept, "A")
	got := e.heldInstance("A")
	e.sameValue(got.Reason, "why", ruleHeldKept, "reason")
	e.abandon(e.fetchInstance("A", held), farOff, true)
	e.fetchNone(ruleHeldKept)
	// Its messages are still those of the hold.
	e.retry("A", true, ruleRetry)
	e.drop(e.fetchInstance("A", held))
	e.heldAre(ruleIsHeld)
}

func retriesHeld(e *env) {
	e.create("A")
	timer := provider.TimerFiredItem{Instance: "A", ExecutionID: 1, ID: 7, FireAtMs: baseMs}
	e.enqueueLater(timer, farOff)
	e.enqueue(raised("A", "one"), raised("A", "two"))
	e.hold(e.fetchInstance("A", held), "why")
	e.fetchNone(ruleRetry)
	e.retry("A", true, ruleRetry)
	got := e.fetchInstance("A", held)
	e.batch(got, ruleRetry, raised("A", "one"), raised("A", "two"))
	same(e, got.AttemptCount, 1, ruleRetry)
	e.drop(got)
	e.fetchNone(ruleRetry)
}

// A newer message has given it a place behind B.
func retriesInPlace(e *env) {
	e.createHeld("A", "why")
	e.create("B")
	e.enqueue(raised("B", "go"), raised("A", "later"))
	e.retry("A", true, ruleRetry)
	got := e.fetchInstance("A", held)
	e.batch(got, ruleRetry, raised("A", "go"), raised("A", "later"))
}

func retriesNothing(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	e.abandon(e.fetchInstance("A", held), farOff, true)
	e.retry("A", false, ruleNotHeld)
	e.retry("nobody", false, ruleNotHeld)
	e.fetchNone(ruleNotHeld)
	e.heldAre(ruleNotHeld)
}

// An event that arrived after the rollback was read before those that were held. A turn that is given back without a
// delay brings all of them again.
func overtakesNothing(e *env) {
	e.createHeld("A", "why")
	e.enqueue(raised("A", "later"))
	turn := e.fetchInstance("A", held)
	e.batch(turn, ruleHeldFirst, raised("A", "go"), raised("A", "later"))
	e.abandon(turn, 0, true)
	turn = e.fetchInstance("A", held)
	e.batch(turn, ruleHeldFirst, raised("A", "go"), raised("A", "later"))
	e.retry("A", true, ruleRetry)
	e.fetchNone(ruleRetry)
	e.drop(turn)
	e.heldAre(ruleIsHeld)
}

// The same with a timer. One whose time has not come stays hidden.
func timesNothingAhead(e *env) {
	e.createHeld("A", "why")
	soon := provider.TimerFiredItem{Instance: "A", ExecutionID: 1, ID: 7, FireAtMs: baseMs}
	never := provider.TimerFiredItem{Instance: "A", ExecutionID: 1, ID: 8, FireAtMs: baseMs}
	e.enqueueLater(never, farOff)
	e.enqueueLater(soon, e.lease/2)
	e.batch(e.awaitFetch(held, ruleHeldFirst), ruleHeldFirst, raised("A", "go"), soon)
}
