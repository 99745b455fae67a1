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

// optimizedCase is at the end of the name of a case with optimized locking. A case without such a sister runs with it
// too.
const optimizedCase = " and optimized locking"

// Hermitage are Martin Kleppmann's tests of isolation levels (https://github.com/ept/hermitage), with the results that
// he has published for SQL Server. Every session is in a transaction from the start.
func TestHermitage(t *testing.T) {
	t.Parallel()
	for _, s := range scripts(t, "hermitage") {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, c := range s.cases {
				for name := range strings.SplitSeq(c.name, ", ") {
					optimized := strings.HasSuffix(name, optimizedCase)
					level, ok := levels[strings.TrimSuffix(name, optimizedCase)]
					if !ok || seen[name] {
						t.Fatalf("%q is no isolation level, or one that was there before", name)
					}
					seen[name] = !optimized
					begin := "SET TRANSACTION ISOLATION LEVEL " + level.isolation + "; BEGIN TRANSACTION"
					run(t, s, scriptCase{name, c.steps}, setting{level.versions, optimized}, begin)
					if !optimized && s.find(name+optimizedCase) == nil {
						run(t, s, scriptCase{name + optimizedCase, c.steps}, setting{versions: level.versions, optimized: true}, begin)
					}
				}
			}
			for name := range levels {
				if !seen[name] {
					t.Errorf("there is no case for %s", name)
				}
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

// What optimized locking changes, and what it leaves alone.
func TestOptimizedLocking(t *testing.T) {
	t.Parallel()
	runAll(t, "optimized")
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
				run(t, s, c, setting{strings.HasSuffix(c.name, "with row versions"), directory == "optimized"}, "")
			}
		})
	}
}

// run executes a case on all servers.
func run(t *testing.T, s script, c scriptCase, as setting, begin string) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		each(t, as, func(t *testing.T, p place) {
			t.Helper()
			for _, batch := range s.setup {
				must(t, p.db, batch)
			}
			perform(t, p.db, begin, c)
		})
	})
}
