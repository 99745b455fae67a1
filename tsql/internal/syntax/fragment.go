package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

// ParseColumns reads a list of columns in parentheses, "(id bigint not null, name nvarchar(50))", from a part of a file
// that is not itself T-SQL, such as a comment. Nothing may follow it there. Positions are those in the file.
func ParseColumns(file *diag.File, span diag.Span) ([]ColumnDef, diag.List) {
	var columns []ColumnDef
	p := fragment(file, span)
	p.try(func() {
		p.expect("(")
		columns = commaList(p, p.resultColumn)
		p.expect(")")
		if p.peek().kind != tokenEOF {
			p.failExpected("nothing after the list")
		}
	})
	return columns, p.found
}

// ParseType reads a data type as [ParseColumns] does. It returns the span of what follows the type; the type is nil if
// there are findings.
func ParseType(file *diag.File, span diag.Span) (*TypeName, diag.Span, diag.List) {
	var t *TypeName
	p := fragment(file, span)
	p.try(func() {
		t = p.typeName()
		span.From = t.To
	})
	return t, span, p.found
}

// fragment returns a parser of a part of a file. The lexer knows only whole files, so the part is made one, and what
// comes
// out is shifted to where it stands in the real file. Comments in the part are dropped.
func fragment(file *diag.File, span diag.Span) *parser {
	p := &parser{file: file}
	p.tokens, _ = lex(diag.NewFile(file.Name, file.Slice(span)), &p.found)
	for i := range p.tokens {
		p.tokens[i].Span = shift(p.tokens[i].Span, span.From)
	}
	for i := range p.found {
		p.found[i].File, p.found[i].Span = file, shift(p.found[i].Span, span.From)
	}
	return p
}

// shift moves a span of the part to its place in the file.
func shift(s diag.Span, by diag.Pos) diag.Span { return diag.Span{From: s.From + by, To: s.To + by} }

// try runs a production whose failure ends the reading of a fragment. A fragment has no next statement to go on
// with, so
// recoverStmt has no business here.
func (p *parser) try(production func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(syntaxError); !ok {
				panic(r)
			}
		}
	}()
	production()
}
