package interleave

import (
	"fmt"
	"slices"
	"strings"
)

// operation is one of the contract's, on an instance of the world. The table of operations makes the matrix: each
// beside each.
type operation struct {
	name string
	// batch calls it for an instance, a or b, in the n-th session.
	batch func(id string, n int) string
	// reads says that it changes nothing.
	reads bool
	// anywhere says that it is about no instance in particular.
	anywhere bool
	// claims is the table whose rows it takes: inboxes or worker_queue, or both.
	claims string
	// portions says that it commits more than once.
	portions bool
	// parts says that others may see a part of it, because it is several calls in one: the end may be that of no order.
	parts bool
	// disorderly says that it locks instances in another order than that of their ids, so that it may be a deadlock's
	// victim.
	disorderly bool
}

// held are the numbers of the tokens that hold the turn and the activities of an instance.
func held(id string) (turn, work, sessionWork int) {
	n := 100
	if id == "b" {
		n = 200
	}
	return n + 5, n + 11, n + 12
}

// otherThan is the other of a and b.
func otherThan(id string) string {
	if id == "a" {
		return "b"
	}
	return "a"
}

// on makes a batch of a text in which %s is the instance.
func on(format string) func(string, int) string {
	return func(id string, _ int) string { return fmt.Sprintf(format, id) }
}

// always is a batch that is about no instance.
func always(batch string) func(string, int) string {
	return func(string, int) string { return batch }
}

func turnOf(f func(turn int) string) func(string, int) string {
	return func(id string, _ int) string {
		turn, _, _ := held(id)
		return f(turn)
	}
}

func workOf(f func(work int) string) func(string, int) string {
	return func(id string, _ int) string {
		_, work, _ := held(id)
		return f(work)
	}
}

func sessionWorkOf(f func(work int) string) func(string, int) string {
	return func(id string, _ int) string {
		_, _, work := held(id)
		return f(work)
	}
}

// withList is a call with a list of type id_list_v1.
func withList(n int, ids, format string) string {
	return fmt.Sprintf("DECLARE @l%d duroxide.id_list_v1; INSERT INTO @l%[1]d VALUES %s; "+format, n, ids, n)
}

// deletesTree deletes a root with its descendants.
func deletesTree(n int, root string, force int) string {
	return withRoots(n, fmt.Sprintf("(1, N'%s')", root), fmt.Sprintf("@force = %d, @ended_before = NULL, @wait = 1", force))
}

// deletesEnded deletes roots that ended before a time as a deletion in bulk does: it waits for nobody.
func deletesEnded(n int, roots, before string) string {
	return withRoots(n, roots, "@force = 1, @ended_before = "+before+", @wait = 0")
}

// prunes deletes old executions of listed instances, or of all without ids.
func prunes(n int, ids, arguments string) string {
	if ids == "" {
		return withList(n, "(1, N'a')", "EXEC duroxide.prune_executions @listed = 0, @list = @l%d, "+arguments+";\n")
	}
	return withList(n, ids, "EXEC duroxide.prune_executions @listed = 1, @list = @l%d, "+arguments+";\n")
}

// prunesOne keeps one execution besides, of all that have ended.
const prunesOne = "@after = NULL, @ended_before = NULL, @max_instances = 10, @keep_last = 1, @completed_before = NULL"

func withRoots(n int, roots, arguments string) string {
	return fmt.Sprintf("DECLARE @r%[1]d duroxide.id_list_v1; INSERT INTO @r%[1]d VALUES %[2]s; EXEC duroxide.delete_trees @list = @r%[1]d, %[3]s;\n", n, roots, arguments)
}

// both are the tables that a take claims in.
const both = "inboxes and worker_queue"

// another is the number of the token of the second activity that the n-th session takes.
func another(n int) int { return n + 50 }

// takeBy adds to a call what it takes: a turn and two activities, one after the other.
func takeBy(n int, exec string) string {
	return taking(n, exec, asking{owner: "claimant", tags: anyTag})
}

// takeTogether is takeBy for a worker without sessions that knows the set 0x03.
func takeTogether(n int, exec string) string {
	return taking(n, exec, asking{known: "0x03"})
}

