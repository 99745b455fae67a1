package orchestration

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/internal/payload"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/retry"
)

// Definition names an orchestration with its input and output types. Definitions
// are made once, usually as package variables, and used by workers to run the
// orchestration and by clients and other orchestrations to start it.
type Definition[I, O any] struct {
	entry
	name    string
	version string
	fn      func(ctx *Context, input I) (O, error)
	cleanup time.Duration
	// wanted is the version that starts ask for, empty for the one that the worker chooses.
	wanted string
	retry  *retry.Policy
}

// entry lets workers register a definition.
type entry = registry.Entry

// New defines an orchestration of version 1.0.0. The name is recorded in
// histories and must not change while instances are running.
//
// Input and output are encoded as JSON, except that a string is stored as its plain text. If the function returns an
// error or panics, the instance fails with that text.
func New[I, O any](name string, fn func(ctx *Context, input I) (O, error)) Definition[I, O] {
	return Declare[I, O](name).Implement(fn)
}

// Declare names an orchestration whose function is elsewhere: in a package that only workers import, in another
// program, or in a function that itself uses the definition, for example to continue as new. Clients and orchestrations
// can start it. A worker registers what [Definition.Implement] returns.
func Declare[I, O any](name string) Definition[I, O] {
	return Definition[I, O]{name: name, version: registry.DefaultVersion}.withEntry()
}

// Implement returns the definition with a function, which must have its input and output types. If the definition
// already had a function, the new one replaces it.
func (d Definition[I, O]) Implement(fn func(ctx *Context, input I) (O, error)) Definition[I, O] {
	d.fn = fn
	return d.withEntry()
}

// WithVersion returns the definition under another version, "major.minor.patch".
// An instance stays with the version it was started with; register the old
// version beside the new one, in rising order, until its instances are done.
//
// The version applies to registration only. For a start the worker chooses the latest version, or the one set by its
// Pin method. [Definition.AtVersion] asks for a given version.
func (d Definition[I, O]) WithVersion(version string) Definition[I, O] {
	d.version = version
	return d.withEntry()
}

// AtVersion returns the definition with which a start asks for a version, "major.minor.patch": client.Start,
// [SubOrchestration], [Detach] and [Definition.ContinueAsNew]. Without it, or with "", the worker chooses. It has no
// effect on what a worker registers, which is [Definition.WithVersion].
func (d Definition[I, O]) AtVersion(version string) Definition[I, O] {
	d.wanted = version
	return d
}

// WantedVersion returns the version that [Definition.AtVersion] set, empty when the worker chooses.
func (d Definition[I, O]) WantedVersion() string { return d.wanted }

// wantedOrNil is nil where WantedVersion is empty.
func (d Definition[I, O]) wantedOrNil() *string {
	if d.wanted == "" {
		return nil
	}
	return new(d.wanted) // not &d.wanted, for which each call would allocate the definition
}

// WithRetry returns the definition with a retry policy and timeouts for all calls as a sub-orchestration. Those of a
// call ([WithRetry]) take their place, but a Timeout of 0 keeps the definition's. A client's start is not retried. An
// invalid policy panics.
func (d Definition[I, O]) WithRetry(policy retry.Policy) Definition[I, O] {
	if err := policy.Validate(); err != nil {
		panic(fmt.Sprintf("orchestration %q: %v", d.name, err))
	}
	d.retry = &policy
	return d
}

// WithCleanup lets a cancelled instance clean up instead of ending it at once. From the cancellation on, every wait
// returns [ErrCancelled], except waits through [Context.Detached]. The instance ends when the function returns: as
// cancelled if the error matches ErrCancelled, otherwise as completed or failed. If the clean-up takes longer than
// limit, which must be at least 1 ms, the instance fails with [ErrTimeout].
//
// As with the function's code, do not change this option while instances are cleaning up. If a Duroxide runtime in
// another language takes over such an instance, it ends the instance at once.
func (d Definition[I, O]) WithCleanup(limit time.Duration) Definition[I, O] {
	if limit < time.Millisecond {
		panic(fmt.Sprintf("orchestration %q: a clean-up of %v is too short", d.name, limit))
	}
	d.cleanup = limit
	return d.withEntry()
}

// Name returns the name that histories record.
func (d Definition[I, O]) Name() string { return d.name }

// Version returns the version under which the orchestration is registered.
func (d Definition[I, O]) Version() string { return d.version }

// withEntry returns the definition with what registers it as it is now.
func (d Definition[I, O]) withEntry() Definition[I, O] {
	var run replay.Func // stays nil without a function, which is an error when it is registered
	if d.fn != nil {
		run = d.run
	}
	d.entry = registry.NewEntry(func(r *registry.Registry) error { return r.AddOrchestration(d.name, d.version, run) })
	return d
}

// run is the orchestration on opaque texts.
func (d Definition[I, O]) run(env *replay.Env, text string) (string, error) {
	input, err := payload.Decode[I](text)
	if err != nil {
		return "", fmt.Errorf("input of orchestration %q: %w", d.name, err)
	}
	env.AllowCleanup(d.cleanup)
	output, err := d.fn(&Context{env: env, retried: new(int)}, input)
	if err != nil {
		return "", err
	}
	text, err = payload.EncodeAs(output)
	if err != nil {
		return "", fmt.Errorf("output of orchestration %q: %w", d.name, err)
	}
	return text, nil
}
