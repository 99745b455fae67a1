package mssql_test

import (
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider/mssql/internal/interleave"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// The store's operations run beside each other in many orders, with row versions and without, and with other plans than
// the planner's: what must hold does. What is known to fail is wanted to, so that whoever mends it moves it to what
// holds.
func TestExploreOperations(t *testing.T) {
	t.Parallel()
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprintf("row versions %t", versions), func(t *testing.T) {
			t.Parallel()
			amended := mssqltest.Amendment(t)
			lab := interleave.NewLab(t, interleave.Variant{RowVersions: versions, Amend: amended})
			for _, s := range interleave.Scenarios() {
				switch { // one after the other, since they share a server
				case s.Known == nil:
					//nolint:paralleltest // see above
					t.Run(s.Name, func(t *testing.T) { holds(t, lab.Scenario(t, s), s.AnyPlan) })
				case amended == "" && (!versions || s.Known.VersionsToo):
					//nolint:paralleltest // see above
					t.Run(s.Name, func(t *testing.T) { fails(t, s, lab.Scenario(t, s)) })
				}
			}
		})
	}
}

// holds explores a scenario. Its sessions take turns, so that the detector of races finds nothing in them: a few orders
// will do.
func holds(t *testing.T, s tsqltest.Scenario, anyPlan bool) {
	t.Helper()
	if racing.Part() {
		tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Schedules: 3})
		return
	}
	if r := tsqltest.Explore(t, s, tsqltest.Exploration{Preemptions: 1}); r.Complete != 1 {
		t.Errorf("only %d schedules, complete to %d", r.Schedules, r.Complete)
	}
	tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Plans: 2, RowLocks: true, Seeks: true, Schedules: 45})
	if anyPlan {
		most := 42 // two orders by each choice of plans; `make explore` tries more
		if mssqltest.Amendment(t) != "" {
			most = 200
		}
		tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Plans: 20, RowLocks: true, Schedules: most})
		tsqltest.Explore(t, s, tsqltest.Exploration{Random: true, Plans: 20, RowLocks: true, Seeks: true, Schedules: most})
	}
}

func fails(t *testing.T, known interleave.Scenario, s tsqltest.Scenario) {
	t.Helper()
	f, err := known.Confirm(func(o tsqltest.Exploration) *tsqltest.Report { return tsqltest.Search(t, s, o) })
	if err != nil {
		t.Errorf("review %d: %v", known.Known.Review, err)
	}
	t.Log(f)
}

// Several who want the same do not get the same, nor lose anything, on a server that ignores hints: correctness does
// not rest on them (rule Q3).
func TestExploreWithoutHints(t *testing.T) { //nolint:tparallel // the scenarios share a server
	t.Parallel()
	script, err := interleave.WithoutHints(mssqltest.Amendment(t))
	if err != nil {
		t.Fatal(err)
	}
	lab := interleave.NewLab(t, interleave.Variant{Amend: script})
	for _, s := range interleave.Claims() { //nolint:paralleltest // they share a server
		t.Run(s.Name, func(t *testing.T) { holds(t, lab.Scenario(t, s), false) })
	}
}

// Fetches get what there is, and nobody gets what another one got, also where writes look at committed versions of rows
// before they wait for a lock: as in Azure SQL Database.
func TestExploreOptimizedLocking(t *testing.T) { //nolint:tparallel // the scenarios share a server
	t.Parallel()
	lab := interleave.NewLab(t, interleave.Variant{RowVersions: true, OptimizedLocking: true, Amend: mssqltest.Amendment(t)})
	for _, s := range interleave.WithOptimizedLocking() { //nolint:paralleltest // they share a server
		t.Run(s.Name, func(t *testing.T) { holds(t, lab.Scenario(t, s), false) })
	}
}
