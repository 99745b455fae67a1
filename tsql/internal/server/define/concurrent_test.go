package define_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule/scheduletest"
)

// TestTwoDefine checks that whoever defines what another transaction is about to define waits for it.
func TestTwoDefine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, first, second string
		committed, undone           string // the second's error if the first one commits, or rolls back
	}{
		{
			"the same table", ``, `CREATE TABLE t (a int)`, `CREATE TABLE t (b int)`,
			`2714: There is already an object named 't' in the database.`, ``,
		},
		{"the same procedure", ``, `CREATE PROCEDURE p AS SELECT 1 AS a`, `CREATE OR ALTER PROCEDURE p AS SELECT 2 AS a`, ``, ``},
		{
			"a table that changes", `CREATE TABLE t (a int)`, `ALTER TABLE t ADD b int`, `ALTER TABLE t ADD b int`,
			`2705: Column names in each table must be unique. Column name 'b' in table 't' is specified more than once.`, ``,
		},
		{
			"an index of a table that changes", `CREATE TABLE t (a int)`, `CREATE INDEX x ON t (a)`, `CREATE INDEX x ON t (a)`,
			`1913: The operation failed because an index or statistics with name 'x' already exists on table 'dbo.t'.`, ``,
		},
		{
			"a reference to a new key", `CREATE TABLE t (a int NOT NULL)`, `ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY (a)`, `CREATE TABLE u (a int CONSTRAINT f REFERENCES t)`,
			``, "1773: Foreign key 'f' has implicit reference to object 't' which does not have a primary key defined on it.\n1750: Could not create constraint or index. See previous errors.",
		},
		{"a name that was given up", `CREATE TABLE t (a int)`, `DROP TABLE t`, `CREATE TABLE t (b int)`, ``, `2714: There is already an object named 't' in the database.`},
		{
			"a table that is dropped", `CREATE TABLE t (a int)`, `DROP TABLE t`, `ALTER TABLE t ADD b int`,
			`4902: Cannot find the object "t" because it does not exist or you do not have permissions.`, ``,
		},
	} {
		for _, commit := range []bool{true, false} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				l.session().run(c.before)
				one, other := l.session(), l.session()
				got := "not finished"
				l.c.Go(one.id, func() {
					one.begin()
					one.run(c.first)
					l.c.Yield(one.id, point)
					if commit {
						one.commit()
					} else {
						one.rollback()
					}
				})
				l.c.Go(other.id, func() { got = failure(other.try(c.second)) })
				l.c.Step(one.id)
				if state := l.c.Run(other.id); state != scheduletest.Parked {
					t.Errorf("the second is %v, and does not wait: %s", state, got)
				}
				l.c.Finish()
				want := c.committed
				if !commit {
					want = c.undone
				}
				if got != want {
					t.Errorf("commit %t: got %q, want %q", commit, got, want)
				}
			})
		}
	}
}

// TestUndoneGrantLeavesOthers checks that a transaction which rolls back takes its own permissions with it, and brings
// its own back, whatever others have granted and revoked meanwhile.
func TestUndoneGrantLeavesOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	one, other := l.session(), l.session()
	one.run(`CREATE ROLE r; CREATE TABLE a (i int); CREATE TABLE b (i int); CREATE TABLE c (i int); CREATE TABLE d (i int);
GRANT SELECT ON a TO r; GRANT SELECT ON b TO r`)
	one.begin()
	one.run(`REVOKE SELECT ON a FROM r; GRANT SELECT ON c TO r`)
	other.run(`REVOKE SELECT ON b FROM r; GRANT SELECT ON d TO r`)
	one.rollback()

	var got []string
	for _, p := range one.db.Permissions {
		if p.Grantee == one.db.Principal("r") {
			got = append(got, one.db.Object(p.Major).Head().Name)
		}
	}
	slices.Sort(got)
	if want := "a d"; strings.Join(got, " ") != want {
		t.Errorf("the role may read %v, want %s", got, want)
	}
}
