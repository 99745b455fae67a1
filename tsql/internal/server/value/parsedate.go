package value

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// dateProblem is why a text is no date.
type dateProblem uint8

const (
	noProblem  dateProblem = iota
	badFormat              // it does not look like one
	outOfRange             // there is no such day or time
	otherStyle             // it is one of another style
)

// textToDate reads a date, a time, or both. The language is us_english: the month comes first where only the order
// tells.
func textToDate(s string, from, to Type, style int) (Value, error) {
	old := groupOf(to.Kind) == datetimeGroup
	p := dateParser{old: old, order: styleOrder(style), styled: style != 0}
	m, problem := p.parse(s, style)
	if problem == noProblem {
		v, err := fitMoment(m, from, to)
		if err == nil || old {
			return v, err
		}
		problem = outOfRange
	}
	switch {
	case problem == otherStyle && !old:
		return Value{}, fault.New(9807, style)
	case problem == outOfRange && old:
		return Value{}, fault.New(242, baseName(from), baseName(to))
	case to.Kind == sqltype.SmallDateTime:
		return Value{}, fault.New(295)
	default:
		return Value{}, fault.New(241)
	}
}

// dateOrder is an order of day, month and year.
type dateOrder uint8

const (
	mdy dateOrder = iota
	dmy
	ymd
)

// styleOrder is the order that a style of CONVERT reads.
func styleOrder(style int) dateOrder {
	switch style {
	case 3, 4, 5, 6, 13, 103, 104, 105, 106, 113, 130, 131:
		return dmy
	case 2, 11, 12, 20, 21, 23, 25, 102, 111, 112, 120, 121, 126, 127:
		return ymd
	default:
		return mdy
	}
}

// dateToken is a number, a word, or a sign.
type dateToken struct {
	text string
	kind byte // '0' for numbers, 'a' for words, else the sign
}

// dateParser reads one text.
type dateParser struct {
	old     bool // datetime and smalldatetime, which are read by older rules
	styled  bool // CONVERT has a style
	order   dateOrder
	tokens  [24]dateToken // no date has more
	length  int           // of tokens
	at      int           // the next one
	numbers [4]string
	count   int
	month   int // by name; 0 if none
	day     moment
	hasTime bool
	isoTime bool // the time follows a T
}

func (p *dateParser) parse(s string, style int) (moment, dateProblem) {
	if !p.scan(s) {
		return moment{}, badFormat
	}
	p.day.days = day1900
	for p.at < p.length {
		if problem := p.next(); problem != noProblem {
			return moment{}, problem
		}
	}
	if (style == 126 || style == 127) && p.hasTime && !p.isoTime {
		return moment{}, otherStyle
	}
	if problem := p.date(); problem != noProblem {
		return moment{}, problem
	}
	return p.day, noProblem
}