// taking adds to a call what it takes: a turn, and two activities.
func taking(n int, exec string, a asking) string {
	declare, call, _ := strings.Cut(exec, "EXEC ")
	if strings.Contains(call, "@") {
		call += ","
	}
	list, turn := turnClaim(n, 0)
	return declare + a.list(fmt.Sprintf("@w%d", n), n, another(n)) + turn + fmt.Sprintf("EXEC %s @turn = %s, @work = @w%d;\n", call, list, n)
}

// completions is the end of activities in one call.
func completions(n int, id string, work ...int) string {
	var rows []string
	for i, token := range work {
		rows = append(rows, fmt.Sprintf("(%d, %d, %s, N'%s', N'{}')", i, idOf(token), tokenOf(token), id))
	}
	return fmt.Sprintf("DECLARE @a%d duroxide.completion_list_v1; INSERT INTO @a%[1]d VALUES %s;\nEXEC duroxide.ack_work_item @acks = @a%[1]d", n, strings.Join(rows, ", "))
}

func operations() []operation {
	return slices.Concat(turns(), work(), transactions(), admin(), readers())
}

func turns() []operation {
	return []operation{
		{name: "enqueue turn", batch: func(id string, n int) string {
			return fmt.Sprintf("EXEC duroxide.enqueue_for_orchestrator @instance_id = N'%s', @kind = 3, @name = NULL, @version = NULL, @work_item = N'{\"from\":%d}', @delay_ms = 0;\n", id, n)
		}},
		{name: "enqueue to queue", batch: enqueueMessage},
		{name: "enqueue timer", batch: func(id string, n int) string {
			return fmt.Sprintf("EXEC duroxide.enqueue_for_orchestrator @instance_id = N'%s', @kind = 3, @name = NULL, @version = NULL, @work_item = N'{\"timer\":%d}', @delay_ms = 40000;\n", id, n)
		}},
		{name: "start instance", batch: on("EXEC duroxide.start_instance @instance_id = N'new %s', @kind = 2, @name = N'Order', @version = N'1.0.0', @work_item = N'{}';\n")},
		{name: "fetch turn", batch: func(_ string, n int) string { return fetchTurnOf(n) }, anywhere: true, claims: "inboxes", portions: true},
		{name: "take", anywhere: true, claims: both, portions: true, batch: func(_ string, n int) string { return takeBy(n, "EXEC duroxide.take") }},
		{name: "take together", anywhere: true, claims: both, portions: true, batch: func(_ string, n int) string {
			return takeTogether(n, "EXEC duroxide.take")
		}},
		{name: "ack turn and take", claims: both, portions: true, batch: func(id string, n int) string {
			turn, _, _ := held(id)
			ack := strings.TrimSuffix(call{"events": events(3), "messages": message(1, otherThan(id), "{}", 0), "activities": activity(1, id, 5, null)}.ack(turn), ";\n")
			return takeBy(n, ack)
		}},
		{name: "peek turn", anywhere: true, claims: "inboxes", portions: true, batch: func(_ string, n int) string { return peekTurnOf(n) }},
		{name: "ack peeked turn", batch: turnOf(call{"events": events(3), "peeked": "1", "queues": "(1, N'q', 1, 1), (2, N'r', 0, 1)"}.ack)},
		{name: "ack turn", batch: turnOf(call{"events": events(3), "custom": "N'on'"}.ack)},
		{name: "ack turn with everything", batch: func(id string, _ int) string {
			turn, _, _ := held(id)
			return call{
				"events": events(3, 4), "changes": "(1, N'k', N'2', 1, 2), (2, N'l', N'1', 1, 2)", "drop_timers": "1",
				"messages": childStart(1, id+".d") + ", " + message(2, id+".c", "{}", 0) + ", " +
					message(3, "c", "{}", 0) + ", " + message(4, id, `{"timer":2}`, 30_000) + ", " + message(5, otherThan(id), "{}", 0),
				"activities": activity(1, id, 5, null) + ", " + activity(2, id, 6, "N's"+id+"'"),
				"cancelled":  fmt.Sprintf("(1, N'%s', 3, 1), (2, N'%s', 3, 4)", id, id),
			}.ack(turn)
		}},
		{name: "ack turn, continue as new", batch: func(id string, _ int) string {
			turn, _, _ := held(id)
			return call{
				"events": events(3), "status": "N'ContinuedAsNew'", "drop_timers": "1",
				"messages": "(1, N'" + id + "', 1, N'Order', N'1.0.0', NULL, N'{\"next\":2}', 0)",
			}.ack(turn)
		}},
		{name: "ack turn, complete", batch: func(id string, _ int) string {
			turn, _, _ := held(id)
			return call{
				"events": events(3), "status": "N'Completed'", "output": "N'done'", "changes": "(1, N'k', NULL, 0, 2)",
				"cancelled": fmt.Sprintf("(1, N'%s', 3, 1), (2, N'%s', 3, 2), (3, N'%s', 3, 3)", id, id, id),
			}.ack(turn)
		}},
		{name: "abandon turn", batch: turnOf(abandonTurnOf)},
		{name: "hold turn", batch: turnOf(holdTurnOf)},
		{name: "retry held instance", batch: on("EXEC duroxide.retry_held_instance @instance_id = N'%s';\n")},
		{name: "renew turn", batch: turnOf(renewTurnOf)},
		{name: "set messages aside", batch: func(id string, n int) string {
			turn, _, _ := held(id)
			return fmt.Sprintf("DECLARE @l%d duroxide.letter_list_v1; INSERT INTO @l%[1]d SELECT 1, MIN(q.id), N'bad' FROM duroxide.orchestrator_queue AS q WITH (READPAST) WHERE q.instance_id = N'%s' AND q.kind = 3 AND EXISTS (SELECT 1 FROM duroxide.inboxes AS b WITH (READUNCOMMITTED) WHERE b.instance_id = q.instance_id AND b.lock_token = %s AND q.visible_at <= b.claimed_at AND q.id <= b.claimed_to) HAVING COUNT(*) > 0; "+
				"EXEC duroxide.set_messages_aside @instance_id = N'%[2]s', @lock_token = %[3]s, @letters = @l%[1]d, @release = 0;\n", n, id, tokenOf(turn))
		}},
		{name: "append events", batch: func(id string, n int) string {
			return fmt.Sprintf("DECLARE @e%d duroxide.event_list_v1; INSERT INTO @e%[1]d VALUES %s; EXEC duroxide.append_with_execution @instance_id = N'%s', @execution_id = 3, @events = @e%[1]d;\n", n, events(3), id)
		}},
	}
}

