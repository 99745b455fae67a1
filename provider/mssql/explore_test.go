package mssql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsqltest"
)

// The scenarios below run the store's procedures at the same time in many orders, with row versions and without, and with other
// plans than the planner's. Each procedure is called by name; parameters that a scenario does not name are NULL.

// scenario makes a scenario of the store's schema.
func scenario(prepare string, check func(*tsqltest.End) error, sessions ...tsqltest.Session) tsqltest.Scenario {
	return tsqltest.Scenario{
		Setup: func(t testing.TB, s *tsqltest.Server) {
			t.Helper()
			if _, err := (&migrate.Migration{DB: s.DB()}).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.ApplyText(t.Context(), "", prepare); err != nil {
				t.Fatal(err)
			}
		},
		Sessions: sessions,
		Check: func(e *tsqltest.End) error {
			if err := sound(e); err != nil || check == nil {
				return err
			}
			return check(e)
		},
	}
}

// sound checks what holds for every state of the store in which all instances have been started: one with messages is locked, or
// in the ready index, or in the wake index, and nobody has got what somebody else got too.
func sound(e *tsqltest.End) error {
	const forgotten = `
		SELECT COUNT(*)
		FROM duroxide.orchestrator_queue AS q
		LEFT JOIN duroxide.inboxes AS b ON b.instance_id = q.instance_id AND (b.head_id IS NOT NULL OR b.wake_at IS NOT NULL)
		WHERE b.instance_id IS NULL`
	if n := e.Value(forgotten); n != int64(0) {
		return fmt.Errorf("%v messages would never be fetched", n)
	}
	seen := map[any]bool{}
	for _, what := range e.Notes() {
		if seen[what] {
			return fmt.Errorf("%v was fetched twice", what)
		}
		seen[what] = true
	}
	return nil
}

// tokenOf is the n-th lock token.
func tokenOf(n int) string { return fmt.Sprintf("'00000000-0000-0000-0000-%012d'", n) }

func enqueueTurn(instance string, kind int) string {
	return fmt.Sprintf("EXEC duroxide.enqueue_for_orchestrator @instance_id = N'%s', @kind = %d, @name = NULL, @version = NULL, @work_item = N'{}', @delay_ms = 0;\n", instance, kind)
}

func enqueueWork(instance, session string) string {
	if session != "NULL" {
		session = "N'" + session + "'"
	}
	return fmt.Sprintf("EXEC duroxide.enqueue_for_worker @instance_id = N'%s', @execution_id = 1, @activity_id = 1, @session_id = %s, @tag = NULL, @name = NULL, @work_item = N'{}';\n", instance, session)
}

func fetchTurnOf(n int) string {
	return fmt.Sprintf(`EXEC duroxide.fetch_orchestration_item @lock_token = %s, @lock_ms = 30000, @filtered = 0, @min_major = 0, @min_minor = 0, @min_patch = 0,
		@max_major = 0, @max_minor = 0, @max_patch = 0, @known = NULL, @unknown_ms = 0, @history_limit = NULL;
`, tokenOf(n))
}

func fetchWorkOf(n int, owner string) string {
	return fmt.Sprintf(`EXEC duroxide.fetch_work_item @lock_token = %s, @lock_ms = 30000, @sessions = 1, @owner = N'%s', @session_ms = 30000, @any_tag = 0, @untagged = 1,
		@tag1 = NULL, @tag2 = NULL, @tag3 = NULL, @tag4 = NULL, @tag5 = NULL, @known = NULL, @unknown_ms = 0;
`, tokenOf(n), owner)
}

func ackTurnOf(n int) string {
	return fmt.Sprintf(`EXEC duroxide.ack_orchestration_item @lock_token = %s, @execution_id = 1, @name = N'Order', @version = N'1.0.0', @code_name = NULL, @code_version = NULL,
		@parent_instance_id = NULL, @major = NULL, @minor = NULL, @patch = NULL, @status = N'Running', @output = NULL, @set_custom_status = 0, @custom_status = NULL,
		@clear_values = 0, @drop_timers = 0;
`, tokenOf(n))
}

// fetches is a session that notes the instance or the row that it has fetched, which is in the n-th result set.
func fetches(name, batch string, set int) tsqltest.Session {
	return tsqltest.Session{Name: name, Run: func(p *tsqltest.Player) error {
		r, err := p.Exec(batch)
		if err == nil && len(r.Sets) > set && len(r.Sets[set].Rows) > 0 {
			p.Note(r.Sets[set].Rows[0][0])
		}
		return err
	}}
}

func does(name, batch string) tsqltest.Session {
	return tsqltest.Session{Name: name, Steps: []string{batch}}
}

