package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// State is the state of an instance.
type State string

// The states of an instance as clients see them. An instance between two
// executions is running.
const (
	// NotFound also covers an instance whose first turn has not run yet.
	NotFound State = "NotFound"
	// Queued is an instance whose start waits for its first turn. Only an [AlreadyExistsError] has this state.
	Queued    State = "Queued"
	Running   State = "Running"
	Completed State = "Completed"
	Failed    State = "Failed"
	// Cancelled is an instance that ended because it was cancelled. In the store its status is Failed.
	Cancelled State = "Cancelled"
)

// Status describes an instance.
type Status struct {
	Instance string
	State    State
	// Name, Version and ExecutionID are empty while NotFound.
	Name        string
	Version     string
	ExecutionID uint64
	// Output is the result of a Completed instance, as text.
	Output string
	// Failure is why a Failed instance failed, or a Cancelled one was cancelled.
	Failure provider.ErrorDetails
	// CustomStatus is nil when there is none.
	CustomStatus *string
	// CustomStatusVersion grows with each change of the custom status.
	CustomStatusVersion uint64
	// DroppedMessages counts the queue messages that this instance lost when a worker of an early build continued it
	// as new. Workers lose none now. Messages that other implementations of Duroxide dropped are not counted.
	DroppedMessages uint64
}

// Finished reports whether the instance has ended.
func (s Status) Finished() bool { return s.State == Completed || s.Failure != nil }

// Err returns a [*FailedError] if the instance failed or was cancelled, and nil otherwise.
func (s Status) Err() error {
	if s.Failure == nil {
		return nil
	}
	return &FailedError{Instance: s.Instance, Details: s.Failure}
}

// FailedError reports an orchestration that failed or was cancelled.
type FailedError struct {
	Instance string
	Details  provider.ErrorDetails
}

// Error returns the failure's display message.
func (e *FailedError) Error() string { return e.Details.DisplayMessage() }

// Unwrap returns the [failure.Error] that the orchestration returned, or
// [orchestration.ErrCancelled] for one that was cancelled, or [orchestration.ErrNotRegistered]
// for one whose code no worker has.
func (e *FailedError) Unwrap() error {
	if e.Cancelled() {
		return orchestration.ErrCancelled
	}
	if c, ok := e.Details.(provider.ConfigurationFailure); ok && c.Resource != "" {
		return orchestration.ErrNotRegistered // a history that does not fit names no resource
	}
	if f := details.Failure(e.Details); f != nil {
		return f
	}
	return nil
}

// Cancelled reports whether the orchestration was cancelled.
func (e *FailedError) Cancelled() bool { return cancelled(e.Details) }

func cancelled(failure provider.ErrorDetails) bool {
	application, ok := failure.(provider.ApplicationFailure)
	return ok && application.Kind == provider.AppCancelled
}

// Status reads an instance's status. An unknown instance has the state [NotFound]; that is not an error.
func (c *Client) Status(ctx context.Context, instance string) (Status, error) {
	history, err := c.read(ctx, instance)
	if err != nil {
		return Status{}, fmt.Errorf("reading the status of %q: %w", instance, err)
	}
	status := statusOf(instance, history)
	custom, err := c.store.GetCustomStatus(ctx, instance, 0)
	if err == nil && custom != nil {
		status.CustomStatusVersion = custom.Version
		status.CustomStatus, err = sealed.OpenOptional(ctx, c.codec, custom.Status)
	}
	if err != nil {
		return Status{}, fmt.Errorf("reading the custom status of %q: %w", instance, err)
	}
	return status, nil
}

// read reads the latest execution's history, with its end decoded.
func (c *Client) read(ctx context.Context, instance string) ([]provider.Event, error) {
	history, err := c.store.Read(ctx, instance)
	if err != nil {
		return nil, err
	}
	return c.decodeEnd(ctx, history)
}

// decodeEnd decodes the event that ends a history, and those after it.
func (c *Client) decodeEnd(ctx context.Context, history []provider.Event) ([]provider.Event, error) {
	for i, event := range slices.Backward(history) {
		switch event.Kind.(type) {
		case provider.OrchestrationCompleted, provider.OrchestrationFailed:
			end, err := sealed.OpenEvents(ctx, c.codec, history[i:])
			return append(history[:i:i], end...), err
		}
	}
	return history, nil
}

// statusOf reads the state from the latest execution's history, backwards.
func statusOf(instance string, history []provider.Event) Status {
	s := Status{Instance: instance, State: NotFound}
	for _, event := range slices.Backward(history) {
		switch k := event.Kind.(type) {
		case provider.OrchestrationCompleted:
			if !s.Finished() {
				s.State, s.Output = Completed, k.Output
			}
		case provider.OrchestrationFailed:
			if !s.Finished() {
				s.State, s.Failure = Failed, k.Details
				if cancelled(k.Details) {
					s.State = Cancelled
				}
			}
		case provider.OrchestrationContinuedAsNew:
			s.DroppedMessages += k.DroppedMessages
		case provider.OrchestrationStarted:
			s.Name, s.Version, s.ExecutionID = k.Name, k.Version, event.ExecutionID
			s.DroppedMessages += k.DroppedMessages
			if !s.Finished() {
				s.State = Running
			}
		}
	}
	return s
}
