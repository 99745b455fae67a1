package plan

import (
	"math"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// selected is a bound query.
type selected struct {
	rel     rel
	columns []outColumn
	assigns []assignment // of SELECT @v = …: there are no columns then
	into    *syntax.ObjectName
	scope   *scope    // of one SELECT
	first   *selected // of a set operation: the SELECT that it begins with
}

// assignment is what SELECT @v = x does with each row.
type assignment struct {
	slot int // of the variable
	node *node
}

// queryIn binds a query in a scope: its common table expressions, its body, and what follows.
func (b *binder) queryIn(s *scope, q *syntax.Query) (*selected, error) {
	with := *s
	if err := b.with(&with, q.With); err != nil {
		return nil, err
	}
	if err := b.option(q.Options); err != nil {
		return nil, err
	}
	switch body := q.Body.(type) {
	case *syntax.Select:
		return b.selectBody(&with, body, q)
	case *syntax.SetOperation:
		return b.setQuery(&with, body, q)
	case *syntax.ParenQuery:
		out, err := b.queryIn(&with, body.Query)
		if err != nil || (len(q.OrderBy) == 0 && q.Offset == nil) {
			return out, err
		}
		wrapped := &block{from: out.rel}
		if wrapped.order, err = b.outputOrder(out, q.OrderBy); err != nil {
			return nil, err
		}
		if wrapped.top, err = b.offset(&with, q); err != nil {
			return nil, err
		}
		out.rel = wrapped
		return out, nil
	default:
		return nil, b.unsupported(q.Span, "this kind of query")
	}
}

// subquery binds a query whose rows another one reads. Exists says that nobody looks at its columns.
func (b *binder) subquery(s *scope, q *syntax.Query, exists bool) (rel, []outColumn, error) {
	if q.For != nil && q.For.Kind != "BROWSE" {
		return nil, nil, b.unsupported(q.For.Span, "FOR %s of a query whose rows are read", q.For.Kind)
	}
	inner := *s
	inner.exists = exists
	out, err := b.queryIn(&inner, q)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(out.assigns) > 0:
		return nil, nil, fault.New(102, "=")
	case out.into != nil:
		return nil, nil, fault.New(156, "INTO")
	case len(q.OrderBy) > 0 && q.Offset == nil && !hasTop(q.Body):
		return nil, nil, fault.New(1033)
	}
	for i, c := range out.columns {
		if c.node.typ.Kind == sqltype.Null {
			n := *c.node
			n.typ = untyped(n.typ)
			out.columns[i].node = &n
		}
	}
	return out.rel, out.columns, nil
}

// hasTop reports whether a query is one SELECT with TOP, so that ORDER BY has a meaning below another query.
func hasTop(body syntax.QueryBody) bool {
	sel, ok := body.(*syntax.Select)
	return ok && sel.Top != nil
}

// untyped gives what has no type that of a column of nothing but NULL: int.
func untyped(t value.Type) value.Type {
	if t.Kind == sqltype.Null {
		return value.OfKind(sqltype.Int)
	}
	return t
}

// selectBody binds one SELECT in the order in which its clauses take effect.
func (b *binder) selectBody(outer *scope, q *syntax.Select, query *syntax.Query) (*selected, error) {
	s := outer.inner()
	if s.named = q.Windows; len(s.named) > 0 && b.before2022() {
		return nil, b.unsupported(q.Span, "WINDOW with a compatibility level below %d", level2022)
	}
	block := &block{}
	out := &selected{rel: block, into: q.Into, scope: s}
	var err error
	if block.from, err = b.from(s, q.From); err != nil {
		return nil, err
	}
	if block.where, err = b.conditions(s.in(inWhere), q.Where); err != nil {
		return nil, err
	}
	if s.group, err = b.groups(s, q, query.OrderBy); err != nil {
		return nil, err
	}
	if s.group != nil {
		block.group = s.group.rel
	}
	if block.having, err = b.conditions(s.in(inHaving), q.Having); err != nil {
		return nil, err
	}
	s.windows = &windows{}
	if err := b.selectList(s.in(inList), q, out, outer.exists); err != nil {
		return nil, err
	}
	if err := b.selectOrder(s.in(inOrderBy), q, query, block, out); err != nil {
		return nil, err
	}
	block.windows = s.windows.specs
	if q.Distinct {
		for _, c := range out.columns {
			if err := b.sortable(c.node); err != nil {
				return nil, err
			}
			block.distinct = append(block.distinct, c.node)
		}
	}
	block.top, err = b.top(outer, q, query)
	return out, err
}

