package interleave

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Leases are what takes, renews and gives up turns, activities and sessions, beside what is in its way.
func Leases() []Scenario {
	list := slices.Concat(byAnyPlan(), takesByAnyPlan(), endingsByAnyPlan(), due())
	return append(list,
		Scenario{
			Name:     "a fetch does not wait for a new version of the framework",
			Prepare:  heldTurn,
			Sessions: []tsqltest.Session{does("fetch", "SET LOCK_TIMEOUT 0; "+fetchTurnOf(1)), does("ack", ofVersion(ackTurnOf(9)))},
		},
		Scenario{
			Name:     "a claim does not keep a session that it did not get",
			Prepare:  twoSessions,
			Sessions: []tsqltest.Session{does("renew", renewSessions), does("claim", claims("w3", "s2", "s1"))},
		},
		Scenario{
			Name:     "a session that changes hands while it is renewed is renewed once",
			Prepare:  twoSessions + enqueueWork("c", "s1"),
			Sessions: []tsqltest.Session{does("renew", renewSessions), fetches("fetch", fetchWorkOf(1, "w2")), passing(31 * time.Second)},
		},
		twoSlots(),
		besideAnOpenTransaction(),
		addedOnce(),
	)
}

// midway are operations beside one that is in the middle of its work, or waits there.
func midway() []Scenario {
	return append(behindALongTransaction(), whileOneDrops())
}

// byAnyPlan must hold by any plan, also by those that scan: what a write seeks is said by its hints.
func byAnyPlan() []Scenario {
	list := append(cleanUps(), []Scenario{
		{Name: "renew turn, ack turn", Prepare: heldTurn, Sessions: []tsqltest.Session{does("renew", renewTurnOf(9)), does("ack", ackTurnOf(9))}},
		{Name: "fetch turn, fetch turn", Prepare: twoTurns, Sessions: []tsqltest.Session{fetches("one", fetchTurnOf(1)), fetches("two", fetchTurnOf(2))}},
		{Name: "renew work, ack work", Prepare: heldWork, Sessions: []tsqltest.Session{does("renew", renewWorkOf(9)), does("ack", ackWorkOf(9, "a"))}},
		{Name: "renew sessions, claim session", Prepare: aSession, Sessions: []tsqltest.Session{does("renew", renewSessions), does("claim", claims("w1", "s1"))}},
		{
			Name:    "set work aside, fetch work",
			Prepare: aSession,
			Sessions: []tsqltest.Session{
				does("aside", "EXEC duroxide.set_work_aside "+leaseOf(9)+", @error = N'e', @free_session = 1;"),
				fetches("fetch", fetchWorkOf(2, "w1")),
			},
			Check: heldWithItsSession,
		},
		{
			Name: "fetch work, cancel it", Prepare: heldTurn + enqueueWork("a", "NULL"),
			Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w1")), does("ack", call{"execution": "1", "cancelled": "(1, N'a', 1, 1)"}.ack(9))},
		},
		{
			Name: "fetch work, delete its instance", Prepare: heldTurn + enqueueWork("a", "NULL"),
			Sessions: []tsqltest.Session{fetches("fetch", fetchWorkOf(1, "w1")), does("delete", withList(1, "(1, N'a')", "EXEC duroxide.delete_instances @list = @l%d, @force = 1;\n"))},
		},
		leavesByKey(),
		comesBy("get all values", started("a", 5)+"INSERT INTO duroxide.kv_store (instance_id, kv_key, value, value_bytes, last_updated_at_ms) VALUES (N'a', N'k', N'1', 1, 1);\n",
			"EXEC duroxide.get_kv_all_values @instance_id = N'a';", "duroxide.kv_store", "ix_kv_store_instance"),
		comesBy("list known versions", started("a", 5), "EXEC duroxide.list_known_versions @name = N'Order', @since_ms = 1000;", "duroxide.code_names", "uq_code_names"),
		comesBy("list held instances", enqueueTurn("a", 1)+enqueueTurn("a", 3)+"UPDATE duroxide.orchestrator_queue SET misfit = N'why', misfit_at = 1000;\n",
			"EXEC duroxide.list_held_instances;", "duroxide.orchestrator_queue", "ix_orchestrator_queue_held", "pk_orchestrator_queue"),
		comesBy("who uses an id that no start waits for", started("a", 5)+enqueueTurn("a", 3),
			withList(1, "(1, N'a')", "EXEC duroxide.find_instance @instance_id = N'a'; EXEC duroxide.read_progress @ids = @l%d;"),
			"duroxide.orchestrator_queue", "ix_orchestrator_queue_kind"),
		{
			Name: "readers of executions, delete instance, any plan", Prepare: started("a", 5) + started("b", 6),
			Sessions: []tsqltest.Session{does("read", "EXEC duroxide.get_instance_info @instance_id = N'a'; EXEC duroxide.find_instance @instance_id = N'a'; EXEC duroxide.get_system_metrics;"), does("delete", deletion)},
		},
		{
			Name: "who uses an id, ack its first turn, any plan", Prepare: start("a") + fetchTurnOf(9),
			Sessions: []tsqltest.Session{
				does("read", withList(1, "(1, N'a')", "EXEC duroxide.find_instance @instance_id = N'a'; EXEC duroxide.read_progress @ids = @l%d;")),
				does("ack", call{"execution": "1"}.named("Order").ack(9)),
			},
		},
		{
			Name: "ack work, ack turn, any plan", Prepare: started("a", 5) + enqueueWork("a", "NULL") + fetchWorkOf(8, "w1") + enqueueTurn("a", 3) + fetchTurnOf(9),
			Sessions: []tsqltest.Session{does("work", ackWorkOf(8, "a")), does("turn", call{"execution": "1"}.ack(9))},
		},
		{Name: "fetch turn, enqueue, any plan", Prepare: twoTurns, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("enqueue", enqueueTurn("a", 3))}},
		{Name: "fetch turn, ack turn, any plan", Prepare: heldTurn, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("ack", ackTurnOf(9))}},
		{Name: "fetch turn, abandon turn, any plan", Prepare: heldTurn, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("abandon", abandonTurnOf(9))}},
		{Name: "fetch turn, ack work, any plan", Prepare: heldWork, Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)), does("ack", ackWorkOf(9, "a"))}},
		{
			Name: "enqueue both, fetch turn, any plan", Prepare: twoTurns,
			Sessions: []tsqltest.Session{does("enqueue", "BEGIN TRANSACTION;\n"+enqueueTurn("a", 3)+enqueueTurn("b", 3)+"COMMIT;"), fetches("fetch", fetchTurnOf(1))},
		},
	}...)
	for i := range list {
		// Of a fetch: there is nothing to fetch now. Of a renewal: the lease has been given up. Of two that add an
		// inbox: the store repeats the call.
		list[i].Allow, list[i].AnyPlan = []int32{1222, 2627, 50_010}, true
	}
	return list
}

