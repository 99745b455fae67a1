package providertest

import "github.com/duroxide/duroxide-go/provider"

// cancellation checks that an activity is cancelled by deleting its row, and that
// its worker learns of it when renew or ack fails. The names with "state" are
// older than that: fetch and renew once reported the orchestration's state. Now
// they must not look at it.
func cancellation() category {
	return category{"cancellation", []scenario{
		{"fetch_returns_running_state_for_active_orchestration", fetchWhileRunning},
		{"fetch_returns_terminal_state_when_orchestration_completed", fetchAfter(provider.StatusCompleted)},
		{"fetch_returns_terminal_state_when_orchestration_failed", fetchAfter(provider.StatusFailed)},
		{"fetch_returns_terminal_state_when_orchestration_continued_as_new", fetchAfter(provider.StatusContinuedAsNew)},
		{"fetch_returns_missing_state_when_instance_deleted", fetchAfterDelete},
		{"renew_returns_running_when_orchestration_active", renewWhileRunning},
		{"renew_returns_terminal_when_orchestration_completed", renewAfterCompletion},
		{"renew_returns_missing_when_instance_deleted", renewAfterDelete},
		{"ack_work_item_none_deletes_without_enqueue", ackWithoutCompletion},
		{"cancelled_activities_deleted_from_worker_queue", cancelledActivitiesDeleted},
		{"ack_work_item_fails_when_entry_deleted", ackAfterCancel},
		{"renew_fails_when_entry_deleted", renewAfterCancel},
		{"cancelling_nonexistent_activities_is_idempotent", cancelUnknown},
		{"batch_cancellation_deletes_multiple_activities", cancelBatch},
		{"same_activity_in_worker_items_and_cancelled_is_noop", scheduleAndCancel},
		{"orphan_activity_after_instance_force_deletion", orphanActivity},

		{"cancelling_removes_locked_activities", cancelRemovesLocked},
		{"cancelling_matches_the_whole_identity", cancelMatchesIdentity},
	}}
}

const (
	ruleDelivered = "§5.10: instance deleted or finished: the provider does not check; the item is delivered"
	ruleCancels   = "§5.2 step 13: delete worker rows matching each (instance, execution, activity); " +
		"locked rows are deleted too: that is the cancellation signal"
	ruleCancelled = "§5.11: row deleted by cancellation or instance deletion → permanent error: " +
		"the worker learns that its result is unwanted"
	ruleRenewCancelled = "§5.12: otherwise permanent error. This failure is the runtime's cancellation signal"
)

// createWithActivities creates a running instance with queued activities.
func (e *env) createWithActivities(instance string, ids ...uint64) {
	e.Helper()
	var params provider.AckOrchestrationParams
	for _, id := range ids {
		params.HistoryDelta = append(params.HistoryDelta,
			event(instance, 1, id, provider.ActivityScheduled{Name: "Charge", Input: "{}"}))
		params.WorkerItems = append(params.WorkerItems, activityItem(instance, id))
	}
	e.createWith(instance, params)
}

// cancel runs a turn of instance that cancels the given activities.
func (e *env) cancel(instance string, activities ...provider.ActivityRef) {
	e.Helper()
	e.turn(instance, provider.AckOrchestrationParams{CancelledActivities: activities})
}

// ref is an activity of execution 1.
func ref(instance string, id uint64) provider.ActivityRef {
	return provider.ActivityRef{Instance: instance, ExecutionID: 1, ActivityID: id}
}

// drainWork fetches all eligible activities and leaves them locked.
func (e *env) drainWork() []provider.ActivityRef {
	e.Helper()
	var refs []provider.ActivityRef
	for {
		got := e.tryFetchWork(held)
		if got == nil {
			return refs
		}
		item := e.work(got)
		refs = append(refs, provider.ActivityRef{
			Instance: item.Instance, ExecutionID: item.ExecutionID, ActivityID: item.ID,
		})
	}
}

