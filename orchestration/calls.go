package orchestration

import (
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
)

// Activity schedules an activity. It does not block: schedule several and
// [Join] them to run them side by side.
func Activity[I, O any](ctx *Context, def activity.Definition[I, O], input I, options ...ActivityOption) *Future[O] {
	source := fmt.Sprintf("activity %q", def.Name())
	o := activityOptions{retry: defaultRetry(ctx, def.Name())}
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
	retry        *RetryPolicy
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

// WithTag sends the activity to workers that ask for that tag. At most 256 bytes.
func WithTag(tag string) ActivityOption {
	return activityOption(func(o *activityOptions) { o.tag = &tag })
}

// Timer is ready once the duration has passed, also across restarts. Zero and
// negative durations are due at once.
func Timer(ctx *Context, d time.Duration) *Future[struct{}] {
	at := ctx.env.NowMs() + milliseconds(max(d, 0))
	return newDecoded(ctx, "timer", replay.CreateTimer{FireAtMs: at}, func(string) (struct{}, error) { return struct{}{}, nil })
}

// milliseconds is rounded up: a timer may be late but never early.
func milliseconds(d time.Duration) uint64 {
	ms := uint64(d / time.Millisecond)
	if d%time.Millisecond > 0 { // not by adding to d, which may be the longest there is
		ms++
	}
	return ms
}

// Sleep waits for a [Timer]. Error: [ErrCancelled], which only an orchestration with
// [Definition.WithCleanup] gets. A loop that ignores it there never ends.
func Sleep(ctx *Context, d time.Duration) error {
	_, err := Timer(ctx, d).Await()
	return err
}

// WaitForEvent receives the next event of that name raised after this call is
// recorded; earlier ones are lost. The n-th wait gets the n-th such event. For
// messages that must not be lost use [Dequeue].
func WaitForEvent[T any](ctx *Context, name string) *Future[T] {
	return newFuture[T](ctx, fmt.Sprintf("event %q", name), replay.WaitEvent{Name: name})
}

// Dequeue receives the next message of a queue of this instance: first in, first
// out, also messages that came before. A message is read when its future is awaited, wins
// a [Select] or an [Any], or says that it is ready. Unread messages survive
// [ContinueAsNew]: the first 100 of them.
func Dequeue[T any](ctx *Context, queue string) *Future[T] {
	return newFuture[T](ctx, fmt.Sprintf("queue %q", queue), replay.Dequeue{Name: queue})
}

// subOptions are empty where nothing was asked for.
type subOptions struct {
	instance string
	version  *string
	retry    *RetryPolicy
}

// SubOption changes how a sub-orchestration is called. See [WithInstanceID], [AtVersion]
// and [CallOption].
type SubOption interface{ ofSub(o *subOptions) }

type subOption func(*subOptions)

func (f subOption) ofSub(o *subOptions) { f(o) }

// WithInstanceID gives a sub-orchestration that instance id, which must not begin with
// "sub::": the future then fails at once with a [*CallError], and nothing is started.
// So does an id that is in use, by a running or a finished instance: that one stays as it
// is, and the call fails with an error that matches [ErrAlreadyExists]. So does the id of the
// orchestration that calls. Without
// this option an id below the parent's is made, such as "order-7::sub::2". With [WithRetry]
// each attempt is an instance of its own: the second has "::attempt::2" behind its id.
func WithInstanceID(id string) SubOption {
	return subOption(func(o *subOptions) { o.instance = id })
}

// AtVersion starts exactly that version instead of the one the worker chooses.
func AtVersion(version string) SubOption {
	return subOption(func(o *subOptions) { o.version = &version })
}

// Sub starts a sub-orchestration, whose result comes back as a future. When this
// orchestration ends first, the child is cancelled; see [Detach].
func Sub[I, O any](ctx *Context, def Definition[I, O], input I, options ...SubOption) *Future[O] {
	source := fmt.Sprintf("sub-orchestration %q", def.Name())
	var o subOptions
	for _, option := range options {
		option.ofSub(&o)
	}
	action := replay.CallSub{Name: def.Name(), Input: encode("input of "+source, input), Version: o.version}
	return attempts(ctx, "sub-orchestration", source, o.retry, func(attempt int, _ string) *Future[O] {
		action.Instance = o.instance
		if o.instance != "" && attempt > 1 {
			action.Instance = fmt.Sprintf("%s::attempt::%d", o.instance, attempt)
		}
		return newFuture[O](ctx, source, action)
	})
}

// Detach starts an orchestration that lives on its own: there is no result, and
// it outlives this one. The instance id must be unused, else nothing is started. An id
// that begins with "sub::" or contains "::sub::" is reserved for sub-orchestrations and
// panics.
func Detach[I, O any](ctx *Context, def Definition[I, O], instance string, input I) {
	ctx.env.Emit(replay.StartDetached{
		Name: def.Name(), Instance: instance,
		Input: encode(fmt.Sprintf("input of orchestration %q", def.Name()), input),
	})
}

// ContinueAsNew ends this execution and starts the next one with the given input and an empty
// history, which keeps the history of a loop short. The first 100 unread messages of all its queues
// together move to the next execution, in their order. Later ones are lost; the worker's log, the
// history and client.Status tell how many. It does not return, except with [ErrCancelled] while the
// orchestration cleans up, and lets a function end with
//
//	return none, orchestration.ContinueAsNew(ctx, next)
func ContinueAsNew(ctx *Context, input any) error {
	return continueAsNew(ctx, nil, input)
}

func continueAsNew(ctx *Context, version *string, input any) error {
	if ctx.env.Cancelled() {
		return ErrCancelled
	}
	ctx.env.Emit(replay.NextExecution{Input: encodeAny("input of the next execution", input), Version: version})
	ctx.env.Halt()
	return nil
}

// ContinueAsNewVersion is [ContinueAsNew] into exactly that version; without it
// the worker's choice for new instances applies.
func ContinueAsNewVersion(ctx *Context, version string, input any) error {
	return continueAsNew(ctx, &version, input)
}

// ContinueAsNew is the function [ContinueAsNew] with the input of the definition's type:
//
//	return definition.ContinueAsNew(ctx, next)
//
// The definition must have the name of the orchestration that runs. A package variable cannot
// be used in its own function: there [Named] makes another.
func (d Definition[I, O]) ContinueAsNew(ctx *Context, input I) (O, error) {
	if name := ctx.Info().Name; name != d.name {
		panic(fmt.Sprintf("orchestration %q cannot continue as %q", name, d.name))
	}
	var none O
	return none, ContinueAsNew(ctx, input)
}

// Built-in activities (§7.13), which every worker runs.
var (
	newGUID = activity.Named[string, string](registry.SyscallPrefix + "new_guid")
	utcNow  = activity.Named[string, int64](registry.SyscallPrefix + "utc_now_ms")
)

// NewGUID returns a random UUID that stays the same on replay.
func NewGUID(ctx *Context) (string, error) { return Activity(ctx, newGUID, "").Await() }

// UTCNow returns the time, which stays the same on replay. Precision is 1 ms.
func UTCNow(ctx *Context) (time.Time, error) {
	ms, err := Activity(ctx, utcNow, "").Await()
	return time.UnixMilli(ms).UTC(), err
}
