package providertest

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleKeepOrphans = "§5.1 step 10: no instance row, anything else (CancelInstance, ExternalRaised, completions, mixes): " +
		"release everything as if not fetched: attempts not counted, messages kept (P5)"
	ruleHeadOfLine = "§5.1 hazard: head-of-line blocking by orphans: exclude such instances in the candidate query (P2)"
	ruleHiddenDrop = "§5.1 hazard: dropping queue messages too early: treat as orphan only when the queue holds no " +
		"StartOrchestration/ContinueAsNew row for that instance at all, visible or not (P4)"
	ruleHiddenStart = "§5.1 hazard: while an instance without instance row has a not-yet-visible " +
		"StartOrchestration/ContinueAsNew row, it is not eligible at all"
	ruleHiddenNext = "§5.1 hazard: while the current execution is ContinuedAsNew and a not-yet-visible ContinueAsNew row " +
		"exists for the instance, it is not eligible (P22)"
	ruleOnlyThat = "§5.1 hazard: do not generalise this to running instances: a delayed duplicate start must not block them"
)

// orphansFor is one message of each sort that an instance may get before it is
// started, other than queue messages.
func orphansFor(instance string) []provider.WorkItem {
	details := provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: "no"}
	return []provider.WorkItem{
		provider.CancelInstanceItem{Instance: instance, Reason: "user"},
		raised(instance, "early"),
		completedItem(instance, 2),
		provider.ActivityFailedItem{Instance: instance, ExecutionID: 1, ID: 3, Details: details},
		provider.TimerFiredItem{Instance: instance, ExecutionID: 1, ID: 4},
		provider.SubOrchCompletedItem{ParentInstance: instance, ParentExecutionID: 1, ParentID: 5, Result: "ok"},
		provider.SubOrchFailedItem{ParentInstance: instance, ParentExecutionID: 1, ParentID: 6, Details: details},
	}
}

// Messages for many ids that nobody has started stand in nobody's way, alone or
// all together.
func orphansNeverStarve(e *env) {
	for i := range 20 {
		for k, item := range orphansFor(fmt.Sprint("ghost", i)) {
			if i == 0 || k == i%7 {
				e.enqueue(item)
			}
		}
	}
	for _, instance := range []string{"A", "B", "C"} {
		e.enqueue(startItem(instance))
		same(e, e.fetch(held).Item.Instance, instance, ruleHeadOfLine)
		e.fetchNone(ruleKeepOrphans)
	}
}

// What came before the start is delivered with it, in order and as a first
// attempt, however often the store was asked meanwhile.
func orphansWaitUncounted(e *env) {
	want := orphansFor("A")
	e.enqueue(want...)
	for range 5 {
		e.fetchNone(ruleKeepOrphans)
	}
	e.noInstance("A", ruleNoCreate)
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.batch(got, ruleKeepOrphans, append(want, startItem("A"))...)
	same(e, got.AttemptCount, 1, ruleKeepOrphans)
}

// Queue messages next to another early message are no orphans: all are kept.
func orphanMixesKept(e *env) {
	cancel := provider.CancelInstanceItem{Instance: "A", Reason: "user"}
	message := provider.QueueMessageItem{Instance: "A", Name: "inbox", Data: "m1"}
	e.enqueue(cancel, message)
	for range 3 {
		e.fetchNone(ruleKeepOrphans)
	}
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.batch(got, ruleKeepOrphans, cancel, message, startItem("A"))
	same(e, got.AttemptCount, 1, ruleKeepOrphans)
}

