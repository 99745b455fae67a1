package catalog

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Column returns the column of that name in any case, or nil. The pointer is into the slice of columns: it is good
// until
// columns are added or dropped.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if Fold(t.Columns[i].Name) == Fold(name) {
			return &t.Columns[i]
		}
	}
	return nil
}

// TableFromDef makes a table of a definition outside of the catalog: a temp table, a table variable, or what a function
// returns. NULL that is not said means that it is allowed (ANSI_NULL_DFLT_ON); columns of a primary key, identities and
// rowversions are never NULL, and alias types bring their own.
func (c *Catalog) TableFromDef(file *diag.File, name Name, def *syntax.TableDef) (*Table, diag.List) {
	t := &Table{Place: Place{File: file, Span: def.Span}, Name: name}
	e := editor{c: c, t: t, file: file}
	e.add(def)
	return t, e.found
}

// table makes a table of a definition in the script, with the comments of its columns.
func (b *builder) table(name Name, def *syntax.TableDef) *Table {
	t := &Table{Name: name}
	e := editor{c: b.c, t: t, file: b.script.File, script: b.script}
	e.add(def)
	b.found = append(b.found, e.found...)
	return t
}

// createTable enters a table. Its name is tried first, so that a table that is skipped has no findings of its own.
//
//	CREATE TABLE dbo.orders (id bigint NOT NULL PRIMARY KEY, note nvarchar(50) NULL)
func (b *builder) createTable(s *syntax.CreateTable) {
	name, ok := b.resolve(s.Name)
	if !ok {
		return
	}
	t := &Table{Place: b.place(s.Name), Name: name}
	if !b.free(t, create) {
		return
	}
	t = b.table(name, s.Def)
	t.Place, t.Doc, t.Changed = b.place(s.Name), b.doc(s.Span), b.defined(name, s.Name.Span, nil)
	b.c.add(t)
	b.versioned(t, s.History)
}

// editor changes a table. It works on table variables and results of functions too, which are in no catalog, so it
// has no
// builder and collects findings of its own.
type editor struct {
	c      *Catalog
	t      *Table
	file   *diag.File
	script *syntax.Script // for comments; nil if there are none
	found  diag.List
}

// fail reports what is wrong with the table's definition.
func (e *editor) fail(at diag.Span, fix, format string, args ...any) {
	e.found.Add(e.file, at, ruleCatalog, fix, format, args...)
}

// add adds columns, constraints and indexes.
func (e *editor) add(def *syntax.TableDef) {
	// New columns of a primary key that don't say NULL are NOT NULL; those that were there before are as they are.
	keyed := map[string]bool{}
	for _, k := range def.Constraints {
		if k.Kind == "PRIMARY KEY" {
			for _, column := range k.Columns {
				keyed[Fold(column.Name.Value)] = true
			}
		}
	}
	for i := range def.Columns {
		e.column(def, &def.Columns[i], keyed[Fold(def.Columns[i].Name.Value)])
	}
	// Constraints come after all columns, of which they may name any. Those written with a column come first, as on the
	// server, which matters only to which of two primary keys is the second.
	for i := range def.Columns {
		d := &def.Columns[i]
		for _, k := range d.Constraint {
			e.constraint(k, []string{d.Name.Value})
		}
		e.t.nameConstraint(d.DefaultName)
		if d.Index != nil {
			e.inlineIndex(d.Index, []string{d.Name.Value})
		}
	}
	for _, k := range def.Constraints {
		e.constraint(k, e.names(k.Columns))
	}
	for i := range def.Indexes {
		e.inlineIndex(&def.Indexes[i], e.names(def.Indexes[i].Columns))
	}
}

