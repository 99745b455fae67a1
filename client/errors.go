package client

import (
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// Why a call failed. Match them with errors.Is.
var (
	// ErrAlreadyExists reports a start of a used instance id; the error is an
	// [*AlreadyExistsError].
	ErrAlreadyExists = orchestration.ErrAlreadyExists
	// ErrNoInstance reports an id that has neither an instance nor a queued start, see [MustExist]. It matches
	// [provider.ErrNotFound].
	ErrNoInstance = fmt.Errorf("there is no such instance: %w", provider.ErrNotFound)
	// ErrEnded reports an instance that has ended, see [MustExist].
	ErrEnded = errors.New("the instance has ended")
	// ErrDeleted reports that the instance was deleted during a wait. It matches
	// [provider.ErrNotFound].
	ErrDeleted = fmt.Errorf("the instance was deleted: %w", provider.ErrNotFound)
)

// AlreadyExistsError reports a start whose instance id is used, and describes the instance that uses it. It matches
// [ErrAlreadyExists].
type AlreadyExistsError struct {
	Instance string
	// Name is the orchestration's name.
	Name string
	// State is the state of that instance: [Queued], [Running], [Completed] or [Failed]. Failed includes cancelled
	// instances.
	State State
}

// Error names the instance, its orchestration and its state.
func (e *AlreadyExistsError) Error() string {
	return fmt.Sprintf("instance %q already exists (%s, %s)", e.Instance, e.Name, e.State)
}

// Unwrap returns [ErrAlreadyExists].
func (*AlreadyExistsError) Unwrap() error { return ErrAlreadyExists }

// stateOf is how far an instance is that uses an id.
func stateOf(use *provider.IDUse) State {
	switch {
	case !use.Begun():
		return Queued
	case use.Status == provider.StatusCompleted:
		return Completed
	case use.Status == provider.StatusFailed:
		return Failed
	}
	return Running
}
