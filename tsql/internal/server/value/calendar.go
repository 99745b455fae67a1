package value

import "time"

const (
	ticksPerSecond = 10_000_000
	ticksPerDay    = 86400 * ticksPerSecond
	// unixDay and day1900 are days since 0001-01-01.
	unixDay = 719162
	day1900 = 693595
	day1753 = 639905
	// lastDay is 9999-12-31.
	lastDay = 3652058
	// dateTimePerDay is what a day has in three-hundredths of a second.
	dateTimePerDay = 86400 * 300
)

// Days returns the days since 0001-01-01 of a date, which need not exist: month 13 is January of the next year.
func Days(year, month, day int) int {
	return int(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix()/86400) + unixDay
}

// Civil returns the date that is a number of days after 0001-01-01.
func Civil(days int) (year, month, day int) {
	y, m, d := time.Unix(int64(days-unixDay)*86400, 0).UTC().Date()
	return y, int(m), d
}

// splitDateTime parts the three-hundredths of a second of a datetime into days since 0001-01-01 and the rest.
func splitDateTime(n int64) (days int, part int64) {
	day := n / dateTimePerDay
	part = n % dateTimePerDay
	if part < 0 {
		day--
		part += dateTimePerDay
	}
	return int(day) + day1900, part
}

// dateTimeTicks returns three-hundredths of a second in ticks of 100 ns, rounded.
func dateTimeTicks(part int64) int64 { return (part*200000 + 3) / 6 }

// ticksDateTime returns ticks of 100 ns in three-hundredths of a second, rounded. It may be a whole day.
func ticksDateTime(ticks int64) int64 { return (ticks*6 + 100000) / 200000 }