func work() []operation {
	return []operation{
		{name: "enqueue work", batch: func(id string, n int) string { return enqueueWorkOf(id, 10+n, "NULL", "NULL") }},
		{name: "enqueue work of a session", batch: func(id string, n int) string { return enqueueWorkOf(id, 10+n, "N's"+id+"'", "NULL") }},
		{name: "fetch work", anywhere: true, claims: "worker_queue", portions: true, batch: func(_ string, n int) string {
			return fetchWorkBy(n, asking{owner: "claimant", tags: anyTag})
		}},
		{name: "ack work", batch: func(id string, _ int) string {
			_, work, _ := held(id)
			return ackWorkOf(work, id)
		}},
		{name: "ack work of a session", batch: func(id string, _ int) string {
			_, _, work := held(id)
			return ackWorkOf(work, id)
		}},
		{name: "ack work and take", claims: both, portions: true, batch: func(id string, n int) string {
			_, _, work := held(id)
			return takeBy(n, completions(n, id, work))
		}},
		{name: "ack works and take", claims: both, portions: true, parts: true, batch: func(id string, n int) string {
			_, work, sessionWork := held(id)
			return takeTogether(n, completions(n, id, work, sessionWork))
		}},
		{name: "renew locks", portions: true, batch: func(id string, n int) string {
			turn, work, sessionWork := held(id)
			return fmt.Sprintf("DECLARE @l%d duroxide.lease_list_v1; INSERT INTO @l%[1]d VALUES (0, 0, N'%s', %s, 1, 60000), (1, %d, NULL, %s, 0, 60000), (2, %d, NULL, %s, 0, 60000); EXEC duroxide.renew_locks @locks = @l%[1]d;\n",
				n, id, tokenOf(turn), idOf(work), tokenOf(work), idOf(sessionWork), tokenOf(sessionWork))
		}},
		{name: "abandon work", batch: workOf(abandonWorkOf)},
		{name: "abandon work of a session", batch: sessionWorkOf(abandonWorkOf)},
		{name: "renew work", batch: sessionWorkOf(renewWorkOf)},
		{name: "set work aside", batch: sessionWorkOf(func(n int) string {
			return fmt.Sprintf("EXEC duroxide.set_work_aside %s, @error = N'bad', @free_session = 1;\n", leaseOf(n))
		})},
		{name: "give back", portions: true, parts: true, batch: func(id string, n int) string {
			turn, work, sessionWork := held(id)
			return fmt.Sprintf("DECLARE @t%d duroxide.token_list_v1; INSERT INTO @t%[1]d VALUES (0, 0, %s), (1, 0, %s), (2, 0, %s); EXEC duroxide.give_back @turn_token = %s, @work_tokens = @t%[1]d, @called_ms = 60000, @least_ms = 30000, @most_ms = 30000;\n",
				n, tokenOf(work), tokenOf(sessionWork), tokenOf(another(n)), tokenOf(turn))
		}},
		{name: "send a message again", batch: letterOf("orchestrator",
			"EXEC duroxide.requeue_message @id = %[1]d, @instance_id = N'%[2]s', @kind = 3, @name = NULL, @version = NULL, @work_item = N'{}', @delay_ms = 0;\n")},
		{name: "send an activity again", batch: letterOf("worker",
			"EXEC duroxide.requeue_work @id = %[1]d, @instance_id = N'%[2]s', @execution_id = 3, @activity_id = 9, @session_id = NULL, @tag = N'', @name = NULL, @work_item = N'{}';\n")},
		{name: "delete a letter", batch: letterOf("worker", "EXEC duroxide.delete_dead_letter @id = %[1]d;\n")},
		{name: "renew sessions", batch: func(id string, n int) string {
			return withList(n, "(1, N'w"+id+"')", "EXEC duroxide.renew_session_lock @owners = @l%d, @extend_ms = 60000, @idle_ms = 600000;\n")
		}},
		{name: "clean up sessions", batch: always("EXEC duroxide.cleanup_orphaned_sessions;\n"), anywhere: true, portions: true},
		{name: "register code", batch: func(id string, n int) string {
			return fmt.Sprintf("DECLARE @k%d duroxide.code_list_v1; INSERT INTO @k%[1]d VALUES (1, N'Pay', N''), (2, N'Ship %s', N''); EXEC duroxide.register_known_code @digest = 0x%02X, @activity = 1, @codes = @k%[1]d, @any_tag = 1;\n", n, id, id[0])
		}},
	}
}

