package worker

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// finish returns the call that acknowledges an outcome, unless the activity was
// told to stop.
func (c *call) finish(ctx context.Context, completion provider.WorkItem) (settle func()) {
	failure, failed := completion.(provider.ActivityFailedItem)
	cause := context.Cause(ctx)
	leaseEnded := c.hasReturned()
	switch {
	case errors.Is(cause, errLeaseEnded) && !failed: // and the activity may come back
	case errors.Is(cause, errCancelled):
		// The row is gone or somebody else's: there is nothing to acknowledge.
		c.giveUp()
		return func() { c.logger.DebugContext(ctx, "the result of a cancelled activity is discarded") }
	case errors.Is(cause, errShutdown) && failed:
		// Most likely failed because of the shutdown: let another worker try.
		return func() { c.abandon(ctx, 0, true) }
	}
	if u, ok := completion.(unread); ok {
		return func() { c.readAgain(ctx, u.err) }
	}
	if failed {
		c.worker.withError(c.logger, failure.Details).WarnContext(ctx, "activity failed", "attempt", c.fetched.AttemptCount)
	}
	if leaseEnded { // one try, as the store may have renewed it all the same
		c.cancel(errLeaseEnded)
	}
	return func() { c.ack(ctx, completion) }
}

// ack completes the activity. The result is sent again as long as the lease lasts; then, or
// when the store says that it has ended, it is kept for when the activity comes back. If it
// has come back meanwhile, the result is sent with its new token.
func (c *call) ack(ctx context.Context, completion provider.WorkItem) {
	var encoded provider.WorkItem
	for {
		token := c.token()
		tries, err := c.settling.do(func(ctx context.Context) (err error) {
			if encoded == nil {
				if encoded, err = sealed.Item(ctx, c.worker.options.Codec, completion); err != nil {
					encoded = nil
					return err
				}
			}
			token, err = c.acknowledge(ctx, encoded)
			return err
		})
		if err == nil {
			c.worker.failures.forget(c.key())
			return
		}
		var kept provider.WorkItem
		if c.mayComeBack(ctx, err) {
			kept = completion
		}
		if c.settle(token, kept) {
			c.worker.failed(c.key(), err)
			c.unacknowledged(ctx, tries, err, kept != nil)
			return
		}
	}
}

// acknowledge tries once to complete the activity, and returns the token that it used. The first
// try, and only that, is made together with others.
func (c *call) acknowledge(ctx context.Context, completion provider.WorkItem) (token string, err error) {
	if take := c.settling.take; take != nil && !c.tried {
		c.tried = true
		return take.dispatcher.acks.do(ctx, &activityAck{token: c.token, completion: completion, take: take})
	}
	token = c.token()
	return token, c.worker.store.AckWorkItem(ctx, token, completion)
}

// mayComeBack reports whether an activity whose result was not taken may be fetched again,
// by this worker too: its lease has ended, or the store failed.
func (c *call) mayComeBack(ctx context.Context, err error) bool {
	switch {
	case wasCancelled(ctx):
		return false
	case errors.Is(err, provider.ErrLockExpired):
		return true
	case errors.Is(err, provider.ErrLockLost):
		return c.leaseTroubled()
	}
	return provider.IsRetryable(err) && !errors.Is(context.Cause(ctx), errShutdown) || errors.Is(context.Cause(ctx), errLeaseEnded)
}

// unacknowledged tells of a result that the store has not taken, and hands the activity back
// if it is still the call's. kept says that the result is kept for when the activity comes back.
func (c *call) unacknowledged(ctx context.Context, tries int, err error, kept bool) {
	cause := context.Cause(ctx)
	switch lost := errors.Is(err, provider.ErrLockLost); {
	case wasCancelled(ctx), lost && !errors.Is(err, provider.ErrLockExpired) && !c.leaseTroubled():
		c.logger.DebugContext(ctx, "the result of a cancelled activity is discarded", "error", err)
	case errors.Is(err, provider.ErrLockExpired), !lost && errors.Is(cause, errLeaseEnded):
		c.logger.WarnContext(ctx, "a result did not arrive before its lease ended, it is kept for when the activity comes back")
	case lost:
		c.logger.WarnContext(ctx, "a result was not accepted because the lease was lost", "error", err)
	case errors.Is(cause, errShutdown):
		c.logger.ErrorContext(ctx, "a result did not arrive before the worker had to stop, the activity is run again", "error", err, "tries", tries)
		c.abandon(ctx, 0, true)
	case kept:
		c.logger.ErrorContext(ctx, "the store has not accepted a result, it is kept for when the activity comes back", "error", err, "tries", tries)
		c.abandon(ctx, 100*time.Millisecond, noAttempt(err))
	default:
		c.logger.ErrorContext(ctx, "acknowledging an activity failed", "error", err, "tries", tries)
		c.abandon(ctx, 100*time.Millisecond, noAttempt(err))
	}
}

func (c *call) poisoned(ctx context.Context) {
	c.logger.WarnContext(ctx, "an activity was fetched too often and fails", "attempt", c.fetched.AttemptCount)
	message, err := provider.EncodeWorkItem(c.item)
	if err != nil {
		message = []byte("{}")
	}
	text := c.worker.poisonText(describeCode(anActivity, c.code()), c.key())
	poison := provider.Poison{
		AttemptCount: c.fetched.AttemptCount, MaxAttempts: c.worker.options.MaxAttempts, Message: text + "\n" + string(message),
		MessageType: provider.PoisonActivity{
			Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ActivityName: c.item.Name, ActivityID: c.item.ID,
		},
	}
	c.tellNotRun(ctx, poison)
	c.ack(ctx, c.failedWith(poison))
}

// abandon hands the activity back. From then on nothing attaches to the call: the activity may be fetched again before
// the store has answered.
func (c *call) abandon(ctx context.Context, delay time.Duration, ignoreAttempt bool) {
	if c.beats != nil {
		c.beats.handBack(c.settling.calls) //nolint:contextcheck // as below
	}
	err := c.worker.store.AbandonWorkItem(c.settling.calls, provider.AbandonParams{ //nolint:contextcheck // what settles work has its own context
		LockToken: c.giveUp(), Delay: delay, IgnoreAttempt: ignoreAttempt,
	})
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		c.logger.WarnContext(ctx, "an activity could not be handed back, it returns when its lease ends", "error", err)
	}
}
