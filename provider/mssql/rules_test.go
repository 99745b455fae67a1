package mssql_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// The tests of files rules_*_test.go are named by static_test.go as the proof of a rule about T-SQL.

// itemsVariable says how many items the tests queue that claim a great many. The default is what takes seconds on a
// small machine; 10000 is what the rule asks for.
const itemsVariable = "DUROXIDE_TEST_MSSQL_ITEMS"

// items returns that number.
func items(t *testing.T) int {
	t.Helper()
	text := os.Getenv(itemsVariable)
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q and has to be a number from 1 on", itemsVariable, text)
	}
	return n
}

// lease is longer than any test: a lease that ended would be claimed a second time, and rightly so.
const lease = 10 * time.Minute

// emptyStore opens a store on an empty schema, with so many connections.
func emptyStore(t *testing.T, connections int) *mssql.Store {
	t.Helper()
	_, schema := mssqltest.Pooled(t)
	// How long a server takes that other tests keep busy is no matter.
	return open(t, mssqltest.DSN(t), mssql.Options{Schema: schema, MaxOpenConns: connections, CallTimeout: mssql.Forever})
}

// crowdedStore opens a store on an empty schema for so many claimers at a time, with a connection for each.
func crowdedStore(t *testing.T, claimers int, options mssql.Options) *mssql.Store {
	t.Helper()
	_, schema := mssqltest.Pooled(t)
	options.Schema, options.CallTimeout, options.MaxOpenConns = schema, mssql.Forever, claimers
	return open(t, mssqltest.DSN(t), options)
}

// storeOn opens a store on a schema that is there, with so many connections.
func storeOn(t *testing.T, dsn, schema string, connections int) *mssql.Store {
	t.Helper()
	return open(t, dsn, mssql.Options{Schema: schema, MaxOpenConns: connections})
}

// open opens a store that the test's end closes.
func open(t *testing.T, dsn string, options mssql.Options) *mssql.Store {
	t.Helper()
	store, err := mssql.Open(t.Context(), dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// ok ends the test on an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// together runs n goroutines and waits for them. The first error is the test's, and ends the others' context: they may
// be waiting for what the one that failed should have done.
func together(t *testing.T, n int, run func(ctx context.Context, i int) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for i := range n {
		group.Go(func() error { return run(ctx, i) })
	}
	ok(t, group.Wait())
}

// A ledger counts how often each thing was claimed.
type ledger struct {
	mu     sync.Mutex
	counts map[string]int
}

func (l *ledger) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[name]++
}

func (l *ledger) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.counts)
}

// check wants n things, each claimed once.
func (l *ledger) check(t *testing.T, n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, count := range l.counts {
		if count != 1 {
			t.Errorf("%s was claimed %d times", name, count)
		}
	}
	if len(l.counts) != n {
		t.Errorf("%d of %d were claimed", len(l.counts), n)
	}
}

// start is the first message of an instance.
func start(instance string) provider.WorkItem {
	return provider.StartOrchestrationItem{Instance: instance, Orchestration: "Order", ExecutionID: 1}
}

// fetchTurn fetches an instance, nil if none is ready.
func fetchTurn(ctx context.Context, store *mssql.Store) (*provider.FetchedOrchestration, error) {
	return store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
}

// fetchWork fetches an activity, nil if none is ready.
func fetchWork(ctx context.Context, store *mssql.Store) (*provider.FetchedWorkItem, error) {
	return store.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease})
}

// anyTurn fetches an instance, which there is.
func anyTurn(t *testing.T, store *mssql.Store) *provider.FetchedOrchestration {
	t.Helper()
	turn, err := fetchTurn(t.Context(), store)
	ok(t, err)
	if turn == nil {
		t.Fatal("no instance is ready")
	}
	return turn
}

// running is what the first turn of an instance says of it.
func running() provider.ExecutionMetadata {
	name, version, status := "Order", "1.0.0", provider.StatusRunning
	return provider.ExecutionMetadata{OrchestrationName: &name, OrchestrationVersion: &version, Status: &status}
}

// eachIsolation runs a test on the database under test as it is, and, where the server can have another database, on
// one whose READ COMMITTED is of the other kind: reading row versions, or waiting for locks.
func eachIsolation(t *testing.T, run func(t *testing.T, open func(t *testing.T, connections int) *mssql.Store)) {
	t.Helper()
	kind := func(rcsi bool) string {
		if rcsi {
			return "row versions"
		}
		return "locks"
	}
	rcsi := mssqltest.Server(t).RCSI
	t.Run(kind(rcsi), func(t *testing.T) {
		run(t, func(t *testing.T, claimers int) *mssql.Store {
			t.Helper()
			return crowdedStore(t, claimers, mssql.Options{})
		})
	})
	t.Run(kind(!rcsi), func(t *testing.T) {
		dsn := otherDatabase(t, !rcsi)
		run(t, func(t *testing.T, claimers int) *mssql.Store {
			t.Helper()
			return open(t, dsn, mssql.Options{AutoMigrate: true, MaxOpenConns: claimers})
		})
	})
}

// otherDatabase creates a database that the test's end drops, and returns its URL.
func otherDatabase(t *testing.T, rcsi bool) string {
	t.Helper()
	db := mssqltest.DB(t)
	u, err := url.Parse(mssqltest.DSN(t))
	ok(t, err)
	name, setting := mssqltest.Name(), "OFF"
	if rcsi {
		setting = "ON"
	}
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE ["+name+"]"); err != nil {
		t.Skipf("the login may not create a database: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		_, err := db.ExecContext(context.WithoutCancel(t.Context()),
			fmt.Sprintf("ALTER DATABASE [%[1]s] SET SINGLE_USER WITH ROLLBACK IMMEDIATE; DROP DATABASE [%[1]s]", name))
		if err != nil {
			t.Errorf("dropping database %s: %v", name, err)
		}
	})
	_, err = db.ExecContext(t.Context(), "ALTER DATABASE ["+name+"] SET READ_COMMITTED_SNAPSHOT "+setting+" WITH ROLLBACK IMMEDIATE")
	ok(t, err)
	query := u.Query()
	query.Set("database", name)
	u.RawQuery = query.Encode()
	return u.String()
}

// one reads a query's only value. In the query %s stands for the schema.
func one[T any](t testing.TB, db *sql.DB, schema, query string, args ...any) (value T) {
	t.Helper()
	ok(t, db.QueryRowContext(t.Context(), fmt.Sprintf(query, "["+schema+"]"), args...).Scan(&value))
	return value
}
