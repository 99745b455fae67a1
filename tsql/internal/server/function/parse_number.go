package function

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// numberReader reads a number from left to right, as .NET does for a style of numbers.
type numberReader struct {
	*culture

	text                              string
	currency, exponent                bool // what the style allows beside digits
	negative, signed, open, hasSymbol bool
	digits                            string // without separators
	scale                             int    // how many of them stand after the point
	power                             int    // after E
}

// maxDigits is how many digits a decimal of .NET has for certain.
const maxDigits = 28

// parseNumber reads a number of a type.
func (c *culture) parseNumber(text string, to value.Type) (value.Value, error) {
	r := &numberReader{culture: c, text: text, currency: to.IsMoney(), exponent: to.Kind == sqltype.Float || to.Kind == sqltype.Real}
	if !r.read() {
		return value.Value{}, errNoValue
	}
	if r.exponent {
		return r.float(to)
	}
	digits := strings.TrimLeft(r.digits, "0")
	if len(digits) > maxDigits {
		return value.Value{}, uncertain(text)
	}
	coef, ok := new(big.Int).SetString("0"+digits, 10)
	if !ok {
		return value.Value{}, errNoValue
	}
	if r.negative {
		coef.Neg(coef)
	}
	if to.IsExactInteger() {
		unit := pow10(r.scale)
		if new(big.Int).Rem(coef, unit).Sign() != 0 {
			return value.Value{}, errNoValue
		}
		coef, r.scale = coef.Quo(coef, unit), 0
	}
	return value.Convert(value.OfDecimal(coef, r.scale), value.DecimalType(38, r.scale), to, 0)
}

// float makes a float or a real.
func (r *numberReader) float(to value.Type) (value.Value, error) {
	bits := 64
	if to.Kind == sqltype.Real {
		bits = 32
	}
	f, err := strconv.ParseFloat(r.digits+"e"+strconv.Itoa(r.power-r.scale), bits)
	if err != nil || math.IsInf(f, 0) {
		return value.Value{}, errNoValue
	}
	if r.negative {
		f = -f
	}
	return value.OfFloat(f), nil
}

// read reads all of the text.
func (r *numberReader) read() bool {
	r.before()
	if !r.number() {
		return false
	}
	if r.exponent {
		r.readExponent()
	}
	r.after()
	return r.text == "" && !r.open
}

// isWhite reports what .NET skips around numbers.
func isWhite(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// take cuts a text off at the beginning.
func (r *numberReader) take(prefix string) bool {
	rest, found := strings.CutPrefix(r.text, prefix)
	if found {
		r.text = rest
	}
	return found && prefix != ""
}

// sign takes a sign.
func (r *numberReader) sign() bool {
	if r.signed {
		return false
	}
	switch {
	case r.take("-"):
		r.negative = true
	case !r.take("+"):
		return false
	}
	r.signed = true
	return true
}

// before reads blanks, the sign, the symbol and the opening parenthesis.
func (r *numberReader) before() {
	for {
		switch {
		case r.text != "" && isWhite(r.text[0]) && (!r.signed || r.hasSymbol):
			r.text = r.text[1:]
		case r.sign():
		case r.currency && !r.signed && r.take("("):
			r.signed, r.open, r.negative = true, true, true
		case r.currency && !r.hasSymbol && r.take(r.symbol):
			r.hasSymbol = true
		default:
			return
		}
	}
}

// number reads digits with separators and a point, and reports whether there was a digit.
func (r *numberReader) number() bool {
	var digits strings.Builder
	point := false
	for {
		switch {
		case r.text != "" && r.text[0] >= '0' && r.text[0] <= '9':
			digits.WriteByte(r.text[0])
			r.text = r.text[1:]
			if point {
				r.scale++
			}
		case !point && r.take(r.decimal):
			point = true
		case !r.exponent && !point && digits.Len() > 0 && r.separator():
		default:
			r.digits = digits.String()
			return r.digits != ""
		}
	}
}

// separator takes what stands between thousands. A blank does for one that doesn't break.
func (r *numberReader) separator() bool {
	if r.take(r.group) {
		return true
	}
	// A blank that ends the number is none.
	return r.group == "\u00a0" && len(r.text) > 1 && r.text[0] == ' ' && r.text[1] >= '0' && r.text[1] <= '9' && r.take(" ")
}

// readExponent reads E and a power, if both are there.
func (r *numberReader) readExponent() {
	rest := r.text
	if rest == "" || rest[0]|0x20 != 'e' {
		return
	}
	i := 1
	if at(rest, i) == '+' || at(rest, i) == '-' {
		i++
	}
	from := i
	for at(rest, i) >= '0' && at(rest, i) <= '9' {
		i++
	}
	if i == from {
		return
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest[1:i], "+"))
	if err != nil {
		n = 1 << 20 // too far away for any float
		if rest[1] == '-' {
			n = -n
		}
	}
	r.power, r.text = n, rest[i:]
}

// after reads blanks, the closing parenthesis, the symbol, and a sign where one may follow.
func (r *numberReader) after() {
	for {
		switch {
		case r.text != "" && isWhite(r.text[0]):
			r.text = r.text[1:]
		case !r.exponent && r.sign():
		case r.open && r.take(")"):
			r.open = false
		case r.currency && !r.hasSymbol && r.take(r.symbol):
			r.hasSymbol = true
		default:
			return
		}
	}
}
