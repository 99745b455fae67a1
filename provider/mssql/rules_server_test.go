package mssql_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// Rule Q5: what is claimed from is clustered, and none of its indexes locks pages, nor does the server lock all of it.
// vet reads most of that in the scripts; this is what the server has made of them.
func TestQueueIndexes(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	for _, table := range []string{"inboxes", "orchestrator_queue", "worker_queue", "sessions"} {
		if escalation := one[string](t, db, schema, "SELECT t.lock_escalation_desc FROM sys.tables AS t WHERE t.object_id = OBJECT_ID(N'%s.' + @p1)", table); escalation != "DISABLE" {
			t.Errorf("LOCK_ESCALATION of %s is %s", table, escalation)
		}
		if n := one[int](t, db, schema, `SELECT COUNT(*) FROM sys.indexes AS i
			WHERE i.object_id = OBJECT_ID(N'%s.' + @p1) AND i.type = 1`, table); n != 1 {
			t.Errorf("%s has %d clustered indexes", table, n)
		}
		if n := one[int](t, db, schema, `SELECT COUNT(*) FROM sys.indexes AS i
			WHERE i.object_id = OBJECT_ID(N'%s.' + @p1) AND i.allow_page_locks = 1`, table); n != 0 {
			t.Errorf("%d indexes of %s lock pages", n, table)
		}
		if n := one[int](t, db, schema, `SELECT COUNT(*) FROM sys.stats AS s
			INNER JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.stats_id
			WHERE s.object_id = OBJECT_ID(N'%s.' + @p1) AND s.no_recompute = 0`, table); n != 0 {
			t.Errorf("the statistics of %d indexes of %s are renewed", n, table)
		}
	}
}

// Indexes that grow at one end let writers in one by one where the server can (0005_storage.sql), and tables that
// nobody claims from may be reorganized, which takes page locks.
func TestStorage(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	if one[int](t, db, schema, "SELECT CAST(SERVERPROPERTY(N'ProductMajorVersion') AS INT) -- %s") >= 15 {
		if n := one[int](t, db, schema, `SELECT COUNT(*) FROM sys.indexes AS i
			WHERE i.object_id IN (OBJECT_ID(N'%[1]s.inboxes'), OBJECT_ID(N'%[1]s.worker_queue')) AND i.optimize_for_sequential_key = 1`); n != 5 {
			t.Errorf("%d indexes are optimized for sequential keys, want 5", n)
		}
	}
	for _, table := range []string{"instances", "executions", "history", "kv_store", "kv_delta"} {
		if n := one[int](t, db, schema, `SELECT COUNT(*) FROM sys.indexes AS i
			WHERE i.object_id = OBJECT_ID(N'%s.' + @p1) AND i.allow_page_locks = 0`, table); n != 0 {
			t.Errorf("%d indexes of %s can't be reorganized", n, table)
		}
	}
}

// Rule P7: what a filtered index needs is frozen into a procedure when it is created, so it is looked up there.
func TestModulesAreCreatedWithTheRightOptions(t *testing.T) {
	t.Parallel()
	db, schema := mssqltest.Pooled(t)
	const modules = `SELECT COUNT(*) FROM sys.sql_modules AS m
		INNER JOIN sys.objects AS o ON o.object_id = m.object_id
		WHERE SCHEMA_NAME(o.schema_id) = REPLACE(REPLACE(N'%s', N'[', N''), N']', N'')`
	if n := one[int](t, db, schema, modules); n < len(procedureFiles(t)) {
		t.Errorf("the server knows %d modules", n)
	}
	if n := one[int](t, db, schema, modules+" AND (m.uses_quoted_identifier = 0 OR m.uses_ansi_nulls = 0)"); n != 0 {
		t.Errorf("%d modules were created with QUOTED_IDENTIFIER or ANSI_NULLS off", n)
	}
}

// claimReads is how many pages more than before a claim may read: a few levels of an index that has grown.
const claimReads = 64

// Rule Q8: what is not due is not walked past. Claims read as little beside a great many timers and delayed activities
// as beside none.
func TestClaimsDoNotWalkTheFuture(t *testing.T) {
	t.Parallel()
	claimsStayCheap(t, 100_000, 0, 86_400_000)
}

// Rule Q9: procedures whose plans were made for empty tables read as little when there are a great many rows to take.
func TestPlansOfAnEmptyDatabaseLast(t *testing.T) {
	t.Parallel()
	claimsStayCheap(t, 200_000, 0, 0)
}

// Rule Q8: what a worker has no code for is not walked past either. A claim by a worker that knows 100 names reads a
// few pages for each, however many rows there are of those names and of others.
func TestClaimsByNameStayCheap(t *testing.T) {
	t.Parallel()
	claimsStayCheap(t, 200_000, 100, 0)
}

