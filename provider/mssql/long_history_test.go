package mssql_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// Rule Q9: a turn of a worker that knows the history reads as little of a long one as of a short one, with plans that
// were made when there was no history, and so does appending to it.
func TestTurnsOfLongHistoriesStayCheap(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	// One connection, so that one session does all the reading.
	conn, err := db.Conn(t.Context())
	ok(t, err)
	defer func() { ok(t, conn.Close()) }()
	l := &longHistory{claimer: claimer{conn: conn, queries: queriesOn(conn, schema)}}
	l.grow(t, 10)
	l.turn(t) // compiles
	turnBefore, appendBefore := l.reads(t)
	l.grow(t, 5_000)
	turnAfter, appendAfter := l.reads(t)
	t.Logf("a turn reads %d pages of a short history and %d of a long one; appending reads %d and %d", turnBefore, turnAfter, appendBefore, appendAfter)
	// The index has grown by a level or two.
	if turnAfter > turnBefore+claimReads || appendAfter > appendBefore+claimReads {
		t.Errorf("with %d events a turn reads %d pages and appending %d, with few %d and %d", l.events, turnAfter, appendAfter, turnBefore, appendBefore)
	}
}

// A longHistory is that of one instance, to which one connection adds.
type longHistory struct {
	claimer

	events int64
}

// next are the events that follow.
func (l *longHistory) next(n int) []mssqldb.EventListV1Row {
	rows := make([]mssqldb.EventListV1Row, n)
	for i := range rows {
		l.events++
		rows[i] = mssqldb.EventListV1Row{Position: int32(i), EventID: l.events, EventType: "OrchestrationStarted", EventData: "{}", DataBytes: 2}
	}
	return rows
}

// grow appends so many events outside a turn.
func (l *longHistory) grow(t *testing.T, n int) {
	t.Helper()
	ok(t, l.queries.AppendWithExecution(t.Context(), mssqldb.AppendWithExecutionParams{InstanceID: "long", ExecutionID: 1, Events: l.next(n)}))
}

// turn fetches a message with the last event, and commits two more.
func (l *longHistory) turn(t *testing.T) {
	t.Helper()
	ctx, limit := t.Context(), l.events-1
	ok(t, l.queries.EnqueueForOrchestrator(ctx, mssqldb.EnqueueForOrchestratorParams{InstanceID: "long", Kind: 2, WorkItem: "{}"}))
	fetched, err := takeTurn(ctx, l.queries, mssqldb.TurnClaimV1Row{LockToken: lockToken("turn"), HistoryLimit: &limit})
	ok(t, err)
	if fetched.Item == nil || len(fetched.History) != 1 {
		t.Fatalf("found the instance: %t, with %d events, want the last", fetched.Item != nil, len(fetched.History))
	}
	_, err = l.queries.AckOrchestrationItem(ctx, mssqldb.AckOrchestrationItemParams{InstanceID: "long", LockToken: lockToken("turn"), ExecutionID: 1, Events: l.next(2)})
	ok(t, err)
}

// reads is how many pages a turn reads, and how many the append of an event.
func (l *longHistory) reads(t *testing.T) (turn, grow int64) {
	t.Helper()
	ctx := t.Context()
	first := l.pages(ctx, t)
	l.turn(t)
	second := l.pages(ctx, t)
	l.grow(t, 1)
	return second - first, l.pages(ctx, t) - second
}

// A history that was deleted while it was read is read again.
func TestHistoryIsReadAgain(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	names := "[" + schema + "].code_names"
	const whole = "SELECT CAST(CASE WHEN @started_at IS NULL OR EXISTS (\n"
	_, torn := amended(t, schema, "read_history", whole, "INSERT INTO "+names+" (name, version) SELECT N'read', COUNT(*) FROM "+names+";\n"+
		"SELECT CAST(CASE WHEN (SELECT COUNT(*) FROM "+names+" AS n WHERE n.name = N'read') = 2 AND EXISTS (\n")
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	ok(t, store.AckOrchestrationItem(t.Context(), firstTurn("i", anyTurn(t, store).LockToken)))
	want, err := store.ReadHistory(t.Context(), "i")
	ok(t, err)
	_, err = db.ExecContext(t.Context(), torn)
	ok(t, err)
	got, err := store.ReadHistory(t.Context(), "i")
	ok(t, err)
	if len(got) == 0 || len(got) != len(want) {
		t.Errorf("read %d events; want %d", len(got), len(want))
	}
	var times int
	ok(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+names+" AS n WHERE n.name = N'read'").Scan(&times))
	if times != 2 {
		t.Errorf("read %d times; want 2", times)
	}
}
