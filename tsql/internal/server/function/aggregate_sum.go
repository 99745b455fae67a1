package function

import (
	"math"
	"math/big"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// bindSum is SUM and AVG. The planner converts nothing: a number is added in its own kind, and the sum has the type of
// the result, in which it may overflow.
func bindSum(c *bindCall) (*Aggregate, error) {
	t, average := c.result, c.name == "AVG"
	var begin func() Accumulator
	switch t.Kind {
	case sqltype.Float:
		begin = func() Accumulator { return &floatSum{average: average} }
	case sqltype.Decimal:
		scale := c.args[0].Type.Scale
		begin = func() Accumulator { return &decimalSum{average: average, t: t, scale: scale, sum: new(big.Int)} }
	default:
		begin = func() Accumulator { return &intSum{average: average, t: t} }
	}
	return &Aggregate{New: begin}, nil
}

// intSum adds whole numbers and amounts of money. The average is cut off.
type intSum struct {
	nulls
	average bool
	t       value.Type
	sum, n  int64
}

func (s *intSum) Add(args []value.Value) error {
	v := args[0]
	if s.skip(v) {
		return nil
	}
	x := v.Int()
	if s.t.IsMoney() {
		x = v.Money()
	}
	sum := s.sum + x
	if (x > 0) != (sum > s.sum) && x != 0 || s.t.Kind == sqltype.Int && sum != int64(int32(sum)) {
		return overflow(string(s.t.Kind))
	}
	s.sum = sum
	s.n++
	return nil
}

func (s *intSum) Result() (value.Value, error) {
	if s.n == 0 {
		return value.Value{}, nil
	}
	sum := s.sum
	if s.average {
		sum /= s.n
	}
	if s.t.IsMoney() {
		return value.OfMoney(sum), nil
	}
	return value.OfInt(sum), nil
}

// decimalSum adds decimals of one scale, in 38 digits. The average has more fractional digits, and is cut off.
type decimalSum struct {
	nulls
	average bool
	t       value.Type
	scale   int
	sum     *big.Int
	n       int64
}

var decimalLimit = pow10(38)

func (s *decimalSum) Add(args []value.Value) error {
	if s.skip(args[0]) {
		return nil
	}
	coef, scale := args[0].Decimal()
	if scale < s.scale {
		coef = new(big.Int).Mul(coef, pow10(s.scale-scale))
	}
	s.sum.Add(s.sum, coef)
	if s.sum.CmpAbs(decimalLimit) >= 0 {
		return overflow("numeric")
	}
	s.n++
	return nil
}

func (s *decimalSum) Result() (value.Value, error) {
	if s.n == 0 {
		return value.Value{}, nil
	}
	if !s.average {
		return value.OfDecimal(new(big.Int).Set(s.sum), s.scale), nil
	}
	q := new(big.Int).Mul(s.sum, pow10(s.t.Scale-s.scale))
	q.Quo(q, big.NewInt(s.n))
	if q.CmpAbs(decimalLimit) >= 0 {
		return value.Value{}, overflow("numeric")
	}
	return value.OfDecimal(q, s.t.Scale), nil
}

type floatSum struct {
	nulls
	average bool
	sum     float64
	n       int64
}

func (s *floatSum) Add(args []value.Value) error {
	if s.skip(args[0]) {
		return nil
	}
	s.sum += args[0].Float()
	s.n++
	if math.IsInf(s.sum, 0) {
		return overflow("float")
	}
	return nil
}

func (s *floatSum) Result() (value.Value, error) {
	switch {
	case s.n == 0:
		return value.Value{}, nil
	case s.average:
		return value.OfFloat(s.sum / float64(s.n)), nil
	default:
		return value.OfFloat(s.sum), nil
	}
}

// bindStatistic is STDEV and VAR, of a sample, and STDEVP and VARP, of all.
func bindStatistic(c *bindCall) (*Aggregate, error) {
	root := c.name == "STDEV" || c.name == "STDEVP"
	all := c.name == "STDEVP" || c.name == "VARP"
	return &Aggregate{Args: []value.Type{typeFloat}, New: func() Accumulator { return &statistic{root: root, all: all} }}, nil
}

// statistic keeps the mean and the sum of squared distances from it, which loses no digits when the mean is large.
type statistic struct {
	nulls
	root, all        bool
	n, mean, squares float64
}

func (s *statistic) Add(args []value.Value) error {
	if s.skip(args[0]) {
		return nil
	}
	x := args[0].Float()
	s.n++
	d := x - s.mean
	s.mean += d / s.n
	s.squares += d * (x - s.mean)
	return nil
}

func (s *statistic) Result() (value.Value, error) {
	n := s.n - 1
	if s.all {
		n = s.n
	}
	if n <= 0 {
		return value.Value{}, nil
	}
	variance := s.squares / n
	if s.root {
		variance = math.Sqrt(variance)
	}
	return value.OfFloat(variance), nil
}
