package function

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// formatNumber formats a number. A format of a letter and perhaps a precision is a standard one, any other a picture.
func (c *culture) formatNumber(n number, format string) (string, bool) {
	if format == "" {
		format = "G"
	}
	if letter := format[0]; isLetter(letter) && len(format) <= 3 {
		if precision, err := strconv.Atoi(format[1:]); err == nil && precision >= 0 {
			return c.standardNumber(n, letter, precision)
		}
		if len(format) == 1 {
			return c.standardNumber(n, letter, -1)
		}
	}
	return c.picture(n, format), true
}

// standardNumber is one of the formats with a name; the precision is -1 if there is none.
func (c *culture) standardNumber(n number, letter byte, precision int) (string, bool) {
	digits := precision
	if digits < 0 {
		digits = 2
	}
	switch upper(letter) {
	case 'C':
		pattern := c.currency
		text, negative := c.fixed(n.rat, digits, true)
		if negative {
			pattern = c.negativeCurrency
		}
		return strings.NewReplacer("n", text, "$", c.symbol).Replace(pattern), true
	case 'N', 'F':
		text, negative := c.fixed(n.rat, digits, upper(letter) == 'N')
		return signed(text, negative), true
	case 'P':
		text, negative := c.fixed(new(big.Rat).Mul(n.rat, big.NewRat(100, 1)), digits, true)
		return signed(strings.Replace(c.percent, "n", text, 1), negative), true
	case 'D':
		if !n.whole {
			return "", false
		}
		text := new(big.Int).Abs(n.rat.Num()).String()
		return signed(strings.Repeat("0", max(0, precision-len(text)))+text, n.rat.Sign() < 0), true
	case 'X':
		if !n.whole {
			return "", false
		}
		text := strconv.FormatUint(uint64(n.rat.Num().Int64())&(1<<n.bits-1), 16)
		text = strings.Repeat("0", max(0, precision-len(text))) + text
		if letter == 'X' {
			text = strings.ToUpper(text)
		}
		return text, true
	case 'E':
		if precision < 0 {
			precision = 6
		}
		return c.scientific(n.rat, precision, letter, 3), true
	case 'G':
		return c.general(n, precision), true
	case 'R':
		if n.whole || n.scale >= 0 {
			return "", false
		}
		return c.general(n, -1), true
	default:
		return "", false
	}
}

// signed puts a sign before a number that is below zero.
func signed(text string, negative bool) string {
	if negative {
		return "-" + text
	}
	return text
}

// fixed prints the absolute value with so many fractional digits. What is rounded to zero has no sign.
func (c *culture) fixed(r *big.Rat, digits int, grouped bool) (text string, negative bool) {
	text = new(big.Rat).Abs(r).FloatString(digits)
	negative = r.Sign() < 0 && strings.Trim(text, "0.") != ""
	whole, part, found := strings.Cut(text, ".")
	if grouped {
		whole = c.grouped(whole)
	}
	if found {
		whole += c.decimal + part
	}
	return whole, negative
}

// grouped puts a mark before each three digits.
func (c *culture) grouped(whole string) string {
	var out strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteString(c.group)
		}
		out.WriteByte(whole[i])
	}
	return out.String()
}

// scientific prints one digit, fractional digits and an exponent with at least so many digits.
func (c *culture) scientific(r *big.Rat, digits int, letter byte, width int) string {
	text, power := significant(new(big.Rat).Abs(r), digits+1)
	mantissa := text[:1]
	if digits > 0 {
		mantissa += c.decimal + text[1:]
	}
	sign := "+"
	if power < 0 {
		sign, power = "-", -power
	}
	exponent := strconv.Itoa(power)
	return signed(mantissa, r.Sign() < 0) + string(letter) + sign + strings.Repeat("0", max(0, width-len(exponent))) + exponent
}

