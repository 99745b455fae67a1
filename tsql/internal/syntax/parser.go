package syntax

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// ruleSyntax is the id of every finding of this package.
const ruleSyntax = "syntax"

// maxFindings is where the parser gives a file up: a file of another language would yield one finding per line.
const maxFindings = 200

// maxDepth bounds how deep expressions, queries and blocks may nest, so that hostile text cannot exhaust the stack. One
// level of a script is several calls deep here.
const maxDepth = 200

// Parse reads a file. The tree holds every statement that could be read; findings tell of all that could not.
func Parse(file *diag.File) (*Script, diag.List) {
	return ParseExcept(file, func(*ObjectName) bool { return false })
}

// ParseExcept is Parse for scripts in which some modules need not be understood: what is wrong in one of which except
// is true is no finding, and costs no more than that module. Text that has no end (a string, a comment) is a finding
// even there: to a server all that follows in the file belongs to it.
func ParseExcept(file *diag.File, except func(name *ObjectName) bool) (*Script, diag.List) {
	p := &parser{file: file, except: except}
	p.tokens, p.comments = lex(file, &p.lexical)
	script := p.script()
	script.Comments = p.comments
	p.found = append(p.lexical, p.found...)
	p.found.Sort()
	return script, p.found
}

// parser walks over the tokens of one file. Productions return nodes; on an error they call fail, which unwinds to the
// statement that is being read. A panic does that, within this package only: passing errors through each of some two
// hundred productions would hide the grammar behind them.
//
// A production is called with its first token next, and leaves the first token that isn't its own. None goes back.
type parser struct {
	file     *diag.File
	tokens   []token // ends with a tokenEOF
	comments []Comment
	at       int // index of the next token
	depth    int
	links    int // operators of the expression that is being read
	tallest  int // height of the highest expression within it
	joins    int // joins and set operations of the outermost query
	queries  int // how many queries are being read, one within another
	found    diag.List
	lexical  diag.List              // what the lexer found, before all else
	except   func(*ObjectName) bool // the modules whose mistakes don't count
	passing  bool                   // the present batch is one of them
	native   bool                   // the present batch is a natively compiled module
}

// syntaxError is what fail panics with; only statement recovers it.
type syntaxError struct{}

// peek returns the next token.
func (p *parser) peek() token { return p.tokens[p.at] }

// peekN returns the token n tokens after the next, or the end of the file. T-SQL needs three at most, apart from
// qualified names, whose length nothing bounds.
func (p *parser) peekN(n int) token {
	return p.tokens[min(p.at+n, len(p.tokens)-1)]
}

// next consumes a token. At the end of the file it stays there.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEOF {
		p.at++
	}
	return t
}

// accept consumes the given words or marks if they all come next, in this order; else it consumes none of them.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if !p.peekN(i).is(w) {
			return false
		}
	}
	p.at += len(words)
	return true
}

// expect consumes the given words or marks, in this order, or fails.
func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.peek().is(w) {
			p.failExpected(w)
		}
		p.next()
	}
}

// commaList reads one or more elements with commas between them. Few lists of T-SQL may end with a comma or be empty;
// the productions of those that may have loops of their own.
func commaList[T any](p *parser, element func() T) []T {
	list := []T{element()}
	for p.accept(",") {
		list = append(list, element())
	}
	return list
}

// fail reports an error at a place and gives up the present statement.
func (p *parser) fail(at diag.Span, fix, format string, args ...any) {
	p.found.Add(p.file, at, ruleSyntax, fix, format, args...)
	panic(syntaxError{})
}

// failExpected reports that something else than the next token was expected. Several candidates are joined by "or".
func (p *parser) failExpected(what ...string) {
	t := p.peek()
	p.fail(t.Span, "", "expected %s, found %s", strings.Join(what, " or "), t.describe())
}

// from returns the span from a start to the end of the last consumed token. An element that turned out to be empty
// has an
// empty span at its start rather than one that ends before it.
func (p *parser) from(start diag.Span) diag.Span {
	if p.at == 0 {
		return start
	}
	return diag.Span{From: start.From, To: max(p.tokens[p.at-1].To, start.From)}
}

// enter counts one level of nesting; the caller defers leave. When it fails, the deferred calls run while the statement
// is given up, and recoverStmt restores the depth in any case.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.peek().Span, "split the statement", "nested more than %d levels deep", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

// script reads batches until the end of the file. GO is a command of the tools, not of the server: each batch is
// sent by
// itself, and variables end with it.
func (p *parser) script() *Script {
	script := &Script{File: p.file}
	for {
		batch := p.batch()
		if len(batch.Stmts) > 0 || batch.Torn {
			script.Batches = append(script.Batches, batch)
		}
		if p.peek().kind == tokenEOF {
			return script
		}
		p.next() // GO
	}
}

// report is fail without giving up the statement, for what is wrong though it is clear what was meant.
func (p *parser) report(at diag.Span, fix, format string, args ...any) {
	p.found.Add(p.file, at, ruleSyntax, fix, format, args...)
}
