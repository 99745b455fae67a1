package plan

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// subquery is a query in an expression. What the expression makes of its rows is for code to say, once there is a plan.
type subquery struct {
	rel  rel
	need []*node // what is read of its rows
	// document is set for a query that yields one text, as FOR JSON does.
	document *document
	goal     float64 // how many rows are looked at; 0 for all
	code     func(sub *execute.Subquery, need []code) code
	// member is x IN (query) that does not depend on the rows around it but for x: the planner may read the query
	// first.
	member *membership
}

// membership is x IN (query) as an equality.
type membership struct {
	equal  *node // a comparison of x with column
	column *node
	rel    rel
}

// constant reports whether a subquery has the same rows whenever the statement asks.
func (s *subquery) constant() bool {
	for _, n := range s.need {
		if n.isVolatile() {
			return false
		}
	}
	return free(s.rel).empty() && !volatileIn(s.rel)
}

// free are the slots of the rows around the subquery that it reads.
func (s *subquery) free() set {
	var m, read set
	s.rel.visit(&m, &read)
	for _, n := range s.need {
		n.addSlots(&read)
	}
	return read.without(m)
}

// scalarSubquery binds a query that stands for a value.
func (b *binder) scalarSubquery(s *scope, x *syntax.Subquery) (*node, error) {
	if f := x.Query.For; f != nil && f.Kind != "BROWSE" {
		return b.documentSubquery(s, x.Query)
	}
	r, columns, err := b.subquery(s.forSubquery(), x.Query, false)
	if err != nil {
		return nil, err
	}
	if len(columns) != 1 {
		return nil, fault.New(116)
	}
	c := columns[0].node
	return &node{
		kind: isSubquery, name: "subquery", typ: c.typ, label: c.label, other: c.other, nullable: c.nullable || !single(r), at: x.Span,
		value: func([]code) execute.Expr { return nil },
		sub: &subquery{rel: r, need: []*node{c}, code: func(sub *execute.Subquery, need []code) code {
			return code{expr: sub.Scalar(need[0].expr)}
		}},
	}, nil
}

// single reports whether a query always has a row: it aggregates without GROUP BY.
func single(r rel) bool {
	q, ok := r.(*block)
	return ok && q.group != nil && len(q.group.keys) == 0 && q.group.sets == nil && len(q.having) == 0 && q.top == nil
}

// forSubquery is the scope as a subquery sees it: what it refers to outside is no part of its own groups or windows.
func (s *scope) forSubquery() *scope {
	inner := *s
	inner.windows = nil
	return &inner
}

// exists binds EXISTS.
func (b *binder) exists(s *scope, x *syntax.Exists) (*node, error) {
	r, _, err := b.subquery(s.forSubquery(), x.Query, true)
	if err != nil {
		return nil, err
	}
	return &node{
		kind: isSubquery, name: "EXISTS", at: x.Span, truth: func([]code) execute.Cond { return nil },
		sub: &subquery{rel: r, goal: 1, code: func(sub *execute.Subquery, _ []code) code {
			return code{cond: sub.Exists()}
		}},
	}, nil
}

// anyOf binds x op ANY (query), of which IN is a case.
func (b *binder) anyOf(s *scope, op string, n *node, q *syntax.Query, at syntax.Node) (*node, error) {
	compare, r, err := b.compareRows(s, op, n, q)
	if err != nil {
		return nil, err
	}
	out := &node{
		kind: isSubquery, name: "ANY", nullable: compare.nullable, at: at.Range(), truth: func([]code) execute.Cond { return nil },
		sub: &subquery{rel: r, need: []*node{compare}, code: func(sub *execute.Subquery, need []code) code {
			return code{cond: sub.Any(need[0].cond)}
		}},
	}
	if op == "=" && free(r).empty() {
		out.sub.member = &membership{equal: compare, column: compare.args[1], rel: r}
	}
	return out, nil
}

// compareRows binds a query and the comparison of an expression with its only column.
func (b *binder) compareRows(s *scope, op string, n *node, q *syntax.Query) (*node, rel, error) {
	r, columns, err := b.subquery(s.forSubquery(), q, false)
	if err != nil {
		return nil, nil, err
	}
	if len(columns) != 1 {
		return nil, nil, fault.New(116)
	}
	compare, err := b.compare(op, n, columns[0].node)
	return compare, r, err
}

// quantified binds x op ANY|SOME|ALL (query).
func (b *binder) quantified(s *scope, x *syntax.Quantified) (*node, error) {
	n, err := b.expr(s, x.X)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(x.Quantifier, "ALL") {
		return b.anyOf(s, normal(x.Op), n, x.Query, x)
	}
	compare, r, err := b.compareRows(s, normal(x.Op), n, x.Query)
	if err != nil {
		return nil, err
	}
	return &node{
		kind: isSubquery, name: "ALL", nullable: compare.nullable, at: x.Span, truth: func([]code) execute.Cond { return nil },
		sub: &subquery{rel: r, need: []*node{compare}, code: func(sub *execute.Subquery, need []code) code {
			return code{cond: sub.All(need[0].cond)}
		}},
	}, nil
}

// isNullType reports the literal NULL.
func isNullType(n *node) bool { return n.typ.Kind == sqltype.Null }
