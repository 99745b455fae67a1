package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// What can be wrong with the server or the database. Errors of Open and of every call
// match them with errors.Is.
var (
	// ErrUnreachable reports that the server does not answer: no connection could be made, or one broke. Trying again
	// may help.
	ErrUnreachable = errors.New("server cannot be reached")
	// ErrBusy reports a call that lost against other calls, such as a deadlock's victim, or for which the server had
	// no resources. Nothing was stored; trying again may help.
	ErrBusy = errors.New("database is busy")
	// ErrFull reports a database without free space. Nothing was stored; try again when there is space.
	ErrFull = errors.New("database is full")
	// ErrReadOnly reports a database or replica that is read-only. Nothing was stored; try again when it is writable,
	// as after a failover.
	ErrReadOnly = errors.New("database is read-only")
	// ErrLogin reports a login that the server refuses: for who it is, or for where it comes from.
	ErrLogin = errors.New("login failed")
	// ErrPermission reports a login without the rights that the call needs.
	ErrPermission = migrate.ErrPermission
	// ErrMissingDatabase reports a database that does not exist or that the login may not open.
	ErrMissingDatabase = errors.New("database is missing")
	// ErrMissingSchema reports that the store's schema does not exist in the database.
	ErrMissingSchema = migrate.ErrMissingSchema
	// ErrOldSchema reports a schema of an earlier release that has not been migrated yet.
	ErrOldSchema = migrate.ErrOldSchema
	// ErrNewerSchema reports a schema of a later release that programs of this release cannot use any more.
	ErrNewerSchema = migrate.ErrNewerSchema
	// ErrForeignSchema reports a schema that was made by other scripts than this package's. The migrator does not
	// change it.
	ErrForeignSchema = migrate.ErrChangedScript
	// ErrDamagedSchema reports a schema whose tables or procedures differ from those of this package.
	ErrDamagedSchema = errors.New("schema is damaged")
)

// class is what an error says about the call that returned it.
type class int

const (
	// permanent: repeating the call cannot help.
	permanent class = iota
	// undone: the call certainly changed nothing, and repeating it may help.
	undone
	// unknown: the call may have been carried out or not.
	unknown
)

// fault is what an error means for a caller.
type fault struct {
	class class
	// sentinel may be nil.
	sentinel error
	// advice says what happened and what to do.
	advice string
	// wait is the least time before repeating the call.
	wait time.Duration
	// lasts is how long the cause may last. The call is repeated for that long, also more often than
	// Options.MaxRetries says, unless that says never.
	lasts time.Duration
	// slow says that repeating the call helps only later than the caller would like to
	// wait, so that the call does not repeat itself.
	slow bool
	// moved says that another server may have the database now, to which only new connections lead.
	moved bool
	// refused says that the values of the call are at fault, so that the call can never succeed.
	refused bool
}

// worthRepeating reports whether the call should repeat itself: repeat says that doing
// it twice is the same as doing it once.
func (f fault) worthRepeating(repeat bool) bool {
	return !f.slow && (f.class == undone || (f.class == unknown && repeat))
}

// outOfOrder are the errors of a database that somebody has to mend.
var outOfOrder = []error{ErrDamagedSchema, ErrPermission, ErrLogin, ErrMissingDatabase, ErrFull, ErrReadOnly}

// report is the error of operation.
func (f fault) report(operation string, cause error) *provider.Error {
	if f.sentinel != nil {
		cause = fmt.Errorf("%w: %w", f.sentinel, cause)
	}
	if slices.Contains(outOfOrder, f.sentinel) {
		cause = fmt.Errorf("%w: %w", provider.ErrOutOfOrder, cause)
	}
	return &provider.Error{Operation: operation, Message: f.advice, Retryable: f.class != permanent, Err: cause}
}

