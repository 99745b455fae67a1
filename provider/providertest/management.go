package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// management checks what tools and dashboards read.
func management() category {
	return category{"management", []scenario{
		{"list_instances", listInstances},
		{"list_instances_by_status", listInstancesByStatus},
		{"list_executions", listExecutions},
		{"get_instance_info", getInstanceInfo},
		{"get_execution_info", getExecutionInfo},
		{"get_system_metrics", getSystemMetrics},
		{"get_queue_depths", getQueueDepths},
		{"get_instance_stats_nonexistent", getStatsNonexistent},
		{"get_instance_stats_history", getStatsHistory},
		{"get_instance_stats_kv", getStatsKV},
		{"get_instance_stats_carry_forward", getStatsCarryForward},
		{"get_instance_stats_kv_delta_only", getStatsDeltaOnly},
		{"get_instance_stats_kv_merged", getStatsMerged},

		{"list_instances_newest_first", listNewestFirst},
		{"list_by_status_newest_first", listStatusNewestFirst},
		{"unknown_status_matches_nothing", listUnknownStatus},
		{"status_between_executions", statusBetween},
		{"status_follows_the_current_execution", statusOfCurrent},
		{"info_of_unknown_instance", infoUnknown},
		{"info_times", infoTimes},
		{"info_updated_by_a_turn", infoUpdated},
		{"info_follows_name_and_version", infoFollows},
		{"info_parent_never_overwritten", infoParentStays},
		{"execution_info_of_unknown", executionUnknown},
		{"execution_times", executionTimes},
		{"execution_event_count", executionEventCount},
		{"latest_execution_id", latestExecutionID},
		{"metrics_between_executions", metricsBetween},
		{"metrics_count_rows_without_instance", metricsWithoutInstance},
		{"depths_include_future_messages", depthsFuture},
		{"depths_exclude_live_locks", depthsLocked},
		{"depths_count_expired_locks", depthsExpired},
		{"depths_follow_renewed_locks", depthsRenewed},
		{"depths_after_abandon", depthsAbandoned},
		{"depths_count_every_kind", depthsKinds},
		{"children_in_order_of_creation", childrenOrdered},
		{"tree_of_unknown_id", treeUnknown},
		{"tree_deep_and_wide", treeDeepAndWide},
		{"tree_with_cycle", treeCycle},
		{"tree_below_unknown_parent", treeBelowUnknown},
		{"read_history_variants", readHistoryVariants},
		{"read_history_corrupted", readHistoryCorrupted},
		{"reads_do_not_decode_events", readsDoNotDecode},
		{"ids_compare_byte_for_byte", idsByteForByte},
		{"ids_keep_trailing_space", idsTrailingSpace},
		{"reads_create_and_lock_nothing", readsHarmless},
	}}
}

const (
	ruleList         = "§6.3: all instance ids, newest created_at first"
	ruleListStatus   = "§6.4: ids whose current execution has exactly this status, newest first"
	ruleInstanceInfo = "§6.8: GetInstanceInfo: name, version, current execution with its status and output, parent"
	ruleExecution    = "§6.9: GetExecutionInfo: status, output and event count of that execution"
	ruleMetrics      = "§6.10: instance counts by current execution status " +
		"(ContinuedAsNew counts in the total only); totals of all execution and history rows"
	ruleDepths = "§6.11: rows that are not validly locked " +
		"(lock_token IS NULL OR locked_until <= now), visible or not"
)

// instances lists all instance ids.
func (e *env) instances() []string {
	e.Helper()
	ids, err := e.admin().ListInstances(e.ctx)
	e.ok(err, ruleList)
	return ids
}

// withStatus lists the instances with a status.
func (e *env) withStatus(status provider.Status) []string {
	e.Helper()
	ids, err := e.admin().ListInstancesByStatus(e.ctx, status)
	e.ok(err, ruleListStatus)
	return ids
}

// plausible asserts that a time is about now, with room for clocks of other
// machines.
func (e *env) plausible(at time.Time, what, rule string) {
	e.Helper()
	off := time.Since(at).Abs()
	e.check(off < 10*time.Minute, rule, "%s is %v, %v away from now", what, at, off)
}

// listInstances: every created instance is listed, running or not, child or root;
// one that has only been queued is not.
func listInstances(e *env) {
	sameList(e, e.instances(), nil, ruleList)
	e.create("a")
	e.createEnded("b", provider.StatusCompleted)
	e.createChild("a", "a::sub::2")
	e.enqueue(startItem("queued"))
	sameSet(e, e.instances(), []string{"a", "b", "a::sub::2"}, ruleList)
}

