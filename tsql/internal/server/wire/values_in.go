package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// errInvalid is a value that none of its type looks like. The message can be read on after it.
var errInvalid = errors.New("wire: the value is not one of its type")

// value reads a value of a type. Its error is errInvalid; whoever sees it looks at that of the cursor first.
func (c *cursor) value(t *typeInfo) (value.Value, error) {
	var b []byte
	switch t.shape {
	case shapeFixed:
		b = c.take(t.size)
		if t.code == typeNull {
			return value.Value{}, nil
		}
	case shapeByte:
		n := int(c.byte())
		b = c.take(n)
		if n == 0 {
			return value.Value{}, nil
		}
	case shapeShort:
		n := int(c.uint16())
		if n == maxLength {
			return value.Value{}, nil
		}
		b = c.take(n)
	case shapeLong:
		n := int(int32(c.uint32()))
		if n == -1 || n == 0 && t.code == typeVariant {
			return value.Value{}, nil
		}
		b = c.take(n)
		if t.code == typeVariant {
			return decodeVariant(b)
		}
	case shapeChunks:
		var null bool
		if b, null = c.chunks(); null {
			return value.Value{}, nil
		}
	}
	switch {
	case c.err != nil:
		return value.Value{}, nil //nolint:nilerr // the cursor keeps its error, at which the caller looks first
	case len(b) > t.size && (t.shape == shapeByte || t.shape == shapeShort):
		return value.Value{}, errInvalid
	default:
		return decodeValue(t.typ, t.collation, b)
	}
}

// The lengths of values in chunks that are none.
const (
	nullChunks    = math.MaxUint64
	unknownChunks = math.MaxUint64 - 1
)

// chunks reads a value in chunks: its length, which need not be known, and chunks with a length each, the last of which
// is empty.
func (c *cursor) chunks() (b []byte, null bool) {
	total := c.uint64()
	if total == nullChunks {
		return nil, true
	}
	if total != unknownChunks && total > uint64(len(c.rest)) {
		c.fail("a value of %d bytes in a message of %d", total, c.size)
		return nil, false
	}
	for first := true; ; first = false {
		n := c.uint32()
		if n == 0 {
			break
		}
		part := c.take(int(n))
		if first {
			b = part // which is all, with most clients
		} else {
			b = append(b, part...) // take has set the capacity, so that this copies
		}
	}
	if total != unknownChunks && total != uint64(len(b)) {
		c.fail("%d bytes of a value instead of %d", len(b), total)
	}
	return b, false
}

// decodeValue makes a value of its bytes. collation is what varchar is read with.
func decodeValue(t value.Type, collation *value.Collation, b []byte) (value.Value, error) {
	switch t.Kind {
	case sqltype.Bit:
		if len(b) == 1 {
			return value.OfBool(b[0] != 0), nil
		}
	case sqltype.TinyInt, sqltype.SmallInt, sqltype.Int, sqltype.BigInt:
		return decodeInt(b)
	case sqltype.Real, sqltype.Float:
		return decodeFloat(b)
	case sqltype.SmallMoney, sqltype.Money:
		return decodeMoney(b)
	case sqltype.Decimal:
		return decodeDecimal(t, b)
	case sqltype.SmallDateTime, sqltype.DateTime:
		return decodeDateTime(b)
	case sqltype.Date, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return decodeDate(t, b)
	case sqltype.UniqueIdentifier:
		if len(b) == 16 {
			return value.OfGUID(swapGUID([16]byte(b))), nil
		}
	case sqltype.Char, sqltype.VarChar, sqltype.Text:
		return value.OfString(value.DecodeVarchar(b, collation)), nil
	case sqltype.NChar, sqltype.NVarChar, sqltype.NText:
		if len(b)%2 == 0 {
			return value.OfString(value.DecodeUTF16(b)), nil
		}
	case sqltype.XML:
		return decodeXML(b)
	case sqltype.HierarchyID, sqltype.Geometry, sqltype.Geography:
		return value.Value{}, unsupported("a value of %s", t.Kind)
	default: // binaries
		return value.OfBytes(b), nil
	}
	return value.Value{}, errInvalid
}

// decodeInt reads an integer of any length. That of one byte has no sign.
func decodeInt(b []byte) (value.Value, error) {
	switch len(b) {
	case 1:
		return value.OfInt(int64(b[0])), nil
	case 2:
		return value.OfInt(int64(int16(binary.LittleEndian.Uint16(b)))), nil
	case 4:
		return value.OfInt(int64(int32(binary.LittleEndian.Uint32(b)))), nil
	case 8:
		return value.OfInt(int64(binary.LittleEndian.Uint64(b))), nil
	default:
		return value.Value{}, errInvalid
	}
}

// decodeFloat reads a real or a float, neither of which may be infinite or no number.
func decodeFloat(b []byte) (value.Value, error) {
	var f float64
	switch len(b) {
	case 4:
		f = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 8:
		f = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		return value.Value{}, errInvalid
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Value{}, errInvalid
	}
	return value.OfFloat(f), nil
}

