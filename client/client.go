// Package client starts orchestrations and talks to them.
//
//	c := client.New(store)
//	run, err := client.Start(ctx, c, HelloCities, "hello-1", []string{"Oslo", "Lima"})
//	if err != nil {
//		return err
//	}
//	greetings, err := run.Wait(ctx)
//
// A client needs the store only, not a worker: starting, raising and cancelling
// put messages into the store's queue, which some worker takes up.
package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// Client talks to the orchestrations of one store. It holds no resources and is
// safe for concurrent use.
type Client struct {
	store provider.Provider
}

// New returns a client for the store.
func New(store provider.Provider) *Client { return &Client{store: store} }

// ErrManagementNotAvailable is returned when the store has no management
// interface (§6.20).
var ErrManagementNotAvailable = errors.New("the store offers no management interface")

// Admin returns the store's management interface. Error:
// [ErrManagementNotAvailable].
func (c *Client) Admin() (provider.Admin, error) {
	if admin := c.store.Admin(); admin != nil {
		return admin, nil
	}
	return nil, ErrManagementNotAvailable
}

// Options of a start.
type startOptions struct {
	version *string
}

// StartOption changes how an orchestration is started.
type StartOption func(*startOptions)

// AtVersion starts exactly that version instead of the one the worker chooses.
func AtVersion(version string) StartOption {
	return func(o *startOptions) { o.version = &version }
}

// Start starts an orchestration under an instance id of the caller's choice. An
// id that is in use starts nothing: the running or finished instance stays as it
// is, and the returned run belongs to it. That makes a repeated start harmless.
//
// Error: [provider.ErrInvalidArgument] for a definition without a name, and for an id
// that begins with "sub::" or contains "::sub::": sub-orchestrations are called so.
func Start[I, O any](ctx context.Context, c *Client, def orchestration.Definition[I, O], instance string, input I, options ...StartOption) (*Run[O], error) {
	text, err := payload.EncodeAs(input)
	if err == nil {
		err = c.start(ctx, def.Name(), instance, text, options)
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s %q: %w", def.Name(), instance, err)
	}
	return Attach[O](c, instance), nil
}

// StartNamed is [Start] for an orchestration that is only known by its name.
func (c *Client) StartNamed(ctx context.Context, name, instance string, input any, options ...StartOption) error {
	text, err := payload.Encode(input)
	if err == nil {
		err = c.start(ctx, name, instance, text, options)
	}
	if err != nil {
		return fmt.Errorf("starting %s %q: %w", name, instance, err)
	}
	return nil
}

func (c *Client) start(ctx context.Context, name, instance, input string, options []StartOption) error {
	var o startOptions
	for _, option := range options {
		option(&o)
	}
	if name == "" {
		return fmt.Errorf("the orchestration has no name: %w", provider.ErrInvalidArgument)
	}
	if err := replay.CheckInstanceID(instance); err != nil {
		return fmt.Errorf("%w: %w", provider.ErrInvalidArgument, err)
	}
	return c.store.EnqueueForOrchestrator(ctx, provider.StartOrchestrationItem{
		Instance: instance, Orchestration: name, Input: input, Version: o.version, ExecutionID: 1,
	}, 0)
}

// RaiseEvent raises a positional event, which the next unanswered
// orchestration.WaitForEvent of that name receives. It is lost when nobody waits.
func (c *Client) RaiseEvent(ctx context.Context, instance, event string, data any) error {
	text, err := payload.Encode(data)
	if err != nil {
		return fmt.Errorf("raising event %q: data: %w", event, err)
	}
	return c.send(ctx, fmt.Sprintf("raising event %q for %q", event, instance),
		provider.ExternalRaisedItem{Instance: instance, Name: event, Data: text})
}

// Enqueue puts a message into a queue of the instance, which keeps it until an
// orchestration.Dequeue takes it.
func (c *Client) Enqueue(ctx context.Context, instance, queue string, message any) error {
	text, err := payload.Encode(message)
	if err != nil {
		return fmt.Errorf("enqueueing to %q: message: %w", queue, err)
	}
	return c.send(ctx, fmt.Sprintf("enqueueing to %q of %q", queue, instance),
		provider.QueueMessageItem{Instance: instance, Name: queue, Data: text})
}

// Cancel asks an instance to end. It fails with "canceled: reason" at its next
// turn, without running further code of the orchestration, and its
// sub-orchestrations with it. A finished instance stays as it is.
func (c *Client) Cancel(ctx context.Context, instance, reason string) error {
	return c.send(ctx, fmt.Sprintf("cancelling %q", instance),
		provider.CancelInstanceItem{Instance: instance, Reason: reason})
}

func (c *Client) send(ctx context.Context, what string, item provider.WorkItem) error {
	if err := c.store.EnqueueForOrchestrator(ctx, item, 0); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
