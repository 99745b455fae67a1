package providertest

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// moreDeletion covers who is refused and how the refusal reads, what exactly is
// counted and removed, and deletion beside work in progress.
func moreDeletion() category {
	return category{"more deletion", []scenario{
		{"child_is_refused_even_with_force", deleteChildRefused},
		{"error_texts", deleteErrorTexts},
		{"running_descendant_refuses_the_tree", deleteRunningDescendant},
		{"between_executions_needs_no_force", deleteBetween},
		{"all_executions_are_counted", deleteCountsAll},
		{"kv_and_delta_are_gone", deleteKV},
		{"sessions_stay", deleteKeepsSessions},
		{"other_instances_stay", deleteKeepsOthers},
		{"locked_instance_is_free_again", deleteFreesLock},
		{"renew_and_abandon_of_a_deleted_turn_fail", deleteRenewFails},
		{"recreation_starts_at_execution_one", deleteRecreate},
		{"stale_turn_after_recreation", deleteStaleTurn},
		{"messages_to_a_deleted_instance_are_orphans", deleteOrphanMessages},
		{"child_outlives_its_deleted_parent", deleteParentOfPending},
		{"corrupted_instance_can_be_deleted", deleteCorrupted},

		{"atomic_empty_list", atomicEmpty},
		{"atomic_unknown_ids_are_ignored", atomicUnknown},
		{"atomic_repeated_ids_count_once", atomicRepeated},
		{"atomic_takes_children_without_their_root", atomicChildren},
		{"atomic_orphan_in_the_middle_of_a_tree", atomicMiddle},
		{"atomic_list_of_1500", atomicLongList},
		{"atomic_is_all_or_nothing_with_work_in_progress", atomicAllOrNothing},

		{"delete_races_with_an_ack", deleteRacesAck},
		{"delete_races_with_a_worker", deleteRacesWorker},
		{"delete_races_with_a_new_child", deleteRacesChild},
		{"concurrent_deletes_count_once", deleteTwice},
	}}
}

// deleteChildRefused: a sub-orchestration goes with its root only, with or
// without force, running or not.
func deleteChildRefused(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createChild("root", "runs")
	e.createEndedChild("root", "done", provider.StatusCompleted)
	for _, child := range []string{"runs", "done"} {
		e.deleteRefused(child, false, provider.ErrSubOrchestration, ruleChildOnly)
		e.deleteRefused(child, true, provider.ErrSubOrchestration, ruleChildOnly)
	}
	e.exists(ruleChildOnly, "root", "runs", "done")
}

// deleteErrorTexts: the texts that the reference's client maps to typed errors
// are there, and name the instance.
func deleteErrorTexts(e *env) {
	e.create("root")
	e.createChild("root", "child-7")
	err := e.deleteRefused("child-7", true, provider.ErrSubOrchestration, ruleChildOnly)
	e.saysAll(err, ruleChildOnly, "child-7", "sub-orchestration", "Delete root")
	err = e.deleteRefused("root", false, provider.ErrStillRunning, ruleRunning)
	e.saysAll(err, ruleRunning, "Instance", "is still running")
	err = e.deleteRefused("nobody", false, provider.ErrNotFound, ruleNotFound)
	e.saysAll(err, ruleNotFound, "Instance nobody not found")
	_, err = e.admin().DeleteInstancesAtomic(e.ctx, []string{"root"}, true)
	e.permanent(err, provider.ErrOrphanedChild, ruleOrphan)
	e.saysAll(err, ruleOrphan, "root", "child-7")
}

// deleteRunningDescendant: a finished root with a running child needs force, and
// until then nothing of the tree is touched.
func deleteRunningDescendant(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "done", provider.StatusCompleted)
	e.createChild("done", "runs")
	e.wake("done")
	err := e.deleteRefused("root", false, provider.ErrStillRunning, ruleRunning)
	e.saysAll(err, ruleRunning, "runs", "still running")
	e.exists(ruleRunning, "root", "done", "runs")
	same(e, e.depths().OrchestratorQueue, 1, ruleRunning)
	same(e, e.delete("root", true).InstancesDeleted, 3, ruleDeleteCount)
	e.gone(ruleDelete, "root", "done", "runs")
}