// transactions are EnqueueTx in longer transactions of the caller's, who writes a table of his own before or after it.
func transactions() []operation {
	order := func(n int) string { return fmt.Sprintf("INSERT INTO dbo.orders (id, n) VALUES (%d, 0);\n", n) }
	changed := func(n int) string { return fmt.Sprintf("UPDATE dbo.orders SET n = n + 1 WHERE id = %d;\n", n) }
	within := func(parts ...string) string {
		return "SET XACT_ABORT ON; BEGIN TRANSACTION;\n" + strings.Join(parts, "") + "COMMIT TRANSACTION;\n"
	}
	return []operation{
		{name: "enqueue in a transaction", batch: func(id string, n int) string {
			return within(order(n), enqueueTurn(id, 3), changed(n), enqueueTurn(id, 3), enqueueTurn("c", 3), start("n"))
		}},
		{name: "enqueue first in a transaction", batch: func(id string, n int) string {
			return within(enqueueTurn(id, 3), order(n), start("n"), changed(n))
		}},
		{name: "enqueue in another order", disorderly: true, batch: func(id string, n int) string {
			return within(start("n"), order(n), enqueueTurn("c", 3), enqueueTurn(id, 3))
		}},
		{name: "enqueue and roll back", batch: func(id string, n int) string {
			return strings.Replace(within(order(n), enqueueTurn(id, 3), changed(n), start("n")), "COMMIT", "ROLLBACK", 1)
		}},
	}
}

