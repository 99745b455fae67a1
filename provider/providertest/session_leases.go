package providertest

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// leaseScenarios are those of "sessions" in which time passes.
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

const (
	ruleRenewed = "§5.14: extends all live, not idle sessions whose owner is in the list, and returns their number"
	ruleCleanup = "§5.15: deletes session rows that are expired and have no row in the worker queue"
)

// forever is an idle timeout no scenario reaches.
const forever = time.Hour

// Once a session's lease has ended, any owner may claim it.
func sessionClaimableAfterLockExpiry(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.ackWork(e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed))
	e.expire()
	e.claim(owner("bob"), 2, "§5.10: session lock expired: anyone with a session config may claim")
}

// Renewal counts the sessions of the named owners and sets their leases, and
// nobody else's.
func renewSessionLockActive(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("t", 2), inSession("u", 3))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(owner("ann"), 2, ruleUnclaimed)
	e.claim(owner("bob"), 3, ruleUnclaimed)
	e.renewSessions(2, ruleRenewed, e.lease, forever, "ann")
	e.expire()
	e.enqueueWork(inSession("u", 4), inSession("t", 5), inSession("s", 6))
	e.claim(owner("eve"), 5, "§5.14: sets locked_until = now + extendFor on all sessions whose owner is in the list")
	e.claim(owner("eve"), 6, "§5.14: sets locked_until = now + extendFor on all sessions whose owner is in the list")
	e.fetchNoWork(owner("eve"), ruleForeign)
}

// A session without activity for idleTimeout is not renewed and runs out.
func renewSessionLockSkipsIdle(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(ownerFor("ann", held, 2*e.lease), 1, ruleUnclaimed)
	e.sleep(e.lease)
	e.renewSessions(0, "§5.14: not idle: last_activity_at > now − idleTimeout", held, e.lease/2, "ann")
	e.expire()
	e.claim(owner("bob"), 2, "§5.15, idle release: the heartbeat skips it → it expires after its lease")
}

// Renewal without any session renews nothing and is no error.
func renewSessionLockNoSessions(e *env) {
	e.renewSessions(0, ruleRenewed, held, forever, "ann")
	e.enqueueWork(inSession("s", 1), plain(2))
	e.claim(noSession(), 2, ruleNoSession)
	e.renewSessions(0, ruleRenewed, held, forever, "ann")
}

// An expired session without items is removed, once.
func cleanupRemovesExpiredNoItems(e *env) {
	e.enqueueWork(inSession("s", 1))
	e.ackWork(e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed))
	e.expire()
	e.cleanup(1, ruleCleanup)
	e.sessionRows(ruleCleanup)
	e.cleanup(0, ruleCleanup)
}

// An expired session that still has queued items stays.
func cleanupKeepsSessionsWithPendingItems(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.ackWork(e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed))
	e.expire()
	e.cleanup(0, "§5.15: sessions with pending items stay")
	e.sessionRows("§5.15: sessions with pending items stay", "s")
	e.ackWork(e.claim(ownerFor("bob", held, e.lease), 2, ruleUnclaimed))
	e.expire()
	e.cleanup(1, ruleCleanup)
}

// A live session stays although it has no items, and still binds new ones.
func cleanupKeepsActiveSessions(e *env) {
	e.enqueueWork(inSession("s", 1))
	e.ackWork(e.claim(owner("ann"), 1, ruleUnclaimed))
	e.cleanup(0, "§5.15: live sessions stay")
	e.sessionRows("§5.15: live sessions stay", "s")
	e.enqueueWork(inSession("s", 2))
	e.fetchNoWork(owner("bob"), "§5.15: live sessions stay")
	e.claim(owner("ann"), 2, ruleOwned)
}

// stamps lets sessions of ann and bob fall idle, touches ann's activity and
// expects the number of ann's sessions that then count as active.
func stamps(e *env, want int, rule string, touch func(ann *provider.FetchedWorkItem)) {
	e.enqueueWork(inSession("s", 1), inSession("t", 2))
	got := e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(owner("bob"), 2, ruleUnclaimed)
	e.sleep(e.lease)
	touched := time.Now()
	touch(got)
	e.renewSessions(want, rule, held, e.idleSince(touched), "ann")
	e.renewSessions(0, "§5.14: not idle: last_activity_at > now − idleTimeout", held, e.idleSince(touched), "bob")
}

// idleSince is an idle timeout for a call that follows at once: sessions active
// since then are within it, those active a lease before are not.
func (e *env) idleSince(touched time.Time) time.Duration {
	return time.Since(touched) + e.lease - e.lease/20
}

// Acknowledging a session's item counts as its activity.
func ackUpdatesSessionLastActivity(e *env) {
	stamps(e, 1, "§5.11: if the row was session-bound: last_activity_at = now on its session row", e.ackWork)
}

// Renewing a session's item counts as its activity.
func renewWorkItemUpdatesSessionLastActivity(e *env) {
	const rule = "§5.12: session last_activity_at = now"
	stamps(e, 1, rule, func(got *provider.FetchedWorkItem) {
		e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), rule)
	})
}

