package providertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// kvDataScenarios are those of "kv store" about odd data, isolation between keys
// and instances, and atomicity.
func kvDataScenarios() []scenario {
	return []scenario{
		{"unknown_instance_has_an_empty_map", unknownInstanceHasAnEmptyMap},
		{"empty_value_is_not_a_tombstone", emptyValueIsNotATombstone},
		{"large_values", largeValues},
		{"as_many_and_as_large_as_allowed", fullMap},
		{"unusual_values", unusualValues},
		{"long_keys", longKeys},
		{"two_hundred_keys", twoHundredKeys},
		{"control_characters_in_keys", controlCharactersInKeys},
		{"keys_compare_byte_for_byte", keysCompareByteForByte},
		{"instances_compare_byte_for_byte", instancesCompareByteForByte},
		{"parent_and_child_are_separate", parentAndChildAreSeparate},
		{"reads_need_no_lock", readsNeedNoLock},
		{"failed_ack_changes_nothing", failedAckChangesNoKey},
		{"failed_last_turn_merges_nothing", failedLastTurnMergesNothing},
		{"expired_turn_changes_nothing", expiredTurnChangesNothing},
		{"readers_never_see_half_a_turn", readersNeverSeeHalfATurn},
	}
}

// The map of an unknown instance, and that of one without keys, is empty, not nil.
func unknownInstanceHasAnEmptyMap(e *env) {
	e.create("order")
	for _, instance := range []string{"ghost", "order"} {
		got := e.all(instance)
		e.check(got != nil && len(got) == 0, "§5.18: unknown instance → empty map", "instance %q: %#v", instance, got)
	}
	e.kvIs("ghost", "", nil, "§5.17: unknown instance or key → nil, no error")
}

// A key set to the empty string exists, a cleared one does not.
func emptyValueIsNotATombstone(e *env) {
	const rule = "§5.17: the empty string is a value; tombstone → nil"
	kv := e.kv("order", setKey("a", "1"), setKey("b", "1"), setKey("c", "1"))
	kv.continueAsNew()
	kv.write(setKey("a", ""), clearKey("b"))
	kv.live(values{"a": "", "c": "1"}, rule)
	kv.continueAsNew()
	kv.live(values{"a": "", "c": "1"}, rule)
	kv.snapshot(values{"a": "", "c": "1"}, rule)
}

// Values of 16 KiB, 64 KiB and 1 MB, in characters of several bytes too, are kept
// whole.
func largeValues(e *env) {
	const rule = "§5.18: a provider must store 64 KiB values"
	kv, want := e.kv("order"), values{}
	for _, size := range []int{16 << 10, 64 << 10, 1_000_000} {
		for _, unit := range []string{"x", "é", "語", "😀"} {
			key := fmt.Sprint(size, unit)
			want[key] = strings.Repeat(unit, min(size, e.config.MaxPayload)/len(unit))
			kv.write(setKey(key, want[key]))
		}
	}
	kv.live(want, rule)
	kv.continueAsNew()
	kv.live(want, rule)
	kv.snapshot(want, rule)
}

// As many keys as an instance may have, each as large as it may be, set in one turn.
func fullMap(e *env) {
	const rule = "§7.2: 150 keys of 64 KiB each"
	kv, want := e.kv("order"), values{}
	var changes []provider.EventKind
	for i := range 150 {
		key := fmt.Sprint("key ", i)
		want[key] = strings.Repeat(string(rune('a'+i%26)), 64<<10)
		changes = append(changes, setKey(key, want[key]))
	}
	kv.write(changes...)
	kv.hasKeys("order", 150, 150*64<<10)
	kv.continueAsNew()
	kv.snapshot(want, rule)
	kv.hasKeys("order", 150, 150*64<<10)
}

