package function

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Searching in text goes character by character, as the collation tells characters apart.

// matcher says which characters a collation takes for the same.
type matcher struct {
	binary       bool
	foldCase     bool
	foldAccents  bool
	foldWidth    bool
	byCharacters bool // a character beyond U+FFFF counts as one, not as two
}

// matcherOf returns the matcher of a collation.
func matcherOf(c *value.Collation) matcher {
	if c == nil {
		c = value.DefaultCollation
	}
	m := matcher{byCharacters: c.Supplementary()}
	if c.IsBinary() {
		m.binary = true
		return m
	}
	name := strings.ToUpper(c.Name) + "_"
	m.foldCase, m.foldAccents = c.IgnoresCase(), strings.Contains(name, "_AI_")
	m.foldWidth = !strings.Contains(name, "_WS_") && !strings.HasPrefix(name, "SQL_")
	return m
}

// fold returns what stands for a character in comparisons.
func (m matcher) fold(r rune) rune {
	if r < utf8.RuneSelf {
		if m.foldCase && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if m.foldWidth {
		if narrow := width.LookupRune(r).Folded(); narrow != 0 {
			r = narrow
		}
	}
	if m.foldAccents && utf8.ValidRune(r) {
		var buf [utf8.UTFMax]byte
		if d := norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).Decomposition(); len(d) > 0 {
			r, _ = utf8.DecodeRune(d)
		}
	}
	if m.foldCase {
		r = unicode.ToLower(unicode.ToUpper(r))
	}
	return r
}

// folded returns a text for [matcher.matches].
func (m matcher) folded(s string) []rune {
	runes := make([]rune, 0, len(s))
	for s != "" {
		r, size := value.DecodeRune(s)
		runes = append(runes, m.fold(r))
		s = s[size:]
	}
	return runes
}

// matches returns the bytes of s that a folded part takes at its beginning, or -1 if it isn't there.
func (m matcher) matches(s string, part []rune) int {
	n := 0
	for _, want := range part {
		if n >= len(s) {
			return -1
		}
		r, size := value.DecodeRune(s[n:])
		if r != want && m.fold(r) != want {
			return -1
		}
		n += size
	}
	return n
}

// finder looks for one part in many places.
type finder struct {
	m      matcher
	part   string
	folded []rune
}

func (m matcher) finder(part string) finder {
	f := finder{m: m, part: part}
	if !m.binary {
		f.folded = m.folded(part)
	}
	return f
}

// next returns the bytes where the part is in s for the first time; from is -1 if it isn't.
func (f finder) next(s string) (from, to int) {
	if f.m.binary {
		from = strings.Index(s, f.part)
		return from, from + len(f.part)
	}
	for i := 0; i < len(s); {
		if n := f.m.matches(s[i:], f.folded); n >= 0 {
			return i, i + n
		}
		_, size := value.DecodeRune(s[i:])
		i += size
	}
	return -1, -1
}

// count returns how many characters a text has, as T-SQL counts them.
func (m matcher) count(s string) int {
	if !m.byCharacters {
		return value.UTF16Len(s)
	}
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// slice returns at most n characters of a text from the one at start on, both as T-SQL counts them.
func (m matcher) slice(s string, start, n int) string {
	if !m.byCharacters || value.IsASCII(s) {
		return value.Slice16(s, start, n)
	}
	from := m.offset(s, start)
	return s[from : from+m.offset(s[from:], max(n, 0))]
}

// offset returns the byte where the n-th character begins, for matchers by characters.
func (m matcher) offset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := value.DecodeRune(s[i:])
		i += size
	}
	return i
}
