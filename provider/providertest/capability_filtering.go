package providertest

import (
	"errors"
	"fmt"
	"math"

	"github.com/duroxide/duroxide-go/provider"
)

// capabilityFiltering checks that a dispatcher gets only executions whose pinned
// framework version it can replay, and that skipped ones are left untouched; how
// versions compare, and what becomes of histories that cannot be decoded.
func capabilityFiltering() category {
	return category{"capability filtering", []scenario{
		{"fetch_with_filter_none_returns_any_item", noFilterTakesAll},
		{"fetch_with_compatible_filter_returns_item", compatibleFilter},
		{"fetch_with_incompatible_filter_skips_item", incompatibleFilter},
		{"fetch_filter_skips_incompatible_selects_compatible", filterSelects},
		{"fetch_filter_does_not_lock_skipped_instances", skippedNotLocked},
		{"fetch_filter_null_pinned_version_always_compatible", unpinnedCompatible},
		{"fetch_filter_boundary_versions", filterBoundaries},
		{"pinned_version_stored_via_ack_metadata", pinnedStored},
		{"pinned_version_immutable_across_ack_cycles", pinnedKept},
		{"continue_as_new_execution_gets_own_pinned_version", pinnedPerExecution},
		{"filter_with_empty_supported_versions_returns_nothing", emptyFilter},
		{"concurrent_filtered_fetch_no_double_lock", concurrentFilteredFetch},
		{"ack_stores_pinned_version_via_metadata_update", pinnedLater},
		{"provider_updates_pinned_version_when_told", pinnedOverwritten},
		{"fetch_corrupted_history_filtered_vs_unfiltered", corruptedFiltered},
		{"fetch_deserialization_error_increments_attempt_count", corruptedAttempts},
		{"fetch_deserialization_error_eventually_reaches_poison", corruptedPoison},
		{"fetch_filter_applied_before_history_deserialization", filterBeforeDecoding},
		{"fetch_single_range_only_uses_first_range", firstRangeOnly},
		{"ack_appends_event_to_corrupted_history", appendToCorrupted},

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

const (
	ruleFilter = "§5.1 step 3: eligible when there is no instance row, no execution row, " +
		"or the pinned version is NULL, or it lies in the first range"
	ruleSkipped     = "§5.1 step 3: skipped instances MUST NOT be locked and their attempt counts MUST NOT change"
	ruleCorruptItem = "§5.1 corrupted history: a normal item with HistoryError, History empty, KVSnapshot empty, " +
		"Messages filled; MUST NOT be an error return"
	ruleRange = "§3.7: pinned ∈ [Min, Max], both ends inclusive, by major, minor, patch only"
)

// v is a version.
func v(major, minor, patch uint64) provider.Version {
	return provider.Version{Major: major, Minor: minor, Patch: patch}
}

// only is a filter with one range.
func only(low, high provider.Version) *provider.CapabilityFilter {
	return &provider.CapabilityFilter{SupportedVersions: []provider.VersionRange{{Min: low, Max: high}}}
}

// createPinned creates a running instance pinned to a version.
func (e *env) createPinned(instance string, pinned provider.Version) {
	e.Helper()
	e.createWith(instance, provider.AckOrchestrationParams{Metadata: pinnedTo(pinned)})
}

// pinnedTo is metadata that only pins the execution.
func pinnedTo(pinned provider.Version) provider.ExecutionMetadata {
	return provider.ExecutionMetadata{PinnedDuroxideVersion: &pinned}
}

// wake queues a message for each instance.
func (e *env) wake(instances ...string) {
	e.Helper()
	for _, instance := range instances {
		e.enqueue(raised(instance, "wake"))
	}
}

// tryFetchFiltered fetches an orchestration that the filter takes, or nil, under
// a lease that does not end.
func (e *env) tryFetchFiltered(filter *provider.CapabilityFilter) *provider.FetchedOrchestration {
	e.Helper()
	return e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held, Filter: filter})
}

// takes asserts that the filter takes the given instance next, and keeps it
// locked.
func (e *env) takes(filter *provider.CapabilityFilter, instance, rule string) *provider.FetchedOrchestration {
	e.Helper()
	got := e.tryFetchFiltered(filter)
	e.check(got != nil, rule, "filter %s: fetched nothing, want %q", render(filter), instance)
	e.check(got.Item.Instance == instance, rule, "filter %s: fetched %q, want %q", render(filter), got.Item.Instance, instance)
	return got
}

// takesNothing asserts that the filter skips all that is queued.
func (e *env) takesNothing(filter *provider.CapabilityFilter, rule string) {
	e.Helper()
	got := e.tryFetchFiltered(filter)
	e.check(got == nil, rule, "filter %s: fetched %s, want nothing", render(filter), render(got))
}

// release abandons a fetched orchestration at once and takes the attempt back.
func (e *env) release(got *provider.FetchedOrchestration) {
	e.Helper()
	e.abandon(got, 0, true)
}

// noFilterTakesAll: without a filter every instance is taken, whatever it is
// pinned to.
func noFilterTakesAll(e *env) {
	e.createPinned("old", v(0, 0, 1))
	e.createPinned("new", v(99, 99, 99))
	e.create("unpinned")
	e.wake("old", "new", "unpinned")
	for _, instance := range []string{"old", "new", "unpinned"} {
		e.takes(nil, instance, "§3.7: nil filter: everything is eligible")
	}
}

// compatibleFilter: an instance pinned inside the range is taken, with its
// history and messages.
func compatibleFilter(e *env) {
	e.createPinned("order", v(1, 2, 3))
	e.wake("order")
	got := e.takes(only(v(1, 0, 0), v(2, 0, 0)), "order", ruleFilter)
	same(e, len(got.Item.History), 1, "§5.1: return its current history together with all its visible messages")
	same(e, len(got.Item.Messages), 1, "§5.1: return its current history together with all its visible messages")
}

// incompatibleFilter: an instance pinned outside the range is not taken.
func incompatibleFilter(e *env) {
	e.createPinned("order", v(1, 2, 3))
	e.wake("order")
	e.takesNothing(only(v(2, 0, 0), v(3, 0, 0)), ruleFilter)
	e.takes(nil, "order", ruleSkipped)
}

// filterSelects: incompatible instances at the head of the queue do not hide a
// compatible one behind them.
func filterSelects(e *env) {
	for i := range 20 {
		e.createPinned(fmt.Sprintf("old-%d", i), v(1, 0, uint64(i)))
	}
	e.createPinned("new", v(2, 5, 0))
	for i := range 20 {
		e.wake(fmt.Sprintf("old-%d", i))
	}
	e.wake("new")
	filter := only(v(2, 0, 0), v(2, 99, 0))
	e.takes(filter, "new", ruleFilter)
	e.takesNothing(filter, ruleFilter)
}

// skippedNotLocked: a filtered fetch leaves a skipped instance free and its
// messages without an attempt.
func skippedNotLocked(e *env) {
	e.createPinned("order", v(1, 0, 0))
	e.wake("order")
	for range 3 {
		e.takesNothing(only(v(2, 0, 0), v(3, 0, 0)), ruleFilter)
	}
	got := e.takes(only(v(1, 0, 0), v(1, 0, 0)), "order", ruleSkipped)
	same(e, got.AttemptCount, 1, ruleSkipped)
}

// unpinnedCompatible: every filter with a range takes an execution without a
// pinned version.
func unpinnedCompatible(e *env) {
	e.create("order")
	e.wake("order")
	for _, filter := range []*provider.CapabilityFilter{
		only(v(0, 0, 0), v(0, 0, 0)), only(v(5, 0, 0), v(6, 0, 0)), only(v(99, 99, 99), v(99, 99, 99)),
	} {
		e.release(e.takes(filter, "order", ruleFilter))
	}
}

// filterBoundaries: both ends of the range belong to it, and versions are
// compared part by part.
func filterBoundaries(e *env) {
	e.createPinned("order", v(1, 5, 9))
	e.wake("order")
	for _, c := range []struct {
		low, high provider.Version
		taken     bool
	}{
		{v(1, 5, 9), v(1, 5, 9), true},
		{v(1, 5, 9), v(9, 0, 0), true},
		{v(0, 0, 0), v(1, 5, 9), true},
		{v(1, 4, 99), v(1, 6, 0), true},
		{v(0, 9, 99), v(2, 0, 0), true},
		{v(1, 5, 10), v(9, 0, 0), false},
		{v(1, 6, 0), v(9, 0, 0), false},
		{v(2, 0, 0), v(9, 0, 0), false},
		{v(0, 0, 0), v(1, 5, 8), false},
		{v(0, 0, 0), v(1, 4, 99), false},
		{v(0, 0, 0), v(0, 99, 99), false},
	} {
		if c.taken {
			e.release(e.takes(only(c.low, c.high), "order", ruleRange))
		} else {
			e.takesNothing(only(c.low, c.high), ruleRange)
		}
	}
}

// pinnedStored: the pinned version given with the first turn is what filters
// compare.
func pinnedStored(e *env) {
	const rule = "§5.2 step 5: if given, store it on the execution row"
	e.createPinned("order", v(3, 1, 4))
	e.wake("order")
	e.takesNothing(only(v(0, 0, 0), v(3, 1, 3)), rule)
	e.takesNothing(only(v(3, 1, 5), v(9, 0, 0)), rule)
	e.takes(only(v(3, 1, 4), v(3, 1, 4)), "order", rule)
}

// pinnedKept: turns that give no pinned version leave the stored one, whatever
// else they give.
func pinnedKept(e *env) {
	const rule = "§5.2 step 5: nil leaves it unchanged"
	e.createPinned("order", v(1, 0, 0))
	e.turn("order", provider.AckOrchestrationParams{})
	e.turn("order", provider.AckOrchestrationParams{Metadata: created()})
	e.turn("order", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{Status: new(provider.StatusRunning)}})
	e.wake("order")
	e.takesNothing(only(v(1, 0, 1), v(9, 0, 0)), rule)
	e.takes(only(v(1, 0, 0), v(1, 0, 0)), "order", rule)
}

