// Package catalog collects what a set of scripts defines: tables with their columns and keys, types, views, functions,
// procedures, sequences and synonyms. It types what is written with a type; what a view or a function returns is the
// business of package analyze.
//
// The files in reading order: catalog.go has the objects, build.go walks over the scripts, table.go and module.go enter
// what CREATE defines, alter.go applies ALTER and DROP, trigger.go follows triggers, text.go what is executed as text,
// known.go which text a variable holds, rename.go sp_rename and its like, history.go adds the history tables of
// temporal ones, objects.go keeps the maps, resolve.go finds objects by their names, types.go types by theirs and
// names.go those in lists of options, and system.go knows the server's own views.
package catalog

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A Name is a schema-qualified name with the spelling of its definition.
type Name struct {
	Schema, Name string
}

// String returns schema.name.
func (n Name) String() string { return n.Schema + "." + n.Name }

// Key returns the form under which names are the same: T-SQL names differ in case only on servers set up to be so,
// and there two objects whose names differ only in case are refused by the catalog.
func (n Name) Key() string { return Fold(n.Schema) + "." + Fold(n.Name) }

// Fold returns the form of an identifier under which names are compared.
// It is lower case rather than the collation of a server that isn't there: scripts have to work on any.
func Fold(s string) string { return strings.ToLower(s) }

// A Catalog holds the objects of all scripts by [Name.Key]. Types have names apart from those of other objects: a table
// and a table type may share one, a table and a view may not. After [Build] it doesn't change, and any number of
// goroutines may read it.
type Catalog struct {
	DefaultSchema string // what an unqualified name belongs to: "dbo" unless configured
	Tables        map[string]*Table
	TableTypes    map[string]*Table
	AliasTypes    map[string]*AliasType
	Views         map[string]*View
	Functions     map[string]*Function
	Procedures    map[string]*Procedure
	Sequences     map[string]*Sequence
	Synonyms      map[string]*Synonym
	Triggers      []*Trigger // in the order of their definition
	// FullText has the names of the key indexes of full-text indexes, by the keys of their tables.
	FullText map[string]string
	Order    []Object // every object in the order of its definition, those that were dropped left out
	// Texts are the scripts that were executed as text and define something: EXEC ('CREATE VIEW …').
	Texts []*syntax.Script
	// Unread says of each EXEC outside of modules whose effect isn't known why that is.
	Unread map[*syntax.Exec]string

	renamed map[string]Name       // what types that sp_rename renamed are called now, by their former names
	later   map[string]*AliasType // the alias types of the files behind the one that is being read
}

// An Object is anything that has a name in the catalog.
type Object interface {
	ObjectName() Name
	Where() Place
}

// A Place is where an object is defined. Embedding it makes a struct know where it stands.
type Place struct {
	File *diag.File // nil for what the server brings
	Span diag.Span  // of the name in the definition
}

// Where returns the place itself.
func (p Place) Where() Place { return p }

// A Table is a table or a table type. Temp tables and table variables are tables too, made while a body is analyzed.
type Table struct {
	Place
	Name    Name
	Columns []Column
	Keys    []Key // primary key first; unique constraints and unique unfiltered indexes
	Indexes []Index
	Type    bool    // a table type
	Doc     string  // the comment above the definition
	Changed *Change // the last change of its columns; nil if there was none

	disabled    []Key    // keys whose index is disabled: rows may share them
	special     []string // folded names of the indexes that no key is made of, such as XML indexes
	constraints []string // the names of CHECK, FOREIGN KEY and DEFAULT constraints
}

