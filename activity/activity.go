// Package activity defines activities: the ordinary Go functions in which an
// orchestration's side effects happen.
//
//	var Greet = activity.New("Greet", func(ctx context.Context, city string) (string, error) {
//		return "Hello, " + city + "!", nil
//	})
//
// An activity runs at least once, so make it idempotent. It runs again if its worker dies after the
// work and before the acknowledgement, or loses its lease; a worker that cannot reach its store may
// run it at the same time as another. Its result is counted once.
//
// The context ends when the orchestration no longer wants the result, when another worker has the
// lease, and when the worker has to stop. In the first two cases, whatever is returned afterwards
// is discarded. A worker that stops waits another 100 ms: a result still counts. After an error, or
// without a return, the activity is handed to another worker, which does not count as an attempt.
package activity

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/retry"
)

// Definition names an activity with its input and output types. Definitions are
// made once, usually as package variables, and used by workers to run the
// activity and by orchestrations to call it.
type Definition[I, O any] struct {
	entry
	name  string
	retry *retry.Policy
	fn    func(ctx context.Context, input I) (O, error)
}

// entry lets workers register a definition.
type entry = registry.Entry

// New defines an activity. The name is recorded in histories and must not change
// while orchestrations that call it are running.
//
// Input and output travel as JSON, a string as its plain text.
func New[I, O any](name string, fn func(ctx context.Context, input I) (O, error)) Definition[I, O] {
	return Declare[I, O](name).Implement(fn)
}

// Declare names an activity whose function is elsewhere: in a package that only workers import, in another program, or
// in a closure over what it needs. Orchestrations can call it. A worker registers what [Definition.Implement] returns.
//
//	var Charge = activity.Declare[Bill, Receipt]("Charge") // beside the orchestrations
//
//	worker.Register(Charge.Implement(payments.Charge)) // where the worker starts
func Declare[I, O any](name string) Definition[I, O] {
	return Definition[I, O]{name: name}.withEntry()
}

// Implement returns the definition with a function, which must have its input and output types. If the definition
// already had a function, the new one replaces it.
func (d Definition[I, O]) Implement(fn func(ctx context.Context, input I) (O, error)) Definition[I, O] {
	d.fn = fn
	return d.withEntry()
}

// WithRetry returns the definition with a retry policy and timeouts for all calls through it. They take the place of
// the worker's policy (ActivityRetry in worker.Options), and those of a call (orchestration.WithRetry) take theirs. In
// either case a Timeout, StartTimeout or RunTimeout of 0 keeps the value before. An invalid policy panics.
//
// What counts is the definition that the orchestration calls. So put the policy of a declared activity at its
// declaration; at what [Definition.Implement] returns it has no effect on calls through the declaration.
//
// The policy is part of the orchestrations that call the activity. A change of it affects instances that wait for a
// failing activity, as a change of their code does.
func (d Definition[I, O]) WithRetry(policy retry.Policy) Definition[I, O] {
	if err := policy.Validate(); err != nil {
		panic(fmt.Sprintf("activity %q: %v", d.name, err))
	}
	d.retry = &policy
	return d
}

// Retry returns the policy that WithRetry set; ok is false when there is none.
func (d Definition[I, O]) Retry() (policy retry.Policy, ok bool) {
	if d.retry == nil {
		return retry.Policy{}, false
	}
	return *d.retry, true
}

// withEntry returns the definition with what registers it as it is now.
func (d Definition[I, O]) withEntry() Definition[I, O] {
	var run registry.ActivityFunc // stays nil without a function, which is an error when it is registered
	if d.fn != nil {
		run = d.run
	}
	d.entry = registry.NewEntry(func(r *registry.Registry) error { return r.AddActivity(d.name, run) })
	return d
}

// Name is the name the activity is recorded under.
func (d Definition[I, O]) Name() string { return d.name }

// run is the activity on opaque texts. An input that does not fit is a failure
// of the activity, so that the orchestration learns of it.
func (d Definition[I, O]) run(ctx context.Context, text string) (string, error) {
	input, err := payload.Decode[I](text)
	if err != nil {
		return "", fmt.Errorf("input of activity %q: %w", d.name, err)
	}
	output, err := d.fn(ctx, input)
	if err != nil {
		return "", err
	}
	text, err = payload.EncodeAs(output)
	if err != nil {
		return "", fmt.Errorf("output of activity %q: %w", d.name, err)
	}
	return text, nil
}

// Info says which activity is running and for whom.
type Info struct {
	Instance    string
	ExecutionID uint64
	// ActivityID is the event that scheduled the activity. With Instance and ExecutionID it is the same on every
	// delivery, for example after a worker died. A retry by a retry.Policy is an activity of its own: it has another
	// ActivityID, and its Attempt begins at 1 again. As a key that is the same for all tries of a call, use one that
	// the orchestration puts into the input, such as its instance id and the name of the step.
	ActivityID uint64
	Name       string
	// Attempt is 1 on the first delivery of the activity.
	Attempt uint32
	// WorkerID names the worker slot.
	WorkerID string
	// SessionID and Tag are empty when the activity has none.
	SessionID string
	Tag       string
}

type contextKey struct{}

// Environment is what a worker provides around an activity.
type Environment struct {
	Info Info
	// Logger is what [Logger] returns; nil discards.
	Logger *slog.Logger
	// Caller is what [Caller] returns; nil is unknown.
	Caller func(ctx context.Context) (name, version string)
	// Heartbeat is told the details of each [Heartbeat], as JSON; nil drops them.
	Heartbeat func(details string)
	// LastHeartbeat is what [LastHeartbeat] returns, as JSON; empty is none.
	LastHeartbeat string
}

// NewContext returns a context that carries an environment, as a worker does
// around an activity. It lets tests call an activity function directly.
func NewContext(ctx context.Context, env Environment) context.Context {
	return context.WithValue(ctx, contextKey{}, env)
}

// InfoFrom returns what is running; ok is false outside an activity.
func InfoFrom(ctx context.Context) (info Info, ok bool) {
	env, ok := ctx.Value(contextKey{}).(Environment)
	return env.Info, ok
}

// Logger returns the worker's logger with the activity's identity attached. It
// discards everything outside an activity.
func Logger(ctx context.Context) *slog.Logger {
	if env, ok := ctx.Value(contextKey{}).(Environment); ok && env.Logger != nil {
		return env.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// Caller returns name and version of the orchestration that called the activity,
// both "unknown" when they cannot be read. It reads the caller's history from the
// store, so ask only when needed.
func Caller(ctx context.Context) (name, version string) {
	if env, ok := ctx.Value(contextKey{}).(Environment); ok && env.Caller != nil {
		return env.Caller(ctx)
	}
	return provider.UnknownVersion, provider.UnknownVersion
}