// A takeover after expiry makes the new owner the only one.
func sessionTakeoverAfterLockExpiry(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.claim(owner("bob"), 2, "§5.10: session lock expired: anyone with a session config may claim")
	e.fetchNoWork(owner("ann"), "§5.10: session lock expired: ownership moves")
	e.claim(owner("bob"), 3, ruleOwned)
}

// A removed session comes back with the next item, for any owner.
func cleanupThenNewItemRecreatesSession(e *env) {
	e.enqueueWork(inSession("s", 1))
	e.ackWork(e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed))
	e.expire()
	e.cleanup(1, ruleCleanup)
	e.enqueueWork(inSession("s", 2), inSession("s", 3))
	e.claim(owner("bob"), 2, "§5.15: a deleted session is simply recreated by the next fetch")
	e.fetchNoWork(owner("ann"), ruleForeign)
	e.sessionRows("§5.15: a deleted session is simply recreated by the next fetch", "s")
}

// An expired session cannot be renewed, even though nobody took it.
func renewSessionLockAfterExpiryReturnsZero(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.renewSessions(0, "§5.14: expired sessions are not revived", held, forever, "ann")
	e.claim(owner("bob"), 2, "§5.14: expired sessions are not revived")
}

// The former owner may claim its expired session like anyone else.
func originalWorkerReclaimsExpiredSession(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.claim(owner("ann"), 2, "§5.10: session lock expired: the old owner may also reclaim")
	e.fetchNoWork(owner("bob"), ruleForeign)
}

// When an activity's lease ends while its session lives, only the owner gets it again.
func activityLockExpiresSessionLockValid(e *env) {
	const rule = "§5.10: row lock expired, session still live: only the same owner may refetch"
	e.enqueueWork(inSession("s", 1))
	first := e.claim(ownerFor("ann", e.lease, held), 1, ruleUnclaimed)
	e.expire()
	e.fetchNoWork(owner("bob"), rule)
	again := e.claim(owner("ann"), 1, rule)
	same(e, again.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
	e.permanent(e.p.AckWorkItem(e.ctx, first.LockToken, nil), provider.ErrLockLost,
		"§5.11: no row with this token: permanent error")
	e.ackWork(again)
}

// An item its owner gave back after its session ended goes to a new owner, with
// the attempt counted.
func sessionLockExpiresNewOwnerGetsRedelivery(e *env) {
	e.enqueueWork(inSession("s", 1))
	first := e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.fetchNoWork(owner("bob"), "§5.10: activity lock and session lock are independent: the row is still locked")
	e.abandonWork(first, 0, false)
	again := e.claim(owner("bob"), 1, "§5.10: session lock expired: anyone with a session config may claim")
	same(e, again.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
	e.fetchNoWork(owner("ann"), "§5.10: session lock expired: ownership moves")
}

// The former owner's next fetch makes an expired session live again.
func sessionLockExpiresSameWorkerReacquires(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	first := e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.abandonWork(first, 0, false)
	e.claim(owner("ann"), 1, "§5.10: session lock expired: the old owner may also reclaim")
	e.fetchNoWork(owner("bob"), ruleForeign)
	e.renewSessions(1, "§5.10 step 7: locked_until = now + session.LockTimeout", held, forever, "ann")
	e.claim(owner("ann"), 2, ruleOwned)
}

// When both leases have ended, another owner takes activity and session.
func bothLocksExpireDifferentWorkerClaims(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	first := e.claim(ownerFor("ann", e.lease, e.lease), 1, ruleUnclaimed)
	e.expire()
	again := e.claim(owner("bob"), 1, "§5.10: both expired: anyone")
	same(e, again.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
	e.fetchNoWork(owner("ann"), ruleForeign)
	e.permanent(e.p.AckWorkItem(e.ctx, first.LockToken, completedItem("order", 1)), provider.ErrLockLost,
		"§5.11: no row with this token: permanent error")
	e.ackWork(again)
}

// A worker whose session ended may still finish the activity it holds.
func sessionLockExpiresActivityLockValidAckSucceeds(e *env) {
	e.create("order")
	e.enqueueWork(inSession("s", 1))
	got := e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.expire()
	e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, completedItem("order", 1)),
		"§5.11: session expired meanwhile: the ack still succeeds if the row lock is valid")
	messages := e.fetchInstance("order", held).Item.Messages
	e.check(len(messages) == 1 && messages[0] == provider.WorkItem(completedItem("order", 1)),
		"§5.11: if completion != nil, enqueue it to the orchestrator queue", "messages %v", messages)
}

// A renewed session outlives the lease it was claimed with.
func sessionLockRenewalExtendsPastOriginalTimeout(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	e.claim(ownerFor("ann", held, e.lease), 1, ruleUnclaimed)
	e.renewSessions(1, "§5.14: sets locked_until = now + extendFor", held, forever, "ann")
	e.expire()
	e.fetchNoWork(owner("bob"), "§5.14: sets locked_until = now + extendFor")
	e.claim(owner("ann"), 2, ruleOwned)
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
