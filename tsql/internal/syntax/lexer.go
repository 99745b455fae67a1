package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// maxLexErrors is where the lexer gives a file up: what has that many faults is no T-SQL, and a list of a million
// findings helps nobody.
const maxLexErrors = 100

// lex splits a file into tokens, the last of which is a tokenEOF, and comments. Faults are added to found; the text
// with the fault is skipped, so that the parser sees the rest.
// No fault stops it: a string without end must not hide the errors in the rest of the file.
func lex(file *diag.File, found *diag.List) ([]token, []Comment) {
	l := &lexer{
		file:  file,
		text:  file.Text,
		found: found,
		fresh: true,
		blank: true,
		upper: map[string]string{},
		// Dense code has a token every six bytes.
		tokens: make([]token, 0, len(file.Text)/6+8),
	}
	for l.at < len(l.text) && l.errors < maxLexErrors {
		l.step()
	}
	l.at = len(l.text)
	l.start = l.at
	l.emit(tokenEOF, "")
	return l.tokens, l.comments
}

// lexer reads the text once from the beginning to the end; values of tokens are parts of the text, not copies.
type lexer struct {
	file     *diag.File
	text     string
	found    *diag.List
	tokens   []token
	comments []Comment

	start int // where the present token begins
	at    int // the next byte

	fresh   bool // a line has ended since the last token
	blank   bool // nothing but white space stands before `at` in its line, no comment either
	afterGo bool // the last token was a GO; nothing may follow it in its line

	unclosed bool // no ] stands in the rest of the text, so looking for one again is in vain
	errors   int
	upper    map[string]string // upper case of words seen: few words make up a long script
}

// step reads a token, a comment, a line end or other white space.
// What the lexer knows about the present line (fresh, blank, afterGo) changes here and in emit, nowhere else.
func (l *lexer) step() {
	l.start = l.at
	c := l.text[l.at]
	switch {
	case c == '\n':
		l.at++
		l.fresh, l.blank, l.afterGo = true, true, false
		return
	case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
		l.at++
		return
	case c == '-' && l.byteAt(1) == '-':
		l.lineComment()
	case c == '/' && l.byteAt(1) == '*':
		l.blockComment()
	case l.blank && l.sqlcmd():
		// The line is skipped.
	default:
		l.token(c)
	}
	l.blank = false
}

// token reads a token that begins with c.
// Which kind it is shows in the first byte, or two: N'x' is a string and Nx a name, .5 a number and . a mark.
func (l *lexer) token(c byte) {
	switch {
	case (c == 'N' || c == 'n') && l.byteAt(1) == '\'':
		l.at++
		l.quoted('\'', tokenNString, "string")
	case c == '\'':
		l.quoted('\'', tokenString, "string")
	case c == '"':
		l.quoted('"', tokenQuoted, "quoted name")
	case c == '[':
		l.bracketed()
	case isDigit(c), c == '.' && isDigit(l.byteAt(1)):
		l.number()
	case c == '$':
		l.dollar()
	case c == '@':
		l.variable()
	case c < utf8.RuneSelf && isNameByte(c):
		l.word()
	case c < utf8.RuneSelf:
		l.punct()
	default:
		l.unicode()
	}
}

