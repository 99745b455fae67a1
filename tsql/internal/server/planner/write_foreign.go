package planner

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// parentKey is a foreign key of the table that is changed: its rows must refer to rows that are there.
type parentKey struct{ *binder.ParentKey }

// childKey is a foreign key that refers to the table that is changed: when one of its rows goes, or gets another key,
// those that refer to it forbid it or go along.
type childKey struct {
	*binder.ChildKey

	rules    *rules // of the child, if its rows are changed
	defaults map[int]execute.Expr
}

// foreignKeys compiles the foreign keys on both sides of a table.
func (p *planner) foreignKeys(u *rules) error {
	for _, k := range u.Rules.Parents {
		u.parents = append(u.parents, parentKey{k})
	}
	for _, bound := range u.Rules.Children {
		k := &childKey{ChildKey: bound}
		if bound.Rules != nil {
			var err error
			if k.rules, err = p.rules(bound.Rules); err != nil {
				return err
			}
			if k.defaults, err = p.defaults(bound.Defaults); err != nil {
				return err
			}
		}
		u.children = append(u.children, k)
	}
	return nil
}

// check looks for the row that a new row refers to. A row with a NULL among the columns refers to nothing.
func (k parentKey) check(e *execution, t *schema.Table, c change) error {
	if c.new == nil || c.old != nil && !differ(c.old, c.new, k.FK.Columns) {
		return nil
	}
	for _, ordinal := range k.FK.Columns {
		if c.new[ordinal].IsNull() {
			return nil
		}
	}
	if k.FK.References == k.FK.Key.Table && k.FK.References.ID == t.ID {
		// A row may refer to one that the same statement adds later.
		e.late = append(e.late, func() error { return k.look(e, c.new) })
		return nil
	}
	return k.look(e, c.new)
}

// look reads the key that a row refers to as a locking read does, whatever the isolation level says of others.
func (k parentKey) look(e *execution, row []execute.Value) error {
	parent := k.FK.References
	var key []byte
	for i, c := range k.FK.Key.Columns {
		key = value.AppendKey(key, row[k.Columns[i]], parent.Columns[c.Ordinal].Type, c.Desc)
	}
	st := e.statement()
	a := checking(st)
	cursor := st.Scan(k.FK.Key.Data, exactly(key), false, a)
	defer cursor.Close()
	found, err := cursor.Next()
	if err != nil {
		return err
	}
	if !found {
		return k.FK.Orphan(e.verb)
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
	for _, ordinal := range k.FK.Referenced {
		if c.old[ordinal].IsNull() {
			return nil
		}
	}
	action := k.FK.OnUpdate
	if c.new == nil {
		action = k.FK.OnDelete
	}
	if action != "NO ACTION" {
		return k.cascade(e, c, action)
	}
	forbid := func() error {
		return k.each(e, c.old, checking(e.statement()), func(*store.Row, []execute.Value) error {
			return k.FK.Referred(k.Child, e.verb)
		})
	}
	if k.Child == k.FK.References {
		e.late = append(e.late, forbid)
		return nil
	}
	return forbid()
}

// moved reports whether the key that is referred to has changed, as the index compares it.
func (k *childKey) moved(c change) bool {
	return slices.ContainsFunc(k.FK.Referenced, func(o int) bool {
		t := k.FK.References.Columns[o].Type
		return c.new[o].IsNull() || value.Compare(c.old[o], c.new[o], t) != 0
	})
}

// each calls f for the rows that refer to a row.
func (k *childKey) each(e *execution, parent []execute.Value, a store.Access, f func(row *store.Row, values []execute.Value) error) error {
	r, index := store.Range{}, k.Child.Indexes[0]
	if k.Index != nil {
		var key []byte
		for i, o := range k.Columns {
			c := k.Index.Columns[i]
			key = value.AppendKey(key, parent[o], k.Child.Columns[c.Ordinal].Type, c.Desc)
		}
		r, index = exactly(key), k.Index
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
	for i, o := range k.FK.Columns {
		t := k.Child.Columns[o].Type
		if child[o].IsNull() || value.Compare(child[o], parent[k.FK.Referenced[i]], t) != 0 {
			return false
		}
	}
	return true
}

// cascade changes the rows that refer to one which is gone or has another key. Like SQL Server it protects the gaps
// between them: no new one may come before the transaction ends.
func (k *childKey) cascade(e *execution, c change, action string) error {
	access := store.Access{Mode: lock.U, Keep: store.KeepTransaction, Range: true, Lookup: k.Index != nil && !k.Index.Clustered}
	return k.each(e, c.old, access, func(row *store.Row, values []execute.Value) error {
		if action == "CASCADE" && c.new == nil {
			return k.rules.delete(e, k.Child, change{row: row, old: values})
		}
		next := slices.Clone(values)
		for i, ordinal := range k.FK.Columns {
			switch action {
			case "CASCADE":
				next[ordinal] = c.new[k.FK.Referenced[i]]
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
		if rv := k.Child.RowVersionColumn(); rv != nil {
			next[rv.Ordinal] = nextRowVersion(e, k.rules.Database(k.Child))
		}
		if err := k.rules.settle(e, k.Child, next); err != nil {
			return err
		}
		return k.rules.update(e, k.Child, change{row: row, old: values, new: next})
	})
}
