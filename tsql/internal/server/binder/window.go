package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// windows collects the window functions of a SELECT, by their OVER clauses.
type windows struct{ specs []*WindowSpec }

// windowFunction binds a call with OVER.
func (b *Binder) windowFunction(s *scope, name string, x *syntax.Call) (*Node, error) {
	switch {
	case s.Clause == lookup.InWindow:
		return nil, fault.New(4109)
	case s.windows == nil || s.InAggregate || !s.Clause.Windows():
		return nil, fault.New(4108)
	}
	over, err := b.over(s, x.Over, 0)
	if err != nil {
		return nil, err
	}
	inner := s.in(lookup.InWindow)
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
		o.Within = function.Argument{Type: within.Type, Nullable: within.Nullable, Literal: within.literal, Expr: x.WithinGroup[0].X}
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
	slot := b.NewSlot()
	spec.Calls = append(spec.Calls, &WindowCall{
		slot: slot, Args: args, Number: name == "ROW_NUMBER",
		Make: func(args []Code) execute.WindowCall { return windowCode(name, f, slot, Operands(args)) },
	})
	n := ColumnNode(slot, t, f.Nullable)
	n.Label, n.shownNull = label.Label, true
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
func (b *Binder) over(s *scope, w *syntax.Window, hops int) (*syntax.Window, error) {
	if w.Name == "" {
		return w, nil
	}
	named := s.Window(w.Name, b.Same)
	if named == nil {
		return nil, fault.New(5362, w.Name)
	}
	if hops > len(s.Windows) {
		return nil, fault.New(5365)
	}
	base, err := b.over(s, named, hops+1)
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

// spec returns the partitions and the order of a window, one for all functions that have the same.
func (b *Binder) spec(s *scope, all *windows, w *syntax.Window) (*WindowSpec, error) {
	spec := &WindowSpec{}
	var key strings.Builder
	for _, x := range w.PartitionBy {
		n, err := b.expr(s, x)
		if err != nil {
			return nil, err
		}
		if err := b.sortable(n); err != nil {
			return nil, err
		}
		spec.Partition = append(spec.Partition, n)
		key.WriteString("by " + n.Key())
	}
	for _, item := range w.OrderBy {
		if isOrdinal(item.X) {
			return nil, fault.New(5308)
		}
		n, err := b.expr(s, item.X)
		if err != nil {
			return nil, err
		}
		if n.Kind == isConstant && n.literal != nil {
			return nil, fault.New(5309)
		}
		if err := b.sortable(n); err != nil {
			return nil, err
		}
		spec.Order = append(spec.Order, SortKey{n, item.Desc})
		key.WriteString(" order " + n.Key())
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
