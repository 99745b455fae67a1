package providertest

import (
	"maps"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleInvalid   = "§3.1: strings: must be valid Unicode; replace invalid UTF-8 before writing"
	ruleOtherByte = "§2.2: compared byte-for-byte: what is no valid UTF-8 stands for nothing else"
)

// Text that is no valid UTF-8 is stored with U+FFFD in place of the bad byte, in
// events and in messages, instead of failing or making the row unreadable.
func invalidUTF8(e *env) {
	const bad, good = "a\xffb", "a\ufffdb"
	e.create("A", event("A", 1, 2, provider.ExternalEvent{Name: "n", Data: bad}))
	e.sameEvents(e.history("A", 1)[1:], []provider.Event{event("A", 1, 2, provider.ExternalEvent{Name: "n", Data: good})}, ruleInvalid)
	e.enqueue(provider.ExternalRaisedItem{Instance: "A", Name: "n", Data: bad})
	e.batch(e.fetchInstance("A", held), ruleInvalid, provider.ExternalRaisedItem{Instance: "A", Name: "n", Data: good})
	item := activityItem("A", 2)
	item.Input = bad
	e.enqueueWork(item)
	item.Input = good
	e.sameItem(e.fetchWork(held).Item, item, ruleInvalid)
}

// What a store keeps in columns says what the events of the same turn say: each byte
// that is no valid UTF-8 has become U+FFFD. A turn is not refused for it, as what it has
// to say is often somebody's error text.
func invalidUTF8InColumns(e *env) {
	const bad, good = "a\xff\xfeb", "a\ufffd\ufffdb"
	metadata := ended(provider.StatusFailed, bad)
	metadata.OrchestrationName, metadata.OrchestrationVersion = new(bad), new(bad)
	e.createWith("A", provider.AckOrchestrationParams{Metadata: metadata, HistoryDelta: []provider.Event{
		event("A", 1, 2, provider.CustomStatusUpdated{Status: new(bad)}),
		event("A", 1, 3, provider.KeyValueSet{Key: bad, Value: bad, LastUpdatedAtMs: baseMs}),
		event("A", 1, 4, provider.KeyValueSet{Key: "gone" + bad, Value: bad}),
		event("A", 1, 5, provider.KeyValueCleared{Key: "gone" + bad}),
	}})
	e.sameEvents(e.history("A", 1)[1:], []provider.Event{
		event("A", 1, 2, provider.CustomStatusUpdated{Status: new(good)}),
		event("A", 1, 3, provider.KeyValueSet{Key: good, Value: good, LastUpdatedAtMs: baseMs}),
		event("A", 1, 4, provider.KeyValueSet{Key: "gone" + good, Value: good}),
		event("A", 1, 5, provider.KeyValueCleared{Key: "gone" + good}),
	}, ruleInvalid)
	e.hasStatus("A", new(good), 1, ruleInvalid)
	for _, key := range []string{good, bad} {
		// A key is found by the text that it was set by.
		e.kvIs("A", key, new(good), ruleInvalid)
		e.kvIs("A", "gone"+key, nil, ruleInvalid)
	}
	e.check(maps.Equal(e.all("A"), values{good: good}), ruleInvalid, "all values: %q", e.all("A"))
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.OrchestrationName, good, ruleInvalid)
	same(e, got.Item.Version, good, ruleInvalid)
	e.check(maps.Equal(got.Item.KVSnapshot, map[string]provider.KVEntry{good: {Value: good, LastUpdatedAtMs: baseMs}}),
		ruleInvalid, "snapshot: %+v", got.Item.KVSnapshot)
	if e.p.Admin() != nil {
		samePtr(e, e.execution("A", 1).Output, new(good), ruleInvalid)
		same(e, e.info("A").OrchestrationName, good, ruleInvalid)
	}
}

// A name that is no text does not stand for the one that it looks like when its bytes
// are replaced: looking for it finds nothing, and cancelling, deleting, pruning, renewing
// or fetching by it leaves the other one alone.
func nonTextMeetsNobody(e *env) {
	const known, bad = "b\ufffd", "b\xff"
	e.create("A")
	e.createWith(known, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
		event(known, 1, 2, provider.CustomStatusUpdated{Status: new("s")}),
		event(known, 1, 3, provider.KeyValueSet{Key: "k", Value: "v"}),
	}})
	same(e, len(e.read(bad)), 0, ruleOtherByte)
	same(e, len(e.history(bad, 1)), 0, ruleOtherByte)
	e.hasStatus(bad, nil, 0, ruleOtherByte)
	e.kvIs(bad, "k", nil, ruleOtherByte)
	same(e, len(e.all(bad)), 0, ruleOtherByte)
	e.noInstance(bad, ruleOtherByte)

	e.enqueueWork(activityItem(known, 2), tagged(known, 3), inSession("s", 4))
	e.turn("A", provider.AckOrchestrationParams{
		CancelledActivities: []provider.ActivityRef{{Instance: bad, ExecutionID: 1, ActivityID: 2}},
	})
	e.fetchNoWork(e.onlyTags(bad), ruleOtherByte)
	e.claim(e.onlyTags(bad, known), 3, ruleTagExact)
	e.claim(filtered(provider.TagFilter{}), 2, ruleOtherByte)
	e.claim(owner(known), 4, ruleUnclaimed)
	e.renewSessions(0, ruleOtherByte, held, forever, bad)
	e.renewSessions(1, ruleRenewed, held, forever, bad, known)
}

// The same for what deletes and prunes.
func nonTextDeletesNobody(e *env) {
	const known, bad = "b\ufffd", "b\xff"
	e.createExecutions(known, 3)
	_, err := e.admin().DeleteInstance(e.ctx, bad, true)
	e.permanent(err, provider.ErrNotFound, ruleOtherByte)
	_, err = e.admin().PruneExecutions(e.ctx, bad, provider.PruneOptions{})
	e.permanent(err, provider.ErrNotFound, ruleOtherByte)
	same(e, e.deleteList(true, bad), provider.DeleteInstanceResult{}, ruleOtherByte)
	listed := provider.InstanceFilter{InstanceIDs: []string{bad}}
	same(e, e.pruneBulk(listed, provider.PruneOptions{}), provider.PruneResult{}, ruleOtherByte)
	sameList(e, e.executions(known), []uint64{1, 2, 3}, ruleOtherByte)
	e.finish(known, provider.StatusCompleted, "out")
	same(e, e.deleteBulk(listed), provider.DeleteInstanceResult{}, ruleOtherByte)
	e.exists(ruleOtherByte, known)
	listed.InstanceIDs = append(listed.InstanceIDs, known)
	same(e, e.deleteBulk(listed).InstancesDeleted, 1, "§6.17: InstanceIDs: nil = no restriction; otherwise the listed ones")
}
