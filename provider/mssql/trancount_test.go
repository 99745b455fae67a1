package mssql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// asLeft makes connections that are used again as the last call has left them: a pool would have the server reset the
// session, and with it roll back what the call left open and what it has set.
type asLeft struct{ driver.Connector }

func (c asLeft) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return unreset{conn.(*sqlserver.Conn)}, nil
}

type unreset struct{ *sqlserver.Conn }

// ResetSession overrides the driver's.
func (unreset) ResetSession(context.Context) error { return nil }

// session opens a store on a single connection that is never reset, and returns both.
func session(t *testing.T, schema string) (*sql.DB, *mssql.Store) {
	t.Helper()
	return sessionAs(t, schema, mssqltest.DSN(t))
}

func sessionAs(t *testing.T, schema, dsn string) (*sql.DB, *mssql.Store) {
	t.Helper()
	connector, err := sqlserver.NewConnector(dsn)
	ok(t, err)
	db := sql.OpenDB(asLeft{connector})
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	store, err := mssql.New(db, mssql.Options{Schema: schema, MaxRetries: mssql.None})
	ok(t, err)
	t.Cleanup(func() { store.Close() })
	return db, store
}

// openTransactions is how many transactions the connection has open. If the driver had given the connection up it is
// that of another one, which is as good: the server rolls back what a connection leaves.
func openTransactions(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	ok(t, db.QueryRowContext(t.Context(), "SELECT @@TRANCOUNT").Scan(&n))
	return n
}

// TestNoTransactionIsLeftOpen looks at the session after each call (rule P1): calls that succeed, calls that fail at
// their beginning, somewhere in the middle, or because their caller gives up.
func TestNoTransactionIsLeftOpen(t *testing.T) {
	t.Parallel()
	t.Run("successes and refusals", func(t *testing.T) {
		t.Parallel()
		_, schema := mssqltest.Pooled(t)
		db, store := session(t, schema)
		next := scenes(t, storeOn(t, mssqltest.DSN(t), schema, 1))
		for _, name := range operationNames() {
			run := operations[name].prepare(next())
			if err := run(t.Context(), store); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n := openTransactions(t, db); n != 0 {
				t.Fatalf("%s leaves %d transactions open", name, n)
			}
			// The second time the lock is gone, the event is there, the instance is deleted.
			err := run(t.Context(), store)
			if n := openTransactions(t, db); n != 0 {
				t.Fatalf("%s, answered with %v, leaves %d transactions open", name, err, n)
			}
		}
	})
	t.Run("failures in the middle", testFailuresInTheMiddle)
	t.Run("cancelled", testCancelledCalls)
	t.Run("the test would notice", func(t *testing.T) {
		t.Parallel()
		_, schema := mssqltest.Pooled(t)
		db, _ := session(t, schema)
		_, err := db.ExecContext(t.Context(), "BEGIN TRANSACTION")
		ok(t, err)
		if n := openTransactions(t, db); n != 1 {
			t.Errorf("after BEGIN TRANSACTION %d transactions are open", n)
		}
	})
}

// refused is the error that the triggers of testFailuresInTheMiddle throw.
const refused = 59999

// testFailuresInTheMiddle makes the tables refuse every change, one table after the other, so that each procedure fails
// at each of its steps.
func testFailuresInTheMiddle(t *testing.T) {
	t.Parallel()
	owner, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	tables := tablesOf(t, owner, schema)
	db, store := session(t, schema)
	next := scenes(t, storeOn(t, mssqltest.DSN(t), schema, 1))
	failed := map[string]bool{}
	for _, table := range tables {
		// So that the first turn with a version has to add it.
		_, err := owner.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM [%s].framework_versions", schema))
		ok(t, err)
		calls := map[string]call{}
		for _, name := range operationNames() {
			if op := operations[name]; !op.reads {
				calls[name] = op.prepare(next())
			}
		}
		// The first fetch that names a set registers it.
		known := provider.Know(provider.CodeName{Name: "new when " + table + " refuses"})
		calls["FetchWorkItem of known activities"] = func(ctx context.Context, s provider.Provider) error {
			return second(s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease, Known: known}))
		}
		_, err = owner.ExecContext(t.Context(), fmt.Sprintf(
			"CREATE TRIGGER [%[1]s].[refuse] ON [%[1]s].[%[2]s] AFTER INSERT, UPDATE, DELETE AS THROW %[3]d, N'Refused.', 1", schema, table, refused))
		ok(t, err)
		for name, run := range calls {
			if err := run(t.Context(), store); hasNumber(err, refused) {
				failed[table] = true
			} else if err != nil {
				t.Errorf("%s, when %s refuses changes: %v", name, table, err)
			}
			if n := openTransactions(t, db); n != 0 {
				t.Fatalf("%s, refused by %s, leaves %d transactions open", name, table, n)
			}
		}
		_, err = owner.ExecContext(t.Context(), fmt.Sprintf("DROP TRIGGER [%s].[refuse]", schema))
		ok(t, err)
		if !failed[table] && table != "dead_letters" {
			t.Errorf("no call changes %s", table)
		}
	}
}

