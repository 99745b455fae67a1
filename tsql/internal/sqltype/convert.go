package sqltype

import (
	"fmt"
	"slices"
)

// conversion says how a value of one type becomes one of another.
type conversion int

const (
	never    conversion = iota // error 529 or 206: not even CAST does it
	explicit                   // only CAST and CONVERT do it
	implicit                   // T-SQL does it by itself
)

// targets lists, for a class, what it converts to by itself and what only with CAST; all else is refused. It is the
// matrix of Microsoft's documentation of CAST and CONVERT. A conversion between members of the same class is implicit.
type targets struct {
	implicit, explicit []class
}

// Groups of classes that appear together in the matrix.
var (
	stringClasses   = []class{classCharacter, classNational}
	numberClasses   = []class{classBit, classInteger, classDecimal, classMoney, classApprox}
	exactClasses    = []class{classBit, classInteger, classDecimal, classMoney}
	temporalClasses = []class{classDate, classTime, classDateTime, classDateTime2}
)

// fromNumber is what the exact numeric types convert to. A datetime is a number of days since 1900.
var fromNumber = targets{
	implicit: slices.Concat(numberClasses, stringClasses, []class{classBinary, classDateTime, classRowVersion, classVariant}),
}

// matrix has a row for each class of source:
// https://learn.microsoft.com/sql/t-sql/functions/cast-and-convert-transact-sql#implicit-conversions
//
// That table is a picture. Where it was not certain, such as between money and strings, the conversion is allowed: the
// server still refuses what it doesn't do, while one refused here would stop a script that works.
var matrix = map[class]targets{
	classBit:     fromNumber,
	classInteger: fromNumber,
	classDecimal: fromNumber,
	classMoney:   fromNumber,
	// Real and float are the two numbers that rowversion is not made of.
	classApprox: {
		implicit: slices.Concat(numberClasses, stringClasses, []class{classBinary, classDateTime, classVariant}),
	},
	classCharacter: {
		implicit: slices.Concat(stringClasses, numberClasses, temporalClasses, []class{
			classGUID, classText, classNText, classImage, classXML, classVariant, classHierarchy, classSpatial,
		}),
		explicit: []class{classBinary, classRowVersion},
	},
	classNational: {
		implicit: slices.Concat(stringClasses, numberClasses, temporalClasses, []class{
			classGUID, classText, classNText, classXML, classVariant, classHierarchy, classSpatial,
		}),
		explicit: []class{classBinary, classRowVersion},
	},
	// The old large objects convert to strings and to each other, and to nothing else.
	classText:  {implicit: slices.Concat(stringClasses, []class{classNText, classXML})},
	classNText: {implicit: slices.Concat(stringClasses, []class{classText, classXML})},
	// Bytes become nearly anything; floating point is the exception, and the newer date types want a CAST.
	classBinary: {
		implicit: slices.Concat(stringClasses, exactClasses, []class{
			classDateTime, classGUID, classImage, classRowVersion, classVariant, classXML, classSpatial,
		}),
		explicit: []class{classDate, classTime, classDateTime2, classHierarchy},
	},
	classImage: {implicit: []class{classBinary, classRowVersion}},
	// The types of 2008 convert to strings and to each other, a date to a time and back excepted, and never to numbers.
	classDate: {
		implicit: slices.Concat(stringClasses, []class{classDateTime, classDateTime2, classVariant}),
		explicit: []class{classBinary},
	},
	classTime: {
		implicit: slices.Concat(stringClasses, []class{classDateTime, classDateTime2, classVariant}),
		explicit: []class{classBinary},
	},
	// A number becomes a datetime by itself (see fromNumber), but a datetime becomes a number only by CAST.
	classDateTime: {
		implicit: slices.Concat(stringClasses, temporalClasses, []class{classVariant}),
		explicit: slices.Concat(numberClasses, []class{classBinary, classRowVersion}),
	},
	classDateTime2: {
		implicit: slices.Concat(stringClasses, temporalClasses, []class{classVariant}),
		explicit: []class{classBinary},
	},
	classGUID: {implicit: slices.Concat(stringClasses, []class{classBinary, classVariant})},
	classRowVersion: {
		implicit: slices.Concat(exactClasses, []class{classCharacter, classBinary, classDateTime, classImage}),
	},
	// What is written as text in a script is read back from it only by CAST.
	classXML:       {explicit: slices.Concat(stringClasses, []class{classBinary})},
	classHierarchy: {explicit: slices.Concat(stringClasses, []class{classBinary})},
	classSpatial:   {explicit: slices.Concat(stringClasses, []class{classBinary})},
	classVariant: {explicit: slices.Concat(stringClasses, numberClasses, temporalClasses, []class{
		classBinary, classGUID,
	})},
}

