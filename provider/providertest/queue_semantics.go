package providertest

import (
	"math"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// queueSemantics checks the two peek-lock queues: order, visibility, what turns put
// into them, and that a fetched message is neither gone nor available.
func queueSemantics() category {
	return category{"queue semantics", []scenario{
		{"worker_queue_fifo_ordering", workIsFIFO},
		{"worker_peek_lock_semantics", workIsPeekLocked},
		{"worker_ack_atomicity", workAckIsAtomic},
		{"timer_delayed_visibility", timersWait},
		{"lost_lock_token_handling", lostWorkComesBack},
		{"worker_item_immediate_visibility", workIsVisibleAtOnce},
		{"worker_delayed_visibility_skips_future_items", delayedWorkIsSkipped},
		{"orphan_queue_messages_dropped", orphanQueueMessagesDropped},

		{"worker_items_keep_session_and_tag", ackKeepsSessionAndTag},
		{"future_timer_of_an_ack_waits", timerOfAckWaits},
		{"past_timer_of_an_ack_is_immediate", timerOfAckImmediate},
		{"enqueued_timer_waits_for_the_later_of_its_times", enqueuedTimerWaits},
		{"dropping_timers_drops_nothing_else", dropsOnlyTimers},
		{"end_of_an_execution_drops_no_messages", endDropsNothing},
		{"timers_of_the_far_future_are_accepted", farTimers},
		{"items_on_the_wrong_queue_are_refused", wrongQueue},
		{"messages_to_itself_are_fetchable_after_the_ack", messageToItself},
		{"child_results_go_to_the_parent", childResultsToParent},
		{"nothing_is_deduplicated", nothingDeduplicated},
		{"items_of_a_turn_are_not_deduplicated", turnNotDeduplicated},
		{"finished_instances_still_get_messages", finishedGetMessages},
		{"late_completions_of_old_executions_are_delivered", lateCompletions},
	}}
}

const (
	ruleFIFO        = "§5.10 step 5: take the lowest row id (FIFO)"
	rulePeekLock    = "§1: peek-lock: fetching does not delete: it marks the message as locked until a deadline"
	ruleDelay       = "§5.9: visibility: now + delay; TimerFired: max(fire_at_ms, now + delay)"
	ruleDrop        = "§5.1: no instance row, all messages are QueueMessage: orphans: delete them"
	ruleColumns     = "§5.2 step 12: insert, visible now, attempt 0, identity/session/tag columns from the item (P32)"
	ruleTimer       = "§5.2 step 14: TimerFired: visible when its fire_at_ms has come, as a delay from now (0 or past → immediately visible)"
	ruleTimerJSON   = "§2.1: the JSON keeps the original value"
	ruleWrongOrch   = "§5.2: ActivityExecute inside orchestratorItems: SHOULD be a permanent error"
	ruleWrongWorker = "§5.8: other variants SHOULD be rejected with a permanent error"
	ruleRouting     = "§5.9: routing: instance, or parent_instance for sub-orchestration results"
)

// Activities come out in the order they went in.
func workIsFIFO(e *env) {
	for id := uint64(1); id <= 20; id++ {
		e.enqueueWork(activityItem("A", 21-id))
	}
	for id := uint64(1); id <= 20; id++ {
		e.claim(provider.FetchWorkParams{LockTimeout: held}, 21-id, ruleFIFO)
	}
	e.fetchNoWork(provider.FetchWorkParams{}, rulePeekLock)
}

// A fetched activity is hidden but not gone: given back, it comes again as it
// was; only its ack removes it.
func workIsPeekLocked(e *env) {
	e.enqueueWork(activityItem("A", 2))
	first := e.fetchWork(held)
	e.fetchNoWork(provider.FetchWorkParams{}, rulePeekLock)
	e.abandonWork(first, 0, false)
	second := e.fetchWork(held)
	e.sameItem(second.Item, activityItem("A", 2), rulePeekLock)
	e.ackWork(second)
	e.fetchNoWork(provider.FetchWorkParams{}, "§5.11: delete the row")
}

// An ack removes the activity and queues its completion in one step; a refused
// one does neither.
func workAckIsAtomic(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 2))
	got := e.fetchWork(held)
	wrong := provider.ExternalRaisedItem{Instance: "A", Name: "n", Data: "d"}
	const rule = "§5.11: completion must be ActivityCompleted or ActivityFailed; otherwise permanent error and rollback"
	e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, wrong), provider.ErrInvalidArgument, rule)
	e.fetchNone(rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)

	failed := provider.ActivityFailedItem{Instance: "A", ExecutionID: 1, ID: 2, Details: provider.ApplicationFailure{
		Kind: provider.AppActivityFailed, Message: "card declined",
	}}
	e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, failed), ruleWorkAck)
	e.fetchNoWork(provider.FetchWorkParams{}, "§5.11: delete the row")
	e.batch(e.fetchInstance("A", held), "§5.11: enqueue it to the orchestrator queue, visible now", failed)
}

