package vet

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// query resolves a query and returns its columns as a table, nil if they can't be known. The table has no name, and
// its columns have a type only where they are columns of a known table.
func (r *resolver) query(q *syntax.Query, outer *scope) *catalog.Table {
	if q == nil {
		return nil
	}
	defer r.with(q.With)()
	table := r.body(q.Body, outer, q)
	// OFFSET and FETCH take constants, variables and subqueries, but no columns of the query.
	for _, x := range []syntax.Expr{q.Offset, q.Fetch} {
		if x != nil {
			r.walk(x, outer)
		}
	}
	return table
}

// with brings common table expressions into scope and returns the function that removes them again. A later one sees
// the earlier ones, and none sees the columns of a query around it.
func (r *resolver) with(ctes []*syntax.CTE) func() {
	before := len(r.ctes)
	for _, cte := range ctes {
		// Itself first, for the recursive ones: its columns are known only if they are listed.
		r.ctes = append(r.ctes, namedTable{name: cte.Name.Value, table: renamed(nil, cte.Columns)})
		at := len(r.ctes) - 1
		r.ctes[at].table = renamed(r.query(cte.Query, nil), cte.Columns)
	}
	return func() { r.ctes = r.ctes[:before] }
}

// renamed gives the columns of a table other names, if there are any. With names and without a table, as of VALUES,
// the columns have no type.
func renamed(t *catalog.Table, names []syntax.Ident) *catalog.Table {
	if len(names) == 0 {
		return t
	}
	out := &catalog.Table{Columns: make([]catalog.Column, len(names))}
	for i := range names {
		if t != nil && i < len(t.Columns) {
			out.Columns[i] = t.Columns[i]
		}
		out.Columns[i].Name = names[i].Value
	}
	return out
}

// body resolves what stands between WITH and ORDER BY; q is the query it belongs to, for the ORDER BY. The parts of a
// UNION have none of their own, hence the empty query. The first part names the columns of the whole.
func (r *resolver) body(b syntax.QueryBody, outer *scope, q *syntax.Query) *catalog.Table {
	switch b := b.(type) {
	case *syntax.Select:
		return r.selection(b, outer, q)
	case *syntax.SetOperation:
		table := r.body(b.X, outer, &syntax.Query{})
		r.body(b.Y, outer, &syntax.Query{})
		for i := range q.OrderBy { // by columns of the result, whatever they come from
			r.walk(&q.OrderBy[i], &scope{})
		}
		return table
	case *syntax.ParenQuery:
		return r.query(b.Query, outer)
	default:
		return nil
	}
}

// selection resolves one SELECT. FROM comes first whatever the order of the text: everything else sees its sources.
func (r *resolver) selection(b *syntax.Select, outer *scope, q *syntax.Query) *catalog.Table {
	s := &scope{outer: outer}
	for _, from := range b.From {
		r.from(from, s, false)
	}
	if b.Top != nil {
		r.walk(b.Top, s)
	}
	for i := range b.Items {
		r.walk(&b.Items[i], s)
	}
	// The temp table exists from here on, and its columns aren't worth working out: no rule asks for them.
	if b.Into != nil && strings.HasPrefix(last(b.Into).Value, "#") {
		r.local[catalog.Fold(last(b.Into).Value)] = nil
	}
	// An alias of the select list can't be seen by any of these, only by ORDER BY.
	for _, x := range []syntax.Expr{b.Where, b.Having} {
		if x != nil {
			r.walk(x, s)
		}
	}
	if b.GroupBy != nil {
		r.walk(b.GroupBy, s)
	}
	for i := range b.Windows {
		r.walk(&b.Windows[i], s)
	}
	r.orderBy(q, b, s)
	return r.resultTable(b, s)
}

// orderBy resolves the keys of ORDER BY, where a name may be one of the select list.
func (r *resolver) orderBy(q *syntax.Query, b *syntax.Select, s *scope) {
	for i := range q.OrderBy {
		ref, ok := q.OrderBy[i].X.(*syntax.ColumnRef)
		// Qualifying an alias would be an error, so that P3-qualify must not ask for it.
		if ok && len(ref.Parts) == 1 && hasAlias(b.Items, ref.Parts[0].Value) {
			r.refs[ref] = reference{exempt: true}
			continue
		}
		r.walk(&q.OrderBy[i], s)
	}
}

// hasAlias says whether a select list gives a name to one of its columns.
func hasAlias(items []syntax.SelectItem, name string) bool {
	for _, item := range items {
		if item.Alias != nil && same(item.Alias.Value, name) {
			return true
		}
	}
	return false
}

// resultTable lists the columns of a select list, with the types of those that are columns themselves. It gives up at a
// star over something unknown.
func (r *resolver) resultTable(b *syntax.Select, s *scope) *catalog.Table {
	out := &catalog.Table{}
	for _, item := range b.Items {
		switch x := item.X.(type) {
		// One star is many columns, so that all of them must be known for any position behind it to be right.
		case *syntax.Star:
			columns, ok := starColumns(x, s)
			if !ok {
				return nil
			}
			out.Columns = append(out.Columns, columns...)
			continue
		case *syntax.ColumnRef:
			column := catalog.Column{Name: x.Parts[len(x.Parts)-1].Value}
			if known := r.refs[x].column; known != nil {
				column = *known
			}
			out.Columns = append(out.Columns, column)
		default:
			// An expression: a column without a type, and without a name unless an alias follows.
			out.Columns = append(out.Columns, catalog.Column{})
		}
		if item.Alias != nil {
			out.Columns[len(out.Columns)-1].Name = item.Alias.Value
		}
	}
	return out
}

