package mssql_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// eventsVariable says how many events are deleted. The default costs a second or two. What has to hold is 500000.
const eventsVariable = "DUROXIDE_TEST_MSSQL_EVENTS"

func manyEvents(t *testing.T) int {
	t.Helper()
	text := os.Getenv(eventsVariable)
	if text == "" {
		return 8000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 8000 {
		t.Fatalf("%s is %q and has to be a number from 8000 on", eventsVariable, text)
	}
	return n
}

// A deletion takes time in proportion to what it deletes, however that is spread over executions: what is deleted stays
// in the index until the end, and no portion passes over what the portions before it have deleted.
func TestDeletionsTouchKeysInProportion(t *testing.T) { //nolint:tparallel // with many events the subtests come one after the other
	t.Parallel()
	const most = 6 // keys for an event
	for _, tt := range []struct {
		name   string
		events int // of an execution; 0 for all
		delete func(c *crowd) (uint64, error)
	}{
		{"delete one long execution", 0, func(c *crowd) (uint64, error) {
			r, err := c.Admin().DeleteInstance(c.t.Context(), "a", true)
			return r.EventsDeleted, err
		}},
		{"delete many executions", 7, func(c *crowd) (uint64, error) {
			r, err := c.Admin().DeleteInstance(c.t.Context(), "a", true)
			return r.EventsDeleted, err
		}},
		{"prune one long execution", 0, func(c *crowd) (uint64, error) {
			r, err := c.Admin().PruneExecutions(c.t.Context(), "a", provider.PruneOptions{})
			return r.EventsDeleted, err
		}},
		{"prune many executions", 7, func(c *crowd) (uint64, error) {
			r, err := c.Admin().PruneExecutions(c.t.Context(), "a", provider.PruneOptions{})
			return r.EventsDeleted, err
		}},
		{"prune many executions in bulk", 7, prunesInBulk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getenv(eventsVariable) == "" {
				t.Parallel()
			}
			c := newCrowd(t, true)
			n := manyEvents(t)
			events := tt.events
			if events == 0 {
				events = n
			}
			c.longRun(n, events)
			var deleted uint64
			var err error
			keys := c.server.CountKeys(func() { deleted, err = tt.delete(c) })
			ok(t, err)
			t.Logf("%d keys for %d events", keys.Total(), n)
			if deleted != uint64(n) {
				t.Errorf("%d events are deleted, want %d", deleted, n)
			}
			if keys.Total() > most*n {
				t.Errorf("%d keys are touched for %d events, want at most %d for each:\n%v", keys.Total(), n, most, keys)
			}
		})
	}
}

// What an instance has besides its history is deleted in proportion, too: ten times as many rows touch ten times as many
// keys.
func TestDeletedRowsTouchKeysInProportion(t *testing.T) {
	t.Parallel()
	const most = 8 // keys for a row
	for _, tt := range []struct{ name, insert string }{
		{"keys of the last execution", "INSERT INTO duroxide.kv_store (instance_id, kv_key, value, value_bytes, last_updated_at_ms) VALUES (N'a', CONCAT(N'k', @n), N'v', 1, 1);"},
		{"keys of the running execution", "INSERT INTO duroxide.kv_delta (instance_id, kv_key, value, value_bytes, last_updated_at_ms) VALUES (N'a', CONCAT(N'k', @n), N'v', 1, 1);"},
		{"activities", `INSERT INTO duroxide.worker_queue (instance_id, execution_id, activity_id, work_item, visible_at, wake_at, created_at)
			VALUES (N'a', 1, @n, N'{}', 1, 1, 1);`},
		{"messages", "INSERT INTO duroxide.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at) VALUES (N'a', 3, N'{}', 1, 1);"},
		{"dead letters", `INSERT INTO duroxide.dead_letters (queue, queue_id, instance_id, work_item, error, created_at)
			VALUES (N'worker', @n, N'a', N'{}', N'bad', 1);`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, true)
			var touched []int
			for _, rows := range []int{1000, 10_000} {
				c.rows = 0
				c.longRun(1, 1)
				c.rows = 0
				c.grow(rows, tt.insert)
				keys := c.server.CountKeys(func() {
					_, err := c.Admin().DeleteInstance(t.Context(), "a", true)
					ok(t, err)
				})
				t.Logf("%d keys for %d rows", keys.Total(), rows)
				if keys.Total() > most*rows {
					t.Errorf("%d keys are touched for %d rows, want at most %d for each:\n%v", keys.Total(), rows, most, keys)
				}
				touched = append(touched, keys.Total())
			}
			if touched[1] > 10*touched[0] {
				t.Errorf("%d keys are touched for ten times as many rows, for which %d are in order", touched[1], 10*touched[0])
			}
		})
	}
}

