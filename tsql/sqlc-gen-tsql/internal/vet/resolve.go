package vet

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A resolver finds out what the names of a unit mean. What it can't tell it leaves open: reporting unknown names is
// the business of package analyze, and a lint rule that isn't sure says nothing.
//
// It does less than analyze, which types whole queries, and more, since it must get along with scripts that analyze
// refuses: rules apply to what is wrong elsewhere, too, and to scripts whose tables nobody has defined.
type resolver struct {
	catalog *catalog.Catalog // nil if nobody has made one
	file    *diag.File

	// What rules ask for: variables by folded name; the meaning of each column reference; the tables in FROM and the
	// targets of writes; and every name that stands for something defined.
	vars    map[string]variable
	refs    map[*syntax.ColumnRef]reference
	sources map[syntax.TableSource]*tableSource
	uses    []use

	// What resolving needs: table variables and temp tables by folded name, nil if their columns aren't known; the CTEs
	// in scope, the innermost last; and the table of a trigger, whose columns inserted and deleted have.
	local   map[string]*catalog.Table
	ctes    []namedTable
	trigger *catalog.Table
}

// variable is a parameter or a local variable. A table variable is one without a type; its columns are in local.
type variable struct {
	Type  sqltype.Type // Invalid if it isn't known
	name  string       // as declared
	param bool
}

// A use is a name whose definition is known; P8 compares how the two are written. Names that stand for themselves,
// such as an alias where it is defined, are no uses.
type use struct {
	at               diag.Span
	what             string // "variable", "table", "column", …
	written, defined string
}

// sourceKind tells what a name in FROM stands for. Rules about locks and stored rows look at objectSource only.
type sourceKind int

const (
	objectSource  sourceKind = iota // a table or view of the database
	localSource                     // a table variable or temp table, or inserted and deleted
	querySource                     // a CTE or derived table
	functionTable                   // anything that isn't stored
)

// tableSource is a table in scope. A pointer to it is its identity: two references belong to the same source if their
// pointers are equal, even if the same table is in FROM twice.
type tableSource struct {
	kind sourceKind
	// name is what its columns are qualified with: the alias, or the last part of the table's name. Empty if nothing
	// can be, as for a table variable without an alias.
	name string
	// table has the columns; nil if they aren't known.
	table *catalog.Table
	// pseudo marks inserted and deleted of an OUTPUT clause, which aren't counted as tables that are read.
	pseudo bool
	// ref is the name in FROM, with its hints; nil for whatever isn't written as a name.
	ref *syntax.TableRef
}

// scope is what column references see: sources of one query, then those of the queries around it. A name that the
// inner query knows hides the outer ones.
type scope struct {
	sources []*tableSource
	outer   *scope
}

// reference is what a column reference means.
type reference struct {
	source *tableSource    // nil if not known
	column *catalog.Column // nil if not known
	// visible is how many tables the column might have come from, outer queries included: what P3-qualify asks for.
	visible int  // how many tables it might have come from
	exempt  bool // an alias of the select list, or the target of an assignment
}

// namedTable is a common table expression with its columns; the table is nil if they aren't known.
type namedTable struct {
	name  string
	table *catalog.Table
}

// resolve finds out all names at or below a node. The catalog may be nil; then only what the unit itself defines is
// known.
func resolve(c *catalog.Catalog, file *diag.File, node syntax.Node) *resolver {
	r := &resolver{
		catalog: c, file: file,
		vars:    map[string]variable{},
		refs:    map[*syntax.ColumnRef]reference{},
		sources: map[syntax.TableSource]*tableSource{},
		local:   map[string]*catalog.Table{},
	}
	r.declare(node)
	r.walk(node, nil)
	return r
}

