package session

import (
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/tsqltest/internal/fault"
	"github.com/duroxide/duroxide-go/tsqltest/internal/lock"
)

// applicationModes are the modes of application locks.
var applicationModes = map[string]lock.Mode{
	"shared": lock.S, "update": lock.U, "exclusive": lock.X, "intentshared": lock.IS, "intentexclusive": lock.IX,
}

// What sp_getapplock returns.
const (
	lockGranted   = 0
	lockWaited    = 1
	lockTimedOut  = -1
	lockCancelled = -2
	lockVictim    = -3
	lockBad       = -999
)

// applicationLock is what both procedures are told.
func (s *Session) applicationLock(p parameters) (r lock.Resource, forSession bool, err error) {
	name, err := p.needed("Resource")
	if err != nil {
		return r, false, err
	}
	owner, err := p.text("LockOwner", "Transaction")
	if err != nil {
		return r, false, err
	}
	principal, err := p.text("DbPrincipal", "public")
	if err != nil {
		return r, false, err
	}
	who := s.db.Principal(principal)
	if who == nil {
		return r, false, fault.New(15151, "database principal", principal)
	}
	switch fold(owner) {
	case "session":
		forSession = true
	case "transaction":
	default:
		return r, false, fault.New(214, "@LockOwner", "'Session' or 'Transaction'")
	}
	return lock.Resource{Kind: lock.Application, Database: s.db.ID, Object: who.ID, Key: name}, forSession, nil
}

// getApplicationLock is sp_getapplock.
func getApplicationLock(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_getapplock", []string{"Resource", "LockMode", "LockOwner", "LockTimeout", "DbPrincipal"}, args}
	r, forSession, err := s.applicationLock(p)
	if err != nil {
		return lockBad, err
	}
	text, err := p.needed("LockMode")
	if err != nil {
		return lockBad, err
	}
	mode, ok := applicationModes[fold(text)]
	if !ok {
		return lockBad, fault.New(214, "@LockMode", "'Shared', 'Update', 'Exclusive', 'IntentShared' or 'IntentExclusive'")
	}
	if !forSession && s.transaction.count == 0 {
		return lockBad, fault.New(3913)
	}
	timeout := s.options.lockTimeout
	if p.arg("LockTimeout") != nil {
		n, err := p.number("LockTimeout", -1)
		if err != nil {
			return lockBad, err
		}
		timeout = time.Duration(n) * time.Millisecond
		if n < 0 {
			timeout = -1
		}
	}
	waited, err := s.store.LockApplication(s.ctx, r, mode, forSession, timeout)
	e, isFault := asFault(err)
	switch {
	case err == nil && waited:
		return lockWaited, nil
	case err == nil:
		return lockGranted, nil
	case isFault && e.Number == 1222:
		return lockTimedOut, nil
	case isFault && e.Number == 1205:
		return lockVictim, nil
	case errors.Is(err, s.ctx.Err()):
		return lockCancelled, err
	default:
		return lockBad, err
	}
}

// releaseApplicationLock is sp_releaseapplock.
func releaseApplicationLock(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_releaseapplock", []string{"Resource", "LockOwner", "DbPrincipal"}, args}
	r, forSession, err := s.applicationLock(p)
	if err != nil {
		return lockBad, err
	}
	if !s.store.UnlockApplication(r, forSession) {
		return lockBad, fault.New(1223, r.Key)
	}
	return 0, nil
}
