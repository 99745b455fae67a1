//nolint:unused,unparam // package render copies it into generated packages, which use it
package runtime

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/shopspring/decimal"
)

// Each kind of number has the same five methods. Integers need no check: their Go type has the range of the T-SQL type.

// sqlBit is bit.
type sqlBit struct{}

func (sqlBit) wire(v bool) (any, error) { return v, nil }
func (sqlBit) null() any                { return sql.NullBool{} }

// json writes 1 or 0, as T-SQL does.
func (sqlBit) json(dst []byte, v bool) ([]byte, error) {
	if v {
		return append(dst, '1'), nil
	}
	return append(dst, '0'), nil
}

func (sqlBit) out(v *bool) (any, func() *bool) {
	n := sql.NullBool{}
	if v != nil {
		n = sql.NullBool{Bool: *v, Valid: true}
	}
	return &n, func() *bool { return present(&n.Bool, n.Valid) }
}

// sqlTinyInt is tinyint.
type sqlTinyInt struct{}

func (sqlTinyInt) wire(v uint8) (any, error) { return v, nil }
func (sqlTinyInt) null() any                 { return sql.NullByte{} }

func (sqlTinyInt) json(dst []byte, v uint8) ([]byte, error) {
	return strconv.AppendUint(dst, uint64(v), 10), nil
}

func (sqlTinyInt) out(v *uint8) (any, func() *uint8) {
	n := sql.NullByte{}
	if v != nil {
		n = sql.NullByte{Byte: *v, Valid: true}
	}
	return &n, func() *uint8 { return present(&n.Byte, n.Valid) }
}

// sqlSmallInt is smallint.
type sqlSmallInt struct{}

func (sqlSmallInt) wire(v int16) (any, error) { return v, nil }
func (sqlSmallInt) null() any                 { return sql.NullInt16{} }

func (sqlSmallInt) json(dst []byte, v int16) ([]byte, error) {
	return strconv.AppendInt(dst, int64(v), 10), nil
}

func (sqlSmallInt) out(v *int16) (any, func() *int16) {
	n := sql.NullInt16{}
	if v != nil {
		n = sql.NullInt16{Int16: *v, Valid: true}
	}
	return &n, func() *int16 { return present(&n.Int16, n.Valid) }
}

// sqlInt is int.
type sqlInt struct{}

func (sqlInt) wire(v int32) (any, error) { return v, nil }
func (sqlInt) null() any                 { return sql.NullInt32{} }

func (sqlInt) json(dst []byte, v int32) ([]byte, error) {
	return strconv.AppendInt(dst, int64(v), 10), nil
}

func (sqlInt) out(v *int32) (any, func() *int32) {
	n := sql.NullInt32{}
	if v != nil {
		n = sql.NullInt32{Int32: *v, Valid: true}
	}
	return &n, func() *int32 { return present(&n.Int32, n.Valid) }
}

// sqlBigInt is bigint.
type sqlBigInt struct{}

func (sqlBigInt) wire(v int64) (any, error) { return v, nil }
func (sqlBigInt) null() any                 { return sql.NullInt64{} }

func (sqlBigInt) json(dst []byte, v int64) ([]byte, error) {
	return strconv.AppendInt(dst, v, 10), nil
}

func (sqlBigInt) out(v *int64) (any, func() *int64) {
	n := sql.NullInt64{}
	if v != nil {
		n = sql.NullInt64{Int64: *v, Valid: true}
	}
	return &n, func() *int64 { return present(&n.Int64, n.Valid) }
}

// present returns a pointer to a value that is there, and nil for NULL.
func present[T any](v *T, valid bool) *T {
	if !valid {
		return nil
	}
	return v
}

var errNotFinite = errors.New("is not a finite number")

// finite refuses what the floats of T-SQL don't know.
func finite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return errNotFinite
	}
	return nil
}

// sqlReal is real.
type sqlReal struct{}

func (sqlReal) wire(v float32) (any, error) { return v, finite(float64(v)) }
func (sqlReal) null() any                   { return sql.NullFloat64{} }

// json writes the fewest digits that are this float again. With an exponent they never become a long row of zeros.
func (sqlReal) json(dst []byte, v float32) ([]byte, error) {
	return strconv.AppendFloat(dst, float64(v), 'e', -1, 32), finite(float64(v))
}

// out receives a float, into which every real goes without loss: there is no sql.NullFloat32.
func (sqlReal) out(v *float32) (any, func() *float32) {
	n := sql.NullFloat64{}
	if v != nil {
		n = sql.NullFloat64{Float64: float64(*v), Valid: true}
	}
	return &n, func() *float32 {
		r := float32(n.Float64)
		return present(&r, n.Valid)
	}
}

