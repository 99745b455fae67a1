package mssql_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// known is a set of names, without versions.
func known(names ...string) *provider.KnownCode {
	list := make([]provider.CodeName, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return provider.Know(list...)
}

// startOf starts an instance of an orchestration.
func startOf(instance, orchestration string) provider.WorkItem {
	return provider.StartOrchestrationItem{Instance: instance, Orchestration: orchestration, ExecutionID: 1}
}

// activityOf is an activity of an instance of its own.
func activityOf(instance, name string) provider.WorkItem {
	return provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: 2, Name: name}
}

// fetchKnown fetches an instance or an activity and returns the instance's id, "" if there is none for the set.
func fetchKnown(ctx context.Context, store *mssql.Store, set *provider.KnownCode, activity bool) (instance string, err error) {
	if activity {
		work, err := store.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease, Known: set})
		if work == nil {
			return "", err
		}
		return work.Item.Target(), err
	}
	turn, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease, Known: set})
	if turn == nil {
		return "", err
	}
	return turn.Item.Instance, err
}

// bothQueues runs a test for orchestrations and for activities. enqueue adds work of a name.
func bothQueues(t *testing.T, run func(t *testing.T, activity bool, enqueue func(store *mssql.Store, instance, name string) error)) {
	t.Helper()
	t.Run("instances", func(t *testing.T) {
		t.Parallel()
		run(t, false, func(store *mssql.Store, instance, name string) error {
			return store.EnqueueForOrchestrator(t.Context(), startOf(instance, name), 0)
		})
	})
	t.Run("activities", func(t *testing.T) {
		t.Parallel()
		run(t, true, func(store *mssql.Store, instance, name string) error {
			return store.EnqueueForWorker(t.Context(), activityOf(instance, name))
		})
	})
}

// Rule Q3: many claimers with different sets, which overlap, claim each piece of work once, and only what their set
// has. What no set has is neither locked nor counted.
func TestClaimersOfDifferentSets(t *testing.T) {
	t.Parallel()
	const claimers, names = 16, 6
	n := items(t)
	bothQueues(t, func(t *testing.T, activity bool, enqueue func(*mssql.Store, string, string) error) {
		t.Helper()
		store := crowdedStore(t, claimers, mssql.Options{})
		together(t, 8, func(_ context.Context, first int) error {
			for i := first; i < n; i += 8 {
				// One name more than all sets together have.
				if err := enqueue(store, fmt.Sprintf("%d of name %d", i, i%(names+1)), fmt.Sprintf("name %d", i%(names+1))); err != nil {
					return err
				}
			}
			return nil
		})
		var claimed ledger
		together(t, claimers, func(ctx context.Context, i int) error {
			mine := []string{fmt.Sprintf("name %d", i%names), fmt.Sprintf("name %d", (i+1)%names)}
			set := known(mine...)
			for {
				instance, err := fetchKnown(ctx, store, set, activity)
				if err != nil || instance == "" {
					return err
				}
				if !strings.HasSuffix(instance, mine[0]) && !strings.HasSuffix(instance, mine[1]) {
					return fmt.Errorf("who knows %q got %q", mine, instance)
				}
				claimed.add(instance)
			}
		})
		foreign := 0
		for i := range n {
			if i%(names+1) == names {
				foreign++
			}
		}
		claimed.check(t, n-foreign)
		for range foreign {
			turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease})
			ok(t, err)
			work, err := fetchWork(t.Context(), store)
			ok(t, err)
			if turn != nil && turn.AttemptCount != 1 || work != nil && work.AttemptCount != 1 || turn == nil && work == nil {
				t.Fatalf("what nobody knows was locked or counted: %+v %+v", turn, work)
			}
		}
	})
}

// Rule Q1: a fetch neither waits for work that its set does not have, whoever holds that, nor holds any of it itself.
func TestFetchesLeaveForeignRowsAlone(t *testing.T) {
	t.Parallel()
	bothQueues(t, func(t *testing.T, activity bool, enqueue func(*mssql.Store, string, string) error) {
		t.Helper()
		db, schema := mssqltest.Pooled(t)
		store := storeOn(t, mssqltest.DSN(t), schema, 2)
		ok(t, enqueue(store, "foreign", "Foreign"))
		ok(t, enqueue(store, "mine", "Mine"))
		set := known("Mine")
		table := map[bool]string{false: "inboxes", true: "worker_queue"}[activity]

		// Somebody holds what is foreign: a fetch that met it would time out, and say that there is nothing.
		writer, err := db.BeginTx(t.Context(), nil)
		ok(t, err)
		_, err = writer.ExecContext(t.Context(), fmt.Sprintf("UPDATE [%s].%s SET wake_at = wake_at WHERE instance_id = N'foreign'", schema, table))
		ok(t, err)
		instance, err := fetchKnown(t.Context(), store, set, activity)
		ok(t, err)
		if instance != "mine" {
			t.Errorf("fetched %q beside a foreign row that is locked", instance)
		}
		// Nor does the last look wait, for which the procedure would fail.
		ok(t, fetchBy(t.Context(), queriesOn(db, schema), set, activity))
		ok(t, writer.Rollback())

		// A fetch that has not ended, since it is part of a transaction, holds nothing foreign.
		ok(t, enqueue(store, "mine too", "Mine"))
		fetcher, err := db.BeginTx(t.Context(), nil)
		ok(t, err)
		ok(t, fetchBy(t.Context(), queriesOn(fetcher, schema), set, activity))
		for instance, want := range map[string]int{"foreign": 1, "mine too": 0} {
			free := one[int](t, db, schema, `SELECT COUNT(*) FROM %s.`+table+` AS b WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK)
				WHERE b.instance_id = @p1 AND COALESCE(b.locked_until, 0) >= 0`, instance)
			if free != want {
				t.Errorf("%d rows of %q are free, want %d", free, instance, want)
			}
		}
		ok(t, fetcher.Rollback())
	})
}

