package providertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// moreActivities covers rules of the worker queue that concern neither sessions
// nor tags.
func moreActivities() category {
	return category{name: "more activities", scenarios: []scenario{
		{"session_lease_must_be_positive", sessionLeaseMustBePositive},
		{"activity_lease_ends_on_time", activityLeaseEndsOnTime},
		{"activity_renewal_ends_on_time", activityRenewalEndsOnTime},
		{"abandon_delay_ends_on_time", abandonDelayEndsOnTime},
		{"instance_state_does_not_matter", instanceStateDoesNotMatter},
		{"tokens_are_never_reused", tokensAreNeverReused},
		{"tokens_of_any_shape_are_refused", junkWorkTokensRefused},
		{"undecodable_activity_does_not_block", undecodableActivityDoesNotBlock},
		{"undecodable_activity_is_kept_as_dead_letter", undecodableActivityIsKeptAsDeadLetter},
		{"undecodable_activity_claims_no_session", undecodableActivityClaimsNoSession},
	}}
}

// What the contract says about undecodable activities.
const ruleDeadLetter = "§5.10: undecodable item: SHOULD dead-letter it and go on with the next row"

// A fetch that names a session owner needs positive leases for the activity and
// for its session, whatever it finds.
func sessionLeaseMustBePositive(e *env) {
	const rule = "§5, FetchWorkItem: permanent errors: invalid arguments (leases must be positive)"
	e.enqueueWork(inSession("s", 1), plain(2))
	for _, bad := range []time.Duration{0, -time.Second} {
		for _, params := range []provider.FetchWorkParams{
			ownerFor("ann", bad, held), ownerFor("ann", held, bad),
		} {
			got, err := e.p.FetchWorkItem(e.ctx, params)
			e.check(got == nil, rule, "fetched %v", got)
			e.permanent(err, provider.ErrInvalidArgument, rule)
		}
	}
	e.sessionRows(rule)
	same(e, e.claim(owner("bob"), 1, rule).AttemptCount, 1, rule)
}

// An activity is locked for exactly its lease, to the millisecond.
func activityLeaseEndsOnTime(e *env) {
	lease := e.lease + fraction
	e.enqueueWork(plain(1))
	begin := time.Now()
	e.fetchWork(lease)
	e.freeAfter(lease, begin, time.Now(), noSession(),
		"§5.10 step 6: locked_until = now + lockTimeout; §2.1: durations with millisecond precision")
}

// A renewal sets the lease's end to now + extendFor, to the millisecond, also
// when that is earlier.
func activityRenewalEndsOnTime(e *env) {
	const rule = "§5.12: locked_until = now + extendFor; §2.1: durations with millisecond precision"
	lease := e.lease + fraction
	e.enqueueWork(plain(1))
	got := e.fetchWork(held)
	begin := time.Now()
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, lease), rule)
	e.freeAfter(lease, begin, time.Now(), noSession(), rule)
}

// An abandoned activity is hidden for exactly the delay, to the millisecond.
func abandonDelayEndsOnTime(e *env) {
	delay := e.lease + fraction
	e.enqueueWork(plain(1))
	got := e.fetchWork(held)
	begin := time.Now()
	e.abandonWork(got, delay, false)
	e.freeAfter(delay, begin, time.Now(), noSession(),
		"§5.13: visible_at = now + delay; §2.1: durations with millisecond precision")
}

// Activities are delivered whether their instance is locked, finished or unknown.
func instanceStateDoesNotMatter(e *env) {
	for _, instance := range []string{"locked", "done"} {
		e.create(instance)
	}
	e.finish("done", provider.StatusCompleted, "out")
	e.enqueue(raised("locked", "wake"))
	e.fetchInstance("locked", held)
	for i, instance := range []string{"locked", "done", "unknown"} {
		e.enqueueWork(activityItem(instance, uint64(i)))
	}
	e.claim(noSession(), 0, "§5.10: instance lock: irrelevant to worker fetches")
	e.claim(noSession(), 1, "§5.10: instance deleted or finished: the provider does not check; the item is delivered")
	e.claim(noSession(), 2, "§5.10: instance deleted or finished: the provider does not check; the item is delivered")
}

