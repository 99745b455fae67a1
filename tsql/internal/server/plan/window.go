package plan

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// windows collects the window functions of a SELECT, by their OVER clauses.
type windows struct{ specs []*windowSpec }

// windowFunction binds a call with OVER.
func (b *binder) windowFunction(s *scope, name string, x *syntax.Call) (*node, error) {
	switch {
	case s.clause == inWindow:
		return nil, fault.New(4109)
	case s.windows == nil || s.inAggregate || (s.clause != inList && s.clause != inOrderBy):
		return nil, fault.New(4108)
	}
	over, err := b.over(s, x.Over, 0)
	if err != nil {
		return nil, err
	}
	inner := s.in(inWindow)
	inner.windows = nil
	args, known, err := b.arguments(inner, x)
	if err != nil {
		return nil, err
	}
	o := function.Over{Ordered: len(over.OrderBy) > 0, Frame: over.Frame}
	if len(x.WithinGroup) > 0 {
		within, err := b.expr(inner, x.WithinGroup[0].X)
		if err != nil {
			return nil, err
		}
		o.Within = function.Argument{Type: within.typ, Nullable: within.nullable, Literal: within.literal, Expr: x.WithinGroup[0].X}
		o.Desc = x.WithinGroup[0].Desc
		args = append(args, within)
	}
	f, err := function.BindWindow(x, known, o)
	if err != nil {
		return nil, b.callError(x, err)
	}
	for i, n := range args {
		if i < len(f.Args) && f.Args[i].Kind != sqltype.Invalid && !isNullType(n) {
			if args[i], err = b.implicitly(n, f.Args[i]); err != nil {
				return nil, err
			}
		}
	}
	spec, err := b.spec(inner, s.windows, over)
	if err != nil {
		return nil, err
	}
	t := f.Type
	label, err := resolve(args...)
	if err != nil {
		return nil, err
	}
	if t.IsCharacter() && label.Label > value.CoercibleDefault {
		t.Collation = label.Collation
	}
	slot := b.newSlot()
	spec.calls = append(spec.calls, &windowCall{
		slot: slot, args: args, number: name == "ROW_NUMBER",
		make: func(args []code) execute.WindowCall { return windowCode(name, f, slot, operands(args)) },
	})
	n := columnNode(slot, t, f.Nullable)
	n.label, n.shownNull = label.Label, true
	return n, nil
}

// windowCode makes the code of a window function.
func windowCode(name string, f *function.Window, slot int, args []execute.Expr) execute.WindowCall {
	return execute.WindowCall{
		Args: args, Slot: slot, Number: name == "ROW_NUMBER",
		Eval: func(r *execute.Run, args [][]execute.Value, peers []int) ([]execute.Value, bool, error) {
			p := &function.Partition{Rows: len(args), Args: args, Peers: peers}
			values, err := f.Eval(r, p)
			return values, p.SkippedNull, err
		},
	}
}

// over puts the windows together that an OVER clause refers to by name.
func (b *binder) over(s *scope, w *syntax.Window, hops int) (*syntax.Window, error) {
	if w.Name == "" {
		return w, nil
	}
	for _, named := range s.named {
		if !b.same(named.Name.Value, w.Name) {
			continue
		}
		if hops > len(s.named) {
			return nil, fault.New(5365)
		}
		base, err := b.over(s, named.Window, hops+1)
		if err != nil {
			return nil, err
		}
		out := *base
		if len(w.PartitionBy) > 0 {
			out.PartitionBy = w.PartitionBy
		}
		if len(w.OrderBy) > 0 {
			out.OrderBy = w.OrderBy
		}
		if w.Frame != "" {
			out.Frame = w.Frame
		}
		return &out, nil
	}
	return nil, fault.New(5362, w.Name)
}

// spec returns the partitions and the order of a window, one for all functions that have the same.
func (b *binder) spec(s *scope, all *windows, w *syntax.Window) (*windowSpec, error) {
	spec := &windowSpec{}
	var key strings.Builder
	for _, x := range w.PartitionBy {
		n, err := b.expr(s, x)
		if err != nil {
			return nil, err
		}
		if err := b.sortable(n); err != nil {
			return nil, err
		}
		spec.partition = append(spec.partition, n)
		key.WriteString("by " + n.key())
	}
	for _, item := range w.OrderBy {
		if isOrdinal(item.X) {
			return nil, fault.New(5308)
		}
		n, err := b.expr(s, item.X)
		if err != nil {
			return nil, err
		}
		if n.kind == isConstant && n.literal != nil {
			return nil, fault.New(5309)
		}
		if err := b.sortable(n); err != nil {
			return nil, err
		}
		spec.order = append(spec.order, sortKey{n, item.Desc})
		key.WriteString(" order " + n.key())
		if item.Desc {
			key.WriteString(" desc")
		}
	}
	spec.key = key.String()
	for _, other := range all.specs {
		if other.key == spec.key {
			return other, nil
		}
	}
	all.specs = append(all.specs, spec)
	return spec, nil
}
