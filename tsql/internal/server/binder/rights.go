package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Right is a permission that the statement needs.
type Right struct {
	permission string
	object     schema.Object
	// columns are those that it is needed for. It is nil if it is about the object as a whole, and empty as long as no
	// column is used: then the permission on any of them is enough.
	columns []schema.ColumnName
}

// needs notes a permission. In a module no more than the module's own permission is needed for what belongs to the same
// owner: then there is no right, nil.
func (b *Binder) needs(permission string, o schema.Object) *Right {
	if b.owner != nil && schema.OwnerOf(b.owner) == schema.OwnerOf(o) {
		return nil
	}
	for _, r := range b.Rights {
		if r.permission == permission && r.object == o {
			return r
		}
	}
	r := &Right{permission: permission, object: o}
	if hasColumns(o) && (permission == "SELECT" || permission == "UPDATE") {
		r.columns = []schema.ColumnName{}
	}
	b.Rights = append(b.Rights, r)
	return r
}

// CheckRights returns an error unless who executes has all rights.
func CheckRights(x *execute.Frame, rights []*Right) error {
	for _, need := range rights {
		if err := x.Session.May(need.permission, need.object, need.columns); err != nil {
			return err
		}
	}
	return nil
}

// hasColumns reports whether permissions may be granted on columns of an object.
func hasColumns(o schema.Object) bool {
	switch o := o.(type) {
	case *schema.Table:
		return true
	case *schema.Module:
		_, isView := o.Stmt.(*syntax.CreateView)
		return isView
	default:
		return false
	}
}

// add notes a column. That a permission is needed for a table of which no column is used may not be said afterwards.
func (r *Right) add(id int32, name string) {
	if r == nil || r.columns == nil {
		return
	}
	if c := (schema.ColumnName{ID: id, Name: name}); !slices.Contains(r.columns, c) {
		r.columns = append(r.columns, c)
	}
}

// ofColumn notes the column of a source.
func (r *Right) ofColumn(src *Source, i int) {
	if t := src.table; t != nil {
		r.add(t.Columns[i].ID, t.Columns[i].Name)
		return
	}
	r.add(int32(i+1), src.columns[i].name)
}

// reading notes the columns of a source that are read, under a permission that is needed anyway.
func (r *Right) reading(src *Source) {
	if r != nil {
		src.reads = func(i int) { r.ofColumn(src, i) }
	}
}

// mayRead has the columns of a target that are read noted: reading them takes SELECT, and changing a row without
// reading any does not.
func (b *Binder) mayRead(src *Source, o schema.Object) {
	src.reads = func(i int) {
		if r := b.needs("SELECT", o); r != nil {
			r.ofColumn(src, i)
		}
	}
}

// mayChange notes the permission to change the table of a target that was found through a query: on the table, and on
// the view in which the query reads it.
func (b *Binder) mayChange(t *target, permission string) {
	if t.from.Place != execute.InCatalog || t.Table().Temporary || t.Rel == nil {
		return
	}
	inner := t.Rel.binder
	if view, ok := inner.owner.(*schema.Module); ok && inner.owner != b.owner {
		b.needs(permission, view)
	}
	t.under = inner.needs(permission, t.Table())
}

// changes notes a column that UPDATE sets: by its number among those of the target, and by that in the table.
func (t *target) changes(i, ordinal int) {
	if t.right != nil {
		t.right.ofColumn(t.source, i)
	}
	if t.under != nil {
		c := t.Table().Columns[ordinal]
		t.under.add(c.ID, c.Name)
	}
}

// readingRows has what OUTPUT reads of the rows noted as if it were read of the target, as long as f runs.
func (t *target) readingRows(u *Rules, f func() error) error {
	if t.source.reads != nil {
		reads := func(ordinal int) {
			for i, o := range t.ordinals {
				if o == ordinal {
					t.source.reads(i)
				}
			}
		}
		u.After.reads, u.Before.reads = reads, reads
		defer func() { u.After.reads, u.Before.reads = nil, nil }()
	}
	return f()
}
