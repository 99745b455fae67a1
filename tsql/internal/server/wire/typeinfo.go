package wire

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// typeCode is the first byte of a TYPE_INFO.
type typeCode byte

// Types of a fixed length.
const (
	typeNull          typeCode = 0x1F
	typeTinyInt       typeCode = 0x30
	typeBit           typeCode = 0x32
	typeSmallInt      typeCode = 0x34
	typeInt           typeCode = 0x38
	typeSmallDateTime typeCode = 0x3A
	typeReal          typeCode = 0x3B
	typeMoney         typeCode = 0x3C
	typeDateTime      typeCode = 0x3D
	typeFloat         typeCode = 0x3E
	typeSmallMoney    typeCode = 0x7A
	typeBigInt        typeCode = 0x7F
)

// Types whose values say their length in one byte; 0 is NULL.
const (
	typeGUID           typeCode = 0x24
	typeIntN           typeCode = 0x26
	typeDate           typeCode = 0x28
	typeTime           typeCode = 0x29
	typeDateTime2      typeCode = 0x2A
	typeDateTimeOffset typeCode = 0x2B
	typeOldDecimal     typeCode = 0x37
	typeOldNumeric     typeCode = 0x3F
	typeBitN           typeCode = 0x68
	typeDecimal        typeCode = 0x6A
	typeNumeric        typeCode = 0x6C
	typeFloatN         typeCode = 0x6D
	typeMoneyN         typeCode = 0x6E
	typeDateTimeN      typeCode = 0x6F
	typeOldVarBinary   typeCode = 0x25
	typeOldVarChar     typeCode = 0x27
	typeOldBinary      typeCode = 0x2D
	typeOldChar        typeCode = 0x2F
)

// Types whose values say their length in two bytes, with 0xFFFF for NULL, or come in chunks.
const (
	typeVarBinary typeCode = 0xA5
	typeVarChar   typeCode = 0xA7
	typeBinary    typeCode = 0xAD
	typeChar      typeCode = 0xAF
	typeNVarChar  typeCode = 0xE7
	typeNChar     typeCode = 0xEF
)

// Types whose values say their length in four bytes, and what is made in .NET, XML and tables.
const (
	typeImage   typeCode = 0x22
	typeText    typeCode = 0x23
	typeVariant typeCode = 0x62
	typeNText   typeCode = 0x63
	typeUDT     typeCode = 0xF0
	typeXML     typeCode = 0xF1
	typeTable   typeCode = 0xF3
)

// maxLength is the length of a type whose values come in chunks.
const maxLength = 0xFFFF

// shape is how the values of a type are written.
type shape byte

const (
	shapeFixed  shape = iota // as they are
	shapeByte                // a length in one byte
	shapeShort               // a length in two bytes
	shapeLong                // a length in four bytes
	shapeChunks              // in chunks
)

// typeInfo is the type of a parameter, as the client has written it.
type typeInfo struct {
	code  typeCode
	shape shape
	size  int // of values in bytes; of shapeByte and shapeShort the greatest
	typ   value.Type
	// collation is what varchar is read with; never nil for the types that need it.
	collation *value.Collation
}

// fixedTypes are the types of a fixed length, and what the types of a variable length are called that have the same
// values: integers of 4 bytes are int.
var fixedTypes = map[typeCode]struct {
	size int
	kind sqltype.Kind
}{
	typeNull: {0, sqltype.Null}, typeTinyInt: {1, sqltype.TinyInt}, typeBit: {1, sqltype.Bit},
	typeSmallInt: {2, sqltype.SmallInt}, typeInt: {4, sqltype.Int}, typeSmallDateTime: {4, sqltype.SmallDateTime},
	typeReal: {4, sqltype.Real}, typeMoney: {8, sqltype.Money}, typeDateTime: {8, sqltype.DateTime},
	typeFloat: {8, sqltype.Float}, typeSmallMoney: {4, sqltype.SmallMoney}, typeBigInt: {8, sqltype.BigInt},
}

// sizedTypes are the types whose length chooses one of several.
var sizedTypes = map[typeCode]map[int]sqltype.Kind{
	typeGUID:      {16: sqltype.UniqueIdentifier, 0: sqltype.UniqueIdentifier},
	typeIntN:      {1: sqltype.TinyInt, 2: sqltype.SmallInt, 4: sqltype.Int, 8: sqltype.BigInt},
	typeBitN:      {1: sqltype.Bit},
	typeFloatN:    {4: sqltype.Real, 8: sqltype.Float},
	typeMoneyN:    {4: sqltype.SmallMoney, 8: sqltype.Money},
	typeDateTimeN: {4: sqltype.SmallDateTime, 8: sqltype.DateTime},
}

