package providertest

import "github.com/duroxide/duroxide-go/provider"

// kvChangeScenarios are those of "kv store" about how changes are applied and merged.
func kvChangeScenarios() []scenario {
	return []scenario{
		{"last_of_several_sets_wins", lastOfSeveralSetsWins},
		{"clear_after_set_in_one_turn", clearAfterSetInOneTurn},
		{"set_after_clear_of_an_unknown_key", setAfterClearOfAnUnknownKey},
		{"set_after_clear_all_in_one_turn", setAfterClearAllInOneTurn},
		{"clear_all_covers_delta_and_store", clearAllCoversDeltaAndStore},
		{"clear_all_of_an_empty_map", clearAllOfAnEmptyMap},
		{"changes_apply_across_turns_in_order", changesApplyAcrossTurnsInOrder},
		{"changes_beside_other_events", changesBesideOtherEvents},
		{"first_turn_may_change_keys", firstTurnMayChangeKeys},
		{"timestamp_is_the_events_own", timestampIsTheEventsOwn},
		{"earlier_timestamp_still_wins", earlierTimestampStillWins},
		{"untouched_key_keeps_its_timestamp", untouchedKeyKeepsItsTimestamp},
		{"every_final_status_merges", everyFinalStatusMerges},
		{"last_turn_without_events_merges", lastTurnWithoutEventsMerges},
		{"running_status_does_not_merge", runningStatusDoesNotMerge},
		{"next_execution_starts_from_the_merge", nextExecutionStartsFromTheMerge},
		{"tombstone_does_not_outlive_its_execution", tombstoneDoesNotOutliveItsExecution},
		{"snapshot_excludes_every_turn_of_the_execution", snapshotExcludesEveryTurn},
		{"snapshot_excludes_delta_after_lease_expiry", snapshotExcludesDeltaAfterExpiry},
		{"snapshot_of_a_finished_instance", snapshotOfAFinishedInstance},
		{"snapshot_of_a_corrupted_history_is_empty", snapshotOfACorruptedHistoryIsEmpty},
		{"late_message_changes_nothing", lateMessageChangesNothing},
		{"appended_events_change_nothing", appendedEventsChangeNothing},
		{"deletion_frees_the_id", deletionFreesTheID},
		{"pruning_leaves_running_changes", pruningLeavesRunningChanges},
		{"pruning_between_executions", pruningBetweenExecutions},
	}
}

// Of several sets of a key in one turn the last counts.
func lastOfSeveralSetsWins(e *env) {
	kv := e.kv("order")
	kv.write(setKeyAt("a", "1", 3000), setKeyAt("b", "1", 3000), setKeyAt("a", "2", 2000), setKeyAt("a", "3", 1000))
	kv.live(values{"a": "3", "b": "1"}, ruleInOrder)
	kv.continueAsNew()
	same(e, kv.entries()["a"], provider.KVEntry{Value: "3", LastUpdatedAtMs: 1000}, ruleInOrder)
}

// A key set and then cleared in one turn is cleared, now and after the merge.
func clearAfterSetInOneTurn(e *env) {
	const rule = "§5.2: cleared after set ends as cleared (last event wins)"
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.write(setKey("a", "2"), setKey("b", "2"), clearKey("a"), clearKey("b"))
	kv.live(nil, rule)
	kv.snapshot(values{"a": "1"}, ruleSnapshot)
	kv.continueAsNew()
	kv.live(nil, rule)
	kv.snapshot(nil, rule)
}

// Clearing a key nobody ever set does not stand in the way of setting it.
func setAfterClearOfAnUnknownKey(e *env) {
	const rule = "§5.2: a key set after a clear in the same delta ends as set"
	kv := e.kv("order", clearKey("a"), clearKey("b"), setKey("b", "1"))
	kv.live(values{"b": "1"}, rule)
	kv.write(setKey("a", "2"))
	kv.live(values{"a": "2", "b": "1"}, rule)
	kv.continueAsNew()
	kv.snapshot(values{"a": "2", "b": "1"}, rule)
}

// What a turn sets after clearing all stays; what it set before is gone.
func setAfterClearAllInOneTurn(e *env) {
	const rule = "§5.2: a key set after a clear in the same delta ends as set"
	kv := e.kv("order", setKey("old", "1"), setKey("again", "1"))
	kv.continueAsNew()
	kv.write(setKey("before", "2"), setKey("again", "2"), clearKeys(), setKey("after", "3"), setKey("again", "3"))
	kv.live(values{"after": "3", "again": "3"}, rule)
	kv.snapshot(values{"old": "1", "again": "1"}, ruleSnapshot)
	kv.continueAsNew()
	kv.live(values{"after": "3", "again": "3"}, rule)
	kv.snapshot(values{"after": "3", "again": "3"}, rule)
}

