package providertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

const (
	ruleCancelledContext = "Provider: a call ends soon after its context, with a retryable error that wraps the context's error and its cause; " +
		"§2.3: retryable: nothing was committed, or the outcome is unknown and repeating the call is safe"
	ruleWhole = "§2.4: every method is one atomic transaction: all effects or none"
)

// everyCall is each method of a provider, ready to be called with a context.
func (e *env) everyCall(turn provider.AckOrchestrationParams, workToken string) map[string]func(context.Context) error {
	p := e.p
	return map[string]func(context.Context) error{
		"FetchOrchestrationItem": func(ctx context.Context) error {
			_, err := p.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: held})
			return err
		},
		"AckOrchestrationItem": func(ctx context.Context) error { return p.AckOrchestrationItem(ctx, turn) },
		"AbandonOrchestrationItem": func(ctx context.Context) error {
			return p.AbandonOrchestrationItem(ctx, provider.AbandonParams{LockToken: turn.LockToken})
		},
		"RenewOrchestrationItemLock": func(ctx context.Context) error {
			return p.RenewOrchestrationItemLock(ctx, turn.LockToken, time.Millisecond)
		},
		"Read":              func(ctx context.Context) error { _, err := p.Read(ctx, "A"); return err },
		"ReadWithExecution": func(ctx context.Context) error { _, err := p.ReadWithExecution(ctx, "A", 1); return err },
		"AppendWithExecution": func(ctx context.Context) error {
			return p.AppendWithExecution(ctx, "A", 1, []provider.Event{event("A", 1, 9, provider.ExternalSubscribed{})})
		},
		"EnqueueForWorker": func(ctx context.Context) error { return p.EnqueueForWorker(ctx, activityItem("A", 9)) },
		"EnqueueForOrchestrator": func(ctx context.Context) error {
			return p.EnqueueForOrchestrator(ctx, startItem("new"), 0)
		},
		"FetchWorkItem": func(ctx context.Context) error {
			_, err := p.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: held})
			return err
		},
		"AckWorkItem": func(ctx context.Context) error { return p.AckWorkItem(ctx, workToken, completedItem("A", 3)) },
		"RenewWorkItemLock": func(ctx context.Context) error {
			return p.RenewWorkItemLock(ctx, workToken, time.Millisecond)
		},
		"AbandonWorkItem": func(ctx context.Context) error {
			return p.AbandonWorkItem(ctx, provider.AbandonParams{LockToken: workToken})
		},
		"RenewSessionLock": func(ctx context.Context) error {
			_, err := p.RenewSessionLock(ctx, provider.RenewSessionParams{OwnerIDs: []string{"w"}, ExtendFor: held, IdleTimeout: held})
			return err
		},
		"CleanupOrphanedSessions": func(ctx context.Context) error { _, err := p.CleanupOrphanedSessions(ctx, held); return err },
		"GetCustomStatus":         func(ctx context.Context) error { _, err := p.GetCustomStatus(ctx, "A", 0); return err },
		"GetKVValue":              func(ctx context.Context) error { _, err := p.GetKVValue(ctx, "A", "k"); return err },
		"GetKVAllValues":          func(ctx context.Context) error { _, err := p.GetKVAllValues(ctx, "A"); return err },
		"GetInstanceStats":        func(ctx context.Context) error { _, err := p.GetInstanceStats(ctx, "A"); return err },
	}
}

// endedContexts are contexts that have ended, for several reasons.
func endedContexts(ctx context.Context) []context.Context {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	told, tell := context.WithCancelCause(ctx)
	tell(errShutdown)
	late, release := context.WithDeadline(ctx, time.Unix(0, 0))
	release()
	toldLate, release := context.WithDeadlineCause(ctx, time.Unix(0, 0), errShutdown)
	release()
	return []context.Context{cancelled, told, late, toldLate}
}

// errShutdown is why a context ended, by whoever ended it.
var errShutdown = errors.New("the program is shutting down")

