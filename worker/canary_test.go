package worker_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/internal/testsupport/racing"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// canary runs old workers and a new one on one store, and instances of the new version:
// all complete, and nothing costs an attempt.
func canary(t *testing.T, store provider.Provider, old, instances int) {
	t.Helper()
	attempts := make(chan uint32, instances)
	attempt := activity.New("Attempt", func(ctx context.Context, _ string) (string, error) {
		info, _ := activity.InfoFrom(ctx)
		attempts <- info.Attempt
		return "new", nil
	})
	before := orchestration.New("Order", func(*orchestration.Context, string) (string, error) { return "old", nil })
	after := orchestration.New("Order", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Activity(ctx, attempt, "").Await()
	}).WithVersion("2.0.0")
	// Leases that a busy machine does not outlast: their end would cost an attempt, too.
	options := worker.Options{Limits: worker.Limits{Attempts: 1}, Leases: worker.Leases{Orchestration: time.Minute, Activity: time.Minute}}
	runWorker(t, store, options, before, after, attempt)
	options.OrchestrationConcurrency, options.ActivityConcurrency = 1, worker.None
	for range old {
		runWorker(t, store, options, before)
	}
	c := client.New(store, client.Options{})
	var runs []*client.Run[string]
	for i := range instances {
		run, err := client.Start(t.Context(), c, after.AtVersion("2.0.0"), fmt.Sprint("order-", i), "")
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	for _, run := range runs {
		if got := result(t, run); got != "new" {
			t.Errorf("%s ran %q", run.Instance(), got)
		}
	}
	close(attempts)
	if counts := slices.Collect(receiveAll(attempts)); slices.Max(counts) != 1 || len(counts) != instances {
		t.Errorf("%d activities for %d instances, attempts up to %d", len(counts), instances, slices.Max(counts))
	}
}

// receiveAll iterates over what a closed channel holds.
func receiveAll[T any](c <-chan T) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	}
}

// Of 60 instances of the new version, 54 were poison once.
func TestCanary1To9(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) { canary(t, store, 9, 60) })
}

func TestCanary1To99(t *testing.T) {
	t.Parallel()
	instances := 60
	if racing.Part() {
		instances = 20
	}
	onBothStores(t, func(t *testing.T, store provider.Provider) { canary(t, store, 99, instances) })
}

// Two workers with different activities: each activity is run by the worker that has it,
// at the first attempt.
func TestDifferentActivitiesOnDifferentWorkers(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, store provider.Provider) {
		def := func(name string) activity.Definition[string, string] {
			return activity.New(name, func(ctx context.Context, _ string) (string, error) {
				info, _ := activity.InfoFrom(ctx)
				return fmt.Sprint(name, " attempt ", info.Attempt), nil
			})
		}
		left, right := def("Left"), def("Right")
		both := orchestration.New("Both", func(ctx *orchestration.Context, _ string) (string, error) {
			one, two := orchestration.Activity(ctx, left, ""), orchestration.Activity(ctx, right, "")
			first, err := one.Await()
			if err != nil {
				return "", err
			}
			second, err := two.Await()
			return first + ", " + second, err
		})
		options := worker.Options{Limits: worker.Limits{Attempts: 1}, Leases: worker.Leases{Orchestration: time.Minute, Activity: time.Minute}}
		runWorker(t, store, options, both, left)
		runWorker(t, store, options, both, right)
		c := client.New(store, client.Options{})
		var runs []*client.Run[string]
		for i := range 20 {
			run, err := client.Start(t.Context(), c, both, fmt.Sprint("both-", i), "")
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		for _, run := range runs {
			if got := result(t, run); got != "Left attempt 1, Right attempt 1" {
				t.Errorf("%s: %s", run.Instance(), got)
			}
		}
	})
}
