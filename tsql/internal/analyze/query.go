package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// query checks a query that stands as a statement and says what it sends to the client. SELECT … INTO #t makes the temp
// table known in e.
func (a *analyzer) query(e *env, q *syntax.Query) rowset {
	s := &scope{env: e, level: level{Clause: lookup.InFrom}}
	out := a.queryIn(s, q)
	e.found = out.rows
	if q.For != nil && q.For.Kind != "BROWSE" {
		fix := "make it a value: SELECT (SELECT … FOR " + q.For.Kind + " …) AS document"
		if yieldsXML(q.For) {
			document := Column{Type: typeXML, Nullable: true, Span: q.Span}
			return rowset{Columns: []Column{document}, Rows: Optional, bad: out.bad, none: out.none}
		}
		a.fail(e, q.For.Span, fix, "the server cuts the document of FOR %s into rows of about 2,000 characters", q.For.Kind)
		out.bad = true
	}
	return rowset{Columns: out.columns, Rows: out.rows, bad: out.bad, none: out.none}
}

// sent returns the columns as the server sends them.
func sent(columns []Column) []Column {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Type = sentAs(columns[i].Type)
	}
	return columns
}

// sentAs returns the type of a column as the server sends it: a NULL without a type is an int.
func sentAs(t sqltype.Type) sqltype.Type {
	if t.Kind == sqltype.Null {
		return typeInt
	}
	return t
}

// result is what a query body yields, with what the clauses after it need.
//
// ORDER BY may use the tables of a single SELECT, and resultKeys which of their columns are in the list; a relation,
// which is what remains, knows neither.
type result struct {
	relation
	values      []typed // of the columns: more than the types, for what stores them
	none        bool    // SELECT … INTO, or assignments
	selectScope *scope  // of a single SELECT: what ORDER BY sees
	selected    *syntax.Select
	items       []syntax.Expr // the expression of each column; nil where a star stood
	first       *result       // of a set operation: the SELECT that it begins with
}

// subquery types a query whose rows another one reads.
func (a *analyzer) subquery(s *scope, q *syntax.Query) relation {
	out := a.subqueryValues(s, q)
	for _, v := range out.values {
		out.params = append(out.params, v.param)
	}
	return out.relation
}

// subqueryValues is subquery with all that is known about the columns.
func (a *analyzer) subqueryValues(s *scope, q *syntax.Query) result {
	if q.For != nil && q.For.Kind != "BROWSE" {
		// One value of all rows, which the alias of the derived table names.
		t := a.document(s, q)
		out := result{relation: relation{rows: Optional, bad: t.bad()}}
		out.add(Column{Type: t.Type, Nullable: true, Span: q.Span}, t, nil)
		return out
	}
	out := a.queryIn(s, q)
	for i, c := range out.columns {
		if c.Type.Kind == sqltype.Null {
			out.columns[i].Type = typeInt // documented: a column of nothing but NULL is an int
		}
	}
	if out.none {
		a.fail(s.env, q.Span, "", "a query that assigns variables or creates a table yields no rows to read")
		out.bad = true
	}
	return out
}

// queryIn types a query in a scope: its common table expressions, its body, and what follows. OFFSET and FETCH can make
// the rows fewer, never more.
func (a *analyzer) queryIn(s *scope, q *syntax.Query) result {
	with := *s
	a.with(&with, q.With)
	out := a.body(&with, q.Body)
	a.checkTop(s.env, q)
	a.orderBy(&with, q, &out)
	offset := with.in(lookup.InOffset)
	if q.Offset != nil {
		a.takes(offset, q.Offset, typeBigInt, "OFFSET")
	}
	if q.Fetch != nil {
		a.takes(offset, q.Fetch, typeBigInt, "FETCH")
		if isOne(q.Fetch) && out.rows == Many {
			out.rows = Optional
		}
	}
	if q.Offset != nil && !isZero(q.Offset) && out.rows == One {
		out.rows = Optional
	}
	return out
}

// body types a SELECT or a set operation.
func (a *analyzer) body(s *scope, b syntax.QueryBody) result {
	switch b := b.(type) {
	case *syntax.Select:
		return a.selectBody(s, b)
	case *syntax.SetOperation:
		first := firstSelect(b)
		if first == nil || first.Into == nil {
			return a.setOperation(s, b)
		}
		// INTO stands in the first query, and the table takes what the whole operation yields.
		out := a.setOperation(s, withoutInto(b))
		a.selectInto(s, first, &out)
		return out
	case *syntax.ParenQuery:
		return a.subqueryValues(s, b.Query)
	default:
		a.fail(s.env, b.Range(), "", "this kind of query isn't supported")
		return result{relation: relation{bad: true}}
	}
}

