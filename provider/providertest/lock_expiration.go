package providertest

import (
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// lockExpiration checks that leases end when they should, not before, and that
// what was lost that way can be neither renewed nor acknowledged.
func lockExpiration() category {
	return category{"lock expiration", []scenario{
		{"lock_expires_after_timeout", lockExpires},
		{"abandon_releases_lock_immediately", abandonReleases},
		{"lock_renewal_on_ack", ackReleases},
		{"concurrent_lock_attempts_respect_expiration", attemptsRespectLease},
		{"worker_lock_renewal_success", workRenewed},
		{"worker_lock_renewal_invalid_token", workRenewalNeedsToken},
		{"worker_lock_renewal_after_expiration", workNotRevived},
		{"worker_lock_renewal_extends_timeout", workRenewedFromNow},
		{"worker_lock_renewal_after_ack", workNotRenewedAfterAck},
		{"abandon_work_item_releases_lock", workAbandonReleases},
		{"abandon_work_item_with_delay", workAbandonDelays},
		{"worker_ack_fails_after_lock_expiry", workAckAfterExpiry},
		{"orchestration_lock_renewal_after_expiration", turnNotRevived},

		{"abandon_repeated_after_a_lost_answer", abandonRepeated},
		{"abandon_touches_only_its_own_rows", abandonTouchesOwn},
		{"abandon_leaves_later_arrivals_visible", abandonLeavesLater},
		{"abandon_hides_for_the_delay", abandonHides},
		{"abandon_refuses_a_negative_delay", abandonNegativeDelay},
		{"abandon_accepts_an_expired_token", abandonExpired},
		{"abandon_changes_nothing_but_the_queue", abandonHasNoEffects},
		{"renew_counts_from_now_for_lock_and_rows", renewFromNow},
		{"renew_needs_a_live_token", renewNeedsLiveToken},
	}}
}

const (
	ruleRefetch     = "§5.1: lock expired: fetchable again: same messages, new token, attempt +1"
	ruleLease       = "§2.1: lock is held: locked_until > now (strict)"
	ruleFromNow     = "§5.4: locked_until = now + extendFor (from now, not from the old deadline)"
	ruleNoRevival   = "§5.4: an expired lock can never be revived, even if nobody took it"
	ruleRenewWork   = "§5.12: locked_until = now + extendFor if the token exists and is not expired; otherwise permanent error"
	ruleWorkAck     = "§5.11: row with this token exists and locked_until > now; else permanent error, nothing changes"
	ruleWorkAbandon = "§5.13: clear token and deadline; visible_at = now, or now + delay"
	ruleOwnRows     = "§5.3: scope: MUST touch exactly the rows carrying this token (P21)"
	ruleHides       = "§5.3: delay: batch rows: visible_at = now + delay"
	ruleLater       = "§5.3: messages enqueued meanwhile stay visible, so the instance can be fetched again before the delay ends"
	ruleOldToken    = "§5.3: token expired but not taken over: accepted (only existence is checked)"
	ruleGiveUp      = "§5.3: token unknown: permanent Invalid lock token"
	ruleRenewLive   = "§5.4: token exists and locked_until > now; otherwise permanent error"
)

// A lease ends after its own timeout, and only that lease.
func lockExpires(e *env) {
	e.create("A")
	e.create("B")
	e.enqueue(raised("A", "go"), raised("B", "go"))
	e.fetchInstance("A", held)
	short := e.fetchInstance("B", e.lease)
	e.expire()
	again := e.fetchInstance("B", held)
	e.batch(again, ruleRefetch, raised("B", "go"))
	same(e, again.AttemptCount, 2, ruleRefetch)
	e.check(again.LockToken != short.LockToken, ruleUnique, "the expired token came again")
	e.fetchNone(ruleLease)
}

// An abandoned instance is free at once, with all its messages.
func abandonReleases(e *env) {
	e.enqueue(startItem("A"), raised("A", "go"))
	first := e.fetchInstance("A", held)
	e.abandon(first, 0, false)
	second := e.fetchInstance("A", held)
	e.batch(second, "§5.3: no delay: immediately fetchable", startItem("A"), raised("A", "go"))
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, first.LockToken, held), provider.ErrInvalidLockToken,
		"§5.4: after ack/abandon: permanent error")
	e.commit(second, provider.AckOrchestrationParams{Metadata: created()})
}

