package function

import (
	"math"
	"math/big"
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

var mathFunctions = map[string]binder{
	"ABS":     bindExact(func(r *big.Rat) *big.Rat { return r.Abs(r) }, math.Abs),
	"CEILING": bindExact(ceiling, math.Ceil),
	"FLOOR":   bindExact(floor, math.Floor),
	"SIGN":    bindExact(func(r *big.Rat) *big.Rat { return new(big.Rat).SetInt64(int64(r.Sign())) }, sign),
	"ROUND":   bindRound,
	"POWER":   bindPower,
	"DEGREES": bindAngle(180 / math.Pi),
	"RADIANS": bindAngle(math.Pi / 180),
	"ACOS":    floating(math.Acos),
	"ASIN":    floating(math.Asin),
	"ATAN":    floating(math.Atan),
	"COS":     floating(math.Cos),
	"COT":     floating(func(f float64) float64 { return 1 / math.Tan(f) }),
	"SIN":     floating(math.Sin),
	"TAN":     floating(math.Tan),
	"EXP":     floating(math.Exp),
	"LOG10":   floating(math.Log10),
	"SQRT":    floating(math.Sqrt),
	"SQUARE":  floating(func(f float64) float64 { return f * f }),
	"LOG":     bindLog,
	"ATN2":    plain(atn2, typeFloat, typeFloat),
	"PI":      plain(func([]value.Value) (value.Value, error) { return value.OfFloat(math.Pi), nil }),
	"RAND":    bindRand,
}

// checked makes a value of a float, or the error for one that is none.
func checked(f float64) (value.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Value{}, fault.New(3623)
	}
	return value.OfFloat(f), nil
}

// floating makes a binder of a function of a float.
func floating(f func(float64) float64) binder {
	return plain(func(args []value.Value) (value.Value, error) { return checked(f(args[0].Float())) }, typeFloat)
}

func sign(f float64) float64 {
	switch {
	case f > 0:
		return 1
	case f < 0:
		return -1
	default:
		return 0
	}
}

// bindLog is LOG, of base e or of any other.
func bindLog(c *bindCall) (*Bound, error) {
	types := []value.Type{typeFloat, typeFloat}[:len(c.args)]
	return simple(func(args []value.Value) (value.Value, error) {
		result := math.Log(args[0].Float())
		if len(args) == 2 {
			result /= math.Log(args[1].Float())
		}
		return checked(result)
	}, types...), nil
}

func atn2(args []value.Value) (value.Value, error) {
	y, x := args[0].Float(), args[1].Float()
	if x == 0 && y == 0 {
		return value.Value{}, fault.New(3623)
	}
	return checked(math.Atan2(y, x))
}

// rational returns an exact number as a fraction.
func rational(v value.Value) *big.Rat {
	switch v.Kind() {
	case value.Decimal:
		coef, scale := v.Decimal()
		return new(big.Rat).SetFrac(coef, pow10(scale))
	case value.Money:
		return big.NewRat(v.Money(), 10000)
	default:
		return new(big.Rat).SetInt64(v.Int())
	}
}

// numeric makes a value of a number type of a fraction, rounded half away from zero or cut off.
func numeric(r *big.Rat, t value.Type, cut bool) (value.Value, error) {
	scale := 0
	switch t.Kind {
	case sqltype.Decimal:
		scale = t.Scale
	case sqltype.Money:
		scale = 4
	default: // integers
	}
	n := scaled(r, scale, cut)
	switch {
	case t.Kind == sqltype.Decimal:
		if new(big.Int).Abs(n).Cmp(pow10(t.Precision)) >= 0 {
			return value.Value{}, overflow("numeric")
		}
		return value.OfDecimal(n, scale), nil
	case !n.IsInt64() || t.Kind == sqltype.Int && n.Int64() != int64(int32(n.Int64())):
		return value.Value{}, overflow(string(t.Kind))
	case t.Kind == sqltype.Money:
		return value.OfMoney(n.Int64()), nil
	default:
		return value.OfInt(n.Int64()), nil
	}
}

// overflow is the error for a number that doesn't fit its type.
func overflow(kind string) error { return fault.New(8115, "expression", kind) }

// scaled returns r · 10^scale as a whole number.
func scaled(r *big.Rat, scale int, cut bool) *big.Int {
	n := new(big.Int).Mul(r.Num(), pow10(scale))
	q, rest := new(big.Int).QuoRem(n, r.Denom(), new(big.Int))
	if !cut && rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom()) >= 0 {
		q.Add(q, big.NewInt(int64(r.Sign())))
	}
	return q
}

func floor(r *big.Rat) *big.Rat {
	q := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean, and the denominator is positive
	return new(big.Rat).SetInt(q)
}

func ceiling(r *big.Rat) *big.Rat {
	r = floor(new(big.Rat).Neg(r))
	return r.Neg(r)
}

// bindExact makes a binder of a function that keeps the type of its argument.
func bindExact(exact func(*big.Rat) *big.Rat, float func(float64) float64) binder {
	return func(c *bindCall) (*Bound, error) {
		result := c.result
		if result.Kind == sqltype.Float {
			return floating(float)(c)
		}
		return simple(func(args []value.Value) (value.Value, error) {
			return numeric(exact(rational(args[0])), result, false)
		}, c.number()), nil
	}
}

