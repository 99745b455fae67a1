package sqltype

import (
	"fmt"
	"slices"
)

// verbs name the operators as the server's messages do.
// It is also the list of the operators that there are.
var verbs = map[string]string{
	"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo",
	"&": "bitwise AND", "|": "bitwise OR", "^": "bitwise XOR", "<<": "left shift", ">>": "right shift", "||": "concatenate",
}

// Arithmetic returns the type of "a op b", where op is one of + - * / % & | ^ || << >>, or an error that says why the
// server would refuse it. Decimals follow the documented rules for precision and scale, with the reduction beyond 38
// digits; strings and binaries are concatenated by + and ||; datetime and smalldatetime count days.
// With [Invalid], the result is Invalid and no error.
func Arithmetic(op string, a, b Type) (Type, error) {
	if _, ok := verbs[op]; !ok {
		return Type{}, fmt.Errorf("unknown operator %s", op)
	}
	if a.Kind == Invalid || b.Kind == Invalid {
		return Type{}, nil
	}
	for _, t := range []Type{a, b} {
		if !operand(t) {
			return Type{}, fmt.Errorf("%s can't be an operand of %s (%s)%s", t, op, verbs[op], operandAdvice(t))
		}
	}
	a, b = typeNull(op, a, b), typeNull(op, b, a)
	switch op {
	case "&", "|", "^":
		return bitwise(op, a, b)
	case "<<", ">>":
		return shift(op, a, b)
	case "||":
		return concatenate(op, a, b)
	}
	// + is concatenation only between strings or between binaries; beside a number, a string is a number.
	if op == "+" && (a.in(classCharacter, classNational) && b.in(classCharacter, classNational) || a.in(classBinary) && b.in(classBinary)) {
		return concatenate(op, a, b)
	}
	return compute(op, a, b)
}

// operand reports whether a type may stand beside any operator at all. The date types of 2008 (date, time, datetime2,
// datetimeoffset) may not; datetime may, because it is a number of days underneath: GETDATE() + 1 is tomorrow.
func operand(t Type) bool {
	return t.Kind == Null || t.IsNumeric() ||
		t.in(classCharacter, classNational, classBinary, classDateTime, classRowVersion)
}

// operandAdvice says what to do instead of computing with a type.
// Temporal types have functions for it; what else is a scalar has at least a CAST.
func operandAdvice(t Type) string {
	switch {
	case t.IsTemporal():
		return ": use DATEADD or DATEDIFF"
	case t.IsScalar():
		return ": CAST it first"
	default:
		return ""
	}
}

// typeNull gives a NULL operand the type that the server gives it: the other's where that is what the operator is
// about, else int.
func typeNull(op string, t, other Type) Type {
	switch {
	case t.Kind != Null:
		return t
	case op == "+" || op == "||":
		if other.in(classCharacter, classNational, classBinary) {
			other.Length = min(other.Length, 1) // its length adds next to nothing
			return other
		}
		return Type{Kind: Int}
	default:
		return Type{Kind: Int}
	}
}

// Unary returns the type of "op a", where op is + - or ~. A plus does nothing and is allowed before strings too; a
// minus
// makes no number of a string, and ~ is for integers and bits.
func Unary(op string, a Type) (Type, error) {
	refuse := func() (Type, error) { return Type{}, fmt.Errorf("%s can't be an operand of unary %s", a, op) }
	switch {
	case !slices.Contains([]string{"+", "-", "~"}, op):
		return Type{}, fmt.Errorf("unknown operator %s", op)
	case a.Kind == Invalid:
		return Type{}, nil
	case a.Kind == Null:
		return Type{Kind: Int}, nil
	case op == "~":
		if a.IsExactInteger() || a.Kind == Bit {
			return a, nil
		}
		return refuse()
	case op == "+":
		if a.IsNumeric() || a.in(classCharacter, classNational) {
			return a, nil
		}
		return refuse()
	case !a.IsNumeric() || a.Kind == Bit:
		return refuse()
	case a.Kind == TinyInt:
		return Type{Kind: SmallInt}, nil // tinyint has no sign
	default:
		return a, nil
	}
}

// bitwise is & | ^: integers and bits, one side of which may be binary: @flags & 0x01. A text beside an integer becomes
// one.
func bitwise(op string, a, b Type) (Type, error) {
	whole := func(t Type) bool { return t.IsExactInteger() || t.Kind == Bit }
	bits := func(t Type) bool { return whole(t) || t.in(classBinary) }
	text := func(t Type) bool { return t.in(classCharacter, classNational) && !t.IsLOB() && !t.IsMax() }
	if a.IsExactInteger() && text(b) || b.IsExactInteger() && text(a) {
		return Union(a, b)
	}
	// Two binaries are refused by the server as well: one side has to be a number.
	if !bits(a) || !bits(b) || !whole(a) && !whole(b) {
		return Type{}, fmt.Errorf("%s %s %s: the operands are integers, and at most one is binary", a, op, b)
	}
	return Union(a, b)
}

