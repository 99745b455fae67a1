package session

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// OnEnd says what breaks the session's connection. It is called once at most, when another session ends this one, and
// must not block.
func (s *Session) OnEnd(disconnect func()) {
	s.server.scheduler.Enter(s.id)
	defer s.server.scheduler.Leave(s.id)
	s.disconnect = disconnect
	if s.gone {
		disconnect()
	}
}

// inUse reports whether a session other than one is in a database.
func (v *Server) inUse(db *schema.Database, but *Session) bool {
	for _, s := range v.sessions {
		if s != but && s.db == db {
			return true
		}
	}
	return false
}

// alone is that a session waits until no other is in a database.
type alone struct {
	db    *schema.Database
	since time.Time
}

// awaitOthers waits until no other session is in a database, and reports whether that was in time. A negative time is
// none.
func (s *Session) awaitOthers(db *schema.Database, patience time.Duration) (bool, error) {
	v := s.server
	v.observer.LookedAtAll()
	v.waiting[s.id] = alone{db, v.now()}
	defer delete(v.waiting, s.id)
	for v.inUse(db, s) {
		if v.waitsIn(db, s) {
			return false, fault.New(1205, int32(s.id), "lock") // each waits for the other to go
		}
		at := schedule.Point{Kind: "wait", What: "the end of other sessions"}
		switch v.scheduler.Park(s.ctx, s.id, at, patience) {
		case schedule.Cancelled:
			return false, context.Cause(s.ctx)
		case schedule.TimedOut:
			return !v.inUse(db, s), nil
		case schedule.Woken:
		}
	}
	return true, nil
}

// waitsIn reports whether another session that is in a database waits to be alone there.
func (v *Server) waitsIn(db *schema.Database, but *Session) bool {
	for id, wanted := range v.waiting {
		if other := v.sessions[id]; other != nil && other != but && other.db == db && wanted.db == db && but.db == db {
			return true
		}
	}
	return false
}

// left wakes those who wait to be alone in a database, if they are now.
func (v *Server) left(db *schema.Database) {
	for id, wanted := range v.waiting {
		if wanted.db == db && !v.inUse(db, v.sessions[id]) {
			v.scheduler.Unpark(id)
		}
	}
}

// enterDatabase changes the current database.
func (s *Session) enterDatabase(db *schema.Database) {
	if from := s.db; from != db {
		s.db = db
		s.server.left(from)
	}
}

// endOthers ends the other sessions in a database that have not gone after a while, and waits until they are gone: one
// that is executing a request has to undo it first.
func (s *Session) endOthers(db *schema.Database, after time.Duration) error {
	if after > 0 {
		if gone, err := s.awaitOthers(db, after); gone || err != nil {
			return err
		}
	}
	for _, other := range s.server.Sessions() {
		if other != s && other.db == db {
			other.endNow()
		}
	}
	_, err := s.awaitOthers(db, -1)
	return err
}

// endNow ends a session on behalf of another one. What it is executing finds out by its context.
func (s *Session) endNow() {
	if s.gone {
		return
	}
	s.gone = true
	if s.disconnect != nil {
		s.disconnect()
	}
	if s.cancel != nil {
		s.cancel()
	}
	if !s.executing {
		s.shut()
	}
}

// shut undoes what the session has not committed, and takes it off the list. It may be called again.
func (s *Session) shut() {
	s.gone = true
	if s.server.sessions[s.id] != s {
		return
	}
	s.rollback()
	dropCursors(s.cursors)
	s.dropAllTemporary()
	s.store.Close()
	s.server.forget(s)
}
