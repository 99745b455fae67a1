package mssql_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// amended returns the text of a procedure, and the text with a replacement.
func amended(t *testing.T, schema, procedure, old, replacement string) (whole, changed string) {
	t.Helper()
	text, err := os.ReadFile("../../sql/procedures/" + procedure + ".sql")
	ok(t, err)
	whole, _, _ = strings.Cut(strings.ReplaceAll(string(text), "duroxide.", "["+schema+"]."), "\nGO\n")
	changed = strings.Replace(whole, old, replacement, 1)
	if changed == whole {
		t.Fatalf("the procedure has no %q", old)
	}
	return whole, changed
}

// A Claim whose turn fails while its messages are read gives the turn back: to work on a part of them, and to
// acknowledge all, would lose the others.
func TestTakeOfAPartGivesTheTurnBack(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	const item = "SELECT q.id, q.work_item\n"
	whole, failing := amended(t, schema, "read_turn", item, "SELECT q.id, CASE WHEN q.work_item LIKE N'%second%' "+
		"THEN CAST(1 / (q.attempt_count - q.attempt_count) AS NVARCHAR(MAX)) ELSE q.work_item END AS work_item\n")
	store, err := mssql.New(db, mssql.Options{Schema: schema, MaxRetries: mssql.None})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	ok(t, store.EnqueueForOrchestrator(t.Context(), provider.QueueMessageItem{Instance: "i", Name: "n", Data: "second"}, 0))

	_, err = db.ExecContext(t.Context(), failing)
	ok(t, err)
	taken, err := store.Claim(t.Context(), provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: lease}})
	if err == nil || taken.Turn != nil {
		t.Errorf("took %+v, %v; want nothing, and an error", taken.Turn, err)
	}
	_, err = db.ExecContext(t.Context(), whole)
	ok(t, err)
	taken, err = store.Claim(t.Context(), provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: lease}})
	ok(t, err)
	if taken.Turn == nil || taken.Turn.AttemptCount != 1 || len(taken.Turn.Item.Messages) != 2 {
		t.Errorf("took %+v; want two messages, for the first time", taken.Turn)
	}
}

// What fails while a call takes work does not undo what the call has committed before, and leaves no work locked.
func TestTakeThatFailsUndoesNoCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, procedure, old, replacement string
		known                             *provider.KnownCode
	}{
		// Division by zero, as an example of an error.
		{"reading activities", "fetch_work_item", "COALESCE(@now - q.created_at, 0) AS waited_ms", "1 / (q.id - q.id) AS waited_ms", known("Charge")},
		{"after claiming activities", "fetch_work_item", "        COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);\n", "        COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);\nSET @tries = 1 / (@tries - @tries);\n", known("Charge")},
		{"after claiming activities of any code", "fetch_work_item", "        COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);\n", "        COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);\nSET @tries = 1 / (@tries - @tries);\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
			whole, failing := amended(t, schema, test.procedure, test.old, test.replacement)
			store, err := mssql.New(db, mssql.Options{Schema: schema})
			ok(t, err)
			t.Cleanup(func() { _ = store.Close() })
			ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
			ack := firstTurn("i", anyTurn(t, store).LockToken)
			ack.CancelledActivities = nil
			work := provider.FetchWorkParams{LockTimeout: lease, Known: test.known}
			none, err := store.FetchWorkItem(t.Context(), work) // makes the names known
			ok(t, err)
			if none != nil {
				t.Fatalf("there is %+v before the turn's end", none)
			}
			_, err = db.ExecContext(t.Context(), failing)
			ok(t, err)
			taken, err := store.AckTurnAndClaim(t.Context(), ack, provider.ClaimParams{Work: []provider.FetchWorkParams{work, work}})
			ok(t, err)
			if taken.Err == nil {
				t.Errorf("took %d activities without an error", len(taken.Work))
			}
			_, err = db.ExecContext(t.Context(), whole)
			ok(t, err)
			for _, w := range taken.Work {
				ok(t, store.AbandonWorkItem(t.Context(), provider.AbandonParams{LockToken: w.LockToken, IgnoreAttempt: true}))
			}
			rest, err := store.Claim(t.Context(), provider.ClaimParams{Work: []provider.FetchWorkParams{work, work}})
			ok(t, err)
			if len(rest.Work) != 2 || rest.Work[0].AttemptCount != 1 || rest.Work[1].AttemptCount != 1 {
				t.Errorf("took %+v; want both activities, for the first time", rest.Work)
			}
		})
	}
}

