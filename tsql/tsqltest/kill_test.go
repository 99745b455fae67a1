package tsqltest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// spid is the number of a session.
func spid(t *testing.T, conn *tsqltest.Conn) any {
	t.Helper()
	return must(t, conn, "SELECT CAST(@@SPID AS int)").Sets[0].Rows[0][0]
}

// untilSuspended returns once a session waits.
func untilSuspended(t *testing.T, observer *tsqltest.Conn, id any) {
	t.Helper()
	for told(t, observer, fmt.Sprintf("SELECT status FROM sys.dm_exec_requests WHERE session_id = %v", id)) != "suspended" {
		runtime.Gosched()
	}
}

func TestKillRefusals(t *testing.T) {
	t.Parallel()
	for batch, want := range map[string]string{
		"KILL 0":     "!6101",
		"KILL 40000": "!6101",
		"KILL 9":     "!6107",
		"KILL 999":   "!6106",
		"DECLARE @s varchar(20) = CONCAT('KILL ', @@SPID); EXEC (@s)":                       "!6104",
		"BEGIN TRANSACTION; KILL 999":                                                       "!6115",
		"EXECUTE AS LOGIN = 'joe'; KILL 999":                                                "!6102",
		"EXECUTE AS USER = 'dbo'; KILL 999":                                                 "!6102",
		"USE master; GRANT ALTER ANY CONNECTION TO joe; EXECUTE AS LOGIN = 'joe'; KILL 999": "!6106",
		"KILL 51 WITH STATUSONLY":                                                           "!49900",
	} {
		if got := told(t, session(t, firm(t)), batch); got != want {
			t.Errorf("%s: %s, want %s", batch, got, want)
		}
	}
}

// TestKill ends a session that is idle in a transaction, and one that waits for it.
func TestKill(t *testing.T) {
	t.Parallel()
	server := firm(t)
	admin, idle, waiting := session(t, server), session(t, server), session(t, server)
	must(t, idle, "BEGIN TRANSACTION; UPDATE dbo.[open] SET a = 5")
	idleID, waitingID := spid(t, idle), spid(t, waiting)
	ended := make(chan error, 1)
	go func() {
		_, err := waiting.Exec(t.Context(), "UPDATE dbo.[open] SET a = 6")
		ended <- err
	}()
	untilSuspended(t, admin, waitingID)
	must(t, admin, fmt.Sprint("KILL ", waitingID))
	if err := <-ended; !strings.Contains(fmt.Sprint(err), "596") {
		t.Errorf("the statement that waited ends with %v, want error 596", err)
	}
	must(t, admin, fmt.Sprint("KILL ", idleID))
	if got := told(t, admin, "SELECT a FROM dbo.[open]; SELECT COUNT(*) FROM sys.dm_exec_sessions"); got != "1,1" {
		t.Errorf("the row and the number of sessions are %s, want 1,1", got)
	}
	if _, err := idle.Exec(t.Context(), "SELECT 1"); !strings.Contains(fmt.Sprint(err), "596") {
		t.Errorf("a session that was killed executes a batch with %v, want error 596", err)
	}
	if got := told(t, admin, fmt.Sprint("KILL ", idleID)); got != "!6106" {
		t.Errorf("killing a session again: %s, want error 6106", got)
	}
}

// TestKillConnection ends the connection of a driver in the middle of a query, and one that does nothing.
func TestKillConnection(t *testing.T) {
	t.Parallel()
	server := firm(t)
	admin := session(t, server)
	for _, batch := range []string{"WAITFOR DELAY '01:00'", ""} {
		conn, err := server.DB().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var id int
		if err := conn.QueryRowContext(t.Context(), "SELECT @@SPID").Scan(&id); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		if batch != "" {
			go func() {
				_, err := conn.ExecContext(t.Context(), batch)
				ended <- err
			}()
			for told(t, admin, fmt.Sprint("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = ", id)) != "1" {
				runtime.Gosched()
			}
			must(t, admin, fmt.Sprint("KILL ", id))
		} else {
			must(t, admin, fmt.Sprint("KILL ", id))
			_, err := conn.ExecContext(t.Context(), "SELECT 1")
			ended <- err
		}
		if err := <-ended; err == nil {
			t.Errorf("%q goes on after its session was killed", batch)
		}
		_ = conn.Close()
	}
}

