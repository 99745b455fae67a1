package worker

import (
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// renewals renews the leases of one worker that are due about together in one call. A lease that is due alone is
// renewed by itself.
type renewals struct {
	store provider.Store
	// ctx is that of the calls, which close ends.
	ctx    context.Context //nolint:containedctx // as above
	cancel context.CancelFunc
	calls  sync.WaitGroup

	mu     sync.Mutex
	leases map[*lease]struct{}
}

func newRenewals(store provider.Store) *renewals {
	r := &renewals{store: store, leases: map[*lease]struct{}{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// join adds a lease, which leave removes.
func (r *renewals) join(l *lease, lock provider.LockRenewal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leases[l] = struct{}{}
	l.joined(r, lock)
}

func (r *renewals) leave(l *lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leases, l)
}

// close ends the calls when no lease is left.
func (r *renewals) close() {
	r.cancel()
	r.calls.Wait()
}

// renew renews a lease that is due together with those that will be soon. It returns false if
// there are none, and leaves the lease to the caller.
func (r *renewals) renew(l *lease) bool {
	leases := r.claim(l)
	if len(leases) == 1 {
		return false
	}
	if len(leases) > 1 {
		// Not in the lease's own goroutine: nobody who stops a lease waits for the others'.
		r.calls.Go(func() { r.call(leases) })
	}
	return true
}

// claim returns the leases that are to be renewed with one that is due, which is the first:
// none when that one is claimed already.
func (r *renewals) claim(l *lease) []*lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.claim() {
		return nil
	}
	leases := []*lease{l}
	for other := range r.leases {
		if other.claim() {
			leases = append(leases, other)
		}
	}
	return leases
}

// call renews the leases, and tells each how that went.
func (r *renewals) call(leases []*lease) {
	taken := time.Now()
	deadline := leases[0].deadline(taken)
	locks := make([]provider.LockRenewal, len(leases))
	for i, l := range leases {
		locks[i] = l.lock
		if d := l.deadline(taken); d.Before(deadline) {
			deadline = d
		}
	}
	ctx, cancel := context.WithDeadline(r.ctx, deadline)
	outcomes, err := r.store.RenewLocks(ctx, locks)
	cancel()
	for i, l := range leases {
		if err != nil {
			l.answered(taken, err)
		} else {
			l.answered(taken, outcomes[i])
		}
	}
}
