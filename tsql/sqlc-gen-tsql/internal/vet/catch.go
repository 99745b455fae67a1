package vet

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// errorMask is the set of states in which CATCH may be: whether it has looked at the error's number or not. An error
// that was looked at may be swallowed or renumbered on purpose; one that wasn't may be anything, a deadlock or a
// time-out above all, which the caller must see as such.
type errorMask uint8

const (
	unexamined errorMask = 1 << iota
	examined
)

// catchEvent is what a CATCH can do to an error that it hasn't looked at.
type catchEvent int

const (
	// CATCH ends, or is left, and the caller takes the call for a success.
	swallowed catchEvent = iota
	// Another error takes its place.
	renumbered
)

// catchFlow follows the control flow of one CATCH. It is to errors what txFlow is to transactions, and simpler: an IF
// that asks for the number ends all doubts in both of its branches, since whoever asks knows that there are others.
type catchFlow struct {
	numbers map[string]bool // variables that hold ERROR_NUMBER()
	loops   int
	event   func(catchEvent, diag.Span)
}

// checkCatches makes a check that reports one kind of event in every CATCH. Functions can't have TRY, which leaves
// procedures and triggers; scripts that run once are watched by whoever runs them.
func checkCatches(kind catchEvent, fix, message string) func(*pass) {
	return func(p *pass) {
		for _, u := range p.modules() {
			numbers := errorNumberVariables(u.node)
			for tc := range syntax.All[*syntax.TryCatch](u.node) {
				f := &catchFlow{numbers: numbers, event: func(e catchEvent, at diag.Span) {
					if e == kind {
						p.report(u, at, fix, "%s", message)
					}
				}}
				if f.run(tc.Catch, unexamined)&unexamined != 0 {
					// The end of CATCH is reached without a look at the error.
					f.event(swallowed, catchSpan(tc))
				}
			}
		}
	}
}

// errorNumberVariables returns the variables that ERROR_NUMBER() is assigned to, by folded name. A CATCH within the
// CATCH has an error of its own, so that careful code keeps the number of the first.
func errorNumberVariables(n syntax.Node) map[string]bool {
	out := map[string]bool{}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.VarDecl:
			if n.Init != nil && readsErrorNumber(n.Init) {
				out[catalog.Fold(n.Name)] = true
			}
		case *syntax.SetVariable:
			if readsErrorNumber(n.X) {
				out[catalog.Fold(n.Variable.Name)] = true
			}
		case *syntax.SelectItem:
			if n.Variable != nil && readsErrorNumber(n.X) {
				out[catalog.Fold(n.Variable.Name)] = true
			}
		}
		return true
	})
	return out
}

// run goes through a list of statements and returns the states behind it; none means that control doesn't get there.
func (f *catchFlow) run(list []syntax.Stmt, in errorMask) errorMask {
	for _, s := range list {
		if in == 0 {
			return 0
		}
		in = f.stmt(s, in)
	}
	return in
}

// stmt returns the states behind a statement and reports what it does to the error.
func (f *catchFlow) stmt(s syntax.Stmt, in errorMask) errorMask {
	switch s := s.(type) {
	case *syntax.Block:
		return f.run(s.Stmts, in)
	// A condition that asks for the number splits the known errors from the rest, and both branches know on which
	// side they are.
	case *syntax.If:
		if in != 0 && f.examines(s.Cond) {
			in = examined
		}
		out := f.stmt(s.Then, in)
		if s.Else != nil {
			return out | f.stmt(s.Else, in)
		}
		return out | in
	// The body may not run at all, and a look at the number within it counts for the body only.
	case *syntax.While:
		f.loops++
		out := f.stmt(s.Body, in)
		f.loops--
		return in | out
	case *syntax.SelectStmt:
		if in != 0 && f.hands(s.Query) {
			in = examined
		}
		return in
	case *syntax.TryCatch: // its CATCH is looked at by itself
		return f.run(s.Try, in) | f.run(s.Catch, in)
	case *syntax.Throw:
		if s.Number != nil && in&unexamined != 0 {
			f.event(renumbered, s.Span)
		}
		return 0
	case *syntax.Raiserror:
		// A message; the CATCH goes on.
		if !raises(s) {
			return in
		}
		if in&unexamined != 0 {
			f.event(renumbered, s.Span)
		}
		return 0
	case *syntax.Return, *syntax.Goto:
		return f.leave(s, in)
	case *syntax.Break, *syntax.Continue:
		if f.loops > 0 {
			return in // within the CATCH
		}
		return f.leave(s, in)
	default:
		return in
	}
}

// leave is a jump out of the CATCH, by which the error is gone as at its end.
func (f *catchFlow) leave(s syntax.Stmt, in errorMask) errorMask {
	if in&unexamined != 0 {
		f.event(swallowed, s.Range())
	}
	return 0
}

// hands says whether a query is a result set with the error's number: then the caller is who looks at it.
func (f *catchFlow) hands(q *syntax.Query) bool {
	s, ok := q.Body.(*syntax.Select)
	if !ok || s.Into != nil || len(s.From) > 0 || s.Where != nil { // nobody is told if there are no rows
		return false
	}
	return slices.ContainsFunc(s.Items, func(item syntax.SelectItem) bool {
		return item.Variable == nil && f.examines(item.X)
	})
}

// examines says whether a condition, or a column, asks which error it is.
func (f *catchFlow) examines(x syntax.Expr) bool {
	if readsErrorNumber(x) {
		return true
	}
	for v := range syntax.All[*syntax.Variable](x) {
		if f.numbers[catalog.Fold(v.Name)] {
			return true
		}
	}
	return false
}
