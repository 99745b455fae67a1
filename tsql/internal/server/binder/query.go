package binder

import (
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Selected is a bound query.
type Selected struct {
	Rel     Rel
	Columns []OutColumn
	Assigns []Assignment // of SELECT @v = …: there are no columns then
	Into    *syntax.ObjectName
	scope   *scope    // of one SELECT
	first   *Selected // of a set operation: the SELECT that it begins with
}

// Assignment is what SELECT @v = x does with each row.
type Assignment struct {
	Slot int // of the variable
	Node *Node
}

// Query binds a query that is a statement.
func (b *Binder) Query(q *syntax.Query) (*Selected, error) { return b.queryIn(&scope{}, q) }

// Expression binds a value that stands outside a query.
func (b *Binder) Expression(x syntax.Expr) (*Node, error) { return b.expr(&scope{}, x) }

// Condition binds a condition that stands outside a query.
func (b *Binder) Condition(x syntax.Expr) (*Node, error) { return b.cond(&scope{}, x) }

// queryIn binds a query in a scope: its common table expressions, its body, and what follows.
func (b *Binder) queryIn(s *scope, q *syntax.Query) (*Selected, error) {
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
		wrapped := &Block{From: out.Rel}
		if wrapped.Order, err = b.outputOrder(out, q.OrderBy); err != nil {
			return nil, err
		}
		if wrapped.Top, err = b.offset(&with, q); err != nil {
			return nil, err
		}
		out.Rel = wrapped
		return out, nil
	default:
		return nil, b.Unsupported(q.Span, "this kind of query")
	}
}

// subquery binds a query whose rows another one reads. Exists says that nobody looks at its columns.
func (b *Binder) subquery(s *scope, q *syntax.Query, exists bool) (Rel, []OutColumn, error) {
	if q.For != nil && q.For.Kind != "BROWSE" {
		return nil, nil, b.Unsupported(q.For.Span, "FOR %s of a query whose rows are read", q.For.Kind)
	}
	inner := *s
	inner.Exists = exists
	out, err := b.queryIn(&inner, q)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(out.Assigns) > 0:
		return nil, nil, fault.New(102, "=")
	case out.Into != nil:
		return nil, nil, fault.New(156, "INTO")
	case len(q.OrderBy) > 0 && q.Offset == nil && !syntax.HasTop(q.Body):
		return nil, nil, fault.New(1033)
	}
	for i, c := range out.Columns {
		if c.Node.Type.Kind == sqltype.Null {
			n := *c.Node
			n.Type = untyped(n.Type)
			out.Columns[i].Node = &n
		}
	}
	return out.Rel, out.Columns, nil
}

// untyped gives what has no type that of a column of nothing but NULL: int.
func untyped(t value.Type) value.Type {
	if t.Kind == sqltype.Null {
		return value.OfKind(sqltype.Int)
	}
	return t
}

// selectBody binds one SELECT in the order in which its clauses take effect.
func (b *Binder) selectBody(outer *scope, q *syntax.Select, query *syntax.Query) (*Selected, error) {
	s := outer.inner()
	if s.Windows = q.Windows; len(s.Windows) > 0 && b.before2022() {
		return nil, b.Unsupported(q.Span, "WINDOW with a compatibility level below %d", level2022)
	}
	block := &Block{}
	out := &Selected{Rel: block, Into: q.Into, scope: s}
	var err error
	if block.From, err = b.from(s, q.From); err != nil {
		return nil, err
	}
	if block.Where, err = b.conditions(s.in(lookup.InWhere), q.Where); err != nil {
		return nil, err
	}
	if s.group, err = b.groups(s, q, query.OrderBy); err != nil {
		return nil, err
	}
	if s.group != nil {
		block.Group = s.group.rel
	}
	if block.Having, err = b.conditions(s.in(lookup.InHaving), q.Having); err != nil {
		return nil, err
	}
	s.windows = &windows{}
	if err := b.selectList(s.in(lookup.InList), q, out, outer.Exists); err != nil {
		return nil, err
	}
	if err := b.selectOrder(s.in(lookup.InOrderBy), q, query, block, out); err != nil {
		return nil, err
	}
	block.Windows = s.windows.specs
	if q.Distinct {
		for _, c := range out.Columns {
			if err := b.sortable(c.Node); err != nil {
				return nil, err
			}
			block.Distinct = append(block.Distinct, c.Node)
		}
	}
	block.Top, err = b.top(outer, q, query)
	return out, err
}