// sqlFloat is float.
type sqlFloat struct{}

func (sqlFloat) wire(v float64) (any, error) { return v, finite(v) }
func (sqlFloat) null() any                   { return sql.NullFloat64{} }

func (sqlFloat) json(dst []byte, v float64) ([]byte, error) {
	return strconv.AppendFloat(dst, v, 'e', -1, 64), finite(v)
}

func (sqlFloat) out(v *float64) (any, func() *float64) {
	n := sql.NullFloat64{}
	if v != nil {
		n = sql.NullFloat64{Float64: *v, Valid: true}
	}
	return &n, func() *float64 { return present(&n.Float64, n.Valid) }
}

// sqlDecimal is decimal(precision, scale). The driver sends a decimal as text, which the server converts without loss.
type sqlDecimal struct{ precision, scale int32 }

func (k sqlDecimal) wire(v decimal.Decimal) (any, error) { return exact(v, k.precision, k.scale) }
func (sqlDecimal) null() any                             { return decimal.NullDecimal{} }

func (k sqlDecimal) json(dst []byte, v decimal.Decimal) ([]byte, error) {
	v, err := exact(v, k.precision, k.scale)
	return appendDecimal(dst, v), err
}

func (k sqlDecimal) out(v *decimal.Decimal) (any, func() *decimal.Decimal) {
	n := decimal.NullDecimal{}
	if v != nil {
		n.Decimal, _ = exact(*v, k.precision, k.scale)
		n.Valid = true
	}
	return &n, func() *decimal.Decimal { return present(&n.Decimal, n.Valid) }
}

// appendDecimal writes a string, which no reader of JSON takes for a float.
func appendDecimal(dst []byte, v decimal.Decimal) []byte {
	return append(append(append(dst, '"'), v.String()...), '"')
}

// exact returns a decimal as it can be stored, with at most scale digits behind the point, or 0 with why it would have
// to be rounded. It never writes a number out that has an exponent of a billion, be it 0: package decimal would do so
// to compare or to print it.
func exact(v decimal.Decimal, precision, scale int32) (decimal.Decimal, error) {
	digits, exponent := v.Coefficient(), int64(v.Exponent())
	if digits.Sign() == 0 {
		return decimal.Decimal{}, nil
	}
	count := int64(v.NumDigits())
	if count+exponent > int64(precision-scale) {
		return decimal.Decimal{}, fmt.Errorf("has more than %d digits before the point of decimal(%d, %d)", precision-scale, precision, scale)
	}
	excess := -exponent - int64(scale) // digits too many behind the point
	if excess <= 0 {
		return v, nil
	}
	if excess < count { // otherwise the first digit would go, too
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(excess), nil)
		if kept, rest := digits.QuoRem(digits, unit, new(big.Int)); rest.Sign() == 0 {
			return decimal.NewFromBigInt(kept, -scale), nil
		}
	}
	return decimal.Decimal{}, fmt.Errorf("has more than the %d digits behind the point of decimal(%d, %d)", scale, precision, scale)
}

// sqlMoney is money or smallmoney, by how many ten-thousandths it holds.
type sqlMoney struct{ limit int64 }

// money is the range of money.
const money = math.MaxInt64

// smallMoney is the range of smallmoney.
const smallMoney = math.MaxInt32

// check is exact for money.
func (k sqlMoney) check(v decimal.Decimal) (decimal.Decimal, error) {
	v, err := exact(v, 19, 4)
	// The range reaches one ten-thousandth further below zero than above it.
	low, high := decimal.New(-k.limit-1, -4), decimal.New(k.limit, -4)
	if v.LessThan(low) || v.GreaterThan(high) {
		return decimal.Decimal{}, fmt.Errorf("is not between %s and %s", low, high)
	}
	return v, err
}

func (k sqlMoney) wire(v decimal.Decimal) (any, error) {
	v, err := k.check(v)
	return mssql.Money[decimal.Decimal]{Decimal: v}, err
}

func (sqlMoney) null() any { return mssql.Money[decimal.NullDecimal]{} }

func (k sqlMoney) json(dst []byte, v decimal.Decimal) ([]byte, error) {
	v, err := k.check(v)
	return appendDecimal(dst, v), err
}

func (k sqlMoney) out(v *decimal.Decimal) (any, func() *decimal.Decimal) {
	n := mssql.Money[decimal.NullDecimal]{}
	if v != nil {
		n.Decimal.Decimal, _ = k.check(*v)
		n.Decimal.Valid = true
	}
	return &n, func() *decimal.Decimal { return present(&n.Decimal.Decimal, n.Decimal.Valid) }
}
