package value

import (
	"errors"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// ErrTruncated says that text or a binary does not fit a column. The caller knows the names for the message: error
// 2628, or 8152.
var ErrTruncated = errors.New("value: text or binary data would be truncated")

// Assign returns a value as a variable or a parameter of a type keeps it: text that is too long is cut off without a
// word, numbers are rounded, and what is out of range is an error.
func Assign(v Value, from, to Type) (Value, error) {
	return Convert(v, from, to, 0)
}

// Store returns a value as a column keeps it. In contrast to Assign, text and binaries that do not fit are
// ErrTruncated, unless only blanks would be cut off; the value that comes with that error is what would fit.
func Store(v Value, from, to Type) (Value, error) {
	if from.Type == to.Type && from.Collation == to.Collation {
		return v, nil
	}
	if v.kind == Variant && to.Kind != sqltype.SQLVariant {
		v, from = v.Variant()
	}
	stored, err := Convert(v, from, to, 0)
	if err != nil {
		return stored, err
	}
	switch {
	case v.kind == String && stored.kind == String:
		if limit, ok := textLimit(to); ok && len(v.s) > limit && textLen(trimBlanks(toStored(v.s, to)), to) > limit {
			return stored, ErrTruncated
		}
	case v.kind == Bytes && stored.kind == Bytes:
		if limit, ok := byteLimit(to); ok && len(v.s) > limit {
			return stored, ErrTruncated
		}
	}
	return stored, nil
}

// toStored is a text in the code page of a type, if it has one.
func toStored(s string, to Type) string {
	if groupOf(to.Kind) == charGroup {
		return toPage(s, to.Collation)
	}
	return s
}

// DataLength returns the bytes that a value of type t takes, as DATALENGTH counts them. That of NULL is 0.
func DataLength(v Value, t Type) int64 {
	if v.kind == Variant {
		v, t = v.Variant()
	}
	switch v.kind {
	case Null:
		return 0
	case Int:
		return int64(intBytes(t.Kind))
	case Decimal:
		switch {
		case t.Precision <= 9:
			return 5
		case t.Precision <= 19:
			return 9
		case t.Precision <= 28:
			return 13
		default:
			return 17
		}
	case Money:
		return int64(intBytes(moneyBytes(t).Kind))
	case Float:
		return sizeOf(t.Kind == sqltype.Real, 4, 8)
	case String:
		if groupOf(t.Kind) == charGroup {
			return int64(varcharLen(v.s, t.Collation))
		}
		return 2 * int64(UTF16Len(v.s))
	case Bytes, GUID:
		return int64(len(v.s))
	case Date:
		return 3
	case Time:
		return int64(sqltype.TimeBytes(t.Scale))
	case DateTime:
		return sizeOf(t.Kind == sqltype.SmallDateTime, 4, 8)
	case DateTime2:
		return int64(sqltype.TimeBytes(t.Scale)) + 3
	default:
		return int64(sqltype.TimeBytes(t.Scale)) + 5
	}
}

func sizeOf(small bool, ifSmall, otherwise int64) int64 {
	if small {
		return ifSmall
	}
	return otherwise
}
