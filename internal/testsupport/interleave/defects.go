package interleave

import "github.com/duroxide/duroxide-go/tsqltest"

// anyPlan finds defects: some orders by each of many choices of plans, which seek where they can and lock rows at first.
var anyPlan = tsqltest.Exploration{Random: true, Plans: 200, RowLocks: true, Seeks: true, Schedules: 20_000}

// defects are what is known to fail. Whoever mends one takes its Known away.
func defects() []Scenario {
	return workByOtherPlans()
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
