package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// bufferedLease is the shortest lease that is renewed a buffer before its end.
const bufferedLease = 15 * time.Second

// renewalInterval is when a lease is renewed after it was taken: the buffer before
// its end for leases of at least 15 s, half time for shorter ones. Unlike the
// reference it does not round up to seconds, which would renew short leases too
// late (contract §7.1).
func renewalInterval(timeout, buffer time.Duration) time.Duration {
	if timeout >= bufferedLease {
		return max(time.Second, timeout-buffer)
	}
	return max(time.Millisecond, timeout/2)
}

// lease keeps a lock alive while its holder works.
type lease struct {
	renew    func(ctx context.Context) error
	timeout  time.Duration
	interval time.Duration
	lost     func(error)
	logger   *slog.Logger
	// renewed, if not nil, is called after each renewal.
	renewed func()
	// outlived, if not nil, is asked when the lease was not renewed in time.
	outlived func(error) bool

	ctx    context.Context //nolint:containedctx // the renewals' own, which stop ends
	cancel context.CancelFunc
	mu     sync.Mutex
	timer  *time.Timer
	// armed means that the lease is to be renewed when it is due.
	armed bool
	due   time.Time
	done  sync.WaitGroup
	// together, if not nil, renews the lock with others.
	together *renewals
	lock     provider.LockRenewal
	// expires is when the lease ends unless it is renewed, by this process's
	// monotonic clock.
	expires time.Time
	// failing means that the last renewal failed.
	failing bool
}

// holdLease starts renewing. lost is called at most once, when the lock is gone:
// taken away, or not renewed in time. stop ends the renewal and waits for it.
//
// A transient error is not a loss: renewal is tried again until the lease's end,
// since taking a network hiccup for a cancellation would lose the work.
func holdLease(ctx context.Context, timeout, buffer time.Duration, renew func(context.Context) error, lost func(error), logger *slog.Logger) *lease {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &lease{
		renew: renew, timeout: timeout, interval: renewalInterval(timeout, buffer), lost: lost, logger: logger,
		ctx: ctx, cancel: cancel, expires: time.Now().Add(timeout),
	}
	// A timer rather than a goroutine: most work is done before it fires.
	l.schedule(l.interval) //nolint:contextcheck // the lease has its own context, which stop ends
	return l
}

// onRenewal sets what is called after each renewal.
func (l *lease) onRenewal(call func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = call
}

// onEnd sets what is asked when the lease was not renewed in time. If it answers true, the
// lease does not count as lost: its renewal is tried on, which tells when somebody else has
// the lock, or the store had renewed it after all.
func (l *lease) onEnd(outlived func(error) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outlived = outlived
}

// schedule arms the timer unless the lease was stopped.
func (l *lease) schedule(after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	l.done.Add(1)
	l.armed, l.due = true, time.Now().Add(after)
	l.timer = time.AfterFunc(after, func() {
		defer l.done.Done()
		l.fire()
	})
}

// joined makes the lease be renewed with others.
func (l *lease) joined(r *renewals, lock provider.LockRenewal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.together, l.lock = r, lock
}

// claim makes the caller renew the lease, and nobody else. It refuses when somebody does, and
// when more than half of the interval is left.
func (l *lease) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.armed || l.ctx.Err() != nil || time.Until(l.due) > l.interval/2 {
		return false
	}
	l.armed = false
	if l.timer.Stop() {
		l.done.Done()
	}
	return true
}

// deadline is until when a renewal that begins now may take.
func (l *lease) deadline(now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.expires.After(now) {
		return l.expires
	}
	return now.Add(l.interval)
}

func (l *lease) fire() {
	l.mu.Lock()
	together := l.together
	l.mu.Unlock()
	switch {
	case together != nil && together.renew(l):
		return
	case together == nil && !l.claim():
		return
	}
	taken := time.Now()
	ctx, cancel := context.WithDeadline(l.ctx, l.deadline(taken))
	err := l.renew(ctx)
	cancel()
	l.goOn(taken, err)
}

// answered is told how a renewal with others went.
func (l *lease) answered(taken time.Time, err error) {
	l.mu.Lock()
	if l.ctx.Err() != nil {
		l.mu.Unlock()
		return
	}
	l.done.Add(1)
	l.mu.Unlock()
	defer l.done.Done()
	l.goOn(taken, err)
}

// goOn is told how a renewal that began at that time has ended.
func (l *lease) goOn(taken time.Time, err error) {
	if l.ctx.Err() != nil {
		return
	}
	if err == nil {
		if renewed := l.extend(taken); renewed != nil {
			renewed()
		}
		l.schedule(l.interval)
		return
	}
	over := time.Until(l.expires) <= 0
	expired := errors.Is(err, provider.ErrLockExpired)
	if !expired && (errors.Is(err, provider.ErrLockLost) || !provider.IsRetryable(err)) {
		l.lost(err)
		return
	}
	first, outlived := l.fail()
	switch {
	case (expired || over) && outlived != nil && outlived(err):
		l.schedule(l.interval)
	case expired || over:
		l.lost(err)
	default:
		if first { // once, as the tries come faster and faster towards the end
			l.logger.Warn("renewing a lease failed, trying again", "error", err)
		}
		l.schedule(min(l.interval, max(10*time.Millisecond, time.Until(l.expires)/4)))
	}
}

// extend notes a renewal that began at that time, and returns what is to be called.
func (l *lease) extend(taken time.Time) (renewed func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing = false
	l.expires = taken.Add(l.timeout)
	return l.renewed
}

// fail notes a renewal that failed by time or in a way that may pass, and reports whether it is the first in a row.
func (l *lease) fail() (first bool, outlived func(error) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, l.failing = !l.failing, true
	return first, l.outlived
}

// renewNow renews at once rather than when it is time.
func (l *lease) renewNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && l.timer.Stop() {
		l.due = time.Now()
		l.timer.Reset(0)
	}
}

// confirmed is when the lease was taken or last renewed.
func (l *lease) confirmed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expires.Add(-l.timeout)
}

// ended reports whether the lease was not renewed in time. A nil lease has not ended.
func (l *lease) ended() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.expires) <= 0
}

// troubled reports whether the lease has ended, or its last renewal failed. A nil lease is
// not troubled.
func (l *lease) troubled() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failing || time.Until(l.expires) <= 0
}

// stop ends the renewal and returns when no call of it is left.
func (l *lease) stop() {
	l.cancel()
	l.mu.Lock()
	if l.timer != nil && l.timer.Stop() {
		l.done.Done()
	}
	together := l.together
	l.mu.Unlock()
	if together != nil {
		together.leave(l)
	}
	l.done.Wait()
}
