package mssql_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mssqldriver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// queriesOn are the procedures of a schema.
func queriesOn(db mssqldb.DBTX, schema string) *mssqldb.Queries {
	return mssqldb.New(db, mssqldb.WithSchema(mssql.DefaultSchema, schema))
}

// takeTurn claims a turn.
func takeTurn(ctx context.Context, q *mssqldb.Queries, claim mssqldb.TurnClaimV1Row) (mssqldb.TakeResult, error) {
	claim.LockMs = lease.Milliseconds()
	r, err := q.Take(ctx, mssqldb.TakeParams{Turn: []mssqldb.TurnClaimV1Row{claim}})
	if err == nil && r.FailureReturned {
		err = mssqldriver.Error{Number: r.Failure.ErrorNumber, Message: r.Failure.ErrorMessage}
	}
	return r, err
}

// badLists spoil one list each: two rows in the same place, which its table type refuses. An INSERT that fails with
// that ends itself and nothing else.
var badLists = map[string]func(*mssqldb.AckOrchestrationItemParams){
	"events": func(p *mssqldb.AckOrchestrationItemParams) { p.Events = append(p.Events, p.Events[0]) },
	"changes": func(p *mssqldb.AckOrchestrationItemParams) {
		p.Changes = []mssqldb.KVListV1Row{{KVKey: "a"}, {KVKey: "b"}}
	},
	"messages": func(p *mssqldb.AckOrchestrationItemParams) {
		row := mssqldb.MessageListV1Row{InstanceID: "other", Kind: 2, WorkItem: "{}"}
		p.Messages = []mssqldb.MessageListV1Row{row, row}
	},
	"activities": func(p *mssqldb.AckOrchestrationItemParams) {
		p.Activities = []mssqldb.WorkListV1Row{{InstanceID: "i", ExecutionID: 1, ActivityID: 2, WorkItem: "{}"}, {InstanceID: "i", ExecutionID: 1, ActivityID: 3, WorkItem: "{}"}}
	},
	"cancelled": func(p *mssqldb.AckOrchestrationItemParams) {
		row := mssqldb.ActivityListV1Row{InstanceID: "i", ExecutionID: 1, ActivityID: 2}
		p.Cancelled = []mssqldb.ActivityListV1Row{row, row}
	},
}

// TestListThatFailsCommitsNothing is about a turn one of whose lists the server refuses: the procedure never runs
// without it. The turn can still be committed, with its history, by its own token.
func TestListThatFailsCommitsNothing(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	q := queriesOn(db, schema)
	for name, spoil := range badLists {
		ok(t, q.EnqueueForOrchestrator(t.Context(), mssqldb.EnqueueForOrchestratorParams{InstanceID: name, Kind: 2, WorkItem: "{}"}))
		turn, err := takeTurn(t.Context(), q, mssqldb.TurnClaimV1Row{LockToken: lockToken(name)})
		ok(t, err)
		if turn.Item == nil {
			t.Fatalf("%s: nothing to fetch", name)
		}
		good := mssqldb.AckOrchestrationItemParams{InstanceID: name, LockToken: lockToken(name), ExecutionID: 1, Events: []mssqldb.EventListV1Row{
			{Position: 0, EventID: 1, EventType: "A", EventData: "{}", DataBytes: 2},
		}}
		bad := good
		spoil(&bad)
		if _, err := q.AckOrchestrationItem(t.Context(), bad); err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := one[int](t, db, schema, "SELECT COUNT(*) FROM %s.history WHERE instance_id = @p1", name); n != 0 {
			t.Errorf("%s: %d events are stored", name, n)
		}
		if _, err := q.AckOrchestrationItem(t.Context(), good); err != nil {
			t.Errorf("%s: the turn is gone: %v", name, err)
		}
		if n := one[int](t, db, schema, "SELECT COUNT(*) FROM %s.history WHERE instance_id = @p1", name); n != 1 {
			t.Errorf("%s: %d events are stored in the end", name, n)
		}
	}
}

