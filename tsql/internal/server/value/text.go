package value

import (
	"unicode/utf8"
)

// Text is WTF-8 in Go strings: UTF-8, except that half of a surrogate pair, which nvarchar may hold alone, is encoded
// in three bytes as if it were a character. Two halves that meet are always one character of four bytes.

// UTF16Len returns the number of UTF-16 units of a text, which is what T-SQL counts as characters.
func UTF16Len(s string) int {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x80, c >= 0xC0 && c < 0xF0:
			n++
		case c >= 0xF0:
			n += 2
		}
	}
	return n
}

// IsASCII reports whether a text has only characters below 128.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// DecodeRune returns the first character of a text and the bytes it takes. In contrast to utf8.DecodeRuneInString, half
// a surrogate pair is a character. An empty text has none.
func DecodeRune(s string) (r rune, size int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	if r, size = utf8.DecodeRuneInString(s); r != utf8.RuneError || size > 1 {
		return r, size
	}
	if isHalf(s) {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return utf8.RuneError, 1
}

// isHalf reports whether a text begins with half a surrogate pair.
func isHalf(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}

// AppendRune appends a character, which may be half a surrogate pair. The second half after a first one makes them one
// character.
func AppendRune(dst []byte, r rune) []byte {
	if r < 0xD800 || r > 0xDFFF {
		return utf8.AppendRune(dst, r)
	}
	if n := len(dst); r >= 0xDC00 && n >= 3 && dst[n-3] == 0xED && dst[n-2] >= 0xA0 && dst[n-2] <= 0xAF {
		high := rune(0xD000) | rune(dst[n-2]&0x3F)<<6 | rune(dst[n-1]&0x3F)
		return utf8.AppendRune(dst[:n-3], 0x10000+(high-0xD800)<<10+(r-0xDC00))
	}
	return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// Concat joins two texts. It is + for WTF-8: halves of a surrogate pair that meet become one character.
func Concat(a, b string) string {
	if len(a) >= 3 && len(b) >= 3 && b[0] == 0xED && isHalf(a[len(a)-3:]) && isHalf(b) {
		r, _ := DecodeRune(b)
		return string(AppendRune([]byte(a), r)) + b[3:]
	}
	return a + b
}

// units calls yield for each UTF-16 unit of a text until it returns false.
func units(s string, yield func(u uint16) bool) {
	for i := 0; i < len(s); {
		if c := s[i]; c < 0x80 {
			if !yield(uint16(c)) {
				return
			}
			i++
			continue
		}
		r, size := DecodeRune(s[i:])
		i += size
		if r < 0x10000 {
			if !yield(uint16(r)) {
				return
			}
			continue
		}
		r -= 0x10000
		if !yield(0xD800|uint16(r>>10)) || !yield(0xDC00|uint16(r&0x3FF)) {
			return
		}
	}
}

// EncodeUTF16 appends a text in UTF-16, little-endian, as nvarchar stores it.
func EncodeUTF16(dst []byte, s string) []byte {
	units(s, func(u uint16) bool {
		dst = append(dst, byte(u), byte(u>>8))
		return true
	})
	return dst
}

// DecodeUTF16 is the text of UTF-16, little-endian. A last odd byte is left out.
func DecodeUTF16(b []byte) string {
	dst := make([]byte, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		u := uint16(b[i]) | uint16(b[i+1])<<8
		if u < 0x80 {
			dst = append(dst, byte(u))
			continue
		}
		dst = AppendRune(dst, rune(u))
	}
	return string(dst)
}

// Slice16 returns at most n UTF-16 units of a text from the unit start on. A surrogate pair may be cut in half.
func Slice16(s string, start, n int) string {
	if n <= 0 {
		return ""
	}
	if IsASCII(s) {
		if start >= len(s) {
			return ""
		}
		return s[start:min(len(s), start+min(n, len(s)))]
	}
	from, half := unitOffset(s, start)
	var dst []byte
	if half != 0 { // start is within a pair
		dst = AppendRune(nil, half)
		n--
	}
	to, half := unitOffset(s[from:], n)
	if half == 0 {
		if dst == nil {
			return s[from : from+to]
		}
		return string(append(dst, s[from:from+to]...))
	}
	// The cut is within a pair: its first half stays. unitOffset stands behind the pair.
	r, _ := utf8.DecodeRuneInString(s[from+to-4:])
	dst = append(dst, s[from:from+to-4]...)
	return string(AppendRune(dst, 0xD800+(r-0x10000)>>10))
}

// unitOffset returns the byte where the unit n of a text begins, or the end of the text. If the unit is the second half
// of a pair, it returns the byte behind the pair, and that half.
func unitOffset(s string, n int) (at int, half rune) {
	for at < len(s) && n > 0 {
		c := s[at]
		switch {
		case c < 0x80:
			at++
			n--
		case c >= 0xF0:
			r, size := utf8.DecodeRuneInString(s[at:])
			at += size
			n -= 2
			if n < 0 {
				return at, 0xDC00 + (r-0x10000)&0x3FF
			}
		default:
			_, size := DecodeRune(s[at:])
			at += size
			n--
		}
	}
	return at, 0
}

// trimBlanks cuts trailing blanks off, which don't count in comparisons.
func trimBlanks(s string) string {
	n := len(s)
	for n > 0 && s[n-1] == ' ' {
		n--
	}
	return s[:n]
}
