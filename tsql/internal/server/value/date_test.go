package value_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func TestConvertDates(t *testing.T) {
	t.Parallel()
	const (
		failed       = "Msg 241: Conversion failed when converting date and/or time from character string."
		datetimeOut  = "Msg 242: The conversion of a varchar data type to a datetime data type resulted in an out-of-range value."
		smallFailed  = "Msg 295: Conversion failed when converting character string to smalldatetime data type."
		otherStyle23 = "Msg 9807: The input character string does not follow style 103, either change the input character string or use a different style."
	)
	tests := []struct {
		text, to string
		style    int
		want     string
	}{
		{"2024-02-29", "date", 0, "2024-02-29"},
		{"20240229", "date", 0, "2024-02-29"},
		{"240229", "date", 0, "2024-02-29"},
		{"500229", "date", 0, failed},
		{"2024", "date", 0, "2024-01-01"},
		{"2/29/2024", "date", 0, "2024-02-29"},
		{"2.29.24", "date", 0, "2024-02-29"},
		{"29.2.24", "date", 0, failed},
		{"29.2.24", "date", 104, "2024-02-29"},
		{"29/02/2024", "date", 103, "2024-02-29"},
		{"2024-02-29", "date", 103, otherStyle23},
		{"24.02.29", "date", 2, "2024-02-29"},
		{"02-29-2024", "date", 110, "2024-02-29"},
		{"Feb 29, 2024", "date", 0, "2024-02-29"},
		{"29 february 2024", "date", 0, "2024-02-29"},
		{"29Feb2024", "date", 0, "2024-02-29"},
		{"2024 feb 29", "date", 0, "2024-02-29"},
		{"feb 2024", "date", 0, "2024-02-01"},
		{"", "date", 0, "1900-01-01"},
		{"2023-02-29", "date", 0, failed},
		{"2023-13-01", "date", 0, failed},
		{"x", "date", 0, failed},
		{"2024-02-29 10:11:12.1234567", "date", 0, "2024-02-29"},
		{"2024-02-29T10:11:12.1234567", "datetime2(7)", 0, "2024-02-29 10:11:12.1234567"},
		{"2024-02-29 10:11:12.12345678", "datetime2(7)", 0, failed},
		{"2024-02-29 10:11:12.1234567", "datetime2(3)", 0, "2024-02-29 10:11:12.1230000"},
		{"2024-02-29 23:59:59.9999", "datetime2(3)", 0, "2024-03-01 00:00:00.0000000"},
		{"9999-12-31 23:59:59.9999999", "datetime2(0)", 0, "9999-12-31 23:59:59.0000000"},
		{"2024-02-29T10:11:12Z", "datetime2(0)", 0, "2024-02-29 10:11:12.0000000"},
		{"2024-02-29 10:11:12 +02:00", "datetime2(0)", 0, "2024-02-29 10:11:12.0000000"},
		{"10:11", "datetime2(0)", 0, "1900-01-01 10:11:00.0000000"},
		{"10:11PM", "time(0)", 0, "22:11:00.0000000"},
		{"12 am", "time(0)", 0, "00:00:00.0000000"},
		{"12:30 pm", "time(0)", 0, "12:30:00.0000000"},
		{"24:00", "time(0)", 0, failed},
		{"23:59:59.9999999", "time(3)", 0, "00:00:00.0000000"},
		{"2024-02-29 10:11:12", "time(0)", 0, "10:11:12.0000000"},
		{"2024-02-29T10:11:12.5+05:30", "datetimeoffset", 0, "2024-02-29 10:11:12.5000000 +05:30"},
		{"2024-02-29T10:11:12.5-05:30", "datetimeoffset", 0, "2024-02-29 10:11:12.5000000 -05:30"},
		{"2024-02-29T10:11:12Z", "datetimeoffset", 0, "2024-02-29 10:11:12.0000000 +00:00"},
		{"2024-02-29 10:11:12 +15:00", "datetimeoffset", 0, failed},
		{"0001-01-01 00:00 +01:00", "datetimeoffset", 0, failed},
		// datetime counts in three-hundredths of a second.
		{"2024-02-29 10:11:12.001", "datetime", 0, "2024-02-29 10:11:12.000"},
		{"2024-02-29 10:11:12.002", "datetime", 0, "2024-02-29 10:11:12.003"},
		{"2024-02-29 10:11:12.005", "datetime", 0, "2024-02-29 10:11:12.007"},
		{"2024-02-29 10:11:12.009", "datetime", 0, "2024-02-29 10:11:12.010"},
		{"2024-02-29 23:59:59.999", "datetime", 0, "2024-03-01 00:00:00.000"},
		{"2024-02-29 10:11:12:9", "datetime", 0, "2024-02-29 10:11:12.010"},
		{"2024-02-29 10:11:12.1234", "datetime", 0, failed},
		{"2024-02-29T10:11:12Z", "datetime", 0, "2024-02-29 10:11:12.000"},
		{"2024-02-29 10:11:12 +00:00", "datetime", 0, failed},
		{"20241301", "datetime", 0, datetimeOut},
		{"1752-12-31", "datetime", 0, datetimeOut},
		{"2024-13-02", "datetime", 103, "2024-02-13 00:00:00.000"},
		{"nonsense", "datetime", 0, failed},
		{"2024-02-29 10:11:29", "smalldatetime", 0, "2024-02-29 10:11:00.000"},
		{"2024-02-29 10:11:30", "smalldatetime", 0, "2024-02-29 10:12:00.000"},
		{"nonsense", "smalldatetime", 0, smallFailed},
		{"2080-01-01", "smalldatetime", 0, "Msg 242: The conversion of a varchar data type to a smalldatetime data type resulted in an out-of-range value."},
		{"2024-02-29 10:00", "datetime2(7)", 126, "Msg 9807: The input character string does not follow style 126, either change the input character string or use a different style."},
	}
	for _, test := range tests {
		from, to := typ(t, "varchar(50)"), typ(t, test.to)
		v, err := value.Convert(value.OfString(test.text), from, to, test.style)
		if got := outcome(v, err); got != test.want {
			t.Errorf("CONVERT(%s, %q, %d) = %s\nwant %s", test.to, test.text, test.style, got, test.want)
		}
	}
}

