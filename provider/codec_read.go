package provider

import (
	"bytes"
	"fmt"
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
// case. Once err is set the cursor may still move, but what is read is worthless.
type reader struct {
	data []byte
	// small is data as a string when it is short, else "".
	small string
	pos   int
	depth int
	// key is the field being read, for the text of an error.
	key string
	err error
	// apart is the text that the document leaves out; nil when it has been read, or there is none.
	apart *string
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
func (r *reader) pairs() []CarriedMessage {
	var pairs []CarriedMessage
	r.open('[')
	for r.err == nil && !r.next(']') {
		if pairs != nil {
			r.expect(',')
			r.space()
		}
		r.open('[')
		var pair CarriedMessage
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
