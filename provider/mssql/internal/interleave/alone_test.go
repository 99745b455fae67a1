package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	within = 10 * time.Second // the leases of the world
	beyond = 31 * time.Second // them
)

// alone are deeds that are not in the matrix: they are refused, or differ from one of its operations in a parameter.
func alone() []deed {
	return slices.Concat(late(), claimed(), selected(), taken(), administered())
}

// late are those whose leases have ended, or belong to somebody else.
func late() []deed {
	turnTaken := "UPDATE duroxide.inboxes SET locked_until = locked_until - 60000, wake_at = wake_at - 60000 WHERE instance_id = N'a';\n" + fetchTurnOf(500)
	workTaken := "UPDATE duroxide.worker_queue SET locked_until = locked_until - 60000, wake_at = wake_at - 60000 WHERE id IN (1, 2);\n" + fetchWorkOf(500, "wa") + fetchWorkOf(501, "wa")
	var all []deed
	for name, batch := range map[string]string{
		"ack turn": call{"events": events(3)}.ack(105), "renew turn": renewTurnOf(105), "abandon turn": abandonTurnOf(105),
		"set messages aside": "DECLARE @l duroxide.letter_list_v1; INSERT INTO @l VALUES (1, 6, N'bad'); EXEC duroxide.set_messages_aside @instance_id = N'a', @lock_token = " + tokenOf(105) + ", @letters = @l, @release = 0;\n",
	} {
		all = append(all, deed{name + ", the lease has ended", "", beyond, batch}, deed{name + " of somebody else", turnTaken, within, batch})
	}
	for name, batch := range map[string]string{
		"ack work": ackWorkOf(112, "a"), "renew work": renewWorkOf(112), "abandon work": abandonWorkOf(112),
		"set work aside": "EXEC duroxide.set_work_aside " + leaseOf(112) + ", @error = N'bad', @free_session = 1;\n",
	} {
		all = append(all, deed{name + ", the lease has ended", "", beyond, batch}, deed{name + " of somebody else", workTaken, within, batch},
			deed{name + ", the session has ended", "UPDATE duroxide.sessions SET locked_until = 1 WHERE session_id = N'sa';", within, batch})
	}
	_, work, other := held("a")
	const unbound = "UPDATE duroxide.worker_queue SET session_id = NULL;"
	works := completions(1, "a", work, other) + ", @turn_token = NULL;\n"
	all = append(all, deed{"ack works together", unbound, within, works}, deed{"ack works together, the leases have ended", unbound, beyond, works})
	sortByName(all)
	return all
}

// claimed are those of sessions and leases.
func claimed() []deed {
	claim := func(session, owner string) string {
		return "DECLARE @c BIT, @f BIT, @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()); BEGIN TRANSACTION;\n" +
			fmt.Sprintf("EXEC duroxide.claim_session @session_id = N'%s', @owner = N'%s', @now = @now, @session_ms = 60000, @claimed = @c OUTPUT, @fresh = @f OUTPUT;\n", session, owner) +
			"COMMIT; SELECT @c AS claimed, @f AS fresh;\n"
	}
	renewAll := func(idle int) string {
		return withList(1, "(1, N'wa'), (2, N'wz')", fmt.Sprintf("EXEC duroxide.renew_session_lock @owners = @l%%d, @extend_ms = 60000, @idle_ms = %d;\n", idle))
	}
	aside := func(free int) string {
		return fmt.Sprintf("EXEC duroxide.set_work_aside %s, @error = N'bad', @free_session = %d;\n", leaseOf(112), free)
	}
	return []deed{
		{"claim one's own session", "", within, claim("sa", "wa")},
		{"claim a session of somebody else", "", within, claim("sa", "wb")},
		{"claim a session that has ended", "", within, claim("z", "wb")},
		{"claim one's own session that has ended", "", within, claim("z", "wz")},
		{"claim a new session", "", within, claim("new", "wb")},
		{"renew sessions of some", "", within, renewAll(60_000)},
		{"renew sessions that were idle", "", within, renewAll(5000)},
		{"clean up sessions without work", "INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at) SELECT N'live', N'w', MAX(s.locked_until), 1 FROM duroxide.sessions AS s;", within, "EXEC duroxide.cleanup_orphaned_sessions;\n"},
		{"clean up sessions that have ended", "", beyond, "EXEC duroxide.cleanup_orphaned_sessions;\n"},
		{"set work aside, the session is in use", "UPDATE duroxide.worker_queue SET lock_token = " + tokenOf(502) + ", locked_until = wake_at + 60000, ready = 0 WHERE instance_id = N'a' AND activity_id = 4;", within, aside(1)},
		{"set work aside, the session stays", "", within, aside(0)},
		{"abandon turn for a while", "", within, strings.Replace(abandonTurnOf(105), "@delay_ms = 0, @give_back = 0", "@delay_ms = 20000, @give_back = 1", 1)},
		{"abandon work for a while", "", within, strings.Replace(abandonWorkOf(111), "@delay_ms = 0, @give_back = 0", "@delay_ms = 20000, @give_back = 1", 1)},
		{"ack turn of an earlier execution", "", within, call{"execution": "2", "events": events(3)}.ack(105)},
		{
			"ack turn, drop timers but no start", "EXEC duroxide.enqueue_for_orchestrator @instance_id = N'a', @kind = 2, @name = NULL, @version = NULL, @work_item = N'{}', @delay_ms = 60000;\n", within,
			call{"drop_timers": "1"}.ack(105),
		},
		{"ack turn, of another name", "", within, call{}.named("Other").ack(105)},
		{"start an instance that there is", "", within, "EXEC duroxide.start_instance @instance_id = N'a', @kind = 2, @name = N'Order', @version = N'1.0.0', @work_item = N'{}';\n"},
	}
}

