package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// systemRel is a view of the system.
type systemRel struct {
	view  *sysview.View
	slots []int // by column; -1 for one that nothing refers to
}

func (o *systemRel) visit(made, _ *set) {
	for _, slot := range o.slots {
		if slot >= 0 {
			made.add(slot)
		}
	}
}

// asking is who asks for rows of the system's views.
func asking(x *execute.Frame) *sysview.Context {
	if c, ok := x.Session.(Catalog); ok {
		return c.Catalog()
	}
	db := x.Session.Database()
	return &sysview.Context{Server: db.Server(), Database: db, Now: x.Session.Now()}
}

// systemType is the type of a column of a view of the system.
func (b *binder) systemType(t value.Type) value.Type {
	if t.IsCharacter() && t.Collation == nil {
		t.Collation = b.collation()
	}
	return t
}

// systemView makes the source of a view of the system.
func (b *binder) systemView(v *sysview.View, maybe bool) *source {
	r := &systemRel{view: v}
	src := &source{name: v.Name, schema: v.Schema, rel: r}
	for i, c := range v.Columns(b.env.Database) {
		r.slots = append(r.slots, -1)
		src.columns = append(src.columns, sourceColumn{name: c.Name, make: func() (*node, error) {
			r.slots[i] = b.newSlot()
			return columnNode(r.slots[i], b.systemType(c.Type), c.Nullable || maybe), nil
		}})
	}
	return src
}

// system plans a view of the system: some can be asked for the rows of one object.
func (p *planner) system(r *systemRel, q request) *physical {
	conds, startup := splitStartup(q.conds, made(r))
	need := q.need.with(slotsOf(conds...))
	column, key := r.key(conds)
	x := &physical{rows: 100, cost: 200}
	if key != nil {
		x.rows, x.cost = 5, 10
	}
	x.build = func() (execute.Operator, error) { return p.systemRows(r, column, key, need) }
	return p.filtered(x, conds, startup)
}

// key finds a column by which the view can be asked, and what it must equal; nil if there is none.
func (o *systemRel) key(conds []*node) (column int, equals *node) {
	for _, column := range o.view.Keys() {
		if o.slots[column] < 0 {
			continue
		}
		for i, n := range conds {
			found := sargs(n, i, map[int]int{o.slots[column]: column})
			if len(found) == 1 && found[0].op == "=" && independent(found[0].values[0], o.columns()) {
				return column, found[0].values[0]
			}
		}
	}
	return 0, nil
}

// columns are the places of the columns by slot.
func (o *systemRel) columns() map[int]int {
	out := map[int]int{}
	for i, slot := range o.slots {
		if slot >= 0 {
			out[slot] = i
		}
	}
	return out
}

func (p *planner) systemRows(r *systemRel, column int, key *node, need set) (execute.Operator, error) {
	columns := loads(r.slots, need)
	wanted := make([]bool, len(r.slots))
	for _, c := range columns {
		wanted[c.Ordinal] = true
	}
	name := r.view.Schema + "." + r.view.Name
	if key == nil {
		return &execute.Rows{Text: "scan " + name, Open: func(run *execute.Run) (func() (bool, error), error) {
			rows, err := r.view.Rows(asking(run.Frame), wanted)
			return execute.FromSlice(run, rows, columns), err
		}}, nil
	}
	k, err := p.code(key)
	return &execute.Rows{Text: "seek " + name, Open: func(run *execute.Run) (func() (bool, error), error) {
		v, err := k.expr(run)
		if err != nil {
			return nil, err
		}
		rows, err := r.view.Find(asking(run.Frame), column, v, wanted)
		return execute.FromSlice(run, rows, columns), err
	}}, err
}

// systemFunction calls a table function of the system.
func (b *binder) systemFunction(s *scope, v *sysview.Function, f *syntax.FunctionTable, maybe bool) (*source, error) {
	name := v.Schema + "." + v.Name
	if len(f.Call.Args) > len(v.Parameters) {
		return nil, fault.New(8144, name)
	}
	if len(f.Call.Args) < v.Required {
		return nil, fault.New(313, name)
	}
	var args []*node
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
	for _, c := range v.Columns(b.env.Database) {
		columns = append(columns, Column{Name: c.Name, Type: b.systemType(c.Type), Nullable: c.Nullable})
	}
	return b.generated(f, args, columns, maybe, func(r *execute.Run, args []execute.Value) (func() ([]execute.Value, bool, error), error) {
		rows, err := v.Rows(asking(r.Frame), args)
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
