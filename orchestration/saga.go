package orchestration

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Saga knows how to undo what was done, should the rest fail. The zero value undoes in reverse
// order, one after the other.
//
//	var saga orchestration.Saga
//	err := bookAll(ctx, &saga, trip) // calls Step
//	return saga.Undo(ctx, err)
//
// A cancellation ends an orchestration at once and undoes nothing, unless it has
// [Definition.WithCleanup].
type Saga struct {
	// SideBySide undoes all at the same time.
	SideBySide bool

	undo []func(ctx *Context) error
}

// ErrNotUndone reports a saga that could not undo all of its steps. An instance that was cancelled
// and ends with this error has failed.
var ErrNotUndone = replay.ErrNotUndone

// Add adds an undo step. [Step] adds it for a step that succeeded. If a step may have had an effect
// although it failed, for example because it timed out, add its undo step before the call, and let
// that find out whether there is something to undo.
func (s *Saga) Add(undo func(ctx *Context) error) { s.undo = append(s.undo, undo) }

// Undo runs the undo steps when cause is not nil, each once and on a [Context.Detached], whether
// the others fail or not. It returns cause. When undo steps have failed the error has all their
// texts behind the cause's, matches [ErrNotUndone], and wraps the cause and them.
func (s *Saga) Undo(ctx *Context, cause error) error {
	if cause == nil {
		return nil
	}
	steps, limit := s.undo, 1
	s.undo = nil
	slices.Reverse(steps)
	if s.SideBySide {
		limit = 0
	}
	type end struct{ err error }
	ends, _ := Map(ctx.Detached(), steps, limit, func(ctx *Context, undo func(ctx *Context) error) (end, error) {
		return end{undo(ctx)}, nil
	})
	failed := &notUndoneError{cause: cause}
	for _, end := range ends {
		if end.err != nil {
			failed.failures = append(failed.failures, end.err)
		}
	}
	if failed.failures == nil {
		return cause
	}
	return failed
}

// notUndoneError is a saga of which something could not be undone.
type notUndoneError struct {
	cause    error
	failures []error
}

func (e *notUndoneError) Error() string {
	texts := make([]string, len(e.failures))
	for i, err := range e.failures {
		texts[i] = err.Error()
	}
	return e.cause.Error() + "; not undone: " + strings.Join(texts, "; ")
}

func (e *notUndoneError) Unwrap() []error {
	kind := &failure.Error{Kind: details.NotUndone, Message: e.Error()}
	return append([]error{kind, e.cause}, e.failures...)
}

// Step runs one step of a saga and, if it succeeded, adds its undo function, which gets the step's
// result. A step that has begun ends before a cancellation takes effect, so that the saga knows
// whether there is something to undo: do gets a [Context.Detached]. Errors: what do returns;
// [ErrCancelled], before the step or after it.
func Step[T any](ctx *Context, s *Saga, do func(ctx *Context) (T, error), undo func(ctx *Context, done T) error) (T, error) {
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	done, err := do(ctx.Detached())
	if err != nil {
		return done, err
	}
	s.Add(func(ctx *Context) error { return undo(ctx, done) })
	return done, ctx.Err()
}