// A Column is one column of a table.
type Column struct {
	Name       string
	Type       sqltype.Type
	Nullable   bool
	Identity   bool        // the server numbers the rows: never inserted without SET IDENTITY_INSERT
	Computed   bool        // its type is [sqltype.Invalid] until analyze has typed Expr
	Expr       syntax.Expr // of a computed column, else nil
	ExprFile   *diag.File  // where Expr stands: perhaps not in the file of the table
	Fails      bool        // of a computed column: it is NULL where its arithmetic fails, under settings that allow it
	Generated  bool        // rowversion and GENERATED ALWAYS columns: never inserted
	Hidden     bool        // HIDDEN: neither * nor an INSERT without a list of columns sees it
	HasDefault bool        // an INSERT may leave the column out
	Collation  string      // as written; empty for the database's
	Span       diag.Span
	Doc        string // the comment at the end of its line or above it

	alias string // the key of its alias type; empty if it has none
}

// A Key is a set of columns that no two rows share, so that a query with an equality for each of them has one row at
// most. The columns are spelt as in the table. A unique key of T-SQL allows one NULL, so nullable columns count too.
type Key struct {
	Name    string
	Primary bool
	Columns []string
}

// An Index is any index, for vet. Keys and unique constraints are indexes too.
type Index struct {
	Name      string
	Unique    bool
	Clustered bool
	Columns   []string
	Include   []string
	Where     syntax.Expr // CREATE INDEX … WHERE: it holds some of the rows; nil if it holds all
	Options   []syntax.Option
	Span      diag.Span
}

// An AliasType is CREATE TYPE … FROM: another name for a built-in type, with nullability of its own if it says NOT
// NULL.
// Nothing but that remains of it in a column, which has the built-in type.
type AliasType struct {
	Place
	Name    Name
	Type    sqltype.Type
	NotNull bool
}

// A View is a view; analyze types its columns.
type View struct {
	Place
	Name    Name
	Def     *syntax.CreateView
	Bound   []int   // the steps at which the server has read its columns: its definition, then each sp_refreshview
	Changed *Change // what defined it again; nil if it was defined once
}

// A Function is a scalar, inline or multi-statement table function.
type Function struct {
	Place
	Name    Name
	Def     *syntax.CreateFunction
	Params  []Param
	Returns sqltype.Type // of a scalar function
	Table   *Table       // of a multi-statement table function
	Bound   []int        // as of a [View]
	Changed *Change
}

// A Procedure is a stored procedure.
type Procedure struct {
	Place
	Name   Name
	Def    *syntax.CreateProcedure // the last definition, of CREATE OR ALTER or ALTER
	Script *syntax.Script          // for the comments around it
	Batch  *syntax.Batch           // which it owns alone
	Params []Param
}

// A Param is a parameter of a function or a procedure.
type Param struct {
	Name     string // with the @
	Type     sqltype.Type
	Table    *Table      // of a table-valued parameter
	Default  syntax.Expr // nil if the caller has to send a value
	Null     bool        // it is declared to be NULL: the caller may send that
	Output   bool
	ReadOnly bool
	Span     diag.Span
}

// A Sequence is CREATE SEQUENCE.
type Sequence struct {
	Place
	Name Name
	Type sqltype.Type
}

// A Trigger is a trigger of a table or a view. One of a database or of the server has no table.
type Trigger struct {
	Place
	Name     Name
	Table    Name
	Def      *syntax.CreateTrigger
	Disabled bool
}

// A Synonym stands for another object, which it names without it having to exist. [Catalog.Lookup] follows it.
type Synonym struct {
	Place
	Name, For Name
	// Elsewhere says why For is not known: it is in another database, or on another server.
	Elsewhere error
}

// ObjectName returns the table's name.
func (t *Table) ObjectName() Name { return t.Name }

// ObjectName returns the type's name.
func (t *AliasType) ObjectName() Name { return t.Name }

// ObjectName returns the view's name.
func (v *View) ObjectName() Name { return v.Name }

// ObjectName returns the function's name.
func (f *Function) ObjectName() Name { return f.Name }

// ObjectName returns the procedure's name.
func (p *Procedure) ObjectName() Name { return p.Name }

// ObjectName returns the sequence's name.
func (s *Sequence) ObjectName() Name { return s.Name }

// ObjectName returns the synonym's own name.
func (s *Synonym) ObjectName() Name { return s.Name }
