package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// ParentKey is a foreign key of the table that is changed: its rows must refer to rows that are there.
type ParentKey struct {
	FK *schema.ForeignKey
	// Columns are the ordinals of the referring columns in the order of the key that they refer to.
	Columns []int
}

// ChildKey is a foreign key that refers to the table that is changed: when one of its rows goes, or gets another key,
// those that refer to it forbid it or go along.
type ChildKey struct {
	FK    *schema.ForeignKey
	Child *schema.Table
	// Rules are those of the child, if its rows are changed.
	Rules *Rules
	// Index is that of the child by which the rows are found, and columns the ordinals of the referred-to columns in
	// the order of its key; index is nil if there is none.
	Index   *schema.Index
	Columns []int
	// Defaults are the values of SET DEFAULT, by the ordinal in the child.
	Defaults map[int]*Node
}

// keys binds the foreign keys on both sides of a table.
func (u *Rules) keys(all map[*schema.Table]*Rules) error {
	t := u.From.Table
	for _, fk := range t.ForeignKeys {
		if fk.Disabled {
			continue
		}
		k := &ParentKey{FK: fk}
		for _, c := range fk.Key.Columns {
			k.Columns = append(k.Columns, fk.Columns[slices.Index(fk.Referenced, c.Ordinal)])
		}
		u.Parents = append(u.Parents, k)
	}
	for _, fk := range t.Referrers {
		child, ok := u.b.databaseOf(t).Object(fk.Parent).(*schema.Table)
		if !ok || fk.Disabled {
			continue
		}
		k := &ChildKey{FK: fk, Child: child}
		k.Index, k.Columns = childIndex(child, fk)
		if fk.OnDelete != "NO ACTION" || fk.OnUpdate != "NO ACTION" {
			if err := k.cascades(u.b, all); err != nil {
				return err
			}
		}
		u.Children = append(u.Children, k)
	}
	return nil
}

// Database returns the database of a table.
func (u *Rules) Database(t *schema.Table) *schema.Database { return u.b.databaseOf(t) }

// databaseOf is the database of a table.
func (b *Binder) databaseOf(t *schema.Table) *schema.Database {
	if t.Schema != nil && t.Schema.Database != nil {
		return t.Schema.Database
	}
	return b.Env.Database
}

// cascades binds the rules of the table whose rows go along.
func (k *ChildKey) cascades(b *Binder, all map[*schema.Table]*Rules) error {
	var err error
	if k.Rules = all[k.Child]; k.Rules == nil {
		if k.Rules, err = b.rulesOf(execute.Source{Table: k.Child}, all); err != nil {
			return err
		}
	}
	k.Defaults = map[int]*Node{}
	for _, ordinal := range k.FK.Columns {
		if k.Defaults[ordinal], err = b.defaultNode(k.Child, k.Child.Columns[ordinal]); err != nil {
			return err
		}
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