// decodeMoney reads a smallmoney, or a money, whose upper half comes first.
func decodeMoney(b []byte) (value.Value, error) {
	switch len(b) {
	case 4:
		return value.OfMoney(int64(int32(binary.LittleEndian.Uint32(b)))), nil
	case 8:
		return value.OfMoney(int64(binary.LittleEndian.Uint32(b))<<32 | int64(binary.LittleEndian.Uint32(b[4:]))), nil
	default:
		return value.Value{}, errInvalid
	}
}

// decodeDecimal reads a sign, 0 for negative, and a coefficient, the lowest byte first.
func decodeDecimal(t value.Type, b []byte) (value.Value, error) {
	if len(b) < 2 || len(b) > 17 || b[0] > 1 {
		return value.Value{}, errInvalid
	}
	var high [16]byte // the highest byte first
	for i, x := range b[1:] {
		high[len(high)-1-i] = x
	}
	coefficient := new(big.Int).SetBytes(high[:])
	if coefficient.Cmp(powerOfTen(t.Precision)) >= 0 {
		return value.Value{}, errInvalid
	}
	if b[0] == 0 {
		coefficient.Neg(coefficient)
	}
	return value.OfDecimal(coefficient, t.Scale), nil
}

// powersOfTen are 10^0 to 10^38.
var powersOfTen = func() (p [39]*big.Int) {
	for i := range p {
		p[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return p
}()

func powerOfTen(n int) *big.Int { return powersOfTen[min(max(n, 0), len(powersOfTen)-1)] }

// The units of dates, and how far they reach.
const (
	partsPerDay   = 24 * 60 * 60 * 300 // three-hundredths of a second
	partsPerMin   = 60 * 300
	ticksPerDay   = 24 * 60 * 60 * 10_000_000
	firstDateTime = -53690  // 1753-01-01, in days after 1900-01-01
	lastDateTime  = 2958463 // 9999-12-31
	lastDate      = 3652058 // 9999-12-31, in days after 0001-01-01
	maxOffset     = 14 * 60 // minutes
)

// decodeDateTime reads a smalldatetime (days and minutes), or a datetime (days and three-hundredths of a second).
func decodeDateTime(b []byte) (value.Value, error) {
	var days, parts int64
	switch len(b) {
	case 4:
		days, parts = int64(binary.LittleEndian.Uint16(b)), int64(binary.LittleEndian.Uint16(b[2:]))*partsPerMin
	case 8:
		days, parts = int64(int32(binary.LittleEndian.Uint32(b))), int64(binary.LittleEndian.Uint32(b[4:]))
	default:
		return value.Value{}, errInvalid
	}
	if days < firstDateTime || days > lastDateTime || parts >= partsPerDay {
		return value.Value{}, errInvalid
	}
	return value.OfDateTime(days*partsPerDay + parts), nil
}

// decodeDate reads a type of 2008: what it has of a time of day, a date and an offset, in this order.
func decodeDate(t value.Type, b []byte) (value.Value, error) {
	var ticks int64
	if t.Kind != sqltype.Date {
		n := sqltype.TimeBytes(t.Scale)
		if len(b) < n {
			return value.Value{}, errInvalid
		}
		ticks, b = int64(littleEndian(b[:n])), b[n:]
		for range 7 - t.Scale {
			ticks *= 10
		}
	}
	var days int
	if t.Kind != sqltype.Time {
		if len(b) < 3 {
			return value.Value{}, errInvalid
		}
		days, b = int(littleEndian(b[:3])), b[3:]
	}
	var offset int
	if t.Kind == sqltype.DateTimeOffset {
		if len(b) != 2 {
			return value.Value{}, errInvalid
		}
		offset, b = int(int16(binary.LittleEndian.Uint16(b))), nil
	}
	if len(b) != 0 || ticks < 0 || ticks >= ticksPerDay || days > lastDate || offset < -maxOffset || offset > maxOffset {
		return value.Value{}, errInvalid
	}
	switch t.Kind {
	case sqltype.Date:
		return value.OfDate(days), nil
	case sqltype.Time:
		return value.OfTime(ticks), nil
	case sqltype.DateTime2:
		return value.OfDateTime2(days, ticks), nil
	default:
		return value.OfDateTimeOffset(days, ticks, offset), nil
	}
}

// littleEndian reads a number of up to 8 bytes.
func littleEndian(b []byte) (n uint64) {
	for i, x := range b {
		n |= uint64(x) << (8 * i)
	}
	return n
}

// appendLittleEndian writes a number of so many bytes.
func appendLittleEndian(dst []byte, n uint64, size int) []byte {
	for i := range size {
		dst = append(dst, byte(n>>(8*i)))
	}
	return dst
}

// swapGUID turns the order of printing into that of the wire, where the first three groups have their lowest byte
// first, and back.
func swapGUID(g [16]byte) [16]byte {
	g[0], g[1], g[2], g[3] = g[3], g[2], g[1], g[0]
	g[4], g[5] = g[5], g[4]
	g[6], g[7] = g[7], g[6]
	return g
}

// decodeXML reads a document, which is in UTF-16 if it begins like that, else in UTF-8.
func decodeXML(b []byte) (value.Value, error) {
	if len(b)%2 == 0 && len(b) >= 2 && b[0] != 0xFF && b[1] == 0 {
		b = append([]byte{0xFF, 0xFE}, b...)
	}
	return value.Convert(value.OfBytes(b), value.VarBinary(sqltype.Max), value.OfKind(sqltype.XML), 0)
}