// cleanUps are deletions of sessions that have ended, beside those who want one of them.
func cleanUps() []Scenario {
	return []Scenario{
		{
			// A look at the queue that keeps a session locked would deadlock with a fetch, which has the activity and
			// wants the session.
			Name: "clean up sessions, fetch work of one that has ended", Prepare: enqueueWork("a", "s1") + endedSessions,
			Sessions: []tsqltest.Session{does("clean", cleanSessions), fetches("fetch", fetchWorkOf(1, "w1"))},
			Check:    heldWithItsSession,
		},
		{
			Name: "clean up sessions, set work of one that has ended aside", Prepare: aSession + "UPDATE duroxide.sessions SET locked_until = 1;\n" + endedSessions,
			Sessions: []tsqltest.Session{
				does("clean", cleanSessions),
				does("aside", "EXEC duroxide.set_work_aside "+leaseOf(9)+", @error = N'e', @free_session = 1;"),
			},
		},
		{
			Name: "clean up sessions, claim one that has ended", Prepare: endedSessions,
			Sessions: []tsqltest.Session{does("clean", cleanSessions), does("claim", claims("w1", "s1", "s2"))},
		},
		{
			Name: "clean up sessions, renew them when they end", Prepare: claims("w1", "s2", "s1", "s3") + "UPDATE duroxide.sessions SET locked_until = locked_until - 1 WHERE session_id = N's3';\n",
			Sessions: []tsqltest.Session{does("clean", cleanSessions), does("renew", renewSessions), passing(61 * time.Second)},
		},
		comesBy("clean up sessions", aSession+"UPDATE duroxide.sessions SET locked_until = 1;\n", cleanSessions,
			"duroxide.worker_queue", "ix_worker_queue_session"),
	}
}

