package store

import (
	"errors"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
)

// ErrGone says that a row to be changed has been deleted. It cannot happen to a row on which the statement has a lock.
var ErrGone = errors.New("store: the row has been deleted")

// write is one row's change while it is being made: index by index, as the locks are granted.
type write struct {
	st     *Statement
	table  *Table
	row    *Row
	keys   []string // of the new version; nil for a delete
	values []Value
	unique bool         // check unique keys at once
	held   []*lock.Hold // of lock.Change
}

// begin takes the table's IX lock.
func (st *Statement) begin(t *Table) error {
	if st.tx.ended {
		return errEnded
	}
	t.touched = true
	if t.Private {
		return nil
	}
	// The snapshot is what is committed now, and not when the locks have been waited for.
	if err := st.admit(t); err != nil {
		return err
	}
	if err := st.lockObject(t.Database, t.ID, lock.IX, lock.Transaction); err != nil {
		return err
	}
	return st.stamp(t)
}

// Insert adds a row. A *DuplicateError leaves the table as it was.
func (st *Statement) Insert(t *Table, values []Value) (*Row, error) {
	if err := st.breathe(); err != nil {
		return nil, err
	}
	if err := st.begin(t); err != nil {
		return nil, err
	}
	t.last++
	w := write{st: st, table: t, row: &Row{id: t.last}, values: values, unique: true}
	defer w.done()
	w.keys = t.keysOf(w.row, values)
	// The row is there once the first index has it, as in SQL Server: while the others are waited for, dirty readers of
	// the first see it.
	st.put(t, w.row, values, w.keys)
	for _, ix := range t.indexes {
		if key := w.keys[ix.slot]; key != "" {
			if err := w.newKey(ix, key); err != nil {
				st.takeBack(t)
				return nil, err
			}
			w.giveBack()
		}
	}
	return w.row, nil
}

// Update changes a row. A *DuplicateError leaves the row as it was.
func (st *Statement) Update(t *Table, row *Row, values []Value) error {
	return st.update(t, row, values, true)
}

func (st *Statement) update(t *Table, row *Row, values []Value, unique bool) error {
	w := write{st: st, table: t, row: row, values: values, unique: unique}
	defer w.done()
	old, err := w.claim()
	if err != nil {
		return err
	}
	w.keys = t.keysOf(row, values)
	if err := w.move(old); err != nil {
		for _, ix := range t.indexes { // keys that it has put in place already
			if key := w.keys[ix.slot]; key != "" && !row.has(ix, key) {
				st.engine.dropKey(garment{ix, key, row}, &st.tx.owner)
			}
		}
		return err
	}
	if same(w.keys, old.keys) {
		w.keys = old.keys
	}
	st.put(t, row, values, w.keys)
	return nil
}

// Delete removes a row.
func (st *Statement) Delete(t *Table, row *Row) error {
	w := write{st: st, table: t, row: row}
	defer w.done()
	old, err := w.claim()
	if err != nil {
		return err
	}
	w.passOn()
	for _, ix := range t.indexes[1:] {
		if key := old.keys[ix.slot]; key != "" {
			if err := w.lock(ix, key); err != nil {
				return err
			}
		}
	}
	st.put(t, row, nil, nil)
	return nil
}

// Change is a row with its new values.
type Change struct {
	Row    *Row
	Values []Value
}

// UpdateAll changes different rows at once: unique indexes are checked only when all keys have moved, so that keys can
// be swapped. After an error the statement must be ended with it.
func (st *Statement) UpdateAll(t *Table, changes []Change) error {
	for _, c := range changes {
		if err := st.update(t, c.Row, c.Values, false); err != nil {
			return err
		}
	}
	for _, c := range changes {
		for _, ix := range t.indexes {
			if !ix.Unique {
				continue
			}
			if key := c.Row.head.key(ix); key != "" && ix.taken(key, c.Row) {
				return &DuplicateError{Index: ix, Values: c.Values}
			}
		}
	}
	return nil
}

// claim takes the X lock on a row, and returns its present version.
func (w *write) claim() (*version, error) {
	st, t, row := w.st, w.table, w.row
	if err := st.begin(t); err != nil {
		return nil, err
	}
	base := t.base()
	for {
		v := row.head
		if v != nil && v.values == nil {
			v = v.older // the delete may be undone yet: its lock is on the key that the row had
		}
		if v == nil {
			return nil, st.gone(t, row)
		}
		key := v.keys[base.slot]
		if err := w.lock(base, key); err != nil {
			return nil, err
		}
		if row.head == nil || row.head.values == nil {
			return nil, st.gone(t, row)
		}
		if err := st.unchanged(t, row); err != nil {
			return nil, err
		}
		if row.head.keys[base.slot] == key {
			return row.head, nil
		}
	}
}

// gone returns the error for a row that has been deleted.
func (st *Statement) gone(t *Table, row *Row) error {
	if err := st.unchanged(t, row); err != nil {
		return err
	}
	return ErrGone
}

// lock takes an X lock on a key.
func (w *write) lock(ix *Index, key string) error {
	if w.table.Private {
		return nil
	}
	r := ix.resource(key)
	return w.take(ix, &r, lock.X, w.duration(&r))
}

// take locks a key for as long as the row is being changed, or the transaction lasts.
func (w *write) take(ix *Index, r *lock.Resource, mode lock.Mode, d lock.Duration) error {
	h, _, err := w.st.lockStable(ix, ByWrite, GrainRow, r, mode, d, waiting)
	if h != nil && d == lock.Change {
		w.held = append(w.held, h)
	}
	return err
}

