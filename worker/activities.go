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
	"github.com/duroxide/duroxide-go/internal/sealed"
	"github.com/duroxide/duroxide-go/provider"
)

// activities is one slot that runs activities.
type activities struct {
	worker *Worker
	id     string
	// scout looks often whether a store that is away is back.
	scout bool
	// unknown is set for the slot of [Worker.watchUnknown].
	unknown *unknownWatch
	// settler is that of a slot of the dispatcher.
	settler *settler
}

// loop runs activities until ctx ends; work ends when running ones must stop
// (§7.8).
func (a *activities) loop(ctx, work context.Context) {
	w := a.worker
	backoff := fetchBackoff{outage: &w.outage, scout: a.scout}
	last := newSettler()
	defer last.wait()
	for ctx.Err() == nil {
		params := a.fetchWork(true)
		params.PollTimeout = w.pollTimeout()
		if params.Session == nil { // not for long: a session may end at any moment
			params.PollTimeout = min(params.PollTimeout, w.options.MinPollInterval)
		}
		began := time.Now()
		returned := w.outage.expect(ctx, opFetchWork, params.PollTimeout)
		fetched, err := w.store.FetchWorkItem(ctx, params)
		returned()
		w.outage.observe(ctx, opFetchWork, err)
		if fetched != nil {
			backoff.failures = 0
			settle := a.process(work, fetched)
			last.settle(func(free func()) { settle(free, nil) })
			continue
		}
		backoff.wait(ctx, err, began, w.options.MinPollInterval)
	}
}

// fetchWork is what the slot asks for when it fetches an activity, also of a session if that is
// allowed and a further one may begin.
func (a *activities) fetchWork(sessions bool) provider.FetchWorkParams {
	w := a.worker
	params := provider.FetchWorkParams{LockTimeout: w.options.ActivityLockTimeout, Tags: w.options.Tags, Known: w.known.activities}
	if sessions && !w.sessions.full() {
		params.Session = &provider.SessionFetchConfig{OwnerID: w.ownerID(a.id), LockTimeout: w.options.SessionLockTimeout}
	}
	return params
}

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
	// settling is set when the outcome is known, and tried when its acknowledgement was tried.
	settling settling
	tried    bool
	// beats is nil until the activity runs.
	beats *heartbeats

	mu sync.Mutex
	// again is the latest fetch that the call was attached to, if any.
	again *provider.FetchedWorkItem
	// lease is nil until the activity runs.
	lease *lease
	// returned means that the handler is not waited for any more, settled that the outcome
	// is the store's, kept, or given up.
	returned, settled bool
	// doubt cancels the call unless it is attached before.
	doubt *time.Timer
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

// process runs one activity and returns the call that acknowledges or abandons it.
func (a *activities) process(work context.Context, fetched *provider.FetchedWorkItem) settleFunc {
	w := a.worker
	item, ok := fetched.Item.(provider.ActivityExecuteItem)
	if !ok {
		w.options.Logger.ErrorContext(work, "the worker queue holds something other than an activity", "variant", fetched.Item.Variant())
		return func(func(), *taking) {} // returns when its lease ends, again and again
	}
	ctx, cancel := context.WithCancelCause(work)
	c := &call{worker: w, slot: a.id, fetched: fetched, item: item, ctx: ctx, cancel: cancel, logger: w.options.Logger.With(
		"instance_id", item.Instance, "execution_id", item.ExecutionID,
		"activity_name", item.Name, "activity_id", item.ID, "worker_id", a.id)}
	last := func() { c.settleUnknown(ctx, a.unknown) }
	if a.unknown == nil {
		last = c.decoded(ctx)
	}
	return func(free func(), take *taking) {
		defer cancel(nil)
		defer c.end()
		var stop func()
		c.settling, stop = newSettling(ctx, w.options.ActivityLockTimeout, &w.outage, free)
		c.settling.take = take
		defer stop()
		last()
		take.finish()
	}
}

// decoded is inSession for an activity whose input this worker can decode.
func (c *call) decoded(ctx context.Context) (settle func()) {
	if err := c.open(ctx); err != nil {
		return func() { c.undecodable(ctx, err) }
	}
	return c.inSession(ctx)
}

// inSession is dispatch within the activity's session, if it has one.
func (c *call) inSession(ctx context.Context) (settle func()) {
	if id := c.item.SessionID; id != nil {
		if !c.worker.sessions.enter(*id) {
			return func() { c.abandon(ctx, 100*time.Millisecond, true) }
		}
		defer c.worker.sessions.leave(*id)
	}
	return c.dispatch(ctx)
}

