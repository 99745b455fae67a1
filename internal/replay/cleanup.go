package replay

import (
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
// cancellation ends the function at once (§7.7). It is called before the first wait.
func (v *Env) AllowCleanup(most time.Duration) {
	v.coroutine.mustRun()
	v.cleanup = most
}

// Cancelled reports whether the function has to clean up.
func (v *Env) Cancelled() bool {
	v.coroutine.mustOwn()
	return v.cancelled != nil
}

// MustEnd reports whether the function may not continue as new: it has to clean up. One whose
// cancellation was put off by the execution before, and that would continue before it learns of
// it, learns of it now: a function that never waits would put it off for ever (§7.7).
func (v *Env) MustEnd() bool {
	v.coroutine.mustRun()
	if e := v.engine; e.known == 0 && e.turn.ExecutionID > 1 {
		for i := 0; i < len(e.events) && !isSchedule(e.events[i].Kind); i++ {
			if request, is := e.events[i].Kind.(provider.OrchestrationCancelRequested); is {
				v.cancel(request.Reason)
			}
		}
	}
	return v.cancelled != nil
}

// cancel tells the function of its cancellation, and asks for the timer that bounds the
// clean-up.
func (v *Env) cancel(reason string) (mustPoll bool) {
	if v.cleanup == 0 || v.cancelled != nil || v.halted {
		return false
	}
	v.cancelled = &reason
	end := CreateTimer{FireAtMs: v.engine.turn.NowMs() + uint64(v.cleanup.Milliseconds())}
	v.cleanupEnd = &Handle{coroutine: v.coroutine, action: end, instance: v.engine.turn.Instance}
	v.asked = v.asked.plus(end.event(nil))
	v.emitted = append(v.emitted, v.cleanupEnd)
	return true
}

// endCleanup fails an execution whose clean-up has taken too long.
func (e *engine) endCleanup() {
	if end := e.env.cleanupEnd; end != nil && end.resolved && e.failure == nil {
		e.failure = provider.Application{
			Kind:        provider.AppOrchestrationFailed,
			Message:     fmt.Sprintf("canceled: %s; the clean-up took longer than %v", *e.env.cancelled, e.env.cleanup),
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
	e.fail(Cancelled, provider.Application{Kind: provider.AppCancelled, CancelReason: reason})
}
