package tsqltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// shelves are two tables of which two sessions change different rows, in opposite orders.
const shelves = `
CREATE TABLE dbo.a (id INT NOT NULL CONSTRAINT pk_a PRIMARY KEY, n INT NOT NULL);
CREATE TABLE dbo.b (id INT NOT NULL CONSTRAINT pk_b PRIMARY KEY WITH (ALLOW_PAGE_LOCKS = %s), n INT NOT NULL);
INSERT INTO dbo.a VALUES (1, 0), (2, 0); INSERT INTO dbo.b VALUES (1, 0), (2, 0);`

// both are a transaction of two statements.
func both(first, second string) []string {
	return []string{"BEGIN TRANSACTION; " + first + "; " + second, "COMMIT"}
}

// TestExploreGrains checks that other plans begin with locks on rows, pages and tables, where hints and indexes allow
// it, and that sessions are in each other's way then although they touch different rows.
func TestExploreGrains(t *testing.T) {
	t.Parallel()
	change := func(table, hints string, id int) string {
		return fmt.Sprintf("UPDATE dbo.%s %s SET n = 1 WHERE id = %d", table, hints, id)
	}
	insert := func(table, hints string, id int) string {
		return fmt.Sprintf("INSERT INTO dbo.%s %s VALUES (%d, 1)", table, hints, id)
	}
	for _, tt := range []struct {
		name      string
		statement func(table, hints string, id int) string
		hints     string
		pages     string
		rowLocks  bool
		want      []string // one of these is in the failure; none: there is no failure
		not       string   // is not in it
	}{
		{name: "rows by the option", statement: change, rowLocks: true},
		{name: "rows by hints", statement: change, hints: "WITH (ROWLOCK)"},
		{name: "inserted rows by hints", statement: insert, hints: "WITH (ROWLOCK)"},
		{name: "any", statement: change, want: []string{"(page)", "X dbo.b", "X dbo.a"}},
		{name: "pages by hints", statement: change, hints: "WITH (PAGLOCK)", want: []string{"pk_a (page)", "pk_b (page)"}, not: "X dbo.a\n"},
		{name: "inserted pages by hints", statement: insert, hints: "WITH (PAGLOCK)", want: []string{"pk_a (page)", "pk_b (page)"}},
		{name: "an index without pages", statement: change, pages: "OFF", want: []string{"X dbo.b"}, not: "pk_b (page)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.pages == "" {
				tt.pages = "ON"
			}
			// Inserted rows are new ones.
			ada, bob := 1, 2
			if strings.HasPrefix(tt.name, "inserted") {
				ada, bob = 11, 12
			}
			s := tsqltest.Scenario{
				Setup: script(fmt.Sprintf(shelves, tt.pages)),
				Sessions: steps(both(tt.statement("a", tt.hints, ada), tt.statement("b", tt.hints, ada)),
					both(tt.statement("b", tt.hints, bob), tt.statement("a", tt.hints, bob))),
			}
			r := tsqltest.Search(t, s, tsqltest.Exploration{Plans: 40, Preemptions: 1, RowLocks: tt.rowLocks, Seeks: true})
			if len(tt.want) == 0 {
				if r.Failure != nil {
					t.Error(r.Failure)
				}
				return
			}
			if r.Failure == nil {
				t.Fatalf("nothing was found in %d schedules", r.Schedules)
			}
			found := false
			for _, want := range tt.want {
				found = found || strings.Contains(r.Failure.Table, want)
			}
			if !found || tt.not != "" && strings.Contains(r.Failure.Table, tt.not) {
				t.Errorf("want one of %q, and not %q: %v", tt.want, tt.not, r.Failure)
			}
			again := tsqltest.Search(t, s, tsqltest.Exploration{Repeat: r.Failure.Repeat})
			if again.Failure == nil || again.Failure.Table != r.Failure.Table {
				t.Errorf("%s repeats another schedule: %v", r.Failure.Repeat, again.Failure)
			}
		})
	}
}

