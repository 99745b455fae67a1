package providertest

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// --- fetched orchestrations ---

// commit acks a fetched turn. Token and, unless given, execution are got's.
func (e *env) commit(got *provider.FetchedOrchestration, params provider.AckOrchestrationParams) {
	e.Helper()
	e.ack(turnOf(got, params))
}

// turnOf fills in what an ack takes from the fetch.
func turnOf(got *provider.FetchedOrchestration, params provider.AckOrchestrationParams) provider.AckOrchestrationParams {
	params.LockToken = got.LockToken
	if params.ExecutionID == 0 {
		params.ExecutionID = got.Item.ExecutionID
	}
	return params
}

// drop acks a fetched turn without effects: its messages are consumed.
func (e *env) drop(got *provider.FetchedOrchestration) {
	e.Helper()
	e.commit(got, provider.AckOrchestrationParams{})
}

// abandon gives a fetched turn up.
func (e *env) abandon(got *provider.FetchedOrchestration, delay time.Duration, ignoreAttempt bool) {
	e.Helper()
	e.ok(e.p.AbandonOrchestrationItem(e.ctx, provider.AbandonParams{
		LockToken: got.LockToken, Delay: delay, IgnoreAttempt: ignoreAttempt,
	}), "§5.3: abandon gives up a turn whose token exists")
}

// batch asserts which messages a fetch delivered, in queue order.
func (e *env) batch(got *provider.FetchedOrchestration, rule string, want ...provider.WorkItem) {
	e.Helper()
	e.sameMessages(got.Item.Messages, want, rule)
}

// enqueueLater queues a message that becomes visible after delay.
func (e *env) enqueueLater(item provider.WorkItem, delay time.Duration) {
	e.Helper()
	e.ok(e.p.EnqueueForOrchestrator(e.ctx, item, delay), "§5.9: visibility: now + delay")
}

// appendEvents writes history outside a turn.
func (e *env) appendEvents(instance string, execution uint64, events ...provider.Event) {
	e.Helper()
	e.ok(e.p.AppendWithExecution(e.ctx, instance, execution, events), "§5.7: appends events outside a turn")
}

// read reads the latest execution.
func (e *env) read(instance string) []provider.Event {
	e.Helper()
	events, err := e.p.Read(e.ctx, instance)
	e.ok(err, "§5.5: Read")
	return events
}

// noInstance asserts that no instance row exists.
func (e *env) noInstance(instance, rule string) {
	e.Helper()
	stats, err := e.p.GetInstanceStats(e.ctx, instance)
	e.ok(err, "§5.19: nil if there is no instance row")
	e.check(stats == nil, rule, "GetInstanceStats knows instance %q: %+v", instance, stats)
	if a := e.p.Admin(); a != nil {
		_, err := a.GetInstanceInfo(e.ctx, instance)
		e.permanent(err, provider.ErrNotFound, rule)
	}
}

// lockHeld asserts that the instance is still locked, by a message that would
// otherwise make it fetchable. No other instance may have messages.
func (e *env) lockHeld(instance, rule string) {
	e.Helper()
	e.enqueue(raised(instance, "knock"))
	e.fetchNone(rule)
}

// says asserts that an error's text holds one of the phrases.
func (e *env) says(err error, rule string, phrases ...string) {
	e.Helper()
	for _, phrase := range phrases {
		if err != nil && strings.Contains(err.Error(), phrase) {
			return
		}
	}
	e.violated(rule, "error text %q, want one of %q", err, phrases)
}

// refused asserts a permanent error of whatever cause.
func (e *env) refused(err error, rule string) {
	e.Helper()
	e.check(err != nil, rule, "the call succeeded, want a permanent error")
	e.permanent(err, err, rule)
}

// --- waiting for store time ---

// tolerance is how much too early, seen from the caller, a store that counts in
// milliseconds may let a lease or a delay end.
const tolerance = 2 * time.Millisecond

// patience bounds the wait for something that must come within a lease or two.
func (e *env) patience() time.Duration { return 60 * e.lease }

// awaitFetch polls until an orchestration becomes eligible.
func (e *env) awaitFetch(lease time.Duration, rule string) *provider.FetchedOrchestration {
	e.Helper()
	var got *provider.FetchedOrchestration
	e.await(rule, func() bool { got = e.tryFetch(lease); return got != nil })
	return got
}

// awaitWork polls until an activity becomes eligible.
func (e *env) awaitWork(lease time.Duration, rule string) *provider.FetchedWorkItem {
	e.Helper()
	var got *provider.FetchedWorkItem
	e.await(rule, func() bool { got = e.tryFetchWork(lease); return got != nil })
	return got
}

// await polls until ready.
func (e *env) await(rule string, ready func() bool) {
	e.Helper()
	for deadline := time.Now().Add(e.patience()); !ready(); e.sleep(e.lease / 50) {
		e.check(time.Now().Before(deadline), rule, "still nothing after %v", e.patience())
	}
}

// notBefore asserts that something has not come earlier than it was due. Time
// that a slow call or machine adds never counts against the store.
func (e *env) notBefore(due time.Time, rule string) {
	e.Helper()
	if early := time.Until(due); early > tolerance {
		e.violated(rule, "came %v early", early)
	}
}

// fastest is the shortest duration of several tries: a loaded machine slows some
// of them down, a store that waits all.
func fastest(tries int, call func()) time.Duration {
	var best time.Duration
	for try := range tries {
		start := time.Now()
		call()
		if took := time.Since(start); try == 0 || took < best {
			best = took
		}
	}
	return best
}

// --- contention ---

// grab is a fetch under contention.
func (e *env) grab(p provider.Provider, lease time.Duration) (got *provider.FetchedOrchestration, err error) {
	err = patiently(func() (err error) {
		got, err = p.FetchOrchestrationItem(e.ctx, provider.FetchOrchestrationParams{LockTimeout: lease})
		return err
	})
	return got, err
}

// grabWork is a fetch of an activity under contention.
func (e *env) grabWork(p provider.Provider, lease time.Duration) (got *provider.FetchedWorkItem, err error) {
	err = patiently(func() (err error) {
		got, err = p.FetchWorkItem(e.ctx, provider.FetchWorkParams{LockTimeout: lease})
		return err
	})
	return got, err
}

// loops runs n loops of step at once until done. step says whether it found
// something to do; the first error ends all loops.
func (e *env) loops(n int, rule string, done func() bool, step func(i int) (busy bool, err error)) {
	e.Helper()
	var stop atomic.Bool
	deadline := time.Now().Add(e.patience())
	e.together(n, func(i int) error {
		for !done() && !stop.Load() {
			busy, err := step(i)
			if err == nil && time.Now().After(deadline) {
				err = violation(rule, "not done after %v", e.patience())
			}
			switch {
			case err != nil && stop.CompareAndSwap(false, true):
				return err
			case !busy:
				time.Sleep(e.lease / 100)
			}
		}
		return nil
	})
}

// lostLock reports whether an error says, permanently, that the lock is gone.
func lostLock(err error) bool {
	return errors.Is(err, provider.ErrLockLost) && !provider.IsRetryable(err)
}
