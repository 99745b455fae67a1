package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// What can be wrong with the database file. Errors of Open and of every call
// match them with errors.Is.
var (
	// ErrBusy reports that another process kept the database locked for longer than [Options].BusyTimeout. Trying
	// again may help.
	ErrBusy = errors.New("database is locked")
	// ErrDiskFull reports a write for which the disk had no space. Nothing was stored; try again when there is space.
	ErrDiskFull = errors.New("disk full")
	// ErrReadOnly reports a database file or directory that the process may not write.
	ErrReadOnly = errors.New("database is read-only")
	// ErrCannotOpen reports a file that cannot be opened: the directory is missing, the path is a directory, or
	// rights are missing.
	ErrCannotOpen = errors.New("cannot open database file")
	// ErrFileGone reports a database file, or one of the -wal and -shm files beside it, that was deleted, moved or
	// replaced while the store was open. Nothing was stored. Calls succeed again once the file is back in its place;
	// otherwise close the store and open it again.
	ErrFileGone = errors.New("database file is gone")
	// ErrDamaged reports a file that is not a SQLite database or is damaged.
	ErrDamaged = errors.New("database is damaged")
	// ErrForeignFile reports a SQLite database of another application.
	ErrForeignFile = errors.New("not a duroxide database")
	// ErrOldSchema reports a database that a build from before the first release has written.
	ErrOldSchema = errors.New("database schema is older than this program can migrate")
	// ErrNewerSchema reports a database that a later release of this package has written.
	ErrNewerSchema = errors.New("database schema is newer than this program")
)

// condition is what a SQLite result code means for a caller.
type condition struct {
	retryable bool
	// sentinel may be nil.
	sentinel error
	// advice says what happened and what to do.
	advice string
}

// outOfOrder are the errors of a database that somebody has to mend.
var outOfOrder = []error{ErrDiskFull, ErrReadOnly, ErrCannotOpen, ErrFileGone, ErrDamaged}

// conditions are keyed by primary result code. Codes that are missing are
// programming errors and permanent.
var conditions = map[int]condition{
	sqlite3.SQLITE_BUSY: {
		true, ErrBusy,
		"database is locked: another process is writing; try again, or raise Options.BusyTimeout if its transactions are long",
	},
	sqlite3.SQLITE_LOCKED: {
		true, ErrBusy,
		"database is locked: another connection of this process uses the table; try again",
	},
	sqlite3.SQLITE_PROTOCOL: {
		true, ErrBusy,
		"database is locked: too many processes open or close it at once; try again",
	},
	sqlite3.SQLITE_FULL: {
		true, ErrDiskFull,
		"disk full: nothing of this call was stored; free space on the disk that holds the database, then try again",
	},
	sqlite3.SQLITE_IOERR: {
		true, nil,
		"input/output error: nothing of this call was stored as far as SQLite can tell; check the disk, then try again",
	},
	sqlite3.SQLITE_NOMEM:     {true, nil, "out of memory: nothing of this call was stored; try again when there is some"},
	sqlite3.SQLITE_INTERRUPT: {true, nil, "interrupted: nothing of this call was stored; try again"},
	sqlite3.SQLITE_ABORT:     {true, nil, "aborted: nothing of this call was stored; try again"},
	sqlite3.SQLITE_SCHEMA: {
		true, nil,
		"the schema changed while the call ran, probably by an upgrade; try again",
	},
	sqlite3.SQLITE_READONLY: {
		false, ErrReadOnly,
		"database is read-only: give this process write access to the file and to its directory, which also holds the -wal and -shm files",
	},
	sqlite3.SQLITE_PERM: {
		false, ErrReadOnly,
		"database access denied: give this process access to the file and its directory",
	},
	sqlite3.SQLITE_CANTOPEN: {
		false, ErrCannotOpen,
		"cannot open database file: check that its directory exists, that the path is not a directory itself, and that this process may access both",
	},
	sqlite3.SQLITE_NOTADB: {
		false, ErrDamaged,
		"not a SQLite database: the file holds something else; check the path, or restore the file from a backup",
	},
	sqlite3.SQLITE_CORRUPT: {
		false, ErrDamaged,
		"database is damaged: stop all processes that use it and restore it from a backup; `sqlite3 FILE .recover` may save what is readable",
	},
	sqlite3.SQLITE_TOOBIG: {
		false, provider.ErrInvalidArgument,
		"value too large: SQLite stores at most 1,000,000,000 bytes in a value; pass a reference to the data instead",
	},
	sqlite3.SQLITE_CONSTRAINT: {
		false, nil,
		"a constraint of the schema was violated, which this package should have prevented; please report it",
	},
}

// primary masks an extended result code down to its primary one.
const primary = 0xff

// classify turns whatever a statement returned into the error of operation, a
// [*provider.Error]. Errors that are classified already keep their class, and nil
// stays nil.
func classify(operation string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*provider.Error](err); ok {
		return known
	}
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		return fromCode(operation, failure.Code(), failure)
	}
	switch {
	case errors.Is(err, ErrFileGone):
		return provider.Retryable(operation, err.Error(), fmt.Errorf("%w: %w", provider.ErrOutOfOrder, err))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return provider.Retryable(operation, err.Error(), err)
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
		return provider.Retryable(operation, "the connection to the database was lost; try again", err)
	}
	return provider.Permanent(operation, err.Error(), err)
}

// fromCode is classify for a SQLite result code, primary or extended.
func fromCode(operation string, code int, cause error) error {
	if code == sqlite3.SQLITE_IOERR_SHMSIZE { // there is no room for the log's index
		code = sqlite3.SQLITE_FULL
	}
	c, known := conditions[code&primary]
	if !known {
		return provider.Permanent(operation, fmt.Sprintf("unexpected SQLite error, please report it: %v", cause), cause)
	}
	message := fmt.Sprintf("%s (%v)", c.advice, cause)
	if c.sentinel != nil {
		cause = fmt.Errorf("%w: %w", c.sentinel, cause)
	}
	if slices.Contains(outOfOrder, c.sentinel) {
		cause = fmt.Errorf("%w: %w", provider.ErrOutOfOrder, cause)
		// Permanent would say that what the caller holds is at fault, and the orchestration would fail.
		c.retryable = c.retryable || slices.Contains(columns.HolderOperations, operation)
	}
	return &provider.Error{Operation: operation, Message: message, Retryable: c.retryable, Err: cause}
}

// isDuplicateKey reports whether an insert met a row with the same primary key.
func isDuplicateKey(err error) bool {
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && failure.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
