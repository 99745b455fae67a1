package function

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Times are counted in ticks of 100 ns, days from 0001-01-01.
const (
	tick       int64 = 1
	tickMicro        = 10 * tick
	tickMilli        = 1000 * tickMicro
	tickSecond       = 1000 * tickMilli
	tickMinute       = 60 * tickSecond
	tickHour         = 60 * tickMinute
	tickDay          = 24 * tickHour

	day1900 = 693595  // 1900-01-01
	day1753 = 639905  // the first day of datetime
	day2079 = 759130  // 2079-06-06, the last day of smalldatetime
	lastDay = 3652058 // 9999-12-31
	// dateTimePerDay is a day in three-hundredths of a second, as datetime counts.
	dateTimePerDay = 86400 * 300
)

// moment is a value with a date, a time or both: ticks since 0001-01-01T00:00, as its clock shows them.
type moment struct {
	ticks  int64
	offset int // minutes from UTC of a datetimeoffset
}

// momentOf reads a value with a date or a time. A datetimeoffset has its local time; a time is on the first day.
func momentOf(v value.Value) moment {
	switch v.Kind() {
	case value.Date:
		return moment{ticks: int64(v.Date()) * tickDay}
	case value.Time:
		return moment{ticks: v.Ticks()}
	case value.DateTimeOffset:
		minutes := v.OffsetMinutes()
		return moment{ticks: int64(v.Date())*tickDay + v.Ticks() + int64(minutes)*tickMinute, offset: minutes}
	default:
		return moment{ticks: int64(v.Date())*tickDay + v.Ticks()}
	}
}

// utc is the moment as UTC has it.
func (m moment) utc() moment { return moment{ticks: m.ticks - int64(m.offset)*tickMinute} }

// day and time are the two parts of a moment.
func (m moment) day() int    { return int(floorDiv(m.ticks, tickDay)) }
func (m moment) time() int64 { return m.ticks - floorDiv(m.ticks, tickDay)*tickDay }

// floorDiv is division that rounds down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// value makes a moment a value of a type. It is false if the type doesn't reach so far.
func (m moment) value(t value.Type) (value.Value, bool) {
	if t.Kind == sqltype.Time {
		ticks := roundTo(m.time(), t.Scale)
		return value.OfTime(ticks % tickDay), true
	}
	switch t.Kind {
	case sqltype.DateTime2, sqltype.DateTimeOffset:
		m.ticks = roundTo(m.ticks, t.Scale)
	case sqltype.SmallDateTime:
		m.ticks = floorDiv(m.ticks+tickMinute/2, tickMinute) * tickMinute
	default: // a date has no time, and datetime is rounded to its own unit below
	}
	day := m.day()
	if m.ticks < 0 || day > lastDay {
		return value.Value{}, false
	}
	switch t.Kind {
	case sqltype.Date:
		return value.OfDate(day), true
	case sqltype.DateTime2:
		return value.OfDateTime2(day, m.time()), true
	case sqltype.DateTimeOffset:
		u := m.utc()
		if u.ticks < 0 || u.day() > lastDay {
			return value.Value{}, false
		}
		return value.OfDateTimeOffset(u.day(), u.time(), m.offset), true
	case sqltype.SmallDateTime:
		if day < day1900 || day > day2079 {
			return value.Value{}, false
		}
	case sqltype.DateTime:
		if day < day1753 {
			return value.Value{}, false
		}
	default: // there is no other type with a date
	}
	n := int64(day-day1900)*dateTimePerDay + (m.time()*6+tickSecond/100)/(tickSecond/50)
	if n >= int64(lastDay+1-day1900)*dateTimePerDay {
		return value.Value{}, false
	}
	return value.OfDateTime(n), true
}

// roundTo rounds ticks to so many fractional digits of a second, half up.
func roundTo(ticks int64, digits int) int64 {
	unit := tickSecond
	for range digits {
		unit /= 10
	}
	return floorDiv(ticks+unit/2, unit) * unit
}

// dateType returns the type as which a function takes a date: as it is, or the given type if the argument is a text or
// a number.
func (c *bindCall) dateType(i int, ofText value.Type) value.Type {
	if c.args[i].Type.IsTemporal() {
		return asIs
	}
	if c.args[i].Type.IsNumeric() || c.args[i].Type.IsBinary() {
		return value.OfKind(sqltype.DateTime)
	}
	return ofText
}

// dateTime2 returns the type datetime2(n).
func dateTime2(digits int) value.Type {
	return value.Type{Type: sqltype.Type{Kind: sqltype.DateTime2, Scale: digits}}
}

// dateTimeOffset returns the type datetimeoffset(n).
func dateTimeOffset(digits int) value.Type {
	return value.Type{Type: sqltype.Type{Kind: sqltype.DateTimeOffset, Scale: digits}}
}

// overflowOf is the error for a date that a type doesn't reach.
func overflowOf(t value.Type) error { return fault.New(517, t.Type.Kind) }