// A timer queued with a delay is invisible until then, and its instance with it.
func timersWait(e *env) {
	e.create("A")
	timer := provider.TimerFiredItem{Instance: "A", ExecutionID: 1, ID: 2}
	far := timer
	far.ID = 3
	e.enqueueLater(far, held)
	e.fetchNone(ruleDelay)
	due := time.Now().Add(e.lease)
	e.enqueueLater(timer, e.lease)
	got := e.awaitFetch(held, ruleDelay)
	e.notBefore(due, ruleDelay)
	e.batch(got, ruleDelay, timer)
	same(e, got.AttemptCount, 1, "§5.1 step 9: first delivery reports 1")
}

// What a worker lost by its lease's end comes back to the queue, in its place;
// the lost token is refused.
func lostWorkComesBack(e *env) {
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	lost := e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, ruleFIFO)
	e.ok(e.p.RenewWorkItemLock(e.ctx, lost.LockToken, e.lease), ruleRenewWork)
	e.expire()
	again := e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, "§5.10 step 2: eligible: no token or locked_until <= now")
	same(e, again.AttemptCount, 2, "§5.10 step 6: attempt_count += 1")
	e.fetchNoWork(provider.FetchWorkParams{}, ruleLease)
	e.permanent(e.p.AckWorkItem(e.ctx, lost.LockToken, nil), provider.ErrLockLost, ruleWorkAck)
	e.ackWork(again)
}

// An activity can be fetched as soon as it is queued, directly or by a turn.
func workIsVisibleAtOnce(e *env) {
	e.enqueueWork(activityItem("A", 2))
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, "§5.8: visible now, unlocked, attempt 0")
	e.createWith("B", provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{activityItem("B", 3)}})
	got := e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, "§5.2 step 12: insert, visible now, attempt 0")
	same(e, got.AttemptCount, 1, "§5.10 step 9: first delivery = 1")
}

// An activity that is hidden for a while does not hold up those behind it.
func delayedWorkIsSkipped(e *env) {
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3), activityItem("A", 4))
	e.abandonWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleFIFO), held, false)
	const rule = "§5.10 step 2: eligible rows: visible_at <= now"
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, rule)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 4, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// Queue messages for an instance that nobody starts are dropped: a start that
// comes after does not find them. Those for an existing instance stay.
func orphanQueueMessagesDropped(e *env) {
	e.create("B")
	message := provider.QueueMessageItem{Instance: "ghost", Name: "inbox", Data: "m1"}
	e.enqueue(message, provider.QueueMessageItem{Instance: "ghost", Name: "outbox", Data: "m2"})
	e.fetchNone(ruleDrop)
	e.fetchNone(ruleDrop)
	e.noInstance("ghost", ruleNoCreate)
	e.enqueue(startItem("ghost"))
	e.batch(e.fetchInstance("ghost", held), ruleDrop, startItem("ghost"))
	message.Instance = "B"
	e.enqueue(message)
	e.batch(e.fetchInstance("B", held), "§5.1 step 10: instance row exists: delivered", message)
}

