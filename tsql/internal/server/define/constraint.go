package define

import (
	"cmp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// key is a PRIMARY KEY or UNIQUE constraint, or an index, as it is written.
type key struct {
	kind                            string // "PRIMARY KEY", "UNIQUE" or "INDEX"
	name                            *syntax.Ident
	unique, clustered, nonclustered bool
	columns                         []syntax.IndexColumn
	include                         []syntax.Ident
	where                           syntax.Expr
	options                         []syntax.Option
	at                              diag.Pos
}

// keysOf collects the keys and inline indexes of a definition in the order of the text.
func keysOf(def *syntax.TableDef) []key {
	var keys []key
	for i := range def.Columns {
		c := &def.Columns[i]
		own := []syntax.IndexColumn{{Span: c.Name.Span, Name: c.Name}}
		for k := range c.Constraint {
			if one, ok := keyOf(&c.Constraint[k]); ok {
				one.columns = own
				keys = append(keys, one)
			}
		}
		if c.Index != nil {
			one := indexOf(c.Index)
			if len(one.columns) == 0 {
				one.columns = own
			}
			keys = append(keys, one)
		}
	}
	for i := range def.Constraints {
		if one, ok := keyOf(&def.Constraints[i]); ok {
			keys = append(keys, one)
		}
	}
	for i := range def.Indexes {
		keys = append(keys, indexOf(&def.Indexes[i]))
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(a.at, b.at) })
	return keys
}

func keyOf(k *syntax.Constraint) (key, bool) {
	if k.Kind != "PRIMARY KEY" && k.Kind != "UNIQUE" {
		return key{}, false
	}
	return key{
		kind: k.Kind, name: k.Name, unique: true, clustered: k.Clustered,
		nonclustered: syntax.HasOption(k.Options, "NONCLUSTERED"), columns: k.Columns, options: k.Options, at: k.From,
	}, true
}

func indexOf(d *syntax.IndexDef) key {
	return key{
		kind: "INDEX", name: &d.Name, unique: d.Unique, clustered: d.Clustered,
		nonclustered: syntax.HasOption(d.Options, "NONCLUSTERED"), columns: d.Columns, include: d.Include,
		where: d.Where, options: d.Options, at: d.From,
	}
}

// choose decides which of the keys is clustered: what says so, else the primary key, unless it says otherwise or the
// table has a clustered index.
func (b *builder) choose(keys []key) error {
	clustered := b.t.Clustered() != nil
	for _, k := range keys {
		if !k.clustered {
			continue
		}
		if clustered {
			if k.kind == "INDEX" || b.t.Clustered() != nil {
				return fault.New(1902, "table", b.t.Name, b.clusteredName(keys))
			}
			return fault.New(8112, b.t.Name)
		}
		clustered = true
	}
	for i, k := range keys {
		if k.kind == "PRIMARY KEY" && !k.nonclustered && !k.clustered && !clustered {
			keys[i].clustered, clustered = true, true
		}
	}
	return nil
}

// clusteredName is the name of the clustered index that is there, or of the first that is being made.
func (b *builder) clusteredName(keys []key) string {
	if ix := b.t.Clustered(); ix != nil {
		return ix.Name
	}
	for _, k := range keys {
		if k.clustered && k.name != nil {
			return k.name.Value
		}
	}
	return ""
}

// primaryColumns makes the columns of primary keys NOT NULL, before types and checks are looked at.
func (b *builder) primaryColumns(keys []key) error {
	primary := slices.ContainsFunc(b.t.Keys, func(k *schema.Key) bool { return k.Primary })
	for _, k := range keys {
		if k.kind != "PRIMARY KEY" {
			continue
		}
		if primary {
			if b.t.PrimaryKey() != nil {
				return followed(fault.New(1779, b.t.Name), 1750)
			}
			return fault.New(8110, b.t.Name)
		}
		primary = true
		for _, column := range k.columns {
			c := b.t.Column(column.Name.Value, b.fold)
			switch {
			case c == nil, c.Computed != nil: // reported with the key
			case !c.Nullable:
			case b.isNew(c) && b.nulls[c] == syntax.NullUnsaid && (c.UserType == nil || !c.UserType.Nullable):
				c.Nullable = false
			default:
				return followed(fault.New(8111, b.t.Name), 1750)
			}
		}
	}
	return nil
}

// isNew reports whether a column is one that the statement itself defines.
func (b *builder) isNew(c *schema.Column) bool {
	_, ok := b.nulls[c]
	return ok
}

