package client

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
)

// Run is a started orchestration with a result of type O.
type Run[O any] struct {
	client   *Client
	instance string
	// started means that this run's Start has made the instance, or found it.
	started bool
	// since, if not nil, has listened since before the instance was made.
	since *notices
}

// Attach returns the run of an instance that was started elsewhere.
func Attach[O any](c *Client, instance string) *Run[O] {
	return &Run[O]{client: c, instance: instance}
}

// Instance is the instance's id.
func (r *Run[O]) Instance() string { return r.instance }

// Status reads the instance's status.
func (r *Run[O]) Status(ctx context.Context) (Status, error) { return r.client.Status(ctx, r.instance) }

// Wait waits for the result. Errors: [*FailedError] when the orchestration failed; those of [Client.Wait]; an error
// for a result that cannot be decoded as an O.
func (r *Run[O]) Wait(ctx context.Context) (O, error) {
	var none O
	status, err := r.client.wait(ctx, r.instance, r.since, r.started)
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
