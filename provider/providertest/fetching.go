package providertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// fetching checks which instance a fetch picks, what it tells about it, and whom
// it must pass over (§5.1).
func fetching() category {
	return category{"fetching", []scenario{
		{"candidates_in_row_order", candidatesInRowOrder},
		{"batch_in_row_order_whatever_the_due_time", batchInRowOrder},
		{"delayed_messages_stay_out_of_the_batch", delayedStayOut},
		{"expired_batch_is_retagged_with_what_came_since", batchRetagged},
		{"lease_is_honoured_to_the_millisecond", leaseInMilliseconds},
		{"arguments_are_checked", fetchArguments},
		{"candidate_order_follows_what_becomes_due", orderFollowsDue},
		{"busy_instances_are_passed_over", busyPassedOver},
		{"crowds_that_come_due_together_hide_nobody", crowdsDue},
		{"crowds_of_activities_that_come_due_together", crowdsOfActivities},
		{"lost_race_means_the_next_candidate", lostRaceMeansNext},
		{"context_from_the_instance_row", contextFromRow},
		{"context_from_appended_history", contextFromAppendedHistory},
		{"context_from_acks_without_metadata", contextFromAckedHistory},
		{"context_from_a_start_anywhere_in_the_batch", contextFromStart},
		{"context_from_a_continue_as_new", contextFromContinueAsNew},
		{"context_from_the_first_of_two_starts", contextFromFirstStart},
		{"duplicate_start_changes_nothing", duplicateStart},
		{"continue_as_new_batch_reports_the_old_execution", continueAsNewReportsOld},
		{"orphans_never_starve_others", orphansNeverStarve},
		{"orphans_wait_for_their_start_uncounted", orphansWaitUncounted},
		{"orphan_mixes_are_kept", orphanMixesKept},
		{"orphan_with_history_that_never_started_is_kept", orphanWithoutStartedKept},
		{"orphan_becomes_fetchable_with_an_appended_start", orphanGetsHistory},
		{"orphan_queue_messages_do_not_end_the_search", orphanQueueMessagesPassed},
		{"queue_messages_survive_a_delayed_start", queueMessagesSurviveDelayedStart},
		{"queue_messages_survive_a_start_that_backs_off", queueMessagesSurviveBackOff},
		{"hidden_start_hides_its_instance", hiddenStartHidesInstance},
		{"messages_wait_for_a_hidden_continue_as_new", messagesWaitForContinueAsNew},
		{"delayed_duplicate_start_blocks_nobody", delayedDuplicateStart},
		{"undecodable_message_is_left_out", undecodableLeftOut},
		{"undecodable_message_becomes_a_dead_letter", undecodableBecomesDeadLetter},
		{"undecodable_message_alone_means_the_next_candidate", undecodableAlone},
		{"undecodable_start_leaves_orphans", undecodableStart},
		{"undecodable_message_counts_its_attempts", undecodableAttempts},
		{"damaged_start_event_leaves_the_name_to_the_start", damagedStartEvent},
		{"corrupted_history_is_reported_and_starves_nobody", corruptedStarvesNobody},
	}}
}

const (
	ruleRowOrder   = "§5.1 step 2: SHOULD use row id order among visible rows"
	ruleBatchOrder = "§5.1: message order: row id, regardless of visible_at"
	ruleInvisible  = "§5.1: delayed messages: not part of the batch, not counted; " +
		"their instance may still be fetched for other messages"
	ruleNextCandidate = "§5.1 step 6: lost race: continue with the next candidate in the same call; " +
		"nil may be returned only when no eligible candidate remains (P1)"
	ruleMillis = "§2.1: durations: convert with millisecond precision; MUST NOT truncate to seconds (P25)"
)

// Instances come in the order of their oldest message that is visible, by row
// and not by due time.
func candidatesInRowOrder(e *env) {
	e.enqueueLater(startItem("delayed"), e.lease)
	for _, instance := range []string{"C", "A", "B"} {
		e.enqueue(startItem(instance))
	}
	e.enqueue(raised("A", "again"))
	e.expire()
	same(e, e.fetch(held).Item.Instance, "delayed", ruleRowOrder)
	c := e.fetch(held)
	same(e, c.Item.Instance, "C", ruleRowOrder)
	same(e, e.fetch(held).Item.Instance, "A", ruleRowOrder)
	e.abandon(c, 0, false)
	same(e, e.fetch(held).Item.Instance, "C", "§5.3: no delay: visible_at unchanged (P23)")
	same(e, e.fetch(held).Item.Instance, "B", ruleRowOrder)
}