// significant returns the first n digits of a number, rounded half away from zero, and the power of ten of the first.
func significant(r *big.Rat, n int) (digits string, power int) {
	if r.Sign() == 0 {
		return strings.Repeat("0", n), 0
	}
	f, _ := new(big.Float).SetRat(r).Float64()
	power = int(math.Floor(math.Log10(f))) // or one beside it
	for {
		scaled := new(big.Rat).Set(r)
		if shift := power - n + 1; shift > 0 {
			scaled.Quo(scaled, new(big.Rat).SetInt(pow10(shift)))
		} else {
			scaled.Mul(scaled, new(big.Rat).SetInt(pow10(-shift)))
		}
		digits = scaled.FloatString(0)
		switch {
		case len(digits) > n:
			power++
		case len(digits) < n:
			power--
		default:
			return digits, power
		}
	}
}

// general prints the shortest form.
func (c *culture) general(n number, precision int) string {
	if n.scale >= 0 && precision <= 0 {
		text, negative := c.fixed(n.rat, n.scale, false)
		return signed(text, negative)
	}
	if precision <= 0 {
		precision = 15
	}
	f, _ := n.rat.Float64()
	text := strconv.FormatFloat(f, 'g', precision, 64)
	if mantissa, exponent, found := strings.Cut(text, "e"); found {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return strings.Replace(mantissa, ".", c.decimal, 1) + "E" + exponent
	}
	return strings.Replace(text, ".", c.decimal, 1)
}

// picture formats by a picture such as #,##0.00;(#,##0.00);zero: for numbers above, below and at zero.
func (c *culture) picture(n number, format string) string {
	sections := splitPicture(format)
	section, r := sections[0], new(big.Rat).Abs(n.rat)
	negative := n.rat.Sign() < 0
	switch {
	case n.rat.Sign() == 0 && len(sections) > 2 && sections[2] != "":
		section = sections[2]
	case negative && len(sections) > 1 && sections[1] != "":
		section, negative = sections[1], false
	}
	p := readPicture(section)
	for range p.hundreds {
		r.Mul(r, big.NewRat(100, 1))
	}
	for range p.thousands {
		r.Quo(r, big.NewRat(1000, 1))
	}
	if p.exponent != "" {
		return signed(c.pictureExponent(p, r), negative)
	}
	text := r.FloatString(p.decimals)
	if strings.Trim(text, "0.") == "" {
		negative = false
	}
	whole, part, _ := strings.Cut(text, ".")
	return signed(c.fill(p, strings.TrimLeft(whole, "0"), part), negative)
}

// splitPicture parts the sections of a picture at semicolons that are not quoted.
func splitPicture(format string) []string {
	sections := []string{""}
	for i := 0; i < len(format); i++ {
		last := &sections[len(sections)-1]
		switch ch := format[i]; ch {
		case ';':
			sections = append(sections, "")
		case '\\':
			end := min(len(format), i+2)
			*last += format[i:end]
			i = end - 1
		case '\'', '"':
			end := strings.IndexByte(format[i+1:], ch)
			if end < 0 {
				end = len(format) - i - 2
			}
			*last += format[i : i+end+2]
			i += end + 1
		default:
			*last += string(ch)
		}
	}
	return sections
}

// pictureInfo is what a section of a picture asks for.
type pictureInfo struct {
	tokens   []string // a digit place (0 or #), a point, or text that begins with a quotation mark
	whole    int      // digit places before the point
	minWhole int      // how many of them are filled with zeros
	decimals int
	// minDecimals is how many fractional digits stay if they are zero.
	minDecimals         int
	grouped             bool
	hundreds, thousands int
	exponent            string // as E+00; empty if there is none
}