func TestConvertBetweenDates(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, from, to, want string }{
		{"2024-02-29 10:11:12.003", "datetime", "datetime2(7)", "2024-02-29 10:11:12.0033333"},
		{"2024-02-29 10:11:12.007", "datetime", "datetime2(3)", "2024-02-29 10:11:12.0070000"},
		{"2024-02-29 10:11:12.0050000", "datetime2(7)", "datetime", "2024-02-29 10:11:12.007"},
		{"2024-02-29 10:11:12", "datetime2(7)", "date", "2024-02-29"},
		{"2024-02-29 10:11:12", "datetime2(7)", "time(0)", "10:11:12.0000000"},
		{"2024-02-29 23:00:00 -05:00", "datetimeoffset(0)", "datetime2(0)", "2024-02-29 23:00:00.0000000"},
		{"2024-02-29 23:00:00 -05:00", "datetimeoffset(0)", "date", "2024-02-29"},
		{"2024-02-29 23:00:00", "datetime2(0)", "datetimeoffset(0)", "2024-02-29 23:00:00.0000000 +00:00"},
		{"10:11:12", "time(0)", "datetime", "1900-01-01 10:11:12.000"},
		{"10:11:12", "time(0)", "date", "Msg 529: Explicit conversion from data type time to date is not allowed."},
		{"1600-01-01", "date", "datetime", "Msg 242: The conversion of a date data type to a datetime data type resulted in an out-of-range value."},
		{"2024-02-29 10:11:29.998", "datetime", "smalldatetime", "2024-02-29 10:11:00.000"},
		{"2024-02-29 10:11:29.999", "datetime", "smalldatetime", "2024-02-29 10:12:00.000"},
		{"1.5", "float", "datetime", "1900-01-02 12:00:00.000"},
		{"-1", "int", "datetime", "1899-12-31 00:00:00.000"},
		{"5000000", "int", "datetime", "Msg 8115: Arithmetic overflow error converting expression to data type datetime."},
		{"1900-01-02 12:00", "datetime", "float", "1.5"},
	}
	for _, test := range tests {
		from, to := typ(t, test.from), typ(t, test.to)
		v, err := value.Convert(val(t, test.text, from), from, to, 0)
		if got := outcome(v, err); got != test.want {
			t.Errorf("CAST(%s %q AS %s) = %s\nwant %s", test.from, test.text, test.to, got, test.want)
		}
	}
}

