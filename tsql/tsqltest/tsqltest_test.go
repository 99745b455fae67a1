package tsqltest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// The first test of the manual.
func TestReserve(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	server.Apply(t, os.DirFS("testdata/shop"), "schema.sql", "procedures/*.sql")
	var stock int
	err := server.DB().QueryRowContext(t.Context(), "dbo.reserve", sql.Named("sku", "tea")).Scan(&stock)
	if err != nil || stock != 9 {
		t.Errorf("%d pieces of tea are left, want 9 (%v)", stock, err)
	}
}

func TestClockIsTheServersTime(t *testing.T) {
	t.Parallel()
	clock := tsqltest.NewClock(time.Date(2024, 2, 29, 23, 59, 0, 0, time.UTC))
	server := tsqltest.New(t, tsqltest.Options{Clock: clock})
	now := func() (now time.Time) {
		t.Helper()
		if err := server.DB().QueryRowContext(t.Context(), "SELECT SYSUTCDATETIME()").Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	if got := now(); !got.Equal(clock.Now()) {
		t.Errorf("SYSUTCDATETIME() is %v, and the clock shows %v", got, clock.Now())
	}
	clock.Advance(2 * time.Minute)
	if got, want := now(), time.Date(2024, 3, 1, 0, 1, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("two minutes later SYSUTCDATETIME() is %v, want %v", got, want)
	}
	clock.Set(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC))
	if got := now(); !got.Equal(clock.Now()) {
		t.Errorf("the clock was set back to %v, and SYSUTCDATETIME() is %v", clock.Now(), got)
	}
}

// With the option, a reader sees the last committed version; without it, the reader waits for the writer.
func TestRowVersions(t *testing.T) {
	t.Parallel()
	for _, versions := range []bool{false, true} {
		server := tsqltest.New(t, tsqltest.Options{RowVersions: versions})
		writer, reader := session(t, server), session(t, server)
		must(t, writer, "CREATE TABLE dbo.t (a INT); INSERT INTO dbo.t VALUES (1);")
		must(t, writer, "BEGIN TRANSACTION; UPDATE dbo.t SET a = 2;")
		result, err := reader.Exec(t.Context(), "SET LOCK_TIMEOUT 0; SELECT a FROM dbo.t;")
		if !versions {
			wantError(t, err, 1222)
			continue
		}
		if err != nil || result.Sets[0].Rows[0][0] != int64(1) {
			t.Errorf("with row versions a reader gets %v (%v), want 1", result.Sets, err)
		}
		must(t, reader, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT a FROM dbo.t;")
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, options := range []tsqltest.Options{
		{CompatibilityLevel: 129},
		{CompatibilityLevel: 161},
		{CompatibilityLevel: -1},
		{Collation: "Klingon_CI_AS"},
		{Collation: "Japanese_CI_AS"},
	} {
		if server, err := tsqltest.Start(options); err == nil {
			server.Close()
			t.Errorf("a server starts with %+v", options)
		}
	}
}

func TestOptionsOfTheDatabase(t *testing.T) {
	t.Parallel()
	const question = "SELECT name, compatibility_level, collation_name FROM sys.databases WHERE database_id = DB_ID()"
	for _, c := range []struct {
		options tsqltest.Options
		want    []any
	}{
		{tsqltest.Options{}, []any{"test", int64(160), "SQL_Latin1_General_CP1_CI_AS"}},
		{tsqltest.Options{Database: "orders", CompatibilityLevel: 130}, []any{"orders", int64(130), "SQL_Latin1_General_CP1_CI_AS"}},
		{tsqltest.Options{CaseSensitive: true}, []any{"test", int64(160), "SQL_Latin1_General_CP1_CS_AS"}},
		{tsqltest.Options{Collation: "Latin1_General_100_BIN2"}, []any{"test", int64(160), "Latin1_General_100_BIN2"}},
	} {
		result := must(t, session(t, tsqltest.New(t, c.options)), question)
		if got := result.Sets[0].Rows[0]; !slices.Equal(got, c.want) {
			t.Errorf("%+v gives a database with %v, want %v", c.options, got, c.want)
		}
	}
}

// The same seed gives the same values, another one gives others.
func TestSeedRepeats(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) []any {
		server := tsqltest.New(t, tsqltest.Options{Seed: seed})
		return must(t, session(t, server), "SELECT NEWID(), RAND(), NEWID()").Sets[0].Rows[0]
	}
	first := draw(1)
	if again := draw(1); !slices.Equal(first, again) {
		t.Errorf("seed 1 gives %v and then %v", first, again)
	}
	for _, seed := range []uint64{0, 2} {
		if other := draw(seed); slices.Equal(first, other) {
			t.Errorf("seeds 1 and %d give the same: %v", seed, first)
		}
	}
}

// The driver insists on TLS and gets it; a driver that also wants a certificate that somebody it knows has signed
// leaves.
func TestEncryption(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{Encrypt: true})
	if !strings.Contains(server.DSN(), "encrypt=true") {
		t.Errorf("the connection string is %s, want one with encrypt=true", server.DSN())
	}
	if err := server.DB().PingContext(t.Context()); err != nil {
		t.Errorf("an encrypted connection fails: %v", err)
	}
	strict := open(t, strings.Replace(server.DSN(), "TrustServerCertificate=true", "TrustServerCertificate=false", 1))
	if err := strict.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("a driver that does not trust the certificate gets %v", err)
	}
	plain := tsqltest.New(t, tsqltest.Options{})
	asked := open(t, strings.Replace(plain.DSN(), "encrypt=disable", "encrypt=true", 1))
	if err := asked.PingContext(t.Context()); err == nil {
		t.Error("a server without the option encrypts")
	}
}

