package session

import (
	"errors"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
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

// resourceType is that of the name of an application lock. What is longer is cut.
var resourceType = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 255}}

// applicationLock is what both procedures are told.
func (s *Session) applicationLock(p parameters) (r lock.Resource, forSession bool, err error) {
	a := p.arg("Resource")
	switch {
	case a == nil:
		return r, false, fault.New(201, p.name, "@Resource")
	case a.value.IsNull():
		return r, false, fault.New(1224, p.name)
	}
	name, err := value.Assign(a.value, a.typ, resourceType)
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
		return r, false, fault.New(1230, p.name)
	}
	switch fold(owner) {
	case "session":
		forSession = true
	case "transaction":
	default:
		return r, false, fault.New(1226, p.name)
	}
	return lock.Resource{Kind: lock.Application, Database: s.db.ID, Object: who.ID, Key: name.Str()}, forSession, nil
}

// refuseLock reports why a call is wrong. The procedures go on after that, to their end: unless a CATCH gets the error
// or XACT_ABORT is ON, the caller finds their result.
func (s *Session) refuseLock(err error) (int64, error) {
	e, ok := asFault(err)
	if !ok {
		return lockBad, err
	}
	e.Procedure, e.Line = "xp_userlock", 1
	return lockBad, s.failed(s.top(), diag.Span{}, e)
}

// getApplicationLock is sp_getapplock.
func getApplicationLock(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_getapplock", []string{"Resource", "LockMode", "LockOwner", "LockTimeout", "DbPrincipal"}, args}
	r, forSession, err := s.applicationLock(p)
	if err != nil {
		return s.refuseLock(err)
	}
	text, err := p.needed("LockMode")
	if err != nil {
		return s.refuseLock(err)
	}
	mode, ok := applicationModes[fold(text)]
	if !ok {
		return s.refuseLock(fault.New(1225, p.name))
	}
	if !forSession && s.transaction.count == 0 {
		return s.refuseLock(fault.New(3918))
	}
	timeout, err := s.applicationTimeout(p)
	if err != nil {
		return s.refuseLock(err)
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

// applicationTimeout is how long sp_getapplock may wait.
func (s *Session) applicationTimeout(p parameters) (time.Duration, error) {
	if p.arg("LockTimeout") == nil {
		return s.options.lockTimeout, nil
	}
	n, err := p.number("LockTimeout", -1)
	switch {
	case err != nil:
		return 0, err
	case n < -1:
		return 0, fault.New(1227, p.name)
	case n == -1:
		return -1, nil
	default:
		return time.Duration(n) * time.Millisecond, nil
	}
}

// releaseApplicationLock is sp_releaseapplock.
func releaseApplicationLock(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_releaseapplock", []string{"Resource", "LockOwner", "DbPrincipal"}, args}
	r, forSession, err := s.applicationLock(p)
	if err != nil {
		return s.refuseLock(err)
	}
	if !s.store.UnlockApplication(r, forSession) {
		principal, err := p.text("DbPrincipal", "public")
		if err == nil {
			err = fault.New(1223, principal, r.Key)
		}
		return s.refuseLock(err)
	}
	return 0, nil
}

// applicationNames name the modes as APPLOCK_MODE does.
var applicationNames = map[lock.Mode]string{
	lock.NL: "NoLock", lock.S: "Shared", lock.U: "Update", lock.X: "Exclusive", lock.IS: "IntentShared",
	lock.IX: "IntentExclusive", lock.SIX: "SharedIntentExclusive", lock.UIX: "UpdateIntentExclusive",
}

// ApplicationMode is how the session holds an application lock. ok is false for an owner or a principal that is none.
func (s *Session) ApplicationMode(principal, resource, owner string) (mode string, ok bool) {
	r, forSession, ok := s.applicationResource(principal, resource, owner)
	if !ok {
		return "", false
	}
	return applicationNames[s.store.ApplicationMode(r, forSession)], true
}

// ApplicationFree reports whether the session could have an application lock in a mode at once.
func (s *Session) ApplicationFree(principal, resource, mode, owner string) (free, ok bool) {
	r, forSession, ok := s.applicationResource(principal, resource, owner)
	wanted, known := applicationModes[fold(mode)]
	if !ok || !known {
		return false, false
	}
	return s.store.ApplicationFree(r, wanted, forSession), true
}

func (s *Session) applicationResource(principal, resource, owner string) (r lock.Resource, forSession, ok bool) {
	who := s.db.Principal(principal)
	forSession = fold(owner) == "session"
	if who == nil || !forSession && fold(owner) != "transaction" {
		return r, false, false
	}
	return lock.Resource{Kind: lock.Application, Database: s.db.ID, Object: who.ID, Key: resource}, forSession, true
}
