package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// setQuery binds a query whose body is a set operation.
func (b *binder) setQuery(s *scope, op *syntax.SetOperation, q *syntax.Query) (*selected, error) {
	out, u, err := b.setOperation(s, op)
	if err != nil {
		return nil, err
	}
	if u.order, err = b.outputOrder(out, q.OrderBy); err != nil {
		return nil, err
	}
	u.top, err = b.offset(s, q)
	return out, err
}

// side binds an operand of a set operation.
func (b *binder) side(s *scope, body syntax.QueryBody) (*selected, error) {
	switch body := body.(type) {
	case *syntax.Select:
		return b.selectBody(s, body, &syntax.Query{Span: body.Span, Body: body})
	case *syntax.SetOperation:
		out, _, err := b.setOperation(s, body)
		return out, err
	case *syntax.ParenQuery:
		return b.queryIn(s, body.Query)
	default:
		return nil, b.unsupported(body.Range(), "this kind of query")
	}
}

// setOperation binds UNION, EXCEPT and INTERSECT. The names are those of the first query; types are united column by
// column. A column that is the literal NULL in both queries has no type yet: it gets that of the next query of a chain.
func (b *binder) setOperation(s *scope, op *syntax.SetOperation) (*selected, *unionRel, error) {
	x, err := b.side(s, op.X)
	if err != nil {
		return nil, nil, err
	}
	y, err := b.side(s, op.Y)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(x.assigns) > 0 || len(y.assigns) > 0:
		return nil, nil, fault.New(10734)
	case len(x.columns) != len(y.columns):
		return nil, nil, fault.New(205)
	case y.into != nil:
		return nil, nil, fault.New(196)
	}
	u := &unionRel{op: op.Op, all: op.All, branches: []unionBranch{{rel: x.rel}, {rel: y.rel}}}
	out := &selected{rel: u, into: x.into, first: x.first}
	if x.scope != nil {
		out.first = x
	}
	for i := range x.columns {
		l, r := x.columns[i].node, y.columns[i].node
		t, label, err := b.unite([]*node{l, r})
		if err != nil {
			return nil, nil, err
		}
		nullable := l.nullable || r.nullable
		switch op.Op {
		case "EXCEPT":
			nullable = l.nullable
		case "INTERSECT":
			nullable = l.nullable && r.nullable
		}
		n := columnNode(b.newSlot(), untyped(t), nullable)
		n.label, n.shownNull = label, l.shownNullable() || r.shownNullable()
		if !op.All {
			if err := b.sortable(n); err != nil {
				return nil, nil, err
			}
		}
		u.columns = append(u.columns, n)
		u.branches[0].values = append(u.branches[0].values, b.become(l, n.typ))
		u.branches[1].values = append(u.branches[1].values, b.become(r, n.typ))
		shown := *n
		shown.typ = t
		out.columns = append(out.columns, outColumn{name: x.columns[i].name, node: &shown, computed: true})
	}
	return out, u, nil
}
