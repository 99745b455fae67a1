package mssqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// connections is how many the package itself uses, for making and emptying schemas.
const connections = 8

// Facts are what tests may depend on.
type Facts struct {
	// Version is the server's own description of itself, its first line.
	Version string
	// InProcess says that the server is tsqltest, in this process: a call takes a millisecond, and the figures of tests
	// that measure mean nothing.
	InProcess bool
	// RCSI says that READ COMMITTED reads row versions instead of waiting for locks, in the database under test.
	RCSI bool
}

// host is a server and what tests have on it.
type host struct {
	getenv func(string) string
	// local is the server in this process, if it is the one; see locate.
	local struct {
		once   sync.Once
		server *tsqltest.Server
		err    error
	}
	// ready connects to the server, once; see open.
	ready struct {
		once  sync.Once
		db    *sql.DB
		facts Facts
		err   error
	}
	schemas pool
	mu      sync.Mutex
	// began says that TestMain has called Run, without which nothing would be cleaned up.
	began bool
}

func (h *host) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began = true
}

// describe says in a line which server the tests use.
func (h *host) describe() string {
	if h.getenv(URLVariable) != "" {
		return "T-SQL server: that of " + URLVariable
	}
	return "T-SQL server: tsqltest, in the process of the tests; see CONTRIBUTING.md for others"
}

// locate returns the URL of the server, which is started in this process unless there is another one.
func (h *host) locate() (string, error) {
	if url := h.getenv(URLVariable); url != "" {
		return url, nil
	}
	if h.getenv(RequiredVariable) == "1" {
		return "", errors.New("no T-SQL server: set " + URLVariable + ", or run make test-mssql, which starts one in Docker; see CONTRIBUTING.md")
	}
	h.local.once.Do(func() {
		if h.local.server, h.local.err = tsqltest.Start(tsqltest.Options{Database: "duroxide_test"}); h.local.err == nil {
			// There are tests under every isolation level that the server has.
			h.local.err = h.local.server.ApplyText(context.Background(), "mssqltest", "ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON")
		}
	})
	if h.local.err != nil {
		return "", h.local.err
	}
	return h.local.server.DSN(), nil
}

// open connects to the server.
func (h *host) open() error {
	h.ready.once.Do(func() {
		h.ready.err = h.connect()
	})
	return h.ready.err
}

func (h *host) connect() (err error) {
	url, err := h.locate()
	if err != nil {
		return err
	}
	if h.ready.db, err = sql.Open("sqlserver", url); err != nil {
		return fmt.Errorf("%s holds no URL of a server: %w", URLVariable, err)
	}
	h.ready.db.SetMaxOpenConns(connections)
	h.ready.db.SetMaxIdleConns(connections)
	ctx := context.Background()
	if h.ready.facts, err = ask(ctx, h.ready.db); err != nil {
		return fmt.Errorf("asking the T-SQL server what it is: %w", err)
	}
	h.ready.facts.InProcess = h.local.server != nil
	return sweep(ctx, h.ready.db, time.Now())
}

// ask asks the server what it is.
func ask(ctx context.Context, db *sql.DB) (facts Facts, err error) {
	err = db.QueryRowContext(ctx, `
		SELECT @@VERSION, CAST(d.is_read_committed_snapshot_on AS INT)
		FROM sys.databases AS d
		WHERE d.name = DB_NAME()`).Scan(&facts.Version, &facts.RCSI)
	facts.Version = firstLine(facts.Version)
	return facts, err
}

// use is how a test comes by the server: it fails the test if there is none.
func (h *host) use(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	began := h.began
	h.mu.Unlock()
	if !began {
		t.Fatal("TestMain of this package has to call mssqltest.Run, which cleans up")
	}
	if err := h.open(); err != nil {
		t.Fatal(err.Error())
	}
}

// close drops the schemas. What fails is reported, but nothing depends on it: schemas that are left over are dropped by
// a run of another day.
func (h *host) close(stderr io.Writer) {
	// Nothing may begin from here on.
	h.ready.once.Do(func() { h.ready.err = errors.New("the tests have ended") })
	var problems []error
	if h.ready.db != nil {
		ctx, cancel := context.WithTimeout(context.Background(), h.schemas.closeTime())
		defer cancel()
		// A server in this process ends with it: nobody wants its schemas dropped one by one.
		problems = append(problems, h.schemas.close(ctx, h.local.server == nil), h.ready.db.Close())
	}
	h.local.once.Do(func() { h.local.err = errors.New("the tests have ended") })
	if h.local.server != nil {
		h.local.server.Close()
	}
	if err := errors.Join(problems...); err != nil {
		fmt.Fprintln(stderr, "cleaning up after the tests:", err)
	}
}

// DSN is the URL of the server's database under test.
func DSN(t testing.TB) string {
	t.Helper()
	process.use(t)
	url, err := process.locate()
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// DB is a pool of connections to the database under test, as its owner. It is shared by all tests and not to be closed.
func DB(t testing.TB) *sql.DB {
	t.Helper()
	process.use(t)
	return process.ready.db
}

// Server tells what the server is.
func Server(t testing.TB) Facts {
	t.Helper()
	process.use(t)
	return process.ready.facts
}
