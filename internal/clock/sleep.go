// Package clock waits for time to pass, for as long as somebody is interested.
package clock

import (
	"context"
	"time"
)

// Sleep waits for d and returns nil, or until ctx ends, whose error it returns. If ctx
// has ended already it returns that at once; else a d that is not positive is no wait.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
