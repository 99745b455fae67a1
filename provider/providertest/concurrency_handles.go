package providertest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// reopen is a second handle on the same data.
func (e *env) reopen() provider.Provider {
	e.Helper()
	e.needs(e.store.Reopen != nil, "Reopen")
	return e.watch(e.store.Reopen(e.test))
}

// Two processes that share a store never get the same instance or activity, and
// together they get all.
func twoHandlesClaim(e *env) {
	const n = 60
	handles := []provider.Provider{e.p, e.reopen()}
	for i := range n {
		e.createWith(fmt.Sprint("i", i), provider.AckOrchestrationParams{
			WorkerItems: []provider.WorkItem{activityItem(fmt.Sprint("i", i), 2)},
		})
	}
	for i := range n {
		e.enqueue(raised(fmt.Sprint("i", i), "go"))
	}
	var turns, works atomic.Int32
	var mu sync.Mutex
	seen := map[string]int{}
	count := func(key string) {
		mu.Lock()
		defer mu.Unlock()
		seen[key]++
	}
	e.loops(8, ruleEffect, func() bool { return turns.Load() >= n && works.Load() >= n }, func(i int) (bool, error) {
		p := handles[i%2]
		turn, err := e.grab(p, held)
		if err != nil {
			return false, err
		}
		if turn != nil {
			count("turn of " + turn.Item.Instance)
			turns.Add(1)
			if err := e.ackPatiently(p, turnOf(turn, provider.AckOrchestrationParams{})); err != nil {
				return false, err
			}
		}
		work, err := e.grabWork(p, held)
		if work != nil {
			count("activity of " + work.Item.Target())
			works.Add(1)
		}
		return turn != nil || work != nil, err
	})
	e.check(len(seen) == 2*n && turns.Load() == n && works.Load() == n, ruleTwoFetch,
		"%d turns and %d activities were handed out, %d different ones, want %d of each", turns.Load(), works.Load(), len(seen), n)
}

// What one process did the other sees at once, and a token is good in both.
func twoHandlesShare(e *env) {
	const rule = "§1: lock token: sole credential for ack/abandon/renew; §2.4: every method is one transaction of one store"
	first := *e
	second := first
	second.p = first.reopen()

	first.enqueue(startItem("A"))
	got := second.fetchInstance("A", held)
	first.fetchNone(ruleExclusive)
	first.ok(first.p.RenewOrchestrationItemLock(e.ctx, got.LockToken, held), rule)
	first.commit(got, provider.AckOrchestrationParams{
		Metadata: created(), WorkerItems: []provider.WorkItem{activityItem("A", 2)},
		HistoryDelta: []provider.Event{started("A", 1), event("A", 1, 2, provider.CustomStatusUpdated{Status: new("50%")})},
	})
	second.permanent(second.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{})),
		provider.ErrInvalidLockToken, ruleOneAck)
	same(&second, len(second.read("A")), 2, rule)
	second.hasStatus("A", new("50%"), 1, rule)

	work := first.fetchWork(held)
	second.fetchNoWork(provider.FetchWorkParams{}, rulePeekLock)
	second.abandonWork(work, 0, false)
	work = second.fetchWork(held)
	same(&first, work.AttemptCount, 2, ruleWorkCount)
	first.ackWork(work)
	second.batch(second.fetchInstance("A", held), rule, completedItem("A", 2))
}

// A fetch that waits in one process gets what another process queues.
func twoHandlesWake(e *env) {
	e.needsWaiting()
	other := e.reopen()
	e.together(3, func(i int) error {
		switch i {
		case 0:
			got, err := e.waitToFetchTurn(provider.FetchOrchestrationParams{LockTimeout: held})
			if err == nil && got == nil {
				return violation(ruleLongPoll, "nothing within %v, although another process queued a start", e.patience())
			}
			return err
		case 1:
			got, err := e.waitToFetchWork(provider.FetchWorkParams{LockTimeout: held})
			if err == nil && got == nil {
				return violation(ruleLongPoll, "nothing within %v, although another process queued an activity", e.patience())
			}
			return err
		}
		time.Sleep(e.lease / 4)
		return errors.Join(other.EnqueueForOrchestrator(e.ctx, startItem("A"), 0), other.EnqueueForWorker(e.ctx, activityItem("A", 2)))
	})
}
