package providertest

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// raceReplay checks what the runtime needs to replay races of waits, and to get from one
// execution to the next while messages arrive: the turns are those that a runtime makes,
// with real fetches, acks, abandons and delays.
func raceReplay() category {
	return category{"race replay", []scenario{
		{"duplicate_start_preserves_pinned_handler", duplicateStartBesideCompletion},
		{"continue_as_new_unregistered_backoff", hiddenContinueAsNew},
		{"continue_as_new_poisoned_successor_is_own_execution", poisonedSuccessor},
		{"continue_as_new_duplicate_start", duplicateStartBeforeContinueAsNew},
		{"continue_as_new_transition_delivery", inputsBetweenExecutions},
		{"queue_race_cancellation_replay", recordedRacesAreKept},
		{"continue_as_new_queue_race_replay", carriedMessagesAreKept},
		{"queue_replay_version_stamp_roundtrip", stampsAreKept},
		{"positional_wait_race_replay", waitsOverSeveralTurns},
		{"legacy_queue_race_decision_preserved", batchOfARace},
	}}
}

const (
	ruleStamps = "§3.2: every read of events returns duroxide_version as it was written"
	ruleWindow = "§7.6: an instance whose current execution is ContinuedAsNew and that has no ContinueAsNew row MUST stay fetchable"
	ruleHidden = "§5.1: not eligible while the ContinueAsNew row exists but is hidden"
	ruleOrder  = "§5.1: message order: row id"
	rulePinned = "§5.1: name and version of an item are the instance row's"
)

// stampedBy gives events the framework version of their writer.
func stampedBy(version string, events ...provider.Event) []provider.Event {
	for i := range events {
		events[i].DuroxideVersion = version
	}
	return events
}

// numbered makes events of an execution out of kinds, of which the first has id 1.
func numbered(instance string, execution uint64, kinds ...provider.EventKind) []provider.Event {
	var events []provider.Event
	for i, kind := range kinds {
		events = append(events, event(instance, execution, uint64(i+1), kind))
	}
	return events
}

// message is a message to the queue "inbox".
func message(instance, data string) provider.QueueMessageItem {
	return provider.QueueMessageItem{Instance: instance, Name: "inbox", Data: data}
}

// continuing starts the next execution.
func continuing(instance string, carried ...string) provider.ContinueAsNewItem {
	item := provider.ContinueAsNewItem{Instance: instance, Orchestration: "Order", Input: "next"}
	for _, data := range carried {
		item.CarryForwardEvents = append(item.CarryForwardEvents, provider.CarriedMessage{Name: "inbox", Data: data})
	}
	return item
}

// between creates an instance whose first execution, with the given stamp, continued as
// new in its first turn. Nothing starts the next one.
func (e *env) between(instance, stamp string, metadata provider.ExecutionMetadata) []provider.Event {
	e.Helper()
	e.enqueue(startItem(instance))
	got := e.fetchInstance(instance, held)
	past := stampedBy(stamp, started(instance, 1), event(instance, 1, 2, provider.OrchestrationContinuedAsNew{Input: "next"}))
	metadata.Status, metadata.Output = new(provider.StatusContinuedAsNew), new("next")
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: past, Metadata: metadata})
	return past
}

