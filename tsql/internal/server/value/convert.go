package value

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Convert returns a value of one type as one of another: implicit conversion, CAST, and CONVERT with a style. Text and
// binaries that are too long are cut off without a word, as CAST does.
//
// Style 0 is what conversions do that have none. For CONVERT(…, 0) of a date, a time, a datetime2 or a datetimeoffset,
// pass 100: their conversion without a style is 121.
func Convert(v Value, from, to Type, style int) (Value, error) {
	if v.kind == Null || from.Type == to.Type && (from.Collation == to.Collation || groupOf(to.Kind) != charGroup) {
		return v, nil
	}
	if v.kind == Variant && to.Kind != sqltype.SQLVariant {
		v, from = v.Variant()
	}
	if isCLR(to.Kind) && from.Kind != to.Kind {
		return Value{}, refused("a value of " + string(to.Kind))
	}
	switch groupOf(to.Kind) {
	case bitGroup, intGroup:
		return toInt(v, from, to)
	case xmlGroup:
		return toXML(v, from, to, style)
	case ncharGroup, charGroup:
		return toText(v, from, to, style)
	case binaryGroup:
		return toBytes(v, from, to, style)
	case decimalGroup:
		return toDecimal(v, from, to)
	case moneyGroup:
		return toMoney(v, from, to)
	case floatGroup:
		return toFloat(v, from, to)
	case dateGroup, timeGroup, datetimeGroup, datetime2Group, offsetGroup:
		return toDate(v, from, to, style)
	case guidGroup:
		return toGUID(v, from, to)
	case variantGroup:
		return toVariant(v, from, to)
	default:
		return v, nil
	}
}

// never is the error for types that do not convert to each other. What is compiled is checked before; a sql_variant
// is not.
func never(from, to Type) error {
	return fault.New(529, baseName(from), baseName(to))
}

// baseName is the name of a type in messages, without facets.
func baseName(t Type) string {
	switch t.Kind {
	case sqltype.Decimal:
		return "numeric"
	case sqltype.RowVersion:
		return "timestamp"
	default:
		return string(t.Kind)
	}
}

// overflow is error 8115.
func overflow(source string, to Type) error { return fault.New(8115, source, baseName(to)) }

// toVariant puts a value into a sql_variant, which holds everything but the large types.
func toVariant(v Value, from, to Type) (Value, error) {
	if v.kind == Variant {
		return v, nil
	}
	if from.IsLOB() || from.Kind == sqltype.RowVersion {
		return Value{}, never(from, to)
	}
	return OfVariant(v, from), nil
}

// toGUID makes a uniqueidentifier.
func toGUID(v Value, from, to Type) (Value, error) {
	switch v.kind {
	case GUID:
		return v, nil
	case String:
		g, ok := parseGUID(v.s)
		if !ok {
			return Value{}, fault.New(8169)
		}
		return OfGUID(g), nil
	case Bytes:
		var b [16]byte
		copy(b[:], v.s)
		return OfGUID(GUIDFromStored(b)), nil
	default:
		return Value{}, never(from, to)
	}
}

// GUIDToStored turns the order in which a uniqueidentifier is printed into the one in which it is stored: in TDS and as
// a binary, the first three groups have their low bytes first.
func GUIDToStored(b [16]byte) [16]byte {
	b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
	b[4], b[5] = b[5], b[4]
	b[6], b[7] = b[7], b[6]
	return b
}

// GUIDFromStored is the inverse of GUIDToStored.
func GUIDFromStored(b [16]byte) [16]byte { return GUIDToStored(b) }

// parseGUID reads a uniqueidentifier, with or without braces. What follows the 36 characters is ignored, as the server
// does.
func parseGUID(s string) (g [16]byte, ok bool) {
	if s != "" && s[0] == '{' {
		if len(s) < 38 || s[37] != '}' {
			return g, false
		}
		s = s[1:37]
	}
	if len(s) < 36 {
		return g, false
	}
	n := 0
	for i := range 36 {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return g, false
			}
			continue
		}
		d, ok := hexDigit(s[i])
		if !ok {
			return g, false
		}
		g[n/2] = g[n/2]<<4 | d
		n++
	}
	return g, true
}

// hexDigit is the number of a hexadecimal digit.
func hexDigit(c byte) (d byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	default:
		return 0, false
	}
}

const upperHex = "0123456789ABCDEF"

// guidText prints a uniqueidentifier in upper case.
func guidText(s string) string {
	dst := make([]byte, 0, 36)
	for i := range len(s) {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, upperHex[s[i]>>4], upperHex[s[i]&15])
	}
	return string(dst)
}

// hexText prints bytes in hexadecimal.
func hexText(s string) string {
	dst := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		dst = append(dst, upperHex[s[i]>>4], upperHex[s[i]&15])
	}
	return string(dst)
}
