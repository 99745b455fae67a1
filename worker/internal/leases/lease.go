package leases

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Lease keeps a lock alive while its holder works.
type Lease struct {
	renew    func(ctx context.Context) error
	timeout  time.Duration
	interval time.Duration
	lost     func(error)
	logger   *slog.Logger
	// renewed, if not nil, is called after each renewal.
	renewed func()
	// outlived, if not nil, is asked when the lease was not renewed in time.
	outlived func(error) bool

	ctx    context.Context //nolint:containedctx // the renewals' own, which Stop ends
	cancel context.CancelFunc
	mu     sync.Mutex
	timer  *time.Timer
	// armed means that the lease is to be renewed when it is due.
	armed bool
	due   time.Time
	done  sync.WaitGroup
	// group, if not nil, renews the lock with others.
	group *Group
	lock  provider.LockRenewal
	// expires is when the lease ends unless it is renewed, by this process's
	// monotonic clock.
	expires time.Time
	// failing means that the last renewal failed.
	failing bool
}

// Hold starts to renew a lease. It calls lost at most once, when the lock is gone: taken away, or not renewed in time.
//
// A transient error is not a loss: the renewal is tried again until the lease's end, since taking a network hiccup for
// a cancellation would lose the work.
func Hold(ctx context.Context, timeout, buffer time.Duration, renew func(context.Context) error, lost func(error), logger *slog.Logger) *Lease {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &Lease{
		renew: renew, timeout: timeout, interval: Interval(timeout, buffer), lost: lost, logger: logger,
		ctx: ctx, cancel: cancel, expires: time.Now().Add(timeout),
	}
	// A timer rather than a goroutine: most work is done before it fires.
	l.schedule(l.interval) //nolint:contextcheck // the lease has its own context, which Stop ends
	return l
}

// OnRenewal sets what is called after each renewal.
func (l *Lease) OnRenewal(call func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = call
}

// OnEnd sets what is asked when the lease was not renewed in time. If it answers true, the lease does not count as
// lost: its renewal is still tried, which tells when another worker has the lock, or that the store had renewed it
// after all.
func (l *Lease) OnEnd(outlived func(error) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outlived = outlived
}

// schedule arms the timer unless the lease was stopped.
func (l *Lease) schedule(after time.Duration) {
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
func (l *Lease) joined(g *Group, lock provider.LockRenewal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group, l.lock = g, lock
}

// claim makes the caller the only one that renews the lease. It refuses when somebody else does, and when more than
// half of the interval is left.
func (l *Lease) claim() bool {
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

// deadline returns when a renewal that begins now has to be over.
func (l *Lease) deadline(now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.expires.After(now) {
		return l.expires
	}
	return now.Add(l.interval)
}

// fire renews the lease, which is due.
func (l *Lease) fire() {
	l.mu.Lock()
	group := l.group
	l.mu.Unlock()
	switch {
	case group != nil && group.renew(l):
		return
	case group == nil && !l.claim():
		return
	}
	taken := time.Now()
	ctx, cancel := context.WithDeadline(l.ctx, l.deadline(taken))
	err := l.renew(ctx)
	cancel()
	l.goOn(taken, err)
}

// answered takes the outcome of a renewal with others.
func (l *Lease) answered(taken time.Time, err error) {
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

// goOn takes the outcome of a renewal that began at that time, and schedules the next one or reports the loss.
func (l *Lease) goOn(taken time.Time, err error) {
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
func (l *Lease) extend(taken time.Time) (renewed func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing = false
	l.expires = taken.Add(l.timeout)
	return l.renewed
}

// fail notes a renewal that came too late or failed in a way that may pass, and reports whether it is the first in a
// row.
func (l *Lease) fail() (first bool, outlived func(error) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, l.failing = !l.failing, true
	return first, l.outlived
}

// RenewNow renews at once instead of when the lease is due.
func (l *Lease) RenewNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && l.timer.Stop() {
		l.due = time.Now()
		l.timer.Reset(0)
	}
}

// Confirmed returns when the lease was taken or last renewed.
func (l *Lease) Confirmed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expires.Add(-l.timeout)
}

// Ended reports whether the lease was not renewed in time. A nil lease has not ended.
func (l *Lease) Ended() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.expires) <= 0
}

// Troubled reports whether the lease has ended, or its last renewal failed. A nil lease is not troubled.
func (l *Lease) Troubled() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failing || time.Until(l.expires) <= 0
}

// Stop ends the renewal and returns when no call of it is left.
func (l *Lease) Stop() {
	l.cancel()
	l.mu.Lock()
	if l.timer != nil && l.timer.Stop() {
		l.done.Done()
	}
	group := l.group
	l.mu.Unlock()
	if group != nil {
		group.leave(l)
	}
	l.done.Wait()
}