// A start that arrives for a running instance is delivered like any message and changes
// neither its name and version nor its history.
func duplicateStartBesideCompletion(e *env) {
	for _, name := range []string{"Order", "Other"} {
		instance := "running " + name
		metadata := created()
		metadata.Status = new(provider.StatusRunning)
		scheduled := event(instance, 1, 2, provider.ActivityScheduled{Name: "Charge", Input: "{}"})
		e.createWith(instance, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{scheduled}, Metadata: metadata})
		again := startItem(instance)
		again.Orchestration, again.Version, again.Input = name, nil, "another"
		e.enqueue(again, completedItem(instance, 2))
		got := e.fetchInstance(instance, held)
		e.batch(got, ruleOrder, again, completedItem(instance, 2))
		same(e, got.Item.OrchestrationName, "Order", rulePinned)
		same(e, got.Item.Version, "1.0.0", rulePinned)
		e.sameEvents(got.Item.History, []provider.Event{started(instance, 1), scheduled}, "§5.1: history of the current execution")
		e.commit(got, provider.AckOrchestrationParams{
			Metadata: ended(provider.StatusCompleted, "out"),
			HistoryDelta: []provider.Event{
				after(2, event(instance, 1, 3, provider.ActivityCompleted{Result: "ok"})),
				event(instance, 1, 4, provider.OrchestrationCompleted{Output: "out"}),
			},
		})
		same(e, len(e.history(instance, 1)), 4, "§5.2: the delta is appended")
	}
}

// A ContinueAsNew message that nobody can run is hidden by an abandon with delay, and the
// instance with it; what arrives meanwhile comes behind it. The instance has no row.
func hiddenContinueAsNew(e *env) {
	e.between("A", "0.1.32", provider.ExecutionMetadata{})
	next := continuing("A", "carried")
	e.enqueue(next)
	got := e.fetchInstance("A", held)
	e.batch(got, ruleOrder, next)
	e.abandon(got, e.lease, false)
	e.fetchNone(ruleHidden)
	e.enqueue(message("A", "queued"))
	e.fetchNone(ruleHidden)
	got = e.awaitFetch(held, "§5.3: visible_at = now + delay")
	e.batch(got, ruleOrder, next, message("A", "queued"))
	same(e, got.AttemptCount, 2, ruleMaximum)
	e.beginSecond(got, "carried")
}

// beginSecond commits the first turn of execution 2 of a fetched batch.
func (e *env) beginSecond(got *provider.FetchedOrchestration, carried ...string) {
	e.Helper()
	instance := got.Item.Instance
	first := event(instance, 2, 1, provider.OrchestrationStarted{
		Name: "Order", Version: "1.0.0", Input: "next", CarryForwardEvents: continuing(instance, carried...).CarryForwardEvents,
	})
	first.DuroxideVersion = "0.1.32"
	e.commit(got, provider.AckOrchestrationParams{ExecutionID: 2, HistoryDelta: []provider.Event{first}, Metadata: created()})
	e.sameEvents(e.read(instance), []provider.Event{first}, "§5.2: an ack with execution n+1 creates it and moves the pointer")
	same(e, len(e.history(instance, 1)), 2, "§5.2: other executions stay as they are")
}

// A successor that fails before it began is one ack: a start and a failure in execution
// 2, which is then what Read returns; later messages are taken by a drop. With and without
// an instance row.
func poisonedSuccessor(e *env) {
	for _, metadata := range []provider.ExecutionMetadata{{}, created()} {
		instance := fmt.Sprintf("row %t", metadata.OrchestrationName != nil)
		past := e.between(instance, "0.1.32", metadata)
		e.enqueue(continuing(instance))
		got := e.fetchInstance(instance, held)
		details := provider.PoisonFailure{
			AttemptCount: 11, MaxAttempts: 10, Message: "[]", MessageType: provider.PoisonOrchestration{Instance: instance, ExecutionID: 2},
		}
		ended := ended(provider.StatusFailed, details.DisplayMessage())
		ended.OrchestrationName, ended.OrchestrationVersion = created().OrchestrationName, created().OrchestrationVersion
		delta := []provider.Event{started(instance, 2), event(instance, 2, 2, provider.OrchestrationFailed{Details: details})}
		e.commit(got, provider.AckOrchestrationParams{ExecutionID: 2, HistoryDelta: delta, Metadata: ended})
		e.sameEvents(e.read(instance), delta, "§7.9: the failure is an execution of its own")
		e.sameEvents(e.history(instance, 1), past, "§7.9: the predecessor keeps ending in ContinuedAsNew")
		if e.p.Admin() != nil {
			same(e, e.info(instance).Status, provider.StatusFailed, "§6.8: the current execution's status")
			same(e, e.info(instance).CurrentExecutionID, 2, "§6.8: the current execution")
			same(e, e.execution(instance, 1).Status, provider.StatusContinuedAsNew, "§6.9: the execution's own status")
		}
		e.enqueue(message(instance, "late"))
		late := e.fetchInstance(instance, held)
		same(e, late.Item.ExecutionID, 2, "§5.1: the current execution")
		e.drop(late)
		e.fetchNone("§5.2: the batch is deleted")
	}
}

