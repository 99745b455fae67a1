package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// parentKey is a foreign key of the table that is changed: its rows must refer to rows that are there.
type parentKey struct {
	fk *schema.ForeignKey
	// columns are the ordinals of the referring columns in the order of the key that they refer to.
	columns []int
}

// childKey is a foreign key that refers to the table that is changed: when one of its rows goes, or gets another key,
// those that refer to it forbid it or go along.
type childKey struct {
	fk    *schema.ForeignKey
	child *schema.Table
	// rules are those of the child, if its rows are changed.
	rules *rules
	// index is that of the child by which the rows are found, and columns the ordinals of the referred-to columns in
	// the order of its key; index is nil if there is none.
	index   *schema.Index
	columns []int
	// defaults are the values of SET DEFAULT, by the ordinal in the child.
	defaults map[int]execute.Expr
}

// keys compiles the foreign keys on both sides of a table.
func (u *rules) keys(all map[*schema.Table]*rules) error {
	t := u.from.Table
	for _, fk := range t.ForeignKeys {
		if fk.Disabled {
			continue
		}
		k := &parentKey{fk: fk}
		for _, c := range fk.Key.Columns {
			k.columns = append(k.columns, fk.Columns[slices.Index(fk.Referenced, c.Ordinal)])
		}
		u.parents = append(u.parents, k)
	}
	for _, fk := range t.Referrers {
		child, ok := u.b.databaseOf(t).Object(fk.Parent).(*schema.Table)
		if !ok || fk.Disabled {
			continue
		}
		k := &childKey{fk: fk, child: child}
		k.index, k.columns = childIndex(child, fk)
		if fk.OnDelete != "NO ACTION" || fk.OnUpdate != "NO ACTION" {
			if err := k.cascades(u.b, all); err != nil {
				return err
			}
		}
		u.children = append(u.children, k)
	}
	return nil
}

// databaseOf is the database of a table.
func (b *binder) databaseOf(t *schema.Table) *schema.Database {
	if t.Schema != nil && t.Schema.Database != nil {
		return t.Schema.Database
	}
	return b.env.Database
}

// cascades compiles the rules of the table whose rows go along.
func (k *childKey) cascades(b *binder, all map[*schema.Table]*rules) error {
	var err error
	if k.rules = all[k.child]; k.rules == nil {
		if k.rules, err = b.rulesOf(execute.Source{Table: k.child}, all); err != nil {
			return err
		}
	}
	k.defaults = map[int]execute.Expr{}
	for _, ordinal := range k.fk.Columns {
		n, err := b.defaultNode(k.child, k.child.Columns[ordinal])
		if err != nil {
			return err
		}
		code, err := (&planner{b: b}).code(n)
		if err != nil {
			return err
		}
		k.defaults[ordinal] = code.expr
	}
	return nil
}

// childIndex finds the index of a child whose key begins with the referring columns.
func childIndex(child *schema.Table, fk *schema.ForeignKey) (*schema.Index, []int) {
	for _, ix := range child.Indexes {
		if ix.ID == 0 || ix.Where != nil || ix.Disabled || len(ix.Columns) < len(fk.Columns) {
			continue
		}
		var columns []int
		for _, c := range ix.Columns[:len(fk.Columns)] {
			if at := slices.Index(fk.Columns, c.Ordinal); at >= 0 {
				columns = append(columns, fk.Referenced[at])
			}
		}
		if len(columns) == len(fk.Columns) {
			return ix, columns
		}
	}
	return nil, nil
}

// check looks for the row that a new row refers to. A row with a NULL among the columns refers to nothing.
func (k *parentKey) check(e *execution, t *schema.Table, c change) error {
	if c.new == nil || c.old != nil && !differ(c.old, c.new, k.fk.Columns) {
		return nil
	}
	for _, ordinal := range k.fk.Columns {
		if c.new[ordinal].IsNull() {
			return nil
		}
	}
	if k.fk.References == k.fk.Key.Table && k.fk.References.ID == t.ID {
		// A row may refer to one that the same statement adds later.
		e.late = append(e.late, func() error { return k.look(e, c.new) })
		return nil
	}
	return k.look(e, c.new)
}

// look reads the key that a row refers to as a locking read does, whatever the isolation level says of others.
func (k *parentKey) look(e *execution, row []execute.Value) error {
	parent := k.fk.References
	var key []byte
	for i, c := range k.fk.Key.Columns {
		key = value.AppendKey(key, row[k.columns[i]], parent.Columns[c.Ordinal].Type, c.Desc)
	}
	st := e.statement()
	a := checking(st)
	cursor := st.Scan(k.fk.Key.Data, exactly(key), false, a)
	defer cursor.Close()
	found, err := cursor.Next()
	if err != nil {
		return err
	}
	if !found {
		return k.fk.Orphan(e.verb)
	}
	cursor.Keep()
	return nil
}

