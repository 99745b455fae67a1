package providertest

import (
	"math"

	"github.com/duroxide/duroxide-go/provider"
)

// customStatus checks the status that an orchestration sets and clients poll by
// version: within one turn, across executions, and beside other instances.
func customStatus() category {
	return category{"custom status", []scenario{
		{"custom_status_set", customStatusSet},
		{"custom_status_clear", customStatusClear},
		{"custom_status_none_preserves", customStatusKept},
		{"custom_status_version_increments", customStatusVersions},
		{"custom_status_polling_no_change", customStatusPolling},
		{"custom_status_nonexistent_instance", customStatusUnknown},
		{"custom_status_default_on_new_instance", customStatusDefault},

		{"last_update_of_a_turn_wins", statusLastWins},
		{"reset_after_set_in_one_turn", statusResetInTurn},
		{"same_value_again_is_a_change", statusSameAgain},
		{"reset_of_no_status_is_a_change", statusResetOfNone},
		{"empty_string_is_a_status", statusEmpty},
		{"first_turn_may_set_it", statusFirstTurn},
		{"last_turn_may_set_it", statusLastTurn},
		{"version_continues_across_executions", statusAcrossExecutions},
		{"initial_status_of_an_execution_is_not_interpreted", statusInitialIgnored},
		{"last_seen_beyond_version", statusBeyond},
		{"instances_are_isolated", statusIsolated},
		{"failed_ack_changes_nothing", statusFailedAck},
		{"turn_without_instance_row", statusWithoutInstance},
		{"recreated_instance_starts_over", statusRecreated},
	}}
}

const (
	ruleStatusLast = "§5.2 step 9: the last CustomStatusUpdated in the delta: store its value (NULL for reset) " +
		"and increase custom_status_version by exactly 1 for the whole ack"
	ruleStatusNewer = "§5.16: {Status, Version} if its version is greater than lastSeenVersion; otherwise nil"
)

// statusEvents are custom status updates with consecutive ids from first; nil
// resets.
func statusEvents(instance string, execution, first uint64, statuses ...*string) []provider.Event {
	var events []provider.Event
	for i, status := range statuses {
		events = append(events, event(instance, execution, first+uint64(i), provider.CustomStatusUpdated{Status: status}))
	}
	return events
}

// setStatus runs a turn of execution 1 that updates the custom status, with event
// ids from first.
func (e *env) setStatus(instance string, first uint64, statuses ...*string) {
	e.Helper()
	e.turn(instance, provider.AckOrchestrationParams{HistoryDelta: statusEvents(instance, 1, first, statuses...)})
}

// customStatus reads the custom status; nil when it is no newer than lastSeen.
func (e *env) customStatus(instance string, lastSeen uint64) *provider.CustomStatus {
	e.Helper()
	got, err := e.p.GetCustomStatus(e.ctx, instance, lastSeen)
	e.ok(err, "§5.16: GetCustomStatus")
	return got
}

// hasStatus asserts the custom status and its version; version 0 is none yet.
func (e *env) hasStatus(instance string, status *string, version uint64, rule string) {
	e.Helper()
	got := e.customStatus(instance, max(version, 1)-1)
	if version == 0 {
		e.check(got == nil, rule, "custom status of %q is %s, want none", instance, render(got))
		return
	}
	e.check(got != nil, rule, "GetCustomStatus of %q with last seen version %d: nil, want version %d",
		instance, version-1, version)
	same(e, got.Version, version, rule)
	samePtr(e, got.Status, status, rule)
}

// customStatusSet: a status set in a turn is readable afterwards with version 1.
func customStatusSet(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.hasStatus("order", new("50 %"), 1, ruleStatusLast)
}

// customStatusClear: a reset is a change too: no status, and a higher version.
func customStatusClear(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.setStatus("order", 3, nil)
	e.hasStatus("order", nil, 2, "§5.16: a reset yields Status == nil with an increased version")
}

// customStatusKept: turns without an update leave status and version.
func customStatusKept(e *env) {
	const rule = "§5.2 step 9: absent → unchanged"
	e.create("order")
	e.setStatus("order", 2, new("50 %"))
	e.turn("order", provider.AckOrchestrationParams{})
	e.turn("order", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("order", 1, 3, provider.ExternalSubscribed{Name: "approve"})},
		Metadata:     created(),
	})
	e.finish("order", provider.StatusCompleted, "out")
	e.hasStatus("order", new("50 %"), 1, rule)
	e.check(e.customStatus("order", 1) == nil, rule, "the version grew without an update")
}

