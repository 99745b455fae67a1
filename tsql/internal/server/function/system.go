package function

import (
	"encoding/binary"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

var systemFunctions = map[string]binder{
	"ISNULL":               bindIsNull,
	"NEWID":                bindNewID,
	"NEWSEQUENTIALID":      bindSequentialID,
	"CHECKSUM":             bindChecksum,
	"BINARY_CHECKSUM":      bindChecksum,
	"SQL_VARIANT_PROPERTY": bindVariantProperty,
}

// bindIsNull is ISNULL. The planner has converted both arguments to the type of the call.
func bindIsNull(c *bindCall) (*Bound, error) {
	return &Bound{Deterministic: true, Args: []value.Type{c.result, c.result}, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		if args[0].IsNull() {
			return args[1], nil
		}
		return args[0], nil
	}}, nil
}

// bindNewID is a random UUID, which says so in two places.
func bindNewID(*bindCall) (*Bound, error) {
	return &Bound{Eval: func(env Environment, _ []value.Value) (value.Value, error) {
		var b [16]byte
		binary.BigEndian.PutUint64(b[:8], env.Random())
		binary.BigEndian.PutUint64(b[8:], env.Random())
		b[6] = b[6]&0x0F | 0x40
		b[8] = b[8]&0x3F | 0x80
		return value.OfGUID(b), nil
	}}, nil
}

// bindSequentialID makes a UUID that grows with the clock, in the order in which uniqueidentifiers sort: the last six
// bytes first, then the two before them.
func bindSequentialID(*bindCall) (*Bound, error) {
	return &Bound{Eval: func(env Environment, _ []value.Value) (value.Value, error) {
		var b, clock [16]byte
		binary.BigEndian.PutUint64(clock[:8], uint64(momentAt(env.Now()).ticks))
		binary.BigEndian.PutUint64(b[:8], env.Random())
		copy(b[10:], clock[:6])
		copy(b[8:10], clock[6:8])
		b[7] = b[7]&0x0F | 0x10 // the version of a UUID by time
		return value.OfGUID(b), nil
	}}, nil
}

// contentOf returns the bytes of a text or a binary: nvarchar in UTF-16, varchar in its code page.
func contentOf(v value.Value, t value.Type) []byte {
	switch {
	case v.Kind() == value.Bytes:
		return v.Bytes()
	case t.IsNational():
		return value.EncodeUTF16(nil, v.Str())
	default:
		return value.EncodeVarchar(nil, v.Str(), t.Collation)
	}
}

// bindVariantProperty says what a value of sql_variant is. Any other value is put into one for that.
func bindVariantProperty(c *bindCall) (*Bound, error) {
	t := c.args[0].Type
	return simple(func(args []value.Value) (value.Value, error) {
		v, t := args[0], t
		if v.Kind() == value.Variant {
			v, t = v.Variant()
		}
		return variantProperty(v, t, strings.ToLower(strings.TrimSpace(args[1].Str()))), nil
	}, asIs, typeSysname), nil
}

// variantProperty returns one property, NULL for one that doesn't exist.
func variantProperty(v value.Value, t value.Type, name string) value.Value {
	number := func(n int) value.Value { return value.OfVariant(value.OfInt(int64(n)), typeInt) }
	text := func(s string) value.Value { return value.OfVariant(value.OfString(s), typeSysname) }
	length := int(value.DataLength(v, t))
	switch name {
	case "basetype":
		return text(string(t.Type.Kind))
	case "precision":
		return number(precisionOf(t))
	case "scale":
		if t.Kind == sqltype.DateTime {
			return number(3)
		}
		if t.IsMoney() {
			return number(4)
		}
		return number(t.Scale)
	case "maxlength":
		switch {
		case t.IsNational():
			return number(t.Length * 2)
		case t.Length > 0:
			return number(t.Length)
		}
		return number(length)
	case "totalbytes":
		return number(length + variantOverhead(t))
	case "collation":
		if !t.IsCharacter() {
			return value.Value{}
		}
		if t.Collation == nil {
			return text(value.DefaultCollation.Name)
		}
		return text(t.Collation.Name)
	default:
		return value.Value{}
	}
}

// variantOverhead is what sql_variant stores beside a value: two bytes, and the facets of its type.
func variantOverhead(t value.Type) int {
	switch {
	case t.IsCharacter():
		return 8
	case t.IsBinary(), t.Kind == sqltype.Decimal:
		return 4
	case t.Kind == sqltype.Time, t.Kind == sqltype.DateTime2, t.Kind == sqltype.DateTimeOffset:
		return 3
	default:
		return 2
	}
}

// precisionOf returns the digits of a type, or the characters that a date prints.
func precisionOf(t value.Type) int {
	fraction := 0
	if t.Scale > 0 {
		fraction = t.Scale + 1
	}
	switch t.Kind {
	case sqltype.Decimal:
		return t.Precision
	case sqltype.Bit:
		return 1
	case sqltype.TinyInt:
		return 3
	case sqltype.SmallInt:
		return 5
	case sqltype.Int, sqltype.SmallMoney, sqltype.Date:
		return 10
	case sqltype.BigInt, sqltype.Money:
		return 19
	case sqltype.Real:
		return 24
	case sqltype.Float:
		return 53
	case sqltype.DateTime:
		return 23
	case sqltype.SmallDateTime:
		return 16
	case sqltype.Time:
		return 8 + fraction
	case sqltype.DateTime2:
		return 19 + fraction
	case sqltype.DateTimeOffset:
		return 26 + fraction
	default:
		return 0
	}
}
