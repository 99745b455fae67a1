package providertest

import "github.com/duroxide/duroxide-go/provider"

// create runs an instance's first turn: it starts, records event 1 and the given
// further events, and stays running.
func (e *env) create(instance string, more ...provider.Event) {
	e.Helper()
	e.createWith(instance, provider.AckOrchestrationParams{HistoryDelta: more, Metadata: created()})
}

// createWith is create with further effects; HistoryDelta follows event 1, and
// token and execution are filled in. Name and version default to created().
func (e *env) createWith(instance string, params provider.AckOrchestrationParams) {
	e.Helper()
	e.enqueue(startItem(instance))
	params.LockToken = e.fetchInstance(instance, held).LockToken
	params.ExecutionID = 1
	params.HistoryDelta = append([]provider.Event{started(instance, 1)}, params.HistoryDelta...)
	if params.Metadata.OrchestrationName == nil {
		params.Metadata.OrchestrationName = created().OrchestrationName
		params.Metadata.OrchestrationVersion = created().OrchestrationVersion
	}
	e.ack(params)
}

// turn wakes an existing instance with a message and runs one turn on it.
func (e *env) turn(instance string, params provider.AckOrchestrationParams) {
	e.Helper()
	e.enqueue(raised(instance, "wake"))
	got := e.fetchInstance(instance, held)
	params.LockToken = got.LockToken
	if params.ExecutionID == 0 {
		params.ExecutionID = got.Item.ExecutionID
	}
	e.ack(params)
}

// createChild creates a running sub-orchestration of parent.
func (e *env) createChild(parent, child string) {
	e.Helper()
	e.createWith(child, provider.AckOrchestrationParams{Metadata: childOf(parent)})
}

// createEnded creates an instance whose first turn was its last: its history is
// event 1 and the terminal event.
func (e *env) createEnded(instance string, status provider.Status) {
	e.Helper()
	e.createWith(instance, endedAtOnce(instance, status, ended(status, "out")))
}

// createEndedChild is createEnded for a sub-orchestration of parent.
func (e *env) createEndedChild(parent, child string, status provider.Status) {
	e.Helper()
	metadata := ended(status, "out")
	metadata.ParentInstanceID = &parent
	e.createWith(child, endedAtOnce(child, status, metadata))
}

func endedAtOnce(instance string, status provider.Status, metadata provider.ExecutionMetadata) provider.AckOrchestrationParams {
	return provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event(instance, 1, 2, terminal(status, "out"))},
		Metadata:     metadata,
	}
}

// finish runs the last turn of the instance's current execution, which records
// the terminal event; for StatusContinuedAsNew it also queues the next start.
func (e *env) finish(instance string, status provider.Status, output string) {
	e.Helper()
	e.enqueue(raised(instance, "wake"))
	got := e.fetchInstance(instance, held)
	execution := got.Item.ExecutionID
	params := provider.AckOrchestrationParams{
		LockToken: got.LockToken, ExecutionID: execution, Metadata: ended(status, output),
		HistoryDelta: []provider.Event{
			event(instance, execution, uint64(len(got.Item.History)+1), terminal(status, output)),
		},
	}
	if status == provider.StatusContinuedAsNew {
		params.OrchestratorItems = []provider.WorkItem{
			provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: output},
		}
	}
	e.ack(params)
}

// nextExecution runs the first turn of the execution that finish queued: its
// history is event 1 and the given further events.
func (e *env) nextExecution(instance string, params provider.AckOrchestrationParams) {
	e.Helper()
	got := e.fetchInstance(instance, held)
	params.LockToken, params.ExecutionID = got.LockToken, got.Item.ExecutionID+1
	params.HistoryDelta = append([]provider.Event{started(instance, params.ExecutionID)}, params.HistoryDelta...)
	params.Metadata.OrchestrationName = created().OrchestrationName
	params.Metadata.OrchestrationVersion = created().OrchestrationVersion
	e.ack(params)
}

// continueAsNew ends the current execution and starts the next one, which stays
// running.
func (e *env) continueAsNew(instance string) {
	e.Helper()
	e.finish(instance, provider.StatusContinuedAsNew, "next")
	e.nextExecution(instance, provider.AckOrchestrationParams{})
}

// createExecutions creates an instance with n executions: all but the last
// continued as new, with 2 events each; the last runs, with 1 event.
func (e *env) createExecutions(instance string, n int) {
	e.Helper()
	e.create(instance)
	for range n - 1 {
		e.continueAsNew(instance)
	}
}
