package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// call is one fetched activity on its way to an ack or an abandon.
type call struct {
	worker *Worker
	slot   string
	// fetched is the fetch that the call began with.
	fetched *provider.FetchedWorkItem
	item    provider.ActivityExecuteItem
	logger  *slog.Logger
	// ctx is the activity's, which cancel ends.
	ctx    context.Context //nolint:containedctx // of the activity that runs
	cancel context.CancelCauseFunc
	// tell is called after each renewal while the activity runs.
	tell func()
	// verdict is set when the outcome is known, settling while the verdict is carried out, and tried when the
	// acknowledgement was tried.
	verdict  verdict
	settling taking.Settling
	tried    bool
	// beats is nil until the activity runs.
	beats *heartbeats

	mu sync.Mutex
	// again is the latest fetch that the call was attached to, if any.
	again *provider.FetchedWorkItem
	// lease is nil until the activity runs.
	lease *leases.Lease
	// returned means that the handler is not waited for any more, settled that the outcome
	// is the store's, kept, or given up.
	returned, settled bool
	// doubt cancels the call unless it is attached before.
	doubt *time.Timer
}

// decideCall runs an activity, which Settle ends. unknown is nil unless the activity was fetched by that watch.
func (w *Worker) decideCall(work context.Context, slot string, fetched *provider.FetchedWorkItem, unknown *unknownWatch) *call {
	item, ok := fetched.Item.(provider.ActivityExecuteItem)
	ctx, cancel := context.WithCancelCause(work)
	c := &call{worker: w, slot: slot, fetched: fetched, item: item, ctx: ctx, cancel: cancel, logger: w.options.Logger.With(
		"instance_id", item.Instance, "execution_id", item.ExecutionID,
		"activity_name", item.Name, "activity_id", item.ID, "worker_id", slot)}
	switch {
	case !ok:
		w.options.Logger.ErrorContext(work, "the worker queue holds something other than an activity", "variant", fetched.Item.Variant())
		c.verdict = leave{} // it returns when its lease ends, again and again
	case unknown != nil:
		c.verdict = c.decideUnknown(ctx, unknown)
	default:
		c.verdict = c.decide(ctx)
	}
	return c
}

// Settle carries the call's verdict out and gives its lease up. An acknowledgement takes more work beside.
func (c *call) Settle(claim *taking.Claim) {
	defer c.cancel(nil)
	defer c.end()
	var stop func()
	c.settling, stop = taking.NewSettling(c.ctx, c.worker.options.ActivityLockTimeout, c.worker.outage, claim)
	defer stop()
	for v := c.verdict; v != nil; {
		v = c.apply(c.ctx, v)
	}
	claim.Finish()
}

// ref identifies the activity.
func (c *call) ref() provider.ActivityRef {
	return refOf(c.item)
}

func refOf(item provider.ActivityExecuteItem) provider.ActivityRef {
	return provider.ActivityRef{Instance: item.Instance, ExecutionID: item.ExecutionID, ActivityID: item.ID}
}

// errCancelled is the cause of an activity's context when its result is no longer
// wanted or its lease is lost.
var errCancelled = errors.New("the activity was cancelled or its lease was lost")

// errLeaseEnded is that cause when the store did not say so: it could not be asked until
// what the activity returned had no lease any more, or it refuses to renew the lease.
var errLeaseEnded = fmt.Errorf("the lease ended: %w", errCancelled)

// wasCancelled reports whether an activity's context ended because it was cancelled, or is
// somebody else's.
func wasCancelled(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, errCancelled) && !errors.Is(cause, errLeaseEnded)
}

// decide decodes the activity's input and runs the activity.
func (c *call) decide(ctx context.Context) verdict {
	if err := c.open(ctx); err != nil {
		return c.undecodable(ctx, err)
	}
	return c.inSession(ctx)
}

// inSession runs the activity within its session, if it has one.
func (c *call) inSession(ctx context.Context) verdict {
	if id := c.item.SessionID; id != nil {
		if !c.worker.sessions.Enter(*id) {
			return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: true}
		}
		defer c.worker.sessions.Leave(*id)
	}
	return c.dispatch(ctx)
}

// dispatch finds the handler and runs it, unless the activity still runs, or was run before
// and only its result did not arrive.
func (c *call) dispatch(ctx context.Context) verdict {
	fn, ok := c.worker.handler(c.item.Name)
	if !ok { // before poison, which is for those to judge who have the code
		return c.unregistered(ctx)
	}
	if c.attached(ctx) { // before poison as well: it is no further attempt
		return leave{}
	}
	if completion, ok := c.worker.kept.take(c); ok {
		return complete{completion}
	}
	if c.fetched.AttemptCount > c.worker.options.MaxAttempts {
		return c.poisoned(ctx)
	}
	if c.late() {
		return c.tooLate(ctx)
	}
	return c.run(ctx, fn)
}

