package orchestration

import (
	"io"
	"iter"
	"slices"

	"github.com/duroxide/duroxide-go/internal/replay"
)

// Channel passes values from one block of [Go] to another, first in, first out. It is in memory only: a replay runs
// the blocks in the same order and so passes the same values again. For messages from outside use a [Queue].
type Channel[T any] struct {
	ctx      *Context
	capacity int
	values   []*sent[T]
	closed   bool
}

// sent is a value in a channel. The field behind it tells pointers to values without a size apart.
type sent[T any] struct {
	value T
	_     int
}

// NewChannel makes a channel that holds as many values as its capacity; with 0 each sender waits
// for its receiver. A negative capacity panics.
func NewChannel[T any](ctx *Context, capacity int) *Channel[T] {
	ctx.mustOwn()
	if capacity < 0 {
		panic("orchestration.NewChannel: the capacity is negative")
	}
	return &Channel[T]{ctx: ctx, capacity: capacity}
}

// Send waits until the channel has room for the value. If the sending block is dropped meanwhile, the value is not
// sent. Sending on a closed channel panics. Error: [ErrCancelled]; then the value is not sent.
func (c *Channel[T]) Send(value T) error {
	cancelled := c.ctx.cancelled() // before anything is looked at, as only the function's goroutine may ask
	if c.closed {
		panic("orchestration.Channel: the channel is closed")
	}
	if cancelled {
		return ErrCancelled
	}
	own := &sent[T]{value: value}
	c.values = append(c.values, own)
	accepted := false
	defer func() {
		if !accepted {
			c.values = slices.DeleteFunc(c.values, func(v *sent[T]) bool { return v == own })
		}
	}()
	c.ctx.env.WaitUntil(func() bool {
		accepted = slices.Index(c.values, own) < c.capacity
		cancelled = !accepted && c.ctx.cancelled()
		return accepted || cancelled
	})
	if cancelled {
		return ErrCancelled
	}
	return nil
}

// Receive returns a future of the next value. The value is taken when the future is awaited, wins a [SelectAndDrop] or
// a [WaitAny], or reports that it is ready. Errors of the future: io.EOF when the channel is closed and empty,
// [ErrCancelled] when the orchestration is cancelled.
func (c *Channel[T]) Receive() *Future[T] {
	r := &receipt[T]{channel: c}
	return &Future[T]{ctx: c.ctx, source: "channel", place: r, value: func() (T, error) { return r.value, r.err }}
}

// Close says that no more values come. Closing twice has no effect.
func (c *Channel[T]) Close() {
	c.ctx.mustOwn()
	c.closed = true
}

// All receives values until the channel is closed and empty, or the orchestration is cancelled.
func (c *Channel[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			value, err := c.Receive().Await()
			if err != nil || !yield(value) {
				return
			}
		}
	}
}

// receipt is the place of a value that is received.
type receipt[T any] struct {
	channel       *Channel[T]
	value         T
	err           error
	done, dropped bool
}

func (r *receipt[T]) Ready() bool {
	c := r.channel
	c.ctx.mustOwn()
	switch {
	case r.done || r.dropped:
	case len(c.values) > 0:
		r.value, r.done = c.values[0].value, true
		c.values = c.values[1:]
	case c.closed:
		r.err, r.done = io.EOF, true
	}
	return r.done
}

func (r *receipt[T]) Dropped() bool { return r.dropped }

func (r *receipt[T]) drop(*replay.Env) { r.dropped = !r.done }
