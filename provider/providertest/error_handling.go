package providertest

import (
	"errors"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// errorHandling checks how calls fail, which error comes first when several apply, and that they change nothing then.
func errorHandling() category {
	return category{"error handling", []scenario{
		{"invalid_lock_token_on_ack", invalidTokenOnAck},
		{"duplicate_event_id_rejection", duplicateEventRejected},
		{"missing_instance_metadata", missingInstance},
		{"corrupted_serialization_data", corruptedHistoryFailsReads},
		{"lock_expiration_during_ack", leaseEndsDuringTurn},
		{"read_corrupted_history_returns_error", corruptedRead},
		{"read_with_execution_corrupted_history_returns_error", corruptedReadWithExecution},

		{"errors_name_their_operation", errorsNameOperation},

		{"unknown_token_comes_before_a_bad_turn", unknownTokenFirst},
		{"expired_token_comes_before_a_bad_turn", expiredTokenFirst},
		{"bad_turn_with_a_live_token", badTurnWithLiveToken},
		{"unknown_status_is_refused", unknownStatusRefused},
		{"renewal_for_no_time_is_refused", emptyRenewalRefused},
		{"append_to_execution_zero_is_refused", appendToZeroRefused},
		{"management_errors_name_their_operation", managementErrorsName},

		{"holder_of_a_spoilt_store_tries_again", triesUntilMended},
	}}
}

const (
	ruleBadToken    = "§2.3: unknown lock token → permanent, contains `Invalid lock token`"
	ruleExpired     = "§2.3: known token, expired instance lock → permanent, `Instance lock expired`"
	ruleDuplicate   = "§2.3: unique / primary-key violation (duplicate event) → permanent"
	ruleReadCorrupt = "§5.5: undecodable event → permanent error (never a shortened list)"
	ruleUnknown     = "§5.5: unknown instance → empty list, no error"
	ruleTokenFirst  = "§5.2 step 1: the token is looked up before anything else of the turn is checked: " +
		"missing → Invalid lock token, expired → Instance lock expired"
	ruleUnknownStatus = "§5.2 step 8: status is Running, Completed, Failed or ContinuedAsNew; any other is a permanent error"
	ruleOutOfOrder    = "§2.3: to whoever holds a lock, a store that somebody has to mend is ErrOutOfOrder and retryable"
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
	e.hasStatus("ghost", nil, 0, "§5.16: if the instance exists …; otherwise nil")
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

// Every error says which call failed, by the method's name in snake case.
func errorsNameOperation(e *env) {
	const token = "no-such-token"
	zero := []provider.Event{event("A", 1, 0, provider.OrchestrationCompleted{})}
	calls := map[string]error{
		"fetch_orchestration_item": func() error {
			_, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{})
			return err
		}(),
		"fetch_work_item":               func() error { _, err := e.p.FetchWorkItem(e.ctx, provider.FetchWorkParams{}); return err }(),
		"ack_orchestration_item":        e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{LockToken: token, ExecutionID: 1}),
		"abandon_orchestration_item":    e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{LockToken: token}),
		"renew_orchestration_item_lock": e.p.RenewOrchestrationItemLock(e.ctx, token, held),
		"ack_work_item":                 e.p.AckWorkItem(e.ctx, token, nil),
		"abandon_work_item":             e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: token}),
		"renew_work_item_lock":          e.p.RenewWorkItemLock(e.ctx, token, held),
		"append_with_execution":         e.p.AppendWithExecution(e.ctx, "A", 1, zero),
		"enqueue_for_worker":            e.p.EnqueueForWorker(e.ctx, startItem("A")),
		"enqueue_for_orchestrator":      e.p.EnqueueForOrchestrator(e.ctx, activityItem("A", 2), 0),
	}
	const rule = "§2.3: Operation: method name in snake_case; Error() == Operation + \": \" + Message"
	for operation, err := range calls {
		e.refused(err, rule+" ("+operation+")")
		failure, _ := errors.AsType[*provider.Error](err)
		same(e, failure.Operation, operation, rule)
	}
}