// Clearing all covers keys of earlier executions, of this one, and of both.
func clearAllCoversDeltaAndStore(e *env) {
	const rule = "§5.2, KeyValuesCleared: tombstones for every delta row and for all store keys not yet in the delta"
	kv := e.kv("order", setKey("store", "1"), setKey("both", "1"), setKey("gone", "1"))
	kv.continueAsNew()
	kv.write(setKey("delta", "2"), setKey("both", "2"), clearKey("gone"))
	kv.write(clearKeys())
	kv.live(nil, rule)
	kv.write(setKey("both", "3"))
	kv.live(values{"both": "3"}, rule)
	kv.continueAsNew()
	kv.live(values{"both": "3"}, rule)
	kv.snapshot(values{"both": "3"}, rule)
}

// Clearing all of nothing is fine, repeatedly.
func clearAllOfAnEmptyMap(e *env) {
	const rule = "§5.2, KeyValuesCleared: no rows, nothing to do"
	kv := e.kv("order", clearKeys(), clearKeys())
	kv.write(clearKeys())
	kv.live(nil, rule)
	kv.write(setKey("a", "1"))
	kv.live(values{"a": "1"}, rule)
	kv.continueAsNew(clearKeys(), clearKeys())
	kv.snapshot(nil, rule)
}

// The changes of several turns add up in the order of the turns.
func changesApplyAcrossTurnsInOrder(e *env) {
	kv := e.kv("order")
	for _, step := range []struct {
		change provider.EventKind
		want   values
	}{
		{setKey("a", "1"), values{"a": "1"}},
		{setKey("b", "2"), values{"a": "1", "b": "2"}},
		{clearKey("a"), values{"b": "2"}},
		{setKey("a", "3"), values{"a": "3", "b": "2"}},
		{clearKeys(), nil},
		{setKey("b", "4"), values{"b": "4"}},
		{setKey("b", "5"), values{"b": "5"}},
	} {
		kv.write(step.change)
		kv.live(step.want, ruleInOrder)
	}
	kv.end(provider.StatusCompleted)
	kv.live(values{"b": "5"}, ruleInOrder)
}

// Changes count wherever they stand among a turn's other events.
func changesBesideOtherEvents(e *env) {
	kv := e.kv("order")
	kv.write(provider.TimerCreated{FireAtMs: baseMs}, setKey("a", "1"),
		provider.ActivityScheduled{Name: "Charge", Input: "{}"}, clearKey("a"), setKey("b", "2"),
		provider.CustomStatusUpdated{Status: new("50%")}, setKey("a", "3"), provider.ExternalSubscribed{Name: "go"})
	kv.live(values{"a": "3", "b": "2"}, ruleInOrder)
}

// The turn that creates an instance may already set, clear and end.
func firstTurnMayChangeKeys(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"), clearKey("b"))
	kv.live(values{"a": "1"}, ruleInOrder)
	e.createWith("once", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event("once", 1, 2, setKey("a", "2")),
			event("once", 1, 3, terminal(provider.StatusCompleted, "out")),
		},
		Metadata: ended(provider.StatusCompleted, "out"),
	})
	(&kvInstance{env: e, id: "once"}).snapshot(values{"a": "2"}, ruleMerge)
}

// A value carries the time its event says, however odd.
func timestampIsTheEventsOwn(e *env) {
	const rule = "§5.2, KeyValueSet{k,v,ts}: upsert (k → v, ts from the event)"
	kv, want := e.kv("order"), map[string]provider.KVEntry{}
	for key, ms := range map[string]uint64{"zero": 0, "one": 1, "past": baseMs, "huge": 1<<63 - 1} {
		kv.write(setKeyAt(key, "v", ms))
		want[key] = provider.KVEntry{Value: "v", LastUpdatedAtMs: ms}
	}
	kv.continueAsNew()
	e.sameValue(kv.entries(), want, rule, "snapshot")
}

// The order of events decides, not their timestamps: neither within an execution
// nor in the merge.
func earlierTimestampStillWins(e *env) {
	kv := e.kv("order", setKeyAt("a", "1", 3000))
	kv.write(setKeyAt("a", "2", 2000))
	kv.live(values{"a": "2"}, ruleInOrder)
	kv.continueAsNew()
	kv.continueAsNew(setKeyAt("a", "3", 1000))
	same(e, kv.entries()["a"], provider.KVEntry{Value: "3", LastUpdatedAtMs: 1000}, ruleMerged)
}

