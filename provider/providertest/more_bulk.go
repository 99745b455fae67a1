package providertest

import "github.com/duroxide/duroxide-go/provider"

// moreBulk covers that the bulk calls do to each instance what the single calls do: no
// more and no less.
func moreBulk() category {
	return category{"more bulk", []scenario{
		{"deletion_takes_keys_and_custom_status", bulkDeletesKeys},
		{"deletion_takes_the_children_s_queues", bulkDeletesQueues},
		{"deletion_ends_the_leases_of_children", bulkEndsLeases},
		{"deletion_leaves_other_trees_alone", bulkLeavesOthers},
		{"pruning_keeps_keys", pruneBulkKeepsKeys},
		{"pruning_keeps_running_executions", pruneBulkKeepsRunning},
		{"pruning_keeps_the_current_execution", pruneBulkKeepsCurrent},
		{"pruning_keeps_instances_and_custom_status", pruneBulkKeepsInstance},
		{"pruning_keeps_leases_and_queues", pruneBulkKeepsLeases},
	}}
}

const (
	ruleBulkLikeSingle = "§6.17: each root: its tree is deleted with force=true (§6.16): " +
		"history, executions, queues, locks, KV store, KV delta, instances"
	rulePruneLikeSingle = "§6.19: applies §6.18 to every matching instance: " +
		"KV, custom status, queues, locks, instance row stay; the current execution and running ones are never deleted"
)

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
		e.statusIs(instance, nil, 0, ruleBulkLikeSingle)
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
		e.statusIs(instance, new("half"), 1, ruleBulkIDs)
	}
	e.ackWork(work)
	e.commit(turn, provider.AckOrchestrationParams{})
}

// Keys stay, whether an execution that goes has written them or the one that runs.
func pruneBulkKeepsKeys(e *env) {
	e.familyWithKeys("root", "child")
	got := e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{})
	same(e, got.ExecutionsDeleted, 2, rulePruneBulk)
	for _, instance := range []string{"root", "child"} {
		e.kvIs(instance, "old", new("1"), rulePruneLikeSingle)
		e.kvIs(instance, "fresh", new("2"), rulePruneLikeSingle)
	}
	e.wake("child")
	e.sameValue(e.fetchInstance("child", held).Item.KVSnapshot,
		map[string]provider.KVEntry{"old": {Value: "1", LastUpdatedAtMs: baseMs}}, rulePruneLikeSingle, "snapshot")
}

// An execution that never ended stays, old as it is.
func pruneBulkKeepsRunning(e *env) {
	for _, instance := range []string{"a", "b"} {
		e.createExecutions(instance, 2)
		e.turn(instance, provider.AckOrchestrationParams{ExecutionID: 3, HistoryDelta: []provider.Event{started(instance, 3)}})
	}
	got := e.pruneBulk(provider.InstanceFilter{}, keep(1))
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 2, EventsDeleted: 4}, rulePruneLikeSingle)
	for _, instance := range []string{"a", "b"} {
		sameList(e, e.executions(instance), []uint64{2, 3}, rulePruneLikeSingle)
		same(e, len(e.history(instance, 2)), 1, rulePruneLikeSingle)
	}
}

// The current execution stays, also one that has ended before the bound.
func pruneBulkKeepsCurrent(e *env) {
	for _, instance := range []string{"a", "b"} {
		e.createExecutions(instance, 3)
		e.finish(instance, provider.StatusCompleted, "out")
	}
	future := e.completedAt("b", 3).Add(held)
	got := e.pruneBulk(provider.InstanceFilter{CompletedBefore: &future}, provider.PruneOptions{CompletedBefore: &future})
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 4, EventsDeleted: 8}, rulePruneLikeSingle)
	for _, instance := range []string{"a", "b"} {
		sameList(e, e.executions(instance), []uint64{3}, rulePruneLikeSingle)
		same(e, len(e.history(instance, 3)), 2, rulePruneLikeSingle)
	}
}

// Pruning changes no fact of an instance.
func pruneBulkKeepsInstance(e *env) {
	e.familyWithKeys("root", "child")
	before := []provider.InstanceInfo{e.info("root"), e.info("child")}
	e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{})
	e.sameValue([]provider.InstanceInfo{e.info("root"), e.info("child")}, before, rulePruneLikeSingle, "instances")
	for _, instance := range []string{"root", "child"} {
		e.statusIs(instance, new("half"), 1, rulePruneLikeSingle)
	}
}

// A turn and an activity in progress are not disturbed, and what is queued stays queued.
func pruneBulkKeepsLeases(e *env) {
	e.create("root")
	e.createChild("root", "child")
	for _, instance := range []string{"root", "child"} {
		e.continueAsNew(instance)
	}
	for _, instance := range []string{"root", "child"} {
		e.enqueueWork(activityItem(instance, 2))
		e.wake(instance)
	}
	first, second := e.fetch(held), e.fetch(held)
	work := e.fetchWork(held)
	e.enqueue(raised("root", "knock"), raised("child", "knock"))
	got := e.pruneBulk(provider.InstanceFilter{}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: 2, ExecutionsDeleted: 2, EventsDeleted: 4}, rulePruneLikeSingle)
	e.fetchNone(rulePruneLikeSingle)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, rulePruneLikeSingle)
	e.fetchNoWork(provider.FetchWorkParams{}, rulePruneLikeSingle)
	e.ackWork(work)
	e.commit(first, provider.AckOrchestrationParams{})
	e.commit(second, provider.AckOrchestrationParams{})
	e.batch(e.fetchInstance("root", held), rulePruneLikeSingle, raised("root", "knock"), completedItem("root", 2))
	e.batch(e.fetchInstance("child", held), rulePruneLikeSingle, raised("child", "knock"))
}
