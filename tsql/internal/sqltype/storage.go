package sqltype

// fixedBytes are the sizes of the types that have one.
var fixedBytes = map[Kind]int{
	Bit: 1, TinyInt: 1, SmallInt: 2, Int: 4, BigInt: 8, SmallMoney: 4, Money: 8, Real: 4, Float: 8,
	Date: 3, SmallDateTime: 4, DateTime: 8, UniqueIdentifier: 16, RowVersion: 8,
}

// StorageBytes returns how many bytes a value takes at most, -1 if there is no limit and 0 if it isn't known. The sizes
// are those of the documentation for stored values, without what rows and indexes add to each.
func (t Type) StorageBytes() int {
	switch t.Kind {
	case Char, VarChar, Binary, VarBinary:
		return t.Length // -1 for (max)
	case NChar, NVarChar:
		if t.Length == Max {
			return -1
		}
		return 2 * t.Length
	case Decimal:
		return DecimalBytes(t.Precision)
	case Time:
		return TimeBytes(t.Scale)
	case DateTime2:
		return TimeBytes(t.Scale) + 3
	case DateTimeOffset:
		return TimeBytes(t.Scale) + 5
	case Text, NText, Image, XML:
		return -1
	default:
		return fixedBytes[t.Kind]
	}
}

// DecimalBytes returns how many bytes a decimal takes, its sign included.
func DecimalBytes(precision int) int {
	switch {
	case precision <= 9:
		return 5
	case precision <= 19:
		return 9
	case precision <= 28:
		return 13
	default:
		return 17
	}
}

// TimeBytes returns how many bytes a time of day takes with a number of fractional digits. A date adds 3 bytes, and an
// offset 2 more.
func TimeBytes(scale int) int {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	default:
		return 5
	}
}
