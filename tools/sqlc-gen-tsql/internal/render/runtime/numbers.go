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

// sqlBit is bit.
type sqlBit struct{}

func (sqlBit) wire(v bool) (any, error) { return v, nil }
func (sqlBit) null() any                { return sql.NullBool{} }

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

// present returns a pointer to a value that is there.
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

func (sqlReal) json(dst []byte, v float32) ([]byte, error) {
	return strconv.AppendFloat(dst, float64(v), 'e', -1, 32), finite(float64(v))
}

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

func (k sqlDecimal) check(v decimal.Decimal) error {
	return fits(v, k.precision, k.scale)
}

func (k sqlDecimal) wire(v decimal.Decimal) (any, error) {
	if err := k.check(v); err != nil {
		return nil, err
	}
	return v, nil
}

func (sqlDecimal) null() any { return decimal.NullDecimal{} }

func (k sqlDecimal) json(dst []byte, v decimal.Decimal) ([]byte, error) {
	if err := k.check(v); err != nil {
		return dst, err
	}
	return append(append(append(dst, '"'), v.String()...), '"'), nil
}

func (sqlDecimal) out(v *decimal.Decimal) (any, func() *decimal.Decimal) {
	n := decimal.NullDecimal{}
	if v != nil {
		n = decimal.NewNullDecimal(*v)
	}
	return &n, func() *decimal.Decimal { return present(&n.Decimal, n.Valid) }
}

// fits says whether a decimal can be stored without being rounded. It looks at the digits only: a number with an
// exponent of a billion must not be written out to be refused.
func fits(v decimal.Decimal, precision, scale int32) error {
	digits, exponent := v.Coefficient(), int64(v.Exponent())
	if digits.Sign() == 0 {
		return nil
	}
	count := int64(v.NumDigits())
	if count+exponent > int64(precision-scale) {
		return fmt.Errorf("has more than %d digits before the point of decimal(%d, %d)", precision-scale, precision, scale)
	}
	excess := -exponent - int64(scale)
	if excess <= 0 {
		return nil
	}
	if excess < count {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(excess), nil)
		if new(big.Int).Rem(digits, unit).Sign() == 0 {
			return nil
		}
	}
	return fmt.Errorf("has more than the %d digits behind the point of decimal(%d, %d)", scale, precision, scale)
}

// sqlMoney is money or smallmoney, by how many ten-thousandths it holds.
type sqlMoney struct{ limit int64 }

// money is the range of money.
const money = math.MaxInt64

// smallMoney is the range of smallmoney.
const smallMoney = math.MaxInt32

func (k sqlMoney) check(v decimal.Decimal) error {
	if err := fits(v, 19, 4); err != nil {
		return err
	}
	// The range reaches one ten-thousandth further below zero than above it.
	low, high := decimal.New(-k.limit-1, -4), decimal.New(k.limit, -4)
	if v.LessThan(low) || v.GreaterThan(high) {
		return fmt.Errorf("is not between %s and %s", low, high)
	}
	return nil
}

func (k sqlMoney) wire(v decimal.Decimal) (any, error) {
	if err := k.check(v); err != nil {
		return nil, err
	}
	return mssql.Money[decimal.Decimal]{Decimal: v}, nil
}

func (sqlMoney) null() any { return mssql.Money[decimal.NullDecimal]{} }

func (k sqlMoney) json(dst []byte, v decimal.Decimal) ([]byte, error) {
	if err := k.check(v); err != nil {
		return dst, err
	}
	return append(append(append(dst, '"'), v.String()...), '"'), nil
}

func (sqlMoney) out(v *decimal.Decimal) (any, func() *decimal.Decimal) {
	n := mssql.Money[decimal.NullDecimal]{}
	if v != nil {
		n.Decimal = decimal.NewNullDecimal(*v)
	}
	return &n, func() *decimal.Decimal { return present(&n.Decimal.Decimal, n.Decimal.Valid) }
}
