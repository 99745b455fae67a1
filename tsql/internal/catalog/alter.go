package catalog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// edit finds the table that a statement changes. It returns nil, after a finding unless an IF around the statement
// makes sure of it, when there is none. Views have indexes as well, which are nothing to record. Neither is what
// changes a history table that no script defines: it follows its table.
func (b *builder) edit(name *syntax.ObjectName, index bool) *editor {
	n, ok := b.resolve(name)
	if !ok {
		return nil
	}
	switch o := b.c.object(n).(type) {
	case *Table:
		return &editor{c: b.c, t: o, file: b.script.File, script: b.script}
	case nil:
		// An index of a table that no script defines decides nothing: who reads the table says that it is not known.
		if b.guard == nil && !index && !b.isHistory(n) {
			fix := "create it before, in this script or an earlier one"
			if near := b.c.Nearest(n); near != "" {
				fix = "did you mean " + near + "?"
			}
			b.fail(name.Span, fix, "there is no table %s", n)
		}
	default:
		if _, view := o.(*View); !view || !index {
			b.fail(name.Span, "", "%s is %s, not a table", n, sortOf(o))
		}
	}
	return nil
}

// alterTable applies ADD, ALTER COLUMN and DROP; the other actions don't change what a query sees.
// A statement whose table isn't known has been reported by edit and changes nothing.
func (b *builder) alterTable(s *syntax.AlterTable) {
	e := b.edit(s.Name, false)
	if e == nil {
		return
	}
	columns := len(e.t.Columns)
	switch {
	case s.Add != nil:
		e.add(b.missing(e.t, s.Add))
	case s.History != nil:
		b.versioned(e.t, s.History)
	case s.Other == "ENABLE TRIGGER", s.Other == "DISABLE TRIGGER":
		b.switchTriggers(s.Name, s.Names, s.Other == "ENABLE TRIGGER")
	default:
		e.alter(s, b.guard != nil)
	}
	if len(e.t.Columns) != columns {
		e.t.Changed = b.changed(e.t.Name, s.Name.Span)
	}
	b.found = append(b.found, e.found...)
}

// Altered returns a table of a procedure after an ALTER TABLE.
func (c *Catalog) Altered(file *diag.File, t *Table, s *syntax.AlterTable) (*Table, diag.List) {
	after := *t
	after.Columns, after.Keys, after.Indexes = slices.Clone(t.Columns), slices.Clone(t.Keys), slices.Clone(t.Indexes)
	after.disabled = slices.Clone(t.disabled)
	e := editor{c: c, t: &after, file: file}
	if s.Add != nil {
		e.add(s.Add)
	} else {
		e.alter(s, false)
	}
	return &after, e.found
}

// alter applies an ALTER TABLE that adds nothing. guarded says that an IF around it may make sure that there is
// something to drop.
func (e *editor) alter(s *syntax.AlterTable, guarded bool) {
	switch s.Other {
	case "ALTER COLUMN":
		e.alterColumn(s.Column, guarded)
	case "ALTER COLUMN ADD HIDDEN", "ALTER COLUMN DROP HIDDEN":
		if col := e.t.Column(s.Column.Name.Value); col != nil {
			col.Hidden = s.Other == "ALTER COLUMN ADD HIDDEN"
		} else {
			e.unknownColumn(s.Column.Name)
		}
	case "DROP COLUMN":
		e.dropColumns(s.Names, guarded || ifExists.MatchString(e.file.Slice(s.Span)))
	case "DROP CONSTRAINT":
		for _, id := range s.Names {
			e.dropKey(id.Value)
		}
	}
}

// ifExists finds the IF EXISTS of DROP COLUMN, which the tree leaves out. In a comment inside the statement it would
// count
// as well; that costs a finding, never a column.
var ifExists = regexp.MustCompile(`(?i)\bIF\s+EXISTS\b`)

// missing returns what an ADD adds: all of it, or under an IF those columns and constraints that aren't there yet.
//
//	IF COL_LENGTH('dbo.orders', 'note') IS NULL ALTER TABLE dbo.orders ADD note nvarchar(50)
func (b *builder) missing(t *Table, def *syntax.TableDef) *syntax.TableDef {
	if b.guard == nil {
		return def
	}
	rest := *def
	rest.Columns = slices.DeleteFunc(slices.Clone(def.Columns), func(d syntax.ColumnDef) bool {
		return t.Column(d.Name.Value) != nil
	})
	rest.Constraints = slices.DeleteFunc(slices.Clone(def.Constraints), func(k syntax.Constraint) bool {
		return k.Name != nil && t.indexNamed(k.Name.Value) >= 0
	})
	return &rest
}

