// Package retry says how often a failed call is tried again, and when.
//
//	var Charge = activity.Declare[Bill, Receipt]("Charge").WithRetry(retry.Policy{
//		MaxAttempts: 5,
//		Backoff:     retry.Exponential(time.Second, 2, time.Minute),
//		Timeout:     30 * time.Second,
//	})
//
// A policy stands in a definition, for all calls (activity.Definition.WithRetry, orchestration.Definition.WithRetry),
// or in one call (orchestration.WithRetry), or applies to all activities of a worker (ActivityRetry in worker.Options).
package retry

import (
	"fmt"
	"math"
	"time"
)

// Policy says how often an activity or a sub-orchestration is tried, and when. Attempts and delays are recorded
// as ordinary activities and timers, so a restart does not begin again. The zero value tries three times, with delays
// of 100 ms and 200 ms.
type Policy struct {
	// MaxAttempts is the number of attempts, including the first. The default is 3; math.MaxInt retries for ever.
	MaxAttempts int
	// Backoff is the delay before the next attempt. The default is
	// Exponential(100*time.Millisecond, 2, 30*time.Second).
	Backoff Backoff
	// Jitter, from 0 to 1, is the share of a delay that varies: 0.2 makes delays of 80 to 100 percent. It is computed
	// from the instance's id and the call, so that instances that fail at the same time are not retried at the same
	// time. The default is 0.
	Jitter float64
	// Timeout limits each attempt, counted from when it is scheduled. An attempt that takes longer is cancelled, and
	// the call fails with orchestration.ErrTimeout (see RetryTimeouts). The default, 0, is no limit.
	Timeout time.Duration
	// StartTimeout limits the time from when an activity is scheduled until a worker begins it. A worker that gets to
	// it later does not run it, and the attempt fails with orchestration.ErrTimeout. It has no effect on a
	// sub-orchestration. The default, 0, is no limit.
	StartTimeout time.Duration
	// RunTimeout limits each run of an activity, counted from when a worker begins it. Then the activity's context
	// ends, and the attempt fails with orchestration.ErrTimeout unless the activity returns a result within the
	// worker's Cancellation.GracePeriod. It has no effect on a sub-orchestration; use Timeout there. The default, 0, is
	// no limit.
	RunTimeout time.Duration
	// RetryTimeouts also retries attempts that exceeded Timeout, StartTimeout or RunTimeout. By default they end the
	// call.
	RetryTimeouts bool
	// TotalTimeout limits all attempts and delays together. Then the call fails with orchestration.ErrTimeout, which
	// wraps the last attempt's failure. The default, 0, is no limit.
	TotalTimeout time.Duration
	// Retryable reports whether another attempt may help. It must give the same answer for the same error. Four
	// kinds of errors are never retried, and Retryable is not called for them: orchestration.ErrAlreadyExists, a
	// reserved instance id, errors marked by failure.Final, and results that cannot be decoded. The default retries all
	// other errors.
	Retryable func(err error) bool
}

// Backoff returns the delay after a failed attempt. The first attempt is number 1. With a delay of 0 the next attempt
// follows at once.
type Backoff func(attempt int) time.Duration

// Constant returns a Backoff with the same delay after each attempt.
func Constant(delay time.Duration) Backoff {
	return func(int) time.Duration { return delay }
}

// Linear returns a Backoff that begins with base, grows by base after each further attempt, and is at most limit.
func Linear(base, limit time.Duration) Backoff {
	return func(attempt int) time.Duration { return bounded(float64(base)*float64(attempt), limit) }
}

// Exponential returns a Backoff that begins with base, is multiplied by factor after each further attempt, and is at
// most limit.
func Exponential(base time.Duration, factor float64, limit time.Duration) Backoff {
	return func(attempt int) time.Duration {
		return bounded(float64(base)*math.Pow(factor, float64(attempt-1)), limit)
	}
}

func bounded(delay float64, limit time.Duration) time.Duration {
	if delay >= float64(limit) {
		return limit
	}
	return time.Duration(delay)
}

// Validate returns an error that names the first invalid field.
func (p Policy) Validate() error {
	switch {
	case p.MaxAttempts < 0:
		return fmt.Errorf("retry.Policy: MaxAttempts is %d; it must be at least 1, or 0 for the default, 3", p.MaxAttempts)
	case !(p.Jitter >= 0 && p.Jitter <= 1): // also NaN
		return fmt.Errorf("retry.Policy: Jitter is %v; it must be between 0 and 1", p.Jitter)
	case min(p.Timeout, p.StartTimeout, p.RunTimeout, p.TotalTimeout) < 0:
		return fmt.Errorf("retry.Policy: Timeout is %v, StartTimeout %v, RunTimeout %v and TotalTimeout %v; "+
			"they must not be negative", p.Timeout, p.StartTimeout, p.RunTimeout, p.TotalTimeout)
	}
	return nil
}
