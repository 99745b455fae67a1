package provider

import (
	"context"
	"errors"
	"fmt"
)

// Error is how a store reports a failed call (§2.3).
type Error struct {
	// Operation is the failing method's name in snake case, such as
	// "ack_orchestration_item".
	Operation string
	// Message says what went wrong and, where it helps, what to do.
	Message string
	// Retryable means that nothing was committed, or that the outcome is
	// unknown and repeating the call is safe.
	Retryable bool
	// Err is the cause, for errors.Is and errors.As; it may be nil.
	Err error
}

// Error returns "operation: message".
func (e *Error) Error() string { return e.Operation + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Infrastructure is the form in which the error enters a history (§2.3).
func (e *Error) Infrastructure() Infrastructure {
	return Infrastructure{Operation: e.Operation, Message: e.Message, Retryable: e.Retryable}
}

// Why a call failed. They are matched with errors.Is; the text of an [*Error]
// that wraps one begins with the phrases the contract fixes (§2.3, §6.2).
var (
	// ErrLockLost matches every failure of a lock token: the work belongs to
	// somebody else now, is already done, or was cancelled.
	ErrLockLost = errors.New("lock lost")
	// ErrInvalidLockToken is a token nobody holds. It matches ErrLockLost.
	ErrInvalidLockToken = fmt.Errorf("invalid lock token: %w", ErrLockLost)
	// ErrLockExpired is a token whose lease has ended. It matches ErrLockLost.
	ErrLockExpired = fmt.Errorf("lock expired: %w", ErrLockLost)
	// ErrDuplicateEvent is an event id that the execution already has.
	ErrDuplicateEvent = errors.New("duplicate event")
	// ErrInvalidArgument is a call that can never succeed as it is.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrCorrupt is a stored event or item that cannot be decoded.
	ErrCorrupt = errors.New("corrupt data")
	// ErrNotFound is an unknown instance or execution.
	ErrNotFound = errors.New("not found")
	// ErrStillRunning is an instance that may not be deleted while it runs.
	ErrStillRunning = errors.New("still running")
	// ErrSubOrchestration is a child instance where a root is required.
	ErrSubOrchestration = errors.New("is a sub-orchestration")
	// ErrOrphanedChild is a deletion that would leave a child without its parent.
	ErrOrphanedChild = errors.New("child would be orphaned")
	// ErrClosed is a call on a closed store.
	ErrClosed = errors.New("store is closed")
)

// Retryable builds an error after which the same call may be repeated. cause
// may be nil.
func Retryable(operation, message string, cause error) *Error {
	return &Error{Operation: operation, Message: message, Retryable: true, Err: cause}
}

// Permanent builds an error that repeating the call will not cure. cause may be
// nil.
func Permanent(operation, message string, cause error) *Error {
	return &Error{Operation: operation, Message: message, Err: cause}
}

// AsError returns err as an [*Error]: itself when it wraps one, otherwise a
// retryable error of operation "unknown" (§2.3). nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Retryable("unknown", err.Error(), err)
}

// IsRetryable reports whether repeating the call that returned err may help. An
// error without classification is retryable; nil is not. A cancelled or expired
// context is retryable in itself, but only with a new context.
func IsRetryable(err error) bool {
	e := AsError(err)
	return e != nil && e.Retryable
}

// ContextError classifies the end of a call's context: retryable, since a call
// that was not answered is safe to repeat. It matches the context's error and its
// cause; the text is the cause's. The context must have ended.
func ContextError(ctx context.Context, operation string) *Error {
	err, cause := ctx.Err(), context.Cause(ctx)
	message := cause.Error()
	if !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	return Retryable(operation, message, cause)
}
