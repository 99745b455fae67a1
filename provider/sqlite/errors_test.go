package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/duroxide/duroxide-go/provider"
)

func TestFromCode(t *testing.T) {
	t.Parallel()
	cause := errors.New("what the driver says")
	for name, want := range map[string]struct {
		code      int
		retryable bool
		sentinel  error
	}{
		"busy":              {sqlite3.SQLITE_BUSY, true, ErrBusy},
		"busy snapshot":     {sqlite3.SQLITE_BUSY_SNAPSHOT, true, ErrBusy},
		"busy recovery":     {sqlite3.SQLITE_BUSY_RECOVERY, true, ErrBusy},
		"locked":            {sqlite3.SQLITE_LOCKED, true, ErrBusy},
		"shared cache":      {sqlite3.SQLITE_LOCKED_SHAREDCACHE, true, ErrBusy},
		"protocol":          {sqlite3.SQLITE_PROTOCOL, true, ErrBusy},
		"full":              {sqlite3.SQLITE_FULL, true, ErrDiskFull},
		"full for an index": {sqlite3.SQLITE_IOERR_SHMSIZE, true, ErrDiskFull},
		"write":             {sqlite3.SQLITE_IOERR_WRITE, true, nil},
		"fsync":             {sqlite3.SQLITE_IOERR_FSYNC, true, nil},
		"memory":            {sqlite3.SQLITE_NOMEM, true, nil},
		"interrupt":         {sqlite3.SQLITE_INTERRUPT, true, nil},
		"abort rollback":    {sqlite3.SQLITE_ABORT_ROLLBACK, true, nil},
		"stale plan":        {sqlite3.SQLITE_SCHEMA, true, nil},
		"read-only":         {sqlite3.SQLITE_READONLY, false, ErrReadOnly},
		"read-only dir":     {sqlite3.SQLITE_READONLY_DIRECTORY, false, ErrReadOnly},
		"moved":             {sqlite3.SQLITE_READONLY_DBMOVED, false, ErrReadOnly},
		"permission":        {sqlite3.SQLITE_PERM, false, ErrReadOnly},
		"cannot open":       {sqlite3.SQLITE_CANTOPEN, false, ErrCannotOpen},
		"is a directory":    {sqlite3.SQLITE_CANTOPEN_ISDIR, false, ErrCannotOpen},
		"not a database":    {sqlite3.SQLITE_NOTADB, false, ErrDamaged},
		"corrupt":           {sqlite3.SQLITE_CORRUPT, false, ErrDamaged},
		"corrupt index":     {sqlite3.SQLITE_CORRUPT_INDEX, false, ErrDamaged},
		"too big":           {sqlite3.SQLITE_TOOBIG, false, provider.ErrInvalidArgument},
		"unique":            {sqlite3.SQLITE_CONSTRAINT_UNIQUE, false, nil},
		"check":             {sqlite3.SQLITE_CONSTRAINT_CHECK, false, nil},
		"SQL error":         {sqlite3.SQLITE_ERROR, false, nil},
		"misuse":            {sqlite3.SQLITE_MISUSE, false, nil},
		"a code of tomorow": {4711<<8 | 99, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := provider.AsError(fromCode("some_call", want.code, cause))
			if got.Operation != "some_call" || got.Retryable != want.retryable {
				t.Errorf("got %v, retryable %v; want retryable %v", got, got.Retryable, want.retryable)
			}
			if !errors.Is(got, cause) || (want.sentinel != nil && !errors.Is(got, want.sentinel)) {
				t.Errorf("%v should match %v and its cause", got, want.sentinel)
			}
			// "what happened: what it means; what to do (what SQLite says)".
			if !strings.ContainsAny(got.Message, ":;,") || !strings.Contains(got.Message, cause.Error()) {
				t.Errorf("message %q should say what to do, and what SQLite says", got.Message)
			}
		})
	}
}

// A sentinel's text begins the message of its errors.
func TestMessagesBeginWithTheirSentinel(t *testing.T) {
	t.Parallel()
	for code, c := range conditions {
		if c.sentinel == nil || errors.Is(c.sentinel, provider.ErrInvalidArgument) {
			continue
		}
		kept := strings.HasPrefix(c.advice, c.sentinel.Error()) ||
			// Two codes with one sentinel that deserve words of their own.
			code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_PERM
		if !kept {
			t.Errorf("code %d: %q does not begin with %q", code, c.advice, c.sentinel)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	if got := classify("some_call", nil); got != nil {
		t.Errorf("no error became %v", got)
	}
	known := provider.Permanent("other_call", "text", provider.ErrNotFound)
	if got := provider.AsError(classify("some_call", fmt.Errorf("wrapped: %w", known))); got != known {
		t.Errorf("a classified error became %v", got)
	}
	for _, transient := range []error{context.Canceled, context.DeadlineExceeded, driver.ErrBadConn} {
		if got := classify("some_call", transient); !provider.IsRetryable(got) || !errors.Is(got, transient) {
			t.Errorf("%v became %v, retryable %v; want retryable", transient, got, provider.IsRetryable(got))
		}
	}
	if provider.IsRetryable(classify("some_call", errors.New("unknown"))) {
		t.Errorf("an unknown error became retryable")
	}
}
