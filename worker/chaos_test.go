package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/providerfault"
	"github.com/duroxide/duroxide-go/worker"
)

// trip asks for something of every kind, over two executions.
func trip(child orchestration.Definition[int, int], add activity.Definition[int, int]) orchestration.Definition[[2]int, int] {
	return orchestration.New("Trip", func(ctx *orchestration.Context, in [2]int) (int, error) {
		round, sum := in[0], in[1]
		activities := []*orchestration.Future[int]{
			orchestration.Activity(ctx, add, sum), orchestration.Activity(ctx, add, sum+1),
		}
		sub := orchestration.SubOrchestration(ctx, child, sum)
		message := orchestration.NewQueue[int]("numbers").Dequeue(ctx)
		ctx.Sleep(time.Millisecond)
		results, err := orchestration.Join(append(activities, sub, message)...)
		if err != nil {
			return 0, err
		}
		for _, n := range results {
			sum += n
		}
		ctx.SetCustomStatus(fmt.Sprint(sum))
		orchestration.NewKey[int]("sum").Set(ctx, sum)
		if round == 1 {
			return sum, nil
		}
		return orchestration.Declare[[2]int, int]("Trip").ContinueAsNew(ctx, [2]int{round + 1, sum})
	})
}

// On a store that fails, loses, repeats and forgets at random, with workers that come
// and go, every instance ends once with the one right result.
func TestChaos(t *testing.T) {
	t.Parallel()
	const instances, workers = 20, 3
	add := activity.New("Add", func(_ context.Context, n int) (int, error) { return n + 1, nil })
	child := orchestration.New("Child", func(ctx *orchestration.Context, n int) (int, error) {
		return orchestration.Activity(ctx, add, n).Await()
	})
	def := trip(child, add)
	inner := openStore(t)

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(seed, 0))
	oneIn := func(n int, operations ...providerfault.Operation) func(call providerfault.Call) bool {
		return func(call providerfault.Call) bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Contains(operations, call.Operation) && dice.IntN(n) == 0
		}
	}
	acks := []providerfault.Operation{providerfault.AckOrchestrationItem, providerfault.AckWorkItem}
	fetches := []providerfault.Operation{providerfault.FetchOrchestrationItem, providerfault.FetchWorkItem}
	others := []providerfault.Operation{
		providerfault.AbandonOrchestrationItem, providerfault.AbandonWorkItem, providerfault.Read,
		providerfault.RenewOrchestrationItemLock, providerfault.RenewWorkItemLock,
	}
	store := providerfault.New(inner,
		providerfault.Rule{If: oneIn(10, acks...), Fault: providerfault.Fault{Fail: providerfault.Busy()}},
		providerfault.Rule{If: oneIn(10, acks...), Fault: providerfault.Fault{Lose: providerfault.Unreachable()}},
		providerfault.Rule{If: oneIn(10, acks...), Fault: providerfault.Fault{Repeat: 1}},
		providerfault.Rule{If: oneIn(25, acks...), Fault: providerfault.Fault{Fail: providerfault.LockLost()}},
		providerfault.Rule{If: oneIn(25, fetches...), Fault: providerfault.Fault{Lose: providerfault.Unreachable()}},
		providerfault.Rule{If: oneIn(4, others...), Fault: providerfault.Fault{Fail: providerfault.Busy()}},
	)
	options := worker.Options{
		Leases: worker.Leases{Orchestration: shortLease, Activity: shortLease}, PollTimeout: shortLease,
		ShutdownTimeout: worker.AtOnce, Limits: worker.Limits{Attempts: 1000},
	}
	for range workers {
		runWorker(t, store, options, def, child, add)
	}
	c := client.New(inner, client.Options{})
	var runs []*client.Run[int]
	for i := range instances {
		run, err := client.Start(t.Context(), c, def, fmt.Sprint("trip-", i), [2]int{0, i})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		for n := range 2 {
			if err := client.Enqueue(t.Context(), c, orchestration.NewQueue[int]("numbers"), run.Instance(), n); err != nil {
				t.Fatal(err)
			}
		}
		if i%5 == 0 { // a worker that is stopped in the midst of it
			stop := runWorker(t, store, options, def, child, add)
			stop()
		}
	}
	for i, run := range runs {
		want := i
		for n := range 2 {
			want += (want + 1) + (want + 2) + (want + 1) + n
		}
		if got := result(t, run); got != want {
			t.Errorf("%s: %d, want %d", run.Instance(), got, want)
		}
		checkHistories(t, inner, run.Instance())
	}
}

