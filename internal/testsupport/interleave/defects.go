package interleave

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsqltest"
)

// What finds defects: all orders with a few interruptions, or some orders by each of many choices of plans, which seek where they can and lock rows at first.
var (
	everyOrder = tsqltest.Exploration{}
	anyPlan    = tsqltest.Exploration{Random: true, Plans: 200, RowLocks: true, Seeks: true, Schedules: 20_000}
)

// defects are what is known to fail. Whoever mends one takes its Known away.
func defects() []Scenario {
	return slices.Concat(turnsByOtherPlans(), workByOtherPlans(), byThePlannersPlans(), ofTheTable())
}

// turnsByOtherPlans fail by plans that the planner does not choose, when turns are taken and end.
func turnsByOtherPlans() []Scenario {
	return []Scenario{
		{
			Name: "the values of an instance may be merged by a scan",
			Prepare: heldTurn + fetchTurnOf(8) + "INSERT INTO duroxide.kv_delta (instance_id, kv_key, value, value_bytes, last_updated_at_ms) " +
				"VALUES (N'a', N'k', N'1', 1, 1), (N'b', N'k', N'1', 1, 1);",
			Sessions: []tsqltest.Session{does("one", setsValue(8, "Completed")), does("two", setsValue(9, "Completed"))},
			Known: &Known{
				Review: 13, Exploration: anyPlan, Want: []string{"error 1205", "kv_"},
				Victims: []string{"merge_values", "change_values"},
			},
		},
		{
			Name:     "a list of instances by status may come to them by their executions",
			Prepare:  heldTurn + call{"execution": "1"}.named("Order").ack(9) + enqueueTurn("a", 3) + fetchTurnOf(7) + fetchTurnOf(8),
			Sessions: []tsqltest.Session{does("list", "EXEC duroxide.list_instances_by_status @status = N'Running';"), does("ack", strings.Replace(ackTurnOf(8), "Running", "Completed", 1))},
			Known: &Known{
				Exploration: anyPlan, Want: []string{"error 1205", "list_instances_by_status"},
				Victims: []string{"list_instances_by_status"},
			},
		},
	}
}

// workByOtherPlans are those of activities, sessions and deletions.
func workByOtherPlans() []Scenario {
	return []Scenario{
		{
			Name:     "the write that takes an activity may seek by an index",
			Prepare:  heldTurn + enqueueWork("a", "NULL"),
			Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w1"), 0), does("ack", call{"execution": "1", "cancelled": "(1, N'a', 1, 1)"}.ack(9))},
			Allow:    []int32{1222},
			Known: &Known{
				Review: 3, Exploration: anyPlan, Want: []string{"error 1205", "fetch_work_item"},
				Victims: []string{"fetch_work_item", "ready_due_work"},
			},
		},
		{
			Name:     "a deletion may come to rows by an index",
			Prepare:  heldTurn + enqueueWork("a", "NULL"),
			Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w1"), 0), does("delete", withList(1, "(1, N'a')", "EXEC duroxide.delete_instances @list = @l%d, @force = 1;\n"))},
			Allow:    []int32{1222},
			Known: &Known{
				Review: 13, Exploration: anyPlan, Want: []string{"error 1205", "delete_list"},
				Victims: []string{"delete_list"},
			},
		},
	}
}

// byThePlannersPlans fail by the planner's plans.
func byThePlannersPlans() []Scenario {
	return []Scenario{
		{
			Name:     "a reader of the queues' lengths comes to the inbox by its message",
			Prepare:  heldTurn,
			Sessions: []tsqltest.Session{does("read", queueDepths), does("ack", ackTurnOf(9))},
			Known:    &Known{Review: 16, Exploration: everyOrder, Want: []string{"error 1205", "get_queue_depths"}, Victims: []string{"get_queue_depths"}},
		},
		{
			Name:     "a reader of a value comes to it by its key",
			Prepare:  heldTurn + "INSERT INTO duroxide.kv_delta (instance_id, kv_key, value, value_bytes, last_updated_at_ms) VALUES (N'a', N'k', N'1', 1, 1);",
			Sessions: []tsqltest.Session{does("get", getValue), does("ack", setsValue(9, "Completed"))},
			Known:    &Known{Review: 16, Exploration: everyOrder, Want: []string{"error 1205", "get_kv_value"}, Victims: []string{"get_kv_value"}},
		},
	}
}

// ofTheTable are operations of the table.
func ofTheTable() []Scenario {
	return []Scenario{
		known("a deletion in bulk leaves an inbox of what another has deleted", "delete instances", "delete in bulk",
			Known{Want: []string{"no order of the operations", "inbox e"}, VersionsToo: true}),
		known("two deletions in bulk leave an inbox", "delete in bulk", "delete in bulk",
			Known{Want: []string{"no order of the operations", "+ inbox"}, VersionsToo: true}),
		known("two deletions of orphan messages come to them by the key and by the kind", "delete orphan messages", "delete orphan messages",
			Known{Want: []string{"error 1205", "delete_orphan_messages"}, Victims: []string{"delete_orphan_messages", "count_orphan_messages"}}),
		known("a count of orphan messages comes to them by the kind", "delete orphan messages", "count messages",
			Known{Want: []string{"deadlock, victim", "count_orphan_messages"}}),
		known("two deletions of one tree come to its children by the index of parents", "delete instance", "delete instance",
			Known{Want: []string{"error 1205", "instance_tree"}, Victims: []string{"instance_tree", "delete_instance", "delete_instances"}}),
		known("a deletion in bulk comes to instances by executions", "delete instance", "delete in bulk",
			Known{Want: []string{"error 1205", "delete_instance_bulk"}, Victims: []string{"delete_instance_bulk"}}),
		known("a prune comes to instances by executions", "delete instance", "prune",
			Known{Want: []string{"error 1205", "prune_instance"}, Victims: []string{"prune_instance", "prune_executions", "prune_executions_bulk"}}),
		known("a reader of the tree comes to instances by the index of parents", "delete instance", "get the tree",
			Known{Want: []string{"error 1205", "delete_list"}, Victims: []string{"delete_list"}}),
		known("a reader of a value comes to it by its key while it is deleted", "delete instance", "get a value",
			Known{Want: []string{"error 1205", "delete_list"}, Victims: []string{"delete_list"}}),
		known("a reader of the queues' lengths comes to messages that are deleted by the inbox", "delete instance", "get depths",
			Known{Want: []string{"error 1205", "delete_list"}, Victims: []string{"delete_list"}}),
	}
}

// known is two operations of the table that are known to fail in some order.
func known(name, one, two string, k Known) Scenario {
	s := among([]string{one, two})
	k.Exploration = everyOrder
	s.Name, s.Known = name, &k
	return s
}
