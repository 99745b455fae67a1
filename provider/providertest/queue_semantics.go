package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// queueSemantics checks the two peek-lock queues: order, visibility, and that a
// fetched message is neither gone nor available.
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
	}}
}

const (
	ruleFIFO     = "§5.10 step 5: take the lowest row id (FIFO)"
	rulePeekLock = "§1: peek-lock: fetching does not delete: it marks the message as locked until a deadline"
	ruleDelay    = "§5.9: visibility: now + delay; TimerFired: max(fire_at_ms, now + delay)"
	ruleDrop     = "§5.1: no instance row, all messages are QueueMessage: orphans: delete them"
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

	failed := provider.ActivityFailedItem{Instance: "A", ExecutionID: 1, ID: 2, Details: provider.Application{
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
