package leases

import (
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// Group renews leases that are due at about the same time in one call. A lease that is due alone is renewed by itself.
type Group struct {
	// renewAll is [provider.Store].RenewLocks.
	renewAll func(context.Context, []provider.LockRenewal) ([]error, error)
	// ctx is that of the calls, which Close ends.
	ctx    context.Context //nolint:containedctx // as above
	cancel context.CancelFunc
	calls  sync.WaitGroup

	mu     sync.Mutex
	leases map[*Lease]struct{}
}

// NewGroup returns a group that makes its calls with renew, which has one outcome for each lock.
func NewGroup(renew func(context.Context, []provider.LockRenewal) ([]error, error)) *Group {
	g := &Group{renewAll: renew, leases: map[*Lease]struct{}{}}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// Join adds a lease until it is stopped.
func (g *Group) Join(l *Lease, lock provider.LockRenewal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leases[l] = struct{}{}
	l.joined(g, lock)
}

func (g *Group) leave(l *Lease) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.leases, l)
}

// Close ends the calls when no lease is left.
func (g *Group) Close() {
	g.cancel()
	g.calls.Wait()
}

// renew renews a lease that is due, together with those that will be soon. It returns false if there are none, and
// leaves the lease to the caller.
func (g *Group) renew(l *Lease) bool {
	leases := g.claim(l)
	if len(leases) == 1 {
		return false
	}
	if len(leases) > 1 {
		// Not in the lease's own goroutine: nobody who stops a lease waits for the others'.
		g.calls.Go(func() { g.call(leases) })
	}
	return true
}

// claim returns the leases to renew with one that is due. That one comes first. It returns none if that one is claimed
// already.
func (g *Group) claim(l *Lease) []*Lease {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !l.claim() {
		return nil
	}
	leases := []*Lease{l}
	for other := range g.leases {
		if other.claim() {
			leases = append(leases, other)
		}
	}
	return leases
}

// call renews the leases, and gives each its outcome.
func (g *Group) call(leases []*Lease) {
	taken := time.Now()
	deadline := leases[0].deadline(taken)
	locks := make([]provider.LockRenewal, len(leases))
	for i, l := range leases {
		locks[i] = l.lock
		if d := l.deadline(taken); d.Before(deadline) {
			deadline = d
		}
	}
	ctx, cancel := context.WithDeadline(g.ctx, deadline)
	outcomes, err := g.renewAll(ctx, locks)
	cancel()
	for i, l := range leases {
		if err != nil {
			l.answered(taken, err)
		} else {
			l.answered(taken, outcomes[i])
		}
	}
}