// fetchWhileRunning: an activity of a running instance is delivered with its
// identity and attempt 1.
func fetchWhileRunning(e *env) {
	e.createWithActivities("order", 2)
	got := e.fetchWork(held)
	same(e, e.work(got), activityItem("order", 2), "§5.10 step 9: return item, token, attempt count")
	same(e, got.AttemptCount, 1, "§5.10 step 9: first delivery = 1")
}

// fetchAfter: an activity is delivered although its instance has ended with the
// given status, and its completion reaches the instance.
func fetchAfter(status provider.Status) func(*env) {
	return func(e *env) {
		e.createWithActivities("order", 2)
		e.finish("order", status, "out")
		got := e.tryFetchWork(held)
		e.check(got != nil, ruleDelivered, "nothing was delivered after the instance became %s", status)
		same(e, e.work(got), activityItem("order", 2), ruleDelivered)
		e.ackWork(got)
		messages := e.fetchInstance("order", held).Item.Messages
		same[provider.WorkItem](e, messages[len(messages)-1], completedItem("order", 2),
			"§5.11: delete the row; if completion != nil, enqueue it to the orchestrator queue")
	}
}

// fetchAfterDelete: deletion takes the instance's activities along; one that is
// queued afterwards is delivered all the same.
func fetchAfterDelete(e *env) {
	e.createWithActivities("order", 2)
	e.delete("order", true)
	e.fetchNoWork(provider.FetchWorkParams{}, "§6.16 step 5: delete … worker queue")
	e.enqueueWork(activityItem("order", 3))
	got := e.tryFetchWork(held)
	e.check(got != nil, ruleDelivered, "an activity of a deleted instance was not delivered")
	same(e, e.work(got), activityItem("order", 3), ruleDelivered)
}

// renewWhileRunning: renewing extends the lease, so that the activity is not
// delivered twice and its ack succeeds.
func renewWhileRunning(e *env) {
	const rule = "§5.12: locked_until = now + extendFor if the token exists and is not expired"
	e.createWithActivities("order", 2)
	got := e.fetchWork(e.lease)
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), rule)
	e.expire()
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
	e.ackWork(got)
}

// renewAfterCompletion: the token alone decides, so a finished instance's
// activity can still be renewed.
func renewAfterCompletion(e *env) {
	e.createWithActivities("order", 2)
	got := e.fetchWork(held)
	e.finish("order", provider.StatusCompleted, "out")
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held),
		"§5.12: locked_until = now + extendFor if the token exists and is not expired")
	e.ackWork(got)
}

// renewAfterDelete: deleting the instance is reported to its workers as a lost
// lock.
func renewAfterDelete(e *env) {
	e.createWithActivities("order", 2)
	got := e.fetchWork(held)
	e.delete("order", true)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), provider.ErrLockLost, ruleRenewCancelled)
}

// ackWithoutCompletion: a nil completion deletes the activity and tells the
// instance nothing.
func ackWithoutCompletion(e *env) {
	const rule = "§5.11: completion == nil → delete only (cancelled activity)"
	e.createWithActivities("order", 2)
	got := e.fetchWork(e.lease)
	e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, nil), rule)
	e.fetchNone(rule)
	e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, nil), provider.ErrLockLost, rule)
	e.expire()
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// cancelledActivitiesDeleted: cancelled activities never come back, whether they
// were locked or waiting; others stay.
func cancelledActivitiesDeleted(e *env) {
	e.createWithActivities("order", 2, 3, 4)
	e.fetchWork(e.lease)
	e.cancel("order", ref("order", 2), ref("order", 3))
	e.expire()
	sameList(e, e.drainWork(), []provider.ActivityRef{ref("order", 4)}, ruleCancels)
}

// ackAfterCancel: a worker whose activity was cancelled cannot acknowledge it,
// with or without a result, and its result reaches nobody.
func ackAfterCancel(e *env) {
	e.createWithActivities("order", 2)
	got := e.fetchWork(held)
	e.cancel("order", ref("order", 2))
	e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, completedItem("order", 2)), provider.ErrLockLost, ruleCancelled)
	e.permanent(e.p.AckWorkItem(e.ctx, got.LockToken, nil), provider.ErrLockLost, ruleCancelled)
	e.fetchNone("§5.11: else permanent error, nothing changes")
}

