package store

import (
	"context"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// StatementOptions say how a statement reads unless an [Access] says otherwise.
type StatementOptions struct {
	Isolation   Isolation
	RowVersions bool // READ_COMMITTED_SNAPSHOT is ON: the statement may read what was committed when it began
	// Optimized is optimized locking: writes lock the transaction's number to its end, and keys only while they change
	// them.
	Optimized bool
	// Admit says whether a table may be used under SNAPSHOT isolation. Nil admits all.
	Admit func(t *Table) error
}

// Statement is the execution of one statement: what it has locked and changed.
type Statement struct {
	id       uint64
	ctx      context.Context //nolint:containedctx // a statement lives as long as its call
	session  *Session
	engine   *Engine
	tx       *transaction
	options  StatementOptions
	mark     int      // where the statement's changes begin in the transaction's log
	survives []change // those that a rollback of the transaction leaves alone
	snapshot snapshot // what was committed when the statement began, if it reads versions
	held     []*lock.Hold
	objects  []object
	relocks  int       // of the transaction, when objects was begun
	locked   lock.Mark // where the statement's locks begin
	// escalation is how many locks the transaction has when the statement looks whether to escalate.
	escalation int
	counts     []Count
	cursors    *Cursor // open ones, linked
	steps      uint    // rows looked at or added

	// Most statements have no more than these.
	firstObjects [2]object
	firstCounts  [3]Count
}

// object is a table, another object or a page that the statement has locked.
type object struct {
	resource lock.Resource
	mode     lock.Mode
	duration lock.Duration
}

// Statement starts a statement of the open transaction. It must be ended.
func (s *Session) Statement(ctx context.Context, o StatementOptions) *Statement {
	if s.tx == nil {
		panic("store: a statement needs a transaction")
	}
	s.engine.statements++
	s.client.Priority = s.DeadlockPriority
	st := s.idle
	if s.idle = nil; st == nil {
		st = &Statement{}
	}
	*st = Statement{
		id: s.engine.statements, ctx: ctx, session: s, engine: s.engine, tx: s.tx, options: o, mark: len(s.tx.log), held: st.held[:0],
	}
	st.objects, st.counts = st.firstObjects[:0], st.firstCounts[:0]
	st.relocks, st.locked, st.escalation = s.tx.relocks, s.tx.owner.Mark(), s.tx.owner.Count()+s.engine.escalateAt
	if o.RowVersions && o.Isolation == ReadCommitted {
		s.engine.take(&st.snapshot)
	}
	return st
}

// End lets go of locks that last as long as the statement. If err is not nil, what the statement has changed is undone.
func (st *Statement) End(err error) {
	for st.cursors != nil {
		st.cursors.Close()
	}
	for i := range st.counts {
		c := &st.counts[i]
		st.session.reads += int64(c.Granted + c.Waited + c.Skipped)
	}
	e := st.engine
	for _, v := range slices.Backward(st.survives) {
		if c := v; err != nil {
			c.undone(e, nil)
		} else if c.row != nil {
			e.cut(c, nil)
		}
	}
	st.survives = nil
	if err != nil && !st.tx.ended {
		st.tx.rollBackTo(e, st.mark)
	}
	if !st.tx.ended { // else its locks are gone
		for _, h := range st.held {
			e.locks.Release(h, lock.Statement)
		}
	}
	clear(st.held)
	st.held = st.held[:0]
	if st.snapshot.taken {
		e.release(&st.snapshot)
		e.collect(nil)
	}
}

// Access returns how the statement reads a table that has no hints: with Read, Keep and Range as its isolation level
// has them, mode S and row locks.
func (st *Statement) Access() Access {
	a := Access{Mode: lock.S}
	switch st.options.Isolation {
	case ReadUncommitted:
		a.Read = Dirty
	case RepeatableRead:
		a.Keep = KeepTransaction
	case Serializable:
		a.Keep, a.Range = KeepTransaction, true
	case SnapshotIsolation:
		a.Read = Snapshot
	case ReadCommitted:
		if st.options.RowVersions {
			a.Read = Snapshot
		}
	}
	return a
}

// reader is what the statement sees. own says that it sees its own changes too.
func (st *Statement) reader(read Read, own bool) reader {
	r := reader{tx: st.tx}
	if !own {
		r.statement = st.id
	}
	switch read {
	case Snapshot:
		r.versioned, r.snapshot = true, st.present()
	case Committed:
		r.versioned, r.snapshot = true, st.at(&st.snapshot)
	case Dirty:
		st.engine.looked(schedule.Versions)
	case Locked:
	}
	return r
}

// present is the place of the statement's snapshot: the transaction's under SNAPSHOT isolation, which is taken when it
// is first needed and not when the transaction begins.
func (st *Statement) present() uint64 {
	s := &st.snapshot
	if st.options.Isolation == SnapshotIsolation {
		s = &st.tx.snapshot
	}
	return st.at(s)
}

// at is the place of a snapshot, which is taken if it has not been.
func (st *Statement) at(s *snapshot) uint64 {
	if !s.taken {
		st.engine.take(s)
	}
	return s.commit
}

// lockObject locks an object, at most once for as long.
func (st *Statement) lockObject(database, id int32, mode lock.Mode, d lock.Duration) error {
	return st.lockOnce(lock.Resource{Kind: lock.Object, Database: database, Object: id}, mode, d, waiting)
}

// lockOnce locks an object or a page, at most once for as long.
func (st *Statement) lockOnce(r lock.Resource, mode lock.Mode, d lock.Duration, p patience) error {
	if st.relocks != st.tx.relocks { // locks have gone since
		st.objects, st.relocks = st.objects[:0], st.tx.relocks
	}
	for _, o := range st.objects {
		if o.resource == r && o.duration >= d && lock.Supremum(o.mode, mode) == o.mode {
			return nil
		}
	}
	if _, _, err := st.lock(&r, mode, d, p); err != nil {
		return err
	}
	st.objects = append(st.objects, object{r, mode, d})
	if mode == lock.SchM {
		st.tx.defined = append(st.tx.defined, objectID{r.Database, r.Object})
	}
	return nil
}

// patience says what a request does that cannot be granted at once.
type patience uint8

const (
	waiting patience = iota // as LOCK_TIMEOUT says
	skipping
	failing // with error 1222
)

// lock asks for a lock. The hold is nil if the request was refused.
func (st *Statement) lock(r *lock.Resource, mode lock.Mode, d lock.Duration, p patience) (*lock.Hold, lock.Answer, error) {
	request := st.request(r, mode, d, p)
	h, answer, err := st.engine.locks.Acquire(st.ctx, &st.tx.owner, &request)
	if h != nil && d == lock.Statement {
		st.held = append(st.held, h)
	}
	return h, answer, err
}

func (st *Statement) request(r *lock.Resource, mode lock.Mode, d lock.Duration, p patience) lock.Request {
	request := lock.Request{Resource: *r, Mode: mode, Duration: d, Timeout: st.session.LockTimeout}
	switch p {
	case skipping:
		request.NoWait = true
	case failing:
		request.Timeout = 0
	case waiting:
	}
	return request
}

// LockTable locks a table to the end of the transaction.
func (st *Statement) LockTable(t *Table, mode lock.Mode) error {
	if t.Private {
		return nil
	}
	if err := st.lockObject(t.Database, t.ID, mode, lock.Transaction); err != nil {
		return err
	}
	st.tx.holdsWhole(t, mode)
	return nil
}

// admit checks that a table may be used under SNAPSHOT isolation: definitions have no versions.
func (st *Statement) admit(t *Table) error {
	if st.options.Isolation != SnapshotIsolation || t.Private {
		return nil
	}
	if st.options.Admit != nil {
		if err := st.options.Admit(t); err != nil {
			return err
		}
	}
	if at := st.present(); st.engine.defined[objectID{t.Database, t.ID}] > at {
		return fault.New(3961, t.DatabaseName)
	}
	return nil
}

// LockSchema takes a Sch-S lock on an object for the statement, or a Sch-M lock for the transaction.
func (st *Statement) LockSchema(database, id int32, mode lock.Mode) error {
	if mode == lock.SchS {
		return st.lockObject(database, id, mode, lock.Statement)
	}
	return st.lockObject(database, id, mode, lock.Transaction)
}

// Way says how a statement comes to a key.
type Way uint8

// The ways.
const (
	BySeek   Way = iota // within bounds
	ByScan              // through the whole index
	ByLookup            // from another index of the table
	ByWrite             // to change it
)

// Count is how many keys of an index a statement has touched in one way, with locks of a mode.
type Count struct {
	Index   *Index
	Way     Way
	Mode    lock.Mode // lock.NL where no lock was taken
	Granted int       // keys that were locked at once, or read without a lock
	Waited  int       // keys that were locked after a wait
	Skipped int       // keys that READPAST left out
	Ghosts  int       // of all these, those without a row for the statement
}

// Forget says that nobody asks a statement that has ended for anything again: the next one may use its memory.
func (st *Statement) Forget() { st.session.idle = st }

// Counts is what the statement has touched so far, in the order of first touching.
func (st *Statement) Counts() []Count { return st.counts }

// counter returns the count of an index, a way and a mode.
func (st *Statement) counter(ix *Index, way Way, mode lock.Mode) *Count {
	for i := range st.counts {
		if c := &st.counts[i]; c.Index == ix && c.Way == way && c.Mode == mode {
			return c
		}
	}
	st.counts = append(st.counts, Count{Index: ix, Way: way, Mode: mode})
	return &st.counts[len(st.counts)-1]
}

func (c *Count) add(a lock.Answer) {
	switch a {
	case lock.Granted:
		c.Granted++
	case lock.Waited:
		c.Waited++
	case lock.Refused:
		c.Skipped++
	}
}

// breath is how many rows a statement looks at or adds before it lets others run.
const breath = 64

// breathe lets other sessions run now and then, so that a statement with many rows does not keep them all waiting, and
// ends one whose client has given up.
func (st *Statement) breathe() error {
	if st.steps++; st.steps%breath != 0 {
		return nil
	}
	st.engine.looked(schedule.Versions)
	st.engine.scheduler.Yield(st.session.client.ID, schedule.Point{Kind: "row"})
	return st.ctx.Err()
}
