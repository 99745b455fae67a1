package value

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

// maxPrecision is the greatest precision of decimal.
const maxPrecision = 38

// pow10 has the powers of ten that fit int64.
var pow10 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// bigPow10 has the powers of ten that products and quotients of decimals need.
var bigPow10 = func() (p [160]*big.Int) {
	p[0] = big.NewInt(1)
	for i := 1; i < len(p); i++ {
		p[i] = new(big.Int).Mul(p[i-1], big.NewInt(10))
	}
	return p
}()

// scaleUp multiplies n by 10^k; ok is false if that does not fit.
func scaleUp(n int64, k int) (m int64, ok bool) {
	if n == 0 || k == 0 {
		return n, true
	}
	if k >= len(pow10) {
		return 0, false
	}
	return multiply(n, pow10[k])
}

// multiply multiplies; ok is false if the product does not fit.
func multiply(a, b int64) (c int64, ok bool) {
	hi, lo := bits.Mul64(uint64(abs64(a)), uint64(abs64(b)))
	if (a < 0) != (b < 0) {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	return int64(lo), hi == 0 && lo <= math.MaxInt64
}

// abs64 is the magnitude of n. That of the least int64 is right when it is read as uint64.
func abs64(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// divideRounded divides n by a positive d and rounds half away from zero.
func divideRounded(n, d int64) int64 {
	q, r := n/d, n%d
	if abs64(r) >= d-abs64(r) {
		if n < 0 {
			return q - 1
		}
		return q + 1
	}
	return q
}

// bigDivideRounded is divideRounded for big numbers, with d of either sign.
func bigDivideRounded(n, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, d, new(big.Int))
	if r.Sign() != 0 && r.Lsh(r, 1).CmpAbs(d) >= 0 {
		if n.Sign()*d.Sign() < 0 {
			return q.Sub(q, bigPow10[0])
		}
		return q.Add(q, bigPow10[0])
	}
	return q
}

// rescale gives a decimal another scale. Digits that fall away are rounded, or cut off if truncate is set.
func rescale(v Value, scale int, truncate bool) Value {
	k := scale - int(v.scale)
	switch {
	case k == 0:
		return v
	case k > 0:
		if v.more == nil {
			if n, ok := scaleUp(v.n, k); ok {
				return smallDecimal(n, scale)
			}
		}
		coef, _ := v.Decimal()
		return OfDecimal(new(big.Int).Mul(coef, bigPow10[k]), scale)
	case v.more == nil && -k >= len(pow10):
		if !truncate && -k == len(pow10) && abs64(v.n) >= 5e18 {
			return smallDecimal(int64(sign64(v.n)), scale)
		}
		return smallDecimal(0, scale)
	case v.more == nil && truncate:
		return smallDecimal(v.n/pow10[-k], scale)
	case v.more == nil:
		return smallDecimal(divideRounded(v.n, pow10[-k]), scale)
	case truncate:
		return OfDecimal(new(big.Int).Quo(v.more.big, bigPow10[-k]), scale)
	default:
		return OfDecimal(bigDivideRounded(v.more.big, bigPow10[-k]), scale)
	}
}

func sign64(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	default:
		return 0
	}
}

// fitsPrecision reports whether a decimal has at most so many digits.
func fitsPrecision(v Value, precision int) bool {
	if v.more == nil {
		if precision >= len(pow10) {
			return true
		}
		return v.n < pow10[precision] && v.n > -pow10[precision]
	}
	return v.more.big.CmpAbs(bigPow10[precision]) < 0
}

// asDecimal returns an exact number as a decimal with the scale of its own. Other values are returned as they are.
func asDecimal(v Value) Value {
	switch v.kind {
	case Int:
		return smallDecimal(v.n, 0)
	case Money:
		return smallDecimal(v.n, 4)
	default:
		return v
	}
}

