package mssql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// forms are the two ways to call a schema's procedures, which differ in how lists
// travel: as table-valued parameters, so that every operation is one remote call of its
// procedure, or as JSON that a batch turns into tables, for Babelfish, which takes the
// texts in such parameters for SQL, and for schemas whose names the driver cannot send
// as part of a table type's.
type forms struct {
	native, documents *mssqldb.Queries
	// unsendable is a schema whose name the driver cannot send.
	unsendable bool
	// chosen is one of the two, or nil before the server has been asked.
	chosen atomic.Pointer[mssqldb.Queries]
}

func newForms(db *sql.DB, schema string) *forms {
	in := mssqldb.WithSchema(DefaultSchema, schema)
	f := &forms{native: mssqldb.New(db, in), documents: mssqldb.New(db, in, mssqldb.WithTablesAsJSON())}
	f.unsendable = strings.ContainsAny(schema, "[].")
	return f
}

// on returns the procedures, called on db in the form that its server takes. The first
// time it asks the server what it is. That is a read, and with an error the call has not
// been sent.
func (f *forms) on(ctx context.Context, db mssqldb.DBTX) (*mssqldb.Queries, error) {
	if q := f.chosen.Load(); q != nil {
		return q.With(db), nil
	}
	server, err := f.native.With(db).GetServerForm(ctx)
	if err != nil {
		return nil, &unconnected{err}
	}
	chosen := f.native
	switch level := server.CompatibilityLevel; {
	case server.Babelfish != nil && *server.Babelfish == "1":
		chosen = f.documents
	case f.unsendable && level != nil && *level < levelOfDocuments:
		return nil, &levelError{database: server.DatabaseName, level: *level}
	case f.unsendable:
		chosen = f.documents
	}
	f.chosen.Store(chosen)
	return chosen.With(db), nil
}

// levelOfDocuments is the compatibility level from which on SQL Server has OPENJSON. Nothing else that the store sends or
// has stored depends on the level.
const levelOfDocuments = 130

// levelError is a database whose level does not do for documents. It is [errors.ErrUnsupported].
type levelError struct {
	database *string
	level    int32
}

// Error names the level, the one that is needed, and the statement that sets it.
func (e *levelError) Error() string {
	name := "CURRENT"
	if e.database != nil {
		name = migrate.Quote(*e.database)
	}
	return fmt.Sprintf("the database is at compatibility level %d, and a schema whose name has a bracket or a dot needs level %d: "+
		"have an administrator execute ALTER DATABASE %s SET COMPATIBILITY_LEVEL = %d, or give the schema another name",
		e.level, levelOfDocuments, name, levelOfDocuments)
}

// Unwrap returns [errors.ErrUnsupported].
func (e *levelError) Unwrap() error { return errors.ErrUnsupported }
