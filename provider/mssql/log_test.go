package mssql

import (
	"bytes"
	"database/sql"
	"log/slog"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// The log tells what nobody else would be told, and no payloads: neither of what cannot be decoded, whatever the
// decoder says of it, nor of what was dropped. The name of an unknown kind of message is none: it is what tells that a
// later release has sent it.
func TestLog(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	for name, garbled := range map[string]string{
		"no JSON":            "s3cret",
		"a string":           `"s3cret"`,
		"an unknown message": `{"NoSuchMessage":{"instance":"i","input":"s3cret"}}`,
		"an unknown member":  `{"StartOrchestration":{"s3cret":"s3cret"}}`,
		"cut short":          `{"ActivityExecute":{"input":"s3cret`,
		"another type":       `{"ActivityExecute":{"instance":"i","execution_id":"s3cret"}}`,
	} {
		log := logOf(t, db, schema, garbled)
		for _, want := range []string{
			"level=WARN msg=\"dropped queue messages of an instance that does not exist\" instance_id=nobody count=2\n",
			"activity=false kind=", "instance_id=garbled ",
			"activity=true kind=", "instance_id=working ",
		} {
			if !strings.Contains(log, want) {
				t.Errorf("%s: the log lacks %q:\n%s", name, want, log)
			}
		}
		if strings.Count(log, "level=ERROR msg=\"set a message aside") != 2 || strings.Count(log, "\n") != 3 {
			t.Errorf("%s: the log does not consist of two messages set aside and one warning:\n%s", name, log)
		}
		if strings.Contains(log, "s3cret") {
			t.Errorf("%s: the log holds a payload:\n%s", name, log)
		}
	}
}

// logOf is what a store logs that fetches a message and an activity with such contents, and messages that belong to
// nobody.
func logOf(t *testing.T, db *sql.DB, schema, garbled string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	s, err := New(db, Options{Schema: schema, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(err)
	defer s.Close()
	ctx, hooks := t.Context(), hooksOf(db, schema)
	for range 2 {
		must(s.EnqueueForOrchestrator(ctx, provider.QueueMessageItem{Instance: "nobody", Name: "inbox", Data: "s3cret"}, 0))
	}
	must(s.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{Instance: "garbled", Orchestration: "o", ExecutionID: 1}, 0))
	must(hooks.CorruptOrchestratorItem(ctx, "garbled", garbled))
	must(s.EnqueueForWorker(ctx, provider.ActivityExecuteItem{Instance: "working", ExecutionID: 1, ID: 2}))
	must(hooks.CorruptWorkItem(ctx, provider.ActivityRef{Instance: "working", ExecutionID: 1, ActivityID: 2}, garbled))
	if turn, err := s.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: long}); turn != nil || err != nil {
		t.Errorf("fetched %v, %v", turn, err)
	}
	if work, err := s.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: long}); work != nil || err != nil {
		t.Errorf("fetched %v, %v", work, err)
	}
	must(s.Close())
	return log.String()
}
