// Package details turns the errors of user code into the form in which they are recorded, and
// back.
package details

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/provider"
)

// Kinds of failures that the runtime itself makes.
const (
	// Timeout is something that took too long.
	Timeout = "duroxide.Timeout"
	// AlreadyExists is an instance id that is taken.
	AlreadyExists = "duroxide.AlreadyExists"
	// NotUndone is a saga of which something could not be undone.
	NotUndone = "duroxide.NotUndone"
)

// Of is how an error is recorded that an activity or an orchestration has returned. source
// says which.
func Of(source provider.AppErrorKind, err error) provider.ApplicationFailure {
	d := provider.ApplicationFailure{Kind: source, Message: err.Error(), Final: failure.IsFinal(err)}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		d.FailureKind, d.FailureDetails = f.Kind, f.Details
	}
	return d
}

// StartedLate is how an activity fails that has waited for longer than it may until a worker
// got to it.
func StartedLate(waited time.Duration, allowedMs uint64) provider.ApplicationFailure {
	return provider.ApplicationFailure{
		Kind: provider.AppActivityFailed, FailureKind: Timeout,
		Message: fmt.Sprintf("timeout: activity waited %v for a worker, and may wait %v", waited, Milliseconds(allowedMs)),
	}
}

// RanTooLong is how an activity fails that has run for longer than it may.
func RanTooLong(allowedMs uint64) provider.ApplicationFailure {
	return provider.ApplicationFailure{
		Kind: provider.AppActivityFailed, FailureKind: Timeout,
		Message: fmt.Sprintf("timeout: activity ran for longer than %v", Milliseconds(allowedMs)),
	}
}

// Milliseconds is the duration, or the longest that there is.
func Milliseconds(ms uint64) time.Duration {
	return time.Duration(min(ms, uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
}

// Failure is what is recorded of a failure beside its text, nil when there is nothing.
func Failure(recorded provider.ErrorDetails) *failure.Error {
	d, ok := recorded.(provider.ApplicationFailure)
	if !ok || d.FailureKind == "" && !d.Final {
		return nil
	}
	return &failure.Error{Kind: d.FailureKind, Message: d.DisplayMessage(), Details: d.FailureDetails, Final: d.Final}
}
