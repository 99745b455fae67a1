package value

import (
	"math"
	"math/big"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Arithmetic computes "a op b", where op is one of + - * / % & | ^ || << >>. The operands are of their own types, and
// result is what sqltype.Arithmetic says of these. With NULL on either side, the result is NULL.
func Arithmetic(op string, a, b Value, ta, tb, result Type) (Value, error) {
	if a.kind == Null || b.kind == Null {
		return Value{}, nil
	}
	switch groupOf(result.Kind) {
	case intGroup, bitGroup:
		return computeInt(op, a, b, ta, tb, result)
	case charGroup, ncharGroup:
		return concatText(a, b, ta, tb, result)
	case decimalGroup:
		return computeDecimal(op, a, b, ta, tb, result)
	case floatGroup:
		return computeFloat(op, a, b, ta, tb, result)
	case moneyGroup:
		return computeMoney(op, a, b, ta, tb, result)
	case binaryGroup:
		return computeBytes(op, a, b, ta, tb, result)
	case datetimeGroup:
		return computeDateTime(op, a, b, ta, tb, result)
	default:
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
}

// verb names an operator as messages do.
func verb(op string) string {
	names := map[string]string{
		"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo",
		"&": "'&'", "|": "'|'", "^": "'^'", "||": "concatenate", "<<": "'<<'", ">>": "'>>'",
	}
	return names[op]
}

// computeInt computes with integers. What an integer type does not hold is an overflow; division loses the fraction.
func computeInt(op string, a, b Value, ta, tb, result Type) (Value, error) {
	x, err := operandInt(a, ta, result)
	if err != nil {
		return Value{}, err
	}
	shift := op == "<<" || op == ">>"
	wide := result
	if shift {
		wide = OfKind(sqltype.BigInt) // what is shifted by need not fit what is shifted
	}
	y, err := operandInt(b, tb, wide)
	if err != nil {
		return Value{}, err
	}
	n, ok := int64(0), true
	switch op {
	case "+":
		n = x + y
		ok = (n > x) == (y > 0)
	case "-":
		n = x - y
		ok = (n < x) == (y > 0)
	case "*":
		n, ok = multiply(x, y)
	case "/", "%":
		if y == 0 {
			return Value{}, fault.New(8134)
		}
		if op == "%" {
			if y != -1 {
				n = x % y
			}
			break
		}
		n, ok = x/y, x != math.MinInt64 || y != -1
	case "&":
		n = x & y
	case "|":
		n = x | y
	case "^":
		n = x ^ y
	case "<<":
		return OfInt(shiftInt(x, y, result)), nil
	case ">>":
		return OfInt(shiftInt(x, -y, result)), nil
	default:
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
	if !ok || !inRange(n, result.Kind) {
		return Value{}, overflow("expression", result)
	}
	return OfInt(n), nil
}

// operandInt is an operand as an integer. Integers need no conversion, for they are narrower than the result.
func operandInt(v Value, t, result Type) (int64, error) {
	if v.kind == Int {
		return v.n, nil
	}
	c, err := Convert(v, t, result, 0)
	return c.n, err
}

// shiftInt shifts the bits of an integer to the left, or with negative y to the right, where zeros come in.
func shiftInt(x, y int64, t Type) int64 {
	size := intBytes(t.Kind) * 8
	if y >= int64(size) || y <= -int64(size) {
		return 0
	}
	mask := uint64(math.MaxUint64) >> (64 - size)
	u := uint64(x) & mask
	if y >= 0 {
		u = u << y & mask
	} else {
		u >>= -y
	}
	switch t.Kind {
	case sqltype.SmallInt:
		return int64(int16(u))
	case sqltype.Int:
		return int64(int32(u))
	default:
		return int64(u)
	}
}

// operandDecimal is an operand as a decimal with the scale of its own. Text is read as a decimal of the type of the
// other operand.
func operandDecimal(v Value, t, other Type) (Value, error) {
	if d := asDecimal(v); d.kind == Decimal {
		return d, nil
	}
	if other.Kind != sqltype.Decimal {
		other = DecimalType(maxPrecision, 0)
	}
	return Convert(v, t, other, 0)
}

// computeDecimal computes exactly and brings the result to the scale of its type: sums and products are rounded,
// quotients cut off.
func computeDecimal(op string, a, b Value, ta, tb, result Type) (Value, error) {
	x, err := operandDecimal(a, ta, tb)
	if err != nil {
		return Value{}, err
	}
	y, err := operandDecimal(b, tb, ta)
	if err != nil {
		return Value{}, err
	}
	var v Value
	switch op {
	case "+", "-":
		v = addDecimals(x, y, op == "-")
	case "*":
		v = multiplyDecimals(x, y)
	case "/", "%":
		if y.more == nil && y.n == 0 {
			return Value{}, fault.New(8134)
		}
		if op == "/" {
			v = divideDecimals(x, y, result.Scale)
		} else {
			v = moduloDecimals(x, y)
		}
	default:
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
	return fitDecimal(v, result, "expression")
}

func addDecimals(a, b Value, negate bool) Value {
	scale := int(max(a.scale, b.scale))
	a, b = rescale(a, scale, false), rescale(b, scale, false)
	if a.more == nil && b.more == nil {
		y := b.n
		if negate && y != math.MinInt64 {
			y = -y
		}
		if n := a.n + y; (n > a.n) == (y > 0) && (!negate || b.n != math.MinInt64) {
			return smallDecimal(n, scale)
		}
	}
	x, _ := a.Decimal()
	y, _ := b.Decimal()
	if negate {
		return OfDecimal(new(big.Int).Sub(x, y), scale)
	}
	return OfDecimal(new(big.Int).Add(x, y), scale)
}

func multiplyDecimals(a, b Value) Value {
	scale := int(a.scale) + int(b.scale)
	if a.more == nil && b.more == nil {
		if n, ok := multiply(a.n, b.n); ok {
			return smallDecimal(n, scale)
		}
	}
	x, _ := a.Decimal()
	y, _ := b.Decimal()
	return OfDecimal(new(big.Int).Mul(x, y), scale)
}

// divideDecimals returns a quotient with so many fractional digits, the rest cut off.
func divideDecimals(a, b Value, scale int) Value {
	// (x / 10^sa) / (y / 10^sb) is x * 10^(scale - sa + sb) / y, in units of 10^-scale.
	k := scale - int(a.scale) + int(b.scale)
	if a.more == nil && b.more == nil && k >= 0 {
		if n, ok := scaleUp(a.n, k); ok {
			return smallDecimal(n/b.n, scale)
		}
	}
	x, _ := a.Decimal()
	y, _ := b.Decimal()
	if k >= 0 {
		x = new(big.Int).Mul(x, bigPow10[k])
	} else {
		y = new(big.Int).Mul(y, bigPow10[-k])
	}
	return OfDecimal(new(big.Int).Quo(x, y), scale)
}

// moduloDecimals returns what a division leaves, with the sign of a.
func moduloDecimals(a, b Value) Value {
	scale := int(max(a.scale, b.scale))
	a, b = rescale(a, scale, false), rescale(b, scale, false)
	x, _ := a.Decimal()
	y, _ := b.Decimal()
	return OfDecimal(new(big.Int).Rem(x, y), scale)
}

// computeFloat computes with floats, or rounded to real with reals.
func computeFloat(op string, a, b Value, ta, tb, result Type) (Value, error) {
	x, err := Convert(a, ta, result, 0)
	if err != nil {
		return Value{}, err
	}
	y, err := Convert(b, tb, result, 0)
	if err != nil {
		return Value{}, err
	}
	var f float64
	switch op {
	case "+":
		f = x.Float() + y.Float()
	case "-":
		f = x.Float() - y.Float()
	case "*":
		f = x.Float() * y.Float()
	case "/":
		if y.Float() == 0 {
			return Value{}, fault.New(8134)
		}
		f = x.Float() / y.Float()
	default:
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
	if math.IsInf(f, 0) || result.Kind == sqltype.Real && math.IsInf(float64(float32(f)), 0) {
		return Value{}, overflow("expression", result)
	}
	return fitFloat(f, result)
}

// computeMoney computes in ten-thousandths. Products are rounded, quotients cut off.
func computeMoney(op string, a, b Value, ta, tb, result Type) (Value, error) {
	x, err := Convert(a, ta, result, 0)
	if err != nil {
		return Value{}, err
	}
	y, err := Convert(b, tb, result, 0)
	if err != nil {
		return Value{}, err
	}
	p, q := asDecimal(x), asDecimal(y)
	var v Value
	switch op {
	case "+", "-":
		v = addDecimals(p, q, op == "-")
	case "*":
		v = rescale(multiplyDecimals(p, q), 4, false)
	case "/", "%":
		if q.n == 0 {
			return Value{}, fault.New(8134)
		}
		if op == "/" {
			v = divideDecimals(p, q, 4)
		} else {
			v = moduloDecimals(p, q)
		}
	default:
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
	if !isMoney(v, result) {
		return Value{}, overflow("expression", result)
	}
	return OfMoney(v.n), nil
}

// concatText joins two strings. Beyond the length of the result's type, the rest is cut off.
func concatText(a, b Value, ta, tb, result Type) (Value, error) {
	var err error
	if a.kind != String {
		if a, err = Convert(a, ta, result, 0); err != nil {
			return Value{}, err
		}
	}
	if b.kind != String {
		if b, err = Convert(b, tb, result, 0); err != nil {
			return Value{}, err
		}
	}
	if err := CheckSize(int64(len(a.s) + len(b.s))); err != nil {
		return Value{}, err
	}
	s := Concat(a.s, b.s)
	if limit, ok := textLimit(result); ok && len(s) > limit {
		s = cutText(s, limit, result)
	}
	return OfString(s), nil
}

// computeBytes joins two binaries, or shifts the bits of one.
func computeBytes(op string, a, b Value, ta, tb, result Type) (Value, error) {
	if op == "<<" || op == ">>" {
		n, err := operandInt(b, tb, OfKind(sqltype.BigInt))
		if err != nil {
			return Value{}, err
		}
		if op == ">>" {
			n = -n
		}
		return OfRaw(shiftBytes(a.s, n)), nil
	}
	if op != "+" && op != "||" || a.kind != Bytes || b.kind != Bytes {
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
	if err := CheckSize(int64(len(a.s) + len(b.s))); err != nil {
		return Value{}, err
	}
	s := a.s + b.s
	if limit, ok := byteLimit(result); ok && len(s) > limit {
		s = s[:limit]
	}
	return OfRaw(s), nil
}

// shiftBytes shifts all bits of a binary to the left, or with negative n to the right.
func shiftBytes(s string, n int64) string {
	size := len(s) * 8
	if n >= int64(size) || n <= -int64(size) {
		return strings.Repeat("\x00", len(s))
	}
	x := new(big.Int).SetBytes([]byte(s))
	if n >= 0 {
		x.Lsh(x, uint(n))
		x.And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(size)), big.NewInt(1)))
	} else {
		x.Rsh(x, uint(-n))
	}
	return string(x.FillBytes(make([]byte, len(s))))
}

// computeDateTime adds and subtracts datetimes, which are numbers of days since 1900.
func computeDateTime(op string, a, b Value, ta, tb, result Type) (Value, error) {
	wide := OfKind(sqltype.DateTime)
	x, err := Convert(a, ta, wide, 0)
	if err != nil {
		return Value{}, err
	}
	y, err := Convert(b, tb, wide, 0)
	if err != nil {
		return Value{}, err
	}
	n := x.n + y.n
	switch op {
	case "+":
	case "-":
		n = x.n - y.n
	default:
		return Value{}, fault.New(402, baseName(ta), baseName(tb), verb(op))
	}
	v, err := fitDateTime(n, result, result)
	if err != nil {
		return Value{}, fault.New(517, baseName(result))
	}
	return v, nil
}

// Negate is unary minus on a value of type t; result is what sqltype.Unary says.
func Negate(v Value, t, result Type) (Value, error) {
	switch v.kind {
	case Null:
		return v, nil
	case Int:
		if v.n == math.MinInt64 || !inRange(-v.n, result.Kind) {
			return Value{}, overflow("expression", result)
		}
		return OfInt(-v.n), nil
	case Money:
		if v.n == math.MinInt64 || !isMoney(smallDecimal(-v.n, 4), t) {
			return Value{}, overflow("expression", result)
		}
		return OfMoney(-v.n), nil
	case Float:
		return OfFloat(0 - v.Float()), nil
	case Decimal:
		n, scale := v.Decimal()
		return OfDecimal(new(big.Int).Neg(n), scale), nil
	default:
		return Value{}, fault.New(8117, baseName(t), "minus")
	}
}

// BitNot is ~ on a value of type t.
func BitNot(v Value, t Type) (Value, error) {
	switch {
	case v.kind == Null:
		return v, nil
	case v.kind != Int:
		return Value{}, fault.New(8117, baseName(t), "'~'")
	case t.Kind == sqltype.Bit:
		return OfBool(v.n == 0), nil
	case t.Kind == sqltype.TinyInt:
		return OfInt(int64(^uint8(v.n))), nil
	default:
		return OfInt(^v.n), nil
	}
}

// TypeName is the name of a type in messages, without facets: "numeric", "nvarchar".
func TypeName(t Type) string { return baseName(t) }
