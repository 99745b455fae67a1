package mssql_test

import (
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// Rules about the head of an inbox, the message by which a fetch finds the instance.

// A retry keeps an instance fetchable whose dead worker's lease has ended, also if the clock was set back, as after a
// failover to a host that is behind, and the lease seems to be live again.
func TestRetryOfAHeldInstanceAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	longTurn(t, store, "i", 1)
	ok(t, store.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: anyTurn(t, store).LockToken, Delay: time.Hour, Misfit: "why"}))
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "i", Name: "e"}, 0))
	anyTurn(t, store) // by a worker that dies
	set := func(what string) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), "UPDATE ["+schema+"].inboxes SET "+what)
		ok(t, err)
	}
	set("locked_until = 1, wake_at = 1")
	turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{
		LockTimeout: lease, Known: provider.Know(provider.CodeName{Name: "Other", Version: "1.0.0"}),
	})
	ok(t, err)
	if turn != nil {
		t.Fatalf("fetched %s, whose code is another", turn.Item.Instance)
	}
	set("locked_until = 9000000000000")
	held, err := store.RetryHeldInstance(t.Context(), "i")
	ok(t, err)
	set("locked_until = 1")
	if turn, err = fetchTurn(t.Context(), store); err != nil || !held || turn == nil || len(turn.Item.Messages) != 2 {
		t.Errorf("held: %t; fetched %+v, %v; want both messages", held, turn, err)
	}
}

// Of the messages of an id that never began the old ones are deleted, and what is left is the head then.
func TestDeletedOrphansAreNoHeads(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	for range 2 {
		ok(t, store.EnqueueForOrchestrator(t.Context(), provider.QueueMessageItem{Instance: "nobody", Name: "q"}, 0))
	}
	_, err = db.ExecContext(t.Context(), "UPDATE ["+schema+"].orchestrator_queue SET visible_at = visible_at - 3600000 WHERE id = (SELECT MIN(id) FROM ["+schema+"].orchestrator_queue)")
	ok(t, err)
	deleted, err := store.DeleteOrphanMessages(t.Context(), time.Minute)
	ok(t, err)
	if want := (provider.OrphanMessages{Instances: 1, Messages: 1}); deleted != want {
		t.Errorf("deleted %+v, want %+v", deleted, want)
	}
	var heads int
	ok(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM ["+schema+"].inboxes AS b INNER JOIN ["+schema+"].orchestrator_queue AS q ON q.instance_id = b.instance_id AND q.id = b.head_id").Scan(&heads))
	if heads != 1 {
		t.Error("the head of the inbox is no message that is there")
	}
}
