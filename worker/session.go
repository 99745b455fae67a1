package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/leases"
)

// sessionTracker counts the sessions that activities of this worker are in.
type sessionTracker struct {
	mu     sync.Mutex
	limit  int
	active map[string]int
	// claimed means that there was ever one, also of an activity that was not run.
	claimed bool
	// freed, if not nil, is called when a session may begin again.
	freed func()
}

func newSessionTracker(limit int) *sessionTracker {
	return &sessionTracker{limit: limit, active: map[string]int{}}
}

// full reports whether no further session may begin.
func (s *sessionTracker) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.active) >= s.limit
}

// used reports whether this worker has ever claimed a session.
func (s *sessionTracker) used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claimed
}

// enter counts an activity of the session; false when that session would be one
// too many. Several activities of one session count once.
func (s *sessionTracker) enter(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[session] == 0 && len(s.active) >= s.limit {
		return false
	}
	s.active[session]++
	return true
}

// taken notes that an activity was taken, which claims its session.
func (s *sessionTracker) taken(item provider.WorkItem) {
	if a, ok := item.(provider.ActivityExecuteItem); ok && a.SessionID != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.claimed = true
	}
}

func (s *sessionTracker) leave(session string) {
	if s.remove(session) && s.freed != nil {
		s.freed()
	}
}

// remove reports whether a session may begin that could not before.
func (s *sessionTracker) remove(session string) (room bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := len(s.active) >= s.limit
	s.active[session]--
	if s.active[session] == 0 {
		delete(s.active, session)
	}
	return full && len(s.active) < s.limit
}

// keepSessions renews the sessions of all slots and removes dead ones until ctx
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
	if w.options.NodeID != "" || !w.sessions.used() || w.outage.Ongoing() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleGrace)
	defer cancel()
	_, err := w.store.RenewSessionLock(ctx, provider.RenewSessionParams{
		OwnerIDs: w.owners(), ExtendFor: time.Millisecond, IdleTimeout: w.options.SessionIdleTimeout,
	})
	if err != nil {
		w.options.Logger.WarnContext(ctx, "sessions could not be given back, they return when their leases end", "error", err)
	}
}
