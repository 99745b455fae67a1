package value

import (
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// EncodeVarchar appends a text in the code page of a collation, as char and varchar store it. No collation means the
// default one. What the code page does not have becomes what SQL Server takes for it: a letter without its accent, or a
// question mark.
func EncodeVarchar(dst []byte, s string, c *Collation) []byte {
	if c == nil {
		c = DefaultCollation
	}
	if c.utf8 {
		return appendUTF8(dst, s)
	}
	for i := 0; i < len(s); {
		if s[i] < 0x80 {
			dst = append(dst, s[i])
			i++
			continue
		}
		r, size := DecodeRune(s[i:])
		i += size
		b := encodeRune(r, c.page())
		dst = append(dst, b)
		if r > 0xFFFF { // two units, each of them unknown
			dst = append(dst, b)
		}
	}
	return dst
}

// DecodeVarchar is the text of bytes in the code page of a collation.
func DecodeVarchar(b []byte, c *Collation) string {
	if c == nil {
		c = DefaultCollation
	}
	if c.utf8 {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	dst := make([]byte, 0, len(b))
	for _, x := range b {
		if x < 0x80 {
			dst = append(dst, x)
			continue
		}
		dst = AppendRune(dst, decodeByte(x, c.page()))
	}
	return string(dst)
}

// toPage is a text as varchar holds it: what the code page does not have is replaced.
func toPage(s string, c *Collation) string {
	if IsASCII(s) {
		return s
	}
	return DecodeVarchar(EncodeVarchar(nil, s, c), c)
}

// varcharLen is the number of bytes of a text in the code page of a collation.
func varcharLen(s string, c *Collation) int {
	if c != nil && c.utf8 {
		return len(s)
	}
	return UTF16Len(s)
}

// cutVarchar returns the longest beginning of a text that takes at most n bytes. No character is cut in half.
func cutVarchar(s string, n int, c *Collation) string {
	if c == nil || !c.utf8 {
		return Slice16(s, 0, n)
	}
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// appendUTF8 appends a text as UTF-8; half a surrogate pair becomes the replacement character.
func appendUTF8(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := DecodeRune(s[i:])
		if r >= 0xD800 && r <= 0xDFFF {
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// encodeRune is the byte of a character in a code page.
func encodeRune(r rune, page *charmap.Charmap) byte {
	if b, ok := page.EncodeRune(r); ok {
		return b
	}
	// The bytes that a code page leaves open are taken for the characters of the same number, as Windows does for the
	// control characters among them.
	if r >= 0x80 && r <= 0xFF && page.DecodeByte(byte(r)) == '\uFFFD' {
		return byte(r)
	}
	if r > 0xFFFF || r >= 0xD800 && r <= 0xDFFF {
		return '?'
	}
	// The best fit: a letter with a mark loses it, a wide form becomes a narrow one. What decomposes into more than one
	// letter has none.
	best := byte('?')
	for i, d := range []rune(norm.NFKD.String(string(r))) {
		if i == 0 {
			b, ok := page.EncodeRune(d)
			if !ok {
				return '?'
			}
			best = b
			continue
		}
		if d < 0x300 || d > 0x36F { // no combining mark
			return '?'
		}
	}
	return best
}

// decodeByte is the character of a byte in a code page.
func decodeByte(b byte, page *charmap.Charmap) rune {
	if r := page.DecodeByte(b); r != '\uFFFD' {
		return r
	}
	return rune(b)
}
