package tsqltest_test

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// copyIn sends rows by bulk copy.
func copyIn(ctx context.Context, db *sql.DB, table string, options mssql.BulkOptions, columns string, rows ...[]any) (int64, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	stmt, err := conn.PrepareContext(ctx, mssql.CopyIn(table, options, strings.Fields(columns)...))
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return 0, err
		}
	}
	result, err := stmt.ExecContext(ctx)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Bulk copy stores rows of all types, takes NULL for a default, and checks constraints and fires triggers only if it is
// told to.
func TestBulkCopy(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	if err := server.ApplyText(t.Context(), "bulk.sql", `
		CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY, n INT NULL CHECK (n > 0), s NVARCHAR(10) NULL DEFAULT 'none', d DECIMAL(9, 2) NULL,
			b VARBINARY(MAX) NULL, x VARCHAR(MAX) NULL, m MONEY NULL, f FLOAT NULL, e BIT NULL);
		CREATE TABLE dbo.log (n INT);
		CREATE TABLE #t (a INT);
		GO
		CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS SET NOCOUNT ON; INSERT dbo.log SELECT COUNT(*) FROM inserted`); err != nil {
		t.Fatal(err)
	}
	db, long := server.DB(), strings.Repeat("long ", 5000)
	for _, tt := range []struct {
		options mssql.BulkOptions
		columns string
		rows    [][]any
		want    string
	}{
		{mssql.BulkOptions{}, "id n s d b x m f e", [][]any{{1, 5, "käse", "12.5", []byte{1, 2}, long, "1.25", 0.5, true}, {2, -1, nil, nil, nil, nil, nil, nil, nil}}, "2 <nil>"},
		{mssql.BulkOptions{KeepNulls: true, Tablock: true, RowsPerBatch: 10, Order: []string{"id"}}, "id s", [][]any{{3, nil}}, "1 <nil>"},
		{mssql.BulkOptions{FireTriggers: true}, "s id", [][]any{{"a", 4}, {"b", 5}}, "2 <nil>"},
		{mssql.BulkOptions{CheckConstraints: true}, "id n", [][]any{{6, -1}}, "0 mssql: The INSERT statement conflicted with the CHECK constraint"},
		{mssql.BulkOptions{}, "id", [][]any{{7}, {1}}, "0 mssql: Violation of PRIMARY KEY constraint"},
		{mssql.BulkOptions{}, "id s", [][]any{{8, "far too long a text"}}, "0 "},
		{mssql.BulkOptions{}, "nosuch", [][]any{{8}}, "0 column nosuch does not exist in destination table dbo.t"},
	} {
		n, err := copyIn(t.Context(), db, "dbo.t", tt.options, tt.columns, tt.rows...)
		if got := fmt.Sprint(n, " ", err); !strings.HasPrefix(got, tt.want) || tt.want == "0 " && err == nil {
			t.Errorf("%s %v: %s, want %s", tt.columns, tt.options, got, tt.want)
		}
	}
	const want = `[{"id":1,"n":5,"s":"käse","d":12.50,"b":"AQI=","x":25000,"m":1.2500,"f":5.000000000000000e-001,"e":true},` +
		`{"id":2,"n":-1,"s":"none"},{"id":3},{"id":4,"s":"a"},{"id":5,"s":"b"}]`
	var got string
	var fired int
	err := db.QueryRowContext(t.Context(), `SELECT (SELECT id, n, s, d, b, DATALENGTH(x) AS x, m, f, e FROM dbo.t ORDER BY id FOR JSON PATH), (SELECT SUM(n) FROM dbo.log)`).Scan(&got, &fired)
	if err != nil || got != want || fired != 2 {
		t.Errorf("the table has %s (%v), want %s; the trigger saw %d rows", got, err, want, fired)
	}
}

// A client that asks for messages hears of the end of every statement, in order.
func TestMessagesInOrder(t *testing.T) {
	t.Parallel()
	db := tsqltest.New(t, tsqltest.Options{}).DB()
	messages := &sqlexp.ReturnMessage{}
	rows, err := db.QueryContext(t.Context(), "DECLARE @i INT = 0; PRINT 'one'; SET @i = 1; SELECT 100 AS c; PRINT 'two'", messages)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for more := true; more; {
		switch m := messages.Message(t.Context()).(type) {
		case sqlexp.MsgNotice:
			got = append(got, m.Message.String())
		case sqlexp.MsgNext:
			got = append(got, "rows")
			for rows.Next() {
				continue
			}
		case sqlexp.MsgRowsAffected:
			got = append(got, fmt.Sprint(m.Count))
		case sqlexp.MsgNextResultSet:
			got = append(got, "end")
			more = rows.NextResultSet()
		case sqlexp.MsgError:
			t.Fatal(m.Error)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "end", "end", "rows", "1", "end", "two", "end"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the messages are %q, want %q", got, want)
	}
}

// An output parameter has the type for which the client asks.
func TestOutputAsAsked(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	db := server.DB()
	if _, err := db.ExecContext(t.Context(), `CREATE PROCEDURE dbo.p @bit BIT OUTPUT, @text DECIMAL(9, 2) OUTPUT AS SELECT @bit = 1, @text = 1.5; SELECT 1`); err != nil {
		t.Fatal(err)
	}
	var bit int64
	text := "0"
	if _, err := db.ExecContext(t.Context(), "dbo.p", sql.Named("bit", sql.Out{Dest: &bit}), sql.Named("text", sql.Out{Dest: &text})); err != nil {
		t.Fatal(err)
	}
	if bit != 1 || text != "1.50" {
		t.Errorf("the outputs are %d and %q", bit, text)
	}
}

// A type may be dropped and created anew: the texts that named the old one see the new one.
func TestTypeCreatedAnew(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE TYPE tt AS TABLE (a INT); CREATE TYPE code FROM VARCHAR(3)", ``},
		{"DECLARE @t tt; INSERT @t VALUES (1); SELECT * FROM @t", `1`},
		{"DECLARE @c code = 'abcdef'; SELECT @c", `abc`},
		{"DROP TYPE tt; DROP TYPE code", ``},
		{"CREATE TYPE tt AS TABLE (a INT, b INT DEFAULT 7); CREATE TYPE code FROM VARCHAR(5)", ``},
		{"DECLARE @t tt; INSERT @t (a) VALUES (1); SELECT * FROM @t", `1|7`},
		{"DECLARE @t tt; INSERT @t VALUES (1); SELECT * FROM @t", `213 :1 Column name or number of supplied values does not match table definition.`},
		{"DECLARE @c code = 'abcdef'; SELECT @c", `abcde`},
	})
}

// SET FMTONLY ON asks for the columns of a query.
func TestFmtOnly(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE TABLE t (a INT); INSERT t VALUES (1)", ``},
		{"SET FMTONLY ON; SELECT a FROM t; SET FMTONLY OFF; SELECT a FROM t", `; 1`},
		{"SET FMTONLY ON; DELETE t", `49900 :1 SET FMTONLY ON for a statement that returns no rows is not supported by tsqltest (batch:1:17)`},
		{"SET FMTONLY OFF; SELECT a FROM t", `1`},
	})
}
