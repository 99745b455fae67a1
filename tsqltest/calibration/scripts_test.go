package calibration

import (
	"strings"
	"testing"
)

// levels are the names under which cases run, with how a session begins. Row versions are a property of the database.
var levels = map[string]struct {
	isolation string
	versions  bool
}{
	"READ UNCOMMITTED":                 {"READ UNCOMMITTED", false},
	"READ COMMITTED":                   {"READ COMMITTED", false},
	"READ COMMITTED with row versions": {"READ COMMITTED", true},
	"REPEATABLE READ":                  {"REPEATABLE READ", false},
	"SNAPSHOT":                         {"SNAPSHOT", false},
	"SERIALIZABLE":                     {"SERIALIZABLE", false},
}

// Hermitage are Martin Kleppmann's tests of isolation levels (https://github.com/ept/hermitage), with the results that he
// has published for SQL Server. Every session is in a transaction from the start.
func TestHermitage(t *testing.T) {
	t.Parallel()
	for _, s := range scripts(t, "hermitage") {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, c := range s.cases {
				for name := range strings.SplitSeq(c.name, ", ") {
					level, ok := levels[name]
					if !ok || seen[name] {
						t.Fatalf("%q is no isolation level, or one that was there before", name)
					}
					seen[name] = true
					run(t, s, scriptCase{name, c.steps}, level.versions, "SET TRANSACTION ISOLATION LEVEL "+level.isolation+"; BEGIN TRANSACTION")
				}
			}
			if len(seen) != len(levels) {
				t.Errorf("there are cases for %d isolation levels of %d", len(seen), len(levels))
			}
		})
	}
}

// The textbook's deadlocks.
func TestDeadlocks(t *testing.T) {
	t.Parallel()
	runAll(t, "deadlock")
}

// What waits for what, by hints, levels and statements.
func TestLocking(t *testing.T) {
	t.Parallel()
	runAll(t, "locking")
}

// What statements mean, without a second session.
func TestSemantics(t *testing.T) {
	t.Parallel()
	runAll(t, "semantics")
}

func runAll(t *testing.T, directory string) {
	t.Helper()
	for _, s := range scripts(t, directory) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range s.cases {
				run(t, s, c, strings.HasSuffix(c.name, "with row versions"), "")
			}
		})
	}
}

// run executes a case on all servers.
func run(t *testing.T, s script, c scriptCase, versions bool, begin string) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		each(t, versions, func(t *testing.T, p place) {
			t.Helper()
			switch {
			case p.babelfish && s.skipBabelfish != "":
				t.Skip(s.skipBabelfish)
			case p.babelfish && (c.waits() || begin != ""):
				t.Skip("PostgreSQL has row versions at every level and no lock hints: others wait there, and for other things")
			}
			for _, batch := range s.setup {
				must(t, p.db, batch)
			}
			perform(t, p.db, begin, c)
		})
	})
}
