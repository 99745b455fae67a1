package orchestration

import (
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Event is an event from outside with the type of its data. Orchestrations and clients use the same declaration, so a
// wrong name or type does not compile:
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

// Wait is like [WaitForEvent] but skips data that cannot be decoded as a T, which a sender without this declaration
// may raise. The worker logs a warning without the data, and waits again. An event that arrives together with such
// data may then find no wait and be lost. If no message may be lost, use a [Queue].
func (e Event[T]) Wait(ctx *Context) *Future[T] {
	return newFitting[T](ctx, fmt.Sprintf("event %q", e.name), replay.WaitEvent{Name: e.name})
}

// Queue is a queue of messages of one type. Like an [Event], it is declared once for orchestrations and clients.
type Queue[T any] struct{ name string }

// NewQueue declares a queue.
func NewQueue[T any](name string) Queue[T] { return Queue[T]{name: name} }

// Name returns the name.
func (q Queue[T]) Name() string { return q.name }

// Dequeue is like the function [Dequeue] but skips messages that cannot be decoded as a T: the worker logs a warning
// without the message, and takes the next one.
func (q Queue[T]) Dequeue(ctx *Context) *Future[T] {
	return newFitting[T](ctx, fmt.Sprintf("queue %q", q.name), replay.Dequeue{Name: q.name})
}

// Key is a key of the instance's key-value map with the type of its value, see [SetKV]. Clients read it with
// client.Value.
type Key[T any] struct{ name string }

// NewKey declares a key.
func NewKey[T any](name string) Key[T] { return Key[T]{name: name} }

// Name returns the name.
func (k Key[T]) Name() string { return k.name }

// Set sets the key to the JSON of value.
func (k Key[T]) Set(ctx *Context, value T) { SetKV(ctx, k.name, value) }

// Get reads the key; ok is false when it is not set.
func (k Key[T]) Get(ctx *Context) (value T, ok bool, err error) { return GetKV[T](ctx, k.name) }

// Of reads the key of another instance, see [KVOf].
func (k Key[T]) Of(ctx *Context, instance string) (value T, ok bool, err error) {
	return KVOf[T](ctx, instance, k.name)
}

// Clear removes the key.
func (k Key[T]) Clear(ctx *Context) { ClearKV(ctx, k.name) }

// CustomStatus is a custom status with a type. The zero value is ready to use:
//
//	var Steps orchestration.CustomStatus[Step]
type CustomStatus[T any] struct{}

// Set sets the custom status to value, encoded as JSON, or as plain text if T is string. See
// [Context.SetCustomStatus].
func (CustomStatus[T]) Set(ctx *Context, value T) {
	ctx.mustOwn()
	ctx.SetCustomStatus(encode("custom status", value))
}

// Decode decodes the custom status of a client.Status. ok is false if status is nil, which means that there is none.
func (CustomStatus[T]) Decode(status *string) (value T, ok bool, err error) {
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
