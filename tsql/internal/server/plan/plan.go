// Package plan makes of a statement what can be executed: it binds names to columns and variables, types every
// expression by the rules that the generator has too (packages sqltype and builtin of the front end), enumerates
// the access paths and joins that the hints allow, and chooses among them.
//
// A statement goes through three stages. Binding makes nodes (typed expressions) and relations of the tree; every
// column that is read gets a slot, whatever the plan. Planning makes physical ways of relations, with guessed costs and
// the order of their rows. Building makes the operators of package execute, of what was chosen alone.
//
// The files in reading order:
//
//	plan.go      the surface; entry.go how a statement goes through the stages; stale.go when it has to again
//	node.go      bound expressions; rel.go relations; set.go sets of slots; scope.go names; binder.go what binding shares
//	expr.go      values: convert.go, case.go, call.go, subquery.go; cond.go conditions; describe.go what a client is told
//	query.go     SELECT: from.go, group.go, window.go, setop.go, cte.go, pivot.go, document.go (FOR JSON)
//	module.go    views and functions of the user's; tablefunc.go OPENJSON and its like; system.go the system's views
//	planner.go   physical ways: path.go and sarg.go indexes, join.go and joining.go joins, block.go a SELECT, union.go
//	cursor*.go   the queries of cursors, and WHERE CURRENT OF
//	hints.go     hints on tables and on queries
//	dml*.go      statements that write; sysfunctions_*.go functions that ask the catalog or the session
package plan

import (
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Env is what a statement sees when it is compiled.
type Env struct {
	Database *schema.Database
	Server   *schema.Server
	File     *diag.File     // of positions in messages
	Schema   string         // where names without a schema are looked for first: the module's, or the user's default
	Module   *schema.Module // nil in a batch
	// Variables of the batch or module, by folded name with the @; Slot counts in execute.Frame.Variables.
	Variables map[string]*Variable
	// Tables are the table variables and table-valued parameters, by folded name with the @; Slot counts in
	// execute.Frame.Tables.
	Tables map[string]*TableVariable
	// CursorVariables are the variables that hold cursors, by folded name with the @.
	CursorVariables map[string]bool
	// Temp finds a temporary table of the session; nil if there is none.
	Temp func(name string) *schema.Table
	// Inserted is the table whose inserted and deleted a trigger's body sees; nil elsewhere.
	Inserted *schema.Table
	// Chooser decides where several plans are possible; nil takes the cheapest.
	Chooser Chooser
}

// Catalog is what a session is too if queries may read the views of the system: it says who asks.
type Catalog interface {
	Catalog() *sysview.Context
}

// Chooser chooses among several legal plans.
type Chooser interface {
	// Choose returns an index into costs. What says what is chosen: "path", "join", "access" (a
	// seek of an index, or a scan), "grain" of locks and so on.
	Choose(what string, costs []float64) int
}

// Variable is a scalar variable or parameter.
type Variable struct {
	Slot int
	Type schema.Type
}

// TableVariable is a table variable or a table-valued parameter.
type TableVariable struct {
	Slot     int
	Table    *schema.Table // what it is made like; its data is in execute.Frame.Tables
	ReadOnly bool
}

// Column is a column of a result set.
type Column struct {
	Name     string
	Type     schema.Type
	Nullable bool
	Identity bool
	Computed bool // an expression, or a column that cannot be written
}

// Statement is a compiled SELECT, INSERT, UPDATE, DELETE, MERGE or TRUNCATE.
type Statement struct {
	Columns []Column // of the result set; nil if the statement sends none
	// Run executes the statement. Rows go to send, if the statement has Columns; rows is what @@ROWCOUNT becomes. The
	// slice that send gets is used again for the next row.
	Run func(x *execute.Frame, send func(row []execute.Value) error) (rows int64, err error)
	// Tables are the slots of the table variables that the statement uses. One that is nil in the frame has no rows.
	Tables []int
	// Explain is the plan, an operator a line.
	Explain string

	basis basis
}

// Scalar is a compiled expression outside a query, as in SET @v = ….
type Scalar struct {
	Type     schema.Type
	Nullable bool
	Tables   []int // as of Statement
	Eval     func(x *execute.Frame) (execute.Value, error)
}

// Condition is a compiled condition outside a query, as in IF. Unknown is false.
type Condition func(x *execute.Frame) (bool, error)

// RowScalar is a compiled expression over one row of a table. Nullable is what SQL Server says of a computed column.
type RowScalar struct {
	Type     schema.Type
	Nullable bool
	Eval     func(x *execute.Frame, row []execute.Value) (execute.Value, error)
}

// RowCondition is a condition over one row of a table.
type RowCondition func(x *execute.Frame, row []execute.Value) (execute.Truth, error)

// Query compiles a SELECT. One that assigns variables has no Columns.
func Query(env *Env, q *syntax.Query) (*Statement, error) {
	st, err := query(env, q)
	if err != nil {
		return nil, err
	}
	return st.kept(env, func(env *Env) (*Statement, error) { return Query(env, q) }), nil
}

// Expression compiles an expression that stands outside a query.
func Expression(env *Env, x syntax.Expr) (*Scalar, error) { return expression(env, x) }

// Test compiles a condition that stands outside a query.
func Test(env *Env, x syntax.Expr) (Condition, error) { return test(env, x) }

// RowExpression compiles an expression over one row of a table: a computed column.
func RowExpression(env *Env, t *schema.Table, x syntax.Expr) (*RowScalar, error) {
	return rowExpression(env, t, x)
}

// RowTest compiles a condition over one row of a table: CHECK, the filter of an index.
func RowTest(env *Env, t *schema.Table, x syntax.Expr) (RowCondition, error) {
	return rowTest(env, t, x)
}
