package providertest

import (
	"errors"
	"math"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleAppendNothing   = "§5.7: empty slice: no-op, success"
	ruleAppendZero      = "§5.7: event id 0: permanent error"
	ruleAppendDuplicate = "§5.7: duplicate (instance, execution, event id): never overwrite; SHOULD: permanent error, nothing appended"
	ruleAppendUnknown   = "§5.7: unknown instance: rows are written; no instance row is created"
)

// Appending nothing succeeds and leaves no trace, for known and unknown
// instances.
func appendNothing(e *env) {
	e.create("A")
	for _, instance := range []string{"A", "ghost"} {
		e.appendEvents(instance, 1)
		e.appendEvents(instance, 2, []provider.Event{}...)
	}
	e.sameEvents(e.read("A"), []provider.Event{started("A", 1)}, ruleAppendNothing)
	same(e, len(e.read("ghost")), 0, ruleAppendNothing)
	e.noInstance("ghost", ruleAppendNothing)
}

// An event without id, or with one that is taken, keeps the whole list out,
// wherever in it the event stands.
func appendRefuses(e *env) {
	e.create("A")
	fine := event("A", 1, 2, provider.ExternalSubscribed{Name: "go"})
	zero := event("A", 1, 0, provider.ExternalSubscribed{Name: "go"})
	other := event("A", 1, 1, provider.OrchestrationStarted{Name: "Other", Version: "9.9.9"})
	for _, events := range [][]provider.Event{{zero}, {fine, zero}, {zero, fine}} {
		err := e.p.AppendWithExecution(e.ctx, "A", 1, events)
		e.permanent(err, provider.ErrInvalidArgument, ruleAppendZero)
		e.says(err, "§2.3: bad argument: `event_id must be set by runtime`", "event_id must be set by runtime")
	}
	for _, events := range [][]provider.Event{{other}, {fine, other}, {other, fine}, {fine, fine}} {
		err := e.p.AppendWithExecution(e.ctx, "A", 1, events)
		e.permanent(err, provider.ErrDuplicateEvent, ruleAppendDuplicate)
	}
	e.sameEvents(e.read("A"), []provider.Event{started("A", 1)}, ruleAppendDuplicate)
	e.appendEvents("A", 1, fine)
	e.sameEvents(e.read("A"), []provider.Event{started("A", 1), fine}, "§5.7: appends events outside a turn")
}

// Events can be appended while a turn runs, for executions that have no row and
// instances that do not exist; the newest execution is the one that Read shows.
func appendNeedsNothing(e *env) {
	e.create("A")
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	second := event("A", 1, 2, provider.ExternalSubscribed{Name: "go"})
	e.appendEvents("A", 1, second)
	e.sameEvents(e.read("A"), []provider.Event{started("A", 1), second}, "§5.7: no lock needed")
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{second}})),
		provider.ErrDuplicateEvent, "§5.2 step 7: duplicate id → permanent error")
	e.lockHeld("A", ruleStays)

	stray := event("x", 9, 3, provider.ExternalSubscribed{Name: "go"})
	e.appendEvents("ghost", 1, started("ghost", 1))
	e.appendEvents("ghost", 2, started("ghost", 2), stray)
	e.sameEvents(e.history("ghost", 1), []provider.Event{started("ghost", 1)}, ruleAppendUnknown)
	e.sameEvents(e.read("ghost"), []provider.Event{
		started("ghost", 2), event("ghost", 2, 3, provider.ExternalSubscribed{Name: "go"}),
	}, ruleLatest)
	e.noInstance("ghost", ruleAppendUnknown)
}

// Executions that do not exist read as empty, before the first and after the
// last.
func unknownExecutions(e *env) {
	e.createExecutions("A", 2)
	for _, execution := range []uint64{0, 3, 1 << 40} {
		same(e, len(e.history("A", execution)), 0, "§5.6: unknown execution → empty list")
	}
	same(e, len(e.read("a")), 0, ruleUnknown)
	same(e, len(e.read("")), 0, ruleUnknown)
}

// An execution id that no column holds is not read as the largest that one does.
func executionsBeyond(e *env) {
	const (
		last   = math.MaxInt64
		beyond = uint64(math.MaxUint64)
		rule   = "§5.6: unknown execution → empty list"
	)
	e.create("A")
	e.enqueue(raised("A", "go"))
	e.ack(provider.AckOrchestrationParams{
		LockToken: e.fetchInstance("A", held).LockToken, ExecutionID: last, HistoryDelta: []provider.Event{started("A", last)},
	})
	same(e, len(e.history("A", last)), 1, "§2.2: execution ids are unsigned numbers below 2^63")
	for _, execution := range []uint64{last + 1, beyond} {
		same(e, len(e.history("A", execution)), 0, rule)
	}
	if admin := e.p.Admin(); admin != nil {
		events, err := admin.ReadHistoryWithExecutionID(e.ctx, "A", beyond)
		e.ok(err, rule)
		same(e, len(events), 0, rule)
		_, err = admin.GetExecutionInfo(e.ctx, "A", beyond)
		e.permanent(err, provider.ErrNotFound, ruleExecNotFound)
	}
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
