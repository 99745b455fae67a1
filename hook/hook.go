// Package hook tells a program what its clients and workers do, and carries something of its
// own along: a trace, a tenant, the id of a request.
//
// What a [Hook] wants to carry is a text, the headers. It goes from a client's start into the
// orchestration, from there to its activities, to the orchestrations that it starts, and into
// its next execution when it continues as new. Each of these hands on what it got unless a
// hook says otherwise, so a worker without one breaks no chain. Headers are stored as they
// are, also with a codec, and a runtime of another language drops them.
//
//	w, err := worker.New(store, worker.Options{Hook: tracing})
//	c := client.New(store, client.Options{Hook: tracing})
package hook

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/provider"
)

// Hook surrounds what a client or a worker does. Each method is called when something begins
// and returns what to call when it has ended, which may be nil. Embed [None] to implement
// some of the methods.
//
// The methods are called by many goroutines, as a part of the work: they must neither block
// nor panic.
type Hook interface {
	// Start surrounds a client's start of an instance. The headers go along.
	Start(ctx context.Context, start Start) (headers string, ended func(error))

	// Send surrounds a client's message to an instance.
	Send(ctx context.Context, message Message) (ended func(error))

	// Wait surrounds a client's wait for an instance to end, or to change its custom status.
	Wait(ctx context.Context, instance string) (ended func(error))

	// Turn surrounds a run of an orchestration's function, with what is stored of it. That the
	// function is replayed to where it waited is no turn. A turn is also what fails an
	// execution whose function cannot be run: it was tried too often, nobody has its code, or
	// its history cannot be read.
	Turn(ctx context.Context, turn Turn) Around

	// Activity surrounds a run of an activity's function, which gets the context. ended is told
	// the function's error, one that wraps [ErrCancelled], or a [*NotRunError].
	Activity(ctx context.Context, activity Activity) (_ context.Context, ended func(error))

	// Store surrounds a call of the store by a client or a worker. The operation is the name of
	// the method of package provider in snake case, such as "fetch_work_item", but that
	// messages are sent by "enqueue_orchestrator". Calls of [provider.Admin] are not told.
	Store(ctx context.Context, operation string) (ended func(StoreEnd))
}

// Start is the start of an instance by a client.
type Start struct{ Instance, Orchestration string }

// Message is what a client sends to an instance.
type Message struct {
	Instance string
	// Kind is "event", "queue" or "cancel".
	Kind string
	// Name is that of the event or the queue.
	Name string
}

// Turn is a run of an orchestration's function.
type Turn struct {
	Instance    string
	ExecutionID uint64
	// Orchestration and Version are the code that runs.
	Orchestration, Version string
	// Parent is the instance that has started this one and waits for it, "" for none.
	Parent string
	// Headers are those that the execution began with.
	Headers string
	// First is an execution's first turn.
	First bool
	// Attempt is how often the messages of this turn were fetched, from 1.
	Attempt uint32
	// WorkerID is the worker's slot, as in its log.
	WorkerID string
}

// Around is what a hook has to say and to be told of a turn.
type Around struct {
	// Headers go along with the activities and orchestrations that the turn starts, and to the
	// next execution.
	Headers string
	// Next, if not nil, is called when the turn continues as new. It returns the headers of the
	// next execution.
	Next func() string
	// Ended, if not nil, is told what came of the turn.
	Ended func(TurnEnd)
}

// TurnEnd is what came of a turn.
type TurnEnd struct {
	// Committed means that the turn's effects are stored. If not, the turn is run again, or
	// somebody else has run it.
	Committed bool
	// Status is what the execution has ended with, and Running if it goes on; only with
	// Committed.
	Status provider.Status
	// Failure is why the execution has failed, with a payload in its text; nil if it has not.
	Failure provider.ErrorDetails
	// Events is the length of the history; only with Committed.
	Events uint64
	// History is the history that the turn began with, and Added what it has added; only with
	// Committed. They hold payloads, and must not be changed. History is empty when it cannot
	// be read.
	History, Added []provider.Event
}

// Activity is a run of an activity's function.
type Activity struct {
	Instance    string
	ExecutionID uint64
	// ID is the id of the event that has scheduled the activity.
	ID   uint64
	Name string
	// Tag is "" for none.
	Tag string
	// Headers are those of the turn that has scheduled the activity.
	Headers string
	// Attempt is how often the activity was fetched, from 1. Each try of a retry policy is an
	// activity of its own.
	Attempt uint32
	// WorkerID is the worker's slot, as in its log.
	WorkerID string
}

// ErrCancelled is wrapped by the error of an activity whose result is discarded, because it
// was cancelled or another worker has it.
var ErrCancelled = errors.New("the activity was cancelled")

// NotRunError is how an activity fails whose function is not run.
type NotRunError struct {
	// Details are a [provider.PoisonFailure] for an activity that was fetched too often, a
	// [provider.ConfigurationFailure] for one that no worker has, and a [provider.ApplicationFailure] for one that has
	// waited for longer than its StartTimeout.
	Details provider.ErrorDetails
}

// Error returns the failure's text, which may hold a payload.
func (e *NotRunError) Error() string { return e.Details.DisplayMessage() }

// StoreEnd is what came of a call of the store.
type StoreEnd struct {
	// Turns and Activities are how many of them the call has fetched.
	Turns, Activities int
	// Err is the call's error, nil for none. Of a call that does several things it is the
	// first.
	Err error
}

// None is a hook that does nothing and hands headers on.
type None struct{}

// Start implements [Hook].
func (None) Start(context.Context, Start) (headers string, ended func(error)) { return "", nil }

// Send implements [Hook].
func (None) Send(context.Context, Message) (ended func(error)) { return nil }

// Wait implements [Hook].
func (None) Wait(context.Context, string) (ended func(error)) { return nil }

// Turn implements [Hook].
func (None) Turn(_ context.Context, turn Turn) Around { return Around{Headers: turn.Headers} }

// Activity implements [Hook].
func (None) Activity(ctx context.Context, _ Activity) (_ context.Context, ended func(error)) {
	return ctx, nil
}

// Store implements [Hook].
func (None) Store(context.Context, string) (ended func(StoreEnd)) { return nil }