// fitDecimal rounds a decimal to the scale of a type and checks the precision. The error says that it does not fit, and
// names what it comes from.
func fitDecimal(v Value, to Type, source string) (Value, error) {
	v = rescale(v, to.Scale, false)
	if !fitsPrecision(v, to.Precision) {
		return Value{}, fault.New(8115, source, "numeric").WithState(8)
	}
	return v, nil
}

// decimalText prints a decimal with all digits of its scale.
func decimalText(v Value) string {
	if v.more == nil {
		return fixedPoint(v.n, int(v.scale))
	}
	text := v.more.big.String()
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	return sign + point(text, int(v.scale))
}

// fixedPoint prints n / 10^scale.
func fixedPoint(n int64, scale int) string {
	if scale == 0 {
		return strconv.FormatInt(n, 10)
	}
	if n < 0 {
		return "-" + point(strconv.FormatUint(uint64(-n), 10), scale)
	}
	return point(strconv.FormatInt(n, 10), scale)
}

// point puts a decimal point before the last scale digits.
func point(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	return digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// decimalFloat is the float that is nearest to a decimal.
func decimalFloat(v Value) float64 {
	if v.more == nil && abs64(v.n) < 1<<53 && int(v.scale) < len(pow10) {
		// Both are exact as floats up to 10^22, so one division rounds once.
		return float64(v.n) / float64(pow10[v.scale])
	}
	f, err := strconv.ParseFloat(decimalText(v), 64)
	if err != nil {
		return math.NaN() // a decimal has at most 77 digits, so it is always in range
	}
	return f
}

// floatDecimal is a float as a decimal with at most scale digits after the point. SQL Server takes 17 digits of it.
func floatDecimal(f float64, scale int) Value {
	text := strconv.FormatFloat(f, 'e', 16, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	exp, err := strconv.Atoi(exponent)
	if err != nil || exp > 60 {
		return OfDecimal(bigPow10[100], 0) // too big for any decimal
	}
	digits, err := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64)
	if err != nil {
		digits = 0
	}
	v := smallDecimal(digits, 0)
	// The value is digits * 10^(exp-16).
	switch k := exp - 16; {
	case k >= 0:
		v = rescale(v, k, false)
		v.scale = 0
		return v
	case -k > 100:
		return smallDecimal(0, scale)
	default:
		v.scale = uint8(-k)
		return rescale(v, min(scale, -k), false)
	}
}

// parseDecimal reads digits with an optional sign and point into a decimal with the digits of its text. Excess digits
// after the 38th fractional one don't matter and are left out, rounded.
func parseDecimal(s string) (v Value, ok bool) {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = strings.TrimLeft(s[1:], " ")
	}
	whole, part, _ := strings.Cut(s, ".")
	if whole == "" && part == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(part, "0123456789") != "" {
		return Value{}, false
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > 2*maxPrecision {
		return OfDecimal(bigPow10[100], 0), true
	}
	scale := min(len(part), 2*maxPrecision)
	part = part[:scale]
	if len(whole)+scale <= 18 {
		n := int64(0)
		for _, digits := range []string{whole, part} {
			for i := range len(digits) {
				n = n*10 + int64(digits[i]-'0')
			}
		}
		if negative {
			n = -n
		}
		return smallDecimal(n, scale), true
	}
	coef, ok := new(big.Int).SetString(whole+part, 10)
	if !ok {
		return Value{}, false
	}
	if negative {
		coef.Neg(coef)
	}
	return OfDecimal(coef, scale), true
}

// compareDecimals compares two decimals of any scales.
func compareDecimals(a, b Value) int {
	if a.scale != b.scale {
		scale := int(max(a.scale, b.scale))
		a, b = rescale(a, scale, false), rescale(b, scale, false)
	}
	if a.more == nil && b.more == nil {
		switch {
		case a.n < b.n:
			return -1
		case a.n > b.n:
			return 1
		default:
			return 0
		}
	}
	x, _ := a.Decimal()
	y, _ := b.Decimal()
	return x.Cmp(y)
}
