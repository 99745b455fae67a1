package providertest

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// prune checks which old executions go and what must stay.
func prune() category {
	return category{"prune", []scenario{
		{"prune_options_combinations", pruneOptions},
		{"prune_safety", pruneSafety},
		{"prune_bulk", pruneBulk},
		{"prune_bulk_includes_running_instances", pruneBulkRunning},
	}}
}

const (
	rulePruneKeep = "§6.18: KeepLast = k: keep the k highest execution ids (the current one counts as one of them)"
	rulePruneSame = "§6.18: KeepLast nil, 0 and 1 behave the same because the current one is always kept"
	rulePruneBoth = "§6.18: both given: an execution must satisfy both to be deleted"
	rulePruneTime = "§6.18: CompletedBefore: only executions with completed_at strictly before; NULL never matches"
	rulePruneSafe = "§6.18: never deleted: the current execution; any execution with status Running"
	rulePruneStay = "§6.18: KV, custom status, queues, locks, instance row stay"
	rulePruneOnce = "§6.18: InstancesProcessed = 1 even when nothing was deleted"
	rulePruneBulk = "§6.19: applies §6.18 to every matching instance, " +
		"including running ones and sub-orchestrations. Results are summed"
)

// keep is KeepLast alone.
func keep(n uint32) provider.PruneOptions { return provider.PruneOptions{KeepLast: &n} }

// pruned is the result for one instance that lost that many executions of 2
// events each.
func pruned(executions uint64) provider.PruneResult {
	return provider.PruneResult{InstancesProcessed: 1, ExecutionsDeleted: executions, EventsDeleted: 2 * executions}
}

// pruneOptions: KeepLast and CompletedBefore select alone and together, with
// exact counts.
func pruneOptions(e *env) {
	e.createExecutions("keep", 5)
	same(e, e.prune("keep", keep(3)), pruned(2), rulePruneKeep)
	sameList(e, e.executions("keep"), []uint64{3, 4, 5}, rulePruneKeep)
	same(e, len(e.history("keep", 1)), 0, "§6.18: deletes history and execution rows")

	e.create("time")
	for range 4 {
		e.tick()
		e.continueAsNew("time")
	}
	third := e.completedAt("time", 3)
	same(e, e.prune("time", provider.PruneOptions{CompletedBefore: &third}), pruned(2), rulePruneTime)
	sameList(e, e.executions("time"), []uint64{3, 4, 5}, rulePruneTime)

	fourth := e.completedAt("time", 4)
	both := provider.PruneOptions{KeepLast: new(uint32(3)), CompletedBefore: &fourth}
	same(e, e.prune("time", both), pruned(0), rulePruneBoth)
	both.KeepLast = new(uint32(1))
	same(e, e.prune("time", both), pruned(1), rulePruneBoth)
	sameList(e, e.executions("time"), []uint64{4, 5}, rulePruneBoth)
}

// pruneSafety: the current execution survives any options, ended or running.
func pruneSafety(e *env) {
	e.createExecutions("runs", 3)
	e.createExecutions("done", 2)
	e.finish("done", provider.StatusCompleted, "out")
	future := e.completedAt("done", 2).Add(held)
	for _, options := range []provider.PruneOptions{
		keep(0), keep(1), {CompletedBefore: &future}, {KeepLast: new(uint32(0)), CompletedBefore: &future},
	} {
		e.prune("runs", options)
		e.prune("done", options)
	}
	sameList(e, e.executions("runs"), []uint64{3}, rulePruneSafe)
	sameList(e, e.executions("done"), []uint64{2}, rulePruneSafe)
	same(e, len(e.history("done", 2)), 2, rulePruneSafe)
	_, err := e.admin().PruneExecutions(e.ctx, "nobody", provider.PruneOptions{})
	e.permanent(err, provider.ErrNotFound, "§6.18: unknown instance → permanent \"Instance {id} not found\"")
}

// pruneBulk: one call prunes all instances, or those of a list, and sums up.
func pruneBulk(e *env) {
	for i := 1; i <= 3; i++ {
		instance := fmt.Sprintf("order-%d", i)
		e.createExecutions(instance, i+1)
		e.finish(instance, provider.StatusCompleted, "out")
	}
	got := e.pruneBulk(provider.InstanceFilter{InstanceIDs: []string{"order-1", "order-3"}}, keep(2))
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 2, EventsDeleted: 4}, rulePruneBulk)
	sameList(e, e.executions("order-2"), []uint64{1, 2, 3}, rulePruneBulk)
	got = e.pruneBulk(provider.InstanceFilter{}, keep(1))
	same(e, got, provider.PruneResult{InstancesProcessed: 3, ExecutionsDeleted: 4, EventsDeleted: 8}, rulePruneBulk)
	for i := uint64(1); i <= 3; i++ {
		sameList(e, e.executions(fmt.Sprintf("order-%d", i)), []uint64{i + 1}, rulePruneBulk)
	}
}

// pruneBulkRunning: instances that run, for ever perhaps, are pruned like
// finished ones.
func pruneBulkRunning(e *env) {
	e.createExecutions("runs", 4)
	e.createExecutions("done", 2)
	e.finish("done", provider.StatusFailed, "out")
	got := e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 4, EventsDeleted: 8}, rulePruneBulk)
	sameList(e, e.executions("runs"), []uint64{4}, rulePruneBulk)
	sameList(e, e.executions("done"), []uint64{2}, rulePruneBulk)
	e.turn("runs", provider.AckOrchestrationParams{})
}