// Scripts are divided by GO, with a count if there is one. The patterns are executed in their order.
func TestApply(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	server.Apply(t, fstest.MapFS{
		"z.sql":    {Data: []byte("CREATE TABLE dbo.t (a INT IDENTITY, b VARCHAR(5));\nGO\n")},
		"p/2.sql":  {Data: []byte("CREATE VIEW dbo.w AS SELECT a FROM dbo.v;")},
		"p/1.sql":  {Data: []byte("CREATE VIEW dbo.v AS SELECT a FROM dbo.t;\nGO\nINSERT INTO dbo.t (b) VALUES ('GO');\nGO 3")},
		"rest.txt": {Data: []byte("this is no T-SQL")},
	}, "z.sql", "p/*.sql")
	if got := must(t, session(t, server), "SELECT COUNT(*) FROM dbo.w").Sets[0].Rows[0][0]; got != int64(3) {
		t.Errorf("the view has %v rows, want 3", got)
	}
}

// What is wrong with a script is said with the file and the line.
func TestErrorsOfScripts(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	for _, c := range []struct {
		name, script, pattern string
		want                  []string
	}{
		{"a mistake in the syntax", "SELECT 1;\nGO\n\n  SELCT 2;", "*.sql", []string{"a.sql:4:3:", "SELCT"}},
		{"an error of a statement", "SELECT 1;\nGO\n\nSELECT 2;\nSELECT 1 FROM dbo.missing;", "*.sql", []string{"tsqltest: a.sql:5: Invalid object name 'dbo.missing'. (error 208)"}},
		{"what the server has not", "\nGO\nSELECT 1 AS a\nFOR XML AUTO;", "*.sql", []string{"tsqltest: a.sql:3: FOR XML with AUTO is not supported by tsqltest (a.sql:4:9) (error 49900)"}},
		{
			"a mistake in a procedure that is created", "SELECT 1\nGO\n\nCREATE PROCEDURE dbo.p AS\n  SELECT REGEXP_REPLACE('a', 'b', 'c')", "*.sql",
			[]string{"tsqltest: a.sql:5: ", "not supported by tsqltest (a.sql:5:10) (error 49900)"},
		},
		{
			"an error of a procedure that is called", "CREATE PROCEDURE dbo.q AS\n\nTHROW 50001, 'odd', 1;\nGO\n\n\nEXEC dbo.q", "*.sql",
			[]string{"tsqltest: a.sql:7: q:3: odd (error 50001)"},
		},
		{
			"an error of dynamic SQL", "SELECT 1\nGO\nPRINT 'a'\nEXEC ('\n\nSELECT 1 / 0')", "*.sql",
			[]string{"tsqltest: a.sql:3: line 3: Divide by zero error encountered. (error 8134)"},
		},
		{
			"two errors", "SELECT 1\nGO\nDROP TABLE dbo.x\nDROP TABLE dbo.y", "*.sql",
			[]string{"a.sql:3: Cannot drop the table 'dbo.x'", "a.sql:4: Cannot drop the table 'dbo.y'"},
		},
		{"no file", "", "*.tsql", []string{`no file matches "*.tsql"`}},
		{"a bad pattern", "", "[", []string{"syntax error in pattern"}},
	} {
		err := server.ApplyFS(t.Context(), fstest.MapFS{"a.sql": {Data: []byte(c.script)}}, c.pattern)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v, want one with %q", c.name, err, want)
			}
		}
	}
}

