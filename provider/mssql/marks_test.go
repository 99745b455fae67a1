package mssql

import (
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
	"github.com/duroxide/duroxide-go/provider"
)

// Fetches look from the beginning, except for a while after several in a row were slow; and then one looks from there each second, and
// whenever something is put back.
func TestMarks(t *testing.T) {
	t.Parallel()
	start := time.Date(2024, time.May, 1, 12, 0, 0, 0, time.UTC)
	at := start.Add
	var m marks
	beginning := func(after time.Duration, kind string) {
		t.Helper()
		if from, due := m.from(kind, at(after)); from != nil || due != nil {
			t.Errorf("after %v the look is from %d and %d, want the beginning", after, *from, *due)
		}
	}
	marked := func(after time.Duration, wantFrom, wantDue int64) {
		t.Helper()
		if from, due := m.from("a", at(after)); from == nil || due == nil || *from != wantFrom || *due != wantDue {
			t.Errorf("after %v the look is from %v and %v, want %d and %d", after, from, due, wantFrom, wantDue)
		}
	}
	m.found("a", at(0), 3, 30, slowLook-time.Millisecond)
	for range slowLooks - 1 { // the machine may have been busy
		m.found("a", at(0), 4, 40, slowLook)
	}
	beginning(0, "a")
	m.found("a", at(0), 4, 40, slowLook-time.Millisecond)
	for range slowLooks {
		beginning(0, "a")
		m.found("a", at(0), 5, 50, slowLook)
	}
	marked(0, 5, 50)
	beginning(0, "b")
	m.found("a", at(0), 7, 70, 0)
	m.found("a", at(0), 6, 60, 0) // it began before the last one
	marked(lookBack-1, 7, 70)
	beginning(lookBack, "a")
	marked(lookBack, 7, 70)
	m.putBack()
	beginning(lookBack, "a")
	marked(lookBack, 7, 70)
	m.found("a", at(lookBack), 8, 80, slowLook) // there are still as many
	marked(2*lookBack-1, 8, 80)
	beginning(lookBack+markedFor, "a")
	beginning(lookBack+markedFor, "a")
}

// What is put back comes first again, although fetches look from a mark behind it.
func TestMarksMissNothingPutBack(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	s := newStore(t, db, schema)
	defer s.Close()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		id := fmt.Sprint("i", i)
		must(s.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{Instance: id, Orchestration: "o", ExecutionID: 1}, 0))
		must(s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: id, ExecutionID: 1, ID: 2}))
	}
	turns, work := provider.FetchOrchestrationParams{LockTimeout: long}, provider.FetchWorkParams{LockTimeout: long}
	turnFetch, _, err := newTurnFetch(turns)
	must(err)
	workFetch, err := newWorkFetch(work)
	must(err)
	second := func(table string) (id int64) {
		must(db.QueryRowContext(ctx, "SELECT MIN(q.id) + 1 FROM ["+schema+"]."+table+" AS q").Scan(&id))
		return id
	}
	for range 2 {
		turn, err := s.FetchOrchestrationItem(ctx, turns)
		must(err)
		if turn.Item.Instance != "i0" {
			t.Errorf("fetched %s, want i0", turn.Item.Instance)
		}
		activity, err := s.FetchWorkItem(ctx, work)
		must(err)
		if activity.Item.Target() != "i0" {
			t.Errorf("fetched the activity of %s, want that of i0", activity.Item.Target())
		}
		for range slowLooks {
			s.instances.marks.found(turnFetch.code.fetches, time.Now(), second("orchestrator_queue"), 0, slowLook)
			s.activities.marks.found(workFetch.kind, time.Now(), second("worker_queue"), 0, slowLook)
		}
		must(s.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: turn.LockToken}))
		must(s.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: activity.LockToken}))
	}
}
