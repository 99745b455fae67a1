package providertest

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// instanceStats checks the sizes of an instance. The reference's scenarios about them are in management.
func instanceStats() category {
	return category{"instance stats", []scenario{
		{"unknown_instance", statsUnknown},
		{"history_count_and_bytes", statsHistory},
		{"history_bytes_are_utf8", statsUTF8},
		{"history_of_current_execution_only", statsCurrentExecution},
		{"history_between_executions", statsBetween},
		{"instance_without_events", statsWithoutEvents},
		{"carry_forward_length", statsCarryForward},
		{"carry_forward_does_not_shrink", statsCarryForwardStays},
		{"carry_forward_of_current_execution_only", statsCarryForwardCurrent},
		{"carry_forward_is_not_searched_in_text", statsCarryForwardText},
		{"queued_messages_do_not_count", statsQueued},
		{"kv_empty", statsNoKeys},
		{"kv_delta_only", statsDelta},
		{"kv_merged", statsMerged},
		{"kv_overwritten_counts_once", statsOverwritten},
		{"kv_tombstones_do_not_count", statsTombstones},
		{"kv_cleared_all", statsClearedAll},
		{"kv_set_after_clear_counts", statsSetAfterClear},
		{"kv_bytes_are_utf8_and_values_only", statsKVBytes},
		{"kv_survives_continue_as_new", statsKVAcross},
		{"instances_are_isolated", statsIsolated},
		{"failed_ack_changes_nothing", statsFailedAck},
		{"after_prune_and_delete", statsAfterDelete},
		{"first_event_corrupted", statsFirstCorrupted},
		{"later_event_corrupted", statsLaterCorrupted},
	}}
}

const (
	ruleStatsCount = "§5.19: HistoryEventCount: events of the current execution"
	ruleStatsBytes = "§5.19: HistorySizeBytes: sum of the UTF-8 byte lengths of their stored JSON"
	ruleStatsCarry = "§5.19: QueuePendingCount: length of carry_forward_events in the current execution's event 1; " +
		"0 if absent. It does not shrink as they are consumed and does not count queued messages"
	ruleStatsKeys  = "§5.19: KVUserKeyCount: keys of the live view (store + delta − tombstones)"
	ruleStatsValue = "§5.19: KVTotalValueBytes: bytes of the values of the live view"
)

// An id that nobody used has no stats, and asking is no error.
func getStatsNonexistent(e *env) {
	stats, err := e.p.GetInstanceStats(e.ctx, "nobody")
	e.ok(err, "§5.19: nil if there is no instance row")
	e.check(stats == nil, "§5.19: nil if there is no instance row", "%+v", stats)
}

// After the first turn there is a history, and nothing else.
func getStatsHistory(e *env) {
	e.create("A")
	same(e, e.stats("A"), provider.InstanceStats{
		HistoryEventCount: 1, HistorySizeBytes: e.storedBytes(started("A", 1)),
	}, ruleStatsCount+"; "+ruleStatsBytes)
}

// Two keys of 3 and 5 bytes, set in a turn that also completes.
func getStatsKV(e *env) {
	e.createWith("A", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event("A", 1, 2, provider.KeyValueSet{Key: "a", Value: "abc"}),
			event("A", 1, 3, provider.KeyValueSet{Key: "b", Value: "abcde"}),
			event("A", 1, 4, provider.OrchestrationCompleted{Output: "out"}),
		},
		Metadata: ended(provider.StatusCompleted, "out"),
	})
	e.hasKeys("A", 2, 8)
}

