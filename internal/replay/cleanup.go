package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/failure"
	"github.com/duroxide/duroxide-go/internal/details"
	"github.com/duroxide/duroxide-go/provider"
)

// ErrCancelled is what a function returns that was told of its cancellation and has cleaned up.
var ErrCancelled = errors.New("the orchestration was cancelled")

// ErrNotUndone is in what a function returns that could not undo all that it should.
var ErrNotUndone error = failure.NewKind[struct{}](details.NotUndone)

// AllowCleanup lets a cancelled function go on for so long, until it returns. Without it a
// cancellation ends the function at once (contract §7.7). It is called before the first wait.
func (v *Env) AllowCleanup(most time.Duration) {
	v.coroutine.mustRun()
	v.cleanup.Store(int64(most))
}

// mostCleanup is what AllowCleanup has allowed, 0 for nothing.
func (v *Env) mostCleanup() time.Duration { return time.Duration(v.cleanup.Load()) }

// noteCleanup records in the event that begins an execution that its function cleans up.
func (e *engine) noteCleanup() {
	started, ok := e.events[0].Kind.(provider.OrchestrationStarted)
	if ok && len(e.turn.History) == 0 && e.env.mostCleanup() != 0 {
		started.CleansUp = true
		e.events[0].Kind = started
	}
}

// Cancelled reports whether the function has to clean up.
func (v *Env) Cancelled() bool {
	v.coroutine.mustOwn()
	return v.cancelled != nil
}

// MustEnd reports whether the function may not continue as new: it has to clean up. One whose
// cancellation was put off by the execution before, and that would continue before it learns of
// it, learns of it now: a function that never waits would put it off for ever (contract §7.7).
func (v *Env) MustEnd() bool {
	v.coroutine.mustRun()
	if e := v.engine; e.known == 0 && e.turn.ExecutionID > 1 {
		if request, is := e.earlyCancelRequest(); is {
			v.cancel(request.Reason)
		}
	}
	return v.cancelled != nil
}

// earlyCancelRequest finds a cancellation that came before the function first asked for something.
func (e *engine) earlyCancelRequest() (request provider.OrchestrationCancelRequested, found bool) {
	for _, event := range e.events {
		if isSchedule(event.Kind) {
			return request, false
		}
		if request, found = event.Kind.(provider.OrchestrationCancelRequested); found {
			return request, true
		}
	}
	return e.arrivingCancelRequest()
}

// arrivingCancelRequest finds a cancellation that is not recorded yet.
func (e *engine) arrivingCancelRequest() (request provider.OrchestrationCancelRequested, found bool) {
	for _, next := range e.arriving {
		if request, found = next.kind.(provider.OrchestrationCancelRequested); found {
			return request, true
		}
	}
	return request, false
}

// cancelBlocked ends an execution that is cancelled although its function blocks, unless the function
// is to clean up or its history is only checked. Any other error is the turn's. The function may still be running, so
// its side is left to it and not looked at again.
func (e *engine) cancelBlocked(ctx context.Context, err error) error {
	reason, cancelled := e.cancelRequest()
	blocked, ok := errors.AsType[*BlockedError](err)
	if !ok || !cancelled || e.turn.Silent || e.env.mostCleanup() != 0 {
		return err
	}
	_ = e.coroutine.stop(ctx) // it has control and is not waited for, and ends when it next uses its Env
	e.tellMisuse()
	e.env = &Env{}
	e.arriveUnseen()
	e.finishCancelled(reason)
	e.cancelActivities()
	e.res.Blocked = blocked
	return nil
}

// cancel tells the function of its cancellation, and asks for the timer that bounds the
// clean-up.
func (v *Env) cancel(reason string) (mustPoll bool) {
	cleanup := v.mostCleanup()
	if cleanup == 0 || v.cancelled != nil || v.halted {
		return false
	}
	v.cancelled = &reason
	end := CreateTimer{FireAtMs: v.engine.turn.NowMs() + uint64(cleanup.Milliseconds())}
	v.cleanupEnd = &Handle{coroutine: v.coroutine, action: end, instance: v.engine.turn.Instance}
	v.asked = v.asked.plus(end.event(nil))
	v.emitted = append(v.emitted, v.cleanupEnd)
	return true
}

// endCleanup fails an execution whose clean-up has taken too long.
func (e *engine) endCleanup() {
	if end := e.env.cleanupEnd; end != nil && end.resolved && e.failure == nil {
		e.failure = provider.ApplicationFailure{
			Kind:        provider.AppOrchestrationFailed,
			Message:     fmt.Sprintf("canceled: %s; the clean-up took longer than %v", *e.env.cancelled, e.env.mostCleanup()),
			FailureKind: details.Timeout,
		}
	}
}

// finishFailed ends the execution with the function's error. One that has cleaned up is
// cancelled, unless something is left that it could not undo.
func (e *engine) finishFailed(err returnedError) {
	if e.env.cancelled != nil && err.cancelled {
		e.finishCancelled(*e.env.cancelled)
		return
	}
	e.fail(Failed, err.details)
}

func (e *engine) finishCancelled(reason string) {
	e.fail(Cancelled, provider.ApplicationFailure{Kind: provider.AppCancelled, CancelReason: reason})
}
