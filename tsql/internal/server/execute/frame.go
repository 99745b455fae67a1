// Package execute runs what package planner has made: operators that are pulled row by row, and expressions.
//
// It is a machine with registers: an operator puts the columns of its present row into slots of the execution, and
// expressions, operators above and subqueries read them there. Whatever keeps rows (a sort, a hash table) saves slots
// and restores them.
//
// The files in reading order: frame.go has what a session gives, run.go an execution, truth.go conditions; access.go
// says how hints lock, scan.go reads tables; filter.go, join.go, hashjoin.go, sort.go, top.go, aggregate.go, window.go,
// union.go, recursive.go and calltable.go are operators after their subjects; subquery.go is what expressions execute.
package execute

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Value is short for value.Value.
type Value = value.Value

// Frame is one activation of a batch, a procedure, a function or a trigger: what its statements read and write.
type Frame struct {
	Context   context.Context //nolint:containedctx // the activation's own, which ends when the client cancels
	Session   Session
	Variables []Value
	Tables    []*schema.Table // table variables and table-valued parameters, each with data of its own
	// Inserted and Deleted are a trigger's pseudo-tables.
	Inserted, Deleted *schema.Table
	Updated           []bool // of a trigger: by ordinal, the columns that UPDATE(column) is true of
	Affected          int64  // of a trigger: how many rows the statement that fired it has changed
	Depth             int    // @@NESTLEVEL
}

// Session is what statements need of the session that executes them.
type Session interface {
	// Store is the session's handle on data and locks.
	Store() *store.Session
	// Statement is the present statement's access to rows. It is asked for when rows are touched, not before.
	Statement() *store.Statement
	// Isolation is the session's isolation level.
	Isolation() store.Isolation
	Database() *schema.Database
	// Now is the server's clock, UTC.
	Now() time.Time
	// TransactionTime is when the transaction began, UTC.
	TransactionTime() time.Time
	// RowCount and the like are what the functions of these names return.
	RowCount() int64
	ScopeIdentity() Value
	LastIdentity() Value
	SetIdentity(v Value)
	// NextValue is NEXT VALUE FOR a sequence.
	NextValue(s *schema.Sequence) (Value, error)
	// Random returns 64 random bits of the server's source.
	Random() uint64
	LastError() int32
	// CaughtError is the error of the CATCH block that the session is in; nil outside.
	CaughtError() *CaughtError
	// Option is the value of a SET option: "ANSI_WARNINGS", "IDENTITY_INSERT", "DATEFIRST", …
	Option(name string) string
	// Info is a fact about the session: "LOGIN", "USER", "HOST_NAME", "APP_NAME", "SPID", "TRANCOUNT", "XACT_STATE", …
	Info(name string) Value
	// Call executes a scalar or multi-statement table function, or a trigger.
	CallScalar(f *Frame, m *schema.Module, args []Value) (Value, error)
	CallTable(f *Frame, m *schema.Module, args []Value, tables []*schema.Table) (*schema.Table, error)
	FireTriggers(f *Frame, t *schema.Table, event string, inserted, deleted *schema.Table) error
	// May checks a permission on an object, or on some of its columns unless they are nil. Without it there is error
	// 229 or its like.
	May(permission string, object schema.Object, columns []schema.ColumnName) error
	// Message sends text to the client, such as a warning.
	Message(number int32, class uint8, text string)
}

// CaughtError is what ERROR_NUMBER() and its like return.
type CaughtError struct {
	Number    int32
	Class     uint8
	State     uint8
	Line      int32
	Procedure string
	Message   string
}
