package providertest

import (
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// sessions checks that the activities of a session run on one worker. Who gets which item is in session_claims.go,
// what leases and time do in session_leases.go.
func sessions() category {
	return category{name: "sessions", scenarios: slices.Concat([]scenario{
		{"non_session_items_fetchable_by_any_worker", nonSessionItemsFetchableByAnyWorker},
		{"session_item_claimable_when_no_session", sessionItemClaimableWhenNoSession},
		{"session_affinity_same_worker", sessionAffinitySameWorker},
		{"session_affinity_blocks_other_worker", sessionAffinityBlocksOtherWorker},
		{"different_sessions_different_workers", differentSessionsDifferentWorkers},
		{"mixed_session_and_non_session_items", mixedSessionAndNonSessionItems},
		{"session_claimable_after_lock_expiry", sessionClaimableAfterLockExpiry},
		{"none_session_skips_session_items", noneSessionSkipsSessionItems},
		{"some_session_returns_all_items", someSessionReturnsAllItems},
		{"renew_session_lock_active", renewSessionLockActive},
		{"renew_session_lock_skips_idle", renewSessionLockSkipsIdle},
		{"renew_session_lock_no_sessions", renewSessionLockNoSessions},
		{"cleanup_removes_expired_no_items", cleanupRemovesExpiredNoItems},
		{"cleanup_keeps_sessions_with_pending_items", cleanupKeepsSessionsWithPendingItems},
		{"cleanup_keeps_active_sessions", cleanupKeepsActiveSessions},
		{"ack_updates_session_last_activity", ackUpdatesSessionLastActivity},
		{"renew_work_item_updates_session_last_activity", renewWorkItemUpdatesSessionLastActivity},
		{"session_items_processed_in_order", sessionItemsProcessedInOrder},
		{"non_session_items_returned_with_session_config", nonSessionItemsReturnedWithSessionConfig},
		{"shared_worker_id_any_caller_can_fetch_owned_session", sharedWorkerIDAnyCallerCanFetchOwnedSession},
		{"concurrent_session_claim_only_one_wins", concurrentSessionClaimOnlyOneWins},
		{"session_takeover_after_lock_expiry", sessionTakeoverAfterLockExpiry},
		{"cleanup_then_new_item_recreates_session", cleanupThenNewItemRecreatesSession},
		{"abandoned_session_item_retryable", abandonedSessionItemRetryable},
		{"abandoned_session_item_ignore_attempt", abandonedSessionItemIgnoreAttempt},
		{"renew_session_lock_after_expiry_returns_zero", renewSessionLockAfterExpiryReturnsZero},
		{"original_worker_reclaims_expired_session", originalWorkerReclaimsExpiredSession},
		{"activity_lock_expires_session_lock_valid_same_worker_refetches", activityLockExpiresSessionLockValid},
		{"session_lock_expires_new_owner_gets_redelivery", sessionLockExpiresNewOwnerGetsRedelivery},
		{"session_lock_expires_same_worker_reacquires", sessionLockExpiresSameWorkerReacquires},
		{"both_locks_expire_different_worker_claims", bothLocksExpireDifferentWorkerClaims},
		{"session_lock_expires_activity_lock_valid_ack_succeeds", sessionLockExpiresActivityLockValidAckSucceeds},
		{"session_lock_renewal_extends_past_original_timeout", sessionLockRenewalExtendsPastOriginalTimeout},
	}, sessionClaimScenarios(), leaseScenarios())}
}

const (
	ruleNoSession = "§5.10 step 3: session == nil → only rows with NULL session_id"
	ruleAnyPlain  = "§5.10 step 3: session != nil → rows with NULL session_id are eligible"
	ruleOwned     = "§5.10 step 3: rows whose session has a live row owned by session.OwnerID are eligible"
	ruleForeign   = "§5.10 step 3: rows whose session has a live row of another owner are not eligible"
	ruleUnclaimed = "§5.10 step 3: rows whose session has no live row are eligible"
	ruleLowestID  = "§5.10 step 5: take the lowest row id (FIFO)"
)

// inSession is activity id of instance "order", bound to a session.
func inSession(session string, id uint64) provider.ActivityExecuteItem {
	item := activityItem("order", id)
	item.SessionID = &session
	return item
}

// plain is activity id of instance "order", without a session.
func plain(id uint64) provider.ActivityExecuteItem { return activityItem("order", id) }

// owner fetches for a session owner; neither lease runs out.
func owner(id string) provider.FetchWorkParams { return ownerFor(id, held, held) }

// ownerFor is owner with the given leases on the activity and its session.
func ownerFor(id string, row, session time.Duration) provider.FetchWorkParams {
	return provider.FetchWorkParams{
		LockTimeout: row,
		Session:     &provider.SessionFetchConfig{OwnerID: id, LockTimeout: session},
	}
}

// noSession fetches activities without a session only.
func noSession() provider.FetchWorkParams { return provider.FetchWorkParams{LockTimeout: held} }

// fetchAmong fetches an activity while others compete for it.
func (e *env) fetchAmong(params provider.FetchWorkParams) (got *provider.FetchedWorkItem, err error) {
	err = patiently(func() error {
		got, err = e.p.FetchWorkItem(e.ctx, params)
		return err
	})
	if err != nil {
		err = violation("§5.10: FetchWorkItem", "unexpected error: %v", err)
	}
	return got, err
}

// renewSessions renews the owners' sessions and expects that many.
func (e *env) renewSessions(want int, rule string, extend, idle time.Duration, owners ...string) {
	e.Helper()
	got, err := e.p.RenewSessionLock(e.ctx, provider.RenewSessionParams{
		OwnerIDs: owners, ExtendFor: extend, IdleTimeout: idle,
	})
	e.ok(err, rule)
	e.check(got == want, rule, "RenewSessionLock(%q, extend %v, idle %v) renewed %d sessions, want %d",
		owners, extend, idle, got, want)
}

// cleanup removes orphaned sessions and expects that many.
func (e *env) cleanup(want int, rule string) {
	e.Helper()
	got, err := e.p.CleanupOrphanedSessions(e.ctx, held)
	e.ok(err, rule)
	e.check(got == want, rule, "CleanupOrphanedSessions removed %d sessions, want %d", got, want)
}

// sessionRows compares the session rows where the store can show them.
func (e *env) sessionRows(rule string, want ...string) {
	e.Helper()
	if e.store.Sessions == nil {
		return
	}
	got, err := e.store.Sessions(e.ctx)
	e.ok(err, rule)
	sameSet(e, got, want, rule)
}

// An activity without a session goes to whoever asks first, with or without a
// session owner.
func nonSessionItemsFetchableByAnyWorker(e *env) {
	e.enqueueWork(plain(1), plain(2), plain(3))
	e.claim(noSession(), 1, ruleNoSession)
	e.claim(owner("ann"), 2, ruleAnyPlain)
	e.claim(owner("bob"), 3, ruleAnyPlain)
	e.sessionRows("§5.10 step 7: only a session-bound row claims a session")
}

// The first fetch with a session owner claims a session nobody holds.
func sessionItemClaimableWhenNoSession(e *env) {
	e.enqueueWork(inSession("s", 1))
	e.sessionRows("§5.15, claim: a session begins with the first fetch of one of its items")
	got := e.claim(owner("ann"), 1, ruleUnclaimed)
	same(e, got.AttemptCount, 1, "§5.10 step 9: first delivery = 1")
	samePtr(e, e.work(got).SessionID, new("s"), "§5.8: session columns filled from the item")
	e.sessionRows("§5.10 step 7: if session-bound, upsert the session row", "s")
}

// The owner of a session gets its further items.
func sessionAffinitySameWorker(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), inSession("s", 3))
	e.ackWork(e.claim(owner("ann"), 1, ruleUnclaimed))
	e.claim(owner("ann"), 2, ruleOwned)
	e.claim(owner("ann"), 3, ruleOwned)
}

