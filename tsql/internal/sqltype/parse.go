package sqltype

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxPrecision is the greatest precision of decimal.
const maxPrecision = 38

// synonyms maps every other spelling of a type to its kind. Spellings of several words have single blanks.
var synonyms = map[string]Kind{
	"integer":                    Int,
	"dec":                        Decimal,
	"numeric":                    Decimal,
	"double precision":           Float,
	"character":                  Char,
	"char varying":               VarChar,
	"character varying":          VarChar,
	"national char":              NChar,
	"national character":         NChar,
	"national char varying":      NVarChar,
	"national character varying": NVarChar,
	"national text":              NText,
	"binary varying":             VarBinary,
	"timestamp":                  RowVersion,
}

// newer maps types of later servers than those that are generated for to what to use instead.
var newer = map[string]string{
	"json":   "nvarchar(max)",
	"vector": "varbinary(8000)",
}

// foreign maps types of other languages and servers to what to use instead.
// Only those that are common: a name that isn't here is still refused, merely without advice.
var foreign = map[string]string{
	"bool": "bit", "boolean": "bit", "byte": "tinyint", "int2": "smallint", "int4": "int", "int8": "bigint", "int64": "bigint",
	"serial": "int IDENTITY", "bigserial": "bigint IDENTITY", "float4": "real", "float8": "float", "double": "float",
	"number": "decimal", "string": "nvarchar", "varchar2": "varchar", "nvarchar2": "nvarchar", "clob": "varchar(max)",
	"nclob": "nvarchar(max)", "longtext": "nvarchar(max)", "blob": "varbinary(max)", "bytea": "varbinary(max)", "jsonb": "nvarchar(max)",
	"uuid": "uniqueidentifier", "guid": "uniqueidentifier", "timestamptz": "datetimeoffset",
}

// Parse resolves a built-in type as it is written where something is declared: a column, a variable, a parameter. The
// name may be in any case and its words separated by any blanks. Facets that are left out take their defaults:
// decimal(18,0), char(1), varchar(1), datetime2(7), float(53).
func Parse(name string, args []string) (Type, error) { return parse(name, args, 1) }

// ParseCast is [Parse] for the target of CAST and CONVERT, where a length that is left out is 30 instead of 1.
func ParseCast(name string, args []string) (Type, error) { return parse(name, args, 30) }

// Known reports whether a name is that of a built-in type or a synonym of one.
// A name that is not may be one of a script's own types.
func Known(name string) bool {
	name = normalize(name)
	_, ok := lookup(name)
	return ok || IsSysname(name)
}

// Names returns the names of all built-in types and their synonyms, sorted.
func Names() []string {
	names := slices.AppendSeq([]string{"sysname"}, maps.Keys(synonyms))
	for kind := range kinds {
		if _, ok := lookup(string(kind)); ok {
			names = append(names, string(kind))
		}
	}
	slices.Sort(names)
	return names
}

// IsSysname reports whether a name is sysname: nvarchar(128) that is NOT NULL unless a definition says otherwise.
func IsSysname(name string) bool { return normalize(name) == "sysname" }