func prunesInBulk(c *crowd) (uint64, error) {
	r, err := c.Admin().PruneExecutionsBulk(c.t.Context(), provider.InstanceFilter{}, provider.PruneOptions{})
	return r.EventsDeleted, err
}

// longRun makes an instance that runs, and before the current execution has had so many events, in executions of so
// many each.
func (c *crowd) longRun(events, of int) {
	c.t.Helper()
	c.grow(events, fmt.Sprintf(`
		INSERT INTO duroxide.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
		VALUES (N'a', 1 + (@n - 1) / %[1]d, 1 + (@n - 1) %% %[1]d, N'TimerCreated', N'{}', 2, 1);
		IF (@n - 1) %% %[1]d = 0
			INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at, completed_at)
			VALUES (N'a', 1 + (@n - 1) / %[1]d, N'ContinuedAsNew', 1, 2);`, of))
	_, err := c.conn.Exec(c.t.Context(), `INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at) VALUES (N'a', 1000000, N'Running', 1);
		INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at) VALUES (N'a', N'Order', 1000000, 1, 1);
		INSERT INTO duroxide.orchestrator_queue (instance_id, kind, work_item, visible_at, created_at) VALUES (N'a', 3, N'{}', 1, 1);`)
	ok(c.t, err)
}

// Pruning commits by 1,000 events, also those of one instance: what was done before an error is done, and counted, and
// whoever goes on begins with the rest.
func TestPruningCommitsPortions(t *testing.T) {
	t.Parallel()
	const events, of = 8000, 10
	c := newCrowd(t, true)
	c.longRun(events, of)
	writer, err := c.server.Connect(t.Context())
	ok(t, err)
	defer writer.Close()
	_, err = writer.Exec(t.Context(), "BEGIN TRANSACTION; UPDATE duroxide.executions SET output = N'' WHERE instance_id = N'a' AND execution_id = 550")
	ok(t, err)
	prune := func() (*tsqltest.Result, error) {
		return c.conn.Exec(t.Context(), `SET LOCK_TIMEOUT 0; DECLARE @list duroxide.id_list_v1;
			EXEC duroxide.prune_executions @listed = 0, @list = @list, @after = NULL, @ended_before = NULL, @max_instances = 10,
				@keep_last = 1, @completed_before = NULL;`)
	}
	for n := range 5 {
		r, err := prune()
		ok(t, err)
		if got, want := fmt.Sprint(r.Sets[0].Rows), "[[0 100 1000 \x01]]"; got != want {
			t.Errorf("call %d beside a writer: %s, want %s: instances, executions, events, where to go on", n, got, want)
		}
	}
	if _, err := prune(); err == nil || !strings.Contains(err.Error(), "Lock request time out") {
		t.Errorf("beside a writer again: %v, want the error", err)
	}
	_, err = writer.Exec(t.Context(), "ROLLBACK TRANSACTION")
	ok(t, err)
	deleted, err := prunesInBulk(c)
	ok(t, err)
	if deleted != events-5000 {
		t.Errorf("%d events are deleted afterwards, want the other %d", deleted, events-5000)
	}
}

// A call in bulk looks at a bounded number of keys beside what it deletes, and the store goes on from there: what may
// not be deleted costs each look once.
func TestBulkSelectionGoesOn(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, true)
	n := 6000
	c.grow(n, `
		SET @id = CONCAT(N'r', @n);
		INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, parent_instance_id, created_at, updated_at)
		VALUES (@id, N'Order', 1, CASE WHEN @n % 1500 <> 0 THEN N'p' END, 1, 1);
		INSERT INTO duroxide.inboxes (instance_id) VALUES (@id);
		INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at, completed_at) VALUES (@id, 1, N'Completed', 1, 1 + @n / 10);`)
	limit := uint32(2)
	var result provider.DeleteInstanceResult
	var err error
	keys := c.server.CountKeys(func() {
		result, err = c.Admin().DeleteInstanceBulk(t.Context(), provider.InstanceFilter{Limit: &limit})
	})
	ok(t, err)
	if result.InstancesDeleted != 2 {
		t.Errorf("%d instances are deleted, want 2", result.InstancesDeleted)
	}
	if most := 3*3000 + 500; keys.Total() > most {
		t.Errorf("%d keys are touched, want at most %d:\n%v", keys.Total(), most, keys)
	}
	result, err = c.Admin().DeleteInstanceBulk(t.Context(), provider.InstanceFilter{})
	ok(t, err)
	if result.InstancesDeleted != 2 {
		t.Errorf("then %d instances are deleted, want the other 2", result.InstancesDeleted)
	}
	before := time.UnixMilli(100)
	pruned, err := c.Admin().PruneExecutionsBulk(t.Context(), provider.InstanceFilter{CompletedBefore: &before}, provider.PruneOptions{})
	ok(t, err)
	if pruned.InstancesProcessed != 989 {
		t.Errorf("%d instances are pruned, want the 989 that ended before", pruned.InstancesProcessed)
	}
}

