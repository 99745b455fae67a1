package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	_ "github.com/microsoft/go-mssqldb" // registers the driver
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/live"
)

// dsnVariable is where the connection string may stand, so that it isn't in the history of a shell nor in the list of
// processes.
const dsnVariable = "SQLC_GEN_TSQL_DSN"

// verify compares the scripts with a server. Findings in the scripts come first: what can't be analyzed can't be
// compared.
func (a *app) verify(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	dsn := flags.String("dsn", "", "connection `string` of the database to compare with; better in "+dsnVariable)
	var o live.Options
	flags.StringVar(&o.Grantee, "grantee", "", "a `user` or role that must be allowed to execute every procedure")
	flags.DurationVar(&o.Timeout, "timeout", 10*time.Second, "how long one execution may take")
	flags.IntVar(&o.Calls, "calls", 32, "how often a procedure is executed at most to see its result sets")
	in, err := a.parse(flags, args)
	if err != nil {
		return err
	}
	if *dsn == "" {
		*dsn = a.getenv(dsnVariable)
	}
	if *dsn == "" {
		return errors.New("name a database: -dsn sqlserver://user@host?database=name, or the same in " + dsnVariable)
	}
	result, findings := generate.Analyze(in.sources, in.config)
	if len(findings) == 0 {
		findings = generate.NothingToCompare(in.sources, result, in.config)
	}
	if err := a.report(findings); err != nil {
		return err
	}
	password, err := passwordOf(*dsn)
	if err != nil {
		return err
	}
	// Whatever the driver says may quote what it was given.
	report, err := compareLive(ctx, *dsn, result, o)
	if err != nil {
		return withoutSecrets(err, *dsn, password)
	}
	report.Print(a.stdout)
	if len(report.Drift) > 0 {
		return errFound
	}
	return nil
}

// compareLive connects and compares. It takes one connection out of the pool and keeps it, since settings and
// transactions belong to a connection.
func compareLive(ctx context.Context, dsn string, result generate.Result, o live.Options) (_ *live.Report, err error) {
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		// One that was replaced is closed by then.
		if closing := conn.Close(); !errors.Is(closing, sql.ErrConnDone) {
			err = errors.Join(err, closing)
		}
	}()
	o.Reconnect = db.Conn
	return live.Verify(ctx, conn, result.Program, result.Catalog, o)
}

// passwordOf returns the password of a connection string, as the driver reads it from any of its three forms (URL, ADO,
// ODBC). The error is that it cannot be read, and quotes nothing of it.
func passwordOf(dsn string) (string, error) {
	config, err := msdsn.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("the connection string cannot be used: %s", withoutValues(err))
	}
	// The driver passes over pwd in an ODBC string; it is a secret even so.
	return cmp.Or(config.Password, config.Parameters["pwd"]), nil
}

// withoutValues is the text of the driver's error up to where it begins to quote. Where a connection string falls apart
// at the wrong places, a piece of the password may be taken for a name or a value.
func withoutValues(err error) string {
	message := err.Error()
	if strings.HasPrefix(message, "key ") {
		return "a parameter is given twice"
	}
	if quote := strings.IndexAny(message, "'\""); quote >= 0 {
		message = strings.TrimSpace(message[:quote])
	}
	return message
}

// withoutSecrets returns an error whose text has neither the connection string nor the password in it: logs of a build
// are read by more people than may connect. It matches what err matches.
func withoutSecrets(err error, dsn, password string) error {
	text := strings.ReplaceAll(err.Error(), dsn, "(the connection string)")
	if password != "" {
		text = strings.ReplaceAll(text, password, "(the password)")
	}
	return retoldError{text, err}
}

// retoldError is an error in other words.
type retoldError struct {
	text string
	err  error
}

func (e retoldError) Error() string { return e.text }

func (e retoldError) Unwrap() error { return e.err }
