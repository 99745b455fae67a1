package builtin

import "github.com/duroxide/duroxide-go/tsql/internal/sqltype"

// The types that built-in functions yield most often.
var (
	typeInt         = sqltype.Type{Kind: sqltype.Int}
	typeBigInt      = sqltype.Type{Kind: sqltype.BigInt}
	typeSmallInt    = sqltype.Type{Kind: sqltype.SmallInt}
	typeTinyInt     = sqltype.Type{Kind: sqltype.TinyInt}
	typeBit         = sqltype.Type{Kind: sqltype.Bit}
	typeFloat       = sqltype.Type{Kind: sqltype.Float}
	typeDate        = sqltype.Type{Kind: sqltype.Date}
	typeDateTime    = sqltype.Type{Kind: sqltype.DateTime}
	typeGUID        = sqltype.Type{Kind: sqltype.UniqueIdentifier}
	typeVariant     = sqltype.Type{Kind: sqltype.SQLVariant}
	typeNVarCharMax = nvarchar(sqltype.Max)
	typeSysname     = nvarchar(128)
)

func nvarchar(n int) sqltype.Type  { return sqltype.Type{Kind: sqltype.NVarChar, Length: n} }
func varchar(n int) sqltype.Type   { return sqltype.Type{Kind: sqltype.VarChar, Length: n} }
func varbinary(n int) sqltype.Type { return sqltype.Type{Kind: sqltype.VarBinary, Length: n} }

func decimal(precision, scale int) sqltype.Type {
	return sqltype.Type{Kind: sqltype.Decimal, Precision: precision, Scale: scale}
}

// dateTime2 and its neighbours have fractional digits.
func dateTime2(scale int) sqltype.Type {
	return sqltype.Type{Kind: sqltype.DateTime2, Scale: scale}
}

func dateTimeOffset(scale int) sqltype.Type {
	return sqltype.Type{Kind: sqltype.DateTimeOffset, Scale: scale}
}

func timeOf(scale int) sqltype.Type { return sqltype.Type{Kind: sqltype.Time, Scale: scale} }
