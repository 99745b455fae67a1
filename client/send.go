package client

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// Options of what is sent to an instance.
type sendOptions struct {
	mustExist bool
	tx        TxOption
}

// SendOption changes how something is sent to an instance. See [MustExist] and [InTx].
type SendOption interface{ ofSend(o *sendOptions) }

type sendOption func(*sendOptions)

func (f sendOption) ofSend(o *sendOptions) { f(o) }

// MustExist sends only to an instance that runs or whose start is queued. Otherwise nothing is sent, and the error is
// [ErrNoInstance] or [ErrEnded]. The check is made before the message is sent: an instance that ends in between does
// not receive it. With [InTx] the check is part of the transaction, so an instance that the transaction has started
// counts. A plain store does not know queued starts, see package adapt.
func MustExist() SendOption { return sendOption(func(o *sendOptions) { o.mustExist = true }) }

// RaiseEvent raises an event. The oldest [orchestration.Event.Wait] of its name that has no event yet receives it. If
// none waits, the event is lost. An event for an id that is never started stays queued until orphaned messages are
// deleted ([provider.Store].DeleteOrphanMessages). See [MustExist]. Data that cannot be decoded as a T again is an
// error, and nothing is sent.
func RaiseEvent[T any](ctx context.Context, c *Client, event orchestration.Event[T], instance string, data T, options ...SendOption) error {
	text, err := payload.EncodeFitting(data)
	if err != nil {
		return fmt.Errorf("raising event %q: data: %w", event.Name(), err)
	}
	return c.send(ctx, fmt.Sprintf("raising event %q for %q", event.Name(), instance),
		provider.ExternalRaisedItem{Instance: instance, Name: event.Name(), Data: text}, options)
}

// Enqueue puts a message into a queue of the instance. The queue keeps it until an [orchestration.Queue.Dequeue] takes
// it. A message for an id that was never started is dropped, see [MustExist]. A message that cannot be decoded as a T
// again is an error, and nothing is sent.
func Enqueue[T any](ctx context.Context, c *Client, queue orchestration.Queue[T], instance string, message T, options ...SendOption) error {
	text, err := payload.EncodeFitting(message)
	if err != nil {
		return fmt.Errorf("enqueueing to %q: message: %w", queue.Name(), err)
	}
	return c.send(ctx, fmt.Sprintf("enqueueing to %q of %q", queue.Name(), instance),
		provider.QueueMessageItem{Instance: instance, Name: queue.Name(), Data: text}, options)
}

// Cancel asks an instance to end. At its next turn the instance fails with "canceled: reason", without running
// further code, and its sub-orchestrations are cancelled with it; see [orchestration.Definition.WithCleanup] for
// instances that clean up first. A cancel request has no effect on a finished instance, nor on one that is started
// after the request, see [MustExist].
func (c *Client) Cancel(ctx context.Context, instance, reason string, options ...SendOption) error {
	return c.send(ctx, fmt.Sprintf("cancelling %q", instance),
		provider.CancelInstanceItem{Instance: instance, Reason: reason}, options)
}

func (c *Client) send(ctx context.Context, what string, item provider.WorkItem, options []SendOption) (err error) {
	if c.hook != nil {
		if ended := c.hook.Send(ctx, messageOf(item)); ended != nil {
			defer func() { ended(err) }()
		}
	}
	var o sendOptions
	for _, option := range options {
		option.ofSend(&o)
	}
	if name := messageOf(item).Name; !utf8.ValidString(name) {
		return fmt.Errorf("%s: the name is not valid UTF-8: %w", what, provider.ErrInvalidArgument)
	}
	if o.mustExist {
		err = c.mustListen(ctx, o.tx, item.Target())
	}
	if err == nil {
		item, err = sealed.Item(ctx, c.codec, item)
	}
	if err == nil {
		err = c.enqueueIn(ctx, o.tx, item)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// messageOf is an item as hooks see it.
func messageOf(item provider.WorkItem) hook.Message {
	switch i := item.(type) {
	case provider.ExternalRaisedItem:
		return hook.Message{Instance: i.Instance, Kind: "event", Name: i.Name}
	case provider.QueueMessageItem:
		return hook.Message{Instance: i.Instance, Kind: "queue", Name: i.Name}
	}
	return hook.Message{Instance: item.Target(), Kind: "cancel"}
}

// mustListen refuses an instance that would not take a message.
func (c *Client) mustListen(ctx context.Context, o TxOption, instance string) error {
	use, err := c.findIn(ctx, o, instance)
	switch {
	case err != nil:
		return err
	case use == nil:
		return ErrNoInstance
	case use.Status.Ended():
		return fmt.Errorf("%w (%s, %s)", ErrEnded, use.Name, use.Status)
	}
	return nil
}
