package interleave

import (
	"fmt"
	"strings"
)

// world is a script that makes a store in which every operation has something to do, to instance a as well as to b:
//
//   - a and b have three executions, of which the third runs, history, a value, a child, a hidden timer, a hidden
//     message that was given back with a misfit, a turn that is held and a message behind it, two activities that are
//     held, the second in a session, and two that are ready
//   - c and d are ready, x has a lease that has ended and y a message that is due; x has an activity that is due
//   - e and g have completed
//   - o and p have messages and were never started
//   - the session z has ended
//   - a worker knows the set 0x03 of activities
//   - the caller has a table of his own
func world() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE dbo.orders (id INT NOT NULL PRIMARY KEY, n INT NOT NULL);\n")
	for i, id := range []string{"a", "b"} {
		b.WriteString(life(id, 100*(i+1)))
	}
	for i, id := range []string{"e", "g"} {
		b.WriteString(start(id) + fetchTurnOf(300+i) + call{"execution": "1", "status": "N'Completed'", "output": "N'done'"}.named("Done").ack(300+i))
	}
	b.WriteString(start("x") + fetchTurnOf(400) + enqueueTurn("y", 2) + start("c") + start("d") +
		enqueueTurn("o", 3) + enqueueTurn("p", 3))
	for _, id := range []string{"a", "b"} {
		b.WriteString(enqueueWorkOf(id, 3, "NULL", "NULL") + enqueueWorkOf(id, 4, "N's"+id+"'", "N'gpu'"))
	}
	b.WriteString(enqueueWorkOf("x", 1, "NULL", "NULL") + `
UPDATE duroxide.inboxes SET locked_until = locked_until - 60000, wake_at = wake_at - 60000 WHERE instance_id = N'x';
UPDATE duroxide.orchestrator_queue SET visible_at = visible_at - 1000 WHERE instance_id = N'y';
UPDATE duroxide.inboxes SET head_id = NULL, wake_at = (SELECT q.visible_at FROM duroxide.orchestrator_queue AS q WHERE q.instance_id = N'y') WHERE instance_id = N'y';
UPDATE duroxide.worker_queue SET ready = 0, wake_at = wake_at - 1000 WHERE instance_id = N'x';
UPDATE duroxide.sessions SET last_activity_at = last_activity_at - 20000;
INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at) VALUES (N'z', N'wz', 1, 1);
` + knowsLoad + letters("a", "b"))
	return b.String()
}

// life is what has happened to a and b. Tokens count from n: n+5 holds the turn, n+11 and n+12 hold activities.
func life(id string, n int) string {
	again := "(1, N'" + id + "', 1, N'Order', N'1.0.0', NULL, N'{\"next\":1}', 0)"
	var b strings.Builder
	b.WriteString(start(id) + fetchTurnOf(n+1))
	b.WriteString(call{"execution": "1", "status": "N'ContinuedAsNew'", "events": events(1, 2), "messages": again}.named("Order").ack(n + 1))
	b.WriteString(fetchTurnOf(n+2) + call{"execution": "2", "status": "N'ContinuedAsNew'", "events": events(1), "messages": again}.named("Order").ack(n+2))
	b.WriteString(fetchTurnOf(n + 3))
	b.WriteString(call{
		"execution": "3", "events": events(1, 2), "changes": "(1, N'k', N'1', 1, 1)", "custom": "N'begun'",
		"messages":   childStart(1, id+".c") + ", " + message(2, id, `{"timer":1}`, 60_000),
		"activities": activity(1, id, 1, null) + ", " + activity(2, id, 2, "N's"+id+"'"),
	}.named("Order").ack(n + 3))
	b.WriteString(fetchTurnOf(n+4) + call{"execution": "1", "parent": "N'" + id + "'", "events": events(1)}.named("Child").ack(n+4))
	b.WriteString(fetchWorkOf(n+11, "w"+id) + fetchWorkOf(n+12, "w"+id))
	b.WriteString(enqueueTurn(id, 3) + fetchTurnOf(n+6) + strings.Replace(holdTurnOf(n+6), "@delay_ms = 20000", "@delay_ms = 90000", 1))
	b.WriteString(enqueueTurn(id, 3) + enqueueMessage(id, 1) + enqueueMessage(id, 2) + fetchTurnOf(n+5) + enqueueTurn(id, 3) + enqueueMessage(id, 3))
	// The turn has taken what the hold had hidden. So that there is a hidden message of a hold, it has come later.
	fmt.Fprintf(&b, "UPDATE duroxide.orchestrator_queue SET visible_at = visible_at + 90000, attempt_count = 0, unnamed_count = 0"+
		" WHERE instance_id = N'%s' AND misfit_at IS NOT NULL;\n", id)
	return b.String()
}

