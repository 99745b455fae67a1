package live_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/live"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/live/livetest"
)

// shop is what the tests below deploy and then change on the server.
const shop = `CREATE SCHEMA shop;
GO
CREATE TABLE shop.orders (
    id bigint NOT NULL PRIMARY KEY,
    customer nvarchar(50) NULL,
    total decimal(10, 2) NOT NULL,
    placed_at datetime2(3) NOT NULL
);
GO
CREATE TYPE shop.id_list AS TABLE (id bigint NOT NULL PRIMARY KEY, note nvarchar(20) NULL);
GO
CREATE TYPE shop.sku FROM varchar(20) NULL;
GO
CREATE VIEW shop.big_orders AS SELECT o.id, o.total FROM shop.orders AS o WHERE o.total > 100;
GO
-- find_orders lists orders.
CREATE PROCEDURE shop.find_orders
    @mode int,
    @customer nvarchar(50) = NULL,
    @found int OUTPUT,
    @ids shop.id_list READONLY
AS
BEGIN
    SET NOCOUNT ON;
    IF @mode = 7
    BEGIN
        SELECT o.id, o.total FROM shop.big_orders AS o;
        RETURN;
    END;
    IF @mode > 90 THROW 50001, N'No such mode.', 1;
    SELECT o.id, o.customer, o.placed_at FROM shop.orders AS o WHERE o.customer = @customer;
    SELECT i.id, i.note FROM @ids AS i;
    SET @found = 1;
END;
GO
-- add_order stores an order.
CREATE PROCEDURE shop.add_order @id bigint, @total decimal(10, 2)
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO shop.orders (id, total, placed_at) OUTPUT inserted.id VALUES (@id, @total, '20000101');
END;
GO
`

const shopQueries = `-- name: GetOrder :one
SELECT o.id, o.customer FROM shop.orders AS o WHERE o.id = @id;

-- name: DropOrder :execrows
DELETE FROM shop.orders WHERE id = @id;
`

// program generates from the scripts above.
func program(t *testing.T) generate.Result {
	t.Helper()
	result, findings := generate.Analyze([]generate.Source{
		{Name: "shop.sql", Text: shop, Role: generate.Schema},
		{Name: "queries.sql", Text: shopQueries, Role: generate.Queries},
	}, config.Default())
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	return result
}

// deploy makes a database with the scripts, then executes the batches of a change there.
func deploy(t *testing.T, server livetest.Server, change string) *sql.Conn {
	t.Helper()
	conn := server.Database(t)
	if err := server.Apply(t.Context(), conn, "shop.sql", shop); err != nil {
		t.Fatal(err)
	}
	for batch := range strings.SplitSeq(change, "\nGO\n") {
		if batch != "" {
			livetest.Exec(t, conn, batch)
		}
	}
	return conn
}

// procedures have these bodies in the scripts; a case that replaces one has to leave the rest of it alone.
const (
	addOrderBody = `
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO shop.orders (id, total, placed_at) OUTPUT inserted.id VALUES (@id, @total, '20000101');
END;`
	findOrdersHead = `CREATE PROCEDURE shop.find_orders
    @mode int,
    @customer nvarchar(50) = NULL,
    @found int OUTPUT,
    @ids shop.id_list READONLY
AS
BEGIN
    SET NOCOUNT ON;`
)

// A change that somebody makes on the server shows as exactly the differences listed, and as nothing else.
func TestVerify(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerify)
}

