package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// appendCell writes a value with the length that the shape of its column asks for.
func (c *column) appendCell(dst []byte, v value.Value) ([]byte, error) {
	if v.IsNull() {
		return c.appendNull(dst)
	}
	if c.text.Kind != sqltype.Invalid {
		var err error
		if v, err = value.Convert(v, c.typ, c.text, 0); err != nil {
			return nil, err
		}
	}
	switch c.shape {
	case shapeFixed:
		return appendValue(dst, c, v)
	case shapeByte:
		at := len(dst)
		dst, err := appendValue(append(dst, 0), c, v)
		if err != nil {
			return nil, err
		}
		dst[at] = byte(len(dst) - at - 1)
		return dst, nil
	case shapeShort:
		at := len(dst)
		dst, err := appendValue(append(dst, 0, 0), c, v)
		if err != nil {
			return nil, err
		}
		size := len(dst) - at - 2
		if size > c.size {
			return nil, fmt.Errorf("wire: a value of %d bytes in a column of type %s", size, c.typ)
		}
		binary.LittleEndian.PutUint16(dst[at:], uint16(size))
		return dst, nil
	case shapeLong:
		if c.code == typeVariant {
			return appendVariant(dst, v)
		}
		return c.appendText(dst, v)
	default:
		return c.appendChunks(dst, v)
	}
}

// appendNull writes NULL.
func (c *column) appendNull(dst []byte) ([]byte, error) {
	switch c.shape {
	case shapeFixed:
		return nil, fmt.Errorf("wire: NULL in column %q, which is said to have none", c.name)
	case shapeShort:
		return binary.LittleEndian.AppendUint16(dst, maxLength), nil
	case shapeLong:
		if c.code == typeVariant {
			return binary.LittleEndian.AppendUint32(dst, 0), nil
		}
		return append(dst, 0), nil
	case shapeChunks:
		return binary.LittleEndian.AppendUint64(dst, nullChunks), nil
	default:
		return append(dst, 0), nil
	}
}

// appendChunks writes a value in one chunk, or in none if it is empty.
func (c *column) appendChunks(dst []byte, v value.Value) ([]byte, error) {
	const whole, chunk = 8, 4
	at := len(dst)
	dst, err := appendValue(append(dst, make([]byte, whole+chunk)...), c, v)
	if err != nil {
		return nil, err
	}
	size := len(dst) - at - whole - chunk
	binary.LittleEndian.PutUint64(dst[at:], uint64(size))
	if size == 0 {
		return dst, nil // what was to be the chunk's length is the end
	}
	binary.LittleEndian.PutUint32(dst[at+whole:], uint32(size))
	return binary.LittleEndian.AppendUint32(dst, 0), nil
}

// textPointer stands before a text, ntext or image: a pointer that nobody follows, and a timestamp. The first byte is
// the pointer's length.
var textPointer = append(append([]byte{16}, "dummy textptr\x00\x00\x00"...), "dummyTS\x00"...)

// appendText writes a text, ntext or image.
func (c *column) appendText(dst []byte, v value.Value) ([]byte, error) {
	dst = append(dst, textPointer...)
	at := len(dst)
	dst, err := appendValue(append(dst, 0, 0, 0, 0), c, v)
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, nil
}

// held are the kinds that values of a type have.
var held = map[sqltype.Kind]value.Kind{
	sqltype.Bit: value.Int, sqltype.TinyInt: value.Int, sqltype.SmallInt: value.Int, sqltype.Int: value.Int,
	sqltype.BigInt: value.Int, sqltype.Real: value.Float, sqltype.Float: value.Float, sqltype.SmallMoney: value.Money,
	sqltype.Money: value.Money, sqltype.Decimal: value.Decimal, sqltype.SmallDateTime: value.DateTime,
	sqltype.DateTime: value.DateTime, sqltype.Date: value.Date, sqltype.Time: value.Time,
	sqltype.DateTime2: value.DateTime2, sqltype.DateTimeOffset: value.DateTimeOffset, sqltype.UniqueIdentifier: value.GUID,
	sqltype.Char: value.String, sqltype.VarChar: value.String, sqltype.NChar: value.String, sqltype.NVarChar: value.String,
	sqltype.Text: value.String, sqltype.NText: value.String, sqltype.XML: value.String, sqltype.Binary: value.Bytes,
	sqltype.VarBinary: value.Bytes, sqltype.Image: value.Bytes, sqltype.RowVersion: value.Bytes,
	sqltype.HierarchyID: value.Bytes, sqltype.Geometry: value.Bytes, sqltype.Geography: value.Bytes,
}