// An activity's session and tag take part in fetching it after the ack path just
// as after queuing it directly.
func ackKeepsSessionAndTag(e *env) {
	plain, tagged, bound := activityItem("A", 2), activityItem("A", 3), activityItem("A", 4)
	tagged.Tag = new("gpu")
	bound.SessionID, bound.Tag = new("s1"), new("gpu")
	e.createWith("A", provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{bound, tagged, plain}})

	gpu, err := provider.Tags("gpu")
	e.ok(err, "§3.7: Tags(set): 1–5 tags")
	got := e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleColumns)
	e.sameItem(got.Item, plain, ruleColumns)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleColumns)
	got = e.claim(provider.FetchWorkParams{LockTimeout: held, Tags: gpu}, 3, ruleColumns)
	e.sameItem(got.Item, tagged, ruleColumns)
	e.fetchNoWork(provider.FetchWorkParams{Tags: gpu}, ruleColumns)
	session := &provider.SessionFetchConfig{OwnerID: "w1", LockTimeout: held}
	e.fetchNoWork(provider.FetchWorkParams{Session: session}, ruleColumns)
	got = e.claim(provider.FetchWorkParams{LockTimeout: held, Tags: gpu, Session: session}, 4, ruleColumns)
	e.sameItem(got.Item, bound, ruleColumns)
}

// timerAt is a timer of A.
func timerAt(fireAtMs uint64) provider.TimerFiredItem {
	return provider.TimerFiredItem{Instance: "A", ExecutionID: 1, ID: 2, FireAtMs: fireAtMs}
}

// msFromNow is a fire time by the caller's clock, as the runtime's are.
func msFromNow(d time.Duration) (fireAtMs uint64, due time.Time) {
	due = time.Now().Add(d)
	return uint64(due.UnixMilli()), due
}

// A timer that a turn creates comes when it is due, not before, and as it was.
func timerOfAckWaits(e *env) {
	far, _ := msFromNow(held)
	e.createWith("A", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{timerAt(far)}})
	e.fetchNone(ruleTimer)
	near, due := msFromNow(e.lease)
	e.turn("A", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{timerAt(near)}})
	got := e.awaitFetch(held, ruleTimer)
	e.notBefore(due, ruleTimer)
	e.batch(got, ruleTimerJSON, timerAt(near))
	same(e, got.AttemptCount, 1, ruleFirst)
}

// Only DropTimers drops what is not visible yet: the next execution may want it.
func endDropsNothing(e *env) {
	for _, status := range []provider.Status{provider.StatusContinuedAsNew, provider.StatusCompleted} {
		instance := "A " + string(status)
		e.create(instance)
		e.enqueueLater(raised(instance, "later"), e.lease)
		e.finish(instance, status, "out")
		e.expire()
		got := e.fetchInstance(instance, held)
		e.sameItem(got.Item.Messages[0], raised(instance, "later"), "§5.2 step 2: deletes the rows with this token, and no others")
	}
}

// A turn that drops the timers of its instance leaves what starts an execution, what has
// come since, what it sends itself, and what others wait for. The timers may go or stay.
func dropsOnlyTimers(e *env) {
	const rule = "§5.2, DropTimers: deletes the instance's messages that are not visible yet and start nothing; those that the turn sends stay"
	e.create("A")
	e.create("B")
	again := startItem("A")
	again.Input = "again"
	next := provider.ContinueAsNewItem{Instance: "A", Orchestration: "Order", Input: "next"}
	others := provider.TimerFiredItem{Instance: "B", ExecutionID: 1, ID: 2}
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.enqueue(raised("A", "late"))
	for _, item := range []provider.WorkItem{again, next, others, timerAt(0)} {
		e.enqueueLater(item, e.lease)
	}
	near, _ := msFromNow(e.lease)
	own := timerAt(near)
	own.ID = 7
	e.ack(turnOf(got, provider.AckOrchestrationParams{
		Metadata: ended(provider.StatusCompleted, "out"), DropTimers: true,
		OrchestratorItems: []provider.WorkItem{raised("A", "own"), own},
	}))
	e.expire()
	a := e.fetchInstance("A", held)
	a.Item.Messages = slices.DeleteFunc(a.Item.Messages, func(m provider.WorkItem) bool { return m == provider.WorkItem(timerAt(0)) })
	e.batch(a, rule, raised("A", "late"), again, next, raised("A", "own"), own)
	e.batch(e.fetchInstance("B", held), rule, others)
}

