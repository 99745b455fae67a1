package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// raw opens a file with the bare driver.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	dsn, err := fileDSN(path)
	must(t, err)
	db, err := sql.Open(driverName, dsn+"?_pragma=busy_timeout(5000)")
	must(t, err)
	// One connection, so that a transaction can be begun by hand.
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func run(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// number runs a query that returns one.
func number(t testing.TB, db *sql.DB, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// refused asserts that opening path fails as described, permanently or not.
func refused(t *testing.T, path string, want error, retryable bool) {
	t.Helper()
	store, err := Open(t.Context(), path, Options{BusyTimeout: 50 * millisecond})
	if err == nil {
		must(t, store.Close())
		t.Fatalf("Open succeeded, want %v", want)
	}
	if !errors.Is(err, want) || provider.IsRetryable(err) != retryable {
		t.Errorf("error %v (retryable %v); want %q (retryable %v)", err, provider.IsRetryable(err), want, retryable)
	}
	if failure := provider.AsError(err); failure.Operation != openOperation || !strings.Contains(failure.Message, want.Error()) {
		t.Errorf("error %q should be of operation %q and contain %q", failure, openOperation, want)
	}
}

func TestMigrationsAreNumberedFromOne(t *testing.T) {
	t.Parallel()
	list, err := migrations()
	must(t, err)
	if len(list) == 0 {
		t.Fatal("no migrations are embedded")
	}
}

func TestOpenTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	first := openFile(t, path, Options{})
	must(t, first.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	must(t, first.Close())

	list, err := migrations()
	must(t, err)
	db := raw(t, path)
	if got, want := number(t, db, "PRAGMA user_version"), int64(list[len(list)-1].version); got != want {
		t.Errorf("user_version is %d, want %d", got, want)
	}
	if got := number(t, db, "PRAGMA application_id"); got != applicationID {
		t.Errorf("application_id is %#x, want %#x", got, applicationID)
	}
	if turn := fetch(t, openFile(t, path, Options{})); turn.Item.Instance != "i" {
		t.Errorf("fetched %q from the reopened store, want %q", turn.Item.Instance, "i")
	}
}

// A path may hold characters that mean something in a URI.
func TestOpenOddPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "50% of? a#b &c=é.db")
	must(t, openFile(t, path, Options{}).Close())
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, openFile(t, path, Options{}).Close())
	run(t, raw(t, path), "PRAGMA user_version = 99")
	refused(t, path, ErrNewerSchema, false)
}

// Two builds with different tables both called their schema version 1, so a file of one failed in the other at some
// later call.
func TestOlderSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, openFile(t, path, Options{}).Close())
	run(t, raw(t, path), fmt.Sprint("PRAGMA user_version = ", firstVersion-1))
	refused(t, path, ErrOldSchema, false)
}

// digests are those of the schema in each version that a file may have had.
var digests = map[int]string{
	2: "1d8483268d183819",
	3: "ff1006f432897fb5",
	4: "551cf7af448aee7d",
}

// A file says only which version its schema has, so what the scripts make may not change without it.
func TestSchemaHasItsVersion(t *testing.T) {
	t.Parallel()
	list, err := migrations()
	must(t, err)
	var text strings.Builder
	for _, m := range list {
		for line := range strings.Lines(m.script) {
			code, _, _ := strings.Cut(line, "--")
			text.WriteString(strings.Join(strings.Fields(code), " ") + " ")
		}
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(text.String())))[:16]; digests[m.version] != got {
			t.Errorf("%s does not make the schema that version %d had: raise firstVersion if the script was never released, "+
				"or else leave it as it was and add another one; then add the version with %q to digests", m.name, m.version, got)
		}
	}
	if digests[list[len(list)-1].version+1] != "" {
		t.Error("a version later than the scripts' has a digest")
	}
}