// While a session is live, no other owner gets its items, whether the first one
// is still running or already acknowledged.
func sessionAffinityBlocksOtherWorker(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2))
	first := e.claim(owner("ann"), 1, ruleUnclaimed)
	e.fetchNoWork(owner("bob"), ruleForeign)
	e.ackWork(first)
	e.fetchNoWork(owner("bob"), ruleForeign)
	e.claim(owner("ann"), 2, ruleOwned)
}

// Two owners hold a session each and get only their own items.
func differentSessionsDifferentWorkers(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("t", 2), inSession("s", 3), inSession("t", 4))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(owner("bob"), 2, ruleUnclaimed)
	e.claim(owner("bob"), 4, ruleForeign)
	e.claim(owner("ann"), 3, ruleOwned)
	e.fetchNoWork(owner("bob"), "§5.10 step 2: a locked row is not eligible")
}

// A worker without the session passes over its items to those without one.
func mixedSessionAndNonSessionItems(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("s", 2), plain(3), plain(4))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(owner("bob"), 3, ruleAnyPlain)
	e.claim(owner("ann"), 2, ruleLowestID)
	e.claim(noSession(), 4, ruleNoSession)
}

// A worker that names no session owner never gets a session's item, free or held.
func noneSessionSkipsSessionItems(e *env) {
	e.enqueueWork(inSession("s", 1), inSession("t", 2), plain(3))
	e.claim(owner("ann"), 1, ruleUnclaimed)
	e.claim(noSession(), 3, ruleNoSession)
	e.fetchNoWork(noSession(), ruleNoSession)
	e.claim(owner("ann"), 2, ruleUnclaimed)
}

