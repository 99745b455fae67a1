package session

import (
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// tell sends something to the client. Once that has failed nothing more is sent: the client is gone, and what executes
// finds out at the next statement.
func (s *Session) tell(send func(sink request.Sink) error) {
	if s.out.err != nil || s.out.sink == nil {
		return
	}
	s.out.err = send(s.out.sink)
}

// sendColumns begins a result set.
func (s *Session) sendColumns(columns []binder.Column) (err error) {
	for r := s.out.redefined; r != nil; r = r.outer {
		if columns, err = r.begin(columns); err != nil {
			return err
		}
	}
	if to := s.out.into; to != nil {
		set := planner.Rows{Types: make([]value.Type, len(columns))}
		for i, c := range columns {
			set.Types[i] = c.Type
		}
		to.sets = append(to.sets, set)
		return nil
	}
	list := make([]request.Column, len(columns))
	for i, c := range columns {
		list[i] = request.Column(c)
	}
	s.tell(func(sink request.Sink) error { return sink.Columns(list) })
	return nil
}

// sendRow sends a row, or hands it to INSERT … EXEC.
func (s *Session) sendRow(row []value.Value) (err error) {
	for r := s.out.redefined; r != nil; r = r.outer {
		if row, err = r.convert(row); err != nil {
			return err
		}
	}
	if s.out.into != nil {
		set := &s.out.into.sets[len(s.out.into.sets)-1]
		set.Values = append(set.Values, append([]value.Value(nil), row...))
		return nil
	}
	if s.out.err == nil && s.out.sink != nil {
		s.out.err = s.out.sink.Row(row)
	}
	return s.out.err
}

// done ends a statement for the client. With NOCOUNT only result sets are worth a word, and of a function's statements
// the client hears nothing: it is in the middle of another statement's rows.
func (s *Session) done(kind string, rows int64, set bool) {
	if a := s.top(); a != nil && a.function {
		return
	}
	if s.out.into != nil || (s.options.noCount && !set) {
		return
	}
	counted, inside := !s.options.noCount, s.level() > 0
	s.tell(func(sink request.Sink) error { return sink.Done(kind, rows, counted, inside) })
}

// finished tells the client that a statement has come to its end that neither returns nor counts rows. Of declarations
// it hears nothing.
func (s *Session) finished(a *activation, stmt syntax.Stmt) {
	if a.function || s.out.into != nil || s.options.noCount {
		return
	}
	switch st := stmt.(type) {
	case *syntax.CursorStmt:
		if st.Verb == "FETCH" && len(st.Into) == 0 {
			return
		}
	case *syntax.SelectStmt, *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Merge, *syntax.Truncate, *syntax.Exec,
		*syntax.Return, *syntax.Throw, *syntax.Declare:
		return // they have told it, or what they did has
	}
	inside := s.level() > 0
	s.tell(func(sink request.Sink) error { return sink.Done("", 0, false, inside) })
}

// report sends an error, and the note that a statement was ended by it.
func (s *Session) report(e *fault.Error) {
	if e.Class <= 10 {
		s.tell(func(sink request.Sink) error { return sink.Message(e) })
		return
	}
	if e.Class >= 20 && s.server.log != nil {
		// The driver says no more of it than that there was an internal error.
		s.server.log(fmt.Sprintf("session %d ends: %v", s.id, e))
	}
	s.tell(func(sink request.Sink) error { return sink.Error(e) })
	if e.Terminated {
		note := fault.New(3621)
		note.Line, note.Procedure = e.Line, e.Procedure
		s.tell(func(sink request.Sink) error { return sink.Message(note) })
	}
}

// terminates are the errors after which the server says that the statement has been terminated, if it is one that
// changes something: a constraint or a type did not allow a change that had begun.
var terminates = map[int32]bool{
	220: true, 232: true, 512: true, 515: true, 547: true, 550: true, 1505: true, 2601: true, 2627: true, 2628: true, 8115: true,
	8134: true, 8152: true, 8672: true,
}

// terminated marks the error of a statement that changes something.
func terminated(err error) error {
	if e, ok := asFault(err); ok && terminates[e.Number] {
		e.Terminated = true
	}
	return err
}

// Message sends a message to the client.
func (s *Session) Message(number int32, class uint8, text string) {
	e := &fault.Error{Number: number, Class: class, State: 1, Message: text}
	if a := s.top(); a != nil {
		e.Procedure = a.unit.name
	}
	s.tell(func(sink request.Sink) error { return sink.Message(e) })
}

// changedDatabase tells the client in which database the session is from now on.
func (s *Session) changedDatabase(from, to string) {
	s.tell(func(sink request.Sink) error { return sink.DatabaseChanged(from, to) })
}