// TestAloneInDatabase: SINGLE_USER without a word about the others waits for them to go, as long as LOCK_TIMEOUT says.
func TestAloneInDatabase(t *testing.T) {
	t.Parallel()
	const single = "ALTER DATABASE crowd SET SINGLE_USER"
	for _, c := range []struct{ name, batch, want string }{
		{"no wait", single + " WITH NO_WAIT", "!5070,!5069"},
		{"lock timeout", "SET LOCK_TIMEOUT 0; " + single, "!5061,!5069"},
		{"row versions", "SET LOCK_TIMEOUT 0; ALTER DATABASE crowd SET READ_COMMITTED_SNAPSHOT ON", "!5061,!5069"},
		{"at once", single + " WITH ROLLBACK IMMEDIATE", ""},
		{"after nothing", single + " WITH ROLLBACK AFTER 0", ""},
		{"after a second", single + " WITH ROLLBACK AFTER 1 SECONDS", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := tsqltest.New(t, tsqltest.Options{})
			admin, other := session(t, server), session(t, server)
			must(t, admin, "CREATE DATABASE crowd")
			must(t, other, "USE crowd; CREATE TABLE t (a int); BEGIN TRANSACTION; INSERT t VALUES (1)")
			began := time.Now()
			if got := told(t, admin, c.batch); got != c.want {
				t.Errorf("%s: %s, want %s", c.batch, got, c.want)
			}
			if c.name == "after a second" && time.Since(began) < time.Second {
				t.Errorf("the other session was ended after %v", time.Since(began))
			}
			_, err := other.Exec(t.Context(), "SELECT 1")
			if ended := err != nil; ended != (c.want == "") {
				t.Errorf("the other session executes a batch with %v", err)
			}
		})
	}
	for _, batch := range []string{single, single + " WITH ROLLBACK AFTER 3600"} {
		t.Run("the others go: "+batch, func(t *testing.T) {
			t.Parallel()
			server := tsqltest.New(t, tsqltest.Options{})
			admin, one, two, observer := session(t, server), session(t, server), session(t, server), session(t, server)
			must(t, admin, "CREATE DATABASE crowd")
			must(t, one, "USE crowd")
			must(t, two, "USE crowd")
			id := spid(t, admin)
			done := make(chan error, 1)
			go func() {
				_, err := admin.Exec(t.Context(), batch+"; USE crowd")
				done <- err
			}()
			untilSuspended(t, observer, id)
			must(t, one, "USE test")
			two.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if got := told(t, one, "USE crowd"); got != "!924" {
				t.Errorf("a second user: %s, want error 924", got)
			}
		})
	}
}

// Of two sessions that each wait for the other to go, one is the victim of a deadlock.
func TestAloneTogether(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	one, two, observer := session(t, server), session(t, server), session(t, server)
	must(t, one, "CREATE DATABASE crowd; USE crowd")
	must(t, two, "USE crowd")
	id := spid(t, one)
	done := make(chan error, 1)
	go func() {
		_, err := one.Exec(t.Context(), "ALTER DATABASE crowd SET SINGLE_USER")
		done <- err
	}()
	untilSuspended(t, observer, id)
	if got := told(t, two, "ALTER DATABASE crowd SET READ_COMMITTED_SNAPSHOT ON"); got != "!1205" {
		t.Errorf("the second one: %s, want error 1205", got)
	}
	must(t, two, "USE test")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// CONTEXT_INFO is never NULL once it was set, and outlives what has set it.
func TestContextInfoOfSession(t *testing.T) {
	t.Parallel()
	conn := session(t, firm(t))
	for _, c := range []struct{ batch, want string }{
		{"DECLARE @v varbinary(128); SET CONTEXT_INFO @v", "!2743"},
		{"EXEC ('SET CONTEXT_INFO 0x07'); SELECT CAST(CONTEXT_INFO() AS binary(2))", "[7 0]"},
		{"SELECT SUBSTRING(context_info, 1, 3) FROM sys.dm_exec_sessions WHERE session_id = @@SPID", "[7 0 0]"},
	} {
		if got := told(t, conn, c.batch); got != c.want {
			t.Errorf("%s: %s, want %s", c.batch, got, c.want)
		}
	}
}

// TestEncryptOption asks a connection whether it is encrypted.
func TestEncryptOption(t *testing.T) {
	t.Parallel()
	for encrypt, want := range map[bool]string{false: "FALSE", true: "TRUE"} {
		var got string
		db := tsqltest.New(t, tsqltest.Options{Encrypt: encrypt}).DB()
		err := db.QueryRowContext(t.Context(), "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID").Scan(&got)
		if err != nil || got != want {
			t.Errorf("with Encrypt %v the connection says %s (%v)", encrypt, got, err)
		}
	}
}

// Only levels that SQL Server has are compatibility levels.
func TestCompatibilityLevels(t *testing.T) {
	t.Parallel()
	for _, level := range []int{-1, 120, 135, 170} {
		if _, err := tsqltest.Start(tsqltest.Options{CompatibilityLevel: level}); err == nil {
			t.Errorf("a server starts with the compatibility level %d", level)
		}
	}
	conn := session(t, tsqltest.New(t, tsqltest.Options{CompatibilityLevel: 140}))
	for level, want := range map[int]string{135: "!15048", 120: "!49900", 150: ""} {
		if got := told(t, conn, fmt.Sprint("ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = ", level)); got != want {
			t.Errorf("level %d: %s, want %s", level, got, want)
		}
	}
}

// What came with a compatibility level is not there below it.
func TestCompatibilityGates(t *testing.T) {
	t.Parallel()
	old := session(t, tsqltest.New(t, tsqltest.Options{CompatibilityLevel: 150}))
	now := session(t, tsqltest.New(t, tsqltest.Options{}))
	for _, c := range []struct{ batch, then, now string }{
		{"SELECT value FROM GENERATE_SERIES(1, 2)", "!208", "1,2"},
		{"SELECT SUM(a) OVER w FROM (VALUES (1)) AS v (a) WINDOW w AS (ORDER BY a)", "!49900", "1"},
		{"SELECT LTRIM('xa', 'x')", "!174", "a"},
		{"SELECT RTRIM('ax', 'x'), LTRIM(' a')", "!174", "a,a"},
		{"SELECT TRIM('x' FROM 'xax')", "a", "a"},
	} {
		if got := told(t, old, c.batch); got != c.then {
			t.Errorf("level 150: %s: %s, want %s", c.batch, got, c.then)
		}
		if got := told(t, now, c.batch); got != c.now {
			t.Errorf("level 160: %s: %s, want %s", c.batch, got, c.now)
		}
	}
}
