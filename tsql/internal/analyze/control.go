package analyze

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The ids of findings about statements.
const (
	ruleStatement = "statement" // a statement that has no place where it stands, or that cannot be checked
	ruleFlow      = "flow"      // BREAK, GOTO and the like without their counterpart
)

// A module is what a body of statements belongs to; it decides which of them make sense.
//
// The same statement is right in one and refused in another: SELECT without an assignment is a result set in a
// procedure, an error in a function (Msg 444), a nuisance in a trigger, and read by nobody in a script.
type module int

const (
	inProcedure module = iota
	inFunction         // scalar, or a multi-statement table function
	inTrigger
	inScript // between GO lines, outside any module
)

// String names the module in a message.
func (m module) String() string {
	return [...]string{"procedure", "function", "trigger", "script"}[m]
}

// A body is what is found out about the statements of a module.
//
// It outlives the walk: callers read it, and the description of the procedure.
type body struct {
	module module
	name   string // of a procedure
	// unknown is why nobody knows what an excluded procedure does; empty if it is known.
	unknown string
	graph   *graph
	status  bool   // a RETURN says something else than 0
	throws  thrown // what its statements raise and call
	// insertExec says that there is an INSERT … EXEC. The server doesn't nest them (error 8164): a procedure with one
	// cannot itself be the source of another.
	insertExec bool

	// leaves holds the variables, OUTPUT parameters among them, that are not NULL wherever the body ends.
	leaves facts

	// opaque says that it sends more than is known, which is reported where it does.
	opaque bool
	// What program.shape made of the graph; broken says that it reported something, which callers need not repeat.
	results        []ResultSet
	flow           Flow
	shaped, broken bool
}

// A walker follows the statements of one body and draws the graph of its result sets along the way. What the statements
// say is checked by the analyzer; the walker knows what they do to the flow of control.
//
// Every body is walked once, in the order of the text. That is also the order in which T-SQL makes variables and temp
// tables known, whatever the blocks and branches.
//
// Every method that takes a statement also takes the node that control comes from and returns the one it goes on from:
// nowhere after a RETURN. Statements that no path reaches are checked like all others.
//
// Of values only NULL is followed: a variable is known not to be NULL after SET @x = 1, but not to be 1, and both ways
// of an IF are taken for possible. More would make the result depend on things that a reader of the procedure does not
// see either.
type walker struct {
	*program
	e       *env
	body    *body
	known   *catalog.Known // the values of variables
	returns sqltype.Type   // of a scalar function
	scalar  bool           // it is one, whether or not the type of what it returns is known
	caught  int            // where an error leads: the beginning of the CATCH around, or nowhere
	catches int            // how many CATCH blocks are around
	// swallowed says that an error here never gets to the caller: one of the TRYs around has a CATCH that ends it.
	swallowed bool
	nested    int // how many statements are around that may run their parts or not
	loops     []loop
	failing   *facts // of the TRY around: the variables that are not NULL wherever it may fail; nil if there is none
	labels    map[string]*jump
	jumps     bool               // the body has labels
	scopes    []*syntax.TryCatch // the TRY and CATCH blocks around; GOTO cannot lead into one
}

// A loop is a WHILE around the statement.
type loop struct {
	again, out int // where CONTINUE and BREAK lead
}

// A jump is a label that was met, as such or in a GOTO.
//
// A label can come after its GOTOs, so that the node is made by whichever is met first, and the rest is checked when
// the body is over.
type jump struct {
	node    int
	defined bool
	scopes  []*syntax.TryCatch
	gotos   []*syntax.Goto
	from    [][]*syntax.TryCatch // of each GOTO
}

// node makes a point from which an error leads to the CATCH around.
//
// That is what makes every statement of a TRY one that may fail. Nodes are made by the statements that matter to the
// flow, not by each one, and that is enough: between two nodes nothing is sent.
func (w *walker) node() int {
	n := w.body.graph.node()
	w.body.graph.pass(n, w.caught)
	return n
}