// A key that an execution leaves alone keeps its time through the merge.
func untouchedKeyKeepsItsTimestamp(e *env) {
	kv := e.kv("order", setKeyAt("a", "1", 1000), setKeyAt("b", "1", 1000))
	kv.continueAsNew()
	kv.continueAsNew(setKeyAt("b", "1", 2000))
	e.sameValue(kv.entries(), map[string]provider.KVEntry{
		"a": {Value: "1", LastUpdatedAtMs: 1000}, "b": {Value: "1", LastUpdatedAtMs: 2000},
	}, ruleMerged, "snapshot")
}

// Each way to end an execution makes sets, overwrites and clears permanent, also
// those of its last turn.
func everyFinalStatusMerges(e *env) {
	for _, status := range []provider.Status{
		provider.StatusCompleted, provider.StatusFailed, provider.StatusContinuedAsNew,
	} {
		kv := e.kv(string(status), setKey("kept", "1"), setKey("over", "1"), setKey("gone", "1"), setKey("late", "1"))
		kv.continueAsNew()
		kv.write(setKey("over", "2"), setKey("new", "2"), clearKey("gone"), clearKey("ghost"))
		kv.end(status, clearKey("late"), setKey("last", "3"))
		want := values{"kept": "1", "over": "2", "new": "2", "last": "3"}
		kv.live(want, ruleMerge+": "+string(status))
		if status == provider.StatusContinuedAsNew {
			e.sameValues(kv.begin(), want, ruleMerge+": "+string(status))
		} else {
			kv.snapshot(want, ruleMerge+": "+string(status))
		}
	}
}

// A final status merges earlier turns' changes even if the last turn itself
// records nothing.
func lastTurnWithoutEventsMerges(e *env) {
	const rule = "§5.2 step 8: happens also with an empty delta; step 11: merge delta into store"
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.write(setKey("b", "2"), clearKey("a"))
	e.turn("order", provider.AckOrchestrationParams{Metadata: ended(provider.StatusFailed, "poison")})
	kv.live(values{"b": "2"}, rule)
	kv.snapshot(values{"b": "2"}, rule)
}

// Recording that an execution is running merges nothing.
func runningStatusDoesNotMerge(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	running := provider.StatusRunning
	for range 2 {
		e.turn("order", provider.AckOrchestrationParams{
			HistoryDelta: kv.events(setKey("b", "2")), Metadata: provider.ExecutionMetadata{Status: &running},
		})
		kv.live(values{"a": "1", "b": "2"}, ruleOverlay)
		kv.snapshot(nil, ruleMerge+", not if it is Running")
	}
}

// The turn that begins an execution is given all changes of the one before, and
// its own stay out of the snapshot again.
func nextExecutionStartsFromTheMerge(e *env) {
	kv := e.kv("order", setKey("n", "1"))
	for n := 1; n <= 4; n++ {
		digit := string(rune('0' + n))
		kv.end(provider.StatusContinuedAsNew, setKey("of "+digit, digit))
		snapshot := kv.begin(setKey("n", string(rune('1'+n))))
		same(e, snapshot["n"], digit, ruleMerge)
		same(e, snapshot["of "+digit], digit, ruleMerge)
		same(e, len(snapshot), n+1, ruleMerge)
		same(e, valuesOf(kv.entries())["n"], digit, ruleSnapshot)
	}
}

// A clear counts for the execution that made it: merged, it is forgotten.
func tombstoneDoesNotOutliveItsExecution(e *env) {
	const rule = "§5.2, KV merge: delete all delta rows of the instance"
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew(clearKey("a"))
	kv.continueAsNew(setKey("a", "2"))
	kv.continueAsNew()
	kv.live(values{"a": "2"}, rule)
	kv.snapshot(values{"a": "2"}, rule)
	kv.end(provider.StatusCompleted)
	kv.live(values{"a": "2"}, rule)
}

// However many turns an execution has, each is given the map of its start.
func snapshotExcludesEveryTurn(e *env) {
	kv := e.kv("order", setKey("a", "start"))
	kv.continueAsNew()
	for _, value := range []string{"1", "2", "3", "4", "5"} {
		kv.write(setKey("a", value), setKey("b"+value, value))
		kv.snapshot(values{"a": "start"}, ruleSnapshot+" (P14)")
	}
	kv.write(clearKeys())
	kv.snapshot(values{"a": "start"}, ruleSnapshot+" (P14)")
}

