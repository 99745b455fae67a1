package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Where the database under test is, as its owner and as another login. TestMain sets them
// to functions of mssqltest, which these tests cannot import. Without a server they skip
// the test, or fail it where one is required.
var (
	TestURL   func(testing.TB) string
	TestLogin func(testing.TB) (user, dsn string)
)

// openServer connects to the server of the tests, or skips.
func openServer(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", TestURL(t))
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// newLogin connects as a login that has no rights.
func newLogin(t *testing.T) (user string, db *sql.DB) {
	t.Helper()
	user, dsn := TestLogin(t)
	db, err := sql.Open("sqlserver", dsn)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return user, db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// thisRelease returns the scripts of this release.
func thisRelease(t testing.TB) *release {
	t.Helper()
	s, err := present()
	must(t, err)
	return s
}

// newMigration returns a migration to a schema of the test's own, which goes with it.
func newMigration(t *testing.T, s *release) *Migration {
	t.Helper()
	return inSchema(t, fmt.Sprintf("migrate_%016x", rand.Uint64()), s)
}

func inSchema(t *testing.T, schema string, s *release) *Migration {
	t.Helper()
	m := &Migration{DB: openServer(t), Schema: schema, release: s}
	t.Cleanup(func() {
		_, err := m.Drop(context.WithoutCancel(t.Context()))
		must(t, err)
	})
	return m
}

// up migrates and returns the names of the steps taken.
func up(t *testing.T, m *Migration) []string {
	t.Helper()
	plan, err := m.Up(t.Context())
	must(t, err)
	return stepNames(plan)
}

func stepNames(plan *Plan) []string {
	names := make([]string, 0, len(plan.Steps))
	for _, step := range plan.Steps {
		names = append(names, step.Name)
	}
	return names
}

// clean fails unless the schema is exactly what the scripts say.
func clean(t *testing.T, m *Migration) {
	t.Helper()
	must(t, m.Check(t.Context()))
	problems, err := m.Verify(t.Context())
	must(t, err)
	for _, problem := range problems {
		t.Error(problem)
	}
	plan, err := m.Plan(t.Context())
	must(t, err)
	if !plan.Empty() {
		t.Errorf("still to do: %v", stepNames(plan))
	}
}

// drop removes the schema, but for objects that are somebody else's.
func drop(t *testing.T, m *Migration, left ...string) {
	t.Helper()
	got, err := m.Drop(t.Context())
	must(t, err)
	if !slices.Equal(got, left) {
		t.Errorf("%q are left, want %q", got, left)
	}
}
