package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// client is what the server has to know of a client to write what it can read.
type client struct {
	version uint32
	// utf8 says that the client reads varchar in UTF-8. What does not gets nvarchar instead.
	utf8 bool
}

// The versions of TDS, as a login says them.
const (
	version72  = 0x72090002
	version73  = 0x730A0003
	version73B = 0x730B0003
	version74  = 0x74000004
	version80  = 0x08000000
)

// hasDates reports whether the client knows the types of 2008. What does not gets text instead.
func (c client) hasDates() bool {
	return c.version == 0 || c.version == version80 || c.version >= version73
}

// hasNullBits reports whether the client reads rows that have a bit for each NULL.
func (c client) hasNullBits() bool { return c.version == version80 || c.version >= version73B }

// column is how a column of a result, or an output parameter, is written.
type column struct {
	name  string
	code  typeCode
	shape shape
	size  int // in bytes, or maxLength
	typ   value.Type
	// text is the type that a client gets instead that does not know typ; Invalid if it does.
	text     value.Type
	userType uint32
	flags    uint16
	// nullCost is how many bytes a NULL takes in a row that has no bits for it.
	nullCost int
}

// The flags of a column.
const (
	flagNullable      = 0x01
	flagCaseSensitive = 0x02
	flagMayBeUpdated  = 0x08 // nobody has found out
	flagIdentity      = 0x10
	flagComputed      = 0x20
)

// describe is how a column is written to a client.
func describe(c request.Column, to client) (column, error) {
	col, err := describeType(c.Type, c.Nullable, to)
	if err != nil {
		return column{}, fmt.Errorf("wire: column %s: %w", c.Name, err)
	}
	col.name = c.Name
	switch {
	case c.Identity:
		col.flags |= flagIdentity
	case c.Computed:
		col.flags |= flagComputed
	default:
		col.flags |= flagMayBeUpdated
	}
	return col, nil
}

// describeType is how values of a type are written to a client.
func describeType(t value.Type, nullable bool, to client) (column, error) {
	col := column{typ: t, shape: shapeByte, nullCost: 1}
	if nullable {
		col.flags |= flagNullable
	}
	switch t.Kind {
	case sqltype.Null:
		col.code, col.size, col.typ = typeIntN, 4, value.OfKind(sqltype.Int)
	case sqltype.Bit:
		col.sized(typeBit, typeBitN, 1, nullable)
	case sqltype.TinyInt:
		col.sized(typeTinyInt, typeIntN, 1, nullable)
	case sqltype.SmallInt:
		col.sized(typeSmallInt, typeIntN, 2, nullable)
	case sqltype.Int:
		col.sized(typeInt, typeIntN, 4, nullable)
	case sqltype.BigInt:
		col.sized(typeBigInt, typeIntN, 8, nullable)
	case sqltype.Real:
		col.sized(typeReal, typeFloatN, 4, nullable)
	case sqltype.Float:
		col.sized(typeFloat, typeFloatN, 8, nullable)
	case sqltype.SmallMoney:
		col.sized(typeSmallMoney, typeMoneyN, 4, nullable)
	case sqltype.Money:
		col.sized(typeMoney, typeMoneyN, 8, nullable)
	case sqltype.SmallDateTime:
		col.sized(typeSmallDateTime, typeDateTimeN, 4, nullable)
	case sqltype.DateTime:
		col.sized(typeDateTime, typeDateTimeN, 8, nullable)
	case sqltype.UniqueIdentifier:
		col.code, col.size = typeGUID, 16
	case sqltype.Decimal:
		col.code, col.size = typeDecimal, sqltype.DecimalBytes(t.Precision)
	case sqltype.Date, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		col.date(to)
	default:
		err := col.string(to)
		return col, err
	}
	return col, nil
}

// sized chooses the code of a type that has one for each length and one for NULL.
func (c *column) sized(fixed, nullable typeCode, size int, isNullable bool) {
	c.code, c.size = fixed, size
	if isNullable {
		c.code = nullable
	} else {
		c.shape = shapeFixed
	}
}

// dateLengths are how long the types of 2008 are as text.
var dateLengths = map[sqltype.Kind]int{sqltype.Date: 10, sqltype.Time: 16, sqltype.DateTime2: 27, sqltype.DateTimeOffset: 34}

// date describes a type of 2008.
func (c *column) date(to client) {
	if !to.hasDates() {
		c.text = value.NVarChar(dateLengths[c.typ.Kind])
		c.code, c.shape, c.size, c.nullCost = typeNVarChar, shapeShort, 2*c.text.Length, 2
		return
	}
	switch c.typ.Kind {
	case sqltype.Date:
		c.code, c.size = typeDate, 3
	case sqltype.Time:
		c.code, c.size = typeTime, sqltype.TimeBytes(c.typ.Scale)
	case sqltype.DateTime2:
		c.code, c.size = typeDateTime2, sqltype.TimeBytes(c.typ.Scale)+3
	default:
		c.code, c.size = typeDateTimeOffset, sqltype.TimeBytes(c.typ.Scale)+5
	}
}

// userTypeRowVersion marks eight bytes as a rowversion.
const userTypeRowVersion = 80