// A value is any text: blanks, line ends, control characters, quotes, and what
// looks like JSON or SQL.
func unusualValues(e *env) {
	const rule = "§3.6: KV values are opaque strings to the provider"
	kv, want := e.kv("order"), values{}
	for i, value := range []string{
		" ", "  both ends  ", "\t", "\r\n", "\n", "trailing\n", "\x01\x02\x1f", "\x7f", "\u2028\u2029", "\ufeff", "\ufffd",
		`"`, `'`, `\`, `\u0041`, "null", "NULL", "0", "-0", "1e400", "true", "{}", `{"a":[1,null]}`,
		"%00", "'; DROP TABLE kv_store; --",
		"<&>", "á", "a\u0301", "مرحبا", "👩‍👩‍👧‍👦", "\U0010ffff",
	} {
		key := fmt.Sprintf("%02d", i)
		want[key] = value
		kv.write(setKey(key, value))
	}
	kv.live(want, rule)
	kv.continueAsNew()
	kv.live(want, rule)
	kv.snapshot(want, rule)
}

// A key may hold control characters, NUL too: both ways to read find it, and no other.
func controlCharactersInKeys(e *env) {
	const rule = "§5.17, §5.18: one live view; a key is any text"
	kv := e.kv("order", setKey("k", "k"), setKey("k\x00", "nul"), setKey("k\x00\x00", "nuls"), setKey("\x00k", "first"), setKey("k\x1f", "us"))
	want := values{"k": "k", "k\x00": "nul", "k\x00\x00": "nuls", "\x00k": "first", "k\x1f": "us"}
	for range 2 {
		kv.live(want, rule)
		for key, value := range want {
			e.kvIs("order", key, new(value), rule)
		}
		e.kvIs("order", "\x00", nil, rule)
		kv.continueAsNew()
	}
	kv.write(clearKey("k\x00"))
	delete(want, "k\x00")
	e.kvIs("order", "k\x00", nil, rule)
	kv.live(want, rule)
}

// Keys of 255 characters are told apart by their last one.
func longKeys(e *env) {
	const rule = "§5.18: limits: none except what the store needs; §2.2: size key columns for ≥ 255 characters"
	kv, want := e.kv("order"), values{}
	for _, unit := range []string{"k", "ж", "鍵"} {
		prefix := strings.Repeat(unit, 254)
		for _, last := range []string{"a", "b", unit} {
			want[prefix+last] = last
			kv.write(setKey(prefix+last, last))
		}
	}
	kv.live(want, rule)
	kv.continueAsNew()
	kv.snapshot(want, rule)
	gone := strings.Repeat("鍵", 254) + "a"
	kv.write(clearKey(gone))
	delete(want, gone)
	kv.live(want, rule)
}

// Two hundred keys may be set, merged, partly replaced and cleared at once.
func twoHundredKeys(e *env) {
	const rule = "§5.2: large deltas: at least hundreds of events and items per ack"
	var all, even []provider.EventKind
	first, second := values{}, values{}
	for i := range 200 {
		key := fmt.Sprint("key ", i)
		all = append(all, setKey(key, "1"))
		first[key] = "1"
		if i%2 == 0 {
			even = append(even, setKey(key, "2"))
			second[key] = "2"
		}
	}
	kv := e.kv("order", all...)
	kv.live(first, rule)
	kv.continueAsNew()
	kv.snapshot(first, rule)
	kv.write(append([]provider.EventKind{clearKeys()}, even...)...)
	kv.live(second, rule)
	kv.snapshot(first, ruleSnapshot)
	kv.continueAsNew()
	kv.snapshot(second, rule)
	kv.continueAsNew(clearKeys())
	kv.snapshot(nil, rule)
}

// Keys that differ in case, accents or blanks are different keys, in both tables
// and when cleared.
func keysCompareByteForByte(e *env) {
	const rule = "§11.1: KV keys: byte-exact, case-sensitive"
	kv, want := e.kv("order"), values{}
	for i, key := range lookalikes {
		want[key] = strconv.Itoa(i)
		kv.write(setKey(key, want[key]))
	}
	kv.live(want, rule)
	kv.continueAsNew()
	kv.live(want, rule)
	kv.snapshot(want, rule)
	for i, key := range lookalikes {
		if i%2 == 0 {
			kv.write(clearKey(key))
			delete(want, key)
		}
	}
	kv.live(want, rule)
	kv.continueAsNew()
	kv.snapshot(want, rule)
}

// Instances whose ids differ in case, accents or blanks have separate maps.
func instancesCompareByteForByte(e *env) {
	const rule = "§2.2: instance_id: compared byte-for-byte, case-sensitive"
	instances := make([]*kvInstance, len(lookalikes))
	for i, id := range lookalikes {
		instances[i] = e.kv(id, setKey("a", strconv.Itoa(i)))
		if i%2 == 0 {
			instances[i].continueAsNew()
		}
	}
	instances[0].write(clearKeys())
	instances[0].live(nil, rule)
	for i, kv := range instances[1:] {
		kv.live(values{"a": strconv.Itoa(i + 1)}, rule)
	}
}

// A sub-orchestration's map is its own, though its id begins with its parent's.
func parentAndChildAreSeparate(e *env) {
	const rule = "§1: KV store: per-instance string→string map"
	parent := e.kv("parent", setKey("a", "parent"), setKey("sub::2", "parent"))
	e.createChild("parent", "parent::sub::2")
	child := &kvInstance{env: e, id: "parent::sub::2", execution: 1, nextEvent: 2, keys: map[string]bool{"sub::2": true}}
	child.live(nil, rule)
	child.write(setKey("a", "child"))
	parent.continueAsNew()
	child.end(provider.StatusCompleted)
	parent.live(values{"a": "parent", "sub::2": "parent"}, rule)
	parent.snapshot(values{"a": "parent", "sub::2": "parent"}, rule)
	child.live(values{"a": "child"}, rule)
}

// Clients read the map while a turn holds the instance.
func readsNeedNoLock(e *env) {
	kv := e.kv("order", setKey("a", "1"))
	e.enqueue(raised("order", "wake"))
	got := e.fetchInstance("order", held)
	kv.live(values{"a": "1"}, "§5: GetKVValue, GetKVAllValues: guard: none")
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: kv.events(setKey("a", "2"))})
	kv.live(values{"a": "2"}, ruleLive)
}

// An ack refused for a bad event changes no key; repeated without it, it changes
// them once.
func failedAckChangesNoKey(e *env) {
	const rule = "§5.2 step 7: whole ack rolled back, lock still held"
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.write(setKey("b", "1"))
	e.enqueue(raised("order", "wake"))
	got := e.fetchInstance("order", held)
	good := kv.events(setKey("a", "2"), clearKey("b"), setKey("c", "2"), clearKeys(), setKey("d", "2"))
	for _, bad := range []struct {
		event  provider.Event
		target error
	}{
		{event("order", 2, 1, setKey("x", "3")), provider.ErrDuplicateEvent},
		{event("order", 2, 0, setKey("x", "3")), provider.ErrInvalidArgument},
	} {
		err := e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
			HistoryDelta: append(slices.Clip(good), bad.event),
		}))
		e.permanent(err, bad.target, rule)
		kv.live(values{"a": "1", "b": "1"}, rule)
	}
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: good})
	kv.live(values{"d": "2"}, rule)
	kv.snapshot(values{"a": "1"}, rule)
}

// A last turn that is refused merges nothing.
func failedLastTurnMergesNothing(e *env) {
	const rule = "§5.2 step 7: whole ack rolled back, lock still held"
	kv := e.kv("order", setKey("a", "1"))
	kv.continueAsNew()
	kv.write(setKey("a", "2"), setKey("b", "2"))
	e.enqueue(raised("order", "wake"))
	got := e.fetchInstance("order", held)
	err := e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{started("order", 2)},
		Metadata:     ended(provider.StatusCompleted, "out"),
	}))
	e.permanent(err, provider.ErrDuplicateEvent, rule)
	kv.live(values{"a": "2", "b": "2"}, rule)
	e.abandon(got, 0, false)
	e.sameValues(valuesOf(e.fetchInstance("order", held).Item.KVSnapshot), values{"a": "1"}, rule)
}

// A turn whose lease has ended changes and merges nothing.
func expiredTurnChangesNothing(e *env) {
	const rule = "§5.2 step 1: locked_until <= now → permanent; nothing is changed"
	kv := e.kv("order", setKey("a", "1"))
	e.enqueue(raised("order", "wake"))
	late := e.fetchInstance("order", e.lease)
	e.expire()
	params := turnOf(late, provider.AckOrchestrationParams{
		HistoryDelta: kv.events(setKey("a", "2"), clearKeys()), Metadata: ended(provider.StatusCompleted, "out"),
	})
	e.permanent(e.p.AckOrchestrationItem(e.ctx, params), provider.ErrLockExpired, rule)
	kv.live(values{"a": "1"}, rule)
	e.sameValues(valuesOf(e.fetchInstance("order", held).Item.KVSnapshot), nil, rule)
	e.permanent(e.p.AckOrchestrationItem(e.ctx, params), provider.ErrInvalidLockToken,
		"§5.2: ack after another dispatcher re-fetched: `Invalid lock token`")
	kv.live(values{"a": "1"}, rule)
}

// However reads fall between turns that set, clear and merge two keys together,
// they never see one without the other.
func readersNeverSeeHalfATurn(e *env) {
	const turns, rule = 40, "§2.4: every method is one atomic transaction: all effects or none"
	kv := e.kv("order", setKey("a", "0"), setKey("b", "0"))
	var done atomic.Bool
	reader := func() error {
		for !done.Load() {
			got, err := e.p.GetKVAllValues(e.ctx, "order")
			switch {
			case provider.IsRetryable(err):
			case err != nil:
				return violation("§5.18: GetKVAllValues", "unexpected error: %v", err)
			case got["a"] != got["b"] || len(got)%2 != 0:
				return violation(rule, "read %v", got)
			}
		}
		return nil
	}
	e.together(4, func(i int) error {
		if i > 0 {
			return reader()
		}
		defer done.Store(true)
		for turn := range turns {
			if err := kv.tryTwoKeys(turn); err != nil {
				return err
			}
		}
		return nil
	})
	kv.live(values{"a": strconv.Itoa(turns - 1), "b": strconv.Itoa(turns - 1)}, rule)
}

// tryTwoKeys is a turn that gives keys a and b the same value, after clearing all
// in every third; every fifth merges.
func (kv *kvInstance) tryTwoKeys(turn int) error {
	value := strconv.Itoa(turn)
	changes := []provider.EventKind{setKey("a", value), setKey("b", value)}
	if turn%3 == 0 {
		changes = append([]provider.EventKind{clearKeys()}, changes...)
	}
	params := provider.AckOrchestrationParams{ExecutionID: 1, HistoryDelta: kv.events(changes...)}
	if turn%5 == 0 {
		params.Metadata = ended(provider.StatusContinuedAsNew, "out")
	}
	err := patiently(func() error { return kv.p.EnqueueForOrchestrator(kv.ctx, raised(kv.id, "wake"), 0) })
	if err != nil {
		return violation("§5.9: EnqueueForOrchestrator", "unexpected error: %v", err)
	}
	got, err := kv.grab(kv.p, held)
	if err != nil || got == nil {
		return violation("§5.1: nil may be returned only when no eligible candidate remains", "got %v, %v", got, err)
	}
	if err = patiently(func() error { return kv.p.AckOrchestrationItem(kv.ctx, turnOf(got, params)) }); err != nil {
		return violation("§5.2: AckOrchestrationItem", "unexpected error: %v", err)
	}
	return nil
}
