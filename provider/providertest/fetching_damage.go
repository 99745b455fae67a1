package providertest

import "github.com/duroxide/duroxide-go/provider"

const (
	ruleUndecodable = "§5.1: undecodable message in the batch: SHOULD move the bad row to a dead-letter table, " +
		"and go on with the decodable messages; never fail the whole fetch"
	ruleDeadAlone = "§5.1: undecodable message in the batch: if none is left, release the lock and try the next candidate"
	ruleDamaged   = "§5.1: corrupted history: a normal item with HistoryError, History empty, KVSnapshot empty, " +
		"Messages filled; MUST NOT be an error return (P9)"
)

// damaged are stored texts that no message decodes from: of no JSON, of an
// unknown variant, and of the wrong shape.
var damaged = []string{`{"ExternalRaised":`, `{"NoSuchVariant":{"instance":"A"}}`, `{"ExternalRaised":{"instance":"A"}}`, `[]`, `7`}

// corruptMessage damages the oldest message queued for an instance.
func (e *env) corruptMessage(instance, data string) {
	e.Helper()
	e.needs(e.store.CorruptOrchestratorItem != nil, "CorruptOrchestratorItem")
	if err := e.store.CorruptOrchestratorItem(e.ctx, instance, data); err != nil {
		e.Fatalf("the CorruptOrchestratorItem hook failed: %v", err)
	}
}

// A message that cannot be decoded is missing from its batch, which is otherwise
// delivered and acknowledged as usual, and does not come back.
func undecodableLeftOut(e *env) {
	e.create("A")
	for _, data := range damaged {
		e.enqueue(raised("A", "bad"), raised("A", "1"), raised("A", "2"))
		e.corruptMessage("A", data)
		got := e.fetchInstance("A", held)
		e.batch(got, ruleUndecodable, raised("A", "1"), raised("A", "2"))
		same(e, got.AttemptCount, 1, ruleFirst)
		e.abandon(got, 0, false)
		got = e.fetchInstance("A", held)
		e.batch(got, ruleUndecodable, raised("A", "1"), raised("A", "2"))
		same(e, got.AttemptCount, 2, ruleCounts)
		e.drop(got)
		e.fetchNone(ruleUndecodable)
	}
}

// The text of a message that was set aside can be read, once, as it was stored.
func undecodableBecomesDeadLetter(e *env) {
	e.needs(e.store.DeadLetters != nil, "DeadLetters")
	e.create("A")
	for _, data := range damaged[:2] {
		e.enqueue(raised("A", "bad"), raised("A", "good"))
		e.corruptMessage("A", data)
		e.abandon(e.fetchInstance("A", held), 0, false)
		e.drop(e.fetchInstance("A", held))
	}
	texts, err := e.store.DeadLetters(e.ctx)
	if err != nil {
		e.Fatalf("the DeadLetters hook failed: %v", err)
	}
	sameList(e, texts, damaged[:2], ruleUndecodable)
}

// An instance that has nothing else is passed over in the same call and stays
// unlocked.
func undecodableAlone(e *env) {
	e.create("A")
	e.create("B")
	e.enqueue(raised("A", "bad"))
	e.corruptMessage("A", damaged[0])
	e.enqueue(raised("B", "go"))
	same(e, e.fetch(held).Item.Instance, "B", ruleDeadAlone)
	e.fetchNone(ruleDeadAlone)
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	e.batch(got, ruleDeadAlone, raised("A", "go"))
	same(e, got.AttemptCount, 1, ruleFirst)
}

// A start that cannot be decoded starts nothing: what was queued with it waits,
// uncounted, for one that can.
func undecodableStart(e *env) {
	e.enqueue(startItem("A"), raised("A", "early"))
	e.corruptMessage("A", damaged[0])
	e.enqueue(startItem("B"))
	same(e, e.fetch(held).Item.Instance, "B", ruleDeadAlone)
	e.fetchNone(ruleKeepOrphans)
	e.noInstance("A", ruleNoCreate)
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.batch(got, ruleKeepOrphans, raised("A", "early"), startItem("A"))
	same(e, got.AttemptCount, 1, ruleKeepOrphans)
}

// The attempts of a message that cannot be decoded count for the batch it was in, and
// not for the next one.
func undecodableAttempts(e *env) {
	const rule = "§5.1 step 9: maximum attempt_count over the batch after the increment"
	e.create("A")
	e.enqueue(raised("A", "bad"))
	for range 2 {
		e.abandon(e.fetchInstance("A", held), 0, false)
	}
	e.corruptMessage("A", damaged[0])
	e.enqueue(raised("A", "good"))
	got := e.fetchInstance("A", held)
	e.batch(got, rule, raised("A", "good"))
	same(e, got.AttemptCount, 3, rule)
	e.abandon(got, 0, false)
	same(e, e.fetchInstance("A", held).AttemptCount, 2, rule)
}

// Without an instance row and with a first event that cannot be decoded, a start among
// the messages still says what the orchestration is called, so that it can be failed
// under its name.
func damagedStartEvent(e *env) {
	e.appendEvents("A", 1, started("A", 1))
	e.corrupt("A", 1, 1, `{"type":"OrchestrationStarted"}`)
	start := startItem("A")
	start.Orchestration, start.Version = "Late", new("7.0.0")
	e.enqueue(raised("A", "go"), start)
	got := e.fetchInstance("A", held)
	e.check(got.Item.HistoryError != nil, ruleDamaged, "no HistoryError")
	e.contextIs(got, ruleFromStart, "Late", "7.0.0")
	e.batch(got, ruleDamaged, raised("A", "go"), start)
}

// An instance whose history cannot be decoded is handed out as such, with its
// messages and a counted attempt; the others are served as ever.
func corruptedStarvesNobody(e *env) {
	e.create("A", event("A", 1, 2, provider.KeyValueSet{Key: "k", Value: "v"}))
	e.continueAsNew("A")
	e.create("B")
	e.corrupt("A", 2, 1, `{"type":"NoSuchKind"}`)
	e.enqueue(raised("A", "go"), raised("B", "go"))
	for want := uint32(1); want <= 3; want++ {
		got := e.fetchInstance("A", held)
		e.check(got.Item.HistoryError != nil, ruleDamaged, "no HistoryError")
		same(e, len(got.Item.History), 0, ruleDamaged)
		same(e, len(got.Item.KVSnapshot), 0, ruleDamaged)
		e.batch(got, ruleDamaged, raised("A", "go"))
		same(e, got.AttemptCount, want, "§5.1: corrupted history: attempt count keeps growing over repeated fetches")
		other := e.fetchInstance("B", held)
		e.fetchNone("§5.1: corrupted history: lock, message tags and attempt increments are committed")
		e.abandon(got, 0, false)
		e.abandon(other, 0, true)
	}
}
