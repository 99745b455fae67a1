package providertest

import "github.com/duroxide/duroxide-go/provider"

// multiExecution checks that an instance's executions keep their histories apart
// and that the newest one is current.
func multiExecution() category {
	return category{"multi execution", []scenario{
		{"execution_isolation", executionsAreIsolated},
		{"latest_execution_detection", latestExecution},
		{"execution_id_sequencing", executionsCount},
		{"continue_as_new_creates_new_execution", continueAsNewTrace},
		{"execution_history_persistence", oldHistoriesStay},

		{"current_execution_never_decreases", currentNeverDecreases},
		{"instance_created_in_a_later_execution", createdInLaterExecution},
	}}
}

const (
	ruleIsolation = "§5.2 step 7: insert each event under (instance, executionID, event.EventID)"
	ruleLatest    = "§5.5: returns the events of the instance's latest execution (highest execution id known)"
	ruleCurrent   = "§5.2 step 6: current_execution_id = max(current, executionID)"
	ruleReportOld = "§5.1: batch contains ContinueAsNew: item still reports the current (old) execution and its terminal history"
)

// executionEvents are a short history of one execution that names itself.
func executionEvents(instance string, execution uint64, name string) []provider.Event {
	return []provider.Event{
		event(instance, execution, 1, provider.OrchestrationStarted{Name: name, Version: "1.0.0", Input: name}),
		event(instance, execution, 2, provider.ExternalSubscribed{Name: name}),
	}
}

// Executions use the same event ids without meeting, also when only acks without
// metadata wrote them.
func executionsAreIsolated(e *env) {
	for i, name := range []string{"first", "second", "third"} {
		execution := uint64(i + 1)
		e.enqueue(startItem("A"))
		e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{
			ExecutionID: execution, HistoryDelta: executionEvents("A", execution, name),
		})
	}
	for i, name := range []string{"first", "second", "third"} {
		execution := uint64(i + 1)
		e.sameEvents(e.history("A", execution), executionEvents("A", execution, name), ruleIsolation)
	}
	same(e, len(e.history("A", 4)), 0, "§5.6: unknown execution → empty list")
}

// Read, and the item of a fetch, show the newest execution alone.
func latestExecution(e *env) {
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		HistoryDelta: executionEvents("A", 1, "first"), Metadata: created(),
	})
	e.sameEvents(e.read("A"), executionEvents("A", 1, "first"), ruleLatest)
	e.turn("A", provider.AckOrchestrationParams{ExecutionID: 2, HistoryDelta: executionEvents("A", 2, "second")})
	e.sameEvents(e.read("A"), executionEvents("A", 2, "second"), ruleLatest)

	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.ExecutionID, 2, ruleCurrent)
	e.sameEvents(got.Item.History, executionEvents("A", 2, "second"), "§3.7: History: that execution only")
}

// Execution numbers are those of the acks, from 1 up; the current one follows.
func executionsCount(e *env) {
	e.create("A")
	for execution := uint64(1); execution <= 4; execution++ {
		e.enqueue(raised("A", "go"))
		got := e.fetchInstance("A", held)
		same(e, got.Item.ExecutionID, execution, ruleCurrent)
		e.commit(got, provider.AckOrchestrationParams{
			ExecutionID: execution + 1, HistoryDelta: executionEvents("A", execution+1, "next"),
		})
	}
	if e.p.Admin() != nil {
		sameList(e, e.executions("A"), []uint64{1, 2, 3, 4, 5}, "§5.2 step 4: insert (instance, executionID, 'Running') if absent")
		same(e, e.info("A").CurrentExecutionID, 5, ruleCurrent)
	}
}

// Continue-as-new step by step (§4.2): the old execution is reported with its
// message; the ack with the next number makes the new one current.
func continueAsNewTrace(e *env) {
	e.create("A")
	e.finish("A", provider.StatusContinuedAsNew, "next")
	first := e.fetchInstance("A", held)
	same(e, first.Item.ExecutionID, 1, ruleReportOld)
	e.sameEvents(first.Item.History, []provider.Event{
		started("A", 1), event("A", 1, 2, provider.OrchestrationContinuedAsNew{Input: "next"}),
	}, ruleReportOld)
	e.batch(first, ruleReportOld, provider.ContinueAsNewItem{Instance: "A", Orchestration: "Order", Input: "next"})

	e.commit(first, provider.AckOrchestrationParams{
		ExecutionID: 2, Metadata: created(), HistoryDelta: []provider.Event{started("A", 2)},
	})
	e.enqueue(raised("A", "go"))
	second := e.fetchInstance("A", held)
	same(e, second.Item.ExecutionID, 2, ruleCurrent)
	e.sameEvents(second.Item.History, []provider.Event{started("A", 2)}, "§4.2: execution 2, only its history")
	if e.p.Admin() != nil {
		same(e, e.execution("A", 1).Status, provider.StatusContinuedAsNew, "§5.2 step 8: set status, output on the execution row")
		same(e, e.execution("A", 2).Status, provider.StatusRunning, "§5.2 step 4: insert (instance, executionID, 'Running')")
	}
}

// Histories of finished executions stay as they were, however many follow.
func oldHistoriesStay(e *env) {
	e.createExecutions("A", 5)
	for execution := uint64(1); execution <= 4; execution++ {
		e.sameEvents(e.history("A", execution), []provider.Event{
			started("A", execution), event("A", execution, 2, provider.OrchestrationContinuedAsNew{Input: "next"}),
		}, "§4: history: append-only")
	}
	e.sameEvents(e.history("A", 5), []provider.Event{started("A", 5)}, ruleIsolation)
}

// An ack for an earlier execution is stored there and leaves the pointer alone.
func currentNeverDecreases(e *env) {
	e.createExecutions("A", 3)
	e.turn("A", provider.AckOrchestrationParams{
		ExecutionID: 1, HistoryDelta: []provider.Event{event("A", 1, 3, provider.ExternalSubscribed{Name: "late"})},
	})
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.ExecutionID, 3, ruleCurrent+"; never decreases")
	e.sameEvents(got.Item.History, []provider.Event{started("A", 3)}, ruleCurrent)
	same(e, len(e.history("A", 1)), 3, ruleIsolation)
}

// A first ack with a later execution number makes that the current one.
func createdInLaterExecution(e *env) {
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		ExecutionID: 4, Metadata: created(), HistoryDelta: []provider.Event{started("A", 4)},
	})
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.ExecutionID, 4, "§5.2 step 3: insert the row if absent (current_execution_id = executionID)")
	e.sameEvents(got.Item.History, []provider.Event{started("A", 4)}, ruleCurrent)
	e.sameEvents(e.read("A"), []provider.Event{started("A", 4)}, ruleLatest)
}
