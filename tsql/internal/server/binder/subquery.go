package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Subquery is a query in an expression. What the expression makes of its rows is for code to say, once there is a plan.
type Subquery struct {
	Rel  Rel
	Need []*Node // what is read of its rows
	// Document is set for a query that yields one text, as FOR JSON does.
	Document *Document
	Goal     float64 // how many rows are looked at; 0 for all
	Code     func(sub *execute.Subquery, need []Code) Code
	// Member is x IN (query) that does not depend on the rows around it but for x: the planner may read the query
	// first.
	Member *membership
}

// membership is x IN (query) as an equality.
type membership struct {
	Equal  *Node // a comparison of x with column
	Column *Node
	Rel    Rel
}

// Constant reports whether a subquery has the same rows whenever the statement asks.
func (s *Subquery) Constant() bool {
	for _, n := range s.Need {
		if n.IsVolatile() {
			return false
		}
	}
	return Free(s.Rel).Empty() && !volatileIn(s.Rel)
}

// free are the slots of the rows around the subquery that it reads.
func (s *Subquery) free() Set {
	var m, read Set
	s.Rel.visit(&m, &read)
	for _, n := range s.Need {
		n.addSlots(&read)
	}
	return read.Without(m)
}

// SlotsOfNeed returns the slots around the subquery that the columns of its rows are computed of.
func (s *Subquery) SlotsOfNeed() Set { return SlotsOf(s.Need...).Without(Made(s.Rel)) }

// scalarSubquery binds a query that stands for a value.
func (b *Binder) scalarSubquery(s *scope, x *syntax.Subquery) (*Node, error) {
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
	c := columns[0].Node
	return &Node{
		Kind: isSubquery, Name: "subquery", Type: c.Type, Label: c.Label, other: c.other, Nullable: c.Nullable || !single(r), at: x.Span,
		Value: func([]Code) execute.Expr { return nil },
		Sub: &Subquery{Rel: r, Need: []*Node{c}, Code: func(sub *execute.Subquery, need []Code) Code {
			return Code{Expr: sub.Scalar(need[0].Expr)}
		}},
	}, nil
}

// single reports whether a query always has a row: it aggregates without GROUP BY.
func single(r Rel) bool {
	q, ok := r.(*Block)
	return ok && q.Group != nil && len(q.Group.Keys) == 0 && q.Group.Sets == nil && len(q.Having) == 0 && q.Top == nil
}

// forSubquery is the scope as a subquery sees it: what it refers to outside is no part of its own groups or windows.
func (s *scope) forSubquery() *scope {
	inner := *s
	inner.windows = nil
	return &inner
}

// exists binds EXISTS.
func (b *Binder) exists(s *scope, x *syntax.Exists) (*Node, error) {
	r, _, err := b.subquery(s.forSubquery(), x.Query, true)
	if err != nil {
		return nil, err
	}
	return &Node{
		Kind: isSubquery, Name: "EXISTS", at: x.Span, Truth: func([]Code) execute.Cond { return nil },
		Sub: &Subquery{Rel: r, Goal: 1, Code: func(sub *execute.Subquery, _ []Code) Code {
			return Code{Cond: sub.Exists()}
		}},
	}, nil
}

// anyOf binds x op ANY (query), of which IN is a case.
func (b *Binder) anyOf(s *scope, op string, n *Node, q *syntax.Query, at syntax.Node) (*Node, error) {
	compare, r, err := b.compareRows(s, op, n, q)
	if err != nil {
		return nil, err
	}
	out := &Node{
		Kind: isSubquery, Name: "ANY", Nullable: compare.Nullable, at: at.Range(), Truth: func([]Code) execute.Cond { return nil },
		Sub: &Subquery{Rel: r, Need: []*Node{compare}, Code: func(sub *execute.Subquery, need []Code) Code {
			return Code{Cond: sub.Any(need[0].Cond)}
		}},
	}
	if op == "=" && Free(r).Empty() {
		out.Sub.Member = &membership{Equal: compare, Column: compare.Args[1], Rel: r}
	}
	return out, nil
}

// compareRows binds a query and the comparison of an expression with its only column.
func (b *Binder) compareRows(s *scope, op string, n *Node, q *syntax.Query) (*Node, Rel, error) {
	r, columns, err := b.subquery(s.forSubquery(), q, false)
	if err != nil {
		return nil, nil, err
	}
	if len(columns) != 1 {
		return nil, nil, fault.New(116)
	}
	compare, err := b.compare(op, n, columns[0].Node)
	return compare, r, err
}

// quantified binds x op ANY|SOME|ALL (query).
func (b *Binder) quantified(s *scope, x *syntax.Quantified) (*Node, error) {
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
	return &Node{
		Kind: isSubquery, Name: "ALL", Nullable: compare.Nullable, at: x.Span, Truth: func([]Code) execute.Cond { return nil },
		Sub: &Subquery{Rel: r, Need: []*Node{compare}, Code: func(sub *execute.Subquery, need []Code) Code {
			return Code{Cond: sub.All(need[0].Cond)}
		}},
	}, nil
}

// isNullType reports the literal NULL.
func isNullType(n *Node) bool { return n.Type.Kind == sqltype.Null }
