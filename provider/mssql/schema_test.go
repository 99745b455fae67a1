package mssql_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// A schema's name may hold whatever the driver can send in the name of a table type: everything works there, and finds
// nothing of other schemas.
func TestSchemaWhoseNameNeedsQuoting(t *testing.T) {
	t.Parallel()
	dsn := mssqltest.DSN(t)
	name := mssqltest.Name() + ` a"b c'd ä`
	mssqltest.Drop(t, name)
	store := open(t, dsn, mssql.Options{Schema: name, AutoMigrate: true, MaxOpenConns: 1})
	p := newTap(t)
	tapped := storeOn(t, mssqltest.Via(t, p.Addr()), name, 1)
	next := scenes(t, store)
	for _, operation := range operationNames() {
		run := operations[operation].prepare(next())
		p.taken()
		if err := run(t.Context(), tapped); err != nil {
			t.Errorf("%s: %v", operation, err)
		}
		requests, _ := p.taken()
		for _, r := range requests {
			if procedureOf(name, r) == "" {
				t.Errorf("%s sends %v, which is no call of a procedure: %s", operation, r, r.Text)
			}
		}
		if len(requests) > 1 {
			t.Errorf("%s sends %v", operation, requests)
		}
	}
	ok(t, store.Close())
	again := open(t, dsn, mssql.Options{Schema: name, MaxOpenConns: 1})
	ids, err := again.Admin().ListInstances(t.Context())
	ok(t, err)
	if len(ids) == 0 {
		t.Error("the schema is empty for the next who opens it")
	}
}