// number returns the type as which the first argument is a number of the type of the result: as it is, unless it is no
// number.
func (c *bindCall) number() value.Type {
	if c.args[0].Type.IsNumeric() {
		return asIs
	}
	return c.result
}

// bindRound is ROUND. A third argument that isn't 0 cuts off instead.
func bindRound(c *bindCall) (*Bound, error) {
	result := c.result
	types := []value.Type{c.number(), typeInt, typeInt}[:len(c.args)]
	if result.Kind == sqltype.Float {
		types[0] = typeFloat
	}
	return simple(func(args []value.Value) (value.Value, error) {
		digits, cut := int(args[1].Int()), len(args) == 3 && args[2].Bool()
		if result.Kind == sqltype.Float {
			return checked(roundFloat(args[0].Float(), digits, cut))
		}
		r := rational(args[0])
		if digits < 0 {
			unit := pow10(min(-digits, 60))
			r = new(big.Rat).SetInt(scaled(new(big.Rat).Quo(r, new(big.Rat).SetInt(unit)), 0, cut))
			r.Mul(r, new(big.Rat).SetInt(unit))
		} else {
			digits = min(digits, 60)
			r = new(big.Rat).SetFrac(scaled(r, digits, cut), pow10(digits))
		}
		return numeric(r, result, false)
	}, types...), nil
}

// roundFloat rounds the decimal form of a float, half away from zero.
func roundFloat(f float64, digits int, cut bool) float64 {
	if digits > 300 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	if digits < -308 {
		return 0
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', 15, 64))
	if !ok {
		return f
	}
	unit := new(big.Rat).SetInt(pow10(max(digits, -digits)))
	if digits < 0 {
		unit.Inv(unit)
	}
	out := new(big.Rat).SetInt(scaled(r.Mul(r, unit), 0, cut))
	result, _ := out.Quo(out, unit).Float64()
	return result
}

// bindPower is POWER: the type of the base decides, so that 2 to the power of -1 is 0.
func bindPower(c *bindCall) (*Bound, error) {
	result := c.result
	if result.Kind == sqltype.Float {
		return simple(func(args []value.Value) (value.Value, error) {
			return checked(math.Pow(args[0].Float(), args[1].Float()))
		}, typeFloat, typeFloat), nil
	}
	const beyond = 1<<31 + 1 // a bit less may still be cut off to the smallest int
	return simple(func(args []value.Value) (value.Value, error) {
		base, exponent := rational(args[0]), args[1].Float()
		float, _ := base.Float64()
		approximate := math.Pow(float, exponent)
		switch {
		case base.Sign() == 0 && exponent < 0:
			return value.Value{}, fault.New(8134)
		case math.IsNaN(approximate):
			return value.Value{}, fault.New(3623)
		case math.Abs(approximate) > 1e39 || result.Kind == sqltype.Int && math.Abs(approximate) >= beyond:
			return value.Value{}, powerOverflow(approximate, result)
		}
		r := new(big.Rat)
		if exponent == math.Trunc(exponent) && exponent >= 0 && exponent < 1000 {
			n := big.NewInt(int64(exponent))
			r.SetFrac(new(big.Int).Exp(base.Num(), n, nil), new(big.Int).Exp(base.Denom(), n, nil))
		} else {
			r.SetFloat64(approximate)
		}
		v, err := numeric(r, result, result.Kind == sqltype.Int || result.Kind == sqltype.BigInt)
		if err != nil {
			return v, powerOverflow(approximate, result)
		}
		return v, nil
	}, c.number(), typeFloat), nil
}

// powerOverflow is the error of POWER, which says the value for integers.
func powerOverflow(f float64, t value.Type) error {
	if t.Kind == sqltype.Decimal {
		return overflow("numeric")
	}
	return fault.New(232, string(t.Kind), strconv.FormatFloat(f, 'f', 6, 64))
}

// bindAngle is DEGREES and RADIANS, which keep whole numbers whole.
func bindAngle(factor float64) binder {
	return func(c *bindCall) (*Bound, error) {
		result := c.result
		if result.Kind == sqltype.Float {
			return floating(func(f float64) float64 { return f * factor })(c)
		}
		return simple(func(args []value.Value) (value.Value, error) {
			r := rational(args[0])
			r.Mul(r, new(big.Rat).SetFloat64(factor))
			return numeric(r, result, result.Kind == sqltype.Int || result.Kind == sqltype.BigInt)
		}, c.number()), nil
	}
}

// bindRand is RAND. With a seed it is the same number each time: one step of the generator of L'Ecuyer that SQL Server
// has, where neighbouring seeds make neighbouring numbers. Without one it is the server's source.
func bindRand(c *bindCall) (*Bound, error) {
	if len(c.args) == 0 {
		return &Bound{Once: true, Eval: func(env Environment, _ []value.Value) (value.Value, error) {
			return value.OfFloat(float64(env.Random()>>11) / (1 << 53)), nil
		}}, nil
	}
	return &Bound{Deterministic: true, Args: []value.Type{typeInt}, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		return value.OfFloat(seeded(args[0].Int())), nil
	}}, nil
}

func seeded(seed int64) float64 {
	const m1, m2, second = 2147483563, 2147483399, 67890
	if seed < 0 {
		seed = -seed
	}
	z := seed*40014%m1 - second*40692%m2
	if z < 1 {
		z += m1 - 1
	}
	return float64(z) * 4.656613e-10
}
