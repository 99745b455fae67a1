package mssql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/internal/testsupport/mssqltest"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// listForms are the two ways in which lists travel. Babelfish has only one of them.
func listForms(t *testing.T) map[string][]mssqldb.Option {
	t.Helper()
	forms := map[string][]mssqldb.Option{"documents": {mssqldb.WithTablesAsJSON()}}
	if !mssqltest.Server(t).Babelfish {
		forms["native"] = nil
	}
	return forms
}

// queriesOn are the procedures of a schema in the form that the server takes.
func queriesOn(t *testing.T, db mssqldb.DBTX, schema string, options ...mssqldb.Option) *mssqldb.Queries {
	t.Helper()
	if mssqltest.Server(t).Babelfish {
		options = append(options, mssqldb.WithTablesAsJSON())
	}
	return mssqldb.New(db, append(options, mssqldb.WithSchema(mssql.DefaultSchema, schema))...)
}

// badLists spoil one list each: two rows in the same place, which its table type refuses. An INSERT that fails with that
// ends itself and nothing else.
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

// TestListThatFailsCommitsNothing is about a turn one of whose lists the server refuses: the procedure never runs without
// it. The turn can still be committed, with its history, by its own token.
func TestListThatFailsCommitsNothing(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	for form, options := range listForms(t) {
		for list, spoil := range badLists {
			name := form + " " + list
			q := queriesOn(t, db, schema, options...)
			ok(t, q.EnqueueForOrchestrator(t.Context(), mssqldb.EnqueueForOrchestratorParams{InstanceID: name, Kind: 2, WorkItem: "{}"}))
			turn, err := q.FetchOrchestrationItem(t.Context(), mssqldb.FetchOrchestrationItemParams{LockToken: lockToken(name), LockMs: lease.Milliseconds()})
			ok(t, err)
			if turn.Item == nil {
				t.Fatalf("%s: nothing to fetch", name)
			}
			good := mssqldb.AckOrchestrationItemParams{LockToken: lockToken(name), ExecutionID: 1, Events: []mssqldb.EventListV1Row{
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
}

// TestListsTravelUnchanged sends lists in both forms and reads back what arrived: what ends a string in T-SQL or JSON, is
// escaped in the documents, takes two units, is empty, is NULL, or is longer than 8,000 bytes; and numbers at their ends.
func TestListsTravelUnchanged(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	texts := []string{
		"", "a", "it's", `"quoted" \ /`, "~0~1~", "{\"a\":[1,null]}", "line\r\nline\ttab", "é😀\U0010FFFF", "\u2028\ufeff", " blank ",
		"N'; DROP TABLE x --", strings.Repeat("~'\"😀", 5000),
	}
	for form, options := range listForms(t) {
		q := queriesOn(t, db, schema, options...)
		instance := "instance of " + form
		events := make([]mssqldb.EventListV1Row, len(texts))
		for i, text := range texts {
			events[i] = mssqldb.EventListV1Row{Position: int32(i), EventID: 1<<62 + int64(i), EventType: "Type", EventData: text, DataBytes: int64(len(text))}
		}
		ok(t, q.AppendWithExecution(t.Context(), mssqldb.AppendWithExecutionParams{InstanceID: instance, ExecutionID: 1, Events: events}))
		for i, text := range texts {
			got := one[string](t, db, schema, "SELECT event_data FROM %s.history WHERE instance_id = @p1 AND event_id = @p2", instance, events[i].EventID)
			if diff := cmp.Diff(text, got); diff != "" {
				t.Errorf("%s: text %d: %s", form, i, diff)
			}
		}
	}
}