// An instance that has been waiting moves up when an older message of it comes
// due, whatever arrives just then.
func orderFollowsDue(e *env) {
	for _, instance := range []string{"A", "B"} {
		e.create(instance)
	}
	e.enqueueLater(raised("B", "old"), e.lease)
	e.enqueue(raised("A", "go"), raised("B", "young"))
	e.abandon(e.fetch(held), 0, true)
	e.expire()
	e.enqueue(raised("B", "last"))
	got := e.fetch(held)
	same(e, got.Item.Instance, "B", ruleRowOrder)
	e.batch(got, ruleBatchOrder, raised("B", "old"), raised("B", "young"), raised("B", "last"))
	same(e, e.fetch(held).Item.Instance, "A", ruleRowOrder)
}

// A message that was queued early and is due late is first in its batch.
func batchInRowOrder(e *env) {
	e.create("A")
	timer := provider.TimerFiredItem{Instance: "A", ExecutionID: 1, ID: 2}
	e.enqueueLater(timer, e.lease)
	e.enqueue(raised("A", "soon"))
	e.expire()
	e.enqueue(raised("A", "last"))
	e.batch(e.fetchInstance("A", held), ruleBatchOrder, timer, raised("A", "soon"), raised("A", "last"))
}

// A message that is not due is neither delivered, nor deleted with the batch, nor
// counted as an attempt.
func delayedStayOut(e *env) {
	e.create("A")
	e.enqueueLater(raised("A", "never"), held)
	e.enqueue(raised("A", "now"))
	got := e.fetchInstance("A", held)
	e.batch(got, ruleInvisible, raised("A", "now"))
	e.drop(got)
	e.fetchNone(ruleInvisible)

	due := time.Now().Add(2 * e.lease)
	e.enqueueLater(raised("A", "later"), 2*e.lease)
	e.enqueue(raised("A", "now"))
	e.abandon(e.fetchInstance("A", held), 0, false)
	e.drop(e.fetchInstance("A", held))
	if time.Now().After(due) {
		e.Skip("too slow: the delayed message became visible before the first one was processed")
	}
	got = e.awaitFetch(held, ruleInvisible)
	e.batch(got, ruleInvisible, raised("A", "later"))
	same(e, got.AttemptCount, 1, ruleInvisible)
}

// After a crash the same messages come again with those that arrived since, under
// a new token; the old one is worthless for anything.
func batchRetagged(e *env) {
	e.enqueue(startItem("A"), raised("A", "before"))
	dead := e.fetchInstance("A", e.lease)
	e.enqueue(raised("A", "during"))
	e.expire()
	e.enqueue(raised("A", "after"))
	got := e.fetchInstance("A", held)
	const rule = "§5.1: lock expired, worker crashed: same messages plus newly visible ones, new token, attempt +1"
	e.batch(got, rule, startItem("A"), raised("A", "before"), raised("A", "during"), raised("A", "after"))
	same(e, got.AttemptCount, 2, rule)
	const old = "§5.1: the old token becomes invalid immediately"
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(dead, provider.AckOrchestrationParams{})), provider.ErrInvalidLockToken, old)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, dead.LockToken, held), provider.ErrInvalidLockToken, old)
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: dead.LockToken}), provider.ErrInvalidLockToken, old)
	e.lockHeld("A", old)
	e.commit(got, provider.AckOrchestrationParams{Metadata: created()})
	e.batch(e.fetchInstance("A", held), "§5.2 step 2: delete orchestrator rows with this token", raised("A", "knock"))
}

// A lease that is no whole number of seconds is not cut, nor its renewal rounded up, on
// both queues.
func leaseInMilliseconds(e *env) {
	odd := e.lease.Truncate(time.Second) + 500*time.Millisecond
	if odd < e.lease {
		odd += time.Second
	}
	e.enqueue(startItem("A"))
	due := time.Now().Add(odd)
	e.fetchInstance("A", odd)
	turn := e.awaitFetch(held, ruleMillis)
	e.notBefore(due, ruleMillis)

	e.enqueueWork(activityItem("A", 2))
	due = time.Now().Add(odd)
	e.fetchWork(odd)
	work := e.awaitWork(held, ruleMillis)
	e.notBefore(due, ruleMillis)

	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, odd), ruleMillis)
	e.ok(e.p.RenewWorkItemLock(e.ctx, work.LockToken, odd), ruleMillis)
	e.sleep(odd + 20*time.Millisecond)
	e.fetchInstance("A", held)
	e.fetchWork(held)
}

