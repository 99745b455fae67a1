package catalog

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A history is the table in which the server keeps the earlier versions of another's rows. Naming it in HISTORY_TABLE
// creates it unless it is there already, so that scripts may read a table that none of them defines.
type history struct {
	Place
	name Name
	of   *Table
}

// versioned notes the history table of a table; its name is nil if none is written.
func (b *builder) versioned(of *Table, name *syntax.ObjectName) {
	if name == nil {
		return
	}
	n, ok := b.resolve(name)
	if !ok {
		return
	}
	b.dropHistory(n) // versioning that was off for a while is on again
	b.histories = append(b.histories, history{Place: b.place(name), name: n, of: of})
}

// isHistory reports whether a table is one that a script names in HISTORY_TABLE.
func (b *builder) isHistory(n Name) bool {
	return slices.ContainsFunc(b.histories, func(h history) bool { return h.name.Key() == n.Key() })
}

// dropHistory forgets a history table, and reports whether there was one of that name.
func (b *builder) dropHistory(name Name) bool {
	before := len(b.histories)
	b.histories = slices.DeleteFunc(b.histories, func(h history) bool { return h.name.Key() == name.Key() })
	return len(b.histories) < before
}

// addHistories defines the history tables that no script defines itself. It comes after all scripts: what ALTER TABLE
// does to a versioned table the server does to its history too.
//
// Such a table has the columns of the other in their order with their types, and neither keys nor anything that the
// server fills in by itself: a row of the other has a row here for each of its versions.
func (b *builder) addHistories() {
	for _, h := range b.histories {
		if b.c.object(h.name) != nil {
			continue
		}
		t := &Table{Place: h.Place, Name: h.name}
		for _, c := range h.of.Columns {
			c.Identity, c.Generated, c.HasDefault, c.Hidden = false, false, false, false
			t.Columns = append(t.Columns, c)
		}
		b.c.add(t)
	}
}
