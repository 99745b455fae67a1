package vet

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// txMask is the set of states in which the session's transaction may be at a point of a body; none means that the
// point is never reached. A set, because paths meet: behind an IF both outcomes are possible, and a rule objects to
// what may be, or to what can't be, as suits it.
type txMask uint8

const (
	txClosed txMask = 1 << iota // no transaction
	txActive                    // one that the body began
	txDoomed                    // the same after an error: it can only be rolled back
	txOuter                     // one that the caller began

	txEntry = txClosed | txOuter  // a body doesn't know whether its caller has one, unless its header says so
	txOwn   = txActive | txDoomed // what the body must end
	txAny   = txOwn | txOuter     // what @@TRANCOUNT <> 0 means
)

// txEvent is something that a rule may object to. The rules of P1 each pick their kinds; the flow itself has no
// opinion.
type txEvent struct {
	kind txEventKind
	at   diag.Span
}

// txEventKind says what happened.
type txEventKind int

const (
	// BEGIN TRANSACTION that no CATCH would roll back.
	beginOutsideTry txEventKind = iota
	// BEGIN TRANSACTION when one of the body's own may be open.
	beginNested
	// The body may end with its transaction open.
	leftOpen
	// RETURN may leave it open.
	returnOpen
	// THROW in a CATCH may leave it open.
	throwOpen
	// CATCH may end with it open.
	catchOpen
	// COMMIT where the body has none open: of the caller's it would end a level that isn't the body's, and without one
	// it is error 3902.
	nothingToCommit
	// ROLLBACK in a CATCH that may find nothing open, which is error 3903 in place of the real one.
	rollbackUnchecked
	// A second write without a transaction around it and the first.
	secondWriteUnguarded
)

// txFlow follows the control flow of a body and notes what happens to transactions. It is deliberately simple: it
// knows tests of XACT_STATE() and @@TRANCOUNT, takes every other condition to go both ways, and gives up at GOTO.
// Procedures that are called are taken to leave the transaction as it was; the server itself insists on it (error
// 266).
type txFlow struct {
	u *unit
	// events is what happened, in the order in which the flow came by; each is there once.
	events []txEvent
	// before holds the states in which a statement may be reached. A statement of a loop is reached several times,
	// and all of them are in it.
	before map[syntax.Stmt]txMask // the states in which a statement may be reached

	catches []*txMask // for each TRY around: what its CATCH may find
	// inCatch is how many CATCH blocks are around.
	inCatch   int
	breaks    []*txMask // for each loop around: the states at its BREAKs
	continues []*txMask
	begun     diag.Span   // the last BEGIN TRANSACTION
	wrote     syntax.Stmt // the first write outside of any transaction
	saved     []string    // names of savepoints
	// joinsCaller says that BEGIN depends on @@TRANCOUNT. Which paths belong together can't be seen then.
	joinsCaller bool
}

// followTransactions runs the flow over a unit's body.
func followTransactions(u *unit) *txFlow {
	f := &txFlow{u: u, before: map[syntax.Stmt]txMask{}}
	// A label may be jumped to from anywhere, so that nothing can be said about any point behind it.
	for range syntax.All[*syntax.Goto](u.node) {
		return f
	}
	f.joinsCaller = beginsConditionally(u.node)
	entry := txEntry
	if u.inCallers() {
		entry = txOuter
	}
	if out := f.run(u.body, entry); out&txOwn != 0 {
		f.event(leftOpen, f.begun)
	}
	return f
}

// event notes something, once: the second run through a loop comes by the same places.
func (f *txFlow) event(kind txEventKind, at diag.Span) {
	if e := (txEvent{kind, at}); !slices.Contains(f.events, e) {
		f.events = append(f.events, e)
	}
}

