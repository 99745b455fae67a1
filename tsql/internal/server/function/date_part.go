package function

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Functions that read a part of a date, and those that put one together.

var partsFunctions = map[string]binder{
	"DATEPART":                bindDatePart,
	"DATENAME":                bindDatePart,
	"YEAR":                    bindOnePart(builtin.Year),
	"MONTH":                   bindOnePart(builtin.Month),
	"DAY":                     bindOnePart(builtin.Day),
	"ISDATE":                  bindIsDate,
	"DATEFROMPARTS":           bindFromParts,
	"DATETIMEFROMPARTS":       bindFromParts,
	"SMALLDATETIMEFROMPARTS":  bindFromParts,
	"TIMEFROMPARTS":           bindFromParts,
	"DATETIME2FROMPARTS":      bindFromParts,
	"DATETIMEOFFSETFROMPARTS": bindFromParts,
}

// dateFirst returns the first day of the week, 1 for Monday to 7 for Sunday.
func dateFirst(env Environment) int {
	if n, err := strconv.Atoi(env.Option("DATEFIRST")); err == nil && n >= 1 && n <= 7 {
		return n
	}
	return 7
}

// bindDatePart is DATEPART and DATENAME.
func bindDatePart(c *bindCall) (*Bound, error) {
	part, names := builtin.PartOf(c.args[0].Expr), c.name == "DATENAME"
	ofText := dateTime2(7)
	if part == builtin.Offset {
		ofText = dateTimeOffset(7)
	}
	weekly := byWeek(part)
	eval := func(env Environment, args []value.Value) (value.Value, error) {
		if args[1].IsNull() {
			return value.Value{}, nil
		}
		first := 7
		if weekly {
			first = dateFirst(env) // other parts are also computed when there is no session yet
		}
		m := momentOf(args[1])
		if args[1].Kind() == value.DateTime && part == builtin.Millisecond {
			m.ticks += tickMilli / 2 // 6 2/3 ms are read as 7
		}
		n := m.part(part, first)
		if names {
			return value.OfString(m.name(part, n)), nil
		}
		return value.OfInt(n), nil
	}
	return &Bound{Deterministic: !weekly, Once: weekly, Args: []value.Type{asIs, c.dateType(1, ofText)}, Eval: eval}, nil
}

// byWeek reports the parts that depend on DATEFIRST.
func byWeek(p builtin.Part) bool { return p == builtin.Week || p == builtin.Weekday }

// bindOnePart is YEAR, MONTH and DAY.
func bindOnePart(part builtin.Part) binder {
	return func(c *bindCall) (*Bound, error) {
		return simple(func(args []value.Value) (value.Value, error) {
			if args[0].Kind() == value.Time {
				return value.Value{}, fault.New(9810, part.String(), strings.ToLower(c.name), "time")
			}
			return value.OfInt(momentOf(args[0]).part(part, 7)), nil
		}, c.dateType(0, dateTime2(7))), nil
	}
}

// part returns a part as a number. Weeks begin with the day first.
func (m moment) part(p builtin.Part, first int) int64 {
	day := m.day()
	year, month, ofMonth := value.Civil(day)
	ofYear := day - value.Days(year, 1, 1) // from 0
	switch p {
	case builtin.Year:
		return int64(year)
	case builtin.Quarter:
		return int64((month-1)/3 + 1)
	case builtin.Month:
		return int64(month)
	case builtin.Day:
		return int64(ofMonth)
	case builtin.DayOfYear:
		return int64(ofYear + 1)
	case builtin.Weekday:
		return int64(weekday(day, first) + 1)
	case builtin.Week:
		return int64((ofYear+weekday(day-ofYear, first))/7 + 1)
	case builtin.ISOWeek:
		thursday := day - day%7 + 3
		year, _, _ = value.Civil(thursday)
		return int64((thursday-value.Days(year, 1, 1))/7 + 1)
	case builtin.Hour:
		return m.time() / tickHour
	case builtin.Minute:
		return m.time() / tickMinute % 60
	case builtin.Second:
		return m.time() / tickSecond % 60
	case builtin.Millisecond:
		return m.time() % tickSecond / tickMilli
	case builtin.Microsecond:
		return m.time() % tickSecond / tickMicro
	case builtin.Nanosecond:
		return m.time() % tickSecond * 100
	default:
		return int64(m.offset)
	}
}

