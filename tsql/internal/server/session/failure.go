package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// raised is an error on its way to a CATCH. Nothing has been told to the client.
type raised struct {
	fault *fault.Error
	// compile says that it arose when a statement of the activation was compiled: no TRY of the same activation
	// catches it.
	compile bool
	from    *activation
}

// Error returns the text of the error.
func (r *raised) Error() string { return r.fault.Error() }

// What has been reported and ends something.
var (
	errBatch = errors.New("the batch ends")
	errScope = errors.New("the procedure ends")
)

// unbalanced is the error for a module that ends with another @@TRANCOUNT than it began with.
const unbalanced int32 = 266

// compiling marks an error that arose when a statement was compiled.
type compiling struct{ fault *fault.Error }

// Error returns the text of the error, and Unwrap the error itself.
func (c compiling) Error() string { return c.fault.Error() }
func (c compiling) Unwrap() error { return c.fault }

// compileError marks an error of the compilation.
func compileError(err error) error {
	if e, ok := asFault(err); ok {
		return compiling{e}
	}
	return err
}

// asFault finds the server's error in an error.
func asFault(err error) (*fault.Error, bool) {
	var e *fault.Error
	ok := errors.As(err, &e)
	return e, ok
}

// failed decides what the error of a statement ends. It returns nil if the next statement is executed, else an error
// that the lists of statements hand on: what has been reported already, or what is on its way to a CATCH.
func (s *Session) failed(a *activation, at diag.Span, err error) error {
	var r *raised
	switch {
	case errors.Is(err, errBatch), errors.Is(err, errClosed), errors.As(err, &r):
		return err
	case errors.Is(err, errScope):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return s.attention()
	}
	err = s.reportAllButLast(a, at, err)
	e, compile := s.located(a, at, err)
	if a.function {
		return e
	}
	s.lastError = e.Number
	s.rowCount = 0
	strict := s.options.xactAbort || a.trigger && a.tries == 0
	// XACT_ABORT does not concern RAISERROR and error 266, unless a CATCH gets them.
	aborts := strict && !e.Raised && e.Number != unbalanced || e.Scope == fault.Abort
	if s.catches(a, compile) && e.Class < 20 {
		if (strict || aborts || e.Dooms) && s.transaction.count > 0 {
			s.transaction.doomed = true
		}
		return &raised{fault: e, compile: compile, from: a}
	}
	if a.trigger && !e.Raised {
		e.Scope = fault.Abort
		return e
	}
	s.report(e)
	switch {
	case e.Class >= 20:
		s.rollback()
		return errClosed
	case aborts:
		s.rollback()
		s.forgetCursors()
		return errBatch
	case e.Scope >= fault.Batch:
		return errBatch
	case compile || e.Scope == fault.Module:
		return errScope
	default:
		return nil
	}
}

// reportAllButLast sends the errors that come before the last one of a statement that fails with several, such as 1505
// before 1750, and returns the last. A CATCH is told of that one only.
func (s *Session) reportAllButLast(a *activation, at diag.Span, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	list := joined.Unwrap()
	last := len(list) - 1
	if !a.function && !s.catches(a, false) {
		for _, e := range list[:last] {
			located, _ := s.located(a, at, e)
			s.report(located)
		}
	}
	return list[last]
}

// catches reports whether a TRY catches an error of the activation.
func (s *Session) catches(a *activation, compile bool) bool {
	if compile {
		return s.tries > a.tries
	}
	return s.tries > 0
}

// located makes the server's error of whatever came, with its line and procedure.
func (s *Session) located(a *activation, at diag.Span, err error) (e *fault.Error, compile bool) {
	var c compiling
	compile = errors.As(err, &c)
	found, ok := asFault(err)
	if !ok {
		return &fault.Error{Number: fault.Unsupported, Class: 20, State: 1, Message: fmt.Sprintf("tsqltest: %v", err)}, false
	}
	copied := *found
	if copied.Line == 0 && copied.Procedure == "" {
		placed(&copied, a.unit.file, at.From, a.unit.name)
	}
	return &copied, compile
}

// attention ends the batch because the client asked for it.
func (s *Session) attention() error {
	if s.options.xactAbort {
		s.rollback()
	}
	return errBatch
}

// ended is what is left of the error that ended a request: the end of the connection.
func (s *Session) ended(err error) error {
	var r *raised
	switch {
	case err == nil, errors.Is(err, errBatch), errors.Is(err, errScope):
		return nil
	case errors.As(err, &r):
		s.report(r.fault)
		return nil
	case errors.Is(err, errClosed):
		return err
	}
	return s.refuse(err)
}

// refuse reports an error that stands before any statement.
func (s *Session) refuse(err error) error {
	if list, ok := errors.AsType[syntaxErrors](err); ok {
		for _, e := range list {
			s.report(e)
		}
		s.lastError = list[0].Number
		return nil
	}
	if e, ok := asFault(err); ok {
		s.report(e)
		s.lastError = e.Number
		if s.options.xactAbort {
			s.rollback()
		}
		return nil
	}
	return err
}

// unsupported is the error for what T-SQL has and this server has not.
func (s *Session) unsupported(u *unit, at diag.Span, what string) error {
	what += " is not supported by tsqltest"
	if u.file != clientFile {
		n, column := u.file.Position(at.From)
		what += fmt.Sprintf(" (%s:%d:%d)", u.file.Name, n, column)
	}
	return fault.New(fault.Unsupported, what)
}

// columnNote tells the column, which the protocol has no place for.
func columnNote(column int) string { return fmt.Sprintf(" (column %d)", column) }