// run goes through a list of statements and returns the states behind it.
func (f *txFlow) run(list []syntax.Stmt, in txMask) txMask {
	for i, s := range list {
		if in == 0 {
			return 0 // never reached
		}
		// BEGIN TRANSACTION directly before BEGIN TRY is as good as within: nothing can fail in between.
		if tx, ok := s.(*syntax.Transaction); ok && tx.Verb == "BEGIN" && len(f.catches) == 0 {
			if _, ok := next(list, i).(*syntax.TryCatch); !ok {
				f.event(beginOutsideTry, tx.Span)
			}
		}
		in = f.stmt(s, in)
	}
	return in
}

// next returns the statement behind the one at i, or nil.
func next(list []syntax.Stmt, i int) syntax.Stmt {
	if i+1 < len(list) {
		return list[i+1]
	}
	return nil
}

// stmt is the effect of one statement. Whatever it does, it may fail, before or after.
func (f *txFlow) stmt(s syntax.Stmt, in txMask) txMask {
	f.before[s] |= in
	f.mayFail(in)
	out := f.effect(s, in)
	f.mayFail(out)
	return out
}

// mayFail says that an error may be raised in these states: the CATCH around must be ready for them.
func (f *txFlow) mayFail(m txMask) {
	if n := len(f.catches); n > 0 {
		*f.catches[n-1] |= m
	}
}

// effect returns the states behind a statement that doesn't fail, and notes what it does. No states mean that control
// doesn't get behind it.
func (f *txFlow) effect(s syntax.Stmt, in txMask) txMask {
	switch s := s.(type) {
	case *syntax.Block:
		return f.run(s.Stmts, in)
	case *syntax.If:
		return f.branch(s, in)
	case *syntax.While:
		return f.loop(s, in)
	case *syntax.TryCatch:
		return f.tryCatch(s, in)
	case *syntax.Transaction:
		return f.transaction(s, in)
	case *syntax.Return:
		if in&txOwn != 0 {
			f.event(returnOpen, s.Span)
		}
		return 0
	case *syntax.Throw:
		// Outside of CATCH this is left to XACT_ABORT, which P1-settings asks for; a CATCH is there to roll back. A
		// THROW in a TRY within the CATCH is caught again.
		if in&txOwn != 0 && f.inCatch > 0 && len(f.catches) == 0 {
			f.event(throwOpen, s.Span)
		}
		return 0
	case *syntax.Break:
		return jump(f.breaks, in)
	case *syntax.Continue:
		return jump(f.continues, in)
	case *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Merge, *syntax.Truncate:
		f.write(s, in)
	}
	return in
}

// jump adds the states to those of the innermost loop's BREAK or CONTINUE; control goes there and not on.
func jump(loops []*txMask, in txMask) txMask {
	if n := len(loops); n > 0 {
		*loops[n-1] |= in
	}
	return 0
}

// write notes the second statement that changes stored rows without a transaction around both. Writes in CATCH are
// left alone, since they follow a rollback and are often a log of the error.
func (f *txFlow) write(s syntax.Stmt, in txMask) {
	if in&txClosed == 0 || in&txOwn != 0 || f.inCatch > 0 || !f.u.writesStored(s) {
		return
	}
	// One transaction around all batches would hold all the locks that batches are there to avoid.
	if d, ok := s.(*syntax.Delete); ok && d.Top != nil && len(f.breaks) > 0 {
		return // a purge in batches, each on its own
	}
	if f.wrote != nil && f.wrote != s {
		f.event(secondWriteUnguarded, s.Range())
	}
	f.wrote = s
}

// branch follows both branches of an IF. Two writes in different branches are never both executed, so each branch
// begins with what had been written before the IF; a write in a branch that leaves has no successor.
func (f *txFlow) branch(s *syntax.If, in txMask) txMask {
	then, otherwise := refine(s.Cond, in)
	wrote := f.wrote
	out := f.stmt(s.Then, then)
	inThen := f.wrote
	f.wrote = wrote
	if s.Else == nil {
		out |= otherwise
	} else {
		out |= f.stmt(s.Else, otherwise)
	}
	// ELSE wrote nothing: THEN may have.
	if f.wrote == wrote && !leaves(s.Then) {
		f.wrote = inThen
	}
	return out
}