// Ack, renew and abandon refuse tokens of any shape that no activity carries, also a
// turn's; the activity stays with the true token's holder.
func junkWorkTokensRefused(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	turn, got := e.fetchInstance("A", held), e.fetchWork(held)
	tokens := []string{
		"", "no-such-token", "00000000-0000-0000-0000-000000000000", "'; --", "\x00", "\xff", strings.Repeat("é", 5000),
		got.LockToken + " ", " " + got.LockToken, got.LockToken + "\x00", got.LockToken[1:], turn.LockToken,
	}
	for _, token := range tokens {
		rule := fmt.Sprintf("%s (token %.100q)", ruleWorkToken, token)
		e.permanent(e.p.AckWorkItem(e.ctx, token, completedItem("A", 2)), provider.ErrInvalidLockToken, rule)
		e.permanent(e.p.RenewWorkItemLock(e.ctx, token, held), provider.ErrInvalidLockToken, rule)
		e.permanent(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: token}), provider.ErrInvalidLockToken, rule)
	}
	e.fetchNoWork(noSession(), ruleNothing)
	e.lockHeld("A", ruleNothing)
	e.ackWork(got)
	e.commit(turn, provider.AckOrchestrationParams{Metadata: created()})
}

// Every fetch has a token of its own, also of the same activity.
func tokensAreNeverReused(e *env) {
	seen := map[string]bool{}
	e.enqueueWork(plain(1))
	for range 40 {
		got := e.fetchWork(held)
		e.check(len(got.LockToken) >= 16, "§2.2: lock token: unguessable (UUID v4 or 128-bit random)",
			"token %q is too short", got.LockToken)
		e.check(!seen[got.LockToken], "§2.2: lock token: globally unique (P26)", "token %q came twice", got.LockToken)
		seen[got.LockToken] = true
		e.abandonWork(got, 0, true)
	}
}

// undecodable are texts that are no ActivityExecute.
var undecodable = []string{
	`not json`, `{"ActivityExecute":{"instance":"order"`, `{"NoSuchItem":{}}`, `{"ActivityExecute":{"instance":"order"}}`,
}

// spoil queues an activity for each text, with ids from first on, and replaces
// what is stored of it by the text.
func (e *env) spoil(first uint64, texts ...string) {
	e.Helper()
	e.needs(e.store.CorruptWorkItem != nil, "CorruptWorkItem")
	for i, text := range texts {
		e.enqueueWork(plain(first + uint64(i)))
		ref := provider.ActivityRef{Instance: "order", ExecutionID: 1, ActivityID: first + uint64(i)}
		e.ok(e.store.CorruptWorkItem(e.ctx, ref, text), "the CorruptWorkItem hook")
	}
}

// Activities that cannot be decoded hold up neither those behind them nor the
// fetch that finds nothing else.
func undecodableActivityDoesNotBlock(e *env) {
	e.spoil(1, undecodable...)
	e.enqueueWork(plain(10))
	e.ackWork(e.claim(noSession(), 10, ruleDeadLetter))
	e.spoil(20, undecodable...)
	e.fetchNoWork(noSession(), ruleDeadLetter)
	e.enqueueWork(plain(30))
	same(e, e.claim(noSession(), 30, ruleDeadLetter).AttemptCount, 1, ruleDeadLetter)
}

// What could not be decoded is set aside as it was, once.
func undecodableActivityIsKeptAsDeadLetter(e *env) {
	e.needs(e.store.DeadLetters != nil, "DeadLetters")
	e.spoil(1, undecodable...)
	for range 2 {
		e.fetchNoWork(noSession(), ruleDeadLetter)
		letters, err := e.store.DeadLetters(e.ctx)
		e.ok(err, "the DeadLetters hook")
		sameList(e, letters, undecodable, ruleDeadLetter)
	}
	if e.p.Admin() != nil {
		same(e, e.depths().WorkerQueue, 0, ruleDeadLetter)
	}
}

// A session whose first item cannot be decoded stays free.
func undecodableActivityClaimsNoSession(e *env) {
	e.needs(e.store.CorruptWorkItem != nil, "CorruptWorkItem")
	e.enqueueWork(inSession("s", 1))
	ref := provider.ActivityRef{Instance: "order", ExecutionID: 1, ActivityID: 1}
	e.ok(e.store.CorruptWorkItem(e.ctx, ref, "not json"), "the CorruptWorkItem hook")
	e.fetchNoWork(owner("ann"), ruleDeadLetter)
	e.sessionRows("§5.10 step 7: the session of the returned row is claimed")
	e.enqueueWork(inSession("s", 2))
	e.claim(owner("bob"), 2, ruleUnclaimed)
}
