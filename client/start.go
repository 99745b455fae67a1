package client

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
)

// Options of a start.
type startOptions struct {
	useExisting, replacing bool
	messages               []message
	tx                     TxOption
}

// message is one that is sent with a start; err says why it can't be.
type message struct {
	queue, text string
	err         error
}

// StartOption changes how an orchestration is started. See [UseExisting], [ReplaceFinished],
// [WithMessage] and [InTx].
type StartOption interface{ ofStart(o *startOptions) }

type startOption func(*startOptions)

func (f startOption) ofStart(o *startOptions) { f(o) }

// UseExisting starts nothing when the instance id is used. Start then returns the run of the instance that has the
// id, whatever its orchestration. It makes a repeated start harmless, for example after the answer to the first was
// lost.
func UseExisting() StartOption {
	return startOption(func(o *startOptions) { o.useExisting = true })
}

// ReplaceFinished deletes a finished instance that uses the id, with its sub-orchestrations, and starts the new one.
// An instance that runs, or whose start waits, is not replaced: the start fails with [ErrAlreadyExists], unless
// UseExisting is given as well. Errors: [provider.ErrSubOrchestration] if the finished instance is a
// sub-orchestration; [provider.ErrStillRunning] if one of its sub-orchestrations runs, or
// waits for its first turn.
//
// To find such sub-orchestrations, the histories of the instance and of its sub-orchestrations are read, of each its
// latest 1,000 executions.
//
// Deleting and starting are two steps. If another start comes between them, this start fails with [ErrAlreadyExists].
// If the process ends between them, nothing is started. If several callers replace one instance at the same time, a
// later call may replace the new instance of an earlier call once that has finished.
func ReplaceFinished() StartOption {
	return startOption(func(o *startOptions) { o.replacing = true })
}

// WithMessage sends a message together with the start. Both happen in one step, so the instance never exists without
// the message. With [UseExisting] the message is also sent to an existing instance, which drops it if it has ended.
// WithMessage may be given several times.
func WithMessage[T any](queue orchestration.Queue[T], value T) StartOption {
	text, err := payload.EncodeFitting(value)
	return startOption(func(o *startOptions) {
		o.messages = append(o.messages, message{queue: queue.Name(), text: text, err: err})
	})
}

// Start starts an orchestration under an instance id of the caller's choice. An id is used if an instance in any
// state has it, or a start that waits for its first turn. A start of a used id starts nothing and returns an
// [*AlreadyExistsError]; [UseExisting] and [ReplaceFinished] change that. Of several starts of one id at the same
// time, one succeeds and the others get the error.
//
// For an orchestration that is only known by its name, use [orchestration.Declare] with the types of its input and
// output; json.RawMessage fits all.
//
// If the store's answer is lost, the instance may have been started nevertheless. Use [UseExisting] to start again.
//
// Error: [provider.ErrInvalidArgument] for a definition without a name or with a name that is not valid UTF-8, which no
// worker can register, and for an id that begins with "sub::" or contains "::sub::", which are reserved for
// sub-orchestrations.
func Start[I, O any](ctx context.Context, c *Client, def orchestration.Definition[I, O], instance string, input I, options ...StartOption) (*Run[O], error) {
	text, err := payload.EncodeAs(input)
	since := c.listenForEnd(instance)
	made := false
	if err == nil {
		item := provider.StartOrchestrationItem{Instance: instance, Orchestration: def.Name(), Input: text, ExecutionID: 1}
		if version := def.WantedVersion(); version != "" {
			item.Version = new(version)
		}
		made, err = c.start(ctx, item, options)
	}
	if err != nil || !made {
		since.stop()
		since = nil
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s %q: %w", def.Name(), instance, err)
	}
	run := &Run[O]{client: c, instance: instance, started: true, since: since}
	if since != nil {
		runtime.AddCleanup(run, func(n *notices) { n.stop() }, since)
	}
	return run, nil
}

