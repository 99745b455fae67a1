package mssql_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// fanInWorkers is how many workers complete activities of one parent at a time.
const fanInWorkers = 64

// parent is a store with an idle instance whose activities somebody has taken.
type parent struct {
	*mssql.Store

	server *tsqltest.Server
	tokens []string // of the activities
}

func newParent(t testing.TB, activities int) *parent {
	t.Helper()
	p := &parent{server: tsqltest.New(t, tsqltest.Options{RowVersions: true})}
	_, err := (&migrate.Migration{DB: p.server.DB()}).Up(t.Context())
	ok(t, err)
	p.Store, err = mssql.Open(t.Context(), p.server.DSN(), mssql.Options{CallTimeout: mssql.Forever, MaxOpenConns: 2 * fanInWorkers})
	ok(t, err)
	t.Cleanup(func() { ok(t, p.Close()) })
	ok(t, p.EnqueueForOrchestrator(t.Context(), startOf("p", "Order"), 0))
	turn, err := p.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
	ok(t, err)
	ack := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}
	for i := range activities {
		ack.WorkerItems = append(ack.WorkerItems, provider.ActivityExecuteItem{Instance: "p", ExecutionID: 1, ID: uint64(i) + 2, Name: "Pay"})
	}
	ok(t, p.AckOrchestrationItem(t.Context(), ack))
	for range activities {
		work, err := p.FetchWorkItem(t.Context(), provider.FetchWorkParams{LockTimeout: lease})
		ok(t, err)
		p.tokens = append(p.tokens, work.LockToken)
	}
	return p
}

// completion is that of the i-th activity.
func (p *parent) completion(i int) provider.WorkItem {
	return provider.ActivityCompletedItem{Instance: "p", ExecutionID: 1, ID: uint64(i) + 2, Result: "1"}
}

// Completions of one parent's activities wait for each other only until one of them has made the parent fetchable: as
// long as it is ready, and as long as a turn holds it, 64 transactions with completions are open beside each other.
func TestCompletionsAreSideBySide(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprintf("held %t", held), func(t *testing.T) {
			t.Parallel()
			p := newParent(t, 1+fanInWorkers)
			ok(t, p.AckWorkItem(t.Context(), p.tokens[0], p.completion(0)))
			if held {
				_, err := p.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
				ok(t, err)
			}
			var open []*tsqltest.Conn
			for _, token := range p.tokens[1:] {
				conn, err := p.server.Connect(t.Context())
				ok(t, err)
				t.Cleanup(conn.Close)
				_, err = conn.Exec(t.Context(), fmt.Sprintf(`SET LOCK_TIMEOUT 0; BEGIN TRANSACTION;
					DECLARE @a duroxide.completion_list_v1; INSERT INTO @a VALUES (0, %s, '%s', N'p', N'{}'); EXEC duroxide.end_work @acks = @a, @position = 0, @instance_id = N'p', @alone = 1;`, token[37:], token[:36]))
				if err != nil {
					t.Fatalf("beside %d others: %v", len(open), err)
				}
				open = append(open, conn)
			}
			for _, conn := range open {
				_, err := conn.Exec(t.Context(), "COMMIT TRANSACTION")
				ok(t, err)
			}
			depths, err := p.Admin().GetQueueDepths(t.Context())
			ok(t, err)
			want := uint64(fanInWorkers)
			if !held {
				want++ // the first
			}
			if depths.OrchestratorQueue != want {
				t.Errorf("%d completions wait, want %d", depths.OrchestratorQueue, want)
			}
		})
	}
}

// BenchmarkFanIn is 64 workers that complete activities of one parent, whose turns somebody takes meanwhile: with the
// inbox shared, and with each completion locking it for itself. A completion takes 2 ms before its commit, as a server
// needs for its log. waits/op is how many locks a completion has waited for.
func BenchmarkFanIn(b *testing.B) {
	text, err := os.ReadFile("../../sql/procedures/end_work.sql")
	ok(b, err)
	slow := strings.Replace(string(text), "COMMIT TRANSACTION;\n", "WAITFOR DELAY '00:00:00.002';\nCOMMIT TRANSACTION;\n", 1)
	if slow == string(text) {
		b.Fatal("end_work does not end with its commit")
	}
	for _, shared := range []bool{true, false} {
		b.Run(fmt.Sprintf("shared=%t", shared), func(b *testing.B) {
			p := newParent(b, b.N)
			ok(b, p.server.ApplyText(b.Context(), "", slow))
			if !shared {
				ok(b, p.server.ApplyText(b.Context(), "", `CREATE OR ALTER PROCEDURE duroxide.join_inbox @instance_id NVARCHAR(400), @now BIGINT, @shared BIT OUTPUT
					AS EXEC duroxide.lock_inbox @instance_id = @instance_id;`))
			}
			b.ResetTimer()
			keys := p.server.CountKeys(func() { ok(b, p.fanIn(b.Context())) })
			b.StopTimer()
			waits := 0
			for _, k := range keys {
				waits += k.Waited
			}
			b.ReportMetric(float64(waits)/float64(b.N), "waits/op")
		})
	}
}

// fanIn completes all activities, and executes turns until all completions have come.
func (p *parent) fanIn(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range fanInWorkers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(p.tokens) {
					return nil
				}
				if err := p.AckWorkItem(ctx, p.tokens[i], p.completion(i)); err != nil {
					return err
				}
			}
		})
	}
	group.Go(func() error {
		for done := 0; done < len(p.tokens); {
			turn, err := p.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
			if err != nil {
				return err
			}
			if turn == nil {
				continue
			}
			done += len(turn.Item.Messages)
			if err := p.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}