// classify turns whatever a call returned into the error of operation, a
// [*provider.Error]. Errors that are classified already keep their class, and nil
// stays nil.
func classify(operation string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*provider.Error](err); ok {
		return known
	}
	if reported, ok := errors.AsType[sqlserver.Error](err); ok {
		if meant := meaning(operation, reported); meant != nil {
			return meant
		}
	}
	f := judge(err)
	if reported, ok := errors.AsType[sqlserver.Error](err); ok && errors.Is(f.sentinel, ErrPermission) && slices.Contains(adminOperations, operation) {
		f = noAdmin
		f.advice += detail(reported)
	}
	// To whoever holds a lock, only what the procedures throw on purpose (meanings) and a value that the server does
	// not take (refusedValue) are permanent. All else is of unknown outcome, also a number that nobody has listed: the
	// call is repeated while the lease lasts.
	if f.class == permanent && !f.refused && slices.Contains(columns.HolderOperations, operation) {
		f.class = unknown
	}
	return f.report(operation, err)
}

// unconnected is an error from before the call was sent: there was no connection.
type unconnected struct{ error }

// Unwrap returns the driver's error.
func (e *unconnected) Unwrap() error { return e.error }

// broken is an error after which the driver gave the connection up. What it says is
// often no more than a text.
type broken struct{ error }

// Unwrap returns the driver's error.
func (e *broken) Unwrap() error { return e.error }

// judge tells what an error of the driver means: by its type first, then by its
// number, never by its text.
func judge(err error) fault {
	if f, ok := judgeOurs(err); ok {
		return f
	}
	// The server ended the session in the middle of the call. The number in the error
	// may be that of something harmless that came before.
	if _, ok := errors.AsType[sqlserver.ServerError](err); ok {
		return cutOff
	}
	if reported, ok := errors.AsType[sqlserver.Error](err); ok {
		return judgeNumbers(reported)
	}
	if _, ok := errors.AsType[*unconnected](err); ok {
		return judgeUnconnected(err)
	}
	if isBroken(err) {
		return fault{class: unknown, sentinel: ErrUnreachable, advice: "the connection to the server broke; try again"}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault{class: unknown, advice: err.Error()}
	}
	return fault{advice: err.Error()}
}

// judgeOurs is the part of judge for errors that are not the driver's.
func judgeOurs(err error) (f fault, ok bool) {
	_, unsent := errors.AsType[*unconnected](err)
	switch {
	case errors.Is(err, errTimeout) && unsent:
		return fault{class: undone, slow: true, sentinel: ErrUnreachable, advice: "no connection within Options.CallTimeout: " +
			"the server does not answer, or all connections are busy and Options.MaxOpenConns is too small"}, true
	case errors.Is(err, errTimeout):
		return fault{class: unknown, slow: true, sentinel: ErrUnreachable, advice: "no answer within Options.CallTimeout: " +
			"try again, and look on the server for what blocks the call if this goes on"}, true
	case errors.Is(err, mssqldb.ErrShape):
		return fault{sentinel: ErrDamagedSchema, advice: "a procedure does not return what this program expects: " +
			"bring the schema up to date with `duroxide migrate up`, or update this program"}, true
	case errors.Is(err, mssqldb.ErrArgument):
		return fault{refused: true, sentinel: provider.ErrInvalidArgument, advice: err.Error()}, true
	case errors.Is(err, ErrMissingSchema), errors.Is(err, ErrOldSchema), errors.Is(err, ErrNewerSchema),
		errors.Is(err, ErrForeignSchema), errors.Is(err, ErrPermission):
		return fault{advice: err.Error()}, true
	}
	return fault{}, false
}

// isBroken reports whether the error is that of a connection which broke, after the
// call was sent or while it was.
func isBroken(err error) bool {
	if _, ok := errors.AsType[*broken](err); ok {
		return true
	}
	if _, ok := errors.AsType[sqlserver.StreamError](err); ok {
		return true
	}
	// The driver uses it for a request that could not be written to its end. The server
	// would only carry out a whole one, but who knows how much arrived.
	if _, ok := errors.AsType[sqlserver.RetryableError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}

// isLockTimeout reports whether the call gave up waiting for a lock (error 1222).
func isLockTimeout(err error) bool {
	reported, ok := errors.AsType[sqlserver.Error](err)
	return ok && has(reported, errLockTimeout)
}
