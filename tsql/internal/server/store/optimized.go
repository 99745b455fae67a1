package store

import (
	"slices"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
)

// Optimized locking: a transaction that changes rows locks its own number to its end, and the keys only while it
// changes them. Each version of a row names the transaction that wrote it, so whoever locks a key looks at its rows
// first: if a transaction that has not ended has changed one, the key is given back, and the transaction's end is
// waited for with an S lock on its number. A statement may also look for rows without locks, among those that were
// committed when it began, and lock what it has found afterwards: see Access.Qualify.

// stamp locks the transaction's own number, once in each database where it changes rows.
func (st *Statement) stamp(t *Table) error {
	tx := st.tx
	if !st.options.Optimized || slices.Contains(tx.stamped, t.Database) {
		return nil
	}
	r := tx.writer.resource(t.Database)
	if _, _, err := st.lock(&r, lock.X, lock.Transaction, waiting); err != nil {
		return err
	}
	if len(tx.stamped) == 0 {
		st.engine.stamped++
	}
	tx.stamped = append(tx.stamped, t.Database)
	return nil
}

// unstamp forgets the locks on the transaction's number, if they are gone.
func (tx *transaction) unstamp(e *Engine) {
	if len(tx.stamped) == 0 {
		return
	}
	tx.stamped = slices.DeleteFunc(tx.stamped, func(database int32) bool {
		return tx.ended || e.locks.Held(&tx.owner, tx.writer.resource(database)) == lock.NL
	})
	if len(tx.stamped) == 0 {
		e.stamped--
	}
}

// resource is what stands for the transaction.
func (w *writer) resource(database int32) lock.Resource {
	return lock.Resource{Kind: lock.Xact, Database: database, Key: strconv.FormatInt(w.id, 10)}
}

// lockStable locks a key of which no other transaction has changed a row and not ended. It waits for such a transaction
// without the lock, for that one may need the key again.
func (st *Statement) lockStable(
	ix *Index, way Way, grain Grain, r *lock.Resource, mode lock.Mode, d lock.Duration, p patience,
) (*lock.Hold, lock.Answer, error) {
	waited := false
	for {
		h, answer, err := st.lockKey(ix, way, grain, r, mode, d, p)
		if err != nil || answer == lock.Refused {
			return h, answer, err
		}
		xact, ok := st.pending(ix, r.Key)
		if !ok {
			if waited {
				answer = lock.Waited
			}
			return h, answer, nil
		}
		if h != nil {
			st.engine.locks.Release(h, d)
		}
		request := st.request(&xact, lock.S, lock.Instant, p)
		request.For, request.ForMode = *r, mode
		if _, answer, err = st.engine.locks.Acquire(st.ctx, &st.tx.owner, &request); err != nil || answer == lock.Refused {
			return nil, answer, err
		}
		waited = true
	}
}

// pending returns what stands for another transaction that has changed a key, or a row under it, and not ended.
func (st *Statement) pending(ix *Index, key string) (lock.Resource, bool) {
	if st.engine.stamped == 0 || ix.Table.Private {
		return lock.Resource{}, false
	}
	e, ok := ix.tree.Get(key)
	if !ok || e.row == nil {
		return lock.Resource{}, false
	}
	w := e.row.changer(ix, key, &st.tx.writer)
	for i := 0; w == nil && i < len(e.more); i++ {
		w = e.more[i].changer(ix, key, &st.tx.writer)
	}
	if w == nil {
		return lock.Resource{}, false
	}
	r := w.resource(ix.Table.Database)
	return r, !st.engine.locks.Free(st.session.client, r, lock.S)
}

// changer is the transaction, other than one, that has changed what an index has of the row under a key, and not ended;
// nil if there is none.
func (r *Row) changer(ix *Index, key string, but *writer) *writer {
	if r.changing != nil && r.changing != but && ix == ix.Table.base() {
		return r.changing
	}
	if r.head == nil || r.head.writer == nil || r.head.writer == but || r.head.writer.commit != 0 {
		return nil
	}
	w := r.head.writer
	before := r.head
	for before != nil && before.writer == w {
		before = before.older
	}
	had := before.key(ix) == key
	for v := r.head; v != before; v = v.older {
		has := v.key(ix) == key
		if has != had || has && (ix == ix.Table.base() || ix.changed(before.values, v.values)) {
			return w
		}
	}
	return nil
}

// duration says how long a write locks a key: to the end of the transaction, unless its number is locked instead.
// REPEATABLE READ, SERIALIZABLE and hints that keep locks to the end keep those of writes too.
func (w *write) duration(r *lock.Resource) lock.Duration {
	st := w.st
	if !st.options.Optimized || st.options.Isolation == RepeatableRead || st.options.Isolation == Serializable {
		return lock.Transaction
	}
	h := st.engine.locks.Find(&st.tx.owner, *r)
	if h == nil {
		return lock.Change
	}
	if h.Lasts(lock.Transaction) {
		return lock.Transaction
	}
	for c := st.cursors; c != nil; c = c.next {
		if (c.key == h || c.base == h) && c.access.Keep == KeepTransaction {
			return lock.Transaction
		}
	}
	return lock.Change
}

// passOn gives the locks on the row itself back before other indexes follow. Others then wait for the transaction.
func (w *write) passOn() {
	if len(w.held) > 0 {
		w.row.changing = &w.st.tx.writer
		w.giveBack()
	}
}

// done ends the change of the row.
func (w *write) done() {
	w.row.changing = nil
	w.giveBack()
}

// giveBack ends what is locked only while the row was changed, with what cursors have locked of the row to find it.
func (w *write) giveBack() {
	st := w.st
	if len(w.held) == 0 || st.tx.ended {
		return
	}
	for _, h := range w.held {
		st.engine.locks.Release(h, lock.Change)
	}
	w.held = w.held[:0]
	for c := st.cursors; c != nil; c = c.next {
		if c.row == w.row && c.access.Keep != KeepTransaction {
			c.letGo()
		}
	}
}

// letGo gives back what is locked row by row.
func (c *Cursor) letGo() {
	for _, h := range []*lock.Hold{c.key, c.base} {
		if h != nil {
			c.st.engine.locks.Release(h, lock.Row)
		}
	}
	c.key, c.base = nil, nil
}

// Qualifies reports whether the statement may use Access.Qualify: under optimized locking, READ COMMITTED and row
// versions.
func (st *Statement) Qualifies() bool {
	return st.options.Optimized && st.options.RowVersions && st.options.Isolation == ReadCommitted
}

// Qualify locks the row that the cursor is on, which it has found without a lock. Ok says that the row is still there,
// and still in the range; same, that it has not changed since it was found. If it has, Values are what it is by now, of
// which the caller must test once more what it has tested.
func (c *Cursor) Qualify() (same, ok bool, err error) {
	base, row, found := c.index.Table.base(), c.row, c.values
	for {
		v := row.head
		if v != nil && v.values == nil {
			v = v.older // the delete may be undone yet
		}
		if v == nil {
			return false, false, nil
		}
		key := v.keys[base.slot]
		if c.base, _, err = c.lockKey(base, key, c.access.Mode, lock.Row); err != nil {
			return false, false, err
		}
		if row.head.key(base) == key {
			break
		}
		if row.head == nil || row.head.values == nil {
			return false, false, nil
		}
		c.letGo()
	}
	now := row.head
	at := now.key(c.index)
	if at == "" || !c.walk.bounds.aboveLow(at) || !c.walk.bounds.belowHigh(at) {
		return false, false, nil
	}
	c.values = now.values
	return &found[0] == &now.values[0], true, nil
}