func admin() []operation {
	return []operation{
		{name: "delete instance", batch: func(id string, n int) string { return deletesTree(n, id, 1) }},
		{name: "delete instances", batch: func(id string, n int) string {
			return withList(n, fmt.Sprintf("(1, N'%s'), (2, N'%s.c'), (3, N'e')", id, id), "EXEC duroxide.delete_instances @list = @l%d, @force = 1;\n")
		}},
		{name: "delete in bulk", batch: func(_ string, n int) string {
			return deletesEnded(n, "(1, N'e'), (2, N'a'), (3, N'g')", "9000000000000")
		}, anywhere: true, portions: true},
		{name: "prune", batch: func(id string, n int) string { return prunes(n, "(1, N'"+id+"')", prunesOne) }},
		{name: "prune in bulk", batch: func(_ string, n int) string {
			return prunes(n, "", prunesOne)
		}, anywhere: true, portions: true},
		{name: "delete orphan messages", batch: always("EXEC duroxide.delete_orphan_messages @older_than_ms = 0, @after = NULL;\n"), anywhere: true, portions: true},
		{name: "enqueue for an orphan", batch: always(enqueueTurn("o", 3)), anywhere: true},
		{name: "start an orphan", batch: always(start("o")), anywhere: true},
	}
}

// rare are operations that are not beside each other: they make, at the wrong moment, what another has seen to be
// otherwise.
func rare() []operation {
	const e = "EXEC duroxide.lock_inbox @instance_id = N'e'; UPDATE duroxide.executions SET status = N'Running', completed_at = NULL WHERE instance_id = N'e';\n"
	return []operation{
		{name: "begin anew", batch: func(id string, n int) string {
			return fmt.Sprintf(`SET XACT_ABORT ON; BEGIN TRANSACTION;
%[2]sEXEC duroxide.lock_inbox @instance_id = N'%[1]s';
INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at) VALUES (N'%[1]s', N'Anew', 1, 1, 1);
INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at) VALUES (N'%[1]s', 1, N'Running', 1);
INSERT INTO duroxide.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
VALUES (N'%[1]s', 1, 1, N'OrchestrationStarted', N'{}', 2, 1), (N'%[1]s', 1, 2, N'TimerCreated', N'{}', 2, 1);
COMMIT TRANSACTION;
`, id, deletesTree(n, id, 1))
		}},
		{name: "e runs again", batch: always("SET XACT_ABORT ON; BEGIN TRANSACTION;\n" + e + "COMMIT TRANSACTION;\n"), anywhere: true},
		{name: "delete the ended e", batch: func(_ string, n int) string { return deletesTree(n, "e", 0) }, anywhere: true},
		{name: "delete the ended", batch: func(_ string, n int) string {
			return withList(n, "(1, N'e'), (2, N'g')", "EXEC duroxide.delete_instances @list = @l%d, @force = 0;\n")
		}, anywhere: true},
		{name: "claim an ended session", batch: always(claims("new owner", "z")), anywhere: true},
		{name: "claim the session of a", batch: always(claims("new owner", "sa")), anywhere: true},
		{name: "fetch work of the session of a", batch: func(_ string, n int) string {
			return fetchWorkBy(n, asking{owner: "wa", tags: []string{"N'gpu'"}, sessionMs: 60_000})
		}, anywhere: true, portions: true},
		{name: "start an orphan by its history", batch: func(_ string, n int) string {
			return fmt.Sprintf("DECLARE @e%d duroxide.event_list_v1; INSERT INTO @e%[1]d VALUES %s; EXEC duroxide.append_with_execution @instance_id = N'o', @execution_id = 1, @events = @e%[1]d;\n", n, events(1))
		}, anywhere: true},
	}
}

// letterOf handles a letter of an instance, see [letters].
func letterOf(queue, call string) func(id string, n int) string {
	return func(id string, _ int) string { return fmt.Sprintf(call, letterID(id, queue), id) }
}

// letters are one of each queue for each instance.
func letters(instances ...string) string {
	var b strings.Builder
	b.WriteString("SET IDENTITY_INSERT duroxide.dead_letters ON;\n")
	for _, id := range instances {
		for _, queue := range []string{"orchestrator", "worker"} {
			fmt.Fprintf(&b, "INSERT INTO duroxide.dead_letters (id, queue, queue_id, instance_id, work_item, error, created_at) VALUES (%d, N'%s', 1, N'%s', N'{}', N'bad', 0);\n", letterID(id, queue), queue, id)
		}
	}
	b.WriteString("SET IDENTITY_INSERT duroxide.dead_letters OFF;\n")
	return b.String()
}