// deleteBetween: an instance between two executions is not Running; deleting it
// takes the queued start along.
func deleteBetween(e *env) {
	e.create("order")
	e.finish("order", provider.StatusContinuedAsNew, "next")
	same(e, e.delete("order", false), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2, QueueMessagesDeleted: 1,
	}, "§6.16 step 3: only a current execution Running refuses; "+ruleDeleteCount)
	e.fetchNone(ruleDelete)
}

// deleteCountsAll: executions and events of the past, future messages and locked
// rows all count.
func deleteCountsAll(e *env) {
	e.createExecutions("order", 4)
	e.enqueueLater(raised("order", "late"), held)
	e.enqueueWork(activityItem("order", 2), activityItem("order", 3))
	e.abandonWork(e.fetchWork(held), held, false)
	e.fetchWork(held)
	e.wake("order")
	e.fetchInstance("order", held)
	same(e, e.delete("order", true), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 4, EventsDeleted: 7, QueueMessagesDeleted: 4,
	}, ruleDeleteCount)
	same(e, e.metrics(), provider.SystemMetrics{}, ruleDelete)
	same(e, e.depths(), provider.QueueDepths{}, ruleDelete)
}

// deleteKV: committed keys and the running execution's changes are gone for
// readers and for a successor.
func deleteKV(e *env) {
	e.create("order", event("order", 1, 2, setKey("committed", "1")))
	e.continueAsNew("order")
	e.turn("order", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{event("order", 2, 2, setKey("delta", "2"))}})
	e.delete("order", true)
	empty := func(when string) {
		e.Helper()
		all, err := e.p.GetKVAllValues(e.ctx, "order")
		e.check(err == nil && len(all) == 0, ruleDelete, "%s: keys %v, error %v", when, all, err)
	}
	empty("after the deletion")
	e.create("order")
	empty("after recreation")
	e.finish("order", provider.StatusContinuedAsNew, "next")
	same(e, len(e.fetchInstance("order", held).Item.KVSnapshot), 0, ruleDelete)
	empty("after the recreated instance's first execution")
}

// deleteKeepsSessions: a session outlives the instance whose activity claimed it:
// its owner keeps it until the lease ends.
func deleteKeepsSessions(e *env) {
	const rule = "§6.16: sessions: untouched; cleaned up later"
	inSession := func(instance string) provider.ActivityExecuteItem {
		item := activityItem(instance, 2)
		item.SessionID = new("session")
		return item
	}
	owner := func(id string) provider.FetchWorkParams {
		return provider.FetchWorkParams{
			LockTimeout: held, Session: &provider.SessionFetchConfig{OwnerID: id, LockTimeout: held},
		}
	}
	e.create("order")
	e.enqueueWork(inSession("order"))
	e.fetchWorkWith(owner("one"))
	e.delete("order", true)
	e.enqueueWork(inSession("other"))
	e.fetchNoWork(owner("two"), rule)
	got := e.tryFetchWorkWith(owner("one"))
	e.check(got != nil, rule, "the session's owner cannot fetch its next activity")
}

// deleteKeepsOthers: instances whose ids merely resemble the deleted one keep
// their rows, messages and activities.
func deleteKeepsOthers(e *env) {
	others := []string{"ORDER", "order-1", "order::sub::2", "_rder", "%"}
	e.createEnded("order", provider.StatusCompleted)
	for _, other := range others {
		e.createEnded(other, provider.StatusCompleted)
	}
	for _, instance := range append(others, "order") {
		e.wake(instance)
		e.enqueueWork(activityItem(instance, 2))
	}
	same(e, e.delete("order", false), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2, QueueMessagesDeleted: 2,
	}, ruleDeleteCount)
	e.exists("§2.2: instance_id: compared byte-for-byte", others...)
	n := uint64(len(others))
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: n, WorkerQueue: n}, ruleDelete)
}

// deleteFreesLock: the lock of a turn in progress goes with the instance, so that
// a successor can be fetched at once.
func deleteFreesLock(e *env) {
	e.create("order")
	e.wake("order")
	e.fetchInstance("order", held)
	e.delete("order", true)
	e.enqueue(startItem("order"))
	got := e.fetchInstance("order", held)
	same(e, got.AttemptCount, 1, ruleDelete)
	same(e, got.Item.ExecutionID, 1, "§6.16: re-creation with the same id: starts at execution 1")
}

