package providertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// prune checks which old executions go, of which instances, and what must stay.
func prune() category {
	return category{"prune", []scenario{
		{"prune_options_combinations", pruneOptions},
		{"prune_safety", pruneSafety},
		{"prune_bulk", pruneBulk},
		{"prune_bulk_includes_running_instances", pruneBulkRunning},

		{"pruning_keeps_keys", pruneBulkKeepsKeys},
		{"pruning_keeps_running_executions", pruneBulkKeepsRunning},
		{"pruning_keeps_the_current_execution", pruneBulkKeepsCurrent},
		{"pruning_keeps_instances_and_custom_status", pruneBulkKeepsInstance},
		{"pruning_keeps_leases_and_queues", pruneBulkKeepsLeases},

		{"keep_last_nil_zero_and_one_are_the_same", pruneKeepSame},
		{"keep_last_counts_executions_not_ids", pruneKeepGaps},
		{"keep_last_beyond_all", pruneKeepAll},
		{"nothing_to_prune_is_processed", pruneNothing},
		{"unknown_instance", pruneUnknown},
		{"completed_before_is_strict", pruneStrict},
		{"completed_before_includes_continued_as_new", pruneContinuedAsNew},
		{"old_running_execution_stays", pruneOldRunning},
		{"between_executions_the_current_one_stays", pruneBetween},
		{"instance_row_and_custom_status_stay", pruneKeepsInstance},
		{"queues_stay", pruneKeepsQueues},
		{"lock_stays", pruneKeepsLock},
		{"other_instances_stay", pruneKeepsOthers},
		{"sub_orchestration_is_pruned_directly", pruneChild},
		{"many_executions", pruneMany},
		{"bulk_includes_sub_orchestrations", pruneBulkChildren},
		{"bulk_filter_time_tests_current_execution", pruneBulkFilterTime},
		{"bulk_options_time_tests_each_execution", pruneBulkOptionsTime},
		{"bulk_nil_and_empty_ids", pruneBulkIDs},
		{"bulk_limit", pruneBulkLimit},
		{"bulk_conditions_all_count", bulkConditions},
		{"bulk_takes_long_histories", pruneBulkLong},
		{"prune_during_turns", pruneDuringTurns},
		{"bulk_passes_over_what_is_deleted_meanwhile", pruneBulkDuringDeletions},
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

// pruneKeepSame: keeping none, one, or an unsaid number keeps the current
// execution.
func pruneKeepSame(e *env) {
	for i, options := range []provider.PruneOptions{{}, keep(0), keep(1)} {
		instance := fmt.Sprintf("order-%d", i)
		e.createExecutions(instance, 3)
		same(e, e.prune(instance, options), pruned(2), rulePruneSame)
		sameList(e, e.executions(instance), []uint64{3}, rulePruneSame)
	}
}

// pruneKeepGaps: with gaps in the ids the highest k still stay, not the last k
// numbers.
func pruneKeepGaps(e *env) {
	e.create("order")
	for _, next := range []uint64{4, 9, 20} {
		e.finish("order", provider.StatusContinuedAsNew, "next")
		e.commit(e.fetchInstance("order", held), provider.AckOrchestrationParams{
			ExecutionID: next, Metadata: created(), HistoryDelta: []provider.Event{started("order", next)},
		})
	}
	same(e, e.prune("order", keep(3)), pruned(1), rulePruneKeep)
	sameList(e, e.executions("order"), []uint64{4, 9, 20}, rulePruneKeep)
	same(e, e.prune("order", keep(2)), pruned(1), rulePruneKeep)
	sameList(e, e.executions("order"), []uint64{9, 20}, rulePruneKeep)
}

// pruneKeepAll: keeping as many as there are, or more, deletes nothing.
func pruneKeepAll(e *env) {
	e.createExecutions("order", 3)
	for _, k := range []uint32{3, 4, 1 << 31, 1<<32 - 1} {
		same(e, e.prune("order", keep(k)), pruned(0), rulePruneKeep)
	}
	sameList(e, e.executions("order"), []uint64{1, 2, 3}, rulePruneKeep)
}

// pruneNothing: an instance without old executions is processed all the same.
func pruneNothing(e *env) {
	e.create("order")
	same(e, e.prune("order", provider.PruneOptions{}), pruned(0), rulePruneOnce)
	e.finish("order", provider.StatusCompleted, "out")
	same(e, e.prune("order", keep(0)), pruned(0), rulePruneOnce)
	e.exists(rulePruneSafe, "order")
}

// pruneUnknown: pruning an unknown or merely queued instance is an error that
// names it.
func pruneUnknown(e *env) {
	const rule = "§6.18: unknown instance → permanent \"Instance {id} not found\""
	e.enqueue(startItem("queued"))
	for _, instance := range []string{"nobody", "queued"} {
		_, err := e.admin().PruneExecutions(e.ctx, instance, provider.PruneOptions{})
		e.permanent(err, provider.ErrNotFound, rule)
		e.saysAll(err, rule, instance, "not found")
	}
}

// pruneStrict: an execution that completed at the bound stays; a millisecond
// later it goes.
func pruneStrict(e *env) {
	e.createExecutions("order", 2)
	at := e.completedAt("order", 1)
	for _, bound := range []time.Time{at.Add(-time.Hour), at.Add(-time.Millisecond), at} {
		same(e, e.prune("order", provider.PruneOptions{CompletedBefore: &bound}), pruned(0), rulePruneTime)
	}
	bound := at.Add(time.Millisecond)
	same(e, e.prune("order", provider.PruneOptions{CompletedBefore: &bound}), pruned(1), rulePruneTime)
}

// pruneContinuedAsNew: executions that continued as new have a completion time
// and are found by it.
func pruneContinuedAsNew(e *env) {
	e.createExecutions("order", 4)
	future := e.completedAt("order", 3).Add(held)
	same(e, e.prune("order", provider.PruneOptions{CompletedBefore: &future}), pruned(3),
		"§5.2 step 8: completed_at = now for Completed, Failed and ContinuedAsNew")
}

// pruneOldRunning: an execution that is not the current one but was never ended
// stays.
func pruneOldRunning(e *env) {
	e.createExecutions("order", 2)
	e.turn("order", provider.AckOrchestrationParams{ExecutionID: 3, HistoryDelta: []provider.Event{started("order", 3)}})
	same(e, e.execution("order", 2).Status, provider.StatusRunning, "§5.2 step 4: insert (…, 'Running') if absent")
	future := e.completedAt("order", 1).Add(held)
	same(e, e.prune("order", provider.PruneOptions{CompletedBefore: &future}), pruned(1), rulePruneSafe)
	same(e, e.prune("order", keep(1)), pruned(0), rulePruneSafe)
	sameList(e, e.executions("order"), []uint64{2, 3}, rulePruneSafe)
}

// pruneBetween: between two executions the ended one is current and stays, and
// the instance goes on.
func pruneBetween(e *env) {
	e.createExecutions("order", 2)
	e.finish("order", provider.StatusContinuedAsNew, "next")
	future := e.completedAt("order", 2).Add(held)
	same(e, e.prune("order", provider.PruneOptions{CompletedBefore: &future}), pruned(1), rulePruneSafe)
	sameList(e, e.executions("order"), []uint64{2}, rulePruneSafe)
	e.nextExecution("order", provider.AckOrchestrationParams{})
	sameList(e, e.executions("order"), []uint64{2, 3}, rulePruneSafe)
}

// pruneKeepsInstance: pruning changes no fact of the instance.
func pruneKeepsInstance(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.continueAsNew("order")
	before := e.info("order")
	same(e, e.prune("order", provider.PruneOptions{}).ExecutionsDeleted, 1, rulePruneKeep)
	after := e.info("order")
	after.UpdatedAt = before.UpdatedAt
	e.sameValue(after, before, rulePruneStay, "InstanceInfo")
	e.hasStatus("order", new("50 %"), 1, rulePruneStay)
}

// pruneKeepsQueues: messages and activities of a pruned execution stay queued.
func pruneKeepsQueues(e *env) {
	e.createWithActivities("order", 2)
	e.continueAsNew("order")
	e.enqueue(completedItem("order", 9))
	same(e, e.prune("order", provider.PruneOptions{}).ExecutionsDeleted, 1, rulePruneKeep)
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 1, WorkerQueue: 1}, rulePruneStay)
	e.batch(e.fetchInstance("order", held), rulePruneStay, completedItem("order", 9))
	sameList(e, e.drainWork(), []provider.ActivityRef{ref("order", 2)}, rulePruneStay)
}

// pruneKeepsLock: pruning disturbs neither a turn nor an activity in progress.
func pruneKeepsLock(e *env) {
	e.createExecutions("order", 3)
	e.enqueueWork(activityItem("order", 2))
	e.wake("order")
	turn, work := e.fetchInstance("order", held), e.fetchWork(held)
	same(e, e.prune("order", provider.PruneOptions{}), pruned(2), rulePruneKeep)
	e.fetchNone(rulePruneStay)
	e.commit(turn, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
		event("order", 3, 2, provider.ExternalSubscribed{Name: "approve"}),
	}})
	same(e, len(e.history("order", 3)), 2, rulePruneStay)
	e.ackWork(work)
}

