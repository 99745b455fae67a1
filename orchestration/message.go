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

// NewEvent declares an event. For an event that is known only by its name, T is json.RawMessage: it takes any JSON, and
// a text that is not JSON as a JSON string.
func NewEvent[T any](name string) Event[T] { return Event[T]{name: name} }

// Name returns the name.
func (e Event[T]) Name() string { return e.name }

// Wait receives the next event of that name that is raised after this call is recorded. Earlier events are lost. Of
// several waits for one name, the first gets the first event. For messages that must not be lost use a [Queue].
//
// Data that cannot be decoded as a T, which a sender with another declaration may raise, is skipped: the worker logs a
// warning without the data, and waits again. An event that arrives together with such data may then find no wait and
// be lost.
func (e Event[T]) Wait(ctx *Context) *Future[T] {
	return newFitting[T](ctx, fmt.Sprintf("event %q", e.name), replay.WaitEvent{Name: e.name})
}

// Queue is a queue of messages of one type. Like an [Event], it is declared once for orchestrations and clients.
type Queue[T any] struct{ name string }

// NewQueue declares a queue. For a queue that is known only by its name, T is json.RawMessage: it takes any JSON, and a
// text that is not JSON as a JSON string.
func NewQueue[T any](name string) Queue[T] { return Queue[T]{name: name} }

// Name returns the name.
func (q Queue[T]) Name() string { return q.name }

// Dequeue receives the next message of the queue of this instance: first in, first out, including messages that arrived
// before the call. A message is read when its future is awaited, wins a [SelectAndDrop] or a [WaitAny], or reports that
// it is ready. Unread messages survive [Definition.ContinueAsNew], in their order.
//
// A message that cannot be decoded as a T is skipped: the worker logs a warning without the message, and takes the
// next one.
func (q Queue[T]) Dequeue(ctx *Context) *Future[T] {
	return newFitting[T](ctx, fmt.Sprintf("queue %q", q.name), replay.Dequeue{Name: q.name})
}

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
