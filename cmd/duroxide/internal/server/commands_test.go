package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/worker"
)

// shell runs commands on one store.
type shell struct {
	t     *testing.T
	store string
}

// on is a shell on a schema of the database under test.
func on(t *testing.T, schema string) shell {
	t.Helper()
	return shell{t, withSchema(t, mssqltest.DSN(t), schema)}
}

// withSchema is the URL of a schema of the database.
func withSchema(t *testing.T, database, schema string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal("the URL of the database under test cannot be read")
	}
	query := u.Query()
	query.Set("schema", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

// run runs a command and expects an exit code.
func (s shell) run(want int, command ...string) (stdout, stderr string) {
	s.t.Helper()
	var out, complaints bytes.Buffer
	code := cli.Run(s.t.Context(), cli.Env{
		Args: command, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints,
		Getenv: func(name string) string { return map[string]string{"DUROXIDE_STORE": s.store}[name] },
		Stores: cli.KnownStores(nil),
	})
	if code != want {
		s.t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(command, " "), code, want, out.String(), complaints.String())
	}
	if u, err := url.Parse(s.store); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok && strings.Contains(out.String()+complaints.String(), password) {
			s.t.Errorf("%s shows the password", strings.Join(command, " "))
		}
	}
	return out.String(), complaints.String()
}

// expect runs a command and looks for words in what it says.
func (s shell) expect(code int, words string, command ...string) {
	s.t.Helper()
	stdout, stderr := s.run(code, command...)
	if !strings.Contains(stdout+stderr, words) {
		s.t.Errorf("%s: no %q in\n%s%s", strings.Join(command, " "), words, stdout, stderr)
	}
}

// await runs a command until its output has some words, for a minute at most.
func (s shell) await(words string, command ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		stdout, _ := s.run(cli.ExitOK, command...)
		if strings.Contains(stdout, words) {
			return
		}
		if clock.Sleep(ctx, 10*time.Millisecond) != nil {
			s.t.Fatalf("%s: never %q, but\n%s", strings.Join(command, " "), words, stdout)
		}
	}
}

// finding is a line of the doctor's.
type finding struct {
	Check     string `json:"check"`
	Level     string `json:"level"`
	Detail    string `json:"detail"`
	Advice    string `json:"advice"`
	Statement string `json:"statement"`
}