// selected are fetches that are not for everybody's work.
func selected() []deed {
	register := func(digest string, activity int, names string) string {
		return fmt.Sprintf("DECLARE @k%s duroxide.code_list_v1; INSERT INTO @k%[1]s VALUES %s; EXEC duroxide.register_known_code @digest = %[1]s, @activity = %[3]d, @codes = @k%[1]s, @any_tag = 1;\n", digest, names, activity)
	}
	knows := register("0xAA", 0, "(1, N'Order', N'1.0.0')")
	other := register("0xBB", 0, "(1, N'Other', N'')")
	turn := func(known string, unknown int) string {
		return strings.Replace(fetchTurnOf(1), "@known = NULL, @unknown_ms = 0", fmt.Sprintf("@known = %s, @unknown_ms = %d", known, unknown), 1)
	}
	ofVersions := func(least, most int) string {
		filter := fmt.Sprintf("@filtered = 1, @min_major = %d, @min_minor = 0, @min_patch = 0,\n\t\t@max_major = %d,", least, most)
		return strings.Replace(fetchTurnOf(1), "@filtered = 0, @min_major = 0, @min_minor = 0, @min_patch = 0,\n\t\t@max_major = 0,", filter, 1)
	}
	// What is due and of nobody's code comes first, and would be all that is taken.
	named := "DELETE FROM duroxide.orchestrator_queue WHERE instance_id IN (N'o', N'p', N'y'); DELETE FROM duroxide.inboxes WHERE instance_id IN (N'o', N'p', N'y');\n"
	orphan := "DELETE FROM duroxide.inboxes WHERE instance_id <> N'o'; DELETE FROM duroxide.orchestrator_queue WHERE instance_id <> N'o';\n"
	ready := "UPDATE duroxide.inboxes SET head_id = (SELECT MIN(q.id) FROM duroxide.orchestrator_queue AS q WHERE q.instance_id = N'o');\n"
	list := []deed{
		{"fetch turn of known code", knows + named, within, turn("0xAA", 0)},
		{"fetch turn of other code", other + named, within, turn("0xBB", 0)},
		{"fetch turn of code that nobody has registered", "", within, turn("0xCC", 0)},
		{"fetch turn of unknown code", other + named, within, turn("0xBB", 5000)},
		{"fetch turn of code that has been unknown for long", other + named, within, turn("0xBB", 20_000)},
		{"fetch turn of unknown code that is known", knows + named, within, turn("0xAA", 5000)},
		{"fetch turn of the versions of the framework", named, beyond, ofVersions(1, 1)},
		{"fetch turn of other versions of the framework", named, beyond, ofVersions(2, 3)},
		{"fetch turn of an orphan", orphan + ready, within, fetchTurnOf(1)},
		{"fetch turn of an orphan with a hidden message", orphan + strings.Replace(enqueueTurn("o", 3), "@delay_ms = 0", "@delay_ms = 60000", 1) + ready, within, fetchTurnOf(1)},
		{"fetch turn of an orphan with a hidden start", orphan + strings.Replace(enqueueTurn("o", 2), "@delay_ms = 0", "@delay_ms = 60000", 1) + ready, within, fetchTurnOf(1)},
		{"fetch turn and the last event", "", beyond, strings.Replace(fetchTurnOf(1), "@history_limit = NULL", "@history_limit = 1", 1)},
		{"fetch turn and all events", "", beyond, strings.Replace(fetchTurnOf(1), "@history_limit = NULL", "@history_limit = 2", 1)},
	}
	return append(list, selectedWork(register("0xDD", 1, "(1, N'Ship', N'')"), register("0xEE", 1, "(1, N'Pay', N'')"))...)
}