// indexNamed returns the place of the index of that name, or -1.
func (t *Table) indexNamed(name string) int {
	return slices.IndexFunc(t.Indexes, func(i Index) bool { return i.Name != "" && Fold(i.Name) == Fold(name) })
}

// alterColumn gives a column a new type, collation and nullability; what it doesn't mention of the last two takes the
// default, as it does on the server. Identity, default and documentation stay.
func (e *editor) alterColumn(d *syntax.ColumnDef, guarded bool) {
	col := e.t.Column(d.Name.Value)
	switch {
	case col == nil:
		e.unknownColumn(d.Name)
		return
	case d.Type == nil:
		return // ADD or DROP of a property
	case col.Computed:
		e.fail(d.Span, "drop the column and add it anew", "column %s is computed and can't be altered", col.Name)
		return
	}
	// The server sets all three anew: a collation or NOT NULL that isn't repeated is lost.
	t, refused := e.columnType(d)
	if guarded && d.Null == syntax.NullUnsaid && t == col.Type && strings.EqualFold(d.Collation, col.Collation) {
		return // the IF asks whether the column still has another type
	}
	col.Type, col.Collation = t, d.Collation
	switch d.Null {
	case syntax.NullAllowed:
		col.Nullable = true
		if e.primary(col.Name) {
			e.fail(d.Span, "write NOT NULL", "column %s can't be NULL: it is in the primary key", col.Name)
			col.Nullable = false
		}
	case syntax.NullRefused:
		col.Nullable = false
	case syntax.NullUnsaid:
		col.Nullable = !refused && !col.Identity && !col.Generated && !e.primary(col.Name)
	}
}

// primary reports whether a column, spelt as in the table, is in the primary key, which stands first among the keys.
func (e *editor) primary(column string) bool {
	return len(e.t.Keys) > 0 && e.t.Keys[0].Primary && slices.Contains(e.t.Keys[0].Columns, column)
}

// dropColumns removes columns. The server refuses to as long as a key or an index has them.
// tolerant says that a column may be missing, because of IF EXISTS or an IF around the statement.
func (e *editor) dropColumns(names []syntax.Ident, tolerant bool) {
	for _, id := range names {
		col := e.t.Column(id.Value)
		if col == nil {
			if !tolerant {
				e.unknownColumn(id)
			}
			continue
		}
		name := col.Name // col points into the slice that is about to change
		if i := slices.IndexFunc(e.t.Indexes, func(i Index) bool {
			return slices.Contains(i.Columns, name) || slices.Contains(i.Include, name)
		}); i >= 0 {
			e.fail(id.Span, "drop the key or the index first", "column %s is in %s", name, describeIndex(e.t.Indexes[i]))
			continue
		}
		e.t.Columns = slices.DeleteFunc(e.t.Columns, func(c Column) bool { return c.Name == name })
	}
}

// describeIndex names an index for a message.
func describeIndex(i Index) string {
	if i.Name == "" {
		return "a key"
	}
	return "the index " + i.Name
}

// dropKey removes the key or the index of a name, and reports whether there was one. For ALTER TABLE … DROP
// CONSTRAINT that
// is no matter: constraints of other kinds (CHECK, FOREIGN KEY, DEFAULT) have left no trace that could be missing.
func (e *editor) dropKey(name string) bool {
	i := e.t.indexNamed(name)
	if i < 0 {
		return slices.Contains(e.t.special, Fold(name))
	}
	e.t.Indexes = slices.Delete(e.t.Indexes, i, i+1)
	of := func(k Key) bool { return Fold(k.Name) == Fold(name) }
	e.t.Keys = slices.DeleteFunc(e.t.Keys, of)
	e.t.disabled = slices.DeleteFunc(e.t.disabled, of)
	return true
}

