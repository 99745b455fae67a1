package provider

import (
	"context"
	"errors"
	"fmt"
)

// Error is how a store reports a failed call.
type Error struct {
	// Operation is the failing method's name in snake case, such as
	// "ack_orchestration_item".
	Operation string
	// Message says what went wrong and, where it helps, what to do.
	Message string
	// Retryable says that nothing was committed, or that the outcome is unknown and repeating the call is safe.
	Retryable bool
	// Err is the cause, for errors.Is and errors.As; it may be nil.
	Err error
}

// Error returns "operation: message".
func (e *Error) Error() string { return e.Operation + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Infrastructure returns the error in the form that histories record.
func (e *Error) Infrastructure() InfrastructureFailure {
	return InfrastructureFailure{Operation: e.Operation, Message: e.Message, Retryable: e.Retryable}
}

// Why a call failed. Match them with errors.Is. The text of an [*Error] that wraps one of them begins with the phrase
// that the contract prescribes.
var (
	// ErrLockLost matches every failure of a lock token: another worker has the work now, it is already done, or it
	// was cancelled.
	ErrLockLost = errors.New("lock lost")
	// ErrInvalidLockToken reports a token that holds no lock. It matches ErrLockLost.
	ErrInvalidLockToken = fmt.Errorf("invalid lock token: %w", ErrLockLost)
	// ErrLockExpired reports a token whose lease has ended. It matches ErrLockLost.
	ErrLockExpired = fmt.Errorf("lock expired: %w", ErrLockLost)
	// ErrDuplicateEvent reports an event id that the execution already has.
	ErrDuplicateEvent = errors.New("duplicate event")
	// ErrInvalidArgument reports a call that can never succeed with these arguments.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrCorrupt reports a stored event or item that cannot be decoded.
	ErrCorrupt = errors.New("corrupt data")
	// ErrNotFound reports an unknown instance or execution.
	ErrNotFound = errors.New("not found")
	// ErrStillRunning reports an instance that cannot be deleted while it runs.
	ErrStillRunning = errors.New("still running")
	// ErrSubOrchestration reports a sub-orchestration where a root instance is required.
	ErrSubOrchestration = errors.New("is a sub-orchestration")
	// ErrOrphanedChild reports a deletion that would leave a sub-orchestration without its parent.
	ErrOrphanedChild = errors.New("child would be orphaned")
	// ErrClosed reports a call on a closed store.
	ErrClosed = errors.New("store is closed")
	// ErrOutOfOrder reports a store that somebody has to mend, such as one without space, or one whose tables were
	// changed. The error says nothing about the work of the call: a worker does not count it as an attempt.
	ErrOutOfOrder = errors.New("store is out of order")
)

// Retryable returns an error after which the same call may be repeated. cause may be nil.
func Retryable(operation, message string, cause error) *Error {
	return &Error{Operation: operation, Message: message, Retryable: true, Err: cause}
}

// Permanent returns an error that repeating the call does not help. cause may be nil.
func Permanent(operation, message string, cause error) *Error {
	return &Error{Operation: operation, Message: message, Err: cause}
}

// AsError returns err as an [*Error]: itself when it wraps one, otherwise a
// retryable error of operation "unknown". nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Retryable("unknown", err.Error(), err)
}

// IsRetryable reports whether repeating the call that returned err may help. An error that does not wrap an [*Error]
// counts as retryable; nil does not. After the context has ended, repeat the call only with a new context.
func IsRetryable(err error) bool {
	e := AsError(err)
	return e != nil && e.Retryable
}

// ContextError returns the error of a call whose context has ended. It is retryable, matches the context's error and
// its cause, and has the text of the cause. The context must have ended.
func ContextError(ctx context.Context, operation string) *Error {
	err, cause := ctx.Err(), context.Cause(ctx)
	message := cause.Error()
	if !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	return Retryable(operation, message, cause)
}
