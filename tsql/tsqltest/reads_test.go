package tsqltest_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestLogicalReads tells a scan from a seek by sys.dm_exec_sessions.
func TestLogicalReads(t *testing.T) {
	t.Parallel()
	conn, err := tsqltest.New(t, tsqltest.Options{}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	reads := func(batch string) int64 {
		t.Helper()
		const before = "DECLARE @before bigint = (SELECT logical_reads FROM sys.dm_exec_sessions WHERE session_id = @@SPID);\n"
		const after = ";\nSELECT logical_reads - @before FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
		result, err := conn.Exec(t.Context(), before+batch+after)
		if err != nil {
			t.Fatalf("%s: %v", batch, err)
		}
		return result.Sets[len(result.Sets)-1].Rows[0][0].(int64)
	}
	reads(`CREATE TABLE t (id int NOT NULL PRIMARY KEY, name varchar(10) NOT NULL);
		WITH digit AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n))
		INSERT INTO t (id, name) SELECT a.n * 100 + b.n * 10 + c.n, 'x'
		FROM digit AS a CROSS JOIN digit AS b CROSS JOIN digit AS c`)
	for _, tt := range []struct {
		batch       string
		least, most int64
	}{
		{"SELECT id FROM t WHERE name = 'y'", 1000, 1010},
		{"SELECT id FROM t WITH (NOLOCK) WHERE name = 'y'", 1000, 1010},
		{"SELECT id FROM t WHERE id BETWEEN 100 AND 199", 100, 110},
		{"SELECT id FROM t WHERE id = 500", 1, 5},
		{"SELECT id FROM t WHERE id = 5000", 1, 5},
		{"UPDATE t SET name = 'z' WHERE id = 500", 1, 10},
	} {
		if got := reads(tt.batch); got < tt.least || got > tt.most {
			t.Errorf("%s: %d reads, want %d to %d", tt.batch, got, tt.least, tt.most)
		}
	}
}
