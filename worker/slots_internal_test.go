package worker

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// idleStore counts looks for work, of which there is none.
type idleStore struct {
	nowhere

	turns, activities chan struct{}

	mu    sync.Mutex
	looks int
	slots []int
}

func (s *idleStore) WorkReady() (turns, activities <-chan struct{}, stop func()) {
	return s.turns, s.activities, func() {}
}

func (s *idleStore) Claim(_ context.Context, params provider.ClaimParams) (provider.Claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	s.slots = append(s.slots, len(params.Work))
	return provider.Claimed{}, nil
}

func (*idleStore) AckTurnAndClaim(context.Context, provider.AckOrchestrationParams, provider.ClaimParams) (provider.Claimed, error) {
	panic("nothing is to be acknowledged")
}

func (*idleStore) AckWorkAndClaim(context.Context, []provider.WorkAck, provider.ClaimParams) ([]error, provider.Claimed, error) {
	panic("nothing is to be acknowledged")
}

func (*idleStore) RenewSessionLock(context.Context, provider.RenewSessionParams) (int, error) {
	return 0, nil
}

func (*idleStore) CleanupOrphanedSessions(context.Context, time.Duration) (int, error) { return 0, nil }

// A worker with nothing to do looks once for all its slots, and again at a notice: by one call if there is notice for
// both kinds.
func TestIdleWorkerLooksAtNotices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &idleStore{turns: make(chan struct{}, 1), activities: make(chan struct{}, 1)}
		w, err := New(store, Options{OrchestrationConcurrency: 16, ActivityConcurrency: 16, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		looks := func(want int) {
			t.Helper()
			_ = clock.Sleep(t.Context(), time.Hour)
			store.mu.Lock()
			defer store.mu.Unlock()
			if store.looks != want {
				t.Errorf("%d looks, want %d; for %v activities", store.looks, want, store.slots)
			}
		}
		looks(2)
		store.activities <- struct{}{}
		looks(3)
		if slots := store.slots[2]; slots != 16 {
			t.Errorf("a look is for %d slots, want 16", slots)
		}
		store.turns <- struct{}{}
		looks(4)
		for n := range 100 { // as a store gives notice that polls
			store.activities <- struct{}{}
			store.turns <- struct{}{}
			looks(5 + n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
