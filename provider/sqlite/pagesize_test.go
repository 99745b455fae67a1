package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// A new file has pages of pageSize. One that has others keeps them, and works.
func TestPageSize(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, Options{})
	size := func(s *Store) (bytes int) {
		must(t, s.bare(t, func(ctx context.Context) error {
			return s.writer.conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&bytes)
		}))
		return bytes
	}
	if got := size(s); got != pageSize {
		t.Errorf("a new file has pages of %d bytes, want %d", got, pageSize)
	}
	must(t, s.Close())
	db, err := sql.Open(driverName, path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM")
	must(t, errors.Join(err, db.Close()))
	s = openFile(t, path, Options{})
	create(t, s, "i", 1)
	if got := size(s); got != 8192 {
		t.Errorf("a file with pages of 8,192 bytes has pages of %d bytes now", got)
	}
}

// A claim by itself writes about four pages, and five while pages are split, the same with 100 ready instances of 100
// names as with ten times as many.
func TestClaimWritesFewPages(t *testing.T) {
	t.Parallel()
	const claims, most = 50, 5.5
	for _, ready := range []int{100, 1_000} {
		path := filepath.Join(t.TempDir(), "store.db")
		s := openFile(t, path, Options{Synchronous: Normal, PollInterval: Never})
		must(t, s.EnqueueForOrchestrator(t.Context(), start("first"), 0))
		ack := firstTurn(fetch(t, s))
		ack.WorkerItems = nil
		for n := range ready {
			ack.OrchestratorItems = append(ack.OrchestratorItems, provider.StartOrchestrationItem{
				Instance: fmt.Sprint("i", n), Orchestration: fmt.Sprint("Order", n%100), ExecutionID: 1,
			})
		}
		must(t, s.AckOrchestrationItem(t.Context(), ack))
		logged := func() int64 {
			info, err := os.Stat(path + "-wal")
			must(t, err)
			return info.Size()
		}
		fetch(t, s)
		before := logged()
		for range claims {
			fetch(t, s)
		}
		const frame = pageSize + 24 // with its header in the log
		if pages := float64(logged()-before) / frame / claims; pages < 1 || pages > most {
			t.Errorf("%d ready: a claim writes %.2f pages; want at most %v", ready, pages, most)
		}
	}
}
