package providertest

import (
	"fmt"
	"strconv"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleInfoNotFound = "§6.8: unknown → permanent \"Instance {id} not found\""
	ruleExecNotFound = "§6.9: unknown → permanent \"Execution {n} not found for instance {id}\""
	ruleBetween      = "§6.1: between a continue-as-new turn and the first turn of the next execution " +
		"an instance therefore shows ContinuedAsNew"
	ruleTree = "§6.14: the given id is always element 0, even if it does not exist (tree of one); " +
		"every descendant once; guard against cycles"
)

// listNewestFirst: the order is that of creation, whatever happens later.
func listNewestFirst(e *env) {
	for _, instance := range []string{"b", "c", "a"} {
		e.create(instance)
		e.tick()
	}
	e.turn("b", provider.AckOrchestrationParams{})
	sameList(e, e.instances(), []string{"a", "c", "b"}, ruleList)
}

// listStatusNewestFirst: a listing by status is ordered by creation too, not by
// completion.
func listStatusNewestFirst(e *env) {
	for _, instance := range []string{"b", "d", "a", "c"} {
		e.create(instance)
		e.tick()
	}
	e.finish("c", provider.StatusCompleted, "out")
	e.tick()
	e.finish("b", provider.StatusCompleted, "out")
	e.tick()
	e.finish("a", provider.StatusCompleted, "out")
	sameList(e, e.withStatus(provider.StatusCompleted), []string{"c", "a", "b"}, ruleListStatus)
}

// listUnknownStatus: a status nobody has, or that differs in case, lists nothing.
func listUnknownStatus(e *env) {
	e.create("runs")
	e.createEnded("done", provider.StatusCompleted)
	for _, status := range []provider.Status{"Paused", "", "running", "COMPLETED", "Completed ", provider.StatusUnknown} {
		sameList(e, e.withStatus(status), nil, "§6.4: exactly this status. Unknown status → empty")
	}
}

// statusBetween: after the continue-as-new turn the old execution is still the
// current one, with its status and output.
func statusBetween(e *env) {
	e.create("order")
	e.finish("order", provider.StatusContinuedAsNew, "next")
	info := e.info("order")
	same(e, info.Status, provider.StatusContinuedAsNew, ruleBetween)
	same(e, info.CurrentExecutionID, 1, "§4.2 step 1: current_execution_id still 1")
	samePtr(e, info.Output, new("next"), "§3.7: ContinuedAsNew: input of the next execution")
	sameList(e, e.withStatus(provider.StatusContinuedAsNew), []string{"order"}, ruleBetween)
	sameList(e, e.withStatus(provider.StatusRunning), nil, ruleBetween)
}

// statusOfCurrent: once the next execution has started, only its status and
// output show.
func statusOfCurrent(e *env) {
	const rule = "§6.1: an instance's status is the status of its current execution"
	e.createExecutions("order", 2)
	info := e.info("order")
	same(e, info.CurrentExecutionID, 2, "§5.2 step 6: current_execution_id = max(current, executionID)")
	same(e, info.Status, provider.StatusRunning, rule)
	samePtr(e, info.Output, nil, rule)
	sameList(e, e.withStatus(provider.StatusContinuedAsNew), nil, rule)
	e.finish("order", provider.StatusCompleted, "end")
	info = e.info("order")
	same(e, info.Status, provider.StatusCompleted, rule)
	samePtr(e, info.Output, new("end"), rule)
}

// infoUnknown: asking for an instance that does not exist, or is only queued,
// says which one was not found.
func infoUnknown(e *env) {
	e.enqueue(startItem("queued"))
	for _, instance := range []string{"nobody", "queued"} {
		_, err := e.admin().GetInstanceInfo(e.ctx, instance)
		e.permanent(err, provider.ErrNotFound, ruleInfoNotFound)
		e.saysAll(err, ruleInfoNotFound, instance, "not found")
	}
}

// infoTimes: creation and update times are about now, not 0, and in order.
func infoTimes(e *env) {
	const rule = "§2.1: audit timestamps SHOULD be epoch milliseconds too"
	e.create("order")
	info := e.info("order")
	e.plausible(info.CreatedAt, "CreatedAt", rule)
	e.plausible(info.UpdatedAt, "UpdatedAt", rule)
	e.check(!info.UpdatedAt.Before(info.CreatedAt), rule, "updated %v before created %v", info.UpdatedAt, info.CreatedAt)
}

