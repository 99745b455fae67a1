package mssql_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	activities "github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
	"github.com/duroxide/duroxide-go/worker"
)

// costs is what calls cost the server.
type costs struct {
	RoundTrips, Statements, IndexRows int
	// Commits wait for the disk. Delayed ones do not where the database allows delayed durability.
	Commits, Delayed int
}

// cost is what calls cost that only this crowd makes.
func (c *crowd) cost(calls func()) (costs, tsqltest.Keys) {
	c.t.Helper()
	before := c.server.Work()
	written := c.server.CountKeys(calls).Where(func(k tsqltest.KeyCount) bool { return k.Access == "write" })
	after := c.server.Work()
	return costs{
		RoundTrips: after.Requests - before.Requests, Statements: after.Statements - before.Statements,
		Commits: after.Commits - before.Commits, Delayed: after.Delayed - before.Delayed, IndexRows: written.Total(),
	}, written
}

// TestCostOfFiveActivities counts what an orchestration of five activities side by side costs: a start, a poll that
// claims its first turn, the turn that schedules the activities and claims them, their acknowledgement, which claims
// the last turn, and that turn.
func TestCostOfFiveActivities(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, true)
	params := provider.ClaimParams{Turn: &provider.FetchOrchestrationParams{LockTimeout: lease, Known: provider.Know(provider.CodeName{Name: "Order"}, provider.CodeName{Name: "Order", Version: "1.0.0"})}}
	for range 5 {
		params.Work = append(params.Work, provider.FetchWorkParams{LockTimeout: lease, Known: known("Pay")})
	}
	c.fiveActivities("first", params) // registers the code
	got, written := c.cost(func() { c.fiveActivities("second", params) })
	t.Logf("%+v\n%v", got, written)
	most := costs{RoundTrips: 5, Statements: 260, Commits: 6, IndexRows: 95}
	if got.RoundTrips > most.RoundTrips || got.Statements > most.Statements || got.Commits > most.Commits || got.IndexRows > most.IndexRows {
		t.Errorf("%+v, want at most %+v", got, most)
	}
	idle, _ := c.cost(func() {
		taken, err := c.Claim(t.Context(), params)
		ok(t, err)
		if taken.Turn != nil || len(taken.Work) > 0 {
			t.Errorf("an empty store has %+v", taken)
		}
	})
	t.Logf("%+v", idle)
	if idle.RoundTrips != 1 || idle.Statements > 15 || idle.Commits > 0 || idle.IndexRows > 0 {
		t.Errorf("an empty poll costs %+v, want at most 15 statements", idle)
	}
}

// fiveActivities runs an orchestration.
func (c *crowd) fiveActivities(instance string, params provider.ClaimParams) {
	ctx := c.t.Context()
	_, err := c.StartInstance(ctx, provider.StartOrchestrationItem{Instance: instance, Orchestration: "Order", ExecutionID: 1})
	ok(c.t, err)
	claimed, err := c.Claim(ctx, params)
	ok(c.t, err)

	turn := provider.AckOrchestrationParams{LockToken: claimed.Turn.LockToken, ExecutionID: 1, Metadata: running()}
	turn.HistoryDelta = append(turn.HistoryDelta, provider.Event{EventID: 1, Kind: provider.OrchestrationStarted{Name: "Order"}})
	for id := uint64(2); id < 7; id++ {
		turn.HistoryDelta = append(turn.HistoryDelta, provider.Event{EventID: id, Kind: provider.ActivityScheduled{Name: "Pay"}})
		turn.WorkerItems = append(turn.WorkerItems, provider.ActivityExecuteItem{Instance: instance, ExecutionID: 1, ID: id, Name: "Pay"})
	}
	claimed, err = c.AckTurnAndClaim(ctx, turn, params)
	ok(c.t, err)

	var acks []provider.WorkAck
	for i, w := range claimed.Work {
		acks = append(acks, provider.WorkAck{
			LockToken: w.LockToken, Completion: provider.ActivityCompletedItem{Instance: instance, ExecutionID: 1, ID: uint64(i) + 2, Result: "1"},
		})
	}
	outcomes, claimed, err := c.AckWorkAndClaim(ctx, acks, params)
	ok(c.t, err)
	for _, err := range outcomes {
		ok(c.t, err)
	}
	if len(outcomes) != 5 || claimed.Turn == nil || len(claimed.Turn.Item.Messages) != 5 {
		c.t.Fatalf("acknowledged %d activities and claimed %+v", len(outcomes), claimed)
	}

	turn = provider.AckOrchestrationParams{LockToken: claimed.Turn.LockToken, ExecutionID: 1}
	for id := uint64(7); id < 12; id++ {
		turn.HistoryDelta = append(turn.HistoryDelta, provider.Event{EventID: id, Kind: provider.ActivityCompleted{Result: "1"}})
	}
	turn.HistoryDelta = append(turn.HistoryDelta, provider.Event{EventID: 12, Kind: provider.OrchestrationCompleted{Output: "5"}})
	turn.Metadata.Status = new(provider.StatusCompleted)
	_, err = c.AckTurnAndClaim(ctx, turn, params)
	ok(c.t, err)
}

// TestCostUnderLoad runs orchestrations of five activities side by side by a worker of two slots of each kind, 20 at a
// time, and counts what one costs. How much shares a call depends on the machine.
func TestCostUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, true)
	store := open(t, c.server.DSN(), mssql.Options{})
	pay := activities.New("Pay", func(_ context.Context, n int) (int, error) { return n, nil })
	order := orchestration.New("Order", func(ctx *orchestration.Context, _ int) ([]int, error) {
		var paid []*orchestration.Future[int]
		for i := range 5 {
			paid = append(paid, orchestration.Activity(ctx, pay, i))
		}
		return orchestration.Join(paid...)
	})
	w, err := worker.New(store, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	ok(t, err)
	ok(t, w.Register(order, pay))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { ok(t, w.Run(ctx)) })
	defer running.Wait()
	defer cancel()

	clients := client.New(store, client.Options{})
	orders := func(n int) {
		var group sync.WaitGroup
		next := make(chan int)
		for range 20 {
			group.Go(func() {
				for i := range next {
					run, err := client.Start(ctx, clients, order, fmt.Sprintf("order-%d", i), 0)
					ok(t, err)
					_, err = run.Wait(ctx)
					ok(t, err)
				}
			})
		}
		for i := range n {
			next <- n + i
		}
		close(next)
		group.Wait()
	}
	orders(40)
	const n = 200
	got, _ := c.cost(func() { orders(n) })
	t.Logf("an orchestration: %.1f round trips, %.0f statements, %.1f commits and %.1f delayed, %.0f index rows", float64(got.RoundTrips)/n,
		float64(got.Statements)/n, float64(got.Commits)/n, float64(got.Delayed)/n, float64(got.IndexRows)/n)
	if got.RoundTrips > 8*n || got.Statements > 450*n || got.Commits > 9*n || got.IndexRows > 120*n {
		t.Errorf("%d orchestrations: %+v", n, got)
	}
}