// shift is << and >>, which SQL Server 2022 has: the left side decides, the right one only counts.
func shift(op string, a, b Type) (Type, error) {
	if !a.IsExactInteger() && !a.in(classBinary) || !b.IsExactInteger() {
		return Type{}, fmt.Errorf("%s %s %s: shift an integer or a binary by an integer", a, op, b)
	}
	return a, nil
}

// concatenate joins two strings or two binaries. The length is the sum of both, up to what can be declared: the server
// cuts the rest off in silence unless one side is a (max) type.
//
//	varchar(10) + nvarchar(20)     nvarchar(30)
//	varchar(5000) + varchar(5000)  varchar(8000), cut off
//	varchar(max) + varchar(10)     varchar(max)
func concatenate(op string, a, b Type) (Type, error) {
	text := a.in(classCharacter, classNational) && b.in(classCharacter, classNational)
	bytes := a.in(classBinary) && b.in(classBinary)
	if !text && !bytes {
		return Type{}, fmt.Errorf("%s %s %s: concatenate strings with strings and binaries with binaries, or CAST one side", a, op, b)
	}
	sum := a.Length + b.Length // meaningless if one is Max; then the result is Max and it isn't used
	high, err := Union(a, b)
	if err != nil || high.IsMax() {
		return high, err
	}
	high.Length = min(sum, kinds[high.Kind].limit)
	return high, nil
}

// compute is + - * / % on numbers, and + - on datetime. But for decimals the result is simply the operand of the higher
// precedence, which is what makes 1 / 2 zero.
func compute(op string, a, b Type) (Type, error) {
	if err := computable(op, a, b); err != nil {
		return Type{}, err
	}
	high, err := Union(a, b)
	if err != nil {
		return Type{}, fmt.Errorf("%s %s %s: %w", a, op, b, err)
	}
	// Every other kind is its own result: int / int truncates, and smallmoney + smallmoney may overflow.
	if high.Kind != Decimal {
		return high, nil
	}
	x, okX := a.asDecimal()
	y, okY := b.asDecimal()
	// A string or a binary beside a decimal is converted to that decimal's very type.
	if !okX {
		x = y
	}
	if !okY {
		y = x
	}
	return decimalResult(op, x, y), nil
}

// computable refuses what the server refuses although the operands would convert to each other: '1' - '2', and
// datetime * 2.
func computable(op string, a, b Type) error {
	number := func(t Type) bool { return t.IsNumeric() || t.in(classDateTime) }
	switch {
	case !number(a) && !number(b):
		return fmt.Errorf("%s %s %s: neither side is a number; CAST one of them", a, op, b)
	case a.Kind == Bit && b.Kind == Bit:
		return fmt.Errorf("%s %s %s: bits are not numbers; CAST one of them to int", a, op, b)
	case op == "%" && (a.IsApproximate() || b.IsApproximate()):
		return fmt.Errorf("%s %% %s: %% doesn't take real or float; CAST to decimal", a, b)
	case (a.in(classDateTime) || b.in(classDateTime)) && op != "+" && op != "-":
		return fmt.Errorf("%s %s %s: dates are only added and subtracted; use DATEADD or DATEDIFF", a, op, b)
	default:
		return nil
	}
}

// decimalResult applies the documented rules for the result of decimal arithmetic. In each, p is the precision and s
// the scale that hold every result; beyond 38 digits, something gives way:
// https://learn.microsoft.com/sql/t-sql/data-types/precision-scale-and-length-transact-sql
func decimalResult(op string, a, b Type) Type {
	p1, s1, p2, s2 := a.Precision, a.Scale, b.Precision, b.Scale
	switch op {
	case "*": // digits add up, and the documented rule adds one more
		return reduce(p1+p2+1, s1+s2)
	case "/": // enough fractional digits to tell quotients apart, at least six
		s := max(6, s1+p2+1)
		return reduce(p1-s1+s2+s, s)
	case "%": // smaller than the divisor and no larger than the dividend
		integral, s := min(p1-s1, p2-s2), max(s1, s2)
		return squeeze(integral, integral+s, s)
	default: // + and -: one more integral digit for the carry, which is the first to go
		integral, s := max(p1-s1, p2-s2), max(s1, s2)
		return squeeze(integral, integral+s+1, s)
	}
}

// reduce is the rule of * and / beyond 38 digits: integral digits are kept at the cost of fractional ones, of which six
// stay, or all if there are fewer.
//
//	decimal(38,10) * decimal(38,10)   77 digits, scale 20: decimal(38,6)
func reduce(precision, scale int) Type {
	if precision > maxPrecision {
		integral := precision - scale
		scale = min(scale, max(maxPrecision-integral, 6))
		precision = maxPrecision
	}
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}
