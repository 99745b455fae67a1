package tsqltest_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestRollbackImmediateEndsOthers makes a database one session's: another that is idle in a transaction there, and one
// that waits for it, lose their connections and what they have not committed.
func TestRollbackImmediateEndsOthers(t *testing.T) {
	t.Parallel()
	server, ctx := tsqltest.New(t, tsqltest.Options{}), t.Context()
	exec := func(conn *sql.Conn, batch string) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, batch); err != nil {
			t.Fatalf("%s: %v", batch, err)
		}
	}
	connect := func() *sql.Conn {
		t.Helper()
		conn, err := server.DB().Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	admin, idle, waiting := connect(), connect(), connect()
	exec(admin, "CREATE DATABASE crowd")
	exec(idle, "USE crowd")
	exec(idle, "CREATE TABLE crowd.dbo.t (a int)")
	exec(waiting, "USE crowd")
	var refusal mssql.Error
	if _, err := admin.ExecContext(ctx, "DROP DATABASE crowd"); !errors.As(err, &refusal) || refusal.Number != 3702 {
		t.Errorf("dropping a database that others use: %v, want error 3702", err)
	}
	exec(idle, "BEGIN TRANSACTION; INSERT INTO t (a) VALUES (1)")
	ended := make(chan error, 1)
	go func() {
		_, err := waiting.ExecContext(ctx, "UPDATE t SET a = 2")
		ended <- err
	}()
	untilBlocked(t, admin)
	exec(admin, "ALTER DATABASE crowd SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
	if err := <-ended; err == nil {
		t.Error("a statement that waited goes on after its session was ended")
	}
	if _, err := idle.ExecContext(ctx, "SELECT 1"); err == nil {
		t.Error("a session goes on after it was ended")
	}
	var rows int
	if err := admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM crowd.dbo.t").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v; want none", rows, err)
	}

	only := connect()
	exec(only, "USE crowd")
	if _, err := admin.ExecContext(ctx, "USE crowd"); !errors.As(err, &refusal) || refusal.Number != 924 {
		t.Errorf("a second user: %v, want error 924", err)
	}
	other := strings.Replace(server.DSN(), "database=test", "database=crowd", 1)
	db, err := sql.Open("sqlserver", other)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(ctx); !errors.As(err, &refusal) || refusal.Number != 4060 {
		t.Errorf("a login of a second user: %v, want error 4060", err)
	}
	const share = "ALTER DATABASE crowd SET MULTI_USER WITH ROLLBACK IMMEDIATE"
	if _, err := admin.ExecContext(ctx, share); !errors.As(err, &refusal) || refusal.All[0].Number != 5064 {
		t.Errorf("another session than the only one: %v, want error 5064", err)
	}
	exec(only, share)
	if err := db.PingContext(ctx); err != nil {
		t.Error(err)
	}
}

// untilBlocked returns once a session waits for a lock.
func untilBlocked(t *testing.T, conn *sql.Conn) {
	t.Helper()
	for blocked := 0; blocked == 0; {
		err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sys.dm_exec_requests AS r WHERE r.blocking_session_id > 0").Scan(&blocked)
		if err != nil {
			t.Fatal(err)
		}
	}
}
