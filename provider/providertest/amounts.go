package providertest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/duroxide/duroxide-go/provider"
)

// amounts covers that nothing is cut off where a page, a batch or a default limit of
// a database would end, by as many rows of a kind as [Config.Rows] says.
func amounts() category {
	return category{"amounts", []scenario{
		{"hundreds_of_effects_in_one_ack", hundredsOfEffects},

		{"events_of_an_execution", manyEvents},
		{"messages_of_an_instance", manyMessages},
		{"activities_of_a_turn", manyActivities},
		{"keys_of_an_instance", manyKeys},
		{"children_and_instances", manyInstances},
		{"executions_of_an_instance", manyExecutions},
		{"messages_carried_into_an_execution", manyCarried},
	}}
}

// One ack carries hundreds of events, activities, messages and cancellations.
func hundredsOfEffects(e *env) {
	const n = 400
	const rule = "§5.2: large deltas: at least hundreds of events and items per ack"
	var turn provider.AckOrchestrationParams
	for i := range uint64(n) {
		turn.HistoryDelta = append(turn.HistoryDelta,
			event("A", 1, 2+i, provider.ActivityScheduled{Name: fmt.Sprint("Charge", i), Input: "{}"}))
		turn.WorkerItems = append(turn.WorkerItems, activityItem("A", 2+i))
		turn.OrchestratorItems = append(turn.OrchestratorItems, raised("A", strconv.FormatUint(i, 10)))
		if i%2 == 0 {
			turn.CancelledActivities = append(turn.CancelledActivities, ref("A", 2+i))
		}
	}
	e.createWith("A", turn)
	got := e.fetchInstance("A", held)
	e.sameEvents(got.Item.History, append([]provider.Event{started("A", 1)}, turn.HistoryDelta...), rule)
	e.batch(got, rule, turn.OrchestratorItems...)
	for i := uint64(1); i < n; i += 2 {
		e.claim(provider.FetchWorkParams{LockTimeout: held}, 2+i, rule)
	}
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// All events come back, in order, by each way to read them.
func manyEvents(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§5.1, §5.5, §5.6, §6.6: the history of the execution, complete and in order"
	want := []provider.Event{started("A", 1)}
	for i := range many {
		want = append(want, event("A", 1, i+2, provider.ActivityScheduled{Name: fmt.Sprint("Charge", i), Input: "{}"}))
	}
	e.create("A", want[1:many/2]...)
	e.turn("A", provider.AckOrchestrationParams{HistoryDelta: want[many/2:]})
	e.sameEvents(e.read("A"), want, rule)
	e.sameEvents(e.history("A", 1), want, rule)
	e.wake("A")
	e.sameEvents(e.fetchInstance("A", held).Item.History, want, rule)
	if a := e.p.Admin(); a != nil {
		events, err := a.ReadHistory(e.ctx, "A")
		e.ok(err, rule)
		e.sameEvents(events, want, rule)
		events, err = a.ReadHistoryWithExecutionID(e.ctx, "A", 1)
		e.ok(err, rule)
		e.sameEvents(events, want, rule)
		same(e, e.execution("A", 1).EventCount, many+1, rule)
		same(e, e.metrics().TotalEvents, many+1, rule)
	}
	same(e, e.stats("A").HistoryEventCount, many+1, rule)
}

// One fetch takes all of an instance's messages, and the ack consumes them all.
func manyMessages(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§5.1 step 7: for every visible message of the instance; step 8: rows with this token ordered by id"
	e.create("A")
	var want []provider.WorkItem
	for i := range many {
		want = append(want, completedItem("A", i))
	}
	e.wake("A")
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{OrchestratorItems: want})
	if e.p.Admin() != nil {
		same(e, e.depths().OrchestratorQueue, many, rule)
	}
	got := e.fetchInstance("A", held)
	e.batch(got, rule, want...)
	e.abandon(got, 0, false)
	got = e.fetchInstance("A", held)
	same(e, got.AttemptCount, 2, rule)
	e.batch(got, rule, want...)
	e.drop(got)
	e.fetchNone(rule)
}