// weekday returns the day of the week, from 0 for the first one.
func weekday(day, first int) int { return (day%7 - (first - 1) + 7) % 7 }

// name returns a part in words: months and days by their names, the offset as +02:00.
func (m moment) name(p builtin.Part, n int64) string {
	switch p {
	case builtin.Month:
		return englishMonths[n-1]
	case builtin.Weekday:
		return englishDays[(m.day()+1)%7]
	case builtin.Offset:
		return offsetText(int(n))
	default:
		return strconv.FormatInt(n, 10)
	}
}

// offsetText prints an offset.
func offsetText(minutes int) string {
	sign := "+"
	if minutes < 0 {
		sign, minutes = "-", -minutes
	}
	return fmt.Sprintf("%s%02d:%02d", sign, minutes/60, minutes%60)
}

// bindIsDate: 1 for a text that converts to datetime.
func bindIsDate(c *bindCall) (*Bound, error) {
	t := c.args[0].Type
	switch t.Kind {
	case sqltype.Date, sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return nil, fault.New(8116, t.Type.Kind, 1, "isdate")
	default: // all others have an answer
	}
	return &Bound{Deterministic: true, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		switch {
		case args[0].IsNull():
			return value.OfInt(0), nil
		case t.IsTemporal():
			return value.OfInt(1), nil
		case !t.IsCharacter():
			return value.OfInt(0), nil
		}
		_, err := value.Convert(args[0], t, value.OfKind(sqltype.DateTime), 0)
		return value.OfInt(int64(b2i(err == nil))), nil
	}}, nil
}

// bindFromParts is DATEFROMPARTS and its like. What is no date is error 289.
func bindFromParts(c *bindCall) (*Bound, error) {
	result := c.result
	types := make([]value.Type, len(c.args))
	for i := range types {
		types[i] = typeInt
	}
	build := map[sqltype.Kind]func(n []int64) (moment, bool){
		sqltype.Date:          func(n []int64) (moment, bool) { return dateOf(n[0], n[1], n[2]) },
		sqltype.SmallDateTime: func(n []int64) (moment, bool) { return joined(n[:3], n[3], n[4], 0, 0, 0) },
		sqltype.DateTime:      func(n []int64) (moment, bool) { return joined(n[:3], n[3], n[4], n[5], n[6], 3) },
		sqltype.DateTime2:     func(n []int64) (moment, bool) { return joined(n[:3], n[3], n[4], n[5], n[6], n[7]) },
		sqltype.Time:          func(n []int64) (moment, bool) { return timeOf(n[0], n[1], n[2], n[3], n[4]) },
		sqltype.DateTimeOffset: func(n []int64) (moment, bool) {
			m, ok := joined(n[:3], n[3], n[4], n[5], n[6], n[9])
			hours, minutes := n[7], n[8]
			ok = ok && hours >= -14 && hours <= 14 && minutes > -60 && minutes < 60 && hours*minutes >= 0
			m.offset = int(hours*60 + minutes)
			return m, ok && m.offset >= -840 && m.offset <= 840
		},
	}[result.Kind]
	return simple(func(args []value.Value) (value.Value, error) {
		n := []int64{}
		for _, arg := range args {
			n = append(n, arg.Int())
		}
		if m, ok := build(n); ok {
			if v, ok := m.value(result); ok {
				return v, nil
			}
		}
		return value.Value{}, fault.New(289, result.Type.Kind)
	}, types...), nil
}

// dateOf is the beginning of a day.
func dateOf(year, month, day int64) (moment, bool) {
	if year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > int64(monthLength(int(year), int(month))) {
		return moment{}, false
	}
	return moment{ticks: int64(value.Days(int(year), int(month), int(day))) * tickDay}, true
}

// timeOf is a time of day; the fraction has so many digits.
func timeOf(hour, minute, second, fraction, digits int64) (moment, bool) {
	unit := tickSecond
	for range digits {
		unit /= 10
	}
	ok := hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60 && fraction >= 0 && fraction*unit < tickSecond
	return moment{ticks: hour*tickHour + minute*tickMinute + second*tickSecond + fraction*unit}, ok
}

// joined is a date with a time.
func joined(date []int64, hour, minute, second, fraction, digits int64) (moment, bool) {
	d, okDate := dateOf(date[0], date[1], date[2])
	t, okTime := timeOf(hour, minute, second, fraction, digits)
	return moment{ticks: d.ticks + t.ticks}, okDate && okTime
}
