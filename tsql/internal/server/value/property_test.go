package value_test

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// decimals draws a decimal and its type.
func decimals(t *rapid.T, name string) (value.Value, value.Type, *big.Rat) {
	precision := rapid.IntRange(1, 38).Draw(t, name+" precision")
	scale := rapid.IntRange(0, precision).Draw(t, name+" scale")
	digits := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), 1, precision, -1).Draw(t, name)
	coef := newInt(digits)
	if rapid.Bool().Draw(t, name+" negative") {
		coef.Neg(coef)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return value.OfDecimal(coef, scale), value.DecimalType(precision, scale), new(big.Rat).SetFrac(coef, unit)
}

// Decimal arithmetic is exact but for the digits that the type of the result does not have.
func TestDecimalArithmeticIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, ta, x := decimals(t, "a")
		b, tb, y := decimals(t, "b")
		op := rapid.SampledFrom([]string{"+", "-", "*", "/"}).Draw(t, "op")
		if op == "/" && y.Sign() == 0 {
			return
		}
		result, err := sqltype.Arithmetic(op, ta.Type, tb.Type)
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat)
		switch op {
		case "+":
			want.Add(x, y)
		case "-":
			want.Sub(x, y)
		case "*":
			want.Mul(x, y)
		default:
			want.Quo(x, y)
		}
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(result.Scale)), nil))
		v, err := value.Arithmetic(op, a, b, ta, tb, value.Type{Type: result})
		if err != nil {
			limit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(result.Precision-result.Scale)), nil))
			if new(big.Rat).Abs(want).Cmp(limit.Sub(limit, unit)) < 0 {
				t.Fatalf("%v %s %v is %s, which fits %s: %v", a, op, b, want.FloatString(10), result, err)
			}
			return
		}
		got, scale := v.Decimal()
		if scale != result.Scale {
			t.Fatalf("the scale is %d, not %d", scale, result.Scale)
		}
		// Sums and products are at most half a unit off, quotients less than one, towards zero.
		off := new(big.Rat).Sub(new(big.Rat).Mul(new(big.Rat).SetInt(got), unit), want)
		limit, strict := new(big.Rat).Quo(unit, big.NewRat(2, 1)), 1
		if op == "/" {
			limit, strict = unit, 0
			if off.Sign()*want.Sign() > 0 {
				t.Fatalf("%v / %v = %v is further from zero than the quotient", a, b, v)
			}
		}
		if new(big.Rat).Abs(off).Cmp(limit) >= strict {
			t.Fatalf("%v %s %v = %v (%s), off by %s", a, op, b, v, result, off.FloatString(40))
		}
	})
}

// Integers overflow exactly where the mathematical result is out of range.
func TestIntegerArithmeticIsExact(t *testing.T) {
	t.Parallel()
	bigint := typ(t, "bigint")
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{-1 << 63, 1<<63 - 1, -1, 0, 1, 2, -1 << 62, 1 << 31}))
		a, b := g.Draw(t, "a"), g.Draw(t, "b")
		op := rapid.SampledFrom([]string{"+", "-", "*"}).Draw(t, "op")
		want := new(big.Int)
		switch op {
		case "+":
			want.Add(big.NewInt(a), big.NewInt(b))
		case "-":
			want.Sub(big.NewInt(a), big.NewInt(b))
		default:
			want.Mul(big.NewInt(a), big.NewInt(b))
		}
		v, err := value.Arithmetic(op, value.OfInt(a), value.OfInt(b), bigint, bigint, bigint)
		if (err == nil) != want.IsInt64() || err == nil && v.Int() != want.Int64() {
			t.Fatalf("%d %s %d = %v, %v; want %d", a, op, b, v, err, want)
		}
	})
}

var allTypes = []string{
	"bit", "tinyint", "smallint", "int", "bigint", "decimal(38,0)", "decimal(38,38)", "decimal(5,2)", "smallmoney", "money", "real", "float",
	"char(5)", "varchar(5)", "varchar(max)", "nchar(5)", "nvarchar(5)", "nvarchar(max)", "text", "ntext", "xml", "binary(5)", "varbinary(5)",
	"varbinary(max)", "image", "date", "time(0)", "time(7)", "smalldatetime", "datetime", "datetime2(0)", "datetime2(7)", "datetimeoffset(0)",
	"datetimeoffset(7)", "uniqueidentifier", "rowversion", "sql_variant", "varchar(5)" + utf8,
}

