package catalog

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A Change gave an object other columns than it had before. The server does not tell the views that read it by *: they
// keep the columns that they were created with, until sp_refreshview.
type Change struct {
	Place          // of the statement that made the change
	Name      Name // of the object
	Step      int  // the number of that statement, in the order of all scripts
	FirstStep int  // the number of the statement that defined an object of this name for the first time
}

// definition is what has become of a name.
type definition struct {
	first   int      // the step at which it was defined for the first time
	columns []string // the names of its columns, as far as the last definition tells them
	changed *Change
}

// changed describes a change by the statement that is being read.
func (b *builder) changed(name Name, at diag.Span) *Change {
	return &Change{
		Place: Place{File: b.script.File, Span: at}, Name: name, Step: b.step, FirstStep: b.definitions[name.Key()].first,
	}
}

// defined notes a definition and returns the last change. A name that is defined again with other columns, or with such
// as the text does not tell, has changed for those who have read the columns before.
func (b *builder) defined(name Name, at diag.Span, columns []string) *Change {
	d, again := b.definitions[name.Key()]
	switch {
	case !again:
		d.first = b.step
	case columns == nil || !slices.EqualFunc(columns, d.columns, strings.EqualFold):
		d.changed = b.changed(name, at)
	}
	d.columns = columns
	b.definitions[name.Key()] = d
	return d.changed
}

// outputs returns the names of the columns of a view or an inline function; nil if the text does not tell them.
func outputs(list []syntax.Ident, q *syntax.Query) []string {
	if q == nil {
		return nil
	}
	var names []string
	for _, id := range list {
		names = append(names, id.Value)
	}
	body := q.Body
	for set, ok := body.(*syntax.SetOperation); ok; set, ok = body.(*syntax.SetOperation) {
		body = set.X
	}
	query, ok := body.(*syntax.Select)
	if !ok || names != nil {
		return names
	}
	for _, item := range query.Items {
		ref, isRef := item.X.(*syntax.ColumnRef)
		switch {
		case item.Alias != nil:
			names = append(names, item.Alias.Value)
		case isRef:
			names = append(names, ref.Last().Value)
		default:
			return nil
		}
	}
	return names
}

// refresh notes that the server reads the columns of a view or of an inline function again:
//
//	EXEC sp_refreshview N'dbo.open_orders'
func (b *builder) refresh(s *syntax.Exec) {
	if len(s.Args) != 1 {
		return
	}
	named := qualified(b.known.Text(s.Args[0].X))
	if named == nil {
		return
	}
	name, err := b.c.Resolve(named)
	if err != nil {
		return
	}
	switch o := b.c.object(name).(type) {
	case *View:
		o.Bound = append(o.Bound, b.step)
	case *Function:
		o.Bound = append(o.Bound, b.step)
	}
}

// refreshes reports whether a procedure is one that makes the server read the columns of a module again.
func refreshes(procedure string) bool {
	return strings.EqualFold(procedure, "sp_refreshview") || strings.EqualFold(procedure, "sp_refreshsqlmodule")
}