// normalize folds a name to lower case with single blanks.
func normalize(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// lookup finds the kind that a normalized name stands for. sysname is none: it has a length of its own.
func lookup(name string) (Kind, bool) {
	if kind, ok := synonyms[name]; ok {
		return kind, true
	}
	kind := Kind(name)
	if kind == Table || kind == Null {
		return Invalid, false // kinds without a name in T-SQL
	}
	_, ok := kinds[kind]
	return kind, ok
}

// parse is Parse with the length that one that is left out stands for: 1 in a declaration, 30 in a CAST. That T-SQL
// has two
// is a trap (DECLARE @s varchar is varchar(1)), but a server's, and is followed.
func parse(name string, args []string, length int) (Type, error) {
	name = normalize(name)
	if IsSysname(name) {
		if len(args) > 0 {
			return Type{}, errors.New("sysname takes no length: it is nvarchar(128)")
		}
		return Type{Kind: NVarChar, Length: 128}, nil
	}
	kind, ok := lookup(name)
	if !ok {
		return Type{}, unknown(name)
	}
	switch info := kinds[kind]; info.facet {
	case lengthFacet, maxFacet:
		return parseLength(kind, args, length)
	case decimalFacet:
		return parseDecimal(args)
	case scaleFacet:
		return parseScale(kind, args)
	case mantissaFacet:
		return parseFloat(name, args)
	default:
		if len(args) > 0 {
			return Type{}, noFacetError(kind, args)
		}
		return Type{Kind: kind}, nil
	}
}

// An UnknownError says that no type has a name. The advice stands apart from the message, as in a finding.
type UnknownError struct {
	Message string
	Fix     string // what to write instead; empty if nobody knows
}

// Error returns the message without the advice.
func (e *UnknownError) Error() string { return e.Message }

// unknown says that there is no type of a normalized name, and what may be meant by those of other servers.
func unknown(name string) *UnknownError {
	if instead := newer[name]; instead != "" {
		return &UnknownError{Message: fmt.Sprintf("the type %s needs SQL Server 2025", name), Fix: "write " + instead}
	}
	e := &UnknownError{Message: "unknown type " + name}
	if instead := foreign[name]; instead != "" {
		e.Fix = "write " + instead
	}
	return e
}

// noFacetError says what to write instead of facets that a type doesn't have.
// Lengths of integers are a habit from MySQL, and datetime(3) is what was meant by datetime2(3).
func noFacetError(kind Kind, args []string) error {
	text := fmt.Sprintf("%s takes nothing in parentheses", kind)
	switch {
	case kind == DateTime && len(args) == 1:
		return fmt.Errorf("%s: use datetime2(%s) for another precision", text, args[0])
	case kinds[kind].class == classInteger:
		return fmt.Errorf("%s: leave (%s) out", text, strings.Join(args, ","))
	default:
		return errors.New(text)
	}
}

// parseLength resolves a character or binary type. The limits are those of a page, 8,000 bytes.
func parseLength(kind Kind, args []string, length int) (Type, error) {
	info := kinds[kind]
	switch {
	case len(args) == 0:
		return Type{Kind: kind, Length: length}, nil
	case len(args) > 1:
		return Type{}, fmt.Errorf("%s takes one length, not %d", kind, len(args))
	case strings.EqualFold(args[0], "max"):
		if info.facet != maxFacet {
			return Type{}, fmt.Errorf("%s(max) doesn't exist: use %s(max)", kind, varying(kind))
		}
		return Type{Kind: kind, Length: Max}, nil
	}
	n, err := number(kind, "length", args[0])
	if err != nil {
		return Type{}, err
	}
	if n < 1 {
		return Type{}, fmt.Errorf("%s(%s): the length is at least 1", kind, args[0])
	}
	if n > info.limit {
		return Type{}, fmt.Errorf("%s(%s): the length is at most %d; use %s(max) for more", kind, args[0], info.limit, varying(kind))
	}
	return Type{Kind: kind, Length: n}, nil
}

// varying returns the kind of varying length that corresponds to a kind with a length.
func varying(kind Kind) Kind {
	switch kind {
	case Char:
		return VarChar
	case NChar:
		return NVarChar
	case Binary:
		return VarBinary
	default:
		return kind
	}
}

// parseDecimal resolves decimal(p,s). Left out, the precision is 18 and the scale 0: decimal has no fractional digits.
func parseDecimal(args []string) (Type, error) {
	t := Type{Kind: Decimal, Precision: 18}
	if len(args) > 2 {
		return Type{}, fmt.Errorf("decimal takes a precision and a scale, not %d numbers", len(args))
	}
	var err error
	if len(args) > 0 {
		if t.Precision, err = number(Decimal, "precision", args[0]); err != nil {
			return Type{}, err
		}
	}
	if len(args) > 1 {
		if t.Scale, err = number(Decimal, "scale", args[1]); err != nil {
			return Type{}, err
		}
	}
	switch {
	case t.Precision < 1 || t.Precision > maxPrecision:
		return Type{}, fmt.Errorf("%s: the precision is from 1 to %d", t, maxPrecision)
	case t.Scale > t.Precision:
		return Type{}, fmt.Errorf("%s: the scale is at most the precision", t)
	}
	return t, nil
}

// parseScale resolves a type with fractional seconds: time(n), datetime2(n), datetimeoffset(n). Seven digits, of 100
// ns, are
// both the most and the default.
func parseScale(kind Kind, args []string) (Type, error) {
	t := Type{Kind: kind, Scale: 7}
	if len(args) == 0 {
		return t, nil
	}
	if len(args) > 1 {
		return Type{}, fmt.Errorf("%s takes one number of fractional digits, not %d numbers", kind, len(args))
	}
	n, err := number(kind, "number of fractional digits", args[0])
	if err != nil {
		return Type{}, err
	}
	if n > 7 {
		return Type{}, fmt.Errorf("%s(%s): at most 7 fractional digits", kind, args[0])
	}
	t.Scale = n
	return t, nil
}

// parseFloat resolves float(n): up to 24 bits of mantissa it is real, and beyond float(53), whatever n says. The server
// has but these two.
func parseFloat(name string, args []string) (Type, error) {
	if len(args) == 0 {
		return Type{Kind: Float}, nil
	}
	// "double precision" is float(53) by itself and takes no number.
	if len(args) > 1 || name != string(Float) {
		return Type{}, fmt.Errorf("%s doesn't take (%s): write float(n) with n from 1 to 53", name, strings.Join(args, ","))
	}
	n, err := number(Float, "number of bits", args[0])
	if err != nil {
		return Type{}, err
	}
	switch {
	case n < 1 || n > 53:
		return Type{}, fmt.Errorf("float(%s): from 1 to 53 bits", args[0])
	case n <= 24:
		return Type{Kind: Real}, nil
	default:
		return Type{Kind: Float}, nil
	}
}

// number reads a facet. T-SQL allows digits only.
// A negative scale, which other servers allow, is refused here.
func number(kind Kind, what, text string) (int, error) {
	// ParseUint refuses signs; 31 bits keep the number an int on every platform.
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s(%s): the %s is not a number that it can have", kind, text, what)
	}
	return int(n), nil
}

// String returns the canonical T-SQL text of the type: "nvarchar(50)", "varbinary(max)", "decimal(10,2)",
// "datetime2(3)". It is "NULL" for the untyped NULL, "unknown" for no type, and the name of a table type.
func (t Type) String() string {
	switch kinds[t.Kind].facet {
	case lengthFacet, maxFacet:
		if t.IsMax() {
			return string(t.Kind) + "(max)"
		}
		return fmt.Sprintf("%s(%d)", t.Kind, t.Length)
	case decimalFacet:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case scaleFacet:
		return fmt.Sprintf("%s(%d)", t.Kind, t.Scale)
	default:
		return t.plain()
	}
}

// plain is String for kinds without facets. Its texts for Invalid and Null are for messages and are no T-SQL.
func (t Type) plain() string {
	switch {
	case t.Kind == Invalid:
		return "unknown"
	case t.Kind == Null:
		return "NULL"
	case t.Kind == Table && t.Name != "":
		return t.Name
	default:
		return string(t.Kind)
	}
}
