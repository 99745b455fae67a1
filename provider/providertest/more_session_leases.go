package providertest

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// leaseScenarios are those of "more sessions" in which time passes.
func leaseScenarios() []scenario {
	return []scenario{
		{"session_lease_ends_on_time", sessionLeaseEndsOnTime},
		{"session_renewal_counts_from_now", sessionRenewalCountsFromNow},
		{"each_fetch_renews_the_session", eachFetchRenewsTheSession},
		{"each_fetch_may_shorten_the_session", eachFetchMayShortenTheSession},
		{"fetch_counts_as_activity", fetchCountsAsActivity},
		{"takeover_counts_as_activity", takeoverCountsAsActivity},
		{"session_renewal_is_no_activity", sessionRenewalIsNoActivity},
		{"abandon_is_no_activity", abandonIsNoActivity},
		{"failed_ack_is_no_activity", failedAckIsNoActivity},
		{"activity_does_not_extend_the_session", activityDoesNotExtendTheSession},
		{"ack_does_not_revive_the_session", ackDoesNotReviveTheSession},
		{"renew_work_item_does_not_revive_the_session", renewWorkItemDoesNotReviveTheSession},
		{"session_renewal_leaves_the_activity_lease", sessionRenewalLeavesTheActivityLease},
		{"busy_session_outlives_its_lease_by_heartbeat", busySessionOutlivesItsLeaseByHeartbeat},
		{"renewal_of_several_owners", renewalOfSeveralOwners},
		{"renewal_of_hundreds_of_owners", renewalOfHundredsOfOwners},
		{"renewal_with_idle_timeout_zero", renewalWithIdleTimeoutZero},
		{"renewal_without_owners", renewalWithoutOwners},
		{"cleanup_counts_hidden_and_locked_items", cleanupCountsHiddenAndLockedItems},
		{"cleanup_ignores_idle_timeout", cleanupIgnoresIdleTimeout},
		{"cleanup_compares_byte_for_byte", cleanupComparesByteForByte},
	}
}

// fraction is what a store loses or adds that counts in seconds.
const fraction = 350 * time.Millisecond

// freeAfter fetches until an activity is eligible and expects that to be a lease
// after the call that began the lease, which ran from begin to end.
func (e *env) freeAfter(lease time.Duration, begin, end time.Time, params provider.FetchWorkParams, rule string) {
	e.Helper()
	e.eligibleAfter(lease, begin, end, func() bool { return e.tryFetchWorkWith(params) != nil }, rule)
}

// eligibleAfter fetches until it gets something and expects that to be a lease or delay
// after the call that began it, which ran from begin to end.
func (e *env) eligibleAfter(lease time.Duration, begin, end time.Time, fetch func() bool, rule string) {
	e.Helper()
	for {
		late := time.Since(end.Add(lease))
		if fetch() {
			e.notBefore(begin.Add(lease), rule)
			return
		}
		e.check(late < 20*time.Millisecond, rule, "still taken %v after a lease of %v ended", late, lease)
		e.sleep(5 * time.Millisecond)
	}
}

// A session is held for exactly its lease, to the millisecond.
func sessionLeaseEndsOnTime(e *env) {
	lease := e.lease + fraction
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	begin := time.Now()
	e.claim(ownerFor("ann", held, lease), 1, ruleUnclaimed)
	e.freeAfter(lease, begin, time.Now(), owner("bob"),
		"§5.10 step 7: locked_until = now + session.LockTimeout; §2.1: durations with millisecond precision")
}

// A renewal sets the lease's end to now + extendFor, to the millisecond, also
// when that is earlier.
func sessionRenewalCountsFromNow(e *env) {
	lease := e.lease + fraction
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	begin := time.Now()
	e.renewSessions(1, ruleRenewed, lease, forever, "ann")
	e.freeAfter(lease, begin, time.Now(), owner("bob"),
		"§5.14: sets locked_until = now + extendFor; §2.1: durations with millisecond precision")
}

// The owner's next fetch begins a new session lease.
func eachFetchRenewsTheSession(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.claim(owner("ann"), 2, ruleOwned)
	e.expire()
	e.fetchNoWork(owner("bob"), "§5.10 step 7: upsert: locked_until = now + session.LockTimeout")
	e.claim(owner("ann"), 3, ruleOwned)
}

// The owner's next fetch replaces the session lease even by a shorter one.
func eachFetchMayShortenTheSession(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(ownerFor("ann", held, e.lease), 2, ruleOwned)
	e.expire()
	e.claim(owner("bob"), 3, "§5.10 step 7: upsert: locked_until = now + session.LockTimeout")
}