// leaves says that control never gets behind a statement. A loop isn't looked into, though an endless one leaves
// nothing behind it either: too rare to be worth a rule of its own.
func leaves(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.Block:
		return len(s.Stmts) > 0 && leaves(s.Stmts[len(s.Stmts)-1])
	case *syntax.If:
		return s.Else != nil && leaves(s.Then) && leaves(s.Else)
	case *syntax.Return, *syntax.Throw, *syntax.Break, *syntax.Continue, *syntax.Goto:
		return true
	default:
		return false
	}
}

// deepLoops is how deep loops may nest before their bodies are run once only. Running each twice doubles the work with
// every level.
const deepLoops = 6

// loop runs a body until nothing changes any more, which twice is enough for. States are only ever added, and what
// the second run adds is what the first left at the end or at CONTINUE. The condition may be false at once, which is
// why what came in goes out as well.
func (f *txFlow) loop(s *syntax.While, in txMask) txMask {
	var broke, continued txMask
	f.breaks, f.continues = append(f.breaks, &broke), append(f.continues, &continued)
	for range 2 {
		before := in
		in |= f.stmt(s.Body, in) | continued
		if in == before || len(f.breaks) > deepLoops {
			break
		}
	}
	f.breaks, f.continues = f.breaks[:len(f.breaks)-1], f.continues[:len(f.continues)-1]
	if alwaysTrue(s.Cond) {
		return broke
	}
	return in | broke
}

// tryCatch follows TRY, then CATCH from every state in which something in TRY may have failed. A state in which a
// transaction is active may have become a doomed one: which errors doom it depends on the error and on XACT_ABORT,
// and a CATCH must reckon with both.
func (f *txFlow) tryCatch(s *syntax.TryCatch, in txMask) txMask {
	var caught txMask
	f.catches = append(f.catches, &caught)
	f.mayFail(in)
	out := f.run(s.Try, in)
	f.catches = f.catches[:len(f.catches)-1]

	if caught&txActive != 0 {
		caught |= txDoomed
	}
	f.inCatch++
	behind := f.run(s.Catch, caught)
	f.inCatch--
	// Reported here and taken out of the states, so that every RETURN behind it isn't reported again. A transaction
	// that was open before TRY is somebody else's to end.
	if behind&txOwn != 0 && in&txOwn == 0 {
		f.event(catchOpen, catchSpan(s))
		behind &^= txOwn
	}
	return out | behind
}

// catchSpan is where findings about a CATCH as a whole are shown.
func catchSpan(s *syntax.TryCatch) diag.Span {
	if len(s.Catch) > 0 {
		return s.Catch[0].Range()
	}
	return s.Span
}

// transaction returns the states behind BEGIN, SAVE, COMMIT and ROLLBACK. Behind the end of a transaction it isn't
// known any more whether the caller has one: COMMIT ends the inner one only, ROLLBACK all.
func (f *txFlow) transaction(s *syntax.Transaction, in txMask) txMask {
	switch s.Verb {
	case "BEGIN":
		if in&txOwn != 0 {
			f.event(beginNested, s.Span)
		}
		f.begun = s.Span
		return txActive
	case "SAVE":
		f.saved = append(f.saved, s.Name)
		return in
	case "COMMIT":
		if in&txOwn == 0 {
			f.event(nothingToCommit, s.Span)
		}
		return txEntry
	default:
		if s.Name != "" && slices.Contains(f.saved, s.Name) {
			return in // back to the savepoint; the transaction goes on
		}
		if in&txClosed != 0 && f.inCatch > 0 {
			f.event(rollbackUnchecked, s.Span)
		}
		return txEntry
	}
}
