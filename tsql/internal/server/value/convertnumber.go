package value

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// intRange returns the least and the greatest value of an integer type.
func intRange(k sqltype.Kind) (least, greatest int64) {
	switch k {
	case sqltype.Bit:
		return 0, 1
	case sqltype.TinyInt:
		return 0, math.MaxUint8
	case sqltype.SmallInt:
		return math.MinInt16, math.MaxInt16
	case sqltype.Int:
		return math.MinInt32, math.MaxInt32
	default:
		return math.MinInt64, math.MaxInt64
	}
}

// inRange reports whether an integer type holds n.
func inRange(n int64, k sqltype.Kind) bool {
	least, greatest := intRange(k)
	return n >= least && n <= greatest
}

// intBytes is the number of bytes of an integer type.
func intBytes(k sqltype.Kind) int {
	switch k {
	case sqltype.Bit, sqltype.TinyInt:
		return 1
	case sqltype.SmallInt:
		return 2
	case sqltype.Int:
		return 4
	default:
		return 8
	}
}

// toInt makes an integer or a bit. Decimals and floats lose their fraction; money and datetime are rounded.
func toInt(v Value, from, to Type) (Value, error) {
	switch v.kind {
	case Int:
		return intToInt(v, to)
	case String:
		return textToInt(v.s, from, to)
	case Decimal:
		return decimalToInt(rescale(v, 0, true), "numeric", to)
	case Money:
		return decimalToInt(smallDecimal(divideRounded(v.n, 10000), 0), "expression", to)
	case Float:
		return floatToInt(v.Float(), to)
	case Bytes:
		return bytesToInt(v.s, to), nil
	case DateTime:
		days, part := splitDateTime(v.n)
		if part*2 >= dateTimePerDay {
			days++
		}
		return decimalToInt(smallDecimal(int64(days-day1900), 0), "expression", to)
	default:
		return Value{}, never(from, to)
	}
}

func intToInt(v Value, to Type) (Value, error) {
	switch {
	case to.Kind == sqltype.Bit:
		return OfBool(v.n != 0), nil
	case inRange(v.n, to.Kind):
		return v, nil
	case to.Kind != sqltype.Int && inRange(v.n, sqltype.Int):
		return Value{}, fault.New(220, baseName(to), v.n)
	default:
		return Value{}, overflow("expression", to)
	}
}

// decimalToInt makes an integer of a decimal without fraction.
func decimalToInt(v Value, source string, to Type) (Value, error) {
	if to.Kind == sqltype.Bit {
		return OfBool(v.more != nil || v.n != 0), nil
	}
	if v.more != nil || !inRange(v.n, to.Kind) {
		return Value{}, overflow(source, to)
	}
	return OfInt(v.n), nil
}

func floatToInt(f float64, to Type) (Value, error) {
	if to.Kind == sqltype.Bit {
		return OfBool(f != 0), nil
	}
	least, greatest := intRange(to.Kind)
	f = math.Trunc(f)
	// 2^63 is the first float that bigint does not hold; the greatest bigint itself is no float.
	if f < float64(least) || f > float64(greatest) || f >= 1<<63 {
		if to.Kind == sqltype.BigInt {
			return Value{}, overflow("expression", to)
		}
		return Value{}, fault.New(232, baseName(to), fmt.Sprintf("%f", f))
	}
	return OfInt(int64(f)), nil
}

// bytesToInt takes the last bytes of a binary.
func bytesToInt(s string, to Type) Value {
	if to.Kind == sqltype.Bit {
		return OfBool(strings.Trim(s, "\x00") != "")
	}
	size := intBytes(to.Kind)
	if len(s) > size {
		s = s[len(s)-size:]
	}
	n := uint64(0)
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	switch {
	case len(s) < size || size == 1: // not negative
		return OfInt(int64(n))
	case size == 2:
		return OfInt(int64(int16(n)))
	case size == 4:
		return OfInt(int64(int32(n)))
	default:
		return OfInt(int64(n))
	}
}

// textToInt reads an integer: blanks around it don't count, and no digits at all are zero.
func textToInt(s string, from, to Type) (Value, error) {
	text := strings.Trim(s, " ")
	if to.Kind == sqltype.Bit {
		switch {
		case strings.EqualFold(text, "true"):
			return OfBool(true), nil
		case strings.EqualFold(text, "false"):
			return OfBool(false), nil
		}
	}
	digits, negative := text, false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		digits = strings.TrimLeft(text[1:], " ")
	}
	n, over := uint64(0), false
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return Value{}, notInt(s, from, to)
		}
		// Ten times what is below this, and a digit, fit.
		if n >= (math.MaxUint64-9)/10 {
			over = true
			continue
		}
		n = n*10 + uint64(d)
	}
	if to.Kind == sqltype.Bit {
		return OfBool(n != 0 || over), nil
	}
	switch {
	case !over && !negative && n <= math.MaxInt64 && inRange(int64(n), to.Kind):
		return OfInt(int64(n)), nil
	case !over && negative && n <= 1<<63 && inRange(-int64(n), to.Kind):
		return OfInt(-int64(n)), nil
	default:
		return Value{}, intOverflow(s, from, to)
	}
}

// notInt is the error for text that is no integer.
func notInt(s string, from, to Type) error {
	if to.Kind == sqltype.BigInt {
		return fault.New(8114, baseName(from), "bigint")
	}
	return fault.New(245, baseName(from), s, baseName(to))
}

// intOverflow is the error for text that is an integer too big for the type.
func intOverflow(s string, from, to Type) error {
	switch to.Kind {
	case sqltype.TinyInt:
		return fault.New(244, baseName(from), s, "INT1")
	case sqltype.SmallInt:
		return fault.New(244, baseName(from), s, "INT2")
	case sqltype.Int:
		return fault.New(248, baseName(from), s)
	default:
		return overflow("expression", to)
	}
}

