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
	ruleTurnLost  = "§6.16: turn in progress: its ack fails (Invalid lock token), nothing is recreated"
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

// deletePreventsAck: a turn that was running when its instance was deleted cannot
// commit, and leaves nothing behind.
func deletePreventsAck(e *env) {
	e.create("order")
	e.wake("order")
	got := e.fetchInstance("order", held)
	e.delete("order", true)
	err := e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{
		LockToken: got.LockToken, ExecutionID: 1, Metadata: created(),
		HistoryDelta:      []provider.Event{event("order", 1, 2, provider.ActivityScheduled{Name: "Charge", Input: "{}"})},
		WorkerItems:       []provider.WorkItem{activityItem("order", 2)},
		OrchestratorItems: []provider.WorkItem{raised("order", "self")},
	})
	e.permanent(err, provider.ErrInvalidLockToken, ruleTurnLost)
	e.saysAll(err, "§2.3: unknown lock token: contains \"Invalid lock token\"", "Invalid lock token")
	e.gone(ruleTurnLost, "order")
	same(e, e.depths(), provider.QueueDepths{}, ruleTurnLost)
	same(e, e.metrics(), provider.SystemMetrics{}, ruleTurnLost)
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

// deleteAtomic: a list goes as a whole, with summed counts, or not at all when
// one of it runs.
func deleteAtomic(e *env) {
	e.createEnded("a", provider.StatusCompleted)
	e.createEnded("b", provider.StatusFailed)
	e.create("runs")
	e.createEnded("other", provider.StatusCompleted)
	result, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"a", "runs", "b"}, false)
	e.permanent(err, provider.ErrStillRunning, ruleRunning)
	e.saysAll(err, "§6.2: text contains \"still running\"", "runs", "still running")
	same(e, result, provider.DeleteInstanceResult{}, ruleRunning)
	e.exists(ruleRunning, "a", "b", "runs")
	same(e, e.deleteList(false, "a", "b"), provider.DeleteInstanceResult{
		InstancesDeleted: 2, ExecutionsDeleted: 2, EventsDeleted: 4,
	}, ruleDeleteCount)
	e.gone(ruleDelete, "a", "b")
	e.exists(ruleDelete, "runs", "other")
}

// deleteAtomicForce: with force running instances in the list go too.
func deleteAtomicForce(e *env) {
	e.create("a")
	e.create("b")
	e.createEnded("done", provider.StatusCompleted)
	e.wake("b")
	same(e, e.deleteList(true, "a", "b", "done"), provider.DeleteInstanceResult{
		InstancesDeleted: 3, ExecutionsDeleted: 3, EventsDeleted: 4, QueueMessagesDeleted: 1,
	}, ruleDeleteCount)
	e.gone(ruleDelete, "a", "b", "done")
}

// deleteAtomicOrphans: a list that would leave a child behind is refused with
// force and without, names both sides, and succeeds once it is complete.
func deleteAtomicOrphans(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "late-child", provider.StatusCompleted)
	e.createEnded("other", provider.StatusCompleted)
	for _, force := range []bool{false, true} {
		result, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"other", "root"}, force)
		e.permanent(err, provider.ErrOrphanedChild, ruleOrphan)
		e.saysAll(err, ruleOrphan, "root", "late-child")
		same(e, result, provider.DeleteInstanceResult{}, ruleOrphan)
		e.exists(ruleOrphan, "root", "late-child", "other")
	}
	same(e, e.deleteList(false, "root", "late-child", "other").InstancesDeleted, 3, ruleDeleteCount)
	e.gone(ruleDelete, "root", "late-child", "other")
}

// staleActivity: a worker of the old life cannot complete, renew or abandon
// anything of an instance recreated under the same id.
func staleActivity(e *env) {
	const rule = "§6.16: re-creation with the same id: stale tokens of the old life stay invalid"
	e.createWithActivities("order", 2)
	stale := e.fetchWork(held)
	e.delete("order", true)
	e.createWithActivities("order", 2)
	e.permanent(e.p.AckWorkItem(e.ctx, stale.LockToken, completedItem("order", 2)), provider.ErrLockLost, rule)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, stale.LockToken, held), provider.ErrLockLost, rule)
	e.permanent(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: stale.LockToken}),
		provider.ErrInvalidLockToken, rule)
	e.fetchNone(rule)
	fresh := e.fetchWork(held)
	same(e, fresh.AttemptCount, 1, rule)
	e.ackWork(fresh)
	same(e, len(e.fetchInstance("order", held).Item.Messages), 1, rule)
}