// customStatusVersions: each turn that updates the status adds exactly 1.
func customStatusVersions(e *env) {
	e.create("order")
	for version := uint64(1); version <= 5; version++ {
		status := new(string(rune('a' + version)))
		e.setStatus("order", version+1, status)
		e.hasStatus("order", status, version, ruleStatusLast)
		e.check(e.customStatus("order", version) == nil, ruleStatusLast, "version is above %d", version)
	}
}

// customStatusPolling: a poll with the version it already saw gets nothing until
// the next update.
func customStatusPolling(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("a"))
	seen := e.customStatus("order", 0)
	e.check(seen != nil, ruleStatusNewer, "nil after the first update")
	for range 3 {
		e.check(e.customStatus("order", seen.Version) == nil, ruleStatusNewer, "a status without a change")
	}
	e.setStatus("order", 3, new("b"))
	next := e.customStatus("order", seen.Version)
	e.check(next != nil, ruleStatusNewer, "nil after the second update")
	samePtr(e, next.Status, new("b"), ruleStatusNewer)
}

// customStatusUnknown: an unknown instance has no status, and asking is no error.
func customStatusUnknown(e *env) {
	e.enqueue(startItem("queued"))
	for _, instance := range []string{"nobody", "queued"} {
		got := e.customStatus(instance, 0)
		e.check(got == nil, "§5.16: {Status, Version} if the instance exists; otherwise nil",
			"custom status of %q: %s", instance, render(got))
	}
}

// customStatusDefault: a fresh instance has version 0, so polling from 0 waits
// for the first update.
func customStatusDefault(e *env) {
	const rule = "§5.16: a fresh instance has version 0, so lastSeen = 0 returns nil until the first update"
	e.create("order")
	got := e.customStatus("order", 0)
	e.check(got == nil, rule, "custom status of a fresh instance: %s", render(got))
	e.setStatus("order", 2, new("a"))
	e.hasStatus("order", new("a"), 1, rule)
}

// statusLastWins: several updates in one turn count once, and the last in the
// delta holds.
func statusLastWins(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("c"), nil, new("a"), new("b"))
	e.hasStatus("order", new("b"), 1, ruleStatusLast)
	e.check(e.customStatus("order", 1) == nil, ruleStatusLast, "four updates in one turn counted more than once")
}

// statusResetInTurn: a reset after a set in the same turn leaves no status.
func statusResetInTurn(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("a"), nil)
	e.hasStatus("order", nil, 1, ruleStatusLast)
}

// statusSameAgain: setting the value it already has still raises the version.
func statusSameAgain(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("a"))
	e.setStatus("order", 3, new("a"))
	e.hasStatus("order", new("a"), 2, ruleStatusLast)
}

// statusResetOfNone: resetting a status that was never set raises the version.
func statusResetOfNone(e *env) {
	e.create("order")
	e.setStatus("order", 2, nil)
	e.hasStatus("order", nil, 1, ruleStatusLast)
}

// statusEmpty: the empty string is a status, not a reset.
func statusEmpty(e *env) {
	e.create("order")
	e.setStatus("order", 2, new(""))
	e.hasStatus("order", new(""), 1, ruleStatusLast)
}

// statusFirstTurn: the turn that creates the instance may set the status.
func statusFirstTurn(e *env) {
	e.create("order", statusEvents("order", 1, 2, new("ready"))...)
	e.hasStatus("order", new("ready"), 1, ruleStatusLast)
}

// statusLastTurn: the turn that ends the execution may set the status.
func statusLastTurn(e *env) {
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{
		HistoryDelta: append(statusEvents("order", 1, 2, new("done")),
			event("order", 1, 3, terminal(provider.StatusCompleted, "out"))),
		Metadata: ended(provider.StatusCompleted, "out"),
	})
	e.hasStatus("order", new("done"), 1, ruleStatusLast)
}

