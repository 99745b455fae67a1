package mssql

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// forms are the two ways to call a schema's procedures, which differ in how lists
// travel: as table-valued parameters, so that every operation is one remote call of its
// procedure, or as JSON that a batch turns into tables, for Babelfish, which takes the
// texts in such parameters for SQL, and for schemas whose names the driver cannot send
// as part of a table type's.
type forms struct {
	native, documents *mssqldb.Queries
	// chosen is one of the two, or nil before the server has been asked.
	chosen atomic.Pointer[mssqldb.Queries]
}

func newForms(db *sql.DB, schema string) *forms {
	in := mssqldb.WithSchema(DefaultSchema, schema)
	f := &forms{native: mssqldb.New(db, in), documents: mssqldb.New(db, in, mssqldb.WithTablesAsJSON())}
	if strings.ContainsAny(schema, "[].") {
		f.chosen.Store(f.documents)
	}
	return f
}

// on returns the procedures, called on db in the form that its server takes. The first
// time it asks the server what it is. That is a read, and with an error the call has not
// been sent.
func (f *forms) on(ctx context.Context, db mssqldb.DBTX) (*mssqldb.Queries, error) {
	if q := f.chosen.Load(); q != nil {
		return q.With(db), nil
	}
	babelfish, err := f.native.With(db).GetServerKind(ctx)
	if err != nil {
		return nil, &unconnected{err}
	}
	chosen := f.native
	if babelfish != nil && *babelfish == "1" {
		chosen = f.documents
	}
	f.chosen.Store(chosen)
	return chosen.With(db), nil
}