func abandonTurnOf(n int) string {
	return fmt.Sprintf("EXEC duroxide.abandon_orchestration_item @lock_token = %s, @delay_ms = 0, @give_back = 0;\n", tokenOf(n))
}

func ackWorkOf(n int, instance string) string {
	return fmt.Sprintf("EXEC duroxide.ack_work_item @lock_token = %s, @instance_id = N'%s', @work_item = N'{}';\n", tokenOf(n), instance)
}

func abandonWorkOf(n int) string {
	return fmt.Sprintf("EXEC duroxide.abandon_work_item @lock_token = %s, @delay_ms = 0, @give_back = 0;\n", tokenOf(n))
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

const (
	renewSessions = "DECLARE @o duroxide.id_list_v1; INSERT INTO @o (position, id) VALUES (1, N'w1'), (2, N'w2'); EXEC duroxide.renew_session_lock @owners = @o, @extend_ms = 60000, @idle_ms = 600000;\n"
	queueDepths   = "EXEC duroxide.get_queue_depths @unknown_ms = 0;\n"
	getValue      = "EXEC duroxide.get_kv_value @instance_id = N'a', @kv_key = N'k';\n"
	// manyDue are 300 instances whose messages become visible a second later.
	manyDue = "DECLARE @n INT = 0, @id NVARCHAR(400); WHILE @n < 300 BEGIN SET @n += 1; SET @id = CONCAT(N'i', @n); EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 1, @name = NULL, @version = NULL, @work_item = N'{}', @delay_ms = 1000; END;\n"
)

// What the scenarios begin with.
var (
	twoTurns    = enqueueTurn("a", 1) + enqueueTurn("b", 1)
	heldTurn    = twoTurns + fetchTurnOf(9) // that of a
	twoWorks    = twoTurns + enqueueWork("a", "NULL") + enqueueWork("b", "NULL")
	heldWork    = twoWorks + fetchWorkOf(9, "w1") // that of a
	aSession    = enqueueWork("a", "s1") + enqueueWork("b", "s1") + fetchWorkOf(9, "w1")
	twoSessions = enqueueWork("a", "s1") + enqueueWork("b", "s2") + fetchWorkOf(8, "w1") + fetchWorkOf(9, "w1")
)

// passing is a session that lets time pass at some point.
func passing(d time.Duration) tsqltest.Session {
	return tsqltest.Session{Name: "clock", Run: func(p *tsqltest.Player) error {
		p.Advance(d)
		return nil
	}}
}

// Two of the store's operations beside each other: nobody gets what another one got, no message is forgotten, and nobody is the
// victim of a deadlock, with row versions and without, by the planner's plans and by others.
func TestExploreOperations(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]tsqltest.Scenario{
		"fetch turn, enqueue":      scenario(twoTurns, nil, fetches("fetch", fetchTurnOf(1), 1), does("enqueue", enqueueTurn("a", 3))),
		"fetch turn, ack turn":     scenario(heldTurn, nil, fetches("fetch", fetchTurnOf(1), 1), does("ack", ackTurnOf(9))),
		"fetch turn, abandon turn": scenario(heldTurn, nil, fetches("fetch", fetchTurnOf(1), 1), does("abandon", abandonTurnOf(9))),
		"first messages":           scenario("", nil, does("one", enqueueTurn("a", 1)), does("two", enqueueTurn("a", 1))),
		"enqueue both, fetch turn": scenario(twoTurns, nil, does("enqueue", "BEGIN TRANSACTION;\n"+enqueueTurn("a", 3)+enqueueTurn("b", 3)+"COMMIT;"), fetches("fetch", fetchTurnOf(1), 1)),
		"enqueue work, fetch work": scenario(twoWorks, nil, does("enqueue", enqueueWork("a", "NULL")), fetches("fetch", fetchWorkOf(1, "w1"), 0)),
		"enqueue, ack turn":        scenario(heldTurn, nil, does("enqueue", enqueueTurn("a", 3)), does("ack", ackTurnOf(9))),
		"fetch work, fetch work":   scenario(twoWorks, nil, fetches("one", fetchWorkOf(1, "w1"), 0), fetches("two", fetchWorkOf(2, "w2"), 0)),
		"fetch work, ack work":     scenario(heldWork, nil, fetches("fetch", fetchWorkOf(1, "w2"), 0), does("ack", ackWorkOf(9, "a"))),
		"fetch work, abandon work": scenario(heldWork, nil, fetches("fetch", fetchWorkOf(1, "w2"), 0), does("abandon", abandonWorkOf(9))),
		"fetch turn, ack work":     scenario(heldWork, nil, fetches("fetch", fetchTurnOf(1), 1), does("ack", ackWorkOf(9, "a"))),
		"get value, ack turn":      scenario(heldTurn, nil, does("get", getValue), does("ack", setsValue(9, "Running"))),
		"get value, end":           scenario(heldTurn, nil, does("get", getValue), does("ack", setsValue(9, "Completed"))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Of a fetch: there is nothing to fetch now. Of two that add an inbox: the store repeats the call.
			s.Allow = []int32{1222, 2627}
			for _, versions := range []bool{false, true} {
				s.Options.RowVersions = versions
				if r := tsqltest.Explore(t, s, tsqltest.Exploration{Preemptions: 1}); r.Complete != 1 {
					t.Errorf("only %d schedules, complete to %d", r.Schedules, r.Complete)
				}
				tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Plans: 2, Schedules: 45})
			}
		})
	}
}

