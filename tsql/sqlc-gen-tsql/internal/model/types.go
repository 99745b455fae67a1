package model

import (
	"fmt"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// A GoType is what stands in Go for a T-SQL type. One T-SQL type has one Go type, whether it is a parameter, a column
// or an output, so that what is read can be written back.
type GoType struct {
	Name string // as it is written: "mssql.UniqueIdentifier"
	Kind string // the kind of package render/runtime that puts it on the wire: "sqlNVarChar(50)"
	Decl string // the T-SQL type: "nvarchar(50)"
	SQL  sqltype.Type
	// UTC says that a result has no offset and is in UTC.
	UTC bool
	// TVP and TVPNull are what the driver's own table arguments take; empty if it can't send the type exactly.
	TVP, TVPNull string
}

// Bytes says that nil is the NULL of the type, so that it needs no pointer.
func (t GoType) Bytes() bool { return t.Name == "[]byte" }

// A TypeRow is a row of the table of types in the documentation.
type TypeRow struct{ SQL, Go, Wire, Note string }

// Types is the table of types. It says in words what goType does, for the README, which a test compares with it.
var Types = []TypeRow{
	{"bit", "bool", "bit", ""},
	{"tinyint", "uint8", "tinyint", ""},
	{"smallint", "int16", "smallint", ""},
	{"int", "int32", "int", ""},
	{"bigint", "int64", "bigint", ""},
	{"real", "float32", "real", "NaN and infinities are refused"},
	{"float", "float64", "float", "NaN and infinities are refused"},
	{"decimal, numeric", "decimal.Decimal", "its digits as text", "a value that would be rounded is refused"},
	{"money, smallmoney", "decimal.Decimal", "mssql.Money", "more than four decimals are refused"},
	{"nchar, nvarchar, ntext", "string", "nvarchar, nchar", "longer than declared, in UTF-16 units, or invalid UTF-8 is refused"},
	{"char, varchar, text", "string", "varchar if ASCII, else nvarchar", "longer than declared, in characters, is refused; the server converts to its code page"},
	{"xml", "string", "nvarchar(max)", ""},
	{"binary, varbinary, image", "[]byte", "varbinary", "nil is NULL where NULL is allowed, else empty"},
	{"rowversion", "[]byte", "varbinary", "8 bytes"},
	{"uniqueidentifier", "mssql.UniqueIdentifier", "uniqueidentifier", ""},
	{"date", "time.Time", "date", "the date in the value's own location; results are midnight UTC"},
	{"time", "time.Time", "time(7)", "the time of day in the value's own location; results are on 1 January of year 1, UTC"},
	{"datetime2", "time.Time", "datetime2(7)", "converted to UTC"},
	{"datetime", "time.Time", "datetime", "converted to UTC, rounded to 1/300 s"},
	{"smalldatetime", "time.Time", "datetime", "converted to UTC, rounded to the minute"},
	{"datetimeoffset", "time.Time", "datetimeoffset(7)", "the offset is kept"},
	{"a table type", "a slice of structs", "see the option tables", ""},
}

// plain are the types without facets that matter. Those that lack TVP, or TVPNull, the driver would round, cut or
// refuse.
var plain = map[sqltype.Kind]GoType{
	sqltype.Bit:              {Name: "bool", Kind: "sqlBit{}", TVP: "bool", TVPNull: "sql.NullBool"},
	sqltype.TinyInt:          {Name: "uint8", Kind: "sqlTinyInt{}", TVP: "uint8", TVPNull: "sql.NullByte"},
	sqltype.SmallInt:         {Name: "int16", Kind: "sqlSmallInt{}", TVP: "int16", TVPNull: "sql.NullInt16"},
	sqltype.Int:              {Name: "int32", Kind: "sqlInt{}", TVP: "int32", TVPNull: "sql.NullInt32"},
	sqltype.BigInt:           {Name: "int64", Kind: "sqlBigInt{}", TVP: "int64", TVPNull: "sql.NullInt64"},
	sqltype.Real:             {Name: "float32", Kind: "sqlReal{}", TVP: "float32", TVPNull: "sql.NullFloat64"},
	sqltype.Float:            {Name: "float64", Kind: "sqlFloat{}", TVP: "float64", TVPNull: "sql.NullFloat64"},
	sqltype.Money:            {Name: "decimal.Decimal", Kind: "sqlMoney{money}"},
	sqltype.SmallMoney:       {Name: "decimal.Decimal", Kind: "sqlMoney{smallMoney}"},
	sqltype.Text:             {Name: "string", Kind: "sqlVarChar(maxLength)"},
	sqltype.NText:            {Name: "string", Kind: "sqlNVarChar(maxLength)"},
	sqltype.XML:              {Name: "string", Kind: "sqlNVarChar(maxLength)"},
	sqltype.Image:            {Name: "[]byte", Kind: "sqlVarBinary(maxLength)"},
	sqltype.RowVersion:       {Name: "[]byte", Kind: "sqlVarBinary(8)", Decl: "binary(8)", TVP: "[]byte"},
	sqltype.UniqueIdentifier: {Name: "mssql.UniqueIdentifier", Kind: "sqlUniqueIdentifier{}", TVP: "mssql.UniqueIdentifier"},
	sqltype.Date:             {Name: "time.Time", Kind: "sqlDate{}", UTC: true, TVP: "civil.Date", TVPNull: "mssql.NullDate"},
	sqltype.Time:             {Name: "time.Time", Kind: "sqlTime{}", UTC: true, TVP: "civil.Time", TVPNull: "mssql.NullTime"},
	sqltype.SmallDateTime:    {Name: "time.Time", Kind: "sqlSmallDateTime{}", UTC: true, TVP: "mssql.DateTime1", TVPNull: "mssql.NullDateTime"},
	sqltype.DateTime:         {Name: "time.Time", Kind: "sqlDateTime{}", UTC: true, TVP: "mssql.DateTime1", TVPNull: "mssql.NullDateTime"},
	sqltype.DateTime2:        {Name: "time.Time", Kind: "sqlDateTime2{}", UTC: true, TVP: "civil.DateTime", TVPNull: "mssql.NullDateTime"},
	sqltype.DateTimeOffset:   {Name: "time.Time", Kind: "sqlDateTimeOffset{}", TVP: "mssql.DateTimeOffset", TVPNull: "sql.NullTime"},
}

// sized are the types with a length, which completes their kind.
var sized = map[sqltype.Kind]GoType{
	sqltype.Char:      {Name: "string", Kind: "sqlChar", TVP: "sql.NullString", TVPNull: "sql.NullString"},
	sqltype.VarChar:   {Name: "string", Kind: "sqlVarChar", TVP: "sql.NullString", TVPNull: "sql.NullString"},
	sqltype.NChar:     {Name: "string", Kind: "sqlNChar", TVP: "sql.NullString", TVPNull: "sql.NullString"},
	sqltype.NVarChar:  {Name: "string", Kind: "sqlNVarChar", TVP: "sql.NullString", TVPNull: "sql.NullString"},
	sqltype.Binary:    {Name: "[]byte", Kind: "sqlVarBinary", TVP: "[]byte", TVPNull: "[]byte"},
	sqltype.VarBinary: {Name: "[]byte", Kind: "sqlVarBinary", TVP: "[]byte", TVPNull: "[]byte"},
}

// refused are the types that nothing stands for, with what to do instead.
var refused = map[sqltype.Kind]string{
	sqltype.SQLVariant:  "CAST it to the type that it holds, or declare it so",
	sqltype.HierarchyID: "CAST it to nvarchar(4000) or varbinary(892), or declare it so",
	sqltype.Geometry:    "CAST it to varbinary(max), or declare it so",
	sqltype.Geography:   "CAST it to varbinary(max), or declare it so",
	sqltype.Cursor:      "return the rows as a result set",
	sqltype.Null:        "CAST the NULL to a type",
	sqltype.Table:       "a table can only be a READONLY parameter",
}

// goType returns what stands for a type, or what to do about a type that nothing stands for: fix is empty if all is
// well.
func goType(t sqltype.Type) (g GoType, fix string) {
	decl := declaration(t)
	switch {
	case t.Kind == sqltype.Decimal:
		return GoType{Name: "decimal.Decimal", Kind: fmt.Sprintf("sqlDecimal{%d, %d}", t.Precision, t.Scale), Decl: decl, SQL: t}, ""
	case sized[t.Kind].Name != "":
		g = sized[t.Kind]
		g.Kind += "(" + length(t.Length, "maxLength") + ")"
	case plain[t.Kind].Name != "":
		g = plain[t.Kind]
	case refused[t.Kind] != "":
		return GoType{}, refused[t.Kind]
	default:
		return GoType{}, "give it a type"
	}
	if g.Decl == "" { // all but rowversion, which can't be declared and is a binary(8) to whoever sends one
		g.Decl = decl
	}
	g.SQL = t
	return g, ""
}

// declaration writes a type as T-SQL does, with all its facets: what they are by default depends on where a type
// stands.
func declaration(t sqltype.Type) string {
	switch t.Kind {
	case sqltype.Decimal:
		return fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
	case sqltype.Char, sqltype.VarChar, sqltype.NChar, sqltype.NVarChar, sqltype.Binary, sqltype.VarBinary:
		return string(t.Kind) + "(" + length(t.Length, "max") + ")"
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return string(t.Kind) + "(" + strconv.Itoa(t.Scale) + ")"
	case sqltype.Table:
		return t.Name
	default:
		return string(t.Kind)
	}
}

// length writes a length, with the word for no limit.
func length(n int, most string) string {
	if n == sqltype.Max {
		return most
	}
	return strconv.Itoa(n)
}
