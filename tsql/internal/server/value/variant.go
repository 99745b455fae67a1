package value

import (
	"math/big"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The families of types in sql_variant, from the lowest. Of two values of different families, the one of the higher is
// greater, whatever they are.
const (
	guidFamily byte = iota + 1
	binaryFamily
	textFamily
	exactFamily
	floatFamily
	dateFamily
)

// variantKey is the key of what a sql_variant holds, whose type is only known with the value. It is not
// self-delimiting.
func variantKey(v Value) []byte {
	v, t := v.Variant()
	switch v.kind {
	case GUID:
		return appendKey([]byte{guidFamily}, v, t)
	case Bytes:
		return appendKey([]byte{binaryFamily}, v, t)
	case String:
		c := t.Collation
		if c == nil {
			c = DefaultCollation
		}
		// Text of different collations is ordered by the collation first.
		key := appendEscaped([]byte{textFamily}, c.Name)
		return appendTextKey(key, v.s, NVarChar(sqltype.Max).With(c))
	case Int, Decimal, Money:
		return appendExact([]byte{exactFamily}, asDecimal(v))
	case Float:
		return appendFloatKey([]byte{floatFamily}, v.Float())
	case Date, Time, DateTime, DateTime2, DateTimeOffset:
		days, ticks := v.Date(), int64(0)
		if v.kind != Date {
			ticks = v.Ticks()
		}
		if v.kind == Time {
			days = day1900
		}
		return appendInt(appendInt([]byte{dateFamily}, int64(days)), ticks)
	default:
		return nil
	}
}

// appendExact appends a decimal of any scale: all are brought to 38 fractional digits, which takes up to 76 in all.
func appendExact(dst []byte, v Value) []byte {
	n, _ := rescale(v, maxPrecision, false).Decimal()
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), 264))
	}
	var b [34]byte
	n.FillBytes(b[1:])
	b[1] ^= 0x80
	return append(dst, b[1:]...)
}