// A timer without or with a past fire time comes with the next fetch.
func timerOfAckImmediate(e *env) {
	past, _ := msFromNow(-time.Hour)
	e.createWith("A", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{
		timerAt(past), timerAt(0), timerAt(1),
	}})
	e.batch(e.fetchInstance("A", held), ruleTimer, timerAt(past), timerAt(0), timerAt(1))
}

// A queued timer comes when both its fire time and the call's delay have passed.
func enqueuedTimerWaits(e *env) {
	e.create("A")
	far, _ := msFromNow(held)
	past, _ := msFromNow(-time.Hour)
	e.enqueueLater(timerAt(far), 0)
	e.enqueueLater(timerAt(far), e.lease/10)
	e.enqueueLater(timerAt(0), held)
	e.enqueueLater(timerAt(past), held)
	e.fetchNone(ruleDelay)
	e.enqueueLater(timerAt(past), 0)
	got := e.fetchInstance("A", held)
	e.batch(got, ruleDelay, timerAt(past))
	e.drop(got)

	near, due := msFromNow(e.lease)
	e.enqueueLater(timerAt(near), e.lease/10)
	got = e.awaitFetch(held, ruleDelay)
	e.notBefore(due, ruleDelay)
	e.batch(got, ruleTimerJSON, timerAt(near))
	e.drop(got)

	soon, _ := msFromNow(e.lease / 10)
	due = time.Now().Add(e.lease)
	e.enqueueLater(timerAt(soon), e.lease)
	got = e.awaitFetch(held, ruleDelay)
	e.notBefore(due, ruleDelay)
	e.batch(got, ruleTimerJSON, timerAt(soon))
}

// Timers further away than any duration can say are stored and do not fire.
func farTimers(e *env) {
	var timers []provider.WorkItem
	centuries := uint64(time.Date(2700, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	for _, fireAtMs := range []uint64{centuries, 253_402_300_800_000, math.MaxInt64/1_000_000 + baseMs, math.MaxInt64} {
		timers = append(timers, timerAt(fireAtMs))
	}
	const rule = "§2.2: integers: signed 64-bit; values above 2^63−1 do not occur; " + ruleTimer
	e.createWith("A", provider.AckOrchestrationParams{OrchestratorItems: timers})
	e.fetchNone(rule)
	e.enqueue(timers...)
	e.fetchNone(rule)
	if e.p.Admin() != nil {
		same(e, e.depths().OrchestratorQueue, uint64(2*len(timers)), "§6.11: visible or not: future timers are included")
	}
}

// otherItems are all variants but the activity.
func otherItems(instance string) []provider.WorkItem {
	return append(orphansFor(instance), startItem(instance), mailboxOf(instance)[0],
		provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: "{}"})
}

// Activities belong on the worker queue and nothing else does: any other use is
// refused, and the call has no effect.
func wrongQueue(e *env) {
	got := e.readyForEverything("A")
	for _, item := range otherItems("A") {
		e.permanent(e.p.EnqueueForWorker(e.ctx, item), provider.ErrInvalidArgument, ruleWrongWorker+": "+item.Variant())
		bad := turnOf(got, everything("A"))
		bad.WorkerItems = append(bad.WorkerItems, item)
		e.permanent(e.p.AckOrchestrationItem(e.ctx, bad), provider.ErrInvalidArgument, ruleWrongWorker+": "+item.Variant())
	}
	bad := turnOf(got, everything("A"))
	bad.OrchestratorItems = append(bad.OrchestratorItems, activityItem("A", 7))
	e.permanent(e.p.AckOrchestrationItem(e.ctx, bad), provider.ErrInvalidArgument, ruleWrongOrch)
	err := e.p.EnqueueForOrchestrator(e.ctx, activityItem("A", 7), 0)
	e.permanent(err, provider.ErrInvalidArgument, "§5.9: ActivityExecute: permanent error")
	e.untouched("A", ruleNothing)
	e.commit(got, everything("A"))
}

// What a turn sends to its own instance, or to any other, can be fetched as soon
// as the ack has returned.
func messageToItself(e *env) {
	e.create("B")
	e.createWith("A", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{
		raised("A", "self"), raised("B", "other"), startItem("C"),
	}})
	const rule = "§5.2: message for the same instance in orchestratorItems: becomes fetchable right after commit"
	e.batch(e.fetchInstance("A", held), rule, raised("A", "self"))
	e.batch(e.fetchInstance("B", held), "§5.2 step 14: all others: visible now", raised("B", "other"))
	e.batch(e.fetchInstance("C", held), "§5.2 step 14: all others: visible now", startItem("C"))
}

