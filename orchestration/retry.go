package orchestration

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/registry"
)

// RetryPolicy says how often an activity or a sub-orchestration is tried, and when. Attempts and delays are recorded
// as ordinary activities and timers, so a restart does not begin again. The zero value tries three times, with delays
// of 100 ms and 200 ms.
type RetryPolicy struct {
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
	// the call fails with [ErrTimeout] (see RetryTimeouts). The default, 0, is no limit.
	Timeout time.Duration
	// StartTimeout limits the time from when an activity is scheduled until a worker begins it. A worker that gets to
	// it later does not run it, and the attempt fails with [ErrTimeout]. It has no effect on a sub-orchestration. The
	// default, 0, is no limit.
	StartTimeout time.Duration
	// RunTimeout limits each run of an activity, counted from when a worker begins it. Then the activity's context
	// ends, and the attempt fails with [ErrTimeout] unless the activity returns a result within the worker's
	// CancellationGracePeriod. It has no effect on a sub-orchestration; use Timeout there. The default, 0, is no
	// limit.
	RunTimeout time.Duration
	// RetryTimeouts also retries attempts that exceeded Timeout, StartTimeout or RunTimeout. By default they end the
	// call.
	RetryTimeouts bool
	// TotalTimeout limits all attempts and delays together. Then the call fails with [ErrTimeout], which wraps the
	// last attempt's failure. The default, 0, is no limit.
	TotalTimeout time.Duration
	// Retryable reports whether another attempt may help. It must give the same answer for the same error. Four
	// kinds of errors are never retried, and Retryable is not called for them: [ErrAlreadyExists], a reserved instance
	// id, errors marked by [failure.Final], and results that cannot be decoded. The default retries all other errors.
	Retryable func(err error) bool
}

// Backoff returns the delay after a failed attempt. The first attempt is number 1. With a delay of 0 the next attempt
// follows at once.
type Backoff func(attempt int) time.Duration

// Constant returns a Backoff with the same delay after each attempt.
func Constant(delay time.Duration) Backoff {
	return func(int) time.Duration { return delay }
}

// Linear returns a Backoff that begins with base, grows by base after each further attempt, and is at most most.
func Linear(base, most time.Duration) Backoff {
	return func(attempt int) time.Duration { return bounded(float64(base)*float64(attempt), most) }
}

// Exponential returns a Backoff that begins with base, is multiplied by factor after each further attempt, and is at
// most most.
func Exponential(base time.Duration, factor float64, most time.Duration) Backoff {
	return func(attempt int) time.Duration {
		return bounded(float64(base)*math.Pow(factor, float64(attempt-1)), most)
	}
}

func bounded(delay float64, most time.Duration) time.Duration {
	if delay >= float64(most) {
		return most
	}
	return time.Duration(delay)
}

// CallOption changes how an activity or a sub-orchestration is called. See [WithRetry] and
// [WithTimeout].
type CallOption interface {
	ActivityOption
	SubOption
}

type callOption func(p **RetryPolicy)

func (f callOption) ofActivity(o *activityOptions) { f(&o.retry) }
func (f callOption) ofSub(o *subOptions)           { f(&o.retry) }

// WithRetry retries a failed call. Each retry of a sub-orchestration is a new instance. For an activity the policy
// replaces that of the worker (ActivityRetry in worker.Options), but a Timeout, StartTimeout or RunTimeout of 0 keeps
// the worker's value. An invalid policy panics.
func WithRetry(policy RetryPolicy) CallOption {
	policy.mustBeValid()
	return callOption(func(p **RetryPolicy) {
		chosen := policy
		if *p != nil {
			chosen.Timeout = cmp.Or(chosen.Timeout, (*p).Timeout)
			chosen.StartTimeout = cmp.Or(chosen.StartTimeout, (*p).StartTimeout)
			chosen.RunTimeout = cmp.Or(chosen.RunTimeout, (*p).RunTimeout)
		}
		*p = &chosen
	})
}

// WithTimeout limits a call; it sets [RetryPolicy].Timeout. With retries it limits each attempt.
func WithTimeout(d time.Duration) CallOption {
	RetryPolicy{Timeout: d}.mustBeValid()
	return callOption(func(p **RetryPolicy) {
		chosen := RetryPolicy{MaxAttempts: 1}
		if *p != nil {
			chosen = **p
		}
		chosen.Timeout = d
		*p = &chosen
	})
}

// Validate returns an error that names the first invalid field.
func (p RetryPolicy) Validate() error {
	switch {
	case p.MaxAttempts < 0:
		return fmt.Errorf("orchestration.RetryPolicy: MaxAttempts is %d; it must be at least 1, or 0 for the default, 3", p.MaxAttempts)
	case !(p.Jitter >= 0 && p.Jitter <= 1): // also NaN
		return fmt.Errorf("orchestration.RetryPolicy: Jitter is %v; it must be between 0 and 1", p.Jitter)
	case min(p.Timeout, p.StartTimeout, p.RunTimeout, p.TotalTimeout) < 0:
		return fmt.Errorf("orchestration.RetryPolicy: Timeout is %v, StartTimeout %v, RunTimeout %v and TotalTimeout %v; "+
			"they must not be negative", p.Timeout, p.StartTimeout, p.RunTimeout, p.TotalTimeout)
	}
	return nil
}

