package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

// Definitions.
type (
	// CreateTable is CREATE TABLE name (…), of a table in a schema or of a temporary one (#t).
	CreateTable struct {
		diag.Span
		Name    *ObjectName
		Def     *TableDef
		Options []Option    // WITH (…), ON filegroup and so on
		History *ObjectName // of SYSTEM_VERSIONING = ON (HISTORY_TABLE = …); nil if it isn't named
	}

	// AlterTable is ALTER TABLE. Add holds what ADD adds; every other action is in Other with its leading words
	// ("ALTER COLUMN", "DROP COLUMN", "SET", "REBUILD", "CHECK CONSTRAINT", …) and, for ALTER COLUMN, Column.
	// ALTER TABLE … DROP of columns and constraints at once is several of them.
	AlterTable struct {
		diag.Span
		Name     *ObjectName
		Add      *TableDef
		Other    string
		Check    string      // "CHECK" or "NOCHECK" of WITH CHECK and WITH NOCHECK; empty if neither is written
		Column   *ColumnDef  // of ALTER COLUMN
		IfExists bool        // of DROP COLUMN and DROP CONSTRAINT
		Names    []Ident     // of DROP, [NO]CHECK CONSTRAINT and ENABLE or DISABLE TRIGGER; empty for ALL
		Options  []Option    // of SET (…) and REBUILD … WITH (…)
		Opaque   bool        // more is written than the tree has
		History  *ObjectName // of SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = …))
	}

	// CreateIndex is CREATE [UNIQUE] [CLUSTERED|NONCLUSTERED] [COLUMNSTORE] INDEX.
	// A unique one without WHERE is a key of its table.
	CreateIndex struct {
		diag.Span
		Name        Ident
		Unique      bool
		Clustered   bool
		Columnstore bool
		Table       *ObjectName
		Columns     []IndexColumn
		Include     []Ident
		Where       Expr
		Options     []Option
	}

	// CreateType is CREATE TYPE name FROM type [NULL|NOT NULL] or AS TABLE (…).
	// From or Table is set.
	CreateType struct {
		diag.Span
		Name    *ObjectName
		From    *TypeName
		NotNull bool
		Table   *TableDef
		Options []Option
	}

	// CreateView is CREATE VIEW; OrAlter and Alter tell the forms apart here and in the next three.
	CreateView struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Columns        []Ident
		Options        []Option
		Query          *Query
		CheckOption    bool
	}

	// CreateFunction is CREATE FUNCTION. Exactly one of Returns (scalar), Inline (inline table) and Table (multi-
	// statement table, with its variable's name) says what it returns.
	CreateFunction struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Params         []*Param
		Returns        *TypeName
		TableVariable  string
		Table          *TableDef
		Options        []Option
		Inline         *Query
		Body           []Stmt // empty for an inline function
		External       bool   // EXTERNAL NAME: written in another language
	}

	// CreateProcedure is CREATE PROCEDURE.
	// Body has all statements to the end of the batch.
	CreateProcedure struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Params         []*Param
		Options        []Option
		Body           []Stmt
		AsPos          diag.Span // the AS before the body
		External       bool
	}

	// CreateTrigger is CREATE TRIGGER; its body is parsed, so that vet sees it.
	CreateTrigger struct {
		diag.Span
		OrAlter, Alter bool
		Name           *ObjectName
		Table          *ObjectName // nil for database and server triggers
		Options        []Option
		Events         []string
		InsteadOf      bool
		Body           []Stmt
	}

	// CreateSequence is CREATE SEQUENCE name [AS type] with its properties. A property that isn't written is empty.
	CreateSequence struct {
		diag.Span
		Name       *ObjectName
		Type       *TypeName // nil: bigint
		Properties SequenceProperties
	}

	// CreateSynonym is CREATE SYNONYM name FOR object.
	CreateSynonym struct {
		diag.Span
		Name, For *ObjectName
	}

	// CreateSchema is CREATE SCHEMA name [AUTHORIZATION owner]. Without a name of its own it has that of the owner.
	CreateSchema struct {
		diag.Span
		Name  Ident
		Owner *Ident // nil unless both are written
	}

	// CreatePrincipal is CREATE ROLE|USER|LOGIN and ALTER ROLE … ADD MEMBER.
	CreatePrincipal struct {
		diag.Span
		Words  string // "CREATE ROLE", "ALTER ROLE", …
		Name   Ident
		Detail *PrincipalDetail // what follows the name; nil if there is more of it than the tree can have
	}

	// Permission is GRANT, DENY or REVOKE.
	// What it permits is the server's to check.
	Permission struct {
		diag.Span
		Verb        string
		Permissions []string  // upper case, with the columns in parentheses
		Columns     [][]Ident // the columns of each of Permissions; nil for those without
		Class       string    // OBJECT, SCHEMA, TYPE …; empty if not written
		On          *ObjectName
		To          []Ident
		GrantOption bool // WITH GRANT OPTION, or GRANT OPTION FOR
		Cascade     bool
		As          *Ident // the grantor; nil if not written
	}

	// Drop is DROP kind names.
	// DROP INDEX of several indexes is several of them.
	Drop struct {
		diag.Span
		Kind     string // "TABLE", "PROCEDURE", "INDEX", …
		IfExists bool
		Names    []*ObjectName
		On       *ObjectName // DROP INDEX i ON t
	}
)

