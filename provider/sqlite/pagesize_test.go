package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
)

// A new file has pages of pageSize. One that has others keeps them, and works.
func TestPageSize(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, nil)
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
	s = openFile(t, path, nil)
	create(t, s, "i", 1)
	if got := size(s); got != 8192 {
		t.Errorf("a file with pages of 8,192 bytes has pages of %d bytes now", got)
	}
}
