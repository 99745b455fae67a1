package binder

import (
	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// NumberColumns says which of the columns are identity columns of the table, and how these count. IDENTITY numbers the
// rows; a column that inherits the property keeps its values.
func NumberColumns(out *Selected, columns []Column) (source *schema.Identity, numbers bool) {
	inherited, times := identityOf(out.Rel), 0
	for i, c := range out.Columns {
		if c.numbered != nil {
			source, numbers = c.numbered, true
		}
		if columns[i].Identity && c.numbered == nil {
			times++
		}
	}
	for i, c := range out.Columns {
		// One that is listed twice is not inherited.
		columns[i].Identity = c.numbered != nil || columns[i].Identity && inherited != nil && times == 1
	}
	if source == nil {
		source = inherited
	}
	return source, numbers
}

// numbering is the column that IDENTITY makes of SELECT … INTO.
func (b *Binder) numbering(name string, x *syntax.Call) (OutColumn, error) {
	id, err := builtin.ReadIdentity(x)
	switch {
	case err != nil:
		return OutColumn{}, fault.New(2749, name)
	case !id.Seed.IsInt64() || !id.Increment.IsInt64():
		return OutColumn{}, b.Unsupported(x.Span, "IDENTITY beyond bigint")
	}
	t := value.Type{Type: id.Type}
	seed := id.Seed.Int64()
	c := outColumnOf(name, constantNode(value.OfInt(0), t))
	c.identity, c.numbered = true, &schema.Identity{Seed: seed, Increment: id.Increment.Int64(), Next: seed}
	return c, nil
}

// identityOf is the identity of the only table that a query reads, so that such a column of it stays one; nil if it
// reads more than that.
func identityOf(r Rel) *schema.Identity {
	q, ok := r.(*Block)
	if !ok || q.Group != nil || q.Distinct != nil {
		return nil
	}
	t, ok := q.From.(*TableRel)
	if !ok {
		return nil
	}
	return t.Source.Table.Identity
}
