package providertest

import "github.com/duroxide/duroxide-go/provider"

// deletion checks that deleting an instance takes its whole tree and everything
// that belongs to it, in one transaction, and that no life after it is mistaken
// for the old one.
func deletion() category {
	return category{"deletion", []scenario{
		{"delete_terminal_instances", deleteTerminal},
		{"delete_running_rejected_force_succeeds", deleteRunning},
		{"delete_nonexistent_instance", deleteUnknown},
		{"delete_cleans_queues_and_locks", deleteCleans},
		{"cascade_delete_hierarchy", deleteCascades},
		{"force_delete_prevents_ack_recreation", deletePreventsAck},
		{"list_children", listChildren},
		{"delete_get_parent_id", getParentID},
		{"delete_get_instance_tree", getInstanceTree},
		{"delete_instances_atomic", deleteAtomic},
		{"delete_instances_atomic_force", deleteAtomicForce},
		{"delete_instances_atomic_orphan_detection", deleteAtomicOrphans},
		{"stale_activity_after_delete_recreate", staleActivity},

		{"child_is_refused_even_with_force", deleteChildRefused},
		{"error_texts", deleteErrorTexts},
		{"running_descendant_refuses_the_tree", deleteRunningDescendant},
		{"between_executions_needs_no_force", deleteBetween},
		{"all_executions_are_counted", deleteCountsAll},
		{"other_instances_stay", deleteKeepsOthers},
		{"locked_instance_is_free_again", deleteFreesLock},
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

		{"deletion_ends_the_leases_of_descendants", deletionEndsLeases},
	}}
}

const (
	ruleDelete      = "§6.16 step 5: delete history, executions, both queues, instance locks, KV store, KV delta, instances"
	ruleDeleteCount = "§6.16 step 6: count events, executions, queue messages " +
		"(orchestrator + worker rows, locked or not), instances"
	ruleRunning = "§6.16 step 3: !force and any current execution Running → " +
		"permanent error containing \"is still running\". Nothing deleted"
	ruleOrphan = "§6.16 step 4: if any instance not in the list has a parent in the list → " +
		"permanent error that names both. Applies with force too"
	ruleNotFound  = "§6.15 step 1: unknown → permanent \"Instance {id} not found\""
	ruleChildOnly = "§6.15 step 2: has a parent → permanent \"Cannot delete sub-orchestration {id} directly. " +
		"Delete root instance instead.\", even with force"
)

// saysAll asserts that an error's text holds each phrase.
func (e *env) saysAll(err error, rule string, phrases ...string) {
	e.Helper()
	for _, phrase := range phrases {
		e.says(err, rule, phrase)
	}
}

// deleteRefused asserts that DeleteInstance fails permanently with target.
func (e *env) deleteRefused(instance string, force bool, target error, rule string) error {
	e.Helper()
	result, err := e.admin().DeleteInstance(e.ctx, instance, force)
	e.permanent(err, target, rule)
	same(e, result, provider.DeleteInstanceResult{}, rule)
	return err
}

// children lists an instance's direct children.
func (e *env) children(instance string) []string {
	e.Helper()
	ids, err := e.admin().ListChildren(e.ctx, instance)
	e.ok(err, "§6.12: ListChildren")
	return ids
}

// parent reads an instance's parent, nil for a root.
func (e *env) parent(instance string) *string {
	e.Helper()
	id, err := e.admin().GetParentID(e.ctx, instance)
	e.ok(err, "§6.13: GetParentID")
	return id
}

// tree reads an instance's tree.
func (e *env) tree(instance string) provider.InstanceTree {
	e.Helper()
	tree, err := e.admin().GetInstanceTree(e.ctx, instance)
	e.ok(err, "§6.14: GetInstanceTree")
	same(e, tree.RootID, instance, "§6.14: traverses ListChildren from the given id")
	return tree
}

// deleteTerminal: completed and failed instances are deleted without force, with
// exact counts, and others stay.
func deleteTerminal(e *env) {
	e.createEnded("done", provider.StatusCompleted)
	e.createEnded("failed", provider.StatusFailed)
	e.createEnded("other", provider.StatusCompleted)
	for _, instance := range []string{"done", "failed"} {
		same(e, e.delete(instance, false), provider.DeleteInstanceResult{
			InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2,
		}, ruleDeleteCount)
		e.gone(ruleDelete, instance)
	}
	e.exists(ruleDelete, "other")
}

// deleteRunning: a running instance is deleted only with force.
func deleteRunning(e *env) {
	e.create("order")
	err := e.deleteRefused("order", false, provider.ErrStillRunning, ruleRunning)
	e.saysAll(err, "§6.2: text contains \"still running\"", "order", "still running")
	e.exists(ruleRunning, "order")
	same(e, e.delete("order", true).InstancesDeleted, 1, ruleDeleteCount)
	e.gone(ruleDelete, "order")
}

