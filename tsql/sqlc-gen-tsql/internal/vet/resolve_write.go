package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// target resolves the table that a statement writes: an alias or a table of its FROM clause, or one more table.
// UPDATE u SET … FROM dbo.users AS u writes a table that FROM names; UPDATE dbo.users SET … one that nothing else
// does, which is then a source like those of FROM. A target with an alias or hints of its own is always new.
func (r *resolver) target(t syntax.TableSource, s *scope) *tableSource {
	if ref, ok := t.(*syntax.TableRef); ok && ref.Alias == nil {
		if source := s.matching(ref.Name); source != nil {
			r.sources[t] = source
			return source
		}
	}
	before := len(s.sources)
	r.from(t, s, false)
	// A target that isn't a table of any kind, in a tree that the parser has repaired.
	if len(s.sources) == before {
		return &tableSource{}
	}
	return s.sources[len(s.sources)-1]
}

// matching returns the source of FROM that the target of UPDATE or DELETE names. An alias wins over a table's own
// name, as on the server.
func (s *scope) matching(n *syntax.ObjectName) *tableSource {
	if len(n.Parts) == 1 {
		if source := s.named(n.Parts[0].Value); source != nil {
			return source
		}
	}
	// UPDATE dbo.users … FROM dbo.users JOIN …: without an alias the two are one.
	for _, source := range s.sources { // the same table again, without an alias
		if source.ref != nil && source.ref.Alias == nil && same(nameText(source.ref.Name), nameText(n)) {
			return source
		}
	}
	return nil
}

// insert resolves INSERT. The columns of the target can't be seen by the values: a row that is inserted has no values
// yet.
func (r *resolver) insert(n *syntax.Insert) {
	defer r.with(n.With)()
	target := r.target(n.Target, &scope{})
	for i := range n.Columns {
		r.useColumn(&n.Columns[i], target.table)
	}
	if n.Top != nil {
		r.walk(n.Top, nil)
	}
	r.output(n.Output, &scope{}, target.table)
	for _, row := range n.Rows {
		for _, x := range row {
			r.walk(x, nil)
		}
	}
	r.query(n.Query, nil)
	if n.Exec != nil {
		r.walk(n.Exec, nil)
	}
}

// update resolves UPDATE. FROM comes first, because the target may be an alias from there.
func (r *resolver) update(n *syntax.Update) {
	defer r.with(n.With)()
	s := &scope{}
	for _, from := range n.From {
		r.from(from, s, false)
	}
	target := r.target(n.Target, s)
	for i := range n.Set {
		r.assignment(&n.Set[i], target, s)
	}
	r.rest(n.Top, n.Output, n.Where, s, target.table)
}

// delete resolves DELETE, as update does.
func (r *resolver) delete(n *syntax.Delete) {
	defer r.with(n.With)()
	s := &scope{}
	for _, from := range n.From {
		r.from(from, s, false)
	}
	target := r.target(n.Target, s)
	r.rest(n.Top, n.Output, n.Where, s, target.table)
}

// rest resolves what UPDATE and DELETE have in common.
func (r *resolver) rest(top *syntax.Top, output *syntax.Output, where syntax.Expr, s *scope, table *catalog.Table) {
	if top != nil {
		r.walk(top, s)
	}
	r.output(output, s, table)
	if where != nil {
		r.walk(where, s)
	}
}

// assignment resolves column = x. The column is the target's whatever else is read, so it needs no qualifier.
func (r *resolver) assignment(a *syntax.Assignment, target *tableSource, s *scope) {
	if a.Variable != nil {
		r.walk(a.Variable, nil)
	}
	if c := a.Column; c != nil {
		column := r.useColumn(&c.Parts[len(c.Parts)-1], target.table)
		// What stands before the column names the target as well, and isn't resolved.
		r.refs[c] = reference{source: target, column: column, exempt: true}
	}
	if a.X != nil {
		r.walk(a.X, s)
	}
}

// output resolves OUTPUT, which sees inserted and deleted beside the sources of the statement.
func (r *resolver) output(o *syntax.Output, s *scope, table *catalog.Table) {
	for ; o != nil; o = o.Then {
		// They come first, for a plain name in OUTPUT could be theirs; the slice is a new one, since the statement's
		// own must not grow by them.
		inner := &scope{outer: s.outer, sources: append([]*tableSource{
			{kind: localSource, name: "inserted", table: table, pseudo: true},
			{kind: localSource, name: "deleted", table: table, pseudo: true},
		}, s.sources...)}
		for i := range o.Items {
			r.walk(&o.Items[i], inner)
		}
		if o.Into == nil {
			continue
		}
		into := r.target(o.Into, &scope{})
		for i := range o.IntoColumns {
			r.useColumn(&o.IntoColumns[i], into.table)
		}
	}
}

// merge resolves MERGE: all conditions and values see both the target and the source.
func (r *resolver) merge(n *syntax.Merge) {
	defer r.with(n.With)()
	s := &scope{}
	target := r.target(n.Target, s)
	r.from(n.Source, s, false)
	if n.On != nil {
		r.walk(n.On, s)
	}
	for i := range n.Actions {
		a := &n.Actions[i]
		if a.And != nil {
			r.walk(a.And, s)
		}
		for j := range a.Set {
			r.assignment(&a.Set[j], target, s)
		}
		for j := range a.Columns {
			r.useColumn(&a.Columns[j], target.table)
		}
		for _, x := range a.Values {
			r.walk(x, s)
		}
	}
	r.output(n.Output, s, target.table)
}

// definition resolves the expressions in a table's definition: checks, defaults and computed columns. They see the
// columns of the table alone.
func (r *resolver) definition(name *syntax.ObjectName, def *syntax.TableDef) {
	if def == nil {
		return
	}
	// A table of the database, or a temp table of this unit.
	table, ok := r.stored(name)
	if !ok {
		table = r.local[catalog.Fold(last(name).Value)]
	}
	s := &scope{sources: []*tableSource{{name: last(name).Value, table: table}}}
	for i := range def.Columns {
		r.walk(&def.Columns[i], s)
	}
	for i := range def.Constraints {
		r.walk(&def.Constraints[i], s)
		r.indexColumns(def.Constraints[i].Columns, table)
	}
	for i := range def.Indexes {
		r.walk(&def.Indexes[i], s)
		r.indexColumns(def.Indexes[i].Columns, table)
	}
}

// createIndex resolves the columns of an index, those it includes, and its filter.
func (r *resolver) createIndex(n *syntax.CreateIndex) {
	table, ok := r.stored(n.Table)
	if ok {
		r.useName(n.Table, "table", table.Name)
	}
	r.indexColumns(n.Columns, table)
	for i := range n.Include {
		r.useColumn(&n.Include[i], table)
	}
	if n.Where != nil {
		r.walk(n.Where, &scope{sources: []*tableSource{{name: last(n.Table).Value, table: table}}})
	}
}

// indexColumns notes the columns of a key as used.
func (r *resolver) indexColumns(columns []syntax.IndexColumn, table *catalog.Table) {
	for i := range columns {
		r.useColumn(&columns[i].Name, table)
	}
}