// addKey makes a key or an index of the table, without its data.
func (b *builder) addKey(k key) (*schema.Index, error) {
	ix, err := b.index(k)
	if err != nil || k.kind == "INDEX" {
		return ix, err
	}
	kind, prefix := "UQ", "UQ"
	if k.kind == "PRIMARY KEY" {
		kind, prefix = "PK", "PK"
		for _, column := range ix.Columns {
			if c := b.t.Columns[column.Ordinal]; c.Computed != nil && c.Nullable {
				return nil, followed(fault.New(1711, c.Name, b.t.Name), 1750)
			}
		}
	}
	c := &schema.Key{
		Header: b.constraintHeader(kind, prefix, "", k.name), Primary: kind == "PK", Index: ix, SystemNamed: k.name == nil,
	}
	ix.Name, ix.Key = c.Name, c
	if b.t.Index(ix.Name, b.fold) != ix {
		return nil, followed(fault.New(1913, ix.Name, "table", b.t.Name), 1750)
	}
	if c.Primary {
		b.t.Keys = slices.Insert(slices.Clone(b.t.Keys), 0, c)
	} else {
		b.t.Keys = append(slices.Clip(b.t.Keys), c)
	}
	return ix, b.constraint(c)
}

// attachCheck adds a CHECK. The column is the one it was written with; nil for one of the table.
func (b *builder) attachCheck(k *syntax.Constraint, column *schema.Column) error {
	ck := &schema.Check{Column: -1, Expr: k.Check, Text: b.source(k.Check), File: b.File(), SystemNamed: k.Name == nil}
	columnName := ""
	if column != nil {
		ck.Column, columnName = column.Ordinal, column.Name
		for ref := range syntax.All[*syntax.ColumnRef](k.Check) {
			if name := ref.Last().Value; b.fold(name) != b.fold(column.Name) && b.t.Column(name, b.fold) != nil {
				return followed(fault.New(8141, "CHECK", column.Name, b.t.Name), 1750)
			}
		}
	}
	for range syntax.All[*syntax.Subquery](k.Check) {
		return fault.New(1046)
	}
	if _, err := planner.RowTest(b.env(b.File(), b.schemaName()), b.t, k.Check); err != nil {
		return followed(err, 1750)
	}
	ck.Header = b.constraintHeader("C", "CK", columnName, k.Name)
	b.t.Checks = append(slices.Clip(b.t.Checks), ck)
	return b.constraint(ck)
}

// constraints adds what a definition says of defaults, checks and foreign keys. The columns are there, with their
// types.
func (b *builder) constraints(def *syntax.TableDef, check string) error {
	for i := range def.Columns {
		cd := &def.Columns[i]
		c := b.t.Column(cd.Name.Value, b.fold)
		if cd.Default != nil {
			if err := b.attachDefault(c, cd.DefaultName, cd.Default); err != nil {
				return err
			}
		}
		for k := range cd.Constraint {
			if err := b.checkOrForeign(&cd.Constraint[k], c, check); err != nil {
				return err
			}
		}
	}
	for i := range def.Constraints {
		k := &def.Constraints[i]
		if k.Kind == "DEFAULT" {
			c := b.t.Column(k.For.Value, b.fold)
			if c == nil {
				return followed(fault.New(1752, k.For.Value, b.t.Name), 1750)
			}
			if err := b.attachDefault(c, k.Name, k.Default); err != nil {
				return followed(err, 1750)
			}
			continue
		}
		if err := b.checkOrForeign(k, nil, check); err != nil {
			return err
		}
	}
	return nil
}

// checkOrForeign adds a CHECK or a FOREIGN KEY.
func (b *builder) checkOrForeign(k *syntax.Constraint, c *schema.Column, check string) error {
	switch k.Kind {
	case "CHECK":
		if err := b.attachCheck(k, c); err != nil {
			return err
		}
		b.t.Checks[len(b.t.Checks)-1].Untrusted = check == "NOCHECK"
		return nil
	case "FOREIGN KEY":
		return b.attachForeign(k, c, check)
	default:
		return nil
	}
}

// lobs are types that no key of an index may have.
func isKeyType(t Type) bool {
	switch t.Kind {
	case sqltype.Text, sqltype.NText, sqltype.Image, sqltype.XML, sqltype.Geometry, sqltype.Geography:
		return false
	default:
		return !t.IsMax()
	}
}

// onOff reads an option's value that is ON or OFF.
func onOff(o syntax.Option) bool { return strings.EqualFold(strings.TrimSpace(o.Value), "ON") }
