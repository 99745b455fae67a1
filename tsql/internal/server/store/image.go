package store

// An image is what tables hold at one moment, for tests that begin there again and again. Nobody may be in a
// transaction when it is made or put back, and definitions must stay the same in between.

// Image is the state of an engine and of some of its tables.
type Image struct {
	engine       *Engine
	commits      uint64
	statements   uint64
	transactions int64
	tables       []tableImage
}

// tableImage is what a table holds. Versions that are committed and that nobody else replaces stay as they are.
type tableImage struct {
	table *Table
	last  uint64
	rows  []Row
}

// Save makes an image.
func (e *Engine) Save(tables []*Table) *Image {
	e.settle()
	i := &Image{engine: e, commits: e.commits, statements: e.statements, transactions: e.transactions}
	for _, t := range tables {
		saved := tableImage{table: t, last: t.last}
		t.everyRow(func(r *Row) { saved.rows = append(saved.rows, *r) })
		n := t.rows
		t.touched, t.planned = false, &n
		i.tables = append(i.tables, saved)
	}
	e.image = i
	return i
}

// Restore puts an image back. If it was the last that was made or put back, it is enough to do so with what was changed
// since.
func (i *Image) Restore() {
	e := i.engine
	all := e.image != i
	e.image = i
	e.settle()
	e.commits, e.statements, e.transactions = i.commits, i.statements, i.transactions
	for _, saved := range i.tables {
		if all || saved.table.touched {
			saved.restore()
		}
	}
}

// settle forgets what waited for snapshots and locks, of which there are none.
func (e *Engine) settle() {
	e.collect(nil)
	for _, g := range e.deferred {
		if !g.row.has(g.index, g.key) {
			g.index.remove(g.key, g.row)
		}
	}
	clear(e.deferred)
	e.deferred = e.deferred[:0]
}

func (s *tableImage) restore() {
	t := s.table
	t.last, t.rows, t.touched = s.last, 0, false
	for _, ix := range t.indexes {
		ix.clear()
	}
	for _, saved := range s.rows {
		row := &Row{id: saved.id, head: saved.head}
		for _, ix := range t.indexes {
			if key := row.head.key(ix); key != "" {
				ix.add(key, row)
			}
		}
		t.tally(nil, row.head)
	}
}

// At is the newest row that an index has under a key; nil if there is none.
func (t *Table) At(index int32, key string) []Value {
	for _, ix := range t.indexes {
		if ix.ID != index {
			continue
		}
		e, ok := ix.tree.Get(key)
		if !ok || e.row == nil {
			continue
		}
		for v := e.row.head; v != nil; v = v.older {
			if v.key(ix) == key {
				return v.values
			}
		}
	}
	return nil
}
