package providertest

import (
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// moreRefusals covers what a store says about a turn that is wrong in more than one
// way.
func moreRefusals() category {
	return category{"more refusals", []scenario{
		{"unknown_token_comes_before_a_bad_turn", unknownTokenFirst},
		{"expired_token_comes_before_a_bad_turn", expiredTokenFirst},
		{"bad_turn_with_a_live_token", badTurnWithLiveToken},
		{"unknown_status_is_refused", unknownStatusRefused},
		{"renewal_for_no_time_is_refused", emptyRenewalRefused},
		{"append_to_execution_zero_is_refused", appendToZeroRefused},
		{"management_errors_name_their_operation", managementErrorsName},
	}}
}

const (
	ruleTokenFirst = "§5.2 step 1: the token is looked up before anything else of the turn is checked: " +
		"missing → Invalid lock token, expired → Instance lock expired"
	ruleUnknownStatus = "§5.2 step 8: status is Running, Completed, Failed or ContinuedAsNew; any other is a permanent error"
)

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
