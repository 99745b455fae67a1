package providertest

import (
	"math"
	"strconv"

	"github.com/duroxide/duroxide-go/provider"
)

// history checks what is written to a history, by turns and outside of them, and how it is read.
func history() category {
	return category{"history", []scenario{
		{"event_ids_may_have_gaps_and_any_order", eventIDGaps},
		{"ack_never_reads_history_back", ackNeverReads},
		{"append_of_nothing_is_a_no_op", appendNothing},
		{"append_refuses_event_id_zero_and_duplicates", appendRefuses},
		{"append_needs_neither_lock_nor_instance", appendNeedsNothing},
		{"reads_of_unknown_executions_are_empty", unknownExecutions},
		{"unknown_executions_beyond_the_last_are_empty", executionsBeyond},

		{"events_are_read_by_id_not_by_insertion", eventsByID},
	}}
}

const (
	ruleAppendNothing   = "§5.7: empty slice: no-op, success"
	ruleAppendZero      = "§5.7: event id 0: permanent error"
	ruleAppendDuplicate = "§5.7: duplicate (instance, execution, event id): never overwrite; SHOULD: permanent error, nothing appended"
	ruleAppendUnknown   = "§5.7: unknown instance: rows are written; no instance row is created"
	ruleByID            = "§5.2 step 7: events are inserted in slice order; readers sort by id"
	ruleGaps            = "§2.2: gaps are legal; §5.2 step 7: order of insertion = slice order; readers sort by id"
	ruleNoReading       = "§5.2 step 7: insert only: MUST NOT read or re-encode existing rows (P10)"
)

// Event ids are kept as given, with gaps; reading sorts them.
func eventIDGaps(e *env) {
	e.create("A")
	at := func(id uint64) provider.Event {
		return event("A", 1, id, provider.ExternalSubscribed{Name: strconv.FormatUint(id, 10)})
	}
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{at(99999), at(7), at(100), at(10)}})
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{at(9), at(2)}})
	want := []provider.Event{started("A", 1), at(2), at(7), at(9), at(10), at(100), at(99999)}
	e.sameEvents(e.history("A", 1), want, ruleGaps)
	e.enqueue(raised("A", "go"))
	e.sameEvents(e.fetchInstance("A", held).Item.History, want, ruleGaps)
}

// An instance whose history cannot be decoded can be failed with event 99999;
// the damaged event stays what it is.
func ackNeverReads(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	e.corrupt("A", 1, 2, `{"type":"NoSuchKind"}`)
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	failed := event("A", 1, 99999, provider.OrchestrationFailed{Details: provider.PoisonFailure{
		AttemptCount: 11, MaxAttempts: 10, Message: "e",
		MessageType: provider.PoisonDeserialization{Instance: "A", ExecutionID: 1, Error: "e"},
	}})
	e.ok(e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{failed}, Metadata: ended(provider.StatusFailed, "poison"),
	})), ruleNoReading)
	_, err := e.p.ReadWithExecution(e.ctx, "A", 1)
	e.permanent(err, provider.ErrCorrupt, "§5.1: corrupted history: never skip, drop or repair the bad event")
	if e.p.Admin() != nil {
		info := e.execution("A", 1)
		same(e, info.Status, provider.StatusFailed, ruleNoReading)
		same(e, info.EventCount, 3, ruleNoReading)
	}
	err = e.p.AppendWithExecution(e.ctx, "A", 1, []provider.Event{failed})
	e.permanent(err, provider.ErrDuplicateEvent, "§5.2 step 7: event 99999 is appended")
}

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

// Events may be stored in any order, in one turn, by several turns and outside of turns. Every reader has them by id.
func eventsByID(e *env) {
	at := func(id uint64) provider.Event { return event("A", 1, id, provider.ExternalSubscribed{Name: "go"}) }
	e.create("A")
	e.enqueue(raised("A", "go"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{HistoryDelta: []provider.Event{at(9), at(7), at(8)}})
	e.appendEvents("A", 1, at(5), at(3))
	e.appendEvents("A", 1, at(4))
	want := []provider.Event{started("A", 1), at(3), at(4), at(5), at(7), at(8), at(9)}
	e.sameEvents(e.read("A"), want, ruleByID)
	e.sameEvents(e.history("A", 1), want, ruleByID)
	for _, read := range []func() ([]provider.Event, error){
		func() ([]provider.Event, error) { return e.admin().ReadHistory(e.ctx, "A") },
		func() ([]provider.Event, error) { return e.admin().ReadHistoryWithExecutionID(e.ctx, "A", 1) },
	} {
		events, err := read()
		e.ok(err, ruleByID)
		e.sameEvents(events, want, ruleByID)
	}
	e.enqueue(raised("A", "go"))
	e.sameEvents(e.fetchInstance("A", held).Item.History, want, ruleByID)
}
