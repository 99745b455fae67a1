package providertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleTexts   = "§3.6: inputs, outputs, results, event data, KV values and custom status are opaque strings"
	ruleByteIDs = "§2.2: instance_id: non-empty string, compared byte-for-byte, case-sensitive"
	ruleLongIDs = "§2.2: size the key column for ≥ 255 characters and reject longer ids with a permanent error rather than truncating"
	ruleRowKeys = "§3.2: a Go reader MUST trust the row keys, not the JSON, for identity"
)

// oddTexts are valid texts that careless escaping, trimming, normalising or
// string building would change.
var oddTexts = []string{
	"", " ", "  both ends  ", "\t\r\n", `"quotes" \back\slashes\ 'single' ` + "`ticks`",
	"\u0001\u0002\b\f\u000b\u001b\u001f", "\u007f\u0080\u0085\u009f", "\u2028\u2029", "<script>a&b</script>",
	"é", "e\u0301", "Å", "\u212b", "日本語", "עברית\u200f\u202e", "😀👩\u200d👩\u200d👧", "\U0010ffff\ufffe", "\ufeffmark", "\ufffd",
	"'; DROP TABLE history; --", "%_[a-z]^*?", "@p1 $1 :name ?1 @@", `\u0041 \n {} [] null`, `{"type":"OrchestrationStarted"}`,
	"null", "0", "1e400", "true", "[", "\\", strings.Repeat("\\\"", 50),
}

// Odd texts in every field of events are kept as they are.
func textsInEvents(e *env) {
	kinds := make([]provider.EventKind, 0, 5*len(oddTexts))
	for _, text := range oddTexts {
		kinds = append(kinds,
			provider.OrchestrationStarted{
				Name: text, Version: text, Input: text, ParentInstance: new(text), InitialCustomStatus: new(text),
				CarryForwardEvents: []provider.CarriedMessage{{Name: text, Data: text}},
			},
			provider.ActivityScheduled{Name: text, Input: text, SessionID: new(text), Tag: new(text)},
			provider.ExternalEvent{Name: text, Data: text},
			provider.OrchestrationFailed{Details: provider.ApplicationFailure{Kind: provider.AppPanicked, Message: text}},
			provider.KeyValueSet{Key: "k" + text, Value: text})
	}
	e.storedAsHistory("A", ruleTexts, kinds...)
}

// Odd texts in every field of messages are delivered as they are.
func textsInMessages(e *env) {
	e.create("A")
	var items []provider.WorkItem
	for _, text := range oddTexts {
		items = append(items,
			provider.StartOrchestrationItem{Instance: "A", Orchestration: text, Input: text, Version: new(text), ParentInstance: new(text)},
			provider.ExternalRaisedItem{Instance: "A", Name: text, Data: text},
			provider.QueueMessageItem{Instance: "A", Name: text, Data: text},
			provider.CancelInstanceItem{Instance: "A", Reason: text},
			provider.ContinueAsNewItem{
				Instance: "A", Orchestration: text, Input: text, Version: new(text), InitialCustomStatus: new(text),
				CarryForwardEvents: []provider.CarriedMessage{{Name: text, Data: text}},
			})
	}
	e.delivered("A", ruleTexts, items...)
}

// Odd texts in activities and their results are kept as they are.
func textsInActivities(e *env) {
	e.create("A")
	var done []provider.WorkItem
	for i, text := range oddTexts {
		item := provider.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: uint64(i), Name: text, Input: text}
		e.enqueueWork(item)
		got := e.fetchWork(held)
		e.sameItem(got.Item, item, ruleTexts)
		done = append(done, provider.ActivityCompletedItem{Instance: "A", ExecutionID: 1, ID: uint64(i), Result: text})
		e.ok(e.p.AckWorkItem(e.ctx, got.LockToken, done[i]), ruleWorkAck)
	}
	e.batch(e.fetchInstance("A", held), ruleTexts, done...)
}

