package provider

import (
	"bytes"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string.
func (r *reader) text() string {
	start, end, escaped := r.quoted()
	switch {
	case escaped:
		return r.putBack(unescape(r.data[start:end]))
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

// plainLen returns the length of the longest prefix without '"', '\\' and
// control characters, which both directions can copy as it is. Payloads are
// almost all such text, so it looks at eight bytes at a time.
func plainLen[T string | []byte](s T) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if m := specialBytes(load64(s[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// load64 is a little-endian load; the compiler makes it one instruction.
func load64[T string | []byte](s T) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// specialBytes returns a word whose lowest set bit is the top bit of the first
// special byte of x, 0 if there is none. Subtracting borrows from a higher byte
// only where a lower one is special, so the lowest bit is always right.
func specialBytes(x uint64) uint64 {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x) & tops
}
