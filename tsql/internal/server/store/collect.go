package store

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// batch is what a committed transaction has changed. What its versions have replaced is needed until no snapshot is
// older than the commit.
type batch struct {
	commit  uint64
	changes []change
}

// garment is a key that no version of the row has any more, in an index that still has it.
type garment struct {
	index *Index
	key   string
	row   *Row
}

// snapshot is a place in the order of commits that somebody reads at. The engine links them in the order of their
// taking, which is that of their places.
type snapshot struct {
	commit     uint64
	taken      bool
	prev, next *snapshot
}

// take makes s the present.
func (e *Engine) take(s *snapshot) {
	s.commit, s.taken = e.commits, true
	e.looked(schedule.Commits)
	s.prev = e.newest
	if e.newest != nil {
		e.newest.next = s
	} else {
		e.oldest = s
	}
	e.newest = s
}

// release ends a snapshot, if it was taken. The caller collects.
func (e *Engine) release(s *snapshot) {
	if !s.taken {
		return
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		e.oldest = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		e.newest = s.prev
	}
	*s = snapshot{}
}

// collect drops the versions and ghosts that no snapshot needs any more. It looks only at what has been changed. by is
// a transaction that is ending, whose locks do not count; it may be nil.
func (e *Engine) collect(by *lock.Owner) {
	n := 0
	for n < len(e.garbage) && (e.oldest == nil || e.oldest.commit >= e.garbage[n].commit) {
		for _, c := range e.garbage[n].changes {
			if c.row != nil {
				e.cut(c, by)
			}
		}
		n++
	}
	if n == len(e.garbage) {
		clear(e.garbage)
		e.garbage = e.garbage[:0]
	} else if n > 0 {
		e.garbage = slices.Delete(e.garbage, 0, n)
	}
}

// cut drops what a version has replaced.
func (e *Engine) cut(c change, by *lock.Owner) {
	v := c.version
	v.writer = nil
	old := v.older
	v.older = nil
	for ; old != nil; old = old.older {
		e.dropKeys(c.table, c.row, old, by)
	}
}

// dropKeys removes the keys that a version, which its row no longer has, was the last to have.
func (e *Engine) dropKeys(t *Table, row *Row, v *version, by *lock.Owner) {
	if v.values == nil {
		return
	}
	for _, ix := range t.indexes {
		if key := v.keys[ix.slot]; key != "" && !row.has(ix, key) {
			e.dropKey(garment{ix, key, row}, by)
		}
	}
}

// dropKey removes a key, unless somebody has locked it: then the key still ends the gap that a range lock is for.
func (e *Engine) dropKey(g garment, by *lock.Owner) {
	if !g.index.Table.Private && e.locks.Busy(g.index.resource(g.key), by, true) {
		e.deferred = append(e.deferred, g)
		return
	}
	g.index.remove(g.key, g.row)
}

// retries bounds how many keys one transaction's end tries to remove again.
const retries = 64

// retryBefore removes keys that only locks keep which are about to go: those of an owner since a place. It comes before
// they go, for whoever waits for such a lock must not find the key: the gap behind it may be the owner's.
func (e *Engine) retryBefore(owner *lock.Owner, since lock.Mark) {
	e.deferred = slices.DeleteFunc(e.deferred, func(g garment) bool {
		r := g.index.resource(g.key)
		h := e.locks.Find(owner, r)
		if h == nil || !h.After(since) || e.locks.Busy(r, owner, false) || g.row.has(g.index, g.key) {
			return false
		}
		g.index.remove(g.key, g.row)
		return true
	})
}

// retry removes keys that have been in use when they should have gone. Those that still are go to the end of the queue.
func (e *Engine) retry() {
	n := min(len(e.deferred), retries)
	if n == 0 {
		return
	}
	for _, g := range e.deferred[:n] {
		if slices.Contains(g.index.Table.indexes, g.index) && !g.row.has(g.index, g.key) {
			e.dropKey(g, nil)
		}
	}
	e.deferred = slices.Delete(e.deferred, 0, n)
}
