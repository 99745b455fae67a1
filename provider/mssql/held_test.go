package mssql_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// longTurn leaves an instance with that many events and a message.
func longTurn(t *testing.T, store *mssql.Store, instance string, events int) {
	t.Helper()
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: instance, Orchestration: "Order", ExecutionID: 1}, 0))
	turn, err := fetchTurn(t.Context(), store)
	ok(t, err)
	delta := []provider.Event{{EventID: 1, DuroxideVersion: "0.1.32", Kind: provider.OrchestrationStarted{Name: "Order", Version: "1.0.0"}}}
	for len(delta) < events {
		delta = append(delta, provider.Event{EventID: uint64(len(delta) + 1), DuroxideVersion: "0.1.32", Kind: provider.ExternalEvent{Name: "e"}})
	}
	ok(t, store.AckOrchestrationItem(t.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, HistoryDelta: delta,
		Metadata: provider.ExecutionMetadata{OrchestrationName: new("Order"), OrchestrationVersion: new("1.0.0")},
	}))
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: instance, Name: "e"}, 0))
}

func fetchHolding(t *testing.T, store *mssql.Store, held uint64) *provider.FetchedOrchestration {
	t.Helper()
	turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{
		LockTimeout: time.Minute, Held: func(string, uint64) uint64 { return held },
	})
	ok(t, err)
	return turn
}

// TestFetchOfHeldHistory shows that a fetch asks the server a second time only for a long
// history of which its caller lacks something, and for no more than that.
func TestFetchOfHeldHistory(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	p := newTap(t)
	store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	const fetch, read = "take", "read_history"
	for _, test := range []struct {
		events int
		held   uint64
		calls  []string
		sent   int
	}{
		{32, 0, []string{fetch}, 32},
		{32, 20, []string{fetch}, 13},
		{100, 100, []string{fetch}, 1},
		{100, 98, []string{fetch, read}, 3},
		{100, 0, []string{fetch, read}, 100},
		{100, 101, []string{fetch, read}, 100},
	} {
		longTurn(t, store, "instance", test.events)
		p.taken()
		turn := fetchHolding(t, store, test.held)
		requests, _ := p.taken()
		var calls []string
		for _, r := range requests {
			calls = append(calls, procedureOf(schema, r))
		}
		if diff := cmp.Diff(test.calls, calls); diff != "" || len(turn.Item.History) != test.sent {
			t.Errorf("%d events, %d held: %d sent; calls (-want +got):\n%s", test.events, test.held, len(turn.Item.History), diff)
		}
		ok(t, store.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: turn.LockToken}))
		_, err := store.DeleteInstance(t.Context(), "instance", true)
		ok(t, err)
	}
}

// TestHeldHistoryDeletedMeanwhile: an instance that is deleted, all of it or a portion,
// between the two calls of a fetch is not delivered.
func TestHeldHistoryDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		"DELETE FROM [%s].history", "DELETE FROM [%s].history WHERE event_id < 10", "DELETE FROM [%s].history WHERE event_id > 90",
	} {
		db, schema := mssqltest.Pooled(t)
		p := newTap(t)
		store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
		longTurn(t, store, "instance", 100)
		p.OnRequest(func(r tdsproxy.Request) tdsproxy.Action {
			if procedureOf(schema, r) == "read_history" {
				for _, statement := range []string{
					"DELETE FROM [%s].orchestrator_queue", "DELETE FROM [%s].inboxes", statement,
				} {
					_, err := db.ExecContext(t.Context(), fmt.Sprintf(statement, schema))
					ok(t, err)
				}
			}
			return tdsproxy.Action{}
		})
		if turn := fetchHolding(t, store, 0); turn != nil {
			t.Errorf("%s: %d events were delivered", statement, len(turn.Item.History))
		}
	}
}

// TestHeldHistoryWithGap: a history with a gap is delivered as it is while the lease lasts.
func TestHeldHistoryWithGap(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store := storeOn(t, mssqltest.DSN(t), schema, 1)
	longTurn(t, store, "instance", 100)
	_, err := db.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM [%s].history WHERE event_id = 50", schema))
	ok(t, err)
	for held, want := range map[uint64][2]uint64{0: {0, 99}, 40: {40, 60}, 50: {0, 99}, 60: {60, 41}} {
		turn := fetchHolding(t, store, held)
		if turn == nil || turn.Item.HistoryFrom != want[0] || len(turn.Item.History) != int(want[1]) {
			t.Fatalf("held %d: %+v", held, turn)
		}
		ok(t, store.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: turn.LockToken}))
	}
}