// TestListsTravelUnchanged sends lists and reads back what arrived: texts that end a string in T-SQL or JSON, take two
// units, are empty, or are longer than 8,000 bytes; what is NULL; the ends of numbers; and tokens, whose bytes T-SQL
// has in an order of its own.
func TestListsTravelUnchanged(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	texts := []string{
		"", "a", "it's", `"quoted" \ /`, "~0~1~", "{\"a\":[1,null]}", "a line\r\nand a\ttab", "é😀\U0010FFFF", "\u2028\ufeff", " blank ",
		"N'; DROP TABLE x --", strings.Repeat("~'\"😀", 5000),
	}
	const instance = "instance"
	q := queriesOn(db, schema)
	events := make([]mssqldb.EventListV1Row, len(texts))
	for i, text := range texts {
		events[i] = mssqldb.EventListV1Row{Position: int32(i), EventID: 1<<62 + int64(i), EventType: "Type", EventData: text, DataBytes: int64(len(text))}
	}
	ok(t, q.AppendWithExecution(t.Context(), mssqldb.AppendWithExecutionParams{InstanceID: instance, ExecutionID: 1, Events: events}))
	for i, text := range texts {
		got := one[string](t, db, schema, "SELECT event_data FROM %s.history WHERE instance_id = @p1 AND event_id = @p2", instance, events[i].EventID)
		if diff := cmp.Diff(text, got); diff != "" {
			t.Errorf("text %d: %s", i, diff)
		}
	}
	turn, work := lockToken("turn"), lockToken("work")
	ok(t, q.EnqueueForOrchestrator(t.Context(), mssqldb.EnqueueForOrchestratorParams{InstanceID: instance, Kind: 2, WorkItem: "{}"}))
	_, err := takeTurn(t.Context(), q, mssqldb.TurnClaimV1Row{LockToken: turn})
	ok(t, err)
	_, err = q.AckOrchestrationItem(t.Context(), mssqldb.AckOrchestrationItemParams{
		InstanceID: instance, LockToken: turn, ExecutionID: 1, Activities: []mssqldb.WorkListV1Row{
			{Position: math.MinInt32, InstanceID: instance, ExecutionID: 1, ActivityID: math.MaxInt64, Tag: "É", WorkItem: "{}"},
			{Position: math.MaxInt32, InstanceID: instance, ExecutionID: 1, ActivityID: math.MinInt64, SessionID: new("É"), WorkItem: "{}"},
		},
	})
	ok(t, err)
	got := one[string](t, db, schema, `SELECT CONCAT(MIN(activity_id), ' ', MIN(session_id), ' ', COUNT(session_id), ' ', MIN(tag), ' ', MAX(tag), ' ', MAX(activity_id))
		FROM %s.worker_queue WHERE instance_id = @p1`, instance)
	if want := fmt.Sprintf("%d É 1  É %d", int64(math.MinInt64), int64(math.MaxInt64)); got != want {
		t.Errorf("the activities are %s, want %s", got, want)
	}
	held, err := q.FetchWorkItem(t.Context(), mssqldb.FetchWorkItemParams{Work: []mssqldb.TakeListV1Row{{LockToken: work, LockMs: lease.Milliseconds(), AnyTag: true}}})
	ok(t, err)
	lost, err := q.ListLostWork(t.Context(), mssqldb.ListLostWorkParams{Tokens: []mssqldb.TokenListV1Row{
		{Position: 1, ID: held.Work[0].ID, LockToken: work}, {Position: 2, ID: held.Work[0].ID, LockToken: turn},
	}})
	ok(t, err)
	if diff := cmp.Diff([]mssqldb.ListLostWorkLostRow{{Position: 2}}, lost.Lost); diff != "" {
		t.Errorf("of the tokens are lost: %s", diff)
	}
}