// infoUpdated: every turn, even an empty one, moves the update time and leaves
// the creation time.
func infoUpdated(e *env) {
	const rule = "§5.2 step 16: updated_at SHOULD be set to now on the instance row"
	e.create("order")
	before := e.info("order")
	e.tick()
	e.turn("order", provider.AckOrchestrationParams{})
	after := e.info("order")
	e.check(after.UpdatedAt.After(before.UpdatedAt), rule, "UpdatedAt %v did not move past %v", after.UpdatedAt, before.UpdatedAt)
	e.check(after.CreatedAt.Equal(before.CreatedAt), rule, "CreatedAt moved from %v to %v", before.CreatedAt, after.CreatedAt)
}

// infoFollows: a turn that gives both name and version replaces them; one that
// gives a single one of them changes nothing.
func infoFollows(e *env) {
	const rule = "§5.2 step 3: only if both name and version are given … set name and version"
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{OrchestrationName: new("X")}})
	e.turn("order", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{OrchestrationVersion: new("9.0.0")}})
	info := e.info("order")
	same(e, info.OrchestrationName+" "+info.OrchestrationVersion, "Order 1.0.0", rule)
	e.turn("order", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{
		OrchestrationName: new("Order2"), OrchestrationVersion: new("2.0.0"),
	}})
	info = e.info("order")
	same(e, info.OrchestrationName+" "+info.OrchestrationVersion, "Order2 2.0.0", rule)
}

// infoParentStays: a later turn cannot move a child to another parent.
func infoParentStays(e *env) {
	const rule = "§5.2 step 3: the parent of an existing row is never overwritten"
	e.create("a")
	e.create("b")
	e.createChild("a", "child")
	metadata := created()
	metadata.ParentInstanceID = new("b")
	e.turn("child", provider.AckOrchestrationParams{Metadata: metadata})
	e.turn("child", provider.AckOrchestrationParams{Metadata: created()})
	samePtr(e, e.parent("child"), new("a"), rule)
	e.continueAsNew("child")
	samePtr(e, e.parent("child"), new("a"), "§7.6: the instances.parent_instance_id column survives")
	sameList(e, e.children("b"), nil, rule)
}

// executionUnknown: unknown executions and unknown instances are both errors that
// name them.
func executionUnknown(e *env) {
	e.create("order")
	for _, c := range []struct {
		instance  string
		execution uint64
	}{{"order", 2}, {"order", 0}, {"nobody", 1}} {
		_, err := e.admin().GetExecutionInfo(e.ctx, c.instance, c.execution)
		e.permanent(err, provider.ErrNotFound, ruleExecNotFound)
		e.saysAll(err, ruleExecNotFound, strconv.FormatUint(c.execution, 10), c.instance, "not found")
	}
}

// executionTimes: an execution starts with its own first turn and ends with the
// turn that gave it a final status, whichever that is.
func executionTimes(e *env) {
	const rule = "§5.2 steps 4 and 8: started now; completed_at = now for Completed, Failed and ContinuedAsNew"
	e.create("order")
	first := e.execution("order", 1)
	e.plausible(first.StartedAt, "StartedAt", rule)
	samePtr(e, first.CompletedAt, nil, rule)
	e.tick()
	e.continueAsNew("order")
	end := e.completedAt("order", 1)
	e.check(end.After(first.StartedAt), rule, "execution 1 started %v and completed %v", first.StartedAt, end)
	e.check(e.execution("order", 1).StartedAt.Equal(first.StartedAt), rule, "StartedAt of execution 1 moved")
	second := e.execution("order", 2)
	e.check(!second.StartedAt.Before(end), rule, "execution 2 started %v, before execution 1 ended %v", second.StartedAt, end)
	e.tick()
	e.finish("order", provider.StatusFailed, "out")
	e.check(e.completedAt("order", 2).After(second.StartedAt), rule, "execution 2 completed before it started")
	e.check(e.completedAt("order", 1).Equal(end), rule, "CompletedAt of execution 1 moved")
}

// executionEventCount: the count is of stored rows, gaps and large ids included,
// and grows with each turn.
func executionEventCount(e *env) {
	const rule = "§6.9: EventCount counts history rows of that execution"
	e.create("order")
	e.turn("order", provider.AckOrchestrationParams{HistoryDelta: []provider.Event{
		event("order", 1, 2, provider.ExternalSubscribed{Name: "a"}),
		event("order", 1, 99999, provider.ExternalSubscribed{Name: "b"}),
	}})
	same(e, e.execution("order", 1).EventCount, 3, rule)
	e.turn("order", provider.AckOrchestrationParams{})
	same(e, e.execution("order", 1).EventCount, 3, rule)
}