// contextEnded asserts that a call reports the end of its context.
func (e *env) contextEnded(ctx context.Context, err error, what string) {
	e.Helper()
	_, typed := errors.AsType[*provider.Error](err)
	e.check(typed && provider.IsRetryable(err) && errors.Is(err, ctx.Err()) && errors.Is(err, context.Cause(ctx)),
		ruleCancelledContext, "%s: %v, for the context's %v because of %v", what, err, ctx.Err(), context.Cause(ctx))
}

// A call whose context has ended before it began fails as retryable and changes
// nothing; the same turn and activity can be completed afterwards.
func cancelledContext(e *env) {
	e.enqueueWork(activityItem("A", 3))
	work := e.fetchWork(held)
	got := e.readyForEverything("A")
	e.enqueue(startItem("B"))
	for name, call := range e.everyCall(turnOf(got, everything("A")), work.LockToken) {
		for _, ctx := range endedContexts(e.ctx) {
			e.contextEnded(ctx, call(ctx), name)
		}
	}
	b := e.fetchInstance("B", held)
	same(e, b.AttemptCount, 1, ruleCancelledContext)
	e.untouched("A", ruleCancelledContext)
	e.ackWork(work)
	e.commit(got, everything("A"))
	e.batch(e.fetchInstance("A", held), ruleCancelledContext, raised("A", "knock"), completedItem("A", 3))
	e.happened("A", ruleCancelledContext)
}

// A fetch that waits ends with its context, says why, and takes nothing. A store that does not wait has
// nothing to say.
func waitingFetchIsTold(e *env) {
	for name, fetch := range map[string]func(ctx context.Context) error{
		"FetchOrchestrationItem": func(ctx context.Context) error {
			_, err := e.p.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: held, PollTimeout: e.patience()})
			return err
		},
		"FetchWorkItem": func(ctx context.Context) error {
			_, err := e.p.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: held, PollTimeout: e.patience()})
			return err
		},
	} {
		cancelled, cancel := context.WithCancelCause(e.ctx)
		stop := time.AfterFunc(50*time.Millisecond, func() { cancel(errShutdown) })
		timed, end := context.WithTimeout(e.ctx, 50*time.Millisecond)
		for _, ctx := range []context.Context{cancelled, timed} {
			if err := fetch(ctx); err != nil || e.config.LongPolling {
				e.contextEnded(ctx, err, name)
			}
		}
		stop.Stop()
		cancel(nil)
		end()
	}
	e.enqueue(startItem("A"))
	e.fetchInstance("A", held)
}

// cutOffs is how many calls a scenario cuts off.
const cutOffs = 40

// cutOff makes a call whose context ends at the i-th of cutOffs moments, spread
// over twice the time that such a call usually takes.
func (e *env) cutOff(i int, usual time.Duration, call func(ctx context.Context) error) error {
	e.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	defer time.AfterFunc(2*usual*time.Duration(i)/cutOffs, cancel).Stop()
	err := call(ctx)
	if err != nil {
		e.check(provider.IsRetryable(err), ruleCancelledContext, "call %d, cut off: %v", i, err)
	}
	return err
}

// A turn whose ack is cut off is stored in full or not at all; repeating the ack
// completes it, once.
func cutOffTurns(e *env) {
	var usual time.Duration
	for i := range cutOffs {
		instance := fmt.Sprint("i", i)
		turn := turnOf(e.readyForEverything(instance), everything(instance))
		turn.OrchestratorItems = []provider.WorkItem{raised(instance, "self")}
		start := time.Now()
		if i == 0 {
			e.ack(turn)
			usual = time.Since(start)
		} else {
			ack := func(ctx context.Context) error { return e.p.AckOrchestrationItem(ctx, turn) }
			err := e.cutOff(i, usual, ack)
			stored := len(e.history(instance, 1))
			e.check(stored == 5 || (stored == 1 && err != nil), ruleWhole, "%d of 5 events, after error %v", stored, err)
			again := ack(e.ctx)
			e.check(err != nil || again != nil, ruleLostAnswer, "the turn was committed twice")
			if again != nil {
				e.permanent(again, provider.ErrInvalidLockToken, ruleLostAnswer)
			}
		}
		same(e, len(e.history(instance, 1)), 5, ruleWhole)
		e.hasStatus(instance, new("50%"), 1, ruleWhole)
		e.kvIs(instance, "k", new("v"), ruleWhole)
		next := e.fetchInstance(instance, held)
		e.batch(next, ruleWhole, raised(instance, "self"))
		e.ackWork(e.claim(provider.FetchWorkParams{LockTimeout: held}, 2, ruleWhole))
		e.fetchNoWork(provider.FetchWorkParams{}, ruleWhole)
	}
}

