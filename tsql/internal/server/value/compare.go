package value

import (
	"bytes"
	"cmp"
	"strings"
)

// Compare orders two values of type t, neither of which is NULL. Trailing blanks of text and trailing zeros of binaries
// don't count. Values of sql_variant are ordered by the families of their types first.
func Compare(a, b Value, t Type) int {
	if a.kind != b.kind {
		return compareMixed(a, b)
	}
	switch a.kind {
	case Int, Money, Time, DateTime:
		return cmp.Compare(a.n, b.n)
	case String:
		return compareText(a.s, b.s, t)
	case Bytes:
		return compareBytes(a.s, b.s)
	case Date:
		return cmp.Compare(a.days, b.days)
	case DateTime2, DateTimeOffset:
		if a.days != b.days {
			return cmp.Compare(a.days, b.days)
		}
		return cmp.Compare(a.n, b.n)
	case Decimal:
		return compareDecimals(a, b)
	case Float:
		return cmp.Compare(a.Float(), b.Float())
	case GUID:
		return compareGUIDs(a.s, b.s)
	case Variant:
		return bytes.Compare(variantKey(a), variantKey(b))
	default:
		return 0
	}
}

// compareMixed is Compare for values that are held differently, which the caller should have converted.
func compareMixed(a, b Value) int {
	if a.kind == Variant || b.kind == Variant {
		return bytes.Compare(variantKey(a), variantKey(b))
	}
	x, y := asDecimal(a), asDecimal(b)
	switch {
	case x.kind == Decimal && y.kind == Decimal:
		return compareDecimals(x, y)
	case x.kind == Float && y.kind == Decimal:
		return cmp.Compare(x.Float(), decimalFloat(y))
	case x.kind == Decimal && y.kind == Float:
		return cmp.Compare(decimalFloat(x), y.Float())
	default:
		return cmp.Compare(a.kind, b.kind)
	}
}

// compareText orders two texts of type t.
func compareText(a, b string, t Type) int {
	c := t.Collation
	if c == nil {
		c = DefaultCollation
	}
	return c.compare(a, b, inUTF16(t))
}

// inUTF16 reports whether values of a character type are held in UTF-16, which decides about their order by codes.
func inUTF16(t Type) bool { return groupOf(t.Kind) != charGroup }

func (c *Collation) compare(a, b string, national bool) int {
	if !c.binary {
		return c.words.compare(a, b)
	}
	i, n := 0, min(len(a), len(b))
	for i < n && a[i] == b[i] && a[i] < 0x80 {
		i++
	}
	a, b = a[i:], b[i:]
	if a == "" || b == "" || a[0] < 0x80 && b[0] < 0x80 && !c.oldBinary {
		if r, ok := compareEnds(a, b); ok {
			return r
		}
	}
	return compareCodes(a, b, c.order(national), i == 0)
}

// compareEnds decides a comparison by code at the first difference, where at least one text ends or both go on with a
// character below 128. The shorter text counts as if blanks followed.
func compareEnds(a, b string) (result int, ok bool) {
	switch {
	case a != "" && b != "":
		return cmp.Compare(a[0], b[0]), a[0] != b[0]
	case a == "" && b == "":
		return 0, true
	}
	rest, sign := a, 1
	if a == "" {
		rest, sign = b, -1
	}
	rest = strings.TrimLeft(rest, " ")
	switch {
	case rest == "":
		return 0, true
	case rest[0] < ' ':
		return -sign, true
	default:
		return sign, rest[0] < 0x80
	}
}

// compareBytes orders binaries as if the shorter one went on with zeros.
func compareBytes(a, b string) int {
	n := min(len(a), len(b))
	if r := strings.Compare(a[:n], b[:n]); r != 0 {
		return r
	}
	switch {
	case strings.Trim(a[n:], "\x00") != "":
		return 1
	case strings.Trim(b[n:], "\x00") != "":
		return -1
	default:
		return 0
	}
}

// guidOrder is the weight of the bytes of a uniqueidentifier, from the most significant, in the order of their
// printing: the last six decide first, then the two before them, then the first three groups, each from its end.
var guidOrder = [16]int{10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0}

func compareGUIDs(a, b string) int {
	for _, i := range guidOrder {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}
