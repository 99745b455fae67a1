package mssql_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// A call that commits work and takes other work reports what it has made ready and not taken: nobody else would look
// for it where a process does not poll.
func TestWorkReadyReportsWhatWasNotTaken(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	stores := make([]*mssql.Store, 2)
	for i := range stores {
		var err error
		stores[i], err = mssql.New(db, mssql.Options{Schema: schema, MaxPollInterval: mssql.Never})
		ok(t, err)
		t.Cleanup(func() { _ = stores[i].Close() })
	}
	store, other := stores[0], stores[1]
	turns, activities, stop := store.WorkReady()
	t.Cleanup(stop)
	told := func(notices <-chan struct{}) bool {
		select {
		case <-notices:
			return true
		default:
			return false
		}
	}
	work := []provider.FetchWorkParams{{LockTimeout: lease}}
	next := &provider.FetchOrchestrationParams{LockTimeout: lease}

	ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	turn := anyTurn(t, store)
	ok(t, other.EnqueueForWorker(t.Context(), activity("other", 1)))
	ok(t, other.EnqueueForOrchestrator(t.Context(), start("other"), 0))
	told(turns)
	told(activities)
	tagged := activity("i", 7)
	tagged.Tag = new("gpu")
	taken, err := store.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
		LockToken: turn.LockToken, ExecutionID: 1, Metadata: running(),
		WorkerItems: []provider.WorkItem{activity("i", 8), tagged}, OrchestratorItems: []provider.WorkItem{start("child")},
	}, provider.ClaimParams{Turn: next, Work: append(work, work...)})
	ok(t, err)
	if taken.Turn == nil || taken.Turn.Item.Instance != "other" || len(taken.Work) != 2 {
		t.Fatalf("took %+v, want the turn and the activity of another process, and one activity", taken)
	}
	if !told(turns) {
		t.Error("there was no notice of the child")
	}
	if !told(activities) {
		t.Error("there was no notice of the activity with a tag")
	}

	ok(t, other.EnqueueForOrchestrator(t.Context(), provider.CancelInstanceItem{Instance: "child", Reason: "why"}, 0))
	own := taken.Work[1]
	outcomes, taken, err := store.AckWorkAndClaim(t.Context(), []provider.WorkAck{
		{LockToken: own.LockToken, Completion: provider.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: 8, Result: "r"}},
	}, provider.ClaimParams{Turn: next})
	ok(t, err)
	ok(t, outcomes[0])
	if taken.Turn == nil || taken.Turn.Item.Instance != "child" {
		t.Fatalf("took %+v, want the turn of the child", taken.Turn)
	}
	if !told(turns) {
		t.Error("there was no notice of the instance whose activity has ended")
	}

	taken, err = store.AckTurnAndClaim(t.Context(), provider.AckOrchestrationParams{
		LockToken: taken.Turn.LockToken, ExecutionID: 1, Metadata: running(), WorkerItems: []provider.WorkItem{activity("child", 2)},
	}, provider.ClaimParams{Turn: next, Work: work})
	ok(t, err)
	if taken.Turn == nil || len(taken.Work) != 1 || told(activities) {
		t.Errorf("took %+v; want a turn, and the activity, of which there is no notice", taken)
	}
}
