package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/ask"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// SystemRel is a view of the system.
type SystemRel struct {
	View  *sysview.View
	Slots []int // by column; -1 for one that nothing refers to
}

func (o *SystemRel) visit(made, _ *Set) {
	for _, slot := range o.Slots {
		if slot >= 0 {
			made.Add(slot)
		}
	}
}

// systemView makes the source of a view of the system.
func (b *Binder) systemView(v *sysview.View, maybe bool) *Source {
	r := &SystemRel{View: v}
	src := &Source{Name: v.Name, schema: v.Schema, Rel: r}
	for i, c := range v.Columns(b.Env.Database) {
		r.Slots = append(r.Slots, -1)
		src.columns = append(src.columns, sourceColumn{name: c.Name, make: func() (*Node, error) {
			r.Slots[i] = b.NewSlot()
			return ColumnNode(r.Slots[i], b.Collated(c.Type), c.Nullable || maybe), nil
		}})
	}
	return src
}

// systemFunction calls a table function of the system.
func (b *Binder) systemFunction(s *scope, v *sysview.Function, f *syntax.FunctionTable, maybe bool) (*Source, error) {
	name := v.Schema + "." + v.Name
	if len(f.Call.Args) > len(v.Parameters) {
		return nil, fault.New(8144, name)
	}
	if len(f.Call.Args) < v.Required {
		return nil, fault.New(313, name)
	}
	var args []*Node
	for i, x := range f.Call.Args {
		if lit, ok := x.(*syntax.Literal); ok && lit.Kind == syntax.DefaultLiteral {
			x = &syntax.Literal{Span: lit.Span, Kind: syntax.NullLiteral}
		}
		n, err := b.expr(s, x)
		if err != nil {
			return nil, err
		}
		if n, err = b.implicitly(n, v.Parameters[i]); err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	var columns []Column
	for _, c := range v.Columns(b.Env.Database) {
		columns = append(columns, Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable})
	}
	return b.generated(f, args, columns, maybe, func(r *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error) {
		rows, err := v.Rows(ask.Context(r.Frame), args)
		return func() ([]execute.Value, bool, error) {
			if len(rows) == 0 {
				return nil, false, nil
			}
			row := rows[0]
			rows = rows[1:]
			return row, true, nil
		}, err
	})
}
