package providertest

import (
	"slices"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/provider"
)

// atomicity checks that a turn is committed by one call, to the instance whose lock it has: all of it or nothing.
func atomicity() category {
	return category{"atomicity", []scenario{
		{"atomicity_failure_rollback", failedAckRollsBack},
		{"multi_operation_atomic_ack", ackShowsEverything},
		{"lock_released_only_on_successful_ack", lockOutlivesFailedAck},
		{"concurrent_ack_prevention", oneAckWins},

		{"empty_ack_consumes_and_records_the_execution", emptyAck},
		{"instance_comes_from_the_lock", instanceFromLock},
		{"event_id_zero_rolls_back", eventIDZero},
	}}
}

const (
	ruleNothing = "§2.4: a failed method leaves locks, queues, history, metadata, KV and sessions exactly as before"
	ruleAll     = "§5.2: commit one turn atomically: history, queues, metadata, status and KV together"
	ruleStays   = "§5.2 step 7: whole ack rolled back, lock still held"
	ruleOneAck  = "§5.2: same token acked twice, or concurrently: exactly one succeeds; " +
		"others get a permanent error and no effect"
)

// everything is the last turn of an instance that has event 1 and a queued
// activity 90: it changes all that a turn can change.
func everything(instance string) provider.AckOrchestrationParams {
	return provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{
			event(instance, 1, 2, provider.ActivityScheduled{Name: "Charge", Input: "{}"}),
			event(instance, 1, 3, provider.CustomStatusUpdated{Status: new("50%")}),
			event(instance, 1, 4, provider.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: baseMs}),
			event(instance, 1, 5, provider.OrchestrationCompleted{Output: "done"}),
		},
		WorkerItems:         []provider.WorkItem{activityItem(instance, 2)},
		OrchestratorItems:   []provider.WorkItem{startItem("next")},
		Metadata:            ended(provider.StatusCompleted, "done"),
		CancelledActivities: []provider.ActivityRef{ref(instance, 90)},
	}
}

// readyForEverything creates the instance that everything is for and fetches it.
func (e *env) readyForEverything(instance string) *provider.FetchedOrchestration {
	e.Helper()
	e.create(instance)
	e.enqueueWork(activityItem(instance, 90))
	e.enqueue(raised(instance, "go"))
	return e.fetchInstance(instance, held)
}

