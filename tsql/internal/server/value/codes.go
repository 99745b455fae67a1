package value

import (
	"cmp"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// codeOrder says what a binary collation compares of a text.
type codeOrder uint8

const (
	byUnit  codeOrder = iota // UTF-16 units: nvarchar in _BIN2
	byOld                    // the first UTF-16 unit, then bytes, the low one before the high one: nvarchar in _BIN
	byPage                   // bytes of a code page: varchar
	byPoint                  // bytes of UTF-8, which sort as the code points do: varchar in _UTF8
)

// codes walks over what a binary collation compares of a text.
type codes struct {
	s     string
	order codeOrder
	page  *charmap.Charmap
	first bool
	half  uint16 // the second half of a surrogate pair that is still to come
}

func (c *Collation) order(national bool) codes {
	switch {
	case national && c.oldBinary:
		return codes{order: byOld}
	case national:
		return codes{order: byUnit}
	case c.utf8:
		return codes{order: byPoint}
	default:
		return codes{order: byPage, page: c.page()}
	}
}

// next returns the next code and whether there is one.
func (x *codes) next() (code uint32, ok bool) {
	if x.half != 0 {
		code, x.half = x.turn(x.half), 0
		return code, true
	}
	if x.s == "" {
		return 0, false
	}
	r, size := rune(x.s[0]), 1
	if r >= utf8.RuneSelf {
		r, size = DecodeRune(x.s)
	}
	x.s = x.s[size:]
	switch {
	case x.order == byPoint:
		return uint32(r), true
	case x.order == byPage && r >= utf8.RuneSelf:
		return uint32(encodeRune(r, x.page)), true
	case x.order == byPage:
		return uint32(r), true
	case r > 0xFFFF:
		r -= 0x10000
		x.half = 0xDC00 | uint16(r&0x3FF)
		return x.turn(0xD800 | uint16(r>>10)), true
	default:
		return x.turn(uint16(r)), true
	}
}

// turn swaps the bytes of a unit in the old binary order, except for the first one's.
func (x *codes) turn(u uint16) uint32 {
	if x.order != byOld {
		return uint32(u)
	}
	if x.first {
		x.first = false
		return uint32(u)
	}
	return uint32(u<<8 | u>>8)
}

// blank is the code of a blank at the place where x is.
func (x *codes) blank() uint32 {
	if x.order == byOld && !x.first {
		return ' ' << 8
	}
	return ' '
}

// compareCodes orders two texts by code. The shorter one counts as if blanks followed.
func compareCodes(a, b string, order codes, first bool) int {
	x, y := order, order
	x.s, y.s, x.first, y.first = a, b, first, first
	for {
		blank := x.blank()
		p, okP := x.next()
		q, okQ := y.next()
		if !okP && !okQ {
			return 0
		}
		if !okP {
			p = blank
			x.first = false
		}
		if !okQ {
			q = blank
			y.first = false
		}
		if p != q {
			return cmp.Compare(p, q)
		}
	}
}
