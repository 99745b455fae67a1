package sqltype

import "slices"

// A class is a family of types that conversions and operators treat alike. The matrix of conversions has a row for each
// instead of one for each of some thirty kinds.
type class int

const (
	classNone class = iota
	classNull
	classBit
	classInteger
	classDecimal
	classMoney
	classApprox    // real, float
	classCharacter // char, varchar
	classNational  // nchar, nvarchar
	classText
	classNText
	classBinary // binary, varbinary
	classImage
	classDate
	classTime
	classDateTime  // datetime, smalldatetime: the two that are numbers of days underneath
	classDateTime2 // datetime2, datetimeoffset
	classGUID
	classRowVersion
	classXML
	classVariant
	classHierarchy
	classSpatial
	classTable
	classCursor
)

// facet says which arguments a type takes in parentheses. It decides how a type is read and how it is printed.
type facet int

const (
	noFacet       facet = iota
	lengthFacet         // (n)
	maxFacet            // (n) or (max)
	decimalFacet        // (p), (p,s)
	scaleFacet          // (n) fractional digits of a second
	mantissaFacet       // float(n)
)

// kindInfo is what is known about a kind. Rank is its place in T-SQL's data type precedence, 1 being the highest; limit
// is the greatest length that can be declared.
type kindInfo struct {
	class class
	rank  int
	facet facet
	limit int // of nchar and nvarchar in characters, else in bytes; 0 for kinds without a length
}

// kinds is the table of the built-in types, in the order of precedence:
// https://learn.microsoft.com/sql/t-sql/data-types/data-type-precedence-transact-sql
//
// The types that are made in .NET share the first rank with user-defined ones; they never mix. NULL comes last, so that
// it takes any other type.
var kinds = map[Kind]kindInfo{
	HierarchyID:      {class: classHierarchy, rank: 1},
	Geometry:         {class: classSpatial, rank: 1},
	Geography:        {class: classSpatial, rank: 1},
	SQLVariant:       {class: classVariant, rank: 2},
	XML:              {class: classXML, rank: 3},
	DateTimeOffset:   {class: classDateTime2, rank: 4, facet: scaleFacet},
	DateTime2:        {class: classDateTime2, rank: 5, facet: scaleFacet},
	DateTime:         {class: classDateTime, rank: 6},
	SmallDateTime:    {class: classDateTime, rank: 7},
	Date:             {class: classDate, rank: 8},
	Time:             {class: classTime, rank: 9, facet: scaleFacet},
	Float:            {class: classApprox, rank: 10, facet: mantissaFacet},
	Real:             {class: classApprox, rank: 11},
	Decimal:          {class: classDecimal, rank: 12, facet: decimalFacet},
	Money:            {class: classMoney, rank: 13},
	SmallMoney:       {class: classMoney, rank: 14},
	BigInt:           {class: classInteger, rank: 15},
	Int:              {class: classInteger, rank: 16},
	SmallInt:         {class: classInteger, rank: 17},
	TinyInt:          {class: classInteger, rank: 18},
	Bit:              {class: classBit, rank: 19},
	NText:            {class: classNText, rank: 20},
	Text:             {class: classText, rank: 21},
	Image:            {class: classImage, rank: 22},
	RowVersion:       {class: classRowVersion, rank: 23},
	UniqueIdentifier: {class: classGUID, rank: 24},
	NVarChar:         {class: classNational, rank: 25, facet: maxFacet, limit: 4000},
	NChar:            {class: classNational, rank: 26, facet: lengthFacet, limit: 4000},
	VarChar:          {class: classCharacter, rank: 27, facet: maxFacet, limit: 8000},
	Char:             {class: classCharacter, rank: 28, facet: lengthFacet, limit: 8000},
	VarBinary:        {class: classBinary, rank: 29, facet: maxFacet, limit: 8000},
	Binary:           {class: classBinary, rank: 30, facet: lengthFacet, limit: 8000},
	Null:             {class: classNull, rank: 31},
	Table:            {class: classTable},
	Cursor:           {class: classCursor},
}

// class returns the family of t; classNone for Invalid and for kinds that don't exist.
func (t Type) class() class { return kinds[t.Kind].class }

// in reports whether the type is of one of the classes.
func (t Type) in(classes ...class) bool {
	return slices.Contains(classes, t.class())
}

// IsCharacter reports whether t is char, varchar, nchar, nvarchar, text or ntext.
func (t Type) IsCharacter() bool {
	return t.in(classCharacter, classNational, classText, classNText)
}

// IsNational reports whether t is nchar, nvarchar or ntext.
// Their lengths count characters of two bytes; those of the other strings count bytes.
func (t Type) IsNational() bool { return t.in(classNational, classNText) }

// IsBinary reports whether t is binary, varbinary, image or rowversion.
// Rowversion is eight bytes that the server writes, and computes with binaries.
func (t Type) IsBinary() bool { return t.in(classBinary, classImage, classRowVersion) }

// IsExactInteger reports whether t is tinyint, smallint, int or bigint. Bit is a truth value, not a number to count
// with.
func (t Type) IsExactInteger() bool { return t.in(classInteger) }

// IsMoney reports whether t is money or smallmoney.
func (t Type) IsMoney() bool { return t.in(classMoney) }

// IsApproximate reports whether t is real or float.
func (t Type) IsApproximate() bool { return t.in(classApprox) }

// IsNumeric reports whether t is bit, an integer, decimal, money, real or float.
func (t Type) IsNumeric() bool {
	return t.in(classBit, classInteger, classDecimal, classMoney, classApprox)
}

// IsTemporal reports whether t is a date, a time, or both.
// Only datetime and smalldatetime of these are numbers underneath; the others take no arithmetic.
func (t Type) IsTemporal() bool {
	return t.in(classDate, classTime, classDateTime, classDateTime2)
}

// IsMax reports whether t is varchar(max), nvarchar(max) or varbinary(max).
func (t Type) IsMax() bool { return t.Length == Max }

// IsLOB reports whether values of t may exceed a page: the (max) types, text, ntext, image, xml and the spatial types.
func (t Type) IsLOB() bool {
	return t.IsMax() || t.in(classText, classNText, classImage, classXML, classSpatial)
}

// IsScalar reports whether t is a type that a column may have: neither invalid, nor NULL, nor a table, nor a cursor.
func (t Type) IsScalar() bool {
	return !t.in(classNone, classNull, classTable, classCursor)
}

// Precedence returns the rank of t in T-SQL's data type precedence: of two operands, the one with the lower number
// decides, and the other is converted to it. It is 0 for types that are no operands.
// A column and a parameter of different types are compared in the one that ranks higher, which is why it matters to
// indexes
// which of them is converted.
func (t Type) Precedence() int { return kinds[t.Kind].rank }

// asDecimal returns the decimal type that an exact number is converted to before it is combined with a decimal: the one
// whose digits hold all of its values, int as decimal(10,0). It is false for everything that is no exact number.
func (t Type) asDecimal() (Type, bool) {
	var precision, scale int
	switch t.Kind {
	case Decimal:
		return t, true
	case Bit: // undocumented, but one digit holds it
		precision = 1
	case TinyInt:
		precision = 3
	case SmallInt:
		precision = 5
	case Int:
		precision = 10
	case BigInt:
		precision = 19
	case SmallMoney:
		precision, scale = 10, 4
	case Money:
		precision, scale = 19, 4
	default:
		return Type{}, false
	}
	return Type{Kind: Decimal, Precision: precision, Scale: scale}, true
}
