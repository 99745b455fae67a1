package function

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The shapes of dates and times that PARSE reads.
var (
	yearFirst  = regexp.MustCompile(`^(\d{4})([-/])(\d{1,2})([-/])(\d{1,2})`)
	yearLast   = regexp.MustCompile(`^(\d{1,2})([-/.])(\d{1,2})([-/.])(\d{4}|\d{2})`)
	dayMonth   = regexp.MustCompile(`^(?:(\pL+)\.?,?\s+)?(\d{1,2})(\.?)[\s-]+(\pL+)\.?,?[\s-]+(\d{4})`)
	monthDay   = regexp.MustCompile(`^(?:(\pL+)\.?,?\s+)?(\pL+)\.?\s+(\d{1,2}),?\s+(\d{4})`)
	clockShape = regexp.MustCompile(`^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?(?:\s*([AaPp][Mm]))?`)
	zoneShape  = regexp.MustCompile(`^\s*(?:([Zz])|([+-])(\d{1,2}):(\d{2}))$`)
	someWord   = regexp.MustCompile(`\pL+`)
)

// dateReader reads a date and a time from left to right.
type dateReader struct {
	*culture

	text             string
	year, month, day int // 0 without a date
	clock            int64
	offset           int
	zoned            bool // there is an offset
}

// parseDate reads a value of a type with a date or a time.
func (c *culture) parseDate(text string, to value.Type) (value.Value, error) {
	r := &dateReader{culture: c, text: strings.TrimFunc(text, func(r rune) bool { return r < 0x80 && isWhite(byte(r)) })}
	if r.foreign() {
		return value.Value{}, errNoValue
	}
	shaped, err := r.read()
	switch {
	case err != nil:
		return value.Value{}, err
	case !shaped, r.text != "", r.year == 0 && to.Kind != sqltype.Time, r.zoned && to.Kind != sqltype.DateTimeOffset:
		return value.Value{}, uncertain(text)
	}
	days := 0
	if r.year != 0 {
		days = value.Days(r.year, r.month, r.day)
	}
	v, ok := moment{ticks: int64(days)*tickDay + r.clock, offset: r.offset}.value(to)
	if !ok {
		return value.Value{}, errNoValue
	}
	return v, nil
}

// foreign reports whether the text has a word that no date of the culture has, or is empty. English names are known in
// every culture.
func (r *dateReader) foreign() bool {
	for _, word := range someWord.FindAllString(r.text, -1) {
		lower := strings.ToLower(word)
		known := slices.Contains([]string{"am", "pm", "a", "p", "t", "z", "gmt", "ad"}, lower) || r.monthOf(word) > 0 || r.dayOf(word) >= 0 ||
			english.monthOf(word) > 0 || english.dayOf(word) >= 0
		if !known {
			return true
		}
	}
	return r.text == ""
}

var english = cultures["en-us"]

// monthOf returns the month of a name, 0 if it is none.
func (c *culture) monthOf(word string) int {
	for i := range c.months {
		if strings.EqualFold(word, c.months[i]) || strings.EqualFold(word, strings.TrimSuffix(c.shortMonths[i], ".")) {
			return i + 1
		}
	}
	return 0
}

// dayOf returns the day of the week of a name, -1 if it is none.
func (c *culture) dayOf(word string) int {
	for i, name := range c.days {
		if strings.EqualFold(word, name) || strings.EqualFold(word, string([]rune(name)[:c.shortLetters])) {
			return i
		}
	}
	return -1
}

