package store

import (
	"encoding/binary"
	"slices"

	"github.com/tidwall/btree"
)

// Table is the data of a table.
type Table struct {
	ID               int32
	Database         int32  // whose ID it is
	Name             string // with the schema, for messages
	DatabaseName     string // for messages
	Private          bool   // one session's alone: no locks (temporary tables, table variables)
	SurvivesRollback bool   // a rollback of the transaction leaves changes alone (table variables)
	NoEscalation     bool   // locks on keys never become one on the table

	indexes []*Index // the clustered one or the heap first, the others by ID
	slots   int      // how many keys a version has
	last    uint64   // the last row's id
	rows    int
	touched bool // somebody has written since Save
	planned *int // what Planned returns; nil: rows
}

// NewTable returns a table without rows and indexes. The first index that it gets must be clustered or a heap.
func NewTable(id int32, name string) *Table { return &Table{ID: id, Name: name} }

// IndexSpec describes an index.
type IndexSpec struct {
	ID        int32
	Name      string
	Unique    bool
	Clustered bool
	Heap      bool // the rows in the order of their coming; Key is not used
	// Columns are the ordinals of all columns that the index has, key columns and included ones. An update locks the
	// keys of an index only if one of them changes. Nil means all columns.
	Columns []int
	// Key encodes the key columns of a row. It must not return an empty string.
	Key func(values []Value) string
	// Contains says whether a filtered index has the row. Nil means that it has every row.
	Contains func(values []Value) bool
	// PageLocks says whether the index's page may be locked. Nil means never.
	PageLocks func() bool
}

// Index is the data of an index.
type Index struct {
	IndexSpec

	Table *Table

	slot      int // where versions have their key
	tree      btree.Map[string, *entry]
	changes   uint64 // counts keys added and removed; a cursor that finds another number has lost its place
	rows      int
	iterators []*btree.MapIter[string, *entry] // spare ones
}

// DuplicateError says that a unique index has the key already.
type DuplicateError struct {
	Index  *Index
	Values []Value // of the row that was refused
}

// Error names the index.
func (e *DuplicateError) Error() string { return "duplicate key in index " + e.Index.Name }

// Indexes are the table's indexes, the clustered one or the heap first.
func (t *Table) Indexes() []*Index { return slices.Clone(t.indexes) }

// Rows is the number of rows, uncommitted changes included.
func (t *Table) Rows() int { return t.rows }

// Planned is how many rows a planner takes the table to have: since Save those of that moment, so that a plan does not
// depend on when it was made.
func (t *Table) Planned() int {
	if t.planned != nil {
		return *t.planned
	}
	return t.rows
}

// Rows is the number of rows that the index has, uncommitted changes included.
func (ix *Index) Rows() int { return ix.rows }

// Keys is the number of keys that the index has, ghosts included.
func (ix *Index) Keys() int { return ix.tree.Len() }

// base is the clustered index or the heap.
func (t *Table) base() *Index { return t.indexes[0] }

// number is a row's number as a key.
func number(id uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], id)
	return string(b[:])
}

// keysOf encodes the keys of a row in all indexes. Keys that are not unique in themselves get the row's locator behind
// them: its clustered key, or its number in the heap. A clustered key that is not unique gets the row's number.
func (t *Table) keysOf(row *Row, values []Value) []string {
	keys := make([]string, t.slots)
	base := t.base()
	locator := base.baseKey(row, values)
	keys[base.slot] = locator
	for _, ix := range t.indexes[1:] {
		keys[ix.slot] = ix.otherKey(values, locator)
	}
	return keys
}

func (ix *Index) baseKey(row *Row, values []Value) string {
	switch {
	case ix.Heap:
		return number(row.id)
	case ix.Unique:
		return ix.Key(values)
	default:
		return ix.Key(values) + number(row.id)
	}
}

func (ix *Index) otherKey(values []Value, locator string) string {
	switch {
	case ix.Contains != nil && !ix.Contains(values):
		return ""
	case ix.Unique:
		return ix.Key(values)
	default:
		return ix.Key(values) + locator
	}
}

// changed reports whether a change of values concerns the index although the key stays.
func (ix *Index) changed(old, values []Value) bool {
	if ix.Columns == nil {
		return true
	}
	for _, c := range ix.Columns {
		if old[c] != values[c] {
			return true
		}
	}
	return false
}

// add puts a row under a key.
func (ix *Index) add(key string, row *Row) {
	if e, ok := ix.tree.Get(key); ok {
		e.add(row)
		return
	}
	ix.tree.Set(key, &entry{key: key, row: row})
	ix.changes++
}

// remove takes a row away from a key, and the key if no row is left.
func (ix *Index) remove(key string, row *Row) {
	if e, ok := ix.tree.Get(key); ok && e.remove(row) {
		ix.tree.Delete(key)
		ix.changes++
	}
}

// clear makes the index empty.
func (ix *Index) clear() {
	ix.tree.Clear()
	ix.changes++
	ix.rows = 0
}

// tally counts rows as one version takes the place of another. Either may be nil.
func (t *Table) tally(from, to *version) {
	for _, ix := range t.indexes {
		n := 0
		if from.key(ix) != "" {
			n--
		}
		if to.key(ix) != "" {
			n++
		}
		ix.rows += n
		if ix == t.base() {
			t.rows += n
		}
	}
}

// everyRow calls f for each row, ghosts included.
func (t *Table) everyRow(f func(*Row)) {
	if len(t.indexes) == 0 {
		return
	}
	base := t.base()
	seen := make(map[*Row]bool) // those with more than one version, which may be under several keys
	visit := func(row *Row, key string) {
		switch {
		case row == nil || row.head == nil:
			return
		case row.head.older == nil:
			if row.head.key(base) == key {
				f(row)
			}
		case !seen[row]:
			seen[row] = true
			f(row)
		}
	}
	base.tree.Scan(func(key string, e *entry) bool {
		visit(e.row, key)
		for _, row := range e.more {
			visit(row, key)
		}
		return true
	})
}
