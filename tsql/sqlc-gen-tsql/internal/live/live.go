// Package live compares what the scripts say with what a server has: parameters, the columns of every result set,
// nullability, tables and table types, the text of modules and the options they were created under, permissions, and
// objects that are missing or that nobody wrote.
//
// It changes nothing: procedures are executed with harmless arguments in a transaction that is rolled back. Two
// things survive a rollback on any server, consumed identity and sequence values and what a procedure does outside of
// the database, so run it against a server where these don't matter.
//
// What a server can't tell is listed as not checked, with the reason: a check that was left out must show, or a report
// without drift would mean less than it says.
//
// Reading order: live.go has the steps, report.go what they find. objects.go, modules.go, tables.go, parameters.go and
// grants.go compare its metadata. arguments.go writes calls of a procedure, execute.go runs them, queries.go does the
// same for annotated queries, and compare.go compares the columns that came. rows.go, servertypes.go and errors.go read
// what a server sends.
package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// Options say what to look at besides the program.
type Options struct {
	// Grantee is a user or a role that must be allowed to execute every procedure. Empty: permissions are not checked.
	Grantee string
	// Timeout bounds one execution of a procedure; 10 seconds if zero.
	Timeout time.Duration
	// Calls bounds how often a procedure is executed to see its result sets; 32 if zero.
	Calls int
	// Reconnect opens another connection to the database when an execution has broken the one before. Nil: then the
	// comparison ends.
	Reconnect func(context.Context) (*sql.Conn, error)
}

// Verify compares a program and the catalog it was made from with the database that a connection is in. An error means
// that the comparison could not be finished; differences are in the report. The connection must not be in a
// transaction, and is left without one, or closed if it was replaced. It is one connection and not a pool, since
// settings and transactions must reach the next statement.
func Verify(
	ctx context.Context, conn *sql.Conn, p *analyze.Program, cat *catalog.Catalog, o Options,
) (_ *Report, err error) {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Calls == 0 {
		o.Calls = 32
	}
	v := &verifier{conn: conn, program: p, cat: cat, options: o, report: &Report{}}
	defer func() {
		if v.conn != conn {
			err = errors.Join(err, v.conn.Close())
		}
	}()
	for _, step := range []struct {
		what string
		run  func(context.Context) error
	}{
		{"asking the server what it is", v.version},
		{"looking for objects", v.objects},
		{"comparing modules", v.modules},
		{"comparing tables", v.tables},
		{"comparing alias types", v.aliases},
		{"comparing parameters", v.parameters},
		{"comparing permissions", v.grants},
		{"comparing result sets", v.procedures},
		{"comparing queries", v.queries},
	} {
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	v.report.sort()
	return v.report, nil
}

// A verifier is the state of one Verify. Its methods return an error only if nothing more can be asked on the
// connection; what a server merely refuses goes into the report.
type verifier struct {
	conn    *sql.Conn
	program *analyze.Program
	cat     *catalog.Catalog
	options Options
	report  *Report
	missing map[string]bool // keys of the objects that the server doesn't have; no further complaint about them
}

// version notes what the server says of itself.
func (v *verifier) version(ctx context.Context) error {
	var version string
	err := v.conn.QueryRowContext(ctx, "SELECT @@VERSION").Scan(&version)
	first, _, _ := strings.Cut(version, "\n")
	v.report.Server = strings.TrimSpace(first)
	return err
}

// quote returns a name as it stands in any statement.
func quote(n catalog.Name) string { return bracket(n.Schema) + "." + bracket(n.Name) }

// bracket quotes an identifier; unlike double quotes, brackets mean the same under every setting of
// QUOTED_IDENTIFIER.
func bracket(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