// fail reports something about a statement.
func (w *walker) fail(at syntax.Node, rule, fix, format string, args ...any) {
	w.a.found.Add(w.e.file, at.Range(), rule, fix, format, args...)
}

// stmts follows statements in their order.
func (w *walker) stmts(list []syntax.Stmt, at int) int {
	for _, s := range list {
		at = w.stmt(s, at)
	}
	return at
}

// stmt follows one statement, and what is known of the variables.
func (w *walker) stmt(s syntax.Stmt, at int) int {
	w.mayFail()
	to := w.statement(s, at)
	if to == nowhere {
		w.e.facts = facts{nowhere: true}
	}
	w.mayFail()
	return to
}

// statement follows one statement.
//
// The cases are those that change the flow or send sets. All else is in plain, which refuses what it does not know.
func (w *walker) statement(s syntax.Stmt, at int) int {
	switch s := s.(type) {
	case *syntax.SelectStmt, *syntax.Insert, *syntax.Update, *syntax.Delete, *syntax.Merge:
		defer w.follow(s)
		return w.assigning(s, func() int { return w.data(s, at) })
	case *syntax.Exec:
		defer w.follow(s)
		return w.assigning(s, func() int { return w.exec(s, at) })
	case *syntax.Block:
		return w.stmts(s.Stmts, at)
	case *syntax.If:
		return w.branch(s, at)
	case *syntax.While:
		return w.while(s, at)
	case *syntax.TryCatch:
		return w.tryCatch(s, at)
	case *syntax.Return:
		return w.ret(s, at)
	case *syntax.Break, *syntax.Continue:
		return w.leaveLoop(s, at)
	case *syntax.Goto:
		return w.jump(s, at)
	case *syntax.Label:
		return w.land(s, at)
	case *syntax.Throw:
		return w.throw(s, at)
	case *syntax.Raiserror:
		return w.raiserror(s, at)
	default:
		w.assigning(s, func() int {
			w.a.unsent(func() { w.plain(s) })
			return at
		})
		w.follow(s)
		return at
	}
}

// follow notes what a statement does to variables. In a body with labels nothing is known of them: a GOTO can lead from
// any place to another.
func (w *walker) follow(s syntax.Stmt) {
	if !w.jumps {
		w.known.Follow(s)
	}
}

// value types what is not sent: a condition's part, an argument, what is returned or raised.
func (w *walker) value(x syntax.Expr) (t typed) {
	w.a.unsent(func() { t = w.a.scalar(w.e, x) })
	return t
}

// branch follows IF. Both ways are possible, whatever the condition.
//
// T-SQL has no ELSE IF: it is an IF in the ELSE, to the parser and here.
func (w *walker) branch(s *syntax.If, at int) int {
	w.a.unsent(func() { w.a.condition(w.e, s.Cond) })
	w.nested++
	// Without ELSE the second way is to go on directly.
	before, known := w.e.settings, w.e.facts
	w.e.facts = known.with(w.shown(s.Cond, true, true))
	then, otherwise := w.stmt(s.Then, at), at
	set, after := w.e.settings, w.e.facts
	w.e.settings, w.e.facts = before, known.with(w.shown(s.Cond, false, false))
	w.known.Forget(s.Then)
	if s.Else != nil {
		otherwise = w.stmt(s.Else, at)
		w.known.Forget(s.Else)
	}
	w.e.settings, w.e.facts = w.e.join(set), w.e.facts.meet(after)
	w.nested--
	return w.join(then, otherwise)
}

// join is where two ways come together.
//
// With one of them unreachable there is nothing to join; that is how IF … RETURN; leaves a single way.
func (w *walker) join(x, y int) int {
	switch {
	case x == y, y == nowhere:
		return x
	case x == nowhere:
		return y
	}
	n := w.node()
	w.body.graph.pass(x, n)
	w.body.graph.pass(y, n)
	return n
}