func start(id string) string {
	return fmt.Sprintf("EXEC duroxide.enqueue_for_orchestrator @instance_id = N'%s', @kind = 2, @name = N'Order', @version = N'1.0.0', @work_item = N'{\"start\":1}', @delay_ms = 0;\n", id)
}

func enqueueWorkOf(id string, activity int, session, tag string) string {
	if tag == null {
		tag = "N''"
	}
	return fmt.Sprintf("EXEC duroxide.enqueue_for_worker @instance_id = N'%s', @execution_id = 3, @activity_id = %d, @session_id = %s, @tag = %s, @name = NULL, @work_item = N'{}';\n",
		id, activity, session, tag)
}

const null = "NULL"

// message is a row of @messages of kind 3, which starts nothing.
func message(position int, id, item string, delay int) string {
	return fmt.Sprintf("(%d, N'%s', 3, %s, %[3]s, %[3]s, N'%s', %d)", position, id, null, item, delay)
}

// childStart is a row of @messages that starts an instance.
func childStart(position int, id string) string {
	return fmt.Sprintf("(%d, N'%s', 2, N'Child', N'1.0.0', %s, N'{}', 0)", position, id, null)
}

// activity is a row of @activities of the third execution.
func activity(position int, id string, activity int, session string) string {
	return fmt.Sprintf("(%d, N'%s', 3, %d, %s, N'', %s, N'{}')", position, id, activity, session, null)
}

// events are rows of @events with these ids.
func events(ids ...int) string {
	var rows []string
	for i, id := range ids {
		kind := "TimerCreated"
		if id == 1 {
			kind = "OrchestrationStarted"
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, N'%s', N'{\"id\":%d}', 8)", i+1, id, kind, id))
	}
	return strings.Join(rows, ", ")
}

// call is an acknowledgement of a turn: parameters and rows of lists that are not as ever.
type call map[string]string

// named gives it the name and version of the code.
func (c call) named(name string) call {
	c["name"], c["version"] = "N'"+name+"'", "N'1.0.0'"
	return c
}

func (c call) or(key, other string) string {
	if v, ok := c[key]; ok {
		return v
	}
	return other
}

// ack is the batch. Its lists have names with the token, so that many may stand in one batch.
func (c call) ack(n int) string {
	var b strings.Builder
	for _, list := range []struct{ name, kind string }{
		{"events", "event_list_v1"}, {"changes", "kv_list_v1"}, {"messages", "message_list_v1"}, {"activities", "work_list_v1"}, {"cancelled", "activity_list_v1"}, {"queues", "queue_list_v1"},
	} {
		fmt.Fprintf(&b, "DECLARE @%s%d duroxide.%s;\n", list.name, n, list.kind)
		if rows, ok := c[list.name]; ok {
			fmt.Fprintf(&b, "INSERT INTO @%s%d VALUES %s;\n", list.name, n, rows)
		}
	}
	custom := "0"
	if _, ok := c["custom"]; ok {
		custom = "1"
	}
	declaration, instance := instanceOf(n)
	b.WriteString(declaration)
	fmt.Fprintf(&b, `EXEC duroxide.ack_orchestration_item @instance_id = `+instance+`, @lock_token = %s, @execution_id = %s, @name = %s, @version = %s, @code_name = %[3]s, @code_version = %[4]s,
	@parent_instance_id = %s, @major = 1, @minor = 0, @patch = 0, @status = %s, @output = %s, @set_custom_status = %s, @custom_status = %s,
	@clear_values = 0, @drop_timers = %s, @events = @events%d, @changes = @changes%[11]d, @messages = @messages%[11]d, @activities = @activities%[11]d, @cancelled = @cancelled%[11]d, @peeked = %[12]s, @queues = @queues%[11]d;
`, tokenOf(n), c.or("execution", "3"), c.or("name", "NULL"), c.or("version", "NULL"), c.or("parent", "NULL"),
		c.or("status", "N'Running'"), c.or("output", "NULL"), custom, c.or("custom", "NULL"), c.or("drop_timers", "0"), n, c.or("peeked", "0"))
	return b.String()
}