// pruneKeepsOthers: pruning one instance leaves the executions of all others.
func pruneKeepsOthers(e *env) {
	for _, instance := range []string{"order", "ORDER", "order-2"} {
		e.createExecutions(instance, 3)
	}
	e.prune("order", provider.PruneOptions{})
	for _, other := range []string{"ORDER", "order-2"} {
		sameList(e, e.executions(other), []uint64{1, 2, 3}, "§2.2: instance_id: compared byte-for-byte")
		same(e, len(e.history(other, 1)), 2, "§2.2: instance_id: compared byte-for-byte")
	}
}

// pruneChild: unlike deletion, pruning takes a sub-orchestration by its id, and
// leaves its parent alone.
func pruneChild(e *env) {
	e.createExecutions("root", 2)
	e.createChild("root", "child")
	e.continueAsNew("child")
	same(e, e.prune("child", provider.PruneOptions{}), pruned(1), "§6.18: refuses only an unknown instance")
	sameList(e, e.executions("root"), []uint64{1, 2}, rulePruneKeep)
	samePtr(e, e.parent("child"), new("root"), rulePruneStay)
}

// pruneMany: hundreds of executions go in one call.
func pruneMany(e *env) {
	e.createExecutions("order", 300)
	same(e, e.prune("order", keep(2)), pruned(298), rulePruneKeep)
	sameList(e, e.executions("order"), []uint64{299, 300}, rulePruneKeep)
}

