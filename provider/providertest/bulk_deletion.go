package providertest

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// bulkDeletion checks which finished roots one call deletes, how it counts, and that it does to each of them what
// DeleteInstance does.
func bulkDeletion() category {
	return category{"bulk deletion", []scenario{
		{"delete_instance_bulk_filter_combinations", bulkFilters},
		{"delete_instance_bulk_safety_and_limits", bulkSafety},
		{"delete_instance_bulk_completed_before_filter", bulkCompletedBefore},
		{"delete_instance_bulk_cascades_to_children", bulkCascades},

		{"deletion_takes_keys_and_custom_status", bulkDeletesKeys},
		{"deletion_takes_the_children_s_queues", bulkDeletesQueues},
		{"deletion_ends_the_leases_of_children", bulkEndsLeases},
		{"deletion_leaves_other_trees_alone", bulkLeavesOthers},

		{"every_final_status_is_taken", bulkStatuses},
		{"nil_and_empty_ids", bulkIDs},
		{"children_are_no_candidates", bulkChildren},
		{"completed_root_takes_running_children", bulkRunningChildren},
		{"limit_counts_roots", bulkLimitRoots},
		{"limit_skips_what_cannot_go", bulkLimitSkips},
		{"limit_zero", bulkLimitZero},
		{"default_limit_is_1000", bulkDefaultLimit},
		{"list_of_1500", bulkLongList},
		{"completed_before_uses_current_execution", bulkCurrentExecution},
		{"completed_before_never_matches_running", bulkNullTime},
		{"counts_include_queues_of_the_tree", bulkCounts},
		{"turn_of_a_deleted_instance_fails", bulkTurnLost},
	}}
}

const (
	ruleBulk = "§6.17: root instances whose current execution is Completed, Failed or ContinuedAsNew; " +
		"running ones are skipped silently"
	ruleBulkIDs = "§6.17: InstanceIDs: nil = no restriction; empty list = zero result; " +
		"child ids in the list are skipped (not roots)"
	ruleBulkBefore     = "§6.17: CompletedBefore: current execution's completed_at strictly less than. NULL never matches"
	ruleBulkLimit      = "§6.17: Limit: default 1000, counts roots"
	ruleBulkLikeSingle = "§6.17: each root: its tree is deleted with force=true (§6.16): " +
		"history, executions, queues, locks, KV store, KV delta, instances"
)

// bulkFilters: all given conditions must hold together.
func bulkFilters(e *env) {
	for _, instance := range []string{"a", "b", "c", "d"} {
		e.createEnded(instance, provider.StatusCompleted)
		e.tick()
	}
	e.create("runs")
	beforeC := e.completedAt("c", 1)
	got := e.deleteBulk(provider.InstanceFilter{
		InstanceIDs: []string{"b", "c", "d", "runs", "nobody"}, CompletedBefore: &beforeC,
	})
	same(e, got, provider.DeleteInstanceResult{InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2},
		"§6.1: all given conditions are ANDed")
	e.gone(ruleBulkBefore, "b")
	e.exists("§6.1: all given conditions are ANDed", "a", "c", "d", "runs")
	got = e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"c", "d"}, Limit: new(uint32(1))})
	same(e, got.InstancesDeleted, 1, ruleBulkLimit)
	got = e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"c", "d"}})
	same(e, got.InstancesDeleted, 1, ruleBulkIDs)
	e.gone(ruleBulkIDs, "c", "d")
	e.exists(ruleBulkIDs, "a", "runs")
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, 1, ruleBulkIDs)
	e.exists(ruleBulk, "runs")
}

// bulkSafety: running instances are passed over in silence, and the limit bounds
// how many go.
func bulkSafety(e *env) {
	e.create("runs")
	none := e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"runs"}})
	same(e, none, provider.DeleteInstanceResult{}, ruleBulk)
	for i := range 5 {
		e.createEnded(fmt.Sprintf("done-%d", i), provider.StatusFailed)
	}
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(2))}).InstancesDeleted, 2, ruleBulkLimit)
	same(e, e.metrics().FailedInstances, 3, ruleBulkLimit)
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(10))}).InstancesDeleted, 3, ruleBulkLimit)
	same(e, e.deleteBulk(provider.InstanceFilter{}), provider.DeleteInstanceResult{}, ruleBulk)
	e.exists(ruleBulk, "runs")
}

