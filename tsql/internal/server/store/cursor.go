package store

import (
	"errors"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
)

// Cursor walks through a range of an index.
type Cursor struct {
	st     *Statement
	index  *Index
	access Access
	mode   lock.Mode // of keys; lock.NL where none are locked
	walk   walk
	begun  bool
	gapped bool // the gap behind the range is locked
	kept   bool
	key    *lock.Hold // row by row, on the key in the index
	base   *lock.Hold // row by row, on the row itself where the index is another one
	row    *Row
	values []Value

	prev, next *Cursor // of the statement's open cursors
	closed     bool
}

// errEnded is for who reads or writes for a transaction that is over.
var errEnded = errors.New("store: the transaction of the statement has ended")

// Scan returns a cursor before the first row of the range, or behind the last one if reverse.
func (st *Statement) Scan(ix *Index, r Range, reverse bool, a Access) *Cursor {
	c := &Cursor{}
	st.ScanWith(c, ix, r, reverse, a)
	return c
}

// ScanWith is Scan with a cursor that has been closed, or that is new.
func (st *Statement) ScanWith(c *Cursor, ix *Index, r Range, reverse bool, a Access) {
	if a.Mode == lock.NL {
		a.Mode = lock.S
	}
	if ix.Table.Private {
		a.Read = Locked // nobody else changes it: the newest version is the right one
	}
	if a.Range && ix.Heap && a.Read == Locked {
		a.Grain = GrainTable // a heap has no gaps that could be locked
	}
	st.reader(a.Read, a.Own) // a snapshot is what is committed now, and not when the first row is asked for
	*c = Cursor{
		st: st, index: ix, access: a, walk: walk{engine: st.engine, index: ix, bounds: r, reverse: reverse}, next: st.cursors,
	}
	if a.Read == Locked && a.Grain != GrainTable && !ix.Table.Private {
		c.mode = a.Mode
	}
	if st.cursors != nil {
		st.cursors.prev = c
	}
	st.cursors = c
}

// Next moves to the next row. False without an error is the end.
func (c *Cursor) Next() (bool, error) {
	c.leave()
	if c.closed || c.st.tx.ended {
		return false, errEnded
	}
	if err := c.st.breathe(); err != nil {
		return false, err
	}
	if !c.begun {
		c.st.session.reads++
		if err := c.begin(); err != nil {
			return false, err
		}
		c.begun = true
	}
	if c.mode == lock.NL {
		return c.nextUnlocked()
	}
	return c.nextLocked()
}

// Row is the row that the cursor is on.
func (c *Cursor) Row() *Row { return c.row }

// Values is the version of the row that the cursor sees. Nobody may change it.
func (c *Cursor) Values() []Value { return c.values }

// Key is the key in the index of the row that the cursor is on.
func (c *Cursor) Key() string { return c.walk.last }

// Keep says that the row qualifies: its locks stay as Access.Keep says. Otherwise they are given back when the cursor
// moves on. With Access.Lookup, the lock on the index's key has been decided on by then: it stays as Access.Keep says
// once Filter has let the key pass, whatever becomes of the row.
func (c *Cursor) Keep() { c.kept = true }