// A duplicate start that is queued before the ContinueAsNew message is delivered before
// it, in one batch, and the answer to the parent that sent it goes out with the turn.
func duplicateStartBeforeContinueAsNew(e *env) {
	for i, stamp := range []string{"0.1.30", "0.1.30", "0.1.31", "0.1.31"} {
		instance, parent := fmt.Sprint("child ", i), fmt.Sprint("parent ", i)
		past := e.between(instance, stamp, created())
		again := startItem(instance)
		var notices []provider.WorkItem
		if i%2 == 1 {
			e.create(parent, event(parent, 1, 2, provider.SubOrchestrationScheduled{Name: "Order", Instance: instance}))
			again.ParentInstance, again.ParentID, again.ParentExecutionID = &parent, new(uint64(2)), new(uint64(1))
			notices = append(notices, provider.SubOrchFailedItem{
				ParentInstance: parent, ParentExecutionID: 1, ParentID: 2, Details: provider.ApplicationFailure{
					Kind: provider.AppOrchestrationFailed, Message: "sub-orchestration instance id '" + instance + "' already exists",
				},
			})
		}
		e.enqueue(again, continuing(instance, "carried"), message(instance, "queued"))
		got := e.fetchInstance(instance, held)
		e.batch(got, ruleOrder, again, continuing(instance, "carried"), message(instance, "queued"))
		e.sameEvents(got.Item.History, past, ruleStamps)
		first := stampedBy("0.1.32", carrying(instance, 2, provider.CarriedMessage{Name: "inbox", Data: "carried"}))
		e.commit(got, provider.AckOrchestrationParams{ExecutionID: 2, HistoryDelta: first, Metadata: created(), OrchestratorItems: notices})
		e.sameEvents(e.read(instance), first, "§5.2: an ack with execution n+1 creates it")
		e.sameEvents(e.history(instance, 1), past, ruleStamps)
		if len(notices) > 0 {
			e.batch(e.fetchInstance(parent, held), "§5.2: items of the ack are queued", notices...)
		}
	}
}

// Between two executions, whose start is yet to be enqueued, what arrives is delivered
// without it, is kept by each abandon with its attempts, and then comes with it, in the
// order of the rows.
func inputsBetweenExecutions(e *env) {
	for i, inputs := range [][]provider.WorkItem{
		{message("", "m")},
		{message("", "m"), provider.TimerFiredItem{ExecutionID: 1, ID: 3}},
		{message("", "m"), provider.ActivityCompletedItem{ExecutionID: 1, ID: 2, Result: "stale"}, provider.TimerFiredItem{ExecutionID: 1, ID: 3}},
		{provider.ExternalRaisedItem{Name: "s", Data: "signal"}},
		{provider.CancelInstanceItem{Reason: "user"}},
		{provider.ActivityCompletedItem{ExecutionID: 2, ID: 2, Result: "early"}},
		{provider.ActivityCompletedItem{ExecutionID: 1, ID: 2, Result: "stale"}},
	} {
		instance := fmt.Sprint("shape ", i)
		past := e.between(instance, "0.1.31", created())
		var sent []provider.WorkItem
		for _, item := range inputs {
			sent = append(sent, addressed(item, instance))
		}
		e.enqueue(sent...)
		for attempt := uint32(1); attempt <= 2; attempt++ {
			got := e.fetchInstance(instance, held)
			e.batch(got, ruleWindow, sent...)
			same(e, got.AttemptCount, attempt, ruleCounts)
			e.sameEvents(got.Item.History, past, ruleStamps)
			e.abandon(got, 0, false)
		}
		next := continuing(instance, "carried")
		e.enqueueLater(next, e.lease)
		e.fetchNone(ruleHidden)
		got := e.awaitFetch(held, "§5.9: visibility: now + delay")
		e.batch(got, ruleOrder, append(sent, next)...)
		same(e, got.AttemptCount, 3, ruleMaximum)
		e.beginSecond(got, "carried")
	}
}