// checking is how foreign keys are checked: under locks, whatever the isolation level says of other reads, and with an
// eye for what others have changed since a snapshot.
func checking(st *store.Statement) store.Access {
	a := st.Access()
	if a.Read != store.Locked {
		a = store.Access{Keep: store.KeepRow}
	}
	a.Mode, a.Own, a.Conflicts = lock.S, true, true
	return a
}

// exactly is the range of the keys that begin with one.
func exactly(key []byte) store.Range {
	s := string(key)
	return store.Range{Low: s, High: s, HasLow: true, HasHigh: true}
}

// differ reports whether some columns of two rows differ.
func differ(a, b []execute.Value, ordinals []int) bool {
	return slices.ContainsFunc(ordinals, func(o int) bool { return a[o] != b[o] })
}

// follow does what the key says to the rows that refer to one which is gone or has another key.
func (k *childKey) follow(e *execution, c change) error {
	if c.old == nil || c.new != nil && !k.moved(c) {
		return nil
	}
	for _, ordinal := range k.fk.Referenced {
		if c.old[ordinal].IsNull() {
			return nil
		}
	}
	action := k.fk.OnUpdate
	if c.new == nil {
		action = k.fk.OnDelete
	}
	if action != "NO ACTION" {
		return k.cascade(e, c, action)
	}
	forbid := func() error {
		return k.each(e, c.old, checking(e.statement()), func(*store.Row, []execute.Value) error {
			return k.fk.Referred(k.child, e.verb)
		})
	}
	if k.child == k.fk.References {
		e.late = append(e.late, forbid)
		return nil
	}
	return forbid()
}

// moved reports whether the key that is referred to has changed, as the index compares it.
func (k *childKey) moved(c change) bool {
	return slices.ContainsFunc(k.fk.Referenced, func(o int) bool {
		t := k.fk.References.Columns[o].Type
		return c.new[o].IsNull() || value.Compare(c.old[o], c.new[o], t) != 0
	})
}

// each calls f for the rows that refer to a row.
func (k *childKey) each(e *execution, parent []execute.Value, a store.Access, f func(row *store.Row, values []execute.Value) error) error {
	r, index := store.Range{}, k.child.Indexes[0]
	if k.index != nil {
		var key []byte
		for i, o := range k.columns {
			c := k.index.Columns[i]
			key = value.AppendKey(key, parent[o], k.child.Columns[c.Ordinal].Type, c.Desc)
		}
		r, index = exactly(key), k.index
	}
	cursor := e.statement().Scan(index.Data, r, false, a)
	defer cursor.Close()
	for {
		more, err := cursor.Next()
		if err != nil || !more {
			return err
		}
		values := cursor.Values()
		if !k.refers(values, parent) {
			continue
		}
		cursor.Keep()
		if err := f(cursor.Row(), values); err != nil {
			return err
		}
	}
}

// refers reports whether a row of the child refers to a row of the parent.
func (k *childKey) refers(child, parent []execute.Value) bool {
	for i, o := range k.fk.Columns {
		t := k.child.Columns[o].Type
		if child[o].IsNull() || value.Compare(child[o], parent[k.fk.Referenced[i]], t) != 0 {
			return false
		}
	}
	return true
}

// cascade changes the rows that refer to one which is gone or has another key. Like SQL Server it protects the gaps
// between them: no new one may come before the transaction ends.
func (k *childKey) cascade(e *execution, c change, action string) error {
	access := store.Access{Mode: lock.U, Keep: store.KeepTransaction, Range: true, Lookup: k.index != nil && !k.index.Clustered}
	return k.each(e, c.old, access, func(row *store.Row, values []execute.Value) error {
		if action == "CASCADE" && c.new == nil {
			return k.rules.delete(e, k.child, change{row: row, old: values})
		}
		next := slices.Clone(values)
		for i, ordinal := range k.fk.Columns {
			switch action {
			case "CASCADE":
				next[ordinal] = c.new[k.fk.Referenced[i]]
			case "SET NULL":
				next[ordinal] = execute.Value{}
			default:
				v, err := k.defaults[ordinal](e.r)
				if err != nil {
					return err
				}
				next[ordinal] = v
			}
		}
		if rv := k.child.RowVersionColumn(); rv != nil {
			next[rv.Ordinal] = nextRowVersion(e, k.rules.b.databaseOf(k.child))
		}
		if err := k.rules.settle(e, k.child, next); err != nil {
			return err
		}
		return k.rules.update(e, k.child, change{row: row, old: values, new: next})
	})
}
