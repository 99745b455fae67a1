// Package livetest gives a test a database of its own: on a server in its process, and on the one that the environment
// names, if it does.
package livetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Variable names the environment variable with the connection string. It has to be of somebody who may create
// databases.
const Variable = "DUROXIDE_TEST_MSSQL"

// What servers there are.
const (
	TSQLTest  = "tsqltest" // the one in the test's own process
	SQLServer = "sqlserver"
)

// A Server is what a test runs on.
type Server struct {
	Kind string        // one of the constants above
	dsn  *msdsn.Config // of a server that somebody else started; nil for the one in the test's own process
}

// Each runs a test on a server in its own process and, if the environment names one, on that as well.
func Each(t *testing.T, test func(t *testing.T, s Server)) {
	t.Helper()
	t.Run(TSQLTest, func(t *testing.T) {
		t.Parallel()
		test(t, Server{Kind: TSQLTest})
	})
	dsn := os.Getenv(Variable)
	if dsn == "" {
		return
	}
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		config, err := msdsn.Parse(dsn)
		if err != nil {
			t.Fatalf("%s can't be parsed", Variable) // the error may quote the password
		}
		test(t, Server{Kind: SQLServer, dsn: &config})
	})
}

// Pool creates a database for a test and returns connections to it; the end of the test drops it.
func (s Server) Pool(t testing.TB) *sql.DB {
	t.Helper()
	if s.dsn == nil {
		return tsqltest.New(t, tsqltest.Options{}).DB()
	}
	config := *s.dsn
	name := "sgt_" + strings.ToLower(rand.Text()[:12])
	server := sql.OpenDB(mssql.NewConnectorConfig(config))
	if err := persist(t.Context(), server, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("creating a database: %v", err)
	}
	t.Cleanup(func() {
		//nolint:usetesting // the test's own context is cancelled by now
		if err := persist(context.Background(), server, "DROP DATABASE "+name); err != nil {
			t.Errorf("dropping %s: %v", name, err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	config.Database = name
	db := sql.OpenDB(mssql.NewConnectorConfig(config))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Database creates a database for a test and returns a connection to it; the end of the test drops it.
func (s Server) Database(t testing.TB) *sql.Conn {
	t.Helper()
	conn, err := s.Pool(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// persist executes a statement, several times if need be: servers refuse some of several databases that are created or
// dropped at once.
func persist(ctx context.Context, server *sql.DB, statement string) error {
	var err error
	for wait := 50 * time.Millisecond; wait < 4*time.Second; wait *= 2 {
		if _, err = server.ExecContext(ctx, statement); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
	return err
}

// Exec executes a batch.
func Exec(t testing.TB, conn *sql.Conn, batch string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), batch); err != nil {
		t.Fatalf("%v\n%s", err, batch)
	}
}

// Apply executes a script; annotated queries are left out. Modules go to the server whole, with the comments in front
// of them, as a tool that deploys scripts would send them, and so do batches that declare variables.
func (s Server) Apply(ctx context.Context, conn *sql.Conn, name, text string) error {
	file := diag.NewFile(name, text)
	script, findings := syntax.Parse(file)
	if len(findings) > 0 {
		return fmt.Errorf("%s", findings.Format())
	}
	directives, findings := directive.Read(script)
	if len(findings) > 0 {
		return fmt.Errorf("%s", findings.Format())
	}
	for _, batch := range script.Batches {
		declares := slices.ContainsFunc(batch.Stmts, func(stmt syntax.Stmt) bool { _, ok := stmt.(*syntax.Declare); return ok })
		if declares {
			if _, err := conn.ExecContext(ctx, file.Slice(batch.Span)); err != nil {
				line, _ := file.Position(batch.From)
				return fmt.Errorf("%s:%d: %w", name, line, err)
			}
			continue
		}
		for _, stmt := range batch.Stmts {
			if len(directives.Above(stmt.Range(), directive.Query)) > 0 {
				continue
			}
			if _, err := conn.ExecContext(ctx, file.Slice(stmt.Range())); err != nil {
				line, _ := file.Position(stmt.Range().From)
				return fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
	}
	return nil
}
