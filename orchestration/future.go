package orchestration

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// ErrDropped is the error of a future that lost a [SelectAndDrop].
var ErrDropped = errors.New("the future was dropped by a select")

// ErrAlreadyExists reports a sub-orchestration whose instance id is taken, by another instance, running or ended, or
// by the parent itself. Nothing was started. An orchestration that fails with this error passes it to its parent and
// its client. A client.Start of a used id returns it as well.
var ErrAlreadyExists error = failure.NewKind[struct{}](details.AlreadyExists)

// ErrNotRegistered tells a client that an orchestration failed because no worker has its code, or
// the code of an activity or a sub-orchestration that it called. The orchestration itself ends
// without seeing it.
var ErrNotRegistered = errors.New("no worker has registered the code")

// ErrTimeout reports an activity or a sub-orchestration that took longer than its [retry.Policy] or [WithTimeout]
// allows. An orchestration that fails with this error passes it to its parent and its client.
var ErrTimeout error = failure.NewKind[struct{}](details.Timeout)

// ErrCancelled reports a sub-orchestration, or to a client an orchestration, that was cancelled. In an orchestration
// with [Definition.WithCleanup], every wait after its own cancellation returns it.
var ErrCancelled = replay.ErrCancelled

// CallError is a failed activity or sub-orchestration, as its caller sees it. It matches [ErrAlreadyExists],
// [ErrTimeout] or [ErrCancelled] if that is the reason, and wraps the [failure.Error] that the activity or the
// sub-orchestration returned.
type CallError struct {
	// Source says what failed, such as `activity "Charge"`.
	Source string
	// Message is the failure's text.
	Message string
	causes  []error
}

// Unwrap returns the errors that the failure matches, and after a timeout also the failure of the last attempt.
func (e *CallError) Unwrap() []error { return e.causes }

// Error returns only the message, so that an orchestration that returns this error fails with the same text.
func (e *CallError) Error() string { return e.Message }

// Future is a result that will be available later.
type Future[T any] struct {
	ctx    *Context
	source string
	place  place
	// value is called once the place is ready.
	value func() (T, error)
}

// place is where a result appears, and can be given up.
type place interface {
	Ready() bool
	Dropped() bool
	drop(env *replay.Env)
}

// called is the place of what was asked for, and running that of a block.
type (
	called  struct{ *replay.Handle }
	running struct{ *replay.Branch }
)

func (c called) drop(env *replay.Env)  { env.Drop(c.Handle) }
func (r running) drop(env *replay.Env) { env.DropBranch(r.Branch) }

// cut is what a cancelled orchestration gets that asks for something.
func cut[T any](ctx *Context, source string) *Future[T] {
	return &Future[T]{ctx: ctx, source: source, place: nowhere{}}
}

type nowhere struct{}

func (nowhere) Ready() bool      { return false }
func (nowhere) Dropped() bool    { return false }
func (nowhere) drop(*replay.Env) {}

// Awaitable is any [Future], for [SelectAndDrop] and [WaitAny], which take futures of different types.
type Awaitable interface {
	// Ready reports whether the result is there.
	Ready() bool
	context() *Context
	state() (result, cancelled bool)
	block() bool
	drop()
}

// newFuture asks for an action, whose result is a T.
func newFuture[T any](ctx *Context, source string, action replay.Action) *Future[T] {
	return newDecoded(ctx, source, action, payload.Decode[T])
}

