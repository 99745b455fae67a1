package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// From here on a turn and an activity have plain payloads, and what they are acknowledged
// with is encoded when it leaves. A payload that this worker cannot decode fails nothing:
// another worker, or this one once it has the key, goes on.

// open decodes what the turn was fetched with.
func (t *turn) open(ctx context.Context) error {
	item, err := sealed.OpenTurn(ctx, t.worker.options.Codec, *t.item)
	if err != nil {
		return err
	}
	*t.item = item
	return nil
}

// undecodable gives the turn back without counting the attempt, and says why.
func (t *turn) undecodable(ctx context.Context, err error) verdict {
	tries, delay := t.worker.undecodableTry(t.key(), err)
	if tellsTry(tries) {
		t.logger.WarnContext(ctx, "an instance waits for a worker that can decode its payloads",
			"error", err, "tries", tries, "retry_in", delay, "next_line_after", 2*tries)
	}
	reason := fmt.Sprintf("a worker that can decode its payloads: %v", err)
	return giveBack{Delay: delay, IgnoreAttempt: true, Misfit: reason}
}

// open decodes the activity's input, and the details of its last heartbeat.
func (c *call) open(ctx context.Context) error {
	if c.worker.options.Codec != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.worker.options.ActivityLockTimeout)
		defer cancel()
	}
	item, err := sealed.OpenItem(ctx, c.worker.options.Codec, c.item)
	if err != nil {
		return err
	}
	heartbeat, err := sealed.OpenText(ctx, c.worker.options.Codec, c.fetched.Heartbeat)
	if execute, ok := item.(provider.ActivityExecuteItem); ok && err == nil {
		c.item, c.fetched.Heartbeat = execute, heartbeat
		if _, builtIn := c.worker.builtIn[c.item.Name]; !builtIn { // which may read what cannot be decoded
			c.worker.readable(c.key())
		}
	}
	return err
}

// undecodable gives the activity back without counting the attempt, and says why.
func (c *call) undecodable(ctx context.Context, err error) verdict {
	tries, delay := c.worker.undecodableTry(c.key(), err)
	if tellsTry(tries) {
		c.logger.WarnContext(ctx, "an activity waits for a worker that can decode its payloads",
			"error", err, "tries", tries, "retry_in", delay, "next_line_after", 2*tries)
	}
	return giveBack{Delay: delay, IgnoreAttempt: true}
}

// unread is the outcome of a built-in activity that could not read from the store, or not decode what
// it has read.
type unread struct {
	provider.WorkItem
	err error
}

// readAgain gives such an activity back: trouble that may pass fails no orchestration.
func (c *call) readAgain(ctx context.Context, err error) verdict {
	switch {
	case errors.Is(err, codec.ErrNotDecoded):
		return c.undecodable(ctx, err)
	case errors.Is(context.Cause(ctx), errShutdown):
		return giveBack{IgnoreAttempt: true}
	}
	delay := c.worker.unregisteredDelay(c.fetched.AttemptCount)
	c.worker.failed(c.key(), err)
	c.logger.WarnContext(ctx, "the store could not be read for an activity, which is tried again",
		"error", err, "attempt", c.fetched.AttemptCount, "retry_in", delay)
	return giveBack{Delay: delay, IgnoreAttempt: noAttempt(err)}
}

// undecodableTry counts the tries of work that cannot be decoded, and returns how long it is hidden, which doubles each
// time.
func (w *Worker) undecodableTry(key workKey, err error) (tries uint32, delay time.Duration) {
	w.failed(key, err)
	tries = w.undecodable.update(key, func(times uint32) uint32 { return times + 1 })
	return tries, w.unregisteredDelay(tries)
}

// tellsTry reports whether the log tells of a try of work that may wait for ever: the first, the second, the fourth and
// so on.
func tellsTry(tries uint32) bool { return tries&(tries-1) == 0 }

// readable forgets that work could not be decoded.
func (w *Worker) readable(key workKey) {
	if w.options.Codec != nil {
		w.undecodable.forget(key)
	}
}

// noAttempt reports that work is given back for a reason that is not the work's: its payloads could not be encoded, or
// the store is out of order. It would otherwise be poison when somebody has mended what was wrong.
func noAttempt(err error) bool {
	return errors.Is(err, codec.ErrNotEncoded) || errors.Is(err, provider.ErrOutOfOrder)
}