// run executes the handler. The lease is kept alive until the call is settled.
func (c *call) run(ctx context.Context, fn registry.ActivityFunc) verdict {
	c.tell = c.tellLong()
	c.beats = &heartbeats{call: c, last: c.before()}
	defer c.beats.stop()
	c.takeLease(ctx)
	defer c.worker.active.enter(c)()
	c.worker.live.enter(c) // from now on the lease may be replaced

	running, stop := c.bounded(ctx)
	defer stop()
	done := make(chan provider.WorkItem, 1)
	go c.execute(running, fn, done)
	select {
	case completion := <-done:
		return c.finish(ctx, c.inTime(running, completion))
	case <-running.Done():
	}
	if ranTooLong(running) {
		return c.overrun(ctx, running, done)
	}
	return c.cancelled(ctx, done)
}

// tellLong returns a function that logs, once, that the activity has run for QuietTime.
func (c *call) tellLong() func() {
	var told atomic.Bool
	told.Store(c.worker.options.QuietTime == 0)
	began := time.Now()
	return func() {
		if ran := time.Since(began); ran >= c.worker.options.QuietTime && told.CompareAndSwap(false, true) {
			c.logger.Warn("an activity has not returned yet, its lease is renewed again and again",
				"running_for", ran.Round(time.Millisecond), "attempt", c.fetched.AttemptCount)
		}
	}
}

// shutdownGrace is how long an activity may take to return after a shutdown ended
// its context.
const shutdownGrace = 100 * time.Millisecond

// cancelled waits for an activity whose context has ended. One that does not
// return in time keeps its goroutine, which Go cannot end, and loses its slot.
func (c *call) cancelled(ctx context.Context, done <-chan provider.WorkItem) verdict {
	grace := c.worker.options.CancellationGracePeriod
	shutdown := errors.Is(context.Cause(ctx), errShutdown)
	if shutdown {
		grace = shutdownGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case completion := <-done:
		return c.finish(ctx, completion)
	case <-timer.C:
		if !shutdown {
			c.giveUp()
		}
		c.logger.WarnContext(ctx, "an activity ignores that its context has ended", "waited", grace)
		if shutdown {
			return giveBack{IgnoreAttempt: true}
		}
		return leave{}
	}
}

// execute calls the handler and sends its outcome, also a panic or the end of its
// goroutine, as a message.
func (c *call) execute(ctx context.Context, fn registry.ActivityFunc, done chan<- provider.WorkItem) {
	var completion provider.WorkItem
	err := errGoexit
	ctx, ended := c.tellActivity(ctx)
	defer func() {
		if completion == nil {
			completion = c.failed("the activity called runtime.Goexit")
		}
		ended(err)
		done <- completion
	}()
	defer func() {
		if value := recover(); value != nil {
			c.logger.ErrorContext(ctx, "an activity panicked", "stack", string(debug.Stack()))
			completion, err = c.failed(fmt.Sprintf("activity panicked: %v", value)), errPanicked
		}
	}()
	ctx = activity.NewContext(ctx, activity.Environment{
		Info: c.info(), Logger: c.logger, Caller: c.caller, Heartbeat: c.beats.beat, LastHeartbeat: c.before(),
	})
	result, failure := fn(ctx, c.item.Input)
	err = failure
	if _, builtIn := c.worker.builtIn[c.item.Name]; builtIn && (errors.Is(err, codec.ErrNotDecoded) || provider.IsRetryable(err)) {
		completion = unread{err: err}
		return
	}
	if err != nil {
		completion = c.failedWith(details.Of(provider.AppActivityFailed, err))
		return
	}
	completion = provider.ActivityCompletedItem{
		Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ID: c.item.ID, Result: result,
	}
}

func (c *call) info() activity.Info {
	info := activity.Info{
		Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ActivityID: c.item.ID,
		Name: c.item.Name, Attempt: c.fetched.AttemptCount, WorkerID: c.slot,
	}
	if c.item.SessionID != nil {
		info.SessionID = *c.item.SessionID
	}
	if c.item.Tag != nil {
		info.Tag = *c.item.Tag
	}
	return info
}

// caller reads the orchestration's name from its history.
func (c *call) caller(ctx context.Context) (name, version string) {
	history, err := c.worker.store.ReadWithExecution(ctx, c.item.Instance, c.item.ExecutionID)
	if err == nil && len(history) > 0 {
		if started, ok := history[0].Kind.(provider.OrchestrationStarted); ok {
			return started.Name, started.Version
		}
	}
	return provider.UnknownVersion, provider.UnknownVersion
}

func (c *call) failed(message string) provider.WorkItem {
	return c.failedWith(provider.ApplicationFailure{Kind: provider.AppActivityFailed, Message: message})
}

// failedWith is a failure. With an attempt's own go its last details, for the next one.
func (c *call) failedWith(why provider.ErrorDetails) provider.WorkItem {
	if failure, ok := why.(provider.ApplicationFailure); ok {
		failure.Heartbeat = c.details()
		why = failure
	}
	return provider.ActivityFailedItem{
		Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ID: c.item.ID, Details: why,
	}
}
