//nolint:unused,unparam // package render copies it into generated packages, which use it
package runtime

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"
)

// The calendar of T-SQL, outside of which the driver would write a date that is another.
var errYear = errors.New("is not in the years 1 to 9999")

// checkYear says whether date and its like can hold a time.
func checkYear(v time.Time) error {
	if y := v.Year(); y < 1 || y > 9999 {
		return errYear
	}
	return nil
}

// checkBetween says whether a time is in the range [from, to).
func checkBetween(v, from, to time.Time) error {
	if v.Before(from) || !v.Before(to) {
		return fmt.Errorf("is not between %s and %s", from.Format(time.DateTime), to.Format(time.DateTime))
	}
	return nil
}

// sqlDate is date. It is no point in time: it is what the argument shows in its own location.
type sqlDate struct{}

func (sqlDate) wire(v time.Time) (any, error) { return civil.DateOf(v), checkYear(v) }
func (sqlDate) null() any                     { return mssql.NullDate{} }

func (sqlDate) json(dst []byte, v time.Time) ([]byte, error) {
	return v.AppendFormat(dst, `"2006-01-02"`), checkYear(v)
}

func (sqlDate) out(v *time.Time) (any, func() *time.Time) {
	n := mssql.NullDate{}
	if v != nil {
		n = mssql.NullDate{Date: civil.DateOf(*v), Valid: true}
	}
	return &n, func() *time.Time {
		t := n.Date.In(time.UTC)
		return present(&t, n.Valid)
	}
}

// sqlTime is time. It is no point in time: it is what the argument shows in its own location. What is finer than 100 ns
// is cut.
type sqlTime struct{}

func (sqlTime) wire(v time.Time) (any, error) { return civil.TimeOf(v), nil }
func (sqlTime) null() any                     { return mssql.NullTime{} }

func (sqlTime) json(dst []byte, v time.Time) ([]byte, error) {
	return v.AppendFormat(dst, `"15:04:05.0000000"`), nil
}

func (sqlTime) out(v *time.Time) (any, func() *time.Time) {
	n := mssql.NullTime{}
	if v != nil {
		n = mssql.NullTime{Time: civil.TimeOf(*v), Valid: true}
	}
	return &n, func() *time.Time {
		t := time.Date(1, 1, 1, n.Time.Hour, n.Time.Minute, n.Time.Second, n.Time.Nanosecond, time.UTC)
		return present(&t, n.Valid)
	}
}

// sqlSmallDateTime is smalldatetime, by the clock of UTC and rounded to the minute.
type sqlSmallDateTime struct{}

// check ends where a datetime would be rounded up to a minute that the type doesn't have.
func (sqlSmallDateTime) check(v time.Time) error {
	return checkBetween(v, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2079, 6, 6, 23, 59, 29, 998e6, time.UTC))
}

// wire sends a datetime, which the server rounds to the minute.
func (k sqlSmallDateTime) wire(v time.Time) (any, error) {
	return mssql.DateTime1(v.UTC()), k.check(v)
}

func (sqlSmallDateTime) null() any { return mssql.NullDateTime{} }

func (k sqlSmallDateTime) json(dst []byte, v time.Time) ([]byte, error) {
	return v.UTC().Round(time.Minute).AppendFormat(dst, `"2006-01-02T15:04:05"`), k.check(v)
}

func (sqlSmallDateTime) out(v *time.Time) (any, func() *time.Time) { return outDateTime(v) }

// sqlDateTime is datetime, by the clock of UTC and rounded to a three-hundredth of a second.
type sqlDateTime struct{}

// check leaves out the last tick, which the rounding to a three-hundredth of a second would carry into the year 10000.
func (sqlDateTime) check(v time.Time) error {
	return checkBetween(v, time.Date(1753, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 998e6, time.UTC))
}

func (k sqlDateTime) wire(v time.Time) (any, error) { return mssql.DateTime1(v.UTC()), k.check(v) }
func (sqlDateTime) null() any                       { return mssql.NullDateTime{} }

// json rounds to the three-hundredths of a second that the type holds and writes them as it shows them.
func (k sqlDateTime) json(dst []byte, v time.Time) ([]byte, error) {
	v = v.UTC()
	ticks := (v.Nanosecond()*3 + 5e6) / 1e7
	v = v.Truncate(time.Second).Add(time.Duration((ticks*10+1)/3) * time.Millisecond)
	return v.AppendFormat(dst, `"2006-01-02T15:04:05.000"`), k.check(v)
}

// out rounds what comes back to milliseconds, as the driver does with a datetime in a row: the server converts it to the
// datetime2 that was sent, where a third of a hundredth of a second has seven digits.
func (sqlDateTime) out(v *time.Time) (any, func() *time.Time) {
	dest, read := outDateTime(v)
	return dest, func() *time.Time {
		t := read()
		if t != nil {
			*t = t.Round(time.Millisecond)
		}
		return t
	}
}

// sqlDateTime2 is datetime2, by the clock of UTC. It is sent as datetime2(7), and the server rounds it to its digits.
type sqlDateTime2 struct{}

func (sqlDateTime2) wire(v time.Time) (any, error) {
	v = v.UTC()
	return civil.DateTimeOf(v), checkYear(v)
}

func (sqlDateTime2) null() any { return mssql.NullDateTime{} }

func (sqlDateTime2) json(dst []byte, v time.Time) ([]byte, error) {
	v = v.UTC()
	return v.AppendFormat(dst, `"2006-01-02T15:04:05.0000000"`), checkYear(v)
}

func (sqlDateTime2) out(v *time.Time) (any, func() *time.Time) { return outDateTime(v) }

// outDateTime sends a datetime2, which the server rounds to what the parameter holds.
func outDateTime(v *time.Time) (any, func() *time.Time) {
	n := mssql.NullDateTime{}
	if v != nil {
		n = mssql.NullDateTime{DateTime: civil.DateTimeOf(v.UTC()), Valid: true}
	}
	return &n, func() *time.Time {
		t := n.DateTime.In(time.UTC)
		return present(&t, n.Valid)
	}
}

// sqlDateTimeOffset is datetimeoffset. The offset comes back as it was sent; the name of the zone doesn't.
type sqlDateTimeOffset struct{}

func (sqlDateTimeOffset) check(v time.Time) error {
	if _, offset := v.Zone(); offset < -14*3600 || offset > 14*3600 {
		return errors.New("is more than 14 hours away from UTC")
	}
	// Both the clock that it shows and the one of UTC are stored.
	if err := checkYear(v); err != nil {
		return err
	}
	return checkYear(v.UTC())
}

func (k sqlDateTimeOffset) wire(v time.Time) (any, error) { return mssql.DateTimeOffset(v), k.check(v) }
func (sqlDateTimeOffset) null() any                       { return sql.NullTime{} }

// json writes an offset in minutes; one with seconds, as of before there were time zones, is cut and the clock with it.
func (k sqlDateTimeOffset) json(dst []byte, v time.Time) ([]byte, error) {
	if _, offset := v.Zone(); offset%60 != 0 {
		v = v.In(time.FixedZone("", offset/60*60))
	}
	return v.AppendFormat(dst, `"2006-01-02T15:04:05.0000000-07:00"`), k.check(v)
}

func (sqlDateTimeOffset) out(v *time.Time) (any, func() *time.Time) {
	n := sql.NullTime{}
	if v != nil {
		n = sql.NullTime{Time: *v, Valid: true}
	}
	return &n, func() *time.Time { return present(&n.Time, n.Valid) }
}
