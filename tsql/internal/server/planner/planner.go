// Package planner says how a statement runs. Of what package binder has bound, it enumerates the access paths and joins
// that the hints allow, guesses what each costs, chooses, and builds the operators of package execute of what was
// chosen alone. It compiles a statement: from the syntax tree, through the binder, to a function that runs.
//
// The files in reading order:
//
//	planner.go     the surface: what a compiled statement is
//	entry.go       how a statement goes through the stages; stale.go when it has to again
//	physical.go    ways to get the rows of a relation, and what is asked of them; cost.go what they cost
//	path.go        paths to a table: sarg.go conditions that an index answers, systemscan.go the system's views
//	join.go        chains of joins; joining.go the algorithms of one join
//	block.go       a SELECT; union.go set operations; documentcode.go FOR JSON and FOR XML
//	write.go       one execution of a statement that writes; write_rules.go and write_foreign.go what holds for its rows;
//	               write_rows.go changes of rows; then a file a statement, OUTPUT, triggers and history
//	cursor.go      the queries of cursors; cursorrun.go their rows
package planner

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Statement is a compiled SELECT, INSERT, UPDATE, DELETE, MERGE or TRUNCATE.
type Statement struct {
	Columns []binder.Column // of the result set; nil if the statement sends none
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
func Query(env *binder.Env, q *syntax.Query) (*Statement, error) {
	st, err := query(env, q)
	if err != nil {
		return nil, err
	}
	return st.kept(env, func(env *binder.Env) (*Statement, error) { return Query(env, q) }), nil
}

// Compile compiles a statement that reads or writes rows.
func Compile(env *binder.Env, stmt syntax.Stmt) (*Statement, error) {
	switch st := stmt.(type) {
	case *syntax.SelectStmt:
		return Query(env, st.Query)
	default:
		out, err := compileDML(env, stmt)
		if err != nil {
			return nil, err
		}
		return out.kept(env, func(env *binder.Env) (*Statement, error) { return Compile(env, stmt) }), nil
	}
}

// Expression compiles an expression that stands outside a query.
func Expression(env *binder.Env, x syntax.Expr) (*Scalar, error) {
	bind := func(b *binder.Binder) (*binder.Node, error) { return b.Expression(x) }
	p, n, eval, err := outside(env, bind, func(c binder.Code, r *execute.Run) (execute.Value, error) { return c.Expr(r) })
	if err != nil {
		return nil, err
	}
	return &Scalar{Type: n.Type, Nullable: n.Nullable, Tables: p.b.Tables, Eval: eval}, nil
}

// Test compiles a condition that stands outside a query.
func Test(env *binder.Env, x syntax.Expr) (Condition, error) {
	bind := func(b *binder.Binder) (*binder.Node, error) { return b.Condition(x) }
	_, _, eval, err := outside(env, bind, func(c binder.Code, r *execute.Run) (bool, error) {
		t, err := c.Cond(r)
		return t == execute.True, err
	})
	return eval, err
}

// RowExpression compiles an expression over one row of a table: a computed column.
func RowExpression(env *binder.Env, t *schema.Table, x syntax.Expr) (*RowScalar, error) {
	p := newPlanner(env)
	n, table, err := p.b.RowExpression(t, x)
	if err != nil {
		return nil, err
	}
	eval, err := overRow(p, n, table, func(c binder.Code, r *execute.Run) (execute.Value, error) { return c.Expr(r) })
	return &RowScalar{Type: n.Type, Nullable: n.ShownNullable(), Eval: eval}, err
}

// RowTest compiles a condition over one row of a table: CHECK, the filter of an index.
func RowTest(env *binder.Env, t *schema.Table, x syntax.Expr) (RowCondition, error) {
	p := newPlanner(env)
	n, table, err := p.b.RowCondition(t, x)
	if err != nil {
		return nil, err
	}
	return overRow(p, n, table, func(c binder.Code, r *execute.Run) (execute.Truth, error) { return c.Cond(r) })
}
