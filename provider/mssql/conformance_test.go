package mssql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/providertest"
)

// TestConformance runs the whole kit on the server that package mssqltest finds.
func TestConformance(t *testing.T) {
	t.Parallel()
	lease := 3 * time.Second
	if mssqltest.Server(t).InProcess && !racing.On {
		lease = time.Second // neither network nor detector is in the way
	}
	config := providertest.Config{
		Open:        openPooled,
		LockTimeout: lease, ShortPollLimit: lease,
	}
	if racing.Part() {
		config.MaxPayload, config.Rows = 2<<20, 150
	}
	providertest.Run(t, config)
}

// openPooled opens a store on an empty schema. Schemas are used again by later tests,
// with their connections.
func openPooled(t *testing.T) providertest.Store {
	t.Helper()
	db, schema := mssqltest.Pooled(t)
	store := newStore(t, db, schema)
	hooks := hooksOf(db, schema)
	hooks.Provider = store
	hooks.Reopen = func(t *testing.T) provider.Provider {
		t.Helper()
		return newStore(t, db, schema)
	}
	return hooks
}

// newStore makes a store that the test's end closes.
func newStore(t testing.TB, db *sql.DB, schema string) *Store {
	t.Helper()
	store, err := New(db, Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return store
}

// hooksOf reaches behind the store's interface, with the rights of the tables' owner.
func hooksOf(db *sql.DB, schema string) providertest.Store {
	// execOne changes exactly one row.
	execOne := func(ctx context.Context, query string, args ...any) error {
		result, err := db.ExecContext(ctx, fmt.Sprintf(query, "["+schema+"]"), args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("changed %d rows, want 1: %w", n, err)
		}
		return nil
	}
	return providertest.Store{
		CorruptHistory: func(ctx context.Context, instance string, executionID, eventID uint64, data string) error {
			return execOne(ctx, `UPDATE %s.history SET event_data = @p1, data_bytes = @p5
				WHERE instance_id = @p2 AND execution_id = @p3 AND event_id = @p4`,
				data, stored(instance), int64(executionID), int64(eventID), int64(len(data)))
		},
		CorruptOrchestratorItem: func(ctx context.Context, instance, data string) error {
			return execOne(ctx, `UPDATE %[1]s.orchestrator_queue SET work_item = @p1
				WHERE id = (SELECT MIN(q.id) FROM %[1]s.orchestrator_queue AS q WHERE q.instance_id = @p2)`, data, stored(instance))
		},
		CorruptWorkItem: func(ctx context.Context, a provider.ActivityRef, data string) error {
			return execOne(ctx, `UPDATE %s.worker_queue SET work_item = @p1 WHERE instance_id = @p2 AND execution_id = @p3 AND activity_id = @p4`,
				data, stored(a.Instance), int64(a.ExecutionID), int64(a.ActivityID))
		},
		DeadLetters: func(ctx context.Context) ([]string, error) {
			return texts(ctx, db, "SELECT work_item FROM ["+schema+"].dead_letters ORDER BY id")
		},
		MendDeadLetter: func(ctx context.Context, id uint64, data string) error {
			return execOne(ctx, `UPDATE %s.dead_letters SET work_item = @p1 WHERE id = @p2`, data, int64(id))
		},
		Sessions: func(ctx context.Context) ([]string, error) {
			ids, err := texts(ctx, db, "SELECT session_id FROM ["+schema+"].sessions ORDER BY session_id")
			for i := range ids {
				ids[i] = restored(ids[i])
			}
			return ids, err
		},
		Spoil: func(ctx context.Context) (mend func() error, err error) {
			acks := []string{"ack_orchestration_item", "ack_work_item"}
			var created []string
			for _, name := range acks {
				text, err := texts(ctx, db, "SELECT m.definition FROM sys.sql_modules AS m WHERE m.object_id = OBJECT_ID(N'["+schema+"]."+name+"')")
				if err != nil || len(text) != 1 {
					return nil, fmt.Errorf("%d texts of %s: %w", len(text), name, err)
				}
				created = append(created, text[0])
				if _, err := db.ExecContext(ctx, "DROP PROCEDURE ["+schema+"]."+name); err != nil {
					return nil, err
				}
			}
			return func() (err error) {
				for i, name := range acks {
					_, created := db.ExecContext(ctx, created[i])
					_, granted := db.ExecContext(ctx, "GRANT EXECUTE ON ["+schema+"]."+name+" TO ["+schema+"_runtime]")
					err = errors.Join(err, created, granted)
				}
				return err
			}, nil
		},
	}
}

// texts reads a column of text.
func texts(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