// A table or column that somebody has removed is told when the store opens, and not by the call that needs it. An index
// and a trigger are made again.
func TestDamagedSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, openFile(t, path, Options{}).Close())
	db := raw(t, path)
	run(t, db, "CREATE TABLE theirs (x); CREATE INDEX theirs_x ON theirs (x)")
	must(t, openFile(t, path, Options{}).Close())
	const ours = "SELECT count(*) FROM sqlite_schema WHERE type IN ('index', 'trigger')"
	before := number(t, db, ours)
	run(t, db, "DROP INDEX inboxes_ready; DROP TRIGGER history_payload")
	must(t, openFile(t, path, Options{}).Close())
	if got := number(t, db, ours); got != before {
		t.Errorf("the file has %d indexes and triggers, and had %d before", got, before)
	}
	for _, damage := range []struct{ do, undo string }{
		{"ALTER TABLE history RENAME TO away", "ALTER TABLE away RENAME TO history"},
		{"ALTER TABLE history RENAME COLUMN event_data TO away", "ALTER TABLE history RENAME COLUMN away TO event_data"},
	} {
		run(t, db, damage.do)
		refused(t, path, ErrDamaged, false)
		run(t, db, damage.undo)
	}
}

// A pool of one connection serves a call of several statements, again and again, while others read.
func TestReadsOnOneConnection(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{MaxReaders: 1})
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 3 {
				if depths, err := s.GetQueueDepths(t.Context()); err != nil || depths.OrchestratorQueue != 1 {
					t.Errorf("the depths are %+v, %v", depths, err)
				}
				if _, err := s.ListInstances(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func TestForeignFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"tables":         "CREATE TABLE theirs (x)",
		"application id": "PRAGMA application_id = 7",
		"user version":   "PRAGMA user_version = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "theirs.db")
			run(t, raw(t, path), script)
			before, err := os.ReadFile(path)
			must(t, err)
			refused(t, path, ErrForeignFile, false)
			after, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// A process that dies while it migrates leaves an empty file behind.
func TestInterruptedMigration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	list, err := migrations()
	must(t, err)
	dying := raw(t, path)
	run(t, dying, "PRAGMA journal_mode = WAL")
	run(t, dying, "BEGIN IMMEDIATE")
	run(t, dying, list[0].script)
	must(t, dying.Close())

	store := openFile(t, path, Options{})
	must(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
}

// A failing script leaves the schema as it was.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	db := raw(t, filepath.Join(t.TempDir(), "store.db"))
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	err = inTransaction(t.Context(), conn, beginWrite, func() error {
		_, err := conn.ExecContext(t.Context(), "CREATE TABLE a (x); CREATE TABLE a (x)")
		return err
	})
	if err == nil {
		t.Error("creating a table twice succeeded")
	}
	must(t, conn.Close())
	if n := number(t, db, "SELECT count(*) FROM sqlite_schema"); n != 0 {
		t.Errorf("%d tables are left", n)
	}
}

// Many handles, as many processes would, open a new file at once.
func TestConcurrentOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			store, err := Open(t.Context(), path, Options{BusyTimeout: 30 * second})
			if err != nil {
				t.Errorf("handle %d: %v", i, err)
				return
			}
			must(t, store.EnqueueForOrchestrator(t.Context(), start(fmt.Sprint("i", i)), 0))
			must(t, store.Close())
		})
	}
	group.Wait()
	if n := number(t, raw(t, path), "SELECT count(*) FROM orchestrator_queue"); n != 8 {
		t.Errorf("%d messages were stored, want 8", n)
	}
}

// The same with real processes.
func TestConcurrentOpenByProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if out, err := child(t, t.Context(), "enqueue", path, fmt.Sprint("i", i)).CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	group.Wait()
	if n := number(t, raw(t, path), "SELECT count(*) FROM orchestrator_queue"); n != 8 {
		t.Errorf("%d messages were stored, want 8", n)
	}
}

func TestOpenWithEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
	if !errors.Is(err, context.Canceled) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, context.Canceled)
	}
}