// pinnedPerExecution: the next execution has a pinned version of its own, and
// until its first turn the previous one's counts.
func pinnedPerExecution(e *env) {
	const rule = "§5.2 step 5: each execution has its own"
	first, second := only(v(1, 0, 0), v(1, 0, 0)), only(v(2, 0, 0), v(2, 0, 0))
	e.createPinned("order", v(1, 0, 0))
	e.finish("order", provider.StatusContinuedAsNew, "next")
	e.takesNothing(second, "§5.1 step 3: join the instance's current execution row")
	e.release(e.takes(first, "order", "§5.1 step 3: join the instance's current execution row"))
	e.nextExecution("order", provider.AckOrchestrationParams{Metadata: pinnedTo(v(2, 0, 0))})
	e.wake("order")
	e.takesNothing(first, rule)
	e.takes(second, "order", rule)
}

// emptyFilter: a filter without ranges takes nothing, not even what has no
// pinned version or has not started.
func emptyFilter(e *env) {
	const rule = "§5.1 step 1: filter present with zero ranges → nil"
	e.createPinned("pinned", v(1, 0, 0))
	e.create("unpinned")
	e.wake("pinned", "unpinned")
	e.enqueue(startItem("new"))
	e.takesNothing(&provider.CapabilityFilter{}, rule)
	e.takesNothing(&provider.CapabilityFilter{SupportedVersions: []provider.VersionRange{}}, rule)
	for _, instance := range []string{"pinned", "unpinned", "new"} {
		same(e, e.takes(nil, instance, ruleSkipped).AttemptCount, 1, ruleSkipped)
	}
}