// createIndex adds an index to a table.
//
//	IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = 'ix') CREATE INDEX ix ON dbo.orders (customer)
func (b *builder) createIndex(s *syntax.CreateIndex) {
	e := b.edit(s.Table, true)
	if e == nil {
		return
	}
	if b.guard != nil && e.t.indexNamed(s.Name.Value) >= 0 {
		return
	}
	if isOn(s.Options, "DROP_EXISTING") {
		e.dropKey(s.Name.Value)
	}
	i := Index{
		Name: s.Name.Value, Unique: s.Unique, Clustered: s.Clustered, Columns: e.names(s.Columns),
		Include: e.idents(s.Include), Where: s.Where, Options: s.Options,
		Span: diag.Span{From: s.From, To: s.Name.To},
	}
	if e.index(i) {
		e.uniqueIndex(i)
	}
	b.found = append(b.found, e.found...)
}

// isOn reports whether an option is given and not OFF.
func isOn(options []syntax.Option, name string) bool {
	return slices.ContainsFunc(options, func(o syntax.Option) bool {
		return o.Name == name && !strings.EqualFold(o.Value, "OFF")
	})
}

// alterIndex takes the keys away whose index is disabled, and gives them back when it is built again. The server does
// not check a disabled index, so that several rows may have the same values.
//
//	ALTER INDEX ux ON dbo.orders DISABLE
//	ALTER INDEX ALL ON dbo.orders REBUILD
func (b *builder) alterIndex(s *syntax.AlterIndex) {
	name, ok := b.resolve(s.Table)
	t := b.c.Table(name)
	if !ok || t == nil {
		return // indexes of views and of history tables are not kept
	}
	meant := func(k Key) bool { return s.Name == nil || Fold(k.Name) == Fold(s.Name.Value) }
	switch s.Action {
	case "DISABLE":
		for _, k := range t.Keys {
			if meant(k) {
				t.disabled = append(t.disabled, k)
			}
		}
		t.Keys = slices.DeleteFunc(t.Keys, meant)
	case "REBUILD":
		for _, k := range t.disabled {
			if meant(k) {
				t.addKey(k)
			}
		}
		t.disabled = slices.DeleteFunc(t.disabled, meant)
	}
}

// dropIndex removes an index: DROP INDEX i ON t, or the old DROP INDEX t.i.
func (b *builder) dropIndex(s *syntax.Drop) {
	for _, n := range s.Names {
		// The old form names the table as the index's qualifier.
		table := s.On
		if table == nil {
			table = &syntax.ObjectName{Span: n.Span, Parts: n.Parts[:len(n.Parts)-1]}
		}
		e := b.edit(table, true)
		if e == nil {
			continue
		}
		name := n.Last()
		if !e.dropKey(name.Value) && !s.IfExists && b.guard == nil {
			e.fail(name.Span, "add IF EXISTS, or remove the statement", "%s has no index %s", e.t.Name, name.Value)
		}
		b.found = append(b.found, e.found...)
	}
}

// drop removes objects. What isn't there is an error unless the statement, or an IF around it, allows for that.
// A drop of something that later files still use is no finding here; those who use it don't find it.
func (b *builder) drop(s *syntax.Drop) {
	if s.Kind == "INDEX" {
		b.dropIndex(s)
		return
	}
	if s.Kind == "TRIGGER" {
		b.dropTriggersNamed(s.Names)
		return
	}
	sorts, known := droppable[s.Kind]
	if !known {
		return // schemas, triggers, roles and so on are not in the catalog
	}
	for _, n := range s.Names {
		name, ok := b.resolve(n)
		if !ok {
			continue
		}
		o := b.c.object(name)
		if s.Kind == "TYPE" {
			o = b.c.typeObject(name)
		}
		switch {
		case o == nil && s.Kind == "TABLE" && b.dropHistory(name):
		case o != nil && slices.Contains(sorts, sortOf(o)):
			b.c.remove(o)
			b.dropTriggers(func(t *Trigger) bool { return s.Kind != "TYPE" && t.Table.Key() == name.Key() })
		case o != nil:
			b.fail(n.Span, "", "%s is %s, defined at %s", name, sortOf(o), position(o))
		case !s.IfExists && b.guard == nil:
			b.fail(n.Span, "add IF EXISTS, or remove the statement", "there is no %s %s to drop", strings.ToLower(s.Kind), name)
		}
	}
}

// droppable says what each kind of DROP removes, by [sortOf]. One TYPE may be of two sorts.
var droppable = map[string][]string{
	"TABLE":     {"a table"},
	"VIEW":      {"a view"},
	"PROCEDURE": {"a procedure"},
	"FUNCTION":  {"a function"},
	"TYPE":      {"a table type", "an alias type"},
	"SEQUENCE":  {"a sequence"},
	"SYNONYM":   {"a synonym"},
}