// Fetching a further item of a session counts as its activity.
func fetchCountsAsActivity(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("t", 2), inSession("s", 3))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(owner("bob"), 2, ruleUnclaimed)
	e.sleep(e.lease)
	touched := time.Now()
	e.claim(owner("ann"), 3, ruleOwned)
	e.renewSessions(1, "§5.10 step 7: upsert: last_activity_at = now", held, e.idleSince(touched), "ann")
	e.renewSessions(0, "§5.14: not idle: last_activity_at > now − idleTimeout", held, e.idleSince(touched), "bob")
}

// A takeover makes an idle session active, and renewable for the new owner only.
func takeoverCountsAsActivity(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	touched := time.Now()
	e.claim(owner("bob"), 2, ruleUnclaimed)
	e.renewSessions(0, "§5.10: session lock expired: ownership moves", held, forever, "ann")
	e.renewSessions(1, "§5.10 step 7: upsert: last_activity_at = now", held, e.idleSince(touched), "bob")
}

// The heartbeat itself is no activity: otherwise no session would ever be idle.
func sessionRenewalIsNoActivity(e *env) {
	e.enqueueWork(inSession("s", 1))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.sleep(e.lease)
	e.renewSessions(1, ruleRenewed, held, forever, "ann")
	e.renewSessions(0, "§5.15: activity stamp: fetch, ack and renew of the session's items", held, e.lease/2, "ann")
}

// Giving an item back is no activity of its session.
func abandonIsNoActivity(e *env) {
	stamps(e, 0, "§5.13: abandon: session unchanged", func(got *provider.FetchedWorkItem) {
		e.abandonWork(got, 0, false)
	})
}

// An ack that fails is no activity of the session.
func failedAckIsNoActivity(e *env) {
	const rule = "§5.11: completion must be ActivityCompleted or ActivityFailed; otherwise permanent error and rollback"
	stamps(e, 0, rule, func(got *provider.FetchedWorkItem) {
		e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, startItem("order")), provider.ErrInvalidArgument, rule)
	})
}

// Acknowledging and renewing items leaves the end of the session's lease alone.
func activityDoesNotExtendTheSession(e *env) {
	const rule = "§5.11, §5.12: session piggyback: last_activity_at = now, no more"
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	short := ownerFor("ann", held, e.lease)
	first, second := e.claim(short, 1, ruleUnclaimed), e.claim(short, 2, ruleOwned)
	e.ackWork(first)
	e.ok(e.p.RenewWorkItemLock(e.ctx, second.LockToken, held), "§5.12: renew")
	e.expire()
	e.claim(owner("bob"), 3, rule)
	e.ackWork(second)
}

// Acknowledging an item after its session ended succeeds and leaves it ended.
func ackDoesNotReviveTheSession(e *env) {
	const rule = "§5.11: last_activity_at = now on its session row when that is still live"
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	got := e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.ackWork(got)
	e.renewSessions(0, rule, held, forever, "ann")
	e.claim(owner("bob"), 2, rule)
}

// Renewing an item after its session ended succeeds and leaves it ended.
func renewWorkItemDoesNotReviveTheSession(e *env) {
	const rule = "§5.12: session last_activity_at = now as above: when it is still live"
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	got := e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), "§5.12: locked_until = now + extendFor if the token exists")
	e.renewSessions(0, rule, held, forever, "ann")
	e.claim(owner("bob"), 2, rule)
	e.ackWork(got)
}

// Renewing a session does not prolong the leases on its activities.
func sessionRenewalLeavesTheActivityLease(e *env) {
	e.enqueueWork(inSession("s", 1))
	first := e.claim(ownerFor("ann", e.lease, held), 1, ruleUnclaimed)
	e.renewSessions(1, ruleRenewed, held, forever, "ann")
	e.expire()
	e.permanent(e.p.AckWorkItem(e.ctx, first.LockToken, completedItem("order", 1)), provider.ErrLockLost,
		"§5.10: activity lock and session lock: independent")
	e.claim(owner("ann"), 1, "§5.10: row lock expired, session still live: only the same owner may refetch")
}

// A session whose activity is kept alive is renewed again and again, and lives
// far beyond its first lease.
func busySessionOutlivesItsLeaseByHeartbeat(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	got := e.claim(ownerFor("ann", held, 2*e.lease), 1, ruleUnclaimed)
	for range 3 {
		e.sleep(e.lease)
		touched := time.Now()
		e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), "§5.12: locked_until = now + extendFor")
		e.renewSessions(1, ruleRenewed, held, e.idleSince(touched), "ann")
	}
	e.fetchNoWork(owner("bob"), ruleForeign)
	e.claim(owner("ann"), 2, ruleOwned)
}