// latestExecutionID: the latest execution is the highest one that has begun, and
// an unknown instance has none.
func latestExecutionID(e *env) {
	const rule = "§6.7: highest execution id. Unknown instance: permanent not found error"
	latest := func(want uint64) {
		e.Helper()
		got, err := e.admin().LatestExecutionID(e.ctx, "order")
		e.ok(err, rule)
		same(e, got, want, rule)
	}
	e.create("order")
	latest(1)
	e.finish("order", provider.StatusContinuedAsNew, "next")
	latest(1)
	e.nextExecution("order", provider.AckOrchestrationParams{})
	latest(2)
	e.turn("order", provider.AckOrchestrationParams{ExecutionID: 7})
	latest(7)
	_, err := e.admin().LatestExecutionID(e.ctx, "nobody")
	e.permanent(err, provider.ErrNotFound, rule)
	e.saysAll(err, rule, "not found")
}

// childrenOrdered: children are listed as they were created, whatever their ids
// and later turns.
func childrenOrdered(e *env) {
	e.create("root")
	for _, child := range []string{"c", "a", "b"} {
		e.createChild("root", child)
		e.tick()
	}
	e.turn("c", provider.AckOrchestrationParams{})
	sameList(e, e.children("root"), []string{"c", "a", "b"}, "§6.12: SHOULD order by creation")
}

// treeUnknown: the tree of an unknown id holds that id alone.
func treeUnknown(e *env) {
	e.create("order")
	tree := e.tree("nobody")
	sameList(e, tree.AllIDs, []string{"nobody"}, ruleTree)
	same(e, tree.IsRootOnly(), true, ruleTree)
}

// treeDeepAndWide: neither depth nor width limits a tree, and deleting it takes
// all of it.
func treeDeepAndWide(e *env) {
	const depth, width = 120, 60
	e.create("root")
	want := []string{"root"}
	for parent, i := "root", 0; i < depth; i++ {
		child := fmt.Sprintf("deep-%d", i)
		e.createChild(parent, child)
		parent = child
		want = append(want, child)
	}
	for i := range width {
		child := fmt.Sprintf("wide-%d", i)
		e.createChild("deep-1", child)
		want = append(want, child)
	}
	tree := e.tree("root")
	sameSet(e, tree.AllIDs, want, ruleTree)
	same(e, tree.AllIDs[0], "root", ruleTree)
	same(e, e.delete("root", true).InstancesDeleted, uint64(len(want)), "§6.15 step 3: collect the tree (all descendants)")
}

// treeCycle: instances that name each other, or themselves, as parents form a
// tree that ends.
func treeCycle(e *env) {
	e.createChild("b", "a")
	e.createChild("a", "b")
	e.createChild("self", "self")
	sameList(e, e.tree("a").AllIDs, []string{"a", "b"}, ruleTree)
	sameList(e, e.tree("b").AllIDs, []string{"b", "a"}, ruleTree)
	sameList(e, e.tree("self").AllIDs, []string{"self"}, ruleTree)
	same(e, e.deleteList(true, "a", "b", "self").InstancesDeleted, 3, ruleDeleteCount)
}

// treeBelowUnknown: the tree of a parent that does not exist holds its children.
func treeBelowUnknown(e *env) {
	e.createChild("ghost", "child")
	e.createChild("child", "grandchild")
	sameList(e, e.tree("ghost").AllIDs, []string{"ghost", "child", "grandchild"}, ruleTree)
	sameList(e, e.children("ghost"), []string{"child"}, "§6.12: ids whose parent_instance_id is this instance")
}

// readHistoryVariants: the management reads return what the runtime's reads do.
func readHistoryVariants(e *env) {
	const rule = "§6.6: as §5.6 / §5.5"
	e.createExecutions("order", 2)
	for execution := uint64(1); execution <= 3; execution++ {
		events, err := e.admin().ReadHistoryWithExecutionID(e.ctx, "order", execution)
		e.ok(err, rule)
		e.sameEvents(events, e.history("order", execution), rule)
	}
	events, err := e.admin().ReadHistory(e.ctx, "order")
	e.ok(err, rule)
	e.sameEvents(events, []provider.Event{started("order", 2)}, rule)
	events, err = e.admin().ReadHistory(e.ctx, "nobody")
	e.check(err == nil && len(events) == 0, "§5.5: unknown instance → empty list, no error", "%v, %v", events, err)
}

