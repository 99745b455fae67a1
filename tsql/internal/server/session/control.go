package session

import (
	"errors"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// signal is what comes after a statement.
type signal struct {
	kind  signalKind
	label string // of jump
}

type signalKind uint8

const (
	next signalKind = iota
	breakLoop
	continueLoop
	returned
	jump // to a label
)

// statements executes a list. An error that comes back has been reported, or is on its way to a CATCH.
func (s *Session) statements(a *activation, list []syntax.Stmt) (signal, error) {
	for i := 0; i < len(list); i++ {
		sig, err := s.statement(a, list[i])
		if err != nil {
			return sig, err
		}
		if sig.kind == jump {
			if at := labelIn(list, sig.label); at >= 0 {
				i = at
				continue
			}
		}
		if sig.kind != next {
			return sig, nil
		}
	}
	return signal{}, nil
}

// labelIn is where a label stands in a list; -1 if it doesn't.
func labelIn(list []syntax.Stmt, label string) int {
	for i, stmt := range list {
		if l, ok := stmt.(*syntax.Label); ok && fold(l.Label.Value) == fold(label) {
			return i
		}
	}
	return -1
}

// statement executes one statement.
func (s *Session) statement(a *activation, stmt syntax.Stmt) (signal, error) {
	switch st := stmt.(type) {
	case *syntax.Block:
		return s.statements(a, st.Stmts)
	case *syntax.TryCatch:
		return s.tryCatch(a, st)
	case *syntax.Label:
		return signal{}, nil
	case *syntax.Break:
		return signal{kind: breakLoop}, nil
	case *syntax.Continue:
		return signal{kind: continueLoop}, nil
	case *syntax.Goto:
		return signal{kind: jump, label: st.Label.Value}, nil
	}
	s.count(a, stmt)
	s.at, a.at = stmt, stmt
	if err := s.point(); err != nil {
		return signal{}, s.failed(a, stmt.Range(), err)
	}
	var sig signal
	var err error
	switch st := stmt.(type) {
	case *syntax.If:
		return s.branch(a, st)
	case *syntax.While:
		return s.loop(a, st)
	case *syntax.Return:
		sig, err = s.returns(a, st)
	default:
		err = s.simple(a, stmt)
	}
	if err != nil {
		return signal{}, s.failed(a, stmt.Range(), err)
	}
	s.lastError = 0
	s.finished(a, stmt)
	return sig, nil
}

// count counts a statement as the server's events do: a DECLARE without values is none, and SET of several options is
// one.
func (s *Session) count(a *activation, stmt syntax.Stmt) {
	if d, ok := stmt.(*syntax.Declare); ok && !slices.ContainsFunc(d.Vars, func(v syntax.VarDecl) bool { return v.Init != nil }) {
		return
	}
	if _, ok := stmt.(*syntax.SetOption); ok && a.at != nil && a.at != stmt && a.at.Range() == stmt.Range() {
		return
	}
	s.server.statements.Add(1)
}

// branch executes IF. What its condition says about the number of rows is gone afterwards, as on the server.
func (s *Session) branch(a *activation, st *syntax.If) (signal, error) {
	ok, err := s.test(a, st.Cond)
	if err != nil {
		return signal{}, s.failed(a, st.Cond.Range(), err)
	}
	s.rowCount, s.lastError = 0, 0
	s.finished(a, st)
	switch {
	case ok:
		return s.statement(a, st.Then)
	case st.Else != nil:
		return s.statement(a, st.Else)
	default:
		return signal{}, nil
	}
}

// loop executes WHILE.
func (s *Session) loop(a *activation, st *syntax.While) (signal, error) {
	for {
		s.at, a.at = st, st
		if err := s.point(); err != nil {
			return signal{}, s.failed(a, st.Range(), err)
		}
		ok, err := s.test(a, st.Cond)
		if err != nil {
			return signal{}, s.failed(a, st.Cond.Range(), err)
		}
		s.rowCount, s.lastError = 0, 0
		s.finished(a, st)
		if !ok {
			return signal{}, nil
		}
		sig, err := s.statement(a, st.Body)
		if err != nil {
			return sig, err
		}
		switch sig.kind {
		case breakLoop:
			return signal{}, nil
		case returned, jump:
			return sig, nil
		case next, continueLoop:
		}
	}
}

// returns executes RETURN. What a procedure returns is an int, 0 if it says nothing.
func (s *Session) returns(a *activation, st *syntax.Return) (signal, error) {
	if st.X == nil {
		return signal{kind: returned}, nil
	}
	t := intType
	if def, ok := a.unit.moduleStatement().(*syntax.CreateFunction); ok {
		typ, err := s.resultType(a.unit, def)
		if err != nil {
			return signal{}, err
		}
		t = typ
	}
	v, err := s.convert(a, st.X, t)
	if err != nil {
		return signal{}, err
	}
	if v.IsNull() && !a.function {
		v = value.OfInt(0)
	}
	a.result = v
	return signal{kind: returned}, nil
}

// moduleStatement is the definition of a module; nil of a batch.
func (u *unit) moduleStatement() syntax.Stmt {
	if u.module == nil {
		return nil
	}
	return u.module.Stmt
}

// tryCatch executes TRY, and CATCH if an error reaches it.
func (s *Session) tryCatch(a *activation, st *syntax.TryCatch) (signal, error) {
	a.tries++
	s.tries++
	sig, err := s.statements(a, st.Try)
	a.tries--
	s.tries--
	var r *raised
	if !errors.As(err, &r) || (r.compile && r.from == a) {
		return sig, err
	}
	a.caught = append(a.caught, r.fault)
	defer func() { a.caught = a.caught[:len(a.caught)-1] }()
	return s.statements(a, st.Catch)
}

// innermostCaught is the error of the CATCH block that is being executed, also by a caller; nil outside.
func (s *Session) innermostCaught() *fault.Error {
	for _, v := range slices.Backward(s.stack) {
		if n := len(v.caught); n > 0 {
			return v.caught[n-1]
		}
	}
	return nil
}
