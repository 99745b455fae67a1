package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// query checks a query that stands as a statement and says what it sends to the client. SELECT … INTO #t makes the temp
// table known in e. Every column that goes to the client must have a name, and one of its own.
func (a *analyzer) query(e *env, q *syntax.Query) rowset {
	s := &scope{env: e, clause: inFrom}
	out := a.queryIn(s, q)
	if q.For != nil && q.For.Kind != "BROWSE" {
		a.fail(e, q.For.Span, "make it a value: SELECT (SELECT … FOR "+q.For.Kind+" …) AS document",
			"the server cuts the document of FOR %s into rows of about 2,000 characters", q.For.Kind)
		out.bad = true
	}
	rows := rowset{Columns: out.columns, Rows: out.rows, bad: out.bad, none: out.none}
	if !out.none && !out.bad {
		rows.bad = !a.checkSent(e, out.columns, "of the result")
	}
	return rows
}

// checkSent checks the columns that go to the client: all are named, and typed.
//
// A client reads columns into fields by their names, so that (SELECT 1) or two columns a cannot be generated for,
// though the server sends them gladly.
func (a *analyzer) checkSent(e *env, columns []Column, where string) bool {
	ok := a.checkNames(e, columns, where)
	for i := range columns {
		if columns[i].Type.Kind == sqltype.Null {
			a.fail(e, columns[i].Span, "CAST (NULL AS …)", "NULL has no type")
			columns[i].Type, ok = sqltype.Type{}, false
		}
	}
	return ok
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
	if q.For != nil {
		a.fail(s.env, q.For.Span, "", "FOR %s makes one document of the rows; it can stand only where a value stands", q.For.Kind)
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
	offset := with.in(inOffset)
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

// with makes the common table expressions of a query known in s, one after the other.
//
// A reference to itself is allowed in one form: the last part of a UNION ALL. All others see what is defined before:
//
//	WITH up AS (
//	    SELECT id, parent FROM dbo.node WHERE id = @id                             -- the anchor
//	    UNION ALL
//	    SELECT n.id, n.parent FROM dbo.node AS n JOIN up ON up.parent = n.id       -- the recursive part
//	)
func (a *analyzer) with(s *scope, list []*syntax.CTE) {
	for i, c := range list {
		for _, other := range list[:i] {
			if same(other.Name.Value, c.Name.Value) {
				a.failName(s.env, c.Name.Span, "", "two common table expressions are called %s", c.Name.Value)
			}
		}
		var rel relation
		if set := recursive(c); set != nil {
			rel = a.recursion(s, c, set)
		} else {
			rel = a.subquery(s, c.Query)
			a.rename(s.env, &rel, c.Columns)
		}
		if !rel.bad {
			rel.bad = !a.checkNames(s.env, rel.columns, "of "+c.Name.Value)
		}
		s.ctes = &cte{name: c.Name.Value, rel: &rel, outer: s.ctes}
	}
}

// recursive returns the UNION ALL of a common table expression that reads itself: the last one, if several parts do.
func recursive(c *syntax.CTE) *syntax.SetOperation {
	return recursivePart(c, c.Query.Body)
}

// recursivePart returns a set operation whose second query reads the common table expression, or else nil.
func recursivePart(c *syntax.CTE, body syntax.QueryBody) *syntax.SetOperation {
	set, ok := body.(*syntax.SetOperation)
	if !ok {
		return nil
	}
	for ref := range syntax.All[*syntax.TableRef](set.Y) {
		if len(ref.Name.Parts) == 1 && same(ref.Name.Parts[0].Value, c.Name.Value) {
			return set
		}
	}
	return nil
}

// recursion types a common table expression that reads itself. The anchor gives the types, which those of the other
// part must equal. A column is not null when that holds for the anchor, and for the other part given that it holds for
// the rows before; what turns out otherwise is nullable, and the other part is typed again. There may be several other
// parts.
func (a *analyzer) recursion(s *scope, c *syntax.CTE, set *syntax.SetOperation) relation {
	var parts []syntax.QueryBody
	first, all := set.X, true
	for ; set != nil; set = recursivePart(c, first) {
		first, parts = set.X, append(parts, set.Y)
		if set.Op != "UNION" || !set.All {
			a.fail(s.env, set.Span, "write UNION ALL", "a common table expression that reads itself needs UNION ALL")
			all = false
		}
	}
	slices.Reverse(parts)
	anchor := a.body(s, first).relation
	anchor.rows, anchor.keys, anchor.bad = Many, nil, anchor.bad || !all
	a.rename(s.env, &anchor, c.Columns)
	if anchor.bad {
		return anchor
	}
	for {
		steps, found := a.steps(s, c, &anchor, parts)
		if widened(anchor, steps) {
			continue
		}
		*a.found = append(*a.found, found...)
		for _, step := range steps {
			anchor.bad = !a.checkStep(s.env, c, anchor, step) || anchor.bad
		}
		return anchor
	}
}

// steps types the parts of a common table expression that read it, for what is known of its rows.
func (a *analyzer) steps(s *scope, c *syntax.CTE, anchor *relation, parts []syntax.QueryBody) (steps []relation, found diag.List) {
	inner := *s
	inner.ctes = &cte{name: c.Name.Value, rel: anchor, outer: s.ctes}
	found = a.quietly(func() {
		for _, part := range parts {
			steps = append(steps, a.body(&inner, part).relation)
		}
	})
	return steps, found
}

// widened makes the columns nullable that are in one of the steps, and reports whether there was one.
func widened(anchor relation, steps []relation) bool {
	changed := false
	for _, step := range steps {
		if step.bad || len(step.columns) != len(anchor.columns) {
			continue
		}
		for i, column := range step.columns {
			if column.Nullable && !anchor.columns[i].Nullable {
				anchor.columns[i].Nullable, changed = true, true
			}
		}
	}
	return changed
}

// checkStep checks that the recursive part has the anchor's columns.
//
// The server does not widen: nvarchar(10) in the anchor and nvarchar(20) in the other part is error 240, the usual
// answer to which is a CAST in the anchor.
func (a *analyzer) checkStep(e *env, c *syntax.CTE, anchor, step relation) bool {
	if step.bad {
		return false
	}
	if len(step.columns) != len(anchor.columns) {
		a.fail(e, c.Name.Span, "", "the anchor of %s has %s, its recursive part %d",
			c.Name.Value, count(len(anchor.columns), "column"), len(step.columns))
		return false
	}
	ok := true
	for i, column := range step.columns {
		if want := anchor.columns[i]; column.Type != want.Type {
			a.fail(e, column.Span, "CAST one of them",
				"column %s of %s is %s in the anchor and %s in the recursive part", want.Name, c.Name.Value, want.Type, column.Type)
			ok = false
		}
	}
	return ok
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
	out := result{relation: relation{bad: x.bad || y.bad}}
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
		a.fail(s.env, op.Y.Range(), "", "%s needs as many columns on both sides: %d before, %d here",
			op.Op, len(x.columns), len(y.columns))
		out.bad = true
		return out
	}
	names := make([]string, len(x.columns))
	for i, column := range x.columns {
		names[i] = column.Name
		t := a.uniteColumns(s.env, op, i, y.columns[i].Span, x.values[i], y.values[i])
		out.bad = out.bad || t.bad()
		column.Type, column.Nullable = t.Type, t.Nullable
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
		x := unparen(item.X)
		if lit, ok := x.(*syntax.Literal); ok {
			a.ordinal(s.env, lit, out)
			continue
		}
		if ref, ok := x.(*syntax.ColumnRef); ok && len(ref.Parts) == 1 {
			if i := out.column(ref.Parts[0].Value); i >= 0 {
				a.sorted(s.env, out.columns[i].Type, item.Span, "ORDER BY")
				continue
			}
		}
		switch {
		case out.selectScope != nil && out.selected.Distinct && !a.isSelected(out, x):
			a.quietly(func() { a.expr(out.selectScope.in(inOrderBy), x) })
			a.fail(s.env, item.Span, "add it to the select list", "with DISTINCT, ORDER BY can use only what is selected")
		case out.selectScope != nil:
			t := a.expr(out.selectScope.in(inOrderBy), item.X)
			a.sorted(s.env, t.Type, item.Span, "ORDER BY")
		case !out.bad:
			a.failName(s.env, item.Span, "use a column of the first query, by its name or number",
				"after a set operation, ORDER BY can use only result columns")
		}
	}
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
	switch {
	case lit.Kind != syntax.IntLiteral || err != nil:
		a.fail(e, lit.Span, "order by a column", "a constant orders nothing")
	case (n < 1 || n > len(out.columns)) && !out.bad:
		a.fail(e, lit.Span, "", "the result has %s, not %d", count(len(out.columns), "column"), n)
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
	return ok && out.column(lastIdent(ref)) >= 0
}

func lastIdent(ref *syntax.ColumnRef) string { return ref.Parts[len(ref.Parts)-1].Value }

// selectBody types one SELECT, in the order in which its clauses take effect: FROM, WHERE, GROUP BY, HAVING, the select
// list. Aliases of the list are therefore unknown to all of them; only ORDER BY, which comes later, sees them.
func (a *analyzer) selectBody(outer *scope, q *syntax.Select) result {
	s := outer.inner()
	s.windows, s.exists = q.Windows, outer.exists
	from := a.from(s, q.From)
	if q.Where != nil {
		a.cond(s.in(inWhere), q.Where)
		a.refine(s, q.Where)
	}
	if q.Top != nil {
		a.top(outer, q.Top)
	}
	a.groups(s, q)
	if q.Having != nil {
		a.cond(s.in(inHaving), q.Having)
	}
	for _, w := range q.Windows {
		a.window(s.in(inList), w.Window)
	}
	out := a.selectList(s, q)
	if q.Distinct {
		a.sortedColumns(s.env, out.columns, "DISTINCT")
	}
	out.rows = a.cardinality(s, q, from)
	out.keys = a.resultKeys(s, q, from, &out)
	if q.Into != nil {
		a.selectInto(s, q, &out)
	}
	return out
}

// top checks TOP, which sees no column of its query.
func (a *analyzer) top(outer *scope, t *syntax.Top) {
	want := typeBigInt
	if t.Percent {
		want = typeFloat
	}
	a.takes(outer.in(inTop), t.N, want, "TOP")
}

// checkTop refuses what the server refuses beside TOP.
func (a *analyzer) checkTop(e *env, q *syntax.Query) {
	selected, ok := q.Body.(*syntax.Select)
	switch {
	case !ok || selected.Top == nil:
	case q.Offset != nil:
		a.fail(e, selected.Top.Span, "use one of them", "TOP can't be combined with OFFSET")
	case selected.Top.WithTies && len(q.OrderBy) == 0:
		a.fail(e, selected.Top.Span, "add ORDER BY", "WITH TIES needs an ORDER BY")
	}
}

// groups checks GROUP BY and, if rows are grouped, limits what the clauses after it may refer to: the grouped columns,
// the grouped expressions as they are written, and aggregates.
//
//	SELECT YEAR(at) AS y, COUNT(*) AS n FROM dbo.orders GROUP BY YEAR(at)
//
// repeats the expression rather than its alias, which GROUP BY does not know; so two expressions have to be compared
// for being the same, which is what fingerprint is for.
func (a *analyzer) groups(s *scope, q *syntax.Select) {
	if q.GroupBy == nil {
		if a.hasAggregate(q) {
			s.group = &grouping{whole: true}
		}
		return
	}
	g := &grouping{nullable: q.GroupBy.Extended, items: map[string]typed{}}
	for _, item := range q.GroupBy.Items {
		item = unparen(item)
		if lit, ok := item.(*syntax.Literal); ok {
			a.fail(s.env, lit.Span, "group by a column", "a constant groups nothing")
			continue
		}
		t := a.expr(s.in(inGroupBy), item)
		a.sorted(s.env, t.Type, item.Range(), "GROUP BY")
		t.literal, t.Nullable = nil, t.Nullable || g.nullable
		if ref, ok := item.(*syntax.ColumnRef); ok {
			if at, ok := a.local(s, ref); ok {
				g.columns = append(g.columns, at)
				continue
			}
		}
		g.items[a.fingerprint(s, item)] = t
	}
	s.group = g
}

// local finds a column among the sources of a scope itself, without reporting anything.
func (a *analyzer) local(s *scope, ref *syntax.ColumnRef) (place, bool) {
	var at place
	var owner *scope
	var ok bool
	a.quietly(func() { at, owner, ok = a.find(s, ref) })
	return at, ok && owner == s
}

// hasAggregate reports whether the select list or HAVING aggregates: then all rows are one group. Subqueries aggregate
// for themselves, and what has OVER is no aggregate.
func (a *analyzer) hasAggregate(q *syntax.Select) bool {
	found := q.Having != nil
	look := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Query:
			return false
		case *syntax.Call:
			found = found || n.Over == nil && isAggregate(n)
		}
		return !found
	}
	for _, item := range q.Items {
		syntax.Walk(item.X, look)
	}
	return found
}