// byteAt returns the byte n places further on, or 0 at the end.
func (l *lexer) byteAt(n int) byte {
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

// span returns where the present token stands so far.
func (l *lexer) span() diag.Span { return diag.Span{From: diag.Pos(l.start), To: diag.Pos(l.at)} }

// fail records a fault. The lexer goes on after it, unlike the parser, which gives the statement up.
func (l *lexer) fail(at diag.Span, fix, format string, args ...any) {
	l.errors++
	l.found.Add(l.file, at, ruleSyntax, fix, format, args...)
}

// emit appends the token that ends before l.at.
// Every token goes through it, so it is the place where what follows a GO in its line is refused.
func (l *lexer) emit(kind tokenKind, value string) {
	if l.afterGo && kind != tokenEOF {
		l.fail(l.span(), "put it on a line of its own, or write [go] if that is a name",
			"only a count and a comment may follow GO in its line")
		// The batch ends all the same; what follows in the line is of no use.
		l.toLineEnd()
		l.afterGo = false
		return
	}
	l.afterGo = kind == tokenGo
	l.tokens = append(l.tokens, token{Span: l.span(), kind: kind, value: value, line: l.fresh})
	l.fresh = false
}

// toLineEnd moves to the end of the present line, before its line feed.
func (l *lexer) toLineEnd() {
	if n := strings.IndexByte(l.text[l.at:], '\n'); n >= 0 {
		l.at += n
	} else {
		l.at = len(l.text)
	}
}

// lineComment reads -- to the end of the line. A carriage return belongs to the line's end.
func (l *lexer) lineComment() {
	l.toLineEnd()
	if l.text[l.at-1] == '\r' {
		l.at--
	}
	l.comments = append(l.comments, Comment{Span: l.span(), Text: l.text[l.start+2 : l.at], Line: true})
}

// blockComment reads a block comment; they nest in T-SQL.
//
//	/* outer /* inner */ still a comment */
func (l *lexer) blockComment() {
	l.at += 2
	for depth := 1; depth > 0; {
		n := strings.IndexAny(l.text[l.at:], "/*\n")
		if n < 0 {
			l.at = len(l.text)
			l.fail(diag.Span{From: diag.Pos(l.start), To: diag.Pos(l.start + 2)}, "close it with */",
				"the comment that begins here "+noEnd)
			return
		}
		l.at += n
		switch {
		case l.text[l.at] == '\n':
			l.fresh, l.afterGo = true, false
			l.at++
		case l.text[l.at] == '/' && l.byteAt(1) == '*':
			depth++
			l.at += 2
		case l.text[l.at] == '*' && l.byteAt(1) == '/':
			depth--
			l.at += 2
		default:
			l.at++
		}
	}
	l.comments = append(l.comments, Comment{Span: l.span(), Text: l.text[l.start+2 : l.at-2]})
}

// sqlcmdCommands are the commands of sqlcmd and of sqlcmd mode that scripts contain.
var sqlcmdCommands = map[string]bool{
	"CONNECT": true, "ED": true, "ERROR": true, "EXIT": true, "HELP": true, "LIST": true, "LISTVAR": true, "ON": true,
	"OUT": true, "PERFTRACE": true, "QUIT": true, "R": true, "RESET": true, "SERVERLIST": true, "SETVAR": true, "XML": true,
}

// sqlcmd refuses a line that sqlcmd would take for itself, and skips it. It is asked only at the beginning of a line.
//
//	:r schema\tables.sql
//	:setvar Schema app
//	!!dir
//
// A label, retry:, has its colon behind it, so a word of the list after the colon is needed.
func (l *lexer) sqlcmd() bool {
	switch {
	case strings.HasPrefix(l.text[l.at:], "!!"):
	case l.text[l.at] == ':':
		end := l.at + 1
		for end < len(l.text) && end < l.at+12 && isLetter(l.text[end]) {
			end++
		}
		if !sqlcmdCommands[strings.ToUpper(l.text[l.at+1:end])] {
			return false
		}
	default:
		return false
	}
	l.toLineEnd()
	l.fail(l.span(), "remove the line; list the files in the configuration instead of :r",
		"commands of sqlcmd are not T-SQL")
	return true
}

// continuation undoes what a string literal has beside doubled quotes: a backslash at a line's end joins the lines.
var continuation = strings.NewReplacer("''", "'", "\\\r\n", "", "\\\n", "")

// quoted reads up to the closing quote; a doubled quote stands for one. l.at is at the opening quote.
// Double quotes hold a name, since QUOTED_IDENTIFIER is ON wherever modules of our time are made.
func (l *lexer) quoted(quote byte, kind tokenKind, what string) {
	open := l.at
	l.at++
	special := false
	for {
		n := strings.IndexByte(l.text[l.at:], quote)
		if n < 0 {
			l.unterminated(open+1, kind, what, string(quote))
			return
		}
		l.at += n + 1
		// The quote ends the string unless it is the first of two.
		if l.byteAt(0) != quote {
			break
		}
		special = true
		l.at++
	}
	value := l.text[open+1 : l.at-1]
	switch {
	case kind == tokenQuoted:
		if special {
			value = strings.ReplaceAll(value, `""`, `"`)
		}
		l.name(value)
		return
	case special || strings.IndexByte(value, '\\') >= 0:
		value = continuation.Replace(value)
	}
	l.emit(kind, value)
}

// noEnd ends the messages about texts that a server would take to be longer than they are taken for here.
const noEnd = "has no end"

// unterminated reports a string or a name without end and takes the rest of its first line for it, so that the
// statements on the lines after it are read.
// Taking the rest of the file, as servers do, would turn all of it into one error.
func (l *lexer) unterminated(content int, kind tokenKind, what, end string) {
	l.fail(diag.Span{From: diag.Pos(l.start), To: diag.Pos(content)}, "close it with "+end,
		"the %s that begins here "+noEnd, what)
	l.at = content
	l.toLineEnd()
	l.emit(kind, strings.TrimSuffix(l.text[content:l.at], "\r"))
}

// bracketed reads [name], in which ]] stands for ].
// An opening bracket inside is a character like others: [a[b]] c] is the name a[b] c.
func (l *lexer) bracketed() {
	open := l.at
	l.at++
	for special := false; ; special = true {
		n := -1
		if !l.unclosed {
			n = strings.IndexByte(l.text[l.at:], ']')
		}
		if n < 0 {
			l.unclosed = true
			l.unterminated(open+1, tokenQuoted, "bracketed name", "]")
			return
		}
		l.at += n + 1
		if l.byteAt(0) != ']' {
			value := l.text[open+1 : l.at-1]
			if special {
				value = strings.ReplaceAll(value, "]]", "]")
			}
			l.name(value)
			return
		}
		l.at++
	}
}

// name emits a quoted name after the checks that hold for both ways of quoting.
func (l *lexer) name(value string) {
	switch {
	case value == "":
		l.fail(l.span(), "strings are written in single quotes", "a name in quotes or brackets is empty")
	case strings.Contains(value, "$("):
		l.failSqlcmdVariable(l.span())
	}
	l.emit(tokenQuoted, value)
}

// failSqlcmdVariable reports $(name), which sqlcmd replaces before a server sees the text.
func (l *lexer) failSqlcmdVariable(at diag.Span) {
	l.fail(at, "write the name itself; a schema can be renamed when the generated code runs",
		"variables of sqlcmd, $(…), are not T-SQL")
}

// number reads 1, 1., .5, 1.5, 1e5, 1.5E-3 and 0xFF.
func (l *lexer) number() {
	kind := tokenInt
	if l.text[l.at] == '0' && (l.byteAt(1) == 'x' || l.byteAt(1) == 'X') {
		kind = tokenBinary
		l.at += 2
		for isHex(l.byteAt(0)) {
			l.at++
		}
	} else {
		if l.decimal() {
			kind = tokenDecimal
		}
		// T-SQL reads 1e as 1e0.
		if c := l.byteAt(0); c == 'e' || c == 'E' {
			kind = tokenFloat
			l.at++
			if c := l.byteAt(0); (c == '+' || c == '-') && isDigit(l.byteAt(1)) {
				l.at++
			}
			l.digits()
		}
	}
	// A server would read 1a as 1 a, a number with an alias. That is never what was meant, other than 1AND and 5MB.
	if r, _ := utf8.DecodeRuneInString(l.text[l.at:]); isNameRune(r) && !l.atKeywordOrUnit() {
		l.fail(diag.Span{From: diag.Pos(l.at), To: diag.Pos(l.at + utf8.RuneLen(r))},
			"put a blank after the number", "a number must not run into a word")
	}
	l.emit(kind, l.text[l.start:l.at])
}

// atKeywordOrUnit reports whether a word is next that nobody takes for the rest of a number: a reserved one, or the
// unit
// of a size.
func (l *lexer) atKeywordOrUnit() bool {
	rest := l.text[l.at:]
	if end := strings.IndexFunc(rest, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
		rest = rest[:end]
	}
	word := strings.ToUpper(rest)
	return isReserved(word) || word == "KB" || word == "MB" || word == "GB" || word == "TB"
}

// decimal reads digits with an optional decimal point and reports whether there was one.
// Both sides of the point may be empty, as in 1. and .5; the callers see to it that one digit is there.
func (l *lexer) decimal() bool {
	l.digits()
	if l.byteAt(0) != '.' {
		return false
	}
	l.at++
	l.digits()
	return true
}

// digits skips decimal digits, of which there may be none.
func (l *lexer) digits() {
	for isDigit(l.byteAt(0)) {
		l.at++
	}
}

// dollarNames are the words that begin with a dollar sign.
var dollarNames = map[string]bool{
	"$ACTION": true, "$IDENTITY": true, "$ROWGUID": true, "$PARTITION": true,
	"$NODE_ID": true, "$EDGE_ID": true, "$FROM_ID": true, "$TO_ID": true,
}

// dollar reads $1.50, $action and its like, and refuses $(variable).
// What else begins with a dollar sign is none of these: $(name) is for sqlcmd to replace.
func (l *lexer) dollar() {
	switch c := l.byteAt(1); {
	case isDigit(c), c == '.' && isDigit(l.byteAt(2)):
		l.at++
		l.decimal()
		l.emit(tokenMoney, l.text[l.start:l.at])
	case c == '(':
		l.at += 2
		for isNameByte(l.byteAt(0)) {
			l.at++
		}
		if l.byteAt(0) == ')' {
			l.at++
		}
		l.failSqlcmdVariable(l.span())
		// A name in its place keeps the parser from complaining about the gap.
		l.emit(tokenQuoted, l.text[l.start:l.at])
	default:
		l.at++
		l.nameRunes()
		value := l.text[l.start:l.at]
		upper := l.toUpper(value)
		if !dollarNames[upper] {
			l.fail(l.span(), "", "%s is neither an amount of money nor one of $action, $identity, $rowguid and $partition",
				strings.ToValidUTF8(clip(value), "?"))
		}
		l.emitWord(value, upper)
	}
}

// variable reads @v and @@v. @@ROWCOUNT and its like are the server's; other names that begin with @@ are those of
// ordinary variables.
func (l *lexer) variable() {
	kind, marks := tokenVariable, 1
	if l.byteAt(1) == '@' {
		marks = 2
	}
	l.at += marks
	l.nameRunes()
	switch name := l.text[l.start+marks : l.at]; {
	case name == "":
		l.fail(l.span(), "", "a variable's name must follow the @")
	case marks == 2 && systemVariables[l.toUpper(name)]:
		kind = tokenSystem
	}
	l.emit(kind, l.text[l.start:l.at])
}

// systemVariables are the variables of the server, without the @@.
var systemVariables = map[string]bool{
	"CONNECTIONS": true, "CPU_BUSY": true, "CURSOR_ROWS": true, "DATEFIRST": true, "DBTS": true, "ERROR": true,
	"FETCH_STATUS": true, "IDENTITY": true, "IDLE": true, "IO_BUSY": true, "LANGID": true, "LANGUAGE": true,
	"LOCK_TIMEOUT": true, "MAX_CONNECTIONS": true, "MAX_PRECISION": true, "MICROSOFTVERSION": true,
	"NESTLEVEL": true, "OPTIONS": true, "PACKET_ERRORS": true, "PACK_RECEIVED": true, "PACK_SENT": true,
	"PROCID": true, "REMSERVER": true, "ROWCOUNT": true, "SERVERNAME": true, "SERVICENAME": true, "SPID": true,
	"TEXTSIZE": true, "TIMETICKS": true, "TOTAL_ERRORS": true, "TOTAL_READ": true, "TOTAL_WRITE": true,
	"TRANCOUNT": true, "VERSION": true,
}

// word reads a name or a keyword, or a GO line.
// GO is a word like others unless it begins a line; then it is the tools' command, whatever the parser would make of
// it.
func (l *lexer) word() {
	l.nameRunes()
	value := l.text[l.start:l.at]
	upper := l.toUpper(value)
	switch {
	case upper != "GO" || !l.fresh:
		l.emitWord(value, upper)
	case !l.blank:
		l.fail(l.span(), "put GO on a line of its own, or write [go] if that is a name",
			"GO must be the first in its line; a comment stands before it")
		l.emit(tokenGo, "")
	default:
		l.separator()
	}
}

// separator reads what may follow GO: a count. That nothing else follows in the line is seen to by emit.
//
//	GO 5   -- the batch five times
func (l *lexer) separator() {
	end := l.at
	for l.byteAt(0) == ' ' || l.byteAt(0) == '\t' {
		l.at++
	}
	from := l.at
	l.digits()
	count := l.text[from:l.at]
	if count == "" {
		l.at = end
	}
	l.emit(tokenGo, count)
}

// emitWord appends a word with its upper case.
func (l *lexer) emitWord(value, upper string) {
	l.emit(tokenWord, value)
	l.tokens[len(l.tokens)-1].upper = upper
}

// toUpper is strings.ToUpper that makes each word only once.
func (l *lexer) toUpper(s string) string {
	u, ok := l.upper[s]
	if !ok {
		u = strings.ToUpper(s)
		l.upper[s] = u
	}
	return u
}

// nameRunes skips what may continue a name.
func (l *lexer) nameRunes() {
	for l.at < len(l.text) {
		if c := l.text[l.at]; c < utf8.RuneSelf {
			if !isNameByte(c) {
				return
			}
			l.at++
			continue
		}
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !isNameRune(r) {
			return
		}
		l.at += size
	}
}

// marks are the operators and punctuation marks, longer ones before their beginnings.
var marks = []string{
	"||=", "<=", ">=", "<>", "!=", "!<", "!>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "||", "<<", ">>", "::",
	"(", ")", ",", ".", ";", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", ":", "{", "}",
}

// spacedComparison returns the comparison of two characters that a text begins with if white space stands between them,
// as in a > = 1, and "" else. To a server they are one operator.
func spacedComparison(text string) string {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if rest == "" || len(rest) == len(text)-1 {
		return ""
	}
	switch m := text[:1] + rest[:1]; m {
	case "<=", ">=", "<>", "!=", "!<", "!>":
		return m
	default:
		return ""
	}
}

// punct reads an operator or a punctuation mark.
func (l *lexer) punct() {
	rest := l.text[l.at:]
	if m := spacedComparison(rest); m != "" {
		l.at += strings.IndexByte(rest[1:], m[1]) + 2
		l.emit(tokenPunct, m)
		return
	}
	for _, m := range marks {
		if strings.HasPrefix(rest, m) {
			l.at += len(m)
			l.emit(tokenPunct, m)
			return
		}
	}
	l.at++
	fix := ""
	switch rest[0] {
	case '`':
		fix = "write names in brackets, [name]"
	case '?':
		fix = "write a named parameter, @name"
	case '!':
		fix = "write <> or NOT"
	}
	l.fail(l.span(), fix, "the character %q has no meaning in T-SQL", rest[:1])
}

// unicode reads what begins with a character beyond ASCII: a name, an amount such as €5, or white space.
func (l *lexer) unicode() {
	r, size := utf8.DecodeRuneInString(l.text[l.at:])
	switch {
	case isNameRune(r):
		l.word()
	case unicode.IsSpace(r):
		l.at += size
	case unicode.Is(unicode.Sc, r) && (isDigit(l.byteAt(size)) || l.byteAt(size) == '.' && isDigit(l.byteAt(size+1))):
		l.at += size
		l.decimal()
		l.emit(tokenMoney, l.text[l.start:l.at])
	default:
		l.at += size
		fix := ""
		if strings.ContainsRune("‘’“”´", r) {
			fix = "a word processor changed the quotes; write ' for strings"
		}
		if r == utf8.RuneError && size == 1 {
			fix = "save the file as UTF-8"
		}
		l.fail(l.span(), fix, "the character %q has no meaning in T-SQL", r)
	}
}

// ASCII only; the Unicode tables are asked where a name may contain more.
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// isNameByte reports whether an ASCII character may continue a name.
// That a name can't begin with a digit, @ or $ has been decided when one of these is asked about.
func isNameByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '#' || c == '@' || c == '$'
}

// isNameRune reports whether a character may continue a name.
// T-SQL names follow Unicode 3.2: letters, digits, and marks that combine with them.
func isNameRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isNameByte(byte(r))
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// clip shortens a name for a message.
// The cut may fall into a character; what prints it repairs that.
func clip(s string) string {
	if len(s) <= 60 {
		return s
	}
	return s[:60] + "…"
}
