package mssql_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// One call deletes more sessions than one of its statements does, and leaves those that live or have activities.
func TestCleanUpOfManySessions(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	store, db := storeOn(t, mssqltest.DSN(t), schema, 1), mssqltest.DB(t)
	session := "s1500"
	item := activity("instance", 1)
	item.SessionID = &session
	ok(t, store.EnqueueForWorker(t.Context(), item))
	ok(t, run(t, db, fmt.Sprintf(`
		DECLARE @n INT = 0;
		WHILE @n < 2500
		BEGIN
			SET @n += 1;
			INSERT INTO [%s].sessions (session_id, worker_id, locked_until, last_activity_at) VALUES (CONCAT(N's', @n), N'w', IIF(@n = 1200, 9000000000000, 1), 1);
		END`, schema)))
	if got, err := store.CleanupOrphanedSessions(t.Context(), time.Second); err != nil || got != 2498 {
		t.Errorf("deleted %d sessions, %v, want 2498", got, err)
	}
	var left int
	ok(t, db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT COUNT(*) FROM [%s].sessions WHERE session_id IN (N's1200', N's1500')", schema)).Scan(&left))
	if left != 2 {
		t.Errorf("%d of the live session and the one with an activity are left, want both", left)
	}
	found, err := store.FetchWorkItem(t.Context(), provider.FetchWorkParams{
		LockTimeout: lease, Session: &provider.SessionFetchConfig{OwnerID: "other", LockTimeout: lease},
	})
	if err != nil || found == nil {
		t.Errorf("fetched %v, %v, want the activity of the session that had ended", found, err)
	}
}
