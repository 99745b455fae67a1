package value

import (
	"strings"
	"unicode/utf8"
)

// Like reports whether a text matches a pattern: % is any text, _ any character, [a-z] one of a set, [^a-z] one that is
// not. After the escape character, if it is not 0, the next one stands for itself. No collation means the default one.
//
// Trailing blanks of the text count, as for nvarchar; see [Pattern.Match] for varchar.
func Like(text, pattern string, escape rune, c *Collation) (bool, error) {
	return CompileLike(pattern, escape, c).Match(text, true), nil
}

// Pattern is a compiled pattern of LIKE.
type Pattern struct {
	collation *Collation
	parts     []likePart
	// never says that nothing matches: a set is not closed, or the escape character stands at the end.
	never bool
}

// likePart is one part of a pattern, which matches one character, or with any, any number of them.
type likePart struct {
	any     bool
	one     bool // any character
	char    rune
	set     []likeRange // if not nil, char does not count
	negated bool
}

// likeRange is a range of characters in brackets.
type likeRange struct{ low, high rune }

// CompileLike prepares a pattern for matching many texts.
func CompileLike(pattern string, escape rune, c *Collation) *Pattern {
	if c == nil {
		c = DefaultCollation
	}
	p := &Pattern{collation: c}
	chars := c.characters(pattern)
	for i := 0; i < len(chars); i++ {
		switch r := chars[i]; {
		case escape != 0 && r == escape:
			i++
			if i == len(chars) {
				p.never = true
				return p
			}
			p.parts = append(p.parts, likePart{char: chars[i]})
		case r == '%':
			if n := len(p.parts); n == 0 || !p.parts[n-1].any {
				p.parts = append(p.parts, likePart{any: true})
			}
		case r == '_':
			p.parts = append(p.parts, likePart{one: true})
		case r == '[':
			part, size := parseSet(chars[i+1:], escape)
			if size == 0 {
				p.never = true
				return p
			}
			p.parts = append(p.parts, part)
			i += size
		default:
			p.parts = append(p.parts, likePart{char: r})
		}
	}
	return p
}

// parseSet reads a set behind its bracket and returns how many characters it took with the closing one; 0 if it is not
// closed. A bracket that closes at once is a member.
func parseSet(chars []rune, escape rune) (part likePart, size int) {
	i := 0
	if i < len(chars) && chars[i] == '^' {
		part.negated = true
		i++
	}
	part.set = []likeRange{}
	for ; i < len(chars); i++ {
		if chars[i] == ']' {
			return part, i + 1
		}
		if escape != 0 && chars[i] == escape && i+1 < len(chars) {
			i++
		}
		low := chars[i]
		if i+2 < len(chars) && chars[i+1] == '-' && chars[i+2] != ']' {
			i += 2
			if escape != 0 && chars[i] == escape && i+1 < len(chars) {
				i++
			}
			part.set = append(part.set, likeRange{low, chars[i]})
			continue
		}
		part.set = append(part.set, likeRange{low, low})
	}
	return part, 0
}

// characters parts a text into what LIKE counts as characters: UTF-16 units, or in a collation with supplementary
// characters, code points.
func (c *Collation) characters(s string) []rune {
	chars := make([]rune, 0, len(s))
	if c.supplementary {
		for i := 0; i < len(s); {
			r, size := DecodeRune(s[i:])
			chars = append(chars, r)
			i += size
		}
		return chars
	}
	units(s, func(u uint16) bool {
		chars = append(chars, rune(u))
		return true
	})
	return chars
}

// Match reports whether a text matches. For char and varchar, trailing blanks of the text may also be missing in the
// pattern.
func (p *Pattern) Match(text string, national bool) bool {
	if p.never {
		return false
	}
	if p.match(text) {
		return true
	}
	return !national && strings.HasSuffix(text, " ") && p.match(trimBlanks(text))
}

func (p *Pattern) match(text string) bool {
	var buffer [64]rune
	if len(text) > len(buffer) || !IsASCII(text) {
		return p.matchParts(p.parts, p.collation.characters(text)) >= 0
	}
	chars := buffer[:0]
	for i := range len(text) {
		chars = append(chars, rune(text[i]))
	}
	return p.matchParts(p.parts, chars) >= 0
}

// matchParts reports by a number that is not negative whether all of a text matches. After a %, what follows it is
// tried at every place, and only the last % need be tried again.
func (p *Pattern) matchParts(parts []likePart, text []rune) int {
	i, j := 0, 0
	retryPart, retryText := -1, 0
	for {
		switch {
		case i < len(parts) && parts[i].any:
			i++
			if i == len(parts) {
				return len(text)
			}
			retryPart, retryText = i, j
			continue
		case i == len(parts) && j == len(text):
			return j
		case i < len(parts) && j < len(text) && p.matches(&parts[i], text[j]):
			i++
			j++
			continue
		}
		if retryPart < 0 || retryText >= len(text) {
			return -1
		}
		retryText++
		i, j = retryPart, retryText
	}
}

// matches reports whether a part matches a character.
func (p *Pattern) matches(part *likePart, r rune) bool {
	if part.one {
		return true
	}
	if part.set == nil {
		return part.char == r || p.collation.compareRunes(part.char, r) == 0
	}
	for _, s := range part.set {
		if s.low == r || s.high == r ||
			p.collation.compareRunes(s.low, r) <= 0 && p.collation.compareRunes(r, s.high) <= 0 {
			return !part.negated
		}
	}
	return part.negated
}

// compareRunes orders two characters.
func (c *Collation) compareRunes(a, b rune) int {
	if a == b {
		return 0
	}
	if c.binary {
		return int(a - b)
	}
	if w := c.words.ascii; w != nil && a < utf8.RuneSelf && b < utf8.RuneSelf {
		x, y := w.rank[a], w.rank[b]
		switch {
		case x != y:
			return int(x) - int(y)
		case x == 0: // control characters have no weight
			return int(a - b)
		case c.ignoreCase:
			return 0
		default:
			return int(w.tertiary[a]) - int(w.tertiary[b])
		}
	}
	if weightless(a) || weightless(b) {
		return int(a - b)
	}
	return c.words.compareExact(string(a), string(b))
}

// weightless reports whether a character can't be compared by a collator: half a surrogate pair.
func weightless(r rune) bool { return r >= 0xD800 && r <= 0xDFFF }
