package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// realBits are the bits of a float as a real.
func realBits(f float64) uint32 { return math.Float32bits(float32(f)) }

// toText makes a string. Text, binaries and dates that are too long are cut; numbers are an error.
func toText(v Value, from, to Type, style int) (Value, error) {
	switch v.kind {
	case String:
		if from.Kind == sqltype.XML {
			return xmlToText(v.s, to)
		}
		s := v.s
		if groupOf(to.Kind) == charGroup && (groupOf(from.Kind) != charGroup || from.Collation != to.Collation) {
			s = toPage(s, to.Collation)
		}
		return fitText(s, to), nil
	case Int:
		return intToText(v.n, from, to)
	case Decimal:
		s := decimalText(v)
		if tooLong(s, to) {
			return Value{}, overflow("numeric", to)
		}
		return fitText(s, to), nil
	case Money:
		return moneyToText(v, from, to, style)
	case Float:
		s, err := floatText(v.Float(), from, style)
		if err != nil {
			return Value{}, err
		}
		if tooLong(s, to) {
			return Value{}, fault.New(232, baseName(to), fmt.Sprintf("%f", v.Float()))
		}
		return fitText(s, to), nil
	case Bytes:
		return bytesToText(v.s, to, style), nil
	case Date, Time, DateTime, DateTime2, DateTimeOffset:
		s, err := dateText(v, from, to, style)
		if err != nil {
			return Value{}, err
		}
		return fitText(s, to), nil
	case GUID:
		s := guidText(v.s)
		if tooLong(s, to) {
			return Value{}, fault.New(8170)
		}
		return fitText(s, to), nil
	default:
		return Value{}, never(from, to)
	}
}

// textLimit is the length of a character type, in UTF-16 units or, of char and varchar, in bytes; ok is false if it has
// none.
func textLimit(t Type) (n int, ok bool) {
	switch t.Kind {
	case sqltype.Char, sqltype.VarChar, sqltype.NChar, sqltype.NVarChar:
		return t.Length, t.Length != sqltype.Max
	default:
		return 0, false
	}
}

// textLen is the length of a text as a value of a type.
func textLen(s string, t Type) int {
	if groupOf(t.Kind) == charGroup {
		return varcharLen(s, t.Collation)
	}
	return UTF16Len(s)
}

// tooLong reports whether an ASCII text does not fit a type.
func tooLong(s string, t Type) bool {
	n, ok := textLimit(t)
	return ok && len(s) > n
}

// fitText cuts a text at the end, or fills it with blanks there.
func fitText(s string, to Type) Value {
	limit, ok := textLimit(to)
	// A text has at most as many units or bytes as it has bytes here.
	if ok && len(s) > limit {
		s = cutText(s, limit, to)
	}
	if ok && (to.Kind == sqltype.Char || to.Kind == sqltype.NChar) {
		if n := textLen(s, to); n < limit {
			s += strings.Repeat(" ", limit-n)
		}
	}
	return OfString(s)
}

// cutText returns the longest beginning of a text that fits n units or bytes of a type.
func cutText(s string, n int, to Type) string {
	if groupOf(to.Kind) == charGroup {
		return cutVarchar(s, n, to.Collation)
	}
	return Slice16(s, 0, n)
}

// smallInts are the texts of small integers, which need no memory.
var smallInts = func() (texts [256]string) {
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return texts
}()

// intToText prints an integer. One that does not fit char or varchar is a star; in nchar and nvarchar it is an error,
// and so is every bigint.
func intToText(n int64, from, to Type) (Value, error) {
	var s string
	if n >= 0 && n < int64(len(smallInts)) {
		s = smallInts[n]
	} else {
		s = strconv.FormatInt(n, 10)
	}
	if tooLong(s, to) {
		if groupOf(to.Kind) != charGroup || from.Kind == sqltype.BigInt {
			return Value{}, overflow("expression", to)
		}
		s = "*"
	}
	return fitText(s, to), nil
}

// moneyToText prints an amount: with two fractional digits, with commas (style 1), or with four digits (2 and 126).
func moneyToText(v Value, from, to Type, style int) (Value, error) {
	var s string
	switch style {
	case 2, 126:
		s = fixedPoint(v.n, 4)
	case 1:
		s = commas(fixedPoint(divideRounded(v.n, 100), 2))
	default:
		s = fixedPoint(divideRounded(v.n, 100), 2)
	}
	if !tooLong(s, to) {
		return fitText(s, to), nil
	}
	if from.Kind == sqltype.SmallMoney {
		return Value{}, fault.New(292, baseName(to))
	}
	return Value{}, fault.New(234, baseName(to))
}

// commas puts a comma before every three digits left of the point.
func commas(s string) string {
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	whole, part, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + "." + part
}

// floatText prints a float: with up to six digits (style 0), or in scientific notation with eight (1), sixteen (2), or
// as many as bring the same value back (3). Exponents have three digits.
func floatText(f float64, from Type, style int) (string, error) {
	switch style {
	case 0:
		return shortFloat(f), nil
	case 1:
		return exponent3(strconv.FormatFloat(f, 'e', 7, 64)), nil
	case 2:
		return exponent3(strconv.FormatFloat(f, 'e', 15, 64)), nil
	case 3, 126, 128, 129:
		if from.Kind == sqltype.Real && style == 3 {
			return exponent3(strconv.FormatFloat(f, 'e', 8, 64)), nil
		}
		return exponent3(strconv.FormatFloat(f, 'e', 16, 64)), nil
	default:
		return "", fault.New(281, style, baseName(from))
	}
}

// shortFloat prints at most six significant digits, as %g of C does.
func shortFloat(f float64) string {
	if f == 0 {
		return "0"
	}
	text := strconv.FormatFloat(f, 'e', 5, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	exp, err := strconv.Atoi(exponent)
	if err != nil || exp < -4 || exp >= 6 {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return exponent3(mantissa + "e" + exponent)
	}
	text = strconv.FormatFloat(f, 'f', 5-exp, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// exponent3 writes the exponent with three digits.
func exponent3(s string) string {
	mantissa, exponent, found := strings.Cut(s, "e")
	if !found || len(exponent) < 2 {
		return s
	}
	digits := exponent[1:]
	return mantissa + "e" + exponent[:1] + strings.Repeat("0", max(3-len(digits), 0)) + digits
}

// bytesToText takes bytes for characters, or with the styles 1 and 2 prints them in hexadecimal.
func bytesToText(s string, to Type, style int) Value {
	switch {
	case style == 1:
		return fitText("0x"+hexText(s), to)
	case style == 2:
		return fitText(hexText(s), to)
	case inUTF16(to):
		if len(s)%2 == 1 { // the missing byte is a zero
			s += "\x00"
		}
		return fitText(DecodeUTF16([]byte(s)), to)
	default:
		return fitText(DecodeVarchar([]byte(s), to.Collation), to)
	}
}