// Three carried messages are pending, whatever the keys are.
func getStatsCarryForward(e *env) {
	first := carrying("A", 1, provider.CarriedMessage{Name: "q", Data: "1"}, provider.CarriedMessage{Name: "q", Data: "2"}, provider.CarriedMessage{Name: "r", Data: "3"})
	e.enqueue(startItem("A"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{HistoryDelta: []provider.Event{first}, Metadata: created()})
	same(e, e.stats("A").QueuePendingCount, 3, ruleStatsCarry)
	e.hasKeys("A", 0, 0)
}

// Keys of a running instance are counted from its delta.
func getStatsDeltaOnly(e *env) {
	e.create("A")
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
		event("A", 1, 2, provider.KeyValueSet{Key: "a", Value: "abcd"}),
		event("A", 1, 3, provider.KeyValueSet{Key: "b", Value: "abcde"}),
	}})
	e.hasKeys("A", 2, 9)
}

// A key that the completing turn overwrites counts once, with its last value.
func getStatsMerged(e *env) {
	e.create("A", event("A", 1, 2, provider.KeyValueSet{Key: "a", Value: "ab"}), event("A", 1, 3, provider.KeyValueSet{Key: "b", Value: "abc"}))
	e.hasKeys("A", 2, 5)
	e.turn("A", provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event("A", 1, 4, provider.KeyValueSet{Key: "a", Value: "abcd"}),
			event("A", 1, 5, provider.OrchestrationCompleted{Output: "out"}),
		},
		Metadata: ended(provider.StatusCompleted, "out"),
	})
	e.hasKeys("A", 2, 7)
	same(e, e.stats("A").QueuePendingCount, 0, ruleStatsCarry)
}

// stats reads the sizes of an existing instance.
func (e *env) stats(instance string) provider.InstanceStats {
	e.Helper()
	stats, err := e.p.GetInstanceStats(e.ctx, instance)
	e.ok(err, "§5.19: GetInstanceStats")
	e.check(stats != nil, "§5.19: nil if there is no instance row", "nil for %q, which exists", instance)
	return *stats
}

// hasKeys asserts the number of keys and the bytes of their values.
func (e *env) hasKeys(instance string, keys, bytes uint64) {
	e.Helper()
	stats := e.stats(instance)
	same(e, stats.KVUserKeyCount, keys, ruleStatsKeys)
	same(e, stats.KVTotalValueBytes, bytes, ruleStatsValue)
}

// storedBytes is the size of the JSON that events are stored as.
func (e *env) storedBytes(events ...provider.Event) uint64 {
	e.Helper()
	var n uint64
	for _, event := range events {
		data, err := provider.EncodeEvent(event)
		e.ok(err, "§3.2: EncodeEvent")
		n += uint64(len(data))
	}
	return n
}

// record runs a turn of the current execution that adds the given kinds to its
// history.
func (e *env) record(instance string, kinds ...provider.EventKind) {
	e.Helper()
	e.wake(instance)
	got := e.fetchInstance(instance, held)
	var delta []provider.Event
	for i, kind := range kinds {
		id := uint64(len(got.Item.History) + i + 1)
		delta = append(delta, event(instance, got.Item.ExecutionID, id, kind))
	}
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: delta})
}

// carrying is event 1 of an execution that got the given messages from the
// previous one.
func carrying(instance string, execution uint64, messages ...provider.CarriedMessage) provider.Event {
	return event(instance, execution, 1, provider.OrchestrationStarted{
		Name: "Order", Version: "1.0.0", Input: "{}", CarryForwardEvents: messages,
	})
}

// startNext ends the current execution and starts the next one with the given
// first event.
func (e *env) startNext(first provider.Event) {
	e.Helper()
	e.finish(first.InstanceID, provider.StatusContinuedAsNew, "next")
	e.commit(e.fetchInstance(first.InstanceID, held), provider.AckOrchestrationParams{
		ExecutionID: first.ExecutionID, Metadata: created(), HistoryDelta: []provider.Event{first},
	})
}

// statsUnknown: an instance that does not exist, is only queued, or has a history
// but no row, has no stats.
func statsUnknown(e *env) {
	e.enqueue(startItem("queued"))
	e.appendEvents("history", 1, started("history", 1))
	for _, instance := range []string{"nobody", "queued", "history"} {
		stats, err := e.p.GetInstanceStats(e.ctx, instance)
		e.ok(err, "§5.19: nil if there is no instance row")
		e.check(stats == nil, "§5.19: nil if there is no instance row", "stats of %q: %+v", instance, stats)
	}
}

