package mssql_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/internal/mssqltest"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// Rule Q5: what is claimed from is clustered, and none of its indexes locks pages. vet reads that in the scripts; this is
// what the server has made of them.
func TestQueueIndexes(t *testing.T) {
	t.Parallel()
	if mssqltest.Server(t).Babelfish {
		t.Skip("PostgreSQL has neither clustered indexes nor page locks")
	}
	db, schema := mssqltest.Pooled(t)
	for _, table := range []string{"inboxes", "orchestrator_queue", "worker_queue"} {
		object := "[" + schema + "]." + table
		if n := count(t, db, "SELECT COUNT(*) FROM sys.indexes AS i WHERE i.object_id = OBJECT_ID(@p1) AND i.type = 1", object); n != 1 {
			t.Errorf("%s has %d clustered indexes", table, n)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM sys.indexes AS i WHERE i.object_id = OBJECT_ID(@p1) AND i.allow_page_locks = 1", object); n != 0 {
			t.Errorf("%d indexes of %s lock pages", n, table)
		}
	}
}

// count reads a query's only number.
func count(t *testing.T, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	ok(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// claimReads is how many pages more than before a claim may read: a few levels of an index that has grown.
const claimReads = 64

// Rule Q8: what is not due is not walked past. Claims read as little beside a great many timers and delayed activities
// as beside none.
func TestClaimsDoNotWalkTheFuture(t *testing.T) {
	t.Parallel()
	claimsStayCheap(t, 100_000, 86_400_000)
}

// Rule Q9: procedures whose plans were made for empty tables read as little when there are a great many rows to take.
func TestPlansOfAnEmptyDatabaseLast(t *testing.T) {
	t.Parallel()
	claimsStayCheap(t, 200_000, 0)
}

// claimsStayCheap claims on empty tables, adds so many timers and activities that are due after a delay, and claims again.
// Pages read are counted where the server tells: on SQL Server. Elsewhere there are fewer rows, and the claims only have
// to find what there is.
func claimsStayCheap(t *testing.T, rows int, delayMs int64) {
	t.Helper()
	server := mssqltest.Server(t)
	if server.Babelfish {
		rows = items(t)
	}
	db, schema := mssqltest.Pooled(t)
	// One connection, so that one session does all the reading, with plans from when the tables were empty.
	conn, err := db.Conn(t.Context())
	ok(t, err)
	defer func() { ok(t, conn.Close()) }()
	c := &claimer{conn: conn, queries: mssqldb.New(conn, mssqldb.WithSchema(mssql.DefaultSchema, schema)), counts: !server.Babelfish}
	c.claim(t, "warm") // compiles
	before := c.claim(t, "before")
	fill(t, db, schema, rows, delayMs)
	after := c.claim(t, "after")
	if delayMs == 0 {
		c.found(t)
	}
	t.Logf("a claim of both queues read %d pages on empty tables and %d beside %d rows", before, after, rows)
	if after > before+claimReads {
		t.Errorf("a claim reads %d pages beside %d rows, and %d without", after, rows, before)
	}
}

// A claimer claims on one connection.
type claimer struct {
	conn    *sql.Conn
	queries *mssqldb.Queries
	// counts says that the server counts pages.
	counts bool
	// last is what the latest claims have found.
	instance, activity bool
}

// claim adds an instance and an activity and claims one of each, which may be others. It returns how many pages the
// claims have read.
func (c *claimer) claim(t *testing.T, name string) int64 {
	t.Helper()
	ctx := t.Context()
	ok(t, c.queries.EnqueueForOrchestrator(ctx, mssqldb.EnqueueForOrchestratorParams{InstanceID: name, Kind: 2, WorkItem: "{}"}))
	ok(t, c.queries.EnqueueForWorker(ctx, mssqldb.EnqueueForWorkerParams{InstanceID: name, ExecutionID: 1, ActivityID: 2, WorkItem: "{}"}))
	before := c.pages(ctx, t)
	turn, err := c.queries.FetchOrchestrationItem(ctx, mssqldb.FetchOrchestrationItemParams{LockToken: lockToken(name), LockMs: lease.Milliseconds()})
	ok(t, err)
	work, err := c.queries.FetchWorkItem(ctx, mssqldb.FetchWorkItemParams{LockToken: lockToken(name), LockMs: lease.Milliseconds(), Untagged: true})
	ok(t, err)
	after := c.pages(ctx, t)
	c.instance, c.activity = turn.Item != nil, work.Item != nil
	c.found(t)
	return after - before
}

// found checks that the latest claims have found something.
func (c *claimer) found(t *testing.T) {
	t.Helper()
	if !c.instance || !c.activity {
		t.Errorf("found an instance: %t, an activity: %t", c.instance, c.activity)
	}
}

// pages is how many pages the session has read so far.
func (c *claimer) pages(ctx context.Context, t *testing.T) (pages int64) {
	t.Helper()
	if !c.counts {
		return 0
	}
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
func fill(t *testing.T, db *sql.DB, schema string, rows int, delayMs int64) {
	t.Helper()
	const numbers = `WITH d AS (SELECT v.n FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS v (n)),
		numbers AS (
			SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS n
			FROM d AS a CROSS JOIN d AS b CROSS JOIN d AS c CROSS JOIN d AS d CROSS JOIN d AS e CROSS JOIN d AS f
		)
		`
	const now = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"
	for _, insert := range []string{
		`INSERT INTO %s.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at)
			SELECT CONCAT(N'filler ', x.n), 2, N'{}', ` + now + ` + @p1, ` + now + ` FROM numbers AS x WHERE x.n < @p2`,
		`INSERT INTO %s.inboxes (instance_id, ready_at, head_id)
			SELECT CONCAT(N'filler ', x.n), ` + now + ` + @p1, x.n FROM numbers AS x WHERE x.n < @p2`,
		`INSERT INTO %s.worker_queue (instance_id, execution_id, activity_id, work_item, visible_at, ready, wake_at, created_at)
			SELECT CONCAT(N'filler ', x.n), 1, 2, N'{}', ` + now + ` + @p1, CASE WHEN @p1 = 0 THEN 1 ELSE 0 END,
				` + now + ` + @p1, ` + now + ` FROM numbers AS x WHERE x.n < @p2`,
	} {
		_, err := db.ExecContext(t.Context(), numbers+fmt.Sprintf(insert, "["+schema+"]"), delayMs, rows)
		ok(t, err)
	}
}