// readHistoryCorrupted: an event that cannot be decoded fails the management
// reads of its execution, and of no other.
func readHistoryCorrupted(e *env) {
	const rule = "§6.6: undecodable event → permanent error \"Failed to deserialize event: …\""
	e.createExecutions("order", 2)
	e.corrupt("order", 1, 2, "{")
	_, err := e.admin().ReadHistoryWithExecutionID(e.ctx, "order", 1)
	e.permanent(err, provider.ErrCorrupt, rule)
	e.saysAll(err, rule, "Failed to deserialize event")
	events, err := e.admin().ReadHistory(e.ctx, "order")
	e.ok(err, rule)
	e.sameEvents(events, []provider.Event{started("order", 2)}, rule)
	e.corrupt("order", 2, 1, "{")
	_, err = e.admin().ReadHistory(e.ctx, "order")
	e.permanent(err, provider.ErrCorrupt, rule)
	e.saysAll(err, rule, "Failed to deserialize event")
}

// readsDoNotDecode: facts, counts and pruning work on rows, so a history that
// cannot be decoded does not fail them.
func readsDoNotDecode(e *env) {
	const rule = "§6.9: EventCount counts history rows of that execution; §6.18: deletes history and execution rows"
	e.createExecutions("order", 2)
	e.corrupt("order", 1, 1, "{")
	e.corrupt("order", 2, 1, "{")
	same(e, e.info("order").Status, provider.StatusRunning, rule)
	same(e, e.execution("order", 1).EventCount, 2, rule)
	same(e, e.metrics().TotalEvents, 3, rule)
	same(e, e.prune("order", provider.PruneOptions{}).EventsDeleted, 2, rule)
	same(e, e.delete("order", true).EventsDeleted, 1, rule)
}

// idsByteForByte: ids that a collation would take for equal are different
// instances to every management call.
func idsByteForByte(e *env) {
	const rule = "§2.2: instance_id: compared byte-for-byte, case-sensitive"
	similar := []string{"order-1", "ORDER-1", "order-１", "order_1", "order-%", "é", "e\u0301", "E", "ß", "ss"}
	for _, instance := range similar {
		e.createEnded(instance, provider.StatusCompleted)
	}
	for _, instance := range similar {
		same(e, e.info(instance).InstanceID, instance, rule)
		sameList(e, e.executions(instance), []uint64{1}, rule)
	}
	e.createChild("ORDER-1", "child")
	sameList(e, e.children("order-1"), nil, rule)
	got := e.deleteList(true, "order-1", "e\u0301", "order-%", "ss")
	same(e, got, provider.DeleteInstanceResult{InstancesDeleted: 4, ExecutionsDeleted: 4, EventsDeleted: 8}, rule)
	e.exists(rule, "ORDER-1", "order-１", "order_1", "é", "E", "ß", "child")
}

// idsTrailingSpace: a space at the end is part of an id, which SQL's padded
// comparison forgets.
func idsTrailingSpace(e *env) {
	const rule = "§2.2: instance_id: compared byte-for-byte, case-sensitive"
	e.createEnded("order", provider.StatusCompleted)
	e.createEnded("order ", provider.StatusFailed)
	sameSet(e, e.instances(), []string{"order", "order "}, rule)
	same(e, e.info("order").Status, provider.StatusCompleted, rule)
	same(e, e.info("order ").Status, provider.StatusFailed, rule)
	same(e, e.delete("order ", false).InstancesDeleted, 1, rule)
	e.exists(rule, "order")
}

// readsHarmless: reading about an instance that does not exist creates nothing,
// and reading about one that does leaves its messages free.
func readsHarmless(e *env) {
	const rule = "§4: instances: created only by ack; §5.1 step 9: first delivery reports 1"
	e.create("order")
	e.wake("order")
	before := e.metrics()
	for _, instance := range []string{"order", "nobody"} {
		_, _ = e.admin().GetInstanceInfo(e.ctx, instance)
		_, _ = e.admin().GetExecutionInfo(e.ctx, instance, 1)
		_, _ = e.admin().GetParentID(e.ctx, instance)
		_, _ = e.p.GetInstanceStats(e.ctx, instance)
		e.executions(instance)
		e.children(instance)
		e.tree(instance)
	}
	same(e, e.metrics(), before, rule)
	same(e, e.fetchInstance("order", held).AttemptCount, 1, rule)
}
