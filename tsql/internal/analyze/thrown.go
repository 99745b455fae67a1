package analyze

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ruleError is the id of findings about error numbers.
const ruleError = "error"

const (
	firstUserError  = 50000 // the least number that THROW takes; also that of RAISERROR with a text
	firstMessage    = 13000 // the least number that RAISERROR takes
	leastSeverity   = 11    // from here on RAISERROR is an error rather than a message
	leastFatal      = 20    // from here on the server closes the connection, which no CATCH can stop
	raiserrorParams = 3     // message, severity and state come first
)

// thrown is what the statements of one body raise, and which bodies they call, which may raise more.
//
// The values of the two maps say whether an error gets out to the caller. It does not if all its places are in a TRY
// whose CATCH never raises it again:
//
//	BEGIN TRY THROW 50010, N'busy', 1; END TRY
//	BEGIN CATCH SET @busy = 1; END CATCH           -- 50010: false
//	THROW 50011, N'lost', 1;                       -- 50011: true
//
// Only numbers that the text chooses are here. The server's own errors (1205 for a deadlock, 2627 for a duplicate key)
// can come from nearly every statement, and the generated package deals with those once for all.
type thrown struct {
	numbers map[int32]bool
	calls   map[*body]bool
	dynamic bool // a number that is not known from the text gets out
}

// add notes a number, and that it gets out from one place at least if out says so.
func (t *thrown) add(n int32, out bool) {
	if t.numbers == nil {
		t.numbers = map[int32]bool{}
	}
	t.numbers[n] = t.numbers[n] || out
}

// call notes that a body is called, and whether what it raises gets out.
func (t *thrown) call(b *body, out bool) {
	if t.calls == nil {
		t.calls = map[*body]bool{}
	}
	t.calls[b] = t.calls[b] || out
}

// raisesUnknown notes an error whose number the text does not tell.
func (w *walker) raisesUnknown() {
	w.body.throws.dynamic = w.body.throws.dynamic || !w.swallowed
}

// raisesAgain reports whether statements of a CATCH contain a THROW without a number, which lets the error of the TRY
// out. What decides whether it is run, as in IF ERROR_NUMBER() <> 50010 THROW, is not looked at.
//
// The other ways to let an error out need no look here. RAISERROR (@message, 16, 1), the idiom from before THROW, gives
// the caller 50000 rather than the number of the TRY; and THROW @number makes the body dynamic, see [body.raised].
func raisesAgain(catch []syntax.Stmt) bool {
	for _, s := range catch {
		for t := range syntax.All[*syntax.Throw](s) {
			if t.Number == nil {
				return true
			}
		}
	}
	return false
}

// throw follows THROW, which always ends in the CATCH around or in the caller's error.
//
// Its severity is always 16, so that every CATCH gets it, and it ends the statement list whether or not there is one:
// what follows is not reached.
func (w *walker) throw(s *syntax.Throw, at int) int {
	w.body.graph.pass(at, w.caught)
	if w.body.module == inFunction {
		w.fail(s, ruleStatement, "", "a function cannot THROW")
	}
	if s.Number == nil {
		if w.catches == 0 {
			w.fail(s, ruleError, "write THROW number, message, state", "THROW without a number is for CATCH blocks")
		}
		return nowhere // the number it raises again was noted where it came from
	}
	if t := w.value(s.Number); t.Type.IsCharacter() {
		w.fail(s.Number, ruleError, "write THROW number, message, state", "the first argument of THROW is its number")
		return nowhere
	}
	for _, x := range []syntax.Expr{s.Message, s.State} {
		w.value(x)
	}
	// A number in a variable is allowed, and then not known; the header can list what it may be.
	n, ok := intLiteral(s.Number)
	switch {
	case !ok:
		w.raisesUnknown()
	case n < firstUserError || n > math.MaxInt32:
		w.fail(s.Number, ruleError, "", "THROW takes numbers from %d to %d", firstUserError, math.MaxInt32)
	default:
		w.body.throws.add(int32(n), !w.swallowed)
	}
	return nowhere
}

// raiserror follows RAISERROR. With an error's severity it leads to the CATCH around, like THROW. Without one, T-SQL
// goes on with the next statement; but the caller gets an error all the same, so that this way is not one that
// succeeds.
//
// The rules are older than TRY and differ from those of THROW. A text is number 50000; a number stands for a text in
// sys.messages, so that it may also be one below 50000; and the severity is an argument:
//
//	RAISERROR (N'so far %d', 10, 1, @n)     -- a message: the client's message handler gets it
//	RAISERROR (N'no', 16, 1)                -- an error
//	RAISERROR (50123, 20, 1) WITH LOG       -- an error that also ends the connection
func (w *walker) raiserror(s *syntax.Raiserror, at int) int {
	if w.body.module == inFunction {
		w.fail(s, ruleStatement, "", "a function cannot RAISERROR")
	}
	if len(s.Args) < raiserrorParams {
		w.fail(s, ruleError, "", "RAISERROR needs a message, a severity and a state")
		return nowhere
	}
	var message typed
	for i, x := range s.Args {
		t := w.value(x)
		if i == 0 {
			message = t
		}
	}
	// A severity in a variable can mean either: both ways are drawn.
	severity, known := intLiteral(s.Args[1])
	if known && severity < leastSeverity {
		return at // a message, not an error
	}
	fatal := known && severity >= leastFatal
	n, literal := intLiteral(s.Args[0])
	switch {
	case message.Type.IsCharacter(): // also in a variable: a text is always 50000
		w.body.throws.add(firstUserError, fatal || !w.swallowed)
	case !literal:
		w.raisesUnknown()
	case n < firstMessage || n > math.MaxInt32 || n == firstUserError:
		w.fail(s.Args[0], ruleError, "", "RAISERROR takes a text or numbers from %d to %d, other than %d", firstMessage, math.MaxInt32, firstUserError)
	default:
		w.body.throws.add(int32(n), fatal || !w.swallowed)
	}
	w.body.graph.pass(at, w.caught)
	if !known {
		return at
	}
	return nowhere
}