// TestExploreScans checks that other plans scan what could be sought, unless a hint or the option forbids it, and that
// the text of a schedule repeats such a plan.
func TestExploreScans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, hint  string
		exploration tsqltest.Exploration
		fails       string
	}{
		{name: "any", exploration: tsqltest.Exploration{Plans: 20}, fails: "plan "},
		{name: "with locks on rows", exploration: tsqltest.Exploration{Plans: 20, RowLocks: true}, fails: " locking rows: "},
		{name: "by the option", exploration: tsqltest.Exploration{Plans: 20, Seeks: true}},
		{name: "by a hint", hint: "WITH (FORCESEEK)", exploration: tsqltest.Exploration{Plans: 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tsqltest.Scenario{
				Setup:    script(fmt.Sprintf(shelves, "ON")),
				Sessions: steps([]string{"UPDATE a SET n = 1 FROM dbo.a AS a " + tt.hint + " WHERE a.id = 1"}, nil),
				Check: func(e *tsqltest.End) error {
					if scans := e.Keys("ada").Where(func(k tsqltest.KeyCount) bool { return k.Access == "scan" }); len(scans) > 0 {
						return fmt.Errorf("scanned: %v", scans)
					}
					return nil
				},
			}
			r := tsqltest.Search(t, s, tt.exploration)
			if tt.fails == "" {
				if r.Failure != nil {
					t.Error(r.Failure)
				}
				return
			}
			if r.Failure == nil || !strings.Contains(r.Failure.Repeat, tt.fails) {
				t.Fatalf("no %q in %v", tt.fails, r.Failure)
			}
			again := tsqltest.Search(t, s, tsqltest.Exploration{Repeat: r.Failure.Repeat})
			if again.Failure == nil || again.Failure.Repeat != r.Failure.Repeat {
				t.Errorf("got %v, want %v", again.Failure, r.Failure)
			}
		})
	}
}

// TestReadPastWaitsForPages checks that READPAST passes over rows and not over pages.
func TestReadPastWaitsForPages(t *testing.T) {
	t.Parallel()
	rows, pages := map[string]int{}, 0
	tsqltest.Explore(t, tsqltest.Scenario{
		Setup: script(fmt.Sprintf(shelves, "ON")),
		Sessions: steps([]string{"BEGIN TRANSACTION; UPDATE dbo.a WITH (ROWLOCK) SET n = 1 WHERE id = 1", "COMMIT"},
			[]string{"SELECT COUNT(*) FROM dbo.a WITH (READPAST, UPDLOCK, PAGLOCK)"}),
		Check: func(e *tsqltest.End) error {
			k := e.Keys("bob")[0]
			if rows[k.Mode] += k.Skipped; k.Mode == "" {
				pages++
			}
			return nil
		},
	}, tsqltest.Exploration{Plans: 3, Every: true})
	// By the planner's own plan, PAGLOCK locks rows.
	if rows["U"] == 0 || rows[""] > 0 || pages == 0 {
		t.Errorf("skipped: %v; pages were locked %d times", rows, pages)
	}
}

// TestInhibitedGrains checks the error for a hint that the options of an index do not allow.
func TestInhibitedGrains(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	conn := session(t, server)
	must(t, conn, "CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY WITH (ALLOW_PAGE_LOCKS = OFF), n INT NOT NULL, INDEX ix_n (n) WITH (ALLOW_ROW_LOCKS = OFF))")
	for _, batch := range []string{
		"SELECT n FROM dbo.t WITH (PAGLOCK) WHERE id = 1", "INSERT INTO dbo.t WITH (PAGLOCK) VALUES (1, 1)",
		"SELECT n FROM dbo.t WITH (ROWLOCK, INDEX (ix_n)) WHERE n = 1",
	} {
		_, err := conn.Exec(t.Context(), batch)
		wantError(t, err, 651)
	}
	must(t, conn, "INSERT INTO dbo.t WITH (ROWLOCK) VALUES (1, 1); SELECT n FROM dbo.t WITH (PAGLOCK, INDEX (ix_n)) WHERE n = 1")
}