func testVerify(t *testing.T, server livetest.Server) {
	t.Helper()
	cases := map[string]struct {
		change string
		want   []string
		lacks  string // what tsqltest doesn't have
	}{
		"none": {},
		"a parameter's type": {
			change: "DROP PROCEDURE shop.add_order\nGO\nCREATE PROCEDURE shop.add_order @id int, @total decimal(10, 2)" + addOrderBody,
			want: []string{
				"procedure shop.add_order: parameter @id: bigint, not int",
				"procedure shop.add_order: text, from line 1 of it: " +
					"CREATE PROCEDURE shop.add_order @id bigint, @total decimal(10, 2), not " +
					"CREATE PROCEDURE shop.add_order @id int, @total decimal(10, 2)",
			},
		},
		"parameters come and go": {
			change: "DROP PROCEDURE shop.add_order\nGO\n" +
				"CREATE PROCEDURE shop.add_order @id bigint OUTPUT, @sum decimal(10, 2)\n" +
				"AS INSERT INTO shop.orders (id, total, placed_at) OUTPUT inserted.id VALUES (1, @sum, '20000101');",
			want: []string{
				"procedure shop.add_order: execution …",
				"procedure shop.add_order: parameter @id: bigint, not bigint output",
				"procedure shop.add_order: parameter @sum: not defined, not decimal …",
				"procedure shop.add_order: parameter @total: defined, not missing",
				"procedure shop.add_order: text …",
			},
		},
		"a column's type": {
			change: "DROP PROCEDURE shop.find_orders\nGO\n" + findOrdersHead + `
    IF @mode = 7
    BEGIN
        SELECT CAST(o.id AS int) AS id, o.total FROM shop.big_orders AS o;
        RETURN;
    END;
    SELECT o.id, CAST(o.customer AS varchar(50)) AS customer, o.placed_at FROM shop.orders AS o;
    SELECT i.id, i.note FROM @ids AS i;
END;`,
			want: []string{
				"procedure shop.find_orders: result set 1, column id: bigint, not int",
				"procedure shop.find_orders: result set 2, column customer: nvarchar(50), not varchar(50)",
				"procedure shop.find_orders: text …",
			},
		},
		"a column's name": {
			change: "DROP PROCEDURE shop.find_orders\nGO\n" + findOrdersHead + `
    SELECT o.id, o.customer AS client, o.placed_at FROM shop.orders AS o;
END;`,
			want: []string{
				"procedure shop.find_orders: result sets: (id, total) or (id, customer, placed_at), not (id, client, placed_at)",
				"procedure shop.find_orders: text …",
			},
		},
		"a result set less": {
			change: "DROP PROCEDURE shop.find_orders\nGO\n" + findOrdersHead + `
    SELECT o.id, o.customer, o.placed_at FROM shop.orders AS o;
END;`,
			want: []string{
				"procedure shop.find_orders: result sets: another one after 1 set: (id, note), not the call ended",
				"procedure shop.find_orders: text …",
			},
		},
		"a result set more": {
			change: "DROP PROCEDURE shop.add_order\nGO\nCREATE PROCEDURE shop.add_order @id bigint, @total decimal(10, 2)" +
				"\nAS\nBEGIN\n    SELECT @id AS id;\n    SELECT 1 AS more;\nEND;",
			want: []string{
				"procedure shop.add_order: result sets: the end, not (more)",
				"procedure shop.add_order: text …",
			},
		},
		"a NULL where none was expected": {
			change: `DROP VIEW shop.big_orders
GO
CREATE VIEW shop.big_orders AS SELECT CAST(1 AS bigint) AS id, CAST(NULL AS decimal(10, 2)) AS total`,
			want: []string{
				"procedure shop.find_orders: result set 1, column total: not null, not a row has NULL",
				"view shop.big_orders: text …",
			},
		},
		"a table's columns": {
			change: `DROP PROCEDURE shop.add_order
GO
DROP VIEW shop.big_orders
GO
DROP TABLE shop.orders
GO
CREATE TABLE shop.orders (
    id bigint NOT NULL PRIMARY KEY,
    customer nvarchar(50) NOT NULL,
    total decimal(12, 2) NOT NULL,
    placed_at datetime2(3) NOT NULL,
    note varchar(10) NULL
)
GO
CREATE VIEW shop.big_orders AS SELECT o.id, CAST(o.total AS decimal(10, 2)) AS total FROM shop.orders AS o WHERE o.total > 100;`,
			want: []string{
				"procedure shop.add_order: defined, not missing",
				"table shop.orders: column customer: nvarchar(50) null, not nvarchar(50) not null",
				"table shop.orders: column note: not defined, not varchar(10) null",
				"table shop.orders: column total: decimal(10,2) not null, not decimal(12,2) not null",
				"view shop.big_orders: text …",
			},
		},
		"a view is gone": {
			change: "DROP VIEW shop.big_orders",
			want: []string{
				"procedure shop.find_orders: execution …",
				"view shop.big_orders: defined, not missing",
			},
		},
		"a table type": {
			change: `DROP PROCEDURE shop.find_orders
GO
DROP TYPE shop.id_list
GO
CREATE TYPE shop.id_list AS TABLE (note nvarchar(30) NULL, id bigint NOT NULL PRIMARY KEY)`,
			want: []string{
				"procedure shop.find_orders: defined, not missing",
				"type shop.id_list: column id: in place 1, not in place 2",
				"type shop.id_list: column note: in place 2, not in place 1",
				"type shop.id_list: column note: nvarchar(20) null, not nvarchar(30) null",
			},
		},
		"an alias type": {
			change: "DROP TYPE shop.sku\nGO\nCREATE TYPE shop.sku FROM varchar(30) NULL",
			want:   []string{"type shop.sku: stands for: varchar(20), not varchar(30)"},
		},
		"a text": {
			change: "DROP PROCEDURE shop.add_order\nGO\n-- Deployed by hand.\nCREATE   PROC shop.add_order @id bigint, @total decimal(10, 2)" +
				strings.Replace(addOrderBody, "20000101", "20010101", 1),
			want: []string{
				"procedure shop.add_order: text, from line 5 of it: " +
					"INSERT INTO shop.orders (id, total, placed_at) OUTPUT inserted.id VALUES (@id, @total, '20000101');, not " +
					"INSERT INTO shop.orders (id, total, placed_at) OUTPUT inserted.id VALUES (@id, @total, '20010101');",
			},
		},
		"the same text, deployed otherwise": {
			change: "DROP PROCEDURE shop.add_order\nGO\n/* by a tool */\r\ncreate PROC shop.add_order @id bigint, @total decimal(10, 2)" +
				strings.ReplaceAll(addOrderBody, "\n", "\r\n") + "\n-- the end\n",
		},
		"options of a module": {
			change: "DROP PROCEDURE shop.add_order\nGO\nSET QUOTED_IDENTIFIER OFF\nGO\n" +
				"CREATE PROCEDURE shop.add_order @id bigint, @total decimal(10, 2)" + addOrderBody + "\nGO\nSET QUOTED_IDENTIFIER ON",
			want:  []string{"procedure shop.add_order: created under: QUOTED_IDENTIFIER ON, not QUOTED_IDENTIFIER OFF"},
			lacks: "SET QUOTED_IDENTIFIER OFF",
		},
		"missing and extra procedures": {
			change: "DROP PROCEDURE shop.add_order\nGO\nCREATE PROCEDURE shop.add_orders AS RETURN 1",
			want: []string{
				"procedure shop.add_order: defined, not missing",
				"procedure shop.add_orders: not defined, not there",
			},
		},
		"a column of a query": {
			change: "DROP VIEW shop.big_orders\nGO\nDROP TABLE shop.orders\nGO\n" +
				"CREATE TABLE shop.orders (id int NOT NULL, customer nvarchar(50) NULL, total decimal(10, 2) NOT NULL, placed_at datetime2(3) NOT NULL)" +
				"\nGO\nCREATE VIEW shop.big_orders AS SELECT o.id, o.total FROM shop.orders AS o WHERE o.total > 100;",
			want: []string{
				"procedure shop.add_order: result set 1, column id: bigint, not int",
				"procedure shop.find_orders: result set 1, column id: bigint, not int",
				"procedure shop.find_orders: result set 2, column id: bigint, not int",
				"query GetOrder: result, column id: bigint, not int",
				"table shop.orders: column id: bigint not null, not int not null",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.lacks != "" && server.Kind == livetest.TSQLTest {
				t.Skipf("NOT RUN: tsqltest does not have %s", c.lacks)
			}
			conn := deploy(t, server, c.change)
			result := program(t)
			report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, differences(report, c.want)); diff != "" {
				var out strings.Builder
				report.Print(&out)
				t.Errorf("(-expected +actual):\n%s\nthe report:\n%s", diff, out.String())
			}
		})
	}
}

