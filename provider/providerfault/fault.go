package providerfault

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Fault is what happens to a call. Its parts take effect in the order of the fields;
// the zero value lets the call through.
type Fault struct {
	// Hold makes the call wait until the channel is closed.
	Hold <-chan struct{}
	// Delay makes the call wait for that long.
	Delay time.Duration
	// Fail is returned, and the call is not made.
	Fail error
	// Repeat makes the call that many times more, as a network that delivers twice.
	// The caller gets the last answer.
	Repeat int
	// Lose is returned after the call was made: it had its effect, and the caller
	// does not know.
	Lose error
}

// Busy is an error after which the call may be made again. Nothing happened.
func Busy() error {
	return &provider.Error{Message: "injected: the store is busy", Retryable: true}
}

// Unreachable is an error after which the call may be made again. Whether it had its
// effect is unknown, which makes it the one for [Fault.Lose].
func Unreachable() error {
	return &provider.Error{Message: "injected: the connection was lost", Retryable: true}
}

// LockLost is the error of a lock token that is no longer valid.
func LockLost() error {
	return &provider.Error{Message: "Invalid lock token: injected", Err: provider.ErrInvalidLockToken}
}

// Refused is an error that making the call again does not cure.
func Refused() error {
	return &provider.Error{Message: "injected: refused", Err: provider.ErrInvalidArgument}
}

// apply makes the call under a fault.
func apply[A any](ctx context.Context, operation Operation, fault Fault, call func() (A, error)) (A, error) {
	var none A
	if err := fault.wait(ctx, operation); err != nil {
		return none, err
	}
	if fault.Fail != nil {
		return none, named(fault.Fail, operation)
	}
	answer, err := call()
	for range fault.Repeat {
		answer, err = call()
	}
	if fault.Lose != nil {
		return none, named(fault.Lose, operation)
	}
	return answer, err
}

// wait waits as the fault says, at most until the call's context ends.
func (f Fault) wait(ctx context.Context, operation Operation) error {
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-ctx.Done():
			return provider.ContextError(ctx, string(operation))
		}
	}
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return provider.ContextError(ctx, string(operation))
		}
	}
	return nil
}

// named gives an error without an operation the one it is for.
func named(err error, operation Operation) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Operation != "" {
		return err
	}
	withName := *e
	withName.Operation = string(operation)
	return &withName
}