// untouched asserts that nothing of everything happened and the lock is held.
func (e *env) untouched(instance, rule string) {
	e.Helper()
	e.lockHeld(instance, rule)
	e.sameEvents(e.history(instance, 1), []provider.Event{started(instance, 1)}, rule)
	e.hasStatus(instance, nil, 0, rule)
	e.kvIs(instance, "k", nil, rule)
	work := e.claim(provider.FetchWorkParams{LockTimeout: held}, 90, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
	e.abandonWork(work, 0, true)
	if e.p.Admin() != nil {
		same(e, e.execution(instance, 1).Status, provider.StatusRunning, rule)
	}
}

// happened asserts that everything happened, once.
func (e *env) happened(instance, rule string) {
	e.Helper()
	want := append([]provider.Event{started(instance, 1)}, everything(instance).HistoryDelta...)
	e.sameEvents(e.history(instance, 1), want, rule)
	e.hasStatus(instance, new("50%"), 1, rule)
	e.kvIs(instance, "k", new("v"), rule)
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
	if e.p.Admin() != nil {
		same(e, e.execution(instance, 1).Status, provider.StatusCompleted, rule)
		samePtr(e, e.execution(instance, 1).Output, new("done"), rule)
	}
	e.batch(e.fetchInstance("next", held), rule, startItem("next"))
}

// kvIs asserts the current value of a key.
func (e *env) kvIs(instance, key string, want *string, rule string) {
	e.Helper()
	got, err := e.p.GetKVValue(e.ctx, instance, key)
	e.ok(err, "§5.17: GetKVValue")
	samePtr(e, got, want, rule)
}

// A turn refused for its last event leaves no trace of its other effects; put
// right, it can be committed with the same token.
func failedAckRollsBack(e *env) {
	got := e.readyForEverything("A")
	bad := turnOf(got, everything("A"))
	bad.HistoryDelta = append(slices.Clone(bad.HistoryDelta), started("A", 1))

	err := e.p.AckOrchestrationItem(e.ctx, bad)
	e.permanent(err, provider.ErrDuplicateEvent, "§5.2 step 7: duplicate id → permanent error")
	e.untouched("A", ruleNothing)

	e.commit(got, everything("A"))
	e.batch(e.fetchInstance("A", held), ruleAll, raised("A", "knock"))
	e.happened("A", ruleAll)
}

// All effects of one ack are there when the call returns: history, queues,
// status, metadata and the merged key-value map.
func ackShowsEverything(e *env) {
	e.commit(e.readyForEverything("A"), everything("A"))
	e.happened("A", ruleAll)

	e.enqueue(raised("A", "late"))
	got := e.fetchInstance("A", held)
	e.batch(got, "§5.2 step 2: delete orchestrator rows with this token", raised("A", "late"))
	same(e, got.Item.KVSnapshot["k"], provider.KVEntry{Value: "v", LastUpdatedAtMs: baseMs},
		"§5.2 step 11: if Status is Completed, Failed or ContinuedAsNew: merge delta into store")
}

// An ack that fails, for its token or for its content, keeps the instance
// locked; the one that succeeds frees it.
func lockOutlivesFailedAck(e *env) {
	got := e.readyForEverything("A")
	stranger := turnOf(got, everything("A"))
	stranger.LockToken = "no-such-token"
	e.permanent(e.p.AckOrchestrationItem(e.ctx, stranger), provider.ErrInvalidLockToken,
		"§5.2 step 1: lock row by token missing → permanent Invalid lock token")
	e.lockHeld("A", "§5.2 step 1: nothing is changed")

	zero := turnOf(got, everything("A"))
	zero.HistoryDelta = []provider.Event{event("A", 1, 0, provider.OrchestrationCompleted{})}
	e.permanent(e.p.AckOrchestrationItem(e.ctx, zero), provider.ErrInvalidArgument,
		"§5.2 step 7: id 0 → permanent error")
	e.lockHeld("A", ruleStays)

	e.commit(got, everything("A"))
	e.batch(e.fetchInstance("A", held), "§5.2 step 15: delete the instance lock row",
		raised("A", "knock"), raised("A", "knock"))
}

// Of several acks with one token at the same time exactly one commits, once.
func oneAckWins(e *env) {
	turn := turnOf(e.readyForEverything("A"), everything("A"))
	var won atomic.Int32
	e.together(8, func(int) error {
		err := patiently(func() error { return e.p.AckOrchestrationItem(e.ctx, turn) })
		switch {
		case err == nil:
			won.Add(1)
		case !lostLock(err):
			return violation(ruleOneAck, "an ack that came too late failed with: %v", err)
		}
		return nil
	})
	same(e, won.Load(), 1, ruleOneAck)
	e.happened("A", ruleOneAck)
}

// An ack without any effect consumes its batch, unlocks the instance and still
// records the execution.
func emptyAck(e *env) {
	const rule = "§5.2: all lists empty, empty metadata: valid: consumes the batch and unlocks; still inserts a missing execution row"
	e.enqueue(startItem("A"), raised("A", "go"))
	e.drop(e.fetchInstance("A", held))
	e.fetchNone(rule)
	e.noInstance("A", ruleBoth)
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.batch(got, rule, startItem("A"))
	same(e, len(got.Item.History), 0, rule)
	same(e, len(e.read("A")), 0, rule)
	if e.p.Admin() != nil {
		e.commit(got, provider.AckOrchestrationParams{ExecutionID: 2})
		sameList(e, e.executions("A"), []uint64{1, 2}, rule)
	}
}

// Events go to the instance whose lock the token is and the execution of the
// call, whatever they say themselves.
func instanceFromLock(e *env) {
	e.create("A")
	stray := event("B", 7, 2, provider.ExternalSubscribed{Name: "go"})
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{stray}})
	const rule = "§5.2 step 1: the instance id comes from the lock row, not from the caller"
	same(e, len(e.history("B", 7)), 0, rule)
	same(e, len(e.history("B", 1)), 0, rule)
	e.sameEvents(e.history("A", 1), []provider.Event{
		started("A", 1), event("A", 1, 2, provider.ExternalSubscribed{Name: "go"}),
	}, rule)
}

// An event without an id is refused with everything that came along; the turn
// stays open.
func eventIDZero(e *env) {
	got := e.readyForEverything("A")
	for _, at := range []int{0, 2} {
		bad := turnOf(got, everything("A"))
		bad.HistoryDelta[at].EventID = 0
		err := e.p.AckOrchestrationItem(e.ctx, bad)
		e.permanent(err, provider.ErrInvalidArgument, "§5.2 step 7: id 0 → permanent error")
		e.says(err, "§2.3: bad argument: `event_id must be set by runtime`", "event_id must be set by runtime")
	}
	e.untouched("A", ruleStays)
	e.commit(got, everything("A"))
	e.drop(e.fetchInstance("A", held))
	e.happened("A", ruleAll)
}
