package tsqltest_test

import "testing"

// TestParse: PARSE reads numbers and dates as .NET does in a culture. What it cannot read is an error, and NULL of
// TRY_PARSE; what is not certain is refused by both.
func TestParse(t *testing.T) {
	t.Parallel()
	text := func(parse string) string { return "SELECT CONVERT(NVARCHAR(60), " + parse + ")" }
	answers(t, []answer{
		{text(`PARSE('1,234' AS INT)`), `1234`},
		{text(`PARSE(' -12.00 ' AS SMALLINT)`), `-12`},
		{text(`PARSE('12-' AS INT)`), `-12`},
		{text(`PARSE('1.234,5' AS DECIMAL(10, 2) USING 'de-DE')`), `1234.50`},
		{text(`PARSE('1 234,567' AS DECIMAL(10, 2) USING 'fr-FR')`), `1234.57`},
		{text(`PARSE('€345,98' AS MONEY USING 'de-DE')`), `345.98`},
		{text(`PARSE('($1,234.50)' AS MONEY)`), `-1234.50`},
		{text(`PARSE('1.5e3' AS FLOAT)`), `1500`},
		{text(`PARSE(NULLIF('a', 'a') AS INT)`), `<nil>`},
		{text(`TRY_PARSE('1,5' AS FLOAT)`), `<nil>`},
		{text(`TRY_PARSE('12.5' AS INT)`), `<nil>`},
		{text(`TRY_PARSE('- 1' AS INT)`), `<nil>`},
		{text(`TRY_PARSE('1 234' AS INT)`), `<nil>`},
		{text(`TRY_PARSE('300' AS TINYINT)`), `<nil>`},
		{text(`TRY_PARSE('$1' AS INT)`), `<nil>`},
		{text(`TRY_PARSE('' AS INT)`), `<nil>`},
		{text(`TRY_PARSE('12345.6' AS DECIMAL(4, 2))`), `<nil>`},
		{text(`TRY_PARSE('(1' AS MONEY)`), `<nil>`},

		{text(`PARSE('Monday, 13 December 2010' AS DATETIME2 USING 'en-US')`), `2010-12-13 00:00:00.0000000`},
		{text(`PARSE('12/13/2010' AS DATE)`), `2010-12-13`},
		{text(`PARSE('13/12/2010' AS DATE USING 'en-GB')`), `2010-12-13`},
		{text(`PARSE('13.12.2010 14:05' AS DATETIME2(0) USING 'de-DE')`), `2010-12-13 14:05:00`},
		{text(`PARSE('5. März 2020' AS DATE USING 'de-DE')`), `2020-03-05`},
		{text(`PARSE('March 5, 2020 2:07 PM' AS SMALLDATETIME)`), `Mar  5 2020  2:07PM`},
		{text(`PARSE('2020-03-05T14:07:09.5+02:00' AS DATETIMEOFFSET(1))`), `2020-03-05 14:07:09.5 +02:00`},
		{text(`PARSE('2020-03-05 14:07' AS DATETIMEOFFSET(0))`), `2020-03-05 14:07:00 +00:00`},
		{text(`PARSE('12:07 AM' AS TIME(0))`), `00:07:00`},
		{text(`PARSE('1/2/29' AS DATE)`), `2029-01-02`},
		{text(`TRY_PARSE('Jabberwokkie' AS DATETIME2 USING 'en-US')`), `<nil>`},
		{text(`TRY_PARSE('13/12/2010' AS DATE)`), `<nil>`},
		{text(`TRY_PARSE('Tuesday, 13 December 2010' AS DATE)`), `<nil>`},
		{text(`TRY_PARSE('2020-02-30' AS DATE)`), `<nil>`},
		{text(`TRY_PARSE('1700-01-01' AS DATETIME)`), `<nil>`},
		{text(`TRY_PARSE('24:00' AS TIME)`), `<nil>`},
		{text(`TRY_PARSE('' AS DATE)`), `<nil>`},

		{`SELECT PARSE('abc' AS INT)`, `9819: Error converting string value 'abc' into data type int using culture ''.`},
		{`SELECT PARSE('x' AS DATE USING 'en-GB')`, `9819: Error converting string value 'x' into data type date using culture 'en-GB'.`},
		{`SELECT PARSE(NULL AS INT)`, `8116: Argument data type NULL is invalid for argument 1 of parse function.`},
		{`SELECT TRY_PARSE(5 AS INT)`, `8116: Argument data type int is invalid for argument 1 of try_parse function.`},
		{`SELECT PARSE('a' AS VARCHAR(5))`, `10761: Invalid data type varchar in function parse.`},
		{`SELECT TRY_PARSE('1' AS INT USING 'ja-JP')`, `49900: PARSE with the culture 'ja-JP' is not supported by tsqltest`},
		{`SELECT TRY_PARSE('20200305' AS DATE)`, `49900: PARSE of '20200305' is not supported by tsqltest`},
		{`SELECT TRY_PARSE('1/2/40' AS DATE)`, `49900: PARSE of '1/2/40' is not supported by tsqltest`},
		{`SELECT TRY_PARSE('10:30' AS DATETIME)`, `49900: PARSE of '10:30' is not supported by tsqltest`},
	})
}
