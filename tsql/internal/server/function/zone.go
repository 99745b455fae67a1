package function

import (
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// bindSwitchOffset is SWITCHOFFSET, which shows the same point with another offset, and TODATETIMEOFFSET, which gives
// one to a time that has none.
func bindSwitchOffset(c *bindCall) (*Bound, error) {
	result, keep := c.result, c.name == "SWITCHOFFSET"
	date := dateTimeOffset(result.Scale)
	if !keep {
		date = dateTime2(result.Scale)
	}
	zone := typeMaxText
	if c.args[1].Type.IsNumeric() {
		zone = typeInt
	}
	return simple(func(args []value.Value) (value.Value, error) {
		minutes, ok := offsetOf(args[1])
		if !ok {
			return value.Value{}, fault.New(9812, strings.ToLower(c.name))
		}
		m := momentOf(args[0])
		if keep {
			m = m.utc()
			m.ticks += int64(minutes) * tickMinute
		}
		m.offset = minutes
		if v, ok := m.value(result); ok {
			return v, nil
		}
		return value.Value{}, fault.New(9813, strings.ToLower(c.name))
	}, date, zone), nil
}

// offsetOf reads an offset: a number of minutes, or a text such as -08:00.
func offsetOf(v value.Value) (minutes int, ok bool) {
	if v.Kind() == value.Int {
		n := v.Int()
		return int(n), n >= -840 && n <= 840
	}
	s := strings.TrimRight(v.Str(), " ")
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, err1 := strconv.ParseUint(s[1:3], 10, 8)
	rest, err2 := strconv.ParseUint(s[4:], 10, 8)
	minutes = int(hours)*60 + int(rest)
	if err1 != nil || err2 != nil || rest > 59 || minutes > 840 {
		return 0, false
	}
	if s[0] == '-' {
		minutes = -minutes
	}
	return minutes, true
}

// AtTimeZone is x AT TIME ZONE zone: a datetimeoffset is shown as that zone has it, and any other time is taken for one
// of the zone. T is the type of v, and result that of the expression, a datetimeoffset.
//
// A time that the clocks skip in spring is moved behind the gap. One that they show twice in autumn is taken for the
// first, with the offset before the change.
func AtTimeZone(v value.Value, t, result value.Type, zone string) (value.Value, error) {
	location, err := zoneOf(zone)
	if err != nil {
		return value.Value{}, err
	}
	m := momentOf(v)
	if t.Kind == sqltype.DateTimeOffset {
		m = m.utc()
		m.offset = offsetAt(location, m.ticks)
		m.ticks += int64(m.offset) * tickMinute
	} else {
		before := offsetAt(location, m.ticks-tickDay)
		m.offset = before
		if actual := offsetAt(location, m.ticks-int64(before)*tickMinute); actual != before {
			m.offset = actual
			if offsetAt(location, m.ticks-int64(actual)*tickMinute) != actual { // in the gap
				m.ticks += int64(actual-before) * tickMinute
			}
		}
	}
	if out, ok := m.value(result); ok {
		return out, nil
	}
	return value.Value{}, fault.New(9813, "AT TIME ZONE")
}

// unixTicks is 1970-01-01 in ticks.
const unixTicks = 719162 * tickDay

// offsetAt returns the offset in minutes that a zone has at a point in UTC.
func offsetAt(location *time.Location, utc int64) int {
	seconds := floorDiv(utc-unixTicks, tickSecond)
	_, offset := time.Unix(seconds, 0).In(location).Zone()
	return int(floorDiv(int64(offset), 60))
}

// zoneOf finds a zone by the name that Windows gives it.
func zoneOf(name string) (*time.Location, error) {
	name = strings.TrimRight(name, " ")
	known, ok := zones[strings.ToLower(name)]
	if !ok {
		return nil, fault.New(9820, name)
	}
	location, err := time.LoadLocation(known)
	if err != nil {
		return nil, fault.New(fault.Unsupported,
			"The time zone '"+name+"' is not supported by tsqltest here: Go finds no "+known+" (import time/tzdata in the test)")
	}
	return location, nil
}