// A login of its own has the rights of its user and no others: EXECUTE on a procedure reaches the table below it.
func TestLogin(t *testing.T) {
	t.Parallel()
	server := newShop(t)
	must(t, session(t, server), `
		CREATE LOGIN clerk WITH PASSWORD = 'Tea-and-cups-1';
		CREATE USER clerk FOR LOGIN clerk;
		GRANT EXECUTE ON dbo.reserve TO clerk;`)
	clerk := open(t, server.DSNOf("clerk", "Tea-and-cups-1"))
	var stock int
	if err := clerk.QueryRowContext(t.Context(), "dbo.reserve", sql.Named("sku", "tea")).Scan(&stock); err != nil {
		t.Errorf("EXECUTE was granted, and the call returns %v", err)
	}
	_, err := clerk.ExecContext(t.Context(), "UPDATE dbo.products SET stock = 100")
	if refused, ok := errors.AsType[mssql.Error](err); !ok || refused.Number != 229 {
		t.Errorf("UPDATE without the right to do so returns %v, want error 229", err)
	}
	err = open(t, server.DSNOf("clerk", "another")).PingContext(t.Context())
	if refused, ok := errors.AsType[mssql.Error](err); !ok || refused.Number != 18456 {
		t.Errorf("a wrong password returns %v, want error 18456", err)
	}
}

// Close ends connections, also those whose statements wait for a lock.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	server := newShop(t)
	holder := session(t, server)
	must(t, holder, "BEGIN TRANSACTION; EXEC dbo.reserve @sku = 'tea';")
	db := open(t, server.DSN())
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	waiting := make(chan error)
	go func() {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "EXEC dbo.reserve @sku = 'tea'")
		waiting <- err
	}()
	awaitWaiting(t, session(t, server))
	server.Close()
	if err := <-waiting; err == nil {
		t.Error("the server is closed, and a statement that waited for a lock has succeeded")
	}
	if err := conn.PingContext(t.Context()); err == nil {
		t.Error("the server is closed, and its connection answers")
	}
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Addr()); err == nil {
		_ = c.Close()
		t.Error("the server is closed, and accepts a connection")
	}
	server.Close() // a second time does nothing
}

// awaitWaiting returns when a session waits for a lock.
func awaitWaiting(t *testing.T, observer *tsqltest.Conn) {
	t.Helper()
	const waiting = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_status = 'WAIT'"
	for must(t, observer, waiting).Sets[0].Rows[0][0] == int64(0) {
		runtime.Gosched()
	}
}

// A session without a socket returns everything that a batch or a call returns.
func TestResult(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	result := must(t, conn, `
		PRINT 'hello';
		SELECT 1 AS a, N'x' AS b UNION ALL SELECT 2, NULL;
		SELECT CAST(1 AS BIT), CAST(1.5 AS FLOAT), CAST(12.50 AS DECIMAL(5, 2)), 0x0102, CAST('20240229' AS DATE),
			CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS UNIQUEIDENTIFIER);`)
	if len(result.Sets) != 2 || !slices.Equal(result.Messages, []string{"hello"}) {
		t.Fatalf("the batch returns %+v", result)
	}
	if set := result.Sets[0]; !slices.Equal(set.Columns, []string{"a", "b"}) || len(set.Rows) != 2 ||
		!slices.Equal(set.Rows[0], []any{int64(1), "x"}) || !slices.Equal(set.Rows[1], []any{int64(2), nil}) {
		t.Errorf("the first set is %+v", set)
	}
	row := result.Sets[1].Rows[0]
	bytes, ok := row[3].([]byte)
	if !ok || string(bytes) != "\x01\x02" {
		t.Errorf("0x0102 is %v", row[3])
	}
	row[3] = nil
	if want := []any{true, 1.5, "12.50", nil, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), "6F9619FF-8B86-D011-B42D-00C04FC964FF"}; !slices.Equal(row, want) {
		t.Errorf("the values are %v, want %v", row, want)
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	must(t, conn, `CREATE PROCEDURE dbo.half @n INT, @half INT OUTPUT AS
		IF @n % 2 = 1 THROW 50001, N'That is odd.', 3;
		SET @half = @n / 2;
		RETURN 7;`)
	result, err := conn.Call(t.Context(), "dbo.half", tsqltest.Arg{Name: "n", Value: 8}, tsqltest.Arg{Name: "@half", Value: nil, Output: true})
	if err != nil || result.Status != 7 || result.Outputs["half"] != int64(4) {
		t.Errorf("the call returns %+v (%v)", result, err)
	}
	_, err = conn.Call(t.Context(), "dbo.half", tsqltest.Arg{Value: 3}, tsqltest.Arg{Output: true})
	want := tsqltest.Error{Number: 50001, Class: 16, State: 3, Message: "That is odd.", Procedure: "half", Line: 2}
	if got, ok := errors.AsType[*tsqltest.Error](err); !ok || *got != want {
		t.Errorf("the call returns %+v, want %+v", err, want)
	}
	if _, err := conn.Call(t.Context(), "dbo.half", tsqltest.Arg{Value: struct{}{}}); err == nil {
		t.Error("an argument that is a struct is accepted")
	}
}

