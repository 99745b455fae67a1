package providertest

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// moreBulkDeletion covers which instances a bulk deletion takes and how it
// counts.
func moreBulkDeletion() category {
	return category{"more bulk deletion", []scenario{
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
