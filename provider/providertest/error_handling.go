package providertest

import "github.com/duroxide/duroxide-go/provider"

// errorHandling checks how calls fail and that they change nothing then.
func errorHandling() category {
	return category{"error handling", []scenario{
		{"invalid_lock_token_on_ack", invalidTokenOnAck},
		{"duplicate_event_id_rejection", duplicateEventRejected},
		{"missing_instance_metadata", missingInstance},
		{"corrupted_serialization_data", corruptedHistoryFailsReads},
		{"lock_expiration_during_ack", leaseEndsDuringTurn},
		{"read_corrupted_history_returns_error", corruptedRead},
		{"read_with_execution_corrupted_history_returns_error", corruptedReadWithExecution},
	}}
}

const (
	ruleBadToken    = "§2.3: unknown lock token → permanent, contains `Invalid lock token`"
	ruleExpired     = "§2.3: known token, expired instance lock → permanent, `Instance lock expired`"
	ruleDuplicate   = "§2.3: unique / primary-key violation (duplicate event) → permanent"
	ruleReadCorrupt = "§5.5: undecodable event → permanent error (never a shortened list)"
	ruleUnknown     = "§5.5: unknown instance → empty list, no error"
)

// An ack with a token nobody holds says so and does nothing.
func invalidTokenOnAck(e *env) {
	e.enqueue(startItem("A"))
	err := e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{
		LockToken: "no-such-token", ExecutionID: 1, Metadata: created(),
		HistoryDelta: []provider.Event{started("A", 1)},
	})
	e.permanent(err, provider.ErrInvalidLockToken, ruleBadToken)
	e.says(err, ruleBadToken, "Invalid lock token")
	e.noInstance("A", ruleNothing)
	e.batch(e.fetchInstance("A", held), ruleNothing, startItem("A"))
}

// An event id that the execution has, or that the delta holds twice, is refused;
// the turn stays open and its other events are not stored.
func duplicateEventRejected(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	second := event("A", 1, 2, provider.ExternalEvent{Name: "go", Data: "data"})
	for _, delta := range [][]provider.Event{{second, started("A", 1)}, {second, second}} {
		err := e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{HistoryDelta: delta}))
		e.permanent(err, provider.ErrDuplicateEvent, ruleDuplicate)
		e.sameEvents(e.history("A", 1), []provider.Event{started("A", 1)}, ruleStays)
	}
	e.lockHeld("A", ruleStays)
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{second}})
}

// Reading an instance that does not exist finds nothing and is no error.
func missingInstance(e *env) {
	same(e, len(e.read("ghost")), 0, ruleUnknown)
	same(e, len(e.history("ghost", 1)), 0, "§5.6: unknown execution → empty list")
	e.statusIs("ghost", nil, 0, "§5.16: if the instance exists …; otherwise nil")
	e.kvIs("ghost", "k", nil, "§5.17: unknown instance or key → nil, no error")
	all, err := e.p.GetKVAllValues(e.ctx, "ghost")
	e.ok(err, "§5.18: unknown instance → empty map")
	same(e, len(all), 0, "§5.18: unknown instance → empty map")
	e.noInstance("ghost", "§5.19: nil if there is no instance row")
}

// A stored event that cannot be decoded fails every read of its execution, and
// leaves other executions readable.
func corruptedHistoryFailsReads(e *env) {
	e.createExecutions("A", 2)
	e.corrupt("A", 2, 1, `{"type":"NoSuchKind"}`)
	reads := map[string]func() error{
		"Read":              func() error { _, err := e.p.Read(e.ctx, "A"); return err },
		"ReadWithExecution": func() error { _, err := e.p.ReadWithExecution(e.ctx, "A", 2); return err },
	}
	if a := e.p.Admin(); a != nil {
		reads["ReadHistory"] = func() error { _, err := a.ReadHistory(e.ctx, "A"); return err }
		reads["ReadHistoryWithExecutionID"] = func() error {
			_, err := a.ReadHistoryWithExecutionID(e.ctx, "A", 2)
			return err
		}
	}
	for name, read := range reads {
		err := read()
		e.permanent(err, provider.ErrCorrupt, ruleReadCorrupt+" ("+name+")")
		e.says(err, "§2.3: corrupted stored JSON → permanent, `Failed to deserialize event: …`",
			"Failed to deserialize event: ")
	}
	same(e, len(e.history("A", 1)), 2, "§5.6: same for one given execution")
}

// A turn whose lease has ended before its ack is refused without effect, even if
// nobody else took the instance; its messages are delivered again.
func leaseEndsDuringTurn(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 90))
	e.enqueue(raised("A", "go"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	err := e.p.AckOrchestrationItem(e.ctx, turnOf(late, everything("A")))
	e.permanent(err, provider.ErrLockExpired, ruleExpired)
	e.says(err, ruleExpired, "Instance lock expired")

	got := e.fetchInstance("A", held)
	e.batch(got, "§5.2: still rejected. Messages become fetchable again", raised("A", "go"))
	same(e, got.AttemptCount, 2, "§5.1: lock expired: fetchable again, attempt +1")
	e.untouched("A", ruleNothing)
}

// Read returns the history until an event of it is damaged, and then an error.
func corruptedRead(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalEvent{Name: "go", Data: "data"}))
	same(e, len(e.read("A")), 2, "§5.5: Read")
	e.corrupt("A", 1, 2, "no JSON")
	events, err := e.p.Read(e.ctx, "A")
	e.permanent(err, provider.ErrCorrupt, ruleReadCorrupt)
	same(e, len(events), 0, ruleReadCorrupt)
}

// So does ReadWithExecution.
func corruptedReadWithExecution(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalEvent{Name: "go", Data: "data"}))
	same(e, len(e.history("A", 1)), 2, "§5.6: same for one given execution")
	e.corrupt("A", 1, 2, "no JSON")
	events, err := e.p.ReadWithExecution(e.ctx, "A", 1)
	e.permanent(err, provider.ErrCorrupt, ruleReadCorrupt)
	same(e, len(events), 0, ruleReadCorrupt)
}
