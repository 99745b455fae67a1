package store

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
)

// LockApplication takes an application lock, for the session or for its transaction. A negative timeout is no limit.
// Errors are 1222 and 1205, or the context's. Waited reports whether it was granted only after a wait.
func (s *Session) LockApplication(
	ctx context.Context, r lock.Resource, m lock.Mode, forSession bool, timeout time.Duration,
) (waited bool, err error) {
	owner, d := s.applications(forSession)
	if owner == nil {
		panic("store: the session has no transaction to hold the lock")
	}
	s.client.Priority = s.DeadlockPriority
	request := lock.Request{Resource: r, Mode: m, Duration: d, Timeout: timeout}
	_, answer, err := s.engine.locks.Acquire(ctx, owner, &request)
	return answer == lock.Waited, err
}

// UnlockApplication gives an application lock back once, and reports whether it was held.
func (s *Session) UnlockApplication(r lock.Resource, forSession bool) bool {
	owner, d := s.applications(forSession)
	if owner == nil {
		return false
	}
	h := s.engine.locks.Find(owner, r)
	if h == nil {
		return false
	}
	s.engine.locks.Release(h, d)
	return true
}

// ApplicationMode is the mode in which an application lock is held; lock.NL if it is not.
func (s *Session) ApplicationMode(r lock.Resource, forSession bool) lock.Mode {
	owner, _ := s.applications(forSession)
	if owner == nil {
		return lock.NL
	}
	return s.engine.locks.Held(owner, r)
}

// ApplicationFree reports whether an application lock would be granted at once. It takes none.
func (s *Session) ApplicationFree(r lock.Resource, m lock.Mode, forSession bool) bool {
	owner, _ := s.applications(forSession)
	if owner == nil {
		owner = &lock.Owner{Client: s.client}
	}
	request := lock.Request{Resource: r, Mode: m, Duration: lock.Instant, NoWait: true}
	// A request that does not wait cannot fail.
	_, answer, err := s.engine.locks.Acquire(context.Background(), owner, &request)
	return err == nil && answer == lock.Granted
}

// applications is who holds the session's application locks: nobody if they are to belong to a transaction and there is
// none.
func (s *Session) applications(forSession bool) (*lock.Owner, lock.Duration) {
	switch {
	case forSession:
		return &s.own, lock.Session
	case s.tx != nil:
		return &s.tx.owner, lock.Transaction
	default:
		return nil, lock.Transaction
	}
}
