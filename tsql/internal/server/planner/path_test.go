package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// queue has indexes of all kinds, and 40 rows: ids 1 to 40, kind id % 4 (NULL for 0), state 1 for every tenth, else 0.
const queue = `
CREATE TABLE dbo.jobs (
    id int NOT NULL PRIMARY KEY, kind int NULL, state bit NOT NULL, at datetime2(3) NOT NULL, code varchar(20) NOT NULL,
    name nvarchar(20) NULL, total decimal(10, 2) NOT NULL,
    INDEX ix_kind (kind, at DESC), INDEX ix_ready (kind, id) INCLUDE (code) WHERE state = 1, INDEX ix_named (name) WHERE name IS NOT NULL,
    INDEX ix_code (code), INDEX ix_total (total DESC) INCLUDE (state), INDEX ix_some (at) WHERE kind IN (1, 2)
);
DECLARE @kind int = 2, @none int, @big bigint = 2, @text nvarchar(20) = N'c7', @code varchar(20) = 'c7', @at datetime = '2024-01-07';
`

func newQueue(tb testing.TB) *lab {
	tb.Helper()
	l := newLab(tb)
	l.run(queue)
	var rows []string
	for id := 1; id <= 40; id++ {
		kind, state, name := fmt.Sprint(id%4), 0, "NULL"
		if id%4 == 0 {
			kind = "NULL"
		}
		if id%10 == 0 {
			state = 1
		}
		if id%8 == 0 {
			name = fmt.Sprintf("N'n%d'", id)
		}
		rows = append(rows, fmt.Sprintf("(%d, %s, %d, DATEADD(day, %d, '2024-01-01'), 'c%d', %s, %d.5)", id, kind, state, id, id, name, id))
	}
	l.run("INSERT INTO dbo.jobs VALUES " + strings.Join(rows, ", "))
	return l
}

// TestPaths checks which index is used, and how many of its keys are touched.
func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, rows, plan string
		keys              int // touched in all indexes; 0 is not checked
	}{
		{"SELECT id FROM dbo.jobs WHERE id = 7", "7", "seek PK__", 1},
		{"SELECT id FROM dbo.jobs WHERE id = @big", "2", "(id =)", 1},
		{"SELECT id FROM dbo.jobs WHERE id = 7.0", "7", "where 1", 0},
		{"SELECT id FROM dbo.jobs WHERE id = '7'", "7", "(id =)", 1},
		{"SELECT id FROM dbo.jobs WHERE id = @none", "", "(id =)", 0},
		{"SELECT id FROM dbo.jobs WHERE id IN (3, @none, 3, 5)", "3 5", "(id in)", 2},
		{"SELECT id FROM dbo.jobs WHERE id > 38 AND id <= 40", "39 40", "(id >, id <=)", 2},
		{"SELECT id FROM dbo.jobs WHERE 38 < id", "39 40", "(id >)", 2},
		{"SELECT TOP (2) id FROM dbo.jobs WHERE kind = 1 ORDER BY at DESC", "37 33", "seek ix_kind of jobs (kind =);top", 2},
		{"SELECT TOP (2) id FROM dbo.jobs WHERE kind = 1 ORDER BY at", "1 5", "seek ix_kind of jobs (kind =) backward", 2},
		{"SELECT id FROM dbo.jobs WHERE kind IS NULL AND at > '2024-02-05'", "40 36", "(kind is null, at >)", 2},
		{"SELECT id FROM dbo.jobs WHERE kind = 3 AND at < '2024-01-09'", "7 3", "(kind =, at <)", 2},
		{"SELECT COUNT(*) AS n FROM dbo.jobs WHERE kind < 2", "10", "(kind <)", 10},
		{"SELECT COUNT(*) AS n FROM dbo.jobs WHERE kind IS NOT NULL", "30", "(kind is not null)", 30},
		{"SELECT COUNT(*) AS n FROM dbo.jobs WHERE total > 38", "3", "seek ix_total of jobs (total >)", 3},
		{"SELECT TOP (1) total FROM dbo.jobs ORDER BY total", "1.50", "scan ix_total of jobs backward", 1},
		{"SELECT MAX(total) AS n FROM dbo.jobs", "40.50", "scan ix_total;first row", 1},
		{"SELECT MIN(total) AS n FROM dbo.jobs", "1.50", "backward;first row", 1},
		// A filtered index needs its condition, which then costs nothing.
		{"SELECT id, code FROM dbo.jobs WHERE state = 1 AND kind = 2", "10|c10 30|c30", "seek ix_ready of jobs (kind =)", 2},
		{"SELECT id, code FROM dbo.jobs WHERE state = 1 AND kind = @kind ORDER BY id DESC", "30|c30 10|c10", "seek ix_ready of jobs (kind =) backward", 2},
		{"SELECT id FROM dbo.jobs WHERE name = N'n8'", "8", "seek ix_named of jobs (name =)", 1},
		{"SELECT id FROM dbo.jobs WHERE name > N'n3'", "32 40 8", "seek ix_named of jobs (name >)", 3},
		{"SELECT id FROM dbo.jobs WHERE kind = 1 AND at = '2024-01-06'", "5", "", 0},
		{"SELECT at FROM dbo.jobs WITH (INDEX (ix_some)) WHERE kind = 2 AND at < '2024-01-05'", "2024-01-03", "seek ix_some of jobs (at <) lookup where 1", 0},
		// T1: a column that is converted is not sought.
		{"SELECT id FROM dbo.jobs WHERE code = @code", "7", "seek ix_code of jobs (code =)", 1},
		{"SELECT id FROM dbo.jobs WHERE code = @text", "7", "scan ix_code of jobs where 1", 40},
		{"SELECT id FROM dbo.jobs WHERE code = 'C7'", "7", "seek ix_code", 1},
		{"SELECT id FROM dbo.jobs WHERE code = 'c7' COLLATE Latin1_General_100_BIN2", "7", "scan", 0},
		// Columns outside the index are looked up, after what the index can say.
		{"SELECT id FROM dbo.jobs WITH (INDEX (ix_code)) WHERE code > 'c8' AND total > 9", "9", "seek ix_code of jobs (code >) lookup where 1", 0},
		{"SELECT name FROM dbo.jobs WITH (INDEX (ix_kind)) WHERE kind = 3 AND id < 9", "NULL NULL", "where 1 lookup", 12}, //nolint:dupword // two rows
		// Hints.
		{"SELECT id FROM dbo.jobs WITH (INDEX (1)) WHERE code = 'c7'", "7", "scan PK__", 40},
		{"SELECT id FROM dbo.jobs WITH (FORCESEEK) WHERE kind > 2 AND name = N'n8'", "", "seek ix_named", 0},
		{"SELECT id FROM dbo.jobs WITH (FORCESEEK (ix_kind (kind))) WHERE kind = 3 AND code = 'c7'", "7", "seek ix_kind", 0},
		{"SELECT id FROM dbo.jobs WITH (FORCESCAN) WHERE id = 3", "3", "scan", 0},
	} {
		t.Run(c.query, func(t *testing.T) {
			t.Parallel()
			l := newQueue(t)
			st, err := l.compile(c.query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.query(c.query)
			if err != nil {
				t.Fatal(err)
			}
			if rows := strings.Join(got, " "); !strings.HasPrefix(rows, c.rows) || c.rows == "" && rows != "" {
				t.Errorf("got %q, want %q\n%s", rows, c.rows, st.Explain)
			}
			for part := range strings.SplitSeq(c.plan, ";") {
				if !strings.Contains(st.Explain, part) {
					t.Errorf("no %q in\n%s", part, st.Explain)
				}
			}
			touched := 0
			for _, n := range l.counts {
				touched += n.Granted
			}
			if c.keys > 0 && touched != c.keys {
				t.Errorf("touched %d keys, want %d: %v\n%s", touched, c.keys, l.counts, st.Explain)
			}
		})
	}
}

