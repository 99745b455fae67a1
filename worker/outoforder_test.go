package worker_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker"
)

// broken is a store that takes no result until it is mended, and tells what is given back.
type broken struct {
	provider.Provider

	turns, work atomic.Bool // mended
	given       chan provider.AbandonParams
}

var errBroken = provider.Retryable("ack", "an index is missing", provider.ErrOutOfOrder)

func (s *broken) AckOrchestrationItem(ctx context.Context, params provider.AckOrchestrationParams) error {
	if !s.turns.Load() {
		return errBroken
	}
	return s.Provider.AckOrchestrationItem(ctx, params)
}

func (s *broken) AckWorkItem(ctx context.Context, token string, completion provider.WorkItem) error {
	if !s.work.Load() {
		return errBroken
	}
	return s.Provider.AckWorkItem(ctx, token, completion)
}

func (s *broken) AbandonOrchestrationItem(ctx context.Context, params provider.AbandonParams) error {
	s.given <- params
	return s.Provider.AbandonOrchestrationItem(ctx, params)
}

func (s *broken) AbandonWorkItem(ctx context.Context, params provider.AbandonParams) error {
	s.given <- params
	return s.Provider.AbandonWorkItem(ctx, params)
}

// A store that somebody has to mend costs no attempt, however long that takes: neither a turn nor an activity is poison
// afterwards.
func TestStoreThatIsOutOfOrderCostsNoAttempt(t *testing.T) {
	t.Parallel()
	store := &broken{Provider: openStore(t), given: make(chan provider.AbandonParams, 64)}
	options := worker.Options{Limits: worker.Limits{Attempts: 1}, Leases: worker.Leases{Orchestration: shortLease, Activity: shortLease}, PollTimeout: shortLease}
	run := start(t, store, callEcho, "x")
	runWorker(t, store, options, callEcho, echo)
	givenBack := func(what string) {
		t.Helper()
		for range 2 { // it was fetched again in between, and would be poison if the first one had counted
			if params := receive(t, what, store.given); !params.IgnoreAttempt {
				t.Errorf("%s was given back as an attempt", what)
			}
		}
	}
	givenBack("a turn")
	store.turns.Store(true)
	givenBack("an activity")
	store.work.Store(true)
	result(t, run)
}