// read reads a date, a time or both, as far as it knows the shape of the text.
func (r *dateReader) read() (shaped bool, err error) {
	iso := false
	dated, err := r.date(&iso)
	if err != nil {
		return false, err
	}
	if dated && r.text == "" {
		return true, nil
	}
	if dated {
		rest := strings.TrimLeft(r.text, " ")
		if rest == r.text && (!iso || rest[0] != 'T') {
			return false, nil
		}
		r.text = strings.TrimPrefix(rest, "T")
	}
	if ok, err := r.time(); !ok || err != nil {
		return false, err
	}
	if m := zoneShape.FindStringSubmatch(r.text); m != nil {
		r.zoned, r.text = true, ""
		if m[2] != "" {
			hours, minutes := numeral(m[3]), numeral(m[4])
			if hours > 14 || minutes > 59 || hours == 14 && minutes > 0 {
				return false, errNoValue
			}
			if r.offset = hours*60 + minutes; m[2] == "-" {
				r.offset = -r.offset
			}
		}
	}
	return true, nil
}

// numeral is a number of a few digits.
func numeral(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// date reads a date in one of the shapes.
func (r *dateReader) date(iso *bool) (found bool, err error) {
	day := ""
	var m []string
	match := func(shape *regexp.Regexp) bool {
		m = shape.FindStringSubmatch(r.text)
		return m != nil
	}
	switch {
	case match(yearFirst):
		if m[2] != m[4] {
			return false, nil
		}
		*iso = m[2] == "-"
		r.year, r.month, r.day = numeral(m[1]), numeral(m[3]), numeral(m[5])
	case match(yearLast):
		if m[2] != m[4] || m[2] == "." && r.dateSign != "." || !r.setYear(m[5]) {
			return false, nil
		}
		r.month, r.day = numeral(m[1]), numeral(m[3])
		if r.shortDate[0] == 'd' {
			r.month, r.day = r.day, r.month
		}
	case match(dayMonth):
		if r.month = r.monthOf(m[4]); r.month == 0 || m[3] != "" && r.dateSign != "." {
			return false, nil
		}
		day, r.day, r.year = m[1], numeral(m[2]), numeral(m[5])
	case match(monthDay):
		if r.month = r.monthOf(m[2]); r.month == 0 {
			return false, nil
		}
		day, r.day, r.year = m[1], numeral(m[3]), numeral(m[4])
	default:
		return false, nil
	}
	r.text = r.text[len(m[0]):]
	return r.check(day)
}

// check checks that a date exists, and that it is on the day of the week that stands before it.
func (r *dateReader) check(day string) (bool, error) {
	at := time.Date(r.year, time.Month(r.month), r.day, 0, 0, 0, 0, time.UTC)
	if r.year < 1 || int(at.Month()) != r.month || at.Day() != r.day {
		return false, errNoValue
	}
	if day == "" {
		return true, nil
	}
	weekday := r.dayOf(day)
	if weekday < 0 {
		return false, nil
	}
	if weekday != int(at.Weekday()) {
		return false, errNoValue
	}
	return true, nil
}

// setYear reads a year of four digits or two. Where the century turns depends on the machine, between 2029 and 2049.
func (r *dateReader) setYear(digits string) bool {
	r.year = numeral(digits)
	switch {
	case len(digits) == 4:
		return true
	case r.year < 30:
		r.year += 2000
		return true
	default:
		r.year += 1900
		return r.year >= 1950
	}
}

// time reads a time of day. Only English has marks for its halves.
func (r *dateReader) time() (found bool, err error) {
	m := clockShape.FindStringSubmatch(r.text)
	if m == nil {
		return false, nil
	}
	if m[5] != "" && r.am == "" {
		return false, nil
	}
	r.text = r.text[len(m[0]):]
	hour, minute, second := numeral(m[1]), numeral(m[2]), numeral(m[3])
	switch strings.ToUpper(m[5]) {
	case "AM":
		if hour > 12 {
			return false, errNoValue
		}
		hour %= 12
	case "PM":
		if hour < 12 {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return false, errNoValue
	}
	part := numeral((m[4] + "0000000")[:7])
	r.clock = int64(hour)*tickHour + int64(minute)*tickMinute + int64(second)*tickSecond + int64(part)
	return true, nil
}
