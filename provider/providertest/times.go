package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// times checks that what hides or locks work does so for exactly as long as was asked for, a moment or years.
func times() category {
	return category{"times", []scenario{
		{"turn_lease_ends_on_time", turnLeaseEndsOnTime},
		{"turn_renewal_ends_on_time", turnRenewalEndsOnTime},
		{"turn_abandon_delay_ends_on_time", turnAbandonDelayEndsOnTime},
		{"message_delay_ends_on_time", messageDelayEndsOnTime},

		{"lease_of_a_turn", longTurnLease},
		{"lease_of_an_activity", longWorkLease},
		{"lease_of_a_session", longSessionLease},
		{"delay_of_a_message", longDelay},
		{"delay_of_an_abandoned_turn", longTurnDelay},
		{"delay_of_an_abandoned_activity", longWorkDelay},
		{"timer_of_a_turn", longTimer},
	}}
}

const (
	ruleExact    = "§2.1: durations: convert with millisecond precision; MUST NOT truncate to seconds"
	ruleLongTime = "§2.1: milliseconds, stored as 64-bit integers: delays and leases beyond 2^31 ms (24.8 days) and 2^32 ms count in full"
)

// turnAfter expects a turn of A exactly a lease or delay after a call that ran from begin
// to end.
func (e *env) turnAfter(wait time.Duration, begin, end time.Time) {
	e.Helper()
	e.eligibleAfter(wait, begin, end, func() bool { return e.tryFetch(held) != nil }, ruleExact)
}

func turnLeaseEndsOnTime(e *env) {
	lease := e.lease + fraction
	e.enqueue(startItem("A"))
	begin := time.Now()
	e.fetchInstance("A", lease)
	e.turnAfter(lease, begin, time.Now())
}

func turnRenewalEndsOnTime(e *env) {
	lease := e.lease + fraction
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	begin := time.Now()
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, lease), ruleExact)
	e.turnAfter(lease, begin, time.Now())
}

func turnAbandonDelayEndsOnTime(e *env) {
	delay := e.lease + fraction
	e.create("A")
	e.wake("A")
	got := e.fetchInstance("A", held)
	begin := time.Now()
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: got.LockToken, Delay: delay}), ruleExact)
	e.turnAfter(delay, begin, time.Now())
}

func messageDelayEndsOnTime(e *env) {
	delay := e.lease + fraction
	e.create("A")
	begin := time.Now()
	e.enqueueLater(raised("A", "later"), delay)
	e.turnAfter(delay, begin, time.Now())
}

// longTimes are what 32 bits take for a negative number of milliseconds, and for a few.
var longTimes = []time.Duration{25 * 24 * time.Hour, (1<<32 + 5) * time.Millisecond, (1<<33 - 1) * time.Millisecond, 10 * 365 * 24 * time.Hour}

// each runs a check on each long time, with an instance's id of its own.
func eachLongTime(e *env, check func(instance string, long time.Duration)) {
	e.Helper()
	for i, long := range longTimes {
		check(string(rune('A'+i)), long)
	}
}

func longTurnLease(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		e.create(instance)
		e.wake(instance)
		turn := e.fetchInstance(instance, long)
		e.tick()
		e.fetchNone(ruleLongTime)
		e.ok(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, e.lease*20), ruleLongTime)
		e.ok(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, long), ruleLongTime)
		e.tick()
		e.lockHeld(instance, ruleLongTime)
		e.commit(turn, provider.AckOrchestrationParams{})
		e.drop(e.fetchInstance(instance, held))
	})
}

func longWorkLease(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		e.enqueueWork(activityItem(instance, 2))
		work := e.fetchWork(long)
		e.tick()
		e.fetchNoWork(provider.FetchWorkParams{}, ruleLongTime)
		e.ok(e.p.RenewWorkItemLock(e.ctx, work.LockToken, long), ruleLongTime)
		e.tick()
		e.fetchNoWork(provider.FetchWorkParams{}, ruleLongTime)
		e.ackWork(work)
	})
}

func longSessionLease(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		session := "session-" + instance
		e.enqueueWork(inSession(session, 2), inSession(session, 3))
		e.claim(ownerFor("ann", held, long), 2, ruleLongTime)
		e.tick()
		e.fetchNoWork(owner("bob"), ruleLongTime)
		e.renewSessions(1, ruleLongTime, long, long, "ann")
		e.tick()
		e.fetchNoWork(owner("bob"), ruleLongTime)
		e.ackWork(e.claim(owner("ann"), 3, ruleLongTime))
		e.renewSessions(1, ruleLongTime, 2*time.Millisecond, held, "ann")
		e.tick()
	})
}

func longDelay(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		e.create(instance)
		e.enqueueLater(raised(instance, "later"), long)
		e.enqueueLater(startItem(instance+"-new"), long)
		e.tick()
		e.fetchNone(ruleLongTime)
	})
}

func longTurnDelay(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		e.create(instance)
		e.wake(instance)
		e.abandon(e.fetchInstance(instance, held), long, false)
		e.tick()
		e.fetchNone(ruleLongTime)
	})
}

func longWorkDelay(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		e.enqueueWork(activityItem(instance, 2))
		e.abandonWork(e.fetchWork(held), long, false)
		e.tick()
		e.fetchNoWork(provider.FetchWorkParams{}, ruleLongTime)
	})
}

func longTimer(e *env) {
	eachLongTime(e, func(instance string, long time.Duration) {
		timer := provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 2, FireAtMs: uint64(time.Now().Add(long).UnixMilli())}
		e.createWith(instance, provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{timer}})
		e.enqueueLater(timer, 0)
		e.tick()
		e.fetchNone(ruleLongTime)
	})
}