// claimsStayCheap claims on empty tables, adds so many timers and activities that are due after a delay, and claims
// again. With names the claims are for these, and every fifth row has another one.
func claimsStayCheap(t *testing.T, rows, names int, delayMs int64) {
	t.Helper()
	server := mssqltest.Server(t)
	switch {
	case server.InProcess && racing.Part():
		rows /= 200
	case server.InProcess:
		rows /= 50 // tsqltest counts what is read, so that a claim that walks past rows shows with fewer
	}
	db, schema := mssqltest.Pooled(t)
	// One connection, so that one session does all the reading, with plans from when the tables were empty.
	conn, err := db.Conn(t.Context())
	ok(t, err)
	defer func() { ok(t, conn.Close()) }()
	c := &claimer{conn: conn, queries: queriesOn(conn, schema)}
	c.know(t, names)
	c.claim(t, "warm") // compiles
	before := c.claim(t, "before")
	fill(t, db, schema, rows, names, delayMs)
	after := c.claim(t, "after")
	t.Logf("a claim of both queues read %d pages on empty tables and %d beside %d rows", before, after, rows)
	// Each name takes a seek in either queue, and a look at the row that it finds; the indexes have grown by a level or
	// two.
	if after > before+claimReads+5*int64(names) {
		t.Errorf("a claim reads %d pages beside %d rows, and %d without", after, rows, before)
	}
}

// A claimer claims on one connection.
type claimer struct {
	conn    *sql.Conn
	queries *mssqldb.Queries
	// known is the digest of the names to claim by, nil for any.
	known []byte
}

// know registers so many names, whose numbers are 1 and the following, as known orchestrations and activities.
func (c *claimer) know(t *testing.T, names int) {
	t.Helper()
	if names == 0 {
		return
	}
	c.known = []byte("32 bytes that stand for the names")[:32]
	codes := make([]mssqldb.CodeListV1Row, names)
	for i := range codes {
		codes[i] = mssqldb.CodeListV1Row{Position: int32(i), Name: fmt.Sprintf("name %d", i)}
	}
	for _, activity := range []bool{false, true} {
		ok(t, c.queries.RegisterKnownCode(t.Context(), mssqldb.RegisterKnownCodeParams{Digest: c.known, Activity: activity, Codes: codes}))
	}
}

// claim adds an instance and an activity and claims one of each, which may be others. It returns how many pages the
// claims have read.
func (c *claimer) claim(t *testing.T, name string) int64 {
	t.Helper()
	ctx := t.Context()
	ok(t, c.queries.EnqueueForOrchestrator(ctx, mssqldb.EnqueueForOrchestratorParams{InstanceID: name, Kind: 2, WorkItem: "{}"}))
	ok(t, c.queries.EnqueueForWorker(ctx, mssqldb.EnqueueForWorkerParams{InstanceID: name, ExecutionID: 1, ActivityID: 2, WorkItem: "{}"}))
	before := c.pages(ctx, t)
	turn, err := takeTurn(ctx, c.queries, mssqldb.TurnClaimV1Row{LockToken: lockToken(name), Known: c.known})
	ok(t, err)
	work, err := c.queries.FetchWorkItem(ctx, mssqldb.FetchWorkItemParams{Work: []mssqldb.TakeListV1Row{{
		LockToken: lockToken(name), LockMs: lease.Milliseconds(), Tag1: new(""), Known: c.known,
	}}})
	ok(t, err)
	after := c.pages(ctx, t)
	if turn.Item == nil || len(work.Work) == 0 {
		t.Errorf("found an instance: %t, an activity: %t", turn.Item != nil, len(work.Work) > 0)
	}
	return after - before
}

// pages is how many pages the session has read so far.
func (c *claimer) pages(ctx context.Context, t *testing.T) (pages int64) {
	t.Helper()
	ok(t, c.conn.QueryRowContext(ctx,
		"SELECT s.logical_reads FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID").Scan(&pages))
	return pages
}

// lockToken makes a lock token of a name of at most 16 bytes.
func lockToken(name string) (id [16]byte) {
	copy(id[:], name)
	return id
}