// renewAfterCancel: a worker whose activity was cancelled cannot renew it.
func renewAfterCancel(e *env) {
	e.createWithActivities("order", 2)
	got := e.fetchWork(held)
	e.ok(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), "§5.12: renew with a live token")
	e.cancel("order", ref("order", 2))
	e.permanent(e.p.RenewWorkItemLock(e.ctx, got.LockToken, held), provider.ErrLockLost, ruleRenewCancelled)
}

// cancelUnknown: cancelling what is not queued is no error, not even twice, and
// the turn's other effects are committed.
func cancelUnknown(e *env) {
	const rule = "§5.2 step 13: missing rows are ignored"
	e.createWithActivities("order", 2)
	unknown := []provider.ActivityRef{
		ref("order", 99), ref("nobody", 2), {Instance: "order", ExecutionID: 7, ActivityID: 2},
	}
	e.turn("order", provider.AckOrchestrationParams{
		HistoryDelta:        []provider.Event{event("order", 1, 3, provider.ExternalSubscribed{Name: "approve"})},
		CancelledActivities: unknown,
	})
	e.cancel("order", append(unknown, unknown...)...)
	same(e, len(e.history("order", 1)), 3, rule)
	sameList(e, e.drainWork(), []provider.ActivityRef{ref("order", 2)}, rule)
}

// cancelBatch: one ack cancels hundreds of activities of several instances and
// executions, and nothing that differs in one part of the identity.
func cancelBatch(e *env) {
	var cancelled, kept []provider.ActivityRef
	for id := uint64(2); id < 302; id++ {
		cancelled = append(cancelled, ref("a", id))
	}
	cancelled = append(cancelled, ref("b", 400), provider.ActivityRef{Instance: "a", ExecutionID: 2, ActivityID: 401})
	kept = append(kept, ref("b", 2), ref("a", 400), ref("a", 401), ref("b", 401),
		provider.ActivityRef{Instance: "a", ExecutionID: 2, ActivityID: 2})

	var items []provider.WorkItem
	for _, r := range append(cancelled, kept...) {
		item := activityItem(r.Instance, r.ActivityID)
		item.ExecutionID = r.ExecutionID
		items = append(items, item)
	}
	e.createWith("a", provider.AckOrchestrationParams{WorkerItems: items})
	e.cancel("a", cancelled...)
	sameList(e, e.drainWork(), kept, ruleCancels)
}

// scheduleAndCancel: an activity scheduled and cancelled in one turn is never
// delivered.
func scheduleAndCancel(e *env) {
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{
		WorkerItems:         []provider.WorkItem{activityItem("order", 2), activityItem("order", 3)},
		CancelledActivities: []provider.ActivityRef{ref("order", 2), ref("order", 99), ref("order", 2)},
	})
	sameList(e, e.drainWork(), []provider.ActivityRef{ref("order", 3)},
		"§5.2 step 13: after step 12: an activity scheduled and cancelled in the same turn must end up absent (P11)")
}

// orphanActivity: force-deleting an instance while its activity runs fails that
// worker's calls and disturbs nobody else.
func orphanActivity(e *env) {
	e.createWithActivities("order", 2)
	e.createWithActivities("other", 2)
	orphan, other := e.fetchWork(held), e.fetchWork(held)
	same(e, e.work(orphan), activityItem("order", 2), "§5.10 step 5: take the lowest row id (FIFO)")
	e.delete("order", true)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, orphan.LockToken, held), provider.ErrLockLost, ruleRenewCancelled)
	e.permanent(e.p.AckWorkItem(e.ctx, orphan.LockToken, completedItem("order", 2)), provider.ErrLockLost, ruleCancelled)
	e.permanent(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: orphan.LockToken}),
		provider.ErrInvalidLockToken, "§5.13: unknown token → permanent error")
	e.gone("§6.16: activity in progress: renew and ack fail", "order")
	same(e, e.depths(), provider.QueueDepths{}, "§5.11: else permanent error, nothing changes")
	e.ackWork(other)
	e.fetchInstance("other", held)
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
