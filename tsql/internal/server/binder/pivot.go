package binder

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// pivot binds PIVOT and UNPIVOT.
func (b *Binder) pivot(s *scope, p *syntax.Pivot, maybe bool) (*Source, error) {
	r, sources, err := b.source(s, p.X, false)
	if err != nil {
		return nil, err
	}
	inner := &scope{outer: s.outer, ctes: s.ctes, level: level{Sources: sources, Clause: lookup.InFrom}}
	name := ""
	if p.Alias != nil {
		name = p.Alias.Value
	}
	var columns []OutColumn
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
func (b *Binder) pivotRows(s *scope, p *syntax.Pivot, from Rel) (Rel, []OutColumn, error) {
	pivoted, err := b.column(s, &p.For)
	if err != nil {
		return nil, nil, err
	}
	used := map[string]bool{pivoted.Key(): true}
	for _, a := range p.Aggregate.Args {
		n, err := b.expr(s, a)
		if err != nil {
			return nil, nil, err
		}
		used[n.Key()] = true
	}
	q := &Block{From: from, Group: &Grouped{}}
	g := &grouping{rel: q.Group, items: map[string]*Node{}, only: true}
	var columns []OutColumn
	for _, src := range s.Sources {
		for i := range src.columns {
			n, err := src.Column(i)
			if err != nil {
				return nil, nil, err
			}
			if used[n.Key()] {
				continue
			}
			g.add(b, n, n.Key(), false)
			columns = append(columns, OutColumn{name: src.columns[i].name, Node: g.items[n.Key()], computed: true})
		}
	}
	for _, v := range p.In {
		n, err := b.pivotValue(s, p, pivoted, v, g)
		if err != nil {
			return nil, nil, err
		}
		columns = append(columns, OutColumn{name: v.Value, Node: n, computed: true})
	}
	return q, columns, nil
}

// pivotValue is the aggregate over the rows whose pivoted column has a value: of the others it sees NULL.
func (b *Binder) pivotValue(s *scope, p *syntax.Pivot, pivoted *Node, v syntax.Ident, g *grouping) (*Node, error) {
	wanted := constantNode(value.OfString(v.Value), value.NVarChar(max(1, value.UTF16Len(v.Value))))
	equal, err := b.compare("=", pivoted, wanted)
	if err != nil {
		return nil, err
	}
	grouped := *s
	grouped.group, grouped.InAggregate, grouped.Clause = g, true, lookup.InList
	call, t, label, _, err := b.aggregateCall(&grouped, "PIVOT", p.Aggregate)
	if err != nil {
		return nil, err
	}
	if len(call.Args) == 0 { // COUNT(*)
		return nil, b.Unsupported(p.Aggregate.Span, "PIVOT (COUNT(*))")
	}
	only := *call.Args[0]
	call.Args[0] = &Node{
		Name: "PIVOT", Type: only.Type, Nullable: true, Args: []*Node{equal, call.Args[0]}, at: p.Span,
		Value: func(args []Code) execute.Expr { return chooseCode(args[:1], args[1:]) },
	}
	call.Slot = b.NewSlot()
	g.rel.Calls = append(g.rel.Calls, call)
	n := ColumnNode(call.Slot, t, true)
	n.Label = label
	return n, nil
}

// unpivotRows makes a row of each of the listed columns that is not NULL.
func (b *Binder) unpivotRows(s *scope, p *syntax.Pivot, from Rel) (Rel, []OutColumn, error) {
	var listed []*Node
	for _, name := range p.In {
		n, err := b.column(s, &syntax.ColumnRef{Span: name.Span, Parts: []syntax.Ident{name}})
		if err != nil {
			return nil, nil, err
		}
		if len(listed) > 0 && n.Type.Type != listed[0].Type.Type {
			return nil, nil, fault.New(8167, name.Value)
		}
		listed = append(listed, n)
	}
	label, slot := b.NewSlot(), b.NewSlot()
	rows := &RowsRel{slots: []int{label, slot}, Rows: float64(len(listed)), text: "unpivot"}
	for i, n := range listed {
		rows.Args = append(rows.Args, constantNode(value.OfString(p.In[i].Value), value.NVarChar(128)), n)
	}
	rows.Make = func(args []Code, _ Set) execute.Operator {
		var out [][]execute.Assign
		for ; len(args) > 0; args = args[2:] {
			out = append(out, []execute.Assign{{Slot: label, Value: args[0].Expr}, {Slot: slot, Value: args[1].Expr}})
		}
		return execute.Values(out, rows.text)
	}
	val := ColumnNode(slot, listed[0].Type, false)
	val.Label = listed[0].Label
	q := &Block{From: &JoinRel{Kind: "INNER", X: from, Y: rows}, Where: []*Node{NullTest(ColumnNode(slot, val.Type, true), true)}}
	var columns []OutColumn
	for _, src := range s.Sources {
		for i := range src.columns {
			n, err := src.Column(i)
			if err != nil {
				return nil, nil, err
			}
			if !slices.ContainsFunc(listed, func(l *Node) bool { return l.Key() == n.Key() }) {
				columns = append(columns, OutColumn{name: src.columns[i].name, Node: n, computed: true})
			}
		}
	}
	name := ColumnNode(label, value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 128}, Collation: b.collation()}, false)
	columns = append(columns,
		OutColumn{name: p.Value.Value, Node: val, computed: true},
		OutColumn{name: p.For.Last().Value, Node: name, computed: true})
	return q, columns, nil
}