// starColumns returns the columns that * or t.* stands for; ok is false if one of the tables isn't known.
func starColumns(x *syntax.Star, s *scope) ([]catalog.Column, bool) {
	var out []catalog.Column
	for _, source := range s.sources {
		if n := len(x.Qualifier); n > 0 && !same(source.name, x.Qualifier[n-1].Value) {
			continue
		}
		if source.table == nil {
			return nil, false
		}
		out = append(out, source.table.Columns...)
	}
	return out, true
}

// from adds what a FROM clause reads to a scope. A lateral source (of APPLY) sees what stands left of it. A derived
// table elsewhere sees the queries around, but not its neighbours.
func (r *resolver) from(t syntax.TableSource, s *scope, lateral bool) {
	outer := s.outer
	if lateral {
		outer = s
	}
	switch t := t.(type) {
	case *syntax.TableRef:
		r.add(s, t, r.tableRef(t), t.Alias)
	case *syntax.VariableTable:
		source := &tableSource{kind: localSource, table: r.local[catalog.Fold(t.Name)]}
		r.add(s, t, source, t.Alias)
	case *syntax.DerivedTable:
		table := renamed(r.query(t.Query, outer), t.Columns)
		r.add(s, t, &tableSource{kind: querySource, table: table}, t.Alias)
	case *syntax.ValuesTable:
		for _, row := range t.Rows {
			for _, x := range row {
				r.walk(x, outer)
			}
		}
		r.add(s, t, &tableSource{kind: functionTable, table: renamed(nil, t.Columns)}, t.Alias)
	// The arguments of a function may be columns of the tables left of it only with APPLY; giving them the scope
	// anyway resolves what is right, and what is wrong is analyze's to report.
	case *syntax.FunctionTable:
		r.call(t.Call, s)
		r.add(s, t, &tableSource{kind: functionTable, table: r.functionColumns(t)}, t.Alias)
	case *syntax.NodesTable:
		r.walk(t.Call, s)
		r.add(s, t, &tableSource{kind: functionTable, table: renamed(nil, t.Columns)}, t.Alias)
	// The left side never sees the right one; the right sees the left with APPLY. ON sees both.
	case *syntax.Join:
		r.from(t.X, s, false)
		r.from(t.Y, s, strings.HasSuffix(t.Kind, "APPLY"))
		if t.On != nil {
			r.walk(t.On, s)
		}
	case *syntax.ParenSource:
		r.from(t.X, s, lateral)
	case *syntax.Pivot:
		// What PIVOT reads is out of reach behind it: only its result has a name.
		inner := &scope{outer: s.outer}
		r.from(t.X, inner, lateral)
		if t.Aggregate != nil {
			r.call(t.Aggregate, inner)
		}
		r.add(s, t, &tableSource{kind: querySource}, t.Alias)
	}
}

// add puts a source into a scope under its alias, if it has one.
func (r *resolver) add(s *scope, t syntax.TableSource, source *tableSource, alias *syntax.Ident) {
	if alias != nil {
		source.name = alias.Value
	}
	s.sources = append(s.sources, source)
	r.sources[t] = source
}

// tableRef finds out what a name in FROM stands for. In the order of the server: a CTE hides a table of the same
// name, and a name with # is a temp table. Only a name without a schema can be either.
func (r *resolver) tableRef(t *syntax.TableRef) *tableSource {
	name := last(t.Name).Value
	source := &tableSource{name: name, ref: t}
	if len(t.Name.Parts) == 1 {
		for _, cte := range slices.Backward(r.ctes) {
			if same(cte.name, name) {
				r.uses = append(r.uses, use{at: t.Name.Span, what: "CTE", written: name, defined: cte.name})
				source.kind, source.table = querySource, cte.table
				return source
			}
		}
		// In a trigger both have the columns of its table.
		if r.trigger != nil && (same(name, "inserted") || same(name, "deleted")) {
			source.kind, source.table = localSource, r.trigger
			return source
		}
	}
	if strings.HasPrefix(name, "#") {
		source.kind, source.table = localSource, r.local[catalog.Fold(name)]
		return source
	}
	// A view is known by name only: what its columns are is more than a lint rule asks.
	if table, ok := r.stored(t.Name); ok {
		source.table = table
		r.useName(t.Name, "table", table.Name)
	} else if key, ok := r.key(t.Name); ok && r.catalog.Views[key] != nil {
		r.useName(t.Name, "view", r.catalog.Views[key].Name)
	}
	return source
}

// functionColumns lists the columns of OPENJSON … WITH, and of what has an alias for each column. Of the user's own
// functions they aren't known, for no rule needs them.
func (r *resolver) functionColumns(t *syntax.FunctionTable) *catalog.Table {
	if len(t.Columns) > 0 {
		return renamed(nil, t.Columns)
	}
	if t.With == nil {
		return nil
	}
	out := &catalog.Table{}
	for i := range t.With {
		column := catalog.Column{Name: t.With[i].Name.Value}
		if r.catalog != nil && t.With[i].Type != nil {
			column.Type, _, _ = r.catalog.Type(t.With[i].Type)
		}
		out.Columns = append(out.Columns, column)
	}
	return out
}
