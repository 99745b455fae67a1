package providertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// activities checks how activities are fetched, completed and given up: what concerns neither sessions nor tags.
func activities() category {
	return category{name: "activities", scenarios: []scenario{
		{"work_ack_repeated_after_a_lost_answer", workAckRepeated},
		{"work_ack_refuses_other_completions", workAckRefusesOthers},
		{"work_ack_for_an_unknown_instance", workAckUnknownInstance},
		{"work_ack_after_takeover", workAckAfterTakeover},
		{"work_abandon_keeps_session_tag_and_identity", workAbandonKeeps},
		{"work_abandon_repeated_and_expired", workAbandonTokens},
		{"work_abandon_keeps_the_place_in_the_queue", workAbandonKeepsPlace},
		{"work_renew_after_abandon_fails", workRenewAfterAbandon},
		{"work_abandoned_with_a_delay_counts_its_attempt", workDelayCounts},
		{"work_ack_reaches_a_finished_instance", workAckFinished},

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

		{"completion_goes_to_the_instance_that_it_names", completionByName},
	}}
}

const (
	ruleCompletion = "§5.11: completion must be ActivityCompleted or ActivityFailed; otherwise permanent error and rollback"
	ruleWorkOnce   = "§5.11: delete the row; if completion != nil, enqueue it; §5: second call fails"
	rulePreserved  = "§5.13: session: unchanged; tag, session id and identity columns are preserved"
	ruleWorkToken  = "§5.13: unknown token: permanent error (`Invalid lock token or already acked`)"
	ruleDeadLetter = "§5.10: undecodable item: SHOULD dead-letter it and go on with the next row"
	ruleReceiver   = "§5.11: enqueue it to the orchestrator queue, visible now, for the instance that the completion names"
)

// An activity's ack repeated because its answer was lost fails as lost lock and
// queues no second completion.
func workAckRepeated(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	first, second := e.fetchWork(held), e.fetchWork(held)
	e.ackWork(first)
	e.ok(e.p.AckWorkItem(e.ctx, second.LockToken, nil), "§5.11: completion == nil: delete only")
	for _, completion := range []provider.WorkItem{completedItem("A", 2), nil} {
		err := e.p.AckWorkItem(e.ctx, first.LockToken, completion)
		e.permanent(err, provider.ErrLockLost, ruleWorkOnce)
		e.workerText(err)
		e.permanent(e.p.AckWorkItem(e.ctx, second.LockToken, completion), provider.ErrLockLost, ruleWorkOnce)
	}
	e.batch(e.fetchInstance("A", held), ruleWorkOnce, completedItem("A", 2))
	e.fetchNoWork(provider.FetchWorkParams{}, ruleWorkOnce)
}

// Anything but an activity's result is refused as completion; the activity stays
// locked and can be completed properly.
func workAckRefusesOthers(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	got := e.fetchWork(held)
	for _, item := range append(otherItems("A"), activityItem("A", 2)) {
		switch item.(type) {
		case provider.ActivityCompletedItem, provider.ActivityFailedItem:
			continue
		}
		e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, item), provider.ErrInvalidArgument, ruleCompletion+": "+item.Variant())
	}
	e.fetchNone(ruleCompletion)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleCompletion)
	e.ackWork(got)
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 2))
}

// An activity of an instance that does not exist can be completed; its result
// waits like any other early message.
func workAckUnknownInstance(e *env) {
	e.enqueueWork(activityItem("A", 2))
	e.ackWork(e.fetchWork(held))
	const rule = "§5.11: instance does not exist: not checked; the completion becomes an orphan (§5.1)"
	e.fetchNone(rule)
	e.enqueue(startItem("A"))
	e.batch(e.fetchInstance("A", held), rule, completedItem("A", 2), startItem("A"))
}

// A worker that lost its activity to another cannot complete, abandon or renew
// it; the other can.
func workAckAfterTakeover(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	lost := e.fetchWork(e.lease)
	e.expire()
	live := e.fetchWork(held)
	e.permanent(e.p.AckWorkItem(e.ctx, lost.LockToken, completedItem("A", 2)), provider.ErrLockLost, ruleWorkAck+" (P13)")
	e.permanent(e.p.RenewWorkItemLock(e.ctx, lost.LockToken, held), provider.ErrLockLost, ruleRenewWork)
	e.permanent(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: lost.LockToken}), provider.ErrLockLost, ruleWorkToken)
	e.fetchNone(ruleWorkAck)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleWorkAck)
	e.ackWork(live)
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 2))
}