// Odd texts in what the store keeps in columns of its own: names, versions,
// outputs, custom status, keys and values.
func textsInColumns(e *env) {
	for i, text := range oddTexts {
		instance := fmt.Sprint("i", i)
		metadata := ended(provider.StatusCompleted, text)
		metadata.OrchestrationName, metadata.OrchestrationVersion = new("n"+text), new("v"+text)
		e.createWith(instance, provider.AckOrchestrationParams{Metadata: metadata, HistoryDelta: []provider.Event{
			event(instance, 1, 2, provider.CustomStatusUpdated{Status: new(text)}),
			event(instance, 1, 3, provider.KeyValueSet{Key: "k" + text, Value: text, LastUpdatedAtMs: baseMs}),
		}})
		e.hasStatus(instance, new(text), 1, ruleTexts)
		e.kvIs(instance, "k"+text, new(text), ruleTexts)
		e.enqueue(raised(instance, "go"))
		got := e.fetchInstance(instance, held)
		same(e, got.Item.OrchestrationName, "n"+text, ruleTexts)
		same(e, got.Item.Version, "v"+text, ruleTexts)
		same(e, got.Item.KVSnapshot["k"+text], provider.KVEntry{Value: text, LastUpdatedAtMs: baseMs}, ruleTexts)
		if e.p.Admin() != nil {
			samePtr(e, e.execution(instance, 1).Output, new(text), ruleTexts)
			same(e, e.info(instance).OrchestrationName, "n"+text, ruleTexts)
		}
	}
}

// Names and versions are texts of any length: they are stored and come back whole. Their
// length is given in UTF-16 units, the unit in which T-SQL columns are bounded.
func longNames(e *env) {
	const rule = "§4: orchestration_name, orchestration_version: text; §3.6: kept as it is"
	for _, units := range []int{401, 4001} {
		for _, text := range []string{strings.Repeat("n", units), "n" + strings.Repeat("😀", units/2)} {
			instance := fmt.Sprint(units, len(text))
			e.createWith(instance, provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{
				OrchestrationName: new(text), OrchestrationVersion: new("v" + text[1:]),
			}})
			e.enqueue(raised(instance, "go"))
			got := e.fetchInstance(instance, held)
			e.sameText(got.Item.OrchestrationName, text, rule, "name")
			e.sameText(got.Item.Version, "v"+text[1:], rule, "version")
			if e.p.Admin() != nil {
				info := e.info(instance)
				e.sameText(info.OrchestrationName, text, rule, "name")
				e.sameText(info.OrchestrationVersion, "v"+text[1:], rule, "version")
			}
		}
	}
}

// separate asserts that instances with these ids never meet: each has its own
// start, lock, history, status and activity.
func (e *env) separate(rule string, ids ...string) {
	e.Helper()
	for i, id := range ids {
		start := startItem(id)
		start.Input = strconv.Itoa(i)
		e.enqueue(start)
	}
	turns := make([]*provider.FetchedOrchestration, len(ids))
	for i, id := range ids {
		rule := fmt.Sprintf("%s (id %q)", rule, clip(id))
		turns[i] = e.fetch(held)
		e.sameText(turns[i].Item.Instance, id, rule, "instance")
		start := startItem(id)
		start.Input = strconv.Itoa(i)
		e.batch(turns[i], rule, start)
	}
	e.fetchNone(rule)
	for i, id := range ids {
		e.commit(turns[i], provider.AckOrchestrationParams{
			HistoryDelta: []provider.Event{
				event(id, 1, 1, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: strconv.Itoa(i)}),
				event(id, 1, 2, provider.CustomStatusUpdated{Status: new(strconv.Itoa(i))}),
			},
			WorkerItems: []provider.WorkItem{activityItem(id, uint64(i))}, Metadata: created(),
		})
	}
	for i, id := range ids {
		rule := fmt.Sprintf("%s (id %q)", rule, clip(id))
		events := e.history(id, 1)
		same(e, len(events), 2, rule)
		e.sameText(events[0].InstanceID, id, rule, "instance of the event")
		same(e, events[0].Kind.(provider.OrchestrationStarted).Input, strconv.Itoa(i), rule)
		e.hasStatus(id, new(strconv.Itoa(i)), 1, rule)
		work := e.work(e.fetchWork(held))
		e.sameText(work.Instance, id, rule, "instance of the activity")
		same(e, work.ID, uint64(i), rule)
	}
}

// Ids that differ only in case, accents, width, blanks or normal form are
// different instances.
func instanceIDsByteForByte(e *env) {
	e.separate(ruleByteIDs, lookalikes...)
	if a := e.p.Admin(); a != nil {
		ids, err := a.ListInstances(e.ctx)
		e.ok(err, "§6.3: ListInstances")
		sameSet(e, ids, lookalikes, ruleByteIDs)
	}
}