// typeInfo reads a TYPE_INFO. def is the collation of text that comes without one. A *fault.Error says that the type is
// known, but not supported; the message cannot be read on after it.
func (c *cursor) typeInfo(def *value.Collation) (t typeInfo, err error) {
	t.code = typeCode(c.byte())
	if fixed, ok := fixedTypes[t.code]; ok {
		t.size, t.typ = fixed.size, value.OfKind(fixed.kind)
		return t, c.err
	}
	switch t.code {
	case typeGUID, typeIntN, typeBitN, typeFloatN, typeMoneyN, typeDateTimeN:
		c.sizedType(&t)
	case typeDate, typeTime, typeDateTime2, typeDateTimeOffset:
		c.dateType(&t)
	case typeDecimal, typeNumeric, typeOldDecimal, typeOldNumeric:
		c.decimalType(&t)
	case typeOldVarBinary, typeOldVarChar, typeOldBinary, typeOldChar:
		t.shape, t.size, t.collation = shapeByte, int(c.byte()), def
		t.typ = value.Type{Type: sqltype.Type{Kind: stringKinds[t.code], Length: max(t.size, 1)}}
	case typeVarBinary, typeVarChar, typeBinary, typeChar, typeNVarChar, typeNChar:
		err = c.stringType(&t, def)
	case typeText, typeNText, typeImage, typeVariant:
		t.shape, t.size = shapeLong, int(int32(c.uint32()))
		t.typ = value.OfKind(stringKinds[t.code])
		if t.code == typeText || t.code == typeNText {
			err = c.collation(&t, def)
		}
	case typeXML:
		t.shape, t.typ = shapeChunks, value.OfKind(sqltype.XML)
		if c.byte() != 0 { // a schema
			c.shortText()
			c.shortText()
			c.longText()
		}
	case typeUDT:
		err = c.udtType(&t)
	default:
		c.fail("type 0x%02x is unknown", byte(t.code))
	}
	if c.err != nil {
		return typeInfo{}, c.err
	}
	return t, err
}

// sizedType reads what follows the codes of sizedTypes.
func (c *cursor) sizedType(t *typeInfo) {
	t.shape, t.size = shapeByte, int(c.byte())
	kind, ok := sizedTypes[t.code][t.size]
	if !ok {
		c.fail("type 0x%02x has no length %d", byte(t.code), t.size)
	}
	t.typ = value.OfKind(kind)
}

// dateTypes are the types of 2008.
var dateTypes = map[typeCode]sqltype.Kind{
	typeDate: sqltype.Date, typeTime: sqltype.Time, typeDateTime2: sqltype.DateTime2, typeDateTimeOffset: sqltype.DateTimeOffset,
}

// dateType reads what follows the codes of dateTypes.
func (c *cursor) dateType(t *typeInfo) {
	const date, offset = 3, 2
	t.shape, t.typ = shapeByte, value.OfKind(dateTypes[t.code])
	if t.code == typeDate {
		t.size = date
		return
	}
	scale := int(c.byte())
	if scale > 7 {
		c.fail("a time with %d fractional digits", scale)
		return
	}
	t.typ.Scale, t.size = scale, sqltype.TimeBytes(scale)
	if t.code != typeTime {
		t.size += date
	}
	if t.code == typeDateTimeOffset {
		t.size += offset
	}
}

// decimalType reads what follows the codes of decimal and numeric.
func (c *cursor) decimalType(t *typeInfo) {
	t.shape, t.size = shapeByte, int(c.byte())
	precision, scale := int(c.byte()), int(c.byte())
	if t.size > 17 || precision < 1 || precision > 38 || scale > precision {
		c.fail("decimal(%d,%d) of %d bytes", precision, scale, t.size)
	}
	t.typ = value.DecimalType(precision, scale)
}

// stringKinds are the types of strings.
var stringKinds = map[typeCode]sqltype.Kind{
	typeOldVarBinary: sqltype.VarBinary, typeOldVarChar: sqltype.VarChar, typeOldBinary: sqltype.Binary,
	typeOldChar: sqltype.Char, typeVarBinary: sqltype.VarBinary, typeVarChar: sqltype.VarChar, typeBinary: sqltype.Binary,
	typeChar: sqltype.Char, typeNVarChar: sqltype.NVarChar, typeNChar: sqltype.NChar, typeText: sqltype.Text,
	typeNText: sqltype.NText, typeImage: sqltype.Image, typeVariant: sqltype.SQLVariant,
}

// stringType reads what follows the codes of strings.
func (c *cursor) stringType(t *typeInfo, def *value.Collation) error {
	t.shape, t.size = shapeShort, int(c.uint16())
	t.typ = value.OfKind(stringKinds[t.code])
	switch {
	case t.size == maxLength:
		t.shape, t.typ.Length = shapeChunks, sqltype.Max
		t.typ.Kind = varyingKind(t.typ.Kind)
	case t.size > 8000:
		c.fail("%s of %d bytes", t.typ.Kind, t.size)
	case t.code == typeNVarChar || t.code == typeNChar:
		t.typ.Length = max(t.size/2, 1)
	default:
		t.typ.Length = max(t.size, 1)
	}
	if t.code == typeVarBinary || t.code == typeBinary {
		return nil
	}
	return c.collation(t, def)
}

// varyingKind is the type of a variable length: only these have a (max).
func varyingKind(k sqltype.Kind) sqltype.Kind {
	switch k {
	case sqltype.Char:
		return sqltype.VarChar
	case sqltype.NChar:
		return sqltype.NVarChar
	case sqltype.Binary:
		return sqltype.VarBinary
	default:
		return k
	}
}

// collation reads the collation of a character type. Text in UTF-16 may have any.
func (c *cursor) collation(t *typeInfo, def *value.Collation) error {
	var b collationBytes
	copy(b[:], c.take(len(b)))
	found, ok := decodeCollation(b)
	t.typ.Collation, t.collation = found, found
	if found == nil {
		t.collation = def
	}
	if !ok && !t.typ.IsNational() {
		return unsupported("the collation with the bytes % X", b[:])
	}
	return nil
}

// udtType reads the type of a parameter that is made in .NET: its database, schema and name. Only those are known that
// every server has.
func (c *cursor) udtType(t *typeInfo) error {
	c.shortText()
	c.shortText()
	name := c.shortText()
	t.shape = shapeChunks
	switch kind := sqltype.Kind(strings.ToLower(name)); kind {
	case sqltype.HierarchyID, sqltype.Geometry, sqltype.Geography:
		t.typ = value.OfKind(kind)
		return nil
	default:
		return unsupported("the type %q of a parameter", name)
	}
}
