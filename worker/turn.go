package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/internal/history"
	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
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
	if err := t.open(ctx); err != nil && t.end() != ended {
		return t.undecodable(ctx, err)
	}
	if err := t.recall(ctx); err != nil {
		if errors.Is(err, codec.ErrNotDecoded) {
			return t.undecodable(ctx, err)
		}
		return giveBack{Delay: 100 * time.Millisecond, IgnoreAttempt: true}
	}
	t.worker.readable(t.key())
	switch end := t.end(); {
	case t.unknown != nil:
		return t.decideUnknown(ctx)
	case t.item.HistoryError != nil:
		return unreadable{}
	case end == ended:
		// Nothing can come of these messages any more. This is looked at before
		// poison, or a finished instance would fail again.
		return drop{}
	case t.unsupported() != "":
		// Before poison: this worker must not end what it does not support (contract §7.4).
		return t.leaveUnsupported(ctx, t.unsupported())
	case t.fetched.AttemptCount > t.worker.options.MaxAttempts && !t.lacksCode():
		return t.poisoned(ctx)
	case end == continued && t.continueItem() == nil:
		return t.deferred(ctx)
	}
	return t.replay(ctx)
}

// historyEnd says how a history ends.
type historyEnd int

const (
	open historyEnd = iota
	ended
	continued
)

