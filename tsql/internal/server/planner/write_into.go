package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// into compiles SELECT … INTO: the table is made when the statement is executed, and filled.
func (p *planner) into(q *syntax.Query, out *binder.Selected) (*Statement, error) {
	if len(out.Assigns) > 0 {
		return nil, p.b.Unsupported(q.Span, "SELECT … INTO with variables")
	}
	root, exprs, err := p.root(out)
	if err != nil {
		return nil, err
	}
	columns := p.b.ResultColumns(out.Columns)
	source, numbers := binder.NumberColumns(out, columns)
	st := p.statement()
	pool, rights := &execute.Pool{Shape: p.b.Shape}, p.b.Rights
	name := out.Into
	st.Run = func(x *execute.Frame, _ func([]execute.Value) error) (int64, error) {
		return within(pool, rights, x, func(r *execute.Run) (n int64, err error) {
			w, ok := x.Session.(Writer)
			if !ok {
				return 0, p.b.Unsupported(name.Span, "SELECT … INTO in this session")
			}
			t, err := w.MakeTable(name, columns)
			if err != nil {
				return 0, err
			}
			if t.Identity != nil {
				t.Identity.Seed, t.Identity.Increment, t.Identity.Next = source.Seed, source.Increment, source.Seed
			}
			err = root.Each(r, exprs, func(row []execute.Value) error {
				values := make([]execute.Value, len(row))
				copy(values, row)
				n++
				if err := countRow(x, t, values, numbers); err != nil {
					return err
				}
				_, err := x.Session.Statement().Insert(t.Data, values)
				return err
			})
			return n, err
		})
	}
	return st, nil
}

// countRow gives a row of SELECT … INTO its identity value, or notes the one that it has.
func countRow(x *execute.Frame, t *schema.Table, values []execute.Value, numbers bool) error {
	id := t.Identity
	if id == nil {
		return nil
	}
	var err error
	if numbers {
		x.Session.Store().Draw(t.ID)
		values[id.Column], err = id.Give(t.Columns[id.Column])
		return err
	}
	v, err := value.Convert(values[id.Column], t.Columns[id.Column].Type, bigint, 0)
	if err == nil {
		id.Note(v.Int())
	}
	return err
}
