package orchestration

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// ErrDropped is the result of a future that lost a [Select].
var ErrDropped = errors.New("the future was dropped by a select")

// ErrInstanceTaken is a sub-orchestration whose instance id is taken: by another instance,
// that runs or has ended, or by the parent itself. Nothing was started.
var ErrInstanceTaken = errors.New("the instance id is taken")

// ErrTimeout is an activity or a sub-orchestration that took longer than its [RetryPolicy]
// or [WithTimeout] allows. A parent or a client whose orchestration failed with it sees it too.
var ErrTimeout error = failure.NewKind[struct{}](timeout)

// timeout is the name of ErrTimeout's kind.
const timeout = "duroxide.Timeout"

// ErrCancelled is a sub-orchestration that was cancelled, and for a client an orchestration.
var ErrCancelled = errors.New("the orchestration was cancelled")

// CallError is a failed activity or sub-orchestration, as its caller sees it. It matches
// [ErrInstanceTaken], [ErrTimeout] and [ErrCancelled] when that is the failure, and wraps the
// [failure.Error] that the activity or the sub-orchestration has returned.
type CallError struct {
	// Source says what failed, such as `activity "Charge"`.
	Source string
	// Message is the failure's text.
	Message string
	causes  []error
}

// Unwrap returns what the failure is, and after a timeout how the last attempt failed.
func (e *CallError) Unwrap() []error { return e.causes }

// Error returns the message alone, so that an orchestration that passes the
// failure on fails with the same text.
func (e *CallError) Error() string { return e.Message }

// Future is a result that will be there.
type Future[T any] struct {
	ctx    *Context
	source string
	place  place
	// value is called once the place is ready.
	value func() (T, error)
}

// place is where a result appears.
type place interface {
	Ready() bool
	Dropped() bool
}

// Awaitable is any [Future], for [Select], [Any] and [Join].
type Awaitable interface {
	// Ready reports whether the result is there.
	Ready() bool
	context() *Context
	drop()
}

// newFuture asks for an action, whose result is a T.
func newFuture[T any](ctx *Context, source string, action replay.Action) *Future[T] {
	return newDecoded(ctx, source, action, payload.Decode[T])
}

func newDecoded[T any](ctx *Context, source string, action replay.Action, decode func(text string) (T, error)) *Future[T] {
	handle := ctx.env.Emit(action)
	return &Future[T]{ctx: ctx, source: source, place: handle, value: func() (value T, err error) {
		text, ok := handle.Result()
		if !ok {
			return value, &CallError{Source: source, Message: text, causes: causes(handle)}
		}
		if value, err = decode(text); err != nil {
			return value, fmt.Errorf("result of %s: %w", source, err)
		}
		return value, nil
	}}
}

// causes are what a failed call is beside its text.
func causes(handle *replay.Handle) []error {
	if handle.InstanceTaken() {
		return []error{ErrInstanceTaken}
	}
	recorded := handle.Details()
	if f := details.Failure(recorded); f != nil {
		return []error{f}
	}
	if d, ok := recorded.(provider.Application); ok && d.Kind == provider.AppCancelled {
		return []error{ErrCancelled}
	}
	return nil
}

// Ready reports whether the result is there, so that Await would not block.
func (f *Future[T]) Ready() bool { return f.place.Ready() }

func (f *Future[T]) context() *Context { return f.ctx }

func (f *Future[T]) drop() {
	switch p := f.place.(type) {
	case *replay.Handle:
		f.ctx.env.Drop(p)
	case *replay.Branch:
		f.ctx.env.DropBranch(p)
	case interface{ drop() }:
		p.drop()
	}
}

// Await blocks until the result is there and returns it. Errors: [*CallError] when
// the activity or sub-orchestration failed; what the function of [Go] returned; [ErrDropped];
// a result that does not fit T.
func (f *Future[T]) Await() (T, error) {
	f.ctx.env.WaitUntil(func() bool { return f.place.Ready() || f.place.Dropped() })
	if !f.place.Ready() {
		var none T
		return none, fmt.Errorf("%s: %w", f.source, ErrDropped)
	}
	return f.value()
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
// as well: activities and sub-orchestrations are cancelled, waits are taken back, functions of
// [Go] are ended, and to await one is [ErrDropped]. A message that a dropped [Dequeue] would have got goes to the
// next one; an event that a dropped [WaitForEvent] had is lost. A future whose result was
// seen before, by Await or Ready, keeps it. At least one future is needed.
func Select(futures ...Awaitable) int {
	winner := Any(futures...)
	for i, f := range futures {
		if i != winner {
			f.drop()
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
	futures[0].context().env.WaitUntil(func() bool {
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
