package worker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// unnamedNode is a node of another Duroxide runtime: it names no code, has none, and puts back what it gets.
type unnamedNode struct {
	*testing.T

	store provider.Provider
}

// turn takes a turn and puts it back. It returns the attempt, 0 if there is no turn.
func (n unnamedNode) turn() uint32 {
	n.Helper()
	got, err := n.store.FetchOrchestrationItem(n.Context(), provider.FetchOrchestrationParams{LockTimeout: time.Minute})
	if err != nil {
		n.Fatal(err)
	}
	if got == nil {
		return 0
	}
	if err := n.store.AbandonOrchestrationItem(n.Context(), provider.AbandonParams{LockToken: got.LockToken}); err != nil {
		n.Fatal(err)
	}
	return got.AttemptCount
}

// work does the same with an activity.
func (n unnamedNode) work() uint32 {
	n.Helper()
	got, err := n.store.FetchWorkItem(n.Context(), provider.FetchWorkParams{LockTimeout: time.Minute})
	if err != nil {
		n.Fatal(err)
	}
	if got == nil {
		return 0
	}
	if err := n.store.AbandonWorkItem(n.Context(), provider.AbandonParams{LockToken: got.LockToken}); err != nil {
		n.Fatal(err)
	}
	return got.AttemptCount
}

// A node of Duroxide in Rust beside a worker put the worker's work back until it was poison. Here it is given all work
// before the worker comes, more often than makes poison, and none of it while the worker lives.
func TestNodeWithoutNamesMakesNoPoison(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		attempt := activity.New("Attempt", func(ctx context.Context, _ string) (string, error) {
			info, _ := activity.InfoFrom(ctx)
			return fmt.Sprint("attempt ", info.Attempt), nil
		})
		order := calling(attempt)
		c, node := client.New(store, client.Options{}), unnamedNode{t, store}
		var runs []*client.Run[string]
		begin := func() {
			run, err := client.Start(t.Context(), c, order, fmt.Sprint("order-", len(runs)), "")
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		const many = 12
		begin()
		for i := range uint32(many) {
			if got := node.turn(); got != i+1 {
				t.Fatalf("the node's attempt %d at the turn is %d", i+1, got)
			}
		}
		options := worker.Options{Limits: worker.Limits{Attempts: 1}, Leases: worker.Leases{Orchestration: time.Minute, Activity: time.Minute}}
		turnsOnly := options
		turnsOnly.ActivityConcurrency = worker.None
		stop := runWorker(t, store, turnsOnly, order)
		begun(t, store, runs[0].Instance())
		for i := range uint32(many) {
			if got := node.work(); got != i+1 {
				t.Fatalf("the node's attempt %d at the activity is %d", i+1, got)
			}
		}
		stop()
		runWorker(t, store, options, order, attempt)
		result(t, runs[0])
		for range 20 {
			begin()
			if turn, work := node.turn(), node.work(); turn != 0 || work != 0 {
				t.Errorf("the node takes a turn of the worker (attempt %d) or an activity (attempt %d)", turn, work)
			}
		}
		for _, run := range runs {
			if got := result(t, run); got != "attempt 1" {
				t.Errorf("%s: %s", run.Instance(), got)
			}
		}
	})
}
