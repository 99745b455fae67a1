package function_test

import (
	"strings"
	"testing"
)

func TestStrings(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`ASCII('A')`, `65`}, {`ASCII('€')`, `128`}, {`ASCII('')`, `NULL`}, {`UNICODE(N'λ')`, `955`}, {`UNICODE(N'😀')`, `55357`},
		{`UNICODE(N'😀' COLLATE Latin1_General_100_CI_AS_SC)`, `128512`},
		{`LEN('abc  ')`, `3`}, {`LEN('  abc')`, `5`}, {`LEN(N'a😀')`, `3`}, {`LEN(N'a😀' COLLATE Latin1_General_100_CI_AS_SC)`, `2`},
		{`LEN('')`, `0`}, {`LEN(NULL)`, `NULL`}, {`LEN(12345)`, `5`}, {`LEN(0x0102)`, `2`},
		{`DATALENGTH('abc  ')`, `5`}, {`DATALENGTH(N'abc')`, `6`}, {`DATALENGTH(1)`, `4`}, {`DATALENGTH(CAST(1 AS bigint))`, `8`},
		{`DATALENGTH(N'😀')`, `4`}, {`DATALENGTH(0x01)`, `1`}, {`DATALENGTH(NULL)`, `NULL`},
		{`LEFT('abcdef', 3)`, `abc`}, {`LEFT('abc', 0)`, ``}, {`LEFT('abc', 9)`, `abc`}, {`LEFT('abc', -1)`, `error 536`}, {`LEFT(12345, 2)`, `12`},
		{`RIGHT('abcdef', 2)`, `ef`}, {`RIGHT('abc', -1)`, `error 536`}, {`RIGHT(N'ä€', 1)`, `€`},
		{`SUBSTRING('abcdef', 2, 3)`, `bcd`}, {`SUBSTRING('abcdef', 0, 3)`, `ab`}, {`SUBSTRING('abcdef', -1, 3)`, `a`},
		{`SUBSTRING('abcdef', -9, 3)`, ``}, {`SUBSTRING('abc', 2, 99)`, `bc`}, {`SUBSTRING('abc', 9, 1)`, ``}, {`SUBSTRING('abc', 1, -1)`, `error 537`},
		{`SUBSTRING(0x010203, 2, 1)`, `0x02`}, {`UNICODE(SUBSTRING(N'😀', 2, 1))`, `56832`},
		{`SUBSTRING('abc', 2, 9223372036854775807)`, `bc`},
		{`STUFF('abcdef', 2, 3, 'ijklmn')`, `aijklmnef`}, {`STUFF('abc', 0, 1, 'x')`, `NULL`}, {`STUFF('abc', 4, 1, 'x')`, `NULL`},
		{`STUFF('abc', 1, -1, 'x')`, `NULL`}, {`STUFF('abc', 2, 0, 'x')`, `axbc`}, {`STUFF('abc', 2, 9, NULL)`, `a`}, {`STUFF('', 1, 0, 'x')`, `NULL`},
		{`REPLICATE('ab', 3)`, `ababab`}, {`REPLICATE('ab', 0)`, ``}, {`REPLICATE('ab', -1)`, `NULL`}, {`LEN(REPLICATE('ab', 5000))`, `8000`},
		{`LEN(REPLICATE(N'ab', 5000))`, `4000`}, {`LEN(REPLICATE(CAST('ab' AS varchar(max)), 5000))`, `10000`}, {`DATALENGTH(SPACE(9000))`, `8000`},
		{`SPACE(-1)`, `NULL`}, {`SPACE(3) + 'x'`, `   x`},
		{`LOWER('ABC')`, `abc`}, {`UPPER(N'äé')`, `ÄÉ`}, {`UPPER('µ')`, `µ`}, {`UPPER(N'ß')`, `ß`}, {`REVERSE('abc')`, `cba`}, {`REVERSE(1234)`, `4321`},
		{`REVERSE(N'a😀' COLLATE Latin1_General_100_CI_AS_SC)`, `😀a`}, {`UNICODE(REVERSE(N'😀'))`, `56832`},
		{`CHAR(65)`, `A`}, {`CHAR(128)`, `€`}, {`CHAR(256)`, `NULL`}, {`CHAR(-1)`, `NULL`}, {`NCHAR(955)`, `λ`}, {`NCHAR(65536)`, `NULL`}, {`LEN(NCHAR(55357))`, `1`},
		{`CONCAT(NCHAR(55357), NCHAR(56832))`, `😀`},
		{`CONCAT('a', NULL, 1, N'b')`, `a1b`}, {`CONCAT(NULL, NULL)`, ``}, {`CONCAT_WS(',', 'a', NULL, 'b')`, `a,b`}, {`CONCAT_WS(NULL, 'a', 'b')`, `ab`},
		{`CONCAT_WS(',', NULL, NULL)`, ``}, {`CONCAT('a', CAST(1.50 AS decimal(5, 2)))`, `a1.50`},
		{`QUOTENAME('abc[]def')`, `[abc[]]def]`}, {`QUOTENAME('a''b', '''')`, `'a''b'`}, {`QUOTENAME('a', '<')`, `<a>`}, {`QUOTENAME('a', 'x')`, `NULL`},
		{`QUOTENAME(REPLICATE('a', 129))`, `NULL`}, {`QUOTENAME('a"b', '"')`, `"a""b"`},
	})
}

