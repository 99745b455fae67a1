package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/provider"
)

// State is how far an instance is.
type State string

// The states of an instance as clients see them. An instance between two
// executions is running.
const (
	// NotFound also covers an instance whose first turn has not run yet.
	NotFound State = "NotFound"
	// Queued is an instance whose start waits for its first turn. Only errors say it, see
	// [AlreadyExistsError].
	Queued    State = "Queued"
	Running   State = "Running"
	Completed State = "Completed"
	Failed    State = "Failed"
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
	// Failure is why a Failed instance failed.
	Failure provider.ErrorDetails
	// CustomStatus is nil when there is none.
	CustomStatus *string
	// CustomStatusVersion grows with each change of the custom status.
	CustomStatusVersion uint64
	// DroppedMessages counts the queue messages that the executions lost so far by
	// continuing as new with more than 100 unread ones. Executions that a worker before
	// 0.1.31 began also lose what a dequeue held unread. What workers of other
	// implementations lost is not in it.
	DroppedMessages uint64
}

// Finished reports whether the instance has ended.
func (s Status) Finished() bool { return s.State == Completed || s.State == Failed }

// Err returns why a Failed instance failed, as [*FailedError], else nil.
func (s Status) Err() error {
	if s.State != Failed {
		return nil
	}
	return &FailedError{Instance: s.Instance, Details: s.Failure}
}

// FailedError is an orchestration that failed.
type FailedError struct {
	Instance string
	Details  provider.ErrorDetails
}

// Error returns the failure's display message.
func (e *FailedError) Error() string { return e.Details.DisplayMessage() }

// Cancelled reports whether the orchestration was cancelled.
func (e *FailedError) Cancelled() bool {
	application, ok := e.Details.(provider.Application)
	return ok && application.Kind == provider.AppCancelled
}

// Status reads an instance's status. An unknown instance is [NotFound], no error.
func (c *Client) Status(ctx context.Context, instance string) (Status, error) {
	history, err := c.store.Read(ctx, instance)
	if err != nil {
		return Status{}, fmt.Errorf("reading the status of %q: %w", instance, err)
	}
	status := statusOf(instance, history)
	custom, err := c.store.GetCustomStatus(ctx, instance, 0)
	if err != nil {
		return Status{}, fmt.Errorf("reading the custom status of %q: %w", instance, err)
	}
	if custom != nil {
		status.CustomStatus, status.CustomStatusVersion = custom.Status, custom.Version
	}
	return status, nil
}

// statusOf reads the state from the latest execution's history, backwards (§7.16).
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

// Waiting polls at growing intervals (§7.16). A store that notifies its own process of
// changes makes the common case immediate, and once it has told of one, only the longest
// interval is waited for: what this process runs, it is told of.
const (
	firstPoll = 5 * time.Millisecond
	maxPoll   = 100 * time.Millisecond
)

// Wait waits until the instance has ended, also for one that is yet to start. Use
// a context with a deadline to bound it; the error is then a [*WaitError], which wraps the
// context's and, if the store could not be asked the last time, the store's. Error:
// [ErrDeleted] for an instance that was there and is there no more.
func (c *Client) Wait(ctx context.Context, instance string) (Status, error) {
	return c.wait(ctx, instance, false)
}

// wait is Wait. known says that the instance was there before the first look.
func (c *Client) wait(ctx context.Context, instance string, known bool) (Status, error) {
	seen := presence{client: c, instance: instance, known: known}
	return c.waitUntil(ctx, instance, func() (Status, bool, error) {
		ended, err := seen.ended(ctx)
		if err != nil || !ended {
			return Status{}, false, err
		}
		status, err := c.Status(ctx, instance)
		return status, err == nil && status.Finished(), err
	})
}

// presence is what a wait has seen of its instance.
type presence struct {
	client   *Client
	instance string
	// known means that the instance was there.
	known bool
}