// A batch that goes on after an error returns what came before the error, what came after it, and the error.
func TestErrorAmongResults(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	result, err := conn.Exec(t.Context(), "SELECT 1;\nRAISERROR('a', 16, 1);\nRAISERROR('b', 16, 1);\nSELECT 2;")
	if len(result.Sets) != 2 {
		t.Errorf("the batch returns %d sets, want 2", len(result.Sets))
	}
	if err == nil || err.Error() != "line 2: a (error 50000)\nline 3: b (error 50000)" {
		t.Errorf("the batch returns the error %v", err)
	}
}

// What a session has not committed is rolled back when the session is closed.
func TestConnCloseRollsBack(t *testing.T) {
	t.Parallel()
	server := newShop(t)
	first := session(t, server)
	must(t, first, "BEGIN TRANSACTION; EXEC dbo.reserve @sku = 'tea';")
	first.Close()
	if got := must(t, session(t, server), "SELECT stock FROM dbo.products WHERE sku = 'tea'").Sets[0].Rows[0][0]; got != int64(10) {
		t.Errorf("%v pieces of tea are left, want 10", got)
	}
}

// A call whose context ends while it waits for a lock returns.
func TestContextEndsWaiting(t *testing.T) {
	t.Parallel()
	server := newShop(t)
	holder, waiter, observer := session(t, server), session(t, server), session(t, server)
	must(t, holder, "BEGIN TRANSACTION; EXEC dbo.reserve @sku = 'tea';")
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := waiter.Exec(ctx, "EXEC dbo.reserve @sku = 'tea';")
		waiting <- err
	}()
	awaitWaiting(t, observer)
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("the call returns %v, want %v", err, context.Canceled)
	}
}

func session(t *testing.T, server *tsqltest.Server) *tsqltest.Conn {
	t.Helper()
	conn, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func must(t *testing.T, conn *tsqltest.Conn, batch string) *tsqltest.Result {
	t.Helper()
	result, err := conn.Exec(t.Context(), batch)
	if err != nil {
		t.Fatalf("%s: %v", batch, err)
	}
	return result
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func wantError(t *testing.T, err error, number int32) {
	t.Helper()
	if e, ok := errors.AsType[*tsqltest.Error](err); !ok || e.Number != number {
		t.Errorf("the error is %v, want number %d", err, number)
	}
}

// recorder is a test that keeps what is logged.
type recorder struct {
	testing.TB

	lines chan string
}

func (r recorder) Log(args ...any) { r.lines <- fmt.Sprint(args...) }

// The driver calls every error that ends a connection an internal one. Its text is in the error that the driver wraps,
// and in the log of the test.
func TestTextOfSevereErrors(t *testing.T) {
	t.Parallel()
	log := recorder{t, make(chan string, 1)}
	server := tsqltest.New(log, tsqltest.Options{})
	_, err := server.DB().ExecContext(t.Context(), "RAISERROR ('the end', 20, 1) WITH LOG")
	if e, ok := errors.AsType[mssql.Error](err); !ok || e.Message != "the end" || e.Class != 20 {
		t.Errorf("%v", err)
	}
	if line := <-log.lines; !strings.Contains(line, "the end") {
		t.Errorf("the log says %s", line)
	}
	var n int
	if err := server.DB().QueryRowContext(t.Context(), "SELECT 1").Scan(&n); err != nil {
		t.Errorf("the next connection: %v", err)
	}
}
