package sqltype

import (
	"errors"
	"fmt"
)

// Sum returns the type of SUM(x): integers up to int add up to int and bigint to bigint, decimals to 38 digits, the
// money types to money, real and float to float.
func Sum(t Type) (Type, error) { return total("SUM", t, 0) }

// Avg returns the type of AVG(x). It is that of SUM, with at least six fractional digits for decimals; the average of
// integers is an integer.
func Avg(t Type) (Type, error) { return total("AVG", t, 6) }

// total is SUM and AVG; scale is the least scale of the result for decimals.
// Bit is no number to add up, as on the server; SUM(CAST(b AS int)) counts.
func total(function string, t Type, scale int) (Type, error) {
	switch t.Kind {
	case Invalid:
		return Type{}, nil
	case TinyInt, SmallInt, Int:
		// A sum beyond int is an overflow at run time, however small the values are.
		return Type{Kind: Int}, nil
	case BigInt:
		return Type{Kind: BigInt}, nil
	case Decimal:
		// The integral digits give way without a word: AVG of decimal(38,0) has 32 of them.
		return Type{Kind: Decimal, Precision: maxPrecision, Scale: max(t.Scale, scale)}, nil
	case SmallMoney, Money:
		return Type{Kind: Money}, nil
	case Real, Float:
		return Type{Kind: Float}, nil
	case Bit:
		return Type{}, fmt.Errorf("%s doesn't take bit: CAST it to int", function)
	default:
		return Type{}, fmt.Errorf("%s takes numbers, not %s", function, t)
	}
}

// MinMax returns the type of MIN(x) and MAX(x), which is that of x. Bits and what has no order are refused.
// The same value comes out that went in, so lengths and scales stay.
func MinMax(t Type) (Type, error) {
	switch {
	case t.Kind == Invalid:
		return Type{}, nil
	case t.Kind == Bit:
		return Type{}, errors.New("MIN and MAX don't take bit: CAST it to tinyint")
	case !t.IsScalar(), t.in(classText, classNText, classImage, classXML, classSpatial):
		return Type{}, fmt.Errorf("MIN and MAX don't take %s", t)
	default:
		return t, nil
	}
}

// Statistic returns the type of STDEV, STDEVP, VAR and VARP: float, for every number but bit.
func Statistic(t Type) (Type, error) {
	switch {
	case t.Kind == Invalid:
		return Type{}, nil
	case !t.IsNumeric() || t.Kind == Bit:
		return Type{}, fmt.Errorf("STDEV and VAR take numbers, not %s", t)
	default:
		return Type{Kind: Float}, nil
	}
}

// StringAgg returns the type of STRING_AGG(x, …): the (max) type for a (max) argument, varchar(8000) for char and
// varchar, and nvarchar(4000) for all else. A result that is longer is an error of the server, hence a CAST to
// nvarchar(max) inside is common.
func StringAgg(t Type) (Type, error) {
	switch {
	case t.Kind == Invalid:
		return Type{}, nil
	case t.in(classCharacter, classNational):
		kind := varying(t.Kind)
		if t.IsMax() {
			return t, nil
		}
		return Type{Kind: kind, Length: kinds[kind].limit}, nil
	case t.IsNumeric(), t.IsTemporal(), t.Kind == UniqueIdentifier:
		// These are converted to nvarchar first.
		return Type{Kind: NVarChar, Length: kinds[NVarChar].limit}, nil
	default:
		return Type{}, fmt.Errorf("STRING_AGG doesn't take %s: CAST it to nvarchar(max)", t)
	}
}
