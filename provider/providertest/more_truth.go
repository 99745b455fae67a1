package providertest

import "github.com/duroxide/duroxide-go/provider"

// moreTruth covers what a store must take from the data and not from its own idea of them: the order of events, the
// receiver of a completion, the leases of a deleted tree, and the version of an instance that has none.
func moreTruth() category {
	return category{"more truth", []scenario{
		{"events_are_read_by_id_not_by_insertion", eventsByID},
		{"completion_goes_to_the_instance_that_it_names", completionByName},
		{"deletion_ends_the_leases_of_descendants", deletionEndsLeases},
		{"no_version_is_invented", noVersionInvented},
	}}
}

const (
	ruleByID        = "§5.2 step 7: events are inserted in slice order; readers sort by id"
	ruleReceiver    = "§5.11: enqueue it to the orchestrator queue, visible now, for the instance that the completion names"
	ruleTreeLeases  = "§6.15: delete lock rows and activities of the whole tree: their tokens are unknown"
	ruleNoInvention = `§5.1: no version: "unknown"; a store MUST NOT invent a version`
)

// Events may be stored in any order, in one turn, by several turns and outside of turns. Every reader has them by id.
func eventsByID(e *env) {
	at := func(id uint64) provider.Event { return event("A", 1, id, provider.ExternalSubscribed{Name: "go"}) }
	e.create("A")
	e.enqueue(raised("A", "go"))
	e.commit(e.fetchInstance("A", held), provider.AckOrchestrationParams{HistoryDelta: []provider.Event{at(9), at(7), at(8)}})
	e.appendEvents("A", 1, at(5), at(3))
	e.appendEvents("A", 1, at(4))
	want := []provider.Event{started("A", 1), at(3), at(4), at(5), at(7), at(8), at(9)}
	e.sameEvents(e.read("A"), want, ruleByID)
	e.sameEvents(e.history("A", 1), want, ruleByID)
	for _, read := range []func() ([]provider.Event, error){
		func() ([]provider.Event, error) { return e.admin().ReadHistory(e.ctx, "A") },
		func() ([]provider.Event, error) { return e.admin().ReadHistoryWithExecutionID(e.ctx, "A", 1) },
	} {
		events, err := read()
		e.ok(err, ruleByID)
		e.sameEvents(events, want, ruleByID)
	}
	e.enqueue(raised("A", "go"))
	e.sameEvents(e.fetchInstance("A", held).Item.History, want, ruleByID)
}

// The receiver is the completion's instance, whichever instance the activity was queued for.
func completionByName(e *env) {
	e.create("A")
	e.create("B")
	e.enqueueWork(activityItem("A", 2), activityItem("A", 3))
	e.ok(e.p.AckWorkItem(e.ctx, e.fetchWork(held).LockToken, completedItem("B", 2)), ruleReceiver)
	got := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held})
	e.check(got != nil && got.Item.Instance == "B", ruleReceiver, "fetched %s, want \"B\"", render(got))
	e.batch(got, ruleReceiver, completedItem("B", 2))
	e.fetchNone(ruleReceiver)
	failed := provider.ActivityFailedItem{Instance: "A", ExecutionID: 1, ID: 3, Details: provider.Application{Kind: provider.AppActivityFailed, Message: "no"}}
	e.ok(e.p.AckWorkItem(e.ctx, e.fetchWork(held).LockToken, failed), ruleReceiver)
	e.batch(e.fetchInstance("A", held), ruleReceiver, failed)
}

// A deleted tree leaves no lease of any of its instances: neither is a token of use, nor is an id kept from its
// successor.
func deletionEndsLeases(e *env) {
	for _, remove := range []func(){
		func() { e.delete("root", true) },
		func() { e.deleteList(true, "root", "child", "grandchild") },
	} {
		e.create("root")
		e.createChild("root", "child")
		e.createChild("child", "grandchild")
		turns, work := map[string]string{}, map[string]string{}
		for _, instance := range []string{"child", "grandchild"} {
			e.wake(instance)
			turns[instance] = e.fetchInstance(instance, held).LockToken
			e.enqueueWork(activityItem(instance, 2))
			work[instance] = e.fetchWork(held).LockToken
		}
		remove()
		for instance, token := range turns {
			e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, token, held), provider.ErrInvalidLockToken, ruleTreeLeases)
			e.permanent(e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{LockToken: token, ExecutionID: 1}),
				provider.ErrInvalidLockToken, ruleTreeLeases)
			e.permanent(e.p.RenewWorkItemLock(e.ctx, work[instance], held), provider.ErrInvalidLockToken, ruleTreeLeases)
			e.permanent(e.p.AckWorkItem(e.ctx, work[instance], nil), provider.ErrInvalidLockToken, ruleTreeLeases)
			e.enqueue(startItem(instance))
			again := e.tryFetchParams(provider.FetchOrchestrationParams{LockTimeout: held})
			e.check(again != nil && again.Item.Instance == instance, ruleTreeLeases, "fetched %s, want the new %q", render(again), instance)
			e.commit(again, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{started(instance, 1)}, Metadata: created()})
		}
		e.deleteList(true, "child", "grandchild")
	}
}

// What was started without a version has none until a turn has named one, and then that one.
func noVersionInvented(e *env) {
	e.enqueue(startOf("A", "Order", ""))
	got := e.fetchInstance("A", held)
	same(e, got.Item.Version, provider.UnknownVersion, ruleNoInvention)
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{started("A", 1)}, Metadata: named("Order", provider.UnknownVersion)})
	e.wake("A")
	got = e.fetchInstance("A", held)
	same(e, got.Item.Version, provider.UnknownVersion, ruleNoInvention)
	info, err := e.admin().GetInstanceInfo(e.ctx, "A")
	e.ok(err, ruleNoInvention)
	same(e, info.OrchestrationVersion, provider.UnknownVersion, ruleNoInvention)
	e.commit(got, provider.AckOrchestrationParams{Metadata: named("Order", "7.0.0")})
	e.wake("A")
	same(e, e.fetchInstance("A", held).Item.Version, "7.0.0", ruleNoInvention)
}