// concurrentFilteredFetch: of many dispatchers with one filter, each gets a
// different compatible instance until none is left.
func concurrentFilteredFetch(e *env) {
	const n = 8
	for i := range n {
		e.createPinned(fmt.Sprintf("old-%d", i), v(1, 0, 0))
		e.createPinned(fmt.Sprintf("new-%d", i), v(2, 0, 0))
	}
	var want []string
	for i := range n {
		e.wake(fmt.Sprintf("old-%d", i), fmt.Sprintf("new-%d", i))
		want = append(want, fmt.Sprintf("new-%d", i))
	}
	fetched := make([]string, n)
	e.together(n, func(i int) error {
		return patiently(func() error {
			got, err := e.p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{
				LockTimeout: held, Filter: only(v(2, 0, 0), v(2, 9, 9)),
			})
			if err == nil && got != nil {
				fetched[i] = got.Item.Instance
			}
			return err
		})
	})
	sameSet(e, fetched, want, "§5.1 step 6: nil may be returned only when no eligible candidate remains; "+
		"two callers never fetch the same instance")
}

// pinnedLater: an execution that started without a pinned version gets one from
// a later turn.
func pinnedLater(e *env) {
	const rule = "§5.2 step 5: if given, store it on the execution row"
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{Metadata: pinnedTo(v(4, 0, 0))})
	e.wake("order")
	e.takesNothing(only(v(0, 0, 0), v(3, 99, 99)), rule)
	e.takes(only(v(4, 0, 0), v(4, 0, 0)), "order", rule)
}

