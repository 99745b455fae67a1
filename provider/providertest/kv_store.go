package providertest

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// kvStore checks the key-value map: here the reference's scenarios. Those about the running execution's delta are in
// kv_delta.go, how changes are applied and merged in kv_changes.go, odd data and isolation in kv_data.go.
func kvStore() category {
	return category{name: "kv store", scenarios: slices.Concat([]scenario{
		{"kv_set_and_get", kvSetAndGet},
		{"kv_overwrite", kvOverwrite},
		{"kv_clear_single", kvClearSingle},
		{"kv_clear_all", kvClearAll},
		{"kv_get_nonexistent", kvGetNonexistent},
		{"kv_snapshot_in_fetch", kvSnapshotInFetch},
		{"kv_snapshot_after_clear_single", kvSnapshotAfterClearSingle},
		{"kv_snapshot_after_clear_all", kvSnapshotAfterClearAll},
		{"kv_execution_id_tracking", kvExecutionIDTracking},
		{"kv_cross_execution_overwrite", kvCrossExecutionOverwrite},
		{"kv_cross_execution_remove_readd", kvCrossExecutionRemoveReadd},
		{"kv_prune_preserves_overwritten", kvPrunePreservesOverwritten},
		{"kv_prune_preserves_all_keys", kvPrunePreservesAllKeys},
		{"kv_instance_isolation", kvInstanceIsolation},
		{"kv_delete_instance_cascades", kvDeleteInstanceCascades},
		{"kv_clear_nonexistent_key", kvClearNonexistentKey},
		{"kv_get_unknown_instance", kvGetUnknownInstance},
		{"kv_set_after_clear", kvSetAfterClear},
		{"kv_empty_value", kvEmptyValue},
		{"kv_large_value", kvLargeValue},
		{"kv_special_chars_in_key", kvSpecialCharsInKey},
		{"kv_snapshot_empty", kvSnapshotEmpty},
		{"kv_snapshot_cross_execution", kvSnapshotCrossExecution},
		{"kv_prune_current_execution_protected", kvPruneCurrentExecutionProtected},
		{"kv_delete_instance_with_children", kvDeleteInstanceWithChildren},
		{"kv_clear_isolation", kvClearIsolation},
	}, deltaScenarios(), kvChangeScenarios(), kvDataScenarios())}
}

const (
	rulePrunedKV  = "§6.18: KV is instance-scoped: pruning the execution that wrote a key keeps the key (P15)"
	ruleDeletedKV = "§6.16 step 5: delete history, executions, queues, locks, KV store, KV delta, instances"
)

// A key that a turn sets can be read.
func kvSetAndGet(e *env) {
	kv := e.kv("order")
	kv.write(setKey("a", "1"), setKey("b", "2"))
	kv.live(values{"a": "1", "b": "2"}, "§5.2, KeyValueSet: upsert (k → v)")
}

// Setting a key again replaces its value.
func kvOverwrite(e *env) {
	kv := e.kv("order")
	kv.write(setKey("a", "1"))
	kv.write(setKey("a", "2"))
	kv.live(values{"a": "2"}, "§5.2, KeyValueSet: upsert (k → v)")
}

// Clearing a key removes it and no other.
func kvClearSingle(e *env) {
	kv := e.kv("order")
	kv.write(setKey("a", "1"), setKey("b", "2"))
	kv.write(clearKey("a"))
	kv.live(values{"b": "2"}, "§5.2, KeyValueCleared: upsert tombstone")
}

// Clearing all removes every key.
func kvClearAll(e *env) {
	kv := e.kv("order")
	kv.write(setKey("a", "1"), setKey("b", "2"))
	kv.write(clearKeys())
	kv.live(nil, "§5.2, KeyValuesCleared: turn every delta row of the instance into a tombstone")
}

// Reading a key that was never set finds nothing and is no error.
func kvGetNonexistent(e *env) {
	kv := e.kv("order")
	kv.write(setKey("a", "1"))
	e.kvIs("order", "b", nil, "§5.17: unknown key → nil, no error")
	kv.live(values{"a": "1"}, ruleLive)
}

// A turn is given the keys of the executions before with their timestamps.
func kvSnapshotInFetch(e *env) {
	kv := e.kv("order")
	kv.write(setKeyAt("a", "1", 1000), setKeyAt("b", "2", 2000))
	kv.continueAsNew()
	e.sameValue(kv.entries(), map[string]provider.KVEntry{
		"a": {Value: "1", LastUpdatedAtMs: 1000}, "b": {Value: "2", LastUpdatedAtMs: 2000},
	}, ruleSnapshot, "snapshot")
}

// A key the previous execution cleared is not in the snapshot.
func kvSnapshotAfterClearSingle(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "2"))
	kv.continueAsNew()
	kv.continueAsNew(clearKey("a"))
	kv.snapshot(values{"b": "2"}, ruleMerged)
}

