package mssql

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// retries is how calls are repeated, see [Store.call].
type retries struct {
	// most is the number of tries after the first.
	most int
	// first is the longest pause after the first try; it doubles up to longest.
	first, longest time.Duration
	// patience bounds one try; 0 is no bound.
	patience time.Duration
	// pause waits, and returns early with the context's error. Tests replace it.
	pause func(ctx context.Context, d time.Duration) error
}

func newRetries(settings Options) retries {
	return retries{
		most: settings.MaxRetries, first: settings.RetryBackoff, longest: longestPause, patience: settings.CallTimeout, pause: clock.Sleep,
	}
}

// errTimeout is the cause of a context that ended because a try took too long.
var errTimeout = errors.New("no answer in time")

// do tries until a try succeeds, may not be repeated, or the tries are used up.
func (r retries) do(
	ctx context.Context, operation string, repeat bool, try func(context.Context) error,
) error {
	var last error
	began := time.Now()
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return contextError(ctx, operation, last)
		}
		err := r.once(ctx, try)
		if err == nil {
			return nil
		}
		if known, ok := errors.AsType[*provider.Error](err); ok {
			return known
		}
		if ctx.Err() != nil {
			return contextError(ctx, operation, last)
		}
		last = err
		f := judge(err)
		if n >= r.most && !r.lasts(f, began) || !f.worthRepeating(repeat) {
			return classify(operation, err)
		}
		if r.pause(ctx, max(r.backoff(n), f.wait)) != nil {
			return contextError(ctx, operation, last)
		}
	}
}

// lasts reports whether the cause of a failure may still last, of a call that began then.
func (r retries) lasts(f fault, began time.Time) bool {
	return r.most > 0 && time.Since(began) < f.lasts
}

// resumed tries while the database takes no calls for a known time, and returns the last error.
func (r retries) resumed(ctx context.Context, try func() error) error {
	began := time.Now()
	for n := 0; ; n++ {
		err := try()
		if err == nil || !r.lasts(judge(err), began) || r.pause(ctx, r.backoff(n)) != nil {
			return err
		}
	}
}

// contextError is the error of a call whose context has ended, with what kept the last try.
func contextError(ctx context.Context, operation string, last error) error {
	err := provider.ContextError(ctx, operation)
	if last != nil {
		err.Message += "; the last try failed: " + provider.AsError(classify(operation, last)).Message
	}
	return err
}

// once is one try, bounded by the patience. When that is what ended it, the error is
// errTimeout as well.
func (r retries) once(ctx context.Context, try func(context.Context) error) error {
	if r.patience <= 0 {
		return try(ctx)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, r.patience, errTimeout)
	defer cancel()
	err := try(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errTimeout) {
		if _, ok := errors.AsType[*provider.Error](err); !ok {
			return errors.Join(errTimeout, err)
		}
	}
	return err
}

// backoff is the pause after the n-th try, n from 0: between half of a bound that
// doubles and all of it, so that callers that failed together do not return together.
func (r retries) backoff(n int) time.Duration {
	bound := min(r.first, r.longest)
	for range n {
		if bound > r.longest/2 {
			// Doubling once more could overflow.
			bound = r.longest
			break
		}
		bound *= 2
	}
	return jitter(bound)
}

// jitter is a random time between half of d and d.
func jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	half := d / 2
	return d - rand.N(half+1) //nolint:gosec // guessing a pause gains nothing
}
