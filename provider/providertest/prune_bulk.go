package providertest

import "github.com/duroxide/duroxide-go/provider"

const rulePruneLikeSingle = "§6.19: applies §6.18 to every matching instance: " +
	"KV, custom status, queues, locks, instance row stay; the current execution and running ones are never deleted"

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
		e.hasStatus(instance, new("half"), 1, rulePruneLikeSingle)
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
