package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

func TestUnusablePaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused(t, dir, ErrCannotOpen, false)
	refused(t, filepath.Join(dir, "missing", "store.db"), ErrCannotOpen, false)
	for _, path := range []string{"", ":memory:"} {
		if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, provider.ErrInvalidArgument) {
			t.Errorf("the path %q gave %v", path, err)
		}
	}
}

// SQLite would take a path for what stands before its NUL, and open another file.
func TestPathWithNUL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), path+"\x00.old", Options{})
	if err == nil {
		must(t, s.Close())
	}
	if !errors.Is(err, provider.ErrInvalidArgument) {
		t.Errorf("error %v; want %v", err, provider.ErrInvalidArgument)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file was made: %v", err)
	}
}

// A reader has the patience that is configured, also if SQLite cannot count it in milliseconds.
func TestEndlessBusyTimeout(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), Options{BusyTimeout: math.MaxInt64})
	var ms int64
	must(t, s.readers.db.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&ms))
	if ms != math.MaxInt32 {
		t.Errorf("a reader waits for %d ms; want %d", ms, math.MaxInt32)
	}
}

// unprivileged skips where file permissions do not bind.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	unprivileged(t)
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, openFile(t, path, Options{}).Close())
	must(t, os.Chmod(path, 0))
	refused(t, path, ErrCannotOpen, false)
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	unprivileged(t)
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, openFile(t, path, Options{}).Close())
	must(t, os.Chmod(path, 0o400))
	refused(t, path, ErrReadOnly, false)
}

// The same for root, whom the file system lets write: SQLite is told not to.
func TestReadOnlyConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, openFile(t, path, Options{}).Close())
	settings := Options{}.withDefaults()
	dsn, err := fileDSN(path)
	must(t, err)
	_, err = openWriter(t.Context(), dsn+"?mode=ro&"+pragmas(settings, false), settings, true)
	if !errors.Is(err, ErrReadOnly) || provider.IsRetryable(err) {
		t.Errorf("error %v; want a permanent %v", err, ErrReadOnly)
	}
}

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"something else":  func([]byte) []byte { return []byte("Dear diary, today I renamed a file.\n") },
		"header":          func(b []byte) []byte { copy(b, "SQLite format 9"); return b },
		"first page gone": func(b []byte) []byte { clear(b[100:4096]); return b },
		"truncated":       func(b []byte) []byte { return b[:4096+100] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			must(t, openFile(t, path, Options{}).Close())
			content, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, damage(content), 0o600))
			store, err := Open(t.Context(), path, Options{})
			if err == nil {
				// A hole in a table shows when somebody reads it.
				err = store.EnqueueForOrchestrator(t.Context(), start("i"), 0)
				must(t, store.Close())
			}
			if !errors.Is(err, ErrDamaged) || provider.IsRetryable(err) {
				t.Errorf("error %v; want a permanent %v", err, ErrDamaged)
			}
		})
	}
}

// An empty file is what a crash right after creating it leaves.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, openFile(t, path, Options{}).EnqueueForOrchestrator(t.Context(), start("i"), 0))
}

func TestLockedByAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store := openFile(t, path, Options{BusyTimeout: 50 * millisecond})
	other := raw(t, path)
	run(t, other, "BEGIN IMMEDIATE")

	err := store.EnqueueForOrchestrator(t.Context(), start("i"), 0)
	if !errors.Is(err, ErrBusy) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, ErrBusy)
	}
	// Opening needs the write lock for a moment; reading does not.
	refused(t, path, ErrBusy, true)
	if _, err := store.ListInstances(t.Context()); err != nil {
		t.Errorf("reading: %v", err)
	}

	run(t, other, "ROLLBACK")
	must(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	if n := number(t, other, "SELECT count(*) FROM orchestrator_queue"); n != 1 {
		t.Errorf("%d messages are stored, want 1", n)
	}
}

// A write that waits for another process succeeds when that is done in time.
func TestWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store := openFile(t, path, Options{})
	other := raw(t, path)
	run(t, other, "BEGIN IMMEDIATE")
	done := make(chan error, 1)
	go func() { done <- store.EnqueueForOrchestrator(t.Context(), start("i"), 0) }()
	select {
	case err := <-done:
		t.Errorf("the write did not wait: %v", err)
	case <-after(50 * millisecond):
	}
	run(t, other, "COMMIT")
	must(t, <-done)
}

