package providertest

import "github.com/duroxide/duroxide-go/provider"

// executionStatus covers where an execution's status and output come from: from the turn's
// metadata alone.
func executionStatus() category {
	return category{"execution status", []scenario{
		{"completed_at_is_set_for_terminal_states_only", completedAtOfStates},

		{"terminal_event_without_status_leaves_it_running", eventsSetNoStatus},
		{"status_without_terminal_event_counts", statusWithoutEvent},
		{"status_that_differs_from_the_events_wins", statusAgainstEvents},
		{"appended_terminal_event_leaves_it_running", appendedEventSetsNoStatus},
		{"status_without_output", statusWithoutOutput},
		{"output_without_status_changes_nothing", outputWithoutStatus},
		{"empty_output_is_an_output", emptyOutput},
		{"late_turn_leaves_the_outcome", lateTurnLeavesOutcome},
	}}
}

const (
	ruleNotDerived = "§5.2: metadata: facts the runtime extracted from the delta; provider stores them and MUST NOT derive them itself"
	ruleSetsStatus = "§5.2 step 8: if Status given: set status, output on the execution row"
	ruleCompleted  = "§5.2 step 8: completed_at = now for Completed, Failed and ContinuedAsNew; leave NULL for Running (P29)"
)

// Each terminal status ends the execution at a time, also in an ack without
// events; Running does not.
func completedAtOfStates(e *env) {
	states := []provider.Status{provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew, provider.StatusRunning}
	for _, status := range states {
		instance := string(status)
		e.create(instance)
		samePtr(e, e.execution(instance, 1).CompletedAt, nil, ruleCompleted)
		e.turn(instance, provider.AckOrchestrationParams{Metadata: ended(status, "out")})
		got := e.execution(instance, 1)
		same(e, got.Status, status, "§5.2 step 8: set status, output on the execution row; happens also with an empty delta")
		samePtr(e, got.Output, new("out"), "§5.2 step 8: set status, output on the execution row")
		if !status.Terminal() {
			samePtr(e, got.CompletedAt, nil, ruleCompleted)
			continue
		}
		e.check(got.CompletedAt != nil && !got.CompletedAt.Before(got.StartedAt), ruleCompleted,
			"%s: completed %s, started %v", status, render(got.CompletedAt), got.StartedAt)
	}
}

// hasOutcome asserts an execution's status and output, and that the instance shows those
// of its current execution.
func (e *env) hasOutcome(instance string, execution uint64, status provider.Status, output *string, rule string) {
	e.Helper()
	got := e.execution(instance, execution)
	same(e, got.Status, status, rule)
	samePtr(e, got.Output, output, rule)
	e.check((got.CompletedAt != nil) == status.Terminal(), rule, "status %s with CompletedAt %v", got.Status, got.CompletedAt)
	if info := e.info(instance); info.CurrentExecutionID == execution {
		same(e, info.Status, status, rule)
		samePtr(e, info.Output, output, rule)
	}
}

// A history that ends does not end the execution: the status says when it has ended. What
// the execution changed in the key-value map stays its own until then.
func eventsSetNoStatus(e *env) {
	for _, status := range []provider.Status{provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew} {
		instance := "order-" + string(status)
		e.create(instance, event(instance, 1, 2, setKey("k", "v")))
		e.turn(instance, provider.AckOrchestrationParams{
			HistoryDelta: []provider.Event{event(instance, 1, 3, terminal(status, "out"))},
		})
		e.hasOutcome(instance, 1, provider.StatusRunning, nil, ruleNotDerived)
		e.wake(instance)
		same(e, len(e.fetchInstance(instance, held).Item.KVSnapshot), 0, ruleNotDerived)
	}
	same(e, e.metrics().RunningInstances, 3, ruleNotDerived)
}

// A status ends the execution also if no event does, and merges what it changed.
func statusWithoutEvent(e *env) {
	for _, status := range []provider.Status{provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew} {
		instance := "order-" + string(status)
		e.create(instance, event(instance, 1, 2, setKey("k", "v")))
		e.turn(instance, provider.AckOrchestrationParams{Metadata: ended(status, "out")})
		e.hasOutcome(instance, 1, status, new("out"), ruleSetsStatus)
		e.wake(instance)
		same(e, e.fetchInstance(instance, held).Item.KVSnapshot["k"].Value, "v", "§5.2 step 11: KV merge by status")
	}
}

// Where events and metadata differ, the metadata count.
func statusAgainstEvents(e *env) {
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("order", 1, 2, terminal(provider.StatusCompleted, "done"))},
		Metadata:     ended(provider.StatusFailed, "limit exceeded"),
	})
	e.hasOutcome("order", 1, provider.StatusFailed, new("limit exceeded"), ruleNotDerived)
}

// An event that is appended outside a turn sets no status either.
func appendedEventSetsNoStatus(e *env) {
	e.create("order")
	e.appendEvents("order", 1, event("order", 1, 2, terminal(provider.StatusCompleted, "done")))
	e.hasOutcome("order", 1, provider.StatusRunning, nil, ruleNotDerived)
}

// An execution may end without an output.
func statusWithoutOutput(e *env) {
	for _, status := range []provider.Status{provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew} {
		instance := "order-" + string(status)
		e.create(instance)
		e.turn(instance, provider.AckOrchestrationParams{
			HistoryDelta: []provider.Event{event(instance, 1, 2, terminal(status, "out"))},
			Metadata:     provider.ExecutionMetadata{Status: &status},
		})
		e.hasOutcome(instance, 1, status, nil, ruleSetsStatus+": no output given")
	}
}

// An output without a status is stored nowhere.
func outputWithoutStatus(e *env) {
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{Output: new("early")}})
	e.hasOutcome("order", 1, provider.StatusRunning, nil, ruleSetsStatus+": Output is stored with Status")
	e.finish("order", provider.StatusCompleted, "out")
	e.turn("order", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{Output: new("late")}})
	e.hasOutcome("order", 1, provider.StatusCompleted, new("out"), ruleSetsStatus+": Output is stored with Status")
	e.enqueue(startItem("fresh"))
	turn := provider.AckOrchestrationParams{Metadata: created(), HistoryDelta: []provider.Event{started("fresh", 1)}}
	turn.Metadata.Output = new("first")
	e.commit(e.fetchInstance("fresh", held), turn)
	e.hasOutcome("fresh", 1, provider.StatusRunning, nil, ruleSetsStatus+": Output is stored with Status")
}

// The empty text is an output; it is not the same as none.
func emptyOutput(e *env) {
	e.create("order")
	e.finish("order", provider.StatusContinuedAsNew, "")
	e.hasOutcome("order", 1, provider.StatusContinuedAsNew, new(""), ruleSetsStatus)
	e.nextExecution("order", provider.AckOrchestrationParams{})
	e.finish("order", provider.StatusCompleted, "")
	e.hasOutcome("order", 2, provider.StatusCompleted, new(""), ruleSetsStatus)
}

// A turn that only drops late messages leaves status, output and time of completion.
func lateTurnLeavesOutcome(e *env) {
	const rule = "§5.2 step 8: only if Status given: completed_at = now"
	e.createEnded("order", provider.StatusCompleted)
	at := e.completedAt("order", 1)
	e.tick()
	e.turn("order", provider.AckOrchestrationParams{})
	e.hasOutcome("order", 1, provider.StatusCompleted, new("out"), rule)
	e.check(e.completedAt("order", 1).Equal(at), rule, "completed at %v, then at %v", at, e.completedAt("order", 1))
}
