package sqlite

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// A retry whose caller has gone is carried out, and writes nothing that the caller reads, as the race detector sees.
func TestRetryOfAHeldInstanceThatIsLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	var armed atomic.Bool
	s := openMemory(t, Options{now: func() int64 {
		if armed.CompareAndSwap(true, false) {
			cancel()
			<-gone
		}
		return time.Now().UnixMilli()
	}})
	must(t, s.EnqueueForOrchestrator(t.Context(), start("i"), 0))
	must(t, s.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{
		LockToken: fetch(t, s).LockToken, Delay: time.Hour, Misfit: "why",
	}))
	armed.Store(true)
	left := make(chan struct{})
	go func() {
		defer close(left)
		if held, err := s.RetryHeldInstance(ctx, "i"); held != (err == nil) { // it may have been faster
			t.Errorf("held: %t, error %v", held, err)
		}
	}()
	<-ctx.Done()
	close(gone)
	<-left
	if hidden, err := s.CountHiddenMessages(t.Context()); hidden > 0 || err != nil {
		must(t, err)
		return // the call was left before it began
	}
	if fetch(t, s).Item.Instance != "i" {
		t.Error("the instance was not retried")
	}
}

// A retry keeps an instance fetchable whose dead worker's lease has ended, also if the clock was set back and the
// lease seems to be live again.
func TestRetryOfAHeldInstanceAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	s, clock := clockAt(t, 1_000_000)
	beginInstance(t, s, "i")
	raise := func() {
		must(t, s.EnqueueForOrchestrator(t.Context(), provider.ExternalRaisedItem{Instance: "i", Name: "e"}, 0))
	}
	fetchFor := func(lease time.Duration, known *provider.KnownCode) *provider.FetchedOrchestration {
		turn, err := s.FetchOrchestrationItem(t.Context(), provider.FetchOrchestrationParams{LockTimeout: lease, Known: known})
		must(t, err)
		return turn
	}
	raise()
	must(t, s.AbandonOrchestrationItem(t.Context(), provider.AbandonParams{
		LockToken: fetchFor(second, nil).LockToken, Delay: time.Hour, Misfit: "why",
	}))
	raise()
	fetchFor(second, nil) // by a worker that dies
	clock.Add(2000)
	if turn := fetchFor(second, know("Other", "1")); turn != nil {
		t.Fatalf("fetched %s, whose code is another", turn.Item.Instance)
	}
	clock.Add(-1500)
	held, err := s.RetryHeldInstance(t.Context(), "i")
	must(t, err)
	clock.Add(10_000)
	if turn := fetchFor(second, nil); !held || turn == nil || len(turn.Item.Messages) != 2 {
		t.Errorf("held: %t; fetched %+v, want both messages", held, turn)
	}
}
