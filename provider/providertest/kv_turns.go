package providertest

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// kvInstance is an instance whose turns change its key-value map. It counts the
// event ids and remembers every key it touched.
type kvInstance struct {
	*env
	id        string
	execution uint64
	nextEvent uint64
	keys      map[string]bool
}

// values is a key-value map without its timestamps.
type values map[string]string

// What the contract says about the two views of the map.
const (
	ruleLive     = "§5.17: live view: delta row first (tombstone → nil), else store row, else nil"
	ruleOverlay  = "§5.18: store overlaid with delta, tombstoned keys removed"
	ruleSnapshot = "§5.1 step 11: all rows of kv_store; the delta MUST NOT be included"
	ruleMerge    = "§5.2 step 11: if Status is Completed, Failed or ContinuedAsNew: merge delta into store"
	ruleMerged   = "§5.2, KV merge: upsert non-NULL delta rows into the store; delete store rows that have a tombstone"
	ruleInOrder  = "§5.2 step 10: apply KV events in delta order: the last event wins"
)

func setKey(key, value string) provider.EventKind { return setKeyAt(key, value, baseMs) }

func setKeyAt(key, value string, ms uint64) provider.EventKind {
	return provider.KeyValueSet{Key: key, Value: value, LastUpdatedAtMs: ms}
}

func clearKey(key string) provider.EventKind { return provider.KeyValueCleared{Key: key} }

func clearKeys() provider.EventKind { return provider.KeyValuesCleared{} }

// kv creates an instance whose first turn makes the given changes.
func (e *env) kv(id string, changes ...provider.EventKind) *kvInstance {
	e.Helper()
	kv := &kvInstance{env: e, id: id, execution: 1, nextEvent: 2, keys: map[string]bool{}}
	e.create(id, kv.events(changes...)...)
	return kv
}

// events numbers changes as the next events of the execution.
func (kv *kvInstance) events(changes ...provider.EventKind) []provider.Event {
	var events []provider.Event
	for _, change := range changes {
		events = append(events, event(kv.id, kv.execution, kv.nextEvent, change))
		kv.nextEvent++
		switch change := change.(type) {
		case provider.KeyValueSet:
			kv.keys[change.Key] = true
		case provider.KeyValueCleared:
			kv.keys[change.Key] = true
		}
	}
	return events
}

// write runs one turn that makes the changes.
func (kv *kvInstance) write(changes ...provider.EventKind) {
	kv.Helper()
	kv.turn(kv.id, provider.AckOrchestrationParams{HistoryDelta: kv.events(changes...)})
}

// end runs the execution's last turn, which makes the changes too.
func (kv *kvInstance) end(status provider.Status, changes ...provider.EventKind) {
	kv.Helper()
	params := provider.AckOrchestrationParams{
		HistoryDelta: kv.events(append(changes, terminal(status, "out"))...),
		Metadata:     ended(status, "out"),
	}
	if status == provider.StatusContinuedAsNew {
		params.OrchestratorItems = []provider.WorkItem{
			provider.ContinueAsNewItem{Instance: kv.id, Orchestration: "Order", Input: "out"},
		}
	}
	kv.turn(kv.id, params)
}

// begin runs the first turn of the next execution, which makes the changes, and
// returns the snapshot that turn was given.
func (kv *kvInstance) begin(changes ...provider.EventKind) values {
	kv.Helper()
	got := kv.fetchInstance(kv.id, held)
	kv.execution, kv.nextEvent = kv.execution+1, 2
	kv.commit(got, provider.AckOrchestrationParams{
		ExecutionID:  kv.execution,
		HistoryDelta: append([]provider.Event{started(kv.id, kv.execution)}, kv.events(changes...)...),
		Metadata:     created(),
	})
	return valuesOf(got.Item.KVSnapshot)
}

// continueAsNew ends the execution with the changes and begins the next one.
func (kv *kvInstance) continueAsNew(changes ...provider.EventKind) {
	kv.Helper()
	kv.end(provider.StatusContinuedAsNew, changes...)
	kv.begin()
}

// live asserts what clients read: the whole map, and every key that was ever
// touched, present or not.
func (kv *kvInstance) live(want values, rule string) {
	kv.Helper()
	got := kv.all(kv.id)
	if !maps.Equal(got, want) {
		kv.violated(ruleOverlay+"; "+rule, "GetKVAllValues: %s", firstDifference(render(got), render(want)))
	}
	for _, key := range slices.Sorted(maps.Keys(kv.keys)) {
		value, err := kv.p.GetKVValue(kv.ctx, kv.id, key)
		kv.ok(err, "§5.17: GetKVValue")
		wanted, present := want[key]
		kv.check((value != nil) == present, ruleLive+"; "+rule,
			"GetKVValue(%q): present %v, want %v", key, value != nil, present)
		if present {
			kv.sameText(*value, wanted, ruleLive+"; "+rule, "GetKVValue of "+key)
		}
	}
}

// all reads the whole map as clients do.
func (e *env) all(instance string) values {
	e.Helper()
	got, err := e.p.GetKVAllValues(e.ctx, instance)
	e.ok(err, "§5.18: GetKVAllValues")
	return got
}

// entries wakes the instance and returns the snapshot its turn is given.
func (kv *kvInstance) entries() map[string]provider.KVEntry {
	kv.Helper()
	kv.enqueue(raised(kv.id, "wake"))
	got := kv.fetchInstance(kv.id, held)
	kv.drop(got)
	return got.Item.KVSnapshot
}

// snapshot asserts what the instance's next turn is given.
func (kv *kvInstance) snapshot(want values, rule string) {
	kv.Helper()
	kv.sameValues(valuesOf(kv.entries()), want, rule)
}

// sameValues asserts that two maps are equal.
func (e *env) sameValues(got, want values, rule string) {
	e.Helper()
	if !maps.Equal(got, want) {
		e.violated(rule, "%s", firstDifference(render(got), render(want)))
	}
}

// valuesOf drops a snapshot's timestamps.
func valuesOf(snapshot map[string]provider.KVEntry) values {
	plain := values{}
	for key, entry := range snapshot {
		plain[key] = entry.Value
	}
	return plain
}