// letterID is the id of a letter.
func letterID(instance, queue string) int {
	if queue == "worker" {
		return 10*int(instance[0]-'a'+1) + 1
	}
	return 10 * int(instance[0]-'a'+1)
}

// readViews reads all columns of the views, as people do.
func readViews() string {
	var b strings.Builder
	for _, view := range []string{"v_instances", "v_executions", "v_history", "v_queues", "v_dead_letters"} {
		b.WriteString("SELECT * FROM duroxide." + view + ";\n") //nolint:unqueryvet // whatever columns there are
	}
	return b.String()
}

func readers() []operation {
	list := []operation{
		{name: "get depths", batch: always("EXEC duroxide.get_queue_depths @unknown_ms = 0;\n"), anywhere: true},
		{name: "get metrics", batch: always("EXEC duroxide.get_system_metrics;\n"), anywhere: true},
		{name: "list instances", batch: always("EXEC duroxide.list_instances; EXEC duroxide.list_instances_by_status @status = N'Running';\n"), anywhere: true},
		{name: "list pages", batch: always("EXEC duroxide.list_ended_page @ended_before = 9000000000000, @after_completed_at = NULL, @after_instance_id = NULL, @after_execution_id = NULL, @limit = 10, @continued = 1; " +
			"EXEC duroxide.list_instance_page @after = NULL, @limit = 10;\n"), anywhere: true},
		{name: "read views", batch: always(readViews()), anywhere: true},
		{name: "count messages", batch: always("EXEC duroxide.count_orphan_messages @older_than_ms = 0; EXEC duroxide.count_hidden_messages;\n"), anywhere: true},
		{name: "list held instances", batch: always("EXEC duroxide.list_held_instances; EXEC duroxide.get_held_instance @instance_id = N'a';\n"), anywhere: true},
		{name: "list dead letters", batch: always("EXEC duroxide.count_dead_letters; EXEC duroxide.list_dead_letters @instance_id = NULL, @after = 0, @limit = 9; " +
			"EXEC duroxide.list_dead_letters @instance_id = N'a', @after = 0, @limit = 9; EXEC duroxide.get_dead_letter @id = 1;\n"), anywhere: true},
		{name: "look for unknown code", batch: always("EXEC duroxide.list_unknown_code @unknown_ms = 1, @instances = 0, @instance_id = NULL; EXEC duroxide.list_known_versions @name = N'Order', @since_ms = 1000;\n"), anywhere: true},
		{name: "read history", batch: on("EXEC duroxide.read_history @instance_id = N'%s', @execution_id = 3, @first_event = 0;\n")},
		{name: "get a value", batch: on("EXEC duroxide.get_kv_value @instance_id = N'%s', @kv_key = N'k';\n")},
		{name: "get all values", batch: on("EXEC duroxide.get_kv_all_values @instance_id = N'%s';\n")},
		{name: "get the tree", batch: on("EXEC duroxide.get_instance_tree @instance_id = N'%s';\n")},
		{name: "get info", batch: on("EXEC duroxide.get_instance_info @instance_id = N'%s'; EXEC duroxide.find_instance @instance_id = N'%[1]s';\n")},
		{name: "read progress", batch: func(id string, n int) string {
			return withList(n, "(1, N'"+id+"'), (2, N'c')", "EXEC duroxide.read_progress @ids = @l%d;\n")
		}},
		{name: "get stats and status", batch: on("EXEC duroxide.get_instance_stats @instance_id = N'%s'; EXEC duroxide.get_custom_status @instance_id = N'%[1]s', @last_seen = 0;\n")},
		{name: "list lost work", batch: workOf(func(n int) string {
			return fmt.Sprintf("DECLARE @t%d duroxide.token_list_v1; INSERT INTO @t%[1]d VALUES (1, %d, %s); EXEC duroxide.list_lost_work @tokens = @t%[1]d;\n", n, idOf(n), tokenOf(n))
		})},
	}
	for i := range list {
		list[i].reads = true
	}
	return list
}