// differences writes one line each, sorted; what an expected line that ends in … leaves out is left out here too.
func differences(report *live.Report, want []string) []string {
	var lines []string
	for _, d := range report.Drift {
		line := d.Object
		if d.Part != "" {
			line += ": " + d.Part
		}
		line += ": " + d.Want + ", not " + d.Have
		for _, w := range want {
			if start, ok := strings.CutSuffix(w, " …"); ok && strings.HasPrefix(line, start) {
				line = w
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// Nothing that a procedure does stays: not what it wrote before it failed, not what it wrote after a ROLLBACK of its
// own, and not what it committed once too often.
func TestVerifyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerifyLeavesNothingBehind)
}

func testVerifyLeavesNothingBehind(t *testing.T, server livetest.Server) {
	t.Helper()
	const script = `CREATE TABLE dbo.log (n int NOT NULL);
GO
CREATE PROCEDURE dbo.fails AS
BEGIN
    INSERT INTO dbo.log (n) VALUES (1);
    THROW 50001, N'It fails.', 1;
END;
GO
CREATE PROCEDURE dbo.rolls_back AS
BEGIN TRANSACTION;
INSERT INTO dbo.log (n) VALUES (2);
ROLLBACK TRANSACTION;
INSERT INTO dbo.log (n) VALUES (3);
GO
CREATE PROCEDURE dbo.commits AS
BEGIN
    INSERT INTO dbo.log (n) VALUES (4);
    COMMIT TRANSACTION;
    INSERT INTO dbo.log (n) VALUES (5);
END;
`
	conn := server.Database(t)
	if err := server.Apply(t.Context(), conn, "a.sql", script); err != nil {
		t.Fatal(err)
	}
	result, findings := generate.Analyze([]generate.Source{{Name: "a.sql", Text: script, Role: generate.Schema}}, config.Default())
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Drift) > 0 {
		t.Errorf("drift: %v", differences(report, nil))
	}
	var rows, open int
	if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*), @@TRANCOUNT FROM dbo.log").Scan(&rows, &open); err != nil {
		t.Fatal(err)
	}
	if rows != 0 || open != 0 {
		t.Errorf("%d rows and %d transactions were left behind", rows, open)
	}
}