// All activities of a turn can be fetched, and one ack cancels them all.
func manyActivities(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§5.2 steps 12 and 13: worker items are inserted; each cancelled activity is deleted"
	var items []provider.WorkItem
	var refs []provider.ActivityRef
	for i := range many {
		items, refs = append(items, activityItem("A", i+2)), append(refs, ref("A", i+2))
	}
	e.createWith("A", provider.AckOrchestrationParams{WorkerItems: items})
	if e.p.Admin() != nil {
		same(e, e.depths().WorkerQueue, many, rule)
	}
	e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, rule)
	e.turn("A", provider.AckOrchestrationParams{CancelledActivities: refs[:many-1]})
	e.claim(provider.FetchWorkParams{LockTimeout: held}, many+1, rule)
	e.fetchNoWork(provider.FetchWorkParams{}, rule)
}

// All keys of an instance come back, to clients and with a fetch.
func manyKeys(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§5.1 step 11, §5.18: all rows for the instance (no limit but what the store needs)"
	want := map[string]string{}
	snapshot := map[string]provider.KVEntry{}
	var changes []provider.EventKind
	for i := range many {
		key := fmt.Sprint("key ", i)
		want[key], snapshot[key] = fmt.Sprint(i), provider.KVEntry{Value: fmt.Sprint(i), LastUpdatedAtMs: baseMs}
		changes = append(changes, setKey(key, want[key]))
	}
	e.create("A")
	e.record("A", changes...)
	for range 2 {
		all, err := e.p.GetKVAllValues(e.ctx, "A")
		e.ok(err, rule)
		e.sameValue(all, want, rule, "all values")
		same(e, e.stats("A").KVUserKeyCount, many, rule)
		e.continueAsNew("A")
	}
	e.wake("A")
	e.sameValue(e.fetchInstance("A", held).Item.KVSnapshot, snapshot, rule, "snapshot")
}

// All instances and all children are listed, counted, pruned and deleted.
func manyInstances(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§6.3, §6.4, §6.12, §6.14: all ids"
	e.createEnded("root", provider.StatusCompleted)
	ids := []string{"root"}
	for i := range many {
		child := fmt.Sprintf("root::%04d", i)
		ids = append(ids, child)
		e.createEndedChild("root", child, provider.StatusCompleted)
	}
	sameList(e, e.children("root"), ids[1:], rule)
	sameSet(e, e.instances(), ids, rule)
	sameSet(e, e.withStatus(provider.StatusCompleted), ids, rule)
	tree := e.tree("root")
	same(e, tree.AllIDs[0], "root", rule)
	sameSet(e, tree.AllIDs, ids, rule)
	same(e, e.metrics().CompletedInstances, many+1, rule)
	limit := uint32(2 * many)
	got := e.pruneBulk(provider.InstanceFilter{Limit: &limit}, provider.PruneOptions{})
	same(e, got, provider.PruneResult{InstancesProcessed: many + 1}, rulePruneBulk)
	same(e, e.delete("root", false), provider.DeleteInstanceResult{
		InstancesDeleted: many + 1, ExecutionsDeleted: many + 1, EventsDeleted: 2 * (many + 1),
	}, "§6.15: the tree with all descendants")
	sameList(e, e.instances(), nil, rule)
}

// All executions of an instance are listed.
func manyExecutions(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§6.5: execution ids ascending"
	e.create("A")
	ids := []uint64{1}
	for next := range many {
		ids = append(ids, next+2)
		e.turn("A", provider.AckOrchestrationParams{ExecutionID: next + 2, Metadata: ended(provider.StatusCompleted, "out")})
	}
	e.check(slices.Equal(e.executions("A"), ids), rule, "%d executions, want %d", len(e.executions("A")), len(ids))
	same(e, e.metrics().TotalExecutions, many+1, rule)
	same(e, e.prune("A", keep(2)).ExecutionsDeleted, many-2, rulePruneKeep) // the first one runs
	sameList(e, e.executions("A"), []uint64{1, many, many + 1}, rulePruneSafe)
}

// The messages that an execution is given travel in a message and are kept in an event.
func manyCarried(e *env) {
	many := uint64(e.config.Rows)
	const rule = "§7.6: 100 carried messages; a store keeps lists of any length"
	pairs := make([]provider.CarriedMessage, many)
	for i := range pairs {
		pairs[i] = provider.CarriedMessage{Name: "inbox", Data: fmt.Sprint(i)}
	}
	e.storedAsHistory("A", rule, provider.OrchestrationStarted{Name: "Order", Version: "1.0.0", CarryForwardEvents: pairs})
	same(e, e.stats("A").QueuePendingCount, many, rule)
	e.delivered("A", rule, provider.ContinueAsNewItem{Instance: "A", Orchestration: "Order", CarryForwardEvents: pairs})
}