// selectList binds the select list.
func (b *Binder) selectList(s *scope, q *syntax.Select, out *Selected, exists bool) error {
	for i := range q.Items {
		item := &q.Items[i]
		if star, ok := item.X.(*syntax.Star); ok {
			if exists && len(q.Items) == 1 {
				out.Columns = append(out.Columns, OutColumn{Node: constantNode(value.OfInt(1), value.OfKind(sqltype.Int))})
				continue
			}
			if err := b.star(s, star, out); err != nil {
				return err
			}
			continue
		}
		if c, numbers := builtin.IsIdentity(item.X); numbers && out.Into != nil && item.Variable == nil {
			column, err := b.numbering(item.Name(), c)
			if err != nil {
				return err
			}
			out.Columns = append(out.Columns, column)
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
		c := outColumnOf(item.Name(), n)
		c.json, c.table = function.IsJSON(item.X), b.tableOf(s, item.X)
		out.Columns = append(out.Columns, c)
	}
	if len(out.Assigns) > 0 && len(out.Columns) > 0 {
		return fault.New(141)
	}
	return nil
}

// tableOf is the alias of the table that an expression is a column of; "" if it is none.
func (b *Binder) tableOf(s *scope, x syntax.Expr) string {
	ref, ok := syntax.Unparen(x).(*syntax.ColumnRef)
	if !ok {
		return ""
	}
	f, err := b.find(s, ref)
	if err != nil {
		return ""
	}
	return f.source.Name
}

// outColumnOf describes a column of a query.
func outColumnOf(name string, n *Node) OutColumn {
	c := OutColumn{name: name, Node: n, computed: true}
	if n.Kind == IsColumn && n.Base != nil {
		c.identity = n.Base.Identity
		c.computed = n.Base.Computed != nil || n.Base.RowVersion
	}
	return c
}

// star expands * and t.*.
func (b *Binder) star(s *scope, star *syntax.Star, out *Selected) error {
	sources := s.Qualified(star.Qualifier, b.Same)
	if len(sources) == 0 {
		if len(star.Qualifier) > 0 {
			return fault.New(107, syntax.Dotted(star.Qualifier))
		}
		return fault.New(263)
	}
	for _, src := range sources {
		for i := range src.columns {
			if src.columns[i].hidden {
				continue
			}
			n, err := src.Column(i)
			if err != nil {
				return err
			}
			if s.group != nil && !s.InAggregate {
				if n, err = s.group.column(n, found{src, i, s}); err != nil {
					return err
				}
			}
			c := outColumnOf(src.columns[i].name, n)
			c.table = src.Name
			out.Columns = append(out.Columns, c)
		}
	}
	return nil
}

// assign binds @v = x of a select list.
func (b *Binder) assign(item *syntax.SelectItem, n *Node, out *Selected) error {
	v := b.Env.Variables[b.Fold(item.Variable.Name)]
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
	out.Assigns = append(out.Assigns, Assignment{v.Slot, n})
	return err
}

// selectOrder binds ORDER BY of a single SELECT. A key may be the name or the number of a result column, or any
// expression over its tables.
func (b *Binder) selectOrder(s *scope, q *syntax.Select, query *syntax.Query, block *Block, out *Selected) error {
	listed := out.Columns
	for _, a := range out.Assigns { // they stand in the select list too, without a name
		listed = append(listed, OutColumn{Node: a.Node})
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
			if q.Distinct && !selects(out.Columns, n) {
				return fault.New(145)
			}
		}
		if _, ok := syntax.Unparen(item.X).(*syntax.Literal); ok && n.Kind == isConstant && n.literal != nil && !isOrdinal(item.X) {
			return fault.New(408, i+1)
		}
		if err := b.sortable(n); err != nil {
			return err
		}
		block.Order = append(block.Order, SortKey{n, item.Desc})
	}
	return nil
}

// isOrdinal reports an integer, which in ORDER BY is the place of a column.
func isOrdinal(x syntax.Expr) bool {
	lit, ok := syntax.Unparen(x).(*syntax.Literal)
	return ok && lit.Kind == syntax.IntLiteral
}

// selects reports whether an expression is a column of the result.
func selects(columns []OutColumn, n *Node) bool {
	key := n.Key()
	for _, c := range columns {
		if c.Node.Key() == key {
			return true
		}
	}
	return false
}

