package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "github.com/microsoft/go-mssqldb" // registers the driver

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/generate"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/live"
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
	if err := a.report(findings); err != nil {
		return err
	}
	// Whatever the driver says may quote what it was given.
	report, err := compareLive(ctx, *dsn, result, o)
	if err != nil {
		return withoutSecrets(err, *dsn)
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
	defer func() { err = errors.Join(err, conn.Close()) }()
	return live.Verify(ctx, conn, result.Program, result.Catalog, o)
}

// withoutSecrets returns an error whose text has neither the connection string nor the password in it: logs of a build
// are read by more people than may connect.
func withoutSecrets(err error, dsn string) error {
	text := strings.ReplaceAll(err.Error(), dsn, "(the connection string)")
	if u, parsed := url.Parse(dsn); parsed == nil && u.User != nil {
		// Decoded, as a server or a driver would quote it; the encoded one is part of the string above.
		if password, ok := u.User.Password(); ok && password != "" {
			text = strings.ReplaceAll(text, password, "(the password)")
		}
	}
	// The ADO form, server=…;password=…, which is no URL.
	for part := range strings.SplitSeq(dsn, ";") {
		key, value, _ := strings.Cut(part, "=")
		if k := strings.ToLower(strings.TrimSpace(key)); (k == "password" || k == "pwd") && value != "" {
			text = strings.ReplaceAll(text, value, "(the password)")
		}
	}
	return errors.New(text)
}