// A lease that is not positive cannot be taken: the call fails for good and
// locks nothing.
func fetchArguments(e *env) {
	e.enqueue(startItem("A"))
	e.enqueueWork(activityItem("A", 2))
	const rule = "§5: invalid arguments are permanent errors; FetchOrchestrationParams: LockTimeout must be positive"
	for _, lease := range []time.Duration{0, -time.Second} {
		_, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
		e.permanent(err, provider.ErrInvalidArgument, rule)
		_, err = e.p.FetchWorkItem(e.ctx, provider.FetchWorkParams{LockTimeout: lease})
		e.permanent(err, provider.ErrInvalidArgument, rule)
	}
	same(e, e.fetchInstance("A", held).AttemptCount, 1, ruleNothing)
	same(e, e.fetchWork(held).AttemptCount, 1, ruleNothing)
}

// Any number of instances that are locked or not due may stand in front of the
// one that can be fetched.
func busyPassedOver(e *env) {
	const n = 120
	for i := range n {
		if i%2 == 0 {
			e.enqueueLater(startItem(fmt.Sprint("later", i)), held)
			continue
		}
		instance := fmt.Sprint("busy", i)
		e.enqueue(startItem(instance))
		e.fetchInstance(instance, held)
		e.enqueue(raised(instance, "go"))
	}
	e.enqueue(startItem("free"))
	e.fetchInstance("free", held)
	e.fetchNone(ruleExclusive)
}

// Hundreds of messages that come due in the same moment, with nothing to fetch
// behind them, hide no instance that came due a moment later; and what can be
// fetched comes in row order, not in the order in which it came due.
func crowdsDue(e *env) {
	const n, ordered = 1200, 150
	soon, _ := msFromNow(e.lease)
	var timers []provider.WorkItem
	for i := range n {
		timers = append(timers, provider.TimerFiredItem{Instance: fmt.Sprint("ghost", i), ExecutionID: 1, ID: 2, FireAtMs: soon})
	}
	last := timerAt(soon + 10)
	e.createWith("A", provider.AckOrchestrationParams{OrchestratorItems: append(timers, last)})
	e.expire()
	e.batch(e.fetchInstance("A", held), ruleNextCandidate, last)
	e.fetchNone(ruleKeepOrphans)

	for i := range ordered {
		e.enqueueLater(startItem(fmt.Sprint("i", i)), e.lease+time.Duration(ordered-i)*time.Millisecond)
	}
	e.sleep(e.lease + ordered*time.Millisecond + 20*time.Millisecond)
	for i := range 5 {
		same(e, e.fetch(held).Item.Instance, fmt.Sprint("i", i), ruleRowOrder)
	}
}

// Activities that come due together hide no other that a worker is looking for,
// and are claimed in row order.
func crowdsOfActivities(e *env) {
	const n = 250
	var turn provider.AckOrchestrationParams
	for id := range uint64(n) {
		item := activityItem("A", id)
		item.Tag = new("crowd")
		turn.WorkerItems = append(turn.WorkerItems, item)
	}
	turn.WorkerItems = append(turn.WorkerItems, activityItem("A", n))
	e.createWith("A", turn)
	anyone := provider.FetchWorkParams{LockTimeout: held, Tags: provider.AnyTag()}
	var claims []*provider.FetchedWorkItem
	for id := range uint64(n + 1) {
		claims = append(claims, e.claim(anyone, id, ruleFIFO))
	}
	for _, got := range slices.Backward(claims[:n]) {
		e.abandonWork(got, e.lease, true)
	}
	e.abandonWork(claims[n], e.lease, true)
	e.expire()
	e.claim(provider.FetchWorkParams{LockTimeout: held}, n, "§5.10 step 2: visible rows without a live lock are eligible")
	for id := range uint64(n) {
		e.claim(anyone, id, ruleFIFO)
	}
}

// Ten callers over ten instances, ten times at once: whoever loses the race for
// one instance gets another, never nothing.
func lostRaceMeansNext(e *env) {
	const n, rounds = 10, 10
	for i := range n {
		e.create(fmt.Sprint("i", i))
	}
	for i := range n {
		e.enqueue(raised(fmt.Sprint("i", i), "go"))
	}
	for range rounds {
		claims := make([]*provider.FetchedOrchestration, n)
		e.together(n, func(i int) error {
			got, err := e.grab(e.p, held)
			if err == nil && got == nil {
				return violation(ruleNextCandidate, "a caller got nothing although there are as many instances as callers")
			}
			claims[i] = got
			return err
		})
		instances := map[string]bool{}
		for _, got := range claims {
			instances[got.Item.Instance] = true
			e.batch(got, ruleTwoFetch, raised(got.Item.Instance, "go"))
			e.commit(got, provider.AckOrchestrationParams{
				OrchestratorItems: []provider.WorkItem{raised(got.Item.Instance, "go")},
			})
		}
		same(e, len(instances), n, ruleTwoFetch)
	}
}