// bulkCompletedBefore: the completion time must be strictly before the bound, to
// the millisecond.
func bulkCompletedBefore(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	e.create("runs")
	at := e.completedAt("order", 1)
	for _, bound := range []time.Time{at.Add(-time.Hour), at.Add(-time.Millisecond), at} {
		got := e.deleteBulk(provider.InstanceFilter{CompletedBefore: &bound})
		same(e, got, provider.DeleteInstanceResult{}, ruleBulkBefore)
	}
	got := e.deleteBulk(provider.InstanceFilter{CompletedBefore: new(at.Add(time.Millisecond))})
	same(e, got.InstancesDeleted, 1, ruleBulkBefore)
	e.gone(ruleBulkBefore, "order")
	e.exists(ruleBulk, "runs")
}

// bulkCascades: a root takes its whole tree along, and the sums include it.
func bulkCascades(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "child", provider.StatusCompleted)
	e.createEndedChild("child", "grandchild", provider.StatusFailed)
	e.createEnded("lonely", provider.StatusCompleted)
	e.wake("grandchild")
	same(e, e.deleteBulk(provider.InstanceFilter{}), provider.DeleteInstanceResult{
		InstancesDeleted: 4, ExecutionsDeleted: 4, EventsDeleted: 8, QueueMessagesDeleted: 1,
	}, "§6.17: counts: sums including children")
	e.gone("§6.17: each root: its tree is deleted", "root", "child", "grandchild", "lonely")
}

// familyWithKeys is a finished root and its running child, each with a merged and a fresh
// key and a custom status.
func (e *env) familyWithKeys(root, child string) {
	e.Helper()
	for _, instance := range []string{root, child} {
		params := provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
			event(instance, 1, 2, setKey("old", "1")),
			event(instance, 1, 3, provider.CustomStatusUpdated{Status: new("half")}),
		}}
		if instance == child {
			params.Metadata = childOf(root)
		}
		e.createWith(instance, params)
		e.continueAsNew(instance)
		e.record(instance, setKey("fresh", "2"))
	}
	e.finish(root, provider.StatusCompleted, "out")
}

// Nothing of a tree's keys and custom status is left to an instance that takes the id
// later.
func bulkDeletesKeys(e *env) {
	e.familyWithKeys("root", "child")
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, 2, ruleBulk)
	for _, instance := range []string{"root", "child"} {
		e.kvIs(instance, "old", nil, ruleBulkLikeSingle)
		e.kvIs(instance, "fresh", nil, ruleBulkLikeSingle)
		e.create(instance)
		e.kvIs(instance, "old", nil, ruleBulkLikeSingle)
		e.kvIs(instance, "fresh", nil, ruleBulkLikeSingle)
		e.hasStatus(instance, nil, 0, ruleBulkLikeSingle)
		e.finish(instance, provider.StatusCompleted, "out")
		e.wake(instance)
		same(e, len(e.fetchInstance(instance, held).Item.KVSnapshot), 0, ruleBulkLikeSingle)
	}
}

// Messages and activities of the whole tree go, waiting or not yet visible.
func bulkDeletesQueues(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createChild("root", "child")
	for _, instance := range []string{"root", "child"} {
		e.enqueue(raised(instance, "go"))
		e.enqueueLater(raised(instance, "later"), held)
		e.enqueueWork(activityItem(instance, 2))
	}
	same(e, e.deleteBulk(provider.InstanceFilter{}).QueueMessagesDeleted, 6, ruleBulkLikeSingle)
	same(e, e.depths(), provider.QueueDepths{}, ruleBulkLikeSingle)
}

// A turn and an activity of a child end with it: their holders lose the lock, and who
// takes the id is not kept waiting for the old lease.
func bulkEndsLeases(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createChild("root", "child")
	e.wake("child")
	turn := e.fetchInstance("child", held)
	e.enqueueWork(activityItem("child", 2))
	work := e.fetchWork(held)
	e.deleteBulk(provider.InstanceFilter{})
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, held), provider.ErrInvalidLockToken, ruleBulkLikeSingle)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, work.LockToken, held), provider.ErrLockLost, ruleBulkLikeSingle)
	e.permanent(e.p.AckWorkItem(e.ctx, work.LockToken, completedItem("child", 2)), provider.ErrLockLost, ruleBulkLikeSingle)
	again := turnOf(turn, provider.AckOrchestrationParams{Metadata: created(), HistoryDelta: []provider.Event{started("child", 2)}})
	e.permanent(e.p.AckOrchestrationItem(e.ctx, again), provider.ErrInvalidLockToken, ruleBulkLikeSingle)
	e.gone(ruleBulkLikeSingle, "root", "child")
	e.enqueue(startItem("child"))
	fresh := e.tryFetch(held)
	e.check(fresh != nil, ruleBulkLikeSingle, "the recreated child cannot be fetched: the old lease stayed")
	same(e, fresh.AttemptCount, 1, ruleBulkLikeSingle)
}