// deleteRenewFails: every use of the turn's token is refused as unknown.
func deleteRenewFails(e *env) {
	e.create("order")
	e.wake("order")
	token := e.fetchInstance("order", held).LockToken
	e.delete("order", true)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, token, held), provider.ErrInvalidLockToken, ruleTurnLost)
	e.permanent(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: token}),
		provider.ErrInvalidLockToken, ruleTurnLost)
}

// deleteRecreate: a successor begins from nothing: execution 1, its own history,
// times, and no parent.
func deleteRecreate(e *env) {
	const rule = "§6.16: re-creation with the same id: allowed immediately; starts at execution 1"
	e.createExecutions("order", 3)
	before := e.info("order")
	e.delete("order", true)
	e.tick()
	e.enqueue(startItem("order"))
	got := e.fetchInstance("order", held)
	same(e, got.Item.ExecutionID, 1, rule)
	same(e, len(got.Item.History), 0, rule)
	e.commit(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started("order", 1)}, Metadata: created(),
	})
	sameList(e, e.executions("order"), []uint64{1}, rule)
	after := e.info("order")
	same(e, after.Status, provider.StatusRunning, rule)
	e.check(after.CreatedAt.After(before.CreatedAt), rule, "CreatedAt is still %v", after.CreatedAt)
}

// deleteStaleTurn: the token of a turn of the old life stays invalid, even while
// the successor is locked by another turn.
func deleteStaleTurn(e *env) {
	const rule = "§6.16: re-creation with the same id: stale tokens of the old life stay invalid"
	e.create("order")
	e.wake("order")
	stale := e.fetchInstance("order", held)
	e.delete("order", true)
	e.create("order")
	e.wake("order")
	fresh := e.fetchInstance("order", held)
	ack := provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("order", 1, 2, terminal(provider.StatusFailed, "stale"))},
		Metadata:     ended(provider.StatusFailed, "stale"),
	}
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(stale, ack)), provider.ErrInvalidLockToken, rule)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, stale.LockToken, held), provider.ErrInvalidLockToken, rule)
	same(e, e.info("order").Status, provider.StatusRunning, rule)
	e.commit(fresh, provider.AckOrchestrationParams{})
}

// deleteOrphanMessages: what is sent to a deleted instance waits or is dropped
// like messages to any unknown one, and recreates nothing.
func deleteOrphanMessages(e *env) {
	const rule = "§6.16: messages addressed to a deleted instance afterwards: orphans, §5.1"
	e.create("order")
	e.delete("order", true)
	e.enqueue(raised("order", "late"), provider.CancelInstanceItem{Instance: "order", Reason: "user"},
		completedItem("order", 2))
	e.fetchNone(rule)
	e.gone(rule, "order")
	e.create("other")
	e.wake("other")
	e.fetchInstance("other", held)
}

// deleteParentOfPending: a child whose parent was deleted before its first turn
// starts, works and ends like any other.
func deleteParentOfPending(e *env) {
	const rule = "§5.2: child whose parent was deleted: MUST succeed (no enforced foreign key on parent)"
	e.create("root")
	start := startItem("child")
	start.ParentInstance, start.ParentID = new("root"), new(uint64(2))
	e.enqueue(start)
	got := e.fetchInstance("child", held)
	e.delete("root", true)
	metadata := created()
	metadata.ParentInstanceID = new("root")
	e.ok(e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started("child", 1)}, Metadata: metadata,
	})), rule)
	e.exists(rule, "child")
	e.finish("child", provider.StatusCompleted, "out")
	same(e, e.info("child").Status, provider.StatusCompleted, rule)
	same(e, e.deleteList(false, "child").InstancesDeleted, 1, ruleDeleteCount)
}

// deleteCorrupted: events that cannot be decoded are deleted and counted like
// others.
func deleteCorrupted(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	e.corrupt("order", 1, 1, "{")
	same(e, e.delete("order", false).EventsDeleted, 2, ruleDeleteCount)
	e.gone(ruleDelete, "order")
}

