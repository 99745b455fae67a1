package providertest

import (
	"fmt"
	"math"

	"github.com/duroxide/duroxide-go/provider"
)

// moreFiltering covers what the reference's capability scenarios leave out: how
// versions compare, and which instances have none.
func moreFiltering() category {
	return category{"more filtering", []scenario{
		{"large_version_numbers", largeVersionNumbers},
		{"zero_version_is_a_version", zeroVersion},
		{"reversed_range_takes_no_pinned_execution", reversedRange},
		{"every_filter_takes_new_instances", filterTakesNew},
		{"every_filter_takes_history_without_instance", filterTakesUnregistered},
		{"many_skipped_instances_hide_nothing", manySkipped},
		{"filter_uses_the_current_execution", filterCurrentExecution},
		{"pinned_version_may_come_with_the_last_turn", pinnedWithLastTurn},
		{"failed_ack_pins_nothing", failedAckPinsNothing},
		{"filtered_fetch_after_lease_counts_the_attempt", filteredAttempts},
	}}
}

// largeVersionNumbers: parts of 1000 and more do not spill into the next part.
func largeVersionNumbers(e *env) {
	e.createPinned("patch", v(1, 0, 1500))
	e.createPinned("minor", v(1, 1500, 0))
	e.createPinned("major", v(1_000_000, 0, 0))
	e.wake("patch", "minor", "major")
	e.takesNothing(only(v(1, 1, 0), v(1, 1, 999)), ruleRange)
	e.takesNothing(only(v(2, 0, 0), v(3, 0, 0)), ruleRange)
	e.release(e.takes(only(v(1, 0, 1500), v(1, 0, 1500)), "patch", ruleRange))
	e.release(e.takes(only(v(1, 1499, 9999), v(1, 1500, 0)), "minor", ruleRange))
	e.takes(only(v(999_999, 9999, 9999), v(math.MaxInt32, 0, 0)), "major", ruleRange)
	e.takes(only(v(0, 0, 0), v(1, 0, 2000)), "patch", ruleRange)
	e.takes(only(v(0, 0, 0), v(1, 2000, 0)), "minor", ruleRange)
}

// zeroVersion: 0.0.0 is a pinned version, not the absence of one.
func zeroVersion(e *env) {
	e.createPinned("order", v(0, 0, 0))
	e.wake("order")
	e.takesNothing(only(v(0, 0, 1), v(9, 0, 0)), ruleFilter)
	e.takes(only(v(0, 0, 0), v(0, 0, 0)), "order", ruleFilter)
}

// reversedRange: no version lies in a range whose Min is above its Max.
func reversedRange(e *env) {
	e.createPinned("order", v(2, 0, 0))
	e.wake("order")
	e.takesNothing(only(v(3, 0, 0), v(1, 0, 0)), ruleRange)
	e.takes(nil, "order", ruleSkipped)
}

// filterTakesNew: an instance that has not started has no pinned version, so
// every filter with a range takes it.
func filterTakesNew(e *env) {
	e.enqueue(startItem("order"))
	e.takes(only(v(7, 0, 0), v(7, 0, 0)), "order", ruleFilter)
}

// filterTakesUnregistered: history and execution rows without an instance row
// count as no pinned version.
func filterTakesUnregistered(e *env) {
	e.ok(e.p.AppendWithExecution(e.ctx, "order", 1, []provider.Event{started("order", 1)}),
		"§5.7: unknown instance: rows are written; no instance row is created")
	e.wake("order")
	e.takes(only(v(7, 0, 0), v(7, 0, 0)), "order", ruleFilter)
}

// manySkipped: a compatible instance is found behind more incompatible ones than
// any store reads in one go.
func manySkipped(e *env) {
	const n = 150
	for i := range n {
		e.createPinned(fmt.Sprintf("old-%d", i), v(1, 0, 0))
	}
	e.createPinned("new", v(2, 0, 0))
	for i := range n {
		e.wake(fmt.Sprintf("old-%d", i))
	}
	e.wake("new")
	e.takes(only(v(2, 0, 0), v(2, 0, 0)), "new",
		"§5.1 step 3: applied in the candidate query, before locking; nil only when no eligible candidate remains")
}

// filterCurrentExecution: pinned versions of earlier executions play no part, not
// even when the current one has none.
func filterCurrentExecution(e *env) {
	const rule = "§5.1 step 3: join the instance's current execution row"
	e.createPinned("order", v(1, 0, 0))
	e.continueAsNew("order")
	e.wake("order")
	e.release(e.takes(only(v(5, 0, 0), v(5, 0, 0)), "order", rule))
	e.turn("order", provider.AckOrchestrationParams{Metadata: pinnedTo(v(2, 0, 0))})
	e.wake("order")
	e.takesNothing(only(v(1, 0, 0), v(1, 0, 0)), rule)
	e.takes(only(v(2, 0, 0), v(2, 0, 0)), "order", rule)
}

// pinnedWithLastTurn: an instance that started and ended in one turn is pinned
// all the same, and late messages respect it.
func pinnedWithLastTurn(e *env) {
	metadata := ended(provider.StatusCompleted, "out")
	metadata.PinnedDuroxideVersion = new(v(2, 0, 0))
	e.createWith("order", endedAtOnce("order", provider.StatusCompleted, metadata))
	e.wake("order")
	e.takesNothing(only(v(1, 0, 0), v(1, 99, 0)), ruleFilter)
	e.takes(only(v(2, 0, 0), v(2, 0, 0)), "order", ruleFilter)
}

// failedAckPinsNothing: an ack that is rolled back leaves the pinned version.
func failedAckPinsNothing(e *env) {
	const rule = "§5.2 step 7: duplicate id → permanent error, whole ack rolled back"
	e.createPinned("order", v(1, 0, 0))
	e.wake("order")
	got := e.fetchInstance("order", held)
	err := e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{
		LockToken: got.LockToken, ExecutionID: 1, Metadata: pinnedTo(v(2, 0, 0)),
		HistoryDelta: []provider.Event{started("order", 1)},
	})
	e.permanent(err, provider.ErrDuplicateEvent, rule)
	e.release(got)
	e.takesNothing(only(v(2, 0, 0), v(2, 0, 0)), rule)
	e.takes(only(v(1, 0, 0), v(1, 0, 0)), "order", rule)
}

// filteredAttempts: fetches that the filter lets through count attempts like
// unfiltered ones, and the skipped ones in between do not.
func filteredAttempts(e *env) {
	e.createPinned("order", v(1, 0, 0))
	e.wake("order")
	for attempt := uint32(1); attempt <= 2; attempt++ {
		e.takesNothing(only(v(2, 0, 0), v(2, 0, 0)), ruleSkipped)
		got, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{
			LockTimeout: e.lease, Filter: only(v(1, 0, 0), v(1, 0, 0)),
		})
		e.ok(err, "§5.1: FetchOrchestrationItem")
		e.check(got != nil, ruleFilter, "a compatible instance was not fetched")
		same(e, got.AttemptCount, attempt, ruleSkipped)
		e.expire()
	}
}