// deleteUnknown: deleting an unknown or already deleted instance is an error,
// with force too.
func deleteUnknown(e *env) {
	for _, force := range []bool{false, true} {
		err := e.deleteRefused("nobody", force, provider.ErrNotFound, ruleNotFound)
		e.saysAll(err, "§6.2: text contains \"not found\"", "nobody", "not found")
	}
	e.createEnded("order", provider.StatusCompleted)
	e.delete("order", false)
	e.deleteRefused("order", false, provider.ErrNotFound, ruleNotFound)
}

// deleteCleans: queued messages and activities, locked or not, and the instance
// lock go with the instance, and are counted.
func deleteCleans(e *env) {
	e.createWithActivities("order", 2, 3)
	e.createWithActivities("other", 2)
	e.fetchWork(held)
	e.wake("order", "order")
	token := e.fetchInstance("order", held).LockToken
	e.wake("order", "other")
	same(e, e.delete("order", true), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 3, QueueMessagesDeleted: 5,
	}, ruleDeleteCount)
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 1, WorkerQueue: 1}, ruleDelete)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, token, held), provider.ErrInvalidLockToken, ruleDelete)
	sameList(e, e.drainWork(), []provider.ActivityRef{ref("other", 2)}, ruleDelete)
	e.fetchInstance("other", held)
	e.enqueue(startItem("order"))
	e.fetchInstance("order", held)
}

// deleteCascades: deleting a root takes children and grandchildren along and
// sums the counts; another root's family stays.
func deleteCascades(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "root::sub::2", provider.StatusCompleted)
	e.createEndedChild("root", "root::sub::3", provider.StatusFailed)
	e.createEndedChild("root::sub::2", "root::sub::2::sub::2", provider.StatusCompleted)
	e.createEnded("root2", provider.StatusCompleted)
	e.createEndedChild("root2", "root2::sub::2", provider.StatusCompleted)
	e.wake("root::sub::3")
	same(e, e.delete("root", false), provider.DeleteInstanceResult{
		InstancesDeleted: 4, ExecutionsDeleted: 4, EventsDeleted: 8, QueueMessagesDeleted: 1,
	}, ruleDeleteCount)
	e.gone("§6.15 step 3: collect the tree (all descendants)",
		"root", "root::sub::2", "root::sub::3", "root::sub::2::sub::2")
	e.exists("§6.15 step 3: collect the tree (all descendants)", "root2", "root2::sub::2")
}

// listChildren: only direct children are listed; childless and unknown instances
// have none.
func listChildren(e *env) {
	const rule = "§6.12: ids whose parent_instance_id is this instance (direct children). Unknown → empty"
	e.create("root")
	e.createChild("root", "a")
	e.createEndedChild("root", "b", provider.StatusCompleted)
	e.createChild("a", "a::1")
	e.create("other")
	sameSet(e, e.children("root"), []string{"a", "b"}, rule)
	sameSet(e, e.children("a"), []string{"a::1"}, rule)
	for _, instance := range []string{"b", "a::1", "other", "nobody"} {
		sameSet(e, e.children(instance), nil, rule)
	}
}

// getParentID: a child knows its direct parent, a root has none, and an unknown
// instance is an error.
func getParentID(e *env) {
	e.create("root")
	e.createChild("root", "child")
	e.createChild("child", "grandchild")
	samePtr(e, e.parent("root"), nil, "§6.13: nil for a root")
	samePtr(e, e.parent("child"), new("root"), "§5.2 step 3: parent = ParentInstanceID")
	samePtr(e, e.parent("grandchild"), new("child"), "§5.2 step 3: parent = ParentInstanceID")
	_, err := e.admin().GetParentID(e.ctx, "nobody")
	e.permanent(err, provider.ErrNotFound, "§6.13: unknown instance → permanent \"… not found\"")
	e.saysAll(err, "§6.2: text contains \"not found\"", "not found")
}

// getInstanceTree: a tree holds its root first and every descendant once.
func getInstanceTree(e *env) {
	const rule = "§6.1: AllIDs: root first, every descendant once"
	e.create("root")
	e.createChild("root", "a")
	e.createChild("root", "b")
	e.createChild("a", "c")
	e.create("other")
	tree := e.tree("root")
	sameSet(e, tree.AllIDs, []string{"root", "a", "b", "c"}, rule)
	same(e, tree.AllIDs[0], "root", rule)
	same(e, tree.Size(), 4, rule)
	same(e, tree.IsRootOnly(), false, rule)
	sameList(e, e.tree("a").AllIDs, []string{"a", "c"}, rule)
	lonely := e.tree("other")
	sameList(e, lonely.AllIDs, []string{"other"}, rule)
	same(e, lonely.IsRootOnly(), true, rule)
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
