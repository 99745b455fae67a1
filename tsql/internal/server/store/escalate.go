package store

import "github.com/duroxide/duroxide-go/tsql/internal/server/lock"

// Lock escalation: when a statement has locked many keys of one index, the transaction takes a lock on the table
// instead, if nobody is in its way, and gives the locks on keys back. It never waits for that.
const (
	escalateAt    = 5000 // keys of one index that one statement has locked
	escalateAgain = 4    // it tries again a quarter of that later: 1,250 locks
)

// whole is a table that the transaction has locked as a whole, so that it needs no locks on keys.
type whole struct {
	table *Table
	mode  lock.Mode // S or X
}

// covers reports whether a lock on the whole table stands for one on a key.
func (tx *transaction) covers(t *Table, mode lock.Mode) bool {
	for _, w := range tx.whole {
		if w.table == t && (w.mode == lock.X || mode == lock.S || mode == lock.RangeSS) {
			return true
		}
	}
	return false
}

// holdsWhole notes that the transaction has locked a whole table.
func (tx *transaction) holdsWhole(t *Table, mode lock.Mode) {
	if (mode == lock.S || mode == lock.X) && !tx.covers(t, mode) {
		tx.whole = append(tx.whole, whole{t, mode})
	}
}

// resource is what stands for a table.
func (t *Table) resource() lock.Resource {
	return lock.Resource{Kind: lock.Object, Database: t.Database, Object: t.ID}
}

// lockKey asks for a lock on a key of an index, unless the whole table or its page is locked, and counts the key. The
// hold is nil unless there is a lock on the key.
func (st *Statement) lockKey(
	ix *Index, way Way, grain Grain, r *lock.Resource, mode lock.Mode, d lock.Duration, p patience,
) (*lock.Hold, lock.Answer, error) {
	whole := st.tx.covers(ix.Table, mode)
	if !whole && st.engine.Pages {
		var err error
		if whole, err = st.lockPage(ix, grain, mode, d, p); err != nil {
			return nil, lock.Refused, err
		}
	}
	if whole {
		st.counter(ix, way, lock.NL).Granted++
		return nil, lock.Granted, nil
	}
	h, answer, err := st.lock(r, mode, d, p)
	if err != nil {
		return nil, answer, err
	}
	st.counter(ix, way, mode).add(answer)
	if st.tx.owner.Count() >= st.escalation && st.escalate(ix.Table) && d != lock.Row && d != lock.Change {
		h = nil // it has been given back
	}
	return h, answer, nil
}

// escalate locks the table as a whole if the statement has locked so many keys of one of its indexes, and reports
// whether it has.
func (st *Statement) escalate(t *Table) bool {
	owner, locks := &st.tx.owner, st.engine.locks
	keys := make(map[int32]int) // by index
	most := 0
	owner.Since(st.locked, func(h *lock.Hold) {
		if r := h.Resource(); t.has(&r) {
			keys[r.Index]++
			most = max(most, keys[r.Index])
		}
	})
	if at := st.engine.escalateAt; most < at {
		st.escalation = owner.Count() + at - most
		return false
	}
	st.escalation = owner.Count() + max(1, st.engine.escalateAt/escalateAgain)
	if t.NoEscalation {
		return false
	}
	mode := lock.S
	owner.Since(0, func(h *lock.Hold) {
		if r := h.Resource(); t.has(&r) && h.Mode() != lock.S && h.Mode() != lock.RangeSS {
			mode = lock.X
		}
	})
	request := lock.Request{Resource: t.resource(), Mode: mode, Duration: lock.Transaction, NoWait: true}
	h, _, err := locks.Acquire(st.ctx, owner, &request)
	if err != nil || h == nil {
		return false
	}
	h.Escalated()
	st.tx.holdsWhole(t, mode)
	st.giveBackKeys(t)
	st.escalation = owner.Count() + st.engine.escalateAt
	return true
}

// giveBackKeys ends the locks on keys of a table, but for those of rows that cursors are on.
func (st *Statement) giveBackKeys(t *Table) {
	locks := st.engine.locks
	kept := st.held[:0]
	for _, h := range st.held {
		if r := h.Resource(); t.has(&r) {
			locks.Release(h, lock.Statement)
		} else {
			kept = append(kept, h)
		}
	}
	st.held = kept
	st.tx.owner.Since(0, func(h *lock.Hold) {
		if r := h.Resource(); t.has(&r) {
			locks.ReleaseTransaction(h)
		}
	})
}

// has reports whether a resource is a part of the table.
func (t *Table) has(r *lock.Resource) bool {
	return r.Object == t.ID && r.Database == t.Database && (r.Kind == lock.Key || r.Kind == lock.End || r.Kind == lock.RID)
}
