// Package fault has the errors of the server: their numbers, and what each ends.
//
// fault.go has the error itself, numbers.go the table of all that the server raises.
package fault

import (
	"errors"
	"fmt"
)

// Scope is what an error ends when no TRY catches it and XACT_ABORT is OFF.
type Scope uint8

// The scopes, from the least.
const (
	// Statement ends the statement; the batch goes on with the next one.
	Statement Scope = iota
	// Module ends the procedure, trigger, function or text of EXEC or of the batch in which the statement stands; what
	// called it goes on with its next statement. These are the errors of compiling: SQL Server compiles a statement
	// that names an object that did not exist before only when it is its turn. A TRY around the statement in the same
	// module does not catch them, one around the call does.
	Module
	// Batch ends the batch, and all procedures that it called; the transaction stays open.
	Batch
	// Abort ends the batch, and rolls the transaction back.
	Abort
	// Connection ends the connection.
	Connection
)

// Error is an error of the server, as a client sees it.
type Error struct {
	Number    int32
	Class     uint8 // the severity, 0 to 25; 10 and less are messages and no errors
	State     uint8
	Message   string
	Procedure string // where it was raised; empty in a batch
	Line      int32  // in the procedure or the batch, from 1
	Dynamic   bool   // it was raised in a text that EXECUTE executes, in which Line counts
	Scope     Scope
	// Dooms says that a TRY that catches the error finds the transaction uncommittable even with XACT_ABORT OFF.
	Dooms bool
	// Terminated says that the client is told that the statement has been terminated: it had begun to change something.
	Terminated bool
	// Raised says that RAISERROR has raised it, which XACT_ABORT does not concern.
	Raised bool
	// Missing says that the object of a name is not there, which is found only when it is needed.
	Missing bool
}

// Error returns the message with the number before it.
func (e *Error) Error() string { return fmt.Sprintf("Msg %d: %s", e.Number, e.Message) }

// New returns the error of a number in the table, with its message formatted with args. A number that the table does
// not have is a mistake of the server and panics.
func New(number int32, args ...any) *Error {
	row, ok := find(number)
	if !ok {
		panic(fmt.Sprintf("fault: error %d is not in the table", number))
	}
	message := row.text
	if len(args) > 0 {
		message = fmt.Sprintf(row.text, args...)
	}
	return &Error{
		Number: number, Class: row.class, State: row.state, Message: message,
		Scope: row.scope, Dooms: row.dooms,
	}
}

// As finds the server's error in an error.
func As(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// WithState returns the error with another state, by which a client can tell where an error with the same number came
// from.
func (e *Error) WithState(state uint8) *Error {
	e.State = state
	return e
}

// Text returns the format of an error's message, as sys.messages has it; ok is false for a number that the table does
// not have.
func Text(number int32) (class uint8, text string, ok bool) {
	row, ok := find(number)
	return row.class, row.text, ok
}

// Unsupported is the number of the error for what T-SQL has and this server has not. SQL Server has no such error.
const Unsupported int32 = 49900