// Instances that do not match keep everything.
func bulkLeavesOthers(e *env) {
	e.familyWithKeys("root", "child")
	e.familyWithKeys("other", "other-child")
	e.enqueueWork(activityItem("other-child", 2))
	work := e.fetchWork(held)
	e.wake("other-child")
	turn := e.fetchInstance("other-child", held)
	same(e, e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"root"}}).InstancesDeleted, 2, ruleBulkIDs)
	e.exists(ruleBulkIDs, "other", "other-child")
	for _, instance := range []string{"other", "other-child"} {
		e.kvIs(instance, "old", new("1"), ruleBulkIDs)
		e.kvIs(instance, "fresh", new("2"), ruleBulkIDs)
		e.hasStatus(instance, new("half"), 1, ruleBulkIDs)
	}
	e.ackWork(work)
	e.commit(turn, provider.AckOrchestrationParams{})
}

// bulkStatuses: completed and failed instances go, and those between two
// executions too.
func bulkStatuses(e *env) {
	e.createEnded("done", provider.StatusCompleted)
	e.createEnded("failed", provider.StatusFailed)
	e.create("runs")
	e.create("between")
	e.finish("between", provider.StatusContinuedAsNew, "next")
	same(e, e.deleteBulk(provider.InstanceFilter{}), provider.DeleteInstanceResult{
		InstancesDeleted: 3, ExecutionsDeleted: 3, EventsDeleted: 6, QueueMessagesDeleted: 1,
	}, ruleBulk)
	e.gone(ruleBulk, "done", "failed", "between")
	e.exists(ruleBulk, "runs")
}

// bulkIDs: no list means all, an empty one means none; unknown ids are passed
// over and repeated ones count once.
func bulkIDs(e *env) {
	e.createEnded("a", provider.StatusCompleted)
	e.createEnded("b", provider.StatusCompleted)
	none := e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{}})
	same(e, none, provider.DeleteInstanceResult{}, ruleBulkIDs)
	e.exists(ruleBulkIDs, "a", "b")
	got := e.deleteBulk(provider.InstanceFilter{InstanceIDs: []string{"nobody", "a", "a"}})
	same(e, got.InstancesDeleted, 1, ruleBulkIDs)
	e.exists(ruleBulkIDs, "b")
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, 1, ruleBulkIDs)
}

// bulkChildren: a finished child stays while its root does, listed or not.
func bulkChildren(e *env) {
	e.create("root")
	e.createEndedChild("root", "child", provider.StatusCompleted)
	for _, filter := range []provider.InstanceFilter{{}, {InstanceIDs: []string{"child"}}, {InstanceIDs: []string{"child", "root"}}} {
		same(e, e.deleteBulk(filter), provider.DeleteInstanceResult{}, ruleBulkIDs)
	}
	e.exists(ruleBulkIDs, "root", "child")
}

// bulkRunningChildren: a finished root goes with its running descendants.
func bulkRunningChildren(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createChild("root", "child")
	e.createChild("child", "grandchild")
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, 3,
		"§6.17: a completed root may have running children; they go too")
	e.gone(ruleBulk, "root", "child", "grandchild")
}

// bulkLimitRoots: the limit counts roots, not the members of their trees.
func bulkLimitRoots(e *env) {
	for _, root := range []string{"a", "b", "c"} {
		e.createEnded(root, provider.StatusCompleted)
		e.createEndedChild(root, root+"::1", provider.StatusCompleted)
		e.createEndedChild(root, root+"::2", provider.StatusCompleted)
	}
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(2))}).InstancesDeleted, 6, ruleBulkLimit)
	same(e, len(e.instances()), 3, ruleBulkLimit)
}

// bulkLimitSkips: running instances and children do not use up the limit.
func bulkLimitSkips(e *env) {
	for i := range 5 {
		e.create(fmt.Sprintf("runs-%d", i))
		e.createEndedChild(fmt.Sprintf("runs-%d", i), fmt.Sprintf("child-%d", i), provider.StatusCompleted)
		e.tick()
	}
	e.createEnded("done-1", provider.StatusCompleted)
	e.createEnded("done-2", provider.StatusCompleted)
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(2))}).InstancesDeleted, 2, ruleBulkLimit)
	e.gone(ruleBulkLimit, "done-1", "done-2")
}