// An activity whose ack is cut off is completed or still locked, and its result
// arrives once after the repeated ack.
func cutOffCompletions(e *env) {
	e.create("A")
	var usual time.Duration
	for i := range cutOffs {
		id := uint64(i + 2)
		e.enqueueWork(activityItem("A", id))
		got := e.fetchWork(held)
		start := time.Now()
		if i == 0 {
			e.ackWork(got)
			usual = time.Since(start)
		} else {
			ack := func(ctx context.Context) error { return e.p.AckWorkItem(ctx, got.LockToken, completedItem("A", id)) }
			err := e.cutOff(i, usual, ack)
			again := ack(e.ctx)
			e.check(err != nil || again != nil, ruleWorkOnce, "the activity was completed twice")
			if again != nil {
				e.permanent(again, provider.ErrLockLost, ruleWorkOnce)
			}
		}
		turn := e.fetchInstance("A", held)
		e.batch(turn, ruleWhole, completedItem("A", id))
		e.drop(turn)
		e.fetchNoWork(provider.FetchWorkParams{}, ruleWhole)
	}
}

// A message whose enqueuing is cut off is there once or not at all, and certainly
// there if the call succeeded.
func cutOffEnqueues(e *env) {
	e.create("A")
	start := time.Now()
	e.enqueue(completedItem("A", 0))
	usual := time.Since(start)
	counts, sure := map[uint64]int{}, map[uint64]bool{0: true}
	for i := range cutOffs {
		id := uint64(i + 1)
		err := e.cutOff(i, usual, func(ctx context.Context) error { return e.p.EnqueueForOrchestrator(ctx, completedItem("A", id), 0) })
		sure[id] = err == nil
	}
	for _, item := range e.fetchInstance("A", held).Item.Messages {
		counts[item.(provider.ActivityCompletedItem).ID]++
	}
	for id, certain := range sure {
		e.check(counts[id] == 1 || (counts[id] == 0 && !certain), ruleWhole,
			"message %d is there %d times (the call succeeded: %v)", id, counts[id], certain)
	}
}

// A fetch that is cut off may keep what it locked until the lease ends, but
// nothing is lost: afterwards everything can be fetched.
func cutOffFetches(e *env) {
	for i := range cutOffs {
		e.enqueue(startItem(fmt.Sprint("i", i)))
		e.enqueueWork(activityItem("A", uint64(i)))
	}
	start := time.Now()
	e.abandon(e.fetch(held), 0, true)
	usual := time.Since(start)
	for i := range cutOffs {
		_ = e.cutOff(i, usual, func(ctx context.Context) error {
			_, err := e.p.FetchOrchestrationItem(ctx, provider.FetchOrchestrationParams{LockTimeout: e.lease})
			return err
		})
		_ = e.cutOff(i, usual, func(ctx context.Context) error {
			_, err := e.p.FetchWorkItem(ctx, provider.FetchWorkParams{LockTimeout: e.lease})
			return err
		})
	}
	e.expire()
	var instances, wantInstances []string
	var ids, wantIDs []uint64
	for i := range cutOffs {
		turn, work := e.fetch(held), e.fetchWork(held)
		instances, ids = append(instances, turn.Item.Instance), append(ids, e.work(work).ID)
		wantInstances, wantIDs = append(wantInstances, fmt.Sprint("i", i)), append(wantIDs, uint64(i))
		e.batch(turn, ruleWhole, startItem(turn.Item.Instance))
	}
	sameSet(e, instances, wantInstances, ruleWhole)
	sameSet(e, ids, wantIDs, ruleWhole)
}