// terminal looks at all events: cancellations may follow the terminal one.
func terminal(events []provider.Event) historyEnd {
	end := open
	for _, event := range events {
		switch event.Kind.(type) {
		case provider.OrchestrationCompleted, provider.OrchestrationFailed:
			return ended
		case provider.OrchestrationContinuedAsNew:
			end = continued
		}
	}
	return end
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

// continueItem is the batch's start of the next execution.
func (t *turn) continueItem() *provider.ContinueAsNewItem {
	for _, message := range t.item.Messages {
		if m, ok := message.(provider.ContinueAsNewItem); ok {
			return &m
		}
	}
	return nil
}

// unsupported checks the pinned version once more, since a store may not filter (contract §7.4): it is "" if this
// worker supports it.
func (t *turn) unsupported() (version string) {
	if len(t.item.History) == 0 || t.continueItem() != nil {
		return ""
	}
	v, err := provider.ParseVersion(t.item.History[0].DuroxideVersion)
	filter := provider.CapabilityFilter{SupportedVersions: t.worker.options.SupportedVersions}
	if err != nil || filter.Allows(&v) {
		return ""
	}
	return v.String()
}

// leaveUnsupported leaves a turn to a worker of another release. It is no attempt, or that worker would find it poison.
func (t *turn) leaveUnsupported(ctx context.Context, version string) verdict {
	t.logger.WarnContext(ctx, "the execution is pinned to a framework version this worker does not support", "version", version)
	reason := "a worker that supports framework version " + version + ", to which the execution is pinned"
	return giveBack{Delay: time.Second, IgnoreAttempt: true, Misfit: reason}
}

// begin is how an execution starts: from its history, or from a start message.
type begin struct {
	executionID uint64
	history     []provider.Event
	started     provider.OrchestrationStarted
	// version is what the start asked for, empty to let the registry choose.
	version string
}

// begin finds out what the turn works on. History is binding as soon as there is
// one; a duplicate start changes nothing.
func (t *turn) begin() (begin, error) {
	if next := t.continueItem(); next != nil && (len(t.item.History) == 0 || t.end() == continued) {
		return t.beginNext(next), nil
	}
	if len(t.item.History) > 0 {
		started, ok := t.item.History[0].Kind.(provider.OrchestrationStarted)
		if !ok {
			started = provider.OrchestrationStarted{Name: t.item.OrchestrationName, Version: t.item.Version}
		}
		return begin{executionID: t.item.ExecutionID, history: t.item.History, started: started, version: started.Version}, nil
	}
	for _, message := range t.item.Messages {
		if m, ok := message.(provider.StartOrchestrationItem); ok {
			b := begin{executionID: t.item.ExecutionID, started: history.StartedBy(m)}
			if m.Version != nil {
				b.version = *m.Version
			}
			return b, nil
		}
	}
	return begin{}, errors.New("the batch has neither a history nor a start")
}

// beginNext starts the execution after the fetched one. The parent comes with the
// message or, when an older worker wrote that, from the execution before.
func (t *turn) beginNext(m *provider.ContinueAsNewItem) begin {
	b := begin{executionID: t.item.ExecutionID, started: history.ContinuedBy(*m)}
	if m.Version != nil {
		b.version = *m.Version
	}
	if len(t.item.History) > 0 {
		b.executionID++
		previous, ok := t.item.History[0].Kind.(provider.OrchestrationStarted)
		if ok && m.ParentInstance == nil && m.ParentID == nil {
			b.started.ParentInstance, b.started.ParentID = previous.ParentInstance, previous.ParentID
			b.started.ParentExecutionID = previous.ParentExecutionID
		}
	}
	return b
}

// messages are the batch for the replay: starts are left out.
func (b begin) messages(batch []provider.WorkItem) []provider.WorkItem {
	messages := make([]provider.WorkItem, 0, len(batch))
	begun := len(b.history) > 0 || slices.ContainsFunc(batch, continues)
	strangers := 0 // children of other parents that were to begin under this id and do not
	for _, message := range batch {
		switch m := message.(type) {
		case provider.StartOrchestrationItem:
			if begun && b.isStranger(m) {
				strangers++
			}
			begun = true
		case provider.ContinueAsNewItem:
		case provider.CancelInstanceItem:
			// A request from before the start was meant for somebody else (contract §7.7), and so is that of
			// a parent whose child has not begun.
			if strangers > 0 && history.ByParent(m.Reason) {
				strangers--
			} else if begun {
				messages = append(messages, message)
			}
		default:
			messages = append(messages, message)
		}
	}
	return messages
}

// isStranger reports a start by a parent, of which this instance has none. Of one that is a child itself, a parent's
// request may be that of its own.
func (b begin) isStranger(m provider.StartOrchestrationItem) bool {
	return m.ParentInstance != nil && b.started.ParentInstance == nil
}

// continues reports the start of a next execution.
func continues(message provider.WorkItem) bool {
	_, ok := message.(provider.ContinueAsNewItem)
	return ok
}

// replay runs the orchestration function and decides what becomes of what it did.
func (t *turn) replay(ctx context.Context) verdict {
	b, err := t.begin()
	if err != nil {
		t.logger.ErrorContext(ctx, "cannot run a turn", "error", err)
		return giveBack{Delay: time.Second}
	}
	fn, version, ok := t.worker.registry.Orchestration(b.started.Name, b.code().Version)
	if !ok {
		return t.unregistered(ctx, b)
	}
	b.started.Version = version
	resume, logger := t.suspended, t.logger
	t.suspended = nil
	if b.executionID != t.item.ExecutionID { // another worker has continued it as new
		t.worker.cache.end(t.item.Instance, resume)
		resume = nil
	}
	work := replay.Turn{
		Instance: t.item.Instance, ExecutionID: b.executionID, Func: fn,
		History: b.history, Started: b.started,
		Messages: b.messages(t.item.Messages), Peeked: t.item.Peeked,
		KV: t.item.KVSnapshot, FrameworkVersion: FrameworkVersion, NowMs: nowMs,
		Limits: t.worker.options.limits(), ActivityRetry: t.worker.options.ActivityRetry,
		BlockedAfter: max(0, t.worker.options.BlockedTimeout), Slow: t.slow,
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
	case provider.Infrastructure, provider.Configuration:
		logger.ErrorContext(ctx, "orchestration failed", "error", d.DisplayMessage())
		return
	case provider.Application:
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
