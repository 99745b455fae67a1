package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
			Name:     "a write that is guarded by the token of a turn may seek by it",
			Prepare:  heldTurn,
			Sessions: []tsqltest.Session{does("renew", renewTurnOf(9)), does("ack", ackTurnOf(9))},
			Allow:    []int32{50_010},
			Known: &Known{
				Review: 3, Exploration: anyPlan, Want: []string{"error 1205", "duroxide.inboxes.uq_inboxes_token"},
				Victims: []string{"renew_orchestration_item_lock", "abandon_orchestration_item", "ack_orchestration_item", "set_messages_aside"},
			},
		},
		{
			Name:     "the write that takes an instance may seek by the ready index",
			Prepare:  twoTurns,
			Sessions: []tsqltest.Session{fetches("one", fetchTurnOf(1), 1), fetches("two", fetchTurnOf(2), 1)},
			Known: &Known{
				Review: 3, Exploration: anyPlan, Want: []string{"error 1205", "duroxide.inboxes.ix_inboxes_ready"},
				Victims: []string{"fetch_orchestration_item", "ready_due_inboxes", "refresh_inbox", "lock_inbox"},
			},
		},
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
			Name:     "a write that is guarded by the token of an activity may seek by it",
			Prepare:  heldWork,
			Sessions: []tsqltest.Session{does("renew", renewWorkOf(9)), does("ack", ackWorkOf(9, "a"))},
			Allow:    []int32{50_010},
			Known: &Known{
				Review: 3, Exploration: anyPlan, Want: []string{"error 1205", "duroxide.worker_queue.uq_worker_queue_token"},
				Victims: []string{"renew_work_item_lock", "abandon_work_item", "ack_work_item", "set_work_aside"},
			},
		},
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
		{
			Name:     "a renewal of sessions comes to the row by its index, and a claim to the index by the row",
			Prepare:  aSession,
			Sessions: []tsqltest.Session{does("renew", renewSessions), does("claim", claims("w1", "s1"))},
			Known: &Known{
				Review: 4, Exploration: anyPlan, Want: []string{"error 1205", "duroxide.sessions.ix_sessions_end"},
				Victims: []string{"claim_session", "renew_session_lock", "stamp_session", "cleanup_orphaned_sessions"},
			},
		},
		{
			Name:    "a search for work of sessions comes to the session by its index",
			Prepare: aSession,
			Sessions: []tsqltest.Session{
				does("aside", "EXEC duroxide.set_work_aside @lock_token = "+tokenOf(9)+", @error = N'e', @free_session = 1;"),
				fetches("fetch", fetchWorkOf(2, "w1"), 0),
			},
			Known: &Known{Exploration: anyPlan, Want: []string{"error 1205", "find_session_work"}, Victims: []string{"find_session_work"}},
		},
	}
}

// byThePlannersPlans fail by the planner's plans.
func byThePlannersPlans() []Scenario {
	return []Scenario{
		{
			Name:    "a fetch moves all that is due before it takes anything, and its lease begins before that",
			Prepare: manyDue,
			Sessions: []tsqltest.Session{{Name: "fetch", Run: func(p *tsqltest.Player) error {
				p.Advance(time.Minute)
				_, err := p.Exec(fetchTurnOf(1))
				return err
			}}},
			Check: func(e *tsqltest.End) error {
				if n, ok := e.Value("SELECT COUNT(*) FROM duroxide.inboxes WHERE head_id IS NOT NULL").(int64); !ok || n > 64 {
					return fmt.Errorf("one fetch has moved %d instances", n+1)
				}
				return nil
			},
			Known: &Known{Review: 1, Exploration: tsqltest.Exploration{Preemptions: -1}, Want: []string{"moved 300 instances"}},
		},
		{
			Name:     "a new version of the framework makes fetches wait",
			Prepare:  heldTurn,
			Sessions: []tsqltest.Session{does("fetch", "SET LOCK_TIMEOUT 0; "+fetchTurnOf(1)), does("ack", ofVersion(ackTurnOf(9)))},
			Known:    &Known{Review: 11, Exploration: everyOrder, Want: []string{"error 1222", "framework_versions"}},
		},
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
		{
			Name:     "a claim keeps a session that it did not get",
			Prepare:  twoSessions,
			Sessions: []tsqltest.Session{does("renew", renewSessions), does("claim", claims("w3", "s2", "s1"))},
			Known:    &Known{Review: 17, Exploration: everyOrder, Want: []string{"error 1205", "claim_session"}},
		},
		{
			Name:     "a session that changes hands while it is renewed is renewed twice",
			Prepare:  twoSessions + enqueueWork("c", "s1"),
			Sessions: []tsqltest.Session{does("renew", renewSessions), fetches("fetch", fetchWorkOf(1, "w2"), 0), passing(31 * time.Second)},
			Known:    &Known{Exploration: everyOrder, Want: []string{"error 2627", "renew_session_lock"}},
		},
	}
}

// ofTheTable are operations of the table.
func ofTheTable() []Scenario {
	return []Scenario{
		known("a session is not freed with its last activity if it is renewed meanwhile", "set work aside", "renew sessions",
			Known{Want: []string{"no order of the operations", "session sa wa"}, VersionsToo: true}),
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
