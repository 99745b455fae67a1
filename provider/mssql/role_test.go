package mssql_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
)

// TestRuntimeRole uses a login that has nothing but the runtime role of one schema: it can do all that the store does, and
// nothing else.
func TestRuntimeRole(t *testing.T) { //nolint:tparallel // see the subtest
	t.Parallel()
	owner, schema, other := mssqltest.DB(t), mssqltest.NewSchema(t), mssqltest.NewSchema(t)
	_, dsn := loginWithRole(t, schema)

	t.Run("every method works", func(t *testing.T) {
		store := storeOn(t, dsn, schema, 1)
		if mssqltest.Server(t).Babelfish {
			t.Skip("Babelfish has no ownership chains: a procedure can do there what its caller can, so the role does not suffice")
		}
		next := scenes(t, storeOn(t, mssqltest.DSN(t), schema, 1))
		for _, name := range operationNames() {
			if err := operations[name].prepare(next())(t.Context(), store); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})

	db, err := sql.Open("sqlserver", dsn)
	ok(t, err)
	t.Cleanup(func() { db.Close() })
	for _, view := range viewsOf(t, owner, schema) {
		if err := run(t, db, "SELECT COUNT(*) FROM "+view); err != nil {
			t.Errorf("view %s: %v", view, err)
		}
	}
	for _, statement := range forbidden(t, owner, schema, other) {
		// A statement that fails for another reason would prove nothing.
		if err := run(t, owner, statement); err != nil {
			t.Errorf("the owner: %s: %v", statement, err)
		}
		if err := run(t, db, statement); err == nil {
			t.Errorf("the runtime role may: %s", statement)
		} else if !mssqltest.Server(t).Babelfish && !hasNumber(err, 229) && !hasNumber(err, 262) {
			t.Errorf("%s: %v, want permission denied", statement, err)
		}
	}
	for _, statement := range []string{
		"CREATE TABLE [%s].mine (id INT NOT NULL)",
		"CREATE VIEW [%s].mine AS SELECT 1 AS one",
		"CREATE PROCEDURE [%s].mine AS SELECT 1 AS one",
		"ALTER TABLE [%s].instances ADD mine INT NULL",
		"DROP TABLE [%s].dead_letters",
		"DROP PROCEDURE [%s].enqueue_for_worker",
		"DROP VIEW [%s].v_instances",
	} {
		if err := run(t, db, fmt.Sprintf(statement, schema)); err == nil {
			t.Errorf("the runtime role may: %s", statement)
		}
	}
}

// loginWithRole makes a login whose only right is the runtime role of the schema.
func loginWithRole(t *testing.T, schema string) (user, dsn string) {
	t.Helper()
	user, dsn = mssqltest.NewLogin(t)
	mssqltest.JoinRole(t, schema, user)
	return user, dsn
}

// forbidden are statements about the tables of the schema and about another schema. The owner may run them all, and
// they change nothing.
func forbidden(t *testing.T, owner *sql.DB, schema, other string) (statements []string) {
	t.Helper()
	tables := tablesOf(t, owner, schema)
	for _, table := range append(tables, "migrations", "modules", "revisions") {
		column := one[string](t, owner, schema, `SELECT MIN(c.name) FROM sys.columns AS c
			WHERE c.object_id = OBJECT_ID(N'%s.'+@p1) AND c.is_identity = 0`, table)
		statements = append(statements,
			fmt.Sprintf("DELETE FROM [%s].%s WHERE 1 = 0", schema, table),
			fmt.Sprintf("UPDATE [%s].%s SET %s = %s WHERE 1 = 0", schema, table, column, column),
			fmt.Sprintf("INSERT INTO [%[1]s].%[2]s (%[3]s) SELECT x.%[3]s FROM [%[1]s].%[2]s AS x WHERE 1 = 0", schema, table, column))
	}
	for _, table := range tables {
		statements = append(statements,
			fmt.Sprintf("SELECT COUNT(*) FROM [%s].%s", schema, table),
			fmt.Sprintf("SELECT COUNT(*) FROM [%s].%s", other, table))
	}
	for _, view := range viewsOf(t, owner, other) {
		statements = append(statements, "SELECT COUNT(*) FROM "+view)
	}
	return append(statements,
		fmt.Sprintf("SELECT COUNT(*) FROM [%s].migrations", other),
		fmt.Sprintf("EXEC [%s].list_instances", other),
		fmt.Sprintf("EXEC [%s].get_system_metrics", other))
}

func viewsOf(t *testing.T, db *sql.DB, schema string) (views []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT v.name FROM sys.views AS v
		INNER JOIN sys.schemas AS s ON s.schema_id = v.schema_id
		WHERE s.name = @p1 ORDER BY v.name`, schema)
	ok(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		ok(t, rows.Scan(&name))
		views = append(views, "["+schema+"].["+name+"]")
	}
	ok(t, rows.Err())
	if len(views) == 0 {
		t.Error("the schema has no views")
	}
	return views
}

// run runs a statement and reads what it returns to the end.
func run(t *testing.T, db *sql.DB, statement string) error {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	return err
}
