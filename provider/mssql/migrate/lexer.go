package migrate

import "strings"

// tokenKind is what the lexer tells apart: no more than rewriting and splitting need.
type tokenKind int

const (
	// tokenSpace is white space, at most to the end of the line.
	tokenSpace tokenKind = iota
	// tokenComment is one comment of either form.
	tokenComment
	// tokenText is a string literal, with its N.
	tokenText
	// tokenQuoted is an identifier in brackets or double quotes.
	tokenQuoted
	// tokenWord is a keyword, a regular identifier, a variable or a number.
	tokenWord
	// tokenSymbol is any other character.
	tokenSymbol
	// tokenGo is a line that separates batches, with its line break.
	tokenGo
)

// token is a piece of T-SQL. The texts of all tokens, joined, are the source.
type token struct {
	kind tokenKind
	text string
	// line counts from 1.
	line int
	// open is set on a comment, literal or identifier that the source ends within.
	open bool
}

// significant reports whether the token is part of a statement.
func (t token) significant() bool {
	return t.kind != tokenSpace && t.kind != tokenComment && t.kind != tokenGo
}

// is reports whether the token is the keyword.
func (t token) is(keyword string) bool {
	return t.kind == tokenWord && strings.EqualFold(t.text, keyword)
}

// name returns the identifier that the token spells, or "" if it is none.
func (t token) name() string {
	switch t.kind {
	case tokenWord:
		return t.text
	case tokenQuoted:
		return unquote(t.text)
	default:
		return ""
	}
}

// literal returns the value of a string literal.
func (t token) literal() string {
	return unquote(strings.TrimLeft(t.text, "Nn"))
}

// unquote takes off the delimiters and undoubles the closing one.
func unquote(text string) string {
	if len(text) < 2 {
		return ""
	}
	end := text[len(text)-1:]
	return strings.ReplaceAll(text[1:len(text)-1], end+end, end)
}

// lexer cuts T-SQL into tokens. It never fails: what does not end is open.
type lexer struct {
	source string
	at     int
	line   int
}

// tokens returns all tokens of the source, with QUOTED_IDENTIFIER ON.
func tokens(source string) []token {
	l := &lexer{source: source, line: 1}
	var list []token
	for l.at < len(source) {
		start := l.at
		kind, closed := l.next()
		text := source[start:l.at]
		list = append(list, token{kind: kind, text: text, line: l.line, open: !closed})
		l.line += strings.Count(text, "\n")
	}
	return list
}

// next moves past one token. Separators come first: they are lines, not words, and
// only known where no literal or comment is open, which is here.
func (l *lexer) next() (kind tokenKind, closed bool) {
	rest := l.source[l.at:]
	if l.at == 0 || l.source[l.at-1] == '\n' {
		if n := separatorLength(rest); n > 0 {
			l.at += n
			return tokenGo, true
		}
	}
	switch c := rest[0]; {
	case isSpace(c):
		l.at += spaceLength(rest)
		return tokenSpace, true
	case strings.HasPrefix(rest, "--"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		l.at += n
		return tokenComment, true
	case strings.HasPrefix(rest, "/*"):
		return tokenComment, l.skipBlockComment()
	case c == '\'':
		return tokenText, l.skipDelimited(1, '\'')
	case (c == 'N' || c == 'n') && strings.HasPrefix(rest[1:], "'"):
		return tokenText, l.skipDelimited(2, '\'')
	case c == '[':
		return tokenQuoted, l.skipDelimited(1, ']')
	case c == '"':
		return tokenQuoted, l.skipDelimited(1, '"')
	case isWordByte(c):
		n := 1
		for n < len(rest) && isWordByte(rest[n]) {
			n++
		}
		l.at += n
		return tokenWord, true
	default:
		l.at++
		return tokenSymbol, true
	}
}

// skipBlockComment moves past a comment that may hold others.
func (l *lexer) skipBlockComment() (closed bool) {
	depth := 0
	for l.at < len(l.source) {
		switch rest := l.source[l.at:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.at += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.at += 2
			if depth == 0 {
				return true
			}
		default:
			l.at++
		}
	}
	return false
}

// skipDelimited moves past what begins with opening bytes and ends with a delimiter
// that is not doubled.
func (l *lexer) skipDelimited(opening int, end byte) (closed bool) {
	for l.at += opening; l.at < len(l.source); l.at++ {
		if l.source[l.at] != end {
			continue
		}
		if l.at+1 < len(l.source) && l.source[l.at+1] == end {
			l.at++
			continue
		}
		l.at++
		return true
	}
	return false
}

// separatorLength returns the length of the line at the beginning of text, with its
// line break, if it says GO or GO with a count; otherwise 0.
func separatorLength(text string) int {
	line, _, found := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) == 0 || len(fields) > 2 || !strings.EqualFold(fields[0], "GO") {
		return 0
	}
	if len(fields) == 2 && strings.Trim(fields[1], "0123456789") != "" {
		return 0
	}
	if found {
		return len(line) + 1
	}
	return len(line)
}

// spaceLength returns how much white space text begins with, at most to the end of the
// line: the next one may be a separator.
func spaceLength(text string) int {
	for i := range len(text) {
		if !isSpace(text[i]) {
			return i
		}
		if text[i] == '\n' {
			return i + 1
		}
	}
	return len(text)
}

func isSpace(c byte) bool {
	return c == ' ' || '\t' <= c && c <= '\r'
}

// isWordByte reports whether c may be part of a word. A byte beyond ASCII is taken for
// a letter, so that no character is cut.
func isWordByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= 0x80:
		return true
	default:
		return c == '_' || c == '@' || c == '#' || c == '$'
	}
}