// atomicEmpty: an empty list deletes nothing.
func atomicEmpty(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	for _, list := range [][]string{nil, {}} {
		same(e, e.deleteList(true, list...), provider.DeleteInstanceResult{}, "§6.16 step 1: empty list → zero result")
	}
	e.exists("§6.16 step 1: empty list → zero result", "order")
}

// atomicUnknown: unknown ids in a list neither fail nor count.
func atomicUnknown(e *env) {
	const rule = "§6.16: unknown ids in the list: ignored; InstancesDeleted = rows actually deleted"
	e.createEnded("order", provider.StatusCompleted)
	same(e, e.deleteList(false, "nobody", "order"), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2,
	}, rule)
	same(e, e.deleteList(true, "nobody", "order"), provider.DeleteInstanceResult{}, rule)
}

// atomicRepeated: an id that is listed twice is deleted and counted once.
func atomicRepeated(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	e.wake("order")
	same(e, e.deleteList(false, "order", "order"), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2, QueueMessagesDeleted: 1,
	}, "§6.16 step 6: InstancesDeleted = rows actually deleted")
}

// atomicChildren: unlike DeleteInstance, a list may hold children without their
// root, as long as it leaves no orphan.
func atomicChildren(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "child", provider.StatusCompleted)
	e.createEndedChild("child", "grandchild", provider.StatusCompleted)
	same(e, e.deleteList(false, "child", "grandchild").InstancesDeleted, 2,
		"§6.16 step 4: refused only if an instance not in the list has a parent in the list")
	e.exists(ruleDelete, "root")
	sameList(e, e.children("root"), nil, ruleDelete)
}

// atomicMiddle: a list that skips a generation is refused, and names the child
// left out and its parent.
func atomicMiddle(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "middle", provider.StatusCompleted)
	e.createEndedChild("middle", "leaf", provider.StatusCompleted)
	_, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"root", "leaf"}, true)
	e.permanent(err, provider.ErrOrphanedChild, ruleOrphan)
	e.saysAll(err, ruleOrphan, "root", "middle")
	e.exists(ruleOrphan, "root", "middle", "leaf")
}

// atomicLongList: a list has no upper bound: 1,500 ids are one transaction, and
// one running instance among them keeps them all.
func atomicLongList(e *env) {
	const n = 1500
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("order-%d", i)
	}
	kept := []string{list[0], list[n/2], list[n-1]}
	for _, instance := range kept {
		e.createEnded(instance, provider.StatusCompleted)
	}
	e.create(list[n-2])
	_, err := e.admin().DeleteInstancesAtomic(e.ctx, list, false)
	e.permanent(err, provider.ErrStillRunning, ruleRunning)
	e.exists(ruleRunning, kept...)
	same(e, e.deleteList(true, list...), provider.DeleteInstanceResult{
		InstancesDeleted: 4, ExecutionsDeleted: 4, EventsDeleted: 7,
	}, "§6.16: one transaction for the whole list")
	e.gone(ruleDelete, list[0], list[n/2], list[n-2], list[n-1])
}

// atomicAllOrNothing: a refused list leaves queues, locks and turns of its
// finished members as they were.
func atomicAllOrNothing(e *env) {
	e.createWithActivities("done", 2)
	e.finish("done", provider.StatusCompleted, "out")
	e.create("runs")
	e.wake("done")
	turn, work := e.fetchInstance("done", held), e.fetchWork(held)
	_, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"done", "runs"}, false)
	e.permanent(err, provider.ErrStillRunning, ruleRunning)
	e.commit(turn, provider.AckOrchestrationParams{})
	e.ackWork(work)
	e.batch(e.fetchInstance("done", held), ruleRunning, completedItem("done", 2))
}