// A worker that names a session owner gets both sorts in the order of the queue.
func someSessionReturnsAllItems(e *env) {
	e.enqueueWork(plain(1), inSession("s", 2), plain(3), inSession("t", 4))
	for id := uint64(1); id <= 4; id++ {
		e.claim(owner("ann"), id, ruleLowestID)
	}
	e.fetchNoWork(owner("ann"), "§5.10 step 2: a locked row is not eligible")
}

// A session's items come in the order in which they were queued.
func sessionItemsProcessedInOrder(e *env) {
	for id := uint64(1); id <= 6; id++ {
		e.enqueueWork(inSession("s", id))
	}
	for id := uint64(1); id <= 6; id++ {
		e.ackWork(e.claim(owner("ann"), id, ruleLowestID))
	}
}

// Naming a session owner is no obstacle to activities without a session.
func nonSessionItemsReturnedWithSessionConfig(e *env) {
	e.enqueueWork(plain(1), plain(2))
	e.ackWork(e.claim(owner("ann"), 1, ruleAnyPlain))
	e.ackWork(e.claim(owner("bob"), 2, ruleAnyPlain))
	e.sessionRows("§5.10 step 7: only a session-bound row claims a session")
}

// Several slots that share an owner id all get items of its session, at the same
// time too.
func sharedWorkerIDAnyCallerCanFetchOwnedSession(e *env) {
	const rule = "§5.10: several worker slots with one owner id: all of them may fetch, also concurrently"
	for id := uint64(1); id <= 9; id++ {
		e.enqueueWork(inSession("s", id))
	}
	e.claim(owner("ann"), 1, ruleUnclaimed)
	got := make([]*provider.FetchedWorkItem, 8)
	e.together(8, func(i int) (err error) {
		got[i], err = e.fetchAmong(owner("ann"))
		return err
	})
	seen := map[uint64]bool{}
	for i, item := range got {
		e.check(item != nil, rule, "slot %d fetched nothing", i)
		id := e.work(item).ID
		e.check(!seen[id], "§5.10 step 6: a fetched row is locked", "activity %d was fetched twice", id)
		seen[id] = true
	}
}

// Of two owners that claim a fresh session at once exactly one wins, every time.
func concurrentSessionClaimOnlyOneWins(e *env) {
	const rule = "§5.10: two owners claim a fresh session at once: exactly one wins"
	owners := []string{"ann", "bob"}
	for round := range uint64(20) {
		session := "s" + string(rune('a'+round))
		e.enqueueWork(inSession(session, 2*round+1), inSession(session, 2*round+2))
		got := make([]*provider.FetchedWorkItem, len(owners))
		e.together(len(owners), func(i int) (err error) {
			got[i], err = e.fetchAmong(owner(owners[i]))
			return err
		})
		e.check((got[0] == nil) != (got[1] == nil), rule, "round %d: ann got %v, bob got %v", round, got[0], got[1])
		winner := slices.IndexFunc(got, func(item *provider.FetchedWorkItem) bool { return item != nil })
		e.ackWork(got[winner])
		e.fetchNoWork(owner(owners[1-winner]), ruleForeign)
		// Whoever wins may have passed over the activity that the other one held at that moment, and have the later
		// one.
		other := 4*round + 3 - e.work(got[winner]).ID
		second := e.claim(owner(owners[winner]), other, ruleOwned)
		same(e, second.AttemptCount, 1, "§5.10 step 8: a lost race undoes the row lock (attempt not counted)")
		e.ackWork(second)
	}
}

// An abandoned item stays with its session's owner and is delivered again.
func abandonedSessionItemRetryable(e *env) {
	e.enqueueWork(inSession("s", 1))
	first := e.claim(owner("ann"), 1, ruleUnclaimed)
	e.abandonWork(first, 0, false)
	e.fetchNoWork(owner("bob"), "§5.13: session unchanged: the owner keeps it until its lease ends")
	again := e.claim(owner("ann"), 1, "§5.13: abandon clears token and deadline; visible_at = now")
	same(e, again.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
	e.check(again.LockToken != first.LockToken, "§5.10 step 6: new token", "the second fetch returned the first's token")
}

// ignoreAttempt gives a session item's attempt back.
func abandonedSessionItemIgnoreAttempt(e *env) {
	e.enqueueWork(inSession("s", 1))
	for range 3 {
		got := e.claim(owner("ann"), 1, ruleOwned)
		same(e, got.AttemptCount, 1, "§5.13: ignoreAttempt: attempt_count = max(0, attempt_count − 1)")
		e.abandonWork(got, 0, true)
	}
	e.fetchNoWork(owner("bob"), "§5.13: session unchanged: the owner keeps it until its lease ends")
}
