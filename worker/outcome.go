package worker

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// finish completes the activity with an outcome, unless the activity was told to stop.
func (c *call) finish(ctx context.Context, completion provider.WorkItem) verdict {
	failure, failed := completion.(provider.ActivityFailedItem)
	cause := context.Cause(ctx)
	leaseEnded := c.hasReturned()
	switch {
	case errors.Is(cause, errLeaseEnded) && !failed: // and the activity may come back
	case errors.Is(cause, errCancelled):
		// The row is gone or somebody else's: there is nothing to acknowledge.
		c.giveUp()
		c.logger.DebugContext(ctx, "the result of a cancelled activity is discarded")
		return leave{}
	case errors.Is(cause, errShutdown) && failed:
		// Most likely failed because of the shutdown: let another worker try.
		return giveBack{IgnoreAttempt: true}
	}
	if u, ok := completion.(unread); ok {
		return c.readAgain(ctx, u.err)
	}
	if failed {
		c.worker.withError(c.logger, failure.Details).WarnContext(ctx, "activity failed", "attempt", c.fetched.AttemptCount)
	}
	if leaseEnded { // one try, as the store may have renewed it all the same
		c.cancel(errLeaseEnded)
	}
	return complete{completion}
}

// ack completes the activity. The result is sent again as long as the lease lasts; then, or
// when the store says that it has ended, it is kept for when the activity comes back. If it
// has come back meanwhile, the result is sent with its new token.
func (c *call) ack(ctx context.Context, completion provider.WorkItem) verdict {
	var encoded provider.WorkItem
	for {
		token := c.token()
		tries, err := c.settling.Do(func(ctx context.Context) (err error) {
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
			return nil
		}
		var kept provider.WorkItem
		if c.mayComeBack(ctx, err) {
			kept = completion
		}
		if c.conclude(token, kept) {
			c.worker.failed(c.key(), err)
			return c.unacknowledged(ctx, tries, err, kept != nil)
		}
	}
}

// acknowledge tries once to complete the activity, and returns the token that it used. The first
// try, and only that, is made together with others.
func (c *call) acknowledge(ctx context.Context, completion provider.WorkItem) (token string, err error) {
	if !c.tried {
		c.tried = true
		if used, ok, err := c.settling.AckActivity(ctx, c.token, completion); ok {
			return used, err
		}
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

// unacknowledged tells of a result that the store has not taken, and gives the activity back
// if it is still the call's. kept says that the result is kept for when the activity comes back.
func (c *call) unacknowledged(ctx context.Context, tries int, err error, kept bool) verdict {
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
		return giveBack{IgnoreAttempt: true}
	case kept:
		c.logger.ErrorContext(ctx, "the store has not accepted a result, it is kept for when the activity comes back", "error", err, "tries", tries)
		return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: noAttempt(err)}
	default:
		c.logger.ErrorContext(ctx, "acknowledging an activity failed", "error", err, "tries", tries)
		return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: noAttempt(err)}
	}
	return nil
}

func (c *call) poisoned(ctx context.Context) verdict {
	c.logger.WarnContext(ctx, "an activity was fetched too often and fails", "attempt", c.fetched.AttemptCount)
	message, err := provider.EncodeWorkItem(c.item)
	if err != nil {
		message = []byte("{}")
	}
	text := c.worker.poisonText(describeCode(anActivity, c.code()), c.key())
	poison := provider.PoisonFailure{
		AttemptCount: c.fetched.AttemptCount, MaxAttempts: c.worker.options.MaxAttempts, Message: text + "\n" + string(message),
		MessageType: provider.PoisonActivity{
			Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ActivityName: c.item.Name, ActivityID: c.item.ID,
		},
	}
	c.tellNotRun(ctx, poison)
	return complete{c.failedWith(poison)}
}
