package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/internal/cli"
	"github.com/duroxide/duroxide-go/internal/migrate"
	"github.com/duroxide/duroxide-go/internal/mssqltest"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider/mssql"
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
	u, err := url.Parse(mssqltest.DSN(t))
	if err != nil {
		t.Fatal("the URL of the database under test cannot be read")
	}
	query := u.Query()
	query.Set("schema", schema)
	u.RawQuery = query.Encode()
	return shell{t, u.String()}
}

// run runs a command and expects an exit code.
func (s shell) run(want int, command ...string) (stdout, stderr string) {
	s.t.Helper()
	var out, complaints bytes.Buffer
	code := cli.Run(s.t.Context(), cli.Env{
		Args: command, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints,
		Getenv: func(name string) string { return map[string]string{"DUROXIDE_STORE": s.store}[name] },
		Stores: cli.KnownStores(),
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
	s.expect(cli.ExitOK, "is the one this program needs", "doctor")

	drop := "DROP PROCEDURE " + migrate.Quote(schema) + ".enqueue_for_worker"
	if _, err := mssqltest.DB(t).ExecContext(t.Context(), drop); err != nil {
		t.Fatal(err)
	}
	s.expect(cli.ExitFailure, "enqueue_for_worker", "migrate", "verify")
	stdout, _ := s.run(cli.ExitFailure, "doctor", "--json")
	var report struct {
		Findings []struct {
			Check  string `json:"check"`
			Level  string `json:"level"`
			Detail string `json:"detail"`
			Advice string `json:"advice"`
		} `json:"findings"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range report.Findings {
		found = found || f.Check == "modules" && f.Level == "problem" && strings.Contains(f.Detail, "enqueue_for_worker") && f.Advice != ""
	}
	if !found {
		t.Errorf("the doctor does not miss the procedure: %s", stdout)
	}
	s.expect(cli.ExitOK, "enqueue_for_worker", "migrate", "up")
	s.expect(cli.ExitOK, "is the one this program needs", "doctor")
}

// TestCommandsOnAServer uses the commands on a store as on any other.
func TestCommandsOnAServer(t *testing.T) {
	t.Parallel()
	s := on(t, mssqltest.NewSchema(t))
	work(t, s.store)
	s.expect(cli.ExitOK, "Hello, Ada!", "start", "Greet", "greet-1", "Ada", "--wait", "--timeout", "1m")
	s.expect(cli.ExitOK, "exists already", "start", "Greet", "greet-1", "Ada")
	s.expect(cli.ExitOK, "Completed", "status", "greet-1")
	s.expect(cli.ExitOK, "greet-1", "list")
	s.expect(cli.ExitOK, "Greet", "history", "greet-1", "--data")
	s.run(cli.ExitOK, "start", "Approval", "approval-1")
	s.run(cli.ExitOK, "start", "Approval", "approval-2")
	s.expect(cli.ExitNotFound, "there is no instance", "raise", "nobody", "approval", "yes")
	s.expect(cli.ExitOK, "Raised", "raise", "approval-1", "approval", "yes", "--force")
	s.expect(cli.ExitOK, "Asked", "cancel", "approval-2", "--force")
	s.expect(cli.ExitFailed, "Failed", "status", "approval-2", "--wait", "--timeout", "1m")
	s.expect(cli.ExitOK, "yes", "status", "approval-1", "--wait", "--timeout", "1m")
	s.expect(cli.ExitOK, `"instances":{"total":3,"running":0,"completed":2,"failed":1}`, "metrics", "--json")

	s.expect(cli.ExitOK, "instances deleted        0", "purge", "--older-than", "1h")
	s.expect(cli.ExitOK, `"complete":false,"instances":1,`, "purge", "--older-than", "0s", "--batch", "1", "--budget", "1ns", "--json")
	s.expect(cli.ExitOK, `"complete":true,"instances":2,`, "purge", "--older-than", "0s", "--executions", "--json")
	s.expect(cli.ExitOK, "No instances.", "list")
}

// work runs the orchestrations that the test starts.
func work(t *testing.T, dsn string) {
	t.Helper()
	store, err := mssql.Open(t.Context(), dsn, nil)
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
			return orchestration.WaitForEvent[string](ctx, "approval").Await()
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
	s.expect(cli.ExitOK, "Six turns", "bench", "cities", "--store", s.store, "--orchestrations", "4", "--slots", "2")
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
	s.expect(cli.ExitOK, `"completed":`, "bench", "parity", "--store", s.store, "--slots", "2", "--duration", "200ms", "--in-flight", "2", "--json")
	s.expect(cli.ExitOK, `"round_trips_per_second":`, "bench", "idle", "--store", s.store, "--workers", "1,2", "--duration", "50ms", "--json")
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
