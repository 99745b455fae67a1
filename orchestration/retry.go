package orchestration

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/retry"
)

// CallOption changes how an activity or a sub-orchestration is called. See [WithRetry] and
// [WithTimeout].
type CallOption interface {
	ActivityOption
	SubOption
}

type callOption func(p **retry.Policy)

func (f callOption) ofActivity(o *activityOptions) { f(&o.retry) }
func (f callOption) ofSub(o *subOptions)           { f(&o.retry) }

// WithRetry retries a failed call. Each retry of a sub-orchestration is a new instance. The policy replaces that of the
// definition, and for an activity that of the worker (ActivityRetry in worker.Options), but a Timeout, StartTimeout or
// RunTimeout of 0 keeps the value before. An invalid policy panics.
func WithRetry(policy retry.Policy) CallOption {
	mustBeValid(policy)
	return callOption(func(p **retry.Policy) { *p = replaced(*p, policy) })
}

// replaced returns the policy that takes the place of another, which may be nil.
func replaced(before *retry.Policy, policy retry.Policy) *retry.Policy {
	if before != nil {
		policy.Timeout = cmp.Or(policy.Timeout, before.Timeout)
		policy.StartTimeout = cmp.Or(policy.StartTimeout, before.StartTimeout)
		policy.RunTimeout = cmp.Or(policy.RunTimeout, before.RunTimeout)
	}
	return &policy
}

// WithTimeout limits a call; it sets Timeout of its [retry.Policy]. With retries it limits each attempt.
func WithTimeout(d time.Duration) CallOption {
	mustBeValid(retry.Policy{Timeout: d})
	return callOption(func(p **retry.Policy) {
		chosen := retry.Policy{MaxAttempts: 1}
		if *p != nil {
			chosen = **p
		}
		chosen.Timeout = d
		*p = &chosen
	})
}

func mustBeValid(policy retry.Policy) {
	if err := policy.Validate(); err != nil {
		panic(err.Error())
	}
}

// activityRetry returns the policy of an activity's calls without options: that of its definition or else of the
// worker, nil when there is none.
func activityRetry[I, O any](ctx *Context, def activity.Definition[I, O]) *retry.Policy {
	policy := ctx.env.ActivityRetry()
	if strings.HasPrefix(def.Name(), registry.SyscallPrefix) {
		policy = nil
	}
	if own, ok := def.Retry(); ok {
		return replaced(policy, own)
	}
	return policy
}

// attempts makes a call by its policy. kind is what is called; an attempt is told the last
// details of the heartbeats before it.
func attempts[O any](ctx *Context, kind, source string, policy *retry.Policy, call func(attempt int, heartbeat string) *Future[O]) *Future[O] {
	if policy == nil {
		return call(1, "")
	}
	*ctx.retried++
	r := &retrying{Policy: *policy, ctx: ctx, timedOut: "timeout: " + kind + " timed out", seed: *ctx.retried}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = 3
	}
	if r.Backoff == nil {
		r.Backoff = retry.Exponential(100*time.Millisecond, 2, 30*time.Second)
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

// retrying is a call that is tried.
type retrying struct {
	retry.Policy

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
func (r *retrying) wait(attempt Awaitable) error {
	among := []Awaitable{attempt}
	if r.Timeout > 0 {
		among = append(among, r.ctx.Timer(r.Timeout))
	}
	if r.first(among...) == 0 {
		return nil
	}
	attempt.drop()
	return errAttemptTimedOut
}

// first waits for the first of the futures, and for the end of all attempts.
func (r *retrying) first(among ...Awaitable) int {
	if r.total == nil && r.TotalTimeout > 0 {
		r.total = r.ctx.Timer(r.TotalTimeout)
	}
	own := len(among)
	if r.total != nil {
		among = append(among, r.total)
	}
	winner := WaitAny(among...)
	r.late = winner == own
	return winner
}

// again waits for the time of the next attempt, and reports whether there is one.
func (r *retrying) again(attempt int, err error) bool {
	if !errors.Is(err, errAttemptTimedOut) {
		r.failed = err
	}
	if r.late || attempt >= r.MaxAttempts || !r.mayHelp(err) {
		return false
	}
	if delay := r.delay(attempt); delay > 0 {
		return r.first(r.ctx.Timer(delay)) == 0
	}
	return true
}

// mayHelp reports whether another attempt may help. A result that does not fit its type comes
// again.
func (r *retrying) mayHelp(err error) bool {
	if errors.Is(err, errAttemptTimedOut) || max(r.StartTimeout, r.RunTimeout) > 0 && errors.Is(err, ErrTimeout) {
		return r.RetryTimeouts
	}
	_, failed := errors.AsType[*CallError](err)
	return failed && !failure.IsFinal(err) && (r.Retryable == nil || r.Retryable(err))
}

// delay is the time from the end of an attempt to the next.
func (r *retrying) delay(attempt int) time.Duration {
	info := r.ctx.Info()
	hash := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d", info.Instance, info.ExecutionID, r.seed, attempt))
	share := float64(binary.BigEndian.Uint64(hash[:])>>11) / (1 << 53)
	delay := r.Backoff(attempt)
	return delay - time.Duration(float64(delay)*r.Jitter*share)
}

// result is the error that the caller is told.
func (r *retrying) result(source string, err error) error {
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