// findings asks the doctor, and expects an exit code.
func (s shell) findings(code int) []finding {
	s.t.Helper()
	stdout, _ := s.run(code, "doctor", "--json")
	var report struct {
		Findings []finding `json:"findings"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		s.t.Fatal(err)
	}
	return report.Findings
}

// TestDoctorForTheApplication asks with a login that has nothing but the runtime role: its rights and the schema are
// found to be right, and what it may not read is a warning rather than a procedure that is missing. Without the role it
// is told which one it needs.
func TestDoctorForTheApplication(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	user, dsn := mssqltest.NewLogin(t)
	application := shell{t, withSchema(t, dsn, schema)}

	application.expect(cli.ExitFailure, "make the login a member of the role ["+schema+"_runtime]", "doctor")
	mssqltest.JoinRole(t, migrate.RoleName(schema), user)
	for _, f := range application.findings(cli.ExitOK) {
		want := "ok"
		switch f.Check {
		case "server", "row versioning", "query store", "optimized locking":
			continue // whatever this server is like
		case "modules":
			want = "warning"
		}
		if f.Level != want || f.Check == "login" && !strings.Contains(f.Detail, "deleting and pruning need the role ["+schema+"_admin]") {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

// TestDoctorOfGrants takes rights away from the roles: the doctor tells an owner of all of them, a worker of those of
// its own roles, and its statements give them back.
func TestDoctorOfGrants(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	user, dsn := mssqltest.NewLogin(t)
	mssqltest.JoinRole(t, migrate.RoleName(schema), user)
	owner, role, db := on(t, schema), shell{t, withSchema(t, dsn, schema)}, mssqltest.DB(t)
	lacking := func(s shell, exit int) string {
		for _, f := range s.findings(exit) {
			if f.Check == "grants" {
				return f.Statement
			}
		}
		return "no finding"
	}
	execute := func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for range 2 {
		if got := lacking(owner, cli.ExitOK); got != "" {
			t.Errorf("an owner is told that %s is missing", got)
		}
		if got := lacking(role, cli.ExitOK); got != "" {
			t.Errorf("a worker is told that %s is missing", got)
		}
		taken := []string{
			"ON [%[1]s].take %[2]s [%[1]s_runtime];", "ON [%[1]s].delete_trees %[2]s [%[1]s_admin];",
			"ON TYPE::[%[1]s].event_list_v1 %[2]s [%[1]s_runtime];",
		}
		var missing []string
		for _, one := range taken {
			execute("REVOKE EXECUTE " + fmt.Sprintf(one, schema, "FROM"))
			missing = append(missing, "GRANT EXECUTE "+fmt.Sprintf(one, schema, "TO"))
		}
		execute(fmt.Sprintf("ALTER ROLE [%[1]s_runtime] DROP MEMBER [%[1]s_admin]", schema))
		missing = append(missing, fmt.Sprintf("ALTER ROLE [%[1]s_runtime] ADD MEMBER [%[1]s_admin];", schema))
		statement := lacking(owner, cli.ExitFailure)
		for _, one := range missing {
			if !strings.Contains(statement, one) {
				t.Errorf("an owner is told\n%s\nwithout %s", statement, one)
			}
		}
		if got := lacking(role, cli.ExitFailure); !strings.Contains(got, missing[0]) || strings.Contains(got, "delete_trees") {
			t.Errorf("a worker is told\n%s\nwant its own role's", got)
		}
		execute(statement)
	}
}

// TestASchemaComesAndIsRepaired follows a schema from nothing, over an edit that somebody
// makes on the server, to what it should be.
func TestASchemaComesAndIsRepaired(t *testing.T) {
	t.Parallel()
	schema := mssqltest.Name()
	mssqltest.Drop(t, schema)
	s := on(t, schema)

	s.expect(cli.ExitOK, "does not exist", "migrate", "status")
	s.expect(cli.ExitNotFound, "the database schema is missing", "migrate", "verify")
	s.expect(cli.ExitNotFound, "duroxide migrate up", "list")
	s.expect(cli.ExitNotFound, "duroxide migrate up", "start", "Greet", "greet-1")
	s.expect(cli.ExitFailure, "does not exist, or the login may not see it", "doctor")
	s.expect(cli.ExitOK, "procedures/ack_orchestration_item.sql", "migrate", "plan")
	s.expect(cli.ExitOK, "CREATE TABLE "+migrate.Quote(schema)+".inboxes", "migrate", "up", "--dry-run")
	s.expect(cli.ExitOK, `"exists":false`, "migrate", "status", "--json")

	s.expect(cli.ExitOK, "done:", "migrate", "up")
	s.expect(cli.ExitOK, "is up to date: nothing done", "migrate", "up")
	s.expect(cli.ExitOK, `"steps":[]`, "migrate", "plan", "--json")
	s.expect(cli.ExitOK, "up to date", "migrate", "status")
	s.expect(cli.ExitOK, `"problems":[]`, "migrate", "verify", "--json")
	s.expect(cli.ExitOK, "suits this program", "doctor")

	drop := "DROP PROCEDURE " + migrate.Quote(schema) + ".enqueue_for_worker"
	if _, err := mssqltest.DB(t).ExecContext(t.Context(), drop); err != nil {
		t.Fatal(err)
	}
	s.expect(cli.ExitFailure, "enqueue_for_worker", "migrate", "verify")
	found := false
	for _, f := range s.findings(cli.ExitFailure) {
		found = found || f.Check == "modules" && f.Level == "problem" && strings.Contains(f.Detail, "enqueue_for_worker") && f.Advice != ""
	}
	if !found {
		t.Error("the doctor does not miss the procedure")
	}
	s.expect(cli.ExitOK, "enqueue_for_worker", "migrate", "up")
	s.expect(cli.ExitOK, "suits this program", "doctor")
	s.examinedByAnOlderRelease(schema)
}

// examinedByAnOlderRelease makes the schema one of a newer release, as far as this program can see: of one that serves
// it, then of one that no longer does.
func (s shell) examinedByAnOlderRelease(schema string) {
	s.t.Helper()
	const newer = 1000
	for _, test := range []struct {
		oldest, code  int
		check, detail string
	}{
		{1, cli.ExitOK, "modules", "still serves this program"},
		{newer, cli.ExitFailure, "schema", "is newer than this program"},
	} {
		statement := fmt.Sprintf(`DELETE FROM %[1]s.revisions WHERE revision = %[2]d;
INSERT INTO %[1]s.revisions (revision, oldest, complete, applied_at) VALUES (%[2]d, %[3]d, 1, 0)`, migrate.Quote(schema), newer, test.oldest)
		if _, err := mssqltest.DB(s.t).ExecContext(s.t.Context(), statement); err != nil {
			s.t.Fatal(err)
		}
		findings := s.findings(test.code)
		if !slices.ContainsFunc(findings, func(f finding) bool {
			return f.Check == test.check && f.Level != "ok" && strings.Contains(f.Detail, test.detail) && f.Advice != ""
		}) {
			s.t.Errorf("a newer schema that serves from %d: %+v", test.oldest, findings)
		}
	}
	if _, err := mssqltest.DB(s.t).ExecContext(s.t.Context(), "DELETE FROM "+migrate.Quote(schema)+".revisions WHERE revision = 1000"); err != nil {
		s.t.Fatal(err)
	}
}

// TestCommandsOnAServer uses the commands on a store as on any other.
func TestCommandsOnAServer(t *testing.T) {
	t.Parallel()
	s := on(t, mssqltest.NewSchema(t))
	work(t, s.store)
	s.expect(cli.ExitOK, "Hello, Ada!", "start", "Greet", "greet-1", "Ada", "--wait", "--timeout", "1m")
	s.expect(cli.ExitFailure, "already exists", "start", "Greet", "greet-1", "Ada")
	s.expect(cli.ExitOK, "already exists", "start", "Greet", "greet-1", "Ada", "--if-exists", "use")
	s.expect(cli.ExitOK, "Completed", "status", "greet-1")
	s.expect(cli.ExitOK, "greet-1", "list")
	s.expect(cli.ExitOK, "Greet", "history", "greet-1", "--data")
	s.run(cli.ExitOK, "start", "Approval", "approval-1")
	s.run(cli.ExitOK, "start", "Approval", "approval-2")
	s.await("approval-1", "list")
	s.await("waits for event", "history", "approval-1") // an event that comes before is nobody's
	s.expect(cli.ExitNotFound, "there is no instance", "raise", "nobody", "approval", "yes")
	s.expect(cli.ExitOK, "Raised", "raise", "approval-1", "approval", "yes", "--force")
	s.expect(cli.ExitOK, "Asked", "cancel", "approval-2", "--force")
	s.expect(cli.ExitFailed, "Cancelled", "status", "approval-2", "--wait", "--timeout", "1m")
	s.expect(cli.ExitOK, "yes", "status", "approval-1", "--wait", "--timeout", "1m")
	s.expect(cli.ExitOK, `"instances":{"total":3,"running":0,"completed":2,"failed":1,"held":0}`, "metrics", "--json")

	s.expect(cli.ExitOK, "instances deleted          0", "purge", "--yes", "--older-than", "1h")
	s.expect(cli.ExitOK, `"complete":false,"instances":1,`, "purge", "--yes", "--older-than", "0s", "--batch", "1", "--budget", "1ns", "--json")
	s.expect(cli.ExitOK, `"complete":true,"instances":2,`, "purge", "--yes", "--older-than", "0s", "--executions", "--json")
	s.expect(cli.ExitOK, "No instances.", "list")
}

// work runs the orchestrations that the test starts.
func work(t *testing.T, dsn string) {
	t.Helper()
	store, err := mssql.Open(t.Context(), dsn, mssql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Register(
		orchestration.New("Greet", func(_ *orchestration.Context, name string) (string, error) { return "Hello, " + name + "!", nil }),
		orchestration.New("Approval", func(ctx *orchestration.Context, _ any) (string, error) {
			return orchestration.NewEvent[string]("approval").Wait(ctx).Await()
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRigsOnAServer runs each rig for a moment. What they measure is not judged.
func TestRigsOnAServer(t *testing.T) {
	t.Parallel()
	s := on(t, mssqltest.NewSchema(t))
	s.expect(cli.ExitOK, `"round_trips_per_second":`, "bench", "idle", "--store", s.store, "--workers", "1,2", "--duration", "50ms", "--json")
	s.expect(cli.ExitOK, "Six turns", "bench", "cities", "--store", s.store, "--orchestrations", "4", "--slots", "2")
	s.expect(cli.ExitFailure, "the store is not empty", "bench", "cities", "--store", s.store, "--orchestrations", "4", "--slots", "2")
	empty := func() { s.run(cli.ExitOK, "purge", "--yes", "--older-than", "0s") }
	empty()
	stdout, _ := s.run(cli.ExitOK, "bench", "cities", "--store", s.store, "--orchestrations", "4", "--slots", "2", "--json")
	var cities struct {
		Configurations []struct {
			RoundTrips float64 `json:"round_trips"`
			Writes     float64 `json:"writes"`
		} `json:"configurations"`
	}
	if err := json.Unmarshal([]byte(stdout), &cities); err != nil {
		t.Fatal(err)
	}
	if c := cities.Configurations[0]; c.RoundTrips < c.Writes {
		t.Errorf("%g round trips an orchestration and %g changing calls", c.RoundTrips, c.Writes)
	}
	empty()
	s.expect(cli.ExitOK, `"completed":`, "bench", "parity", "--store", s.store, "--slots", "2", "--duration", "200ms", "--in-flight", "2", "--json")
	empty()
	s.expect(cli.ExitOK, `"children":3,`, "bench", "children", "--store", s.store, "--children", "2,3", "--json")
	empty()
	s.expect(cli.ExitOK, `"steps":120,"cached":true,`, "bench", "history", "--store", s.store, "--steps", "120", "--json")
	s.expect(cli.ExitOK, `"claimers":2,"claims":5,`,
		"bench", "claim", "--store", s.store, "--rows", "10", "--timers", "5", "--claimers", "2", "--claims", "5", "--rounds", "1", "--json")
	s.expect(cli.ExitOK, "does not exist", "migrate", "status", "--store", beside(s.store))
}

// beside is the store that rig C has made for ten rows, and removed.
func beside(store string) string {
	u, err := url.Parse(store)
	if err != nil {
		return store
	}
	query := u.Query()
	query.Set("schema", query.Get("schema")+"_claim_10_0")
	u.RawQuery = query.Encode()
	return u.String()
}

// TestMistakesAreToldInASentence has what users get wrong first.
func TestMistakesAreToldInASentence(t *testing.T) {
	t.Parallel()
	s := on(t, "duroxide")
	good, err := url.Parse(s.store)
	if err != nil {
		t.Fatal("the URL of the database under test cannot be read")
	}
	for name, change := range map[string]func(u *url.URL, query url.Values){
		"login":    func(u *url.URL, _ url.Values) { u.User = url.UserPassword("no_such_login", "open sesame") },
		"database": func(_ *url.URL, query url.Values) { query.Set("database", "no_such_database") },
		"schema":   func(_ *url.URL, query url.Values) { query.Set("schema", "no such schema's") },
	} {
		u := *good
		query := u.Query()
		change(&u, query)
		u.RawQuery = query.Encode()
		wrong := shell{t, u.String()}
		want := cli.ExitFailure
		if name == "schema" {
			want = cli.ExitNotFound
		}
		_, stderr := wrong.run(want, "list")
		if !strings.HasPrefix(stderr, "duroxide: opening the store: ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("wrong %s: %q", name, stderr)
		}
	}
	nowhere := shell{t, "sqlserver://sa:sesame@127.0.0.1:1?database=x"}
	nowhere.expect(cli.ExitFailure, "cannot connect to the server", "list")
	nowhere.expect(cli.ExitFailure, "cannot connect to the server", "doctor")
}

// TestMigratingTakesAnOwner asks for migrations with a login that has no rights, and with one that has the role: each
// is told in a sentence who may, and no schema is made.
func TestMigratingTakesAnOwner(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	user, dsn := mssqltest.NewLogin(t)
	there, fresh := shell{t, withSchema(t, dsn, schema)}, shell{t, withSchema(t, dsn, mssqltest.Name())}
	refused := func(s shell, args ...string) {
		t.Helper()
		_, stderr := s.run(cli.ExitFailure, args...)
		if !strings.HasPrefix(stderr, "duroxide: ") || !strings.Contains(stderr, "connect as a member of db_owner") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: %q", args, stderr)
		}
	}
	refused(fresh, "migrate", "up")
	refused(fresh, "bench", "claim", "--store", fresh.store, "--rows", "10", "--claims", "1", "--rounds", "1")
	fresh.expect(cli.ExitOK, "does not exist", "migrate", "status")
	mssqltest.JoinRole(t, migrate.RoleName(schema), user)
	refused(there, "migrate", "drop", "--yes")
	refused(there, "migrate", "up")
	refused(there, "migrate", "plan")
	refused(there, "migrate", "status")
	refused(there, "migrate", "verify")
	on(t, schema).expect(cli.ExitOK, "this release's", "migrate", "verify")
}

// TestDeadLettersOnAServer tells what could not be decoded, sends it again and deletes it, as on SQLite.
func TestDeadLettersOnAServer(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	s := on(t, schema)
	work(t, s.store)
	s.run(cli.ExitOK, "start", "Approval", "approval-1")
	s.await("approval-1", "list")
	s.await("waits for event", "history", "approval-1")
	if _, err := mssqltest.DB(t).ExecContext(t.Context(), "INSERT INTO "+migrate.Quote(schema)+".dead_letters "+
		"(queue, queue_id, instance_id, work_item, error, created_at) VALUES (N'orchestrator', 1, N'approval-1', "+
		`N'{"ExternalRaised":{"instance":"approval-1","name":"approval","data":"\"yes\""}}', N'it was damaged', 0), `+
		`(N'worker', 2, N'nobody', N'[]', N'byte 0', 0)`); err != nil {
		t.Fatal(err)
	}
	s.expect(cli.ExitOK, "letter 1, message ExternalRaised, at 1970-01-01 00:00:00: it was damaged", "status", "approval-1")
	s.expect(cli.ExitOK, `"dead_letters":2}`, "metrics", "--json")
	s.expect(cli.ExitOK, "2 messages or activities could not be decoded", "doctor")
	s.expect(cli.ExitOK, `\"yes\"`, "dead-letters", "show", "1")
	s.expect(cli.ExitOK, "Letter 1 was sent again.", "dead-letters", "send", "1")
	s.expect(cli.ExitOK, "yes", "status", "approval-1", "--wait", "--timeout", "1m")
	s.expect(cli.ExitOK, "Letter 2 was deleted.", "dead-letters", "delete", "2")
	s.expect(cli.ExitOK, "Nothing was set aside.", "dead-letters")
	s.expect(cli.ExitOK, "nothing was set aside", "doctor")
}

