// Package request says what a client can ask of the server and what it gets: the seam between the wire and a session,
// and what a test uses that needs no socket.
package request

import (
	"context"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Login is what a client says of itself.
type Login struct {
	User, Password, Database, HostName, AppName, ServerName, Language, LibraryName string
	PacketSize                                                                     int
	ReadOnlyIntent, Encrypted                                                      bool
}

// Handler opens sessions.
type Handler interface {
	// Open checks the login and returns a session in the login's database, and the messages that a server sends.
	// A *fault.Error (18456, 4060) refuses it.
	Open(ctx context.Context, login Login) (Session, error)
}

// Session executes the requests of one connection, one at a time. Execute returns when the request is done; errors of
// T-SQL go to the sink, and a returned error ends the connection. A cancelled context is the client's attention.
type Session interface {
	Database() string
	Execute(ctx context.Context, request Request, sink Sink) error
	// Reset makes the session as new, as sp_reset_connection does; keepTransaction leaves the transaction open.
	Reset(keepTransaction bool)
	Close()
}

// Request is one of Batch, Call, Bulk and Transaction.
type Request interface{ request() }

// Batch is a text to execute.
type Batch struct {
	Text        string
	Transaction uint64 // the descriptor of the header; 0 for none
}

// Call is an RPC: a procedure by its name, or one of the special ones (sp_executesql, sp_prepare, sp_execute, …) by
// the name that their number stands for.
type Call struct {
	Name        string
	Params      []Param
	Transaction uint64
	NoMetadata  bool
}

// Param is an argument of an RPC.
type Param struct {
	Name    string // with the @; empty for a positional one
	Type    value.Type
	Value   value.Value
	Output  bool
	Default bool // the procedure's default is asked for
	// Table is set for a table-valued parameter.
	Table *TableValue
}

// TableValue is a table-valued parameter.
type TableValue struct {
	TypeSchema, TypeName string
	Columns              []Column
	Rows                 [][]value.Value
	Defaulted            []bool // per column: the client leaves it to the column's default
}

// Bulk is the rows that a batch with INSERT BULK has announced.
type Bulk struct {
	Columns []Column
	Rows    [][]value.Value
}

// Transaction is a request of the transaction manager.
type Transaction struct {
	Verb      string // "BEGIN", "COMMIT", "ROLLBACK", "SAVE"
	Name      string
	Isolation string // of BEGIN: "", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"
	Current   uint64
	Begin     bool // of COMMIT and ROLLBACK: begin another one at once
}

func (Batch) request()       {}
func (Call) request()        {}
func (Bulk) request()        {}
func (Transaction) request() {}

// Column is a column of a result set or of a table-valued parameter.
type Column struct {
	Name     string
	Type     value.Type
	Nullable bool
	Identity bool
	Computed bool
}

// Sink takes what a request returns, in the order in which the client sees it. Its methods buffer; Row returns an
// error when the client is gone, and may block while the client does not read, so the session calls it where it may
// wait.
type Sink interface {
	Columns(columns []Column) error
	Row(values []value.Value) error
	// Done ends a statement. Rows counts if counted is true (SET NOCOUNT OFF). Kind is "SELECT", "INSERT", "UPDATE",
	// "DELETE", "EXEC" or "". inProcedure chooses DONEINPROC.
	Done(kind string, rows int64, counted, inProcedure bool) error
	Error(e *fault.Error) error   // class > 10
	Message(e *fault.Error) error // class ≤ 10, PRINT included
	ReturnStatus(status int32) error
	Output(name string, ordinal int, t value.Type, v value.Value) error
	// Environment changes: the client keeps track of the database and of the transaction.
	DatabaseChanged(from, to string) error
	TransactionBegan(descriptor uint64) error
	TransactionCommitted(descriptor uint64) error
	TransactionRolledBack(descriptor uint64) error
}
