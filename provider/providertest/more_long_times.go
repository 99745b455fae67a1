package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// moreLongTimes covers delays and leases that do not fit 32 bits of milliseconds.
func moreLongTimes() category {
	return category{"more long times", []scenario{
		{"lease_of_a_turn", longTurnLease},
		{"lease_of_an_activity", longWorkLease},
		{"lease_of_a_session", longSessionLease},
		{"delay_of_a_message", longDelay},
		{"delay_of_an_abandoned_turn", longTurnDelay},
		{"delay_of_an_abandoned_activity", longWorkDelay},
		{"timer_of_a_turn", longTimer},
	}}
}

const ruleLongTime = "§2.1: milliseconds, stored as 64-bit integers: delays and leases beyond 2^31 ms (24.8 days) and 2^32 ms count in full"

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