// toDecimal makes a decimal. What it has too many fractional digits for is rounded.
func toDecimal(v Value, from, to Type) (Value, error) {
	switch v.kind {
	case Decimal, Int, Money:
		return fitDecimal(asDecimal(v), to, baseName(from))
	case String:
		d, ok := parseDecimal(strings.Trim(v.s, " "))
		if !ok {
			return Value{}, fault.New(8114, baseName(from), "numeric")
		}
		return fitDecimal(d, to, baseName(from))
	case Float:
		return fitDecimal(floatDecimal(v.Float(), to.Scale), to, baseName(from))
	case Bytes:
		d, ok := decimalFromBytes(v.s)
		if !ok {
			return Value{}, fault.New(8114, baseName(from), "numeric")
		}
		return fitDecimal(d, to, baseName(from))
	case DateTime:
		return fitDecimal(floatDecimal(float64(v.n)/dateTimePerDay, to.Scale), to, baseName(from))
	default:
		return Value{}, never(from, to)
	}
}

// toMoney makes a money or smallmoney, rounded to four fractional digits.
func toMoney(v Value, from, to Type) (Value, error) {
	var d Value
	switch v.kind {
	case Money:
		d = asDecimal(v)
	case Decimal, Int:
		d = rescale(asDecimal(v), 4, false)
	case Float:
		d = rescale(floatDecimal(v.Float(), 5), 4, false)
	case DateTime:
		d = rescale(floatDecimal(float64(v.n)/dateTimePerDay, 5), 4, false)
	case Bytes:
		d = smallDecimal(bytesToInt(v.s, moneyBytes(to)).n, 4)
	case String:
		return textToMoney(v.s, to)
	default:
		return Value{}, never(from, to)
	}
	if !isMoney(d, to) {
		return Value{}, overflow(baseName(from), to)
	}
	return OfMoney(d.n), nil
}

// moneyBytes is the integer type that money of a type is stored like.
func moneyBytes(t Type) Type {
	if t.Kind == sqltype.SmallMoney {
		return OfKind(sqltype.Int)
	}
	return OfKind(sqltype.BigInt)
}

// isMoney reports whether a money type holds a decimal of scale 4.
func isMoney(d Value, to Type) bool {
	return d.more == nil && inRange(d.n, moneyBytes(to).Kind)
}

// textToMoney reads an amount: a currency sign before or after the sign, and commas anywhere between the digits.
func textToMoney(s string, to Type) (Value, error) {
	syntax, tooBig := int32(235), int32(236)
	if to.Kind == sqltype.SmallMoney {
		syntax, tooBig = 293, 294
	}
	text := strings.Trim(s, " ")
	negative := false
	signs := 0
	for text != "" {
		r, size := DecodeRune(text)
		if r == '-' || r == '+' {
			negative = r == '-'
			signs++
		} else if !strings.ContainsRune(currencySigns, r) && r != ' ' {
			break
		}
		text = text[size:]
	}
	text = strings.ReplaceAll(text, ",", "")
	if text == "" {
		text = "0"
	}
	d, ok := parseDecimal(text)
	if !ok || signs > 1 || text[0] == '-' || text[0] == '+' {
		return Value{}, fault.New(syntax)
	}
	d = rescale(d, 4, false)
	if negative {
		n, _ := d.Decimal()
		d = OfDecimal(new(big.Int).Neg(n), 4)
	}
	if !isMoney(d, to) {
		return Value{}, fault.New(tooBig)
	}
	return OfMoney(d.n), nil
}

// currencySigns may stand before an amount of money.
const currencySigns = "$¢£¤¥৲৳฿៛₠₡₢₣₤₥₦₧₨₩₪₫€₭₮₯₰₱﷼﹩＄￠￡￥￦"

// toFloat makes a float or a real.
func toFloat(v Value, from, to Type) (Value, error) {
	switch v.kind {
	case Float:
		return fitFloat(v.Float(), to)
	case Int:
		return fitFloat(float64(v.n), to)
	case Decimal, Money:
		return fitFloat(decimalFloat(asDecimal(v)), to)
	case DateTime:
		return fitFloat(float64(v.n)/dateTimePerDay, to)
	case String:
		f, ok := parseFloat(strings.Trim(v.s, " "))
		if !ok {
			return Value{}, fault.New(8114, baseName(from), baseName(to))
		}
		if math.IsInf(f, 0) {
			return Value{}, overflow("expression", to)
		}
		return fitFloat(f, to)
	default:
		return Value{}, never(from, to)
	}
}

// fitFloat rounds to what a float type holds.
func fitFloat(f float64, to Type) (Value, error) {
	if to.Kind == sqltype.Real {
		r := float64(float32(f))
		if math.IsInf(r, 0) {
			return Value{}, fault.New(232, "real", fmt.Sprintf("%f", f))
		}
		f = r
	}
	return OfFloat(f + 0), nil // there is no negative zero
}

// parseFloat reads a float. No digits at all are zero. A number that is too big is infinite.
func parseFloat(s string) (f float64, ok bool) {
	if s == "" {
		return 0, true
	}
	digit := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c != '+' && c != '-' && c != '.' && c|0x20 != 'e' && c|0x20 != 'd':
			return 0, false // ParseFloat takes more than the server: inf, nan, 0x, _
		}
	}
	if !digit {
		return 0, s == "+" || s == "-"
	}
	s = strings.Map(func(r rune) rune {
		if r == 'd' || r == 'D' {
			return 'e'
		}
		return r
	}, s)
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}
