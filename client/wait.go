package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// Waiting polls at growing intervals. A store that notifies its own process of
// changes makes the common case immediate. Once it has told a wait of a change, and from the
// first for waits that begin within recently of any change, only the longest interval is
// waited for: what this process runs, it is told of, and of some stores also what others end.
const (
	firstPoll = 5 * time.Millisecond
	maxPoll   = 100 * time.Millisecond
	recently  = time.Second
)

// Wait waits until the instance has ended, even if it has not started yet. Use a context with a deadline to limit the
// wait. Errors: [*WaitError] when the context ends first; it wraps the context's error and, if the last call to the
// store failed, the store's error. [ErrDeleted] when the instance was deleted during the wait.
//
// All waits of a client ask the store in one call.
func (c *Client) Wait(ctx context.Context, instance string) (Status, error) {
	return c.wait(ctx, instance, nil, false)
}

// wait is Wait. since, if not nil, has listened from before the instance was there, and started says that it was
// started before the first look.
func (c *Client) wait(ctx context.Context, instance string, since *notices, started bool) (Status, error) {
	return c.waitUntil(ctx, waiting{instance: instance, since: since, started: started, listen: c.listenForEnd})
}

// WaitForCustomStatus waits until the custom status has a version above lastVersion or the instance has ended, and
// returns the status. Errors: as for [Client.Wait].
func (c *Client) WaitForCustomStatus(ctx context.Context, instance string, lastVersion uint64) (Status, error) {
	return c.waitUntil(ctx, waiting{
		instance: instance, listen: c.listenForChange,
		enough: func(p provider.Progress) (bool, error) { return p.CustomStatusVersion > lastVersion, nil },
	})
}

// waiting is what somebody waits for.
type waiting struct {
	instance string
	// started means that the instance was started before the first look, and seen that a look has found it.
	started, seen bool
	// enough, if not nil, says what ends the wait beside the instance's end. Its errors are as those of a look.
	enough func(provider.Progress) (bool, error)
	// since are notices that were listened to from before the instance was there; listen
	// begins new ones.
	since  *notices
	listen func(instance string) *notices
	// trouble is why the last look failed.
	trouble error
}

// toldAt is when the store last told of what is listened for. Ends are also told that another process has
// stored, so they say nothing about other changes.
func (w *waiting) toldAt(c *Client) *atomic.Int64 {
	if w.enough == nil {
		return &c.toldEndAt
	}
	return &c.toldAt
}

// notices is what a store tells about an instance.
type notices struct {
	// look is closed when it is worth looking, and alive, if not nil, at the first sign
	// that this process runs the instance.
	look, alive <-chan struct{}
	// end, if not nil, returns what the instance has ended with when look is closed, nil if
	// that is not known.
	end  func() *provider.Progress
	stop func()
}

// listenForChange is told of each change, if the store tells.
func (c *Client) listenForChange(instance string) *notices {
	changed, stop := c.store.InstanceChanged(instance)
	return &notices{look: changed, stop: stop}
}

// listenForEnd is told of the end alone, if the store tells.
func (c *Client) listenForEnd(instance string) *notices {
	n := c.listenForChange(instance)
	ended, end, stop := c.store.InstanceEnd(instance)
	return &notices{look: ended, alive: n.look, end: end, stop: func() { n.stop(); stop() }}
}

// waitUntil looks until there is what is waited for. Transient errors of the store are
// waited out; the last one tells why when ctx ends first.
func (c *Client) waitUntil(ctx context.Context, what waiting) (_ Status, err error) {
	if c.hook != nil {
		if ended := c.hook.Wait(ctx, what.instance); ended != nil {
			defer func() { ended(err) }()
		}
	}
	l := c.newLook(ctx, what.instance)
	defer l.end()
	heard, interval := c.begin(what, l) //nolint:contextcheck // one call looks for all who wait
	defer func() { heard.stop() }()
	for {
		select {
		case a := <-l.answers:
			l.pending = false
			if status, done, err := c.judge(ctx, &what, a); done || err != nil {
				return status, err
			}
			l.rest(interval)
			interval = min(2*interval, maxPoll)
		case <-heard.alive:
			heard.alive, interval = nil, maxPoll
			c.toldAt.Store(time.Now().UnixNano())
			l.rest(interval)
		case <-l.unless(heard.look):
			what.toldAt(c).Store(time.Now().UnixNano())
			if status, done, err := c.told(ctx, &what, heard); done || err != nil {
				return status, err
			}
			heard.stop()
			heard, interval = *what.listen(what.instance), maxPoll
			l.ask(false) //nolint:contextcheck // as above
		case <-l.timer.C:
			l.ask(interval == maxPoll) //nolint:contextcheck // as above
		case <-ctx.Done():
			select {
			case a := <-l.answers:
				if status, done, err := c.judge(ctx, &what, a); done || err != nil {
					return status, err
				}
			default:
			}
			return Status{}, c.unfinished(ctx, what.instance, gaveUp(ctx, what.trouble))
		}
	}
}