// After an execution cleared all keys the snapshot is empty.
func kvSnapshotAfterClearAll(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "2"))
	kv.continueAsNew()
	kv.continueAsNew(clearKeys())
	kv.snapshot(nil, ruleMerged)
}

// Keys belong to the instance: those that different executions set stand side by
// side.
func kvExecutionIDTracking(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.continueAsNew(setKey("b", "2"))
	kv.write(setKey("c", "3"))
	kv.live(values{"a": "1", "b": "2", "c": "3"}, rulePrunedKV)
	kv.snapshot(values{"a": "1", "b": "2"}, ruleSnapshot)
}

// A later execution may replace a key.
func kvCrossExecutionOverwrite(e *env) {
	kv := e.kv("order", setKeyAt("a", "1", 1000))
	kv.continueAsNew()
	kv.write(setKeyAt("a", "2", 2000))
	kv.live(values{"a": "2"}, ruleLive)
	kv.continueAsNew()
	same(e, kv.entries()["a"], provider.KVEntry{Value: "2", LastUpdatedAtMs: 2000}, ruleMerged)
}

// A key may go in one execution and come back in the next.
func kvCrossExecutionRemoveReadd(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.continueAsNew(clearKey("a"))
	kv.live(nil, ruleMerged)
	kv.continueAsNew(setKey("a", "2"))
	kv.live(values{"a": "2"}, ruleMerged)
	kv.snapshot(values{"a": "2"}, ruleMerged)
}

// pruneAll prunes all executions but the current one and expects that many.
func (kv *kvInstance) pruneAll(want uint64) {
	kv.Helper()
	result := kv.prune(kv.id, provider.PruneOptions{KeepLast: new(uint32(1))})
	same(kv.env, result.ExecutionsDeleted, want, "§6.18: KeepLast = k: keep the k highest execution ids")
}

// Pruning the execution that first set a key leaves its later value.
func kvPrunePreservesOverwritten(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.continueAsNew(setKey("a", "2"))
	kv.pruneAll(2)
	kv.live(values{"a": "2"}, rulePrunedKV)
	kv.snapshot(values{"a": "2"}, rulePrunedKV)
}

// Pruning leaves the keys of all pruned executions.
func kvPrunePreservesAllKeys(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew(setKey("b", "2"))
	kv.continueAsNew(setKey("c", "3"))
	kv.pruneAll(2)
	kv.live(values{"a": "1", "b": "2", "c": "3"}, rulePrunedKV)
	kv.snapshot(values{"a": "1", "b": "2", "c": "3"}, rulePrunedKV)
}

// Two instances with the same keys do not see each other's.
func kvInstanceIsolation(e *env) {
	order, invoice := e.kv("order", setKey("a", "1")), e.kv("invoice", setKey("a", "2"), setKey("b", "3"))
	order.continueAsNew()
	invoice.continueAsNew()
	order.live(values{"a": "1"}, "§4: kv_store key (instance_id, key)")
	invoice.live(values{"a": "2", "b": "3"}, "§4: kv_store key (instance_id, key)")
	order.snapshot(values{"a": "1"}, ruleSnapshot)
	invoice.snapshot(values{"a": "2", "b": "3"}, ruleSnapshot)
}

// Deleting an instance deletes its keys; one that takes its id starts without.
func kvDeleteInstanceCascades(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"))
	kv.end(provider.StatusCompleted)
	e.delete("order", false)
	kv.live(nil, ruleDeletedKV)
	e.kv("order").snapshot(nil, ruleDeletedKV)
	kv.live(nil, ruleDeletedKV)
}

// Clearing a key that was never set is fine and changes nothing else.
func kvClearNonexistentKey(e *env) {
	kv := e.kv("order")
	kv.write(setKey("a", "1"), clearKey("ghost"))
	kv.live(values{"a": "1"}, "§5.2, KeyValueCleared: also for keys that never existed")
	kv.continueAsNew()
	kv.snapshot(values{"a": "1"}, ruleMerged)
}

// Reading from an unknown instance finds nothing and is no error.
func kvGetUnknownInstance(e *env) {
	e.kv("order", setKey("a", "1"))
	e.kvIs("ghost", "a", nil, "§5.17: unknown instance or key → nil, no error")
	e.sameValues(e.all("ghost"), nil, "§5.18: unknown instance → empty map")
}

// A key set again after it was cleared is set, within a turn and across turns.
func kvSetAfterClear(e *env) {
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"))
	kv.write(clearKey("a"), setKey("a", "2"), clearKey("b"))
	kv.live(values{"a": "2"}, ruleInOrder)
	kv.write(setKey("b", "3"))
	kv.live(values{"a": "2", "b": "3"}, ruleInOrder)
	kv.continueAsNew()
	kv.snapshot(values{"a": "2", "b": "3"}, ruleMerged)
}

