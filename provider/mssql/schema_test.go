package mssql_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// A schema's name may hold whatever a name may hold in T-SQL: everything works there, and finds nothing of other schemas.
// The driver cannot send such a name as part of a table type's, so lists travel as documents, still in one request.
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
	p := newTap(t)
	tapped := storeOn(t, mssqltest.Via(t, p.Addr()), name, 1)
	next, batches := scenes(t, store), 0
	for _, operation := range operationNames() {
		run := operations[operation].prepare(next())
		p.taken()
		if err := run(t.Context(), tapped); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		requests, _ := p.taken()
		for _, r := range requests {
			if batchOf(name, r) != "" {
				batches++
			} else if procedureOf(t, name, r) == "" {
				t.Errorf("%s sends %v, which is no call of a procedure: %s", operation, r, r.Text)
			}
		}
		if len(requests) > 1 {
			t.Errorf("%s sends %v", operation, requests)
		}
	}
	if batches == 0 {
		t.Error("no operation has a list")
	}
	ok(t, store.Close())
	again := open(t, dsn, mssql.Config{Schema: name, MaxOpenConns: 1})
	ids, err := again.Admin().ListInstances(t.Context())
	ok(t, err)
	if len(ids) == 0 {
		t.Error("the schema is empty for the next who opens it")
	}
}
