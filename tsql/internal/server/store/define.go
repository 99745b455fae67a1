package store

import (
	"cmp"
	"slices"
)

// AddIndex builds an index of all rows. A clustered index takes the place of the heap. A *DuplicateError leaves the
// table as it was. Whoever adds an index has the table to itself, and registers DropIndex (or RestoreIndex of the heap
// whose place it took) with [Session.Undo].
func (t *Table) AddIndex(spec IndexSpec) (*Index, error) {
	ix := &Index{IndexSpec: spec, Table: t}
	list := append(slices.Clone(t.indexes), ix)
	if ix.isBase() && len(t.indexes) > 0 {
		list = append([]*Index{ix}, t.indexes[1:]...)
	}
	if err := t.arrange(list); err != nil {
		return nil, err
	}
	return ix, nil
}

// DropIndex removes an index. A heap takes the place of a clustered one: it is then the first of [Table.Indexes].
func (t *Table) DropIndex(ix *Index) {
	i := slices.Index(t.indexes, ix)
	if i < 0 {
		return
	}
	list := slices.Delete(slices.Clone(t.indexes), i, i+1)
	if i == 0 {
		list = append([]*Index{{IndexSpec: IndexSpec{Heap: true}, Table: t}}, list...)
	}
	// Fewer indexes, or others without a key of their own, can have no duplicate.
	if err := t.arrange(list); err != nil {
		panic(err)
	}
}

// RestoreIndex undoes DropIndex. A clustered index or a heap takes the place of what has taken its own.
func (t *Table) RestoreIndex(ix *Index) {
	list := append(slices.Clone(t.indexes), ix)
	if ix.isBase() {
		list = append([]*Index{ix}, t.indexes[1:]...)
	}
	if err := t.arrange(list); err != nil {
		panic(err) // the rows are those that it had
	}
}

func (ix *Index) isBase() bool { return ix.Clustered || ix.Heap }

// arrange makes the table have these indexes, the base first, with all versions of all rows in them. A *DuplicateError
// leaves it as it was.
func (t *Table) arrange(list []*Index) error {
	slices.SortStableFunc(list[1:], func(a, b *Index) int { return cmp.Compare(a.ID, b.ID) })
	var rows []*Row
	t.everyRow(func(r *Row) { rows = append(rows, r) })
	before := t.indexes
	t.assemble(list, rows)
	for _, ix := range list {
		if slices.Contains(before, ix) && ix != list[0] {
			continue // it had no duplicate before
		}
		if v := ix.duplicate(); v != nil {
			t.assemble(before, rows)
			return &DuplicateError{Index: ix, Values: v}
		}
	}
	return nil
}

// assemble builds all indexes anew.
func (t *Table) assemble(list []*Index, rows []*Row) {
	t.indexes, t.slots, t.rows = list, len(list), 0
	for slot, ix := range list {
		ix.slot = slot
		ix.clear()
	}
	for _, row := range rows {
		for v := row.head; v != nil; v = v.older {
			if v.values == nil {
				continue
			}
			v.keys = t.keysOf(row, v.values)
			for _, ix := range list {
				if key := v.keys[ix.slot]; key != "" {
					ix.add(key, row)
				}
			}
		}
		t.tally(nil, row.head)
	}
}

// duplicate returns the values of a row whose key a unique index has twice; nil if there is none.
func (ix *Index) duplicate() []Value {
	if !ix.Unique {
		return nil
	}
	var found []Value
	ix.tree.Scan(func(_ string, e *entry) bool {
		if len(e.more) == 0 {
			return true
		}
		first := e.live(ix)
		for _, row := range e.more {
			if row != first && row.head.key(ix) == e.key {
				found = row.head.values
				return false
			}
		}
		return true
	})
	return found
}

// Rewrite replaces the values of every row, as ALTER TABLE does, and rebuilds the indexes. An error leaves the table as
// it was. Undo puts the old values back, and the caller registers it with [Session.Undo].
func (t *Table) Rewrite(f func(values []Value) ([]Value, error)) (undo func(), err error) {
	type old struct {
		version *version
		values  []Value
	}
	var olds []old
	var rows []*Row
	t.everyRow(func(r *Row) {
		rows = append(rows, r)
		for v := r.head; v != nil; v = v.older {
			if v.values != nil {
				olds = append(olds, old{v, v.values})
			}
		}
	})
	undo = func() {
		for _, o := range olds {
			o.version.values = o.values
		}
		if err := t.arrange(t.indexes); err != nil {
			panic(err) // the values are those that it had
		}
	}
	changed := make([][]Value, len(olds))
	for i, o := range olds {
		if changed[i], err = f(o.values); err != nil {
			return nil, err
		}
	}
	for i, o := range olds {
		o.version.values = changed[i]
	}
	t.assemble(t.indexes, rows)
	for _, ix := range t.indexes {
		if v := ix.duplicate(); v != nil {
			undo()
			return nil, &DuplicateError{Index: ix, Values: v}
		}
	}
	return undo, nil
}