// Any text but the empty one can be an instance's id.
func textsAsIDs(e *env) {
	e.separate(ruleByteIDs, slices.DeleteFunc(slices.Clone(oddTexts), func(text string) bool { return text == "" })...)
}

// Names of events and queues that differ in a byte are different when delivered.
func namesByteForByte(e *env) {
	e.create("A")
	var items []provider.WorkItem
	for _, name := range lookalikes {
		items = append(items, raised("A", name), provider.QueueMessageItem{Instance: "A", Name: name, Data: name})
	}
	e.delivered("A", "§3.1: strings are kept as they are", items...)
}

// Ids of 255 characters work everywhere, of one byte and of several, and differ
// if their last character does.
func longIDs(e *env) {
	var ids []string
	for _, fill := range []string{"a", "é", "日"} {
		for _, last := range []string{"a", "b", "é", "B"} {
			ids = append(ids, strings.Repeat(fill, 254)+last)
		}
	}
	nested := "root" + strings.Repeat("::sub::12345", 30)
	e.separate(ruleLongIDs, append(ids, nested[:255], nested[:254])...)
	e.create("sender")
	e.turn("sender", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{raised(ids[0], "go"), raised(ids[11], "go")}})
	e.fetchInstance(ids[0], held)
	e.fetchInstance(ids[11], held)
}

// An id beyond 255 characters is refused for good, in whatever call it occurs,
// or works in full length; it never stands for a shorter one.
func tooLongIDs(e *env) {
	stem := strings.Repeat("x", 255)
	e.create(stem)
	for _, n := range []int{256, 300, 449, 451, 900, 1701, 4001, 9000} {
		base := stem + strings.Repeat("y", n-256)
		id := base + "0"
		if err := e.p.EnqueueForOrchestrator(e.ctx, startItem(id), 0); err != nil {
			e.refused(err, ruleLongIDs)
			e.refusedEverywhere(stem, id)
			continue
		}
		e.sameText(e.fetch(held).Item.Instance, id, ruleLongIDs, "instance")
		e.separate(ruleLongIDs, base+"1", base+"2")
	}
	e.sameEvents(e.history(stem, 1), []provider.Event{started(stem, 1)}, ruleLongIDs)
	e.fetchNoWork(provider.FetchWorkParams{}, ruleLongIDs)
}

// refusedEverywhere asserts that no call takes id, and that reading it finds
// nothing.
func (e *env) refusedEverywhere(known, id string) {
	e.Helper()
	e.refused(e.p.EnqueueForWorker(e.ctx, activityItem(id, 2)), ruleLongIDs)
	e.refused(e.p.AppendWithExecution(e.ctx, id, 1, []provider.Event{started(id, 1)}), ruleLongIDs)
	e.refusedInTurn(known, id)
	same(e, len(e.unlessRefused(e.p.Read(e.ctx, id))), 0, ruleLongIDs)
	same(e, len(e.unlessRefused(e.p.ReadWithExecution(e.ctx, id, 1))), 0, ruleLongIDs)
}

// refusedInTurn asserts that a turn of a known instance cannot address id, and
// that nothing of the attempt stays.
func (e *env) refusedInTurn(known, id string) {
	e.Helper()
	e.enqueue(raised(known, "go"))
	got := e.fetchInstance(known, held)
	for _, turn := range []provider.AckOrchestrationParams{
		{OrchestratorItems: []provider.WorkItem{raised(known, "fine"), raised(id, "go")}},
		{WorkerItems: []provider.WorkItem{activityItem(known, 2), activityItem(id, 2)}},
	} {
		e.refused(e.p.AckOrchestrationItem(e.ctx, turnOf(got, turn)), ruleLongIDs)
		e.lockHeld(known, ruleNothing)
	}
	e.drop(got)
	rest := e.fetchInstance(known, held)
	e.batch(rest, ruleNothing, raised(known, "knock"), raised(known, "knock"))
	e.drop(rest)
}

// unlessRefused passes on what a read returned; a permanent error is as good as
// nothing.
func (e *env) unlessRefused(events []provider.Event, err error) []provider.Event {
	e.Helper()
	if err != nil {
		e.refused(err, ruleLongIDs)
	}
	return events
}

