package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// alterColumn executes ALTER TABLE … ALTER COLUMN with a new type.
func (b *builder) alterColumn(def *syntax.ColumnDef) error {
	c := b.t.Column(def.Name.Value, b.fold)
	switch {
	case c == nil:
		return fault.New(4924, "ALTER TABLE ALTER COLUMN", def.Name.Value, b.t.Name)
	case c.Computed != nil:
		return fault.New(4928, c.Name, "COMPUTED")
	case c.RowVersion:
		return fault.New(4928, c.Name, "timestamp")
	}
	next := *c
	t, user, err := resolveType(b.db, def.Type, b.first(), typeOf{c.Ordinal + 1, "column", c.Name})
	if err != nil {
		return err
	}
	if t.Kind == sqltype.RowVersion || t.Kind == sqltype.Table || t.Kind == sqltype.Cursor {
		return fault.New(4927, c.Name, def.Type.Name.Last().Value)
	}
	if next.Type, err = collate(t, def.Collation, b.collation); err != nil {
		return err
	}
	next.UserType = user
	plain := *def
	plain.Identity = c.Identity
	next.Nullable = b.nullable(&next, &plain)
	if c.Identity && (next.Nullable || !t.IsExactInteger() && (t.Kind != sqltype.Decimal || t.Scale != 0)) {
		return fault.New(2749, c.Name)
	}
	if err := b.mayChange(c, &next); err != nil {
		return err
	}
	return b.convertColumn(c, next)
}

// mayChange returns error 5074 if something depends on a column that can't have its type changed under it. Text and
// binaries may grow, and a column may become nullable or not where only checks, defaults and its own foreign keys use
// it.
func (b *builder) mayChange(c, next *schema.Column) error {
	grows := c.Type.Kind == next.Type.Kind && c.Type.Collation == next.Type.Collation && isVariable(c.Type) &&
		(next.Type.Length >= c.Type.Length && c.Type.Length != sqltype.Max || next.Type.Length == sqltype.Max)
	same := c.Type == next.Type
	for _, dep := range b.dependents(c) {
		switch {
		case dep.kind == "column":
		case dep.isKey && same && (c.Nullable == next.Nullable || dep.refers):
			continue
		case dep.isPrimary:
		case dep.isIndex && grows && !next.Type.IsMax() && c.Nullable == next.Nullable:
			continue
		case !dep.isIndex && !dep.isKey && (same || grows):
			continue
		}
		return followed(fault.New(5074, dep.kind, dep.name, c.Name), 4922, "ALTER TABLE ALTER COLUMN "+c.Name)
	}
	return nil
}

// isVariable reports whether a type is one of those whose length may grow under an index.
func isVariable(t Type) bool {
	return t.Kind == sqltype.VarChar || t.Kind == sqltype.NVarChar || t.Kind == sqltype.VarBinary
}

// convertColumn gives a column its new type, and the rows their new values.
func (b *builder) convertColumn(c *schema.Column, next schema.Column) error {
	restore := remember(b.t)
	old := *c
	*c = next
	for _, ix := range b.t.Indexes {
		ix.MeasureKey()
	}
	recompute, err := b.recompute()
	if err != nil {
		restore()
		return err
	}
	undo, err := b.rewriteAll(len(b.t.Columns), func(values []value.Value) ([]value.Value, error) {
		values = slices.Clone(values)
		v, err := value.Store(values[c.Ordinal], old.Type, c.Type)
		if err != nil {
			return nil, b.t.Truncated(err, c, values[c.Ordinal], old.Type)
		}
		if v.IsNull() && !c.Nullable {
			return nil, fault.New(515, c.Name, b.t.FullName(), "UPDATE")
		}
		values[c.Ordinal] = v
		return recompute(values)
	})
	if err != nil {
		restore()
		return err
	}
	b.undo(func() {
		restore() // first, so that keys are made as they were
		undo()
	})
	b.db.Bump()
	return nil
}

// alterProperty executes ALTER COLUMN … ADD and DROP of a property.
func (b *builder) alterProperty(s *syntax.AlterTable) error {
	c := b.t.Column(s.Column.Name.Value, b.fold)
	if c == nil {
		return fault.New(4924, "ALTER TABLE ALTER COLUMN", s.Column.Name.Value, b.t.Name)
	}
	verb, property, _ := strings.Cut(strings.TrimPrefix(s.Other, "ALTER COLUMN "), " ")
	on := verb == "ADD"
	switch property {
	case "ROWGUIDCOL":
		if on && c.Type.Kind != sqltype.UniqueIdentifier {
			return fault.New(2761)
		}
		set(b.definer, &c.RowGUID, on)
	case "SPARSE":
		set(b.definer, &c.Sparse, on)
	case "NOT FOR REPLICATION":
	case "HIDDEN":
		if !b.inPeriod(c) {
			return b.unsupported(s.Span, "HIDDEN of a column that is not in a period")
		}
		set(b.definer, &c.Hidden, on)
	default:
		return b.unsupported(s.Span, "ALTER COLUMN … "+verb+" "+property)
	}
	return nil
}

// dependent is something that uses a column.
type dependent struct {
	kind, name                string // "index", "object", "column"
	isIndex, isKey, isPrimary bool
	refers                    bool // a foreign key of the column's own table
}

// dependents lists what uses a column.
func (b *builder) dependents(c *schema.Column) []dependent {
	var list []dependent
	for _, ix := range b.t.Indexes {
		if ix.ID == 0 || !uses(b, ix, c) {
			continue
		}
		if ix.Key != nil {
			list = append(list, dependent{kind: "object", name: ix.Name, isKey: true, isPrimary: ix.Key.Primary, isIndex: true})
		} else {
			list = append(list, dependent{kind: "index", name: ix.Name, isIndex: true})
		}
	}
	for _, ck := range b.t.Checks {
		if b.mentions(ck.Expr, c) {
			list = append(list, dependent{kind: "object", name: ck.Name})
		}
	}
	if c.Default != nil {
		list = append(list, dependent{kind: "object", name: c.Default.Name})
	}
	for _, fk := range b.t.ForeignKeys {
		if slices.Contains(fk.Columns, c.Ordinal) {
			list = append(list, dependent{kind: "object", name: fk.Name, isKey: true, refers: true})
		}
	}
	for _, fk := range b.t.Referrers {
		if slices.Contains(fk.Referenced, c.Ordinal) {
			list = append(list, dependent{kind: "object", name: fk.Name, isKey: true})
		}
	}
	for _, other := range b.t.Columns {
		if other.Computed != nil && b.mentions(other.Computed, c) {
			list = append(list, dependent{kind: "column", name: other.Name})
		}
	}
	return list
}

// uses reports whether an index has a column, or asks for it in its filter.
func uses(b *builder, ix *schema.Index, c *schema.Column) bool {
	return slices.Contains(ix.Include, c.Ordinal) || ix.Where != nil && b.mentions(ix.Where, c) ||
		slices.ContainsFunc(ix.Columns, func(o schema.IndexColumn) bool { return o.Ordinal == c.Ordinal })
}

// mentions reports whether an expression names a column.
func (d *definer) mentions(x syntax.Expr, c *schema.Column) bool {
	for ref := range syntax.All[*syntax.ColumnRef](x) {
		if d.fold(ref.Last().Value) == d.fold(c.Name) {
			return true
		}
	}
	return false
}