// string describes a type whose values say their length, in whatever way.
func (c *column) string(to client) error {
	kind := c.typ.Kind
	if c.typ.IsCharacter() && encodeCollation(c.typ.Collation).flags()&collationIgnoresCase == 0 {
		c.flags |= flagCaseSensitive
	}
	switch kind {
	case sqltype.Char, sqltype.VarChar:
		c.limited(choose(kind == sqltype.Char, typeChar, typeVarChar), c.typ.Length)
		if !to.utf8 && encodeCollation(c.typ.Collation).flags()&collationUTF8 != 0 {
			c.limited(choose(kind == sqltype.Char, typeNChar, typeNVarChar), 2*c.typ.Length)
		}
	case sqltype.NChar, sqltype.NVarChar:
		c.limited(choose(kind == sqltype.NChar, typeNChar, typeNVarChar), 2*c.typ.Length)
	case sqltype.Binary, sqltype.VarBinary:
		c.limited(choose(kind == sqltype.Binary, typeBinary, typeVarBinary), c.typ.Length)
	case sqltype.RowVersion:
		c.limited(typeBinary, 8)
		c.userType = userTypeRowVersion
	case sqltype.Text, sqltype.NText, sqltype.Image:
		codes := map[sqltype.Kind]typeCode{sqltype.Text: typeText, sqltype.NText: typeNText, sqltype.Image: typeImage}
		c.code, c.shape, c.size = codes[kind], shapeLong, 1<<31-1
	case sqltype.SQLVariant:
		c.code, c.shape, c.size, c.nullCost = typeVariant, shapeLong, 8009, 4
	case sqltype.XML:
		c.code, c.shape, c.size, c.nullCost = typeXML, shapeChunks, maxLength, 8
	case sqltype.HierarchyID, sqltype.Geometry, sqltype.Geography:
		c.code, c.shape, c.size, c.nullCost = typeUDT, shapeChunks, maxLength, 8
	default:
		return fmt.Errorf("wire: a value of type %s has no place in a response", c.typ)
	}
	return nil
}

// limited describes a string of at most size bytes, or of any length if there are more than a page has room for.
func (c *column) limited(code typeCode, size int) {
	c.code, c.shape, c.size, c.nullCost = code, shapeShort, max(size, 1), 2
	if c.typ.IsMax() || size > 8000 {
		c.shape, c.size, c.nullCost = shapeChunks, maxLength, 8
		switch code {
		case typeChar:
			c.code = typeVarChar
		case typeNChar:
			c.code = typeNVarChar
		case typeBinary:
			c.code = typeVarBinary
		default:
		}
	} else if code == typeNChar || code == typeNVarChar {
		c.size = max(size, 2)
	}
}

// national reports whether the values are written in UTF-16.
func (c *column) national() bool {
	return c.code == typeNVarChar || c.code == typeNChar || c.code == typeNText || c.code == typeXML
}

// appendType writes the TYPE_INFO of a column.
func (c *column) appendType(dst []byte) []byte {
	dst = append(dst, byte(c.code))
	switch c.code {
	case typeGUID, typeIntN, typeBitN, typeFloatN, typeMoneyN, typeDateTimeN:
		return append(dst, byte(c.size))
	case typeTime, typeDateTime2, typeDateTimeOffset:
		return append(dst, byte(c.typ.Scale))
	case typeDecimal:
		return append(dst, byte(c.size), byte(c.typ.Precision), byte(c.typ.Scale))
	case typeVarBinary, typeBinary:
		return binary.LittleEndian.AppendUint16(dst, uint16(c.size))
	case typeVarChar, typeChar, typeNVarChar, typeNChar:
		name := encodeCollation(c.typ.Collation)
		return append(binary.LittleEndian.AppendUint16(dst, uint16(c.size)), name[:]...)
	case typeText, typeNText:
		name := encodeCollation(c.typ.Collation)
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(c.size)), name[:]...)
		return append(dst, 0) // the parts of the table's name
	case typeImage:
		return append(binary.LittleEndian.AppendUint32(dst, uint32(c.size)), 0)
	case typeVariant:
		return binary.LittleEndian.AppendUint32(dst, uint32(c.size))
	case typeXML:
		return append(dst, 0) // there is no schema
	case typeUDT:
		return c.appendUDT(dst)
	default: // the types of a fixed length, and date
		return dst
	}
}

// udtClasses are the classes of the types that every server has.
var udtClasses = map[sqltype.Kind]string{
	sqltype.HierarchyID: "SqlHierarchyId", sqltype.Geometry: "SqlGeometry", sqltype.Geography: "SqlGeography",
}

// appendUDT writes what says which type of .NET a column has.
func (c *column) appendUDT(dst []byte) []byte {
	const assembly = ", Microsoft.SqlServer.Types, Version=11.0.0.0, Culture=neutral, PublicKeyToken=89845dcd8080cc91"
	size := uint16(maxLength)
	if c.typ.Kind == sqltype.HierarchyID {
		size = 892
	}
	dst = binary.LittleEndian.AppendUint16(dst, size)
	dst = appendShortText(dst, "")
	dst = appendShortText(dst, "sys")
	dst = appendShortText(dst, string(c.typ.Kind))
	return appendLongText(dst, "Microsoft.SqlServer.Types."+udtClasses[c.typ.Kind]+assembly, maxLength)
}
