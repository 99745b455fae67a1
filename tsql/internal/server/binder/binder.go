// Package binder says what a statement means. It binds the names of a statement to columns, variables and objects,
// types its expressions by the rules that the generator has too (packages sqltype and builtin of the front end), and
// refuses what SQL Server refuses, with its numbers. How a statement runs is for package planner to say, which reads
// what is bound here.
//
// Binding makes nodes (typed expressions) and relations of the syntax tree. Every column that is read gets a slot,
// whatever the plan. A node knows how it is computed, but for its subqueries, which have to be planned first.
//
// The files in reading order:
//
//	binder.go      what a statement sees when it is bound, and what all of its parts share; rights.go permissions
//	node.go        bound expressions; rel.go relations; set.go sets of slots; scope.go names
//	expr.go        values: convert.go, case.go, call.go, subquery.go; cond.go conditions; describe.go what a client is
//	               told of them
//	query.go       SELECT: from.go, group.go, window.go, setop.go, cte.go, pivot.go, document.go (FOR JSON and FOR XML)
//	module.go      views and functions of the user's; tablefunc.go OPENJSON and its like; system.go the system's views
//	hints.go       hints on tables and on queries; grain.go what they say about locks; temporal.go FOR SYSTEM_TIME
//	dml_*.go       statements that write: dml_target.go which table, also through views and common table expressions;
//	               dml_rules.go and dml_foreign.go what holds for its rows; then a file a statement; dml_output.go
//	               OUTPUT; dml_trigger.go what triggers see; cursordml.go WHERE CURRENT OF
//
// What a call of a function that asks the catalog or the session answers is in package ask.
package binder

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
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

// statement is what is counted for a whole statement, views and functions in it included.
type statement struct {
	Shape       execute.Shape
	Tables      []int // slots of the table variables that are used
	Rights      []*Right
	Definitions []Definition // of tables
	Options     queryOptions
	draws       map[*schema.Sequence]*draw
}

// Definition is what Sch-S is taken on.
type Definition struct{ Database, ID int32 }

// Binder makes nodes and relations of a tree. A view has a binder of its own, with another Env, for the same statement.
type Binder struct {
	*statement

	Env *Env
	// inMerge is set while the target of a MERGE is bound.
	inMerge bool
	// depth counts views within views.
	depth int
	// params are the arguments of an inline function, by folded name.
	params map[string]*Node
	// inherited are the hints of the reference to the view or common table expression in which the binder is: they hold
	// for the tables that it reads.
	inherited execute.Hints
	// temporal is FOR SYSTEM_TIME of the reference to a table or a view; nil without.
	temporal *systemTime
	// owner is set in a view or a function: what it reads needs no rights if it belongs to its owner.
	owner schema.Object
}

// New returns the binder of a statement.
func New(env *Env) *Binder {
	b := &Binder{statement: &statement{}, Env: env}
	if env.Module != nil {
		b.owner = env.Module
	}
	return b
}

// NewSlot returns a register that nobody else uses.
func (b *Binder) NewSlot() int {
	b.Shape.Slots++
	return b.Shape.Slots - 1
}

// NewOnce returns the number of something that is computed once in an execution.
func (b *Binder) NewOnce() int {
	b.Shape.Once++
	return b.Shape.Once - 1
}

// NewRow returns a register for a row itself.
func (b *Binder) NewRow() int {
	b.Shape.Rows++
	return b.Shape.Rows - 1
}

// defined notes a table whose definition the statement depends on.
func (b *Binder) defined(t *schema.Table) {
	if t.Data == nil || t.Data.Private {
		return
	}
	d := Definition{t.Data.Database, t.ID}
	if !slices.Contains(b.Definitions, d) {
		b.Definitions = append(b.Definitions, d)
	}
}

// Unsupported returns the error for what SQL Server has and this server hasn't.
func (b *Binder) Unsupported(at diag.Span, format string, args ...any) error {
	where := "batch"
	if b.Env.File != nil {
		line, column := b.Env.File.Position(at.From)
		where = fmt.Sprintf("%s:%d:%d", b.Env.File.Name, line, column)
	}
	return fault.New(fault.Unsupported, fmt.Sprintf("%s is not supported by tsqltest (%s)", fmt.Sprintf(format, args...), where))
}

// absent is the error for an object of the system that SQL Server has and this server has not.
func (b *Binder) absent(at diag.Span, name string) error {
	err := b.Unsupported(at, "%s", name)
	if e, ok := fault.As(err); ok {
		e.Missing = true
	}
	return err
}

// uses notes a table variable.
func (b *Binder) uses(slot int) {
	if !slices.Contains(b.Tables, slot) {
		b.Tables = append(b.Tables, slot)
	}
}

// Fold returns the form of a name under which it is compared.
func (b *Binder) Fold(name string) string { return b.Env.Database.Fold(name) }

// Same reports whether two names are the same.
func (b *Binder) Same(x, y string) bool { return x == y || b.Fold(x) == b.Fold(y) }

// collation is the collation of what has none of its own.
func (b *Binder) collation() *value.Collation {
	if c := b.Env.Database.Collation; c != nil {
		return c
	}
	return value.DefaultCollation
}

// described is a type as messages show it.
func described(t value.Type) string {
	switch t.Kind {
	case sqltype.Null:
		return "NULL"
	case sqltype.NVarChar, sqltype.VarChar, sqltype.VarBinary:
		if t.IsMax() {
			return string(t.Kind) + "(max)"
		}
		return string(t.Kind)
	default:
		return string(t.Kind)
	}
}
