// Package analyze finds out what procedures and annotated queries take and yield: the type and nullability of every
// parameter and every column, which result sets can come in which order, and the error numbers that can be thrown.
//
// It never guesses. What it cannot type is a finding with the place and the reason, and a comment annotation or WITH
// RESULT SETS can then say it instead.
package analyze

import (
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
)

// A Program is everything there is to generate code for, each list sorted by name.
type Program struct {
	Procedures []*Procedure
	Queries    []*Query
	TableTypes []*catalog.Table // those that parameters use
	Errors     []ErrorNumber    // by number
}

// A Procedure is a stored procedure with what a call of it needs and yields.
type Procedure struct {
	catalog.Place
	Name    catalog.Name
	Doc     string // from the header comment; may be empty
	Params  []Param
	Results []ResultSet // in the order in which they appear in the text
	Flow    Flow
	// Status says that the procedure returns a status other than the 0 that T-SQL returns by itself.
	Status bool
	Errors []int32 // the numbers it can throw, itself or through procedures it calls, sorted
}

// A Param is a parameter of a procedure or of a query.
type Param struct {
	Name     string // with the @, as declared
	Type     sqltype.Type
	Table    *catalog.Table // of a table-valued parameter
	Optional bool           // it has a default and may be left out
	Default  string         // the text of the default
	Nullable bool           // the caller may pass NULL: default NULL, gen:null, or a nullable column it is written to
	Output   bool
	Span     diag.Span
}

// Cardinality is how many rows a result set has.
type Cardinality int

// The cardinalities.
const (
	Many     Cardinality = iota
	Optional             // none or one
	One
)

// A ResultSet is one result set that a call can yield.
type ResultSet struct {
	Name    string // from gen:result; empty if none was given
	Columns []Column
	Rows    Cardinality
	Maybe   bool // some calls that succeed don't yield it
	Stream  bool // gen:result … :stream
	File    *diag.File
	Span    diag.Span // of the statement that yields it
}

// A Column is one column of a result set.
type Column struct {
	Name     string
	Type     sqltype.Type
	Nullable bool
	Span     diag.Span
}

// A Flow says in which order result sets can come: a deterministic automaton over the columns that a client sees. State
// 0 is the beginning of the call.
type Flow struct {
	States []State
}

// A State is what may follow after the sets received so far.
type State struct {
	Edges []Edge
	Final bool // the call may end here
}

// An Edge leads to another state when a set with the columns of Procedure.Results[Set] comes next.
type Edge struct {
	Set int // index into Procedure.Results
	To  int // index into Flow.States
}

// A Command says what an annotated query is run for.
type Command string

// The commands of annotated queries, as sqlc writes them.
const (
	CommandOne      Command = ":one"
	CommandMany     Command = ":many"
	CommandExec     Command = ":exec"
	CommandExecRows Command = ":execrows"
	CommandBatch    Command = ":batch"
)

// A Query is an annotated query.
type Query struct {
	catalog.Place
	Name    string
	Command Command
	Doc     string   // the comment above the annotation
	Params  []Param  // in the order of their first use
	Columns []Column // of :one and :many
	// Text is the statement without comments in front of it. SchemaNames are the places of schema qualifiers in it, in
	// order, so that another schema can be put there at run time.
	Text        string
	SchemaNames []SchemaName
	Errors      []int32
}

// A SchemaName is a schema qualifier in the text of a query.
type SchemaName struct {
	From, To int // byte offsets into Query.Text
	Schema   string
}

// An ErrorNumber is a number that THROW can raise, with the name that a header comment gives it.
type ErrorNumber struct {
	catalog.Place // of the comment; none if no comment names it
	Number        int32
	Name          string // as in the comment, "lock_lost"; empty if no comment names it
	Text          string
}
