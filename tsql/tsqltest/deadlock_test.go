package tsqltest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

const shopTables = `
CREATE TABLE dbo.items (id INT NOT NULL CONSTRAINT pk_items PRIMARY KEY, kind INT NOT NULL, n INT NOT NULL);
CREATE INDEX ix_kind ON dbo.items (kind);
INSERT INTO dbo.items (id, kind, n) VALUES (1, 20, 0), (2, 10, 0);
CREATE TABLE dbo.stock (id INT NOT NULL CONSTRAINT pk_stock PRIMARY KEY, n INT NOT NULL);
INSERT INTO dbo.stock (id, n) VALUES (1, 0);
CREATE TABLE dbo.parents (id INT NOT NULL CONSTRAINT pk_parents PRIMARY KEY);
INSERT INTO dbo.parents (id) VALUES (1), (2);
CREATE TABLE dbo.children (id INT NOT NULL CONSTRAINT pk_children PRIMARY KEY, parent INT NOT NULL REFERENCES dbo.parents (id));
CREATE TABLE dbo.names (id INT NOT NULL CONSTRAINT pk_names PRIMARY KEY, name VARCHAR(10) NOT NULL CONSTRAINT uq_name UNIQUE);
CREATE TABLE dbo.pile (id INT NOT NULL, n INT NOT NULL);
INSERT INTO dbo.pile (id, n) VALUES (1, 0), (2, 0);`