// addressed fills in the instance of a message.
func addressed(item provider.WorkItem, instance string) provider.WorkItem {
	switch m := item.(type) {
	case provider.QueueMessageItem:
		m.Instance = instance
		return m
	case provider.TimerFiredItem:
		m.Instance = instance
		return m
	case provider.ActivityCompletedItem:
		m.Instance = instance
		return m
	case provider.ExternalRaisedItem:
		m.Instance = instance
		return m
	case provider.CancelInstanceItem:
		m.Instance = instance
		return m
	}
	return item
}

// Histories of races, with the cancellations of their losers, are stored by one ack and
// come back equal, event for event.
func recordedRacesAreKept(e *env) {
	sub, timer := provider.QueueSubscribed{Name: "inbox"}, provider.TimerCreated{FireAtMs: baseMs}
	first := provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}"}
	arrived := func(data string) provider.EventKind { return provider.QueueEventDelivered{Name: "inbox", Data: data} }
	lost := provider.QueueSubscriptionCancelled{Reason: "dropped_future"}
	for name, race := range map[string]struct {
		kinds   []provider.EventKind
		sources map[int]uint64
	}{
		"two losing dequeues": {
			[]provider.EventKind{first, sub, sub, timer, provider.TimerFired{FireAtMs: baseMs}, arrived("m1"), sub, lost, lost},
			map[int]uint64{4: 4, 7: 2, 8: 3},
		},
		"first wins": {
			[]provider.EventKind{first, sub, sub, arrived("m1"), arrived("m2"), sub, lost}, map[int]uint64{6: 3},
		},
		"nested selects": {
			[]provider.EventKind{
				first, sub, timer, timer,
				provider.TimerFired{FireAtMs: baseMs},
				sub,
				provider.TimerFired{FireAtMs: baseMs},
				arrived("m1"), sub, lost, lost,
			},
			map[int]uint64{4: 3, 6: 4, 9: 2, 10: 6},
		},
	} {
		events := stampedBy("0.1.31", numbered(name, 1, race.kinds...)...)
		for at, source := range race.sources {
			events[at] = after(source, events[at])
		}
		e.enqueue(startItem(name))
		e.commit(e.fetchInstance(name, held), provider.AckOrchestrationParams{HistoryDelta: events, Metadata: created()})
		e.sameEvents(e.history(name, 1), events, ruleStamps)
		e.wake(name)
		got := e.fetchInstance(name, held)
		e.sameEvents(got.Item.History, events, ruleStamps)
		e.drop(got)
	}
}

// The messages that continue-as-new carries are delivered and recorded as they were sent,
// also 100 of them.
func carriedMessagesAreKept(e *env) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprint("m", i)
	}
	for i, carried := range [][]string{{"m1"}, {"m2"}, {"m1"}, {"m1"}, many} {
		instance := fmt.Sprint("race ", i)
		e.between(instance, "0.1.31", created())
		e.enqueue(continuing(instance, carried...))
		got := e.fetchInstance(instance, held)
		e.batch(got, "§3.5: carry_forward_events", continuing(instance, carried...))
		e.beginSecond(got, carried...)
	}
}