// declare collects parameters, variables, table variables and temp tables. Where in the unit they stand doesn't matter.
func (r *resolver) declare(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Param:
			r.variable(n.Name, n.Type, true)
		case *syntax.VarDecl:
			if n.Table != nil {
				r.table(n.Name, n.Table)
			} else {
				r.variable(n.Name, n.Type, false)
			}
		case *syntax.CreateFunction:
			if n.Table != nil {
				r.table(n.TableVariable, n.Table)
			}
		case *syntax.CreateTable:
			if name := last(n.Name).Value; strings.HasPrefix(name, "#") && n.Def != nil {
				r.table(name, n.Def)
			}
		case *syntax.CreateTrigger:
			if n.Table != nil {
				r.trigger, _ = r.stored(n.Table)
			}
		}
		return true
	})
}

// variable notes a parameter or variable; one of a table type is a table as well.
func (r *resolver) variable(name string, typ *syntax.TypeName, param bool) {
	v := variable{name: name, param: param}
	if r.catalog != nil && typ != nil {
		t, table, err := r.catalog.Type(typ)
		if err == nil {
			v.Type = t
		}
		if table != nil {
			r.local[catalog.Fold(name)] = table
		}
		r.useType(typ)
	}
	r.vars[catalog.Fold(name)] = v
}

// useType notes the use of a user-defined type.
func (r *resolver) useType(typ *syntax.TypeName) {
	key, ok := r.key(typ.Name)
	if !ok {
		return
	}
	if t := r.catalog.TableTypes[key]; t != nil {
		r.useName(typ.Name, "type", t.Name)
	} else if t := r.catalog.AliasTypes[key]; t != nil {
		r.useName(typ.Name, "type", t.Name)
	}
}

// table notes a table variable or temp table. Its columns aren't known without a catalog, whose types they may have.
func (r *resolver) table(name string, def *syntax.TableDef) {
	var table *catalog.Table
	if r.catalog != nil {
		table, _ = r.catalog.TableFromDef(r.file, catalog.Name{Name: name}, def)
	}
	r.local[catalog.Fold(name)] = table
}

// key returns the key of a name of one or two parts. A name of three parts is in another database, about which no
// script here says anything.
func (r *resolver) key(n *syntax.ObjectName) (string, bool) {
	if r.catalog == nil || len(n.Parts) > 2 {
		return "", false
	}
	name, err := r.catalog.Resolve(n)
	return name.Key(), err == nil
}

// stored looks a table of the database up. Without one its columns aren't known, as a view's.
func (r *resolver) stored(n *syntax.ObjectName) (*catalog.Table, bool) {
	key, ok := r.key(n)
	if !ok {
		return nil, false
	}
	t := r.catalog.Tables[key]
	return t, t != nil
}

// useName notes the parts of a qualified name. The last part is the object, the one before it the schema.
func (r *resolver) useName(n *syntax.ObjectName, what string, defined catalog.Name) {
	end := last(n)
	r.uses = append(r.uses, use{at: end.Span, what: what, written: end.Value, defined: defined.Name})
	if len(n.Parts) == 2 && n.Parts[0].Value != "" {
		r.uses = append(r.uses, use{at: n.Parts[0].Span, what: "schema", written: n.Parts[0].Value, defined: defined.Schema})
	}
}

// walk resolves whatever is at or below a node, in a scope that may be nil. Wherever a node brings a scope of its own
// its resolver takes over, and the walk doesn't go below it: each column reference is resolved once, in the innermost
// scope around it.
func (r *resolver) walk(node syntax.Node, s *scope) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Query:
			r.query(n, s)
		case *syntax.Insert:
			r.insert(n)
		case *syntax.Update:
			r.update(n)
		case *syntax.Delete:
			r.delete(n)
		case *syntax.Merge:
			r.merge(n)
		case *syntax.CreateView:
			r.query(n.Query, nil)
		case *syntax.CreateTable:
			r.definition(n.Name, n.Def)
		case *syntax.AlterTable:
			r.definition(n.Name, n.Add)
		case *syntax.CreateIndex:
			r.createIndex(n)
		case *syntax.Call:
			r.call(n, s)
		case *syntax.ColumnRef:
			r.refs[n] = r.column(n, s)
		case *syntax.Variable:
			if v, ok := r.vars[catalog.Fold(n.Name)]; ok {
				r.uses = append(r.uses, use{at: n.Span, what: "variable", written: n.Name, defined: v.name})
			}
		case *syntax.Exec:
			r.exec(n)
			return true
		default:
			return true
		}
		return false
	})
}

