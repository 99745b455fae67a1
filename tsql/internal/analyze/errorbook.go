package analyze

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
)

// An errorBook holds what the header comments say about error numbers.
//
// A header says:
//
//	-- Errors:
//	--   50010 lock_lost: the lock has expired
//
// and Go gets ErrLockLost. The numbers are shared by all procedures of a package, as the sentinels are.
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
//
// A header that lists what is not raised any more would keep a sentinel alive that no caller can ever see.
func (p *program) list(b *body, file *diag.File, header directive.Header) {
	p.book.enter(file, header.Errors, p.a.found)
	raised := b.raised()
	for _, e := range header.Errors {
		_, swallowed := b.throws.numbers[e.Number]
		switch {
		case raised.numbers[e.Number]:
		case raised.dynamic:
			b.throws.add(e.Number, true)
		case swallowed:
			p.a.found.Add(file, e.Span, ruleError, "remove the line",
				"a CATCH of this procedure swallows error %d, so that no caller gets it", e.Number)
		default:
			p.a.found.Add(file, e.Span, ruleError, "remove the line",
				"nothing in this procedure, or in those it calls, raises error %d", e.Number)
		}
	}
}

// errorNumbers returns every number that a procedure or a query raises, with the names from the headers.
//
// A number in a book alone is none: it is listed in the header of a procedure that is excluded.
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
