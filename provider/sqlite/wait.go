package sqlite

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/internal/wakeup"
)

// poll calls look until it finds something, fails, or timeout has passed. look is
// told whether it was woken; it returns the time from which it is worth looking
// again, 0 for unknown.
func poll[T any](
	ctx context.Context, s *Store, list *wakeup.List, operation string, timeout time.Duration,
	look func(woken bool) (*T, int64, error),
) (*T, error) {
	fetch := wakeup.Fetch{Operation: operation, Timeout: timeout, Closing: s.calls.Closing(), Closed: columns.Closed}
	return wakeup.Poll(ctx, list, fetch, look)
}

// waitToTake is takeWith for a Claim that may wait for so long if it finds nothing: for a notice that there may be
// something. Then it returns nothing, and its caller looks again.
func (s *Store) waitToTake(ctx context.Context, j *job, k *taking, wait time.Duration) (provider.Claimed, error) {
	if err := s.enter(j.operation); err != nil {
		return provider.Claimed{}, err
	}
	defer s.leave()
	turns, activities, stop := s.WorkReady() // before it looks, so that it misses nothing
	defer stop()
	<-turns
	<-activities
	taken, err := s.takeWith(ctx, j, k)
	if err != nil || taken.Turn != nil || len(taken.Work) > 0 || taken.Err != nil {
		return taken, err
	}
	if k.turn == nil {
		turns = nil
	}
	if len(k.work) == 0 {
		activities = nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-turns:
	case <-activities:
	case <-timer.C:
	case <-ctx.Done():
		return provider.Claimed{}, provider.ContextError(ctx, j.operation)
	case <-s.calls.Closing():
		return provider.Claimed{}, columns.Closed(j.operation)
	}
	return provider.Claimed{Waited: true}, nil
}