func TestSearching(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`CHARINDEX('b', 'abc')`, `2`}, {`CHARINDEX('B', 'abc')`, `2`}, {`CHARINDEX('B', 'abc' COLLATE Latin1_General_100_BIN2)`, `0`},
		{`CHARINDEX('B', 'abc' COLLATE Latin1_General_CS_AS)`, `0`}, {`CHARINDEX('e', N'é' COLLATE Latin1_General_CI_AI)`, `1`},
		{`CHARINDEX('b', 'abcb', 3)`, `4`}, {`CHARINDEX('a', 'abc', 0)`, `1`}, {`CHARINDEX('a', 'abc', 99)`, `0`}, {`CHARINDEX('', 'abc')`, `0`},
		{`CHARINDEX('x', 'abc')`, `0`}, {`CHARINDEX(NULL, 'abc')`, `NULL`}, {`CHARINDEX(N'b', N'😀b')`, `3`}, {`CHARINDEX('É', N'café')`, `4`},
		{`PATINDEX('%ein%', 'das ist ein Test')`, `9`}, {`PATINDEX('%[0-9]%', 'abc5')`, `4`}, {`PATINDEX('abc', 'abc')`, `1`}, {`PATINDEX('b', 'abc')`, `0`},
		{`PATINDEX('%c', 'abc')`, `3`}, {`PATINDEX('%[^a-z]%', 'abc')`, `0`}, {`PATINDEX('%', 'abc')`, `1`},
		{`REPLACE('abcabc', 'B', 'x')`, `axcaxc`}, {`REPLACE('abc' COLLATE Latin1_General_BIN2, 'B', 'x')`, `abc`}, {`REPLACE('abc', '', 'x')`, `abc`},
		{`REPLACE('aaa', 'a', 'aa')`, `aaaaaa`}, {`REPLACE('abc', NULL, 'x')`, `NULL`}, {`REPLACE('a,b', ',', '')`, `ab`}, {`REPLACE(N'ÄäA', N'ä', '-')`, `--A`},
		{`TRANSLATE('2*[3+4]/{7-2}', '[]{}', '()()')`, `2*(3+4)/(7-2)`}, {`TRANSLATE('abc', 'AB', 'xy')`, `xyc`}, {`TRANSLATE('abc', 'ab', 'x')`, `error 9828`},
		{`TRIM('  a b  ')`, `a b`}, {`LTRIM('  a ')`, `a `}, {`RTRIM(' a  ')`, ` a`}, {`TRIM('.,! ' FROM '  #  test   .')`, `#  test`},
		{`TRIM(BOTH 'x' FROM 'xax')`, `a`}, {`LTRIM('xxax', 'x')`, `ax`}, {`RTRIM('xaxx', 'x')`, `xa`},
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`STR(123.45, 6, 1)`, ` 123.5`}, {`STR(123.45, 2, 2)`, `**`}, {`STR(FLOOR(123.45), 8, 3)`, ` 123.000`}, {`STR(1)`, `         1`},
		{`STR(-1.5, 5, 1)`, ` -1.5`}, {`STR(0.5, 3, 0)`, `  1`}, {`STR(1234.567, 6, 3)`, `1234.6`}, {`STR(1, 0)`, `NULL`},
		{`SOUNDEX('Smith')`, `S530`}, {`SOUNDEX('Smythe')`, `S530`}, {`SOUNDEX('Robert')`, `R163`}, {`SOUNDEX('Green')`, `G650`}, {`SOUNDEX('')`, `0000`},
		{`DIFFERENCE('Smithers', 'Smythers')`, `4`}, {`DIFFERENCE('Anothers', 'Brothers')`, `2`}, {`DIFFERENCE('Blotchet-Halls', 'Greene')`, `0`},
		{`STRING_ESCAPE('\ / "' + CHAR(9) + CHAR(1), 'json')`, `\\ \/ \"\t\u0001`}, {`STRING_ESCAPE('a', 'xml')`, `error 1023`},
		{`PARSENAME('server.db.dbo.t', 1)`, `t`}, {`PARSENAME('server.db.dbo.t', 4)`, `server`}, {`PARSENAME('a.b', 3)`, `NULL`}, {`PARSENAME('a.b.c.d.e', 1)`, `NULL`},
		{`PARSENAME('[a.b].c', 2)`, `a.b`}, {`PARSENAME('[a]].b]', 1)`, `a].b`}, {`PARSENAME('a..c', 2)`, `NULL`}, {`PARSENAME('[a', 1)`, `NULL`},
		{`BASE64_ENCODE(0xCAFECAFE)`, `yv7K/g==`}, {`BASE64_ENCODE(0xCAFECAFE, 1)`, `yv7K_g`},
		{`ISNUMERIC('1.5')`, `1`}, {`ISNUMERIC('-')`, `1`}, {`ISNUMERIC('$')`, `1`}, {`ISNUMERIC('.')`, `1`}, {`ISNUMERIC('')`, `0`}, {`ISNUMERIC('abc')`, `0`},
		{`ISNUMERIC('1e5')`, `1`}, {`ISNUMERIC('1d5')`, `1`}, {`ISNUMERIC('e')`, `0`}, {`ISNUMERIC('1,000.5')`, `1`}, {`ISNUMERIC('$-1')`, `1`}, {`ISNUMERIC('1-')`, `0`},
		{`ISNUMERIC(5)`, `1`}, {`ISNUMERIC(NULL)`, `0`}, {`ISNUMERIC(CAST('2020-01-01' AS date))`, `0`}, {`ISNUMERIC(' 7 ')`, `1`}, {`ISNUMERIC('0x1')`, `0`},
		{`FORMATMESSAGE('This is the %s and this is the %s.', 'first variable', 'second variable')`, `This is the first variable and this is the second variable.`},
		{`FORMATMESSAGE('Signed int %i, %d, %+i, %+d', 5, -5, 50, -50)`, `Signed int 5, -5, +50, -50`}, {`FORMATMESSAGE('%u, %u', 50, -50)`, `50, 4294967246`},
		{`FORMATMESSAGE('%o %x %X %#x %#o', 8, 255, 255, 255, 8)`, `10 ff FF 0xff 010`}, {`FORMATMESSAGE('[%5d][%-5d][%05d][%.3s]', 42, 42, 42, 'abcdef')`, `[   42][42   ][00042][abc]`},
		{`FORMATMESSAGE('[%*d] %s %%', 4, 7, NULL)`, `[   7] (null) %`}, {`FORMATMESSAGE('%s', 1)`, `error 2786`}, {`FORMATMESSAGE('%d', 'a')`, `error 2786`}, {`FORMATMESSAGE('%q', 1)`, `error 2787`},
		{`FORMATMESSAGE('%s', '')`, ``}, {`FORMATMESSAGE('%I64d', CAST(9000000000 AS bigint))`, `9000000000`}, {`FORMATMESSAGE('%s %s', 'a')`, `a (null)`},
	})
}