// exec notes the name of a procedure; its arguments are walked as usual.
func (r *resolver) exec(n *syntax.Exec) {
	if n.Name == nil {
		return
	}
	if key, ok := r.key(n.Name); ok {
		if p := r.catalog.Procedures[key]; p != nil {
			r.useName(n.Name, "procedure", p.Name)
		}
	}
}

// dateParts are the functions whose first argument is a word, not a column.
var dateParts = map[string]bool{
	"dateadd": true, "datediff": true, "datediff_big": true, "datepart": true, "datename": true, "datetrunc": true,
	"date_bucket": true,
}

// call resolves the arguments of a function. The name of a function counts as used if it is one of the scripts' and
// written with its schema, without which a scalar function can't be called at all.
func (r *resolver) call(n *syntax.Call, s *scope) {
	args := n.Args
	if len(n.Name.Parts) == 1 && dateParts[catalog.Fold(n.Name.Parts[0].Value)] && len(args) > 0 {
		args = args[1:]
	}
	if key, ok := r.key(n.Name); ok && len(n.Name.Parts) > 1 {
		if f := r.catalog.Functions[key]; f != nil {
			r.useName(n.Name, "function", f.Name)
		}
	}
	for _, list := range [][]syntax.Expr{n.Keys, args} {
		for _, x := range list {
			r.walk(x, s)
		}
	}
	for i := range n.WithinGroup {
		r.walk(&n.WithinGroup[i], s)
	}
	if n.Over != nil {
		r.walk(n.Over, s)
	}
}

// column resolves one reference, from the innermost scope outwards. The first source that has the column, or the
// qualifier, is taken; a second one in the same scope would make the name ambiguous, which is analyze's to report.
func (r *resolver) column(n *syntax.ColumnRef, s *scope) reference {
	ref := reference{}
	for at := s; at != nil; at = at.outer {
		for _, source := range at.sources {
			if !source.pseudo {
				ref.visible++
			}
		}
	}
	end := &n.Parts[len(n.Parts)-1]
	for at := s; at != nil && ref.column == nil && ref.source == nil; at = at.outer {
		if len(n.Parts) > 1 {
			ref.source = at.named(n.Parts[len(n.Parts)-2].Value)
		} else {
			ref.source = at.holding(end.Value)
		}
	}
	if ref.source == nil {
		return ref
	}
	// Of a qualifier with a schema only the table is compared: P8 finds the schema where the table is named in FROM.
	if len(n.Parts) == 2 && !ref.source.pseudo {
		r.uses = append(r.uses, use{
			at: n.Parts[0].Span, what: "table or alias", written: n.Parts[0].Value, defined: ref.source.name,
		})
	}
	ref.column = r.useColumn(end, ref.source.table)
	return ref
}

// useColumn looks a column up by its name and notes the use.
func (r *resolver) useColumn(name *syntax.Ident, table *catalog.Table) *catalog.Column {
	column := columnOf(table, name.Value)
	if column != nil {
		r.uses = append(r.uses, use{at: name.Span, what: "column", written: name.Value, defined: column.Name})
	}
	return column
}

// columnOf returns a column of a table by its name, nil if there is none or the table isn't known.
func columnOf(t *catalog.Table, name string) *catalog.Column {
	if t == nil {
		return nil
	}
	for i := range t.Columns {
		if same(t.Columns[i].Name, name) {
			return &t.Columns[i]
		}
	}
	return nil
}

// named returns the source that a qualifier means.
func (s *scope) named(name string) *tableSource {
	for _, source := range s.sources {
		if source.name != "" && same(source.name, name) {
			return source
		}
	}
	return nil
}

// holding returns the source that has a column of that name, if its columns are known.
func (s *scope) holding(name string) *tableSource {
	for _, source := range s.sources {
		if columnOf(source.table, name) != nil {
			return source
		}
	}
	return nil
}
