package orchestration

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/retry"
)

// Activity schedules an activity. It does not block: schedule several and
// [Join] them to run them side by side.
func Activity[I, O any](ctx *Context, def activity.Definition[I, O], input I, options ...ActivityOption) *Future[O] {
	source := fmt.Sprintf("activity %q", def.Name())
	o := activityOptions{retry: activityRetry(ctx, def)}
	for _, option := range options {
		option.ofActivity(&o)
	}
	action := replay.CallActivity{
		Name: def.Name(), Input: encode("input of "+source, input), SessionID: o.session, Tag: o.tag,
	}
	if o.retry != nil {
		action.StartTimeoutMs, action.RunTimeoutMs = milliseconds(o.retry.StartTimeout), milliseconds(o.retry.RunTimeout)
	}
	return attempts(ctx, "activity", source, o.retry, func(_ int, heartbeat string) *Future[O] {
		action.Heartbeat = heartbeat
		return newFuture[O](ctx, source, action)
	})
}

// activityOptions are nil where nothing was asked for.
type activityOptions struct {
	session, tag *string
	retry        *retry.Policy
}

// ActivityOption changes how an activity is called. See [InSession], [WithTag] and
// [CallOption].
type ActivityOption interface{ ofActivity(o *activityOptions) }

type activityOption func(*activityOptions)

func (f activityOption) ofActivity(o *activityOptions) { f(o) }

// InSession sends all activities of one session id to the same worker, as long
// as that worker lives.
func InSession(id string) ActivityOption {
	return activityOption(func(o *activityOptions) { o.session = &id })
}

// WithTag sends the activity to workers that select the tag (Tags in worker.Options). A tag has at most 256 bytes.
func WithTag(tag string) ActivityOption {
	return activityOption(func(o *activityOptions) { o.tag = &tag })
}

// Timer returns a future that is ready once the duration has passed, even if the worker restarts meanwhile. Zero and
// negative durations are due at once.
func (c *Context) Timer(d time.Duration) *Future[struct{}] {
	at := c.env.NowMs() + milliseconds(max(d, 0))
	return newDecoded(c, "timer", replay.CreateTimer{FireAtMs: at}, func(string) (struct{}, error) { return struct{}{}, nil })
}

// milliseconds is rounded up: a timer may be late but never early.
func milliseconds(d time.Duration) uint64 {
	ms := uint64(d / time.Millisecond)
	if d%time.Millisecond > 0 { // not by adding to d, which may be the longest there is
		ms++
	}
	return ms
}

// Sleep waits for a [Context.Timer]. Error: [ErrCancelled], only in an orchestration with [Definition.WithCleanup]. A
// loop that ignores this error never ends.
func (c *Context) Sleep(d time.Duration) error {
	_, err := c.Timer(d).Await()
	return err
}

// subOptions are empty where nothing was asked for.
type subOptions struct {
	instance string
	retry    *retry.Policy
}

// SubOption changes how a sub-orchestration is called. See [WithInstanceID] and [CallOption].
type SubOption interface{ ofSub(o *subOptions) }

type subOption func(*subOptions)

func (f subOption) ofSub(o *subOptions) { f(o) }

// WithInstanceID sets the instance id of a sub-orchestration. If the id begins with "sub::", the future fails at once
// with a [*CallError], and nothing is started. If the id is used by a running or a finished instance, or by the
// calling orchestration itself, nothing is started, and the call fails with an error that matches [ErrAlreadyExists].
//
// Without this option the id is made from the parent's, such as "order-7::sub::2". With [WithRetry] each attempt is
// an instance of its own: the second has "::attempt::2" appended to its id.
func WithInstanceID(id string) SubOption {
	return subOption(func(o *subOptions) { o.instance = id })
}

// SubOrchestration starts a sub-orchestration and returns a future of its result. If this orchestration ends first, the
// sub-orchestration is cancelled. To start one that outlives this orchestration, use [Detach].
func SubOrchestration[I, O any](ctx *Context, def Definition[I, O], input I, options ...SubOption) *Future[O] {
	ctx.mustOwn()
	source := fmt.Sprintf("sub-orchestration %q", def.Name())
	o := subOptions{retry: def.retry}
	for _, option := range options {
		option.ofSub(&o)
	}
	action := replay.CallSub{Name: def.Name(), Input: encode("input of "+source, input), Version: def.wantedOrNil()}
	return attempts(ctx, "sub-orchestration", source, o.retry, func(attempt int, _ string) *Future[O] {
		action.Instance = o.instance
		if o.instance != "" && attempt > 1 {
			action.Instance = fmt.Sprintf("%s::attempt::%d", o.instance, attempt)
		}
		return newFuture[O](ctx, source, action)
	})
}

// Detach starts an independent orchestration: it returns no result and can outlive this one. If the instance id is
// used, nothing is started. Ids that begin with "sub::" or contain "::sub::" are reserved for sub-orchestrations;
// Detach panics for them.
func Detach[I, O any](ctx *Context, def Definition[I, O], instance string, input I) {
	ctx.mustOwn()
	ctx.env.Emit(replay.StartDetached{
		Name: def.Name(), Instance: instance, Version: def.wantedOrNil(),
		Input: encode(fmt.Sprintf("input of orchestration %q", def.Name()), input),
	})
}

// ContinueAsNew ends this execution and starts the next one with the given input and an empty history. Use it to keep
// the history of a loop short. Unread messages of its queues wait for the next execution, in their order. ContinueAsNew
// does not return, except with [ErrCancelled] while the orchestration cleans up. A function can end with
//
//	return definition.ContinueAsNew(ctx, next)
//
// The definition must have the name of the running orchestration. With [Definition.AtVersion] the next execution has
// that version; without it the worker chooses, as for a new instance. Go does not allow a package variable in its own
// initialization, so make the variable with [Declare], and give it the function where the worker registers it.
func (d Definition[I, O]) ContinueAsNew(ctx *Context, input I) (O, error) {
	if name := ctx.Info().Name; name != d.name {
		panic(fmt.Sprintf("orchestration %q cannot continue as %q", name, d.name))
	}
	var none O
	if ctx.env.MustEnd() {
		return none, ErrCancelled
	}
	ctx.env.Emit(replay.NextExecution{Input: encode("input of the next execution", input), Version: d.wantedOrNil()})
	ctx.env.Halt()
	return none, nil
}

// Built-in activities, which every worker runs.
var (
	newGUID = activity.Declare[string, string](registry.NewGUID)
	utcNow  = activity.Declare[string, int64](registry.UTCNow)
)

// NewGUID returns a random UUID that stays the same on replay.
func (c *Context) NewGUID() (string, error) { return Activity(c, newGUID, "").Await() }

// UTCNow returns the current time in UTC, to 1 ms. It stays the same on replay.
func (c *Context) UTCNow() (time.Time, error) {
	ms, err := Activity(c, utcNow, "").Await()
	return time.UnixMilli(ms).UTC(), err
}