// appendValue writes a value that is not NULL, without a length. What is not of the column's type is a mistake of the
// server, and an error.
func appendValue(dst []byte, c *column, v value.Value) ([]byte, error) {
	t := c.typ
	if c.text.Kind != sqltype.Invalid {
		t = c.text
	}
	if held[t.Kind] != v.Kind() {
		return nil, fmt.Errorf("wire: a value of kind %d in column %q of type %s", v.Kind(), c.name, t)
	}
	switch t.Kind {
	case sqltype.Bit, sqltype.TinyInt, sqltype.SmallInt, sqltype.Int, sqltype.BigInt:
		return appendLittleEndian(dst, uint64(v.Int()), c.size), nil
	case sqltype.Real:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v.Float()))), nil
	case sqltype.Float:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float())), nil
	case sqltype.SmallMoney:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.Money())), nil
	case sqltype.Money:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v.Money()>>32))
		return binary.LittleEndian.AppendUint32(dst, uint32(v.Money())), nil
	case sqltype.Decimal:
		return appendDecimal(dst, t, v)
	case sqltype.SmallDateTime, sqltype.DateTime:
		return appendDateTime(dst, t, v), nil
	case sqltype.Date, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return appendDate(dst, t, v), nil
	case sqltype.UniqueIdentifier:
		g := swapGUID(v.GUID())
		return append(dst, g[:]...), nil
	default:
		switch {
		case v.Kind() == value.Bytes:
			return append(dst, v.Str()...), nil
		case c.national():
			return value.EncodeUTF16(dst, v.Str()), nil
		default:
			return value.EncodeVarchar(dst, v.Str(), t.Collation), nil
		}
	}
}

// appendDecimal writes a sign and a coefficient of the length that goes with the precision. The scale of the value is
// brought to that of the type, which it can differ from by zeros only.
func appendDecimal(dst []byte, t value.Type, v value.Value) ([]byte, error) {
	size := sqltype.DecimalBytes(t.Precision)
	if n, scale, ok := v.SmallDecimal(); ok && scale == t.Scale && fits(n, t.Precision) && size <= 9 {
		if n < 0 {
			return appendLittleEndian(append(dst, 0), uint64(-n), size-1), nil
		}
		return appendLittleEndian(append(dst, 1), uint64(n), size-1), nil
	}
	coefficient, scale := v.Decimal()
	if scale != t.Scale {
		var rest big.Int
		scaled := new(big.Int).Mul(coefficient, powerOfTen(t.Scale-scale))
		scaled.QuoRem(scaled, powerOfTen(scale-t.Scale), &rest)
		if rest.Sign() != 0 {
			return nil, fmt.Errorf("wire: a value with %d fractional digits in a column of type %s", scale, t)
		}
		coefficient = scaled
	}
	if coefficient.CmpAbs(powerOfTen(t.Precision)) >= 0 {
		return nil, fmt.Errorf("wire: %s of scale %d in a column of type %s", coefficient, t.Scale, t)
	}
	sign := byte(1)
	if coefficient.Sign() < 0 {
		sign = 0
	}
	var high [16]byte
	coefficient.FillBytes(high[:])
	dst = append(dst, sign)
	for i := range size - 1 {
		dst = append(dst, high[len(high)-1-i])
	}
	return dst, nil
}

// fits reports whether a number has no more digits than precision.
func fits(n int64, precision int) bool {
	if precision > 18 {
		return true
	}
	limit := powerOfTen(precision).Int64()
	return -limit < n && n < limit
}

// appendDateTime writes days since 1900-01-01 and a time of day.
func appendDateTime(dst []byte, t value.Type, v value.Value) []byte {
	days, parts := v.DateTime()/partsPerDay, v.DateTime()%partsPerDay
	if parts < 0 {
		days, parts = days-1, parts+partsPerDay
	}
	if t.Kind == sqltype.SmallDateTime {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(days))
		return binary.LittleEndian.AppendUint16(dst, uint16(parts/partsPerMin))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(days))
	return binary.LittleEndian.AppendUint32(dst, uint32(parts))
}

// appendDate writes what a type of 2008 has of a time of day, a date and an offset.
func appendDate(dst []byte, t value.Type, v value.Value) []byte {
	if t.Kind != sqltype.Date {
		n := v.Ticks()
		for range 7 - t.Scale {
			n /= 10
		}
		dst = appendLittleEndian(dst, uint64(n), sqltype.TimeBytes(t.Scale))
	}
	if t.Kind != sqltype.Time {
		dst = appendLittleEndian(dst, uint64(v.Date()), 3)
	}
	if t.Kind == sqltype.DateTimeOffset {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v.OffsetMinutes()))
	}
	return dst
}
