package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// The reference's session scenarios in which time passes: leases that run out,
// idleness, renewal and cleanup.

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