// badTurns are turns of A that a store refuses whoever holds the lock, by what is wrong
// with them.
func badTurns(token string) map[string]provider.AckOrchestrationParams {
	good := everything("A")
	good.LockToken, good.ExecutionID = token, 1
	turns := map[string]provider.AckOrchestrationParams{}
	for name, spoil := range map[string]func(turn *provider.AckOrchestrationParams){
		"event id 0": func(turn *provider.AckOrchestrationParams) {
			turn.HistoryDelta = append(turn.HistoryDelta, event("A", 1, 0, provider.ExternalSubscribed{}))
		},
		"execution id 0": func(turn *provider.AckOrchestrationParams) { turn.ExecutionID = 0 },
		"a message on the worker queue": func(turn *provider.AckOrchestrationParams) {
			turn.WorkerItems = append(turn.WorkerItems, raised("A", "go"))
		},
		"an activity on the orchestrator queue": func(turn *provider.AckOrchestrationParams) {
			turn.OrchestratorItems = append(turn.OrchestratorItems, activityItem("A", 7))
		},
		"a message to nobody": func(turn *provider.AckOrchestrationParams) {
			turn.OrchestratorItems = append(turn.OrchestratorItems, raised("", "go"))
		},
		"no message at all": func(turn *provider.AckOrchestrationParams) {
			turn.OrchestratorItems = append(turn.OrchestratorItems, nil)
		},
		"an unknown status": func(turn *provider.AckOrchestrationParams) {
			turn.Metadata.Status = new(provider.Status("Paused"))
		},
	} {
		turn := good
		turn.HistoryDelta = slices.Clone(good.HistoryDelta)
		turn.WorkerItems = slices.Clone(good.WorkerItems)
		turn.OrchestratorItems = slices.Clone(good.OrchestratorItems)
		spoil(&turn)
		turns[name] = turn
	}
	return turns
}

// Whoever holds no lock is told so, whatever else is wrong with the turn: a refused turn
// is its holder's to fail.
func unknownTokenFirst(e *env) {
	got := e.readyForEverything("A")
	for _, token := range []string{"no-such-token", ""} {
		for name, turn := range badTurns(token) {
			err := e.p.AckOrchestrationItem(e.ctx, turn)
			e.permanent(err, provider.ErrInvalidLockToken, ruleTokenFirst+" ("+name+")")
		}
	}
	e.untouched("A", ruleNothing)
	e.commit(got, everything("A"))
	e.drop(e.fetchInstance("A", held)) // the message with which the lock was tested
	for name, turn := range badTurns(got.LockToken) {
		err := e.p.AckOrchestrationItem(e.ctx, turn)
		e.permanent(err, provider.ErrInvalidLockToken, ruleTokenFirst+" ("+name+")")
	}
	e.happened("A", ruleNothing)
}

// The same holds for a token whose lease has ended.
func expiredTokenFirst(e *env) {
	e.create("A")
	e.enqueueWork(activityItem("A", 90))
	e.enqueue(raised("A", "go"))
	late := e.fetchInstance("A", e.lease)
	e.expire()
	for name, turn := range badTurns(late.LockToken) {
		err := e.p.AckOrchestrationItem(e.ctx, turn)
		e.permanent(err, provider.ErrLockExpired, ruleTokenFirst+" ("+name+")")
	}
	e.commit(e.fetchInstance("A", held), everything("A"))
	e.happened("A", ruleNothing)
}

// The holder of the lock learns what is wrong with the turn, and keeps the lock.
func badTurnWithLiveToken(e *env) {
	got := e.readyForEverything("A")
	for name, turn := range badTurns(got.LockToken) {
		err := e.p.AckOrchestrationItem(e.ctx, turn)
		e.permanent(err, provider.ErrInvalidArgument, "§2.3: bad argument: permanent ("+name+")")
	}
	e.untouched("A", ruleStays)
	e.commit(got, everything("A"))
	e.drop(e.fetchInstance("A", held)) // the message with which the lock was tested
	e.happened("A", ruleAll)
}