// scan parts a text into tokens. Blanks only separate.
func (p *dateParser) scan(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		kind := c
		switch {
		case c == ' ':
			i = j
			continue
		case c >= '0' && c <= '9':
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			kind = '0'
		case isLetter(c):
			for j < len(s) && isLetter(s[j]) {
				j++
			}
			kind = 'a'
		case strings.IndexByte("/-.,:+", c) >= 0: // a sign is its own kind
		default:
			return false
		}
		if p.length == len(p.tokens) {
			return false
		}
		p.tokens[p.length] = dateToken{s[i:j], kind}
		p.length++
		i = j
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// kind is the kind of a token to come; 0 if there is none.
func (p *dateParser) kind(i int) byte {
	if p.at+i >= p.length {
		return 0
	}
	return p.tokens[p.at+i].kind
}

// word reports whether a token to come is one of some words.
func (p *dateParser) word(i int, words ...string) bool {
	if p.kind(i) != 'a' {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(p.text(i), w) {
			return true
		}
	}
	return false
}

// text is the text of a token to come.
func (p *dateParser) text(i int) string { return p.tokens[p.at+i].text }

func (p *dateParser) skip(n int) { p.at += n }

// next reads a time, a number of the date, the name of a month, or a sign between them.
func (p *dateParser) next() dateProblem {
	switch text := p.text(0); p.kind(0) {
	case '0':
		if p.kind(1) == ':' || p.word(1, "AM", "PM") {
			return p.time()
		}
		if p.count == len(p.numbers) {
			return badFormat
		}
		p.numbers[p.count] = text
		p.count++
	case 'a':
		if len(text) == 1 && text[0]|0x20 == 't' {
			if p.count == 0 || p.kind(1) != '0' || p.hasTime {
				return badFormat
			}
			p.isoTime = true
			break
		}
		if p.month != 0 {
			return badFormat
		}
		if p.month = monthByName(text); p.month == 0 {
			return badFormat
		}
	case '/', '-', '.', ',':
		if p.count == 0 && p.month == 0 {
			return badFormat
		}
	default:
		return badFormat
	}
	p.skip(1)
	return noProblem
}

// number is a number of at most a few digits.
func number(s string) int {
	if len(s) > 9 {
		return 1 << 30
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30
	}
	return n
}

// time reads hh:mm[:ss[.fffffff]] [AM], hh AM, and what may follow: Z or an offset.
func (p *dateParser) time() dateProblem {
	if p.hasTime {
		return badFormat
	}
	p.hasTime = true
	hour, minute, second := p.text(0), "0", "0"
	p.skip(1)
	var fraction int64
	if p.kind(0) == ':' && p.kind(1) == '0' {
		minute = p.text(1)
		p.skip(2)
		if p.kind(0) == ':' && p.kind(1) == '0' {
			second = p.text(1)
			p.skip(2)
			var ok bool
			if fraction, ok = p.fraction(); !ok {
				return badFormat
			}
		}
	}
	if len(hour) > 2 || len(minute) > 2 || len(second) > 2 || p.kind(0) == ':' {
		return badFormat
	}
	h, m, s := number(hour), number(minute), number(second)
	if p.word(0, "AM", "PM") {
		switch pm := p.word(0, "PM"); {
		case h > 12 && !pm:
			return outOfRange
		case pm && h < 12:
			h += 12
		case !pm && h == 12:
			h = 0
		}
		p.skip(1)
	}
	if h > 23 || m > 59 || s > 59 {
		return outOfRange
	}
	p.day.ticks = int64(h*3600+m*60+s)*ticksPerSecond + fraction
	return p.zone()
}

// fraction reads the fraction of a second: .9 is 900 ms, and :9 is 9 ms.
func (p *dateParser) fraction() (ticks int64, ok bool) {
	sign := p.kind(0)
	if sign != '.' && sign != ':' || p.kind(1) != '0' {
		return 0, true
	}
	digits := p.text(1)
	p.skip(2)
	limit := 7
	if p.old || sign == ':' {
		limit = 3
	}
	if len(digits) > limit {
		return 0, false
	}
	n := int64(number(digits))
	if sign == ':' {
		return n * 10000, true
	}
	return n * pow10[7-len(digits)], true
}

// zone reads Z or an offset. datetime takes Z after an ISO time only, and no offset.
func (p *dateParser) zone() dateProblem {
	if p.word(0, "Z") {
		p.skip(1)
		if p.old && !p.isoTime {
			return badFormat
		}
		return noProblem
	}
	sign := p.kind(0)
	if sign != '+' && sign != '-' || p.kind(1) != '0' || p.kind(2) != ':' || p.kind(3) != '0' {
		if sign == '+' {
			return badFormat
		}
		return noProblem
	}
	if p.old {
		return badFormat
	}
	h, m := number(p.text(1)), number(p.text(3))
	if m > 59 || h > 14 || h == 14 && m > 0 {
		return outOfRange
	}
	p.day.offset = h*60 + m
	if sign == '-' {
		p.day.offset = -p.day.offset
	}
	p.skip(4)
	return noProblem
}

// date makes a day of the numbers and the month that were read. None is 1900-01-01.
func (p *dateParser) date() dateProblem {
	if p.month != 0 {
		return p.namedMonth()
	}
	switch p.count {
	case 0:
		return noProblem
	case 1:
		n := p.numbers[0]
		switch len(n) {
		case 8:
			return p.set(n[:4], n[4:6], n[6:])
		case 6:
			return p.set(n[:2], n[2:4], n[4:])
		case 4:
			return p.set(n, "1", "1")
		}
	case 3:
		a, b, c := p.numbers[0], p.numbers[1], p.numbers[2]
		switch {
		case len(a) == 4 && p.styled && p.order != ymd && !p.old:
			return otherStyle
		case len(a) == 4 && p.order == dmy:
			return p.set(a, c, b)
		case len(a) == 4 || p.order == ymd && len(c) <= 2:
			return p.set(a, b, c)
		case p.order == ymd && p.styled && !p.old:
			return otherStyle
		case p.order == dmy:
			return p.set(c, b, a)
		default:
			return p.set(c, a, b)
		}
	}
	return badFormat
}

// namedMonth is date with a month that has a name: the numbers are a day and a year, or a year alone.
func (p *dateParser) namedMonth() dateProblem {
	month := strconv.Itoa(p.month)
	switch {
	case p.count == 1:
		if len(p.numbers[0]) != 4 {
			return badFormat
		}
		return p.set(p.numbers[0], month, "1")
	case p.count != 2:
		return badFormat
	case len(p.numbers[0]) == 4 || len(p.numbers[1]) != 4 && number(p.numbers[0]) > 31:
		return p.set(p.numbers[0], month, p.numbers[1])
	default:
		return p.set(p.numbers[1], month, p.numbers[0])
	}
}

// set makes a day. Years of two digits are from 1950 to 2049.
func (p *dateParser) set(year, month, day string) dateProblem {
	if len(year) > 4 || len(year) == 3 || len(month) > 2 || len(day) > 2 {
		return badFormat
	}
	y, m, d := number(year), number(month), number(day)
	if len(year) <= 2 {
		y += 2000
		if y > 2049 {
			y -= 100
		}
	}
	if !ValidDate(y, m, d) {
		return outOfRange
	}
	p.day.days = Days(y, m, d)
	return noProblem
}

// ValidDate reports whether there is a day, from the year 1 to 9999.
func ValidDate(year, month, day int) bool {
	if year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 {
		return false
	}
	y, m, d := Civil(Days(year, month, day))
	return y == year && m == month && d == day
}

// monthNames are the English names of the months.
var monthNames = [12]string{
	"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
}

// monthByName finds a month by its name or the first three letters of it; 0 if there is none.
func monthByName(s string) int {
	for i, name := range monthNames {
		if strings.EqualFold(s, name) || strings.EqualFold(s, name[:3]) {
			return i + 1
		}
	}
	return 0
}
