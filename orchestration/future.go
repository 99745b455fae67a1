package orchestration

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// ErrDropped is the result of a future that lost a [Select].
var ErrDropped = errors.New("the future was dropped by a select")

// ErrInstanceTaken is a sub-orchestration whose instance id is taken: by another instance,
// that runs or has ended, or by the parent itself. Nothing was started.
var ErrInstanceTaken = errors.New("the instance id is taken")

// CallError is a failed activity or sub-orchestration, as its caller sees it.
type CallError struct {
	// Source says what failed, such as `activity "Charge"`.
	Source string
	// Message is the failure's text.
	Message string
	// taken says that the failure is ErrInstanceTaken.
	taken bool
}

// Is matches [ErrInstanceTaken] when that is the failure.
func (e *CallError) Is(target error) bool { return e.taken && target == ErrInstanceTaken }

// Error returns the message alone, so that an orchestration that passes the
// failure on fails with the same text.
func (e *CallError) Error() string { return e.Message }

// Future is a result that will be there.
type Future[T any] struct {
	ctx    *Context
	handle *replay.Handle
	source string
	decode func(text string) (T, error)
}

// Awaitable is any [Future], for [Select], [Any] and [Join].
type Awaitable interface {
	// Ready reports whether the result is there.
	Ready() bool
	future() (*Context, *replay.Handle)
}

func newFuture[T any](ctx *Context, source string, action replay.Action) *Future[T] {
	return &Future[T]{ctx: ctx, handle: ctx.env.Emit(action), source: source, decode: payload.Decode[T]}
}

// Ready reports whether the result is there, so that Await would not block.
func (f *Future[T]) Ready() bool { return f.handle.Ready() }

func (f *Future[T]) future() (*Context, *replay.Handle) { return f.ctx, f.handle }

// Await blocks until the result is there and returns it. Errors: [*CallError] when
// the activity or sub-orchestration failed, which matches [ErrInstanceTaken] when the
// sub-orchestration's id is taken; [ErrDropped]; a result that does not
// fit T.
func (f *Future[T]) Await() (T, error) {
	var none T
	f.ctx.env.WaitUntil(func() bool { return f.handle.Ready() || f.handle.Dropped() })
	if !f.handle.Ready() {
		return none, fmt.Errorf("%s: %w", f.source, ErrDropped)
	}
	text, ok := f.handle.Result()
	if !ok {
		return none, &CallError{Source: f.source, Message: text, taken: f.handle.InstanceTaken()}
	}
	value, err := f.decode(text)
	if err != nil {
		return none, fmt.Errorf("result of %s: %w", f.source, err)
	}
	return value, nil
}

// Join waits for all futures and returns their results in the order of the
// arguments. When some fail, it still waits for all and returns the first error
// in that order.
func Join[T any](futures ...*Future[T]) ([]T, error) {
	results := make([]T, len(futures))
	var first error
	for i, f := range futures {
		value, err := f.Await()
		results[i] = value
		if err != nil && first == nil {
			first = err
		}
	}
	return results, first
}

// Select waits for the first of the futures and returns its index; of several
// that are ready at once, the lowest. The others are dropped, also those that are ready
// as well: activities and sub-orchestrations are cancelled, waits are taken back, and to
// await one is [ErrDropped]. A message that a dropped [Dequeue] would have got goes to the
// next one; an event that a dropped [WaitForEvent] had is lost. A future whose result was
// seen before, by Await or Ready, keeps it. At least one future is needed.
func Select(futures ...Awaitable) int {
	winner := Any(futures...)
	for i, f := range futures {
		if i != winner {
			ctx, handle := f.future()
			ctx.env.Drop(handle)
		}
	}
	return winner
}

// Any is [Select] that keeps the other futures: they can be awaited later.
func Any(futures ...Awaitable) int {
	if len(futures) == 0 {
		panic("orchestration.Select and orchestration.Any need at least one future")
	}
	winner := -1
	ctx, _ := futures[0].future()
	ctx.env.WaitUntil(func() bool {
		for i, f := range futures {
			if f.Ready() {
				winner = i
				return true
			}
		}
		return false
	})
	return winner
}