// statsHistory: the events of the current execution and the bytes of their JSON
// are counted exactly, and grow with each turn.
func statsHistory(e *env) {
	e.create("order")
	same(e, e.stats("order"), provider.InstanceStats{
		HistoryEventCount: 1, HistorySizeBytes: e.storedBytes(started("order", 1)),
	}, ruleStatsCount+"; "+ruleStatsBytes)
	e.record("order", provider.ActivityScheduled{Name: "Charge", Input: `{"amount":12}`}, provider.TimerCreated{FireAtMs: baseMs})
	same(e, e.stats("order"), provider.InstanceStats{
		HistoryEventCount: 3, HistorySizeBytes: e.storedBytes(e.history("order", 1)...),
	}, ruleStatsCount+"; "+ruleStatsBytes)
}

// statsUTF8: sizes are bytes of UTF-8, not characters nor UTF-16 units, which
// only non-ASCII text tells apart.
func statsUTF8(e *env) {
	e.create("order")
	before := e.stats("order").HistorySizeBytes
	const data = "n\u00e9 \u65e5\u672c \U0001f680"
	e.record("order", provider.ExternalEvent{Name: "n", Data: data})
	added := e.storedBytes(event("order", 1, 2, provider.ExternalEvent{Name: "n", Data: data}))
	same(e, e.stats("order").HistorySizeBytes, before+added, ruleStatsBytes)
	e.record("order", provider.ExternalEvent{Name: "n", Data: strings.Repeat("\u65e5", 1000)})
	e.check(e.stats("order").HistorySizeBytes > before+added+3000, ruleStatsBytes,
		"%d bytes, though 1000 characters of 3 bytes were added to %d", e.stats("order").HistorySizeBytes, before+added)
}

// statsCurrentExecution: earlier executions do not count.
func statsCurrentExecution(e *env) {
	e.create("order")
	e.record("order", provider.ExternalEvent{Name: "n", Data: strings.Repeat("x", 1000)})
	e.continueAsNew("order")
	same(e, e.stats("order"), provider.InstanceStats{
		HistoryEventCount: 1, HistorySizeBytes: e.storedBytes(started("order", 2)),
	}, ruleStatsCount)
}

// statsBetween: until the next execution's first turn the ended one is current.
func statsBetween(e *env) {
	e.create("order")
	e.finish("order", provider.StatusContinuedAsNew, "next")
	same(e, e.stats("order").HistoryEventCount, 2, ruleStatsCount)
}

// statsWithoutEvents: an instance without events has sizes, all of them 0.
func statsWithoutEvents(e *env) {
	e.enqueue(startItem("order"))
	e.commit(e.fetchInstance("order", held), provider.AckOrchestrationParams{Metadata: created()})
	same(e, e.stats("order"), provider.InstanceStats{}, "§5.19: instance row without executions → all zero; "+ruleStatsCarry)
}

// statsCarryForward: the messages an execution took over are counted.
func statsCarryForward(e *env) {
	e.create("order")
	same(e, e.stats("order").QueuePendingCount, 0, ruleStatsCarry)
	e.startNext(carrying("order", 2, provider.CarriedMessage{Name: "inbox", Data: "1"},
		provider.CarriedMessage{Name: "inbox", Data: "1"}, provider.CarriedMessage{Name: "other", Data: ""}))
	same(e, e.stats("order").QueuePendingCount, 3, ruleStatsCarry)
}

// statsCarryForwardStays: consuming the messages does not lower the count.
func statsCarryForwardStays(e *env) {
	e.create("order")
	e.startNext(carrying("order", 2, provider.CarriedMessage{Name: "inbox", Data: "1"}, provider.CarriedMessage{Name: "inbox", Data: "2"}))
	e.record("order",
		provider.QueueEventDelivered{Name: "inbox", Data: "1"}, provider.QueueEventDelivered{Name: "inbox", Data: "2"},
		provider.QueueSubscribed{Name: "inbox"}, provider.QueueSubscribed{Name: "inbox"})
	same(e, e.stats("order").QueuePendingCount, 2, ruleStatsCarry)
	e.finish("order", provider.StatusCompleted, "out")
	same(e, e.stats("order").QueuePendingCount, 2, ruleStatsCarry)
}

