package live

import (
	"context"
	"errors"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// number returns the number of a server's error, or 0 if it comes from somewhere else.
func number(err error) int32 {
	if e, ok := errors.AsType[mssql.Error](err); ok {
		return e.Number
	}
	return 0
}

// brief returns the first line of an error, without the number if it has one. The rest of a server's message is often
// a stack of contexts, and the report has one line for a note.
func brief(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[mssql.Error](err); ok {
		text = e.Message
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// dead returns the error if no further statement can be executed after it: one that didn't come from the server,
// unless the connection has been used since. A cancelled context is always the end, whatever error it came as: the
// user has asked for it.
func dead(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() == nil && (number(err) != 0 || errors.Is(err, errUndescribed)):
		return nil
	case errors.As(err, new(survivedError)) && ctx.Err() == nil:
		return nil
	default:
		return err
	}
}

// slowError is the error of an execution that took longer than it may.
type slowError struct {
	limit time.Duration
	error
}

func (e slowError) Error() string {
	return "an execution took longer than " + e.limit.String() + ", the most that -timeout allows"
}

func (e slowError) Unwrap() error { return e.error }

// survivedError is an error after which the connection still worked, because a statement has been executed on it
// since. The commonest is a time-out of a single execution, which doesn't come from the server.
type survivedError struct{ error }

func (e survivedError) Unwrap() error { return e.error }

// deployment holds the numbers of errors that say that a procedure doesn't fit the database it is in: an object or a
// column is missing, arguments don't fit, or the SET options are wrong.
var deployment = []int32{201, 206, 207, 208, 1934, 2812, 8144, 8145, 8146}

// ofText reports whether a name was missing in a text that a procedure made of its arguments, which are made up here.
// Such an error names no procedure.
func ofText(err error) bool {
	e, ok := errors.AsType[mssql.Error](err)
	return ok && (e.Number == 207 || e.Number == 208) && e.ProcName == ""
}

// errUndescribed reports that the server can't describe something.
var errUndescribed = errors.New("not described")