// column adds one column of a definition; keyed says that a PRIMARY KEY of the table, apart from the column, names it.
// Whether the column may be NULL is decided by, in this order: NULL or NOT NULL written with it; the primary key,
// IDENTITY
// and rowversion, which never are; its type, if an alias type or sysname brings NOT NULL; else it may be.
func (e *editor) column(def *syntax.TableDef, d *syntax.ColumnDef, keyed bool) {
	if old := e.t.Column(d.Name.Value); old != nil {
		if old.Name == d.Name.Value {
			e.fail(d.Name.Span, "remove one of them", "column %s is defined twice", d.Name.Value)
		} else {
			e.fail(d.Name.Span, "rename one of them", "column %s differs only in case from %s", d.Name.Value, old.Name)
		}
		return
	}
	keyed = keyed || slices.ContainsFunc(d.Constraint, func(k syntax.Constraint) bool { return k.Kind == "PRIMARY KEY" })
	col := Column{
		Name: d.Name.Value, Identity: d.Identity, Generated: d.Generated != "", Hidden: d.Hidden, HasDefault: d.Default != nil,
		Collation: d.Collation, Span: d.Name.Span, Computed: d.Computed != nil, Expr: d.Computed,
		ExprFile: e.file,
	}
	// A type may be NOT NULL by itself. A computed column has none; package analyze finds it.
	refused := false
	if d.Type != nil {
		col.Type, refused = e.columnType(d)
		if name, err := e.c.Resolve(d.Type.Name); err == nil && !builtin(d.Type) {
			col.alias = name.Key()
		}
	}
	// The server writes a new value on every change, as it does for the columns of a temporal table.
	if col.Type.Kind == sqltype.RowVersion {
		col.Generated = true
	}
	switch d.Null {
	case syntax.NullAllowed:
		col.Nullable = true
		if keyed || d.Identity {
			e.fail(d.Span, "write NOT NULL", "column %s can't be NULL: it is %s", d.Name.Value, nullRefuser(keyed))
			col.Nullable = false
		}
	case syntax.NullRefused:
	case syntax.NullUnsaid:
		col.Nullable = !keyed && !refused && !d.Identity && !col.Generated
	}
	if e.script != nil {
		col.Doc = e.columnDoc(def, d)
	}
	e.t.Columns = append(e.t.Columns, col)
}

// nullRefuser says why a column can't be NULL.
func nullRefuser(keyed bool) string {
	if keyed {
		return "in the primary key"
	}
	return "an identity"
}

// columnType resolves the type of a column; refused says that the type by itself is NOT NULL.
// A table type and a cursor are types of variables, never of columns.
func (e *editor) columnType(d *syntax.ColumnDef) (t sqltype.Type, refused bool) {
	t, table, err := e.c.Type(d.Type)
	switch {
	case err != nil:
		e.fail(d.Type.Span, Advice(err), "%v", err)
		return sqltype.Type{}, false
	case table != nil || !t.IsScalar():
		e.fail(d.Type.Span, "", "column %s can't be of type %s", d.Name.Value, t)
		return sqltype.Type{}, false
	}
	return t, e.c.typeRefusesNull(d.Type)
}

// columnDoc returns what a comment says about a column: the one at the end of its line, else the one above. Columns
// that share a line, with each other or with the parentheses around them, have none.
func (e *editor) columnDoc(def *syntax.TableDef, d *syntax.ColumnDef) string {
	line := func(p diag.Pos) int {
		n, _ := e.file.Position(p)
		return n
	}
	from, to := line(d.From), line(d.To)
	if e.file.Text[def.From] == '(' && from == line(def.From) && from == line(def.To) {
		return "" // ADD has no parentheses
	}
	for i := range def.Columns {
		o := &def.Columns[i]
		if o != d && (line(o.To) == from || line(o.From) == to) {
			return ""
		}
	}
	if text := directive.TrailingDoc(e.script, d.Span); text != "" {
		return text
	}
	return directive.Doc(e.script, d.Span)
}

// names returns the columns of a key or an index as they are spelt in the table, and reports those that it hasn't.
func (e *editor) names(columns []syntax.IndexColumn) []string {
	idents := make([]syntax.Ident, len(columns))
	for i, c := range columns {
		idents[i] = c.Name
	}
	return e.idents(idents)
}

// idents is names for columns without an order, such as those of INCLUDE.
func (e *editor) idents(columns []syntax.Ident) []string {
	names := make([]string, 0, len(columns))
	for _, id := range columns {
		if col := e.t.Column(id.Value); col != nil {
			names = append(names, col.Name)
			continue
		}
		e.unknownColumn(id)
	}
	return names
}

// unknownColumn reports a column that the table hasn't. All names are listed when none is near: tables are seldom so
// wide
// that the list is of no help.
func (e *editor) unknownColumn(id syntax.Ident) {
	known := make([]string, len(e.t.Columns))
	for i := range e.t.Columns {
		known[i] = e.t.Columns[i].Name
	}
	fix := "the columns are " + strings.Join(known, ", ")
	if near := diag.Nearest(id.Value, known); near != "" {
		fix = "did you mean " + near + "?"
	}
	e.fail(id.Span, fix, "%s has no column %s", e.t.Name.Name, id.Value)
}

