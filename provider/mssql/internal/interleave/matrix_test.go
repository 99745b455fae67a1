package interleave

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// exploration is how many orders of each scenario are tried: DUROXIDE_SCHEDULES or a few, by the planner's plans and by
// as many others as DUROXIDE_PLANS says.
func exploration(t *testing.T) tsqltest.Exploration {
	t.Helper()
	number := func(name string, other int) int {
		text := os.Getenv(name)
		if text == "" {
			return other
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			t.Fatalf("%s is %q", name, text)
		}
		return n
	}
	e := tsqltest.Exploration{Random: true, Plans: number("DUROXIDE_PLANS", 0), RowLocks: true, Seeks: true}
	e.Schedules = number("DUROXIDE_SCHEDULES", 3) * (e.Plans + 1)
	return e
}

// Every operation beside every other ends as one after the other does, whatever the database's variant. By default each
// scenario is tried in one of the variants, and with DUROXIDE_SCHEDULES in all. DUROXIDE_SCENARIOS is a regular
// expression for the names of those that are tried.
func TestMatrix(t *testing.T) {
	t.Parallel()
	e := exploration(t)
	variants := []Variant{{}, {RowVersions: true}, {RowVersions: true, OptimizedLocking: true}}
	list, every := Matrix(), len(variants) // of which each variant has one
	if only, err := regexp.Compile(os.Getenv("DUROXIDE_SCENARIOS")); err != nil {
		t.Fatal(err)
	} else {
		list = slices.DeleteFunc(list, func(s Scenario) bool { return !only.MatchString(s.Name) })
	}
	switch {
	case racing.Part():
		every = 50
	case os.Getenv("DUROXIDE_SCHEDULES") != "":
		every = 1
	}
	for i, v := range variants {
		t.Run(fmt.Sprintf("%+v", v), func(t *testing.T) {
			t.Parallel()
			v.OtherPlans = e.Plans > 0
			lab, e := NewLab(t, v), e
			e.Seed = uint64(i + 1)
			for at, s := range list {
				if at%every != i%every {
					continue
				}
				if r := tsqltest.Search(t, lab.Scenario(t, s), e); r.Failure != nil {
					t.Errorf("%s: %v", s.Name, r.Failure)
				}
			}
		})
	}
}

// A deadlock that a call tells in a result set fails the scenario, whatever else it tells; what waited too long is
// called again.
func TestToldErrors(t *testing.T) {
	t.Parallel()
	refused := func(numbers ...int64) *tsqltest.Result {
		set := tsqltest.Set{Columns: []string{"position", "error_number", "error_message"}}
		for i, n := range numbers {
			set.Rows = append(set.Rows, []any{int64(i), n, "why"})
		}
		return &tsqltest.Result{Sets: []tsqltest.Set{set}}
	}
	for _, test := range []struct {
		result        *tsqltest.Result
		again, failed bool
	}{
		{refused(), false, false},
		{refused(50010, 50011), false, false},
		{refused(1222, 50010), true, false},
		{refused(2627), true, true},
		{refused(1205, 1222), false, true},
		{refused(1222, 1205), false, true},
		{&tsqltest.Result{Sets: []tsqltest.Set{{Columns: []string{"error_number"}, Rows: [][]any{{int64(1222)}}}}}, false, false},
		{&tsqltest.Result{Sets: []tsqltest.Set{{Columns: []string{"error_number"}, Rows: [][]any{{int64(1205)}}}}}, false, true},
	} {
		if again, err := told(test.result); again != test.again || (err != nil) != test.failed {
			t.Errorf("%v: again %t, %v", test.result.Sets, again, err)
		}
	}
}

// Every operation does its work in the world of the matrix, and leaves a store that is sound and from which all is
// fetched.
func TestOperations(t *testing.T) {
	t.Parallel()
	lab := NewLab(t, Variant{})
	before := after(t, lab, "SELECT 1;")
	for at, o := range operations() {
		if racing.Part() && at%10 != 0 {
			continue
		}
		d := after(t, lab, o.batch("a", 1))
		idle := o.reads || o.name == "enqueue and roll back"
		if changes := d != before; changes == idle {
			t.Errorf("%s: said to change nothing: %t; but it does:%s", o.name, idle, compare(d, before))
		}
	}
}

// after is the digest of the world after a batch.
func after(t *testing.T, lab *Lab, batch string) (d string) {
	t.Helper()
	tsqltest.Explore(t, tsqltest.Scenario{
		Base: lab.world(), Sessions: []tsqltest.Session{does("one", batch)},
		Check: func(e *tsqltest.End) (err error) {
			if err := consistent(e); err != nil {
				return err
			}
			if d, err = digestOf(e); err != nil {
				return err
			}
			return drains(e)
		},
	}, tsqltest.Exploration{Preemptions: -1})
	return d
}

// The matrix finds what is wrong with procedures: one that forgets to make an instance ready, one that writes what it
// has read before.
func TestMatrixFindsDefects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		amend string
		among []string
	}{
		"an abandon that does not ready the instance": {
			amend: `
CREATE OR ALTER PROCEDURE duroxide.abandon_orchestration_item @instance_id NVARCHAR(400), @lock_token UNIQUEIDENTIFIER, @delay_ms BIGINT, @give_back BIT, @misfit NVARCHAR(MAX) = NULL
AS
UPDATE duroxide.inboxes SET lock_token = NULL, locked_until = NULL, wake_at = NULL, head_id = NULL WHERE lock_token = @lock_token;`,
			among: []string{"enqueue turn", "abandon turn"},
		},
		"a renewal in two steps": {
			amend: `
CREATE OR ALTER PROCEDURE duroxide.renew_orchestration_item_lock @instance_id NVARCHAR(400), @lock_token UNIQUEIDENTIFIER, @extend_ms BIGINT
AS
DECLARE @id NVARCHAR(400), @until BIGINT;
SELECT @id = b.instance_id, @until = b.locked_until FROM duroxide.inboxes AS b WHERE b.lock_token = @lock_token;
UPDATE duroxide.inboxes SET lock_token = @lock_token, locked_until = @until + @extend_ms, wake_at = @until + @extend_ms, head_id = NULL WHERE instance_id = @id;`,
			among: []string{"ack turn", "renew turn"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := NewLab(t, Variant{Amend: tt.amend})
			if r := tsqltest.Search(t, lab.Scenario(t, among(tt.among)), tsqltest.Exploration{}); r.Failure == nil {
				t.Error("not found")
			}
		})
	}
}

// migrate.Up replaces procedures while they are at work, by two processes at once: nobody notices. Two migrate an empty
// database, and one of them does all of it.
func TestMigrations(t *testing.T) {
	t.Parallel()
	if racing.Part() {
		t.Skip("SKIPPED: it takes long, and the detector of races finds nothing in it")
	}
	e := exploration(t)
	e.Plans = 0
	first := e
	first.Schedules *= 3 // it takes five to see that they wait for each other
	tsqltest.Explore(t, firstMigrations(), first)
	lab := NewLab(t, Variant{})
	for _, s := range Migrations() {
		if r := tsqltest.Search(t, lab.Scenario(t, s), e); r.Failure != nil {
			t.Errorf("%s: %v", s.Name, r.Failure)
		}
	}
}