// selectList binds the select list.
func (b *binder) selectList(s *scope, q *syntax.Select, out *selected, exists bool) error {
	for i := range q.Items {
		item := &q.Items[i]
		if star, ok := item.X.(*syntax.Star); ok {
			if exists && len(q.Items) == 1 {
				out.columns = append(out.columns, outColumn{node: constantNode(value.OfInt(1), value.OfKind(sqltype.Int))})
				continue
			}
			if err := b.star(s, star, out); err != nil {
				return err
			}
			continue
		}
		if c, numbers := builtin.IsIdentity(item.X); numbers && out.into != nil && item.Variable == nil {
			column, err := b.numbering(itemName(item), c)
			if err != nil {
				return err
			}
			out.columns = append(out.columns, column)
			continue
		}
		n, err := b.expr(s, item.X)
		if err != nil {
			return err
		}
		if item.Variable != nil {
			if err := b.assign(item, n, out); err != nil {
				return err
			}
			continue
		}
		c := outColumnOf(itemName(item), n)
		c.json, c.table = function.IsJSON(item.X), b.tableOf(s, item.X)
		out.columns = append(out.columns, c)
	}
	if len(out.assigns) > 0 && len(out.columns) > 0 {
		return fault.New(141)
	}
	return nil
}

// tableOf is the alias of the table that an expression is a column of; "" if it is none.
func (b *binder) tableOf(s *scope, x syntax.Expr) string {
	ref, ok := syntax.Unparen(x).(*syntax.ColumnRef)
	if !ok {
		return ""
	}
	f, err := b.find(s, ref)
	if err != nil {
		return ""
	}
	return f.source.name
}

// outColumnOf describes a column of a query.
func outColumnOf(name string, n *node) outColumn {
	c := outColumn{name: name, node: n, computed: true}
	if n.kind == isColumn && n.base != nil {
		c.identity = n.base.Identity
		c.computed = n.base.Computed != nil || n.base.RowVersion
	}
	return c
}

// itemName is the name of a result column: its alias, or that of the column which it is.
func itemName(item *syntax.SelectItem) string {
	if item.Alias != nil {
		return item.Alias.Value
	}
	if ref, ok := syntax.Unparen(item.X).(*syntax.ColumnRef); ok {
		return ref.Parts[len(ref.Parts)-1].Value
	}
	return ""
}

// star expands * and t.*.
func (b *binder) star(s *scope, star *syntax.Star, out *selected) error {
	sources := b.qualified(s, star.Qualifier)
	if len(sources) == 0 {
		if len(star.Qualifier) > 0 {
			return fault.New(107, textOf(star.Qualifier))
		}
		return fault.New(263)
	}
	for _, src := range sources {
		for i := range src.columns {
			if src.columns[i].hidden {
				continue
			}
			n, err := src.column(i)
			if err != nil {
				return err
			}
			if s.group != nil && !s.inAggregate {
				if n, err = s.group.column(n, found{src, i, s}); err != nil {
					return err
				}
			}
			c := outColumnOf(src.columns[i].name, n)
			c.table = src.name
			out.columns = append(out.columns, c)
		}
	}
	return nil
}

// assign binds @v = x of a select list.
func (b *binder) assign(item *syntax.SelectItem, n *node, out *selected) error {
	v := b.env.Variables[b.fold(item.Variable.Name)]
	if v == nil {
		return fault.New(137, item.Variable.Name)
	}
	if item.AssignOp != "" && item.AssignOp != "=" {
		old, err := b.variable(item.Variable)
		if err != nil {
			return err
		}
		if n, err = b.arithmetic(item.AssignOp[:len(item.AssignOp)-1], old, n, item); err != nil {
			return err
		}
	}
	n, err := b.assigned(n, v.Type)
	out.assigns = append(out.assigns, assignment{v.Slot, n})
	return err
}

// selectOrder binds ORDER BY of a single SELECT. A key may be the name or the number of a result column, or any
// expression over its tables.
func (b *binder) selectOrder(s *scope, q *syntax.Select, query *syntax.Query, block *block, out *selected) error {
	listed := out.columns
	for _, a := range out.assigns { // they stand in the select list too, without a name
		listed = append(listed, outColumn{node: a.node})
	}
	for i, item := range query.OrderBy {
		n, err := b.outputKey(listed, item.X)
		if err != nil {
			return err
		}
		if n == nil {
			if n, err = b.expr(s, item.X); err != nil {
				return err
			}
			if q.Distinct && !selects(out.columns, n) {
				return fault.New(145)
			}
		}
		if _, ok := syntax.Unparen(item.X).(*syntax.Literal); ok && n.kind == isConstant && n.literal != nil && !isOrdinal(item.X) {
			return fault.New(408, i+1)
		}
		if err := b.sortable(n); err != nil {
			return err
		}
		block.order = append(block.order, sortKey{n, item.Desc})
	}
	return nil
}

// isOrdinal reports an integer, which in ORDER BY is the place of a column.
func isOrdinal(x syntax.Expr) bool {
	lit, ok := syntax.Unparen(x).(*syntax.Literal)
	return ok && lit.Kind == syntax.IntLiteral
}