// graphs are the textbook's deadlocks. What comes of them is in testdata/deadlocks.txtar.
var graphs = []struct {
	name     string
	ada, bob []string
}{
	{
		name: "a reader that looks rows up and a writer",
		ada:  []string{"SELECT n FROM dbo.items WITH (INDEX (ix_kind)) WHERE kind = 20"},
		bob:  []string{"UPDATE dbo.items SET kind = 30, n = 1 WHERE id = 1"},
	},
	{
		name: "two tables",
		ada:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 1 WHERE id = 1", "UPDATE dbo.stock SET n = 1 WHERE id = 1", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "UPDATE dbo.stock SET n = 2 WHERE id = 1", "UPDATE dbo.items SET n = 2 WHERE id = 1", "COMMIT"},
	},
	{
		name: "two rows of a heap",
		ada:  []string{"BEGIN TRANSACTION", "UPDATE dbo.pile SET n = 1 WHERE id = 1", "UPDATE dbo.pile SET n = 1 WHERE id = 2", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "UPDATE dbo.pile SET n = 2 WHERE id = 2", "UPDATE dbo.pile SET n = 2 WHERE id = 1", "COMMIT"},
	},
	{
		name: "writers that read each other's row",
		ada:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 1 WHERE id = 1", "SELECT n FROM dbo.items WHERE id = 2", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 1 WHERE id = 2", "SELECT n FROM dbo.items WHERE id = 1", "COMMIT"},
	},
	{
		name: "REPEATABLE READ: both have read what both write",
		ada:  repeatable("UPDATE dbo.stock SET n = 1 WHERE id = 1"),
		bob:  repeatable("UPDATE dbo.stock SET n = 2 WHERE id = 1"),
	},
	{
		name: "one has read what the other holds to change it",
		ada:  []string{"BEGIN TRANSACTION", "SELECT n FROM dbo.stock WITH (UPDLOCK) WHERE id = 1", "UPDATE dbo.stock SET n = 1 WHERE id = 1", "COMMIT"},
		bob:  repeatable("UPDATE dbo.stock SET n = 2 WHERE id = 1"),
	},
	{
		name: "SERIALIZABLE: both have found nothing and insert",
		ada:  []string{"BEGIN TRANSACTION", "IF NOT EXISTS (SELECT 1 FROM dbo.stock WITH (HOLDLOCK) WHERE id = 5) INSERT INTO dbo.stock (id, n) VALUES (5, 1)", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "IF NOT EXISTS (SELECT 1 FROM dbo.stock WITH (HOLDLOCK) WHERE id = 6) INSERT INTO dbo.stock (id, n) VALUES (6, 1)", "COMMIT"},
	},
	{
		name: "SERIALIZABLE: both have read the range that both write",
		ada:  []string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN TRANSACTION", "SELECT SUM(n) FROM dbo.stock", "UPDATE dbo.stock SET n = 1 WHERE id = 1", "COMMIT"},
		bob:  []string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN TRANSACTION", "SELECT SUM(n) FROM dbo.stock", "UPDATE dbo.stock SET n = 2 WHERE id = 1", "COMMIT"},
	},
	{
		name: "an upsert under UPDLOCK and HOLDLOCK",
		ada:  upsert,
		bob:  upsert,
	},
	{
		name: "unique keys in opposite orders",
		ada:  []string{"BEGIN TRANSACTION", "INSERT INTO dbo.names (id, name) VALUES (1, 'x')", "INSERT INTO dbo.names (id, name) VALUES (2, 'y')", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "INSERT INTO dbo.names (id, name) VALUES (3, 'y')", "INSERT INTO dbo.names (id, name) VALUES (4, 'x')", "COMMIT"},
	},
	{
		name: "both want the table",
		ada:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 1 WHERE id = 1", "SELECT COUNT(*) FROM dbo.items WITH (TABLOCK)", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 2 WHERE id = 2", "SELECT COUNT(*) FROM dbo.items WITH (TABLOCK)", "COMMIT"},
	},
	{
		name: "application locks",
		ada:  []string{"BEGIN TRANSACTION", applock("a"), applock("b"), "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", applock("b"), applock("a"), "COMMIT"},
	},
	{
		name: "an application lock and a row",
		ada:  []string{"BEGIN TRANSACTION", applock("a"), "UPDATE dbo.stock SET n = 1 WHERE id = 1", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "UPDATE dbo.stock SET n = 2 WHERE id = 1", applock("a"), "COMMIT"},
	},
	{
		name: "foreign keys",
		ada:  []string{"BEGIN TRANSACTION", "DELETE FROM dbo.parents WHERE id = 1", "INSERT INTO dbo.children (id, parent) VALUES (1, 2)", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "DELETE FROM dbo.parents WHERE id = 2", "INSERT INTO dbo.children (id, parent) VALUES (2, 1)", "COMMIT"},
	},
	{
		name: "two statements that go through other indexes",
		ada:  []string{"UPDATE i SET n = 1 FROM dbo.items AS i WITH (INDEX (pk_items))"},
		bob:  []string{"UPDATE i SET n = 2 FROM dbo.items AS i WITH (INDEX (ix_kind))"},
	},
	{
		name: "one through the index and one that changes it",
		ada:  []string{"UPDATE i SET n = 1 FROM dbo.items AS i WITH (INDEX (ix_kind)) WHERE i.kind = 20"},
		bob:  []string{"UPDATE dbo.items SET kind = 30 WHERE id = 1"},
	},
	{
		name: "a definition and a reader",
		ada:  []string{"BEGIN TRANSACTION", "ALTER TABLE dbo.stock ADD a INT NULL", "SELECT COUNT(*) FROM dbo.names", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "INSERT INTO dbo.names (id, name) VALUES (1, 'x')", "SELECT COUNT(*) FROM dbo.stock", "COMMIT"},
	},
	{
		name: "writers that search in vain",
		ada:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 1 WHERE id = 1", "UPDATE dbo.items SET n = 1 WHERE n = 7", "COMMIT"},
		bob:  []string{"BEGIN TRANSACTION", "UPDATE dbo.items SET n = 2 WHERE id = 2", "UPDATE dbo.items SET n = 1 WHERE n = 7", "COMMIT"},
	},
}

// repeatable reads a row and keeps its lock.
func repeatable(then string) []string {
	return []string{"BEGIN TRANSACTION", "SELECT n FROM dbo.stock WITH (REPEATABLEREAD) WHERE id = 1", then, "COMMIT"}
}

var upsert = []string{"BEGIN TRANSACTION", `UPDATE dbo.stock WITH (UPDLOCK, HOLDLOCK) SET n = n + 1 WHERE id = 5;
	IF @@ROWCOUNT = 0 INSERT INTO dbo.stock (id, n) VALUES (5, 1)`, "COMMIT"}

func applock(name string) string {
	return "DECLARE @r INT; EXEC @r = sp_getapplock '" + name + "', 'Exclusive'; IF @r < 0 THROW 51205, 'no lock', 1"
}

// settings are the four ways to set a database up, as the file of graphs calls them.
var settings = []struct {
	name    string
	options tsqltest.Options
}{
	{"locks", tsqltest.Options{}},
	{"row versions", tsqltest.Options{RowVersions: true}},
	{"optimized locking", tsqltest.Options{OptimizedLocking: true}},
	{"row versions and optimized locking", tsqltest.Options{RowVersions: true, OptimizedLocking: true}},
}

