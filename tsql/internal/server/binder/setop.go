package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// setQuery binds a query whose body is a set operation.
func (b *Binder) setQuery(s *scope, op *syntax.SetOperation, q *syntax.Query) (*Selected, error) {
	out, u, err := b.setOperation(s, op)
	if err != nil {
		return nil, err
	}
	if u.Order, err = b.outputOrder(out, q.OrderBy); err != nil {
		return nil, err
	}
	u.Top, err = b.offset(s, q)
	return out, err
}

// side binds an operand of a set operation.
func (b *Binder) side(s *scope, body syntax.QueryBody) (*Selected, error) {
	switch body := body.(type) {
	case *syntax.Select:
		return b.selectBody(s, body, &syntax.Query{Span: body.Span, Body: body})
	case *syntax.SetOperation:
		out, _, err := b.setOperation(s, body)
		return out, err
	case *syntax.ParenQuery:
		return b.queryIn(s, body.Query)
	default:
		return nil, b.Unsupported(body.Range(), "this kind of query")
	}
}

// setOperation binds UNION, EXCEPT and INTERSECT. The names are those of the first query; types are united column by
// column. A column that is the literal NULL in both queries has no type yet: it gets that of the next query of a chain.
func (b *Binder) setOperation(s *scope, op *syntax.SetOperation) (*Selected, *UnionRel, error) {
	x, err := b.side(s, op.X)
	if err != nil {
		return nil, nil, err
	}
	y, err := b.side(s, op.Y)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(x.Assigns) > 0 || len(y.Assigns) > 0:
		return nil, nil, fault.New(10734)
	case len(x.Columns) != len(y.Columns):
		return nil, nil, fault.New(205)
	case y.Into != nil:
		return nil, nil, fault.New(196)
	}
	u := &UnionRel{Op: op.Op, All: op.All, Branches: []UnionBranch{{Rel: x.Rel}, {Rel: y.Rel}}}
	out := &Selected{Rel: u, Into: x.Into, first: x.first}
	if x.scope != nil {
		out.first = x
	}
	for i := range x.Columns {
		l, r := x.Columns[i].Node, y.Columns[i].Node
		t, label, err := b.unite([]*Node{l, r})
		if err != nil {
			return nil, nil, err
		}
		nullable := l.Nullable || r.Nullable
		switch op.Op {
		case "EXCEPT":
			nullable = l.Nullable
		case "INTERSECT":
			nullable = l.Nullable && r.Nullable
		}
		n := ColumnNode(b.NewSlot(), untyped(t), nullable)
		n.Label, n.shownNull = label, l.ShownNullable() || r.ShownNullable()
		if !op.All {
			if err := b.sortable(n); err != nil {
				return nil, nil, err
			}
		}
		u.Columns = append(u.Columns, n)
		u.Branches[0].Values = append(u.Branches[0].Values, b.become(l, n.Type))
		u.Branches[1].Values = append(u.Branches[1].Values, b.become(r, n.Type))
		shown := *n
		shown.Type = t
		out.Columns = append(out.Columns, OutColumn{name: x.Columns[i].name, Node: &shown, computed: true})
	}
	return out, u, nil
}
