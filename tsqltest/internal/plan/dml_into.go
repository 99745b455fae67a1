package plan

import (
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
	"github.com/duroxide/duroxide-go/tsqltest/internal/execute"
)

// intoStatement compiles SELECT … INTO: the table is made when the statement is executed, and filled.
func (b *binder) intoStatement(q *syntax.Query, out *selected) (*Statement, error) {
	if len(out.assigns) > 0 {
		return nil, b.unsupported(q.Span, "SELECT … INTO with variables")
	}
	root, exprs, err := b.root(out)
	if err != nil {
		return nil, err
	}
	columns := b.resultColumns(out.columns)
	for i := range columns {
		columns[i].Identity = columns[i].Identity && plainTable(out.rel)
	}
	st := b.statementOf()
	pool, rights := &execute.Pool{Shape: b.shape}, b.rights
	name := out.into
	st.Run = func(x *execute.Frame, _ func([]execute.Value) error) (int64, error) {
		return within(pool, rights, x, func(r *execute.Run) (n int64, err error) {
			w, ok := x.Session.(Writer)
			if !ok {
				return 0, b.unsupported(name.Span, "SELECT … INTO in this session")
			}
			t, err := w.MakeTable(name, columns)
			if err != nil {
				return 0, err
			}
			err = root.Each(r, exprs, func(row []execute.Value) error {
				values := make([]execute.Value, len(row))
				copy(values, row)
				n++
				_, err := x.Session.Statement().Insert(t.Data, values)
				return err
			})
			return n, err
		})
	}
	return st, nil
}

// plainTable reports whether a query reads one table and nothing else, so that an identity column of it stays one.
func plainTable(r rel) bool {
	q, ok := r.(*block)
	if !ok || q.group != nil || q.distinct != nil {
		return false
	}
	_, ok = q.from.(*tableRel)
	return ok
}