func newDecoded[T any](ctx *Context, source string, action replay.Action, decode func(text string) (T, error)) *Future[T] {
	if ctx.cancelled() {
		return cut[T](ctx, source)
	}
	handle := ctx.env.Emit(action)
	return &Future[T]{ctx: ctx, source: source, place: called{handle}, value: func() (value T, err error) {
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
		text, _ := handle.Result()
		return []error{&failure.Error{Kind: details.AlreadyExists, Message: text, Final: true}}
	}
	recorded := handle.Details()
	if recorded == nil { // the call was refused before it was recorded, and would be again
		text, _ := handle.Result()
		return []error{&failure.Error{Message: text, Final: true}}
	}
	if f := details.Failure(recorded); f != nil {
		return []error{f}
	}
	if d, ok := recorded.(provider.ApplicationFailure); ok && d.Kind == provider.AppCancelled {
		return []error{ErrCancelled}
	}
	return nil
}

// heartbeat returns the last details that a failed activity had said; "" for none.
func (f *Future[T]) heartbeat() string {
	if c, ok := f.place.(called); ok {
		if recorded, ok := c.Details().(provider.ApplicationFailure); ok {
			return recorded.Heartbeat
		}
	}
	return ""
}

// Ready reports whether the result is there, so that Await would not block.
func (f *Future[T]) Ready() bool {
	result, cancelled := f.state()
	return result || cancelled
}

// state reports whether there is a result, or none since the orchestration was cancelled. A block
// has always a result: it is told itself.
func (f *Future[T]) state() (result, cancelled bool) {
	if f.place.Ready() {
		return true, false
	}
	return false, !f.block() && f.ctx.cancelled()
}

func (f *Future[T]) context() *Context { return f.ctx }

// block reports whether a block runs that was not dropped.
func (f *Future[T]) block() bool {
	_, ok := f.place.(running)
	return ok && !f.place.Dropped()
}

func (f *Future[T]) drop() { f.place.drop(f.ctx.env) }

// Await waits for the result and returns it. Errors: [*CallError] when the activity or sub-orchestration failed; the
// error that the function of [Go] returned; [ErrDropped]; [ErrCancelled]; an error for a result that cannot be
// decoded as a T.
func (f *Future[T]) Await() (T, error) {
	var result, cancelled bool
	f.ctx.env.WaitUntil(func() bool {
		result, cancelled = f.state()
		return result || cancelled || f.place.Dropped()
	})
	var none T
	switch {
	case result:
		return f.value()
	case cancelled:
		f.drop()
		return none, fmt.Errorf("%s: %w", f.source, ErrCancelled)
	default:
		return none, fmt.Errorf("%s: %w", f.source, ErrDropped)
	}
}

// Join waits for all futures and returns their results in the order of the arguments. If some fail, it still waits
// for all, and returns the first error in the order of the arguments.
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

// SelectAndDrop waits until one of the futures is ready, drops all others, and returns its index. If several are ready
// at the same time, the lowest index wins. The others are dropped even if they are ready: activities and
// sub-orchestrations are cancelled, waits are withdrawn, blocks of [Go] are ended, and awaiting a dropped future
// returns [ErrDropped]. A message that a dropped [Queue.Dequeue] would have received goes to the next Dequeue. An event
// that a dropped [Event.Wait] had received is lost. A future whose result was seen before, by Await or Ready, keeps it.
// SelectAndDrop needs at least one future.
//
// If the orchestration is cancelled and cleans up ([Definition.WithCleanup]), and no future has a result, the lowest
// index wins with [ErrCancelled]; SelectAndDrop first waits for blocks of Go among the futures.
func SelectAndDrop(futures ...Awaitable) int {
	winner := WaitAny(futures...)
	for i, f := range futures {
		if i != winner {
			f.drop()
		}
	}
	return winner
}

// WaitAny is like [SelectAndDrop] but keeps the other futures: they can be awaited later.
func WaitAny(futures ...Awaitable) int {
	if len(futures) == 0 {
		panic("orchestration.SelectAndDrop and orchestration.WaitAny need at least one future")
	}
	winner := -1
	futures[0].context().env.WaitUntil(func() bool {
		winner = ready(futures)
		return winner >= 0
	})
	return winner
}

// ready is the index of the first future with a result, or else of the first that was
// cancelled, unless there is a block among them, which soon ends; -1 is none.
func ready(futures []Awaitable) int {
	first, blocks := -1, false
	for i, f := range futures {
		result, cancelled := f.state()
		switch {
		case result:
			return i
		case cancelled && first < 0:
			first = i
		}
		blocks = blocks || f.block()
	}
	if blocks {
		return -1
	}
	return first
}

// Race is [SelectAndDrop] on futures of one type. It returns the result of the first future that is ready.
func Race[T any](futures ...*Future[T]) (T, error) {
	all := make([]Awaitable, len(futures))
	for i, f := range futures {
		all[i] = f
	}
	return futures[SelectAndDrop(all...)].Await()
}

// AsCompleted yields the futures in the order in which their results arrive, each with its index. Of several that are
// ready at the same time, the one with the lowest index comes first. It waits between results.
//
//	for i, f := range orchestration.AsCompleted(futures...) {
//		result, err := f.Await()
func AsCompleted[T any](futures ...*Future[T]) iter.Seq2[int, *Future[T]] {
	return func(yield func(int, *Future[T]) bool) {
		left := slices.Clone(futures)
		for range futures {
			winner := -1
			futures[0].ctx.env.WaitUntil(func() bool {
				winner = slices.IndexFunc(left, func(f *Future[T]) bool { return f != nil && (f.Ready() || f.place.Dropped()) })
				return winner >= 0
			})
			left[winner] = nil
			if !yield(winner, futures[winner]) {
				return
			}
		}
	}
}