// statusAcrossExecutions: status and version survive continue-as-new, the version
// goes on from where it was, and pruning does not touch them.
func statusAcrossExecutions(e *env) {
	const rule = "§5.16: the version lives on the instance: it continues across executions"
	e.create("order")
	e.setStatus("order", 2, new("a"))
	e.setStatus("order", 3, new("b"))
	e.continueAsNew("order")
	e.hasStatus("order", new("b"), 2, rule)
	e.turn("order", provider.AckOrchestrationParams{HistoryDelta: statusEvents("order", 2, 2, new("c"))})
	e.hasStatus("order", new("c"), 3, rule)
	e.prune("order", provider.PruneOptions{})
	e.hasStatus("order", new("c"), 3, "§6.18: KV, custom status, queues, locks, instance row stay")
}

// statusInitialIgnored: the initial status inside OrchestrationStarted is for the
// runtime; only CustomStatusUpdated changes what is stored.
func statusInitialIgnored(e *env) {
	const rule = "§4: custom-status events … the provider interprets nothing else in events"
	e.create("order")
	e.setStatus("order", 2, new("a"))
	e.finish("order", provider.StatusContinuedAsNew, "next")
	got := e.fetchInstance("order", held)
	first := provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}", InitialCustomStatus: new("b")}
	e.ack(provider.AckOrchestrationParams{
		LockToken: got.LockToken, ExecutionID: 2, Metadata: created(),
		HistoryDelta: []provider.Event{event("order", 2, 1, first)},
	})
	e.hasStatus("order", new("a"), 1, rule)
	e.check(e.customStatus("order", 1) == nil, rule, "the initial status raised the version")
}

// statusBeyond: a version that the instance has not reached yields nothing.
func statusBeyond(e *env) {
	e.create("order")
	e.setStatus("order", 2, new("a"))
	for _, seen := range []uint64{2, 1000, math.MaxInt64} {
		got := e.customStatus("order", seen)
		e.check(got == nil, ruleStatusNewer, "last seen %d of 1: %s", seen, render(got))
	}
}

// statusIsolated: an update reaches its own instance only.
func statusIsolated(e *env) {
	e.create("a")
	e.create("A")
	e.setStatus("a", 2, new("1"))
	got := e.customStatus("A", 0)
	e.check(got == nil, ruleStatusLast, "an update of %q changed %q: %s", "a", "A", render(got))
	e.setStatus("A", 2, new("2"))
	e.hasStatus("a", new("1"), 1, ruleStatusLast)
	e.hasStatus("A", new("2"), 1, ruleStatusLast)
}

// statusFailedAck: an ack that is rolled back leaves status and version.
func statusFailedAck(e *env) {
	const rule = "§2.4: every method is one atomic transaction: all effects or none"
	e.create("order")
	e.setStatus("order", 2, new("a"))
	e.wake("order")
	err := e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{
		LockToken: e.fetchInstance("order", held).LockToken, ExecutionID: 1,
		HistoryDelta: statusEvents("order", 1, 2, new("b")),
	})
	e.permanent(err, provider.ErrDuplicateEvent, "§5.2 step 7: duplicate id → permanent error, whole ack rolled back")
	e.hasStatus("order", new("a"), 1, rule)
	e.check(e.customStatus("order", 1) == nil, rule, "a failed ack raised the version")
}

// statusWithoutInstance: where a turn created no instance row, there is nothing
// to hold a status, and the update is no error.
func statusWithoutInstance(e *env) {
	e.enqueue(startItem("order"))
	e.ack(provider.AckOrchestrationParams{
		LockToken: e.fetchInstance("order", held).LockToken, ExecutionID: 1,
		HistoryDelta: append([]provider.Event{started("order", 1)}, statusEvents("order", 1, 2, new("a"))...),
	})
	got := e.customStatus("order", 0)
	e.check(got == nil, "§5.16: {Status, Version} if the instance exists; otherwise nil", "got %s", render(got))
}

// statusRecreated: a deleted instance's status does not reach its successor.
func statusRecreated(e *env) {
	const rule = "§6.16: re-creation with the same id: allowed immediately; starts at execution 1"
	e.create("order")
	e.setStatus("order", 2, new("a"))
	e.delete("order", true)
	got := e.customStatus("order", 0)
	e.check(got == nil, rule, "custom status of a deleted instance: %s", render(got))
	e.create("order")
	got = e.customStatus("order", 0)
	e.check(got == nil, rule, "custom status of the new instance: %s", render(got))
	e.setStatus("order", 2, new("b"))
	e.hasStatus("order", new("b"), 1, rule)
}
