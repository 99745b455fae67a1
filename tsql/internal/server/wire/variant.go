package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// A sql_variant is the code of a type, the length of its properties, the properties (a scale, a greatest length, a
// collation), and the value without a length of its own.

// decodeVariant reads what follows the length of a sql_variant that is not NULL.
func decodeVariant(b []byte) (value.Value, error) {
	c := newCursor(b)
	code, size := typeCode(c.byte()), int(c.byte())
	properties := newCursor(c.take(size))
	var t value.Type
	var collation *value.Collation
	switch code {
	case typeTime, typeDateTime2, typeDateTimeOffset:
		t = value.OfKind(dateTypes[code])
		if t.Scale = int(properties.byte()); t.Scale > 7 {
			return value.Value{}, errInvalid
		}
	case typeDate:
		t = value.OfKind(sqltype.Date)
	case typeGUID:
		t = value.OfKind(sqltype.UniqueIdentifier)
	case typeDecimal, typeNumeric:
		t = value.DecimalType(int(properties.byte()), int(properties.byte()))
		if t.Precision < 1 || t.Precision > 38 || t.Scale > t.Precision {
			return value.Value{}, errInvalid
		}
	case typeVarBinary, typeBinary:
		t = value.OfKind(stringKinds[code])
		t.Length = int(properties.uint16())
	case typeVarChar, typeChar, typeNVarChar, typeNChar:
		var ok bool
		var name collationBytes
		copy(name[:], properties.take(len(name)))
		t = value.OfKind(stringKinds[code])
		t.Length = int(properties.uint16())
		if t.IsNational() {
			t.Length /= 2
		}
		if collation, ok = decodeCollation(name); !ok && !t.IsNational() {
			return value.Value{}, errInvalid
		}
		t.Collation = collation
	default:
		fixed, ok := fixedTypes[code]
		if !ok || code == typeNull || len(c.rest) != fixed.size {
			return value.Value{}, errInvalid
		}
		t = value.OfKind(fixed.kind)
	}
	if c.err != nil || properties.err != nil {
		return value.Value{}, errInvalid
	}
	v, err := decodeValue(t, collation, c.rest)
	if err != nil {
		return value.Value{}, err
	}
	return value.OfVariant(v, t), nil
}

// appendVariant writes a sql_variant with its length. The value is not NULL.
func appendVariant(dst []byte, v value.Value) ([]byte, error) {
	inner, t := v.Variant()
	if v.Kind() != value.Variant {
		return nil, fmt.Errorf("wire: a value of kind %d in a column of type sql_variant", v.Kind())
	}
	col, err := describeType(t, false, client{})
	if err != nil {
		return nil, err
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(col.code), 0)
	properties := len(dst)
	switch col.code {
	case typeTime, typeDateTime2, typeDateTimeOffset:
		dst = append(dst, byte(t.Scale))
	case typeDecimal:
		dst = append(dst, byte(t.Precision), byte(t.Scale))
	case typeVarBinary, typeBinary:
		dst = binary.LittleEndian.AppendUint16(dst, variantLength(col))
	case typeVarChar, typeChar, typeNVarChar, typeNChar:
		name := encodeCollation(t.Collation)
		dst = binary.LittleEndian.AppendUint16(append(dst, name[:]...), variantLength(col))
	case typeText, typeNText, typeImage, typeXML, typeVariant, typeUDT:
		return nil, fmt.Errorf("wire: %s in a sql_variant", t)
	default:
	}
	dst[properties-1] = byte(len(dst) - properties)
	if dst, err = appendValue(dst, &col, inner); err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, nil
}

// variantLength is the greatest length of a string in a sql_variant, which has no (max).
func variantLength(col column) uint16 {
	if col.size == maxLength {
		return 8000
	}
	return uint16(col.size)
}
