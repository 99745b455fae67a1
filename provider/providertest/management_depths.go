package providertest

import "github.com/duroxide/duroxide-go/provider"

// metricsBetween: an instance between two executions counts in the total only.
func metricsBetween(e *env) {
	e.create("order")
	e.finish("order", provider.StatusContinuedAsNew, "next")
	same(e, e.metrics(), provider.SystemMetrics{TotalInstances: 1, TotalExecutions: 1, TotalEvents: 2}, ruleMetrics)
	e.nextExecution("order", provider.AckOrchestrationParams{})
	same(e, e.metrics(), provider.SystemMetrics{
		TotalInstances: 1, TotalExecutions: 2, TotalEvents: 3, RunningInstances: 1,
	}, ruleMetrics)
}

// metricsWithoutInstance: executions and events of a turn that created no
// instance row count, an instance does not. Its execution may count as running.
func metricsWithoutInstance(e *env) {
	e.enqueue(startItem("order"))
	e.commit(e.fetchInstance("order", held), provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started("order", 1)},
	})
	metrics := e.metrics()
	metrics.RunningInstances = 0
	same(e, metrics, provider.SystemMetrics{TotalExecutions: 1, TotalEvents: 1}, ruleMetrics)
	sameList(e, e.instances(), nil, "§5.2: metadata without name/version on unknown instance: no instance row is created")
	sameList(e, e.withStatus(provider.StatusRunning), nil, ruleListStatus)
}

// depthsFuture: timers and delayed messages that are not due count in the
// orchestrator queue, never in a queue of their own.
func depthsFuture(e *env) {
	e.enqueueLater(raised("order", "late"), held)
	e.enqueue(provider.TimerFiredItem{Instance: "order", ExecutionID: 1, ID: 2, FireAtMs: 1 << 42})
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 2}, ruleDepths+"; future timers are included; timer always 0")
}

// depthsLocked: a fetched batch does not count; what arrives meanwhile does, and
// the ack removes only the batch.
func depthsLocked(e *env) {
	e.create("order")
	e.wake("order", "order")
	got := e.fetchInstance("order", held)
	same(e, e.depths().OrchestratorQueue, 0, ruleDepths)
	e.wake("order")
	same(e, e.depths().OrchestratorQueue, 1, ruleDepths)
	e.drop(got)
	same(e, e.depths().OrchestratorQueue, 1, ruleDepths)
}

// depthsExpired: messages and activities whose lease has ended count again, while
// nobody has fetched them.
func depthsExpired(e *env) {
	e.enqueue(startItem("order"))
	e.enqueueWork(activityItem("order", 2))
	e.fetchInstance("order", e.lease)
	e.fetchWork(e.lease)
	e.expire()
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 1, WorkerQueue: 1}, ruleDepths)
}

// depthsRenewed: renewing a lock keeps its messages out of the depths.
func depthsRenewed(e *env) {
	e.enqueue(startItem("order"))
	e.enqueueWork(activityItem("order", 2))
	turn, work := e.fetchInstance("order", e.lease), e.fetchWork(e.lease)
	e.ok(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, held), "§5.4: renew with a live token")
	e.ok(e.p.RenewWorkItemLock(e.ctx, work.LockToken, held), "§5.12: renew with a live token")
	e.expire()
	same(e, e.depths(), provider.QueueDepths{},
		"§5.4: locked_until on the lock row, and on the batch rows if they carry a deadline; "+ruleDepths)
}

// depthsAbandoned: what was abandoned counts again at once, delayed or not.
func depthsAbandoned(e *env) {
	const rule = "§5.3: abandon clears lock_token/locked_until on the batch rows; "
	e.enqueue(startItem("order"))
	e.enqueueWork(activityItem("order", 2))
	e.abandon(e.fetchInstance("order", held), held, false)
	e.abandonWork(e.fetchWork(held), held, false)
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 1, WorkerQueue: 1}, rule+ruleDepths)
}

// depthsKinds: tagged activities, those of sessions and messages without an
// instance are rows like any other.
func depthsKinds(e *env) {
	tagged, inSession := activityItem("order", 2), activityItem("order", 3)
	tagged.Tag, inSession.SessionID = new("gpu"), new("session")
	e.enqueueWork(tagged, inSession, activityItem("order", 4))
	e.enqueue(provider.CancelInstanceItem{Instance: "nobody", Reason: "user"}, raised("nobody", "early"))
	same(e, e.depths(), provider.QueueDepths{OrchestratorQueue: 2, WorkerQueue: 3}, ruleDepths)
}
