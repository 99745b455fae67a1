package interleave

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Calls of procedures as batches. Parameters that a call does not name are NULL.

// tokenOf is the n-th lock token.
func tokenOf(n int) string { return fmt.Sprintf("'00000000-0000-0000-0000-%012d'", n) }

// leaseOf are the arguments for the activity that the n-th token holds: in the world, and in scenarios, where 9 holds
// the first activity, 8 the second and 7 the third.
func leaseOf(n int) string { return fmt.Sprintf("@id = %d, @lock_token = %s", idOf(n), tokenOf(n)) }

func idOf(n int) int {
	id, ok := map[int]int{9: 1, 8: 2, 7: 3, 111: 1, 112: 2, 211: 3, 212: 4}[n]
	if !ok {
		panic(fmt.Sprint("no activity has the token ", n))
	}
	return id
}

var instances atomic.Int64

// instanceOf declares a variable for the instance whose turn the n-th token holds.
func instanceOf(n int) (declaration, variable string) {
	variable = fmt.Sprintf("@of%d", instances.Add(1))
	return fmt.Sprintf("DECLARE %s NVARCHAR(400) = (SELECT b.instance_id FROM duroxide.inboxes AS b WITH (READUNCOMMITTED) WHERE b.lock_token = %s);\n",
		variable, tokenOf(n)), variable
}

// ofTurn is a call about the turn that the n-th token holds.
func ofTurn(n int, procedure, arguments string) string {
	declaration, variable := instanceOf(n)
	return fmt.Sprintf("%sEXEC duroxide.%s @instance_id = %s, @lock_token = %s, %s;\n", declaration, procedure, variable, tokenOf(n), arguments)
}

func enqueueTurn(instance string, kind int) string {
	return fmt.Sprintf("EXEC duroxide.enqueue_for_orchestrator @instance_id = N'%s', @kind = %d, @name = NULL, @version = NULL, @work_item = N'{}', @delay_ms = 0;\n", instance, kind)
}

// enqueueMessage sends a message to a queue.
func enqueueMessage(instance string, n int) string {
	return fmt.Sprintf("EXEC duroxide.enqueue_for_orchestrator @instance_id = N'%s', @kind = 0, @name = NULL, @version = NULL, @work_item = N'{\"queued\":%d}', @delay_ms = 0, @queue = N'q';\n", instance, n)
}

func enqueueWork(instance, session string) string {
	if session != "NULL" {
		session = "N'" + session + "'"
	}
	return fmt.Sprintf("EXEC duroxide.enqueue_for_worker @instance_id = N'%s', @execution_id = 1, @activity_id = 1, @session_id = %s, @tag = N'', @name = NULL, @work_item = N'{}';\n", instance, session)
}

func fetchTurnOf(n int) string {
	return claimTurn(n, 0)
}

// claimTurn claims a turn under the n-th token, of any code and version.
func claimTurn(n, peek int) string {
	list, declaration := turnClaim(n, peek)
	return declaration + "EXEC duroxide.take @turn = " + list + ";\n"
}

// turnClaim declares a list with the request for a turn under the n-th token.
func turnClaim(n, peek int) (list, declaration string) {
	list = fmt.Sprintf("@turn%d", instances.Add(1))
	return list, fmt.Sprintf("DECLARE %[1]s duroxide.turn_claim_v1; INSERT INTO %[1]s VALUES (0, %[2]s, 30000, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, %[3]d, 0, 0);\n", list, tokenOf(n), peek)
}

// asking is what a request for activities asks for.
type asking struct {
	owner string // of sessions; empty without
	// tags are up to two literals, none for activities without a tag; anyTag is any.
	tags []string
	// known is a digest, empty for none.
	known         string
	unknown, from int
	sessionMs     int // 30000 if not given
}

var anyTag = []string{"any"}

const askingColumns = "(position, selection, lock_token, lock_ms, owner, session_ms, any_tag, tag1, tag2, known, unknown_ms, from_id, due_from)"

// row is a row of take_list_v1, with these columns.
func (a asking) row(position, token int) string {
	owner, known, anyOfThem, tags := null, null, 0, append(slices.Clone(a.tags), null, null)
	if a.owner != "" {
		owner = "N'" + a.owner + "'"
	}
	if a.known != "" {
		known = a.known
	}
	switch {
	case slices.Equal(a.tags, anyTag):
		anyOfThem, tags = 1, []string{null, null}
	case len(a.tags) == 0:
		tags[0] = "N''"
	}
	return fmt.Sprintf("(%d, 0, %s, 30000, %s, %d, %d, %s, %s, %s, %d, %d, 0)", position, tokenOf(token), owner, cmp.Or(a.sessionMs, 30_000), anyOfThem,
		tags[0], tags[1], known, a.unknown, a.from)
}

// list declares a list that asks for an activity for each token.
func (a asking) list(name string, tokens ...int) string {
	rows := make([]string, len(tokens))
	for i, n := range tokens {
		rows[i] = a.row(i, n)
	}
	return fmt.Sprintf("DECLARE %s duroxide.take_list_v1; INSERT INTO %[1]s "+askingColumns+" VALUES %s;\n", name, strings.Join(rows, ", "))
}

func fetchWorkOf(n int, owner string) string { return fetchWorkBy(n, asking{owner: owner}) }