// statsCarryForwardCurrent: what an earlier execution took over does not count.
func statsCarryForwardCurrent(e *env) {
	e.create("order")
	e.startNext(carrying("order", 2, provider.CarriedMessage{Name: "inbox", Data: "1"}))
	e.startNext(carrying("order", 3))
	same(e, e.stats("order").QueuePendingCount, 0, ruleStatsCarry)
}

// statsCarryForwardText: only the event's own field counts, not text that looks
// like it inside a string.
func statsCarryForwardText(e *env) {
	e.create("order")
	first := carrying("order", 2, provider.CarriedMessage{Name: "a],[b", Data: `","carry_forward_events":[["x","y"],["z","w"]],"`})
	kind := first.Kind.(provider.OrchestrationStarted)
	kind.Input = `{"carry_forward_events":[["a","b"],["c","d"],["e","f"]]}`
	first.Kind = kind
	e.startNext(first)
	same(e, e.stats("order").QueuePendingCount, 1, ruleStatsCarry)
}

// statsQueued: messages waiting for the instance, locked or not, do not count.
func statsQueued(e *env) {
	e.create("order")
	e.enqueue(provider.QueueMessageItem{Instance: "order", Name: "inbox", Data: "1"}, raised("order", "approve"))
	same(e, e.stats("order").QueuePendingCount, 0, ruleStatsCarry)
	e.fetchInstance("order", held)
	same(e, e.stats("order").QueuePendingCount, 0, ruleStatsCarry)
}

// statsNoKeys: an instance that set no key has none.
func statsNoKeys(e *env) {
	e.create("order")
	e.hasKeys("order", 0, 0)
}

// statsDelta: keys of the running execution count before they are merged.
func statsDelta(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1234"), setKey("b", "12"))
	e.hasKeys("order", 2, 6)
}

// statsMerged: keys of finished executions and of the running one count
// together.
func statsMerged(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1234"), setKey("b", "12"))
	e.continueAsNew("order")
	e.hasKeys("order", 2, 6)
	e.record("order", setKey("c", "1"))
	e.hasKeys("order", 3, 7)
	e.finish("order", provider.StatusCompleted, "out")
	e.hasKeys("order", 3, 7)
}

// statsOverwritten: a stored key that the running execution overwrote counts
// once, with its new value.
func statsOverwritten(e *env) {
	e.create("order")
	e.record("order", setKey("a", "12345678"), setKey("a", "1234"))
	e.hasKeys("order", 1, 4)
	e.continueAsNew("order")
	e.record("order", setKey("a", "12"))
	e.hasKeys("order", 1, 2)
}

// statsTombstones: a stored key that the running execution cleared does not
// count, nor does the clearing of a key that never was.
func statsTombstones(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1234"), setKey("b", "12"))
	e.continueAsNew("order")
	e.record("order", clearKey("a"), clearKey("never"))
	e.hasKeys("order", 1, 2)
	e.finish("order", provider.StatusFailed, "out")
	e.hasKeys("order", 1, 2)
}

// statsClearedAll: clearing all keys leaves none, stored or new.
func statsClearedAll(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1234"))
	e.continueAsNew("order")
	e.record("order", setKey("b", "12"), clearKeys())
	e.hasKeys("order", 0, 0)
}

// statsSetAfterClear: a key set again after it was cleared counts with its new
// value.
func statsSetAfterClear(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1234"))
	e.continueAsNew("order")
	e.record("order", clearKeys(), setKey("a", "1"), setKey("b", "12"), clearKey("b"))
	e.hasKeys("order", 1, 1)
}

