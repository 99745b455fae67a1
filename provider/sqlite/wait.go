package sqlite

import (
	"context"
	"time"

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
	return wakeup.Poll(ctx, list, fetch, func(why wakeup.Reason) (*T, int64, error) {
		return look(why != wakeup.Arrived)
	})
}
