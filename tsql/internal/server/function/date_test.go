package function_test

import "testing"

func TestDateAdd(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`DATEADD(month, 1, '20240830')`, `2024-09-30 00:00:00.000`},
		{`DATEADD(month, 1, '2024-08-31')`, `2024-09-30 00:00:00.000`},
		{`DATEADD(year, 1, CAST('2024-02-29' AS date))`, `2025-02-28`},
		{`DATEADD(quarter, -1, CAST('2024-05-31' AS date))`, `2024-02-29`},
		{`DATEADD(day, -1, CAST('2024-03-01' AS date))`, `2024-02-29`},
		{`DATEADD(week, 2, CAST('2024-03-01' AS date))`, `2024-03-15`},
		{`DATEADD(ms, 1, CAST('2024-01-01 00:00:00' AS datetime))`, `2024-01-01 00:00:00.000`},
		{`DATEADD(ms, 2, CAST('2024-01-01 00:00:00' AS datetime))`, `2024-01-01 00:00:00.003`},
		{`DATEADD(ms, 1, CAST('2024-01-01 00:00:00' AS datetime2(3)))`, `2024-01-01 00:00:00.001`},
		{`DATEADD(ns, 49, CAST('2007-01-01 13:10:10.1111111' AS datetime2))`, `2007-01-01 13:10:10.1111111`},
		{`DATEADD(ns, 50, CAST('2007-01-01 13:10:10.1111111' AS datetime2))`, `2007-01-01 13:10:10.1111112`},
		{`DATEADD(ns, 150, CAST('2007-01-01 13:10:10.1111111' AS datetime2))`, `2007-01-01 13:10:10.1111113`},
		{`DATEADD(hour, 25, CAST('12:00' AS time(0)))`, `13:00:00`},
		{`DATEADD(hour, -13, CAST('12:00' AS time(0)))`, `23:00:00`},
		{`DATEADD(second, 29, CAST('2024-01-01 10:00' AS smalldatetime))`, `2024-01-01 10:00:00.000`},
		{`DATEADD(second, 30, CAST('2024-01-01 10:00' AS smalldatetime))`, `2024-01-01 10:01:00.000`},
		{`DATEADD(hour, 1, CAST('2024-01-01 23:30 +02:00' AS datetimeoffset(0)))`, `2024-01-02 00:30:00 +02:00`},
		{`DATEADD(year, 8000, CAST('2024-01-01' AS date))`, `error 517`},
		{`DATEADD(year, -300, CAST('2024-01-01' AS datetime))`, `error 517`},
		{`DATEADD(day, 2147483647, CAST('2024-01-01' AS datetime))`, `error 517`},
		{`DATEADD(day, 1, NULL)`, `NULL`},
		{`DATEADD(day, NULL, GETDATE())`, `NULL`},
		{`DATEADD(day, 1.9, CAST('2024-01-01' AS date))`, `2024-01-02`},
		{`DATEADD(day, 3000000000, CAST('2024-01-01' AS date))`, `error 8115`},
		{`DATEADD(day, 1, 0)`, `1900-01-02 00:00:00.000`},
		{`DATEADD(month, DATEDIFF(month, 0, CAST('2024-02-29' AS date)), 0)`, `2024-02-01 00:00:00.000`},
		{`DATEADD(weekday, 1, CAST('2024-03-01' AS date))`, `2024-03-02`},
		{`DATEADD(dayofyear, 1, CAST('2024-03-01' AS date))`, `2024-03-02`},
	})
}

