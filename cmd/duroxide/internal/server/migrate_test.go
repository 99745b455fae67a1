package server_test

import (
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/cli"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// TestATenantLeaves removes a schema, but not because somebody asked what that would do.
func TestATenantLeaves(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	s := on(t, schema)
	insert := "INSERT INTO " + migrate.Quote(schema) + ".instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at)" +
		" VALUES (N'greet-1', N'Greet', 1, 1, 1); " +
		"INSERT INTO " + migrate.Quote(schema) + ".executions (instance_id, execution_id, status, started_at) VALUES (N'greet-1', 1, N'Running', 1)"
	if _, err := mssqltest.DB(t).ExecContext(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	s.expect(cli.ExitUsage, fmt.Sprintf("this removes schema %q with its instances (1)", schema), "migrate", "drop")
	s.expect(cli.ExitOK, "greet-1", "list")
	s.expect(cli.ExitOK, fmt.Sprintf(`{"schema":%q,"instances":1,"left":[]}`, schema), "migrate", "drop", "--yes", "--json")
	s.expect(cli.ExitOK, "does not exist", "migrate", "status")
	s.expect(cli.ExitNotFound, "there is no duroxide schema", "migrate", "drop", "--yes")
}

// TestASchemaOfANewerRelease is used as long as it serves this program, and never changed.
func TestASchemaOfANewerRelease(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	s := on(t, schema)
	revisions := migrate.Quote(schema) + ".revisions"
	run := func(statement string) {
		t.Helper()
		if _, err := mssqltest.DB(t).ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	// At the end the schema is this release's again, and can be dropped.
	defer run("DELETE FROM " + revisions + " WHERE revision > 1000")

	run("INSERT INTO " + revisions + " (revision, oldest, complete, applied_at) VALUES (1001, 1, 0, 0)")
	s.expect(cli.ExitOK, "No instances.", "list")
	s.expect(cli.ExitOK, "is newer than this program, which it still serves: nothing done", "migrate", "up")
	s.expect(cli.ExitOK, `"newer":true,"steps":[]`, "migrate", "plan", "--json")
	s.expect(cli.ExitOK, "is newer than this release", "migrate", "up", "--dry-run")
	s.expect(cli.ExitOK, "newer than this program, which it still serves", "migrate", "status")
	s.expect(cli.ExitOK, `"oldest_revision":1,"newer":true`, "migrate", "status", "--json")
	s.expect(cli.ExitOK, "newer release", "doctor")
	s.expect(cli.ExitFailure, "only a program of that release can compare it", "migrate", "verify")
	s.expect(cli.ExitFailure, "only a program of that release can remove it", "migrate", "drop", "--yes")

	run("INSERT INTO " + revisions + " (revision, oldest, complete, applied_at) VALUES (1002, 1001, 0, 0)")
	for _, command := range [][]string{{"list"}, {"migrate", "up"}, {"migrate", "plan"}} {
		s.expect(cli.ExitFailure, "it serves programs from revision 1001; upgrade duroxide-go", command...)
	}
	s.expect(cli.ExitOK, "newer than this program; use a later release of it", "migrate", "status")
}
