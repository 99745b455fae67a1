// Package model decides what a generated Go package holds: the names, types and comments of everything in it, and the
// T-SQL texts that it sends. Package render only writes it down.
//
// The files in the order in which they explain each other:
//
//	model.go      what there is: packages, methods, structs, arguments, result sets
//	types.go      which Go type stands for which T-SQL type
//	names.go      Go names, from names in any style
//	files.go      names of the Go files
//	build.go      from an analyzed program to a package; names that clash
//	method.go     from a procedure or a query to a method
//	shared.go     rows that several methods return
//	embed.go      structs that are parts of others
//	table.go      from a table type to a struct
//	statement.go  the T-SQL that a method sends
//	json.go       the T-SQL that turns a document into rows
//	doc.go        comments, from those in the scripts
//
// A decision that can't be made is a finding with the place in the script, never an error: all of them are reported in
// one run, and whatever has one is left out.
package model

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// Options say how T-SQL becomes Go. The configuration sets them; their zero values are the defaults, but for the name.
type Options struct {
	Package string // the name of the package
	// Nulls is what a value that may be NULL is in Go: "pointer", the default, or "sql" for sql.Null.
	Nulls string
	// Tables is how a table argument is sent: "json", the default, "tvp" for the driver's own form, or "both" for that
	// form unless the caller asks for the other.
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

// A Package is a generated package. Everything in it is sorted, so that the order of the scripts changes nothing.
type Package struct {
	Name      string
	Nulls     string      // as in the options, never empty
	Tables    string      // as in the options, never empty
	Files     []*File     // sorted by name
	Types     []*Table    // sorted by Go name
	Sentinels []*Sentinel // by number
}

// A File holds the methods that come from one script.
type File struct {
	Name    string    // of the Go file
	Source  string    // of the script
	Methods []*Method // sorted by name
}

// A Sentinel is an error that stands for a number.
type Sentinel struct {
	Name   string // of the variable: ErrLockLost
	Number int32
	Text   string // what the scripts say about it, in one line; may be empty
}

// A Struct is a struct type; one without fields isn't generated.
type Struct struct {
	Name   string
	Doc    string // behind the name
	Fields []Field
}

// A Field is a field of a struct: its type as Go code, and a comment that goes behind it or is empty. An embedded
// struct has no name.
type Field struct {
	Name, Type, Doc string
}

// A Method is what calls a procedure or runs a query.
type Method struct {
	Name    string
	Doc     []string        // lines, the first of which begins with the name
	SQLName string          // as errors show it
	Command analyze.Command // of a query; empty for a procedure
	Params  *Struct         // nil if there are none
	Args    []Arg           // in the order of the parameters
	Sets    []Set           // of a query, the only one
	Result  *Struct         // nil if a call yields nothing but an error, and for queries
	Flow    *analyze.Flow   // nil if each set comes once and as they are listed
	Status  bool            // the return status means something
	Stream  int             // the set that is streamed, or -1
	// Sequence says that there is a second method which yields the rows of the query.
	Sequence bool
	Statement
}

// A Statement is what goes to the server. The four fields behind Batch are empty unless it is set.
//
// A procedure that can be called by its name is: a remote procedure call names its parameters, so that one that isn't
// sent takes its default. A batch has to be put together when it is run for that: its text ends with the arguments that
// are always there, those that are given follow, then comes the tail.
type Statement struct {
	Text     string
	Schemas  []analyze.SchemaName // where Text names schemas, in its order
	Batch    bool                 // run by sp_executesql; otherwise Text is the name of a procedure
	Decls    string               // of the parameters that are always passed, as sp_executesql takes them
	Optional []Decl               // parameters that are passed only if they are given; then Decls isn't empty
	Tail     string               // what follows the call
}

// A Decl is the declaration of a parameter, whose name is without the @.
type Decl struct{ Name, Type string }

// An ArgMode is how an argument is passed. Each has its function in package runtime.
type ArgMode int

// The modes.
const (
	Required     ArgMode = iota // never NULL
	Nullable                    // nil: NULL
	OptionalArg                 // nil: not passed
	OptionalNull                // nil: not passed; may be NULL
	Output                      // comes back; nil: NULL
	TableArg                    // rows
)

// An Arg is an argument of a call.
type Arg struct {
	Name     string // without the @
	Field    string // of the params struct, and of the result struct if it is an output
	Type     GoType
	Mode     ArgMode
	SQLNull  bool   // NULL is sql.Null rather than a pointer
	NotNull  bool   // of an output: what comes back is never NULL, nor what the result struct has
	Table    *Table // nil unless the mode is TableArg, which has no Type
	Document string // the parameter that carries the JSON of a table; empty if it goes in the driver's own form
}

// A Set is a result set.
type Set struct {
	Field    string // of the result struct; empty in a query
	Rows     analyze.Cardinality
	Maybe    bool     // a call may end without it
	Repeated bool     // a call may yield it several times: the field has all of them
	Returned string   // the field that says whether it came; empty unless Maybe, and if Repeated
	Columns  []string // as the client sees them
	Type     string   // of a row
	Row      *Struct  // nil if a row is a single value, or another method has its type
	Shared   bool     // another method has the row's type
	Promoted bool     // the field is that of an embedded struct
	Values   []Value

	place catalog.Place // of the statement that yields it
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
	SQLName   string             // as errors show it
	Text      string             // schema and name, quoted
	Schema    analyze.SchemaName // in Text
	Statement string             // the variable that holds the name, in the driver's own form
	Columns   []TableColumn      // all, in the order of the type
}

// A TableColumn is a column of a table type. The server fills in those that are skipped.
type TableColumn struct {
	Name     string
	Field    string
	Type     GoType
	Nullable bool
	SQLNull  bool // NULL is sql.Null rather than a pointer
	Skipped  bool // has no Field
}

// quote writes a name so that it can hold any character. All names in generated T-SQL go through it but those of
// parameters and variables, which the lexer lets hold letters, digits and a few signs only.
func quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// nullable returns the Go type of a value that may be NULL. A []byte has its NULL already.
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
