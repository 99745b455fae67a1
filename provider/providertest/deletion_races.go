package providertest

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleTurnLost   = "§6.16: turn in progress: its ack fails (Invalid lock token), nothing is recreated"
	ruleTreeLeases = "§6.15: delete lock rows and activities of the whole tree: their tokens are unknown"
)

// deletePreventsAck: a turn that was running when its instance was deleted cannot
// commit, and leaves nothing behind.
func deletePreventsAck(e *env) {
	e.create("order")
	e.wake("order")
	got := e.fetchInstance("order", held)
	e.delete("order", true)
	err := e.p.AckOrchestrationItem(e.ctx, provider.AckOrchestrationParams{
		LockToken: got.LockToken, ExecutionID: 1, Metadata: created(),
		HistoryDelta:      []provider.Event{event("order", 1, 2, provider.ActivityScheduled{Name: "Charge", Input: "{}"})},
		WorkerItems:       []provider.WorkItem{activityItem("order", 2)},
		OrchestratorItems: []provider.WorkItem{raised("order", "self")},
	})
	e.permanent(err, provider.ErrInvalidLockToken, ruleTurnLost)
	e.saysAll(err, "§2.3: unknown lock token: contains \"Invalid lock token\"", "Invalid lock token")
	e.gone(ruleTurnLost, "order")
	same(e, e.depths(), provider.QueueDepths{}, ruleTurnLost)
	same(e, e.metrics(), provider.SystemMetrics{}, ruleTurnLost)
}

// staleActivity: a worker of the old life cannot complete, renew or abandon
// anything of an instance recreated under the same id.
func staleActivity(e *env) {
	const rule = "§6.16: re-creation with the same id: stale tokens of the old life stay invalid"
	e.createWithActivities("order", 2)
	stale := e.fetchWork(held)
	e.delete("order", true)
	e.createWithActivities("order", 2)
	e.permanent(e.p.AckWorkItem(e.ctx, stale.LockToken, completedItem("order", 2)), provider.ErrLockLost, rule)
	e.permanent(e.p.RenewWorkItemLock(e.ctx, stale.LockToken, held), provider.ErrLockLost, rule)
	e.permanent(e.p.AbandonWorkItem(e.ctx, provider.AbandonParams{LockToken: stale.LockToken}),
		provider.ErrInvalidLockToken, rule)
	e.fetchNone(rule)
	fresh := e.fetchWork(held)
	same(e, fresh.AttemptCount, 1, rule)
	e.ackWork(fresh)
	same(e, len(e.fetchInstance("order", held).Item.Messages), 1, rule)
}

// deleteStaleTurn: the token of a turn of the old life stays invalid, even while
// the successor is locked by another turn.
func deleteStaleTurn(e *env) {
	const rule = "§6.16: re-creation with the same id: stale tokens of the old life stay invalid"
	e.create("order")
	e.wake("order")
	stale := e.fetchInstance("order", held)
	e.delete("order", true)
	e.create("order")
	e.wake("order")
	fresh := e.fetchInstance("order", held)
	ack := provider.AckOrchestrationParams{
		HistoryDelta: []provider.Event{event("order", 1, 2, terminal(provider.StatusFailed, "stale"))},
		Metadata:     ended(provider.StatusFailed, "stale"),
	}
	e.permanent(e.p.AckOrchestrationItem(e.ctx, turnOf(stale, ack)), provider.ErrInvalidLockToken, rule)
	e.permanent(e.p.RenewOrchestrationItemLock(e.ctx, stale.LockToken, held), provider.ErrInvalidLockToken, rule)
	same(e, e.info("order").Status, provider.StatusRunning, rule)
	e.commit(fresh, provider.AckOrchestrationParams{})
}

// forceDelete deletes an instance beside other calls.
func (e *env) forceDelete(instance string) error {
	return patiently(func() error {
		_, err := e.p.Admin().DeleteInstance(e.ctx, instance, true)
		return err
	})
}

