package providertest

import (
	"math"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleColumns     = "§5.2 step 12: insert, visible now, attempt 0, identity/session/tag columns from the item (P32)"
	ruleInsertFirst = "§5.2 step 13: after step 12: an activity scheduled and cancelled in the same turn must end up absent (P11)"
	ruleTimer       = "§5.2 step 14: TimerFired: visible when its fire_at_ms has come, as a delay from now (0 or past → immediately visible)"
	ruleTimerJSON   = "§2.1: the JSON keeps the original value"
	ruleWrongOrch   = "§5.2: ActivityExecute inside orchestratorItems: SHOULD be a permanent error"
	ruleWrongWorker = "§5.8: other variants SHOULD be rejected with a permanent error"
	ruleRouting     = "§5.9: routing: instance, or parent_instance for sub-orchestration results"
)

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

// An activity that a turn both schedules and cancels is not queued; the others
// are.
func insertBeforeCancel(e *env) {
	e.createWith("A", provider.AckOrchestrationParams{
		WorkerItems:         []provider.WorkItem{activityItem("A", 2), activityItem("A", 3)},
		CancelledActivities: []provider.ActivityRef{ref("A", 2), ref("A", 99), ref("A", 2)},
	})
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 3, ruleInsertFirst)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleInsertFirst)
}

// Cancelling takes a running activity away from its worker: renew, ack and
// abandon fail, nothing is delivered, and it is not queued again.
func cancelRemovesLocked(e *env) {
	e.createWith("A", provider.AckOrchestrationParams{WorkerItems: []provider.WorkItem{activityItem("A", 2), activityItem("A", 3)}})
	running, other := e.fetchWork(held), e.fetchWork(held)
	e.cancel("A", ref("A", 2))
	e.permanent(e.p.RenewWorkItemLock(e.ctx, running.LockToken, held), provider.ErrLockLost, ruleRenewCancelled)
	e.permanent(e.p.AckWorkItem(e.ctx, running.LockToken, completedItem("A", 2)), provider.ErrLockLost, ruleCancelled)
	e.permanent(e.p.AckWorkItem(e.ctx, running.LockToken, nil), provider.ErrLockLost, ruleCancelled)
	abandon := provider.AbandonParams{LockToken: running.LockToken}
	e.permanent(e.p.AbandonWorkItem(e.ctx, abandon), provider.ErrLockLost, "§5.13: unknown token: permanent error")
	e.fetchNoWork(provider.FetchWorkParams{}, ruleCancels)
	e.fetchNone(ruleCancelled)
	e.ackWork(other)
	e.batch(e.fetchInstance("A", held), ruleWorkAck, completedItem("A", 3))
}

// Instance, execution and activity must all match, and match together: cancelling
// two activities does not cancel a third that shares parts with both.
func cancelMatchesIdentity(e *env) {
	at := func(instance string, execution, id uint64) provider.ActivityExecuteItem {
		item := activityItem(instance, id)
		item.ExecutionID = execution
		return item
	}
	e.create("A")
	e.enqueueWork(at("A", 1, 2), at("B", 1, 2), at("A", 2, 2), at("A", 1, 3), at("B", 2, 3), at("A", 2, 3), at("B", 1, 3))
	e.cancel("A",
		provider.ActivityRef{Instance: "A", ExecutionID: 1, ActivityID: 2},
		provider.ActivityRef{Instance: "B", ExecutionID: 2, ActivityID: 3},
		provider.ActivityRef{Instance: "a", ExecutionID: 2, ActivityID: 2},
		provider.ActivityRef{Instance: "A ", ExecutionID: 2, ActivityID: 3})
	for _, want := range []provider.ActivityExecuteItem{at("B", 1, 2), at("A", 2, 2), at("A", 1, 3), at("A", 2, 3), at("B", 1, 3)} {
		e.sameItem(e.fetchWork(held).Item, want, ruleCancels)
	}
	e.fetchNoWork(provider.FetchWorkParams{}, ruleCancels)
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
	failed := provider.SubOrchFailedItem{ParentInstance: "parent", ParentExecutionID: 1, ParentID: 3, Details: provider.Application{
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
