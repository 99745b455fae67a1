package analyze

import (
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/lookup"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Names is what the names in a piece of code stand for. What can't be told is left out: nothing is reported, so that
// code can be asked about that Analyze refuses.
type Names struct {
	Variables map[string]NamedVariable // by folded name
	Refs      map[*syntax.ColumnRef]Reference
	Tables    map[syntax.TableSource]*ReadTable // in FROM, and the targets of writes
	Uses      []Use

	sources map[*source]*ReadTable
	seen    map[Use]bool
}

// A NamedVariable is a parameter or a local variable. A table variable is one without a type.
type NamedVariable struct {
	Name  string       // as declared, with its @
	Type  sqltype.Type // Invalid if it isn't known
	Param bool
}

// A Use is a name whose definition is known. Names that stand for themselves, such as an alias where it is defined, are
// no uses.
type Use struct {
	At               diag.Span
	What             string // "variable", "table", "column", …
	Written, Defined string
}

// TableKind tells what a name in FROM stands for.
type TableKind int

// The kinds.
const (
	StoredTable   TableKind = iota // a table or view of the database
	LocalTable                     // a table variable or temp table, or inserted and deleted
	QueryTable                     // a CTE or derived table
	FunctionTable                  // anything that isn't stored
)

// A ReadTable is a table in scope. Two references belong to the same one if their pointers are equal, even if the same
// table is in FROM twice.
type ReadTable struct {
	Kind TableKind
	// Name is what its columns are qualified with: the alias, or the last part of the table's name. Empty if nothing
	// can be, as for a table variable without an alias.
	Name string
	// Table has the columns; nil if they aren't known. Those of a CTE or derived table have a type only where they are
	// columns of a table.
	Table *catalog.Table
	// Pseudo marks inserted and deleted of an OUTPUT clause, which aren't counted as tables that are read.
	Pseudo bool
	// Ref is the name in FROM, with its hints; nil for whatever isn't written as a name.
	Ref *syntax.TableRef
}

// A Reference is what a column reference means.
type Reference struct {
	Source *ReadTable      // nil if not known
	Column *catalog.Column // nil if not known
	// Visible is how many tables the column might have come from, outer queries included.
	Visible int
	Exempt  bool // an alias of the select list, or the target of an assignment
}

// StoredName returns the name of a stored table, the zero name for anything else. The catalog's spelling is preferred.
// Of a table that no script defines the name stands as written, with a schema if it had one.
func (t *ReadTable) StoredName() catalog.Name {
	switch {
	case t == nil || t.Kind != StoredTable:
		return catalog.Name{}
	case t.Table != nil:
		return t.Table.Name
	case t.Ref != nil && len(t.Ref.Name.Parts) == 2:
		return catalog.Name{Schema: t.Ref.Name.Parts[0].Value, Name: t.Ref.Name.Parts[1].Value}
	case t.Ref != nil:
		return catalog.Name{Name: t.Ref.Name.Last().Value}
	default:
		return catalog.Name{}
	}
}

// Column returns a column of the table by its name; nil if there is none or the table isn't known.
func (t *ReadTable) Column(name string) *catalog.Column {
	if t == nil || t.Table == nil {
		return nil
	}
	return t.Table.Column(name)
}

// look begins with a reference: it counts the tables that are in sight. The target of an UPDATE, DELETE or MERGE
// counts in OUTPUT as well, where deleted stands for it.
func (n *Names) look(s *scope, ref *syntax.ColumnRef) {
	if n == nil {
		return
	}
	visible := 0
	for at := s; at != nil; at = at.outer {
		for _, src := range at.Sources {
			if !src.pseudo || src.name == "deleted" {
				visible++
			}
		}
	}
	n.Refs[ref] = Reference{Visible: visible}
}

// refer notes whose column a reference is.
func (n *Names) refer(ref *syntax.ColumnRef, src *source) {
	if n == nil {
		return
	}
	r := n.Refs[ref]
	r.Source = n.of(src)
	// Of a qualifier with a schema only the table is compared: the schema is where the table is named in FROM.
	if len(ref.Parts) == 2 && !r.Source.Pseudo {
		n.use(ref.Parts[0].Span, "table or alias", ref.Parts[0].Value, r.Source.Name)
	}
	r.Column = n.column(ref.Last(), r.Source)
	n.Refs[ref] = r
}

// column looks a column up by its name and notes the use.
func (n *Names) column(name syntax.Ident, t *ReadTable) *catalog.Column {
	c := t.Column(name.Value)
	if c != nil {
		n.use(name.Span, "column", name.Value, c.Name)
	}
	return c
}

// fill notes a column that a statement writes.
func (n *Names) fill(name syntax.Ident, target *source) {
	if n != nil {
		n.column(name, n.of(target))
	}
}

// assign notes the column of column = x. It is the target's whatever else is read.
func (n *Names) assign(ref *syntax.ColumnRef, target *source) {
	if n == nil || ref == nil {
		return
	}
	t := n.of(target)
	n.Refs[ref] = Reference{Source: t, Column: t.Column(ref.Last().Value), Exempt: true}
}

// use notes a use. Code may be looked at several times.
func (n *Names) use(at diag.Span, what, written, defined string) {
	u := Use{At: at, What: what, Written: written, Defined: defined}
	if !n.seen[u] {
		n.seen[u] = true
		n.Uses = append(n.Uses, u)
	}
}

// useName notes the parts of a name of at most two parts: the object, and its schema if it is written.
func (n *Names) useName(name *syntax.ObjectName, what string, defined catalog.Name) {
	last := name.Last()
	if len(name.Parts) > 2 || !same(last.Value, defined.Name) {
		return
	}
	n.use(last.Span, what, last.Value, defined.Name)
	if len(name.Parts) == 2 && name.Parts[0].Value != "" {
		n.use(name.Parts[0].Span, "schema", name.Parts[0].Value, defined.Schema)
	}
}

// of returns what a source is.
func (n *Names) of(src *source) *ReadTable {
	if src.copyOf != nil {
		src = src.copyOf
	}
	t := n.sources[src]
	if t == nil {
		t = &ReadTable{Kind: LocalTable, Name: src.name, Table: src.table, Pseudo: src.pseudo}
		n.sources[src] = t
	}
	return t
}

// place returns what stands in a place, which is the same however often it is looked at.
func (n *Names) place(at syntax.TableSource, src *source) *ReadTable {
	if t := n.sources[src]; t != nil {
		n.Tables[at] = t
		return nil
	}
	t := n.Tables[at]
	if t == nil {
		t = &ReadTable{}
		n.Tables[at] = t
	}
	n.sources[src] = t
	*t = ReadTable{}
	return t
}

// read notes what an element of FROM or a target is, unless it is a name, or known already.
func (n *Names) read(at syntax.TableSource, src *source) {
	if n == nil {
		return
	}
	t := n.place(at, src)
	if t == nil {
		return
	}
	var alias *syntax.Ident
	switch at := at.(type) {
	case *syntax.VariableTable:
		alias, t.Kind, t.Table = at.Alias, LocalTable, src.table
	case *syntax.DerivedTable:
		alias, t.Kind, t.Table = at.Alias, QueryTable, src.asTable()
	case *syntax.ValuesTable:
		alias, t.Kind, t.Table = at.Alias, FunctionTable, src.asTable()
	case *syntax.NodesTable:
		alias, t.Kind, t.Table = at.Alias, FunctionTable, src.asTable()
	case *syntax.FunctionTable:
		alias, t.Kind = at.Alias, FunctionTable
		if t.Table = src.asTable(); at.With == nil && len(at.Columns) == 0 {
			t.Table = nil
		}
	case *syntax.Pivot:
		alias, t.Kind = at.Alias, QueryTable
	}
	if alias != nil {
		t.Name = alias.Value
	}
}

// readCTE notes a name in FROM that is a common table expression.
func (n *Names) readCTE(ref *syntax.TableRef, src *source, c *cte) {
	if n == nil {
		return
	}
	if t := n.place(ref, src); t != nil {
		*t = ReadTable{Kind: QueryTable, Name: src.name, Table: src.asTable(), Ref: ref}
		n.use(ref.Name.Span, "CTE", ref.Name.Last().Value, c.name)
	}
}

// readObject notes a name in FROM that is no common table expression. Views, and what the server has of its own, are
// known by name only.
func (n *Names) readObject(ref *syntax.TableRef, src *source, trigger *catalog.Table) {
	if n == nil {
		return
	}
	t := n.place(ref, src)
	if t == nil {
		return
	}
	name := ref.Name.Last().Value
	*t = ReadTable{Name: src.name, Ref: ref}
	switch {
	case ref.Name.IsTemp():
		t.Kind, t.Table = LocalTable, src.table
	case trigger != nil && len(ref.Name.Parts) == 1 && (same(name, "inserted") || same(name, "deleted")):
		t.Kind, t.Table = LocalTable, trigger
	case src.table != nil && !src.isSystem():
		t.Table = src.table
		n.useName(ref.Name, "table", src.table.Name)
	}
}

// asTable describes what a query yields as a table; nil if its columns aren't known.
func (r *relation) asTable() *catalog.Table {
	if len(r.columns) == 0 {
		return nil
	}
	t := &catalog.Table{}
	for _, c := range r.columns {
		column := catalog.Column{}
		if c.origin != nil {
			column = *c.origin
		}
		column.Name = c.Name
		t.Columns = append(t.Columns, column)
	}
	return t
}

// orderName notes what a name in ORDER BY is that a result column has: that column, if it is an alias, or one of the
// tables.
func (a *analyzer) orderName(out *result, ref *syntax.ColumnRef) {
	switch {
	case a.names == nil:
	case out.selected != nil && slices.ContainsFunc(out.selected.Items, func(item syntax.SelectItem) bool {
		return item.Alias != nil && same(item.Alias.Value, ref.Parts[0].Value)
	}):
		a.names.Refs[ref] = Reference{Exempt: true}
	case out.selectScope != nil:
		a.quietly(func() { a.expr(out.selectScope.in(lookup.InOrderBy), ref) })
	}
}

// nameArguments notes the names in the arguments of a function that is not known.
func (a *analyzer) nameArguments(s *scope, c *syntax.Call) {
	if a.names == nil {
		return
	}
	for _, x := range c.Args {
		a.quietly(func() { a.expr(s, x) })
	}
}

// unnamed runs f, which looks names up without anything standing there.
func (a *analyzer) unnamed(f func()) {
	names := a.names
	a.names = nil
	f()
	a.names = names
}

// A Resolver finds out what the names in scripts stand for.
type Resolver struct {
	a *analyzer
	e *env // of the code that is looked at
}

// NewResolver returns a resolver for a catalog, which may be nil.
func NewResolver(cat *catalog.Catalog) *Resolver {
	if cat == nil {
		cat, _ = catalog.Build(nil, catalog.Options{})
	}
	return &Resolver{a: newAnalyzer(cat, &diag.List{}, catalog.Names{})}
}

// Names finds out what all names at or below a node stand for, which is the definition of a module, or a batch. Where
// in it variables and temp tables are declared doesn't matter.
func (r *Resolver) Names(file *diag.File, node syntax.Node) *Names {
	n := &Names{
		Variables: map[string]NamedVariable{}, Refs: map[*syntax.ColumnRef]Reference{}, Tables: map[syntax.TableSource]*ReadTable{},
		sources: map[*source]*ReadTable{}, seen: map[Use]bool{},
	}
	r.a.names, r.e = n, newEnv(nil, file)
	r.a.quietly(func() {
		syntax.Walk(node, r.declare)
		syntax.Walk(node, r.visit)
	})
	r.a.names = nil
	n.forget(node)
	// What typing has not come to, because of a mistake before it, is what its name says.
	for ref := range syntax.All[*syntax.TableRef](node) {
		if n.Tables[ref] == nil {
			n.readObject(ref, &source{name: ref.Name.Last().Value, table: r.stored(ref.Name)}, r.e.trigger)
		}
	}
	return n
}

// forget drops what typing has made up, and the column of PIVOT's FOR, which can't be qualified.
func (n *Names) forget(node syntax.Node) {
	written := map[syntax.Node]bool{}
	syntax.Walk(node, func(below syntax.Node) bool {
		written[below] = true
		return true
	})
	for p := range syntax.All[*syntax.Pivot](node) {
		delete(written, &p.For)
	}
	maps.DeleteFunc(n.Refs, func(ref *syntax.ColumnRef, _ Reference) bool { return !written[ref] })
	maps.DeleteFunc(n.Tables, func(t syntax.TableSource, _ *ReadTable) bool { return !written[t] })
}

// declare makes parameters, variables, table variables, temp tables and the table of a trigger known.
func (r *Resolver) declare(node syntax.Node) bool {
	switch x := node.(type) {
	case *syntax.Param:
		r.variable(x.Name, x.Type, true)
	case *syntax.VarDecl:
		if x.Table != nil {
			r.a.declareDefined(r.e, x.Name, x.Table, x.Span)
		} else {
			r.variable(x.Name, x.Type, false)
		}
	case *syntax.CreateFunction:
		if x.Table != nil {
			r.a.declareDefined(r.e, x.TableVariable, x.Table, x.Span)
		}
	case *syntax.CreateTable:
		if x.Name.IsTemp() && x.Def != nil {
			r.a.declareDefined(r.e, x.Name.Last().Value, x.Def, x.Span)
		}
	case *syntax.CreateTrigger:
		if x.Table != nil {
			r.e.trigger = r.stored(x.Table)
		}
	}
	return true
}

// variable makes a parameter or variable known, which may be of a table type.
func (r *Resolver) variable(name string, typ *syntax.TypeName, param bool) {
	v := NamedVariable{Name: name, Param: param}
	if typ != nil {
		t, table, err := r.a.cat.Type(typ)
		if err == nil {
			v.Type = t
		}
		if table != nil {
			r.e.declareTable(name, table)
		}
		r.useType(typ.Name)
	}
	r.e.declare(name, variable{Type: v.Type})
	r.a.names.Variables[catalog.Fold(name)] = v
}

// useType notes the use of a type that a script defines.
func (r *Resolver) useType(name *syntax.ObjectName) {
	key, ok := r.key(name)
	if !ok {
		return
	}
	if t := r.a.cat.TableTypes[key]; t != nil {
		r.a.names.useName(name, "type", t.Name)
	} else if t := r.a.cat.AliasTypes[key]; t != nil {
		r.a.names.useName(name, "type", t.Name)
	}
}

// key returns the key of a name.
func (r *Resolver) key(name *syntax.ObjectName) (string, bool) {
	full, err := r.a.cat.Resolve(name)
	return full.Key(), err == nil
}

// stored looks a table of the database up; nil if no script defines it.
func (r *Resolver) stored(name *syntax.ObjectName) *catalog.Table {
	key, ok := r.key(name)
	if !ok {
		return nil
	}
	return r.a.cat.Tables[key]
}

// visit types whatever has a scope of its own, and does not go below it.
func (r *Resolver) visit(node syntax.Node) bool {
	r.words(node)
	switch x := node.(type) {
	case *syntax.Query:
		r.a.query(r.e, x)
	case *syntax.Insert:
		r.a.dml(r.e, x)
		if x.Exec != nil {
			syntax.Walk(x.Exec, r.visit)
		}
	case *syntax.Update, *syntax.Delete, *syntax.Merge:
		r.a.dml(r.e, x.(syntax.Stmt)) //nolint:errcheck,forcetypeassert // each is one
	case *syntax.CreateTable:
		r.definition(x.Name, x.Def)
	case *syntax.AlterTable:
		r.definition(x.Name, x.Add)
	case *syntax.CreateIndex:
		r.index(x)
	case syntax.Expr:
		r.value(&scope{env: r.e}, x)
	default:
		return true
	}
	syntax.Walk(node, func(below syntax.Node) bool {
		r.words(below)
		return true
	})
	return false
}

// words notes the names that mean the same in every scope: of variables, functions, procedures and views.
func (r *Resolver) words(node syntax.Node) {
	n := r.a.names
	switch x := node.(type) {
	case *syntax.Variable:
		if v, ok := n.Variables[catalog.Fold(x.Name)]; ok {
			n.use(x.Span, "variable", x.Name, v.Name)
		}
	case *syntax.Call:
		// Without its schema a function of the scripts can't be called at all.
		if key, ok := r.key(x.Name); ok && len(x.Name.Parts) > 1 && r.a.cat.Functions[key] != nil {
			n.useName(x.Name, "function", r.a.cat.Functions[key].Name)
		}
	case *syntax.Exec:
		if x.Name == nil {
			return
		}
		if key, ok := r.key(x.Name); ok && r.a.cat.Procedures[key] != nil {
			n.useName(x.Name, "procedure", r.a.cat.Procedures[key].Name)
		}
	case *syntax.TableRef:
		t := n.Tables[x]
		if key, ok := r.key(x.Name); ok && t != nil && t.Ref == x && t.Kind == StoredTable && r.a.cat.Views[key] != nil {
			n.useName(x.Name, "view", r.a.cat.Views[key].Name)
		}
	}
}

// value types an expression or a condition.
func (r *Resolver) value(s *scope, x syntax.Expr) {
	switch syntax.Unparen(x).(type) {
	case *syntax.Compare, *syntax.Quantified, *syntax.Logical, *syntax.Not, *syntax.Between, *syntax.In, *syntax.Like, *syntax.IsNull,
		*syntax.Exists, *syntax.UpdateTest:
		r.a.cond(s, x)
	default:
		r.a.expr(s, x)
	}
}

// definition types the expressions in a table's definition: checks, defaults and computed columns. They see the columns
// of the table alone.
func (r *Resolver) definition(name *syntax.ObjectName, def *syntax.TableDef) {
	if def == nil {
		return
	}
	table := r.stored(name)
	if table == nil {
		table, _ = r.e.table(name.Last().Value)
	}
	r.columns(def, name, table)
}

// index notes the columns of an index, those it includes, and those of its filter.
func (r *Resolver) index(x *syntax.CreateIndex) {
	table := r.stored(x.Table)
	if table != nil {
		r.a.names.useName(x.Table, "table", table.Name)
	}
	for _, name := range x.Include {
		r.a.names.column(name, &ReadTable{Table: table})
	}
	r.columns(x, x.Table, table)
}

// columns notes the columns of a table in a part of its definition.
func (r *Resolver) columns(part syntax.Node, name *syntax.ObjectName, table *catalog.Table) {
	src := &source{name: name.Last().Value, table: table}
	if table == nil {
		src.bad = true
	} else {
		src.relation = r.a.tableRelation(table, false)
	}
	r.a.names.sources[src] = &ReadTable{Name: src.name, Table: table}
	s := &scope{env: r.e, level: level{Sources: []*source{src}, Clause: lookup.InDefault}}
	syntax.Walk(part, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.IndexColumn:
			r.a.names.column(n.Name, r.a.names.of(src))
		case syntax.Expr:
			r.value(s, n)
			return false
		}
		return true
	})
}
