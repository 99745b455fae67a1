package migrate

import (
	"errors"
	"fmt"
	"strings"
)

// What the methods of [Migration] refuse. The errors they return match one of these with
// errors.Is, name the schema, and say what to do. A migration without a DB, or with a name
// that [CheckSchemaName] refuses, matches none of them.
var (
	// ErrMissingSchema is returned when the database has no such schema, or the login
	// may not see it.
	ErrMissingSchema = errors.New("the database schema is missing")
	// ErrOldSchema is returned when a script or module of this release has not been
	// applied yet.
	ErrOldSchema = errors.New("the database schema is older than this program")
	// ErrNewerSchema is returned when a newer release has migrated the schema and no
	// longer serves programs of this one, or when this one is asked to compare or remove
	// what it does not know. The schema is left alone.
	ErrNewerSchema = errors.New("the database schema is newer than this program")
	// ErrChangedScript is returned when a numbered script was applied with a text that
	// is not this release's: the program and the database have different histories.
	ErrChangedScript = errors.New("a migration script differs from the one that was applied")
	// ErrPermission is returned when only an owner of the database may do what was asked
	// for, and the login is none. [Migration.Check] never returns it: it may be called by
	// anybody.
	ErrPermission = errors.New("permission denied")
)

// BatchError tells which batch of which file the server refused. It unwraps to the
// driver's error.
type BatchError struct {
	// Step is the step's name, such as "schema/0002_queues.sql".
	Step string
	// File and Line are where the batch, or better the statement in it, is in the
	// scripts. Line is 0 for a batch that comes from no file: one that drops or records.
	File string
	Line int
	// Err is the driver's error.
	Err error
}

func (e *BatchError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Step, oneLineError{e.Err})
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, oneLineError{e.Err})
}

// Unwrap returns the driver's error.
func (e *BatchError) Unwrap() error { return e.Err }

// oneLineError is an error whose text is one line: the driver gives each error of the server a line of its own, and a
// server that refuses CREATE SCHEMA sends two.
type oneLineError struct{ error }

func (e oneLineError) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e oneLineError) Unwrap() error { return e.error }

// batchError locates a driver's error in the scripts. Servers count lines within the
// batch; rewriting keeps them, so the sum is the line in the file.
func batchError(step string, batch Batch, err error) error {
	line := batch.Line
	var located interface{ SQLErrorLineNo() int32 }
	if line > 0 && errors.As(err, &located) {
		within := int(located.SQLErrorLineNo())
		// A line of a text that the batch executes is counted from there; then the beginning of the batch must do.
		if within > 1 && within <= 1+strings.Count(batch.Text, "\n") {
			line += within - 1
		}
	}
	return &BatchError{Step: step, File: batch.File, Line: line, Err: err}
}

// Error numbers of SQL Server after which a step has been rolled back and is worth
// another attempt.
const (
	numberDeadlock    = 1205
	numberLockTimeout = 1222
)

// isLockConflict reports whether a step lost against somebody who uses the schema.
func isLockConflict(err error) bool {
	var numbered interface{ SQLErrorNumber() int32 }
	if !errors.As(err, &numbered) {
		return false
	}
	number := numbered.SQLErrorNumber()
	return number == numberDeadlock || number == numberLockTimeout
}