// deleteRacesAck: whether the turn's ack or the deletion comes first, nothing of
// the instance is left.
func deleteRacesAck(e *env) {
	e.admin()
	for i := range 15 {
		instance := fmt.Sprintf("order-%d", i)
		e.create(instance)
		e.wake(instance)
		got := e.fetchInstance(instance, held)
		e.together(2, func(i int) error {
			if i == 0 {
				return e.forceDelete(instance)
			}
			err := patiently(func() error {
				return e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
					HistoryDelta:      []provider.Event{event(instance, 1, 2, setKey("k", "v"))},
					WorkerItems:       []provider.WorkItem{activityItem(instance, 3)},
					OrchestratorItems: []provider.WorkItem{raised(instance, "self")},
					Metadata:          created(),
				}))
			})
			if err != nil && !errors.Is(err, provider.ErrInvalidLockToken) {
				return violation(ruleTurnLost, "ack beside a delete: %v", err)
			}
			return nil
		})
		e.gone(ruleTurnLost, instance)
		same(e, e.depths(), provider.QueueDepths{}, ruleTurnLost)
		same(e, e.metrics(), provider.SystemMetrics{}, ruleTurnLost)
	}
}

// deleteRacesWorker: whether a worker's ack or the deletion comes first, no
// completion is left behind for a successor.
func deleteRacesWorker(e *env) {
	e.admin()
	for i := range 15 {
		instance := fmt.Sprintf("order-%d", i)
		e.createWithActivities(instance, 2)
		work := e.fetchWork(held)
		e.together(2, func(i int) error {
			if i == 0 {
				return e.forceDelete(instance)
			}
			err := patiently(func() error {
				return e.p.AckWorkItem(e.ctx, work.LockToken, completedItem(instance, 2))
			})
			if err != nil && !lostLock(err) {
				return violation(ruleCancelled, "worker ack beside a delete: %v", err)
			}
			return nil
		})
		e.gone(ruleDelete, instance)
		same(e, e.depths(), provider.QueueDepths{}, ruleDelete)
	}
}

// deleteRacesChild: a child that is created while its root is deleted either
// stops the deletion, or is deleted with the root, or outlives it; no instance is
// ever left half.
func deleteRacesChild(e *env) {
	e.admin()
	for i := range 15 {
		root, child := fmt.Sprintf("root-%d", i), fmt.Sprintf("child-%d", i)
		e.create(root)
		e.enqueue(startItem(child))
		got := e.fetchInstance(child, held)
		metadata := created()
		metadata.ParentInstanceID = &root
		var deleted error
		e.together(2, func(i int) error {
			if i == 0 {
				deleted = e.forceDelete(root)
				return nil
			}
			return patiently(func() error {
				return e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
					HistoryDelta: []provider.Event{started(child, 1)}, Metadata: metadata,
				}))
			})
		})
		e.wholeOrGone(child)
		if deleted != nil {
			e.permanent(deleted, provider.ErrOrphanedChild, ruleOrphan)
			e.exists(ruleOrphan, root, child)
		} else {
			e.gone(ruleDelete, root)
		}
	}
}

// wholeOrGone asserts that an instance has its row exactly when it has executions
// and events.
func (e *env) wholeOrGone(instance string) {
	e.Helper()
	_, err := e.admin().GetInstanceInfo(e.ctx, instance)
	whole := err == nil
	same(e, len(e.executions(instance)) > 0, whole, "§2.4: all effects or none: executions of "+instance)
	same(e, len(e.read(instance)) > 0, whole, "§2.4: all effects or none: history of "+instance)
}

// deleteTwice: of deletions at the same time one does the work; the others find
// nothing.
func deleteTwice(e *env) {
	const callers = 6
	admin := e.admin()
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "child", provider.StatusCompleted)
	var results [callers]provider.DeleteInstanceResult
	e.together(callers, func(i int) error {
		err := patiently(func() (err error) {
			results[i], err = admin.DeleteInstance(e.ctx, "root", true)
			return err
		})
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			return violation(ruleNotFound, "DeleteInstance beside others: %v", err)
		}
		return nil
	})
	var sum provider.DeleteInstanceResult
	for _, r := range results {
		sum.InstancesDeleted += r.InstancesDeleted
		sum.ExecutionsDeleted += r.ExecutionsDeleted
		sum.EventsDeleted += r.EventsDeleted
	}
	same(e, sum, provider.DeleteInstanceResult{InstancesDeleted: 2, ExecutionsDeleted: 2, EventsDeleted: 4}, ruleDeleteCount)
	e.gone(ruleDelete, "root", "child")
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