// An ack ends the lease at once: the next message is a new turn, and the old
// token can no longer be renewed.
func ackReleases(e *env) {
	e.enqueue(startItem("A"))
	first := e.fetchInstance("A", held)
	e.enqueue(raised("A", "go"))
	e.commit(first, provider.AckOrchestrationParams{Metadata: created()})
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, first.LockToken, held), provider.ErrInvalidLockToken,
		"§5.4: after ack/abandon: permanent error")
	second := e.fetchInstance("A", held)
	e.batch(second, "§5.2 step 15: delete the instance lock row", raised("A", "go"))
	e.lockHeld("A", ruleExclusive)
}

// Callers that compete for a locked instance get nothing while it is locked; the
// lease's end lets in exactly one.
func attemptsRespectLease(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	due := time.Now().Add(e.lease)
	e.fetchInstance("A", e.lease)
	var won atomic.Int32
	attempt := func(int) error {
		got, err := e.grab(e.p, held)
		if err != nil || got == nil {
			return err
		}
		won.Add(1)
		if early := time.Until(due); early > tolerance {
			return violation(ruleLease, "taken %v before the lease's end", early)
		}
		return nil
	}
	e.together(8, attempt)
	e.expire()
	e.together(8, attempt)
	same(e, won.Load(), 1, ruleTwoFetch)
}

// A renewed activity stays with its worker beyond the first lease and can then
// be completed.
func workRenewed(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	got := e.fetchWork(e.lease)
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), ruleRenewWork)
	e.expire()
	e.fetchNoWork(provider.FetchWorkParams{}, ruleRenewWork)
	e.ackWork(got)
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 2))
}

// Renewing with a token that no activity carries fails for good, also with that
// of an instance.
func workRenewalNeedsToken(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	turn, work := e.fetchInstance("A", held), e.fetchWork(held)
	for _, token := range []string{"", "no-such-token", work.LockToken[1:], turn.LockToken} {
		err := e.p.RenewWorkItemLock(e.ctx, token, e.lease)
		e.permanent(err, provider.ErrLockLost, ruleRenewWork)
		e.workerText(err)
	}
	e.ackWork(work)
}

// workerText checks the wording of a worker's lost lock.
func (e *env) workerText(err error) {
	e.Helper()
	e.says(err, "§2.3: unknown/expired worker token: mention that the item was cancelled, already acked, or the lock expired",
		"cancelled", "canceled", "acked", "acknowledged", "expired")
}

// A lease that has ended cannot be renewed, though nobody took the activity.
func workNotRevived(e *env) {
	e.enqueueWork(activityItem("A", 2))
	got := e.fetchWork(e.lease)
	e.expire()
	err := e.p.RenewWorkItemLock(e.ctx, got.LockToken, held)
	e.permanent(err, provider.ErrLockLost, ruleRenewWork)
	e.workerText(err)
	same(e, e.fetchWork(held).AttemptCount, 2, "§5.10 step 2: eligible: locked_until <= now")
}

// Renewal counts from now: it also shortens a longer lease, and can be repeated.
func workRenewedFromNow(e *env) {
	e.enqueueWork(activityItem("A", 2))
	got := e.fetchWork(e.lease)
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), ruleRenewWork)
	e.expire()
	e.fetchNoWork(provider.FetchWorkParams{}, ruleRenewWork)
	due := time.Now().Add(e.lease)
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, e.lease), ruleRenewWork)
	again := e.awaitWork(held, "§5.12: locked_until = now + extendFor")
	e.notBefore(due, ruleLease)
	same(e, again.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
}

// A completed activity's token cannot be renewed.
func workNotRenewedAfterAck(e *env) {
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	got := e.fetchWork(held)
	e.ackWork(got)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), provider.ErrLockLost, ruleRenewWork)
	same(e, e.work(e.fetchWork(held)).ID, 3, "§5.11: delete the row")
}

