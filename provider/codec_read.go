package provider

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxDepth is how deep objects and arrays may nest. The reference's reader
	// has the same limit. Only unknown values can come near it.
	maxDepth = 127
	// smallSize bounds the documents whose strings share one copy of the text,
	// which saves an allocation per field. In a larger one a short string would
	// keep a large payload alive.
	smallSize = 4 << 10
)

// reader is a cursor over one JSON document. encoding/json cannot stand in: it
// accepts duplicate keys and lone surrogates, and matches keys without regard to
// case. Every method does nothing once err is set, except moving the cursor.
type reader struct {
	data []byte
	// small is data as a string when it is short, else "".
	small string
	pos   int
	depth int
	// key is the field being read, for the text of an error.
	key string
	err error
}

func newReader(data []byte) reader {
	r := reader{data: data}
	if len(data) <= smallSize {
		r.small = string(data)
	}
	if !utf8.Valid(data) {
		r.pos = firstInvalid(data)
		r.fail("text is not valid UTF-8")
	}
	return r
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// finish checks that nothing follows the document and returns the first error.
func (r *reader) finish() error {
	r.key = ""
	if r.space(); r.err == nil && r.pos < len(r.data) {
		r.fail("text after the end of the document")
	}
	return r.err
}

// fail records the first error, at the cursor. Messages must not quote text.
func (r *reader) fail(message string) {
	if r.err != nil {
		return
	}
	if r.key == "" {
		r.err = fmt.Errorf("byte %d: %s: %w", r.pos, message, ErrCorrupt)
		return
	}
	r.err = fmt.Errorf("byte %d, key %q: %s: %w", r.pos, r.key, message, ErrCorrupt)
}

// lookup reads a name and returns what it stands for, or after an error the zero
// T.
func lookup[T any](r *reader, what string, known map[string]T) T {
	start := r.pos
	name := r.name()
	value, ok := known[string(name)]
	if !ok && r.err == nil {
		r.pos = start
		r.fail("unknown " + what + " " + shorten(string(name)))
	}
	return value
}

// space skips white space.
func (r *reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// next reports whether c is at the cursor.
func (r *reader) next(c byte) bool { return r.pos < len(r.data) && r.data[r.pos] == c }

// expect skips white space and takes c.
func (r *reader) expect(c byte) {
	r.space()
	if !r.next(c) {
		r.fail("expected '" + string(c) + "'")
		return
	}
	r.pos++
}

// colon takes the colon of a member and moves to its value.
func (r *reader) colon() {
	r.expect(':')
	r.space()
}

// open enters an object or array that begins with c.
func (r *reader) open(c byte) {
	r.expect(c)
	if r.depth++; r.depth > maxDepth {
		r.fail("values are nested too deep")
	}
	r.space()
}

// close leaves it.
func (r *reader) close(c byte) {
	r.expect(c)
	r.depth--
}

// only leaves an object that may hold one member.
func (r *reader) only() {
	if r.space(); r.next(',') {
		r.fail("a second key stands beside the variant's name")
	}
	r.close('}')
}

// hasKey reports whether the quoted key is at the cursor.
func (r *reader) hasKey(key string) bool {
	start, end := r.pos+1, r.pos+1+len(key)
	return end < len(r.data) && r.data[r.pos] == '"' && string(r.data[start:end]) == key && r.data[end] == '"'
}

// literal takes word if it is next.
func (r *reader) literal(word string) bool {
	if r.err != nil || !bytes.HasPrefix(r.data[r.pos:], []byte(word)) {
		return false
	}
	r.pos += len(word)
	return true
}

func (r *reader) null() bool { return r.literal("null") }

func (r *reader) flag() bool {
	if r.literal("true") {
		return true
	}
	if !r.literal("false") {
		r.fail("expected true or false")
	}
	return false
}

// number reads an unsigned integer without sign, fraction and exponent.
func (r *reader) number(limit uint64) uint64 {
	var n uint64
	i := r.pos
	for ; i < len(r.data) && isDigit(r.data[i]); i++ {
		d := uint64(r.data[i] - '0')
		if n > (limit-d)/10 {
			r.fail("integer is too large")
			return 0
		}
		n = n*10 + d
	}
	switch {
	case i == r.pos,
		i > r.pos+1 && r.data[r.pos] == '0',
		i < len(r.data) && (r.data[i] == '.' || r.data[i] == 'e' || r.data[i] == 'E'):
		r.fail("expected an unsigned integer")
		return 0
	}
	r.pos = i
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// pairs reads [["name","data"],…]. An empty list is nil.
func (r *reader) pairs() []Pair {
	var pairs []Pair
	r.open('[')
	for r.err == nil && !r.next(']') {
		if pairs != nil {
			r.expect(',')
			r.space()
		}
		r.open('[')
		var pair Pair
		pair.Name = r.text()
		r.expect(',')
		r.space()
		pair.Data = r.text()
		r.close(']')
		r.space()
		pairs = append(pairs, pair)
	}
	r.close(']')
	return pairs
}

// text reads a string.
func (r *reader) text() string {
	start, end, escaped := r.quoted()
	switch {
	case escaped:
		return unescape(r.data[start:end])
	case r.small != "":
		return r.small[start:end]
	}
	return string(r.data[start:end])
}

// name reads a string that is only compared.
func (r *reader) name() []byte {
	start, end, escaped := r.quoted()
	if escaped {
		return []byte(unescape(r.data[start:end]))
	}
	return r.data[start:end]
}

// quoted takes a string, checks its escapes, and returns where its content is.
func (r *reader) quoted() (start, end int, escaped bool) {
	if r.err != nil {
		return 0, 0, false
	}
	if !r.next('"') {
		r.fail("expected a string")
		return 0, 0, false
	}
	r.pos++
	start = r.pos
	for {
		r.pos += plainLen(r.data[r.pos:])
		switch {
		case r.pos == len(r.data):
			r.fail("string does not end")
			return 0, 0, false
		case r.data[r.pos] == '"':
			r.pos++
			return start, r.pos - 1, escaped
		case r.data[r.pos] == '\\':
			escaped = true
			if !r.escape() {
				return 0, 0, false
			}
		default:
			r.fail("control character in a string")
			return 0, 0, false
		}
	}
}

// escape takes one escape, or two that form a surrogate pair.
func (r *reader) escape() bool {
	rest := r.data[r.pos:]
	if len(rest) > 1 && strings.IndexByte(`"\/bfnrt`, rest[1]) >= 0 {
		r.pos += 2
		return true
	}
	c, ok := unicodeEscape(rest)
	if !ok {
		r.fail("invalid escape in a string")
		return false
	}
	r.pos += escapeLen
	if !utf16.IsSurrogate(c) {
		return true
	}
	low, _ := unicodeEscape(rest[escapeLen:])
	if utf16.DecodeRune(c, low) == utf8.RuneError {
		r.pos -= escapeLen
		r.fail("lone surrogate in a string")
		return false
	}
	r.pos += escapeLen
	return true
}

// escapeLen is the length of \uXXXX.
const escapeLen = 6

func unicodeEscape(s []byte) (c rune, ok bool) {
	if len(s) < escapeLen || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, digit := range s[2:escapeLen] {
		switch {
		case isDigit(digit):
			digit -= '0'
		case 'a' <= digit && digit <= 'f':
			digit -= 'a' - 10
		case 'A' <= digit && digit <= 'F':
			digit -= 'A' - 10
		default:
			return 0, false
		}
		c = c<<4 | rune(digit)
	}
	return c, true
}

// unescape resolves escapes that quoted has checked.
func unescape(s []byte) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			b.Write(s)
			return b.String()
		}
		b.Write(s[:n])
		s = s[n:]
		if s[1] != 'u' {
			b.WriteByte(shortEscape(s[1]))
			s = s[2:]
			continue
		}
		c, _ := unicodeEscape(s)
		s = s[escapeLen:]
		if utf16.IsSurrogate(c) {
			low, _ := unicodeEscape(s)
			c = utf16.DecodeRune(c, low)
			s = s[escapeLen:]
		}
		b.WriteRune(c)
	}
}

func shortEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// skip takes a value of any kind. Recursion is bounded by maxDepth.
func (r *reader) skip() {
	if r.err != nil {
		return
	}
	switch {
	case r.next('{'):
		r.skipList('{', '}', func() {
			r.quoted()
			r.colon()
			r.skip()
		})
	case r.next('['):
		r.skipList('[', ']', r.skip)
	case r.next('"'):
		r.quoted()
	case r.literal("true"), r.literal("false"), r.literal("null"):
	default:
		r.skipNumber()
	}
}

func (r *reader) skipList(first, last byte, element func()) {
	r.open(first)
	for n := 0; r.err == nil && !r.next(last); n++ {
		if n > 0 {
			r.expect(',')
			r.space()
		}
		element()
		r.space()
	}
	r.close(last)
}

// skipNumber takes a number of any form JSON knows.
func (r *reader) skipNumber() {
	if r.next('-') {
		r.pos++
	}
	zero := r.next('0')
	if n := r.digits(); n == 0 || zero && n > 1 {
		r.fail("expected a value")
		return
	}
	if r.next('.') {
		r.pos++
		if r.digits() == 0 {
			r.fail("expected a digit")
		}
	}
	if r.next('e') || r.next('E') {
		r.pos++
		if r.next('+') || r.next('-') {
			r.pos++
		}
		if r.digits() == 0 {
			r.fail("expected a digit")
		}
	}
}

// digits takes digits and returns how many.
func (r *reader) digits() int {
	start := r.pos
	for r.pos < len(r.data) && isDigit(r.data[r.pos]) {
		r.pos++
	}
	return r.pos - start
}
