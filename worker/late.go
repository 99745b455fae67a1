package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/provider"
)

// late reports whether the activity has waited for longer than it may (contract §7.8), by the store's
// clock. One that was begun before is not late.
func (c *call) late() bool {
	allowed, begun := c.item.StartTimeoutMs, c.fetched.AttemptCount > 1 || c.fetched.Heartbeat != ""
	return allowed > 0 && !begun && uint64(c.fetched.Waited/time.Millisecond) > allowed
}

// errRanTooLong is the cause of an activity's context that ends since its time is over.
var errRanTooLong = fmt.Errorf("the activity's RunTimeout is over: %w", context.DeadlineExceeded)

// bounded is the context of an activity's function, which ends when it has run for as long as it
// may.
func (c *call) bounded(ctx context.Context) (running context.Context, stop context.CancelFunc) {
	if c.item.RunTimeoutMs == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, details.Milliseconds(c.item.RunTimeoutMs), errRanTooLong)
}

func ranTooLong(running context.Context) bool {
	return errors.Is(context.Cause(running), errRanTooLong)
}

// overrun waits a moment longer for an activity that has run for as long as it may. One that does
// not return keeps its goroutine, which Go cannot end, and fails.
func (c *call) overrun(ctx, running context.Context, done <-chan provider.WorkItem) verdict {
	grace := c.worker.options.CancellationGracePeriod
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case completion := <-done:
		return c.finish(ctx, c.inTime(running, completion))
	case <-ctx.Done():
		return c.cancelled(ctx, done)
	case <-timer.C:
		c.logger.WarnContext(ctx, "an activity ignores that its context has ended", "waited", grace)
		return c.finish(ctx, c.failedWith(details.RanTooLong(c.item.RunTimeoutMs)))
	}
}

// inTime is what came of an activity: too long a run, if it has failed after its time was over.
func (c *call) inTime(running context.Context, completion provider.WorkItem) provider.WorkItem {
	if _, failed := completion.(provider.ActivityFailedItem); failed && ranTooLong(running) {
		return c.failedWith(details.RanTooLong(c.item.RunTimeoutMs))
	}
	return completion
}

// tooLate fails an activity that has waited for too long, without running it.
func (c *call) tooLate(ctx context.Context) verdict {
	why := details.StartedLate(c.fetched.Waited, c.item.StartTimeoutMs)
	c.logger.WarnContext(ctx, "an activity has waited for too long and is not run", "waited", c.fetched.Waited)
	c.tellNotRun(ctx, why)
	return complete{c.failedWith(why)}
}
