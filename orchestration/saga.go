package orchestration

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Saga collects undo steps for work that was done, and runs them if later work fails. The zero value runs them in
// reverse order, one after the other.
//
//	var saga orchestration.Saga
//	err := bookAll(ctx, &saga, trip) // calls Step
//	return saga.Undo(ctx, err)
//
// Without [Definition.WithCleanup] a cancellation ends an orchestration at once and undoes nothing.
type Saga struct {
	// SideBySide runs all undo steps at the same time.
	SideBySide bool

	undo []func(ctx *Context) error
}

// ErrNotUndone reports a saga that could not undo all of its steps. A cancelled instance that ends with this error
// counts as failed, not as cancelled.
var ErrNotUndone = replay.ErrNotUndone

// Add adds an undo step. [Step] does this for a step that succeeded. If a step may have an effect although it fails,
// for example because it times out, add its undo step before the call. The undo step must then find out whether there
// is something to undo.
func (s *Saga) Add(undo func(ctx *Context) error) { s.undo = append(s.undo, undo) }

// Undo does nothing if cause is nil. Otherwise it runs each undo step once, on a [Context.Detached], even if other
// undo steps fail, and returns cause. If undo steps failed, the returned error contains the texts of the cause and of
// their errors, wraps all of them, and matches [ErrNotUndone].
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

// Step runs do as one step of a saga. If do succeeds, Step adds undo, which gets the step's result. do gets a
// [Context.Detached], so a step that has begun ends before a cancellation takes effect, and the saga knows whether
// there is something to undo. Errors: the error of do; [ErrCancelled] if the orchestration is cancelled before or
// during the step.
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
