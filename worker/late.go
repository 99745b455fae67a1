package worker

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/internal/details"
)

// late reports whether the activity has waited for longer than it may (§7.8), by the store's
// clock. One that was begun before is not late.
func (c *call) late() bool {
	allowed, begun := c.item.StartTimeoutMs, c.fetched.AttemptCount > 1 || c.fetched.Heartbeat != ""
	return allowed > 0 && !begun && uint64(c.fetched.Waited/time.Millisecond) > allowed
}

// tooLate fails an activity that has waited for too long, without running it.
func (c *call) tooLate(ctx context.Context) {
	why := details.StartedLate(c.fetched.Waited, c.item.StartTimeoutMs)
	c.logger.WarnContext(ctx, "an activity has waited for too long and is not run", "waited", c.fetched.Waited)
	c.tellNotRun(ctx, why)
	c.ack(ctx, c.failedWith(why))
}