// TestDoctorNamesEachIndex drops and disables all nonclustered indexes of the schema: the doctor names each as a
// problem with the command that restores it, and finds nothing when that has run.
func TestDoctorNamesEachIndex(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	s, owner := on(t, schema), mssqltest.DB(t)
	rows, err := owner.QueryContext(t.Context(), `
		SELECT t.name, i.name, CASE WHEN i.is_primary_key = 1 OR i.is_unique_constraint = 1 THEN 1 ELSE 0 END
		FROM sys.indexes AS i
		INNER JOIN sys.tables AS t ON t.object_id = i.object_id
		WHERE t.schema_id = SCHEMA_ID(@p1) AND i.type = 2 AND t.name NOT IN (N'migrations', N'modules', N'revisions')`, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var names, drops, disables []string
	for rows.Next() {
		var table, index string
		var constraint bool
		if err := rows.Scan(&table, &index, &constraint); err != nil {
			t.Fatal(err)
		}
		drop := fmt.Sprintf("DROP INDEX %s ON [%s].%s", index, schema, table)
		if constraint {
			drop = fmt.Sprintf("ALTER TABLE [%s].%s DROP CONSTRAINT %s", schema, table, index)
		}
		names, drops = append(names, index), append(drops, drop)
		disables = append(disables, fmt.Sprintf("ALTER INDEX %s ON [%s].%s DISABLE", index, schema, table))
	}
	if err := rows.Err(); err != nil || len(names) < 20 {
		t.Fatalf("%d indexes, error %v", len(names), err)
	}
	for _, damages := range [][]string{drops, disables} {
		for _, damage := range damages {
			if _, err := owner.ExecContext(t.Context(), damage); err != nil {
				t.Fatal(damage, err)
			}
		}
		found := s.findings(cli.ExitFailure)
		for i, name := range names {
			if !slices.ContainsFunc(found, func(f finding) bool {
				return f.Level == "problem" && strings.Contains(f.Detail, name) && strings.Contains(f.Advice, "migrate up")
			}) {
				t.Errorf("%s: the doctor does not name the index", damages[i])
			}
		}
		s.expect(cli.ExitOK, names[0], "migrate", "up")
		if slices.ContainsFunc(s.findings(cli.ExitOK), func(f finding) bool { return f.Level == "problem" }) {
			t.Error("the doctor finds a problem after migrate up")
		}
	}
}
