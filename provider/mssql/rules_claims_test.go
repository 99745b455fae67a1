package mssql_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// Rule Q2: one instance that never stops getting messages is held by one claimer at a time, and each message is part of
// one turn only.
func TestOneHolderPerInstance(t *testing.T) { //nolint:tparallel // one database after the other
	t.Parallel()
	const claimers, producers = 32, 4
	messages := min(100, items(t)/5/producers*producers)
	eachIsolation(t, func(t *testing.T, open func(*testing.T, int) *mssql.Store) {
		store := open(t, claimers+producers)
		ok(t, store.EnqueueForOrchestrator(t.Context(), start("i"), 0))
		var (
			done      ledger
			holders   atomic.Int32
			producing atomic.Int32
		)
		producing.Store(producers)
		together(t, claimers+producers, func(ctx context.Context, i int) error {
			if i < producers {
				for n := range messages / producers {
					message := provider.ExternalRaisedItem{Instance: "i", Name: fmt.Sprintf("message %d of %d", n, i)}
					if err := store.EnqueueForOrchestrator(ctx, message, 0); err != nil {
						return err
					}
				}
				producing.Add(-1)
				return nil
			}
			for {
				last := producing.Load() == 0
				turn, err := fetchTurn(ctx, store)
				if err != nil {
					return err
				}
				if turn == nil {
					if last {
						return nil
					}
					continue
				}
				if n := holders.Add(1); n != 1 {
					return fmt.Errorf("%d claimers hold the instance", n)
				}
				for _, message := range turn.Item.Messages {
					done.add(fmt.Sprintf("%v", message))
				}
				holders.Add(-1)
				if err := store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
					LockToken: turn.LockToken, ExecutionID: 1, Metadata: running(),
				}); err != nil {
					return err
				}
			}
		})
		done.check(t, messages+1)
	})
}

// Rule Q3: many claimers of many items never claim one twice, and none is left over.
func TestNoDoubleClaims(t *testing.T) {
	t.Parallel()
	const claimers = 64
	n := items(t)
	t.Run("instances", func(t *testing.T) {
		t.Parallel()
		store := crowdedStore(t, claimers, mssql.Options{})
		together(t, 8, func(ctx context.Context, first int) error {
			for i := first; i < n; i += 8 {
				if err := store.EnqueueForOrchestrator(ctx, start(fmt.Sprintf("i%d", i)), 0); err != nil {
					return err
				}
			}
			return nil
		})
		var claimed ledger
		together(t, claimers, func(ctx context.Context, _ int) error {
			for claimed.size() < n {
				turn, err := fetchTurn(ctx, store)
				if err != nil || turn == nil {
					return err
				}
				claimed.add(turn.Item.Instance)
			}
			return nil
		})
		claimed.check(t, n)
	})
	t.Run("activities", func(t *testing.T) {
		t.Parallel()
		store := crowdedStore(t, claimers, mssql.Options{})
		queueActivities(t, store, "i", n)
		var claimed ledger
		together(t, claimers, func(ctx context.Context, _ int) error {
			for claimed.size() < n {
				work, err := fetchWork(ctx, store)
				if err != nil || work == nil {
					return err
				}
				claimed.add(fmt.Sprintf("activity %d", work.Item.(provider.ActivityExecuteItem).ID))
			}
			return nil
		})
		claimed.check(t, n)
	})
}

// queueActivities commits a first turn that schedules so many activities.
func queueActivities(t *testing.T, store *mssql.Store, instance string, n int) {
	t.Helper()
	ok(t, store.EnqueueForOrchestrator(t.Context(), start(instance), 0))
	turn := anyTurn(t, store)
	params := provider.AckOrchestrationParams{LockToken: turn.LockToken, ExecutionID: 1, Metadata: running()}
	for i := range n {
		params.WorkerItems = append(params.WorkerItems, provider.ActivityExecuteItem{
			Instance: instance, ExecutionID: 1, ID: uint64(i) + 2, Name: "Work",
		})
	}
	ok(t, store.AckOrchestrationItem(t.Context(), params))
}