// pinnedOverwritten: a pinned version replaces the stored one, also by a lower
// one.
func pinnedOverwritten(e *env) {
	const rule = "§5.2 step 5: store it on the execution row unconditionally (overwriting)"
	e.createPinned("order", v(2, 0, 0))
	for _, next := range []provider.Version{v(3, 1, 0), v(1, 0, 7)} {
		e.turn("order", provider.AckOrchestrationParams{Metadata: pinnedTo(next)})
		e.wake("order")
		e.takesNothing(only(v(2, 0, 0), v(2, 0, 0)), rule)
		e.release(e.takes(only(next, next), "order", rule))
	}
}

// corruptedFiltered: a dispatcher that excludes the version never meets the bad
// history; one that does not gets the item with the error and nothing decoded.
func corruptedFiltered(e *env) {
	for _, data := range []string{
		"not json",
		`{"event_id":1,"source_event_id":null,"instance_id":"order","execution_id":1,"timestamp_ms":1,` +
			`"duroxide_version":"0.1.26","type":"NoSuchKind"}`,
	} {
		instance := fmt.Sprintf("order-%d", len(data))
		metadata := ended(provider.StatusCompleted, "out")
		metadata.PinnedDuroxideVersion = new(v(1, 0, 0))
		e.createWith(instance, provider.AckOrchestrationParams{Metadata: metadata, HistoryDelta: []provider.Event{
			event(instance, 1, 2, setKey("k", "v")),
		}})
		e.corrupt(instance, 1, 1, data)
		e.wake(instance)
		e.takesNothing(only(v(2, 0, 0), v(3, 0, 0)), ruleFilter)
		item := e.takes(nil, instance, ruleCorruptItem).Item
		e.check(item.HistoryError != nil, ruleCorruptItem, "event 1 is %q and HistoryError is nil", data)
		e.check(errors.Is(item.HistoryError, provider.ErrCorrupt), ruleCorruptItem,
			"HistoryError %v does not match ErrCorrupt", item.HistoryError)
		same(e, len(item.History), 0, ruleCorruptItem)
		same(e, len(item.KVSnapshot), 0, ruleCorruptItem)
		sameList(e, item.Messages, []provider.WorkItem{raised(instance, "wake")}, ruleCorruptItem)
	}
}

// createCorrupted creates a running instance with a message and an event that
// cannot be decoded.
func (e *env) createCorrupted(instance string) {
	e.Helper()
	e.createPinned(instance, v(1, 0, 0))
	e.corrupt(instance, 1, 1, `{"event_id":`)
	e.wake(instance)
}