// statsKVBytes: values count in bytes of UTF-8, empty ones with 0; the keys'
// own length does not count.
func statsKVBytes(e *env) {
	e.create("order")
	e.record("order", setKey("ключ", "\u00e9\u65e5\U0001f680"), setKey("a long key with an empty value", ""))
	e.hasKeys("order", 2, 2+3+4)
	e.continueAsNew("order")
	e.hasKeys("order", 2, 2+3+4)
}

// statsKVAcross: keys belong to the instance, so the next execution's sizes
// include them from the start.
func statsKVAcross(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1"))
	e.finish("order", provider.StatusContinuedAsNew, "next")
	e.hasKeys("order", 1, 1)
	e.nextExecution("order", provider.AckOrchestrationParams{})
	e.hasKeys("order", 1, 1)
	same(e, e.stats("order").HistoryEventCount, 1, ruleStatsCount)
}

// statsIsolated: nothing of another instance counts.
func statsIsolated(e *env) {
	e.create("order")
	e.create("ORDER")
	e.record("ORDER", setKey("a", "1234"), provider.ExternalSubscribed{Name: "approve"})
	same(e, e.stats("order"), provider.InstanceStats{
		HistoryEventCount: 1, HistorySizeBytes: e.storedBytes(started("order", 1)),
	}, "§2.2: instance_id: compared byte-for-byte, case-sensitive")
}

// statsFailedAck: an ack that is rolled back changes no size.
func statsFailedAck(e *env) {
	e.create("order")
	before := e.stats("order")
	e.wake("order")
	got := e.fetchInstance("order", held)
	err := e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("order", 1, 2, setKey("a", "1")), started("order", 1)},
	}))
	e.permanent(err, provider.ErrDuplicateEvent, "§5.2 step 7: duplicate id → permanent error, whole ack rolled back")
	same(e, e.stats("order"), before, "§2.4: every method is one atomic transaction: all effects or none")
}

// statsAfterDelete: pruning leaves the sizes, deletion ends them, and a successor
// starts from 0.
func statsAfterDelete(e *env) {
	e.create("order")
	e.record("order", setKey("a", "1234"))
	e.continueAsNew("order")
	before := e.stats("order")
	e.prune("order", provider.PruneOptions{})
	same(e, e.stats("order"), before, rulePruneStay)
	e.delete("order", true)
	stats, err := e.p.GetInstanceStats(e.ctx, "order")
	e.check(err == nil && stats == nil, "§5.19: nil if there is no instance row", "%+v, %v", stats, err)
	e.create("order")
	e.hasKeys("order", 0, 0)
}

// statsFirstCorrupted: without a readable first event the number of carried
// messages is unknown, which is an error and not 0.
func statsFirstCorrupted(e *env) {
	const rule = "§5.19: an undecodable event 1 → permanent error that begins `Failed to deserialize OrchestrationStarted event`"
	for i, data := range []string{"{", "", `{"event_id":1,"type":"OrchestrationStarted"}`, `{"carry_forward_events":7}`} {
		instance := fmt.Sprintf("order-%d", i)
		e.create(instance)
		e.corrupt(instance, 1, 1, data)
		_, err := e.p.GetInstanceStats(e.ctx, instance)
		e.permanent(err, provider.ErrCorrupt, rule)
		e.saysAll(err, rule, "get_instance_stats: Failed to deserialize OrchestrationStarted event", instance)
	}
}

// statsLaterCorrupted: later events are only counted and measured, as they are
// stored.
func statsLaterCorrupted(e *env) {
	const rule = "§5.19: an undecodable event 1 is a permanent error"
	const data = "{ not é JSON"
	e.create("order")
	e.record("order", provider.ExternalSubscribed{Name: "approve"})
	e.corrupt("order", 1, 2, data)
	same(e, e.stats("order"), provider.InstanceStats{
		HistoryEventCount: 2, HistorySizeBytes: e.storedBytes(started("order", 1)) + uint64(len(data)),
	}, rule)
}