func (p RetryPolicy) mustBeValid() {
	if err := p.Validate(); err != nil {
		panic(err.Error())
	}
}

// defaultRetry is the worker's policy for activities, nil when it has none.
func defaultRetry(ctx *Context, name string) *RetryPolicy {
	policy, _ := ctx.env.Defaults().(*RetryPolicy)
	if strings.HasPrefix(name, registry.SyscallPrefix) {
		return nil
	}
	return policy
}

// attempts makes a call by its policy. kind is what is called; an attempt is told the last
// details of the heartbeats before it.
func attempts[O any](ctx *Context, kind, source string, policy *RetryPolicy, call func(attempt int, heartbeat string) *Future[O]) *Future[O] {
	if policy == nil {
		return call(1, "")
	}
	*ctx.retried++
	r := &retry{RetryPolicy: *policy, ctx: ctx, timedOut: "timeout: " + kind + " timed out", seed: *ctx.retried}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = 3
	}
	if r.Backoff == nil {
		r.Backoff = Exponential(100*time.Millisecond, 2, 30*time.Second)
	}
	var value O
	var err error
	branch := ctx.env.Go(func() {
		for attempt := 1; ; attempt++ {
			f := call(attempt, r.heartbeat)
			if err = r.wait(f); err == nil {
				value, err = f.Await()
				r.heartbeat = cmp.Or(f.heartbeat(), r.heartbeat)
			}
			if err == nil || !r.again(attempt, err) {
				break
			}
		}
		err = r.result(source, err)
	})
	return branched(ctx, source, branch, func() (O, error) { return value, err })
}

// retry is a call that is tried.
type retry struct {
	RetryPolicy

	ctx      *Context
	timedOut string
	// seed tells the calls of an execution apart.
	seed int
	// total ends all attempts. It begins behind the first.
	total *Future[struct{}]
	// late means that it has.
	late bool
	// failed is how the last attempt failed that did not time out.
	failed error
	// heartbeat holds the last details that an attempt failed with.
	heartbeat string
}

// errAttemptTimedOut is an attempt that took too long.
var errAttemptTimedOut = errors.New("the attempt timed out")

// wait waits for an attempt. One that takes too long is dropped.
func (r *retry) wait(attempt Awaitable) error {
	among := []Awaitable{attempt}
	if r.Timeout > 0 {
		among = append(among, Timer(r.ctx, r.Timeout))
	}
	if r.first(among...) == 0 {
		return nil
	}
	attempt.drop()
	return errAttemptTimedOut
}

// first waits for the first of the futures, and for the end of all attempts.
func (r *retry) first(among ...Awaitable) int {
	if r.total == nil && r.TotalTimeout > 0 {
		r.total = Timer(r.ctx, r.TotalTimeout)
	}
	own := len(among)
	if r.total != nil {
		among = append(among, r.total)
	}
	winner := Any(among...)
	r.late = winner == own
	return winner
}

// again waits for the time of the next attempt, and reports whether there is one.
func (r *retry) again(attempt int, err error) bool {
	if !errors.Is(err, errAttemptTimedOut) {
		r.failed = err
	}
	if r.late || attempt >= r.MaxAttempts || !r.mayHelp(err) {
		return false
	}
	if delay := r.delay(attempt); delay > 0 {
		return r.first(Timer(r.ctx, delay)) == 0
	}
	return true
}

// mayHelp reports whether another attempt may help. A result that does not fit its type comes
// again.
func (r *retry) mayHelp(err error) bool {
	if errors.Is(err, errAttemptTimedOut) || max(r.StartTimeout, r.RunTimeout) > 0 && errors.Is(err, ErrTimeout) {
		return r.RetryTimeouts
	}
	_, failed := errors.AsType[*CallError](err)
	return failed && !failure.IsFinal(err) && (r.Retryable == nil || r.Retryable(err))
}

// delay is the time from the end of an attempt to the next.
func (r *retry) delay(attempt int) time.Duration {
	info := r.ctx.Info()
	hash := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d", info.Instance, info.ExecutionID, r.seed, attempt))
	share := float64(binary.BigEndian.Uint64(hash[:])>>11) / (1 << 53)
	delay := r.Backoff(attempt)
	return delay - time.Duration(float64(delay)*r.Jitter*share)
}

// result is the error that the caller is told.
func (r *retry) result(source string, err error) error {
	if err == nil || !r.late && !errors.Is(err, errAttemptTimedOut) {
		return err
	}
	message := r.timedOut
	if r.late && r.failed != nil {
		message = fmt.Sprintf("%s; the last attempt failed: %v", r.timedOut, r.failed)
	}
	causes := []error{&failure.Error{Kind: details.Timeout, Message: message}}
	if r.failed != nil {
		causes = append(causes, r.failed)
	}
	return &CallError{Source: source, Message: message, causes: causes}
}