// refine notes the columns that WHERE requires not to be NULL: those of which it says IS NOT NULL outright, not below
// an OR. Comparisons would prove as much as long as ANSI_NULLS is on; readers see the explicit form more easily.
func (a *analyzer) refine(s *scope, cond syntax.Expr) {
	switch x := cond.(type) {
	case *syntax.Paren:
		a.refine(s, x.X)
	case *syntax.Logical:
		if x.Op == "AND" {
			a.refine(s, x.X)
			a.refine(s, x.Y)
		}
	case *syntax.IsNull:
		ref, ok := unparen(x.X).(*syntax.ColumnRef)
		if !ok || !x.Not {
			return
		}
		at, ok := a.local(s, ref)
		if !ok || !at.source.columns[at.column].Nullable {
			return
		}
		at.source.columns = slices.Clone(at.source.columns)
		at.source.columns[at.column].Nullable = false
		if at.source.refined == nil {
			at.source.refined = map[int]bool{}
		}
		at.source.refined[at.column] = true
	}
}

// selectList types the columns of a SELECT. Those without a name stay without one here: whoever reads them decides
// whether that matters.
func (a *analyzer) selectList(s *scope, q *syntax.Select) result {
	out := result{selectScope: s, selected: q}
	list := s.in(inList)
	assigns := 0
	for _, item := range q.Items {
		switch x := item.X.(type) {
		case *syntax.Star:
			a.star(list, x, &out)
		default:
			t := a.expr(list, x)
			if item.Variable != nil {
				assigns++
				a.assignVariable(s.env, item.Variable, item.AssignOp, t, x)
				continue
			}
			out.bad = out.bad || t.bad()
			out.add(Column{Name: itemName(item), Type: t.Type, Nullable: t.Nullable, Span: item.Span}, t, x)
		}
	}
	out.none = assigns > 0
	if assigns > 0 && assigns < len(q.Items) {
		a.fail(s.env, q.Span, "use two statements", "a SELECT that assigns variables can't return columns too")
		out.bad = true
	}
	return out
}