// History without OrchestrationStarted does not make an instance: its messages
// wait, and others are served.
func orphanWithoutStartedKept(e *env) {
	e.appendEvents("A", 1, event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	e.enqueue(raised("A", "go"), startItem("B"))
	same(e, e.fetch(held).Item.Instance, "B", ruleHeadOfLine)
	e.fetchNone(ruleKeepOrphans)
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.batch(got, ruleKeepOrphans, raised("A", "go"), startItem("A"))
	same(e, got.AttemptCount, 1, ruleKeepOrphans)
}

// Messages that wait for an instance become fetchable when history with its start
// is appended.
func orphanGetsHistory(e *env) {
	e.enqueue(raised("A", "early"))
	e.fetchNone(ruleKeepOrphans)
	e.appendEvents("A", 1, started("A", 1))
	got := e.fetchInstance("A", held)
	e.contextIs(got, ruleFromHistory, "Order", "1.0.0", started("A", 1))
	e.batch(got, ruleFromHistory, raised("A", "early"))
	same(e, got.AttemptCount, 1, ruleKeepOrphans)
}

// Dropping orphaned queue messages, of however many ids, does not end the search
// for a candidate, and leaves neither row nor lock.
func orphanQueueMessagesPassed(e *env) {
	for i := range 30 {
		e.enqueue(provider.QueueMessageItem{Instance: fmt.Sprint("ghost", i), Name: "inbox", Data: "m"})
	}
	e.enqueue(startItem("A"))
	e.fetchInstance("A", held)
	e.fetchNone(ruleDrop)
	if e.p.Admin() != nil {
		same(e, e.depths().OrchestratorQueue, 0, ruleDrop)
	}
	e.enqueue(startItem("ghost7"))
	e.batch(e.fetchInstance("ghost7", held), ruleDrop, startItem("ghost7"))
}

// mailboxOf is three queue messages for an instance.
func mailboxOf(instance string) []provider.WorkItem {
	return []provider.WorkItem{
		provider.QueueMessageItem{Instance: instance, Name: "inbox", Data: "m1"},
		provider.QueueMessageItem{Instance: instance, Name: "inbox", Data: "m2"},
		provider.QueueMessageItem{Instance: instance, Name: "outbox", Data: "m3"},
	}
}

// Queue messages for an instance whose start is delayed wait for it, whether
// they came before the start or after.
func queueMessagesSurviveDelayedStart(e *env) {
	before := provider.QueueMessageItem{Instance: "A", Name: "inbox", Data: "m0"}
	cancel := provider.CancelInstanceItem{Instance: "A", Reason: "keeps m0 until the start is queued"}
	e.enqueue(cancel, before)
	e.enqueueLater(startItem("A"), e.lease)
	e.enqueue(mailboxOf("A")...)
	e.enqueueLater(startItem("B"), held)
	e.enqueue(mailboxOf("B")...)
	got := e.awaitFetch(held, ruleHiddenDrop)
	want := append([]provider.WorkItem{cancel, before, startItem("A")}, mailboxOf("A")...)
	e.batch(got, ruleHiddenDrop, want...)
	same(e, got.AttemptCount, 1, ruleHiddenDrop)
	e.fetchNone(ruleHiddenStart)
	if e.p.Admin() != nil {
		same(e, e.depths().OrchestratorQueue, 4, ruleHiddenDrop)
	}
}

// Queue messages for an instance whose start was abandoned with a back-off wait
// for it, and do not make the instance fetchable.
func queueMessagesSurviveBackOff(e *env) {
	e.enqueue(startItem("B"), startItem("A"))
	e.abandon(e.fetchInstance("B", held), held, false)
	e.abandon(e.fetchInstance("A", held), e.lease, false)
	e.enqueue(mailboxOf("A")...)
	e.enqueue(mailboxOf("B")...)
	got := e.awaitFetch(held, ruleHiddenDrop)
	e.batch(got, ruleHiddenDrop, append([]provider.WorkItem{startItem("A")}, mailboxOf("A")...)...)
	same(e, got.AttemptCount, 2, ruleMaximum)
	e.fetchNone(ruleHiddenStart)
	if e.p.Admin() != nil {
		same(e, e.depths().OrchestratorQueue, 4, ruleHiddenDrop)
	}
}

// Until a hidden start is due nothing for its instance is delivered: no event,
// no cancellation, not even a second start or a ContinueAsNew.
func hiddenStartHidesInstance(e *env) {
	e.enqueueLater(startItem("B"), held)
	e.enqueueLater(provider.ContinueAsNewItem{Instance: "C", Orchestration: "Order", Input: "{}"}, held)
	e.enqueueLater(startItem("A"), e.lease)
	for _, instance := range []string{"A", "B", "C"} {
		e.enqueue(orphansFor(instance)...)
		e.enqueue(startItem(instance))
		e.enqueue(mailboxOf(instance)...)
	}
	got := e.awaitFetch(held, ruleHiddenStart)
	want := append([]provider.WorkItem{startItem("A")}, orphansFor("A")...)
	want = append(append(want, startItem("A")), mailboxOf("A")...)
	e.batch(got, ruleHiddenStart, want...)
	same(e, got.AttemptCount, 1, ruleHiddenStart)
	e.fetchNone(ruleHiddenStart)
}

// Between two executions messages wait while the ContinueAsNew backs off, and
// come with it.
func messagesWaitForContinueAsNew(e *env) {
	for _, instance := range []string{"B", "A"} {
		e.create(instance)
		e.finish(instance, provider.StatusContinuedAsNew, "next")
		got := e.fetchInstance(instance, held)
		delay := held
		if instance == "A" {
			delay = e.lease
		}
		e.abandon(got, delay, true)
	}
	for _, instance := range []string{"A", "B"} {
		e.enqueue(orphansFor(instance)...)
		e.enqueue(mailboxOf(instance)...)
	}
	got := e.awaitFetch(held, ruleHiddenNext)
	want := []provider.WorkItem{provider.ContinueAsNewItem{Instance: "A", Orchestration: "Order", Input: "next"}}
	e.batch(got, ruleHiddenNext, append(append(want, orphansFor("A")...), mailboxOf("A")...)...)
	same(e, got.AttemptCount, 1, ruleHiddenNext)
	e.fetchNone(ruleHiddenNext)
}

// A hidden start or ContinueAsNew blocks nothing where the instance is running,
// has ended, or is between executions with its own ContinueAsNew visible.
func delayedDuplicateStart(e *env) {
	e.create("running")
	e.enqueueLater(startItem("running"), held)
	e.enqueueLater(provider.ContinueAsNewItem{Instance: "running", Orchestration: "Order", Input: "{}"}, held)
	e.enqueue(raised("running", "go"))
	e.batch(e.fetchInstance("running", held), ruleOnlyThat, raised("running", "go"))

	e.createEnded("ended", provider.StatusCompleted)
	e.enqueueLater(startItem("ended"), held)
	e.enqueue(raised("ended", "go"))
	e.batch(e.fetchInstance("ended", held), ruleOnlyThat, raised("ended", "go"))

	e.create("between")
	e.finish("between", provider.StatusContinuedAsNew, "next")
	e.enqueueLater(startItem("between"), held)
	e.enqueue(raised("between", "go"))
	next := provider.ContinueAsNewItem{Instance: "between", Orchestration: "Order", Input: "next"}
	e.batch(e.fetchInstance("between", held), ruleOnlyThat, next, raised("between", "go"))
}