// leavesByKey is the end of a turn that has read one of two messages: by any plan the deletion comes to the message by
// its key. By the index of tokens it would lock the key there before the row, unlike all others.
func leavesByKey() Scenario {
	return Scenario{
		Name:     "ack peeked turn, which deletes messages by their key, any plan",
		Prepare:  started("a", 5) + enqueueMessage("a", 1) + enqueueMessage("a", 2) + peekTurnOf(9),
		Sessions: []tsqltest.Session{does("ack", call{"execution": "1", "peeked": "1", "queues": "(1, N'q', 1, 1)"}.ack(9))},
		Check: func(e *tsqltest.End) error {
			found := e.Keys("ack").Where(func(k tsqltest.KeyCount) bool {
				return k.Module == "duroxide.leave_messages" && strings.HasPrefix(k.Statement, "DELETE") && k.Access != "write"
			})
			others := found.Where(func(k tsqltest.KeyCount) bool { return k.Index != "pk_orchestrator_queue" })
			if found.Total() == 0 || len(others) > 0 {
				return fmt.Errorf("of %d rows it comes to these by another index:\n%v", found.Total(), others)
			}
			return nil
		},
	}
}

// comesBy is a batch of which each statement comes to a table by one of the indexes alone, by any plan. If a statement
// came to a row by two it would hold the key while it waits for the row, and deadlock with who has locked the row and
// wants the key.
func comesBy(name, prepare, batch, table string, indexes ...string) Scenario {
	return Scenario{
		Name: name + " by one index, any plan", Prepare: prepare, Sessions: []tsqltest.Session{does("one", batch)},
		Check: func(e *tsqltest.End) error {
			by := map[string]string{}
			others := e.Keys("one").Where(func(k tsqltest.KeyCount) bool {
				if k.Table != table {
					return false
				}
				statement := fmt.Sprint(k.Module, k.Line)
				if by[statement] == "" {
					by[statement] = k.Index
				}
				return by[statement] != k.Index || !slices.Contains(indexes, k.Index)
			})
			if len(others) > 0 {
				return fmt.Errorf("it comes to rows by another index:\n%v", others)
			}
			return nil
		},
	}
}

// due are fetches when the time of what waits has come.
func due() []Scenario {
	turn := func(name string, n int) tsqltest.Session { return fetches(name, fetchTurnOf(n)) }
	work := func(name string, n int) tsqltest.Session { return fetches(name, fetchWorkOf(n, "w1")) }
	return []Scenario{
		{
			Name:    "a fetch makes a portion ready of what is due",
			Prepare: manyDue,
			Sessions: []tsqltest.Session{{Name: "fetch", Run: func(p *tsqltest.Player) error {
				p.Advance(time.Minute)
				_, err := p.Exec(fetchTurnOf(1))
				return err
			}}},
			Check: func(e *tsqltest.End) error {
				if n, ok := e.Value("SELECT COUNT(*) FROM duroxide.inboxes WHERE head_id IS NOT NULL").(int64); !ok || n > 256 {
					return fmt.Errorf("one fetch has moved %d instances", n+1)
				}
				return nil
			},
		},
		{
			Name:     "the lease of a turn begins when it is taken",
			Prepare:  twoTurns + turnOfBDue + slow("ready_due_inboxes"),
			Sessions: []tsqltest.Session{turn("fetch", 1)},
			Check:    wholeLease("inboxes"),
		},
		{
			Name:     "the lease of an activity begins when it is taken",
			Prepare:  twoWorks + workOfBDue + slow("ready_due_work"),
			Sessions: []tsqltest.Session{work("fetch", 1)},
			Check:    wholeLease("worker_queue"),
		},
		{
			Name:     "the leases of activities begin when they are taken",
			Prepare:  namedWorks + workOfBDue + "DELETE FROM duroxide.worker_queue WHERE lock_token IS NOT NULL;\n" + slow("ready_due_work"),
			Sessions: []tsqltest.Session{takes("take", takeWorkOf(1, 2))},
			Check:    wholeLease("worker_queue"),
		},
		{
			Name:     "two fetches find instances that are due, and the next one what they miss",
			Prepare:  twoTurns + allTurnsDue,
			Sessions: []tsqltest.Session{turn("one", 1), turn("two", 2)},
			Check:    foundAtLast(fetchTurnOf(3)),
		},
		{
			Name:     "two fetches find activities that are due, and the next one what they miss",
			Prepare:  twoWorks + allWorkDue,
			Sessions: []tsqltest.Session{work("one", 1), work("two", 2)},
			Check:    foundAtLast(fetchWorkOf(3, "w1")),
		},
	}
}