// corruptedAttempts: lock and attempt count of a fetch with a bad history are
// committed, so a refetch after the lease counts on.
func corruptedAttempts(e *env) {
	const rule = "§5.1 corrupted history: lock, message tags and attempt increments are committed"
	e.createCorrupted("order")
	for attempt := uint32(1); attempt <= 3; attempt++ {
		got := e.fetchInstance("order", e.lease)
		e.check(got.Item.HistoryError != nil, ruleCorruptItem, "HistoryError is nil")
		same(e, got.AttemptCount, attempt, rule)
		e.fetchNone(rule)
		e.expire()
	}
}

// corruptedPoison: abandoning a bad history again and again takes the attempt
// count past any limit of the runtime.
func corruptedPoison(e *env) {
	const rule = "§5.1 corrupted history: keeps growing over repeated fetches, so the runtime reaches its poison limit"
	e.createCorrupted("order")
	for attempt := uint32(1); attempt <= 12; attempt++ {
		got := e.fetchInstance("order", held)
		same(e, got.AttemptCount, attempt, rule)
		e.check(got.Item.HistoryError != nil, ruleCorruptItem, "HistoryError is nil")
		e.abandon(got, 0, false)
	}
}

// filterBeforeDecoding: a bad history that the filter excludes costs nothing: the
// fetch goes on to the next instance, and neither lock nor attempt is taken.
func filterBeforeDecoding(e *env) {
	const rule = "§5.1 corrupted history: a dispatcher that excludes the execution's version never hits it"
	e.createPinned("good", v(2, 0, 0))
	e.createCorrupted("bad")
	e.wake("good")
	got := e.takes(only(v(2, 0, 0), v(3, 0, 0)), "good", rule)
	e.check(got.Item.HistoryError == nil, rule, "HistoryError of a good history: %v", got.Item.HistoryError)
	e.takesNothing(only(v(2, 0, 0), v(3, 0, 0)), rule)
	same(e, e.takes(nil, "bad", ruleSkipped).AttemptCount, 1, ruleSkipped)
}

// firstRangeOnly: of several ranges only the first counts.
func firstRangeOnly(e *env) {
	const rule = "§3.7: several ranges: only the first range is used"
	e.createPinned("first", v(1, 0, 0))
	e.createPinned("second", v(3, 0, 0))
	e.wake("second", "first")
	filter := &provider.CapabilityFilter{SupportedVersions: []provider.VersionRange{
		{Min: v(1, 0, 0), Max: v(1, 9, 0)}, {Min: v(3, 0, 0), Max: v(3, 9, 0)},
	}}
	e.takes(filter, "first", rule)
	e.takesNothing(filter, rule)
}

// appendToCorrupted: an instance with a bad history can still be failed, since
// ack only appends.
func appendToCorrupted(e *env) {
	const rule = "§5.2 step 7: insert only: MUST NOT read or re-encode existing rows"
	e.createCorrupted("order")
	failed := event("order", 1, 99999, terminal(provider.StatusFailed, "poison"))
	e.ack(provider.AckOrchestrationParams{
		LockToken: e.fetchInstance("order", held).LockToken, ExecutionID: 1,
		HistoryDelta: []provider.Event{failed}, Metadata: ended(provider.StatusFailed, "poison"),
	})
	_, err := e.p.ReadWithExecution(e.ctx, "order", 1)
	e.permanent(err, provider.ErrCorrupt, "§5.5: undecodable event → permanent error (never a shortened list)")

	good, err := provider.EncodeEvent(started("order", 1))
	e.ok(err, "§3.2: EncodeEvent")
	e.corrupt("order", 1, 1, string(good))
	events := e.history("order", 1)
	same(e, len(events), 2, rule)
	same(e, events[1], failed, rule)
	same(e, e.execution("order", 1).Status, provider.StatusFailed, "§5.2 step 8: set status, output on the execution row")
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