// bulkLimitZero: a limit of 0 deletes nothing.
func bulkLimitZero(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	same(e, e.deleteBulk(provider.InstanceFilter{Limit: new(uint32(0))}), provider.DeleteInstanceResult{}, ruleBulkLimit)
	e.exists(ruleBulkLimit, "order")
}

// bulkDefaultLimit: without a limit a call handles 1000 instances, in bulk
// deletion and bulk pruning alike.
func bulkDefaultLimit(e *env) {
	if e.config.Rows < provider.DefaultBulkLimit+3 {
		e.Skipf("it takes %d instances, and Config.Rows is %d", provider.DefaultBulkLimit+3, e.config.Rows)
	}
	for i := range provider.DefaultBulkLimit + 3 {
		e.createEnded(fmt.Sprintf("order-%d", i), provider.StatusCompleted)
	}
	same(e, e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{}).InstancesProcessed,
		provider.DefaultBulkLimit, "§6.19: Limit default 1000")
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, provider.DefaultBulkLimit, ruleBulkLimit)
	same(e, e.metrics().TotalInstances, 3, ruleBulkLimit)
	same(e, e.deleteBulk(provider.InstanceFilter{}).InstancesDeleted, 3, ruleBulkLimit)
}

// bulkLongList: a list of ids has no upper bound.
func bulkLongList(e *env) {
	var list []string
	for i := range 1500 {
		list = append(list, fmt.Sprintf("order-%d", i))
	}
	for _, instance := range []string{list[0], list[700], list[1499], "other"} {
		e.createEnded(instance, provider.StatusCompleted)
	}
	filter := provider.InstanceFilter{InstanceIDs: list}
	same(e, e.pruneBulk(filter, provider.PruneOptions{}).InstancesProcessed, 3, ruleBulkIDs)
	same(e, e.deleteBulk(filter).InstancesDeleted, 3, ruleBulkIDs)
	e.exists(ruleBulkIDs, "other")
}

// bulkCurrentExecution: what counts is when the current execution completed, not
// any earlier one.
func bulkCurrentExecution(e *env) {
	e.createExecutions("order", 3)
	bound := e.completedAt("order", 2).Add(time.Millisecond)
	e.tick()
	e.finish("order", provider.StatusCompleted, "out")
	got := e.deleteBulk(provider.InstanceFilter{CompletedBefore: &bound})
	same(e, got, provider.DeleteInstanceResult{}, ruleBulkBefore)
	later := e.completedAt("order", 3).Add(time.Millisecond)
	got = e.deleteBulk(provider.InstanceFilter{CompletedBefore: &later})
	same(e, got.ExecutionsDeleted, 3, ruleBulkBefore)
}

// bulkNullTime: an instance that runs has not completed before any time.
func bulkNullTime(e *env) {
	e.createExecutions("order", 2)
	future := e.completedAt("order", 1).Add(24 * time.Hour)
	got := e.deleteBulk(provider.InstanceFilter{CompletedBefore: &future, InstanceIDs: []string{"order"}})
	same(e, got, provider.DeleteInstanceResult{}, ruleBulkBefore)
	e.exists(ruleBulkBefore, "order")
}

// bulkCounts: the sums are exact over all trees, with every execution, event,
// message and activity.
func bulkCounts(e *env) {
	e.createExecutions("a", 3)
	e.finish("a", provider.StatusCompleted, "out")
	e.createWithActivities("b", 2, 3)
	e.finish("b", provider.StatusFailed, "out")
	e.createChild("b", "b::1")
	e.fetchWork(held)
	e.wake("a", "b::1")
	e.fetchInstance("a", held)
	same(e, e.deleteBulk(provider.InstanceFilter{}), provider.DeleteInstanceResult{
		InstancesDeleted: 3, ExecutionsDeleted: 5, EventsDeleted: 6 + 4 + 1, QueueMessagesDeleted: 4,
	}, "§6.17: counts: sums including children")
	same(e, e.depths(), provider.QueueDepths{}, ruleDelete)
	same(e, e.metrics(), provider.SystemMetrics{}, ruleDelete)
}

// bulkTurnLost: a turn on a finished instance that is deleted meanwhile cannot
// bring it back.
func bulkTurnLost(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	e.wake("order")
	got := e.fetchInstance("order", held)
	e.deleteBulk(provider.InstanceFilter{})
	err := e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{Metadata: created()}))
	e.permanent(err, provider.ErrInvalidLockToken, ruleTurnLost)
	e.gone(ruleTurnLost, "order")
}