// slow makes a procedure take 40 seconds, which does nothing else.
func slow(procedure string) string {
	return "\nGO\nCREATE OR ALTER PROCEDURE duroxide." + procedure + " @now BIGINT, @due_from BIGINT, @more BIT OUTPUT AS SET @more = 0; WAITFOR DELAY '00:00:40';\nGO\n"
}

// wholeLease says that what is held is held for 30 seconds from now.
func wholeLease(table string) func(e *tsqltest.End) error {
	return func(e *tsqltest.End) error {
		left := e.Value("SELECT locked_until - DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) FROM duroxide." + table + " WHERE lock_token IS NOT NULL")
		if left != int64(30_000) {
			return fmt.Errorf("a lease of 30000 ms that has just been taken lasts for another %v ms", left)
		}
		return nil
	}
}

// What was ready is due instead, and no fetch has seen to it.
const (
	allTurnsDue = "UPDATE duroxide.inboxes SET head_id = NULL, wake_at = 1;\n"
	allWorkDue  = "UPDATE duroxide.worker_queue SET ready = 0, wake_at = 1;\n"
	turnOfBDue  = "UPDATE duroxide.inboxes SET head_id = NULL, wake_at = 1 WHERE instance_id = N'b';\n"
	workOfBDue  = "UPDATE duroxide.worker_queue SET ready = 0, wake_at = 1 WHERE instance_id = N'b';\n"
)

// bothFetched says that who did not have to wait for too long has got something.
func bothFetched(e *tsqltest.End) error {
	if waited := e.Err("one") != nil || e.Err("two") != nil; len(e.Notes()) < 2 && !waited {
		return errors.New("somebody has got nothing")
	}
	return nil
}

// foundAtLast says that one of two fetches has got one of two, and that the next fetch gets the other if nobody has. One
// may miss what the other one is making ready.
func foundAtLast(next string) func(e *tsqltest.End) error {
	return func(e *tsqltest.End) error {
		n := len(e.Notes())
		if n == 0 {
			return errors.New("nobody has got anything")
		}
		r, err := e.Exec(next)
		if err == nil && (claimOf(r) == nil) != (n == 2) {
			err = fmt.Errorf("%d were fetched, and the next fetch gets %v", n, claimOf(r))
		}
		return err
	}
}

// twoSlots are fetches of one worker, for whose session there is work for each of them.
func twoSlots() Scenario {
	return Scenario{
		Name:     "two slots of one owner find two activities of its session",
		Prepare:  enqueueWork("a", "s1") + enqueueWork("b", "s1"),
		Sessions: []tsqltest.Session{fetches("one", fetchWorkOf(1, "w1")), fetches("two", fetchWorkOf(2, "w1"))},
		Allow:    []int32{1222, 2627},
		Check:    bothFetched,
	}
}

// heldWithItsSession says that who holds an activity of a session has the session too: whoever gave it up meanwhile has
// left it.
func heldWithItsSession(e *tsqltest.End) error {
	const without = `
		SELECT COUNT(*)
		FROM duroxide.worker_queue AS q
		LEFT JOIN duroxide.sessions AS s ON s.session_id = q.session_id
		WHERE q.session_id IS NOT NULL
		  AND q.lock_token IS NOT NULL
		  AND s.session_id IS NULL`
	if n := e.Value(without); n != int64(0) {
		return fmt.Errorf("%v activities are held without their session", n)
	}
	return nil
}

// besideAnOpenTransaction is a fetch when two instances are due, and somebody writes to one of them in a transaction
// that may stay open for long: a wait for it would be an error.
func besideAnOpenTransaction() Scenario {
	return Scenario{
		Name:    "a fetch that makes ready what is due does not wait for a transaction that stays open",
		Prepare: twoTurns + allTurnsDue,
		Sessions: []tsqltest.Session{
			fetches("fetch", "SET LOCK_TIMEOUT 0; "+fetchTurnOf(1)),
			does("open", "BEGIN TRANSACTION;\n"+enqueueTurn("a", 3)+"COMMIT;"),
		},
		Check: func(e *tsqltest.End) error {
			if len(e.Notes()) == 0 {
				return errors.New("it says that there is nothing")
			}
			return nil
		},
	}
}