func (*CreateTable) stmt()     {}
func (*AlterTable) stmt()      {}
func (*CreateIndex) stmt()     {}
func (*CreateType) stmt()      {}
func (*CreateView) stmt()      {}
func (*CreateFunction) stmt()  {}
func (*CreateProcedure) stmt() {}
func (*CreateTrigger) stmt()   {}
func (*CreateSequence) stmt()  {}
func (*CreateSynonym) stmt()   {}
func (*CreateSchema) stmt()    {}
func (*CreatePrincipal) stmt() {}
func (*Permission) stmt()      {}
func (*Drop) stmt()            {}

// PrincipalDetail is what CREATE and ALTER of a principal say after its name.
//
//	FOR LOGIN l WITH DEFAULT_SCHEMA = dbo   ADD MEMBER u   WITH PASSWORD = 'x'   AUTHORIZATION dbo
type PrincipalDetail struct {
	diag.Span
	Action  string   // "ADD MEMBER", "DROP MEMBER", "FOR LOGIN", "WITHOUT LOGIN", "AUTHORIZATION", "ENABLE", "DISABLE" or ""
	Name    *Ident   // of the member, the login or the owner
	Options []Option // after WITH; values are as written
}

// SequenceProperties are those of a sequence, as they are written: numbers with their sign, and "" for what isn't said.
type SequenceProperties struct {
	Start, Increment, Min, Max string
	NoMin, NoMax               bool
	Cycle                      string // "CYCLE", "NO CYCLE" or ""
	Cache                      string // "CACHE", "NO CACHE", a number or ""
}

// Param is one parameter of a procedure or a function: @id int, @note nvarchar(50) = NULL, @total money OUTPUT,
// @lines dbo.order_lines READONLY.
type Param struct {
	diag.Span
	Name     string // with the @
	Type     *TypeName
	Default  Expr // nil if none
	Output   bool
	ReadOnly bool
	Varying  bool // of a cursor parameter: CURSOR VARYING OUTPUT
	Null     Nullability
}

// TableDef is the body of CREATE TABLE, a table type, a table variable or ALTER TABLE ADD.
// Constraints written with a column are in ColumnDef.Constraint, unless they name columns of their own.
type TableDef struct {
	diag.Span
	Columns     []ColumnDef
	Constraints []Constraint
	Indexes     []IndexDef // inline INDEX
	Period      []Ident    // the columns of PERIOD FOR SYSTEM_TIME; nil if there is none
}

// ColumnDef is one column: id bigint IDENTITY NOT NULL PRIMARY KEY, or sum AS price * amount PERSISTED. A nil Type
// means a
// computed column (Computed set) or, in ALTER COLUMN, that a property is added or dropped.
type ColumnDef struct {
	diag.Span
	Name      Ident
	Type      *TypeName
	Computed  Expr
	Persisted bool
	Null      Nullability // unsaid is not the same as NULL: see package catalog
	Identity  bool
	// Seed and Increment are those of IDENTITY (1, 1), with their sign; empty if they aren't written.
	Seed, Increment string

	DefaultName *Ident // of CONSTRAINT name DEFAULT x; nil if it has none
	Default     Expr
	WithValues  bool // DEFAULT x WITH VALUES
	Collation   string
	RowGUID     bool
	Sparse      bool
	Protection  string       // "MASKED" or "ENCRYPTED" if it is declared WITH either
	Generated   string       // GENERATED ALWAYS AS ROW START …: the words after AS
	Hidden      bool         // * leaves it out
	Constraint  []Constraint // PRIMARY KEY, UNIQUE, CHECK and REFERENCES written with the column
	Index       *IndexDef
}

// Nullability is what a column definition says about NULL. What it means to say nothing depends on the type and the
// keys.
type Nullability int

// The three things a definition can say.
const (
	NullUnsaid Nullability = iota
	NullAllowed
	NullRefused
)

// Constraint is a table or column constraint: CONSTRAINT pk_orders PRIMARY KEY CLUSTERED (id).
type Constraint struct {
	diag.Span
	Name       *Ident
	Kind       string        // "PRIMARY KEY", "UNIQUE", "CHECK", "FOREIGN KEY", "DEFAULT"
	Clustered  bool          // as written: a primary key is clustered too unless it says NONCLUSTERED
	Columns    []IndexColumn // empty for a column constraint
	Check      Expr
	Default    Expr
	For        *Ident      // DEFAULT x FOR column
	References *ObjectName // of FOREIGN KEY
	Referenced []Ident     // the columns of References; the option COLUMNS has them as one text
	Options    []Option
}

// IndexDef is an inline index, INDEX ix (a, b DESC) within a table's definition, the only form in a table variable
// or type.
type IndexDef struct {
	diag.Span
	Name      Ident
	Unique    bool
	Clustered bool
	Columns   []IndexColumn
	Include   []Ident // the option INCLUDE has them as one text
	Where     Expr
	Options   []Option
}

// IndexColumn is one key column.
type IndexColumn struct {
	diag.Span
	Name Ident
	Desc bool
}
