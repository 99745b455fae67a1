package schema

import (
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// firstUserType is the user_type_id of the first type that a script creates.
const firstUserType int32 = 257

// SysnameID is the user_type_id of sysname.
const SysnameID int32 = 256

// SystemType is a row of sys.types that every database has.
type SystemType struct {
	Name                        string
	SystemID, UserID            int32
	MaxLength, Precision, Scale int
	Kind                        sqltype.Kind
	Nullable                    bool
	Collated                    bool
}

// SystemTypes are the server's own types, with the ids and facets that sys.types of SQL Server has. numeric is a type
// of its own there, and decimal here: the front end takes them for one.
var SystemTypes = []SystemType{
	{"image", 34, 34, 16, 0, 0, sqltype.Image, true, false},
	{"text", 35, 35, 16, 0, 0, sqltype.Text, true, true},
	{"uniqueidentifier", 36, 36, 16, 0, 0, sqltype.UniqueIdentifier, true, false},
	{"date", 40, 40, 3, 10, 0, sqltype.Date, true, false},
	{"time", 41, 41, 5, 16, 7, sqltype.Time, true, false},
	{"datetime2", 42, 42, 8, 27, 7, sqltype.DateTime2, true, false},
	{"datetimeoffset", 43, 43, 10, 34, 7, sqltype.DateTimeOffset, true, false},
	{"tinyint", 48, 48, 1, 3, 0, sqltype.TinyInt, true, false},
	{"smallint", 52, 52, 2, 5, 0, sqltype.SmallInt, true, false},
	{"int", 56, 56, 4, 10, 0, sqltype.Int, true, false},
	{"smalldatetime", 58, 58, 4, 16, 0, sqltype.SmallDateTime, true, false},
	{"real", 59, 59, 4, 24, 0, sqltype.Real, true, false},
	{"money", 60, 60, 8, 19, 4, sqltype.Money, true, false},
	{"datetime", 61, 61, 8, 23, 3, sqltype.DateTime, true, false},
	{"float", 62, 62, 8, 53, 0, sqltype.Float, true, false},
	{"sql_variant", 98, 98, 8016, 0, 0, sqltype.SQLVariant, true, false},
	{"ntext", 99, 99, 16, 0, 0, sqltype.NText, true, true},
	{"bit", 104, 104, 1, 1, 0, sqltype.Bit, true, false},
	{"decimal", 106, 106, 17, 38, 38, sqltype.Decimal, true, false},
	{"numeric", 108, 108, 17, 38, 38, "", true, false},
	{"smallmoney", 122, 122, 4, 10, 4, sqltype.SmallMoney, true, false},
	{"bigint", 127, 127, 8, 19, 0, sqltype.BigInt, true, false},
	{"hierarchyid", 240, 128, 892, 0, 0, sqltype.HierarchyID, true, false},
	{"geometry", 240, 129, -1, 0, 0, sqltype.Geometry, true, false},
	{"geography", 240, 130, -1, 0, 0, sqltype.Geography, true, false},
	{"varbinary", 165, 165, 8000, 0, 0, sqltype.VarBinary, true, false},
	{"varchar", 167, 167, 8000, 0, 0, sqltype.VarChar, true, true},
	{"binary", 173, 173, 8000, 0, 0, sqltype.Binary, true, false},
	{"char", 175, 175, 8000, 0, 0, sqltype.Char, true, true},
	{"timestamp", 189, 189, 8, 0, 0, sqltype.RowVersion, false, false},
	{"nvarchar", 231, 231, 8000, 0, 0, sqltype.NVarChar, true, true},
	{"nchar", 239, 239, 8000, 0, 0, sqltype.NChar, true, true},
	{"xml", 241, 241, -1, 0, 0, sqltype.XML, true, false},
	{"sysname", 231, 256, 256, 0, 0, "", false, true},
}

// TypeID returns the system_type_id of a type; 0 if it has none.
func TypeID(t Type) int32 {
	if t.Kind == sqltype.Table {
		return 243
	}
	for _, s := range SystemTypes {
		if s.Kind == t.Kind {
			return s.SystemID
		}
	}
	return 0
}

// SystemTypeByName finds one of the server's own types; rowversion is timestamp there.
func SystemTypeByName(folded string) (SystemType, bool) {
	if folded == "rowversion" {
		folded = "timestamp"
	}
	for _, s := range SystemTypes {
		if s.Name == folded {
			return s, true
		}
	}
	return SystemType{}, false
}

// MaxLength returns max_length of sys.columns: bytes, -1 for the (max) types.
func MaxLength(t Type) int {
	switch t.Kind {
	case sqltype.Char, sqltype.VarChar, sqltype.Binary, sqltype.VarBinary, sqltype.NChar, sqltype.NVarChar,
		sqltype.Decimal, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return t.StorageBytes()
	default:
		for _, s := range SystemTypes {
			if s.Kind == t.Kind {
				return s.MaxLength
			}
		}
		return 0
	}
}

// Precision returns precision of sys.columns.
func Precision(t Type) int {
	switch t.Kind {
	case sqltype.Decimal:
		return t.Precision
	case sqltype.Time:
		return withFraction(8, t.Scale)
	case sqltype.DateTime2:
		return withFraction(19, t.Scale)
	case sqltype.DateTimeOffset:
		return withFraction(26, t.Scale)
	default:
		for _, s := range SystemTypes {
			if s.Kind == t.Kind {
				return s.Precision
			}
		}
		return 0
	}
}

// withFraction adds the digits of a fraction and their point.
func withFraction(characters, scale int) int {
	if scale == 0 {
		return characters
	}
	return characters + 1 + scale
}

// Scale returns scale of sys.columns.
func Scale(t Type) int {
	switch t.Kind {
	case sqltype.Decimal, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return t.Scale
	case sqltype.Money, sqltype.SmallMoney:
		return 4
	case sqltype.DateTime:
		return 3
	default:
		return 0
	}
}