// A status that no execution can have is refused, and with it the turn. Unknown is what a
// store reports, not what it stores.
func unknownStatusRefused(e *env) {
	got := e.readyForEverything("A")
	for _, status := range []provider.Status{"Paused", "", "completed", "Completed ", provider.StatusUnknown} {
		turn := turnOf(got, everything("A"))
		turn.Metadata.Status = &status
		e.permanent(e.p.AckOrchestrationItem(e.ctx, turn), provider.ErrInvalidArgument, ruleUnknownStatus)
	}
	e.untouched("A", ruleStays)
	e.commit(got, everything("A"))
}

// A lease is never renewed for no time or less: the call is refused, and the lease stays.
func emptyRenewalRefused(e *env) {
	const rule = "§5.4, §5.12: extendFor must be positive; §2.3: bad argument → permanent"
	e.create("A")
	e.wake("A")
	turn := e.fetchInstance("A", held)
	e.enqueueWork(activityItem("A", 2))
	work := e.fetchWork(held)
	for _, extend := range []time.Duration{0, -time.Second} {
		e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, turn.LockToken, extend), provider.ErrInvalidArgument, rule)
		e.permanent(e.p.RenewWorkItemLock(e.ctx, work.LockToken, extend), provider.ErrInvalidArgument, rule)
	}
	e.lockHeld("A", rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
	e.commit(turn, provider.AckOrchestrationParams{})
	e.ackWork(work)
}

// There is no execution 0.
func appendToZeroRefused(e *env) {
	const rule = "§2.2: execution_id: first value 1; §2.3: bad argument → permanent"
	e.create("A")
	err := e.p.AppendWithExecution(e.ctx, "A", 0, []provider.Event{event("A", 1, 2, provider.ExternalSubscribed{Name: "go"})})
	e.permanent(err, provider.ErrInvalidArgument, rule)
	e.sameEvents(e.history("A", 1), []provider.Event{started("A", 1)}, rule)
}

// The errors of the management interface name their calls as well.
func managementErrorsName(e *env) {
	const rule = "§2.3: Operation: method name in snake_case"
	a := e.admin()
	e.create("root")
	e.createChild("root", "child")
	for operation, call := range map[string]func() error{
		"latest_execution_id": func() error { _, err := a.LatestExecutionID(e.ctx, "nobody"); return err },
		"get_instance_info":   func() error { _, err := a.GetInstanceInfo(e.ctx, "nobody"); return err },
		"get_execution_info":  func() error { _, err := a.GetExecutionInfo(e.ctx, "nobody", 1); return err },
		"get_parent_id":       func() error { _, err := a.GetParentID(e.ctx, "nobody"); return err },
		"delete_instance":     func() error { _, err := a.DeleteInstance(e.ctx, "child", false); return err },
		"prune_executions":    func() error { _, err := a.PruneExecutions(e.ctx, "nobody", provider.PruneOptions{}); return err },
		"delete_instances_atomic": func() error {
			_, err := a.DeleteInstancesAtomic(e.ctx, []string{"root"}, true)
			return err
		},
	} {
		err := call()
		e.refused(err, rule)
		same(e, provider.AsError(err).Operation, operation, rule)
	}
}

// A file that was read-only for a moment failed the orchestration that was acknowledged then.
func triesUntilMended(e *env) {
	e.needs(e.store.Spoil != nil, "Spoil")
	e.create("A")
	e.enqueue(raised("A", "go"))
	e.enqueueWork(activityItem("A", 7))
	turn, work := e.fetchInstance("A", held), e.fetchWork(held)
	calls := map[string]func() error{
		"acknowledging a turn": func() error {
			return e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1})
		},
		"acknowledging an activity": func() error { return e.p.AckWorkItem(e.ctx, work.LockToken, completedItem("A", 7)) },
	}
	mend, err := e.store.Spoil(e.ctx)
	e.ok(err, "the Spoil hook")
	for what, call := range calls {
		err := call()
		e.check(provider.IsRetryable(err) && errors.Is(err, provider.ErrOutOfOrder), ruleOutOfOrder, "%s: %v", what, err)
	}
	e.ok(mend(), "the Spoil hook")
	for what, call := range calls {
		e.ok(call(), ruleOutOfOrder+": "+what+" after the repair")
	}
}