// intLiteral returns the value of an integer literal, with or without a sign.
//
// Nothing is computed: THROW and RAISERROR take constants and variables, no expressions.
func intLiteral(x syntax.Expr) (int64, bool) {
	switch x := x.(type) {
	case *syntax.Paren:
		return intLiteral(x.X)
	case *syntax.Unary:
		n, ok := intLiteral(x.X)
		if x.Op == "-" {
			n = -n
		}
		return n, ok && x.Op != "~"
	case *syntax.Literal:
		n, err := strconv.ParseInt(x.Value, 10, 64)
		return n, err == nil && x.Kind == syntax.IntLiteral
	}
	return 0, false
}

// raised collects what a caller can get from a body and the bodies it calls.
//
// If a number is not known, what a CATCH swallows counts as well: the unknown number may be the one that it kept.
//
//	BEGIN CATCH SET @n = ERROR_NUMBER(); END CATCH
//	IF @n <> 0 THROW @n, N'again', 1;
func (b *body) raised() *thrown {
	all := b.collect(false)
	if all.dynamic {
		all = b.collect(true)
	}
	return all
}

// collect is raised without that doubt: swallowed says whether to count what a CATCH swallows.
func (b *body) collect(swallowed bool) *thrown {
	all := &thrown{}
	seen := map[*body]bool{}
	var visit func(b *body)
	visit = func(b *body) {
		if seen[b] {
			return
		}
		seen[b] = true
		all.dynamic = all.dynamic || b.throws.dynamic
		for n, out := range b.throws.numbers {
			if out || swallowed {
				all.add(n, true)
			}
		}
		for c, out := range b.throws.calls {
			if out || swallowed {
				visit(c)
			}
		}
	}
	visit(b)
	return all
}

// fires notes that the triggers of the table that a statement changes are called.
func (w *walker) fires(s syntax.Stmt) {
	name := changedTable(s)
	if name == nil {
		return
	}
	resolved, err := w.a.resolve(w.e, name)
	if err != nil {
		return // of another database
	}
	for _, trigger := range w.triggers[resolved.Key()] {
		w.body.throws.call(trigger, !w.swallowed)
	}
	w.refuseOutput(s, resolved)
}

// refuseOutput reports an OUTPUT clause that sends rows of a table or a view on which a trigger is enabled for what the
// statement does: the server refuses the statement with error 334.
func (w *walker) refuseOutput(s syntax.Stmt, name catalog.Name) {
	var out *syntax.Output
	var actions []string
	switch s := s.(type) {
	case *syntax.Insert:
		out, actions = s.Output, []string{"INSERT"}
	case *syntax.Update:
		out, actions = s.Output, []string{"UPDATE"}
	case *syntax.Delete:
		out, actions = s.Output, []string{"DELETE"}
	case *syntax.Merge:
		out = s.Output
		for i := range s.Actions {
			actions = append(actions, s.Actions[i].Action)
		}
	}
	for out != nil && out.Into != nil {
		out = out.Then
	}
	if out == nil {
		return
	}
	for _, action := range actions {
		if t := w.cat.Triggered(name, action); t != nil {
			fix := "write OUTPUT … INTO a table variable, and SELECT from that"
			if w.body.name == "" {
				fix = "make it a procedure that writes OUTPUT … INTO a table variable, and selects from that"
			}
			w.fail(out, ruleShape, fix, "OUTPUT without INTO fails here (error 334): %s has the trigger %s for %s", name, t.Name, action)
			return
		}
	}
}

// changedTable returns the name of the table or the view that a statement changes; nil if it is none, or none that has
// a name. UPDATE and DELETE can name their target by an alias of the FROM clause, and all of them by a common table
// expression, so that the table has to be looked up there first:
//
//	UPDATE o SET note = NULL FROM dbo.orders AS o;
//	WITH next AS (SELECT TOP (1) … FROM dbo.orders) DELETE next;
func changedTable(s syntax.Stmt) *syntax.ObjectName {
	var target syntax.TableSource
	var from []syntax.TableSource
	var with []*syntax.CTE
	switch s := s.(type) {
	case *syntax.Insert:
		target, with = s.Target, s.With
	case *syntax.Update:
		target, from, with = s.Target, s.From, s.With
	case *syntax.Delete:
		target, from, with = s.Target, s.From, s.With
	case *syntax.Merge:
		target, with = s.Target, s.With
	}
	ref, ok := target.(*syntax.TableRef)
	if !ok {
		return nil
	}
	name := ref.Name
	for _, src := range from {
		for other := range syntax.All[*syntax.TableRef](src) {
			if len(name.Parts) == 1 && other.Alias != nil && same(other.Alias.Value, name.Parts[0].Value) {
				name = other.Name
				break
			}
		}
	}
	// An expression sees those before it.
	for _, c := range slices.Backward(with) {
		if len(name.Parts) > 1 || !same(c.Name.Value, name.Parts[0].Value) {
			continue
		}
		sel, ok := c.Query.Body.(*syntax.Select)
		if !ok || len(sel.From) != 1 {
			return nil
		}
		below, ok := sel.From[0].(*syntax.TableRef)
		if !ok {
			return nil // of a join, what is changed depends on the columns
		}
		name = below.Name
	}
	return name
}

// sorted lists what was raised in order.
func (t *thrown) sorted() []int32 { return slices.Sorted(maps.Keys(t.numbers)) }
