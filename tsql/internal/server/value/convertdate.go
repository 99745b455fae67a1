package value

import (
	"math"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// moment is a date and a time of day, as they are shown.
type moment struct {
	days   int
	ticks  int64
	offset int // minutes
}

// local is what a value of a date kind shows. A time is of 1900-01-01; a datetimeoffset is at its offset.
func local(v Value) moment {
	switch v.kind {
	case Date:
		return moment{days: int(v.days)}
	case Time:
		return moment{days: day1900, ticks: v.n}
	case DateTimeOffset:
		m := moment{int(v.days), v.n, int(v.offset)}
		return m.shift(m.offset)
	default:
		return moment{days: v.Date(), ticks: v.Ticks()}
	}
}

// shift moves m by a number of minutes.
func (m moment) shift(minutes int) moment {
	m.ticks += int64(minutes) * 60 * ticksPerSecond
	for ; m.ticks < 0; m.ticks += ticksPerDay {
		m.days--
	}
	for ; m.ticks >= ticksPerDay; m.ticks -= ticksPerDay {
		m.days++
	}
	return m
}

// round rounds to a number of fractional digits of a second. The last moment of the year 9999 is rounded down.
func (m moment) round(scale int) moment {
	unit := pow10[7-scale]
	ticks := (m.ticks + unit/2) / unit * unit
	if ticks < ticksPerDay {
		m.ticks = ticks
		return m
	}
	if m.days >= lastDay {
		m.ticks = ticksPerDay - unit
		return m
	}
	m.days++
	m.ticks = 0
	return m
}

// toDate makes a value of one of the date kinds.
func toDate(v Value, from, to Type, style int) (Value, error) {
	switch v.kind {
	case String:
		return textToDate(v.s, from, to, style)
	case Date, Time:
		if v.kind == Date && to.Kind == sqltype.Time || v.kind == Time && to.Kind == sqltype.Date {
			return Value{}, never(from, to)
		}
	case DateTime:
		if groupOf(to.Kind) == datetimeGroup {
			return fitDateTime(v.n, from, to)
		}
	case DateTime2, DateTimeOffset:
	case Bytes:
		return bytesToDate(v.s, from, to)
	case Int, Decimal, Money, Float:
		return numberToDate(v, from, to)
	default:
		return Value{}, never(from, to)
	}
	return fitMoment(local(v), from, to)
}

// fitMoment makes a value of a date type of what is shown.
func fitMoment(m moment, from, to Type) (Value, error) {
	switch groupOf(to.Kind) {
	case dateGroup:
		return OfDate(m.days), nil
	case timeGroup:
		m.days = 0 // a time that is rounded up to midnight is the next day's
		return OfTime(m.round(to.Scale).ticks), nil
	case datetimeGroup:
		return fitDateTime(int64(m.days-day1900)*dateTimePerDay+ticksDateTime(m.ticks), from, to)
	case datetime2Group:
		m = m.round(to.Scale)
		return OfDateTime2(m.days, m.ticks), nil
	default:
		m = m.round(to.Scale)
		utc := m.shift(-m.offset)
		if utc.days < 0 || utc.days > lastDay {
			return Value{}, fault.New(242, baseName(from), baseName(to))
		}
		return OfDateTimeOffset(utc.days, utc.ticks, m.offset), nil
	}
}

// fitDateTime checks the range of datetime, or rounds to the minute and checks the range of smalldatetime.
func fitDateTime(n int64, from, to Type) (Value, error) {
	ok := n >= int64(day1753-day1900)*dateTimePerDay && n < int64(lastDay+1-day1900)*dateTimePerDay
	if to.Kind == sqltype.SmallDateTime {
		n = floorDivide(n+9000, 18000) * 18000
		ok = n >= 0 && n < 65536*dateTimePerDay
	}
	if !ok {
		return Value{}, fault.New(242, baseName(from), baseName(to))
	}
	return OfDateTime(n), nil
}

// floorDivide divides and rounds down.
func floorDivide(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// numberToDate makes a datetime of a number of days since 1900.
func numberToDate(v Value, from, to Type) (Value, error) {
	if groupOf(to.Kind) != datetimeGroup {
		return Value{}, never(from, to)
	}
	var days float64
	switch v.kind {
	case Int:
		days = float64(v.n)
	case Float:
		days = v.Float()
	default:
		days = decimalFloat(asDecimal(v))
	}
	if math.Abs(days) > 3e6 {
		return Value{}, overflow("expression", to)
	}
	d, err := fitDateTime(int64(math.Round(days*dateTimePerDay)), from, to)
	if err != nil {
		return Value{}, overflow("expression", to)
	}
	return d, nil
}

func bytesToDate(s string, from, to Type) (Value, error) {
	if groupOf(to.Kind) == datetimeGroup {
		v, ok := dateTimeFromBytes(s, to)
		if !ok {
			return Value{}, fault.New(210)
		}
		return v, nil
	}
	v, ok := dateFromBytes(s, to)
	if !ok {
		return Value{}, fault.New(241)
	}
	if v.kind == Date {
		return v, nil
	}
	return fitMoment(local(v), from, to)
}

// FromTime makes a value of a date type of a time, rounded as the type wants it. What the type does not hold becomes
// NULL.
func FromTime(t time.Time, to Type) Value {
	_, offset := t.Zone()
	seconds := t.Unix() + int64(offset)
	days := floorDivide(seconds, 86400)
	m := moment{
		days:   int(days) + unixDay,
		ticks:  (seconds-days*86400)*ticksPerSecond + int64(t.Nanosecond()/100),
		offset: offset / 60,
	}
	if m.days < 0 || m.days > lastDay {
		return Value{}
	}
	v, err := fitMoment(m, OfKind(sqltype.DateTimeOffset), to)
	if err != nil {
		return Value{}
	}
	return v
}
