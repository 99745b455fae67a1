package function

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Functions that write something as text, or read it.

var textFunctions = map[string]binder{
	"STR":           bindStr,
	"SOUNDEX":       textFunction(func(_ *bindCall, _ matcher, s string) value.Value { return value.OfString(soundex(s)) }),
	"DIFFERENCE":    bindDifference,
	"STRING_ESCAPE": bindStringEscape,
	"PARSENAME":     plain(parseName, typeSysname, typeBigInt),
	"BASE64_ENCODE": bindBase64,
	"ISNUMERIC":     bindIsNumeric,
	"FORMAT":        bindFormat,
	"FORMATMESSAGE": bindFormatMessage,
}

// bindStr is STR: right-aligned, and asterisks for what doesn't fit.
func bindStr(c *bindCall) (*Bound, error) {
	types := []value.Type{typeFloat, typeInt, typeInt}[:len(c.args)]
	b := simple(func(args []value.Value) (value.Value, error) {
		length, decimals := int64(10), int64(0)
		if len(args) > 1 {
			length = args[1].Int()
		}
		if len(args) > 2 {
			decimals = args[2].Int()
		}
		if length <= 0 || length > 8000 || decimals < 0 {
			return value.Value{}, nil
		}
		return value.OfString(str(args[0].Float(), int(length), int(min(decimals, 16)))), nil
	}, types...)
	b.Nullable = len(c.args) > 1 && !c.args[1].within(1, 8000) || len(c.args) > 2 && !c.args[2].within(0, 8000)
	return b, nil
}

// str rounds half away from zero, as decimals do, and drops fractional digits that have no room.
func str(f float64, length, decimals int) string {
	whole := strconv.FormatFloat(math.Trunc(f), 'f', 0, 64)
	if math.Abs(f) < 1 && f < 0 {
		whole = "-0"
	}
	decimals = max(0, min(decimals, length-len(whole)-1))
	// The shortest decimal form of the float is what a reader sees; it is rounded, and not the binary fraction.
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', 17, 64))
	if short, good := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64)); good {
		exact, ok = short, true
	}
	if !ok {
		return strings.Repeat("*", length)
	}
	text := exact.FloatString(decimals)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	if len(text) > length {
		return strings.Repeat("*", length)
	}
	return strings.Repeat(" ", length-len(text)) + text
}

// soundexCodes are the digits of the letters A to Z. Letters with 0 part equal neighbours; H, W and Y do not.
const soundexCodes = "01230120022455012623010202"

// soundex is the phonetic code of the beginning of a text: its first letter, and the digits of the next sounds.
func soundex(s string) string {
	if s == "" || !isLetter(s[0]) {
		return "0000"
	}
	code := []byte{upper(s[0])}
	last := soundexCodes[code[0]-'A']
	for i := 1; i < len(s) && len(code) < 4 && isLetter(s[i]); i++ {
		c := upper(s[i])
		digit := soundexCodes[c-'A']
		switch {
		case c == 'H' || c == 'W':
			continue
		case digit != '0' && digit != last:
			code = append(code, digit)
		}
		last = digit
	}
	return string(code) + strings.Repeat("0", 4-len(code))
}

func isLetter(c byte) bool { return upper(c) >= 'A' && upper(c) <= 'Z' }

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// bindDifference counts the characters in which two SOUNDEX codes agree.
func bindDifference(c *bindCall) (*Bound, error) {
	return simple(func(args []value.Value) (value.Value, error) {
		a, b, n := soundex(args[0].Str()), soundex(args[1].Str()), int64(0)
		for i := range 4 {
			n += int64(b2i(a[i] == b[i]))
		}
		return value.OfInt(n), nil
	}, c.text(0), c.text(1)), nil
}

func bindStringEscape(c *bindCall) (*Bound, error) {
	return simple(func(args []value.Value) (value.Value, error) {
		if !strings.EqualFold(args[1].Str(), "json") {
			return value.Value{}, fault.New(1023, 2, "string_escape")
		}
		return value.OfString(string(appendEscaped(nil, args[0].Str()))), nil
	}, c.text(0), c.text(1)), nil
}

// parseName returns a part of a name of up to four, counted from the object at the right.
func parseName(args []value.Value) (value.Value, error) {
	parts, ok := nameParts(args[0].Str())
	n := args[1].Int()
	if !ok || len(parts) > 4 || n < 1 || n > int64(len(parts)) {
		return value.Value{}, nil
	}
	part := parts[len(parts)-int(n)]
	if part == "" || value.UTF16Len(part) > 128 {
		return value.Value{}, nil
	}
	return value.OfString(part), nil
}