// move locks the keys that change, and puts the new ones in place.
func (w *write) move(old *version) error {
	for i, ix := range w.table.indexes {
		if i == 1 {
			w.passOn()
		}
		from, to := old.keys[ix.slot], w.keys[ix.slot]
		if from == to {
			if i > 0 && from != "" && ix.changed(old.values, w.values) {
				if err := w.lock(ix, from); err != nil {
					return err
				}
			}
			continue
		}
		if from != "" && i > 0 {
			if err := w.lock(ix, from); err != nil {
				return err
			}
		}
		if to != "" {
			if err := w.newKey(ix, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// newKey locks a key that the row is about to get, checks that it is free if the index is unique, and puts the row
// under it.
func (w *write) newKey(ix *Index, key string) error {
	if !w.table.Private {
		if err := w.lockNewKey(ix, key); err != nil {
			return err
		}
	}
	if w.unique && ix.Unique && ix.taken(key, w.row) {
		return &DuplicateError{Index: ix, Values: w.values}
	}
	if !w.table.Private && w.st.options.Isolation == SnapshotIsolation && w.hides(ix, key) {
		return fault.New(3960, w.table.Name, w.table.DatabaseName)
	}
	w.st.engine.fill(ix, key)
	ix.add(key, w.row)
	return nil
}

// lockNewKey locks a key that comes into being.
//
// Such a key divides a gap, which others may have locked: RangeI-N on the key behind it tests that. The test is worth
// something only if nobody else has run since, so it is repeated until nothing has to be waited for.
func (w *write) lockNewKey(ix *Index, key string) error {
	locks, held := w.st.engine.locks, lock.NL
	for !w.st.tx.covers(ix.Table, lock.X) {
		r, mode := ix.resource(key), lock.X
		d := w.duration(&r)
		if locks.Ranges() {
			again, own, err := w.testGap(ix, key)
			if err != nil {
				return err
			}
			if again {
				continue
			}
			if own {
				mode, d = lock.RangeXX, lock.Transaction // both parts of the gap stay locked
			}
		}
		if lock.Supremum(held, mode) == held {
			return nil
		}
		pauses := locks.Pauses()
		if err := w.take(ix, &r, mode, d); err != nil {
			return err
		}
		held = mode
		if locks.Pauses() == pauses {
			return nil
		}
	}
	return nil
}

// hides reports whether the transaction's snapshot has another row under a unique key that is free by now: whoever
// freed it did so after the snapshot, and is in conflict with the insert.
func (w *write) hides(ix *Index, key string) bool {
	e, ok := ix.tree.Get(key)
	if !ok || !ix.Unique {
		return false
	}
	r := w.st.reader(Snapshot, true)
	row, _ := e.find(ix, &r)
	return row != nil && row != w.row && !row.head.committed(&r)
}

// testGap waits until nobody else protects the gap that the key falls into. Again says that the test must be repeated;
// own, that the transaction itself protects the gap.
func (w *write) testGap(ix *Index, key string) (again, own bool, err error) {
	if _, ok := ix.tree.Get(key); ok {
		return false, false, nil // the key is there, if only as a ghost: no gap is divided
	}
	r, behind := ix.end(), ix.following(key)
	if behind != nil {
		r = ix.resource(behind.key)
	}
	if _, _, err := w.st.lockKey(ix, ByWrite, GrainRow, &r, lock.RangeIN, lock.Instant, waiting); err != nil {
		return false, false, err
	}
	if ix.following(key) != behind {
		return true, false, nil
	}
	return false, w.st.engine.locks.Held(&w.st.tx.owner, r).IsRange(), nil
}

// taken reports whether another row has the key now.
func (ix *Index) taken(key string, but *Row) bool {
	e, ok := ix.tree.Get(key)
	if !ok {
		return false
	}
	if e.row != nil && e.row != but && e.row.head.key(ix) == key {
		return true
	}
	for _, row := range e.more {
		if row != but && row.head.key(ix) == key {
			return true
		}
	}
	return false
}

// put makes a new version the newest one, and logs it. Nil values delete the row.
func (st *Statement) put(t *Table, row *Row, values []Value, keys []string) {
	v := &version{values: values, keys: keys, statement: st.id, older: row.head}
	t.tally(row.head, v)
	row.head = v
	if e := st.engine; e.observer != nil && !t.Private {
		e.changed(schedule.Versions, 0)
		e.observer.Wrote()
	}
	c := change{table: t, row: row, version: v}
	if t.SurvivesRollback {
		st.survives = append(st.survives, c)
		return
	}
	st.tx.wrote = true
	st.tx.logged = st.tx.logged || !t.Private
	v.writer = &st.tx.writer
	st.tx.log = append(st.tx.log, c)
}

// takeBack undoes the last put.
func (st *Statement) takeBack(t *Table) {
	log := &st.tx.log
	if t.SurvivesRollback {
		log = &st.survives
	}
	last := len(*log) - 1
	c := (*log)[last]
	*log = (*log)[:last]
	c.undone(st.engine, &st.tx.owner)
}

func same(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Truncate removes all rows under a Sch-M lock. It keeps no versions: a snapshot finds no rows afterwards.
func (st *Statement) Truncate(t *Table) error {
	if st.tx.ended {
		return errEnded
	}
	if !t.Private {
		if err := st.lockObject(t.Database, t.ID, lock.SchM, lock.Transaction); err != nil {
			return err
		}
	}
	t.touched = true
	var rows []*Row
	t.everyRow(func(r *Row) { rows = append(rows, r) })
	for _, ix := range t.indexes {
		ix.clear()
	}
	t.rows = 0
	undo := func() { t.assemble(t.indexes, rows) }
	if t.SurvivesRollback {
		st.survives = append(st.survives, change{undo: undo})
	} else {
		st.session.Undo(undo)
	}
	return nil
}