// An error that reaches the caller in a result set counts by its severity as well: here the server lacks a resource
// when an activity ends, and when the next is taken.
func TestTakeTellsSeverities(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	const fails, begin = "RAISERROR (N'Out of something.', 17, 1);\n", "BEGIN TRY\n"
	_, ending := amended(t, schema, "ack_work_item", begin, begin+fails)
	_, taking := amended(t, schema, "fetch_work_item", begin, begin+fails)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForWorker(t.Context(), activity("i", 7)))
	work := provider.FetchWorkParams{LockTimeout: lease}
	held, err := store.FetchWorkItem(t.Context(), work)
	ok(t, err)
	ok(t, store.EnqueueForWorker(t.Context(), activity("i", 8)))
	for _, procedure := range []string{ending, taking} {
		_, err = db.ExecContext(t.Context(), procedure)
		ok(t, err)
	}
	outcomes, taken, err := store.AckWorkAndClaim(
		t.Context(), []provider.WorkAck{{LockToken: held.LockToken}}, provider.ClaimParams{Work: []provider.FetchWorkParams{work}})
	ok(t, err)
	for _, told := range []error{outcomes[0], taken.Err} {
		if !errors.Is(told, mssql.ErrBusy) || !provider.IsRetryable(told) {
			t.Errorf("told of %v; want a server that is busy", told)
		}
	}
}

// A Claim finds an activity although the only turn is in a transaction that stays open.
func TestTakeFindsWorkBesideATransaction(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	ok(t, store.EnqueueForWorker(t.Context(), activity("i", 7)))
	tx, err := db.BeginTx(t.Context(), nil)
	ok(t, err)
	defer func() { _ = tx.Rollback() }()
	ok(t, store.EnqueueTx(t.Context(), tx, start("i"), 0))
	taken, err := store.Claim(t.Context(), provider.ClaimParams{
		Turn: &provider.FetchOrchestrationParams{LockTimeout: lease}, Work: []provider.FetchWorkParams{{LockTimeout: lease}},
	})
	ok(t, err)
	if taken.Turn != nil || len(taken.Work) != 1 {
		t.Errorf("took %+v and %d activities; want one activity", taken.Turn, len(taken.Work))
	}
}

// Entries of one Claim that ask for the same activities keep what they differ in: how long the lease lasts, and whether
// they look only for what nobody knows.
func TestTakeKeepsEntriesApart(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	brief := provider.FetchWorkParams{LockTimeout: lease, Known: known("Charge")}
	long, unknown := brief, brief
	long.LockTimeout, unknown.UnknownFor = 100*lease, lease
	none, err := store.FetchWorkItem(t.Context(), brief) // makes the names known
	ok(t, err)
	if none != nil {
		t.Fatalf("there is %+v before any was sent", none)
	}
	for id := range uint64(3) {
		ok(t, store.EnqueueForWorker(t.Context(), activity("i", id+1)))
	}
	taken, err := store.Claim(t.Context(), provider.ClaimParams{Work: []provider.FetchWorkParams{unknown, brief, long}})
	ok(t, err)
	if len(taken.Work) != 2 || taken.Work[0].For != 1 || taken.Work[1].For != 2 {
		t.Fatalf("took %+v; want an activity for each entry but the first", taken.Work)
	}
	for _, w := range taken.Work {
		var ms int64
		ok(t, db.QueryRowContext(t.Context(), "SELECT q.locked_until - q.created_at FROM ["+schema+"].worker_queue AS q WHERE q.lock_token = @p1", w.LockToken[:36]).Scan(&ms))
		if lasts := ms >= 50*lease.Milliseconds(); lasts != (w.For == 2) {
			t.Errorf("the lease of entry %d lasts about %d ms", w.For, ms)
		}
	}
}

// A Claim that has taken nothing because another call got in its way is repeated, as a fetch is: here two add the same
// session.
func TestTakeIsRepeated(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.DB(t), mssqltest.NewSchema(t)
	const begin, insert = "BEGIN TRY\n", "INSERT INTO duroxide.sessions (session_id, worker_id, locked_until, last_activity_at) VALUES (N'raced', N'w', 1, 1);\n"
	race := strings.ReplaceAll("IF NOT EXISTS (SELECT 1 FROM duroxide.sessions)\nBEGIN\n"+insert+insert+"END;\n", "duroxide.", "["+schema+"].")
	_, racing := amended(t, schema, "fetch_work_item", begin, begin+race)
	store, err := mssql.New(db, mssql.Options{Schema: schema})
	ok(t, err)
	t.Cleanup(func() { _ = store.Close() })
	ok(t, store.EnqueueForWorker(t.Context(), activity("i", 7)))
	_, err = db.ExecContext(t.Context(), racing)
	ok(t, err)
	taken, err := store.Claim(t.Context(), provider.ClaimParams{Work: []provider.FetchWorkParams{{LockTimeout: lease}}})
	ok(t, err)
	if len(taken.Work) != 1 || taken.Work[0].AttemptCount != 1 {
		t.Errorf("took %+v; want the activity", taken.Work)
	}
}
