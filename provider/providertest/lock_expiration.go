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
