package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// turn is one fetched batch on its way to an ack or an abandon.
type turn struct {
	worker *Worker
	// slot is the slot's id.
	slot    string
	fetched *provider.FetchedOrchestration
	item    *provider.OrchestrationItem
	logger  *slog.Logger
	// ctx ends when the lease is lost or the worker has to stop.
	ctx    context.Context //nolint:containedctx // of the turn
	cancel context.CancelCauseFunc
	lease  *leases.Lease
	// slow is called when the function keeps the turn waiting.
	slow func()
	// known is how many events of the history the suspended function knows that the turn
	// began with, and suspended that one, or what the turn made of it.
	known     int
	suspended *replay.Suspended
	// committed means that the turn's effects are in the store.
	committed bool
	hooked    hookedTurn
	// verdict is set when the turn is decided, and settling while the verdict is carried out.
	verdict  verdict
	settling taking.Settling
	// unknown is set for a turn that is to fail because no worker has its code.
	unknown *unknownWatch
}

// batch says what the turn is about.
func (t *turn) batch() turns.Batch { return turns.Batch{Item: t.item, Known: t.known} }

// decideTurn runs a turn, which Settle ends. The lease is kept alive until then. slow is called when the orchestration
// function keeps the turn waiting. unknown is nil unless the turn was fetched by that watch.
func (w *Worker) decideTurn(
	work context.Context, slot string, fetched *provider.FetchedOrchestration, slow func(), unknown *unknownWatch,
) *turn {
	ctx, cancel := context.WithCancelCause(work)
	logger := w.options.Logger.With("instance_id", fetched.Item.Instance,
		"orchestration_name", fetched.Item.OrchestrationName, "worker_id", slot)
	l := leases.Hold(work, w.options.OrchestrationLockTimeout, w.options.OrchestrationRenewalBuffer,
		func(ctx context.Context) error {
			return w.store.RenewOrchestrationItemLock(ctx, fetched.LockToken, w.options.OrchestrationLockTimeout)
		}, cancel, logger)
	w.renewals.Join(l, provider.LockRenewal{LockToken: fetched.LockToken, Turn: true, ExtendFor: w.options.OrchestrationLockTimeout})
	t := &turn{
		worker: w, slot: slot, fetched: fetched, item: &fetched.Item, logger: logger, slow: slow, unknown: unknown,
		ctx: ctx, cancel: cancel, lease: l,
	}
	t.verdict = t.decide(ctx)
	return t
}

// Settle carries the turn's verdict out and gives its lease up. An acknowledgement takes more work beside.
func (t *turn) Settle(claim *taking.Claim) {
	defer t.cancel(nil)
	defer t.lease.Stop()
	var stop func()
	t.settling, stop = taking.NewSettling(t.ctx, t.worker.options.OrchestrationLockTimeout, t.worker.outage, claim)
	defer stop()
	for v := t.verdict; v != nil; {
		v = t.apply(t.ctx, v)
	}
	t.settled()
	t.tellEnd()
	claim.Finish()
}

// decide finds out what the batch needs (contract §7.5), and runs the orchestration function if it needs that.
func (t *turn) decide(ctx context.Context) verdict {
	if err := t.open(ctx); err != nil && t.batch().End() != turns.Ended {
		return t.undecodable(ctx, err)
	}
	if err := t.recall(ctx); err != nil {
		if errors.Is(err, codec.ErrNotDecoded) {
			return t.undecodable(ctx, err)
		}
		return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: true}
	}
	t.worker.readable(t.key())
	switch end := t.batch().End(); {
	case t.unknown != nil:
		return t.decideUnknown(ctx)
	case t.item.HistoryError != nil:
		return unreadable{}
	case end == turns.Ended:
		// Nothing can come of these messages any more. This is looked at before
		// poison, or a finished instance would fail again.
		return drop{}
	case t.batch().Unsupported(t.worker.options.SupportedVersions) != "":
		// Before poison: this worker must not end what it does not support (contract §7.4).
		return t.leaveUnsupported(ctx)
	case t.fetched.AttemptCount > t.worker.options.MaxAttempts && !t.lacksCode():
		return t.poisoned(ctx)
	case end == turns.Continued && t.batch().Next() == nil:
		return t.deferred(ctx)
	}
	return t.replay(ctx)
}

// deferred waits for the start of the next execution, which is hidden for the moment:
// the messages are its (contract §7.6). Poison ends the waiting if it never comes.
func (t *turn) deferred(ctx context.Context) verdict {
	delay := t.worker.unregisteredDelay(t.fetched.AttemptCount)
	limit := t.worker.options.MaxAttempts
	t.logger.WarnContext(ctx, "messages wait for the start of the next execution",
		"messages", len(t.item.Messages), "attempt", t.fetched.AttemptCount, "max_attempts", limit,
		"attempts_left", int64(limit)+1-int64(t.fetched.AttemptCount), "retry_in", delay)
	t.worker.failed(t.key(), errNoNextStart)
	return giveBack{Delay: delay}
}

// errNoNextStart is why a batch between two executions is given back.
var errNoNextStart = errors.New("the start of the next execution has not arrived")

// leaveUnsupported leaves a turn to a worker of another release. It is no attempt, or that worker would find it poison.
func (t *turn) leaveUnsupported(ctx context.Context) verdict {
	version := t.batch().Unsupported(t.worker.options.SupportedVersions)
	t.logger.WarnContext(ctx, "the execution is pinned to a framework version this worker does not support", "version", version)
	reason := "a worker that supports framework version " + version + ", to which the execution is pinned"
	return giveBack{Delay: time.Second, IgnoreAttempt: true, Misfit: reason}
}