// begin listens, and looks unless the wait has listened from before the instance was there.
// It returns the first interval.
func (c *Client) begin(what waiting, l *look) (heard notices, interval time.Duration) {
	interval = firstPoll
	if time.Since(time.Unix(0, max(c.toldAt.Load(), what.toldAt(c).Load()))) < recently {
		interval = maxPoll
	}
	if what.since != nil {
		heard = *what.since
		heard.stop = func() {} // it belongs to the run, which may be waited for again
		select {
		case <-heard.look:
			heard.end = nil // what it ended with before the wait may be deleted
		default:
		}
		l.rest(interval)
		return heard, interval
	}
	// Before looking, so that no change falls between the two.
	heard = *what.listen(what.instance)
	l.ask(false)
	return heard, interval
}

// told judges what a notice tells of the instance's end, if it tells more than that.
func (c *Client) told(ctx context.Context, what *waiting, heard notices) (status Status, done bool, err error) {
	if heard.end == nil {
		return Status{}, false, nil
	}
	end := heard.end()
	if end == nil {
		return Status{}, false, nil
	}
	return c.judge(ctx, what, answer{progress: *end})
}

// judge reports whether a look found what is waited for.
func (c *Client) judge(ctx context.Context, what *waiting, a answer) (status Status, done bool, err error) {
	if err = a.err; err == nil {
		status, done, err = c.found(ctx, what, a.progress)
	}
	if err != nil && !errors.Is(err, ErrDeleted) && !errors.Is(err, codec.ErrNotDecoded) && provider.IsRetryable(err) {
		// A look that the end of ctx cut short says nothing about the store.
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			what.trouble = err
		}
		return Status{}, false, nil
	}
	what.trouble = nil
	return status, done, err
}

// found is judge for a store that answered.
func (c *Client) found(ctx context.Context, what *waiting, p provider.Progress) (status Status, done bool, err error) {
	switch {
	case p.Err != nil:
		return Status{}, false, p.Err
	case p.Use == nil && (what.seen || what.started && !p.StartsHidden):
		return Status{}, false, fmt.Errorf("waiting for %q: %w", what.instance, ErrDeleted)
	case p.Use == nil:
		return Status{}, false, nil
	}
	what.seen = true
	enough := false
	if what.enough != nil {
		if enough, err = what.enough(p); err != nil {
			return Status{}, false, err
		}
	}
	if p.Ended() {
		history, err := c.decodeEnd(ctx, p.History)
		if err != nil {
			return Status{}, false, fmt.Errorf("waiting for %q: %w", what.instance, err)
		}
		status = statusOf(what.instance, history)
		status.CustomStatusVersion = p.CustomStatusVersion
		if status.CustomStatus, err = sealed.OpenOptional(ctx, c.codec, p.CustomStatus); err != nil {
			return Status{}, false, fmt.Errorf("waiting for %q: %w", what.instance, err)
		}
		if status.Finished() {
			return status, true, nil
		}
	}
	if !enough && !p.Ended() {
		return Status{}, false, nil
	}
	status, err = c.Status(ctx, what.instance)
	return status, err == nil && (enough || status.Finished()), err
}

// gaveUp is why a wait ended without what it waited for: its context's error, that
// context's own cause if it has one, and the store's trouble if it had any.
func gaveUp(ctx context.Context, trouble error) error {
	err := context.Cause(ctx)
	if !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if trouble != nil {
		err = fmt.Errorf("%w (the last look failed: %w)", err, trouble)
	}
	return err
}