// The stamp of an event is the writer's, whatever it is, in every way to read it; it says
// nothing about the pinned version, nor that about it.
func stampsAreKept(e *env) {
	for i, stamp := range []string{"0.1.30", "0.1.31-rc.1", "0.1.32+build", "", "garbage", "0.1.26"} {
		instance := fmt.Sprint("stamp ", i)
		events := stampedBy(stamp, started(instance, 1), event(instance, 1, 2, provider.QueueSubscribed{Name: "inbox"}))
		metadata := created()
		metadata.PinnedDuroxideVersion = &provider.Version{Minor: 1, Patch: 32}
		e.enqueue(startItem(instance))
		e.commit(e.fetchInstance(instance, held), provider.AckOrchestrationParams{HistoryDelta: events, Metadata: metadata})
		e.sameEvents(e.history(instance, 1), events, ruleStamps)
		e.sameEvents(e.read(instance), events, ruleStamps)
		e.adminReads(instance, events, ruleStamps)
		e.wake(instance)
		got := e.fetchInstance(instance, held)
		e.sameEvents(got.Item.History, events, ruleStamps)
		e.drop(got)
	}
}

// A race over several turns, two signals behind each wait that is bound, grows event by
// event, and reads the same each time that it is fetched without a change.
func waitsOverSeveralTurns(e *env) {
	wait := provider.ExternalSubscribed{Name: "s"}
	past := stampedBy("0.1.31", started("A", 1), event("A", 1, 2, wait), event("A", 1, 3, provider.TimerCreated{FireAtMs: baseMs}))
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{HistoryDelta: past, Metadata: created()})
	for round := range 3 {
		signals := []provider.WorkItem{
			provider.ExternalRaisedItem{Instance: "A", Name: "s", Data: fmt.Sprint(round, " first")},
			provider.ExternalRaisedItem{Instance: "A", Name: "s", Data: fmt.Sprint(round, " second")},
		}
		e.enqueue(signals...)
		got := e.fetchInstance("A", held)
		e.batch(got, ruleOrder, signals...)
		e.sameEvents(got.Item.History, past, ruleStamps)
		var delta []provider.Event
		for i, kind := range []provider.EventKind{
			provider.ExternalEvent{Name: "s", Data: fmt.Sprint(round, " first")}, provider.ExternalEvent{Name: "s", Data: fmt.Sprint(round, " second")}, wait,
		} {
			delta = append(delta, event("A", 1, uint64(len(past)+i+1), kind))
		}
		e.commit(got, provider.AckOrchestrationParams{HistoryDelta: delta})
		past = append(past, delta...)
	}
	for range 2 {
		e.wake("A")
		got := e.fetchInstance("A", held)
		e.sameEvents(got.Item.History, past, ruleStamps)
		e.drop(got)
	}
	e.sameEvents(e.history("A", 1), past, ruleStamps)
}

// A batch whose order decides a race is delivered in that order, beside the stamp that
// says by which rules.
func batchOfARace(e *env) {
	for _, stamp := range []string{"0.1.30", "0.1.31"} {
		sub, timer := provider.QueueSubscribed{Name: "inbox"}, provider.TimerCreated{FireAtMs: 1}
		past := stampedBy(stamp, numbered(stamp, 1,
			provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}"}, sub, sub, timer, timer)...)
		batch := []provider.WorkItem{
			provider.TimerFiredItem{Instance: stamp, ExecutionID: 1, ID: 4, FireAtMs: 1},
			message(stamp, "first"),
			provider.TimerFiredItem{Instance: stamp, ExecutionID: 1, ID: 5, FireAtMs: 1},
		}
		e.enqueue(startItem(stamp))
		e.commit(e.fetchInstance(stamp, held), provider.AckOrchestrationParams{HistoryDelta: past, Metadata: created(), OrchestratorItems: batch})
		got := e.fetchInstance(stamp, held)
		e.batch(got, ruleOrder, batch...)
		e.sameEvents(got.Item.History, past, ruleStamps)
		e.drop(got)
	}
}
