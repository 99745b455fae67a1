package mssql_test

import (
	"os"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// A Take whose turn fails while its messages are read gives the turn back: to work on a part of them, and to acknowledge all, would
// lose the others.
func TestTakeOfAPartGivesTheTurnBack(t *testing.T) {
	t.Parallel()
	if mssqltest.Server(t).Babelfish {
		t.Skip("Babelfish does not know CREATE OR ALTER")
	}
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	text, err := os.ReadFile("../../sql/procedures/fetch_orchestration_item.sql")
	ok(t, err)
	whole, _, _ := strings.Cut(strings.ReplaceAll(string(text), "duroxide.", "["+schema+"]."), "\nGO\n")
	const item = "SELECT q.id, q.work_item\n"
	failing := strings.Replace(whole, item, "SELECT q.id, CASE WHEN q.work_item LIKE N'%second%' "+
		"THEN CAST(1 / (q.attempt_count - q.attempt_count) AS NVARCHAR(MAX)) ELSE q.work_item END AS work_item\n", 1)
	if failing == whole {
		t.Fatalf("the procedure has no %q", item)
	}
	store, err := mssql.New(db, &mssql.Config{Schema: schema, MaxRetries: -1})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.QueueMessageItem{Instance: "i", Name: "n", Data: "second"}, 0))

	_, err = db.ExecContext(t.Context(), failing)
	ok(t, err)
	taken, err := store.Take(t.Context(), provider.TakeParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: lease}})
	if err == nil || taken.Turn != nil {
		t.Errorf("took %+v, %v; want nothing, and an error", taken.Turn, err)
	}
	_, err = db.ExecContext(t.Context(), whole)
	ok(t, err)
	taken, err = store.Take(t.Context(), provider.TakeParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: lease}})
	ok(t, err)
	if taken.Turn == nil || taken.Turn.AttemptCount != 1 || len(taken.Turn.Item.Messages) != 2 {
		t.Errorf("took %+v; want two messages, for the first time", taken.Turn)
	}
}

// A Take finds an activity although the only turn is in a transaction that stays open.
func TestTakeFindsWorkBesideATransaction(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	if mssqltest.Server(t).Babelfish {
		t.Skip("Babelfish has no LOCK_TIMEOUT")
	}
	store, err := mssql.New(db, &mssql.Config{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	ok(t, store.EnqueueForWorker(t.Context(), activity("i", 7)))
	tx, err := db.BeginTx(t.Context(), nil)
	ok(t, err)
	defer func() { _ = tx.Rollback() }()
	ok(t, store.EnqueueTx(t.Context(), tx, start("i"), 0))
	taken, err := store.Take(t.Context(), provider.TakeParams{
		Turn: &provider.FetchOrchestrationParams{LockTimeout: lease}, Work: []provider.FetchWorkParams{{LockTimeout: lease}},
	})
	ok(t, err)
	if taken.Turn != nil || len(taken.Work) != 1 {
		t.Errorf("took %+v and %d activities; want one activity", taken.Turn, len(taken.Work))
	}
}