// fetchBy calls the procedure that fetches an instance, or an untagged activity, of a set.
func fetchBy(ctx context.Context, q *mssqldb.Queries, set *provider.KnownCode, activity bool) error {
	digest := set.Digest()
	if activity {
		return second(q.FetchWorkItem(ctx, mssqldb.FetchWorkItemParams{Work: []mssqldb.TakeListV1Row{{
			LockToken: lockToken("t"), LockMs: lease.Milliseconds(), Tag1: new(""), Known: digest[:],
		}}}))
	}
	return second(takeTurn(ctx, q, mssqldb.TurnClaimV1Row{LockToken: lockToken("t"), Known: digest[:]}))
}

// A set of names travels once: the first fetch that names it registers it and is run again, whichever store of
// whichever process it is, and each fetch after that is one call.
func TestSetsAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	_, schema := mssqltest.Pooled(t)
	p := newTap(t)
	set := known("Order", "Refund")
	fetches := func(store *mssql.Store) (names []string) {
		for _, activity := range []bool{false, true} {
			_, err := fetchKnown(t.Context(), store, set, activity)
			ok(t, err)
		}
		requests, counts := p.taken()
		if diff := cmp.Diff(tdsproxy.Counts{RPCs: len(requests)}, counts); diff != "" {
			t.Error(diff)
		}
		for _, r := range requests {
			names = append(names, procedureOf(schema, r))
		}
		return names
	}
	store := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	p.taken()
	const turns, register, work = "take", "register_known_code", "fetch_work_item"
	if diff := cmp.Diff([]string{turns, register, turns, work, register, work}, fetches(store)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{turns, work}, fetches(store)); diff != "" {
		t.Error(diff)
	}
	another := storeOn(t, mssqltest.Via(t, p.Addr()), schema, 1)
	p.taken()
	if diff := cmp.Diff([]string{turns, work}, fetches(another)); diff != "" {
		t.Error(diff)
	}
}

// A set that no fetch has named for a week goes when another is registered. Who has it nevertheless registers it again.
func TestOldSetsGo(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store := storeOn(t, mssqltest.DSN(t), schema, 1)
	sets := func() int { return one[int](t, db, schema, "SELECT COUNT(*) FROM %s.known_code") }
	names := func() int { return one[int](t, db, schema, "SELECT COUNT(*) FROM %s.known_code_names") }
	fetch := func(names ...string) {
		t.Helper()
		_, err := fetchKnown(t.Context(), store, known(names...), true)
		ok(t, err)
	}
	fetch("a", "b", "c")
	fetch("d")
	age(t, db, schema, 7*86_400_000+1)
	fetch("d")
	if sets() != 2 || names() != 4 {
		t.Errorf("a fetch leaves %d sets and %d names", sets(), names())
	}
	fetch("e")
	if sets() != 2 || names() != 2 {
		t.Errorf("of the sets of last week, today and now %d are left, with %d names", sets(), names())
	}
	ok(t, store.EnqueueForWorker(t.Context(), activityOf("i", "c")))
	if instance, err := fetchKnown(t.Context(), store, known("a", "b", "c"), true); err != nil || instance != "i" {
		t.Errorf("fetched %q, %v", instance, err)
	}
}

// age makes all sets, messages and activities older.
func age(t *testing.T, db *sql.DB, schema string, ms int64) {
	t.Helper()
	for _, column := range []string{"known_code.seen_at", "orchestrator_queue.visible_at", "worker_queue.visible_at"} {
		table, name, _ := strings.Cut(column, ".")
		_, err := db.ExecContext(t.Context(), fmt.Sprintf("UPDATE [%s].%s SET %s = %[3]s - @p1", schema, table, name), ms)
		ok(t, err)
	}
}