func TestDateDiff(t *testing.T) {
	t.Parallel()
	run(t, []example{
		// Each pair is 100 ns apart and crosses one boundary of every part, as in the documentation.
		{`DATEDIFF(year, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(quarter, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(month, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(dayofyear, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(day, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(week, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(hour, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(ms, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(microsecond, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `1`},
		{`DATEDIFF(ns, '2005-12-31 23:59:59.9999999', '2006-01-01 00:00:00.0000000')`, `100`},
		{`DATEDIFF(day, '2024-03-01', '2024-02-28')`, `-2`},
		{`DATEDIFF(week, '2024-03-02', '2024-03-03')`, `1`},
		{`DATEDIFF(week, '2024-03-03', '2024-03-09')`, `0`},
		{`DATEDIFF(second, '1900-01-01', '2024-01-01')`, `error 535`},
		{`DATEDIFF(ms, '2024-01-01', '2024-02-01')`, `error 535`},
		{`DATEDIFF(ms, '2024-01-01', '2024-01-25')`, `2073600000`},
		{`DATEDIFF_BIG(ms, '19700101', '2024-02-29 13:14:15.123')`, `1709212455123`},
		{`DATEDIFF_BIG(ns, '0001-01-01', '9999-12-31')`, `error 535`},
		{`DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())`, `1709212455123`},
		{`DATEDIFF_BIG(mcs, '0001-01-01', '9999-12-31')`, `315537811200000000`},
		{`DATEDIFF(hour, CAST('10:59' AS time), CAST('11:01' AS time))`, `1`},
		{`DATEDIFF(day, 0, CAST('1900-01-02' AS date))`, `1`},
		{`DATEDIFF(day, CAST('2024-01-01 23:00 -05:00' AS datetimeoffset), CAST('2024-01-02 01:00 -05:00' AS datetimeoffset))`, `0`},
		{`DATEDIFF(hour, CAST('12:00' AS time), CAST('1900-01-01' AS date))`, `-12`},
		{`DATEDIFF(day, NULL, '2024-01-01')`, `NULL`},
	})
}

func TestDateParts(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`DATEPART(year, '2007-10-30 12:15:32.1234567 +05:10')`, `2007`},
		{`DATEPART(quarter, '2007-10-30 12:15:32.1234567')`, `4`},
		{`DATEPART(dayofyear, '2007-10-30')`, `303`},
		{`DATEPART(week, '2007-10-30')`, `44`},
		{`DATEPART(weekday, '2007-10-30')`, `3`},
		{`DATEPART(ms, '2007-10-30 12:15:32.1234567')`, `123`},
		{`DATEPART(mcs, '2007-10-30 12:15:32.1234567')`, `123456`},
		{`DATEPART(ns, '2007-10-30 12:15:32.1234567')`, `123456700`},
		{`DATEPART(tz, '2007-10-30 12:15:32.1234567 +05:10')`, `310`},
		{`DATEPART(isoww, '2021-01-01')`, `53`},
		{`DATEPART(isoww, '2024-12-30')`, `1`},
		{`DATEPART(ms, CAST('2020-01-01 00:00:00.007' AS datetime))`, `7`},
		{`DATEPART(hour, CAST('13:14:15' AS time))`, `13`},
		{`DATENAME(month, '2007-10-30')`, `October`},
		{`DATENAME(weekday, '2007-10-30')`, `Tuesday`},
		{`DATENAME(tz, '2007-10-30 12:15:32 -05:10')`, `-05:10`},
		{`DATENAME(day, '2007-10-03')`, `3`},
		{`YEAR('2024-02-29')`, `2024`},
		{`MONTH(CAST('2024-02-29' AS date))`, `2`},
		{`DAY(0)`, `1`},
		{`YEAR(NULL)`, `NULL`},
		{`EOMONTH('2024-02-10')`, `2024-02-29`},
		{`EOMONTH('2024-01-31', 1)`, `2024-02-29`},
		{`EOMONTH('2024-01-31', -1)`, `2023-12-31`},
		{`EOMONTH(CAST('9999-12-01' AS date), 1)`, `error 517`},
		{`DATEFROMPARTS(2024, 2, 29)`, `2024-02-29`},
		{`DATEFROMPARTS(2023, 2, 29)`, `error 289`},
		{`DATEFROMPARTS(2023, NULL, 29)`, `NULL`},
		{`DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 5, 1)`, `2011-08-15 14:23:44.5`},
		{`DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 50, 2)`, `2011-08-15 14:23:44.50`},
		{`DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 50, 1)`, `error 289`},
		{`DATETIMEFROMPARTS(2010, 12, 31, 23, 59, 59, 0)`, `2010-12-31 23:59:59.000`},
		{`DATETIMEFROMPARTS(1700, 1, 1, 0, 0, 0, 0)`, `error 289`},
		{`SMALLDATETIMEFROMPARTS(2010, 12, 31, 23, 59)`, `2010-12-31 23:59:00.000`},
		{`TIMEFROMPARTS(23, 59, 59, 0, 0)`, `23:59:59`},
		{`TIMEFROMPARTS(14, 23, 44, 500, 3)`, `14:23:44.500`},
		{`TIMEFROMPARTS(24, 0, 0, 0, 0)`, `error 289`},
		{`DATETIMEOFFSETFROMPARTS(2010, 12, 31, 14, 23, 23, 0, 12, 0, 7)`, `2010-12-31 14:23:23.0000000 +12:00`},
		{`DATETIMEOFFSETFROMPARTS(2011, 8, 15, 14, 30, 0, 5, 12, 30, 1)`, `2011-08-15 14:30:00.5 +12:30`},
		{`ISDATE('2024-02-29')`, `1`},
		{`ISDATE('2023-02-29')`, `0`},
		{`ISDATE('2024-02-29 12:00:00.1234567')`, `0`},
		{`ISDATE(NULL)`, `0`},
		{`ISDATE('abc')`, `0`},
	})
}

// TestWeeks depends on SET DATEFIRST.
func TestWeeks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, expr, want string }{
		{"1", `DATEPART(weekday, '2024-03-03')`, `7`},
		{"7", `DATEPART(weekday, '2024-03-03')`, `1`},
		{"", `DATEPART(weekday, '2024-03-03')`, `1`},
		{"3", `DATEPART(weekday, '2024-03-03')`, `5`},
		{"1", `DATEPART(week, '2024-01-07')`, `1`},
		{"7", `DATEPART(week, '2024-01-07')`, `2`},
		{"7", `DATETRUNC(week, CAST('2024-03-06' AS date))`, `2024-03-03`},
		{"1", `DATETRUNC(week, CAST('2024-03-03' AS date))`, `2024-02-26`},
		{"1", `DATEDIFF(week, '2024-03-02', '2024-03-03')`, `1`},
	} {
		if got := show(t, &session{dateFirst: c.first}, c.expr); got != c.want {
			t.Errorf("DATEFIRST %s: %s is %s, not %s", c.first, c.expr, got, c.want)
		}
	}
}

func TestTruncAndBucket(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`DATETRUNC(year, CAST('2021-12-08 11:30:15.1234567' AS datetime2))`, `2021-01-01 00:00:00.0000000`},
		{`DATETRUNC(quarter, CAST('2021-12-08' AS date))`, `2021-10-01`},
		{`DATETRUNC(month, '2021-12-08 11:30:15')`, `2021-12-01 00:00:00.0000000`},
		{`DATETRUNC(iso_week, CAST('2021-12-08' AS date))`, `2021-12-06`},
		{`DATETRUNC(day, CAST('2021-12-08 11:30' AS datetime))`, `2021-12-08 00:00:00.000`},
		{`DATETRUNC(minute, CAST('11:30:15' AS time(0)))`, `11:30:00`},
		{`DATETRUNC(microsecond, CAST('2021-12-08 11:30:15.1234567' AS datetime2))`, `2021-12-08 11:30:15.1234560`},
		{`DATETRUNC(weekday, GETDATE())`, `error 9810`},
		{`DATE_BUCKET(week, 1, CAST('2020-06-15 21:22:11' AS datetime2(0)))`, `2020-06-15 00:00:00`},
		{`DATE_BUCKET(month, 7, CAST('2020-06-15' AS date))`, `2020-03-01`},
		{`DATE_BUCKET(day, 2, CAST('2020-06-15' AS date), CAST('2020-06-10' AS date))`, `2020-06-14`},
		{`DATE_BUCKET(hour, 5, CAST('2020-06-15 21:22:11' AS datetime2(0)), CAST('2020-06-15' AS datetime2(0)))`, `2020-06-15 20:00:00`},
		{`DATE_BUCKET(day, 0, CAST('2020-06-15' AS date))`, `error 9834`},
		{`DATE_BUCKET(month, 1, CAST('2020-01-10' AS date), CAST('2020-06-15' AS date))`, `2019-12-15`},
	})
}

func TestZones(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`SWITCHOFFSET(CAST('2015-09-20 07:45:50.71345 -5:00' AS datetimeoffset(7)), '-08:00')`, `2015-09-20 04:45:50.7134500 -08:00`},
		{`SWITCHOFFSET(CAST('2015-09-20 07:00 +00:00' AS datetimeoffset(0)), 90)`, `2015-09-20 08:30:00 +01:30`},
		{`SWITCHOFFSET(CAST('2015-09-20' AS datetimeoffset), '8:00')`, `error 9812`},
		{`SWITCHOFFSET(CAST('2015-09-20' AS datetimeoffset), '+15:00')`, `error 9812`},
		{`TODATETIMEOFFSET(CAST('2019-04-22 16:23:51' AS datetime2(0)), '+13:00')`, `2019-04-22 16:23:51 +13:00`},
		{`CAST('2024-07-01 12:00' AS datetime2(0)) AT TIME ZONE 'UTC'`, `2024-07-01 12:00:00 +00:00`},
		{`CAST('2024-07-01 12:00' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time'`, `2024-07-01 12:00:00 +02:00`},
		{`CAST('2024-07-01 12:00 +00:00' AS datetimeoffset(0)) AT TIME ZONE 'Pacific Standard Time'`, `2024-07-01 05:00:00 -07:00`},
		{`CAST('2024-01-01 12:00 +00:00' AS datetimeoffset(0)) AT TIME ZONE 'india standard time'`, `2024-01-01 17:30:00 +05:30`},
		// The clocks go forward at 02:00 on March 27th, and back at 03:00 on October 30th.
		{`CAST('2022-03-27 01:01' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time'`, `2022-03-27 01:01:00 +01:00`},
		{`CAST('2022-03-27 02:01' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time'`, `2022-03-27 03:01:00 +02:00`},
		{`CAST('2022-03-27 03:01' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time'`, `2022-03-27 03:01:00 +02:00`},
		{`CAST('2022-10-30 02:01' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time'`, `2022-10-30 02:01:00 +02:00`},
		{`CAST('2022-10-30 03:01' AS datetime2(0)) AT TIME ZONE 'Central European Standard Time'`, `2022-10-30 03:01:00 +01:00`},
		{`GETDATE() AT TIME ZONE 'Middle Earth Standard Time'`, `error 9820`},
	})
}

// TestClock reads the clock of the environment.
func TestClock(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`GETDATE()`, `2024-02-29 13:14:15.123`},
		{`CURRENT_TIMESTAMP`, `2024-02-29 13:14:15.123`},
		{`SYSUTCDATETIME()`, `2024-02-29 13:14:15.1234567`},
		{`SYSDATETIMEOFFSET()`, `2024-02-29 13:14:15.1234567 +00:00`},
		{`CURRENT_TIMEZONE_ID()`, `UTC`},
	})
}