// The textbook's deadlocks, lock by lock, as the graphs of SQL Server show them: all orders end in one of these or in
// none.
func TestDeadlockGraphs(t *testing.T) {
	t.Parallel()
	file, err := txtar.ParseFile("testdata/deadlocks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Files) != len(graphs) {
		t.Errorf("the file has %d cases, want %d", len(file.Files), len(graphs))
	}
	for i, g := range graphs {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, s := range settings {
				fmt.Fprintf(&got, "%s:\n", s.name)
				for _, graph := range deadlocks(t, s.options, g.ada, g.bob) {
					fmt.Fprintf(&got, "  %s\n", graph)
				}
			}
			if want := file.Files[i]; want.Name != g.name || string(want.Data) != got.String() {
				t.Errorf("got\n-- %s --\n%swant\n-- %s --\n%s", g.name, got.String(), want.Name, want.Data)
			}
		})
	}
}

// deadlocks are the graphs of the deadlocks that two sessions can get into, without who the victim was.
func deadlocks(t *testing.T, options tsqltest.Options, ada, bob []string) []string {
	t.Helper()
	found := map[string]bool{}
	tsqltest.Explore(t, tsqltest.Scenario{
		Options: options, Setup: script(shopTables), Sessions: steps(ada, bob), Allow: []int32{1205, 547, 2627, 51205},
		Check: func(e *tsqltest.End) error {
			for _, d := range e.Deadlocks() {
				lines := make([]string, len(d.Waits))
				for i, w := range d.Waits {
					lines[i] = w.String()
				}
				found[strings.Join(lines, "\n  ")] = true
			}
			return nil
		},
	}, tsqltest.Exploration{Preemptions: 1})
	return slices.Sorted(maps.Keys(found))
}

// Server.Deadlocks tells the deadlocks of sessions by their numbers.
func TestServerDeadlocks(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	ada, bob := session(t, server), session(t, server)
	must(t, ada, shopTables)
	must(t, bob, "SET DEADLOCK_PRIORITY LOW")
	must(t, ada, "BEGIN TRANSACTION; UPDATE dbo.items SET n = 1 WHERE id = 1")
	must(t, bob, "BEGIN TRANSACTION; UPDATE dbo.stock SET n = 1 WHERE id = 1")
	done := make(chan error)
	go func() {
		_, err := ada.Exec(t.Context(), "UPDATE dbo.stock SET n = 2 WHERE id = 1")
		done <- err
	}()
	_, err := bob.Exec(t.Context(), "UPDATE dbo.items SET n = 2 WHERE id = 1")
	wantError(t, err, 1205)
	if err := <-done; err != nil {
		t.Error(err)
	}
	a, b := fmt.Sprint(spid(t, ada)), fmt.Sprint(spid(t, bob))
	want := tsqltest.Deadlock{Victim: b, Waits: []tsqltest.DeadlockWait{
		{Session: a, Resource: "KEY dbo.stock.pk_stock (1)", Mode: "U", Owner: b, OwnerMode: "X"},
		{Session: b, Resource: "KEY dbo.items.pk_items (1)", Mode: "U", Owner: a, OwnerMode: "X"},
	}}
	if got := server.Deadlocks(); len(got) != 1 || got[0].String() != want.String() {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A failure shows its deadlocks, with the names of the sessions; a circle that a LOCK_TIMEOUT has ended is one of them.
func TestExploreTellsDeadlocks(t *testing.T) {
	t.Parallel()
	s := tsqltest.Scenario{Setup: script(accounts), Sessions: steps(transfer(1, 2), transfer(2, 1))}
	r := tsqltest.Search(t, s, tsqltest.Exploration{})
	const wait = "ada waits for U on KEY dbo.accounts.pk_accounts (2); bob has X"
	if r.Failure == nil || !strings.Contains(r.Failure.Table, "deadlock, victim") || !strings.Contains(r.Failure.Table, wait) {
		t.Errorf("%v", r.Failure)
	}
	impatient := append([]string{"SET LOCK_TIMEOUT 100"}, transfer(1, 2)...)
	timedOut := 0
	tsqltest.Explore(t, tsqltest.Scenario{
		Setup: script(accounts), Sessions: steps(impatient, transfer(2, 1)), Allow: []int32{1222, 1205},
		Check: func(e *tsqltest.End) error {
			for _, d := range e.Deadlocks() {
				if d.TimedOut && d.Victim == "ada" {
					timedOut++
				}
			}
			return nil
		},
	}, tsqltest.Exploration{Preemptions: 1})
	if timedOut == 0 {
		t.Error("no LOCK_TIMEOUT has ended a circle")
	}
}