// pruneBulkChildren: a bulk call without ids takes sub-orchestrations too, and
// counts instances that had nothing to prune.
func pruneBulkChildren(e *env) {
	e.create("root")
	e.createChild("root", "child")
	e.continueAsNew("child")
	got := e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 1, EventsDeleted: 2}, rulePruneBulk)
	sameList(e, e.executions("child"), []uint64{2}, rulePruneBulk)
	e.continueAsNew("child")
	got = e.pruneBulk(provider.InstanceFilter{InstanceIDs: []string{"child"}}, provider.PruneOptions{})
	same(e, got, pruned(1), rulePruneBulk)
}

// pruneBulkFilterTime: a time in the filter compares the current execution's
// completion, so running instances are left out.
func pruneBulkFilterTime(e *env) {
	const rule = "§6.19: CompletedBefore in the filter tests the current execution's completed_at " +
		"(so it excludes running instances)"
	e.createExecutions("runs", 3)
	e.createExecutions("done", 3)
	e.finish("done", provider.StatusCompleted, "out")
	at := e.completedAt("done", 3)
	got := e.pruneBulk(provider.InstanceFilter{CompletedBefore: &at}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{}, rule)
	got = e.pruneBulk(provider.InstanceFilter{CompletedBefore: new(at.Add(held))}, provider.PruneOptions{})
	same(e, got, pruned(2), rule)
	sameList(e, e.executions("runs"), []uint64{1, 2, 3}, rule)
	sameList(e, e.executions("done"), []uint64{3}, rule)
}

// pruneBulkOptionsTime: a time in the options compares each execution, in running
// instances as well.
func pruneBulkOptionsTime(e *env) {
	const rule = "§6.19: CompletedBefore … in the options it tests each execution"
	e.createExecutions("a", 2)
	e.createExecutions("b", 2)
	e.tick()
	e.continueAsNew("a")
	e.tick()
	e.continueAsNew("b")
	bound := e.completedAt("b", 2)
	got := e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{CompletedBefore: &bound})
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 3, EventsDeleted: 6}, rule)
	sameList(e, e.executions("a"), []uint64{3}, rule)
	sameList(e, e.executions("b"), []uint64{2, 3}, rule)
}

// pruneBulkIDs: no list means all, an empty one means none, and unknown ids are
// passed over.
func pruneBulkIDs(e *env) {
	const rule = "§6.19: every matching instance; §6.17: nil = no restriction; empty list = zero result"
	e.createExecutions("a", 2)
	e.createExecutions("b", 2)
	got := e.pruneBulk(provider.InstanceFilter{InstanceIDs: []string{}}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{}, rule)
	got = e.pruneBulk(provider.InstanceFilter{InstanceIDs: []string{"nobody", "a", "a"}}, provider.PruneOptions{})
	same(e, got, pruned(1), rule)
	got = e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 1, EventsDeleted: 2}, rule)
}

// pruneBulkLimit: the limit bounds the instances of one call.
func pruneBulkLimit(e *env) {
	const rule = "§6.19: Limit default 1000; §6.17: Limit"
	for i := range 5 {
		e.createExecutions(fmt.Sprintf("order-%d", i), 2)
	}
	none := e.pruneBulk(provider.InstanceFilter{Limit: new(uint32(0))}, provider.PruneOptions{})
	same(e, none, provider.PruneResult{}, rule)
	got := e.pruneBulk(provider.InstanceFilter{Limit: new(uint32(3))}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 3, ExecutionsDeleted: 3, EventsDeleted: 6}, rule)
	got = e.pruneBulk(provider.InstanceFilter{Limit: new(uint32(100))}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 5, ExecutionsDeleted: 2, EventsDeleted: 4}, rule)
}