// What no execution comes to is listed with the reason, and is not counted as equal. A server may describe the first
// set of a procedure without executing it, so it is the second.
func TestVerifySaysWhatItDidNotSee(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerifySaysWhatItDidNotSee)
}

func testVerifySaysWhatItDidNotSee(t *testing.T, server livetest.Server) {
	t.Helper()
	const script = `CREATE TABLE dbo.t (n int NOT NULL);
GO
CREATE PROCEDURE dbo.deep AS
BEGIN
    SELECT 1 AS one;
    IF EXISTS (SELECT 1 FROM dbo.t)
        SELECT t.n FROM dbo.t AS t;
END;
GO
CREATE PROCEDURE dbo.guarded @token int AS
BEGIN
    SELECT 1 AS one;
    IF @token % 7919 <> 7000
        THROW 50001, N'This is not the token.', 1;
    SELECT t.n FROM dbo.t AS t;
END;
`
	conn := server.Database(t)
	if err := server.Apply(t.Context(), conn, "a.sql", script); err != nil {
		t.Fatal(err)
	}
	result, findings := generate.Analyze([]generate.Source{{Name: "a.sql", Text: script, Role: generate.Schema}}, config.Default())
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []live.Note{
		{Object: "procedure dbo.deep", Text: "result set 2 (n) of a.sql:7"},
		{Object: "procedure dbo.guarded", Text: "result set 2 (n) of a.sql:15; executions ended with: 50001 This is not the token."},
	}
	if diff := cmp.Diff(want, report.Unseen); diff != "" || len(report.Drift) > 0 {
		t.Errorf("drift %v, not seen (-want +got):\n%s", report.Drift, diff)
	}
}

// A procedure that doesn't end is not checked, and one whose text of dynamic SQL is empty has a set that was not seen.
// Neither is drift, and what comes after them is compared; nor is an error before many sets the end.
func TestVerifyGoesOn(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerifyGoesOn)
}

func testVerifyGoesOn(t *testing.T, server livetest.Server) {
	t.Helper()
	const script = `CREATE TABLE dbo.t (n int NOT NULL);
GO
CREATE PROCEDURE dbo.a_waits AS
BEGIN
    INSERT INTO dbo.t (n) VALUES (1);
    SELECT 1 AS one;
    WAITFOR DELAY '23:00:00';
    SELECT t.n FROM dbo.t AS t;
END;
GO
CREATE PROCEDURE dbo.b_empty @sql nvarchar(100) AS
BEGIN
    SELECT 1 AS one;
    SET @sql = NULL;
    -- gen:columns (n int null)
    EXEC sp_executesql @sql;
END;
GO
CREATE PROCEDURE dbo.c_fails AS
BEGIN
    RAISERROR('no', 16, 1);
    SELECT 1 AS a; SELECT 1 AS b; SELECT 1 AS c; SELECT 1 AS d; SELECT 1 AS e; SELECT 1 AS f; SELECT 1 AS g; SELECT 1 AS h;
END;
GO
CREATE PROCEDURE dbo.d_reads AS SELECT t.n FROM dbo.t AS t;
`
	const query = "-- name: Find :many\nSELECT t.n FROM dbo.t AS t WHERE t.n = @n;"
	pool := server.Pool(t)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := server.Apply(t.Context(), conn, "a.sql", script); err != nil {
		t.Fatal(err)
	}
	result, findings := generate.Analyze([]generate.Source{
		{Name: "a.sql", Text: script, Role: generate.Schema}, {Name: "q.sql", Text: query, Role: generate.Queries},
	}, config.Default())
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog,
		live.Options{Timeout: 3 * time.Second, Reconnect: pool.Conn})
	if err != nil {
		t.Fatal(err)
	}
	var unchecked []live.Note
	for _, note := range report.Unchecked {
		if note.Object != "" {
			unchecked = append(unchecked, note)
		}
	}
	wantUnchecked := []live.Note{{
		Object: "procedure dbo.a_waits",
		Text:   "result sets: an execution took longer than 3s, the most that -timeout allows",
	}}
	wantUnseen := []live.Note{{
		Object: "procedure dbo.b_empty",
		Text:   "result set 2 (n) of a.sql:16; executions ended with: no error, after 1 set",
	}}
	if d := cmp.Diff(wantUnchecked, unchecked); d != "" {
		t.Errorf("not checked (-want +got):\n%s", d)
	}
	if d := cmp.Diff(wantUnseen, report.Unseen); d != "" {
		t.Errorf("not seen (-want +got):\n%s", d)
	}
	// The first sets of the first two, and the third procedure's.
	if len(report.Drift) > 0 || report.Counts.ResultSets != 3 || report.Counts.Queries != 1 {
		t.Errorf("drift %v, compared %s", differences(report, nil), report.Counts)
	}
}

