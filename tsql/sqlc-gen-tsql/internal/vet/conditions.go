package vet

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// beginsConditionally recognises the idiom of procedures that take part in their caller's transaction: they begin
// one, or set a savepoint, depending on @@TRANCOUNT, directly or through a variable. Microsoft's documentation
// teaches the idiom with a variable that is set at the top, which is why variables are followed one step.
func beginsConditionally(node syntax.Node) bool {
	// Variables that are ever given an expression with @@TRANCOUNT in it, by folded name. That another assignment may
	// follow doesn't matter: one is enough for doubts.
	counts := map[string]bool{}
	for decl := range syntax.All[*syntax.VarDecl](node) {
		counts[catalog.Fold(decl.Name)] = decl.Init != nil && mentionsTranCount(decl.Init, nil)
	}
	for set := range syntax.All[*syntax.SetVariable](node) {
		name := catalog.Fold(set.Variable.Name)
		counts[name] = counts[name] || mentionsTranCount(set.X, nil)
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

// mentionsTranCount says whether an expression reads @@TRANCOUNT, or one of the variables that hold it.
func mentionsTranCount(x syntax.Expr, variables map[string]bool) bool {
	if systemVariable(x, "@@TRANCOUNT") {
		return true
	}
	for v := range syntax.All[*syntax.Variable](x) {
		if variables[catalog.Fold(v.Name)] {
			return true
		}
	}
	return false
}

// alwaysTrue recognises WHILE 1 = 1. Such a loop is left by BREAK only, so that what BREAK saw is all that comes
// behind it.
func alwaysTrue(x syntax.Expr) bool {
	c, ok := syntax.Unparen(x).(*syntax.Compare)
	if !ok || c.Op != "=" {
		return false
	}
	a, okA := c.X.(*syntax.Literal)
	b, okB := c.Y.(*syntax.Literal)
	return okA && okB && a.Value == b.Value
}

// refine says which states a condition and its opposite leave. Where a condition isn't understood both are all that
// was possible before, which is the safe side for whatever is proved and the noisy one for whatever is suspected.
// NULL needs no thought: neither function returns it.
func refine(x syntax.Expr, in txMask) (then, otherwise txMask) {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Not:
		otherwise, then = refine(x.X, in)
		return then, otherwise
	case *syntax.Logical:
		a, notA := refine(x.X, in)
		b, notB := refine(x.Y, in)
		if x.Op == "AND" {
			return a & b, notA | notB
		}
		// By De Morgan: an OR is false when both sides are.
		return a | b, notA & notB
	case *syntax.Compare:
		if states, ok := testedStates(x); ok {
			return in & states, in &^ states
		}
	}
	return in, in
}

// transactionTest is a comparison of XACT_STATE() or @@TRANCOUNT with a number.
type transactionTest struct {
	what, op string
	number   int64
}

// transactionTests holds the states in which each test is true. XACT_STATE() is 1 in a transaction that can be
// committed, -1 in one that an error has doomed and 0 outside of any; @@TRANCOUNT doesn't tell the first two apart.
var transactionTests = map[transactionTest]txMask{
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
}

// mirrored holds what an operator becomes when its sides are swapped; the others stay as they are.
var mirrored = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}

// testedStates returns the states for which a test of XACT_STATE() or @@TRANCOUNT holds. The number may stand on either
// side.
func testedStates(c *syntax.Compare) (txMask, bool) {
	x, op := c.X, c.Op
	number, ok := intValue(c.Y)
	if !ok {
		x = c.Y
		if other, swapped := mirrored[op]; swapped {
			op = other
		}
		if number, ok = intValue(c.X); !ok {
			return 0, false
		}
	}
	what := ""
	switch x := syntax.Unparen(x).(type) {
	case *syntax.SystemVariable:
		what = x.Name
	case *syntax.Call:
		what = callName(x)
	}
	states, ok := transactionTests[transactionTest{what, op, number}]
	return states, ok
}