// fill adds instances with a start and activities, all of them due after the delay. It writes the tables itself: by the
// procedures it would take hours.
func fill(t *testing.T, db *sql.DB, schema string, rows, names int, delayMs int64) {
	t.Helper()
	const now = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"
	// Every fifth row is of a name beyond those that are known.
	code := "CASE WHEN @p3 > 0 THEN x.n %% (@p3 * 5 / 4) + 1 ELSE 0 END"
	for _, insert := range []string{
		`INSERT INTO %s.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
			SELECT CONCAT(N'filler ', x.n), 2, N'{}', ` + now + ` + @p1, ` + now + ` FROM numbers AS x WHERE x.n < @p2`,
		`INSERT INTO %s.inboxes (instance_id, code_id, head_id, wake_at)
			SELECT CONCAT(N'filler ', x.n), ` + code + `, CASE WHEN @p1 = 0 THEN 1000000 + x.n END,
				CASE WHEN @p1 > 0 THEN ` + now + ` + @p1 END FROM numbers AS x WHERE x.n < @p2`,
		`INSERT INTO %s.worker_queue (instance_id, execution_id, activity_id, code_id, work_item, visible_at, ready, wake_at, created_at)
			SELECT CONCAT(N'filler ', x.n), 1, 2, ` + code + `, N'{}', ` + now + ` + @p1, CASE WHEN @p1 = 0 THEN 1 ELSE 0 END,
				` + now + ` + @p1, ` + now + ` FROM numbers AS x WHERE x.n < @p2`,
	} {
		_, err := db.ExecContext(t.Context(), numbers+fmt.Sprintf(insert, "["+schema+"]"), delayMs, rows, names)
		ok(t, err)
	}
}

// Rule Q7: a purge of a great many instances gives way to those who work. Nothing that they do fails meanwhile, and in
// the end all that had ended is gone and all that had not is there.
func TestPurgeUnderLoad(t *testing.T) {
	t.Parallel()
	const workers = 4
	finished := items(t)
	db, schema := mssqltest.Pooled(t)
	store := storeOn(t, mssqltest.DSN(t), schema, workers+1)
	finishedInstances(t, db, schema, finished)
	var purged atomic.Bool
	var turns atomic.Int64
	together(t, workers+1, func(ctx context.Context, i int) error {
		if i == workers {
			defer purged.Store(true)
			return purge(ctx, store, finished)
		}
		// As many instances as workers, which never end.
		instance := fmt.Sprintf("busy %d", i)
		for n := 0; n == 0 || !purged.Load(); n++ {
			if err := store.EnqueueForOrchestrator(ctx, start(instance), 0); err != nil {
				return err
			}
			turn, err := fetchTurn(ctx, store)
			if err != nil {
				return fmt.Errorf("a turn during the purge: %w", err)
			}
			if turn == nil {
				continue // another worker has the instance
			}
			turns.Add(1)
			if err := store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
				LockToken: turn.LockToken, ExecutionID: 1, Metadata: running(),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	left, err := store.ListInstances(t.Context())
	ok(t, err)
	if len(left) == 0 || len(left) > workers {
		t.Errorf("%d instances are left, want those of %d workers", len(left), workers)
	}
	t.Logf("%d turns while %d instances were purged", turns.Load(), finished)
}

// purge deletes what has ended, in as many calls as it takes.
func purge(ctx context.Context, store *mssql.Store, want int) error {
	var deleted uint64
	for {
		result, err := store.DeleteInstanceBulk(ctx, provider.InstanceFilter{})
		if err != nil {
			return fmt.Errorf("purging: %w", err)
		}
		if deleted += result.InstancesDeleted; result.InstancesDeleted == 0 {
			break
		}
	}
	if deleted != uint64(want) {
		return fmt.Errorf("the purge has deleted %d instances, want %d", deleted, want)
	}
	return nil
}

// finishedInstances adds instances that have ended, with a history of a few events each.
func finishedInstances(t *testing.T, db *sql.DB, schema string, n int) {
	t.Helper()
	for _, insert := range []string{
		`INSERT INTO %s.instances (instance_id, orchestration_name, orchestration_version, current_execution_id, created_at, updated_at)
			SELECT CONCAT(N'finished ', x.n), N'Order', N'1.0.0', 1, 1, 1 FROM numbers AS x WHERE x.n < @p1`,
		`INSERT INTO %s.executions (instance_id, execution_id, status, output, started_at, completed_at)
			SELECT CONCAT(N'finished ', x.n), 1, N'Completed', N'"done"', 1, 2 FROM numbers AS x WHERE x.n < @p1`,
		`INSERT INTO %s.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
			SELECT CONCAT(N'finished ', x.n), 1, e.id, N'ActivityScheduled', N'{}', 2, 1
			FROM numbers AS x CROSS JOIN (VALUES (1), (2), (3), (4), (5)) AS e (id) WHERE x.n < @p1`,
	} {
		_, err := db.ExecContext(t.Context(), numbers+fmt.Sprintf(insert, "["+schema+"]"), n)
		ok(t, err)
	}
}

// numbers begins a statement that reads numbers: those from 0 to 999,999.
const numbers = `WITH d AS (SELECT v.n FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS v (n)),
	numbers AS (
		SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS n
		FROM d AS a CROSS JOIN d AS b CROSS JOIN d AS c CROSS JOIN d AS d CROSS JOIN d AS e CROSS JOIN d AS f
	)
	`