// Whatever is converted to whatever, with whatever style, the outcome is a value or an error of the server, never a
// panic; and a value can be compared, made into a key, printed, and converted to its own type without a change.
func TestConvertNeverPanics(t *testing.T) {
	t.Parallel()
	types := make([]value.Type, len(allTypes))
	for i, name := range allTypes {
		types[i] = typ(t, name)
	}
	text := typ(t, "nvarchar(max)")
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.OneOf(
			rapid.String(), rapid.StringMatching(`[-+$ ]{0,2}[0-9]{0,40}[.,eE]?[0-9]{0,40}`),
			rapid.StringMatching(`[0-9]{1,4}[-/. ][0-9A-Za-z]{1,4}[-/. ][0-9]{1,4}[ T]([0-9]{1,2}:){0,3}[0-9]{0,9}( ?[AaPp][Mm]|Z|[+-][0-9]{2}:[0-9]{2})?`),
			rapid.StringMatching(`0x[0-9A-F]{0,40}`),
		).Draw(t, "text")
		v, from := value.OfString(source), text
		for range 3 {
			to := rapid.SampledFrom(types).Draw(t, "to")
			style := rapid.SampledFrom([]int{0, 0, 1, 2, 3, 20, 23, 100, 101, 103, 112, 114, 121, 126, 127, 130, 131, 999}).Draw(t, "style")
			next, err := value.Convert(v, from, to, style)
			if err != nil {
				if _, ok := errors.AsType[*fault.Error](err); !ok {
					t.Fatalf("%v of %s to %s: %v", v, from, to, err)
				}
				return
			}
			if again, err := value.Store(next, to, to); err != nil || !again.Equal(next) {
				t.Fatalf("%v of %s is stored as %v, %v", next, to, again, err)
			}
			if !next.IsNull() && (value.Compare(next, next, to) != 0 || len(value.AppendKey(nil, next, to, false)) == 0) {
				t.Fatalf("%v of %s is not equal to itself", next, to)
			}
			_, _ = next.String(), value.DataLength(next, to)
			v, from = next, to
		}
	})
}

// Values of every type survive as binaries.
func TestBinaryRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct{ typ, text string }{
		{"bigint", "-5"},
		{"int", "-2147483648"},
		{"smallint", "-3"},
		{"tinyint", "200"},
		{"decimal(38,10)", "-1234567890123456789012345678.0123456789"},
		{"decimal(5,2)", "0.01"},
		{"money", "-1.2345"},
		{"smallmoney", "-1.2345"},
		{"datetime", "2024-02-29 10:11:12.003"},
		{"datetime", "1753-01-01"},
		{"smalldatetime", "2079-06-06 23:59"},
		{"date", "9999-12-31"},
		{"time(3)", "23:59:59.999"},
		{"datetime2(7)", "2024-02-29 10:11:12.1234567"},
		{"datetime2(0)", "0001-01-01"},
		{"datetimeoffset(4)", "2024-02-29 10:11:12.1234 -13:30"},
		{"uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"nvarchar(20)", "aé😀"},
		{"varchar(20)", "aé€"},
	}
	bin := typ(t, "varbinary(max)")
	for _, test := range tests {
		typ := typ(t, test.typ)
		v := val(t, test.text, typ)
		b, err := value.Convert(v, typ, bin, 0)
		if err != nil {
			t.Fatal(err)
		}
		back, err := value.Convert(b, bin, typ, 0)
		if err != nil || !back.Equal(v) {
			t.Errorf("%s %v is %v and back %v, %v", test.typ, v, b, back, err)
		}
	}
	for _, test := range []struct{ typ, bytes, want string }{
		{"date", "0x01", "Msg 241: Conversion failed when converting date and/or time from character string."},
		{"datetime", "0x7FFFFFFF00000000", "Msg 210: Conversion failed when converting datetime from binary/varbinary string."},
		{"decimal(5,2)", "0x05", "Msg 8114: Error converting data type varbinary to numeric."},
	} {
		v, err := value.Convert(val(t, test.bytes, bin), bin, typ(t, test.typ), 0)
		if got := outcome(v, err); got != test.want {
			t.Errorf("%s as %s: %s", test.bytes, test.typ, got)
		}
	}
}