// An abandoned activity is free at once; its old token is worthless.
func workAbandonReleases(e *env) {
	e.enqueueWork(activityItem("A", 2))
	first := e.fetchWork(held)
	e.abandonWork(first, 0, false)
	second := e.fetchWork(held)
	same(e, second.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
	e.check(second.LockToken != first.LockToken, ruleUnique, "the abandoned token came again")
	e.permanent(e.p.AckWorkItem(e.ctx, first.LockToken, completedItem("A", 2)), provider.ErrLockLost, ruleWorkAck)
	e.ackWork(second)
}

// An activity abandoned with a delay stays hidden that long, counted from now.
func workAbandonDelays(e *env) {
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	far, near := e.fetchWork(held), e.fetchWork(held)
	e.abandonWork(far, held, false)
	due := time.Now().Add(e.lease)
	e.abandonWork(near, e.lease, false)
	got := e.awaitWork(held, ruleWorkAbandon)
	e.notBefore(due, ruleWorkAbandon)
	same(e, e.work(got).ID, 3, ruleWorkAbandon)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleWorkAbandon)
}

// A worker whose lease has ended cannot complete its activity, though nobody
// took it; the activity is delivered again and counts once.
func workAckAfterExpiry(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	late := e.fetchWork(e.lease)
	e.expire()
	err := e.p.AckWorkItem(e.ctx, late.LockToken, completedItem("A", 2))
	e.permanent(err, provider.ErrLockLost, ruleWorkAck+" (P13)")
	e.workerText(err)
	e.fetchNone(ruleWorkAck)
	e.ackWork(e.fetchWork(held))
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 2))
}

// An instance lease that has ended cannot be renewed, neither before nor after
// another dispatcher took the instance.
func turnNotRevived(e *env) {
	e.enqueue(startItem("A"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	err := e.p.RenewOrchestrationItemLock(e.ctx, late.LockToken, held)
	e.permanent(err, provider.ErrLockExpired, ruleNoRevival)
	e.says(err, ruleExpired, "Instance lock expired")
	e.fetchInstance("A", held)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, late.LockToken, held), provider.ErrInvalidLockToken,
		"§5.1: the old token becomes invalid immediately")
}

// An abandon repeated because its answer was lost fails and leaves the
// instance's next holder alone.
func abandonRepeated(e *env) {
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.abandon(got, 0, true)
	params := provider.AbandonParams{LockToken: got.LockToken, Delay: held, IgnoreAttempt: true}
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, params), provider.ErrInvalidLockToken, ruleGiveUp)
	next := e.fetchInstance("A", held)
	same(e, next.AttemptCount, 1, ruleGiveBack)
	err := e.p.AbandonOrchestrationItem(e.ctx, params)
	e.permanent(err, provider.ErrInvalidLockToken, ruleGiveUp)
	e.says(err, ruleGiveUp, "Invalid lock token")
	e.lockHeld("A", ruleGiveUp)
	e.commit(next, provider.AckOrchestrationParams{Metadata: created()})
}

// Giving a turn up with its attempt does not give back the attempts of other
// messages of the instance, nor hide or reveal them.
func abandonTouchesOwn(e *env) {
	e.create("A")
	e.enqueue(raised("A", "hidden"))
	e.abandon(e.fetchInstance("A", held), 0, false)
	hidden := e.fetchInstance("A", held)
	same(e, hidden.AttemptCount, 2, ruleCounts)
	due := time.Now().Add(2 * e.lease)
	e.abandon(hidden, 2*e.lease, false)

	e.enqueue(raised("A", "other"))
	other := e.fetchInstance("A", held)
	if time.Now().After(due) {
		e.Skip("too slow: the abandoned message became visible again before another could be fetched alone")
	}
	e.batch(other, ruleHides, raised("A", "other"))
	same(e, other.AttemptCount, 1, ruleHides)
	e.abandon(other, held, true)

	got := e.awaitFetch(held, ruleOwnRows)
	e.notBefore(due, ruleOwnRows)
	e.batch(got, ruleOwnRows, raised("A", "hidden"))
	same(e, got.AttemptCount, 3, ruleOwnRows)
}

// Messages that come during a turn are neither delayed nor counted when it is
// abandoned with a delay: the next turn has them alone.
func abandonLeavesLater(e *env) {
	e.create("A")
	e.enqueue(raised("A", "hidden"))
	got := e.fetchInstance("A", held)
	e.enqueue(raised("A", "during"))
	e.abandon(got, held, false)
	e.enqueue(raised("A", "after"))
	got = e.fetchInstance("A", held)
	e.batch(got, ruleLater, raised("A", "during"), raised("A", "after"))
	same(e, got.AttemptCount, 1, ruleOwnRows)
	e.drop(got)
	e.fetchNone(ruleHides)
}