// dispatch finds the handler and runs it, unless the activity still runs, or was run before
// and only its result did not arrive.
func (c *call) dispatch(ctx context.Context) (settle func()) {
	fn, ok := c.worker.handler(c.item.Name)
	if !ok { // before poison, which is for those to judge who have the code
		return func() { c.unregistered(ctx) }
	}
	if c.attached(ctx) { // before poison as well: it is no further attempt
		return func() {}
	}
	if completion, ok := c.worker.kept.take(c); ok {
		return func() { c.ack(ctx, completion) }
	}
	if c.fetched.AttemptCount > c.worker.options.MaxAttempts {
		return func() { c.poisoned(ctx) }
	}
	if c.late() {
		return func() { c.tooLate(ctx) }
	}
	return c.run(ctx, fn)
}

// run executes the handler. The lease is kept alive until the call that settles
// the activity has returned.
func (c *call) run(ctx context.Context, fn registry.ActivityFunc) (settle func()) {
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
	told.Store(c.worker.options.QuietTime < 0)
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
func (c *call) cancelled(ctx context.Context, done <-chan provider.WorkItem) (settle func()) {
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
			return func() { c.abandon(ctx, 0, true) }
		}
		return func() {}
	}
}

// execute calls the handler and sends its outcome, also a panic or the end of its
// goroutine, as a message.
func (c *call) execute(ctx context.Context, fn registry.ActivityFunc, done chan<- provider.WorkItem) {
	var completion provider.WorkItem
	err := errGoexit
	ctx, ended := c.tellActivity(ctx)
	defer func() {
		if value := recover(); value != nil {
			c.logger.ErrorContext(ctx, "an activity panicked", "stack", string(debug.Stack()))
			completion, err = c.failed(fmt.Sprintf("activity panicked: %v", value)), errPanicked
		}
		if completion == nil {
			completion = c.failed("the activity called runtime.Goexit")
		}
		ended(err)
		done <- completion
	}()
	ctx = activity.NewContext(ctx, activity.Environment{
		Info: c.info(), Logger: c.logger, Caller: c.caller, Heartbeat: c.beats.beat, LastHeartbeat: c.before(),
	})
	result, failure := fn(ctx, c.item.Input)
	err = failure
	if _, builtIn := c.worker.builtIn[c.item.Name]; builtIn && errors.Is(err, codec.ErrNotDecoded) {
		completion = undecoded{err: err}
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
	return c.failedWith(provider.Application{Kind: provider.AppActivityFailed, Message: message})
}

// failedWith is a failure. With an attempt's own go its last details, for the next one.
func (c *call) failedWith(why provider.ErrorDetails) provider.WorkItem {
	if failure, ok := why.(provider.Application); ok {
		failure.Heartbeat = c.details()
		why = failure
	}
	return provider.ActivityFailedItem{
		Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ID: c.item.ID, Details: why,
	}
}

// finish returns the call that acknowledges an outcome, unless the activity was
// told to stop.
func (c *call) finish(ctx context.Context, completion provider.WorkItem) (settle func()) {
	failure, failed := completion.(provider.ActivityFailedItem)
	cause := context.Cause(ctx)
	leaseEnded := c.hasReturned()
	switch {
	case errors.Is(cause, errLeaseEnded) && !failed: // and the activity may come back
	case errors.Is(cause, errCancelled):
		// The row is gone or somebody else's: there is nothing to acknowledge.
		c.giveUp()
		return func() { c.logger.DebugContext(ctx, "the result of a cancelled activity is discarded") }
	case errors.Is(cause, errShutdown) && failed:
		// Most likely failed because of the shutdown: let another worker try.
		return func() { c.abandon(ctx, 0, true) }
	}
	if u, ok := completion.(undecoded); ok {
		return func() { c.undecodable(ctx, u.err) }
	}
	if failed {
		c.worker.withError(c.logger, failure.Details).WarnContext(ctx, "activity failed", "attempt", c.fetched.AttemptCount)
	}
	if leaseEnded { // one try, as the store may have renewed it all the same
		c.cancel(errLeaseEnded)
	}
	return func() { c.ack(ctx, completion) }
}

// ack completes the activity. The result is sent again as long as the lease lasts; then, or
// when the store says that it has ended, it is kept for when the activity comes back. If it
// has come back meanwhile, the result is sent with its new token.
func (c *call) ack(ctx context.Context, completion provider.WorkItem) {
	var encoded provider.WorkItem
	for {
		token := c.token()
		tries, err := c.settling.do(func(ctx context.Context) (err error) {
			if encoded == nil {
				if encoded, err = sealed.Item(ctx, c.worker.options.Codec, completion); err != nil {
					encoded = nil
					return err
				}
			}
			token, err = c.acknowledge(ctx, encoded)
			return err
		})
		if err == nil {
			c.worker.failures.forget(c.key())
			return
		}
		var kept provider.WorkItem
		if c.mayComeBack(ctx, err) {
			kept = completion
		}
		if c.settle(token, kept) {
			c.worker.failed(c.key(), err)
			c.unacknowledged(ctx, tries, err)
			return
		}
	}
}

// acknowledge tries once to complete the activity, and returns the token that it used. The first
// try, and only that, is made together with others.
func (c *call) acknowledge(ctx context.Context, completion provider.WorkItem) (token string, err error) {
	if take := c.settling.take; take != nil && !c.tried {
		c.tried = true
		return take.dispatcher.acks.do(ctx, &activityAck{token: c.token, completion: completion, take: take})
	}
	token = c.token()
	return token, c.worker.store.AckWorkItem(ctx, token, completion)
}

// mayComeBack reports whether an activity whose result was not taken may be fetched again,
// by this worker too: its lease has ended, or the store failed.
func (c *call) mayComeBack(ctx context.Context, err error) bool {
	switch {
	case wasCancelled(ctx):
		return false
	case errors.Is(err, provider.ErrLockExpired):
		return true
	case errors.Is(err, provider.ErrLockLost):
		return c.leaseTroubled()
	}
	return provider.IsRetryable(err) && !errors.Is(context.Cause(ctx), errShutdown) || errors.Is(context.Cause(ctx), errLeaseEnded)
}

// unacknowledged tells of a result that the store has not taken, and hands the activity back
// if it is still the call's.
func (c *call) unacknowledged(ctx context.Context, tries int, err error) {
	cause := context.Cause(ctx)
	switch lost := errors.Is(err, provider.ErrLockLost); {
	case wasCancelled(ctx), lost && !errors.Is(err, provider.ErrLockExpired) && !c.leaseTroubled():
		c.logger.DebugContext(ctx, "the result of a cancelled activity is discarded", "error", err)
	case errors.Is(err, provider.ErrLockExpired), !lost && errors.Is(cause, errLeaseEnded):
		c.logger.WarnContext(ctx, "a result did not arrive before its lease ended, it is kept for when the activity comes back")
	case lost:
		c.logger.WarnContext(ctx, "a result was not accepted because the lease was lost", "error", err)
	case errors.Is(cause, errShutdown):
		c.logger.ErrorContext(ctx, "a result did not arrive before the worker had to stop, the activity is run again", "error", err, "tries", tries)
		c.abandon(ctx, 0, true)
	default:
		c.logger.ErrorContext(ctx, "acknowledging an activity failed", "error", err, "tries", tries)
		c.abandon(ctx, 100*time.Millisecond, unencoded(err))
	}
}

func (c *call) poisoned(ctx context.Context) {
	c.logger.WarnContext(ctx, "an activity was fetched too often and fails", "attempt", c.fetched.AttemptCount)
	message, err := provider.EncodeWorkItem(c.item)
	if err != nil {
		message = []byte("{}")
	}
	text := c.worker.poisonText(describeCode(anActivity, c.code()), c.key())
	poison := provider.Poison{
		AttemptCount: c.fetched.AttemptCount, MaxAttempts: c.worker.options.MaxAttempts, Message: text + "\n" + string(message),
		MessageType: provider.PoisonActivity{
			Instance: c.item.Instance, ExecutionID: c.item.ExecutionID, ActivityName: c.item.Name, ActivityID: c.item.ID,
		},
	}
	c.tellNotRun(ctx, poison)
	c.ack(ctx, c.failedWith(poison))
}

func (c *call) abandon(ctx context.Context, delay time.Duration, ignoreAttempt bool) {
	if c.beats != nil {
		c.beats.handBack(c.settling.calls) //nolint:contextcheck // as below
	}
	err := c.worker.store.AbandonWorkItem(c.settling.calls, provider.AbandonParams{ //nolint:contextcheck // what settles work has its own context
		LockToken: c.token(), Delay: delay, IgnoreAttempt: ignoreAttempt,
	})
	if err != nil && !errors.Is(err, provider.ErrLockLost) {
		c.logger.WarnContext(ctx, "an activity could not be handed back, it returns when its lease ends", "error", err)
	}
}