func (r *result) add(c Column, t typed, x syntax.Expr) {
	r.columns = append(r.columns, c)
	r.values = append(r.values, t)
	r.items = append(r.items, x)
}

// itemName is the name of a result column: its alias, or that of the column which it is.
func itemName(item syntax.SelectItem) string {
	if item.Alias != nil {
		return item.Alias.Value
	}
	if ref, ok := unparen(item.X).(*syntax.ColumnRef); ok {
		return ref.Parts[len(ref.Parts)-1].Value
	}
	return ""
}

// star expands * and t.* from what is known of the tables, in the order of FROM. Below EXISTS it stands for nothing.
//
// Of a JOIN all columns come, those of both sides even if they have one name; T-SQL has neither USING nor NATURAL.
func (a *analyzer) star(s *scope, star *syntax.Star, out *result) {
	sources := s.qualified(star.Qualifier)
	switch {
	case len(sources) == 0 && len(star.Qualifier) > 0:
		ref := &syntax.ColumnRef{Span: star.Span, Parts: append(slices.Clone(star.Qualifier), syntax.Ident{Span: star.Span, Value: "*"})}
		a.failUnknownColumn(s, ref)
		out.bad = true
	case len(sources) == 0:
		a.failName(s.env, star.Span, "", "* stands where no table is read")
		out.bad = true
	}
	for _, src := range sources {
		out.bad = out.bad || src.bad
		if s.exists {
			continue
		}
		if src.isSystem() {
			a.fail(s.env, star.Span, "list the columns", "not all columns of %s are known to the generator", src.table.Name)
			out.bad = true
			return
		}
		for i, c := range src.columns {
			t := typed{Type: c.Type, Nullable: c.Nullable}
			if s.group != nil && !slices.Contains(s.group.columns, place{src, i}) {
				a.fail(s.env, star.Span, "list the grouped columns", "* includes %s, which is not grouped", c.Name)
				out.bad = true
				return
			}
			t.Nullable = t.Nullable || s.group != nil && s.group.nullable
			out.bad = out.bad || t.bad()
			c.Span, c.Nullable = star.Span, t.Nullable
			out.add(c, t, nil)
		}
	}
}