// deleteRacesAck: whether the turn's ack or the deletion comes first, nothing of
// the instance is left.
func deleteRacesAck(e *env) {
	admin := e.admin()
	for i := range 15 {
		instance := fmt.Sprintf("order-%d", i)
		e.create(instance)
		e.wake(instance)
		got := e.fetchInstance(instance, held)
		e.together(2, func(i int) error {
			if i == 0 {
				return patiently(func() error {
					_, err := admin.DeleteInstance(e.ctx, instance, true)
					return err
				})
			}
			err := patiently(func() error {
				return e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
					HistoryDelta:      []provider.Event{event(instance, 1, 2, setKey("k", "v"))},
					WorkerItems:       []provider.WorkItem{activityItem(instance, 3)},
					OrchestratorItems: []provider.WorkItem{raised(instance, "self")},
					Metadata:          created(),
				}))
			})
			if err != nil && !errors.Is(err, provider.ErrInvalidLockToken) {
				return violation(ruleTurnLost, "ack beside a delete: %v", err)
			}
			return nil
		})
		e.gone(ruleTurnLost, instance)
		same(e, e.depths(), provider.QueueDepths{}, ruleTurnLost)
		same(e, e.metrics(), provider.SystemMetrics{}, ruleTurnLost)
	}
}

// deleteRacesWorker: whether a worker's ack or the deletion comes first, no
// completion is left behind for a successor.
func deleteRacesWorker(e *env) {
	admin := e.admin()
	for i := range 15 {
		instance := fmt.Sprintf("order-%d", i)
		e.createWithActivities(instance, 2)
		work := e.fetchWork(held)
		e.together(2, func(i int) error {
			if i == 0 {
				return patiently(func() error {
					_, err := admin.DeleteInstance(e.ctx, instance, true)
					return err
				})
			}
			err := patiently(func() error {
				return e.p.AckWorkItem(e.ctx, work.LockToken, completedItem(instance, 2))
			})
			if err != nil && !lostLock(err) {
				return violation(ruleCancelled, "worker ack beside a delete: %v", err)
			}
			return nil
		})
		e.gone(ruleDelete, instance)
		same(e, e.depths(), provider.QueueDepths{}, ruleDelete)
	}
}

// deleteRacesChild: a child that is created while its root is deleted either
// stops the deletion, or is deleted with the root, or outlives it; no instance is
// ever left half.
func deleteRacesChild(e *env) {
	admin := e.admin()
	for i := range 15 {
		root, child := fmt.Sprintf("root-%d", i), fmt.Sprintf("child-%d", i)
		e.create(root)
		e.enqueue(startItem(child))
		got := e.fetchInstance(child, held)
		metadata := created()
		metadata.ParentInstanceID = &root
		var deleted error
		e.together(2, func(i int) error {
			if i == 0 {
				deleted = patiently(func() error {
					_, err := admin.DeleteInstance(e.ctx, root, true)
					return err
				})
				return nil
			}
			return patiently(func() error {
				return e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
					HistoryDelta: []provider.Event{started(child, 1)}, Metadata: metadata,
				}))
			})
		})
		e.wholeOrGone(child)
		if deleted != nil {
			e.permanent(deleted, provider.ErrOrphanedChild, ruleOrphan)
			e.exists(ruleOrphan, root, child)
		} else {
			e.gone(ruleDelete, root)
		}
	}
}

// wholeOrGone asserts that an instance has its row exactly when it has executions
// and events.
func (e *env) wholeOrGone(instance string) {
	e.Helper()
	_, err := e.admin().GetInstanceInfo(e.ctx, instance)
	whole := err == nil
	same(e, len(e.executions(instance)) > 0, whole, "§2.4: all effects or none: executions of "+instance)
	same(e, len(e.read(instance)) > 0, whole, "§2.4: all effects or none: history of "+instance)
}

// deleteTwice: of deletions at the same time one does the work; the others find
// nothing.
func deleteTwice(e *env) {
	const callers = 6
	admin := e.admin()
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "child", provider.StatusCompleted)
	var results [callers]provider.DeleteInstanceResult
	e.together(callers, func(i int) error {
		err := patiently(func() (err error) {
			results[i], err = admin.DeleteInstance(e.ctx, "root", true)
			return err
		})
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			return violation(ruleNotFound, "DeleteInstance beside others: %v", err)
		}
		return nil
	})
	var sum provider.DeleteInstanceResult
	for _, r := range results {
		sum.InstancesDeleted += r.InstancesDeleted
		sum.ExecutionsDeleted += r.ExecutionsDeleted
		sum.EventsDeleted += r.EventsDeleted
	}
	same(e, sum, provider.DeleteInstanceResult{InstancesDeleted: 2, ExecutionsDeleted: 2, EventsDeleted: 4}, ruleDeleteCount)
	e.gone(ruleDelete, "root", "child")
}
