package value

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Type is the type of a column, a variable or an expression: what the front end knows of it, and a collation.
type Type struct {
	sqltype.Type
	// Collation is that of character types. It is nil for other types, and for text whose collation gives way to that
	// of the other operand (coercible-default: literals and variables).
	Collation *Collation
}

// OfKind returns a type without facets, such as int.
func OfKind(kind sqltype.Kind) Type { return Type{Type: sqltype.Type{Kind: kind}} }

// NVarChar returns nvarchar(n).
func NVarChar(n int) Type { return Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: n}} }

// VarChar returns varchar(n).
func VarChar(n int) Type { return Type{Type: sqltype.Type{Kind: sqltype.VarChar, Length: n}} }

// VarBinary returns varbinary(n).
func VarBinary(n int) Type { return Type{Type: sqltype.Type{Kind: sqltype.VarBinary, Length: n}} }

// DecimalType returns decimal(precision, scale).
func DecimalType(precision, scale int) Type {
	return Type{Type: sqltype.Type{Kind: sqltype.Decimal, Precision: precision, Scale: scale}}
}

// With returns t with a collation.
func (t Type) With(c *Collation) Type {
	t.Collation = c
	return t
}

// ParseType returns the type that a text such as "nvarchar(50)" declares.
func ParseType(text string) (Type, error) {
	name, rest, found := strings.Cut(text, "(")
	var args []string
	if found {
		rest, _, _ = strings.Cut(rest, ")")
		for arg := range strings.SplitSeq(rest, ",") {
			args = append(args, strings.TrimSpace(arg))
		}
	}
	t, err := sqltype.Parse(name, args)
	return Type{Type: t}, err
}

// group is a family of types that conversions treat alike. It follows from the kind of a type alone.
type group uint8

const (
	noGroup group = iota
	nullGroup
	bitGroup
	intGroup
	decimalGroup
	moneyGroup
	floatGroup
	charGroup  // char, varchar, text
	ncharGroup // nchar, nvarchar, ntext
	xmlGroup
	binaryGroup // binary, varbinary, image, rowversion, and the types made in .NET
	dateGroup
	timeGroup
	datetimeGroup // datetime, smalldatetime
	datetime2Group
	offsetGroup
	guidGroup
	variantGroup
)

// groupOf returns the group of a kind.
func groupOf(k sqltype.Kind) group {
	switch k {
	case sqltype.Null:
		return nullGroup
	case sqltype.Bit:
		return bitGroup
	case sqltype.TinyInt, sqltype.SmallInt, sqltype.Int, sqltype.BigInt:
		return intGroup
	case sqltype.Decimal:
		return decimalGroup
	case sqltype.Money, sqltype.SmallMoney:
		return moneyGroup
	case sqltype.Float, sqltype.Real:
		return floatGroup
	case sqltype.NVarChar, sqltype.NChar, sqltype.NText:
		return ncharGroup
	case sqltype.VarChar, sqltype.Char, sqltype.Text:
		return charGroup
	case sqltype.XML:
		return xmlGroup
	case sqltype.VarBinary, sqltype.Binary, sqltype.Image, sqltype.RowVersion,
		sqltype.HierarchyID, sqltype.Geometry, sqltype.Geography:
		return binaryGroup
	case sqltype.Date:
		return dateGroup
	case sqltype.Time:
		return timeGroup
	case sqltype.DateTime, sqltype.SmallDateTime:
		return datetimeGroup
	case sqltype.DateTime2:
		return datetime2Group
	case sqltype.DateTimeOffset:
		return offsetGroup
	case sqltype.UniqueIdentifier:
		return guidGroup
	case sqltype.SQLVariant:
		return variantGroup
	default:
		return noGroup
	}
}
