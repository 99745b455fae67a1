package function

import (
	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

var dateFunctions = map[string]binder{
	"DATEADD":      bindDateAdd,
	"DATEDIFF":     bindDateDiff,
	"DATEDIFF_BIG": bindDateDiff,
	"DATETRUNC":    bindDateTrunc,
	"DATE_BUCKET":  bindDateBucket,
	"EOMONTH":      bindEndOfMonth,
	"SWITCHOFFSET": bindSwitchOffset, "TODATETIMEOFFSET": bindSwitchOffset,
}

// unitOf returns the ticks of a part with a fixed length; 0 for the parts whose length varies, and for nanoseconds.
func unitOf(p builtin.Part) int64 {
	switch p {
	case builtin.Week, builtin.ISOWeek:
		return 7 * tickDay
	case builtin.DayOfYear, builtin.Day, builtin.Weekday:
		return tickDay
	case builtin.Hour:
		return tickHour
	case builtin.Minute:
		return tickMinute
	case builtin.Second:
		return tickSecond
	case builtin.Millisecond:
		return tickMilli
	case builtin.Microsecond:
		return tickMicro
	default:
		return 0
	}
}

// monthsOf returns the months of a part; 0 for those that are no months.
func monthsOf(p builtin.Part) int64 {
	switch p {
	case builtin.Year:
		return 12
	case builtin.Quarter:
		return 3
	case builtin.Month:
		return 1
	default:
		return 0
	}
}

// bindDateAdd: text is a datetime, and a time goes round the clock.
func bindDateAdd(c *bindCall) (*Bound, error) {
	part := builtin.PartOf(c.args[0].Expr)
	result := c.result
	eval := func(_ Environment, args []value.Value) (value.Value, error) {
		if args[1].IsNull() || args[2].IsNull() {
			return value.Value{}, nil
		}
		m, ok := momentOf(args[2]).add(part, args[1].Int())
		if result.Kind == sqltype.Time {
			m, ok = moment{ticks: momentOf(args[2]).time() + remainder(part, args[1].Int())}, true
		}
		if ok {
			if v, ok := m.value(result); ok {
				return v, nil
			}
		}
		return value.Value{}, overflowOf(result)
	}
	return &Bound{Deterministic: true, Args: []value.Type{asIs, typeInt, c.dateType(2, result)}, Eval: eval}, nil
}

// remainder returns what a number of parts moves the hands of a clock.
func remainder(p builtin.Part, n int64) int64 {
	if p == builtin.Nanosecond {
		return floorDiv(n+50, 100) % tickDay
	}
	unit := unitOf(p)
	return n % (tickDay / unit) * unit
}

// add moves a moment by a number of parts. It is false beyond what can be counted.
func (m moment) add(p builtin.Part, n int64) (moment, bool) {
	if months := monthsOf(p); months > 0 {
		return m.addMonths(n * months)
	}
	if p == builtin.Nanosecond {
		m.ticks += floorDiv(n+50, 100) // half a tick counts as one
		return m, true
	}
	unit := unitOf(p)
	if n > (lastDay+1)*tickDay/unit || n < -(lastDay+1)*tickDay/unit {
		return m, false
	}
	m.ticks += n * unit
	return m, m.ticks >= 0 && m.day() <= lastDay
}

// addMonths keeps the day of the month, or takes the last one of a month that is shorter.
func (m moment) addMonths(n int64) (moment, bool) {
	year, month, day := value.Civil(m.day())
	total := int64(year)*12 + int64(month) - 1 + n
	if total < 12 || total >= 10000*12 {
		return m, false
	}
	year, month = int(total/12), int(total%12)+1
	m.ticks = int64(value.Days(year, month, min(day, monthLength(year, month))))*tickDay + m.time()
	return m, true
}

// monthLength returns the number of days of a month.
func monthLength(year, month int) int {
	return value.Days(year, month+1, 1) - value.Days(year, month, 1)
}

// bindDateDiff counts the boundaries between two dates. Text is a datetime2, and offsets are taken off.
func bindDateDiff(c *bindCall) (*Bound, error) {
	part, big := builtin.PartOf(c.args[0].Expr), c.name == "DATEDIFF_BIG"
	name := "datediff"
	if big {
		name = "datediff_big"
	}
	eval := func(_ Environment, args []value.Value) (value.Value, error) {
		if args[1].IsNull() || args[2].IsNull() {
			return value.Value{}, nil
		}
		n, ok := onDay1900(args[1], args[2]).utc().until(onDay1900(args[2], args[1]).utc(), part)
		if !ok || !big && n != int64(int32(n)) {
			return value.Value{}, fault.New(535, name, name)
		}
		return value.OfInt(n), nil
	}
	types := []value.Type{asIs, c.dateType(1, dateTime2(7)), c.dateType(2, dateTime2(7))}
	return &Bound{Deterministic: true, Args: types, Eval: eval}, nil
}

// onDay1900 is the moment of a value; a time beside a date is on 1900-01-01.
func onDay1900(v, other value.Value) moment {
	m := momentOf(v)
	if v.Kind() == value.Time && other.Kind() != value.Time {
		m.ticks += day1900 * tickDay
	}
	return m
}

// until counts the boundaries of a part from one moment to another. Weeks begin with Sunday, whatever DATEFIRST says.
func (m moment) until(to moment, p builtin.Part) (int64, bool) {
	switch p {
	case builtin.Year, builtin.Quarter, builtin.Month:
		return to.month()/monthsOf(p) - m.month()/monthsOf(p), true
	case builtin.Week:
		return floorDiv(int64(to.day())+1, 7) - floorDiv(int64(m.day())+1, 7), true
	case builtin.Nanosecond:
		d := to.ticks - m.ticks
		return d * 100, d <= (1<<63-1)/100 && d >= -(1<<63-1)/100
	default:
		unit := unitOf(p)
		return floorDiv(to.ticks, unit) - floorDiv(m.ticks, unit), true
	}
}

// month counts the months from the year 0.
func (m moment) month() int64 {
	year, month, _ := value.Civil(m.day())
	return int64(year)*12 + int64(month) - 1
}

// bindDateTrunc cuts off what is finer than a part.
func bindDateTrunc(c *bindCall) (*Bound, error) {
	part := builtin.PartOf(c.args[0].Expr)
	if part == builtin.Weekday || part == builtin.Offset || part == builtin.Nanosecond {
		return nil, fault.New(9810, part.String(), "datetrunc", c.args[1].Type.Type.Kind)
	}
	result, weekly := c.result, byWeek(part)
	eval := func(env Environment, args []value.Value) (value.Value, error) {
		if args[1].IsNull() {
			return value.Value{}, nil
		}
		first := 7
		if weekly {
			first = dateFirst(env) // other parts are also computed when there is no session yet
		}
		m := momentOf(args[1]).truncate(part, first)
		if v, ok := m.value(result); ok {
			return v, nil
		}
		return value.Value{}, overflowOf(result)
	}
	return &Bound{Deterministic: !weekly, Once: weekly, Args: []value.Type{asIs, c.dateType(1, result)}, Eval: eval}, nil
}

// truncate returns the beginning of a part. Weeks begin with the day first, 1 being Monday; ISO weeks with Monday.
func (m moment) truncate(p builtin.Part, first int) moment {
	day := m.day()
	year, month, _ := value.Civil(day)
	switch p {
	case builtin.Year:
		day = value.Days(year, 1, 1)
	case builtin.Quarter:
		day = value.Days(year, (month-1)/3*3+1, 1)
	case builtin.Month:
		day = value.Days(year, month, 1)
	case builtin.Week:
		day -= (day%7 - (first - 1) + 7) % 7 // day 0 was a Monday
	case builtin.ISOWeek:
		day -= day % 7
	case builtin.DayOfYear, builtin.Day:
	default:
		m.ticks = floorDiv(m.ticks, unitOf(p)) * unitOf(p)
		return m
	}
	m.ticks = int64(day) * tickDay
	return m
}

// bindDateBucket finds the beginning of the bucket that a date is in: buckets of a number of parts, counted from an
// origin, which is 1900-01-01.
func bindDateBucket(c *bindCall) (*Bound, error) {
	part, result := builtin.PartOf(c.args[0].Expr), c.result
	switch part {
	case builtin.Year, builtin.Quarter, builtin.Month, builtin.Week, builtin.Day, builtin.Hour, builtin.Minute,
		builtin.Second, builtin.Millisecond:
	default:
		return nil, fault.New(9810, part.String(), "date_bucket", c.args[2].Type.Type.Kind)
	}
	types := []value.Type{asIs, typeBigInt, c.dateType(2, result)}
	if len(c.args) == 4 {
		types = append(types, result)
	}
	eval := func(_ Environment, args []value.Value) (value.Value, error) {
		for _, arg := range args[1:] {
			if arg.IsNull() {
				return value.Value{}, nil
			}
		}
		n, m := args[1].Int(), momentOf(args[2])
		if n <= 0 {
			return value.Value{}, fault.New(9834)
		}
		origin := moment{ticks: day1900 * tickDay}
		switch {
		case len(args) == 4:
			origin = momentOf(args[3])
		case result.Kind == sqltype.Time:
			origin = moment{}
		}
		m, ok := m.bucket(part, n, origin)
		if ok {
			if v, ok := m.value(result); ok {
				return v, nil
			}
		}
		return value.Value{}, overflowOf(result)
	}
	return &Bound{Deterministic: true, Args: types, Eval: eval}, nil
}

// bucket is DATE_BUCKET.
func (m moment) bucket(p builtin.Part, n int64, origin moment) (moment, bool) {
	months := monthsOf(p)
	if months == 0 {
		unit := unitOf(p)
		if n > lastDay*tickDay/unit {
			return moment{ticks: origin.ticks, offset: m.offset}, m.ticks >= origin.ticks
		}
		width := n * unit
		return moment{ticks: origin.ticks + floorDiv(m.ticks-origin.ticks, width)*width, offset: m.offset}, true
	}
	if n > 10000*12 {
		n = 10000 * 12
	}
	width := n * months
	count := floorDiv(m.month()-origin.month(), width)
	from, ok := origin.addMonths(count * width)
	if ok && from.ticks > m.ticks {
		from, ok = origin.addMonths((count - 1) * width)
	}
	from.offset = m.offset
	return from, ok
}

// bindEndOfMonth: the last day of the month, or of one some months later.
func bindEndOfMonth(c *bindCall) (*Bound, error) {
	types := []value.Type{c.dateType(0, dateTime2(7))}
	if len(c.args) == 2 {
		types = append(types, typeInt)
	}
	return simple(func(args []value.Value) (value.Value, error) {
		m := moment{ticks: int64(momentOf(args[0]).day()) * tickDay}
		ok := true
		if len(args) == 2 {
			m, ok = m.addMonths(args[1].Int())
		}
		if !ok {
			return value.Value{}, fault.New(517, "date")
		}
		year, month, _ := value.Civil(m.day())
		return value.OfDate(value.Days(year, month, monthLength(year, month))), nil
	}, types...), nil
}