// One call renews the sessions of all named owners once each, however often they
// are named, and ignores unknown ones.
func renewalOfSeveralOwners(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("t", 2), inSession("u", 3), inSession("v", 4))
	for id, name := range []string{"ann", "ann", "bob", "eve"} {
		e.claim(owner(name), uint64(id+1), ruleUnclaimed)
	}
	e.renewSessions(3, ruleRenewed, e.lease, forever, "ann", "bob", "nobody", "ann", "bob")
	e.expire()
	e.enqueueWork(inSession("v", 5), inSession("s", 6), inSession("t", 7), inSession("u", 8))
	for id := uint64(6); id <= 8; id++ {
		e.claim(owner("zoe"), id, "§5.14: sets locked_until = now + extendFor on all sessions whose owner is in the list")
	}
	e.fetchNoWork(owner("zoe"), ruleForeign)
}

// One call takes as many owner ids as a process has slots.
func renewalOfHundredsOfOwners(e *env) {
	const rule = "§5.14: one batched call renews for all slots"
	owners := make([]string, 500)
	for i := range owners {
		owners[i] = fmt.Sprint("node-1/slot-", i)
	}
	for i, slot := range []int{0, 250, 499} {
		e.enqueueWork(inSession(owners[slot], uint64(i)))
		e.claim(owner(owners[slot]), uint64(i), ruleUnclaimed)
	}
	e.renewSessions(3, rule, held, forever, owners...)
}

// With an idle timeout of 0 every session counts as idle.
func renewalWithIdleTimeoutZero(e *env) {
	const rule = "§5.14: idleTimeout = 0 therefore renews nothing"
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.renewSessions(0, rule, held, 0, "ann")
	e.expire()
	e.claim(owner("bob"), 2, rule)
}

// Without owner ids nothing is renewed.
func renewalWithoutOwners(e *env) {
	const rule = "§5.14: empty list → 0"
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.renewSessions(0, rule, held, forever)
	e.renewSessions(0, rule, held, forever, []string{}...)
	e.expire()
	e.claim(owner("bob"), 2, rule)
}

// An item keeps its expired session whether it is visible, hidden or locked.
func cleanupCountsHiddenAndLockedItems(e *env) {
	const rule = "§5.15: no row in the worker queue (visible or not, locked or not) with that session id"
	e.enqueueWork(inSession("hidden", 1), inSession("locked", 2), inSession("open", 3), inSession("empty", 4))
	short := ownerFor("ann", held, e.lease)
	hidden, locked := e.claim(short, 1, ruleUnclaimed), e.claim(short, 2, ruleUnclaimed)
	open, empty := e.claim(short, 3, ruleUnclaimed), e.claim(short, 4, ruleUnclaimed)
	e.abandonWork(hidden, held, false)
	e.abandonWork(open, 0, false)
	e.ackWork(empty)
	e.expire()
	e.cleanup(1, rule)
	e.sessionRows(rule, "hidden", "locked", "open")
	e.ackWork(locked)
	e.cleanup(1, rule)
	e.sessionRows(rule, "hidden", "open")
}

// The idle timeout of a cleanup changes nothing: what counts is the lease.
func cleanupIgnoresIdleTimeout(e *env) {
	const rule = "§5.15: idleTimeout is accepted but unused"
	e.enqueueWork(inSession("live", 1), inSession("dead", 2))
	e.ackWork(e.claim(owner("ann"), 1, ruleUnclaimed))
	e.ackWork(e.claim(ownerFor("ann", held, e.lease), 2, ruleUnclaimed))
	e.expire()
	for i, idle := range []time.Duration{forever, 0, time.Millisecond} {
		want := 0
		if i == 0 {
			want = 1
		}
		got, err := e.p.CleanupOrphanedSessions(e.ctx, idle)
		e.ok(err, rule)
		same(e, got, want, rule)
	}
	e.sessionRows(rule, "live")
}

// An item keeps only the session with exactly its id.
func cleanupComparesByteForByte(e *env) {
	const rule = "§11.1: session ids: byte-exact, case-sensitive"
	for i, session := range lookalikes {
		e.enqueueWork(inSession(session, uint64(i)))
	}
	var first *provider.FetchedWorkItem
	for i := range lookalikes {
		got := e.claim(ownerFor("ann", held, e.lease), uint64(i), ruleUnclaimed)
		if i == 0 {
			first = got
		} else {
			e.ackWork(got)
		}
	}
	e.expire()
	e.cleanup(len(lookalikes)-1, rule)
	e.sessionRows(rule, lookalikes[0])
	e.ackWork(first)
	e.cleanup(1, rule)
}