// testCancelledCalls ends the context of calls somewhere on their way. What is left of them is, at worst, a connection
// that nobody uses any more.
func testCancelledCalls(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	dsn, marker := marked(t, mssqltest.DSN(t))
	db, store := sessionAs(t, schema, dsn)
	next := scenes(t, storeOn(t, mssqltest.DSN(t), schema, 1))
	for range 3 {
		for _, name := range operationNames() {
			run := operations[name].prepare(next())
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(5*time.Millisecond))
			err := run(ctx, store)
			cancel()
			if n := openTransactions(t, db); n != 0 {
				t.Fatalf("%s, answered with %v, leaves %d transactions open", name, err, n)
			}
			awaitSessions(t, marker, func() int { return 1 })
		}
	}
}

// TestIsolationLevels calls everything in sessions that somebody has left under another level than READ COMMITTED: each
// call works as ever, and leaves the level as it was (rule Q12).
func TestIsolationLevels(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	direct := storeOn(t, mssqltest.DSN(t), schema, 1)
	next := scenes(t, direct)
	for _, level := range []string{"SNAPSHOT", "SERIALIZABLE", "REPEATABLE READ", "READ UNCOMMITTED"} {
		db, store := session(t, schema)
		if _, err := db.ExecContext(t.Context(), "SET TRANSACTION ISOLATION LEVEL "+level); err != nil {
			t.Logf("the server has no level %s: %v", level, err)
			continue
		}
		before := isolationLevel(t, db)
		for _, name := range operationNames() {
			err := operations[name].prepare(next())(t.Context(), store)
			if err != nil {
				t.Errorf("%s under %s: %v", name, level, err)
			}
			if n := openTransactions(t, db); n != 0 {
				t.Fatalf("%s under %s leaves %d transactions open", name, level, n)
			}
			if after := isolationLevel(t, db); after != before {
				t.Errorf("%s has made level %d of level %d", name, after, before)
			}
		}
	}
}

// TestStartWithMessagesUnderSnapshot starts an instance with messages, which is a transaction of several calls, in a
// session that somebody has left under SNAPSHOT: the transaction is not.
func TestStartWithMessagesUnderSnapshot(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	db, store := session(t, schema)
	_, err := db.ExecContext(t.Context(), "SET TRANSACTION ISOLATION LEVEL SNAPSHOT")
	ok(t, err)
	begin, isStart := start("new").(provider.StartOrchestrationItem)
	if !isStart {
		t.Fatal("not a start")
	}
	use, err := store.StartInstanceWith(t.Context(), begin, []provider.WorkItem{provider.QueueMessageItem{Instance: "new", Name: "n", Data: "d"}}, false)
	if err != nil || use != nil {
		t.Errorf("used %v, %v; want a start", use, err)
	}
}

// isolationLevel is the number of the session's level.
func isolationLevel(t *testing.T, db *sql.DB) (level int) {
	t.Helper()
	ok(t, db.QueryRowContext(t.Context(),
		"SELECT s.transaction_isolation_level FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID").Scan(&level))
	return level
}

// TestDirtyReads looks at an instance, from a session under READ UNCOMMITTED, beside a transaction that deletes it and
// is rolled back: what was never committed is not seen.
func TestDirtyReads(t *testing.T) {
	t.Parallel()
	owner, schema := mssqltest.Pooled(t)
	db, store := session(t, schema)
	scene{t: t, store: store, instance: "seen"}.run()
	_, err := db.ExecContext(t.Context(), "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
	ok(t, err)
	tx := begin(t, owner, sql.LevelDefault)
	_, err = tx.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM [%s].instances", schema))
	ok(t, err)
	var holder int
	ok(t, tx.QueryRowContext(t.Context(), "SELECT @@SPID").Scan(&holder))
	seen := make(chan error, 1)
	go func() { seen <- second(store.Admin().GetInstanceInfo(t.Context(), "seen")) }()
	// With row versions the reader is answered, without it waits for the writer.
	for waiting := 0; waiting == 0 && len(seen) == 0; {
		ok(t, owner.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sys.sysprocesses AS p WHERE p.blocked = @p1", holder).Scan(&waiting))
	}
	ok(t, tx.Rollback())
	if err := <-seen; err != nil {
		t.Errorf("what a transaction has deleted and not committed is gone: %v", err)
	}
}

// hasNumber reports whether the server reported the error.
func hasNumber(err error, number int32) bool {
	reported, ok := errors.AsType[sqlserver.Error](err)
	return ok && (reported.Number == number ||
		slices.ContainsFunc(reported.All, func(e sqlserver.Error) bool { return e.Number == number }))
}

// tablesOf lists the tables that hold the store's data.
func tablesOf(t *testing.T, db *sql.DB, schema string) (tables []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT t.name
		FROM sys.tables AS t
		INNER JOIN sys.schemas AS s ON s.schema_id = t.schema_id
		WHERE s.name = @p1 AND t.name NOT IN (N'migrations', N'modules', N'revisions')
		ORDER BY t.name`, schema)
	ok(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		ok(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	ok(t, rows.Err())
	return tables
}