// Rule Q4: a claim that loses a race takes the next candidate. As many claimers as there is something to claim come
// away with one each, every time.
func TestNothingMeansNothing(t *testing.T) {
	t.Parallel()
	const claimers, rounds = 10, 50
	t.Run("instances", func(t *testing.T) {
		t.Parallel()
		store := emptyStore(t, claimers)
		for i := range claimers {
			ok(t, store.EnqueueForOrchestrator(t.Context(), start(fmt.Sprintf("i%d", i)), 0))
		}
		for round := range rounds {
			tokens := make([]string, claimers)
			together(t, claimers, func(ctx context.Context, i int) error {
				turn, err := fetchTurn(ctx, store)
				if err != nil {
					return err
				}
				if turn == nil {
					return fmt.Errorf("round %d: nothing for claimer %d, and there was one for each", round, i)
				}
				tokens[i] = turn.LockToken
				return nil
			})
			together(t, claimers, func(ctx context.Context, i int) error {
				return store.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: tokens[i], IgnoreAttempt: true})
			})
		}
	})
	t.Run("activities", func(t *testing.T) {
		t.Parallel()
		store := emptyStore(t, claimers)
		queueActivities(t, store, "i", claimers)
		for round := range rounds {
			tokens := make([]string, claimers)
			together(t, claimers, func(ctx context.Context, i int) error {
				work, err := fetchWork(ctx, store)
				if err != nil {
					return err
				}
				if work == nil {
					return fmt.Errorf("round %d: nothing for claimer %d, and there was one for each", round, i)
				}
				tokens[i] = work.LockToken
				return nil
			})
			together(t, claimers, func(ctx context.Context, i int) error {
				return store.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: tokens[i], IgnoreAttempt: true})
			})
		}
	})
}

// Rule Q6: an instance whose activities all complete at once meets no deadlock. Nothing is repeated here, so each that
// there is becomes an error.
func TestWideFanOutWithoutDeadlocks(t *testing.T) {
	t.Parallel()
	width := min(2000, items(t))
	const workers = 16
	store := crowdedStore(t, workers+2, mssql.Options{MaxRetries: mssql.None})
	queueActivities(t, store, "i", width)
	var completed ledger
	var working atomic.Int32
	working.Store(workers)
	together(t, workers+2, func(ctx context.Context, i int) error {
		if i < workers {
			defer working.Add(-1)
			return completeAll(ctx, store)
		}
		// The turns of the instance run into its completions.
		for {
			last := working.Load() == 0
			turn, err := fetchTurn(ctx, store)
			if err != nil {
				return undeadlocked(err)
			}
			if turn == nil {
				if last {
					return nil
				}
				continue
			}
			if err := store.AckOrchestrationItem(ctx, provider.AckOrchestrationParams{
				LockToken: turn.LockToken, ExecutionID: 1, Metadata: running(),
			}); err != nil {
				return undeadlocked(err)
			}
			for _, message := range turn.Item.Messages {
				completed.add(fmt.Sprintf("completion %d", message.(provider.ActivityCompletedItem).ID))
			}
		}
	})
	completed.check(t, width)
}

// completeAll executes activities until there are no more.
func completeAll(ctx context.Context, store *mssql.Store) error {
	for {
		work, err := fetchWork(ctx, store)
		if err != nil {
			return undeadlocked(err)
		}
		if work == nil {
			return nil
		}
		item := work.Item.(provider.ActivityExecuteItem)
		completion := provider.ActivityCompletedItem{Instance: item.Instance, ExecutionID: item.ExecutionID, ID: item.ID}
		if err := store.AckWorkItem(ctx, work.LockToken, completion); err != nil {
			return undeadlocked(err)
		}
	}
}

// undeadlocked says of an error if it is a deadlock.
func undeadlocked(err error) error {
	if reported, ok := errors.AsType[sqlserver.Error](err); ok && reported.Number == 1205 {
		return fmt.Errorf("a deadlock: %w", err)
	}
	return err
}

// Rule Q10: many first messages of an instance that nobody knows yet all arrive.
func TestConcurrentFirstMessages(t *testing.T) {
	t.Parallel()
	const senders, instances = 16, 10
	store := crowdedStore(t, senders, mssql.Options{})
	for n := range instances {
		instance := fmt.Sprintf("i%d", n)
		together(t, senders, func(ctx context.Context, i int) error {
			if i == 0 {
				return store.EnqueueForOrchestrator(ctx, start(instance), 0)
			}
			return store.EnqueueForOrchestrator(ctx,
				provider.ExternalRaisedItem{Instance: instance, Name: fmt.Sprint(i)}, 0)
		})
		turn := anyTurn(t, store)
		if turn.Item.Instance != instance || len(turn.Item.Messages) != senders {
			t.Fatalf("fetched %+v, want %d messages of %s", turn, senders, instance)
		}
	}
}
