package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providertest"
)

func TestConformanceFile(t *testing.T) {
	t.Parallel()
	providertest.Run(t, conformance(func(t *testing.T) providertest.Store {
		t.Helper()
		path := filepath.Join(t.TempDir(), "store.db")
		hooks := withHooks(openFile(t, path, Options{}))
		hooks.Reopen = func(t *testing.T) provider.Provider {
			t.Helper()
			return openFile(t, path, Options{})
		}
		return hooks
	}))
}

func TestConformanceMemory(t *testing.T) {
	t.Parallel()
	providertest.Run(t, conformance(func(t *testing.T) providertest.Store {
		t.Helper()
		return withHooks(openMemory(t, Options{}))
	}))
}

// conformance configures the kit. Its many stores run at once, so that a call may
// take a while.
func conformance(open func(t *testing.T) providertest.Store) providertest.Config {
	config := providertest.Config{Open: open, LongPolling: true, ShortPollLimit: 500 * millisecond}
	if racing.On {
		config.LockTimeout, config.ShortPollLimit = 3*second, 3*second
	}
	if racing.Part() {
		config.MaxPayload, config.Rows = 2<<20, 150
	}
	return config
}

// openFile opens a store that the test's end closes.
func openFile(t testing.TB, path string, options Options) *Store {
	t.Helper()
	store, err := Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, store)
	return store
}

// openMemory opens a store that the test's end closes.
func openMemory(t testing.TB, options Options) *Store {
	t.Helper()
	store, err := OpenMemory(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, store)
	return store
}

func closeAtEnd(t testing.TB, store *Store) {
	t.Helper()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
}

// withHooks reaches behind the store's interface through its own connection.
func withHooks(s *Store) providertest.Store {
	return providertest.Store{
		Provider: s,
		CorruptHistory: func(ctx context.Context, instance string, executionID, eventID uint64, data string) error {
			return s.execOne(ctx, `UPDATE history SET event_data = ? WHERE instance_id = ? AND execution_id = ? AND event_id = ?`,
				data, instance, int64(executionID), int64(eventID))
		},
		CorruptOrchestratorItem: func(ctx context.Context, instance, data string) error {
			return s.execOne(ctx, `UPDATE orchestrator_queue SET work_item = ?
				WHERE id = (SELECT min(id) FROM orchestrator_queue WHERE instance_id = ?)`, data, instance)
		},
		CorruptWorkItem: func(ctx context.Context, a provider.ActivityRef, data string) error {
			return s.execOne(ctx, `UPDATE worker_queue SET work_item = ? WHERE instance_id = ? AND execution_id = ? AND activity_id = ?`,
				data, a.Instance, int64(a.ExecutionID), int64(a.ActivityID))
		},
		DeadLetters: func(ctx context.Context) ([]string, error) {
			return s.queryTexts(ctx, `SELECT work_item FROM dead_letters ORDER BY id`)
		},
		MendDeadLetter: func(ctx context.Context, id uint64, data string) error {
			return s.execOne(ctx, `UPDATE dead_letters SET work_item = ? WHERE id = ?`, data, int64(id))
		},
		Sessions: func(ctx context.Context) ([]string, error) {
			return s.queryTexts(ctx, `SELECT session_id FROM sessions ORDER BY session_id`)
		},
		Spoil: func(ctx context.Context) (mend func() error, err error) {
			readOnly := func(on string) error {
				_, err := s.writer.conn.ExecContext(ctx, "PRAGMA query_only = "+on)
				return err
			}
			return func() error { return readOnly("OFF") }, readOnly("ON")
		},
	}
}

// execOne changes exactly one row.
func (s *Store) execOne(ctx context.Context, query string, args ...any) error {
	return s.write(ctx, "test", func(ctx context.Context, t *tx) error {
		t.ready.forget() // as after a write of another process
		result, err := s.writer.conn.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("changed %d rows, want 1: %w", n, err)
		}
		return nil
	})
}

// queryTexts reads a column of text.
func (s *Store) queryTexts(ctx context.Context, query string, args ...any) ([]string, error) {
	var texts []string
	err := s.write(ctx, "test", func(ctx context.Context, _ *tx) error {
		rows, err := s.writer.conn.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			texts = append(texts, text)
		}
		return rows.Err()
	})
	return texts, err
}
