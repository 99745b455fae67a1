package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// logSize is how long the log of a file is.
func logSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	must(t, err)
	return info.Size()
}

// large is a message of so many bytes, of which no other has the same.
func large(bytes int) provider.QueueMessageItem {
	return provider.QueueMessageItem{Instance: "i", Name: "q", Data: (rand.Text() + strings.Repeat("x", bytes))[:bytes]}
}

// A log that took the last room could not be moved into the database, and the store stayed full for ever when little
// room came back: 320 messages of 1,000 bytes filled a disk of 4 MiB.
func TestLogLeavesRoom(t *testing.T) {
	t.Parallel()
	longest := func(free int64) (longest int64) {
		path := filepath.Join(t.TempDir(), "store.db")
		s := openFile(t, path, Options{room: func(string) (int64, bool) { return free, true }})
		for range 100 {
			must(t, s.EnqueueForOrchestrator(t.Context(), large(50_000), 0))
			longest = max(longest, logSize(t, path))
		}
		return longest
	}
	const free, one = 1 << 20, 100_000
	if got := longest(free); got > free+one {
		t.Errorf("the log grew to %d bytes beside %d free ones", got, free)
	}
	if got := longest(math.MaxInt64); got < 4*free {
		t.Errorf("the log was moved at %d bytes although there is room", got)
	}
}

// The log is moved when the disk is full, so that it can be written again, and by no call that fails for another
// reason.
func TestLogIsMovedWhenTheDiskIsFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, Options{})
	for range 10 {
		must(t, s.EnqueueForOrchestrator(t.Context(), large(50_000), 0))
	}
	limit := func(pages int) {
		must(t, s.bare(t, func(ctx context.Context) error {
			_, err := s.writer.conn.ExecContext(ctx, fmt.Sprint("PRAGMA max_page_count = ", pages))
			return err
		}))
	}
	before := logSize(t, path)
	limit(1)
	if err := s.EnqueueForOrchestrator(t.Context(), large(1<<20), 0); provider.AsError(err) == nil {
		t.Fatal("the disk is not full")
	}
	limit(1 << 30)
	must(t, s.EnqueueForOrchestrator(t.Context(), start("j"), 0))
	if got := logSize(t, path); got > before/2 {
		t.Errorf("the log has %d bytes, and had %d before the disk was full", got, before)
	}
}

// A file shrinks by VACUUM in another process, and the store goes on beside it.
func TestFileShrinksByVacuum(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	size := func() int64 {
		info, err := os.Stat(path)
		must(t, err)
		return info.Size()
	}
	s := openFile(t, path, Options{Synchronous: Normal})
	create(t, s, "i", 0)
	for range 20 {
		must(t, s.EnqueueForOrchestrator(t.Context(), large(100_000), 0))
	}
	_, err := s.DeleteInstance(t.Context(), "i", true)
	must(t, err)
	run(t, raw(t, path), "PRAGMA wal_checkpoint(TRUNCATE)")
	before := size()
	other := raw(t, path)
	run(t, other, "VACUUM")
	must(t, s.EnqueueForOrchestrator(t.Context(), start("j"), 0))
	run(t, other, "PRAGMA wal_checkpoint(TRUNCATE)")
	if got := size(); before < 2_000_000 || got > before/2 {
		t.Errorf("the file has %d bytes, and had %d before VACUUM", got, before)
	}
	if turn := fetch(t, s); turn.Item.Instance != "j" {
		t.Errorf("fetched %q, want j", turn.Item.Instance)
	}
}

// While another program reads, the log cannot be moved, and it kept the size for ever that it had grown to.
func TestLogShrinksAfterAReader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, Options{Synchronous: Normal})
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	reader := raw(t, path)
	run(t, reader, "BEGIN")
	number(t, reader, "SELECT count(*) FROM instances")
	for range 2*movedLog>>20 + 2 {
		must(t, s.EnqueueForOrchestrator(t.Context(), large(1<<20), 0))
	}
	if got := logSize(t, path); got <= 2*movedLog {
		t.Fatalf("the log has only %d bytes beside the reader", got)
	}
	run(t, reader, "COMMIT")
	for range 3 {
		must(t, s.EnqueueForOrchestrator(t.Context(), large(1000), 0))
	}
	if got := logSize(t, path); got > 2*movedLog {
		t.Errorf("the log has %d bytes after the reader has gone, want at most %d", got, 2*movedLog)
	}
}