// What is known to fail, by the number that the review of the procedures gave it. Whoever mends one moves its scenario to those
// that hold: this test wants every one of them to fail.
func TestExploreKnownFailures(t *testing.T) {
	t.Parallel()
	every, anyPlan := tsqltest.Exploration{}, tsqltest.Exploration{Random: true, Plans: 20, Schedules: 2000}
	for name, tt := range map[string]struct {
		s    tsqltest.Scenario
		o    tsqltest.Exploration
		want []string
	}{
		"1: a fetch moves all that is due before it takes anything, and its lease begins before that": {
			s: scenario(manyDue, func(e *tsqltest.End) error {
				if n, ok := e.Value("SELECT COUNT(*) FROM duroxide.inboxes WHERE head_id IS NOT NULL").(int64); !ok || n > 64 {
					return fmt.Errorf("one fetch has moved %d instances", n+1)
				}
				return nil
			}, tsqltest.Session{Name: "fetch", Run: func(p *tsqltest.Player) error {
				p.Advance(time.Minute)
				_, err := p.Exec(fetchTurnOf(1))
				return err
			}}),
			o: tsqltest.Exploration{Preemptions: -1}, want: []string{"moved 300 instances"},
		},
		"3: the write that takes an instance may seek by the ready index": {
			s: scenario(twoTurns, nil, fetches("one", fetchTurnOf(1), 1), fetches("two", fetchTurnOf(2), 1)),
			o: anyPlan, want: []string{"error 1205", "duroxide.inboxes.ix_inboxes_ready"},
		},
		"4: a renewal of sessions comes to the row by its index, and a claim to the index by the row": {
			s: scenario(aSession, nil, does("renew", renewSessions), does("claim", claims("w1", "s1"))),
			o: anyPlan, want: []string{"error 1205", "duroxide.sessions.ix_sessions_end"},
		},
		"11: a new version of the framework makes fetches wait": {
			s: scenario(heldTurn, nil, does("fetch", "SET LOCK_TIMEOUT 0; "+fetchTurnOf(1)), does("ack", ofVersion(ackTurnOf(9)))),
			o: every, want: []string{"error 1222", "framework_versions"},
		},
		"16: a reader of the queues' lengths comes to the inbox by its message": {
			s: scenario(heldTurn, nil, does("read", queueDepths), does("ack", ackTurnOf(9))),
			o: every, want: []string{"error 1205", "get_queue_depths"},
		},
		"17: a claim keeps a session that it did not get": {
			s: scenario(twoSessions, nil, does("renew", renewSessions), does("claim", claims("w3", "s2", "s1"))),
			o: every, want: []string{"error 1205", "claim_session"},
		},
		// Found by these tests.
		"a search for work of sessions comes to the session by its index": {
			s: scenario(aSession, nil, does("aside", "EXEC duroxide.set_work_aside @lock_token = "+tokenOf(9)+", @error = N'e', @free_session = 1;"),
				fetches("fetch", fetchWorkOf(2, "w1"), 0)),
			o: anyPlan, want: []string{"error 1205", "find_session_work"},
		},
		"a session that changes hands while it is renewed is renewed twice": {
			s: scenario(twoSessions+enqueueWork("c", "s1"), nil, does("renew", renewSessions), fetches("fetch", fetchWorkOf(1, "w2"), 0), passing(31*time.Second)),
			o: every, want: []string{"error 2627", "renew_session_lock"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tsqltest.Search(t, tt.s, tt.o)
			if r.Failure == nil {
				t.Fatalf("nothing was found in %d schedules, complete to %d: it belongs to those that hold now", r.Schedules, r.Complete)
			}
			t.Logf("after %d schedules: %v", r.Schedules, r.Failure)
			for _, want := range tt.want {
				if !strings.Contains(r.Failure.String(), want) {
					t.Errorf("no %q", want)
				}
			}
		})
	}
}
