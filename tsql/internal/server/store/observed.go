package store

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// Observe makes an observer be told of what sessions do to what they share: of locks, commits and snapshots, versions
// of rows and dirty reads, and of keys that come into being. Nil is for nobody.
func (e *Engine) Observe(o schedule.Observer) { e.observer, e.locks.Observer = o, o }

// changed says that a thing was changed.
func (e *Engine) changed(thing uint64, against uint32) {
	if e.observer != nil {
		e.observer.Changed(thing, 0, against)
	}
}

// looked says that somebody has seen what was changed.
func (e *Engine) looked(thing uint64) {
	if e.observer != nil {
		e.observer.Looked(thing, schedule.Always)
	}
}

// gap is what lies before a key of an index: a new key changes it, and who walks over it has seen it.
type gap struct{ behind lock.Resource }

// fill says that a key has come into being.
func (e *Engine) fill(ix *Index, key string) {
	if e.observer != nil && !ix.Table.Private {
		e.changed(ix.gap(ix.following(key)), 0)
	}
}

// cross says that somebody walks on to the next key of an index, or to its end.
func (w *walk) cross(found bool) {
	ix := w.index
	if w.engine.observer == nil || ix.Table.Private {
		return
	}
	var behind *entry
	switch {
	case found && w.reverse:
		behind = ix.following(w.iterator.Key())
	case found:
		behind = w.iterator.Value()
	case w.reverse:
		behind = ix.following("")
	}
	w.engine.looked(ix.gap(behind))
}

// Draw says that the session takes a number that nobody else gets: that of an object, or the server's if it is 0.
func (s *Session) Draw(object int32) {
	if s.engine.observer != nil {
		s.engine.changed(schedule.Thing(numbers{object}), schedule.Always)
	}
}

// numbers is a source of numbers, as a thing.
type numbers struct{ object int32 }

func (ix *Index) gap(behind *entry) uint64 {
	if behind == nil {
		return schedule.Thing(gap{ix.end()})
	}
	return schedule.Thing(gap{ix.resource(behind.key)})
}