// firstSelect returns the query that a set operation begins with; nil if that is in parentheses.
func firstSelect(op *syntax.SetOperation) *syntax.Select {
	for {
		switch x := op.X.(type) {
		case *syntax.SetOperation:
			op = x
		case *syntax.Select:
			return x
		default:
			return nil
		}
	}
}

// withoutInto copies a set operation without the INTO of its first query.
//
// SELECT … INTO #t … UNION … is written in the first query but stores the rows of all.
func withoutInto(op *syntax.SetOperation) *syntax.SetOperation {
	plain := *op
	switch x := op.X.(type) {
	case *syntax.SetOperation:
		plain.X = withoutInto(x)
	case *syntax.Select:
		first := *x
		first.Into = nil
		plain.X = &first
	}
	return &plain
}

// setOperation types UNION, EXCEPT and INTERSECT. The names are those of the first query. Without ALL no two rows are
// the same, so that all columns together are a key.
//
// Columns go together by their places; the names of the later queries are not looked at.
func (a *analyzer) setOperation(s *scope, op *syntax.SetOperation) result {
	x, y := a.body(s, op.X), a.body(s, op.Y)
	out := result{relation: relation{bad: x.bad || y.bad, changed: later(x.changed, y.changed)}}
	if out.first = x.first; x.selectScope != nil {
		out.first = &x
	}
	if x.none || y.none {
		a.fail(s.env, op.Span, "", "a query that assigns variables or creates a table can't be part of %s", op.Op)
		out.bad = true
	}
	if len(x.columns) == len(y.columns) {
		for i := range x.columns {
			pair(x.values[i], y.values[i], y.columns[i].Span)
		}
	}
	if out.bad {
		out.columns, out.values = x.columns, x.values
		return out
	}
	if len(x.columns) != len(y.columns) {
		a.fail(s.env, op.Y.Range(), "select as many columns in each part", "%s needs as many columns on both sides: %d before, %d here",
			op.Op, len(x.columns), len(y.columns))
		out.bad = true
		return out
	}
	names := make([]string, len(x.columns))
	for i, column := range x.columns {
		names[i] = column.Name
		t := a.uniteColumns(s.env, op, i, y.columns[i].Span, x.values[i], y.values[i])
		out.bad = out.bad || t.bad()
		column.Type, column.Nullable, column.unsaid = t.Type, t.Nullable, true
		out.columns, out.values = append(out.columns, column), append(out.values, t)
	}
	if !op.All {
		a.sortedColumns(s.env, out.columns, op.Op)
	}
	if op.Op != "UNION" && x.rows != Many {
		out.rows = Optional
	}
	if (op.Op != "UNION" || !op.All) && !slices.Contains(names, "") {
		out.keys = [][]string{names}
	}
	return out
}

// uniteColumns types one column of a set operation. What EXCEPT leaves are rows of the first query, and what INTERSECT
// leaves is in both, so that a column that is never NULL in one of them is not NULL.
func (a *analyzer) uniteColumns(e *env, op *syntax.SetOperation, i int, at diag.Span, x, y typed) typed {
	if x.bad() || y.bad() {
		return typed{}
	}
	t, err := unionTypes(x, y)
	if err != nil {
		return a.fail(e, at, "CAST them to one type", "column %d of %s: %v", i+1, op.Op, err)
	}
	out := typed{Type: t, Nullable: x.Nullable || y.Nullable}
	switch op.Op {
	case "EXCEPT":
		out.Nullable = x.Nullable
	case "INTERSECT":
		out.Nullable = x.Nullable && y.Nullable
	}
	return out
}

