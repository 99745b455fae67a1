package providertest

import "github.com/duroxide/duroxide-go/provider"

const (
	ruleFromHistory = "§5.1 step 10: no instance row, but history rows whose latest execution contains OrchestrationStarted: " +
		"name, version and history from there, execution 1 (P7: events are flat, `type` tag)"
	ruleFromStart = "§5.1 step 10: no instance row, batch contains StartOrchestration or ContinueAsNew: " +
		"name and version from the first such item in the batch; execution 1, history empty (P6: search the whole batch)"
	ruleDuplicateStart = "§5.1: instance exists and batch contains StartOrchestration: returned normally; row data win"
)

// contextIs asserts what a fetch says about the instance.
func (e *env) contextIs(got *provider.FetchedOrchestration, rule, name, version string, history ...provider.Event) {
	e.Helper()
	same(e, got.Item.OrchestrationName, name, rule)
	same(e, got.Item.Version, version, rule)
	same(e, got.Item.ExecutionID, 1, rule)
	e.sameEvents(got.Item.History, history, rule)
}

// For a known instance everything comes from its row and its current execution.
func contextFromRow(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleNameFrom, "Order", "1.0.0",
		started("A", 1), event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	e.check(got.Item.HistoryError == nil, "§3.7: HistoryError set ⇒ a history that cannot be decoded",
		"HistoryError %v for a sound history", got.Item.HistoryError)
}

// History written without an instance row still names the orchestration, also
// when the batch holds a start that names another.
func contextFromAppendedHistory(e *env) {
	history := []provider.Event{
		event("A", 1, 1, provider.OrchestrationStarted{Name: "Invoice", Version: "2.0.0", Input: "{}"}),
		event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}),
	}
	e.appendEvents("A", 1, history...)
	e.noInstance("A", "§5.7: unknown instance: rows are written; no instance row is created")
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleFromHistory, "Invoice", "2.0.0", history...)
	e.batch(got, ruleFromHistory, raised("A", "go"))
	e.abandon(got, 0, false)
	e.enqueue(startItem("A"))
	got = e.fetchInstance("A", held)
	e.contextIs(got, ruleFromHistory, "Invoice", "2.0.0", history...)
	e.batch(got, ruleFromHistory, raised("A", "go"), startItem("A"))
}

// Acks that never name the orchestration leave history from which the next fetch
// learns its name.
func contextFromAckedHistory(e *env) {
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started("A", 1)},
	})
	e.noInstance("A", "§5.2: metadata without name/version on unknown instance: no instance row is created")
	e.enqueue(raised("A", "go"))
	e.contextIs(e.fetchInstance("A", held), ruleFromHistory, "Order", "1.0.0", started("A", 1))
}

// The start may be anywhere in the batch; what came before it is delivered too.
func contextFromStart(e *env) {
	cancel := provider.CancelInstanceItem{Instance: "A", Reason: "user"}
	message := provider.QueueMessageItem{Instance: "A", Name: "inbox", Data: "m1"}
	start := startItem("A")
	start.Orchestration, start.Version = "Late", new("7.0.0")
	e.enqueue(cancel, message, start, raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleFromStart, "Late", "7.0.0")
	e.batch(got, ruleFromStart, cancel, message, start, raised("A", "go"))
	same(e, len(got.Item.KVSnapshot), 0, "§5.1 step 11: all rows of kv_store for the instance")
}

// A ContinueAsNew names an unknown instance just as a start does.
func contextFromContinueAsNew(e *env) {
	next := provider.ContinueAsNewItem{Instance: "A", Orchestration: "Again", Input: "{}"}
	e.enqueue(raised("A", "go"), next)
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleFromStart, "Again", provider.UnknownVersion)
	e.batch(got, ruleFromStart, raised("A", "go"), next)
	e.abandon(got, 0, true)
	next.Instance, next.Version = "B", new("2.0.0")
	e.enqueue(next)
	e.fetchInstance("A", held)
	e.contextIs(e.fetchInstance("B", held), ruleFromStart, "Again", "2.0.0")
}

// Of two starts for an unknown instance the first one counts.
func contextFromFirstStart(e *env) {
	first, second := startItem("A"), startItem("A")
	first.Orchestration, first.Version = "First", nil
	second.Orchestration = "Second"
	e.enqueue(first, second)
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleFromStart, "First", provider.UnknownVersion)
	e.batch(got, "§5.9: no deduplication: every call adds a row", first, second)
}

// A second start of a known instance, under another name and version, is
// delivered and alters nothing.
func duplicateStart(e *env) {
	e.create("A")
	other := startItem("A")
	other.Orchestration, other.Version, other.ExecutionID = "Other", new("9.9.9"), 5
	e.enqueue(other)
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleDuplicateStart, "Order", "1.0.0", started("A", 1))
	e.batch(got, ruleDuplicateStart, other)
	e.drop(got)
	e.enqueue(raised("A", "go"))
	e.contextIs(e.fetchInstance("A", held), ruleDuplicateStart, "Order", "1.0.0", started("A", 1))
}

// A batch with a ContinueAsNew, wherever in it, belongs to the old execution and
// comes with its finished history; the next one begins with the runtime's ack.
func continueAsNewReportsOld(e *env) {
	e.create("A")
	e.enqueue(raised("A", "wake"))
	got := e.fetchInstance("A", held)
	e.enqueue(raised("A", "early"), startItem("A"))
	next := provider.ContinueAsNewItem{Instance: "A", Orchestration: "Renamed", Input: "next", Version: new("2.0.0")}
	last := event("A", 1, 2, provider.OrchestrationContinuedAsNew{Input: "next"})
	e.commit(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{last}, OrchestratorItems: []provider.WorkItem{next},
		Metadata: ended(provider.StatusContinuedAsNew, "next"),
	})
	got = e.fetchInstance("A", held)
	e.contextIs(got, ruleReportOld, "Order", "1.0.0", started("A", 1), last)
	e.batch(got, ruleReportOld, raised("A", "early"), startItem("A"), next)
	if e.p.Admin() != nil {
		sameList(e, e.executions("A"), []uint64{1}, "§5.1: the provider never invents execution n+1")
	}
}