// Switching a new file to the write-ahead log needs it for oneself, which SQLite's
// busy timeout does not cover.
func TestWaitsToSwitchTheLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, nil, 0o600))
	other := raw(t, path)
	run(t, other, "BEGIN")
	if n := number(t, other, "SELECT count(*) FROM sqlite_schema"); n != 0 {
		t.Fatalf("%d tables in a new file", n)
	}
	refused(t, path, ErrBusy, true)

	opened := make(chan error, 1)
	go func() {
		store, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = store.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Errorf("opening did not wait: %v", err)
	case <-after(50 * millisecond):
	}
	run(t, other, "COMMIT")
	must(t, <-opened)
}

// Waiting for the lock ends with the context.
func TestOpenHeedsItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, nil, 0o600))
	other := raw(t, path)
	run(t, other, "BEGIN EXCLUSIVE")
	ctx, cancel := context.WithTimeout(t.Context(), 50*millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Open(ctx, path, Options{BusyTimeout: time.Hour})
	contextEnded(t, err, context.DeadlineExceeded)
	if took := time.Since(begin); took > 10*second {
		t.Errorf("it took %v", took)
	}
}

// Where there can be no write-ahead log, such as in memory or on some network drives,
// a file is refused.
func TestNoWriteAheadLog(t *testing.T) {
	t.Parallel()
	settings := Options{}.withDefaults()
	_, err := openWriter(t.Context(), "file::memory:?"+pragmas(settings, false), settings, true)
	if !errors.Is(err, ErrCannotOpen) || provider.IsRetryable(err) {
		t.Errorf("error %v; want a permanent %v", err, ErrCannotOpen)
	}
}

// A file that is deleted, moved or replaced while it is open takes no more writes, which nobody
// would find again, until it is back.
func TestFileThatIsGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	aside := path + ".aside"
	store := openFile(t, path, Options{})
	raise := func() error {
		return store.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "i", Name: "go"}, 0)
	}
	refused := func(says string) {
		t.Helper()
		if err := raise(); !errors.Is(err, ErrFileGone) || !provider.IsRetryable(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v; want a retryable %v that says %q", err, ErrFileGone, says)
		}
	}
	must(t, raise())
	must(t, os.Rename(path, aside))
	refused("was deleted or moved")
	must(t, os.WriteFile(path, nil, 0o600))
	refused("was replaced by another file")
	must(t, os.Rename(aside, path))
	must(t, raise())
}

// The log and its index are guarded as well: events in a log that was deleted were acknowledged and gone after the
// process had ended. What the log held is in the database from then on, however the process ends.
func TestLogThatIsGone(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"-wal", "-shm"} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			store := openFile(t, path, Options{})
			for range 10 {
				must(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
			}
			must(t, os.Remove(path+suffix))
			err := store.EnqueueForOrchestrator(t.Context(), start("i"), 0)
			if !errors.Is(err, ErrFileGone) || !provider.IsRetryable(err) || !strings.Contains(err.Error(), path+suffix+" was deleted") {
				t.Errorf("error %v; want a retryable %v that names the file", err, ErrFileGone)
			}
			if _, err := store.Read(t.Context(), "i"); !errors.Is(err, ErrFileGone) {
				t.Errorf("a read returned %v, want %v", err, ErrFileGone)
			}
			// As after the sudden death of the process.
			data, err := os.ReadFile(path)
			must(t, err)
			left := filepath.Join(t.TempDir(), "left.db")
			must(t, os.WriteFile(left, data, 0o600))
			depths, err := openFile(t, left, Options{}).GetQueueDepths(t.Context())
			if err != nil || depths.OrchestratorQueue != 10 {
				t.Errorf("%d messages are left, error %v; want 10", depths.OrchestratorQueue, err)
			}
		})
	}
}

