package worker

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/internal/clock"
	"github.com/duroxide/duroxide-go/provider"
)

// runningCalls are the activities that run on one store in this process, whichever worker
// runs them: a turn that cancels some tells them at once.
type runningCalls struct {
	mu    sync.Mutex
	users int
	calls map[provider.ActivityRef]map[*call]struct{}
	// cancelled are the activities cancelled last.
	cancelled recent[struct{}]
}

// shared holds them for each store that a worker runs on.
var shared = struct {
	mu     sync.Mutex
	stores map[provider.Provider]*runningCalls
}{stores: map[provider.Provider]*runningCalls{}}

// runningOn returns what runs on a store. leave is called when the worker has ended.
func runningOn(store provider.Provider) (_ *runningCalls, leave func()) {
	if !reflect.ValueOf(store).Comparable() {
		return newRunningCalls(), func() {}
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	r := shared.stores[store]
	if r == nil {
		r = newRunningCalls()
		shared.stores[store] = r
	}
	r.users++
	return r, func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if r.users--; r.users == 0 {
			delete(shared.stores, store)
		}
	}
}

func newRunningCalls() *runningCalls {
	return &runningCalls{calls: map[provider.ActivityRef]map[*call]struct{}{}}
}

// enter adds a call, which leave removes. One whose activity was cancelled lately may have
// been fetched before: it renews its lease at once, and so learns whether it was.
func (r *runningCalls) enter(c *call) (leave func()) {
	ref := c.ref()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[ref] == nil {
		r.calls[ref] = map[*call]struct{}{}
	}
	r.calls[ref][c] = struct{}{}
	if _, cancelled := r.cancelled.get(c.key()); cancelled {
		c.lease.RenewNow()
	}
	return func() { r.leave(c) }
}

func (r *runningCalls) leave(c *call) {
	ref := c.ref()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls[ref], c)
	if len(r.calls[ref]) == 0 {
		delete(r.calls, ref)
	}
}

// cancel tells the calls of these activities, which a committed turn has cancelled.
func (r *runningCalls) cancel(refs []provider.ActivityRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ref := range refs {
		for c := range r.calls[ref] {
			c.cancel(errCancelled)
		}
		key := workKey{instance: ref.Instance, execution: ref.ExecutionID, activity: ref.ActivityID}
		r.cancelled.update(key, func(v struct{}) struct{} { return v })
	}
}

// unconfirmed are the calls of a worker whose lease was neither taken nor renewed since then,
// by token.
func (r *runningCalls) unconfirmed(w *Worker, since time.Time) map[string]*call {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]*call{}
	for _, calls := range r.calls {
		for c := range calls {
			if c.worker != w {
				continue
			}
			if token, confirmed := c.confirmed(); confirmed.Before(since) {
				found[token] = c
			}
		}
	}
	return found
}

// watchLeases asks the store from time to time, until ctx ends, which leases of running
// activities are gone: another process may have cancelled them. It asks nothing while none
// has run for long.
func (w *Worker) watchLeases(ctx context.Context) {
	every := w.options.CancellationPoll
	for clock.Sleep(ctx, every) == nil {
		running := w.active.unconfirmed(w, time.Now().Add(-every/4))
		if len(running) == 0 {
			continue
		}
		tokens := make([]string, 0, len(running))
		for token := range running {
			tokens = append(tokens, token)
		}
		asking, cancel := context.WithTimeout(ctx, max(every, minAskingTime))
		lost, err := w.store.LostWorkItems(asking, tokens)
		cancel()
		if err != nil {
			continue // the leases' renewals and the fetches tell of it
		}
		for _, token := range lost {
			if c := running[token]; c != nil {
				c.lose(token)
			}
		}
	}
}

// minAskingTime is how long the store may take to say which leases are gone, or longer if
// that is asked more rarely.
const minAskingTime = time.Second
