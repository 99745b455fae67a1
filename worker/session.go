package worker

import (
	"context"
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
	"github.com/duroxide/duroxide-go/worker/internal/taking"
)

// keepSessions renews the sessions of all slots, if there may be any, and removes dead ones until ctx
// ends (contract §7.10). Errors are logged only: a session that is lost is claimed anew.
func (w *Worker) keepSessions(ctx context.Context) {
	renew := time.NewTicker(leases.Interval(w.options.SessionLockTimeout, w.options.SessionRenewalBuffer))
	defer renew.Stop()
	cleanup := time.NewTicker(w.options.SessionCleanupInterval)
	defer cleanup.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			if w.options.NodeID == "" && !w.sessions.Used() {
				continue // it has none, and none of an earlier process
			}
			_, err = w.store.RenewSessionLock(ctx, provider.RenewSessionParams{
				OwnerIDs: w.owners(), ExtendFor: w.options.SessionLockTimeout, IdleTimeout: w.options.SessionIdleTimeout,
			})
		case <-cleanup.C:
			_, err = w.store.CleanupOrphanedSessions(ctx, w.options.SessionIdleTimeout)
		}
		if err != nil && !errors.Is(err, context.Canceled) && !w.outage.Ongoing() { // which is told already
			w.options.Logger.WarnContext(ctx, "renewing or cleaning up sessions failed", "error", err)
		}
	}
}

// owners are those of the sessions of all slots.
func (w *Worker) owners() (owners []string) {
	for slot := range w.options.ActivityConcurrency {
		owners = append(owners, w.ownerID(w.slotID(slot)))
	}
	return owners
}

// releaseSessions ends the leases of sessions whose owners end with the worker, so that others need not wait
// for that. A node with a NodeID may come back for its own.
func (w *Worker) releaseSessions(ctx context.Context) {
	if w.options.NodeID != "" || !w.sessions.Used() || w.outage.Ongoing() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, taking.SettleGrace)
	defer cancel()
	_, err := w.store.RenewSessionLock(ctx, provider.RenewSessionParams{
		OwnerIDs: w.owners(), ExtendFor: time.Millisecond, IdleTimeout: w.options.SessionIdleTimeout,
	})
	if err != nil {
		w.options.Logger.WarnContext(ctx, "sessions could not be given back, they return when their leases end", "error", err)
	}
}
