package tsqltest_test

import (
	"errors"
	"testing"

	"github.com/duroxide/duroxide-go/tsqltest"
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