// An abandoned batch is hidden for the delay, from now, and then comes whole.
func abandonHides(e *env) {
	e.enqueue(startItem("B"), startItem("A"), raised("A", "go"))
	e.abandon(e.fetchInstance("B", held), held, false)
	got := e.fetchInstance("A", held)
	due := time.Now().Add(e.lease)
	e.abandon(got, e.lease, false)
	again := e.awaitFetch(held, ruleHides)
	e.notBefore(due, ruleHides)
	e.batch(again, ruleHides, startItem("A"), raised("A", "go"))
	same(e, again.AttemptCount, 2, ruleCounts)
	e.fetchNone(ruleHides)
}

// A negative delay is a mistake: refused without effect, on both queues.
func abandonNegativeDelay(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	turn, work := e.fetchInstance("A", held), e.fetchWork(held)
	const rule = "AbandonParams: Delay: 0 is none; negative is invalid; §2.3: bad argument → permanent"
	params := provider.AbandonParams{LockToken: turn.LockToken, Delay: -time.Second, IgnoreAttempt: true}
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, params), provider.ErrInvalidArgument, rule)
	e.lockHeld("A", ruleNothing)
	params.LockToken = work.LockToken
	e.permanent(e.p.AbandonWorkItem(e.ctx, params), provider.ErrInvalidArgument, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleNothing)
	e.commit(turn, provider.AckOrchestrationParams{Metadata: created()})
	e.ackWork(work)
}

// A turn can be given up after its lease's end as long as nobody took over.
func abandonExpired(e *env) {
	e.enqueue(startItem("A"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken, IgnoreAttempt: true}), ruleOldToken)
	late = e.fetchInstance("A", e.lease)
	same(e, late.AttemptCount, 1, ruleGiveBack)
	e.expire()
	got := e.fetchInstance("A", held)
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken}),
		provider.ErrInvalidLockToken, ruleGiveUp)
	same(e, got.AttemptCount, 2, ruleRefetch)
	e.lockHeld("A", ruleGiveUp)
}

// A turn given up has no effects on history, executions, status or queues.
func abandonHasNoEffects(e *env) {
	e.abandon(e.readyForEverything("A"), 0, false)
	got := e.fetchInstance("A", held)
	e.sameEvents(got.Item.History, []provider.Event{started("A", 1)}, "§5.3: give up a turn without effects")
	e.untouched("A", "§5.3: give up a turn without effects")
}

// Renewal sets the lease from now, for the lock and for the messages it holds:
// it can shorten a long lease, after which the batch can be fetched again.
func renewFromNow(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", e.lease)
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, held), ruleFromNow)
	e.expire()
	e.lockHeld("A", ruleFromNow)
	due := time.Now().Add(e.lease)
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, e.lease), ruleFromNow)
	again := e.awaitFetch(held, ruleFromNow)
	e.notBefore(due, ruleLease)
	e.batch(again, "§5.4: … and on the batch rows if they carry a deadline", raised("A", "go"), raised("A", "knock"))
	same(e, again.AttemptCount, 2, ruleCounts)
}

// Renewal needs a token that is held: not an unknown one, nor one whose turn was
// committed, given up, or taken over.
func renewNeedsLiveToken(e *env) {
	renew := func(token string) {
		e.Helper()
		err := e.p.RenewOrchestrationItemLock(e.ctx, token, held)
		e.permanent(err, provider.ErrInvalidLockToken, ruleRenewLive)
		e.says(err, ruleBadToken, "Invalid lock token")
	}
	e.enqueue(startItem("A"))
	given := e.fetchInstance("A", held)
	e.abandon(given, 0, false)
	renew(given.LockToken)
	acked := e.fetchInstance("A", held)
	renew(given.LockToken)
	e.commit(acked, provider.AckOrchestrationParams{Metadata: created()})
	renew(acked.LockToken)
	e.enqueue(raised("A", "go"))
	lost := e.fetchInstance("A", e.lease)
	e.expire()
	live := e.fetchInstance("A", held)
	renew(lost.LockToken)
	renew("no-such-token")
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, live.LockToken, held), ruleFromNow)
}