// selectedWork are fetches of activities, beside four that differ in tag and session.
func selectedWork(other, knows string) []deed {
	work := func(known string, unknown int, tags []string) string {
		a := asking{owner: "w1", tags: tags, known: known, unknown: unknown}
		if unknown > 0 {
			a.owner = ""
		}
		return fetchWorkBy(1, a)
	}
	gpu := []string{"N'gpu'"}
	var all []deed
	for _, of := range []struct {
		name, session, tag string
		options            []string
	}{
		{"work", "NULL", "NULL", nil},
		{"work of a session", "N's1'", "NULL", nil},
		{"work with a tag", "NULL", "N'gpu'", gpu},
		{"work of a session with a tag", "N's1'", "N'gpu'", gpu},
	} {
		only := "DELETE FROM duroxide.worker_queue;\n" + strings.Replace(enqueueWorkOf("a", 20, of.session, of.tag), "@name = NULL", "@name = N'Pay'", 1)
		leased := "UPDATE duroxide.worker_queue SET locked_until = visible_at, visible_at = visible_at - 60000;\n"
		all = append(all,
			deed{"fetch " + of.name + " of known code", only + knows, within, work("0xEE", 0, of.options)},
			deed{"fetch " + of.name + " of other code", only + other, within, work("0xDD", 0, of.options)},
			deed{"fetch " + of.name + " of unknown code", only + other, within, work("0xDD", 5000, anyTag)},
			deed{"fetch " + of.name + " of code that has been unknown for long", only + other, within, work("0xDD", 20_000, anyTag)},
			deed{"fetch " + of.name + " of unknown code that had a lease lately", only + leased + other, within, work("0xDD", 20_000, anyTag)},
			deed{"fetch " + of.name + " of any code", only, within, work("", 0, of.options)},
			deed{"fetch " + of.name + " with another tag", only, within, work("", 0, []string{"N'cpu'"})},
		)
	}
	mine := "DELETE FROM duroxide.worker_queue;\n" + enqueueWorkOf("a", 20, "N'sa'", "NULL")
	many := mine
	for i := range 20 {
		many = enqueueWorkOf("a", 30+i, "N'sa'", "NULL") + many
	}
	many = "DELETE FROM duroxide.worker_queue;\n" + strings.ReplaceAll(many, "DELETE FROM duroxide.worker_queue;\n", "") + enqueueWorkOf("a", 60, "N'sb'", "NULL")
	return append(all,
		deed{"fetch work of a session of one's own", mine, within, fetchWorkOf(1, "wa")},
		deed{"fetch work of a session of somebody else", mine, within, fetchWorkOf(1, "wb")},
		deed{"fetch work of a session that has ended", mine, beyond, fetchWorkOf(1, "wb")},
		deed{"fetch work behind that of somebody else", many, within, fetchWorkOf(1, "wb")},
		deed{"fetch work that is due", "DELETE FROM duroxide.worker_queue WHERE instance_id <> N'x';", within, fetchWorkOf(1, "w1")},
	)
}

// taken are takings of several activities.
func taken() []deed {
	none := "DELETE FROM duroxide.worker_queue;\n"
	knows := none + "DECLARE @k duroxide.code_list_v1; INSERT INTO @k VALUES (1, N'Pay', N''); EXEC duroxide.register_known_code @digest = 0x01, @activity = 1, @codes = @k, @any_tag = 1;\n" +
		"UPDATE @k SET name = N'Ship'; EXEC duroxide.register_known_code @digest = 0x02, @activity = 1, @codes = @k, @any_tag = 1;\n"
	works := func(session, tag string, n ...int) string {
		var b strings.Builder
		for _, activity := range n {
			b.WriteString(strings.Replace(enqueueWorkOf("a", activity, session, tag), "@name = NULL", "@name = N'Pay'", 1))
		}
		return b.String()
	}
	tagged := takeWorkBy(asking{owner: "w1", tags: []string{"N''", "N'gpu'"}, known: "0x01"}, 1, 2, 3)
	others := strings.NewReplacer("@name = N'Pay'", "@name = N'Ship'").Replace(works("NULL", "NULL", 21, 22))
	due := "UPDATE duroxide.worker_queue SET ready = 0, wake_at = 1 WHERE activity_id = 24;\n"
	return []deed{
		{"take more work than there is", knows + works("NULL", "NULL", 24, 23), within, takeWorkOf(1, 2, 3)},
		{"take less work than there is", knows + works("NULL", "NULL", 24, 23, 22), within, takeWorkOf(1, 2)},
		{"take work of known code", knows + others + works("NULL", "NULL", 24, 23), within, takeWorkOf(1, 2, 3)},
		{"take work of a tag and without one", knows + works("NULL", "N'gpu'", 25) + works("NULL", "NULL", 24) + works("NULL", "N'cpu'", 23) + works("NULL", "N'gpu'", 22), within, tagged},
		{"take work of a session and without one", knows + works("NULL", "NULL", 25) + works("N's1'", "NULL", 24) + works("NULL", "NULL", 23), within, takeWorkOf(1, 2)},
		{"take work that is due", knows + works("NULL", "NULL", 25, 24, 23) + due, within, takeWorkOf(1, 2)},
		{"take work from an id on", knows + works("NULL", "NULL", 24, 23), within, takeWorkBy(asking{known: "0x01", from: 9000}, 1, 2)},
	}
}