// roots makes instances that have ended, with so many events each.
func (c *crowd) roots(to, events int) {
	c.t.Helper()
	c.grow(to, fmt.Sprintf(`
		SET @id = CONCAT(N'r', @n);
		INSERT INTO duroxide.inboxes (instance_id) VALUES (@id);
		INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at) VALUES (@id, N'Order', 1, 1, 1);
		INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at, completed_at) VALUES (@id, 1, N'Completed', 1, @n);
		DECLARE @e INT = 0;
		WHILE @e < %d
		BEGIN
			SET @e += 1;
			INSERT INTO duroxide.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
			VALUES (@id, 1, @e, N'TimerCreated', N'{}', 2, 1);
		END;
		SET @e = 0;`, events))
}

// A purge deletes fifty small roots in a transaction, or as many as have about 1,000 events.
func TestPurgeDeletesManyRootsAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ roots, events, commits int }{
		{200, 3, 4}, {100, 50, 5}, {3, 2000, 3},
	} {
		t.Run(fmt.Sprintf("%d roots of %d events", tt.roots, tt.events), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, true)
			c.roots(tt.roots, tt.events)
			var result provider.DeleteInstanceResult
			var err error
			got, _ := c.cost(func() { result, err = c.Admin().DeleteInstanceBulk(t.Context(), provider.InstanceFilter{}) })
			ok(t, err)
			if n := uint64(tt.roots); result.InstancesDeleted != n || result.EventsDeleted != n*uint64(tt.events) {
				t.Errorf("deleted %+v, want %d instances of %d events", result, n, tt.events)
			}
			t.Logf("%+v", got)
			const page, most = 10, 100 // statements of a page, and of each commit
			if got.Commits != tt.commits || got.RoundTrips > tt.commits+1 || got.Statements > tt.commits*most+page {
				t.Errorf("%+v, want %d commits with at most %d statements each", got, tt.commits, most)
			}
		})
	}
}

// A root that somebody else has locked is deleted after the others, which do not wait for it.
func TestPurgePutsOffWhatIsLocked(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, true)
	c.roots(60, 1)
	writer, err := c.server.Connect(t.Context())
	ok(t, err)
	defer writer.Close()
	_, err = writer.Exec(t.Context(), "BEGIN TRANSACTION; UPDATE duroxide.inboxes SET version_id = version_id WHERE instance_id = N'r7'")
	ok(t, err)
	deleted := make(chan error)
	go func() {
		result, err := c.Admin().DeleteInstanceBulk(t.Context(), provider.InstanceFilter{})
		if err == nil && result.InstancesDeleted != 60 {
			err = fmt.Errorf("%d instances are deleted, want 60", result.InstancesDeleted)
		}
		deleted <- err
	}()
	for left := int64(60); left > 1; {
		select {
		case err := <-deleted:
			t.Fatalf("it has ended beside a lock: %v", err)
		default:
		}
		r, err := c.conn.Exec(t.Context(), "SELECT COUNT_BIG(*) FROM duroxide.history")
		ok(t, err)
		left = r.Sets[0].Rows[0][0].(int64)
	}
	_, err = writer.Exec(t.Context(), "ROLLBACK TRANSACTION")
	ok(t, err)
	ok(t, <-deleted)
}

// A page of instances costs the same whatever the store keeps, at the beginning and deep in the list, and however
// little of it is listed: a purge reads each key once, and what is too young not at all.
func TestPageTouchesFewKeys(t *testing.T) {
	t.Parallel()
	const limit = 100
	c := newCrowd(t, true)
	touched := func(ended bool) (most int) {
		t.Helper()
		query := provider.PageQuery{Limit: limit}
		if before := time.UnixMilli(100); ended {
			query.EndedBefore = &before
		}
		for more := true; more; more = query.After != "" {
			keys := c.server.CountKeys(func() {
				page, err := c.ListInstancePage(t.Context(), query)
				ok(t, err)
				query.After = page.Next
			})
			most = max(most, keys.Total())
		}
		return most
	}
	for _, rows := range []int{1500, 6000} {
		c.grow(rows, `
			SET @id = CONCAT(N'r', @n);
			INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, parent_instance_id, created_at, updated_at)
			VALUES (@id, N'Order', 1, CASE WHEN @n % 1500 <> 0 THEN N'p' END, 1, 1);
			INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at, completed_at) VALUES (@id, 1, N'Completed', 1, 1 + @n / 10);`)
		if most := touched(true); most > 5*limit {
			t.Errorf("of %d rows a page of ended instances touches %d keys, want at most %d", rows, most, 5*limit)
		}
		if most := touched(false); most > 2*limit {
			t.Errorf("of %d rows a page touches %d keys, want at most %d", rows, most, 2*limit)
		}
	}
}