// constraint adds a constraint on the given columns. CHECK and FOREIGN KEY leave no trace: they say nothing about
// types,
// and what rows they allow is the server's business.
func (e *editor) constraint(k syntax.Constraint, columns []string) {
	switch k.Kind {
	case "PRIMARY KEY":
		e.primaryKey(k, columns)
	case "UNIQUE":
		e.key(k, columns)
	case "DEFAULT":
		e.t.nameConstraint(k.Name)
		if k.For == nil { // not in a table's definition
			break
		}
		if col := e.t.Column(k.For.Value); col != nil {
			col.HasDefault = true
		} else {
			e.unknownColumn(*k.For)
		}
	default:
		e.t.nameConstraint(k.Name)
	}
}

// nameConstraint keeps the name of a constraint that says nothing about types, for sp_rename.
func (t *Table) nameConstraint(name *syntax.Ident) {
	if name != nil {
		t.constraints = append(t.constraints, name.Value)
	}
}

// primaryKey adds the primary key, of which there is one, on columns that are never NULL.
func (e *editor) primaryKey(k syntax.Constraint, columns []string) {
	if len(e.t.Keys) > 0 && e.t.Keys[0].Primary {
		e.fail(k.Span, "make one of them UNIQUE", "%s has a second primary key", e.t.Name.Name)
		return
	}
	for _, name := range columns {
		if col := e.t.Column(name); col.Nullable {
			e.fail(k.Span, "make the column NOT NULL first", "column %s is in the primary key but may be NULL", name)
			col.Nullable = false // one finding is enough
		}
	}
	e.key(k, columns)
}

// key adds the key of a constraint and the index behind it, which has the constraint's name. The primary key goes
// first,
// where its readers look for it.
func (e *editor) key(k syntax.Constraint, columns []string) {
	name := ""
	if k.Name != nil {
		name = k.Name.Value
	}
	primary := k.Kind == "PRIMARY KEY"
	index := Index{Name: name, Unique: true, Clustered: k.Clustered, Columns: columns, Options: k.Options, Span: k.Span}
	if primary && !syntax.HasOption(k.Options, "NONCLUSTERED") {
		// Clustered unless said otherwise, or unless another index is.
		index.Clustered = !slices.ContainsFunc(e.t.Indexes, func(i Index) bool { return i.Clustered })
	}
	e.index(index)
	if len(columns) == 0 {
		return // all unknown, which is reported
	}
	e.t.addKey(Key{Name: name, Primary: primary, Columns: columns})
}

// addKey adds a key, the primary key in front.
func (t *Table) addKey(k Key) {
	if k.Primary {
		t.Keys = slices.Insert(t.Keys, 0, k)
	} else {
		t.Keys = append(t.Keys, k)
	}
}

// inlineIndex adds an index of a table's definition.
func (e *editor) inlineIndex(d *syntax.IndexDef, columns []string) {
	i := Index{
		Name: d.Name.Value, Unique: d.Unique, Clustered: d.Clustered, Columns: columns, Where: d.Where,
		Options: d.Options, Span: d.Span,
	}
	for _, o := range d.Options {
		if o.Name == "INCLUDE" {
			i.Include = strings.Split(o.Value, ", ")
		}
	}
	if e.index(i) {
		e.uniqueIndex(i)
	}
}

// index adds an index; it reports whether its name was free. Names of indexes belong to the table, not to the
// schema, and
// nameless ones, of keys, never meet.
func (e *editor) index(i Index) bool {
	for _, old := range e.t.Indexes {
		if i.Name != "" && Fold(old.Name) == Fold(i.Name) {
			e.fail(i.Span, "rename one of them", "%s has two indexes %s", e.t.Name.Name, i.Name)
			return false
		}
	}
	e.t.Indexes = append(e.t.Indexes, i)
	return true
}

// uniqueIndex adds the key that a unique index is, unless it is filtered: then it says nothing about all rows.
// An index on nothing, whose columns are all unknown, is none either.
func (e *editor) uniqueIndex(i Index) {
	if i.Unique && i.Where == nil && len(i.Columns) > 0 {
		e.t.Keys = append(e.t.Keys, Key{Name: i.Name, Columns: i.Columns})
	}
}