func fetchWorkBy(n int, a asking) string {
	list := fmt.Sprintf("@f%d", n)
	return a.list(list, n) + "EXEC duroxide.fetch_work_item @work = " + list + ";\n"
}

func ackTurnOf(n int) string {
	return ofTurn(n, "ack_orchestration_item", `@execution_id = 1, @name = N'Order', @version = N'1.0.0', @code_name = NULL, @code_version = NULL,
		@parent_instance_id = NULL, @major = NULL, @minor = NULL, @patch = NULL, @status = N'Running', @output = NULL, @set_custom_status = 0, @custom_status = NULL,
		@clear_values = 0, @drop_timers = 0`)
}

func renewTurnOf(n int) string {
	return ofTurn(n, "renew_orchestration_item_lock", "@extend_ms = 60000")
}

func renewWorkOf(n int) string {
	return fmt.Sprintf("EXEC duroxide.renew_work_item_lock %s, @extend_ms = 60000;\n", leaseOf(n))
}

func peekTurnOf(n int) string {
	return claimTurn(n, 1)
}

func abandonTurnOf(n int) string {
	return ofTurn(n, "abandon_orchestration_item", "@delay_ms = 0, @give_back = 0")
}

func holdTurnOf(n int) string {
	return ofTurn(n, "abandon_orchestration_item", "@delay_ms = 20000, @give_back = 1, @misfit = N'another name'")
}

func ackWorkOf(n int, instance string) string {
	return completions(n, instance, n) + ";\n"
}

func abandonWorkOf(n int) string {
	return fmt.Sprintf("EXEC duroxide.abandon_work_item %s, @delay_ms = 0, @give_back = 0;\n", leaseOf(n))
}

// setsValue is an acknowledgement that sets a value, with a status.
func setsValue(n int, status string) string {
	ack := strings.Replace(strings.TrimSuffix(ackTurnOf(n), ";\n"), "Running", status, 1)
	return "DECLARE @c duroxide.kv_list_v1; INSERT INTO @c (position, kv_key, value, value_bytes, last_updated_at_ms) VALUES (1, N'k', N'1', 1, 1); " +
		ack + ", @changes = @c;\n"
}

// ofVersion is an acknowledgement by a version of the framework that the store has not seen.
func ofVersion(ack string) string {
	return strings.Replace(ack, "@major = NULL, @minor = NULL, @patch = NULL", "@major = 1, @minor = 2, @patch = 3", 1)
}

// claims is a transaction that claims sessions for an owner, one after the other.
func claims(owner string, sessions ...string) string {
	var b strings.Builder
	b.WriteString("DECLARE @c BIT, @f BIT, @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()); BEGIN TRANSACTION;\n")
	for _, s := range sessions {
		fmt.Fprintf(&b, "EXEC duroxide.claim_session @session_id = N'%s', @owner = N'%s', @now = @now, @session_ms = 60000, @claimed = @c OUTPUT, @fresh = @f OUTPUT;\n", s, owner)
	}
	return b.String() + "COMMIT;\n"
}

// deletion deletes an instance with its descendants.
var deletion = deletesTree(40, "a", 1)

const (
	renewSessions = "DECLARE @o duroxide.id_list_v1; INSERT INTO @o (position, id) VALUES (1, N'w1'), (2, N'w2'); EXEC duroxide.renew_session_lock @owners = @o, @extend_ms = 60000, @idle_ms = 600000;\n"
	cleanSessions = "EXEC duroxide.cleanup_orphaned_sessions;\n"
	// endedSessions are those of an owner who has gone.
	endedSessions = "INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at) SELECT s.id, N'w0', 1, 1 FROM (VALUES (N's1'), (N's2'), (N's3')) AS s (id) " +
		"WHERE NOT EXISTS (SELECT 1 FROM duroxide.sessions AS o WHERE o.session_id = s.id);\n"
	queueDepths = "EXEC duroxide.get_queue_depths @unknown_ms = 0;\n"
	getValue    = "EXEC duroxide.get_kv_value @instance_id = N'a', @kv_key = N'k';\n"
	// manyDue are 300 instances whose messages become visible a second later.
	manyDue = "DECLARE @n INT = 0, @id NVARCHAR(400); WHILE @n < 300 BEGIN SET @n += 1; SET @id = CONCAT(N'i', @n); EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 1, @name = NULL, @version = NULL, @work_item = N'{}', @delay_ms = 1000; END;\n"
)

// started is an instance whose first turn, the n-th of all, has ended.
func started(id string, n int) string {
	return start(id) + fetchTurnOf(n) + call{"execution": "1"}.named("Order").ack(n)
}

// What the scenarios begin with.
var (
	twoTurns    = enqueueTurn("a", 1) + enqueueTurn("b", 1)
	heldTurn    = twoTurns + fetchTurnOf(9) // that of a
	twoWorks    = twoTurns + enqueueWork("a", "NULL") + enqueueWork("b", "NULL")
	heldWork    = twoWorks + fetchWorkOf(9, "w1") // that of a
	aSession    = enqueueWork("a", "s1") + enqueueWork("b", "s1") + fetchWorkOf(9, "w1")
	twoSessions = enqueueWork("a", "s1") + enqueueWork("b", "s2") + fetchWorkOf(8, "w1") + fetchWorkOf(9, "w1")
)
