package placeholder

import (
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The ways of writing a placeholder, by the character with which it begins. Outside of strings, comments and names in
// brackets the first two are no T-SQL. a < b, c, d > e looks like the third: isTemplate tells.
var forms = map[byte]*regexp.Regexp{
	'{': regexp.MustCompile(`^\{([A-Za-z_]\w*)\}`),
	'$': regexp.MustCompile(`^\$\(([A-Za-z_][\w-]*)\)`),
	'<': regexp.MustCompile(`^<([@#\w][^<>,\n]*),([^<>,\n(]*(?:\([^<>()\n]*\))?\s*),([^<>\n]*)>`),
}

// An edit is a placeholder with what stands in its place, or a line of sqlcmd with nothing.
type edit struct {
	diag.Edit
	name, written string
	missing       bool // there is no value
}

// A place says in what a placeholder stands.
type place int

const (
	inCode place = iota
	inName       // in brackets: what looks like a template without a default is a name
	// In strings and comments what looks like a placeholder may be none: a message with {name}, a page with
	// $(document). It is replaced if it has a value, and left alone else.
	inText
)

// A scanner goes through a script. Of T-SQL it knows no more than where strings, names and comments begin and end.
type scanner struct {
	filler *Filler
	text   string
	at     int
	edits  []edit
}

// scan goes through the whole script.
func (s *scanner) scan() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case s.sqlcmd():
		case strings.HasPrefix(rest, "--"):
			s.until(inText, endOfLine(rest))
		case strings.HasPrefix(rest, "/*"):
			s.until(inText, endOfComment(rest))
		case rest[0] == '\'', rest[0] == '"':
			s.until(inText, endOfQuoted(rest, rest[0]))
		case rest[0] == '[':
			s.until(inName, endOfQuoted(rest, ']'))
		default:
			s.step(inCode)
			s.skip(len(s.text), "{$<-/'\"[:")
		}
	}
}

// until goes through the next length bytes, which stand in one place.
func (s *scanner) until(where place, length int) {
	for end := s.at + length; s.at < end; {
		s.skip(end, "{$<")
		if s.at < end {
			s.step(where)
		}
	}
}

// skip goes to the next of some characters, or to the end.
func (s *scanner) skip(end int, to string) {
	if s.at >= end {
		return
	}
	if n := strings.IndexAny(s.text[s.at:end], to); n >= 0 {
		s.at += n
	} else {
		s.at = end
	}
}

// step replaces the placeholder that begins here, or goes one byte further.
func (s *scanner) step(where place) {
	form := forms[s.text[s.at]]
	if form == nil {
		s.at++
		return
	}
	m := form.FindStringSubmatch(s.text[s.at:])
	if m == nil || !s.replace(where, m) {
		s.at++
	}
}

// replace replaces a placeholder, given what its form has found, and reports whether it is one that has a value or
// needs one.
func (s *scanner) replace(where place, m []string) bool {
	e := edit{written: m[0], name: strings.TrimSpace(m[1])}
	e.At = diag.Span{From: diag.Pos(s.at), To: diag.Pos(s.at + len(m[0]))}
	var known bool
	switch m[0][0] {
	case '{':
		e.Text, known = s.filler.value(e.name)
	case '$':
		if e.Text, known = s.filler.value(e.name); !known {
			e.Text, known = s.filler.variables[fold(e.name)]
		}
	default:
		own := strings.TrimSpace(m[3])
		if !isTemplate(strings.TrimSpace(m[2]), own) {
			return false
		}
		// One without a default is to be filled in by hand. In a text it may stay empty.
		if e.Text, known = s.filler.value(e.name); !known && (own != "" || where == inText) {
			e.Text, known = own, true
		}
	}
	if !known && (where == inText || where == inName && m[0][0] == '<') {
		return false
	}
	if !known {
		e.Text, e.missing = stopgap(m[0], e.name, s.text[s.at+len(m[0]):]), true
	}
	s.edits = append(s.edits, e)
	s.at += len(m[0])
	return true
}

// isTemplate tells <name, type, default> from comparisons, as in IIF(a <b, c, CASE WHEN d> e …): the type is one or is
// left out, and the default is something whole.
func isTemplate(kind, own string) bool {
	if kind != "" && !strings.EqualFold(kind, "sysname") {
		word, _, _ := strings.Cut(kind, "(")
		if _, err := sqltype.Parse(strings.TrimSpace(word), nil); err != nil {
			return false
		}
	}
	return strings.Count(own, "(") == strings.Count(own, ")") && !strings.Contains(strings.ToUpper(own), "CASE ")
}

// stopgap returns what stands in the place of a placeholder without a value, so that what follows can be read: its
// name, or nothing where the rest of a name follows.
func stopgap(written, name, rest string) string {
	if written[0] == '{' && rest != "" && (strings.IndexByte("[{\"#_", rest[0]) >= 0 || isLetter(rest[0])) {
		return ""
	}
	return strings.ReplaceAll(name, " ", "_")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// endOfLine returns the length of the line that a text begins with.
func endOfLine(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// endOfComment returns the length of the block comment that a text begins with; they nest.
func endOfComment(text string) int {
	depth, at := 1, 2
	for at < len(text) && depth > 0 {
		switch {
		case strings.HasPrefix(text[at:], "/*"):
			depth, at = depth+1, at+2
		case strings.HasPrefix(text[at:], "*/"):
			depth, at = depth-1, at+2
		default:
			at++
		}
	}
	return at
}

// endOfQuoted returns the length of the string or the name that a text begins with. One without end goes to the end of
// its line, as for the parser.
func endOfQuoted(text string, quote byte) int {
	for at := 1; ; {
		n := strings.IndexByte(text[at:], quote)
		if n < 0 {
			return endOfLine(text)
		}
		at += n + 1
		if at == len(text) || text[at] != quote {
			return at
		}
		at++ // doubled, which stands for one
	}
}