// The result of a child is a message for its parent, from a turn as from a call.
func childResultsToParent(e *env) {
	e.create("parent")
	done := provider.SubOrchCompletedItem{ParentInstance: "parent", ParentExecutionID: 1, ParentID: 2, Result: "ok"}
	failed := provider.SubOrchFailedItem{ParentInstance: "parent", ParentExecutionID: 1, ParentID: 3, Details: provider.ApplicationFailure{
		Kind: provider.AppCancelled, CancelReason: "parent canceled",
	}}
	e.createWith("parent::sub::2", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{done, failed}})
	e.enqueue(failed, done)
	e.batch(e.fetchInstance("parent", held), ruleRouting, done, failed, failed, done)
	e.fetchNone(ruleRouting)
}

// The same message queued again is another message, on both queues.
func nothingDeduplicated(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"), raised("A", "go"), completedItem("A", 2), completedItem("A", 2))
	e.enqueueWork(activityItem("A", 2), activityItem("A", 2))
	e.batch(e.fetchInstance("A", held), "§5.9: no deduplication: every call adds a row",
		raised("A", "go"), raised("A", "go"), completedItem("A", 2), completedItem("A", 2))
	e.fetchWork(held)
	e.fetchWork(held)
	e.fetchNoWork(provider.FetchWorkParams{}, "§5.8: adds one ActivityExecute to the worker queue")
}

// Neither are the items of one turn, to itself and to others.
func turnNotDeduplicated(e *env) {
	const rule = "§5.2 steps 12 and 14: each item is inserted"
	e.createWith("A", provider.AckOrchestrationParams{
		WorkerItems:       []provider.WorkItem{activityItem("A", 2), activityItem("A", 2)},
		OrchestratorItems: []provider.WorkItem{raised("A", "go"), raised("B", "go"), raised("A", "go"), startItem("B"), startItem("B")},
	})
	e.batch(e.fetchInstance("A", held), rule, raised("A", "go"), raised("A", "go"))
	e.batch(e.fetchInstance("B", held), rule, raised("B", "go"), startItem("B"), startItem("B"))
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, rule)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// A finished instance's messages are delivered with its terminal history, so that
// the runtime can drop them.
func finishedGetMessages(e *env) {
	for _, status := range []provider.Status{provider.StatusCompleted, provider.StatusFailed} {
		instance := string(status)
		e.createEnded(instance, status)
		e.enqueue(raised(instance, "late"), startItem(instance))
		got := e.fetchInstance(instance, held)
		e.batch(got, "§5.9: finished instance: accepted; dropped later by the runtime", raised(instance, "late"), startItem(instance))
		same(e, len(got.Item.History), 2, "§4.1 row 10: fetched with terminal history")
		e.drop(got)
		e.fetchNone("§5.2: all lists empty: consumes the batch and unlocks")
		same(e, len(e.history(instance, 1)), 2, "§4: history: append-only")
	}
}

// A completion of an execution that is over is delivered to the instance; whether
// it still matters is the runtime's business.
func lateCompletions(e *env) {
	e.createExecutions("A", 2)
	e.enqueueWork(activityItem("A", 2))
	e.ackWork(e.fetchWork(held))
	got := e.fetchInstance("A", held)
	same(e, got.Item.ExecutionID, 2, ruleCurrent)
	e.batch(got, "§5.2: execution n's late completions: stored and delivered", completedItem("A", 2))
}
