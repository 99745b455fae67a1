// Package sqltype describes T-SQL data types: their facets, their order of precedence, and what an operation on two of
// them yields. It knows nothing of tables, of statements or of Go.
//
// The files in reading order: sqltype.go has the types, class.go the table of what is known about each, parse.go
// reads and
// prints them, literal.go types constants, convert.go says what converts to what, combine.go what two operands become,
// arithmetic.go and aggregate.go what operators and aggregate functions return.
//
// The rules are the documented ones of SQL Server 2016 and later; where the documentation is silent, a comment says
// what
// was taken and why. Functions return an error for what a server refuses, without a position: the caller knows it.
package sqltype

// A Kind names a built-in data type by its canonical T-SQL name.
type Kind string

// The built-in types. Synonyms (integer, dec, numeric, national character varying, sysname, timestamp, …) are resolved
// to these when a type is written in a script; numeric is decimal and timestamp is rowversion.
const (
	Invalid          Kind = ""     // no type: an error was reported where it should have come from
	Null             Kind = "null" // the untyped NULL literal
	Bit              Kind = "bit"
	TinyInt          Kind = "tinyint"
	SmallInt         Kind = "smallint"
	Int              Kind = "int"
	BigInt           Kind = "bigint"
	Decimal          Kind = "decimal"
	SmallMoney       Kind = "smallmoney"
	Money            Kind = "money"
	Real             Kind = "real"
	Float            Kind = "float"
	Char             Kind = "char"
	VarChar          Kind = "varchar"
	NChar            Kind = "nchar"
	NVarChar         Kind = "nvarchar"
	Text             Kind = "text"
	NText            Kind = "ntext"
	Binary           Kind = "binary"
	VarBinary        Kind = "varbinary"
	Image            Kind = "image"
	Date             Kind = "date"
	Time             Kind = "time"
	SmallDateTime    Kind = "smalldatetime"
	DateTime         Kind = "datetime"
	DateTime2        Kind = "datetime2"
	DateTimeOffset   Kind = "datetimeoffset"
	UniqueIdentifier Kind = "uniqueidentifier"
	RowVersion       Kind = "rowversion"
	XML              Kind = "xml"
	SQLVariant       Kind = "sql_variant"
	HierarchyID      Kind = "hierarchyid"
	Geometry         Kind = "geometry"
	Geography        Kind = "geography"
	Table            Kind = "table"  // a table type, named by Type.Name
	Cursor           Kind = "cursor" // only of parameters and variables
)

// Max is the Length of varchar(max), nvarchar(max) and varbinary(max).
const Max = -1

// A Type is a data type with its facets. The zero value is Invalid. Types are compared with ==.
type Type struct {
	Kind Kind
	// Length is the declared length of character and binary types: characters for nchar and nvarchar, bytes for the
	// others, or Max. It is 0 for all other kinds.
	Length int
	// Precision and Scale are those of decimal. Scale is also the number of fractional digits of time, datetime2 and
	// datetimeoffset.
	Precision, Scale int
	// Name is the schema-qualified name of a table type, as it was created; empty for everything else. Alias types
	// are resolved to what they stand for.
	Name string
}