// while follows a loop, which may be left before its first turn.
//
// WHILE 1 = 1 is thought to end like any other: that only a BREAK leaves it is a fact about values.
func (w *walker) while(s *syntax.While, at int) int {
	before := w.e.anywhere(s.Body)
	w.e.settings = before
	known := w.throughout(s)
	w.e.facts = known
	w.a.unsent(func() { w.a.condition(w.e, s.Cond) })
	// The condition is tested at again: before the first turn and after each.
	l := loop{again: w.node(), out: w.node()}
	w.body.graph.pass(at, l.again)
	w.body.graph.pass(l.again, l.out)
	w.loops = append(w.loops, l)
	w.nested++
	w.known.Forget(s.Body)
	w.e.facts = known.with(w.shown(s.Cond, true, true))
	end := w.stmt(s.Body, l.again)
	w.known.Forget(s.Body)
	w.e.settings, w.e.facts = before, known
	if !breaks(s.Body) {
		w.e.facts = known.with(w.shown(s.Cond, false, false))
	}
	w.nested--
	w.loops = w.loops[:len(w.loops)-1]
	w.body.graph.pass(end, l.again)
	return l.out
}

// breaks reports a BREAK in the body of a loop; that of a loop in it counts too.
func breaks(body syntax.Stmt) bool {
	for range syntax.All[*syntax.Break](body) {
		return true
	}
	return false
}

// tryCatch follows TRY … CATCH. Every point of the TRY leads to the CATCH, also the last: its set may have been sent in
// part, columns first, when an error ends it.
//
// The graph of BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH SELECT 2 AS b; END CATCH:
//
//	begin -a-> 4, catch -b-> 5; silently to catch from begin and from 4
//
// from which a client can get a, a b or b. Errors that end the batch or the connection, and those of a severity below
// 11, pass a CATCH by; the first are errors for the client in any case, the second are messages.
func (w *walker) tryCatch(s *syntax.TryCatch, at int) int {
	// An error in the CATCH leads outward, so the beginning of the CATCH is a point of the surroundings.
	outer, swallowed := w.caught, w.swallowed
	catch := w.node()
	w.caught = catch
	w.swallowed = swallowed || !raisesAgain(s.Catch)
	w.scopes = append(w.scopes, s)
	begin := w.node()
	w.body.graph.pass(at, begin)
	w.nested++
	failed := w.e.anywhere(s.Try...)
	around, known := w.failing, w.e.facts
	w.failing = &known
	end := w.stmts(s.Try, begin)
	set, after := w.e.settings, w.e.facts
	w.failing = around

	w.caught, w.swallowed = outer, swallowed
	// From here on nodes lead to the CATCH further out, if there is one.
	// The CATCH is a scope of its own: a GOTO in the TRY cannot lead into it, nor the other way round.
	w.scopes[len(w.scopes)-1] = &syntax.TryCatch{Span: s.Span}
	w.catches++
	w.e.settings, w.e.facts = failed, known
	for _, try := range s.Try {
		w.known.Forget(try)
	}
	recovered := w.stmts(s.Catch, catch)
	w.e.settings, w.e.facts = w.e.join(set), w.e.facts.meet(after)
	for _, catch := range s.Catch {
		w.known.Forget(catch)
	}
	w.catches--
	w.nested--
	w.scopes = w.scopes[:len(w.scopes)-1]
	return w.join(end, recovered)
}

// leaveLoop follows BREAK and CONTINUE.
//
// It is the innermost loop, also from inside a TRY.
func (w *walker) leaveLoop(s syntax.Stmt, at int) int {
	if len(w.loops) == 0 {
		w.fail(s, ruleFlow, "", "there is no WHILE around this statement")
		return nowhere
	}
	l := w.loops[len(w.loops)-1]
	if _, ok := s.(*syntax.Break); ok {
		w.body.graph.pass(at, l.out)
	} else {
		w.body.graph.pass(at, l.again)
	}
	return nowhere
}

