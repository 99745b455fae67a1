package mssql_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// A schema's name may hold whatever a name may hold in T-SQL: everything works there, and finds nothing of other schemas.
func TestSchemaWhoseNameNeedsQuoting(t *testing.T) {
	t.Parallel()
	dsn := mssqltest.DSN(t)
	name := mssqltest.Name() + " a]b c'd"
	if mssqltest.Server(t).Babelfish {
		// It loses the brackets around the names of roles, and its place in scripts with letters outside ASCII.
		name = mssqltest.Name() + "_Tenant"
	}
	mssqltest.Drop(t, name)
	store := open(t, dsn, mssql.Config{Schema: name, AutoMigrate: true, MaxOpenConns: 1, DisableWakeups: true})
	next := scenes(t, store)
	for _, operation := range operationNames() {
		if err := operations[operation].prepare(next())(t.Context(), store); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
	}
	ok(t, store.Close())
	again := open(t, dsn, mssql.Config{Schema: name, MaxOpenConns: 1})
	ids, err := again.Admin().ListInstances(t.Context())
	ok(t, err)
	if len(ids) == 0 {
		t.Error("the schema is empty for the next who opens it")
	}
}
