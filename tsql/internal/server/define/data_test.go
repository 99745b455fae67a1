package define_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// TestRows checks what becomes of the rows that a table has when it is changed.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before string
		rows         [][]any
		change, want string // an error if it begins with a number
	}{
		{"add a nullable column", `CREATE TABLE t (a int)`, [][]any{{1}, {2}}, `ALTER TABLE t ADD b int DEFAULT 7`, `(1 NULL) (2 NULL)`},
		{"add a column with values", `CREATE TABLE t (a int)`, [][]any{{1}, {2}}, `ALTER TABLE t ADD b int DEFAULT 7 WITH VALUES, c varchar(5) NOT NULL DEFAULT 'x'`, `(1 7 x) (2 7 x)`},
		{
			"add a column that can't be NULL", `CREATE TABLE t (a int)`,
			[][]any{{1}},
			`ALTER TABLE t ADD b int NOT NULL`,
			`4901: ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table must be empty to allow addition of this column. Column 'b' cannot be added to non-empty table 't' because it does not satisfy these conditions.`,
		},
		{"add one to an empty table", `CREATE TABLE t (a int)`, nil, `ALTER TABLE t ADD b int NOT NULL`, ``},
		{"add an identity", `CREATE TABLE t (a int)`, [][]any{{5}, {6}}, `ALTER TABLE t ADD id int IDENTITY (10, 10)`, `(5 10) (6 20)`},
		{"add a computed column", `CREATE TABLE t (a int)`, [][]any{{5}, {6}}, `ALTER TABLE t ADD b AS (a * 2) PERSISTED`, `(5 10) (6 12)`},
		{"index a computed column", `CREATE TABLE t (a int, b AS (a * 2))`, [][]any{{5, nil}, {6, nil}}, `CREATE INDEX x ON t (b)`, `(5 10) (6 12)`},
		{"drop a column", `CREATE TABLE t (a int, b int, c int)`, [][]any{{1, 2, 3}}, `ALTER TABLE t DROP COLUMN b, a`, `(3)`},
		{"drop a column before the key", `CREATE TABLE t (a int, b int PRIMARY KEY)`, [][]any{{1, 9}, {2, 8}}, `ALTER TABLE t DROP COLUMN a`, `(8) (9)`},
		{"convert", `CREATE TABLE t (a int)`, [][]any{{1}, {22}}, `ALTER TABLE t ALTER COLUMN a varchar(2)`, `(1) (22)`},
		{
			"refuse NULL", `CREATE TABLE t (a int)`,
			[][]any{{1}, {nil}},
			`ALTER TABLE t ALTER COLUMN a int NOT NULL`,
			`515: Cannot insert the value NULL into column 'a', table 'work.dbo.t'; column does not allow nulls. UPDATE fails.`,
		},
		{
			"cut", `CREATE TABLE t (a varchar(5))`,
			[][]any{{"abcde"}},
			`ALTER TABLE t ALTER COLUMN a varchar(3)`,
			`2628: String or binary data would be truncated in table 'work.dbo.t', column 'a'. Truncated value: 'abc'.`,
		},
		{"cluster", `CREATE TABLE t (a int, b int)`, [][]any{{1, 9}, {2, 8}}, `CREATE CLUSTERED INDEX x ON t (b)`, `(2 8) (1 9)`},
		{"uncluster", `CREATE TABLE t (a int, b int, CONSTRAINT k PRIMARY KEY (b))`, [][]any{{1, 9}, {2, 8}}, `ALTER TABLE t DROP CONSTRAINT k; ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (b DESC)`, `(1 9) (2 8)`},
		{
			"a duplicate key", `CREATE TABLE t (a int, b varchar(5))`,
			[][]any{{1, "x"}, {1, "x"}},
			`CREATE UNIQUE INDEX x ON t (a, b)`,
			`1505: The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name 'dbo.t' and the index name 'x'. The duplicate key value is (1, x).`,
		},
		{
			"a duplicate key of a constraint", `CREATE TABLE t (a int)`,
			[][]any{{nil}, {nil}},
			`ALTER TABLE t ADD CONSTRAINT k UNIQUE (a)`,
			"1505: The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name 'dbo.t' and the index name 'k'. The duplicate key value is (<NULL>).\n1750: Could not create constraint or index. See previous errors.",
		},
		{"a filter leaves duplicates out", `CREATE TABLE t (a int)`, [][]any{{nil}, {nil}, {1}}, `CREATE UNIQUE INDEX x ON t (a) WHERE a IS NOT NULL`, `(NULL) (NULL) (1)`},
		{
			"a check", `CREATE TABLE t (a int)`,
			[][]any{{1}, {nil}},
			`ALTER TABLE t ADD CONSTRAINT c CHECK (a > 1)`,
			`547: The ALTER TABLE statement conflicted with the CHECK constraint "c". The conflict occurred in database "work", table "dbo.t", column 'a'.`,
		},
		{"a check of what comes", `CREATE TABLE t (a int)`, [][]any{{1}}, `ALTER TABLE t WITH NOCHECK ADD CONSTRAINT c CHECK (a > 1)`, `(1)`},
		{
			"check again", `CREATE TABLE t (a int)`,
			[][]any{{1}},
			`ALTER TABLE t WITH NOCHECK ADD CONSTRAINT c CHECK (a > 1); ALTER TABLE t WITH CHECK ` + `CHECK CONSTRAINT ALL`,
			`547: The ALTER TABLE statement conflicted with the CHECK constraint "c". The conflict occurred in database "work", table "dbo.t", column 'a'.`,
		},
		{
			"an orphan", `CREATE TABLE t (a int); CREATE TABLE p (id int PRIMARY KEY)`,
			[][]any{{1}, {nil}},
			`ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p`,
			`547: The ALTER TABLE statement conflicted with the FOREIGN KEY constraint "f". The conflict occurred in database "work", table "dbo.p", column 'id'.`,
		},
		{"no orphan", `CREATE TABLE t (id int PRIMARY KEY, p int)`, [][]any{{1, 1}, {2, nil}}, `ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES t`, `(1 1) (2 NULL)`},
		{"reseed", `CREATE TABLE t (a int IDENTITY)`, [][]any{{7}}, `DBCC CHECKIDENT (t, RESEED, 3)`, `(7)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newLab(t).session()
			s.run(c.before)
			for _, row := range c.rows {
				if err := s.insert("t", row...); err != nil {
					t.Fatal(err)
				}
			}
			before, rows := describe(s.table("t")), s.rows("t", 0)
			s.begin()
			got := failure(s.try(c.change))
			if got == "" {
				got = s.rows("t", 0)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			s.rollback()
			if after := describe(s.table("t")); after != before {
				t.Errorf("after a rollback: %s\nbefore:          %s", after, before)
			}
			if after := s.rows("t", 0); after != rows {
				t.Errorf("rows after a rollback: %s\nbefore:               %s", after, rows)
			}
		})
	}
}

// TestVersionsThatAreGone is the story of a migration that fills a column and then forbids NULL in one transaction: the
// versions from before still have NULL.
func TestVersionsThatAreGone(t *testing.T) {
	t.Parallel()
	s := newLab(t).session()
	s.run(`CREATE TABLE t (a int)`)
	if err := s.insert("t", nil); err != nil {
		t.Fatal(err)
	}
	s.begin()
	if err := s.update("t", 3); err != nil {
		t.Fatal(err)
	}
	s.run(`ALTER TABLE t ALTER COLUMN a int NOT NULL`)
	s.commit()
	if got := s.rows("t", 0); got != "(3)" {
		t.Errorf("got %s", got)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	s := newLab(t).session()
	s.run(`CREATE TABLE t (a tinyint IDENTITY (253, 1))`)
	tab := s.table("t")
	for _, want := range []string{"253", "254", "255", "Msg 8115: Arithmetic overflow error converting IDENTITY to data type tinyint."} {
		v, err := tab.Identity.Give(tab.Columns[0])
		got := v.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	s.run(`DBCC CHECKIDENT ('dbo.t', RESEED, 7) WITH NO_INFOMSGS`)
	if v, err := s.table("t").Identity.Give(tab.Columns[0]); err != nil || v.Int() != 8 {
		t.Errorf("after RESEED: %v, %v", v, err)
	}
}

func TestSequence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`CREATE SEQUENCE s`, `-9223372036854775808 -9223372036854775807 -9223372036854775806`},
		{`CREATE SEQUENCE s START WITH 5`, `5 6 7`},
		{`CREATE SEQUENCE s AS tinyint START WITH 254`, `254 255 Msg 11728: The sequence object 's' has reached its minimum or maximum value. Restart the sequence object to allow new values to be generated.`},
		{`CREATE SEQUENCE s AS int START WITH 3 INCREMENT BY -2 MINVALUE 1 MAXVALUE 9 CYCLE`, `3 1 9`},
		{`CREATE SEQUENCE s START WITH 1; ALTER SEQUENCE s RESTART WITH 100 INCREMENT BY 10`, `100 110 120`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			s := newLab(t).session()
			s.run(c.text)
			q, ok := s.db.Find("dbo", "s", "").(*schema.Sequence)
			if !ok {
				t.Fatal("there is no sequence")
			}
			got := ""
			var gotSb137 strings.Builder
			for range 3 {
				v, err := q.Give()
				if err != nil {
					gotSb137.WriteString(" " + err.Error())
					break
				}
				gotSb137.WriteString(" " + v.String())
			}
			got += gotSb137.String()
			if got != " "+c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
