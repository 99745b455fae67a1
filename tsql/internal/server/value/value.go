// Package value has T-SQL's scalar values: how they are held, converted, compared, computed with, printed and made
// into keys of indexes. It knows neither tables nor statements.
//
// The files in reading order: value.go has values, type.go their types, text.go and codepage.go strings, calendar.go
// dates, decimal.go exact numbers. convert*.go, parsedate.go and formatdate.go make one type from another, store.go
// puts a value into a variable or a column. collation.go names the orders of text, words.go has those of languages,
// codes.go those by code, and precedence.go says which of two counts; compare.go, key.go and like.go use them.
// arithmetic.go has the operators, literal.go constants and variant.go sql_variant.
package value

import (
	"math"
	"math/big"
	"time"
)

// Kind is how a value is held. Several SQL types share a kind: the type of an expression says which one it is.
type Kind uint8

// The kinds.
const (
	Null           Kind = iota
	Int                 // bit, tinyint, smallint, int, bigint
	Decimal             // decimal
	Money               // money, smallmoney: ten-thousandths
	Float               // float, real
	String              // char, varchar, nchar, nvarchar, text, ntext, xml: WTF-8 (see text.go)
	Bytes               // binary, varbinary, image, rowversion, and the types made in .NET
	Date                // days since 0001-01-01
	Time                // ticks of 100 ns since midnight
	DateTime            // datetime, smalldatetime: three-hundredths of a second since 1900-01-01
	DateTime2           // days since 0001-01-01, ticks of 100 ns since midnight
	DateTimeOffset      // as DateTime2 in UTC, with an offset in minutes
	GUID                // 16 bytes in the order of their printing
	Variant             // a value of another kind with its type
)

// Value is one scalar. The zero Value is NULL. Values are immutable and may be shared.
//
// It has 40 bytes: the days of dates share the first eight with the kind, so that a date with a time needs no memory of
// its own, and what is rare hides behind more.
type Value struct {
	kind   Kind
	scale  uint8 // of Decimal
	offset int16 // of DateTimeOffset, in minutes
	days   int32 // of Date, DateTime2, DateTimeOffset
	n      int64 // Int, Decimal if it fits, Money, ticks; of Float the bits
	s      string
	more   *more
}

// more is what few values have.
type more struct {
	big   *big.Int // of Decimal, when the coefficient does not fit int64; never changed once set
	value Value    // of Variant
	typ   Type     // of Variant
}

// OfInt returns a value of an integer type.
func OfInt(n int64) Value { return Value{kind: Int, n: n} }

// OfBool returns a bit.
func OfBool(b bool) Value {
	if b {
		return Value{kind: Int, n: 1}
	}
	return Value{kind: Int}
}

// OfFloat returns a float.
func OfFloat(f float64) Value { return Value{kind: Float, n: int64(math.Float64bits(f))} }

// OfString returns text, which must be WTF-8.
func OfString(s string) Value { return Value{kind: String, s: s} }

// OfBytes returns a binary value. The bytes are copied.
func OfBytes(b []byte) Value { return Value{kind: Bytes, s: string(b)} }

// OfRaw returns a binary value of a string that holds bytes.
func OfRaw(s string) Value { return Value{kind: Bytes, s: s} }

// OfDecimal returns coef / 10^scale. The coefficient must not change afterwards.
func OfDecimal(coef *big.Int, scale int) Value {
	if coef.IsInt64() {
		return smallDecimal(coef.Int64(), scale)
	}
	return Value{kind: Decimal, scale: uint8(scale), more: &more{big: coef}}
}

// smallDecimal is OfDecimal for a coefficient that fits.
func smallDecimal(coef int64, scale int) Value {
	return Value{kind: Decimal, scale: uint8(scale), n: coef}
}

// OfMoney returns a money value.
func OfMoney(tenThousandths int64) Value { return Value{kind: Money, n: tenThousandths} }

// OfGUID returns a uniqueidentifier of 16 bytes in the order of their printing.
func OfGUID(b [16]byte) Value { return Value{kind: GUID, s: string(b[:])} }

// OfDate returns the date that is a number of days after 0001-01-01.
func OfDate(days int) Value { return Value{kind: Date, days: int32(days)} }

// OfTime returns a time of day, in ticks of 100 ns since midnight.
func OfTime(ticks int64) Value { return Value{kind: Time, n: ticks} }

// OfDateTime returns a datetime or smalldatetime, in three-hundredths of a second since 1900-01-01.
func OfDateTime(threeHundredths int64) Value { return Value{kind: DateTime, n: threeHundredths} }

