package analyze

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// ruleError is the id of findings about error numbers.
const ruleError = "error"

const (
	firstUserError  = 50000 // the least number that THROW takes; also that of RAISERROR with a text
	firstMessage    = 13000 // the least number that RAISERROR takes
	leastSeverity   = 11    // from here on RAISERROR is an error rather than a message
	raiserrorParams = 3     // message, severity and state come first
)

// thrown is what the statements of one body raise. A number counts also if a CATCH of the body never lets it out: what a
// CATCH does depends on values.
type thrown struct {
	numbers map[int32]bool
	dynamic bool // some number is not known from the text
}

// add notes a number.
func (t *thrown) add(n int32) {
	if t.numbers == nil {
		t.numbers = map[int32]bool{}
	}
	t.numbers[n] = true
}

// throw follows THROW, which always ends in the CATCH around or in the caller's error.
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
	if t := w.a.scalar(w.e, s.Number); t.Type.IsCharacter() {
		w.fail(s.Number, ruleError, "write THROW number, message, state", "the first argument of THROW is its number")
		return nowhere
	}
	for _, x := range []syntax.Expr{s.Message, s.State} {
		w.a.scalar(w.e, x)
	}
	// A number in a variable is allowed, and then not known; the header can list what it may be.
	n, ok := intLiteral(s.Number)
	switch {
	case !ok:
		w.body.throws.dynamic = true
	case n < firstUserError || n > math.MaxInt32:
		w.fail(s.Number, ruleError, "", "THROW takes numbers from %d to %d", firstUserError, math.MaxInt32)
	default:
		w.body.throws.add(int32(n))
	}
	return nowhere
}

// raiserror follows RAISERROR. With an error's severity it leads to the CATCH around, like THROW. Without one, T-SQL
// goes on with the next statement; but the caller gets an error all the same, so that this way is not one that succeeds.
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
		t := w.a.scalar(w.e, x)
		if i == 0 {
			message = t
		}
	}
	// A severity in a variable can mean either: both ways are drawn.
	severity, known := intLiteral(s.Args[1])
	if known && severity < leastSeverity {
		return at // a message, not an error
	}
	n, literal := intLiteral(s.Args[0])
	switch {
	case message.Type.IsCharacter(): // also in a variable: a text is always 50000
		w.body.throws.add(firstUserError)
	case !literal:
		w.body.throws.dynamic = true
	case n < firstMessage || n > math.MaxInt32 || n == firstUserError:
		w.fail(s.Args[0], ruleError, "", "RAISERROR takes a text or numbers from %d to %d, other than %d", firstMessage, math.MaxInt32, firstUserError)
	default:
		w.body.throws.add(int32(n))
	}
	w.body.graph.pass(at, w.caught)
	if !known {
		return at
	}
	return nowhere
}

// intLiteral returns the value of an integer literal, with or without a sign.
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

// raised collects what a body and the procedures it calls can raise.
func (b *body) raised() *thrown {
	all := &thrown{}
	seen := map[*body]bool{}
	var visit func(b *body)
	visit = func(b *body) {
		if seen[b] {
			return
		}
		seen[b] = true
		all.dynamic = all.dynamic || b.throws.dynamic
		for n := range b.throws.numbers {
			all.add(n)
		}
		for _, c := range b.calls {
			visit(c)
		}
	}
	visit(b)
	return all
}

// An errorBook holds what the header comments say about error numbers.
type errorBook struct {
	byNumber map[int32]bookedError
	byName   map[string]bookedError
}

type bookedError struct {
	directive.ErrorName
	file *diag.File
}

// enter notes the errors that a header lists. One number has one name and one meaning, wherever it is listed.
func (b *errorBook) enter(file *diag.File, listed []directive.ErrorName, found *diag.List) {
	for _, e := range listed {
		// The first header that lists a number decides; the others must say the same.
		other, known := b.byNumber[e.Number]
		named, taken := b.byName[e.Name]
		switch {
		case known && other.Name != e.Name:
			found.Add(file, e.Span, ruleError, "use one name everywhere", "error %d is called %s here and %s at %s",
				e.Number, e.Name, other.Name, site{other.file, other.Span})
		case known && e.Text != "" && other.Text != "" && e.Text != other.Text:
			found.Add(file, e.Span, ruleError, "use one text everywhere, or another number", "error %d means something else at %s: %s",
				e.Number, site{other.file, other.Span}, other.Text)
		case !known && taken:
			found.Add(file, e.Span, ruleError, "use another name", "the name %s belongs to error %d, see %s",
				e.Name, named.Number, site{named.file, named.Span})
		case !known || other.Text == "":
			b.byNumber[e.Number] = bookedError{e, file}
			b.byName[e.Name] = bookedError{e, file}
		}
	}
}

// list checks the errors in a procedure's header against those that it can raise. Where a number is in a variable, the
// header says which it can be.
func (p *program) list(b *body, file *diag.File, header directive.Header) {
	p.book.enter(file, header.Errors, p.a.found)
	raised := b.raised()
	for _, e := range header.Errors {
		switch {
		case raised.numbers[e.Number]:
		case raised.dynamic:
			b.throws.add(e.Number)
		default:
			p.a.found.Add(file, e.Span, ruleError, "remove the line",
				"nothing in this procedure, or in those it calls, raises error %d", e.Number)
		}
	}
}

// errorNumbers returns every number that a procedure or a query raises, with the names from the headers.
func (p *program) errorNumbers(out *Program) []ErrorNumber {
	var numbers []int32
	for _, proc := range out.Procedures {
		numbers = append(numbers, proc.Errors...)
	}
	for _, q := range out.Queries {
		numbers = append(numbers, q.Errors...)
	}
	slices.Sort(numbers)
	var all []ErrorNumber
	for _, n := range slices.Compact(numbers) {
		named := p.book.byNumber[n]
		at := catalog.Place{File: named.file, Span: named.Span}
		all = append(all, ErrorNumber{Place: at, Number: n, Name: named.Name, Text: named.Text})
	}
	return all
}

// fires notes that the triggers of the table that a statement changes are called. What is changed through a common
// table expression counts for nothing.
func (w *walker) fires(s syntax.Stmt) {
	var target syntax.TableSource
	var from []syntax.TableSource
	switch s := s.(type) {
	case *syntax.Insert:
		target = s.Target
	case *syntax.Update:
		target, from = s.Target, s.From
	case *syntax.Delete:
		target, from = s.Target, s.From
	case *syntax.Merge:
		target = s.Target
	}
	ref, ok := target.(*syntax.TableRef)
	if !ok {
		return
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
	if resolved, err := w.a.resolve(w.e, name); err == nil {
		w.body.calls = append(w.body.calls, w.triggers[resolved.Key()]...)
	}
}

// sorted lists what was raised in order.
func (t *thrown) sorted() []int32 { return slices.Sorted(maps.Keys(t.numbers)) }