// checkHistories checks what holds for each execution of an instance.
func checkHistories(t *testing.T, store provider.Provider, instance string) {
	t.Helper()
	executions, err := store.Admin().ListExecutions(t.Context(), instance)
	if err != nil || len(executions) != 2 {
		t.Fatalf("executions %v, %v", executions, err)
	}
	for _, execution := range executions {
		events, err := store.ReadWithExecution(t.Context(), instance, execution)
		if err != nil {
			t.Fatal(err)
		}
		completions := map[uint64]int{}
		terminals := 0
		for i, event := range events {
			if event.EventID != uint64(i+1) {
				t.Errorf("%s/%d: event %d is numbered %d", instance, execution, i+1, event.EventID)
			}
			if event.Terminal() {
				terminals++
			}
			if event.SourceEventID != nil {
				completions[*event.SourceEventID]++
			}
		}
		if terminals != 1 {
			t.Errorf("%s/%d ended %d times: %v", instance, execution, terminals, types(events))
		}
		for id, n := range completions {
			if n != 1 {
				t.Errorf("%s/%d: event %d was completed %d times", instance, execution, id, n)
			}
		}
	}
}

// An instance whose next execution nobody can run for the moment loses nothing that
// arrives meanwhile (§7.6, the hazard between two executions).
func TestMessagesBetweenExecutions(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	first := orchestration.New("Moves", func(ctx *orchestration.Context, _ string) (string, error) {
		event := orchestration.NewEvent[string]("go").Wait(ctx)
		ctx.SetCustomStatus("waiting")
		if _, err := event.Await(); err != nil {
			return "", err
		}
		return orchestration.Declare[string, string]("Moves").AtVersion("2.0.0").ContinueAsNew(ctx, "")
	})
	second := orchestration.New("Moves", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.NewQueue[string]("inbox").Dequeue(ctx).Await()
	}).WithVersion("2.0.0")
	abandoned := make(chan struct{}, 64)
	watched := providerfault.New(store, providerfault.Rule{
		Operation: providerfault.AbandonOrchestrationItem, If: func(providerfault.Call) bool { abandoned <- struct{}{}; return false },
	})
	stop := runWorker(t, unselecting{watched}, worker.Options{Code: worker.Code{Backoff: 50 * time.Millisecond, MaxBackoff: 50 * time.Millisecond}}, first)
	run := start(t, store, first, "")
	waitForStatus(t, store, run.Instance())
	raise(t, store, run.Instance(), "go")
	receive(t, "version 2.0.0 handed on", abandoned)
	if err := client.Enqueue(t.Context(), client.New(store, client.Options{}), orchestration.NewQueue[string]("inbox"), run.Instance(), "kept"); err != nil {
		t.Fatal(err)
	}
	receive(t, "and again", abandoned)
	stop()
	runWorker(t, store, worker.Options{}, second)
	if got := result(t, run); got != "kept" {
		t.Errorf("output = %q", got)
	}
}

// Nor does it wait for ever: the next execution fails, and its parent learns of that.
func TestNextExecutionThatNobodyRuns(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	child := orchestration.New("Child", func(ctx *orchestration.Context, _ string) (string, error) {
		return orchestration.Declare[string, string]("Child").AtVersion("2.0.0").ContinueAsNew(ctx, "")
	})
	family := parent(child)
	runWorker(t, store, worker.Options{Code: worker.Code{Backoff: time.Millisecond, UnknownTimeout: 200 * time.Millisecond}}, family, child)
	run := start(t, store, family, "")
	if got := failure(t, run).DisplayMessage(); !strings.Contains(got, `orchestration "Child" version 2.0.0`) || !strings.HasSuffix(got, ": 1.0.0") {
		t.Errorf("the parent fails with %s", got)
	}
	s, err := client.New(store, client.Options{}).Status(t.Context(), "child")
	if err != nil || s.State != client.Failed || s.ExecutionID != 2 {
		t.Errorf("child %+v, %v", s, err)
	}
	diff := cmp.Diff([]string{"OrchestrationStarted", "OrchestrationFailed"}, types(history(t, store, "child")))
	if diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// Deleting an instance by force ends what it runs, and nothing brings it back.
func TestDeletedInstance(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	work := newObedient("Work")
	def := calling(work.Definition)
	runWorker(t, store, worker.Options{Leases: worker.Leases{Activity: shortLease}}, def, work)
	run := start(t, store, def, "")
	receive(t, "activity", work.running)
	if _, err := store.Admin().DeleteInstance(t.Context(), run.Instance(), true); err != nil {
		t.Fatal(err)
	}
	receive(t, "end of the activity", work.ended)
	s, err := run.Status(t.Context())
	if err != nil || s.State != client.NotFound {
		t.Errorf("%+v, %v", s, err)
	}
	// The id is free again.
	again := start(t, store, def, "")
	receive(t, "activity", work.running)
	if err := client.New(store, client.Options{}).Cancel(t.Context(), again.Instance(), "enough"); err != nil {
		t.Fatal(err)
	}
	if got := failure(t, again).DisplayMessage(); got != "canceled: enough" {
		t.Errorf("failure %s", got)
	}
}