// labelled returns the jump of a name, which may be met in a GOTO before or after the label itself.
func (w *walker) labelled(name syntax.Ident) *jump {
	key := catalog.Fold(name.Value)
	if w.labels[key] == nil {
		w.labels[key] = &jump{node: w.body.graph.node()}
	}
	return w.labels[key]
}

// jump follows GOTO. One that leads backward makes a loop like any other: what matters is whether sets are in it.
//
// T-SQL has GOTO into an IF or a WHILE, which is why labels are looked up in the whole body and not by blocks. Only TRY
// and CATCH are closed to it, checkLabels says how.
func (w *walker) jump(s *syntax.Goto, at int) int {
	j := w.labelled(s.Label)
	j.gotos = append(j.gotos, s)
	j.from = append(j.from, slices.Clone(w.scopes))
	w.body.graph.pass(at, j.node)
	return nowhere
}

// land follows a label.
//
// An error after the label leads to the CATCH around the label, not to that around the GOTO which made the node; so the
// link is drawn here.
func (w *walker) land(s *syntax.Label, at int) int {
	j := w.labelled(s.Label)
	if j.defined {
		w.fail(s, ruleFlow, "", "the label %s is there twice", s.Label.Value)
		return at
	}
	j.defined, j.scopes = true, slices.Clone(w.scopes)
	w.body.graph.pass(j.node, w.caught)
	w.body.graph.pass(at, j.node)
	w.e.facts = facts{} // a GOTO may come from anywhere
	return j.node
}

// checkLabels reports GOTOs that lead to no label, or into a TRY or CATCH block.
//
// GOTO may leave a TRY or a CATCH, and may jump within one: the blocks around the label must all be around the GOTO
// too, the same ones from the outermost inward.
func (w *walker) checkLabels() {
	for _, j := range w.labels {
		for i, s := range j.gotos {
			switch {
			// A label is visible in its own block and further in, as a name would be.
			case !j.defined:
				w.fail(s, ruleFlow, "", "there is no label %s", s.Label.Value)
			case len(j.scopes) > len(j.from[i]) || !slices.Equal(j.scopes, j.from[i][:len(j.scopes)]):
				w.fail(s, ruleFlow, "", "GOTO cannot lead into a TRY or CATCH block, where %s is", s.Label.Value)
			}
		}
	}
}

// ret follows RETURN.
//
// A status is an int, and 0 means success by convention only: T-SQL itself returns 0, or a negative number after some
// errors. The Go method has a field for it if the procedure says anything else.
func (w *walker) ret(s *syntax.Return, at int) int {
	w.leave()
	w.body.graph.pass(at, exit)
	if s.X == nil {
		if w.returns.Kind != sqltype.Invalid {
			w.fail(s, ruleFlow, "return a value", "a scalar function must return a value")
		}
		return nowhere
	}
	x := w.value(s.X)
	switch {
	// RETURN NULL is 0 with a warning, and a nullable status is not refused for it.
	case w.body.module == inProcedure:
		w.a.argument(w.e, x, sqltype.Type{Kind: sqltype.Int}, true, s.X.Range(), "the return status")
		w.body.status = w.body.status || !isStatusZero(s.X)
	case w.returns.Kind != sqltype.Invalid:
		w.a.argument(w.e, x, w.returns, true, s.X.Range(), "the value of the function")
	case !w.scalar:
		w.fail(s, ruleFlow, "leave the value out", "a %s returns no value", w.body.module)
	}
	return nowhere
}

// isStatusZero reports whether an expression is the literal 0, which is what T-SQL returns by itself.
func isStatusZero(x syntax.Expr) bool {
	n, ok := intLiteral(x)
	return ok && n == 0
}

