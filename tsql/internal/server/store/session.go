package store

import (
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// Session is a session's handle on data and locks.
type Session struct {
	LockTimeout      time.Duration // of SET LOCK_TIMEOUT; negative: for ever
	DeadlockPriority int           // of SET DEADLOCK_PRIORITY, -10 to 10

	engine *Engine
	client *lock.Client
	own    lock.Owner // of locks that the session itself holds
	tx     *transaction
	spare  []change   // an empty log
	idle   *Statement // that has been forgotten
	reads  int64
}

// transaction is an open transaction. Its locks belong to owner.
type transaction struct {
	id       int64
	iso      Isolation
	owner    lock.Owner
	writer   writer
	wrote    bool
	logged   bool // wrote to a table that others can see
	log      []change
	snapshot snapshot // of SNAPSHOT isolation
	whole    []whole  // tables that are locked as a whole
	defined  []objectID
	stamped  []int32 // databases in which it has locked its number
	relocks  int     // how often locks were given back before the end
	ended    bool
}

// objectID names an object that the transaction has defined anew.
type objectID struct{ database, id int32 }

// change is an entry of a transaction's log: a version that it has put on a row, or what a rollback must call.
type change struct {
	table   *Table
	row     *Row
	version *version
	undo    func()
}

// Reads is how much the session has read: a unit for each search in an index, and for each key that it found, skipped
// or did not want. SQL Server counts pages, which hold many keys: it counts less.
func (s *Session) Reads() int64 { return s.reads }

// Client is the session as the lock manager knows it. Its Label may be set.
func (s *Session) Client() *lock.Client { return s.client }

// Defined reports whether no other session is changing the definition of an object.
func (s *Session) Defined(database, id int32) bool {
	return s.engine.locks.Free(s.client, lock.Resource{Kind: lock.Object, Database: database, Object: id}, lock.SchS)
}

// Begin starts a transaction. There must be none.
func (s *Session) Begin(iso Isolation) {
	if s.tx != nil {
		panic("store: the session has a transaction already")
	}
	s.engine.transactions++
	s.tx = &transaction{id: s.engine.transactions, iso: iso, owner: lock.Owner{Client: s.client}, log: s.spare}
	s.tx.writer.id = s.tx.id
	s.spare = nil
}

// InTransaction reports whether a transaction is open.
func (s *Session) InTransaction() bool { return s.tx != nil }

// TransactionID numbers the transaction; 0 if there is none.
func (s *Session) TransactionID() int64 {
	if s.tx == nil {
		return 0
	}
	return s.tx.id
}

// Commit makes the transaction's changes permanent and lets its locks go. It reports whether the server would have to
// write its log to the disk: whether a table that others can see has changed.
func (s *Session) Commit() (logged bool) {
	tx, e := s.tx, s.engine
	logged = tx.logged || len(tx.defined) > 0
	if tx.wrote || len(tx.defined) > 0 {
		e.commits++
		tx.writer.commit = e.commits
		e.changed(schedule.Commits, 0)
	}
	for _, id := range tx.defined {
		e.defined[id] = e.commits
	}
	if len(tx.log) > 0 {
		e.garbage = append(e.garbage, batch{commit: e.commits, changes: tx.log})
	}
	s.finish()
	return logged
}

// Rollback undoes the transaction's changes and lets its locks go.
func (s *Session) Rollback() {
	s.tx.rollBackTo(s.engine, 0)
	s.finish()
}

// finish ends the transaction. Versions are collected before its locks go: nobody else can have locked what it deleted.
func (s *Session) finish() {
	tx, e := s.tx, s.engine
	s.tx = nil
	tx.ended = true
	e.release(&tx.snapshot)
	e.collect(&tx.owner)
	if len(e.garbage) == 0 && cap(tx.log) <= maxSpare { // else a batch has the log
		clear(tx.log)
		s.spare = tx.log[:0]
	}
	tx.log = nil
	tx.unstamp(e)
	e.locks.ReleaseAll(&tx.owner)
	e.retry()
}

// maxSpare bounds the log that a session keeps for its next transaction.
const maxSpare = 64

// Savepoint is a place in a transaction.
type Savepoint struct {
	mark  int
	locks lock.Mark
}

// Save returns the transaction's present place.
func (s *Session) Save() Savepoint { return Savepoint{len(s.tx.log), s.tx.owner.Mark()} }

// RollbackTo undoes what the transaction has changed since, and gives back what it has locked since. Locks that it had
// before keep the stronger modes that they were converted to, and so do those that were escalated.
func (s *Session) RollbackTo(p Savepoint) {
	tx, locks := s.tx, s.engine.locks
	tx.rollBackTo(s.engine, p.mark)
	s.engine.retryBefore(&tx.owner, p.locks)
	tx.owner.Since(p.locks, locks.ReleaseTransaction)
	tx.unstamp(s.engine)
	tx.relocks++
	tx.whole = slices.DeleteFunc(tx.whole, func(w whole) bool {
		return lock.Supremum(locks.Held(&tx.owner, w.table.resource()), w.mode) != locks.Held(&tx.owner, w.table.resource())
	})
}

// Undo has f called if what the transaction does now is undone, after what came later has been undone.
func (s *Session) Undo(f func()) { s.tx.log = append(s.tx.log, change{undo: f}) }

// Close rolls back what is open and lets the session's own locks go.
func (s *Session) Close() {
	if s.tx != nil {
		s.Rollback()
	}
	s.ReleaseSession()
}

// ReleaseSession lets the locks go that belong to the session and not to its transaction.
func (s *Session) ReleaseSession() { s.engine.locks.ReleaseAll(&s.own) }

// cost is what a rollback would have to undo.
func (s *Session) cost() int64 {
	if s.tx == nil {
		return 0
	}
	return int64(len(s.tx.log))
}

// rollBackTo undoes the log down to a mark, the newest change first.
func (tx *transaction) rollBackTo(e *Engine, mark int) {
	for len(tx.log) > mark {
		last := len(tx.log) - 1
		c := tx.log[last]
		tx.log[last] = change{}
		tx.log = tx.log[:last]
		c.undone(e, &tx.owner)
	}
}

// undone takes back one change.
func (c *change) undone(e *Engine, by *lock.Owner) {
	if c.undo != nil {
		c.undo()
		return
	}
	e.changed(schedule.Versions, 0)
	c.row.head = c.version.older
	c.table.tally(c.version, c.version.older)
	e.dropKeys(c.table, c.row, c.version, by)
}
