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
	s := openMemory(t, &Config{now: func() int64 {
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
	if fetch(t, s).Item.Instance != "i" {
		t.Error("the instance was not retried")
	}
}
