package worker_test

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// logLines is a log that is received line by line.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// onBothDatabases is onBothStores with what is below: a schema is the prefix of a table's name.
func onBothDatabases(t *testing.T, test func(t *testing.T, store provider.Provider, db *sql.DB, schema string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(30000)")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		test(t, store, db, "")
	})
	t.Run("mssql", func(t *testing.T) {
		t.Parallel()
		db, schema := mssqltest.Pooled(t)
		store, err := mssql.New(db, mssql.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, store, db, "["+schema+"].")
	})
}

// An activity of another release was set aside without a word, and its instance waited for ever. It is told, and goes
// on when the letter is sent again.
func TestSetAsideIsTold(t *testing.T) {
	t.Parallel()
	onBothDatabases(t, testSetAside)
}

func testSetAside(t *testing.T, store provider.Provider, db *sql.DB, schema string) { //nolint:thelper // it is the test
	call := orchestration.New("CallsLater", func(ctx *orchestration.Context, text string) (string, error) {
		ctx.SetCustomStatus("waiting")
		return orchestration.Activity(ctx, echo, text).Await()
	})
	replace := func(table, from, to string) {
		t.Helper()
		statement := "UPDATE " + schema + table + " SET work_item = REPLACE(work_item, '\"" + from + "\"', '\"" + to + "\"')"
		result, err := db.ExecContext(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			t.Fatalf("%d rows were changed, error %v", n, err)
		}
	}
	stop := runWorker(t, store, worker.Options{ActivityConcurrency: worker.None}, call)
	run := start(t, store, call, "top secret")
	waitForStatus(t, store, t.Name())
	stop()
	replace("worker_queue", "ActivityExecute", "ActivityExecuteV2")

	log := make(logLines, 100)
	stop = runWorker(t, store, worker.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, call, echo)
	line := receive(t, "a line of the log", log)
	for _, want := range []string{
		"level=ERROR", "set aside an activity that it cannot decode", "duroxide dead-letters", "instance_id=" + t.Name(), "kind=ActivityExecuteV2", "unknown work item",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the log has no %q: %s", want, line)
		}
	}
	if strings.Contains(line, "secret") {
		t.Errorf("the log has a payload: %s", line)
	}
	letters, ok := store.(provider.Store)
	if !ok {
		t.Fatal("the store gives no access to dead letters")
	}
	list, err := letters.ListDeadLetters(t.Context(), provider.DeadLetterQuery{InstanceID: t.Name()})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d letters, error %v; want 1", len(list), err)
	}
	replace("dead_letters", "ActivityExecuteV2", "ActivityExecute") // the release that wrote it is back
	if found, err := letters.RequeueDeadLetter(t.Context(), list[0].ID); !found || err != nil {
		t.Fatalf("found %v, error %v", found, err)
	}
	if got := result(t, run); got != "top secret" {
		t.Errorf("the result is %q", got)
	}
	stop()
	for len(log) > 0 {
		if line := <-log; strings.Contains(line, "set aside") {
			t.Errorf("it was told again: %s", line)
		}
	}
}
