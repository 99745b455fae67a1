package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// tokenKind tells tokens apart. Keywords have no kind of their own: which words are reserved depends on where they
// stand,
// so that the parser compares words, and only [isReserved] keeps names apart.
type tokenKind int

const (
	tokenEOF      tokenKind = iota
	tokenWord               // an unquoted name or keyword, #temp and ##temp included
	tokenQuoted             // [name] or "name"; value is the name
	tokenVariable           // @name; value keeps the @
	tokenSystem             // @@name
	tokenString             // 'x'; value is the content
	tokenNString            // N'x'
	tokenInt
	tokenDecimal
	tokenFloat
	tokenMoney
	tokenBinary
	tokenPunct // an operator or a punctuation mark; value is its text
	tokenGo    // a batch separator; value is the count, if any
)

// A token is one lexical element. Comments are not tokens; the lexer keeps them apart.
type token struct {
	diag.Span
	kind  tokenKind
	value string
	upper string // of a word: upper case, for comparison with keywords
	line  bool   // first token of its line, which is where reading goes on after an error
}

// is reports whether the token is the given keyword or punctuation mark. Quoted names are never keywords.
func (t token) is(s string) bool {
	switch t.kind {
	case tokenWord:
		return t.upper == s
	case tokenPunct:
		return t.value == s
	default:
		return false
	}
}

// isAny reports whether the token is one of the given keywords or punctuation marks.
func (t token) isAny(words ...string) bool {
	return slices.ContainsFunc(words, t.is)
}

// describe names the token as an error message does. Strings are not quoted: they may be long, and may be secrets.
func (t token) describe() string {
	switch t.kind {
	case tokenEOF:
		return "the end of the file"
	case tokenGo:
		return "the end of the batch"
	case tokenString, tokenNString:
		return "a string"
	case tokenQuoted:
		return "[" + clip(t.value) + "]"
	default:
		return strings.ToValidUTF8(clip(t.value), "?")
	}
}