// Ids that are no text, being empty or no valid Unicode, are refused for good or
// are ids like any other; they never stand for another one, nor stop the rest.
func nonTextIDs(e *env) {
	e.create("A")
	e.create("b\ufffd")
	for _, id := range []string{"", "b\xff", "b\x00"} {
		rule := fmt.Sprintf("%s (id %q)", ruleByteIDs, id)
		if err := e.p.EnqueueForOrchestrator(e.ctx, startItem(id), 0); err != nil {
			e.refused(err, rule)
			e.refusedInTurn("A", id)
			continue
		}
		got := e.fetch(held)
		same(e, got.Item.Instance, id, rule)
		e.commit(got, provider.AckOrchestrationParams{Metadata: created(), HistoryDelta: []provider.Event{started(id, 1)}})
		e.sameEvents(e.history(id, 1), []provider.Event{started(id, 1)}, rule)
	}
	for _, id := range []string{"A", "b\ufffd"} {
		e.enqueue(raised(id, "go"))
		e.sameEvents(e.fetchInstance(id, held).Item.History, []provider.Event{started(id, 1)}, ruleByteIDs)
	}
}

// An event whose JSON names no instance, or another one, belongs to the row it is
// stored in, wherever it is read.
func rowKeysWin(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	const common = `"source_event_id":null,"timestamp_ms":1760000000000,"duroxide_version":"0.1.26","type":"ExternalSubscribed","name":"go"}`
	want := []provider.Event{started("A", 1), event("A", 1, 2, provider.ExternalSubscribed{Name: "go"})}
	for _, keys := range []string{`{"event_id":2,"instance_id":"","execution_id":0,`, `{"event_id":2,"instance_id":"B","execution_id":7,`} {
		e.corrupt("A", 1, 2, keys+common)
		e.sameEvents(e.history("A", 1), want, ruleRowKeys)
		e.sameEvents(e.read("A"), want, ruleRowKeys)
		e.enqueue(raised("A", "go"))
		got := e.fetchInstance("A", held)
		e.check(got.Item.HistoryError == nil, ruleRowKeys, "HistoryError: %v", got.Item.HistoryError)
		e.sameEvents(got.Item.History, want, ruleRowKeys)
		e.drop(got)
		if a := e.p.Admin(); a != nil {
			events, err := a.ReadHistoryWithExecutionID(e.ctx, "A", 1)
			e.ok(err, "§6.6: as §5.6")
			e.sameEvents(events, want, ruleRowKeys)
		}
	}
}

// Events as other implementations write them are understood: keys in another
// order, unknown keys, optional keys missing or null.
func foreignEvents(e *env) {
	e.create("A", event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}))
	const rule = "§3.1: readers accept any order; unknown extra keys: ignored; missing optional on read: treated as absent"
	want := event("A", 1, 2, provider.ActivityScheduled{Name: "Charge", Input: "é\u2028<"})
	for _, data := range []string{
		`{"type":"ActivityScheduled","input":"é\u2028\u003c","name":"Charge","duroxide_version":"0.1.26",` +
			`"timestamp_ms":1760000000000,"execution_id":1,"instance_id":"A","event_id":2}`,
		` { "event_id" : 2, "source_event_id" : null, "instance_id" : "A", "execution_id" : 1, "timestamp_ms" : 1760000000000,` +
			` "duroxide_version" : "0.1.26", "type" : "ActivityScheduled", "name" : "Charge", "input" : "\u00e9` + "\u2028" + `<",` +
			` "session_id" : null, "tag" : null, "new_in_2030" : { "a" : [1, 2.5e3, null] } } `,
	} {
		e.corrupt("A", 1, 2, data)
		e.sameEvents(e.history("A", 1)[1:], []provider.Event{want}, rule)
	}
}

// The ids of sub-orchestrations contain the marker that clients must not use.
func reservedIDs(e *env) {
	const rule = "§2.2: providers MUST NOT check the reserved marker: real child ids contain it"
	for _, id := range []string{"sub::1", "sub::pending_1", "root::sub::2_2", "sub::", "::", "root::sub::2::sub::3"} {
		e.ok(e.p.EnqueueForOrchestrator(e.ctx, startItem(id), 0), rule)
		got := e.tryFetch(held)
		e.check(got != nil && got.Item.Instance == id, rule, "fetched %v, want instance %s", got, id)
		e.commit(got, provider.AckOrchestrationParams{Metadata: created(), HistoryDelta: []provider.Event{started(id, 1)}})
		same(e, len(e.read(id)), 1, rule)
	}
}
