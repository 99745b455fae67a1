// Package analyze finds out what procedures and annotated queries take and yield: the type and nullability of every
// parameter and every column, which result sets can come in which order, and the error numbers that can be thrown.
//
// It never guesses. What it cannot type is a finding with the place and the reason, and a comment annotation or WITH
// RESULT SETS can then say it instead. A wrong type would show much later, as a value that Go cannot scan, in a program
// that somebody else runs.
//
// The package has two halves. The first knows what statements do to the flow of control; to be read in this order:
//
//   - analyze.go: what comes out. Everything exported but for Analyze, Source and Options is here.
//   - program.go: Analyze itself, and the order in which scripts, triggers, views and procedures are looked at.
//   - procedure.go: one procedure: its parameters, the walk over its body, the description that its callers get.
//   - control.go: the walker, which follows statements and draws a graph of where result sets can be sent.
//   - plain.go, execute.go, arguments.go, insertexec.go: statements that do nothing to the flow, and calls.
//   - facts.go: which variables are not NULL at a statement.
//   - thrown.go, errorbook.go: error numbers: which get out to the caller, and what they are called.
//   - override.go: gen:columns, gen:result and WITH RESULT SETS, which correct what is inferred.
//   - flow.go, automaton.go, fields.go: from the graph to what a client sees, and to the fields of a Go struct.
//   - annotated.go: annotated queries: their commands and directives.
//
// The second knows what expressions and queries are, and nothing of the flow around them:
//
//   - env.go, scope.go, analyzer.go: which variables, tables and columns a place can see, and how findings are
//     collected.
//   - query.go, sources.go, relations.go: SELECT, its FROM clause, views and table functions.
//   - cardinality.go: how many rows a query can have.
//   - dml.go, merge.go: INSERT, UPDATE, DELETE and MERGE with their OUTPUT.
//   - declare.go: DECLARE, temp tables, and what is stored in a variable.
//   - expr.go, cond.go, refine.go: values and conditions, and what is not NULL where a condition holds.
//   - arithmetic.go: where arithmetic that fails is NULL rather than an error.
//   - functions.go: calls of functions; what the built-in ones take and yield is in package builtin.
//   - infer.go: types of the parameters of annotated queries, from the places where they stand.
//   - names.go: what names stand for, for those who ask about nothing else.
//
// Findings go through [analyzer.found]; whatever is tried out first is run under [analyzer.quietly].
package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// A Program is everything there is to generate code for, each list sorted by name.
type Program struct {
	Procedures []*Procedure
	Queries    []*Query
	TableTypes []*catalog.Table // those that parameters use
	Errors     []ErrorNumber    // by number
}

// A Procedure is a stored procedure with what a call of it needs and yields.
//
// Nothing in it is decided by name or convention: what the Go code looks like is for package model to say.
type Procedure struct {
	catalog.Place
	Name    catalog.Name
	Doc     string // from the header comment; may be empty
	Params  []Param
	Results []ResultSet // in the order in which they appear in the text
	Flow    Flow
	// Status says that the procedure returns a status other than the 0 that T-SQL returns by itself.
	// The server sends a status with every call, so that a Go field for it is worth its place only if somebody wrote
	// RETURN 1 or RETURN @rc.
	Status bool
	Errors []int32 // the numbers it can throw, itself or through procedures it calls, sorted
	Embeds []Embed // from gen:embed
}

// An Embed names a procedure whose parameters and results are parts of another one's.
type Embed struct {
	diag.Span
	Name  string        // as written
	Names catalog.Names // that it means
}

// A Param is a parameter of a procedure or of a query.
//
// Optional and Nullable are different things. A parameter that is left out takes its default; one that is passed as
// NULL is NULL, whatever the default. In
//
//	CREATE PROCEDURE dbo.p @limit int = 100, @after datetime2 = NULL
//
// both are Optional, and only @after is Nullable.
type Param struct {
	Name     string // with the @, as declared
	Type     sqltype.Type
	Table    *catalog.Table // of a table-valued parameter
	Optional bool           // it has a default and may be left out
	Default  string         // the text of the default
	Nullable bool           // the caller may pass NULL: declared NULL, default NULL, gen:null, or a nullable column it is written to
	Output   bool
	NotNull  bool // of an output: its value is never NULL when the call ends
	Span     diag.Span
}

// Cardinality is how many rows a result set has.
//
// The order of the values matters: a smaller one promises less, so that the minimum of two is what holds for a set that
// either of two statements can send.
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
	// True also for a set in one branch of an IF … ELSE: that calls without it send another set instead is in the Flow.
	Maybe    bool // some calls that succeed don't yield it
	Repeated bool // a call can yield it any number of times: its statement is in a loop
	Stream   bool // gen:result … :stream
	File     *diag.File
	Span     diag.Span // of the statement that yields it
}

// A Column is one column of a result set.
type Column struct {
	// Name is what the server sends. It may be empty, and several columns may have it.
	Name string
	// As is the name that gen:columns gives a column without a name, or with that of another one; empty if it gives
	// none.
	As       string
	Type     sqltype.Type
	Nullable bool
	Span     diag.Span
	// Types are those that the statements give the column which may send its set, if they differ. Type holds the values
	// of all.
	Types []sqltype.Type
	// unsaid says that the server doesn't know that the column isn't NULL: a table that is made of it allows NULL.
	unsaid bool
	// origin is the column of a table whose value it is as it stands; nil for anything else.
	origin *catalog.Column
}

// A Flow says in which order result sets can come: a deterministic automaton over the columns that a client sees. State
// 0 is the beginning of the call.
//
// A struct of fields cannot say which sets come together; the generated code reads the sets of a call by this table and
// reports whatever it does not allow. IF @x = 1 SELECT 1 AS a; SELECT 2 AS b; has the states
//
//	0: -a-> 1, -b-> 2
//	1: -b-> 2
//	2: final
//
// Deterministic means that the names of the columns decide which edge is taken: no state has two edges with the same
// ones. A single state that is not final is a procedure that
// always fails.
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
	Text string
	// Offsets rather than a template, so that Text stays what the author can paste into a tool.
	SchemaNames []SchemaName
	Errors      []int32
}

// A SchemaName is a schema qualifier in the text of a query.
type SchemaName struct {
	From, To int // byte offsets into Query.Text
	Schema   string
}

// An ErrorNumber is a number that THROW can raise, with the name that a header comment gives it.
//
// A number without a name gets a name of its own in Go (Err50011): callers still have to be able to tell it from
// others.
type ErrorNumber struct {
	catalog.Place // of the comment; none if no comment names it
	Number        int32
	Name          string // as in the comment, "lock_lost"; empty if no comment names it
	Text          string
}
