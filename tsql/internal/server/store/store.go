// Package store holds rows: tables with their indexes, versions of rows by transaction, and the locks that reading
// and writing them takes. It knows no types and no T-SQL: keys of indexes are strings of bytes that others have
// encoded so that bytes sort as values do.
//
// An [Engine] has sessions, a [Session] has at most one transaction, and a transaction is a series of statements. A
// [Statement] reads through a [Cursor], which locks as its [Access] says, and writes with Insert, Update and Delete.
//
//	s.Begin(store.ReadCommitted)
//	st := s.Statement(ctx, store.StatementOptions{})
//	c := st.Scan(index, store.Range{}, false, st.Access())
//	for ok, err := c.Next(); ok && err == nil; ok, err = c.Next() { … c.Values() … }
//	c.Close()
//	st.End(nil)
//	s.Commit()
//
// All of it runs under the scheduler's latch. Waiting for a lock lets other sessions run; cursors find their place
// again by key.
package store

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Value is short for value.Value.
type Value = value.Value

// Isolation is an isolation level.
type Isolation uint8

// The levels. The zero Isolation is SQL Server's default.
const (
	ReadCommitted Isolation = iota
	ReadUncommitted
	RepeatableRead
	Serializable
	SnapshotIsolation
)

// Engine is what the sessions of a server share: locks, the order of commits, and versions that nobody needs any more.
type Engine struct {
	scheduler    schedule.Scheduler
	locks        *lock.Manager
	commits      uint64 // how many transactions that wrote have committed
	statements   uint64 // the last statement's number
	transactions int64  // the last transaction's number
	oldest       *snapshot
	newest       *snapshot
	garbage      []batch   // of committed transactions, the oldest first
	deferred     []garment // keys that could not be removed, since somebody has locked them
	// defined says which commit was the last to change an object's definition.
	defined map[objectID]uint64
	stamped int // transactions that have locked their number
	// Pages says that pages are locked: see page.go.
	Pages      bool
	escalateAt int               // other than the constant in tests
	observer   schedule.Observer // nil for nobody
	image      *Image            // the last that was made or put back
}

// NewEngine returns an engine without data. Sessions wait through s. The random function is there for decisions that a
// seed shall repeat; so far nothing is left to it.
func NewEngine(s schedule.Scheduler, _ func() uint64) *Engine {
	return &Engine{scheduler: s, locks: lock.NewManager(s), defined: map[objectID]uint64{}, escalateAt: escalateAt}
}

// Locks is the lock manager.
func (e *Engine) Locks() *lock.Manager { return e.locks }

// Session returns a new session.
func (e *Engine) Session(id schedule.ID) *Session {
	s := &Session{LockTimeout: -1, engine: e, client: &lock.Client{ID: id}}
	s.client.Cost = s.cost
	s.own = lock.Owner{Client: s.client, Kind: lock.BySession}
	return s
}