// ended is the cheap part of a wait: it does not read the history. Error: [ErrDeleted].
func (p *presence) ended(ctx context.Context) (bool, error) {
	if _, knows := p.client.store.(provider.InstanceStarter); !knows && p.client.store.Admin() == nil {
		return true, nil // the history must tell
	}
	use, err := provider.FindInstance(ctx, p.client.store, p.instance)
	switch {
	case err != nil:
		return false, err
	case use != nil:
		p.known = true
		return finished(use), nil
	case p.known:
		return false, fmt.Errorf("waiting for %q: %w", p.instance, ErrDeleted)
	}
	return false, nil
}

// WaitForCustomStatus waits until the custom status has a version above
// lastVersion or the instance has ended, and returns the status. It ends with its
// context, and with a deleted instance, as [Client.Wait] does.
func (c *Client) WaitForCustomStatus(ctx context.Context, instance string, lastVersion uint64) (Status, error) {
	seen := presence{client: c, instance: instance}
	return c.waitUntil(ctx, instance, func() (Status, bool, error) {
		custom, err := c.store.GetCustomStatus(ctx, instance, lastVersion)
		if err != nil {
			return Status{}, false, err
		}
		if custom == nil {
			if ended, err := seen.ended(ctx); err != nil || !ended {
				return Status{}, false, err
			}
		}
		status, err := c.Status(ctx, instance)
		return status, err == nil && (custom != nil || status.Finished()), err
	})
}

// waitUntil calls look until it is done. Transient errors of the store are
// waited out; the last one tells why when ctx ends first.
func (c *Client) waitUntil(ctx context.Context, instance string, look func() (Status, bool, error)) (Status, error) {
	notifier, _ := c.store.(provider.ChangeNotifier)
	var trouble error
	for interval := firstPoll; ; interval = min(2*interval, maxPoll) {
		var changed <-chan struct{}
		stop := func() {}
		if notifier != nil {
			// Before looking, so that no change falls between the two.
			changed, stop = notifier.InstanceChanged(instance)
		}
		status, done, err := look()
		if done || errors.Is(err, ErrDeleted) || (err != nil && !provider.IsRetryable(err)) {
			stop()
			return status, err
		}
		// A look that the end of ctx cut short says nothing about the store.
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			trouble = err
		}
		timer := time.NewTimer(interval)
		select {
		case <-changed:
			interval = maxPoll
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		stop()
		if ctx.Err() != nil {
			return Status{}, c.unfinished(ctx, instance, gaveUp(ctx, trouble))
		}
	}
}

// gaveUp is why a wait ended without what it waited for: its context's error, that
// context's own cause if it has one, and the store's trouble if it had any.
func gaveUp(ctx context.Context, trouble error) error {
	err := context.Cause(ctx)
	if !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if trouble != nil {
		err = fmt.Errorf("%w (the last look failed: %w)", err, trouble)
	}
	return err
}

// Run is a started orchestration with a result of type O.
type Run[O any] struct {
	client   *Client
	instance string
	// started means that this run's Start has made the instance, or found it.
	started bool
}

// Attach returns the run of an instance that was started elsewhere.
func Attach[O any](c *Client, instance string) *Run[O] {
	return &Run[O]{client: c, instance: instance}
}

// Instance is the instance's id.
func (r *Run[O]) Instance() string { return r.instance }

// Status reads the instance's status.
func (r *Run[O]) Status(ctx context.Context) (Status, error) { return r.client.Status(ctx, r.instance) }

// Wait waits for the result. Errors: [*FailedError] when the orchestration
// failed, what [Client.Wait] says when the context ends first, or a result that does
// not fit O.
func (r *Run[O]) Wait(ctx context.Context) (O, error) {
	var none O
	_, knows := r.client.store.(provider.InstanceStarter)
	status, err := r.client.wait(ctx, r.instance, r.started && knows)
	if err != nil {
		return none, err
	}
	if err := status.Err(); err != nil {
		return none, err
	}
	output, err := payload.Decode[O](status.Output)
	if err != nil {
		return none, fmt.Errorf("result of %q: %w", r.instance, err)
	}
	return output, nil
}