// orderBy checks the keys of ORDER BY. They may be names and numbers of result columns; of a single SELECT also any
// expression over its tables.
func (a *analyzer) orderBy(s *scope, q *syntax.Query, out *result) {
	for _, item := range q.OrderBy {
		x := syntax.Unparen(item.X)
		if lit, ok := x.(*syntax.Literal); ok {
			if !isAlias(s.env, lit, out) {
				a.ordinal(s.env, lit, out)
			}
			continue
		}
		if ref, ok := x.(*syntax.ColumnRef); ok && len(ref.Parts) == 1 {
			if i := out.column(ref.Parts[0].Value); i >= 0 {
				a.orderName(out, ref)
				a.sorted(s.env, out.columns[i].Type, item.Span, "ORDER BY")
				continue
			}
		}
		switch {
		case out.selectScope != nil && out.selected.Distinct && !a.isSelected(out, x):
			a.quietly(func() { a.expr(out.selectScope.in(lookup.InOrderBy), x) })
			a.fail(s.env, item.Span, "add it to the select list", "with DISTINCT, ORDER BY can use only what is selected")
		case out.selectScope != nil:
			t := a.expr(out.selectScope.in(lookup.InOrderBy), item.X)
			a.sorted(s.env, t.Type, item.Span, "ORDER BY")
		case !out.bad && !a.isOfFirst(out.first, x):
			a.failName(s.env, item.Span, "use a column of the first query, by its name or number",
				"after a set operation, ORDER BY can use only result columns")
		}
	}
}

// isAlias reports whether a text in ORDER BY is an alias that was given as a text.
//
//	SELECT COUNT(*) AS 'Orders' … ORDER BY 'Orders'
func isAlias(e *env, lit *syntax.Literal, out *result) bool {
	selected := out.selected
	if out.first != nil {
		selected = out.first.selected
	}
	return selected != nil && lit.Kind != syntax.IntLiteral && slices.ContainsFunc(selected.Items, func(item syntax.SelectItem) bool {
		return item.Alias != nil && same(item.Alias.Value, lit.Value) && strings.HasSuffix(e.file.Slice(item.Alias.Span), "'")
	})
}

// sorted refuses values that the server can't compare with each other where it has to: text, xml and the like.
func (a *analyzer) sorted(e *env, t sqltype.Type, at diag.Span, where string) {
	if err := sqltype.Comparable(t, t); err != nil && t.Kind != sqltype.Invalid {
		a.fail(e, at, "", "%s: %v", where, err)
	}
}

// sortedColumns is sorted for all columns of a result.
func (a *analyzer) sortedColumns(e *env, columns []Column, where string) {
	for _, c := range columns {
		a.sorted(e, c.Type, c.Span, where)
	}
}

// ordinal checks a number in ORDER BY. Other constants have no meaning there.
//
// ORDER BY 1 is the first column.
func (a *analyzer) ordinal(e *env, lit *syntax.Literal, out *result) {
	n, err := strconv.Atoi(lit.Value)
	items := len(out.columns)
	if out.none && out.selected != nil {
		items = len(out.selected.Items) // assignments stand in the list too
	}
	switch {
	case lit.Kind != syntax.IntLiteral || err != nil:
		a.fail(e, lit.Span, "order by a column", "a constant orders nothing")
	case (n < 1 || n > items) && !out.bad:
		a.fail(e, lit.Span, "", "the result has %s, not %d", diag.Count(items, "column"), n)
	}
}

// isSelected reports whether an expression is one of the select list.
func (a *analyzer) isSelected(out *result, x syntax.Expr) bool {
	want := a.fingerprint(out.selectScope, x)
	for _, item := range out.items {
		if item != nil && a.fingerprint(out.selectScope, item) == want {
			return true
		}
	}
	ref, ok := x.(*syntax.ColumnRef)
	return ok && out.column(ref.Last().Value) >= 0
}

// isOfFirst reports whether an expression behind a set operation is one of the select list of the first query, with or
// without the qualifier that it has there.
func (a *analyzer) isOfFirst(first *result, x syntax.Expr) (is bool) {
	if first != nil {
		a.unnamed(func() { is = a.isOf(first, x) })
	}
	return is
}

// isOf is isOfFirst of a query that there is.
func (a *analyzer) isOf(first *result, x syntax.Expr) bool {
	var ref *syntax.ColumnRef
	if c, ok := x.(*syntax.ColumnRef); ok {
		if _, ok := a.local(first.selectScope, c); !ok {
			return false
		}
		ref = c
	}
	want := a.fingerprint(first.selectScope, x)
	for i, item := range first.items {
		switch {
		case item != nil && a.fingerprint(first.selectScope, syntax.Unparen(item)) == want:
			return true
		case item == nil && ref != nil && same(first.columns[i].Name, ref.Last().Value):
			return true
		}
	}
	return false
}