// A log that was put back is as good as ever.
func TestLogThatIsBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store := openFile(t, path, Options{})
	must(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	must(t, os.Rename(path+"-wal", path+".aside"))
	if err := store.EnqueueForOrchestrator(t.Context(), start("i"), 0); !errors.Is(err, ErrFileGone) {
		t.Errorf("error %v; want %v", err, ErrFileGone)
	}
	must(t, os.Rename(path+".aside", path+"-wal"))
	must(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
}

// A Claim that may wait says so as well, although it would find nothing: an idle worker makes no other calls.
func TestTakeFromAFileThatIsGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, Options{})
	// So that the store knows the queues.
	for range 2 {
		_, err := s.Claim(t.Context(), everything())
		must(t, err)
	}
	must(t, os.Remove(path))
	params := everything()
	params.Wait = time.Second
	if _, err := s.Claim(t.Context(), params); !errors.Is(err, ErrFileGone) {
		t.Errorf("error %v; want %v", err, ErrFileGone)
	}
}

// A read does not answer from the file that has taken the place of the store's, nor make an empty file in
// its place: a connection that reads may be opened at any time.
func TestReadsOfAFileThatIsGone(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"replaced": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "store.db")
			s := openFile(t, other, Options{})
			create(t, s, "of another store", 0)
			must(t, s.Close())
			must(t, os.Rename(other, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store.db")
			s := openFile(t, path, Options{})
			create(t, s, "i", 0)
			// The connections that are open already are busy.
			conn, err := s.readers.db.Conn(t.Context())
			must(t, err)
			defer conn.Close()
			take(t, path)
			for range 2 {
				if list, err := s.ListInstances(t.Context()); !errors.Is(err, ErrFileGone) {
					t.Errorf("listed %v, error %v; want %v", list, err, ErrFileGone)
				}
				if events, err := s.Read(t.Context(), "i"); !errors.Is(err, ErrFileGone) {
					t.Errorf("read %v, error %v; want %v", events, err, ErrFileGone)
				}
			}
			if _, err := os.Stat(path); name == "deleted" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file was made in place of the one that was deleted: %v", err)
			}
		})
	}
}

// A turn that finds the disk full leaves everything as it was, and succeeds when
// there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store := openFile(t, path, Options{})
	create(t, store, "i", 0)
	must(t, store.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "i", Name: "go"}, 0))
	turn := fetch(t, store)
	ack := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1}
	for id := uint64(2); id < 500; id++ {
		ack.HistoryDelta = append(ack.HistoryDelta, event("i", id, provider.ExternalEvent{Name: "go", Data: payload}))
	}
	limit := func(pages int) {
		must(t, store.write(t.Context(), "test", func(ctx context.Context, _ *tx) error {
			_, err := store.writer.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			return err
		}))
	}
	limit(1) // SQLite raises it to the present size

	err := store.AckOrchestrationItem(t.Context(), ack)
	if !errors.Is(err, ErrDiskFull) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, ErrDiskFull)
	}
	history, err := store.Read(t.Context(), "i")
	if err != nil || len(history) != 1 {
		t.Errorf("the history has %d events (%v), want 1", len(history), err)
	}

	limit(1 << 30)
	must(t, store.AckOrchestrationItem(t.Context(), ack))
	if history, err = store.Read(t.Context(), "i"); err != nil || len(history) != 499 {
		t.Errorf("the history has %d events (%v), want 499", len(history), err)
	}
}

// What a process has been told is stored survives its sudden death.
func TestKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	process := child(t, ctx, "flood", path, "i")
	out, err := process.StdoutPipe()
	must(t, err)
	must(t, process.Start())
	var acknowledged int64
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if acknowledged++; acknowledged == 100 {
			kill()
		}
	}
	_ = process.Wait() // killed

	store := openFile(t, path, Options{})
	depths, err := store.GetQueueDepths(t.Context())
	must(t, err)
	// One more may have been stored without anybody having been told.
	if got := int64(depths.OrchestratorQueue); got < acknowledged || got > acknowledged+1 {
		t.Errorf("%d messages are stored, %d were acknowledged", got, acknowledged)
	}
	if got := len(fetch(t, store).Item.Messages); int64(got) < acknowledged {
		t.Errorf("fetched %d messages, %d were acknowledged", got, acknowledged)
	}
}