// data follows the statements that read and write rows.
//
// What they change may have triggers, whose errors are the procedure's.
func (w *walker) data(s syntax.Stmt, at int) int {
	if insert, ok := s.(*syntax.Insert); ok && insert.Exec != nil {
		w.insertExec(insert)
	}
	w.refuseInFunction(s)
	w.fires(s)
	return w.yield(s, at, func() (rowset, bool) {
		sel, ok := s.(*syntax.SelectStmt)
		if !ok {
			return w.a.dml(w.e, s)
		}
		r := w.a.query(w.e, sel.Query)
		return r, !r.none
	})
}

// refuseInFunction reports what changes tables in a function, which may only change its own table variables.
//
// The server refuses the function when it is created (Msg 443); a common table expression or an alias as the target is
// left to it.
func (w *walker) refuseInFunction(s syntax.Stmt) {
	var target syntax.TableSource
	switch s := s.(type) {
	case *syntax.Insert:
		target = s.Target
	case *syntax.Update:
		target = s.Target
	case *syntax.Delete:
		target = s.Target
	}
	ref, ok := target.(*syntax.TableRef)
	if !ok || w.body.module != inFunction {
		return
	}
	if name, err := w.a.resolve(w.e, ref.Name); err == nil && w.cat.Table(name) != nil {
		w.fail(ref, ruleStatement, "make it a procedure", "a function cannot change a table")
	}
}

// yield makes the link for a statement that may send a set; infer says what it sends, if it does.
//
// SELECT INTO, SELECT @v = … and OUTPUT INTO look like the others and send nothing, which only the inference can tell.
func (w *walker) yield(s syntax.Stmt, at int, infer func() (rowset, bool)) int {
	// The findings wait: gen:columns may answer those about columns that cannot be typed.
	var r rowset
	var sends bool
	found := w.a.quietly(func() { r, sends = infer() })
	if !sends {
		if !makesTable(s) {
			found = withoutServer(found)
		}
		*w.a.found = append(*w.a.found, found...)
		return at
	}
	if !r.bad && !slices.ContainsFunc(r.Columns, func(c Column) bool { return !isKnown(c.Type) }) {
		found = withoutServer(found)
	}
	set := w.override(s, r, fillable(found))
	return w.sendSet(s, at, set)
}

// makesTable reports SELECT … INTO, whose columns may be sent later.
func makesTable(s syntax.Stmt) bool {
	sel, ok := s.(*syntax.SelectStmt)
	if !ok {
		return false
	}
	first, ok := sel.Query.Body.(*syntax.Select)
	if op, set := sel.Query.Body.(*syntax.SetOperation); set {
		first = firstSelect(op)
		ok = first != nil
	}
	return ok && first.Into != nil
}

// fillable tells of gen:columns in the findings that it would answer. Where a name is misspelt, it wouldn't help, and
// what was meant is said instead.
func fillable(found diag.List) diag.List {
	for i := range found {
		d := &found[i]
		if !d.Gap {
			continue
		}
		if d.Fix != "" {
			d.Fix += ", or "
		}
		d.Fix += "say what is sent: -- gen:columns (column type, …) above the statement"
	}
	return found
}

// sendSet makes the link for a set.
//
// It returns the point after it. A set that is not allowed where it stands is reported and the flow goes on as if it
// were not there.
func (w *walker) sendSet(s syntax.Stmt, at int, set ResultSet) int {
	switch w.body.module {
	case inFunction:
		w.fail(s, ruleStatement, "assign to variables, or insert into the table that is returned", "a function cannot send a result set")
		return at
	case inTrigger:
		w.fail(s, ruleShape, "write to a table instead", "a trigger that sends a result set disturbs every statement on its table")
		return at
	case inScript, inProcedure:
	}
	// Unreachable statements have been checked; there is no way to draw.
	if at == nowhere {
		return nowhere
	}
	to := w.node()
	w.body.graph.send(at, to, sender{set, site{w.e.file, s.Range()}, w.caught})
	return to
}

// A part is a span as a node, for findings about parts that have no node of their own.
type part struct{ diag.Span }