// pruneBulkLong: one call prunes more events than a store deletes at a time.
func pruneBulkLong(e *env) {
	const more, old = 700, 3
	e.createExecutions("order", old+1)
	for execution := uint64(1); execution <= old; execution++ {
		var events []provider.Event
		for id := uint64(3); id < 3+more; id++ {
			events = append(events, event("order", execution, id, provider.ExternalEvent{Name: "tick"}))
		}
		e.ok(e.p.AppendWithExecution(e.ctx, "order", execution, events), "§5.7: AppendWithExecution appends to any execution")
	}
	got := e.pruneBulk(provider.InstanceFilter{InstanceIDs: []string{"order"}}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 1, ExecutionsDeleted: old, EventsDeleted: old * (more + 2)}, rulePruneBulk)
	sameList(e, e.executions("order"), []uint64{old + 1}, rulePruneBulk)
}

// pruneDuringTurns: pruning while the instance continues as new never deletes
// its current execution, and both finish.
func pruneDuringTurns(e *env) {
	const rounds = 10
	admin := e.admin()
	e.create("order")
	for execution := uint64(1); execution <= rounds; execution++ {
		e.finish("order", provider.StatusContinuedAsNew, "next")
		got := e.fetchInstance("order", held)
		e.together(2, func(i int) error {
			return patiently(func() error {
				if i == 0 {
					_, err := admin.PruneExecutions(e.ctx, "order", provider.PruneOptions{})
					return err
				}
				return e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
					ExecutionID: execution + 1, Metadata: created(),
					HistoryDelta: []provider.Event{started("order", execution+1)},
				}))
			})
		})
		same(e, e.info("order").CurrentExecutionID, execution+1, rulePruneSafe)
		same(e, len(e.history("order", execution+1)), 1, rulePruneSafe)
	}
	e.prune("order", provider.PruneOptions{})
	sameList(e, e.executions("order"), []uint64{rounds + 1}, rulePruneKeep)
}

// pruneBulkDuringDeletions: an instance that is deleted while the call is under way is
// no longer a matching one, and no error: the call was asked for none by name.
func pruneBulkDuringDeletions(e *env) {
	const rule = "§6.19: bulk pruning applies to every matching instance; one that is gone meanwhile is none"
	admin := e.admin()
	instances := make([]string, 40)
	for i := range instances {
		instances[i] = fmt.Sprintf("order-%02d", i)
		e.create(instances[i])
	}
	deleted := make(chan struct{})
	e.together(2, func(i int) error {
		if i == 0 {
			defer close(deleted)
			for _, instance := range slices.Backward(instances) {
				if err := e.forceDelete(instance); err != nil {
					return err
				}
			}
			return nil
		}
		for {
			err := patiently(func() error {
				_, err := admin.PruneExecutionsBulk(e.ctx, provider.InstanceFilter{}, provider.PruneOptions{})
				return err
			})
			if err != nil {
				return fmt.Errorf("violates %s: %w", rule, err)
			}
			select {
			case <-deleted:
				return nil
			default:
			}
		}
	})
}

// bulkConditions: each condition holds beside the others, of the filter and of the options.
func bulkConditions(e *env) {
	const rule = "§6.1: InstanceFilter and PruneOptions: all given conditions are ANDed"
	ids := []string{"order-0", "order-1", "order-2"}
	for _, id := range ids {
		e.createExecutions(id, 4)
	}
	before := e.completedAt("order-2", 3).Add(time.Millisecond)
	// All of them run.
	got := e.pruneBulk(provider.InstanceFilter{InstanceIDs: ids, CompletedBefore: &before}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{}, rule)
	got = e.pruneBulk(provider.InstanceFilter{InstanceIDs: ids, Limit: new(uint32(2))}, keep(4))
	same(e, got, provider.PruneResult{InstancesProcessed: 2}, rule)
	both := keep(2)
	both.CompletedBefore = &before
	got = e.pruneBulk(provider.InstanceFilter{InstanceIDs: ids[:2]}, both)
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 4, EventsDeleted: 8}, rule)
	none := provider.PruneOptions{CompletedBefore: new(before.Add(-time.Hour)), KeepLast: new(uint32(1))}
	same(e, e.pruneBulk(provider.InstanceFilter{}, none), provider.PruneResult{InstancesProcessed: 3}, rule)
	sameList(e, e.executions("order-2"), []uint64{1, 2, 3, 4}, rule)
}
