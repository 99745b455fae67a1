package mssql

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// slowMs is slowLook in milliseconds.
const slowMs = int64(slowLook / time.Millisecond)

// Fetches look from the beginning, except for a while after several in a row were slow; and then one looks from there
// each second, and whenever something is put back.
func TestMarks(t *testing.T) {
	t.Parallel()
	start := time.Date(2024, time.May, 1, 12, 0, 0, 0, time.UTC)
	at := start.Add
	var m marks
	beginning := func(after time.Duration, kind string) {
		t.Helper()
		if from, due := m.from(kind, at(after)); from != 0 || due != 0 {
			t.Errorf("after %v the look is from %d and %d, want the beginning", after, from, due)
		}
	}
	marked := func(after time.Duration, wantFrom, wantDue int64) {
		t.Helper()
		if from, due := m.from("a", at(after)); from != wantFrom || due != wantDue {
			t.Errorf("after %v the look is from %d and %d, want %d and %d", after, from, due, wantFrom, wantDue)
		}
	}
	m.found("a", at(0), 3, 30, slowMs-1)
	for range slowLooks - 1 { // the machine may have been busy
		m.found("a", at(0), 4, 40, slowMs)
	}
	beginning(0, "a")
	m.found("a", at(0), 4, 40, slowMs-1)
	for range slowLooks {
		beginning(0, "a")
		m.found("a", at(0), 5, 50, slowMs)
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
	m.found("a", at(lookBack), 8, 80, slowMs) // there are still as many
	marked(2*lookBack-1, 8, 80)
	beginning(lookBack+markedFor, "a")
	beginning(lookBack+markedFor, "a")
}

// marked is a store with turns and activities of i0 to i3, whose fetches look from a mark that a test has put.
type marked struct {
	*Store

	t            *testing.T
	turn         provider.FetchOrchestrationParams
	work         provider.FetchWorkParams
	heads, work0 int64 // the first ids
}

func newMarked(t *testing.T) *marked {
	t.Helper()
	db, schema := mssqltest.Pooled(t)
	m := &marked{
		Store: newStore(t, db, schema), t: t,
		turn: provider.FetchOrchestrationParams{LockTimeout: long}, work: provider.FetchWorkParams{LockTimeout: long},
	}
	t.Cleanup(func() { _ = m.Close() })
	for i := range 4 {
		id := fmt.Sprint("i", i)
		m.must(m.EnqueueForOrchestrator(t.Context(), provider.StartOrchestrationItem{Instance: id, Orchestration: "o", ExecutionID: 1}, 0))
		m.must(m.EnqueueForWorker(t.Context(), provider.ActivityExecuteItem{Instance: id, ExecutionID: 1, ID: 2}))
	}
	m.must(db.QueryRowContext(t.Context(), "SELECT MIN(q.id) FROM ["+schema+"].orchestrator_queue AS q").Scan(&m.heads))
	m.must(db.QueryRowContext(t.Context(), "SELECT MIN(q.id) FROM ["+schema+"].worker_queue AS q").Scan(&m.work0))
	return m
}

func (m *marked) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// mark makes fetches look from the i-th on, for as long as the test lasts.
func (m *marked) mark(i int64) {
	m.t.Helper()
	turn, _, err := newTurnFetch(m.turn)
	m.must(err)
	work, err := newWorkFetch(m.work)
	m.must(err)
	for kind, of := range map[string]struct {
		marks *marks
		from  int64
	}{turn.code.fetches: {&m.instances.marks, m.heads + i}, work.kind: {&m.activities.marks, m.work0 + i}} {
		later := time.Now().Add(time.Hour)
		of.marks.kinds = map[string]*mark{kind: {slow: slowLooks, from: of.from, until: later, next: later}}
	}
}

// took checks whose turn and whose activity a call has taken.
func (m *marked) took(turn *provider.FetchedOrchestration, work *provider.FetchedWorkItem, want string) {
	m.t.Helper()
	if got := turn.Item.Instance; got != want {
		m.t.Errorf("took the turn of %s, want that of %s", got, want)
	}
	if got := work.Item.Target(); got != want {
		m.t.Errorf("took the activity of %s, want that of %s", got, want)
	}
}

func (m *marked) fetch(want string) (*provider.FetchedOrchestration, *provider.FetchedWorkItem) {
	m.t.Helper()
	turn, err := m.FetchOrchestrationItem(m.t.Context(), m.turn)
	m.must(err)
	work, err := m.FetchWorkItem(m.t.Context(), m.work)
	m.must(err)
	m.took(turn, work, want)
	return turn, work
}

// What is put back comes first again, although fetches look from a mark behind it.
func TestMarksMissNothingPutBack(t *testing.T) {
	t.Parallel()
	m := newMarked(t)
	for range 2 {
		turn, work := m.fetch("i0")
		m.mark(1)
		m.must(m.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{LockToken: turn.LockToken}))
		m.must(m.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: work.LockToken}))
	}
}

// Calls that take look from the mark as fetches do, and what is before it is found when nothing else is there.
func TestTakesLookFromMarks(t *testing.T) {
	t.Parallel()
	m := newMarked(t)
	params := provider.ClaimParams{Turn: &m.turn, Work: []provider.FetchWorkParams{m.work}}
	took := func(taken provider.Claimed, err error) func(want string) provider.Claimed {
		return func(want string) provider.Claimed {
			t.Helper()
			m.must(errors.Join(err, taken.Err))
			if len(taken.Work) != 1 || taken.Turn == nil {
				t.Fatalf("took %d activities and turn %v, want one of each", len(taken.Work), taken.Turn)
			}
			m.took(taken.Turn, taken.Work[0].FetchedWorkItem, want)
			return taken
		}
	}
	m.mark(1)
	taken := took(m.Claim(t.Context(), params))("i1")
	m.mark(3)
	outcomes, taken, err := m.AckWorkAndClaim(t.Context(), []provider.WorkAck{{LockToken: taken.Work[0].LockToken}}, params)
	taken = took(taken, errors.Join(append(outcomes, err)...))("i3")
	m.mark(2)
	ack := provider.AckOrchestrationParams{LockToken: taken.Turn.LockToken, ExecutionID: 1}
	took(m.AckTurnAndClaim(t.Context(), ack, params))("i2")
	took(m.Claim(t.Context(), params))("i0")
}