// The empty string is a value.
func kvEmptyValue(e *env) {
	kv := e.kv("order", setKey("a", ""))
	kv.live(values{"a": ""}, "§5.17: the empty string is a value")
	kv.continueAsNew()
	kv.live(values{"a": ""}, "§5.17: the empty string is a value")
	kv.snapshot(values{"a": ""}, "§5.17: the empty string is a value")
}

// A value of 16 KiB is kept whole.
func kvLargeValue(e *env) {
	const rule = "§5.18: it must store values of 64 KiB"
	large := strings.Repeat("0123456789abcdef", 1024)
	kv := e.kv("order", setKey("a", large))
	kv.live(values{"a": large}, rule)
	kv.continueAsNew()
	kv.live(values{"a": large}, rule)
	kv.snapshot(values{"a": large}, rule)
}

// Keys may hold blanks, punctuation and any script.
func kvSpecialCharsInKey(e *env) {
	const rule = "§5.18: keys with spaces, slashes, dots, non-Latin text and emoji"
	kv, want := e.kv("order"), values{}
	for _, key := range []string{
		"two words", "a/b/c", "a.b.c", "ключ", "鍵", "مفتاح", "🔑👩‍👩‍👧", `"quoted"`, "a:b-c_d", "\t",
	} {
		want[key] = "value of " + key
		kv.write(setKey(key, want[key]))
	}
	kv.live(want, rule)
	kv.continueAsNew()
	kv.live(want, rule)
	kv.snapshot(want, rule)
	kv.write(clearKey("a/b/c"))
	delete(want, "a/b/c")
	kv.live(want, rule)
}

// An instance without keys has an empty snapshot, from its first message on.
func kvSnapshotEmpty(e *env) {
	e.enqueue(startItem("order"))
	got := e.fetchInstance("order", held)
	same(e, len(got.Item.KVSnapshot), 0, ruleSnapshot)
	e.commit(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started("order", 1)}, Metadata: created(),
	})
	kv := &kvInstance{env: e, id: "order", execution: 1, nextEvent: 2}
	kv.snapshot(nil, ruleSnapshot)
	kv.continueAsNew()
	kv.snapshot(nil, ruleSnapshot)
}

// Each execution is given what all before it left behind.
func kvSnapshotCrossExecution(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	kv.end(provider.StatusContinuedAsNew)
	e.sameValues(kv.begin(setKey("b", "2")), values{"a": "1"}, ruleSnapshot)
	kv.snapshot(values{"a": "1"}, ruleSnapshot)
	kv.end(provider.StatusContinuedAsNew, setKey("a", "3"))
	e.sameValues(kv.begin(), values{"a": "3", "b": "2"}, ruleSnapshot)
	kv.snapshot(values{"a": "3", "b": "2"}, ruleSnapshot)
}

// Pruning leaves the current execution, its changes and the map alone.
func kvPruneCurrentExecutionProtected(e *env) {
	e.admin()
	kv := e.kv("order", setKey("a", "1"))
	kv.pruneAll(0)
	kv.live(values{"a": "1"}, "§6.18: never deleted: the current execution")
	kv.continueAsNew()
	kv.write(setKey("b", "2"))
	kv.pruneAll(1)
	kv.live(values{"a": "1", "b": "2"}, rulePrunedKV)
	kv.continueAsNew()
	kv.snapshot(values{"a": "1", "b": "2"}, ruleMerged)
}

// Deleting a parent deletes its children's keys too.
func kvDeleteInstanceWithChildren(e *env) {
	e.admin()
	parent := e.kv("parent", setKey("a", "1"))
	e.createWith("parent::sub::2", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("parent::sub::2", 1, 2, setKey("b", "2"))},
		Metadata:     childOf("parent"),
	})
	other := e.kv("other", setKey("a", "3"))
	parent.end(provider.StatusCompleted)
	e.delete("parent", true)
	parent.live(nil, ruleDeletedKV)
	e.sameValues(e.all("parent::sub::2"), nil, ruleDeletedKV)
	other.live(values{"a": "3"}, ruleDeletedKV)
}

// Clearing all keys of one instance leaves those of others.
func kvClearIsolation(e *env) {
	const rule = "§5.2, KeyValuesCleared: every delta row of the instance, all store keys (of the instance)"
	order, invoice := e.kv("order", setKey("a", "1")), e.kv("invoice", setKey("a", "2"))
	order.continueAsNew()
	invoice.continueAsNew()
	invoice.write(setKey("b", "3"))
	order.write(clearKeys())
	order.live(nil, rule)
	invoice.live(values{"a": "2", "b": "3"}, rule)
	order.continueAsNew()
	invoice.snapshot(values{"a": "2"}, rule)
}
