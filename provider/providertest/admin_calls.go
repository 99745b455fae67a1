package providertest

import (
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// info reads an instance's facts.
func (e *env) info(instance string) provider.InstanceInfo {
	e.Helper()
	info, err := e.admin().GetInstanceInfo(e.ctx, instance)
	e.ok(err, "§6.8: GetInstanceInfo describes an existing instance")
	return info
}

// execution reads an execution's facts.
func (e *env) execution(instance string, id uint64) provider.ExecutionInfo {
	e.Helper()
	info, err := e.admin().GetExecutionInfo(e.ctx, instance, id)
	e.ok(err, "§6.9: GetExecutionInfo describes an existing execution")
	return info
}

// completedAt is when an ended execution ended, by the store's clock.
func (e *env) completedAt(instance string, id uint64) time.Time {
	e.Helper()
	at := e.execution(instance, id).CompletedAt
	e.check(at != nil, "§5.2 step 8: completed_at = now for Completed, Failed and ContinuedAsNew",
		"execution %d of %q has ended and no CompletedAt", id, instance)
	return *at
}

// executions lists an instance's execution ids.
func (e *env) executions(instance string) []uint64 {
	e.Helper()
	ids, err := e.admin().ListExecutions(e.ctx, instance)
	e.ok(err, "§6.5: ListExecutions")
	return ids
}

// metrics reads the system metrics.
func (e *env) metrics() provider.SystemMetrics {
	e.Helper()
	m, err := e.admin().GetSystemMetrics(e.ctx)
	e.ok(err, "§6.10: GetSystemMetrics")
	return m
}

// depths reads the queue depths, without what waits for unknown code.
func (e *env) depths() provider.QueueDepths {
	e.Helper()
	d := e.allDepths()
	d.UnknownOrchestrations, d.UnknownActivities = 0, 0
	return d
}

func (e *env) allDepths() provider.QueueDepths {
	e.Helper()
	d, err := e.admin().GetQueueDepths(e.ctx)
	e.ok(err, "§6.11: GetQueueDepths")
	return d
}

// delete deletes a root instance with its tree.
func (e *env) delete(instance string, force bool) provider.DeleteInstanceResult {
	e.Helper()
	result, err := e.admin().DeleteInstance(e.ctx, instance, force)
	e.ok(err, "§6.15: DeleteInstance deletes a root instance with all its descendants")
	return result
}

// deleteList deletes the given instances.
func (e *env) deleteList(force bool, instances ...string) provider.DeleteInstanceResult {
	e.Helper()
	result, err := e.admin().DeleteInstancesAtomic(e.ctx, instances, force)
	e.ok(err, "§6.16: DeleteInstancesAtomic deletes the whole list")
	return result
}

// deleteBulk deletes the matching finished roots with their trees.
func (e *env) deleteBulk(filter provider.InstanceFilter) provider.DeleteInstanceResult {
	e.Helper()
	result, err := e.admin().DeleteInstanceBulk(e.ctx, filter)
	e.ok(err, "§6.17: DeleteInstanceBulk deletes finished roots")
	return result
}

// prune prunes one instance.
func (e *env) prune(instance string, options provider.PruneOptions) provider.PruneResult {
	e.Helper()
	result, err := e.admin().PruneExecutions(e.ctx, instance, options)
	e.ok(err, "§6.18: PruneExecutions deletes old executions of an instance")
	return result
}

// pruneBulk prunes the matching instances.
func (e *env) pruneBulk(filter provider.InstanceFilter, options provider.PruneOptions) provider.PruneResult {
	e.Helper()
	result, err := e.admin().PruneExecutionsBulk(e.ctx, filter, options)
	e.ok(err, "§6.19: PruneExecutionsBulk prunes every matching instance")
	return result
}

// exists asserts that the instances have their rows and a history.
func (e *env) exists(rule string, instances ...string) {
	e.Helper()
	for _, instance := range instances {
		_, err := e.admin().GetInstanceInfo(e.ctx, instance)
		e.check(err == nil, rule, "GetInstanceInfo of %q, which must have stayed: %v", instance, err)
		events, err := e.p.Read(e.ctx, instance)
		e.check(err == nil && len(events) > 0, rule,
			"history of %q, which must have stayed: %d events, error %v", instance, len(events), err)
	}
}

// gone asserts that nothing is left of the instances but what is queued.
func (e *env) gone(rule string, instances ...string) {
	e.Helper()
	for _, instance := range instances {
		_, err := e.admin().GetInstanceInfo(e.ctx, instance)
		e.permanent(err, provider.ErrNotFound, rule)
		events, err := e.p.Read(e.ctx, instance)
		e.check(err == nil && len(events) == 0, rule,
			"history of deleted %q: %d events, error %v", instance, len(events), err)
		e.check(len(e.executions(instance)) == 0, rule, "deleted %q still has executions", instance)
	}
}