// outputKey returns the result column that a key of ORDER BY names by its name or number; nil if it names none.
func (b *Binder) outputKey(columns []OutColumn, x syntax.Expr) (*Node, error) {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		if x.Kind != syntax.IntLiteral {
			return nil, nil
		}
		i, err := strconv.Atoi(x.Value)
		if err != nil || i < 1 || i > len(columns) {
			return nil, fault.New(108, i)
		}
		return columns[i-1].Node, nil
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
func (b *Binder) columnNamed(columns []OutColumn, name string) (*Node, error) {
	var hit *Node
	for _, c := range columns {
		if c.name == "" || !b.Same(c.name, name) {
			continue
		}
		if hit != nil && hit.Key() != c.Node.Key() {
			return nil, fault.New(209, name)
		}
		hit = c.Node
	}
	return hit, nil
}

// outputOrder binds ORDER BY behind a set operation, where only result columns can be named: by their names and
// numbers, or as they are written in the first query.
func (b *Binder) outputOrder(out *Selected, order []syntax.OrderItem) ([]SortKey, error) {
	var keys []SortKey
	for _, item := range order {
		n, err := b.outputKey(out.Columns, item.X)
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
		keys = append(keys, SortKey{n, item.Desc})
	}
	return keys, nil
}

// keyOfFirst returns the result column of which the first query of a set operation has the expression; nil if there is
// none.
func (b *Binder) keyOfFirst(out *Selected, x syntax.Expr) *Node {
	if out.first == nil {
		return nil
	}
	n, err := b.expr(out.first.scope.in(lookup.InOrderBy), x)
	if err != nil {
		return nil
	}
	for i, c := range out.first.Columns {
		if c.Node.Key() == n.Key() {
			return out.Columns[i].Node
		}
	}
	return nil
}

// top binds TOP, or OFFSET and FETCH.
func (b *Binder) top(outer *scope, q *syntax.Select, query *syntax.Query) (*TopRel, error) {
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
func (b *Binder) topOf(outer *scope, t *syntax.Top) (*TopRel, error) {
	to := value.OfKind(sqltype.BigInt)
	if t.Percent {
		to = value.OfKind(sqltype.Float)
	}
	n, err := b.expr(outer.in(lookup.InTop), t.N)
	if err != nil {
		return nil, err
	}
	if !t.Percent && !n.Type.IsExactInteger() && n.Type.Kind != sqltype.Null && n.Type.Kind != sqltype.Bit {
		return nil, fault.New(1060)
	}
	if n, err = b.implicitly(n, to); err != nil {
		return nil, err
	}
	return &TopRel{Count: n, Percent: t.Percent, Ties: t.WithTies}, nil
}

// offset binds OFFSET and FETCH; nil if there is none.
func (b *Binder) offset(outer *scope, q *syntax.Query) (*TopRel, error) {
	if q.Offset == nil {
		return nil, nil
	}
	bound := func(x syntax.Expr, number int32) (*Node, error) {
		n, err := b.expr(outer.in(lookup.InTop), x)
		if err != nil {
			return nil, err
		}
		if !n.Type.IsExactInteger() && n.Type.Kind != sqltype.Null && n.Type.Kind != sqltype.Bit {
			return nil, fault.New(number)
		}
		return b.implicitly(n, value.OfKind(sqltype.BigInt))
	}
	out := &TopRel{}
	var err error
	if out.Skip, err = bound(q.Offset, 10743); err != nil {
		return nil, err
	}
	if q.Fetch != nil {
		out.Fetch = true
		out.Count, err = bound(q.Fetch, 10745)
	}
	return out, err
}

// ResultColumns describes the columns of a result set.
func (b *Binder) ResultColumns(columns []OutColumn) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		t := b.Collated(untyped(c.Node.Type))
		out[i] = Column{Name: c.name, Type: t, Nullable: c.Node.ShownNullable(), Identity: c.identity, Computed: c.computed}
	}
	return out
}

// RowExpression binds a value over one row of a table.
func (b *Binder) RowExpression(t *schema.Table, x syntax.Expr) (*Node, *TableRel, error) {
	s, table := b.rowScope(t)
	n, err := b.expr(s, x)
	return n, table, err
}

// RowCondition binds a condition over one row of a table.
func (b *Binder) RowCondition(t *schema.Table, x syntax.Expr) (*Node, *TableRel, error) {
	s, table := b.rowScope(t)
	n, err := b.cond(s, x)
	return n, table, err
}

// rowScope is what an expression over one row of a table sees. The slots of the columns are found when it is bound.
func (b *Binder) rowScope(t *schema.Table) (*scope, *TableRel) {
	src, table := b.tableAndSource(execute.Source{Table: t}, execute.Hints{}, false)
	return &scope{level: level{Sources: []*Source{src}, Clause: lookup.InList}}, table
}
