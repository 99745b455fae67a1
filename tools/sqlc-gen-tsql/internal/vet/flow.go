package vet

import (
	"slices"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// txMask is the set of states in which the session's transaction may be at a point of a body; none means that the point
// is never reached.
type txMask uint8

const (
	txClosed txMask = 1 << iota // no transaction
	txActive                    // one that the body began
	txDoomed                    // the same after an error: it can only be rolled back
	txOuter                     // one that the caller began

	txEntry = txClosed | txOuter  // a body doesn't know whether its caller has one
	txOwn   = txActive | txDoomed // what the body must end
	txAny   = txOwn | txOuter     // what @@TRANCOUNT <> 0 means
)

// txEvent is something that a rule may object to.
type txEvent struct {
	kind txEventKind
	at   diag.Span
}

type txEventKind int

const (
	beginOutsideTry      txEventKind = iota // BEGIN TRANSACTION that no CATCH would roll back
	beginNested                             // BEGIN TRANSACTION when one may be open
	leftOpen                                // the body may end with the transaction open
	returnOpen                              // RETURN may leave it open
	throwOpen                               // so may THROW in a CATCH
	catchOpen                               // CATCH may end with it open
	nothingToCommit                         // COMMIT where nothing is open
	rollbackUnchecked                       // ROLLBACK in a CATCH that may find nothing open
	secondWriteUnguarded                    // two writes without a transaction around them
)

// txFlow follows the control flow of a body and notes what happens to transactions. It is deliberately simple: it knows
// tests of XACT_STATE() and @@TRANCOUNT, takes every other condition to go both ways, and gives up at GOTO.
type txFlow struct {
	u      *unit
	events []txEvent
	before map[syntax.Stmt]txMask // the states in which a statement may be reached

	catches   []*txMask // for each TRY around: what its CATCH may find
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
	for range syntax.All[*syntax.Goto](u.node) {
		return f
	}
	f.joinsCaller = beginsConditionally(u.node)
	if out := f.run(u.body, txEntry); out&txOwn != 0 {
		f.event(leftOpen, f.begun)
	}
	return f
}

// beginsConditionally recognises the idiom of procedures that take part in their caller's transaction: they begin one,
// or set a savepoint, depending on @@TRANCOUNT, directly or through a variable.
func beginsConditionally(node syntax.Node) bool {
	counts := map[string]bool{}
	for decl := range syntax.All[*syntax.VarDecl](node) {
		counts[decl.Name] = decl.Init != nil && mentionsTranCount(decl.Init, nil)
	}
	for set := range syntax.All[*syntax.SetVariable](node) {
		counts[set.Variable.Name] = counts[set.Variable.Name] || mentionsTranCount(set.X, nil)
	}
	for branch := range syntax.All[*syntax.If](node) {
		if !mentionsTranCount(branch.Cond, counts) {
			continue
		}
		for tx := range syntax.All[*syntax.Transaction](branch) {
			if tx.Verb == "BEGIN" || tx.Verb == "SAVE" {
				return true
			}
		}
	}
	return false
}

func mentionsTranCount(x syntax.Expr, variables map[string]bool) bool {
	for v := range syntax.All[*syntax.SystemVariable](x) {
		if v.Name == "@@TRANCOUNT" {
			return true
		}
	}
	for v := range syntax.All[*syntax.Variable](x) {
		if variables[v.Name] {
			return true
		}
	}
	return false
}

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

func (f *txFlow) mayFail(m txMask) {
	if n := len(f.catches); n > 0 {
		*f.catches[n-1] |= m
	}
}

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

func jump(loops []*txMask, in txMask) txMask {
	if n := len(loops); n > 0 {
		*loops[n-1] |= in
	}
	return 0
}

// write notes the second statement that changes stored rows without a transaction around both.
func (f *txFlow) write(s syntax.Stmt, in txMask) {
	if in&txClosed == 0 || in&txOwn != 0 || f.inCatch > 0 || !f.u.writesStored(s) {
		return
	}
	if d, ok := s.(*syntax.Delete); ok && d.Top != nil && len(f.breaks) > 0 {
		return // a purge in batches, each on its own
	}
	if f.wrote != nil && f.wrote != s {
		f.event(secondWriteUnguarded, s.Range())
	}
	f.wrote = s
}

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
	if f.wrote == wrote && !leaves(s.Then) {
		f.wrote = inThen
	}
	return out
}

// leaves says that control never gets behind a statement.
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

// loop runs a body until nothing changes any more, which twice is enough for.
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

// alwaysTrue recognises WHILE 1 = 1.
func alwaysTrue(x syntax.Expr) bool {
	c, ok := unparen(x).(*syntax.Compare)
	if !ok || c.Op != "=" {
		return false
	}
	a, okA := c.X.(*syntax.Literal)
	b, okB := c.Y.(*syntax.Literal)
	return okA && okB && a.Value == b.Value
}

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

// refine says which states a condition and its opposite leave.
func refine(x syntax.Expr, in txMask) (then, otherwise txMask) {
	switch x := unparen(x).(type) {
	case *syntax.Not:
		otherwise, then = refine(x.X, in)
		return then, otherwise
	case *syntax.Logical:
		a, notA := refine(x.X, in)
		b, notB := refine(x.Y, in)
		if x.Op == "AND" {
			return a & b, notA | notB
		}
		return a | b, notA & notB
	case *syntax.Compare:
		if states, ok := testedStates(x); ok {
			return in & states, in &^ states
		}
	}
	return in, in
}

// testedStates returns the states for which a test of XACT_STATE() or @@TRANCOUNT holds.
func testedStates(c *syntax.Compare) (txMask, bool) {
	number, ok := intValue(c.Y)
	if !ok {
		return 0, false
	}
	type test struct {
		what, op string
		number   int64
	}
	what := ""
	switch x := unparen(c.X).(type) {
	case *syntax.SystemVariable:
		what = x.Name
	case *syntax.Call:
		what = callName(x)
	}
	states, ok := map[test]txMask{
		{"@@TRANCOUNT", "=", 0}:  txClosed,
		{"@@TRANCOUNT", "<>", 0}: txAny,
		{"@@TRANCOUNT", ">", 0}:  txAny,
		{"@@TRANCOUNT", ">=", 1}: txAny,
		{"XACT_STATE", "=", 0}:   txClosed,
		{"XACT_STATE", "<>", 0}:  txAny,
		{"XACT_STATE", "=", -1}:  txDoomed,
		{"XACT_STATE", "<", 0}:   txDoomed,
		{"XACT_STATE", "<>", -1}: txClosed | txActive | txOuter,
		{"XACT_STATE", "=", 1}:   txActive | txOuter,
		{"XACT_STATE", ">", 0}:   txActive | txOuter,
	}[test{what, c.Op, number}]
	return states, ok
}