// OfDateTime2 returns a datetime2: days since 0001-01-01 and ticks of 100 ns since midnight.
func OfDateTime2(days int, ticks int64) Value {
	return Value{kind: DateTime2, days: int32(days), n: ticks}
}

// OfDateTimeOffset returns a datetimeoffset: a point in UTC, and the offset it is shown with.
func OfDateTimeOffset(utcDays int, ticks int64, offsetMinutes int) Value {
	return Value{kind: DateTimeOffset, days: int32(utcDays), n: ticks, offset: int16(offsetMinutes)}
}

// OfVariant returns a sql_variant that holds v, a value of type t. NULL stays NULL.
func OfVariant(v Value, t Type) Value {
	if v.kind == Null || v.kind == Variant {
		return v
	}
	return Value{kind: Variant, more: &more{value: v, typ: t}}
}

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// Kind returns how v is held.
func (v Value) Kind() Kind { return v.kind }

// Int returns the number of an Int.
func (v Value) Int() int64 { return v.n }

// Bool returns whether an Int is not zero.
func (v Value) Bool() bool { return v.n != 0 }

// Float returns the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.n)) }

// Str returns the text of a String, and the content of Bytes as a string of bytes.
func (v Value) Str() string { return v.s }

// Bytes returns the content of Bytes, as a copy.
func (v Value) Bytes() []byte { return []byte(v.s) }

// Decimal returns the coefficient and the scale of a Decimal. The coefficient must not be changed.
func (v Value) Decimal() (*big.Int, int) {
	if v.more != nil {
		return v.more.big, int(v.scale)
	}
	return big.NewInt(v.n), int(v.scale)
}

// SmallDecimal returns the coefficient and the scale of a Decimal whose coefficient fits int64; ok is false if it does
// not.
func (v Value) SmallDecimal() (coef int64, scale int, ok bool) {
	return v.n, int(v.scale), v.more == nil
}

// Money returns the ten-thousandths of a Money.
func (v Value) Money() int64 { return v.n }

// GUID returns the 16 bytes of a uniqueidentifier in the order of their printing.
func (v Value) GUID() (b [16]byte) {
	copy(b[:], v.s)
	return b
}

// Date returns the days since 0001-01-01 of a value with a date. Those of a DateTimeOffset are in UTC.
func (v Value) Date() int {
	if v.kind == DateTime {
		day, _ := splitDateTime(v.n)
		return day
	}
	return int(v.days)
}

// Ticks returns the time of day of a value with a time, in units of 100 ns. That of a DateTimeOffset is in UTC.
func (v Value) Ticks() int64 {
	if v.kind == DateTime {
		_, part := splitDateTime(v.n)
		return dateTimeTicks(part)
	}
	return v.n
}

// DateTime returns the three-hundredths of a second since 1900-01-01 of a DateTime.
func (v Value) DateTime() int64 { return v.n }

// OffsetMinutes returns the offset of a DateTimeOffset.
func (v Value) OffsetMinutes() int { return int(v.offset) }

// Variant returns what a sql_variant holds. Any other value holds itself, without a type.
func (v Value) Variant() (Value, Type) {
	if v.kind == Variant {
		return v.more.value, v.more.typ
	}
	return v, Type{}
}

// GoTime returns a value of a date kind as a time. It is UTC, or of a DateTimeOffset in its offset; a Time is on the
// first day of the year 1.
func (v Value) GoTime() time.Time {
	var days, ticks int64
	switch v.kind {
	case Date, Time, DateTime, DateTime2, DateTimeOffset:
		days, ticks = int64(v.Date()), 0
		if v.kind != Date {
			ticks = v.Ticks()
		}
	default:
		return time.Time{}
	}
	t := time.Unix((days-unixDay)*86400+ticks/ticksPerSecond, ticks%ticksPerSecond*100).UTC()
	if v.kind == DateTimeOffset {
		return t.In(time.FixedZone("", int(v.offset)*60))
	}
	return t
}

// Equal reports whether two values are held identically. It is about representation, for tests: Compare is T-SQL's.
func (v Value) Equal(w Value) bool {
	switch {
	case v.kind != w.kind:
		return false
	case v.kind == Variant:
		return v.more.typ == w.more.typ && v.more.value.Equal(w.more.value)
	case v.more != nil && w.more != nil:
		return v.scale == w.scale && v.more.big.Cmp(w.more.big) == 0
	default:
		return v == w
	}
}
