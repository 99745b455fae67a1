package providertest

import "github.com/duroxide/duroxide-go/provider"

// deltaScenarios are those of "kv store" about the running execution's changes.
func deltaScenarios() []scenario {
	return []scenario{
		{"kv_delta_snapshot_excludes_current_execution", kvDeltaSnapshotExcludesCurrentExecution},
		{"kv_delta_snapshot_includes_completed_execution", kvDeltaSnapshotIncludesCompletedExecution},
		{"kv_delta_client_reads_merged", kvDeltaClientReadsMerged},
		{"kv_delta_tombstone_overrides_store", kvDeltaTombstoneOverridesStore},
		{"kv_delta_clear_all_tombstones_store", kvDeltaClearAllTombstonesStore},
		{"kv_delta_merged_on_completion", kvDeltaMergedOnCompletion},
		{"kv_delta_merged_on_can", kvDeltaMergedOnContinueAsNew},
		{"kv_delta_delete_instance_cascades", kvDeltaDeleteInstanceCascades},
		{"kv_delta_prune_untouched_key_survives", kvDeltaPruneUntouchedKeySurvives},
	}
}

// A turn is not given what its own execution has set or cleared.
func kvDeltaSnapshotExcludesCurrentExecution(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	kv.snapshot(nil, ruleSnapshot+" (P14)")
	kv.continueAsNew()
	kv.write(setKey("a", "2"), setKey("b", "2"))
	kv.snapshot(values{"a": "1"}, ruleSnapshot+" (P14)")
	kv.write(clearKey("a"))
	kv.snapshot(values{"a": "1"}, ruleSnapshot+" (P14)")
}

// Once an execution has ended, its changes are in the snapshot.
func kvDeltaSnapshotIncludesCompletedExecution(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	kv.snapshot(nil, ruleSnapshot)
	kv.end(provider.StatusContinuedAsNew)
	e.sameValues(kv.begin(), values{"a": "1"}, ruleMerge)
	kv.snapshot(values{"a": "1"}, ruleMerge)
}

// Clients see the running execution's changes over what came before.
func kvDeltaClientReadsMerged(e *env) {
	kv := e.kv("order", setKey("old", "1"), setKey("both", "1"))
	kv.continueAsNew()
	kv.write(setKey("both", "2"), setKey("new", "2"))
	kv.live(values{"old": "1", "both": "2", "new": "2"}, ruleOverlay)
}

// A key cleared in the running execution is gone for clients and still in the
// snapshot.
func kvDeltaTombstoneOverridesStore(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.continueAsNew()
	kv.write(clearKey("a"))
	kv.live(values{"b": "1"}, ruleLive)
	kv.snapshot(values{"a": "1", "b": "1"}, ruleSnapshot)
}

// Clearing all hides earlier executions' keys from clients and not from the
// snapshot, until the execution ends.
func kvDeltaClearAllTombstonesStore(e *env) {
	const rule = "§5.2, KeyValuesCleared: add tombstones for all store keys not yet in the delta"
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.continueAsNew()
	kv.write(setKey("c", "2"))
	kv.write(clearKeys())
	kv.live(nil, rule)
	kv.snapshot(values{"a": "1", "b": "1"}, ruleSnapshot)
	kv.continueAsNew()
	kv.snapshot(nil, rule)
}

// Completion makes the changes permanent.
func kvDeltaMergedOnCompletion(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.end(provider.StatusCompleted, clearKey("b"))
	kv.live(values{"a": "1"}, ruleMerge)
	kv.snapshot(values{"a": "1"}, ruleMerge)
}

// Continuing as new makes the changes permanent before the next execution begins.
func kvDeltaMergedOnContinueAsNew(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.end(provider.StatusContinuedAsNew, clearKey("b"), setKey("c", "1"))
	kv.live(values{"a": "1", "c": "1"}, ruleMerge)
	e.sameValues(kv.begin(), values{"a": "1", "c": "1"}, ruleMerge)
	kv.live(values{"a": "1", "c": "1"}, ruleMerge)
}

// Deleting a running instance deletes its unmerged changes too.
func kvDeltaDeleteInstanceCascades(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.write(setKey("b", "2"), clearKey("a"))
	e.delete("order", true)
	kv.live(nil, ruleDeletedKV)
	again := e.kv("order")
	kv.live(nil, ruleDeletedKV)
	again.end(provider.StatusCompleted)
	again.snapshot(nil, ruleDeletedKV)
}

// A key that no later execution touched survives the pruning of its own.
func kvDeltaPruneUntouchedKeySurvives(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.continueAsNew()
	kv.continueAsNew(setKey("b", "2"))
	kv.write(setKey("b", "3"))
	kv.pruneAll(2)
	kv.live(values{"a": "1", "b": "3"}, rulePrunedKV)
	kv.snapshot(values{"a": "1", "b": "2"}, rulePrunedKV)
}