// nameParts splits a name at its points, which count for nothing within brackets and quotation marks.
func nameParts(s string) ([]string, bool) {
	parts, i := []string{}, 0
	for {
		part, end, ok := namePart(s, i)
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
		switch {
		case end >= len(s):
			return parts, true
		case s[end] != '.':
			return nil, false
		}
		i = end + 1
	}
}

// namePart reads the part of a name that begins at i, and returns where it ends; false if what closes it is missing.
func namePart(s string, i int) (part string, end int, ok bool) {
	closing := at(s, i)
	switch closing {
	case '[':
		closing = ']'
	case '"':
	default:
		part, _, _ = strings.Cut(s[i:], ".")
		return part, i + len(part), true
	}
	var b strings.Builder
	for i++; i < len(s); i++ {
		if s[i] == closing {
			if at(s, i+1) != closing {
				return b.String(), i + 1, true
			}
			i++ // twice is once
		}
		b.WriteByte(s[i])
	}
	return "", i, false
}

// bindBase64: the second argument asks for the letters that suit a URL, without padding.
func bindBase64(c *bindCall) (*Bound, error) {
	types := []value.Type{asIs, typeInt}[:len(c.args)]
	return simple(func(args []value.Value) (value.Value, error) {
		if len(args) == 2 && args[1].Bool() {
			return value.OfString(base64.RawURLEncoding.EncodeToString(args[0].Bytes())), nil
		}
		return value.OfString(base64.StdEncoding.EncodeToString(args[0].Bytes())), nil
	}, types...), nil
}

// bindIsNumeric: 1 for what converts to some number. That includes a lone sign or currency symbol, which money takes.
func bindIsNumeric(c *bindCall) (*Bound, error) {
	t := c.args[0].Type
	return &Bound{Deterministic: true, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		v, t := args[0], t
		if v.Kind() == value.Variant {
			v, t = v.Variant()
		}
		switch {
		case v.IsNull():
			return value.OfInt(0), nil
		case t.IsNumeric():
			return value.OfInt(1), nil
		case !t.IsCharacter():
			return value.OfInt(0), nil
		default:
			return value.OfInt(int64(b2i(isNumeric(v.Str())))), nil
		}
	}}, nil
}

// isNumeric reports whether a text is a number, a float with e or d, or an amount of money.
func isNumeric(s string) bool {
	s = strings.Trim(s, " \t\n\v\f\r")
	return s != "" && (isFloatText(s) || isMoneyText(s))
}

func isFloatText(s string) bool {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	mantissa, exponent, found := cutExponent(s)
	if strings.Trim(mantissa, "0123456789.") != "" || strings.Count(mantissa, ".") > 1 || !hasDigit(mantissa) {
		return false
	}
	return !found || hasDigit(exponent) && strings.Trim(strings.TrimPrefix(strings.TrimPrefix(exponent, "+"), "-"), "0123456789") == ""
}

// cutExponent parts a number at its e or d.
func cutExponent(s string) (mantissa, exponent string, found bool) {
	i := strings.IndexAny(s, "eEdD")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// isMoneyText takes signs and a currency symbol in front, and commas anywhere before the point; no digit is needed.
func isMoneyText(s string) bool {
	signs, symbols := 0, 0
	for s != "" {
		r, size := value.DecodeRune(s)
		switch {
		case r == '+' || r == '-':
			signs++
		case strings.ContainsRune("$¢£¤¥€₡₣₤₦₧₨₩₪₫₭₮₱฿৲৳₠₢₥₯₰﷼﹩＄￠￡￥￦", r):
			symbols++
		case r == ' ' || r == '\t':
		default:
			whole, part, _ := strings.Cut(s, ".")
			return signs < 2 && symbols < 2 && strings.Trim(whole, "0123456789,") == "" && strings.Trim(part, "0123456789") == ""
		}
		s = s[size:]
	}
	return signs < 2 && symbols < 2
}

// bindFormatMessage: a number asks for a message of sys.messages, which this server doesn't have.
func bindFormatMessage(c *bindCall) (*Bound, error) {
	if !c.args[0].Type.IsCharacter() {
		return nil, unsupported("FORMATMESSAGE with the number of a message")
	}
	return &Bound{Deterministic: true, Args: []value.Type{typeMaxText}, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		if args[0].IsNull() {
			return value.Value{}, nil
		}
		list := make([]FormatArgument, len(args)-1)
		for i, arg := range args[1:] {
			list[i] = FormatArgument{Value: arg, Type: c.args[i+1].Type}
		}
		text, err := FormatMessage(args[0].Str(), list)
		if err != nil {
			return value.Value{}, err
		}
		return value.OfString(value.Slice16(text, 0, 2047)), nil
	}}, nil
}