// An activity that was given back is the same one: its content, tag and session,
// still its owner's, and it can be cancelled by its identity.
func workAbandonKeeps(e *env) {
	e.create("A")
	item := activityItem("A", 2)
	item.SessionID, item.Tag = new("s1"), new("gpu")
	e.enqueueWork(item)
	gpu, err := provider.Tags("gpu")
	e.ok(err, "§3.7: Tags(set): 1–5 tags")
	owner := provider.FetchWorkParams{LockTimeout: held, Tags: gpu, Session: &provider.SessionFetchConfig{OwnerID: "w1", LockTimeout: held}}
	other := owner
	other.Session = &provider.SessionFetchConfig{OwnerID: "w2", LockTimeout: held}
	for _, ignore := range []bool{false, true} {
		e.abandonWork(e.claim(owner, 2, rulePreserved), 0, ignore)
		e.fetchNoWork(other, "§5.13: session: unchanged: the owner keeps it until its lease ends")
		e.fetchNoWork(provider.FetchWorkParams{Session: owner.Session}, rulePreserved)
		e.fetchNoWork(provider.FetchWorkParams{Tags: gpu}, rulePreserved)
	}
	got := e.claim(owner, 2, rulePreserved)
	e.sameItem(got.Item, item, rulePreserved)
	e.abandonWork(got, 0, false)
	e.cancel("A", ref("A", 2))
	e.fetchNoWork(owner, rulePreserved)
}

// An activity can be given back once, also after its lease's end as long as
// nobody took it.
func workAbandonTokens(e *env) {
	e.enqueueWork(activityItem("A", 2))
	late := e.fetchWork(e.lease)
	e.expire()
	e.ok(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken, IgnoreAttempt: true}),
		"§5.13: expired token, row not refetched: accepted")
	for range 2 {
		err := e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: late.LockToken, Delay: held, IgnoreAttempt: true})
		e.permanent(err, provider.ErrInvalidLockToken, ruleWorkToken)
		e.says(err, ruleWorkToken, "Invalid lock token")
	}
	got := e.fetchWork(held)
	same(e, got.AttemptCount, 1, ruleWorkBack)
	err := e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: "no-such-token"})
	e.permanent(err, provider.ErrInvalidLockToken, ruleWorkToken)
	e.ackWork(got)
}

// An activity that was given back without a delay is still the oldest.
func workAbandonKeepsPlace(e *env) {
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	e.abandonWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO), 0, false)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, ruleFIFO)
}

// The token of an activity that was given back renews nothing, neither before
// nor after the next fetch.
func workRenewAfterAbandon(e *env) {
	e.enqueueWork(activityItem("A", 2))
	given := e.fetchWork(held)
	e.abandonWork(given, 0, false)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, given.LockToken, held), provider.ErrLockLost, ruleRenewWork)
	e.fetchWork(held)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, given.LockToken, held), provider.ErrLockLost, ruleRenewWork)
}

// A delay is one thing and the attempt another.
func workDelayCounts(e *env) {
	e.enqueueWork(activityItem("A", 2))
	e.abandonWork(e.fetchWork(held), e.lease, false)
	e.expire()
	same(e, e.fetchWork(held).AttemptCount, 2, "§5.13: only IgnoreAttempt uncounts the attempt")
}

// A finished instance gets the completion, and the runtime drops it.
func workAckFinished(e *env) {
	const rule = "§5.11: if completion != nil, enqueue it for its instance; §5.9: finished instance: accepted"
	e.createEnded("A", provider.StatusCompleted)
	e.enqueueWork(activityItem("A", 2))
	e.ackWork(e.fetchWork(held))
	got := e.tryFetch(held)
	e.check(got != nil, rule, "the completion is gone")
	e.batch(got, rule, completedItem("A", 2))
}

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

// The receiver is the completion's instance, whichever instance the activity was queued for.
func completionByName(e *env) {
	e.create("A")
	e.create("B")
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	e.ok(e.p.AckWorkItem(e.ctx, e.fetchWork(held).LockToken, completedItem("B", 2)), ruleReceiver)
	got := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held})
	e.check(got != nil && got.Item.Instance == "B", ruleReceiver, "fetched %s, want \"B\"", render(got))
	e.batch(got, ruleReceiver, completedItem("B", 2))
	e.fetchNone(ruleReceiver)
	failed := provider.ActivityFailedItem{Instance: "A", ExecutionID: 1, ID: 3, Details: provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "no"}}
	e.ok(e.p.AckWorkItem(e.ctx, e.fetchWork(held).LockToken, failed), ruleReceiver)
	e.batch(e.fetchInstance("A", held), ruleReceiver, failed)
}
