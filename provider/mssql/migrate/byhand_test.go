package migrate

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// runScript does what a DBA's tool does with a script: batch by batch, on one
// connection, until the first error.
func runScript(t *testing.T, db *sql.DB, script string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	for _, batch := range split(script) {
		for range batch.Repeat {
			if _, err := conn.ExecContext(t.Context(), batch.Text); err != nil {
				t.Fatalf("line %d: %v\n%s", batch.Line, err, batch.Text)
			}
		}
	}
}

// TestPlanByHand applies printed plans, to nothing and then to release one.
func TestPlanByHand(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	for _, s := range []*release{releaseOne.load(t), releaseThree.load(t)} {
		m.release = s
		plan, err := m.Plan(t.Context())
		must(t, err)
		var script bytes.Buffer
		_, err = plan.WriteTo(&script)
		must(t, err)
		runScript(t, m.DB, script.String())
		clean(t, m)
	}
}

// TestExportByHand needs SQL Server, because CREATE OR ALTER is what an export says.
func TestExportByHand(t *testing.T) {
	t.Parallel()
	m := newMigration(t, thisRelease(t))
	if kind := serverKind(t, m); kind != sqlServer {
		t.Skipf("SKIPPED: exports are for SQL Server, this is %s", kind)
	}
	var script bytes.Buffer
	must(t, m.release.export(&script, m.Schema))
	runScript(t, m.DB, script.String())
	clean(t, m)
}

func serverKind(t *testing.T, m *Migration) server {
	t.Helper()
	kind, err := m.readServer(t.Context(), m.DB)
	must(t, err)
	return kind
}

// TestAnySchemaName migrates schemas whose names have to be quoted.
func TestAnySchemaName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Türkçe", "SELECT", strings.Repeat("Name", 22), "tenant-1 a'ü", "a]b[c", "-- /*"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := inSchema(t, name+fmt.Sprintf("%x", rand.Uint32()), releaseOne.load(t))
			if kind := serverKind(t, m); kind != sqlServer && strings.ContainsAny(name, "-]") {
				t.Skipf("SKIPPED: %s has no functions in a schema of this name", kind)
			}
			up(t, m)
			clean(t, m)
			run(t, m, "EXEC duroxide.add_thing 1, N'red'")
			if n := number(t, m, "EXEC duroxide.count_red_things"); n != 1 {
				t.Errorf("%d red things, want 1", n)
			}
		})
	}
}

// TestRuntimeRole connects as a login that has nothing but the role.
func TestRuntimeRole(t *testing.T) {
	t.Parallel()
	m := newMigration(t, releaseOne.load(t))
	up(t, m)
	login, db := newLogin(t)
	run(t, m, "ALTER ROLE duroxide_runtime ADD MEMBER "+Quote(login))
	runtime := &Migration{DB: db, Schema: m.Schema, release: m.release}
	must(t, runtime.Check(t.Context()))
	// On Babelfish a procedure has its caller's rights.
	if serverKind(t, m) == sqlServer {
		run(t, runtime, "EXEC duroxide.add_thing 1, N'red'")
		if n := number(t, runtime, "SELECT COUNT(*) FROM duroxide.red_things"); n != 1 {
			t.Errorf("%d red things, want 1", n)
		}
	}
	for _, statement := range []string{
		"SELECT COUNT(*) FROM duroxide.things", "DELETE FROM duroxide.things", "DELETE FROM duroxide.migrations",
		"DROP PROCEDURE duroxide.add_thing", "CREATE TABLE duroxide.mine (a INT)",
	} {
		if _, err := db.ExecContext(t.Context(), rewrite(statement, m.Schema)); err == nil {
			t.Errorf("the runtime role may %s", statement)
		}
	}
	// The role goes although it has a member.
	must(t, db.Close())
	drop(t, m)
}
