package tsqltest_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

func TestTemporaryObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"a temporary procedure is the session's, wherever it was made", []step{
			{"CREATE PROCEDURE #p @a INT = 1 AS SELECT @a, DB_NAME(), @@NESTLEVEL", ""},
			{"EXEC #p; EXEC #p 2; EXEC tempdb..#p 3; DECLARE @n SYSNAME = '#P'; EXEC @n", "1,test,1 / 2,test,1 / 3,test,1 / 1,test,1"},
			{"SELECT CASE WHEN OBJECT_ID('tempdb..#p') < 0 OR OBJECT_ID('tempdb..#p') > 0 THEN 1 END, OBJECT_ID('#p')", "1,<nil>"},
			{"EXEC ('CREATE PROCEDURE #q AS EXEC #p 4'); EXEC #q", "4,test,2"},
			{"CREATE PROCEDURE dbo.caller AS EXEC #p 5", ""},
			{"EXEC dbo.caller", "5,test,2"},
			{"2: EXEC #p", "!2812"},
			{"2: CREATE PROCEDURE #p AS SELECT 'mine'", ""},
			{"2: EXEC #p", "mine"},
			{"CREATE PROCEDURE #p AS RETURN", "!2714"},
			{"ALTER PROCEDURE #p AS SELECT 'new'", ""},
			{"CREATE OR ALTER PROCEDURE #q AS EXEC #p", ""},
			{"EXEC #q; DROP PROCEDURE #q; DROP PROCEDURE IF EXISTS #q; EXEC #q", "new !2812"},
			{"DROP PROCEDURE #q", "!3701"},
			{"BEGIN TRANSACTION; EXEC ('CREATE PROCEDURE #r AS RETURN'); DROP PROCEDURE #p; ROLLBACK; EXEC #p; EXEC #r", "new !2812"},
		}},
		{"what a temporary procedure reads is of the database in which it was made", []step{
			{"CREATE TABLE dbo.t (a INT); INSERT INTO dbo.t VALUES (1); CREATE DATABASE other", ""},
			{"CREATE PROCEDURE #p AS SELECT a FROM dbo.t", ""},
			{"USE other; EXEC #p", "1"},
		}},
		{"a global temporary table is everybody's", []step{
			{"CREATE TABLE ##t (a INT PRIMARY KEY, b INT); INSERT INTO ##t VALUES (1, 1); SELECT b FROM tempdb..##t", "1"},
			{"2: INSERT INTO ##t VALUES (2, 2); SELECT a FROM ##t; SELECT SIGN(ABS(OBJECT_ID('tempdb..##t')))", "1 2 / 1"},
			{"2: CREATE TABLE ##t (a INT)", "!2714"},
			{"2: CREATE PROCEDURE dbo.reads AS SELECT a, b FROM ##t", ""},
			{"EXEC dbo.reads; ALTER TABLE ##t ADD c INT; EXEC dbo.reads; SELECT * FROM ##t", "1,1 2,2 / 1,1 2,2 / 1,1,<nil> 2,2,<nil>"},
			{"2: SELECT * FROM ##t", "1,1,<nil> 2,2,<nil>"},
			{"BEGIN TRANSACTION; UPDATE ##t SET b = 9 WHERE a = 1", ""},
			{"2: SET LOCK_TIMEOUT 0; SELECT b FROM ##t WHERE a = 2; SELECT b FROM ##t WHERE a = 1", "2 /  !1222"},
			{"2: DROP TABLE ##t", "!1222"},
			{"ROLLBACK; BEGIN TRANSACTION; DROP TABLE ##t; ROLLBACK; SELECT b FROM ##t", "1 2"},
			{"2: DROP TABLE ##t", ""},
			{"SELECT a FROM ##t", "!208"},
			{"SELECT 1 AS x INTO ##u", ""},
			{"2: SELECT x FROM ##u", "1"},
			{"EXEC ('CREATE TABLE ##v (a INT)'); SELECT a FROM ##v", ""},
		}},
		{"a table that another transaction has not committed is waited for", []step{
			{"BEGIN TRANSACTION; CREATE TABLE ##w (a INT)", ""},
			{"2: SET LOCK_TIMEOUT 0; SELECT a FROM ##w", " !1222"},
			{"ROLLBACK", ""},
			{"2: SELECT a FROM ##w", "!208"},
		}},
		{"a global temporary procedure is everybody's", []step{
			{"CREATE PROCEDURE ##p AS SELECT 1", ""},
			{"2: EXEC ##p", "1"},
			{"2: CREATE PROCEDURE ##p AS SELECT 2", "!2714"},
			{"2: ALTER PROCEDURE ##p AS SELECT 2", ""},
			{"EXEC ##p; DROP PROCEDURE ##p", "2"},
			{"2: EXEC ##p", "!2812"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, "", c.steps)
		})
	}
}

// What is global goes with the session that has made it, and a connection of a pool that is used again has none of what
// it had.
func TestTemporaryObjectsEnd(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	maker, other := session(t, server), session(t, server)
	must(t, maker, "CREATE TABLE ##t (a INT); EXEC ('CREATE PROCEDURE ##p AS RETURN')")
	must(t, other, "EXEC ('CREATE PROCEDURE ##q AS RETURN'); SELECT a FROM ##t; EXEC ##p")
	maker.Close()
	for _, batch := range []string{"SELECT a FROM ##t", "EXEC ##p"} {
		if _, err := other.Exec(t.Context(), batch); err == nil {
			t.Errorf("%s works when the session has ended", batch)
		}
	}
	must(t, other, "EXEC ##q")
	pool := server.DB()
	pool.SetMaxOpenConns(1)
	if _, err := pool.ExecContext(t.Context(), "CREATE PROCEDURE #p AS RETURN"); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), "EXEC #p"); err == nil {
		t.Error("a connection that was reset has its temporary procedure still")
	}
}

// A user without rights may make a temporary procedure, and does not get more rights by it.
func TestTemporaryProcedureHasItsMakersRights(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	must(t, session(t, server), `
		CREATE TABLE dbo.t (a INT); CREATE LOGIN ann WITH PASSWORD = 'Tea-and-cups-1'; CREATE USER ann FOR LOGIN ann;`)
	ann := open(t, server.DSNOf("ann", "Tea-and-cups-1"))
	conn, err := ann.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), "CREATE PROCEDURE #p @read BIT AS IF @read = 1 SELECT a FROM dbo.t"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "EXEC #p 0"); err != nil {
		t.Error(err)
	}
	if _, err := conn.ExecContext(t.Context(), "EXEC #p 1"); err == nil {
		t.Error("a temporary procedure reads what its maker may not read")
	}
}