// readPicture reads a section.
func readPicture(s string) pictureInfo {
	var p pictureInfo
	point, commas := false, 0
	text := func(t string) { p.tokens = append(p.tokens, "'"+t) }
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '0' || ch == '#':
			if commas > 0 && !point {
				p.grouped = true
			}
			commas = 0
			p.tokens = append(p.tokens, string(ch))
			p.place(ch, point)
		case ch == ',' && p.whole > 0 && !point:
			commas++
		case ch == ',':
		case ch == '.' && !point:
			point = true
			p.thousands, commas = commas, 0
			p.tokens = append(p.tokens, ".")
		case ch == '%':
			p.hundreds++
			text("%")
		case ch == '\\' && i+1 < len(s):
			i++
			text(s[i : i+1])
		case ch == '\'' || ch == '"':
			end := strings.IndexByte(s[i+1:], ch)
			if end < 0 {
				end = len(s) - i - 1
			}
			text(s[i+1 : min(len(s), i+1+end)])
			i += end + 1
		case (ch == 'E' || ch == 'e') && exponentAt(s[i:]) > 0:
			n := exponentAt(s[i:])
			p.exponent = s[i : i+n]
			i += n - 1
		default:
			text(s[i : i+1])
		}
	}
	if !point {
		p.thousands = commas
	}
	return p
}

// place counts a digit place.
func (p *pictureInfo) place(ch byte, point bool) {
	if point {
		p.decimals++
		if ch == '0' {
			p.minDecimals = p.decimals
		}
		return
	}
	p.whole++
	if ch == '0' || p.minWhole > 0 {
		p.minWhole++
	}
}

// exponentAt returns the length of an exponent such as E+00 at the beginning of a text; 0 if there is none.
func exponentAt(s string) int {
	i := 1
	if at(s, i) == '+' || at(s, i) == '-' {
		i++
	}
	from := i
	for at(s, i) == '0' {
		i++
	}
	if i == from {
		return 0
	}
	return i
}

// fill puts digits into the places of a picture.
func (c *culture) fill(p pictureInfo, whole, part string) string {
	whole = strings.Repeat("0", max(0, p.minWhole-len(whole))) + whole
	keep := len(strings.TrimRight(part, "0"))
	part = part[:max(keep, min(p.minDecimals, len(part)))]
	var out strings.Builder
	left, used := p.whole, 0 // digit places before the point that are still to come, and digits written
	digit := func() {
		out.WriteByte(whole[used])
		used++
		if rest := len(whole) - used; p.grouped && rest > 0 && rest%3 == 0 {
			out.WriteString(c.group)
		}
	}
	point, shown := p.whole == 0, 0
	if point {
		out.WriteString(whole)
	}
	for _, token := range p.tokens {
		switch {
		case token[0] == '\'':
			out.WriteString(token[1:])
		case token == ".":
			point = true
			if part != "" {
				out.WriteString(c.decimal)
			}
		case point:
			if shown < len(part) {
				out.WriteByte(part[shown])
			}
			shown++
		default:
			for len(whole)-used >= left && used < len(whole) { // the first place takes all digits that are too many
				digit()
				if len(whole)-used < left {
					break
				}
			}
			left--
		}
	}
	return out.String()
}

// pictureExponent formats with an exponent: as many digits before the point as the picture has places.
func (c *culture) pictureExponent(p pictureInfo, r *big.Rat) string {
	exponent := 0
	places := max(1, p.whole)
	if r.Sign() != 0 {
		text := new(big.Float).SetPrec(200).SetRat(r).Text('e', places-1+p.decimals)
		_, e, _ := strings.Cut(text, "e")
		exponent, _ = strconv.Atoi(e)
		exponent -= places - 1
		scale := new(big.Rat).SetInt(pow10(max(exponent, -exponent)))
		if exponent > 0 {
			r.Quo(r, scale)
		} else {
			r.Mul(r, scale)
		}
	}
	whole, part, _ := strings.Cut(r.FloatString(p.decimals), ".")
	sign := ""
	switch {
	case exponent < 0:
		sign = "-"
	case strings.Contains(p.exponent, "+"):
		sign = "+"
	}
	digits := strconv.Itoa(max(exponent, -exponent))
	width := strings.Count(p.exponent, "0")
	return c.fill(p, strings.TrimLeft(whole, "0"), part) + p.exponent[:1] + sign + strings.Repeat("0", max(0, width-len(digits))) + digits
}
