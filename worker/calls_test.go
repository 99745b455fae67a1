package worker_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// callCounter counts the calls by which a worker fetches and settles work.
type callCounter struct {
	*sqlite.Store

	mu    sync.Mutex
	calls []string
}

func (s *callCounter) count(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

// reset returns the calls so far and begins anew.
func (s *callCounter) reset() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

func (s *callCounter) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	s.count("fetch turn")
	return s.Store.FetchOrchestrationItem(ctx, params)
}

func (s *callCounter) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	s.count("fetch activity")
	return s.Store.FetchWorkItem(ctx, params)
}

func (s *callCounter) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	s.count("ack turn")
	return s.Store.AckOrchestrationItem(ctx, params)
}

func (s *callCounter) AckWorkItem(ctx context.Context, token string, completion provider.WorkItem) error {
	s.count("ack activity")
	return s.Store.AckWorkItem(ctx, token, completion)
}

func (s *callCounter) Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	s.count("take")
	return s.Store.Claim(ctx, params)
}

func (s *callCounter) AckTurnAndClaim(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error) {
	s.count("ack turn and take")
	return s.Store.AckTurnAndClaim(ctx, ack, params)
}

func (s *callCounter) AckWorkAndClaim(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error) {
	s.count("ack activities and take")
	return s.Store.AckWorkAndClaim(ctx, acks, params)
}

// sequenceOfFive calls five activities one after the other, and fanOutOfFive side by side.
var (
	sequenceOfFive = orchestration.New("SequenceOfFive", func(ctx *orchestration.Context, _ string) (string, error) {
		for range 5 {
			if _, err := orchestration.Activity(ctx, echo, "x").Await(); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	fanOutOfFive = orchestration.New("FanOutOfFive", func(ctx *orchestration.Context, _ string) (string, error) {
		var calls []*orchestration.Future[string]
		for range 5 {
			calls = append(calls, orchestration.Activity(ctx, echo, "x"))
		}
		for _, call := range calls {
			if _, err := call.Await(); err != nil {
				return "", err
			}
		}
		return "", nil
	})
)

// expectCalls runs orchestrations on an idle worker until one costs no more than that many calls,
// by a measure. A look for the work of other processes may come in between, and on a busy
// machine a turn that was found may be slow, so one orchestration says little.
func expectCalls(t *testing.T, store *callCounter, def orchestration.Definition[string, string], want int, measure func(calls []string) int) {
	t.Helper()
	least, cheapest := math.MaxInt, []string(nil)
	for i := 0; least > want && i < 100; i++ {
		store.reset()
		run, err := client.Start(t.Context(), client.New(store, client.Options{}), def, fmt.Sprintf("%s-%d", t.Name(), i), "")
		if err != nil {
			t.Fatal(err)
		}
		result(t, run)
		calls := store.reset()
		if n := measure(calls); n < least {
			least, cheapest = n, calls
		}
	}
	if least > want {
		t.Errorf("%d calls, want %d: %v", least, want, cheapest)
	}
}

// Work comes with the acknowledgement of other work: of a sequence of five activities only the
// first turn is looked for.
func TestSequenceMakesTwelveCalls(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 16} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			t.Parallel()
			store := &callCounter{Store: openStore(t)}
			runWorker(t, store, worker.Options{OrchestrationConcurrency: slots, ActivityConcurrency: slots}, echo, sequenceOfFive)
			all := func(calls []string) int { return len(calls) }
			expectCalls(t, store, sequenceOfFive, 12, all)
		})
	}
}

// Activities that a turn queues run without being looked for, and so do the turns that their
// results make. With the two commits that there must be these are eight calls. There are more
// commits when the results do not share a transaction.
func TestFanOutMakesEightCalls(t *testing.T) {
	t.Parallel()
	store := &callCounter{Store: openStore(t)}
	runWorker(t, store, worker.Options{OrchestrationConcurrency: 16, ActivityConcurrency: 16}, echo, fanOutOfFive)
	besideCommits := func(calls []string) int { return len(calls) - countOf(calls, "ack turn and take") }
	expectCalls(t, store, fanOutOfFive, 6, besideCommits)
}