// A turn that is fetched again after abandon or expiry is given the same map.
func snapshotExcludesDeltaAfterExpiry(e *env) {
	kv := e.kv("order", setKey("a", "start"))
	kv.continueAsNew()
	kv.write(setKey("a", "1"), setKey("b", "1"))
	e.enqueue(raised("order", "wake"))
	e.abandon(e.fetchInstance("order", held), 0, false)
	e.sameValues(valuesOf(e.fetchInstance("order", e.lease).Item.KVSnapshot), values{"a": "start"}, ruleSnapshot)
	e.expire()
	e.sameValues(valuesOf(e.fetchInstance("order", held).Item.KVSnapshot), values{"a": "start"}, ruleSnapshot)
	kv.live(values{"a": "1", "b": "1"}, ruleOverlay)
}

// Messages that reach a finished instance come with its final map.
func snapshotOfAFinishedInstance(e *env) {
	kv := e.kv("order", setKeyAt("a", "1", 1000))
	kv.end(provider.StatusFailed, setKeyAt("b", "2", 2000))
	e.sameValue(kv.entries(), map[string]provider.KVEntry{
		"a": {Value: "1", LastUpdatedAtMs: 1000}, "b": {Value: "2", LastUpdatedAtMs: 2000},
	}, ruleSnapshot, "snapshot")
}

// With a history that cannot be read comes an empty snapshot; clients still read
// the map.
func snapshotOfACorruptedHistoryIsEmpty(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.write(setKey("b", "2"))
	e.corrupt("order", 2, 1, "not json")
	e.enqueue(raised("order", "wake"))
	item := e.fetchInstance("order", held).Item
	const rule = "§5.1, corrupted history: HistoryError = text, History empty, KVSnapshot empty, Messages filled"
	e.check(item.HistoryError != nil, rule, "HistoryError is nil")
	same(e, len(item.KVSnapshot), 0, rule)
	same(e, len(item.Messages), 1, rule)
	kv.live(values{"a": "1", "b": "2"}, ruleLive)
}

// Dropping a message of a finished instance leaves its map alone.
func lateMessageChangesNothing(e *env) {
	const rule = "§5.2: all lists empty, empty metadata: consumes the batch and unlocks"
	kv := e.kv("order", setKey("a", "1"))
	kv.end(provider.StatusCompleted)
	e.turn("order", provider.AckOrchestrationParams{})
	kv.live(values{"a": "1"}, rule)
	running := e.kv("invoice", setKey("a", "1"))
	running.continueAsNew()
	running.write(setKey("a", "2"))
	e.turn("invoice", provider.AckOrchestrationParams{})
	running.live(values{"a": "2"}, rule)
	running.snapshot(values{"a": "1"}, rule)
}

// Appending history outside a turn touches no keys.
func appendedEventsChangeNothing(e *env) {
	const rule = "§5: AppendWithExecution: writes: history"
	kv := e.kv("order", setKey("a", "1"))
	events := kv.events(setKey("a", "2"), setKey("b", "2"), clearKeys())
	e.ok(e.p.AppendWithExecution(e.ctx, "order", 1, events), rule)
	kv.live(values{"a": "1"}, rule)
	kv.continueAsNew()
	kv.snapshot(values{"a": "1"}, rule)
}

// An instance that takes a deleted one's id inherits neither its keys nor its
// clears.
func deletionFreesTheID(e *env) {
	e.admin()
	old := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	old.continueAsNew()
	old.write(clearKey("a"), setKey("b", "2"), setKey("c", "2"))
	e.delete("order", true)
	kv := e.kv("order", setKey("a", "new"))
	kv.live(values{"a": "new"}, ruleDeletedKV)
	kv.snapshot(nil, ruleDeletedKV)
	kv.continueAsNew()
	kv.live(values{"a": "new"}, ruleDeletedKV)
	kv.snapshot(values{"a": "new"}, ruleDeletedKV)
}

// Pruning neither merges nor loses what the running execution has changed.
func pruningLeavesRunningChanges(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.continueAsNew()
	kv.write(setKey("a", "2"), clearKey("b"))
	kv.pruneAll(1)
	kv.live(values{"a": "2"}, rulePrunedKV)
	kv.snapshot(values{"a": "1", "b": "1"}, ruleSnapshot)
	kv.continueAsNew()
	kv.live(values{"a": "2"}, ruleMerged)
}

// Pruning between two executions leaves the map for the next one.
func pruningBetweenExecutions(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.end(provider.StatusContinuedAsNew, setKey("b", "2"))
	kv.pruneAll(1)
	kv.live(values{"a": "1", "b": "2"}, rulePrunedKV)
	e.sameValues(kv.begin(), values{"a": "1", "b": "2"}, rulePrunedKV)
}
