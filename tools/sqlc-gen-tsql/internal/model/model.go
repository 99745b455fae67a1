// Package model decides what a generated Go package holds: the names, types and comments of everything in it, and the
// T-SQL texts that it sends. Package render only writes it down.
package model

import (
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/analyze"
)

// Options say how T-SQL becomes Go.
type Options struct {
	Package string // the name of the package
	// Nulls is what a value that may be NULL is in Go: "pointer", the default, or "sql" for sql.Null.
	Nulls string
	// Tables is how a table argument is sent: "json", the default, or "tvp" for the driver's own form.
	Tables string
	// Rename gives Go names to names in T-SQL, either to all things that have the name ("ttl") or to those of one
	// owner: "dbo.get_order" is a procedure, "dbo.get_order.@id" its parameter, "dbo.get_order.name" a column.
	Rename map[string]string
	// SchemaInNames puts the schema into every method's name; otherwise only into those that two schemas share.
	SchemaInNames bool
	// Sequences gives every :many query a second method that yields the rows one by one.
	Sequences bool
}

// The values of the options.
const (
	NullsPointer = "pointer"
	NullsSQL     = "sql"
	TablesJSON   = "json"
	TablesTVP    = "tvp"
)

// A Package is a generated package.
type Package struct {
	Name      string
	Nulls     string
	Tables    string
	Files     []*File     // sorted by name
	Types     []*Table    // sorted by Go name
	Sentinels []*Sentinel // by number
}

// A File holds the methods that come from one script.
type File struct {
	Name    string // of the Go file
	Source  string // of the script
	Methods []*Method
}

// A Sentinel is an error that stands for a number.
type Sentinel struct {
	Name   string
	Number int32
	Text   string
}

// A Struct is a struct type; one without fields isn't generated.
type Struct struct {
	Name   string
	Doc    string
	Fields []Field
}

// A Field is a field of a struct.
type Field struct {
	Name, Type, Doc string
}

// A Method is what calls a procedure or runs a query.
type Method struct {
	Name    string
	Doc     []string // lines, the first of which begins with the name
	SQLName string   // as errors show it
	Command analyze.Command
	Params  *Struct // nil if there are none
	Args    []Arg
	Sets    []Set
	Result  *Struct // nil if a call yields nothing but an error
	Flow    *analyze.Flow
	Status  bool
	Stream  int // the set that is streamed, or -1
	// Sequence says that there is a second method which yields the rows of the query.
	Sequence bool
	Statement
}

// A Statement is what goes to the server.
type Statement struct {
	Text     string
	Schemas  []analyze.SchemaName
	Batch    bool // run by sp_executesql; otherwise Text is the name of a procedure
	Decls    string
	Optional []Decl // parameters that are passed only if they are given
	Tail     string
}

// A Decl is the declaration of a parameter.
type Decl struct{ Name, Type string }

// An ArgMode is how an argument is passed.
type ArgMode int

// The modes.
const (
	Required ArgMode = iota
	Nullable
	OptionalArg  // nil: not passed
	OptionalNull // nil: not passed; may be NULL
	Output
	TableArg
)

// An Arg is an argument of a call.
type Arg struct {
	Name     string // without the @
	Field    string // of the params struct, and of the result struct if it is an output
	Type     GoType
	Mode     ArgMode
	SQLNull  bool // NULL is sql.Null rather than a pointer
	Table    *Table
	Document string // the parameter that carries the JSON of a table
}

// A Set is a result set.
type Set struct {
	Field    string
	Rows     analyze.Cardinality
	Maybe    bool
	Returned string   // the field that says whether it came
	Columns  []string // as the client sees them
	Type     string   // of a row
	Row      *Struct  // nil if a row is a single value
	Values   []Value
}

// A Value is a column of a row.
type Value struct {
	Field    string // empty if it is the whole row
	Type     GoType
	Nullable bool
}

// A Table is a table type.
type Table struct {
	Struct
	SQLName   string // as errors show it
	Text      string // quoted
	Schema    analyze.SchemaName
	Statement string // the variable that holds its name
	Columns   []TableColumn
}

// A TableColumn is a column of a table type. The server fills in those that are skipped.
type TableColumn struct {
	Name     string
	Field    string
	Type     GoType
	Nullable bool
	SQLNull  bool
	Skipped  bool
}

// quote writes a name so that it can hold any character.
func quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// nullable returns the Go type of a value that may be NULL.
func (p *Package) nullable(t GoType) string {
	switch {
	case t.Bytes():
		return t.Name
	case p.Nulls == NullsSQL:
		return "sql.Null[" + t.Name + "]"
	default:
		return "*" + t.Name
	}
}
