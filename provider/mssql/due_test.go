package mssql_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Rule T2: however many timers are due at once, the lease of a turn begins when it is taken. No turn loses its lease,
// so none is tried twice and none ends as poison. With DUROXIDE_TEST_MSSQL_READY=1000000 there are 10000 timers.
func TestTimersDueAtOnce(t *testing.T) {
	t.Parallel()
	const lease, claimers = 5 * time.Second, 4
	timers := max(readyRows(t)/100, 300)
	server := tsqltest.New(t, tsqltest.Options{RowVersions: true}) // its clock is that of the machine
	_, err := (&migrate.Migration{DB: server.DB()}).Up(t.Context())
	ok(t, err)
	store := open(t, server.DSN(), mssql.Options{CallTimeout: mssql.Forever})
	conn, err := server.Connect(t.Context())
	ok(t, err)
	defer conn.Close()
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`SET NOCOUNT ON; DECLARE @n INT = 0, @id NVARCHAR(400), @item NVARCHAR(MAX);
		WHILE @n < %d BEGIN SET @n += 1; SET @id = CONCAT(N't', @n); SET @item = %s;
			EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = NULL, @version = NULL, @work_item = @item, @delay_ms = 1; END;`,
		timers, quoted(startOf("@id", "Order"))))
	ok(t, err)
	turns := make([]int, claimers)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range turns {
		group.Go(func() (err error) {
			turns[i], err = acksAll(ctx, store, lease)
			return err
		})
	}
	ok(t, group.Wait())
	done := 0
	for _, n := range turns {
		done += n
	}
	if done != timers {
		t.Errorf("%d timers have fired, want %d", done, timers)
	}
}

// acksAll takes turns until there is none, and acknowledges each.
func acksAll(ctx context.Context, store *mssql.Store, lease time.Duration) (turns int, err error) {
	for {
		turn, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
		if err != nil || turn == nil {
			return turns, err
		}
		if turn.AttemptCount != 1 {
			return turns, fmt.Errorf("%s is tried for the %d. time", turn.Item.Instance, turn.AttemptCount)
		}
		if err := store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}); err != nil {
			return turns, err
		}
		turns++
	}
}