// convert looks the matrix up. The rows don't list the diagonal, NULL, which converts to everything, and what is no
// value.
func convert(from, to Type) conversion {
	switch {
	case !to.IsScalar() || !from.IsScalar() && from.Kind != Null:
		return never
	case from.Kind == Null:
		return implicit
	case from.class() == to.class():
		return sameClass(from, to)
	case to.Kind == SQLVariant && from.IsLOB():
		return never // a variant holds up to 8,016 bytes
	}
	row := matrix[from.class()]
	switch {
	case slices.Contains(row.implicit, to.class()):
		return implicit
	case slices.Contains(row.explicit, to.class()):
		return explicit
	default:
		return never
	}
}

// sameClass is convert within a class: all are implicit but those between the two spatial types, which don't mix.
func sameClass(from, to Type) conversion {
	if from.in(classSpatial) && from.Kind != to.Kind {
		return never
	}
	return implicit
}

// Assignable returns nil if a value of one type may be stored in another without CAST, else an error that says what to
// do. It is about types only: the value may still be too long or out of range. Between a table type and a parameter,
// the names must be the same. Whether anything converts to or from [Invalid] is not known, so nothing is refused.
func Assignable(from, to Type) error {
	if from.Kind == Invalid || to.Kind == Invalid {
		return nil
	}
	if from.Kind == Table || to.Kind == Table || from.Kind == Cursor || to.Kind == Cursor {
		if from == to {
			return nil
		}
		return fmt.Errorf("%s is not %s", from, to)
	}
	switch convert(from, to) {
	case implicit:
		return nil
	case explicit:
		return fmt.Errorf("%s doesn't convert to %s by itself: write CAST(… AS %s)", from, to, to)
	default:
		return fmt.Errorf("%s doesn't convert to %s", from, to)
	}
}

// Castable returns nil if CAST and CONVERT take a value of one type to another. As with [Assignable], what is not known
// is not refused.
func Castable(from, to Type) error {
	if from.Kind == Invalid || to.Kind == Invalid || convert(from, to) != never {
		return nil
	}
	return fmt.Errorf("%s can't be converted to %s, not even by CAST", from, to)
}

// Comparable returns nil if = < > and the like may stand between values of the two types. text, ntext, image, xml and
// the spatial types are never compared, and a time only with times and strings.
func Comparable(a, b Type) error {
	for _, t := range []Type{a, b} {
		if t.in(classText, classNText, classImage, classXML, classSpatial, classTable, classCursor) {
			return fmt.Errorf("%s can't be compared%s", t, comparisonAdvice(t))
		}
	}
	if a.IsTemporal() && b.IsTemporal() && a.in(classTime) != b.in(classTime) {
		return fmt.Errorf("%s can't be compared with %s: CAST one of them", a, b)
	}
	_, err := Union(a, b)
	return err
}

// comparisonAdvice says what to compare instead: the (max) type that replaced an old large object. Spatial values
// have no
// text worth comparing.
func comparisonAdvice(t Type) string {
	switch t.class() {
	case classText:
		return ": CAST it to varchar(max)"
	case classNText, classXML:
		return ": CAST it to nvarchar(max)"
	case classImage:
		return ": CAST it to varbinary(max)"
	default:
		return ""
	}
}
