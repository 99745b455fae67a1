package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// run executes a statement of a test, which names the schema duroxide as scripts do.
func run(t *testing.T, m *Migration, statement string) {
	t.Helper()
	if _, err := m.DB.ExecContext(t.Context(), rewrite(statement, m.schema())); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// number runs a query that returns one.
func number(t *testing.T, m *Migration, query string) int {
	t.Helper()
	var n int
	if err := m.DB.QueryRowContext(t.Context(), rewrite(query, m.schema())).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// records returns all that the three tables say, times included.
func records(t *testing.T, m *Migration) []string {
	t.Helper()
	var rows []string
	for _, query := range []string{
		"SELECT CONCAT(version, ' ', name), checksum, applied_at FROM duroxide.migrations ORDER BY version",
		"SELECT CONCAT(name, ' ', kind), server_checksum, applied_at FROM duroxide.modules ORDER BY name",
		"SELECT CONCAT(revision, ' ', oldest, ' ', complete), CAST(NULL AS VARBINARY(32)), applied_at FROM duroxide.revisions ORDER BY revision",
	} {
		rows = append(rows, recordsOf(t, m, query)...)
	}
	return rows
}

func recordsOf(t *testing.T, m *Migration, query string) (rows []string) {
	t.Helper()
	found, err := m.DB.QueryContext(t.Context(), rewrite(query, m.schema()))
	must(t, err)
	defer func() { must(t, found.Close()) }()
	for found.Next() {
		var name string
		var checksum []byte
		var at int64
		must(t, found.Scan(&name, &checksum, &at))
		rows = append(rows, fmt.Sprintf("%s %x %d", name, checksum, at))
	}
	must(t, found.Err())
	return rows
}

// TestPresentScripts takes the scripts of this release from nothing to nothing. Applying
// everything twice changes nothing (rule P8), and what is dropped is gone.
func TestPresentScripts(t *testing.T) {
	t.Parallel()
	m := newMigration(t, thisRelease(t))
	if done := up(t, m); len(done) < m.release.version() {
		t.Errorf("the first time did only %v", done)
	}
	clean(t, m)
	before := records(t, m)
	if again := up(t, m); len(again) != 0 {
		t.Errorf("the second time did %v", again)
	}
	if diff := cmp.Diff(before, records(t, m)); diff != "" {
		t.Error(diff)
	}
	if n := number(t, m, `
SELECT COUNT(*) FROM duroxide.v_migrations AS v
INNER JOIN duroxide.migrations AS s ON s.version = v.version
WHERE v.kind = N'SCRIPT' AND DATEDIFF_BIG(MILLISECOND, '19700101', v.applied_at) = s.applied_at`); n != m.release.version() {
		t.Errorf("the view has the right time for %d scripts, want all %d", n, m.release.version())
	}
	drop(t, m)
	for what, query := range map[string]string{
		"schema": "SELECT COUNT(*) FROM sys.schemas AS s WHERE s.name = N'duroxide'",
		"role":   "SELECT COUNT(*) FROM sys.database_principals AS p WHERE p.name = N'duroxide_runtime'",
	} {
		if n := number(t, m, query); n != 0 {
			t.Errorf("the %s is still there", what)
		}
	}
}

// TestUpFromManyProcesses starts eight at once, each with a pool of its own. Together
// they take every step once.
func TestUpFromManyProcesses(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	plan, err := m.Plan(t.Context())
	must(t, err)
	want := stepNames(plan)

	var mu sync.Mutex
	var done []string
	var group errgroup.Group
	start := make(chan struct{})
	for range 8 {
		other := &Migration{DB: openServer(t), Schema: m.Schema, release: m.release}
		group.Go(func() error {
			<-start
			plan, err := other.Up(t.Context())
			mu.Lock()
			defer mu.Unlock()
			done = append(done, stepNames(plan)...)
			return err
		})
	}
	close(start)
	must(t, group.Wait())
	if diff := cmp.Diff(want, done); diff != "" {
		t.Error(diff)
	}
	clean(t, m)
}

// TestUpGoesOnAfterACut ends the migration before and after the commit of every step,
// in turn, and calls it again each time.
func TestUpGoesOnAfterACut(t *testing.T) {
	t.Parallel()
	// Less is enough: the first step, one of each kind, and the last.
	m := newMigration(t, releaseOne.with(tree{
		"schema/0002_storage.sql": "-- after: modules\nDROP INDEX ix_things_tag ON duroxide.things;\n",
		"schema/0003_role.sql":    "", "schema/views/red_things.sql": "", "procedures/count_red_things.sql": "",
	}).load(t))
	plan, err := m.Plan(t.Context())
	must(t, err)
	errCut := errors.New("cut")
	for i, want := range plan.Steps {
		for _, at := range []cutPoint{cutBeforeCommit, cutAfterCommit} {
			m.cut = func(step Step, now cutPoint) error {
				if step.Name != want.Name {
					t.Errorf("step %d is %s, want %s", i, step.Name, want.Name)
				}
				if now == at {
					return errCut
				}
				return nil
			}
			if _, err := m.Up(t.Context()); !errors.Is(err, errCut) {
				t.Fatalf("step %s, cut %s: %v", want.Name, at, err)
			}
		}
	}
	m.cut = nil
	clean(t, m)
}

// TestUpStopsWithItsContext cancels in the middle of a step, which leaves nothing
// behind.
func TestUpStopsWithItsContext(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	ctx, cancel := context.WithCancel(t.Context())
	m.cut = func(step Step, at cutPoint) error {
		if step.Name == "schema/0001_things.sql" && at == cutBeforeCommit {
			cancel()
		}
		return nil
	}
	if _, err := m.Up(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	m.cut = nil
	if n := number(t, m, "SELECT COUNT(*) FROM duroxide.migrations"); n != 0 {
		t.Errorf("%d scripts are recorded", n)
	}
	up(t, m)
	clean(t, m)
}

// TestUpWaitsForTheLock has the context end while another process works.
func TestUpWaitsForTheLock(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	ctx, cancel := context.WithCancel(t.Context())
	other := &Migration{DB: openServer(t), Schema: strings.ToUpper(m.Schema), release: m.release}
	other.Log = slog.New(callHandler(func(message string) {
		if strings.Contains(message, "waiting for it") {
			cancel()
		}
	}))
	must(t, m.withLock(t.Context(), func(*session) error {
		if _, err := other.Up(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
		return nil
	}))
	if len(up(t, m)) == 0 {
		t.Error("the process that waited has migrated")
	}
}

// callHandler is a log handler that calls a function with every message.
type callHandler func(message string)

func (callHandler) Enabled(context.Context, slog.Level) bool { return true }
func (f callHandler) Handle(_ context.Context, r slog.Record) error {
	f(r.Message)
	return nil
}
func (f callHandler) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f callHandler) WithGroup(string) slog.Handler      { return f }

// TestUpRepeatsAStep loses twice against workers and wins at the third attempt.
func TestUpRepeatsAStep(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	losses := 2
	m.cut = func(step Step, at cutPoint) error {
		if step.Name == "procedures/add_thing.sql" && at == cutBeforeCommit && losses > 0 {
			losses--
			return serverError{number: numberDeadlock}
		}
		return nil
	}
	done := up(t, m)
	if losses != 0 || !slices.Contains(done, "procedures/add_thing.sql") {
		t.Errorf("%d losses are left; done: %v", losses, done)
	}
	clean(t, m)

	m.release = releaseOne.with(tree{"procedures/again.sql": "CREATE OR ALTER PROCEDURE duroxide.again AS SELECT 1 AS a;"}).load(t)
	attempts := 0
	m.cut = func(Step, cutPoint) error {
		attempts++
		return serverError{number: numberLockTimeout}
	}
	if _, err := m.Up(t.Context()); !isLockConflict(err) || attempts != maxAttempts {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
	m.cut = nil
}

// TestUpTellsWhatTheServerRefused has a script fail in its second batch.
func TestUpTellsWhatTheServerRefused(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.with(tree{
		"schema/0004_broken.sql": "CREATE TABLE duroxide.half (a INT NOT NULL);\nGO\n\nINSERT INTO duroxide.half (a)\nVALUES (NULL);\n",
	}).load(t))
	plan, err := m.Up(t.Context())
	var failed *BatchError
	var numbered interface{ SQLErrorNumber() int32 }
	if !errors.As(err, &failed) || !errors.As(err, &numbered) || numbered.SQLErrorNumber() != 515 {
		t.Fatalf("error %v, want a BatchError around the driver's 515", err)
	}
	if failed.File != "schema/0004_broken.sql" || failed.Line < 3 || failed.Line > 5 {
		t.Errorf("error %v is at %s:%d", err, failed.File, failed.Line)
	}
	if done := stepNames(plan); done[len(done)-1] != "schema/0003_role.sql" {
		t.Errorf("done: %v", done)
	}
	if n := number(t, m, "SELECT COUNT(*) FROM sys.tables AS t WHERE t.schema_id = SCHEMA_ID(N'duroxide') AND t.name = N'half'"); n != 0 {
		t.Error("half of the script was applied")
	}
	// The same script, repaired, goes on.
	m.release = releaseOne.load(t)
	up(t, m)
	clean(t, m)
}

// redefine gives a module another definition, as somebody on the server would.
func redefine(t *testing.T, m *Migration, kind, name, definition string) {
	t.Helper()
	run(t, m, "DROP "+kind+" duroxide."+name)
	run(t, m, definition)
}

// TestUpRepairsModules edits and drops modules by hand.
func TestUpRepairsModules(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	up(t, m)
	redefine(t, m, "PROCEDURE", "count_red_things", "CREATE PROCEDURE duroxide.count_red_things AS SELECT 99 AS things")
	run(t, m, "DROP PROCEDURE duroxide.add_thing")
	run(t, m, "CREATE PROCEDURE duroxide.somebody_elses AS SELECT 1 AS a")

	must(t, m.Check(t.Context())) // it cannot see the edit
	problems, err := m.Verify(t.Context())
	must(t, err)
	want := []Problem{
		{ProblemMissingModule, "add_thing", "it is missing on the server; `duroxide migrate up` repairs it"},
		{ProblemEditedModule, "count_red_things", "it was edited on the server; `duroxide migrate up` repairs it"},
		{ProblemExtraModule, "somebody_elses", "is not ours; it stays"},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}

	var log bytes.Buffer
	m.Log = slog.New(slog.NewTextHandler(&log, nil))
	if diff := cmp.Diff([]string{"procedures/add_thing.sql", "procedures/count_red_things.sql"}, up(t, m)); diff != "" {
		t.Error(diff)
	}
	if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "edited on the server") {
		t.Errorf("the log should have one warning:\n%s", log.String())
	}
	run(t, m, "DROP PROCEDURE duroxide.somebody_elses")
	clean(t, m)
	run(t, m, "EXEC duroxide.add_thing 1, N'red'")
	if n := number(t, m, "EXEC duroxide.count_red_things"); n != 1 {
		t.Errorf("%d red things, want 1", n)
	}
}

// TestUpRestoresGrants takes rights away from the roles, and a role from another, beside an edit.
func TestUpRestoresGrants(t *testing.T) {
	t.Parallel()
	m := newMigration(t, nil)
	if number(t, m, "SELECT COUNT(*) FROM sys.database_permissions") == 0 {
		t.Skip("the server does not tell what was granted")
	}
	up(t, m)
	lose := func(right, object, role string) {
		run(t, m, fmt.Sprintf("REVOKE %s ON %s FROM %s;", right, object, Quote(role)))
	}
	lose("EXECUTE", "duroxide.start_instance", RoleName(m.Schema))
	lose("EXECUTE", "duroxide.delete_trees", AdminRoleName(m.Schema))
	lose("EXECUTE", "TYPE::duroxide.event_list_v1", RoleName(m.Schema))
	lose("VIEW DEFINITION", "duroxide.history", ReaderRoleName(m.Schema))
	run(t, m, fmt.Sprintf("ALTER ROLE %s DROP MEMBER %s;", Quote(RoleName(m.Schema)), Quote(AdminRoleName(m.Schema))))
	run(t, m, "DROP PROCEDURE duroxide.read_history")
	if diff := cmp.Diff([]string{"procedures/read_history.sql", "grants"}, up(t, m)); diff != "" {
		t.Error(diff)
	}
	missing, err := m.MissingGrants(t.Context())
	must(t, err)
	if len(missing) > 0 {
		t.Errorf("still missing: %q", missing)
	}
	clean(t, m)
}

// TestUpRepairsAFunction edits one that a view reads.
func TestUpRepairsAFunction(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	up(t, m)
	run(t, m, "DROP VIEW duroxide.red_things")
	redefine(t, m, "FUNCTION", "things_of", "CREATE FUNCTION duroxide.things_of (@tag NVARCHAR(10)) RETURNS TABLE AS RETURN (SELECT 5 AS id)")
	up(t, m)
	clean(t, m)
	if n := number(t, m, "SELECT COUNT(*) FROM duroxide.red_things"); n != 0 {
		t.Errorf("%d red things, want none", n)
	}
}

// TestVerifyFindsPageLocks turns on what an index must not have.
func TestVerifyFindsPageLocks(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	up(t, m)
	run(t, m, "ALTER INDEX pk_things ON duroxide.things SET (ALLOW_PAGE_LOCKS = ON)")
	problems, err := m.Verify(t.Context())
	must(t, err)
	if len(problems) != 1 || problems[0].Kind != ProblemPageLocks || problems[0].Object != "pk_things" {
		t.Fatalf("problems %v, want pk_things's page locks", problems)
	}
	_, statement, _ := strings.Cut(problems[0].Detail, "; ")
	run(t, m, statement)
	clean(t, m)
}

// TestDropLeavesWhatIsNotOurs makes sure that a stranger's objects survive.
func TestDropLeavesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	run(t, m, "CREATE SCHEMA duroxide")
	drop(t, m) // never migrated
	run(t, m, "CREATE TABLE duroxide.strangers (a INT)")
	up(t, m)
	drop(t, m, "strangers")
	if n := number(t, m, "SELECT COUNT(*) FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'duroxide')"); n != 1 {
		t.Errorf("%d objects are left, want the stranger's table", n)
	}
	if err := m.Check(t.Context()); !errors.Is(err, ErrMissingSchema) {
		t.Errorf("error %v, want %v", err, ErrMissingSchema)
	}
	run(t, m, "DROP TABLE duroxide.strangers")
	run(t, m, "DROP SCHEMA duroxide")
	drop(t, m) // gone
}