// A connection that breaks while a procedure is executed is replaced. Here somebody kills the session as soon as the
// procedure has written a row.
func TestVerifyReplacesItsConnection(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerifyReplacesItsConnection)
}

func testVerifyReplacesItsConnection(t *testing.T, server livetest.Server) {
	t.Helper()
	const script = `CREATE TABLE dbo.t (n int NOT NULL);
GO
CREATE PROCEDURE dbo.a_waits AS
BEGIN
    CREATE TABLE #x (n int NOT NULL); -- so that the set can't be described
    INSERT INTO dbo.t (n) VALUES (1);
    WAITFOR DELAY '23:00:00';
    SELECT x.n FROM #x AS x;
END;
GO
CREATE PROCEDURE dbo.b_reads AS SELECT t.n FROM dbo.t AS t;
`
	pool := server.Pool(t)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := server.Apply(t.Context(), conn, "a.sql", script); err != nil {
		t.Fatal(err)
	}
	result, findings := generate.Analyze([]generate.Source{{Name: "a.sql", Text: script, Role: generate.Schema}}, config.Default())
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	var session int
	if err := conn.QueryRowContext(t.Context(), "SELECT @@SPID").Scan(&session); err != nil {
		t.Fatal(err)
	}
	killed := make(chan error, 1)
	go func() {
		for {
			var rows int
			err := pool.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM dbo.t WITH (NOLOCK)").Scan(&rows)
			if err == nil && rows > 0 {
				_, err = pool.ExecContext(t.Context(), fmt.Sprintf("KILL %d", session))
			}
			if err != nil || rows > 0 {
				killed <- err
				return
			}
		}
	}()
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{Timeout: time.Hour, Reconnect: pool.Conn})
	if err := errors.Join(err, <-killed); err != nil {
		t.Fatal(err)
	}
	if len(report.Unseen) != 1 || report.Unseen[0].Object != "procedure dbo.a_waits" || report.Counts.ResultSets != 1 || len(report.Drift) > 0 {
		t.Errorf("not seen %v, drift %v, compared %s", report.Unseen, differences(report, nil), report.Counts)
	}
}

// The owner of a database may execute everything.
func TestVerifyOwnPermissions(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerifyOwnPermissions)
}

func testVerifyOwnPermissions(t *testing.T, server livetest.Server) {
	t.Helper()
	conn := deploy(t, server, "")
	result := program(t)
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{Grantee: "dbo"})
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range report.Unchecked {
		if strings.Contains(note.Text, "permissions") {
			t.Errorf("not checked: %s", note.Text)
		}
	}
	if len(report.Drift) > 0 {
		t.Errorf("drift: %v", differences(report, nil))
	}
}

// A grantee without permission is drift.
func TestVerifyPermissions(t *testing.T) {
	t.Parallel()
	livetest.Each(t, testVerifyPermissions)
}

func testVerifyPermissions(t *testing.T, server livetest.Server) {
	t.Helper()
	conn := deploy(t, server, "CREATE ROLE runtime\nGO\nGRANT EXECUTE ON shop.add_order TO runtime")
	result := program(t)
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, live.Options{Grantee: "runtime"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"procedure shop.find_orders: permission: EXECUTE granted to runtime, not none, or denied"}
	if diff := cmp.Diff(want, differences(report, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
