package orchestration

import (
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Event is an event from outside with its type. Declared once, it is what orchestrations
// wait for and what clients raise, so that a wrong name or type does not compile:
//
//	var Approve = orchestration.NewEvent[Decision]("approve")
//
//	decision, err := Approve.Wait(ctx).Await()                    // in the orchestration
//	err := client.RaiseEvent(ctx, c, Approve, "order-1", decision) // outside
type Event[T any] struct{ name string }

// NewEvent declares an event.
func NewEvent[T any](name string) Event[T] { return Event[T]{name: name} }

// Name returns the name.
func (e Event[T]) Name() string { return e.name }

// Wait is [WaitForEvent], but skips data that does not fit T, which a sender without this
// declaration may raise: the worker logs a warning without the data, and the wait goes on. An event
// that is raised together with such data may meet no waiter and is then lost; use a [Queue] where
// no message may be lost.
func (e Event[T]) Wait(ctx *Context) *Future[T] {
	return newFitting[T](ctx, fmt.Sprintf("event %q", e.name), replay.WaitEvent{Name: e.name})
}

// Queue is a queue of messages of one type, see [Event].
type Queue[T any] struct{ name string }

// NewQueue declares a queue.
func NewQueue[T any](name string) Queue[T] { return Queue[T]{name: name} }

// Name returns the name.
func (q Queue[T]) Name() string { return q.name }

// Dequeue is the function [Dequeue], but skips messages that do not fit T: the worker logs a
// warning without the message, and the next message is taken.
func (q Queue[T]) Dequeue(ctx *Context) *Future[T] {
	return newFitting[T](ctx, fmt.Sprintf("queue %q", q.name), replay.Dequeue{Name: q.name})
}

// Key is a key of the instance's key-value map with the type of its value, see [SetKV].
type Key[T any] struct{ name string }

// NewKey declares a key.
func NewKey[T any](name string) Key[T] { return Key[T]{name: name} }

// Name returns the name.
func (k Key[T]) Name() string { return k.name }

// Set sets the key to the JSON of value.
func (k Key[T]) Set(ctx *Context, value T) { SetKV(ctx, k.name, value) }

// Get reads the key; ok is false when it is not set.
func (k Key[T]) Get(ctx *Context) (value T, ok bool, err error) { return GetKV[T](ctx, k.name) }

// Clear removes the key.
func (k Key[T]) Clear(ctx *Context) { ClearKV(ctx, k.name) }

// Status is a custom status with a type. Its zero value is ready for use:
//
//	var Steps orchestration.Status[Step]
type Status[T any] struct{}

// Set is [Context.SetCustomStatus] for a T.
func (Status[T]) Set(ctx *Context, value T) { ctx.SetCustomStatus(encode("custom status", value)) }

// Decode reads a custom status as clients get it; ok is false for nil, when there is none.
func (Status[T]) Decode(status *string) (value T, ok bool, err error) {
	if status == nil {
		return value, false, nil
	}
	if value, err = payload.Decode[T](*status); err != nil {
		return value, true, fmt.Errorf("custom status: %w", err)
	}
	return value, true, nil
}

// fitting is the place of a message that is a T. One that is none is left out, and the
// next one asked for by an action of its own.
type fitting[T any] struct {
	ctx    *Context
	source string
	handle *replay.Handle
	value  T
	fits   bool
}

func newFitting[T any](ctx *Context, source string, action replay.Action) *Future[T] {
	if ctx.cancelled() {
		return cut[T](ctx, source)
	}
	p := &fitting[T]{ctx: ctx, source: source, handle: ctx.env.Emit(action)}
	return &Future[T]{ctx: ctx, source: source, place: p, value: func() (T, error) { return p.value, nil }}
}

// Ready reports whether there is a message that fits.
func (p *fitting[T]) Ready() bool {
	for !p.fits && p.handle.Ready() {
		text, _ := p.handle.Result() // it never fails
		value, err := payload.Decode[T](text)
		if err == nil {
			p.value, p.fits = value, true
			break
		}
		p.handle = p.ctx.env.Again(p.handle, replay.Unreadable{Source: p.source, Err: err})
	}
	return p.fits
}

// Dropped reports whether the future has lost a select.
func (p *fitting[T]) Dropped() bool { return p.handle.Dropped() }

func (p *fitting[T]) drop(env *replay.Env) { env.Drop(p.handle) }