// Close gives back what the cursor holds. It may be called again.
func (c *Cursor) Close() {
	if c.closed {
		return
	}
	c.leave()
	c.walk.close()
	c.closed = true
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		c.st.cursors = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// begin locks the table: with an intent mode, or as a whole.
func (c *Cursor) begin() error {
	t, a := c.index.Table, &c.access
	if t.Private {
		return nil
	}
	mode, d := lock.SchS, lock.Statement
	switch {
	case a.Read != Locked && a.Mode == lock.S:
	case a.Grain == GrainTable && a.Mode == lock.S:
		mode = lock.S
	case a.Grain == GrainTable:
		mode = lock.X // there is no U lock on a whole table
	case a.Mode == lock.S:
		mode = lock.IS
	default:
		mode = lock.IX
	}
	if mode != lock.SchS && (a.Keep == KeepTransaction || a.Range || mode == lock.X) {
		d = lock.Transaction
	}
	if a.Read == Snapshot {
		if err := c.st.admit(t); err != nil {
			return err
		}
	}
	switch {
	case a.Grain == GrainTable && d == lock.Transaction:
		return c.st.LockTable(t, mode)
	case a.NoWait && a.Grain != GrainTable:
		r := t.resource()
		_, _, err := c.st.lock(&r, mode, d, failing)
		return err
	default:
		return c.st.lockObject(t.Database, t.ID, mode, d)
	}
}

// leave gives back what is locked for the row that the cursor is on, or keeps it.
func (c *Cursor) leave() {
	if c.key != nil || c.base != nil {
		if !c.st.tx.ended { // else its locks are gone
			c.settle(c.key, c.kept)
			c.settle(c.base, c.kept)
		}
		c.key, c.base = nil, nil
	}
	c.row, c.values, c.kept = nil, nil, false
}

// settle gives a lock back that is held row by row, or makes it last as the access says.
func (c *Cursor) settle(h *lock.Hold, keep bool) {
	if h == nil {
		return
	}
	locks := c.st.engine.locks
	if !keep || c.access.Keep == KeepRow || c.st.tx.covers(c.index.Table, h.Mode()) {
		locks.Release(h, lock.Row)
		return
	}
	d := c.access.Keep.duration()
	locks.Lengthen(h, lock.Row, d)
	if d == lock.Statement {
		c.st.held = append(c.st.held, h)
	}
}

// nextUnlocked reads without locks on keys: versions, dirty rows, or under a lock on the whole table.
func (c *Cursor) nextUnlocked() (bool, error) {
	for {
		e := c.walk.peek()
		if e == nil {
			return false, nil
		}
		c.walk.pass()
		r := c.st.reader(c.access.Read, c.access.Own)
		row, v := e.find(c.index, &r)
		n := c.st.counter(c.index, c.way(c.index), lock.NL)
		n.Granted++
		if v == nil {
			n.Ghosts++
			continue
		}
		if ok, err := c.passes(v); err != nil {
			return false, err
		} else if !ok {
			continue
		}
		if c.access.Read == Snapshot && c.access.Mode != lock.S && !c.access.Qualify && !c.index.Table.Private {
			if ok, err := c.claim(row, v); err != nil {
				return false, err
			} else if !ok {
				continue
			}
		}
		if base := c.index.Table.base(); c.access.Lookup && c.base == nil && c.index != base {
			c.st.counter(base, ByLookup, lock.NL).Granted++
		}
		c.row, c.values = row, v.values
		return true, nil
	}
}

// passes asks the filter about a version.
func (c *Cursor) passes(v *version) (bool, error) {
	if c.access.Filter == nil {
		return true, nil
	}
	return c.access.Filter(v.values)
}

// claim locks a row that was found in a snapshot, and checks that it still is what was found. False means that READPAST
// leaves it out.
func (c *Cursor) claim(row *Row, v *version) (bool, error) {
	base := c.index.Table.base()
	h, answer, err := c.lockKey(base, v.keys[base.slot], c.access.Mode, lock.Row)
	if err != nil || answer == lock.Refused {
		return false, err
	}
	c.base = h
	return true, c.st.unchanged(c.index.Table, row)
}

// unchanged returns error 3960 if somebody has changed a row since the transaction's snapshot.
func (st *Statement) unchanged(t *Table, row *Row) error {
	if st.options.Isolation != SnapshotIsolation || t.Private || row.head == nil {
		return nil
	}
	r := st.reader(Snapshot, true)
	if row.head.committed(&r) {
		return nil
	}
	return fault.New(3960, t.Name, t.DatabaseName)
}

// lockKey locks a key of an index, of which nobody has changed a row and not committed, and counts it.
func (c *Cursor) lockKey(ix *Index, key string, mode lock.Mode, d lock.Duration) (*lock.Hold, lock.Answer, error) {
	r := ix.resource(key)
	return c.st.lockStable(ix, c.way(ix), c.access.Grain, &r, mode, d, c.patience())
}

func (c *Cursor) patience() patience {
	switch {
	case c.access.ReadPast:
		return skipping
	case c.access.NoWait:
		return failing
	default:
		return waiting
	}
}

// way is how the cursor comes to the keys of an index.
func (c *Cursor) way(ix *Index) Way {
	switch {
	case ix != c.index:
		return ByLookup
	case c.walk.bounds.HasLow || c.walk.bounds.HasHigh:
		return BySeek
	default:
		return ByScan
	}
}

// nextLocked locks key after key. Whenever a lock had to be waited for, the place is looked up again: another key may
// be the next one now.
func (c *Cursor) nextLocked() (bool, error) {
	for {
		e := c.walk.peek()
		// A walk upwards meets the gap behind the range in the end, a walk downwards at first.
		if c.access.Range && !c.gapped && (e == nil && !c.walk.single || c.walk.reverse && !c.walk.direct) {
			if err := c.lockGap(); err != nil {
				return false, err
			}
			continue // a key may have come while the gap's lock was waited for
		}
		if e == nil {
			return false, nil
		}
		found, err := c.visit(e)
		if found || err != nil {
			return found, err
		}
	}
}

// lockGap locks the key behind the range, or the end of the index. The gap counts as locked if it still ends there
// afterwards.
func (c *Cursor) lockGap() error {
	end := c.walk.gap()
	r := c.index.end()
	if end != nil {
		r = c.index.resource(end.key)
	}
	if _, _, err := c.st.lockStable(c.index, c.way(c.index), c.access.Grain, &r, rowMode(c.access.Mode, true), lock.Transaction, c.patience()); err != nil {
		return err
	}
	c.gapped = c.walk.gap() == end
	return nil
}

// visit locks a key and stays on its row if it qualifies. False without an error means: go on from the walk's place.
func (c *Cursor) visit(e *entry) (bool, error) {
	st, ix := c.st, c.index
	// A unique key that was asked for as a whole needs no gap: nobody can add another row to the range.
	mode, d := rowMode(c.access.Mode, c.access.Range && !c.walk.direct), lock.Row
	if c.access.Range {
		d = lock.Transaction
	}
	h, answer, err := c.lockKey(ix, e.key, mode, d)
	if err != nil {
		return false, err
	}
	if answer == lock.Refused {
		c.walk.pass()
		return false, nil
	}
	if d == lock.Row {
		c.key = h
	}
	if c.walk.peek() != e { // it went, or another one came before it, while the lock was waited for
		c.leave()
		return false, nil
	}
	r := st.reader(Locked, c.access.Own)
	row, v := e.find(ix, &r)
	c.walk.pass()
	if err := c.conflict(e, row, v); err != nil {
		return false, err
	}
	if v == nil {
		st.counter(ix, c.way(ix), mode).Ghosts++
		c.leave()
		return false, nil
	}
	ok, err := c.passes(v)
	if err != nil {
		return false, err
	}
	if !ok {
		c.leave()
		return false, nil
	}
	if c.access.Lookup && ix != ix.Table.base() {
		if v, err = c.lookUp(e, row, v); err != nil {
			return false, err
		}
		if v == nil {
			c.leave()
			return false, nil
		}
	}
	c.row, c.values = row, v.values
	return true, nil
}

// conflict returns error 3960 if the access asks for it and what a key has now is not what it has in the transaction's
// snapshot.
func (c *Cursor) conflict(e *entry, row *Row, v *version) error {
	if !c.access.Conflicts || c.st.options.Isolation != SnapshotIsolation || c.index.Table.Private {
		return nil
	}
	r := c.st.reader(Snapshot, true)
	before, old := e.find(c.index, &r)
	if old == v || old != nil && v != nil && before == row && !c.index.changed(old.values, v.values) {
		return nil
	}
	return fault.New(3960, c.index.Table.Name, c.index.Table.DatabaseName)
}

// lookUp locks the row itself, while the lock on the index's key is held. It returns the version that the cursor sees
// then; nil if the row is left out or has gone.
func (c *Cursor) lookUp(e *entry, row *Row, v *version) (*version, error) {
	if c.key != nil && c.access.Keep != KeepRow {
		c.settle(c.key, true)
		c.key = nil
	}
	d := lock.Row
	if c.access.Range {
		d = lock.Transaction
	}
	base := c.index.Table.base()
	key := v.keys[base.slot]
	h, answer, err := c.lockKey(base, key, rowMode(c.access.Mode, false), d)
	if err != nil || answer == lock.Refused {
		return nil, err
	}
	if d == lock.Row {
		c.base = h
	}
	r := c.st.reader(Locked, c.access.Own)
	now := r.sees(row)
	if now == v {
		return v, nil
	}
	if now.key(c.index) != e.key || now.key(base) != key {
		return nil, nil
	}
	if ok, err := c.passes(now); err != nil || !ok {
		return nil, err
	}
	return now, nil
}
