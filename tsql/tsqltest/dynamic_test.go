package tsqltest_test

import (
	"errors"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestEmptyName: a name that a procedure makes with QUOTENAME of an empty string is an error of its own.
func TestEmptyName(t *testing.T) {
	t.Parallel()
	conn, err := tsqltest.New(t, tsqltest.Options{}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = conn.Exec(t.Context(), "DECLARE @q nvarchar(100) = N'SELECT name FROM sys.objects ORDER BY ' + QUOTENAME(''); EXEC (@q)")
	if e, ok := errors.AsType[*tsqltest.Error](err); !ok || e.Number != 1038 {
		t.Errorf("got %v, want error 1038", err)
	}
}

// TestRedefinedNames: WITH RESULT SETS names the columns, for the client and for who asks without executing.
func TestRedefinedNames(t *testing.T) {
	t.Parallel()
	conn, err := tsqltest.New(t, tsqltest.Options{}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	result, err := conn.Exec(t.Context(), `EXEC ('SELECT 1 AS n') WITH RESULT SETS ((other bigint NOT NULL));
SELECT name, system_type_name, is_nullable
FROM sys.dm_exec_describe_first_result_set(N'EXEC (''SELECT 1 AS n'') WITH RESULT SETS ((other bigint NOT NULL))', NULL, 0)`)
	if err != nil {
		t.Fatal(err)
	}
	if name := result.Sets[0].Columns[0]; name != "other" {
		t.Errorf("the column is called %q", name)
	}
	row := result.Sets[1].Rows[0]
	if row[0] != "other" || row[1] != "bigint" || row[2] != false {
		t.Errorf("it is described as %v", row)
	}
}

// TestUseInBatch: what stands behind USE is about the other database, until the end of the text that says USE.
func TestUseInBatch(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	must(t, conn, "CREATE DATABASE other; CREATE TABLE t (a int); INSERT t VALUES (1)")
	for _, c := range []struct{ batch, want string }{
		{"USE other; CREATE TABLE t (b int); INSERT t VALUES (2); SELECT b FROM t; USE test; SELECT a FROM t", "2,1"},
		{"SELECT a FROM t; USE other; SELECT b FROM t; USE test", "1,2"},
		{"EXEC ('USE other; SELECT b FROM t'); SELECT a, DB_NAME() FROM t", "2,1,test"},
		{"EXEC sp_executesql N'USE other; SELECT b FROM t'; SELECT a, DB_NAME() FROM t", "2,1,test"},
		{"USE other; SELECT * FROM t", "2"},
		{"SELECT * FROM t", "2"},
		{"USE test; SELECT * FROM t", "1"},
	} {
		if got := told(t, conn, c.batch); got != c.want {
			t.Errorf("%s: %s, want %s", c.batch, got, c.want)
		}
	}
}

// A plan for a table of another database follows that database's changes.
func TestPlansOfOtherDatabases(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	must(t, conn, "CREATE DATABASE other; EXEC ('USE other; CREATE TABLE t (a int); INSERT t VALUES (1)')")
	const query = "SELECT * FROM other.dbo.t" //nolint:unqueryvet // all columns is what changes
	for _, c := range []struct{ batch, want string }{
		{query, "1"},
		{"ALTER TABLE other.dbo.t ADD b int NOT NULL DEFAULT 2", ""},
		{query, "1,2"},
		{"EXEC ('USE other; DROP TABLE t; CREATE TABLE t (c int); INSERT t VALUES (3)')", ""},
		{query, "3"},
	} {
		if got := told(t, conn, c.batch); got != c.want {
			t.Errorf("%s: %s, want %s", c.batch, got, c.want)
		}
	}
}
