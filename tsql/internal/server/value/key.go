package value

import (
	"encoding/binary"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// AppendKey appends the key of a value of type t, which may be NULL. Keys sort byte by byte as Compare orders values,
// NULL before all; with desc, all is the other way round. Keys of values that Compare as equal are the same. A key
// tells where it ends, so the keys of several columns can follow one another.
func AppendKey(dst []byte, v Value, t Type, desc bool) []byte {
	start := len(dst)
	if v.kind == Null {
		dst = append(dst, 0)
	} else {
		dst = appendKey(append(dst, 1), v, t)
	}
	if desc {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}

func appendKey(dst []byte, v Value, t Type) []byte {
	switch v.kind {
	case Int, Money, Time, DateTime:
		return appendInt(dst, v.n)
	case String:
		return appendTextKey(dst, v.s, t)
	case Bytes:
		return appendEscaped(dst, strings.TrimRight(v.s, "\x00"))
	case Date:
		return binary.BigEndian.AppendUint32(dst, uint32(v.days)^1<<31)
	case DateTime2, DateTimeOffset:
		return appendInt(binary.BigEndian.AppendUint32(dst, uint32(v.days)^1<<31), v.n)
	case Decimal:
		if int(v.scale) != t.Scale {
			v = rescale(v, t.Scale, false)
		}
		return appendDecimalKey(dst, v)
	case Float:
		return appendFloatKey(dst, v.Float())
	case GUID:
		for _, i := range guidOrder {
			dst = append(dst, v.s[i])
		}
		return dst
	case Variant:
		return appendEscaped(dst, string(variantKey(v)))
	default:
		return dst
	}
}

// appendInt appends an integer so that bytes sort as integers do.
func appendInt(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n)^1<<63)
}

// appendFloatKey appends a float so that bytes sort as floats do. There is one zero.
func appendFloatKey(dst []byte, f float64) []byte {
	n := math.Float64bits(f + 0) // -0 + 0 is 0
	if n>>63 == 1 {
		n = ^n
	} else {
		n |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, n)
}

// appendDecimalKey appends a coefficient in 17 bytes, in two's complement with the sign turned.
func appendDecimalKey(dst []byte, v Value) []byte {
	if v.more == nil {
		fill := uint64(v.n >> 63)
		dst = append(dst, byte(fill)^0x80)
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, fill), uint64(v.n))
	}
	n := v.more.big
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 136))
	}
	var b [17]byte
	if n.BitLen() > 136 { // more than any decimal has
		return append(dst, 0xFF)
	}
	n.FillBytes(b[:])
	b[0] ^= 0x80
	return append(dst, b[:]...)
}

// appendEscaped appends bytes and an end that sorts before whatever could follow instead.
func appendEscaped(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, 0)
		if i < 0 {
			return append(append(dst, s...), 0, 1)
		}
		dst = append(append(dst, s[:i]...), 0, 0xFF)
		s = s[i+1:]
	}
}

// appendTextKey appends the key of a text of type t.
func appendTextKey(dst []byte, s string, t Type) []byte {
	c := t.Collation
	if c == nil {
		c = DefaultCollation
	}
	if !c.binary {
		return c.wordsKey(dst, s)
	}
	s = trimBlanks(s)
	if c.oldBinary && inUTF16(t) {
		return c.appendCodes(dst, s, true)
	}
	start := len(dst)
	for i := range len(s) {
		b := s[i]
		switch {
		case b > ' ' && b < utf8.RuneSelf:
			dst = append(dst, b+2)
		case b < ' ':
			dst = append(dst, b)
		default:
			// What is not plain is left to the slow way, from the beginning.
			return c.appendCodes(dst[:start], s, inUTF16(t))
		}
	}
	return append(dst, keyEnd)
}

// wordsKey appends the key of a text in the order of a language. Such keys contain zeros.
func (c *Collation) wordsKey(dst []byte, s string) []byte {
	var buffer [256]byte
	for _, b := range c.words.key(buffer[:0], s) {
		if b == 0 {
			dst = append(dst, 0, 0xFF)
		} else {
			dst = append(dst, b)
		}
	}
	return append(dst, 0, 1)
}

// Codes in keys. A shorter text counts as if blanks followed, so where a text ends, the other one's next character
// that is no blank decides, and a key must tell at each blank what that will be: whether it sorts before the blank or
// after. The end sorts between the two. Characters before and after the blank make room for the three.
const (
	keyBlankBefore = 0x20 // a blank before a run of blanks and a character that sorts before the blank
	keyEnd         = 0x21
	keyBlankAfter  = 0x22
)

// appendCodes appends the key of a text without trailing blanks by the order of its codes.
func (c *Collation) appendCodes(dst []byte, s string, national bool) []byte {
	x := c.order(national)
	x.s, x.first = s, true
	blanks := 0
	for {
		blank := x.blank()
		code, ok := x.next()
		if ok && code == blank {
			blanks++
			continue
		}
		if !ok {
			return append(dst, keyEnd)
		}
		for ; blanks > 0; blanks-- {
			if code < blank {
				dst = append(dst, keyBlankBefore)
			} else {
				dst = append(dst, keyBlankAfter)
			}
		}
		dst = appendCode(dst, code, blank)
	}
}

// appendCode appends one code that is no blank. As in UTF-8, the first byte tells how many follow, and codes sort as
// their bytes do.
func appendCode(dst []byte, code, blank uint32) []byte {
	if blank != ' ' { // the old order, whose blank is 0x2000: three bytes for all
		if code < blank {
			return append(dst, 0x10, byte(code>>8), byte(code))
		}
		return append(dst, 0x30, byte(code>>8), byte(code))
	}
	switch {
	case code < ' ':
		return append(dst, byte(code))
	case code < 0x80:
		return append(dst, byte(code)+2)
	case code < 0x800:
		return append(dst, 0xC0|byte(code>>6), 0x80|byte(code&0x3F))
	case code < 0x10000:
		return append(dst, 0xE0|byte(code>>12), 0x80|byte(code>>6&0x3F), 0x80|byte(code&0x3F))
	default:
		return append(dst, 0xF0|byte(code>>18), 0x80|byte(code>>12&0x3F), 0x80|byte(code>>6&0x3F), 0x80|byte(code&0x3F))
	}
}