// start reports whether it has made the instance.
func (c *Client) start(ctx context.Context, item provider.StartOrchestrationItem, options []StartOption) (made bool, err error) {
	if c.hook != nil {
		var ended func(error)
		item.Headers, ended = c.hook.Start(ctx, hook.Start{Instance: item.Instance, Orchestration: item.Orchestration})
		if ended != nil {
			defer func() { ended(err) }()
		}
	}
	return c.startWith(ctx, item, options)
}

// startWith is start with the hook's headers.
func (c *Client) startWith(ctx context.Context, item provider.StartOrchestrationItem, options []StartOption) (made bool, err error) {
	var o startOptions
	for _, option := range options {
		option.ofStart(&o)
	}
	if item.Orchestration == "" {
		return false, fmt.Errorf("the orchestration has no name: %w", provider.ErrInvalidArgument)
	}
	if !utf8.ValidString(item.Orchestration) {
		return false, fmt.Errorf("the orchestration's name is not valid UTF-8: %w", provider.ErrInvalidArgument)
	}
	if err := history.CheckInstanceID(item.Instance); err != nil {
		return false, fmt.Errorf("%w: %w", provider.ErrInvalidArgument, err)
	}
	if item.Input, err = c.codec.Encode(ctx, item.Input); err != nil {
		return false, err
	}
	messages, err := o.items(ctx, c.codec, item.Instance)
	if err != nil {
		return false, err
	}
	if o.tx.in != nil && o.replacing {
		return false, fmt.Errorf("a finished instance cannot be replaced inside a transaction: %w", provider.ErrInvalidArgument)
	}
	use, err := c.startIn(ctx, o.tx, item, messages, o.useExisting)
	if err == nil && use != nil && o.replacing && use.Status.Ended() {
		if err := c.remove(ctx, item.Instance); err != nil {
			return false, err
		}
		use, err = c.startIn(ctx, o.tx, item, messages, o.useExisting)
	}
	if err != nil || use == nil || o.useExisting {
		return err == nil && use == nil, err
	}
	return false, &AlreadyExistsError{Instance: item.Instance, Name: use.Name, State: stateOf(use)}
}

// items are the messages of a start.
func (o *startOptions) items(ctx context.Context, c *codec.Codec, instance string) ([]provider.WorkItem, error) {
	var items []provider.WorkItem
	for _, m := range o.messages {
		if m.err != nil {
			return nil, fmt.Errorf("message for queue %q: %w", m.queue, m.err)
		}
		text, err := c.Encode(ctx, m.text)
		if err != nil {
			return nil, err
		}
		items = append(items, provider.QueueMessageItem{Instance: instance, Name: m.queue, Data: text})
	}
	return items, nil
}

// remove deletes a finished instance. That somebody else has done so is as good.
func (c *Client) remove(ctx context.Context, instance string) error {
	admin, err := c.Admin()
	if err != nil {
		return err
	}
	err = c.noneQueued(ctx, admin, instance)
	if err == nil {
		_, err = admin.DeleteInstance(ctx, instance, false)
	}
	if err != nil && !errors.Is(err, provider.ErrNotFound) {
		return fmt.Errorf("replacing the finished instance: %w", err)
	}
	return nil
}

// noneQueued refuses an instance with a sub-orchestration whose start waits. A deletion would leave
// the start, and what comes of it would be told to the new instance.
func (c *Client) noneQueued(ctx context.Context, admin provider.Admin, instance string) error {
	tree, err := admin.GetInstanceTree(ctx, instance)
	if err != nil {
		return err
	}
	for _, id := range tree.AllIDs {
		executions, err := admin.ListExecutions(ctx, id)
		if err != nil {
			return err
		}
		for _, execution := range executions[max(0, len(executions)-history.MaxEarlierExecutions):] {
			events, err := c.store.ReadWithExecution(ctx, id, execution)
			if err != nil && !errors.Is(err, provider.ErrCorrupt) {
				return err
			}
			for _, child := range history.UnreportedChildren(id, events) {
				use, err := c.store.FindInstance(ctx, child)
				if err != nil {
					return err
				}
				if use != nil && !use.Begun() {
					return fmt.Errorf("its sub-orchestration %q waits to begin: %w", child, provider.ErrStillRunning)
				}
			}
		}
	}
	return nil
}
