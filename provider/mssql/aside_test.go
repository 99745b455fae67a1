package mssql

import (
	"context"
	"database/sql"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// A fetch that fails because something unreadable cannot be set aside has locked nothing, and counts no attempt.
func TestFailedSettingAsideHoldsNothing(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	s, err := New(db, Options{Schema: schema, MaxRetries: None})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, hooks := t.Context(), hooksOf(db, schema)
	start := provider.StartOrchestrationItem{Instance: "i", Orchestration: "o", ExecutionID: 1}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.EnqueueForOrchestrator(ctx, start, 0))
	must(hooks.CorruptOrchestratorItem(ctx, "i", "{"))
	must(s.EnqueueForOrchestrator(ctx, start, 0))
	must(s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2}))
	must(hooks.CorruptWorkItem(ctx, provider.ActivityRef{Instance: "i", ExecutionID: 1, ActivityID: 2}, "{"))
	must(s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 3}))

	exec(t, db, "ALTER TABLE ["+schema+"].dead_letters ADD CONSTRAINT ck_nothing CHECK (error = N'')")
	if turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: long}); err == nil {
		t.Errorf("fetched %v; want an error", turn)
	}
	if work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: long}); err == nil {
		t.Errorf("fetched %v; want an error", work)
	}
	exec(t, db, "ALTER TABLE ["+schema+"].dead_letters DROP CONSTRAINT ck_nothing")

	turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: long})
	if err != nil || turn == nil || turn.AttemptCount != 1 || len(turn.Item.Messages) != 1 {
		t.Errorf("fetched %+v, %v; want the message that can be read, for the first time", turn, err)
	}
	work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: long})
	if err != nil || work == nil || work.AttemptCount != 1 {
		t.Errorf("fetched %+v, %v; want the activity that can be read, for the first time", work, err)
	}
}

func exec(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), text); err != nil {
		t.Fatal(err)
	}
}
