package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// moreExactTimes covers that what hides or locks a turn does so for as long as was asked
// for, no shorter and no longer.
func moreExactTimes() category {
	return category{"more exact times", []scenario{
		{"turn_lease_ends_on_time", turnLeaseEndsOnTime},
		{"turn_renewal_ends_on_time", turnRenewalEndsOnTime},
		{"turn_abandon_delay_ends_on_time", turnAbandonDelayEndsOnTime},
		{"message_delay_ends_on_time", messageDelayEndsOnTime},
	}}
}

const ruleExact = "§2.1: durations: convert with millisecond precision; MUST NOT truncate to seconds"

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