// selectInto makes the temp table of SELECT … INTO known.
func (a *analyzer) selectInto(s *scope, q *syntax.Select, out *result) {
	out.none = true
	name := lastPart(q.Into).Value
	if !isTemp(q.Into) {
		a.failName(s.env, q.Into.Span, "create the table in a script and INSERT into it, or use a temp table",
			"SELECT … INTO creates table %s when it runs", refText(q.Into.Parts))
		return
	}
	a.checkCreatedOnce(s.env, lastPart(q.Into))
	table := &catalog.Table{Place: catalog.Place{File: s.env.file, Span: q.Into.Span}, Name: catalog.Name{Name: name}}
	if !out.bad {
		out.bad = !a.checkNames(s.env, out.columns, "of "+name)
	}
	for i, c := range out.columns {
		if out.values[i].isNull() {
			c.Type = typeInt
		}
		table.Columns = append(table.Columns, catalog.Column{
			Name: c.Name, Type: c.Type, Span: c.Span, Nullable: c.Nullable || i >= len(out.items) || !a.createdNotNull(s, out.items[i]),
		})
	}
	s.env.declareTable(name, table)
}

// checkCreatedOnce reports a second statement that creates a temp table: the server refuses to compile the two, also in
// different branches.
func (a *analyzer) checkCreatedOnce(e *env, name syntax.Ident) {
	if _, known := e.table(name.Value); known {
		a.failName(e, name.Span, "create it once, before the branches, or under another name",
			"temp table %s is created before, and one procedure cannot create it twice", name.Value)
	}
}

