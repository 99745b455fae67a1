package providertest

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// deleteAtomic: a list goes as a whole, with summed counts, or not at all when
// one of it runs.
func deleteAtomic(e *env) {
	e.createEnded("a", provider.StatusCompleted)
	e.createEnded("b", provider.StatusFailed)
	e.create("runs")
	e.createEnded("other", provider.StatusCompleted)
	result, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"a", "runs", "b"}, false)
	e.permanent(err, provider.ErrStillRunning, ruleRunning)
	e.saysAll(err, "§6.2: text contains \"still running\"", "runs", "still running")
	same(e, result, provider.DeleteInstanceResult{}, ruleRunning)
	e.exists(ruleRunning, "a", "b", "runs")
	same(e, e.deleteList(false, "a", "b"), provider.DeleteInstanceResult{
		InstancesDeleted: 2, ExecutionsDeleted: 2, EventsDeleted: 4,
	}, ruleDeleteCount)
	e.gone(ruleDelete, "a", "b")
	e.exists(ruleDelete, "runs", "other")
}

// deleteAtomicForce: with force running instances in the list go too.
func deleteAtomicForce(e *env) {
	e.create("a")
	e.create("b")
	e.createEnded("done", provider.StatusCompleted)
	e.wake("b")
	same(e, e.deleteList(true, "a", "b", "done"), provider.DeleteInstanceResult{
		InstancesDeleted: 3, ExecutionsDeleted: 3, EventsDeleted: 4, QueueMessagesDeleted: 1,
	}, ruleDeleteCount)
	e.gone(ruleDelete, "a", "b", "done")
}

// deleteAtomicOrphans: a list that would leave a child behind is refused with
// force and without, names both sides, and succeeds once it is complete.
func deleteAtomicOrphans(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "late-child", provider.StatusCompleted)
	e.createEnded("other", provider.StatusCompleted)
	for _, force := range []bool{false, true} {
		result, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"other", "root"}, force)
		e.permanent(err, provider.ErrOrphanedChild, ruleOrphan)
		e.saysAll(err, ruleOrphan, "root", "late-child")
		same(e, result, provider.DeleteInstanceResult{}, ruleOrphan)
		e.exists(ruleOrphan, "root", "late-child", "other")
	}
	same(e, e.deleteList(false, "root", "late-child", "other").InstancesDeleted, 3, ruleDeleteCount)
	e.gone(ruleDelete, "root", "late-child", "other")
}

// atomicEmpty: an empty list deletes nothing.
func atomicEmpty(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	for _, list := range [][]string{nil, {}} {
		same(e, e.deleteList(true, list...), provider.DeleteInstanceResult{}, "§6.16 step 1: empty list → zero result")
	}
	e.exists("§6.16 step 1: empty list → zero result", "order")
}

// atomicUnknown: unknown ids in a list neither fail nor count.
func atomicUnknown(e *env) {
	const rule = "§6.16: unknown ids in the list: ignored; InstancesDeleted = rows actually deleted"
	e.createEnded("order", provider.StatusCompleted)
	same(e, e.deleteList(false, "nobody", "order"), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2,
	}, rule)
	same(e, e.deleteList(true, "nobody", "order"), provider.DeleteInstanceResult{}, rule)
}

// atomicRepeated: an id that is listed twice is deleted and counted once.
func atomicRepeated(e *env) {
	e.createEnded("order", provider.StatusCompleted)
	e.wake("order")
	same(e, e.deleteList(false, "order", "order"), provider.DeleteInstanceResult{
		InstancesDeleted: 1, ExecutionsDeleted: 1, EventsDeleted: 2, QueueMessagesDeleted: 1,
	}, "§6.16 step 6: InstancesDeleted = rows actually deleted")
}

// atomicChildren: unlike DeleteInstance, a list may hold children without their
// root, as long as it leaves no orphan.
func atomicChildren(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "child", provider.StatusCompleted)
	e.createEndedChild("child", "grandchild", provider.StatusCompleted)
	same(e, e.deleteList(false, "child", "grandchild").InstancesDeleted, 2,
		"§6.16 step 4: refused only if an instance not in the list has a parent in the list")
	e.exists(ruleDelete, "root")
	sameList(e, e.children("root"), nil, ruleDelete)
}

// atomicMiddle: a list that skips a generation is refused, and names the child
// left out and its parent.
func atomicMiddle(e *env) {
	e.createEnded("root", provider.StatusCompleted)
	e.createEndedChild("root", "middle", provider.StatusCompleted)
	e.createEndedChild("middle", "leaf", provider.StatusCompleted)
	_, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"root", "leaf"}, true)
	e.permanent(err, provider.ErrOrphanedChild, ruleOrphan)
	e.saysAll(err, ruleOrphan, "root", "middle")
	e.exists(ruleOrphan, "root", "middle", "leaf")
}

// atomicLongList: a list has no upper bound: 1,500 ids are one transaction, and
// one running instance among them keeps them all.
func atomicLongList(e *env) {
	const n = 1500
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("order-%d", i)
	}
	kept := []string{list[0], list[n/2], list[n-1]}
	for _, instance := range kept {
		e.createEnded(instance, provider.StatusCompleted)
	}
	e.create(list[n-2])
	_, err := e.admin().DeleteInstancesAtomic(e.ctx, list, false)
	e.permanent(err, provider.ErrStillRunning, ruleRunning)
	e.exists(ruleRunning, kept...)
	same(e, e.deleteList(true, list...), provider.DeleteInstanceResult{
		InstancesDeleted: 4, ExecutionsDeleted: 4, EventsDeleted: 7,
	}, "§6.16: one transaction for the whole list")
	e.gone(ruleDelete, list[0], list[n/2], list[n-2], list[n-1])
}

// atomicAllOrNothing: a refused list leaves queues, locks and turns of its
// finished members as they were.
func atomicAllOrNothing(e *env) {
	e.createWithActivities("done", 2)
	e.finish("done", provider.StatusCompleted, "out")
	e.create("runs")
	e.wake("done")
	turn, work := e.fetchInstance("done", held), e.fetchWork(held)
	_, err := e.admin().DeleteInstancesAtomic(e.ctx, []string{"done", "runs"}, false)
	e.permanent(err, provider.ErrStillRunning, ruleRunning)
	e.commit(turn, provider.AckOrchestrationParams{})
	e.ackWork(work)
	e.batch(e.fetchInstance("done", held), ruleRunning, completedItem("done", 2))
}