// replay runs the orchestration function and decides what becomes of what it did.
func (t *turn) replay(ctx context.Context) verdict {
	b, err := t.batch().Begin()
	if err != nil {
		t.logger.ErrorContext(ctx, "cannot run a turn", "error", err)
		return giveBack{Delay: time.Second}
	}
	fn, version, ok := t.worker.registry.Orchestration(b.Started.Name, b.Code().Version)
	if !ok {
		return t.unregistered(ctx, b)
	}
	b.Started.Version = version
	resume, logger := t.suspended, t.logger
	t.suspended = nil
	if b.ExecutionID != t.item.ExecutionID { // another worker has continued it as new
		t.worker.cache.end(t.item.Instance, resume)
		resume = nil
	}
	work := replay.Turn{
		Instance: t.item.Instance, ExecutionID: b.ExecutionID, Func: fn,
		History: b.History, Started: b.Started,
		Messages: b.Messages(t.item.Messages), Peeked: t.item.Peeked,
		KV: t.item.KVSnapshot, FrameworkVersion: provider.FrameworkVersion, NowMs: nowMs,
		Limits: t.worker.options.limits(), ActivityRetry: t.worker.options.ActivityRetry,
		BlockedAfter: t.worker.options.BlockedTimeout, Slow: t.slow,
		// Not a method of the turn, which a suspended function would keep in memory.
		UsedLate: func(at string) { logUsedLate(logger, at) },
		Resume:   resume, Keep: t.worker.cache.on(),
	}
	t.tellBegin(ctx, b)
	result, err := replay.Run(ctx, work)
	if blocked, ok := errors.AsType[*replay.BlockedError](err); ok {
		return t.blocked(ctx, b, blocked)
	}
	if err != nil {
		return t.interrupted(ctx, err)
	}
	t.suspended = result.Suspended
	t.carry(b, result)
	if result.Misfit != nil {
		if v := t.hold(ctx, b, work, result.Misfit); v != nil {
			return v
		}
	}
	t.report(ctx, result)
	return commit{begin: b, result: result}
}

// unregisteredDelay doubles with each time that work was given back (contract §7.1).
func (w *Worker) unregisteredDelay(times uint32) time.Duration {
	delay, longest := w.options.UnregisteredBackoff, w.options.UnregisteredBackoffMax
	doublings := min(max(times, 1)-1, 6)
	if delay > longest>>doublings { // which doubling could overflow
		return longest
	}
	return delay << doublings
}

// interrupted handles a function that did not give control back in time.
func (t *turn) interrupted(ctx context.Context, err error) verdict {
	if errors.Is(context.Cause(ctx), errShutdown) {
		return giveBack{IgnoreAttempt: true}
	}
	t.worker.failed(t.key(), err)
	t.logger.ErrorContext(ctx, "a turn was abandoned", "error", err)
	if errors.Is(err, provider.ErrLockLost) {
		return leave{}
	}
	return giveBack{Delay: time.Second}
}

// report logs how an execution ended.
func (t *turn) report(ctx context.Context, result *replay.Result) {
	if result.StampError != nil {
		t.logger.WarnContext(ctx, "the execution's framework version is unreadable, it runs by the rules before 0.1.31",
			"error", result.StampError)
	}
	for _, message := range result.Unreadable {
		t.logger.WarnContext(ctx, "a message that does not fit its declared type is skipped", "source", message.Source, "error", message.Err)
	}
	if result.PanicStack != nil {
		t.logger.ErrorContext(ctx, "an orchestration function panicked", "stack", string(result.PanicStack))
	}
	t.reportMisuse(ctx, result)
	if result.Details == nil {
		return
	}
	logger := t.logger.With("category", result.Details.Category())
	switch d := result.Details.(type) {
	case provider.InfrastructureFailure, provider.ConfigurationFailure:
		logger.ErrorContext(ctx, "orchestration failed", "error", d.DisplayMessage())
		return
	case provider.ApplicationFailure:
		if d.Kind == provider.AppCancelled {
			t.worker.withError(logger, d).InfoContext(ctx, "orchestration cancelled")
			return
		}
	}
	// An application's message may hold its data, and so may that of poison.
	t.worker.withError(logger, result.Details).WarnContext(ctx, "orchestration failed")
}

// withError is a log with the text of an application's error, if that is asked for.
func (w *Worker) withError(logger *slog.Logger, failure provider.ErrorDetails) *slog.Logger {
	if w.options.LogApplicationErrors {
		return logger.With("error", failure.DisplayMessage())
	}
	return logger
}

// drop consumes the batch without effect.
func (t *turn) drop(ctx context.Context) verdict {
	t.logger.DebugContext(ctx, "messages for a finished execution are dropped, but for unread queue messages", "messages", len(t.item.Messages))
	params := provider.AckOrchestrationParams{LockToken: t.fetched.LockToken, ExecutionID: t.item.ExecutionID, DropTimers: true}
	notices, err := t.notices(ctx)
	if err != nil {
		return giveBack{Delay: 100 * time.Millisecond}
	}
	// ackNoticing logs what goes wrong, and the messages come back if they must.
	_ = t.ackNoticing(ctx, params, notices)
	return nil
}

func nowMs() uint64 { return uint64(time.Now().UnixMilli()) }