// createdNotNull reports whether SELECT … INTO makes a column NOT NULL of an expression that is never NULL. Rows with
// NULL may come later into any other, so it is nullable for us too: only plain columns, literals and ISNULL are taken
// over, and not when it was WHERE that kept the NULLs out. Of UNION and its like, nothing is.
func (a *analyzer) createdNotNull(s *scope, x syntax.Expr) bool {
	switch x := unparen(x).(type) {
	case *syntax.Literal:
		return true
	case *syntax.ColumnRef:
		at, ok := a.local(s, x)
		return ok && !at.source.refined[at.column]
	case *syntax.Call:
		return len(x.Name.Parts) == 1 && same(x.Name.Parts[0].Value, "ISNULL")
	default:
		return false
	}
}

// unparen takes the parentheses off an expression.
func unparen(x syntax.Expr) syntax.Expr {
	for {
		p, ok := x.(*syntax.Paren)
		if !ok {
			return x
		}
		x = p.X
	}
}

// fingerprint is a text that two expressions share when they mean the same: without blanks and comments, in lower case
// outside of literals, with every column by the table that it belongs to.
//
// o.Total + 1 and Total+1 are one if Total is found in o. The server compares them in much the same way, and says 8120
// of what differs.
func (a *analyzer) fingerprint(s *scope, x syntax.Expr) string {
	var out strings.Builder
	file := s.env.file
	at := x.Range().From
	copyTo := func(to diag.Pos) {
		if to > at {
			text := withoutComments(file.Slice(diag.Span{From: at, To: to}))
			out.WriteString(strings.ToLower(strings.Join(strings.Fields(text), "")))
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ColumnRef:
			found, ok := a.local(s, n)
			if !ok {
				return false
			}
			copyTo(n.From)
			out.WriteString("{" + strconv.Itoa(slices.Index(s.sources, found.source)) + "." + strconv.Itoa(found.column) + "}")
			at = n.To
			return false
		case *syntax.Literal:
			copyTo(n.From)
			out.WriteString(file.Slice(n.Span))
			at = n.To
			return false
		}
		return true
	})
	copyTo(x.Range().To)
	return out.String()
}

// withoutComments returns a text that holds no strings without its comments, in each place of which is a blank.
func withoutComments(text string) string {
	var out strings.Builder
	for depth := 0; text != ""; {
		switch {
		case strings.HasPrefix(text, "/*"):
			depth++
			text = text[2:]
		case depth > 0 && strings.HasPrefix(text, "*/"):
			depth--
			text = text[2:]
			out.WriteByte(' ')
		case depth == 0 && strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
			out.WriteByte(' ')
		default:
			if depth == 0 {
				out.WriteByte(text[0])
			}
			text = text[1:]
		}
	}
	return out.String()
}