// addedOnce are two that want the inbox of an instance which is not there yet. An application lock lets the other one
// begin when one has added it, and not committed: he waits, instead of adding it too. That would fail, and with it the
// transaction of a caller who has begun one.
func addedOnce() Scenario {
	const begin = "EXEC sp_getapplock @Resource = N'one by one', @LockMode = 'Exclusive', @LockOwner = 'Session'; BEGIN TRANSACTION;\n"
	const end = "EXEC sp_releaseapplock @Resource = N'one by one', @LockOwner = 'Session'; COMMIT;"
	return Scenario{
		Name:     "who comes when somebody has added an inbox does not add it too",
		Sessions: []tsqltest.Session{does("one", begin+enqueueTurn("a", 1)+end), does("other", begin+enqueueTurn("a", 1)+end)},
	}
}

// behindALongTransaction are calls about two activities, while somebody has the row of the first for two seconds: the
// second does not wait for him.
func behindALongTransaction() []Scenario {
	acks := fmt.Sprintf("DECLARE @a duroxide.completion_list_v1; INSERT INTO @a VALUES (0, 1, %s, N'a', N'{}'), (1, 2, %s, N'b', N'{}'); EXEC duroxide.ack_work_item @acks = @a;\n", tokenOf(9), tokenOf(8))
	renewals := fmt.Sprintf("DECLARE @l duroxide.lease_list_v1; INSERT INTO @l VALUES (0, 1, NULL, %s, 0, 60000), (1, 2, NULL, %s, 0, 60000); EXEC duroxide.renew_locks @locks = @l;\n", tokenOf(9), tokenOf(8))
	return []Scenario{
		blocked("an activity does not wait behind one that is blocked and ends in the same call", acks, "SELECT COUNT(*) FROM duroxide.worker_queue WHERE instance_id = N'b'"),
		blocked("a lease does not wait behind one that is blocked and renewed in the same call", renewals,
			"SELECT COUNT(*) FROM duroxide.worker_queue WHERE instance_id = N'b' AND locked_until < DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + 50000"),
	}
}

// blocked is a call about the held activities of a and b, while somebody has the row of a for two seconds. left counts
// 0 when the call has done its work for b. The other one sleeps in small portions, since a schedule may end a few of
// them early, which moves the clock.
func blocked(name, call, left string) Scenario {
	const long = "BEGIN TRANSACTION; UPDATE q SET attempt_count = attempt_count FROM duroxide.worker_queue AS q WITH (INDEX (pk_worker_queue)) WHERE q.instance_id = N'a'; " +
		"DECLARE @n INT = 0; WHILE @n < 20 BEGIN SET @n += 1; WAITFOR DELAY '00:00:00.100'; END; COMMIT;"
	return Scenario{
		Name:    name,
		Prepare: heldWork + fetchWorkOf(8, "w1"), // that of b
		Sessions: []tsqltest.Session{
			does("long", long),
			{Name: "call", Run: func(p *tsqltest.Player) error {
				began := p.Now()
				_, err := p.Exec(call)
				if took := p.Now().Sub(began); took > time.Second {
					return fmt.Errorf("the call has taken %v", took)
				}
				return err
			}},
		},
		Check: func(e *tsqltest.End) error {
			if n := e.Value(left); n != int64(0) {
				return errors.New("nothing was done for b")
			}
			return nil
		},
	}
}

// whileOneDrops is the start of an instance and a fetch of it, beside a fetch that drops the message which was there
// before, and leaves one that is hidden. That fetch does not know the code of what starts, and can't take it.
func whileOneDrops() Scenario {
	const known = "DECLARE @k duroxide.code_list_v1; INSERT INTO @k VALUES (1, N'Other', N''); EXEC duroxide.register_known_code @digest = 0x01, @activity = 0, @codes = @k, @any_tag = 1;\n"
	drop := strings.Replace(fetchTurnOf(1), "@known = NULL", "@known = 0x01", 1)
	return Scenario{
		Name:     "a fetch finds the instance that starts while another one drops its messages",
		Prepare:  known + enqueueTurn("a", 0) + strings.Replace(enqueueTurn("a", 0), "@delay_ms = 0", "@delay_ms = 60000", 1),
		Sessions: []tsqltest.Session{fetches("drop", drop), fetches("start", start("a")+fetchTurnOf(2))},
		Allow:    []int32{1222},
		Check: func(e *tsqltest.End) error {
			if len(e.Notes()) == 0 && e.Err("start") == nil {
				return errors.New("it says that there is nothing")
			}
			return nil
		},
	}
}
