package session

import (
	"context"

	"github.com/duroxide/duroxide-go/tsqltest/internal/schedule"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
)

// OnEnd says what breaks the session's connection. It is called once at most, when another session ends this one, and must
// not block.
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

// endOthers ends the other sessions in a database and waits until they are gone: one that is executing a request has to
// undo it first.
func (s *Session) endOthers(db *schema.Database) error {
	v := s.server
	for _, other := range v.Sessions() {
		if other != s && other.db == db {
			other.endNow()
		}
	}
	v.waiting[s.id] = true
	defer delete(v.waiting, s.id)
	for v.inUse(db, s) {
		at := schedule.Point{Kind: "wait", What: "the end of other sessions"}
		if v.scheduler.Park(s.ctx, s.id, at, -1) == schedule.Cancelled {
			return context.Cause(s.ctx)
		}
	}
	return nil
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
	s.dropTemporary(0)
	s.store.Close()
	s.server.forget(s)
}