// TestAccess checks how hints and isolation levels lock.
func TestAccess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hints     string
		isolation store.Isolation
		versions  bool
		want      lock.Mode
	}{
		{"", store.ReadCommitted, false, lock.S},
		{"", store.ReadCommitted, true, lock.NL},
		{"WITH (READCOMMITTEDLOCK)", store.ReadCommitted, true, lock.S},
		{"WITH (NOLOCK)", store.ReadCommitted, false, lock.NL},
		{"WITH (UPDLOCK)", store.ReadCommitted, true, lock.U},
		{"WITH (XLOCK, ROWLOCK)", store.ReadCommitted, false, lock.X},
		{"WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK)", store.ReadCommitted, true, lock.U},
		{"WITH (HOLDLOCK)", store.ReadCommitted, true, lock.RangeSS},
		{"WITH (UPDLOCK, HOLDLOCK)", store.ReadCommitted, true, lock.RangeSU},
		{"WITH (REPEATABLEREAD)", store.ReadCommitted, true, lock.S},
		{"", store.ReadUncommitted, false, lock.NL},
		{"", store.RepeatableRead, true, lock.S},
		{"", store.Serializable, true, lock.RangeSS},
		{"", store.SnapshotIsolation, true, lock.NL},
	} {
		t.Run(fmt.Sprint(c.hints, c.isolation, c.versions), func(t *testing.T) {
			t.Parallel()
			l := newQueue(t)
			l.isolation, l.db.ReadCommittedSnapshot, l.db.AllowSnapshot = c.isolation, c.versions, true
			if _, err := l.query("SELECT id FROM dbo.jobs " + c.hints + " WHERE id > 38"); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, n := range l.counts {
				found = found || n.Mode == c.want && n.Granted >= 2
			}
			if !found {
				t.Errorf("locks: %v", l.counts)
			}
		})
	}
}

// TestHintsOfViews checks that the hints of a view and of a common table expression are those of the tables in it.
func TestHintsOfViews(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]lock.Mode{
		"SELECT id FROM dbo.late WITH (NOLOCK)":  lock.NL,
		"SELECT id FROM dbo.late WITH (UPDLOCK)": lock.U,
		"SELECT id FROM dbo.late":                lock.S,

		"WITH c AS (SELECT id FROM dbo.jobs WHERE id > 38) SELECT id FROM c WITH (UPDLOCK)": lock.U,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			l := newQueue(t)
			l.run("CREATE VIEW dbo.late AS SELECT id FROM dbo.jobs WHERE id > 38;")
			if _, err := l.query(query); err != nil {
				t.Fatal(err)
			}
			if len(l.counts) == 0 || l.counts[0].Mode != want {
				t.Errorf("locks: %v, want %v", l.counts, want)
			}
		})
	}
}
