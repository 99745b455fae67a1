package store

import "slices"

// Row is a row with its versions.
type Row struct {
	id       uint64 // counts the rows that the table has ever had
	head     *version
	changing *writer // who has changed the row itself, and not yet what other indexes have of it; only under optimized locking
}

// version is what a row was from one change to the next. All versions of a row belong to one chain, the newest first.
type version struct {
	values    []Value  // nil: the row is deleted
	keys      []string // in each index, by Index.slot; "" where the index does not have the row
	writer    *writer  // nil: committed so long ago that everybody sees it
	statement uint64   // the statement that wrote it
	older     *version
}

// writer is a transaction that has written, as versions know it.
type writer struct {
	commit uint64 // its place in the order of commits; 0 until then
	id     int64  // of the transaction
}

// Values is the newest version, committed or not; nil if the row is deleted.
func (r *Row) Values() []Value {
	if r.head == nil {
		return nil
	}
	return r.head.values
}

// key is the version's key in an index; "" if the index does not have it.
func (v *version) key(ix *Index) string {
	if v == nil || v.values == nil {
		return ""
	}
	return v.keys[ix.slot]
}

// has reports whether any version of the row has the key in the index.
func (r *Row) has(ix *Index, key string) bool {
	for v := r.head; v != nil; v = v.older {
		if v.key(ix) == key {
			return true
		}
	}
	return false
}

// reader says which versions are visible.
type reader struct {
	tx        *transaction // the reader's own, whose changes it sees
	statement uint64       // whose versions are not visible; 0: none
	snapshot  uint64       // the last commit that is visible, if versioned
	versioned bool
}

// sees returns the version of a row that the reader sees; nil if there is none, or it is deleted.
func (r *reader) sees(row *Row) *version {
	for v := row.head; v != nil; v = v.older {
		if v.statement == r.statement {
			continue
		}
		if !r.versioned || v.committed(r) {
			if v.values == nil {
				return nil
			}
			return v
		}
	}
	return nil
}

// committed reports whether a version belongs to the reader's snapshot, or to the reader itself.
func (v *version) committed(r *reader) bool {
	w := v.writer
	return w == nil || w == &r.tx.writer || w.commit != 0 && w.commit <= r.snapshot
}

// entry is a key of an index, with the rows of which some version has or had that key. At most one of them has it now
// if the index is unique. An entry may also have no row that counts, for a while: it still ends the gap before it.
type entry struct {
	key  string
	row  *Row
	more []*Row
}

func (e *entry) add(row *Row) {
	switch e.row {
	case row:
	case nil:
		e.row = row
	default:
		if slices.Contains(e.more, row) {
			return
		}
		e.more = append(e.more, row)
	}
}

// remove reports whether no row is left.
func (e *entry) remove(row *Row) bool {
	if e.row == row {
		e.row = nil
		if n := len(e.more); n > 0 {
			e.row, e.more = e.more[n-1], e.more[:n-1]
		}
		return e.row == nil
	}
	for i, r := range e.more {
		if r == row {
			e.more = append(e.more[:i], e.more[i+1:]...)
			break
		}
	}
	return e.row == nil
}

// find returns the row that counts for the reader, and the version that it sees.
func (e *entry) find(ix *Index, r *reader) (*Row, *version) {
	if e.row == nil {
		return nil, nil
	}
	if v := r.sees(e.row); v != nil && v.keys[ix.slot] == e.key {
		return e.row, v
	}
	for _, row := range e.more {
		if v := r.sees(row); v != nil && v.keys[ix.slot] == e.key {
			return row, v
		}
	}
	return nil, nil
}

// live returns the row whose newest version has the key.
func (e *entry) live(ix *Index) *Row {
	row, _ := e.find(ix, &reader{})
	return row
}