// selects reports whether an expression is a column of the result.
func selects(columns []outColumn, n *node) bool {
	key := n.key()
	for _, c := range columns {
		if c.node.key() == key {
			return true
		}
	}
	return false
}

// outputKey returns the result column that a key of ORDER BY names by its name or number; nil if it names none.
func (b *binder) outputKey(columns []outColumn, x syntax.Expr) (*node, error) {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		if x.Kind != syntax.IntLiteral {
			return nil, nil
		}
		i, err := strconv.Atoi(x.Value)
		if err != nil || i < 1 || i > len(columns) {
			return nil, fault.New(108, i)
		}
		return columns[i-1].node, nil
	case *syntax.ColumnRef:
		if len(x.Parts) > 1 {
			return nil, nil
		}
		return b.columnNamed(columns, x.Parts[0].Value)
	default:
		return nil, nil
	}
}

// columnNamed returns the result column of a name; nil if there is none.
func (b *binder) columnNamed(columns []outColumn, name string) (*node, error) {
	var hit *node
	for _, c := range columns {
		if c.name == "" || !b.same(c.name, name) {
			continue
		}
		if hit != nil && hit.key() != c.node.key() {
			return nil, fault.New(209, name)
		}
		hit = c.node
	}
	return hit, nil
}

// outputOrder binds ORDER BY behind a set operation, where only result columns can be named: by their names and
// numbers, or as they are written in the first query.
func (b *binder) outputOrder(out *selected, order []syntax.OrderItem) ([]sortKey, error) {
	var keys []sortKey
	for _, item := range order {
		n, err := b.outputKey(out.columns, item.X)
		if err != nil {
			return nil, err
		}
		if n == nil {
			n = b.keyOfFirst(out, item.X)
		}
		if n == nil {
			return nil, fault.New(104)
		}
		if err := b.sortable(n); err != nil {
			return nil, err
		}
		keys = append(keys, sortKey{n, item.Desc})
	}
	return keys, nil
}

// keyOfFirst returns the result column of which the first query of a set operation has the expression; nil if there is
// none.
func (b *binder) keyOfFirst(out *selected, x syntax.Expr) *node {
	if out.first == nil {
		return nil
	}
	n, err := b.expr(out.first.scope.in(inOrderBy), x)
	if err != nil {
		return nil
	}
	for i, c := range out.first.columns {
		if c.node.key() == n.key() {
			return out.columns[i].node
		}
	}
	return nil
}

// top binds TOP, or OFFSET and FETCH.
func (b *binder) top(outer *scope, q *syntax.Select, query *syntax.Query) (*topRel, error) {
	if q.Top == nil {
		return b.offset(outer, query)
	}
	switch {
	case query.Offset != nil:
		return nil, fault.New(10741)
	case q.Top.WithTies && len(query.OrderBy) == 0:
		return nil, fault.New(1062)
	}
	return b.topOf(outer, q.Top)
}

// topOf binds the number of TOP, which sees no column of its query.
func (b *binder) topOf(outer *scope, t *syntax.Top) (*topRel, error) {
	to := value.OfKind(sqltype.BigInt)
	if t.Percent {
		to = value.OfKind(sqltype.Float)
	}
	n, err := b.expr(outer.in(inTop), t.N)
	if err != nil {
		return nil, err
	}
	if !t.Percent && !n.typ.IsExactInteger() && n.typ.Kind != sqltype.Null && n.typ.Kind != sqltype.Bit {
		return nil, fault.New(1060)
	}
	if n, err = b.implicitly(n, to); err != nil {
		return nil, err
	}
	return &topRel{count: n, percent: t.Percent, ties: t.WithTies}, nil
}

// offset binds OFFSET and FETCH; nil if there is none.
func (b *binder) offset(outer *scope, q *syntax.Query) (*topRel, error) {
	if q.Offset == nil {
		return nil, nil
	}
	bound := func(x syntax.Expr, number int32) (*node, error) {
		n, err := b.expr(outer.in(inTop), x)
		if err != nil {
			return nil, err
		}
		if !n.typ.IsExactInteger() && n.typ.Kind != sqltype.Null && n.typ.Kind != sqltype.Bit {
			return nil, fault.New(number)
		}
		return b.implicitly(n, value.OfKind(sqltype.BigInt))
	}
	out := &topRel{}
	var err error
	if out.skip, err = bound(q.Offset, 10743); err != nil {
		return nil, err
	}
	if q.Fetch != nil {
		out.fetch = true
		out.count, err = bound(q.Fetch, 10745)
	}
	return out, err
}

// rowGoal is how many rows are wanted, if that is known.
func (t *topRel) rowGoal() float64 {
	if t == nil || t.count == nil || t.percent {
		return math.Inf(1)
	}
	v, ok := t.count.constantValue()
	if !ok || v.IsNull() {
		return 100
	}
	return float64(v.Int())
}
