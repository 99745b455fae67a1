package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
)

// attachPatience is how long a call whose lease could not be renewed goes on when the store
// does not know its token any more: a slot of this worker may have fetched the activity
// and not have the store's answer yet.
const attachPatience = time.Second

// liveCalls are the calls of one worker that run or whose outcome the store has not taken,
// so that an activity that comes back finds its call.
type liveCalls struct {
	mu    sync.Mutex
	calls map[provider.ActivityRef]*call
}

func (l *liveCalls) enter(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[c.ref()] = c
}

func (l *liveCalls) leave(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls[c.ref()] == c {
		delete(l.calls, c.ref())
	}
}

func (l *liveCalls) get(ref provider.ActivityRef) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[ref]
}

// attached reports whether this activity still runs here from an earlier fetch, whose lease
// has ended. That call then goes on under the token and the lease of this one.
func (c *call) attached(ctx context.Context) bool {
	live := c.worker.live.get(c.ref())
	if live == nil || live.item.Name != c.item.Name || live.item.Input != c.item.Input || !live.attach(ctx, c.fetched) {
		return false
	}
	c.logger.InfoContext(ctx, "an activity was fetched again while it still runs here; it goes on with the new lease",
		"attempt", c.fetched.AttemptCount)
	return true
}

// attach gives the call a new token and lease. It refuses a call that is over or was told to
// stop, and one that was fetched as often: its instance was deleted and started anew.
func (c *call) attach(ctx context.Context, fetched *provider.FetchedWorkItem) bool {
	c.mu.Lock()
	stopped := c.ctx.Err() != nil && !c.returned || wasCancelled(c.ctx) //nolint:contextcheck // this call's, not the new fetch's
	if c.settled || stopped || fetched.AttemptCount <= c.held().AttemptCount {
		c.mu.Unlock()
		return false
	}
	old := c.lease
	c.again, c.lease = fetched, c.holdLease(ctx, fetched)
	if !c.returned {
		c.lease.OnRenewal(c.tell)
	}
	c.stopDoubt()
	c.mu.Unlock()
	old.Stop() // which waits for a callback that may want the mutex
	return true
}

// held is the fetch whose token the call holds. The caller has the mutex.
func (c *call) held() *provider.FetchedWorkItem {
	if c.again != nil {
		return c.again
	}
	return c.fetched
}

func (c *call) token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held().LockToken
}

// confirmed is the call's token, and when its lease was taken or last renewed.
func (c *call) confirmed() (token string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held().LockToken, c.lease.Confirmed()
}

// leaseTroubled reports whether the lease has ended or could not be renewed lately.
func (c *call) leaseTroubled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease.Troubled()
}

// takeLease begins to keep the call's first lease alive.
func (c *call) takeLease(ctx context.Context) {
	c.mu.Lock() // which the lease's callbacks want
	defer c.mu.Unlock()
	c.lease = c.holdLease(ctx, c.fetched)
	c.lease.OnRenewal(c.tell)
}

// holdLease keeps the lease of a fetch alive.
func (c *call) holdLease(ctx context.Context, fetched *provider.FetchedWorkItem) *leases.Lease {
	w, token := c.worker, fetched.LockToken
	timeout := w.options.ActivityLockTimeout
	l := leases.Hold(ctx, timeout, w.options.ActivityRenewalBuffer,
		func(ctx context.Context) error { return w.store.RenewWorkItemLock(ctx, token, timeout) },
		func(err error) {
			w.failed(c.key(), err)
			if errors.Is(err, provider.ErrInvalidLockToken) {
				c.lose(token)
			} else {
				c.expire(token)
			}
		}, c.logger)
	told := false
	l.OnEnd(func(err error) bool {
		if !c.outlives(token) {
			return false
		}
		if !told {
			told = true
			w.failed(c.key(), err)
			c.logger.WarnContext(ctx, "the lease of a running activity has ended; the activity goes on unless another worker takes it", "error", err)
		}
		return true
	})
	w.renewals.Join(l, provider.LockRenewal{LockToken: token, ExtendFor: timeout})
	return l
}

// outlives reports whether the call goes on when the lease of a token ends by time: while
// its handler runs.
func (c *call) outlives(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.returned && c.ctx.Err() == nil && c.held().LockToken == token
}

// expire ends the call, or what settles it, because the lease of a token cannot be renewed.
func (c *call) expire(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held().LockToken == token {
		c.cancel(errLeaseEnded)
	}
}

// lose cancels the call if the token that the store does not know any more is still the
// call's: at once, or after attachPatience if this worker may have fetched the activity again.
func (c *call) lose(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.settled || c.held().LockToken != token || c.doubt != nil:
	case !c.lease.Troubled():
		c.cancel(errCancelled)
	default:
		c.doubt = time.AfterFunc(attachPatience, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.settled && c.held().LockToken == token {
				c.cancel(errCancelled)
			}
		})
	}
}

// stopDoubt undoes lose. The caller has the mutex.
func (c *call) stopDoubt() {
	if c.doubt != nil {
		c.doubt.Stop()
		c.doubt = nil
	}
}

// hasReturned notes that the handler has returned, or is waited for no longer, and reports
// whether the lease has ended meanwhile.
func (c *call) hasReturned() (leaseEnded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.returned = true
	c.lease.OnRenewal(nil)
	return c.lease.Ended()
}

// conclude ends the call, and keeps its result if there is one to keep: from then on nothing
// attaches to it. It does neither, and returns false, if the token is not the call's any more.
func (c *call) conclude(token string, kept provider.WorkItem) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held().LockToken != token {
		return false
	}
	c.settled = true
	if kept != nil {
		c.worker.kept.keep(c.item, c.held().AttemptCount, kept)
	}
	return true
}

// giveUp ends the call without an outcome, and returns its last token: from then on nothing attaches to it.
func (c *call) giveUp() (token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = true
	return c.held().LockToken
}

// end releases what a call holds.
func (c *call) end() {
	c.mu.Lock()
	c.settled = true
	c.stopDoubt()
	l := c.lease
	c.mu.Unlock()
	if l != nil {
		c.worker.live.leave(c)
		l.Stop()
	}
}
