package tsqltest_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// until asks again and again until a query has a row, which it returns.
func until(t *testing.T, observer *tsqltest.Conn, query string) []any {
	t.Helper()
	for {
		if rows := must(t, observer, query).Sets[0].Rows; len(rows) > 0 {
			return rows[0]
		}
		if t.Context().Err() != nil {
			t.Fatal(query)
		}
		runtime.Gosched()
	}
}

// A session that waits for a lock says since when, by the server's clock.
func TestTimeOfWaiting(t *testing.T) {
	t.Parallel()
	clock := tsqltest.NewClock(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))
	server := tsqltest.New(t, tsqltest.Options{Clock: clock})
	holder, waiter, observer := session(t, server), session(t, server), session(t, server)
	must(t, holder, "CREATE TABLE dbo.t (a INT); BEGIN TRANSACTION; INSERT INTO dbo.t (a) VALUES (1)")
	done := make(chan error, 1)
	go func() {
		_, err := waiter.Exec(t.Context(), "SELECT a FROM dbo.t")
		done <- err
	}()
	const waiting = "SELECT wait_time FROM sys.dm_exec_requests WHERE wait_type = 'LCK_M_S'"
	if row := until(t, observer, waiting); row[0] != int64(0) {
		t.Errorf("at first it has waited for %v ms", row[0])
	}
	clock.Advance(1500 * time.Millisecond)
	if row := until(t, observer, waiting); row[0] != int64(1500) {
		t.Errorf("then it has waited for %v ms", row[0])
	}
	must(t, holder, "COMMIT")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// WAITFOR is a wait, too.
func TestWaitfor(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	sleeper, observer := session(t, server), session(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := sleeper.Exec(ctx, "WAITFOR DELAY '01:00:00'")
		done <- err
	}()
	row := until(t, observer, "SELECT status, command, blocking_session_id FROM sys.dm_exec_requests WHERE wait_type = 'WAITFOR'")
	if row[0] != "suspended" || row[1] != "WAITFOR" || row[2] != int64(0) {
		t.Errorf("it is %v", row)
	}
	cancel()
	<-done
	must(t, sleeper, "IF EXISTS (SELECT 1 FROM sys.dm_exec_requests WHERE wait_type = 'WAITFOR') THROW 50001, 'it still waits', 1")
}