func TestDateStyles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from  string
		style int
		want  string
	}{
		{"datetime", 0, "Feb  3 2024  1:04PM"},
		{"datetime", 100, "Feb  3 2024  1:04PM"},
		{"datetime", 1, "02/03/24"},
		{"datetime", 101, "02/03/2024"},
		{"datetime", 2, "24.02.03"},
		{"datetime", 102, "2024.02.03"},
		{"datetime", 3, "03/02/24"},
		{"datetime", 103, "03/02/2024"},
		{"datetime", 4, "03.02.24"},
		{"datetime", 104, "03.02.2024"},
		{"datetime", 5, "03-02-24"},
		{"datetime", 105, "03-02-2024"},
		{"datetime", 6, "03 Feb 24"},
		{"datetime", 106, "03 Feb 2024"},
		{"datetime", 7, "Feb 03, 24"},
		{"datetime", 107, "Feb 03, 2024"},
		{"datetime", 8, "13:04:05"},
		{"datetime", 108, "13:04:05"},
		{"datetime", 9, "Feb  3 2024  1:04:05:677PM"},
		{"datetime", 109, "Feb  3 2024  1:04:05:677PM"},
		{"datetime", 10, "02-03-24"},
		{"datetime", 110, "02-03-2024"},
		{"datetime", 11, "24/02/03"},
		{"datetime", 111, "2024/02/03"},
		{"datetime", 12, "240203"},
		{"datetime", 112, "20240203"},
		{"datetime", 13, "03 Feb 2024 13:04:05:677"},
		{"datetime", 113, "03 Feb 2024 13:04:05:677"},
		{"datetime", 14, "13:04:05:677"},
		{"datetime", 114, "13:04:05:677"},
		{"datetime", 20, "2024-02-03 13:04:05"},
		{"datetime", 120, "2024-02-03 13:04:05"},
		{"datetime", 21, "2024-02-03 13:04:05.677"},
		{"datetime", 25, "2024-02-03 13:04:05.677"},
		{"datetime", 121, "2024-02-03 13:04:05.677"},
		{"datetime", 22, "02/03/24  1:04:05 PM"},
		{"datetime", 23, "2024-02-03"},
		{"datetime", 24, "13:04:05"},
		{"datetime", 126, "2024-02-03T13:04:05.677"},
		{"datetime", 127, "2024-02-03T13:04:05.677"},
		{"datetime", 131, "24/07/1445  1:04:05:677PM"},
		{"datetime", 130, "24 رجب 1445  1:04:05:677PM"},
		{"datetime", 99, "Msg 281: 99 is not a valid style number when converting from datetime to a character string."},
		{"smalldatetime", 121, "2024-02-03 13:04:00.000"},
		{"smalldatetime", 126, "2024-02-03T13:04:00"},
		{"date", 0, "2024-02-03"},
		{"date", 100, "Feb  3 2024"},
		{"date", 101, "02/03/2024"},
		{"date", 120, "2024-02-03"},
		{"date", 126, "2024-02-03"},
		{"date", 108, "Msg 8114: Error converting data type date to nvarchar."},
		{"time(3)", 0, "13:04:05.678"},
		{"time(0)", 0, "13:04:06"},
		{"time(7)", 100, "1:04PM"},
		{"time(7)", 114, "13:04:05.6780000"},
		{"time(3)", 101, "Msg 8114: Error converting data type time to nvarchar."},
		{"datetime2(7)", 0, "2024-02-03 13:04:05.6780000"},
		{"datetime2(0)", 0, "2024-02-03 13:04:06"},
		{"datetime2(3)", 109, "Feb  3 2024  1:04:05.678PM"},
		{"datetime2(3)", 126, "2024-02-03T13:04:05.678"},
		{"datetime2(3)", 112, "20240203"},
		{"datetime2(3)", 99, "Msg 9809: The style 99 is not supported for conversions from datetime2 to nvarchar."},
		{"datetimeoffset(3)", 0, "2024-02-03 13:04:05.678 +02:30"},
		{"datetimeoffset(3)", 126, "2024-02-03T13:04:05.678+02:30"},
		{"datetimeoffset(3)", 127, "2024-02-03T10:34:05.678Z"},
		{"datetimeoffset(3)", 23, "2024-02-03"},
	}
	for _, test := range tests {
		from := typ(t, test.from)
		text := "2024-02-03 13:04:05.678"
		if from.Kind == "datetimeoffset" {
			text += " +02:30"
		}
		v, err := value.Convert(val(t, text, from), from, typ(t, "nvarchar(50)"), test.style)
		if got := outcome(v, err); got != test.want {
			t.Errorf("CONVERT(nvarchar(50), %s, %d) = %q\nwant %q", test.from, test.style, got, test.want)
		}
	}
}