// An attempt of a fetch without names, which was put back, is no attempt as long as the store remembers who had the
// code.
func TestUnnamedAttemptIsGivenBack(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store := storeOn(t, mssqltest.DSN(t), schema, 1)
	ctx := t.Context()
	for _, activity := range []bool{false, true} {
		_, err := fetchKnown(ctx, store, known("A"), activity)
		ok(t, err)
	}
	ok(t, store.EnqueueForOrchestrator(ctx, startOf("i", "A"), 0))
	ok(t, store.EnqueueForWorker(ctx, activityOf("i", "A")))
	want := func(attempts ...uint32) {
		t.Helper()
		for _, attempt := range attempts {
			turn, err := store.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
			ok(t, err)
			work, err := store.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: lease})
			ok(t, err)
			if turn == nil || work == nil || turn.AttemptCount != attempt || work.AttemptCount != attempt {
				t.Fatalf("fetched %+v and %+v, want attempt %d", turn, work, attempt)
			}
			ok(t, store.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: turn.LockToken}))
			ok(t, store.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: work.LockToken}))
		}
	}
	age(t, db, schema, provider.LiveFor.Milliseconds())
	want(1, 1)
	age(t, db, schema, 7*86_400_000)
	want(1, 2, 3)
}

// GetQueueDepths counts what waits for code that nobody has known for [provider.LiveFor].
func TestDepthsOfUnknownWork(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	store := storeOn(t, mssqltest.DSN(t), schema, 1)
	for i, name := range []string{"Known", "Unknown", "Unknown", "Forgotten"} {
		instance := fmt.Sprintf("%s %d", name, i)
		ok(t, store.EnqueueForOrchestrator(t.Context(), startOf(instance, name), 0))
		ok(t, store.EnqueueForWorker(t.Context(), activityOf(instance, name)))
	}
	check := func(orchestrations, activities uint64) {
		t.Helper()
		depths, err := store.Admin().GetQueueDepths(t.Context())
		ok(t, err)
		if depths.UnknownOrchestrations != orchestrations || depths.UnknownActivities != activities {
			t.Errorf("%+v; want %d and %d of unknown code", depths, orchestrations, activities)
		}
	}
	for _, activity := range []bool{false, true} {
		_, err := fetchKnown(t.Context(), store, known("Forgotten", "none"), activity)
		ok(t, err)
	}
	check(3, 3)
	age(t, db, schema, provider.LiveFor.Milliseconds())
	// Those that were fetched are leased.
	check(3, 3)
	instance, err := fetchKnown(t.Context(), store, known("Known"), false)
	ok(t, err)
	if instance == "" {
		t.Error("what is known is not fetched")
	}
	check(2, 3)
}

// Rule Q10: names that nobody has met before arrive from many at once, alone and in turns, in any order. Nothing is
// repeated here, so a deadlock or a duplicate would be an error.
func TestNewNamesFromManyAtOnce(t *testing.T) {
	t.Parallel()
	const senders, names = 16, 12
	db, schema := mssqltest.Pooled(t)
	store := open(t, mssqltest.DSN(t), mssql.Options{Schema: schema, MaxOpenConns: senders, MaxRetries: mssql.None})
	together(t, senders, func(ctx context.Context, i int) error {
		order := make([]string, names)
		for n := range order {
			order[n] = fmt.Sprintf("name %d", (n+i)%names)
		}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		switch i % 3 {
		case 0:
			_, err := fetchKnown(ctx, store, known(slices.Concat(order, []string{fmt.Sprint(i)})...), i%2 == 0)
			return err
		case 1:
			for n, name := range order {
				if err := store.EnqueueForOrchestrator(ctx, startOf(fmt.Sprintf("i%d-%d", i, n), name), 0); err != nil {
					return err
				}
			}
			return nil
		}
		return turnWith(t, store, fmt.Sprintf("i%d", i), order)
	})
	if n := one[int](t, db, schema, "SELECT COUNT(*) FROM %s.code_names AS n WHERE n.name LIKE N'name %%'"); n != names {
		t.Errorf("%d names have a number, want %d", n, names)
	}
	if n := one[int](t, db, schema, "SELECT COUNT(*) FROM %s.worker_queue AS q WHERE q.code_id = 0"); n != 0 {
		t.Errorf("%d activities have no name", n)
	}
}

// turnWith runs the first turn of a new instance, which schedules an activity of each name.
func turnWith(t *testing.T, store *mssql.Store, instance string, names []string) error {
	t.Helper()
	if err := store.EnqueueForOrchestrator(t.Context(), startOf(instance, instance), 0); err != nil {
		return err
	}
	turn, err := store.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Known: known(instance)})
	if err != nil || turn == nil {
		return fmt.Errorf("fetched %+v of %s: %w", turn, instance, err)
	}
	params := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}
	for i, name := range names {
		params.WorkerItems = append(params.WorkerItems, provider.ActivityExecuteItem{
			Instance: turn.Item.Instance, ExecutionID: 1, ID: uint64(i) + 2, Name: name,
		})
	}
	// Sessions add a name one after the other, and one that has waited for a second gets error 1222: nothing was
	// stored, and the call is to be made again. A slow machine has such waits. What is not allowed is another error.
	for {
		if err := store.AckOrchestrationItem(t.Context(), params); !hasNumber(err, 1222) {
			return err
		}
	}
}
