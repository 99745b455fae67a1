package sqltype

import "fmt"

// Union returns the type of a value that is one of two: the branches of CASE and IIF, the arguments of COALESCE, the
// rows of VALUES, the sides of UNION, EXCEPT and INTERSECT. The kind is that of the higher precedence, and the facets
// hold both: the longer length, the most integral and the most fractional digits. NULL takes the other's type.
// With [Invalid], the result is Invalid and no error: one was reported where it came from.
func Union(a, b Type) (Type, error) {
	if a.Kind == Invalid || b.Kind == Invalid {
		return Type{}, nil
	}
	for _, t := range []Type{a, b} {
		if t.Kind == Table || t.Kind == Cursor {
			return Type{}, fmt.Errorf("%s is not a value", t)
		}
	}
	// A lower rank is a higher precedence. With the same rank, they are of one kind or never mix.
	high, low := a, b
	if a.Precedence() > b.Precedence() {
		high, low = b, a
	}
	switch {
	case high == low, low.Kind == Null:
		// Two NULLs stay NULL: what that is depends on where it stands.
		return high, nil
	case convert(low, high) == explicit:
		return Type{}, fmt.Errorf("%s and %s don't mix: %s becomes %s only by CAST", a, b, low, high)
	case convert(low, high) == never:
		return Type{}, fmt.Errorf("%s and %s don't mix: there is no conversion", a, b)
	}
	return widen(high, low), nil
}

// widen makes room in a type for the values of one that is converted to it. Only facets grow: the kind is decided,
// even if
// it doesn't hold every value (a bigint beside a real loses digits).
func widen(high, low Type) Type {
	switch {
	case high.Kind == Decimal:
		// A string has no precision of its own: it is read as the other side's decimal.
		if other, ok := low.asDecimal(); ok {
			return unionDecimal(high, other)
		}
	case kinds[high.Kind].facet == scaleFacet:
		high.Scale = max(high.Scale, fraction(low))
	case high.in(classCharacter, classNational, classBinary):
		return widenLength(high, low)
	}
	return high
}

// fraction returns how many fractional digits of a second a type has. Date and smalldatetime have none.
func fraction(t Type) int {
	if t.Kind == DateTime { // ticks of 1/300 second, shown with three digits
		return 3
	}
	if kinds[t.Kind].facet == scaleFacet {
		return t.Scale
	}
	return 0
}

// widenLength makes a type with a length hold another that converts to it. A fixed length that can't be declared
// becomes a varying one.
// Beyond the limit the length is cut to it: varchar(8000) beside nvarchar(10) is nvarchar(4000).
func widenLength(high, low Type) Type {
	if high.IsMax() || low.IsMax() {
		return Type{Kind: varying(high.Kind), Length: Max}
	}
	high.Length = min(max(high.Length, low.Length), kinds[high.Kind].limit)
	return high
}

// unionDecimal holds the values of two decimals. If that takes more than 38 digits, fractional ones give way.
//
//	decimal(10,2) and decimal(8,4)   decimal(12,4)
func unionDecimal(a, b Type) Type {
	integral := max(a.Precision-a.Scale, b.Precision-b.Scale)
	scale := max(a.Scale, b.Scale)
	return squeeze(integral, integral+scale, scale)
}

// squeeze bounds a precision by 38 and leaves the scale what the integral digits leave of it. It is the rule of + -
// % and
// UNION; * and / have another, [reduce], which keeps six fractional digits whatever becomes of the integral ones.
func squeeze(integral, precision, scale int) Type {
	if precision > maxPrecision {
		precision = maxPrecision
		scale = min(scale, maxPrecision-integral)
	}
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}