// listInstancesByStatus: each status lists the instances whose current execution
// has it.
func listInstancesByStatus(e *env) {
	e.create("runs-1")
	e.createEnded("done", provider.StatusCompleted)
	e.createEnded("failed", provider.StatusFailed)
	e.createEnded("between", provider.StatusContinuedAsNew)
	e.createExecutions("runs-2", 2)
	sameSet(e, e.withStatus(provider.StatusRunning), []string{"runs-1", "runs-2"}, ruleListStatus)
	sameSet(e, e.withStatus(provider.StatusCompleted), []string{"done"}, ruleListStatus)
	sameSet(e, e.withStatus(provider.StatusFailed), []string{"failed"}, ruleListStatus)
	sameSet(e, e.withStatus(provider.StatusContinuedAsNew), []string{"between"}, ruleListStatus)
}

// listExecutions: executions are listed in ascending order, the current one
// included; an unknown instance has none.
func listExecutions(e *env) {
	const rule = "§6.5: execution ids ascending; unknown instance → empty"
	e.createExecutions("order", 3)
	e.create("other")
	sameList(e, e.executions("order"), []uint64{1, 2, 3}, rule)
	sameList(e, e.executions("other"), []uint64{1}, rule)
	sameList(e, e.executions("nobody"), nil, rule)
}

// getInstanceInfo: the facts of running, ended and child instances are what the
// turns stored.
func getInstanceInfo(e *env) {
	e.create("order")
	e.createEndedChild("order", "order::sub::2", provider.StatusFailed)
	info := e.info("order")
	e.plausible(info.CreatedAt, "CreatedAt", ruleInstanceInfo)
	same(e, info.InstanceID, "order", ruleInstanceInfo)
	same(e, info.OrchestrationName, "Order", ruleInstanceInfo)
	same(e, info.OrchestrationVersion, "1.0.0", ruleInstanceInfo)
	same(e, info.CurrentExecutionID, 1, ruleInstanceInfo)
	same(e, info.Status, provider.StatusRunning, ruleInstanceInfo)
	samePtr(e, info.Output, nil, ruleInstanceInfo)
	samePtr(e, info.ParentInstanceID, nil, ruleInstanceInfo)

	child := e.info("order::sub::2")
	same(e, child.Status, provider.StatusFailed, ruleInstanceInfo)
	samePtr(e, child.Output, new("out"), ruleInstanceInfo)
	samePtr(e, child.ParentInstanceID, new("order"), ruleInstanceInfo)
}

// getExecutionInfo: each execution has its own status, output and event count.
func getExecutionInfo(e *env) {
	e.create("order")
	e.finish("order", provider.StatusContinuedAsNew, "next")
	e.nextExecution("order", provider.AckOrchestrationParams{})
	first, second := e.execution("order", 1), e.execution("order", 2)
	same(e, first.ExecutionID, 1, ruleExecution)
	same(e, first.Status, provider.StatusContinuedAsNew, ruleExecution)
	samePtr(e, first.Output, new("next"), ruleExecution)
	same(e, first.EventCount, 2, ruleExecution)
	same(e, second.ExecutionID, 2, ruleExecution)
	same(e, second.Status, provider.StatusRunning, ruleExecution)
	samePtr(e, second.Output, nil, ruleExecution)
	samePtr(e, second.CompletedAt, nil, ruleExecution)
	same(e, second.EventCount, 1, ruleExecution)
}

// getSystemMetrics: an empty store counts nothing; then instances count by status
// and executions and events in total.
func getSystemMetrics(e *env) {
	same(e, e.metrics(), provider.SystemMetrics{}, ruleMetrics)
	e.create("runs")
	e.createEnded("done", provider.StatusCompleted)
	e.createEnded("failed-1", provider.StatusFailed)
	e.createEnded("failed-2", provider.StatusFailed)
	e.createExecutions("long", 3)
	same(e, e.metrics(), provider.SystemMetrics{
		TotalInstances: 5, TotalExecutions: 7,
		RunningInstances: 2, CompletedInstances: 1, FailedInstances: 2,
		TotalEvents: 1 + 3*2 + 5,
	}, ruleMetrics)
}

// getQueueDepths: queued messages count until they are fetched.
func getQueueDepths(e *env) {
	same(e, e.depths(), provider.QueueDepths{}, ruleDepths)
	e.enqueue(startItem("a"), startItem("b"))
	e.enqueueWork(activityItem("a", 2), activityItem("a", 3), activityItem("a", 4))
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 2, WorkerQueue: 3}, ruleDepths)
	e.fetchInstance("a", held)
	e.fetchWork(held)
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 1, WorkerQueue: 2}, ruleDepths)
}
