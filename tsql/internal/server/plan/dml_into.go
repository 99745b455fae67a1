package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
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
	source, numbers := numberColumns(out, columns)
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
	v, err := value.Convert(values[id.Column], t.Columns[id.Column].Type, askedBigInt, 0)
	if err == nil {
		id.Note(v.Int())
	}
	return err
}

// numberColumns says which of the columns are identity columns of the table, and how these count. IDENTITY numbers the
// rows; a column that inherits the property keeps its values.
func numberColumns(out *selected, columns []Column) (source *schema.Identity, numbers bool) {
	inherited, times := identityOf(out.rel), 0
	for i, c := range out.columns {
		if c.numbered != nil {
			source, numbers = c.numbered, true
		}
		if columns[i].Identity && c.numbered == nil {
			times++
		}
	}
	for i, c := range out.columns {
		// One that is listed twice is not inherited.
		columns[i].Identity = c.numbered != nil || columns[i].Identity && inherited != nil && times == 1
	}
	if source == nil {
		source = inherited
	}
	return source, numbers
}

// numbering is the column that IDENTITY makes of SELECT … INTO.
func (b *binder) numbering(name string, x *syntax.Call) (outColumn, error) {
	id, err := builtin.ReadIdentity(x)
	switch {
	case err != nil:
		return outColumn{}, fault.New(2749, name)
	case !id.Seed.IsInt64() || !id.Increment.IsInt64():
		return outColumn{}, b.unsupported(x.Span, "IDENTITY beyond bigint")
	}
	t := value.Type{Type: id.Type}
	seed := id.Seed.Int64()
	c := outColumnOf(name, constantNode(value.OfInt(0), t))
	c.identity, c.numbered = true, &schema.Identity{Seed: seed, Increment: id.Increment.Int64(), Next: seed}
	return c, nil
}

// identityOf is the identity of the only table that a query reads, so that such a column of it stays one; nil if it
// reads more than that.
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
