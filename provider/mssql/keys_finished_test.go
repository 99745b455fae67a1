package mssql_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// finishedVariable says beside how many finished instances the calls of this file are counted. What was asked for is
// 1000000, which takes some gigabytes of memory.
const finishedVariable = "DUROXIDE_TEST_MSSQL_FINISHED"

func manyFinished(t *testing.T) int {
	t.Helper()
	text := os.Getenv(finishedVariable)
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2000 {
		t.Fatalf("%s is %q and has to be a number from 2000 on", finishedVariable, text)
	}
	return n
}

// finished is an instance that completed in 2023, or failed if its number can be divided by 10.
const finished = `
	SET @id = CONCAT(N'f', @n);
	INSERT INTO duroxide.inboxes (instance_id) VALUES (@id);
	INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at)
	VALUES (@id, N'Order', 1, 1680000000000 + @n, 1680000000000 + @n);
	INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at, completed_at)
	VALUES (@id, 1, CASE @n % 10 WHEN 0 THEN N'Failed' ELSE N'Completed' END, 1680000000000 + @n, 1680000000000 + @n);
	INSERT INTO duroxide.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at)
	VALUES (@id, 1, 1, N'OrchestrationStarted', N'{}', 2, 1), (@id, 1, 2, N'TimerCreated', N'{}', 2, 1), (@id, 1, 3, N'OrchestrationCompleted', N'{}', 2, 1);`

// looks are what somebody asks every few seconds or when something is wrong: the gauges of package otel, `duroxide
// metrics`, the pages of `duroxide list`, and the queries of the manual.
func looks(t *testing.T) []counted {
	t.Helper()
	list := []counted{
		{name: "system metrics", call: func(c *crowd) error { return second(c.GetSystemMetrics(c.t.Context())) }},
		{name: "queue depths", call: func(c *crowd) error { return second(c.GetQueueDepths(c.t.Context())) }},
		{name: "held instances", call: func(c *crowd) error { return second(c.ListHeldInstances(c.t.Context())) }},
		{name: "dead letters", call: func(c *crowd) error { return second(c.CountDeadLetters(c.t.Context())) }},
		{name: "hidden messages", call: func(c *crowd) error { return second(c.CountHiddenMessages(c.t.Context())) }},
		{name: "orphans", call: func(c *crowd) error { return second(c.CountOrphanMessages(c.t.Context(), 0)) }},
		{name: "what runs and what ended last", call: latest("")},
		{name: "what runs", call: latest(provider.StatusRunning)},
		{name: "what has failed", call: latest(provider.StatusFailed)},
		{name: "what has completed", call: latest(provider.StatusCompleted)},
		{name: "a page", call: func(c *crowd) error {
			return second(c.ListInstancePage(c.t.Context(), provider.PageQuery{Limit: 100}))
		}},
	}
	for _, query := range manualQueries(t) {
		list = append(list, counted{name: query, call: func(c *crowd) error { return askAll(c.t.Context(), c, query) }})
	}
	return list
}

// latest lists the latest 100 instances with a status.
func latest(status provider.Status) func(c *crowd) error {
	return func(c *crowd) error {
		query := provider.PageQuery{Latest: true, Status: status, Limit: 100}
		for n := 0; n < 100; {
			page, err := c.ListInstancePage(c.t.Context(), query)
			if err != nil || page.Next == "" {
				return err
			}
			n, query.After = n+len(page.InstanceIDs), page.Next
		}
		return nil
	}
}

// askAll asks a query on the session in which the crowd was made, and reads all that it returns.
func askAll(ctx context.Context, c *crowd, query string) error {
	return second(c.conn.Exec(ctx, query))
}

// What looks at a store costs the same beside a thousand finished instances and beside a great many.
func TestLooksDoNotReadWhatHasFinished(t *testing.T) { //nolint:tparallel // with many instances, one after the other
	t.Parallel()
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprintf("row versions %t", versions), func(t *testing.T) {
			if os.Getenv(finishedVariable) == "" {
				t.Parallel()
			}
			c := newCrowd(t, versions)
			c.grow(5, fmt.Sprintf(`
				SET @id = CONCAT(N'order-', 39 + @n); SET @item = %s;
				EXEC duroxide.enqueue_for_orchestrator @instance_id = @id, @kind = 2, @name = N'Order', @version = N'', @work_item = @item, @delay_ms = 0;`,
				quoted(startOf("@id", "Order"))))
			for range 5 {
				ok(t, fetchesTurn(nil)(c))
				ok(t, acksTurn(c))
			}
			_, err := c.conn.Exec(t.Context(), `INSERT INTO duroxide.instances (instance_id, orchestration_name, current_execution_id, created_at, updated_at)
					VALUES (N'today', N'Order', 1, 1714557600000, 1714557600000);
				INSERT INTO duroxide.executions (instance_id, execution_id, status, started_at, completed_at) VALUES (N'today', 1, N'Failed', 1714557600000, 1714557600000);
				INSERT INTO duroxide.history (instance_id, execution_id, event_id, event_type, event_data, data_bytes, created_at) VALUES (N'order-42', 1, 1, N'TimerCreated', N'{}', 2, 1);`)
			ok(t, err)
			c.grow(1000, finished)
			list := looks(t)
			c.touched(list)
			few := c.touched(list)
			c.grow(manyFinished(t), finished)
			for i, many := range c.touched(list) {
				t.Logf("%d keys: %s", many.Total(), list[i].name)
				if many.Total() != few[i].Total() {
					t.Errorf("%s touches %d keys beside 1,000 finished instances and %d beside %d:\n%v",
						list[i].name, few[i].Total(), many.Total(), c.rows, many)
				}
			}
			metrics, err := c.GetSystemMetrics(t.Context())
			ok(t, err)
			if n := uint64(c.rows - 4); metrics.CompletedInstances+metrics.FailedInstances != n || metrics.RunningInstances != 5 {
				t.Errorf("%+v, want %d that have ended and 5 that run", metrics, n)
			}
		})
	}
}
