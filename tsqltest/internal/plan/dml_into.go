package plan

import (
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
	"github.com/duroxide/duroxide-go/tsqltest/internal/execute"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
	"github.com/duroxide/duroxide-go/tsqltest/internal/value"
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
	source := identityOf(out.rel)
	for i := range columns {
		columns[i].Identity = columns[i].Identity && source != nil
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
			if t.Identity != nil {
				t.Identity.Seed, t.Identity.Increment, t.Identity.Next = source.Seed, source.Increment, source.Seed
			}
			err = root.Each(r, exprs, func(row []execute.Value) error {
				values := make([]execute.Value, len(row))
				copy(values, row)
				n++
				if id := t.Identity; id != nil {
					v, err := value.Convert(values[id.Column], t.Columns[id.Column].Type, askedBigInt, 0)
					if err != nil {
						return err
					}
					id.Note(v.Int())
				}
				_, err := x.Session.Statement().Insert(t.Data, values)
				return err
			})
			return n, err
		})
	}
	return st, nil
}

// identityOf is the identity of the only table that a query reads, so that such a column of it stays one; nil if it reads
// more than that.
func identityOf(r rel) *schema.Identity {
	q, ok := r.(*block)
	if !ok || q.group != nil || q.distinct != nil {
		return nil
	}
	t, ok := q.from.(*tableRel)
	if !ok {
		return nil
	}
	return t.source.Table.Identity
}