// administered are deletions and prunes, and what tools ask.
func administered() []deed {
	bulk := func(before string) string {
		return fmt.Sprintf("DECLARE @before BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - %s; ", before) +
			deletesEnded(1, "(1, N'e'), (2, N'a'), (3, N'a.c'), (4, N'g'), (5, N'nobody'), (6, N'e')", "@before")
	}
	prune := func(keep int, before string) string {
		return fmt.Sprintf("DECLARE @before BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - %s; ", before) +
			prunes(1, "(1, N'a')", fmt.Sprintf("@after = NULL, @ended_before = NULL, @max_instances = 10, @keep_last = %d, @completed_before = @before", keep))
	}
	pruneBulk := func(ids, from string, most int) string {
		return prunes(1, ids, fmt.Sprintf("@after = %s, @ended_before = NULL, @max_instances = %d, @keep_last = 1, @completed_before = NULL", from, most))
	}
	const olderFirst = "UPDATE duroxide.executions SET completed_at = completed_at - 5000 WHERE execution_id = 1;"
	// The store asks for a letter first, so these are calls for one that somebody else sends or deletes in between.
	const gone = "DELETE FROM duroxide.dead_letters;\n"
	var list []deed
	for _, o := range work() {
		if strings.HasSuffix(o.name, " again") || o.name == "delete a letter" {
			list = append(list, deed{o.name + " that is gone", gone, within, o.batch("a", 1)})
		}
	}
	return append(list, []deed{
		{"delete an instance that runs", "", within, deletesTree(1, "a", 0)},
		{"delete an instance that has ended", "", within, deletesTree(1, "e", 0)},
		{"delete a child", "", within, deletesTree(1, "a.c", 1)},
		{"delete no instance", "", within, deletesTree(1, "nobody", 1)},
		{"delete instances that run", "", within, withList(1, "(1, N'e'), (2, N'a'), (3, N'a.c')", "EXEC duroxide.delete_instances @list = @l%d, @force = 0;\n")},
		{"delete instances but not their children", "", within, withList(1, "(1, N'e'), (2, N'a')", "EXEC duroxide.delete_instances @list = @l%d, @force = 1;\n")},
		{"delete in bulk what has ended", "", within, bulk("5000")},
		{"delete in bulk what is old", olderFirst, within, bulk("12000")},
		{"delete in bulk what is older", "", within, bulk("12000")},
		{"prune all but one", "", within, prune(1, "0")},
		{"prune all", "", within, prune(0, "0")},
		{"prune all but two", "", within, prune(2, "NULL")},
		{"prune what is old", "UPDATE duroxide.executions SET completed_at = completed_at - 5000 WHERE execution_id = 1;", within, prune(1, "12000")},
		{"prune what runs", "UPDATE duroxide.executions SET status = N'Running', completed_at = NULL WHERE instance_id = N'a' AND execution_id = 1;", within, prune(1, "NULL")},
		{"prune in bulk what is listed", "", within, pruneBulk("(1, N'a'), (2, N'b')", "NULL", 10)},
		{"prune in bulk from the second", "", within, pruneBulk("", "N'a.c'", 10)},
		{"prune in bulk at most one", "", within, pruneBulk("", "NULL", 1)},
		{"prune in bulk what has ended", "", within, prunes(1, "", "@after = NULL, @ended_before = 9000000000000, @max_instances = 10, @keep_last = 0, @completed_before = NULL")},
		{"prune no instance", "", within, prunes(1, "(1, N'nobody')", prunesOne)},
		{"delete orphan messages that are old", "", within, "EXEC duroxide.delete_orphan_messages @older_than_ms = 9500, @after = NULL;\n"},
		{"delete orphan messages that are older", "", within, "EXEC duroxide.delete_orphan_messages @older_than_ms = 10500, @after = NULL;\n"},
		{"delete orphan messages, one is hidden", strings.Replace(enqueueTurn("o", 3), "@delay_ms = 0", "@delay_ms = 60000", 1), within, "EXEC duroxide.delete_orphan_messages @older_than_ms = 0, @after = NULL;\n"},
		{"get depths of unknown code", "", within, "EXEC duroxide.get_queue_depths @unknown_ms = 9500;\n"},
		{"get depths of code that has been unknown for long", "", within, "EXEC duroxide.get_queue_depths @unknown_ms = 10500;\n"},
	}...)
}
