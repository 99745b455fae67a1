// Package schema is the live catalog of a server: its databases and what statements have created in them.
//
// Unlike package catalog of the front end, which collects what a set of scripts defines, it changes while sessions
// use it: every change bumps Database.Version, which makes plans stale. Package define makes the changes and registers
// their undoing with the transaction.
//
// schema.go has the structs, server.go makes servers and databases, lookup.go finds things by their names and enters
// new ones, types.go knows the server's own types, permission.go decides who may do what, row.go has what columns give
// their rows (identities, row versions), and duplicate.go the errors about rows and keys.
package schema

import (
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Type is the type of a column, a variable or an expression.
type Type = value.Type

// Server is all databases and logins.
type Server struct {
	Collation   *value.Collation
	Databases   map[string]*Database // by folded name
	Logins      map[string]*Login    // by folded name
	Permissions []*LoginPermission
	Bumped      func() // called before a definition changes; nil for nothing

	nextObject, nextDatabase, nextLogin int32
}

// Login is who may connect.
type Login struct {
	Name, Password  string
	SID             int32
	Sysadmin        bool
	Roles           map[string]bool // the other fixed server roles it is a member of, in lower case
	Disabled        bool
	DefaultDatabase string
}

// LoginPermission is one GRANT or DENY to a login.
type LoginPermission struct {
	On          *Login // nil: on the server
	Permission  string
	Deny        bool
	GrantOption bool
	Grantee     *Login
	Grantor     *Login
}

// Database is one database.
type Database struct {
	ID                    int32
	Name                  string
	Collation             *value.Collation
	ReadCommittedSnapshot bool
	AllowSnapshot         bool
	OptimizedLocking      bool
	SingleUser            bool // only one session may be in it
	CompatibilityLevel    int
	Version               uint64                // grows with each change of what is below
	Schemas               map[string]*Schema    // by folded name
	Objects               map[int32]Object      // by id
	Types                 map[string]*UserType  // by folded "schema.name"
	Principals            map[string]*Principal // by folded name
	Permissions           []*Permission
	Owner                 *Login
	Created               value.Value
	Options               map[string]string // what ALTER DATABASE SET said of the other options, by upper-case name

	rowVersion                          uint64
	server                              *Server
	nextPrincipal, nextSchema, nextType int32
}

// Schema is a namespace of objects.
type Schema struct {
	ID       int32
	Name     string
	Database *Database
	Owner    *Principal
	// leaving are names that open transactions have given up, by folded name: they come back if those are undone.
	leaving map[string]Leaving
	Objects map[string]Object // by folded name: tables, views, procedures, functions, triggers, sequences, synonyms, constraints
}

// Leaving is a name that a transaction has given up.
type Leaving struct {
	ID          int32 // under which what had the name is locked with Sch-M until the transaction ends
	Transaction int64
}

// Object is what has a name in a schema and an id.
type Object interface {
	Head() *Header
}

// Header is what all objects have.
type Header struct {
	ID       int32
	Name     string
	Schema   *Schema
	Kind     string      // as sys.objects.type has it: "U", "V", "P", "FN", "IF", "TF", "TR", "SO", "SN", "PK", "UQ", "C", "D", "F", "TT"
	Parent   int32       // of constraints and triggers; else 0
	Owner    *Principal  // nil: that of the schema
	Created  value.Value // datetime
	Modified value.Value
}

// Head returns h itself.
func (h *Header) Head() *Header { return h }

// Table is a table, a temporary one, a table variable or a table type.
type Table struct {
	Header
	Columns     []*Column
	Indexes     []*Index // the clustered one or the heap first
	Keys        []*Key
	Checks      []*Check
	Defaults    []*Default
	ForeignKeys []*ForeignKey
	Referrers   []*ForeignKey // foreign keys of other tables, or of this one, that refer to this one
	Triggers    []*Module
	Identity    *Identity
	Type        *UserType // of a table type and of variables of it; else nil
	Variable    bool      // a table variable or a parameter: what is changed in it survives a rollback
	Temporary   bool      // #t and ##t
	Global      int32     // of ##t: the session that has made it; 0 for all others
	Options     map[string]string
	Data        *store.Table // nil for types: each variable has its own
	Period      *Period      // of a table whose rows say since when they are valid; else nil
	History     *Table       // where the earlier versions of rows are kept; nil unless SYSTEM_VERSIONING is ON
	HistoryOf   *Table       // the table whose history this one is; nil if it is none
	nextColumn  int32
}

// Period is PERIOD FOR SYSTEM_TIME: the columns from which on and before which a version of a row was valid.
type Period struct{ Start, End *Column }

// Column is a column of a table.
type Column struct {
	ID         int32 // from 1, never used again
	Ordinal    int   // its place in a row
	Name       string
	Type       Type
	UserType   *UserType // alias type it was declared with; nil if none
	Nullable   bool
	Identity   bool
	RowVersion bool
	Generated  string // "ROW START" or "ROW END" of a column of the period; else empty
	Hidden     bool   // * leaves it out
	RowGUID    bool
	Sparse     bool
	Computed   syntax.Expr // nil unless computed
	Text       string      // of Computed, in parentheses
	File       *diag.File  // of Computed
	Persisted  bool
	Stored     bool     // a computed column whose value is in the row; else it is computed when it is read
	Default    *Default // nil if none
}

// Identity counts the values of an identity column. What a rollback undoes stays counted.
type Identity struct {
	Column          int // ordinal
	Seed, Increment int64
	Next            int64
	Last            *int64 // the last value given out; nil if none was
	over            bool   // there is no value after Next
}

// Index is an index, or the heap.
type Index struct {
	ID        int32 // 0 for a heap, 1 for the clustered index, from 2 for others
	Name      string
	Table     *Table
	Unique    bool
	Clustered bool
	Columns   []IndexColumn
	Include   []int // ordinals
	Where     syntax.Expr
	Text      string                          // of Where, in parentheses
	File      *diag.File                      // of Where
	Contains  func(values []value.Value) bool // Where, compiled; nil if there is none
	Key       *Key                            // the constraint it belongs to; nil if none
	PageLocks bool                            // ALLOW_PAGE_LOCKS
	RowLocks  bool
	IgnoreDup bool
	Disabled  bool
	LongKeys  bool // a row's key may be too long for it: each row has to be looked at
	Options   map[string]string
	Data      *store.Index // nil for types
}

// IndexColumn is a key column.
type IndexColumn struct {
	Ordinal int
	Desc    bool
}

// Key is a primary key or a unique constraint.
type Key struct {
	Header
	Primary     bool
	Index       *Index
	SystemNamed bool
}

// Check is a CHECK constraint.
type Check struct {
	Header
	Column      int // the ordinal of the column it was written with; -1 for one of the table
	Expr        syntax.Expr
	Text        string
	File        *diag.File
	Disabled    bool
	Untrusted   bool // rows that were there before it were not checked
	SystemNamed bool
}

// Default is a DEFAULT constraint.
type Default struct {
	Header
	Column      int // ordinal
	Expr        syntax.Expr
	Text        string
	File        *diag.File
	SystemNamed bool
}

// ForeignKey is a FOREIGN KEY constraint.
type ForeignKey struct {
	Header
	Columns            []int // ordinals
	References         *Table
	Referenced         []int
	Key                *Index // of References: what a referring row is looked up in
	OnDelete, OnUpdate string // "NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT"
	Disabled           bool
	Untrusted          bool
	SystemNamed        bool
}

// Module is a procedure, a function, a view or a trigger: what has a text.
type Module struct {
	Header
	Text             string      // of sys.sql_modules: the batch as it was sent, with CREATE in the place of ALTER
	File             *diag.File  // the batch, which the spans of Stmt count in
	Stmt             syntax.Stmt // *syntax.CreateProcedure and so on
	QuotedIdentifier bool
	AnsiNulls        bool
	Disabled         bool       // of a trigger
	Temporary        bool       // #p and ##p
	Global           int32      // of ##p: the session that has made it; 0 for all others
	Triggers         []*Module  // of a view
	AsOwner          bool       // WITH EXECUTE AS OWNER
	As               *Principal // WITH EXECUTE AS SELF, or as a user; nil otherwise
	// Compiled is what the session and the planner keep of the module while Database.Version stays the same.
	Compiled any
}

// Sequence is a sequence object.
type Sequence struct {
	Header
	Type                             Type
	Start, Increment, Min, Max, Next int64
	Cycle                            bool
	Used                             bool // whether a value was ever given out
	Exhausted                        bool // the last value was given out, and it does not cycle
}

// Synonym is another name for an object.
type Synonym struct {
	Header
	For []string // the parts of the name
}

// UserType is an alias type or a table type.
type UserType struct {
	ID       int32 // user_type_id
	Name     string
	Schema   *Schema
	Type     Type // of an alias type
	Nullable bool
	Owner    *Principal // nil: that of the schema
	Table    *Table     // of a table type: what its variables are made like; nil for an alias type
}

// Principal is a user or a role.
type Principal struct {
	ID            int32
	Name          string
	Role          bool
	Fixed         bool   // db_owner and its like
	Login         *Login // of a user; nil if none
	DefaultSchema string
	Owner         *Principal // of a role
	MemberOf      map[*Principal]bool
}

// Permission is one GRANT or DENY.
type Permission struct {
	Class       string // "DATABASE", "OBJECT", "SCHEMA", "TYPE", "ROLE", "USER"
	Major       int32  // id of the object, the schema, the type or the principal; 0 for the database
	Column      int32  // id of the column; 0 for the whole
	Permission  string // "EXECUTE", "SELECT", …
	Deny        bool
	GrantOption bool
	Grantee     *Principal
	Grantor     *Principal
}
