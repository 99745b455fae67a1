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

// TestExportByHand runs an export in another tool.
func TestExportByHand(t *testing.T) {
	t.Parallel()
	m := newMigration(t, thisRelease(t))
	var script bytes.Buffer
	must(t, m.release.export(&script, m.Schema))
	runScript(t, m.DB, script.String())
	clean(t, m)
}

// TestAnySchemaName migrates schemas whose names have to be quoted.
func TestAnySchemaName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Türkçe", "SELECT", strings.Repeat("Name", 22), "tenant-1 a'ü", "-- /*"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := inSchema(t, name+fmt.Sprintf("%x", rand.Uint32()), releaseOne.load(t))
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
	run(t, runtime, "EXEC duroxide.add_thing 1, N'red'")
	if n := number(t, runtime, "SELECT COUNT(*) FROM duroxide.red_things"); n != 1 {
		t.Errorf("%d red things, want 1", n)
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