func TestFormat(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`FORMAT(1234567.891, 'N')`, `1,234,567.89`}, {`FORMAT(1234567.891, 'N0')`, `1,234,568`}, {`FORMAT(1234.5, 'C')`, `$1,234.50`},
		{`FORMAT(-1234.5, 'C', 'en-US')`, `($1,234.50)`}, {`FORMAT(1234.5, 'C', 'en-GB')`, `£1,234.50`}, {`FORMAT(1234.5, 'C', 'de-DE')`, `1.234,50 €`},
		{`FORMAT(0.1234, 'P')`, `12.34%`}, {`FORMAT(255, 'X')`, `FF`}, {`FORMAT(255, 'x4')`, `00ff`}, {`FORMAT(42, 'D5')`, `00042`}, {`FORMAT(-42, 'D5')`, `-00042`},
		{`FORMAT(1.5, 'D5')`, `NULL`}, {`FORMAT(12345.678, 'E2')`, `1.23E+004`}, {`FORMAT(1234.5, 'F1')`, `1234.5`}, {`FORMAT(1.50, 'G')`, `1.50`}, {`FORMAT(1.5e0, 'G')`, `1.5`},
		{`FORMAT(123456789, '###-##-####')`, `123-45-6789`}, {`FORMAT(5, '000')`, `005`}, {`FORMAT(1234.567, '#,##0.00')`, `1,234.57`}, {`FORMAT(0.5, '#.##')`, `.5`},
		{`FORMAT(0.5, '0.00%')`, `50.00%`}, {`FORMAT(-5, '0;(0);zero')`, `(5)`}, {`FORMAT(0, '0;(0);zero')`, `zero`}, {`FORMAT(1234567, '#,##0,')`, `1,235`},
		{`FORMAT(12345, '0.00E+00')`, `1.23E+04`}, {`FORMAT(1, '"n="0\a')`, `n=1a`}, {`FORMAT(1234.5, 'N1', 'de-DE')`, `1.234,5`}, {`FORMAT(NULL, 'N')`, `error 8116`},
		{`FORMAT(CAST('2020-03-05 14:07:09' AS datetime), 'd')`, `3/5/2020`}, {`FORMAT(CAST('2020-03-05' AS date), 'd', 'de-DE')`, `05.03.2020`},
		{`FORMAT(CAST('2020-03-05' AS date), 'D', 'en-US')`, `Thursday, March 5, 2020`}, {`FORMAT(CAST('2020-03-05' AS date), 'D', 'fr-FR')`, `jeudi 5 mars 2020`},
		{`FORMAT(CAST('2020-03-05 14:07:09.007' AS datetime), 'yyyy-MM-dd HH:mm:ss.fff')`, `2020-03-05 14:07:09.007`},
		{`FORMAT(CAST('2020-03-05 14:07:09' AS datetime), 'h:mm tt')`, `2:07 PM`}, {`FORMAT(CAST('2020-03-05 00:07:09' AS datetime), 'hh tt')`, `12 AM`},
		{`FORMAT(CAST('2020-03-05' AS date), 'ddd d MMM yy')`, `Thu 5 Mar 20`}, {`FORMAT(CAST('2020-03-05 14:07:09' AS datetime2), 's')`, `2020-03-05T14:07:09`},
		{`FORMAT(CAST('2020-03-05 14:07:09.1234567' AS datetime2), 'o')`, `2020-03-05T14:07:09.1234567`}, {`FORMAT(CAST('2020-03-05 14:07:09 +02:00' AS datetimeoffset(0)), 'HH:mm zzz')`, `14:07 +02:00`},
		{`FORMAT(CAST('2020-03-05 14:07' AS datetime), 'yyyyMMdd"T"HHmm')`, `20200305T1407`}, {`FORMAT(CAST('2020-03-05 14:07:00' AS datetime2), 'ss.FFF')`, `00`},
		{`FORMAT(CAST('17:05:09' AS time), 'hh\:mm')`, `17:05`}, {`FORMAT(CAST('17:05:09' AS time), 'hh:mm')`, `NULL`}, {`FORMAT(CAST('17:05:09' AS time(0)), 'c')`, `17:05:09`},
		{`FORMAT(1, 'N', 'xx-XX')`, `error 49900`},
	})
}

// TestLargeReplace is linear: a procedure that unescapes a megabyte must not hang.
func TestLargeReplace(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("abc,", 1<<18)
	got := show(t, &session{}, "LEN(REPLACE(CAST('"+text+"' AS nvarchar(max)), ',', ';;'))")
	if got != "1310720" {
		t.Errorf("got %s", got)
	}
}
