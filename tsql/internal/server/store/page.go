package store

import "github.com/duroxide/duroxide-go/tsql/internal/server/lock"

// Pages. An index is taken to have one page, as that of a small table has: a lock on the page stands for locks on all
// of its keys. Pages are locked only while Engine.Pages is set, and not under optimized locking, where none stays
// locked; then who locks a key has an intent lock on its page too.

// page is what stands for the page of an index.
func (ix *Index) page() lock.Resource {
	return lock.Resource{Kind: lock.Page, Database: ix.Table.Database, Object: ix.Table.ID, Index: ix.ID}
}

// ofPage are the modes for a page: to stand for a lock on a key, and to announce one.
func ofPage(mode lock.Mode) (whole, intent lock.Mode) {
	switch mode {
	case lock.S, lock.RangeSS:
		return lock.S, lock.IS
	case lock.U, lock.RangeSU:
		return lock.U, lock.IU
	default:
		return lock.X, lock.IX
	}
}

// lockPage locks the page of an index where that may be: as a whole if the grain says so or the transaction has locked
// it so before, or else to announce the lock on a key. It reports whether no lock on a key is needed. READPAST does not
// pass over a page: it waits.
func (st *Statement) lockPage(ix *Index, grain Grain, mode lock.Mode, d lock.Duration, p patience) (bool, error) {
	if !st.engine.Pages || st.options.Optimized || ix.Table.Private || ix.PageLocks == nil || !ix.PageLocks() {
		return false, nil
	}
	r := ix.page()
	held := st.engine.locks.Held(&st.tx.owner, r)
	want, intent := ofPage(mode)
	searched := want == lock.X && lock.Supremum(held, lock.U) == held // what was searched by the page is changed by it
	whole := grain == GrainPage || searched || lock.Supremum(held, want) == held
	if !whole {
		want = intent
	}
	if d != lock.Transaction {
		d = lock.Statement
	}
	if p == skipping {
		p = waiting
	}
	return whole, st.lockOnce(r, want, d, p)
}

// LockPages locks the pages of all indexes of a table where that may be, for changes to the end of the transaction.
func (st *Statement) LockPages(t *Table) error {
	if err := st.begin(t); err != nil {
		return err
	}
	for _, ix := range t.indexes {
		if _, err := st.lockPage(ix, GrainPage, lock.X, lock.Transaction, waiting); err != nil {
			return err
		}
	}
	return nil
}
