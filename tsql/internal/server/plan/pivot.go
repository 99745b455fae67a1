package plan

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// pivot binds PIVOT and UNPIVOT.
func (b *binder) pivot(s *scope, p *syntax.Pivot, maybe bool) (*source, error) {
	r, sources, err := b.source(s, p.X, false)
	if err != nil {
		return nil, err
	}
	inner := &scope{outer: s.outer, ctes: s.ctes, sources: sources, clause: inFrom}
	name := ""
	if p.Alias != nil {
		name = p.Alias.Value
	}
	var columns []outColumn
	if p.Unpivot {
		r, columns, err = b.unpivotRows(inner, p, r)
	} else {
		r, columns, err = b.pivotRows(inner, p, r)
	}
	if err != nil {
		return nil, err
	}
	return b.named(r, columns, name, nil, maybe)
}

// pivotRows groups by all columns that are neither pivoted nor aggregated, and computes the aggregate once for each
// value of the list, over the rows that have it.
func (b *binder) pivotRows(s *scope, p *syntax.Pivot, from rel) (rel, []outColumn, error) {
	pivoted, err := b.column(s, &p.For)
	if err != nil {
		return nil, nil, err
	}
	used := map[string]bool{pivoted.key(): true}
	for _, a := range p.Aggregate.Args {
		n, err := b.expr(s, a)
		if err != nil {
			return nil, nil, err
		}
		used[n.key()] = true
	}
	q := &block{from: from, group: &grouped{}}
	g := &grouping{rel: q.group, items: map[string]*node{}, only: true}
	var columns []outColumn
	for _, src := range s.sources {
		for i := range src.columns {
			n, err := src.column(i)
			if err != nil {
				return nil, nil, err
			}
			if used[n.key()] {
				continue
			}
			g.add(b, n, n.key(), false)
			columns = append(columns, outColumn{name: src.columns[i].name, node: g.items[n.key()], computed: true})
		}
	}
	for _, v := range p.In {
		n, err := b.pivotValue(s, p, pivoted, v, g)
		if err != nil {
			return nil, nil, err
		}
		columns = append(columns, outColumn{name: v.Value, node: n, computed: true})
	}
	return q, columns, nil
}

// pivotValue is the aggregate over the rows whose pivoted column has a value: of the others it sees NULL.
func (b *binder) pivotValue(s *scope, p *syntax.Pivot, pivoted *node, v syntax.Ident, g *grouping) (*node, error) {
	wanted := constantNode(value.OfString(v.Value), value.NVarChar(max(1, value.UTF16Len(v.Value))))
	equal, err := b.compare("=", pivoted, wanted)
	if err != nil {
		return nil, err
	}
	grouped := *s
	grouped.group, grouped.inAggregate, grouped.clause = g, true, inList
	call, t, label, _, err := b.aggregateCall(&grouped, "PIVOT", p.Aggregate)
	if err != nil {
		return nil, err
	}
	if len(call.args) == 0 { // COUNT(*)
		return nil, b.unsupported(p.Aggregate.Span, "PIVOT (COUNT(*))")
	}
	only := *call.args[0]
	call.args[0] = &node{
		name: "PIVOT", typ: only.typ, nullable: true, args: []*node{equal, call.args[0]}, at: p.Span,
		value: func(args []code) execute.Expr { return chooseCode(args[:1], args[1:]) },
	}
	call.slot = b.newSlot()
	g.rel.calls = append(g.rel.calls, call)
	n := columnNode(call.slot, t, true)
	n.label = label
	return n, nil
}

// unpivotRows makes a row of each of the listed columns that is not NULL.
func (b *binder) unpivotRows(s *scope, p *syntax.Pivot, from rel) (rel, []outColumn, error) {
	var listed []*node
	for _, name := range p.In {
		n, err := b.column(s, &syntax.ColumnRef{Span: name.Span, Parts: []syntax.Ident{name}})
		if err != nil {
			return nil, nil, err
		}
		if len(listed) > 0 && n.typ.Type != listed[0].typ.Type {
			return nil, nil, fault.New(8167, name.Value)
		}
		listed = append(listed, n)
	}
	label, slot := b.newSlot(), b.newSlot()
	rows := &rowsRel{slots: []int{label, slot}, rows: float64(len(listed)), text: "unpivot"}
	for i, n := range listed {
		rows.args = append(rows.args, constantNode(value.OfString(p.In[i].Value), value.NVarChar(128)), n)
	}
	rows.make = func(args []code, _ set) execute.Operator {
		var out [][]execute.Assign
		for ; len(args) > 0; args = args[2:] {
			out = append(out, []execute.Assign{{Slot: label, Value: args[0].expr}, {Slot: slot, Value: args[1].expr}})
		}
		return execute.Values(out, rows.text)
	}
	val := columnNode(slot, listed[0].typ, false)
	val.label = listed[0].label
	q := &block{from: &joinRel{kind: "INNER", x: from, y: rows}, where: []*node{nullTest(columnNode(slot, val.typ, true), true)}}
	var columns []outColumn
	for _, src := range s.sources {
		for i := range src.columns {
			n, err := src.column(i)
			if err != nil {
				return nil, nil, err
			}
			if !slices.ContainsFunc(listed, func(l *node) bool { return l.key() == n.key() }) {
				columns = append(columns, outColumn{name: src.columns[i].name, node: n, computed: true})
			}
		}
	}
	name := columnNode(label, value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 128}, Collation: b.collation()}, false)
	columns = append(columns,
		outColumn{name: p.Value.Value, node: val, computed: true},
		outColumn{name: p.For.Parts[len(p.For.Parts)-1].Value, node: name, computed: true})
	return q, columns, nil
}
