package value_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// Each row converts a text to a type and then to another, and gives the result or the error as the server prints it.
// Facts are from the documentation of CAST and CONVERT and of the types.
func TestConvert(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, from, to string
		style          int
		want           string
	}{
		// To integers.
		{"42", "varchar(10)", "int", 0, "42"},
		{"  -42  ", "nvarchar(10)", "int", 0, "-42"},
		{"", "varchar(10)", "int", 0, "0"},
		{"-", "varchar(10)", "int", 0, "0"},
		{"+7", "varchar(10)", "int", 0, "7"},
		{"abc", "varchar(10)", "int", 0, "Msg 245: Conversion failed when converting the varchar value 'abc' to data type int."},
		{"1.5", "nvarchar(10)", "int", 0, "Msg 245: Conversion failed when converting the nvarchar value '1.5' to data type int."},
		{"3000000000", "varchar(20)", "int", 0, "Msg 248: The conversion of the varchar value '3000000000' overflowed an int column."},
		{"-2147483648", "varchar(20)", "int", 0, "-2147483648"},
		{"300", "varchar(20)", "tinyint", 0, "Msg 244: The conversion of the varchar value '300' overflowed an INT1 column. Use a larger integer column."},
		{"40000", "varchar(20)", "smallint", 0, "Msg 244: The conversion of the varchar value '40000' overflowed an INT2 column. Use a larger integer column."},
		{"x", "varchar(20)", "bigint", 0, "Msg 8114: Error converting data type varchar to bigint."},
		{"9223372036854775808", "varchar(20)", "bigint", 0, "Msg 8115: Arithmetic overflow error converting expression to data type bigint."},
		{"-9223372036854775808", "varchar(20)", "bigint", 0, "-9223372036854775808"},
		{"99999999999999999999999999", "varchar(30)", "bigint", 0, "Msg 8115: Arithmetic overflow error converting expression to data type bigint."},
		{"TRUE", "varchar(20)", "bit", 0, "1"},
		{"false", "varchar(20)", "bit", 0, "0"},
		{"17", "varchar(20)", "bit", 0, "1"},
		{"300", "int", "tinyint", 0, "Msg 220: Arithmetic overflow error for data type tinyint, value = 300."},
		{"3000000000", "bigint", "int", 0, "Msg 8115: Arithmetic overflow error converting expression to data type int."},
		{"-5", "int", "bit", 0, "1"},
		{"1.99", "decimal(9,2)", "int", 0, "1"},
		{"-1.99", "decimal(9,2)", "int", 0, "-1"},
		{"3000000000", "decimal(20,0)", "int", 0, "Msg 8115: Arithmetic overflow error converting numeric to data type int."},
		{"1.5", "money", "int", 0, "2"},
		{"-1.5", "money", "int", 0, "-2"},
		{"1.99", "float", "int", 0, "1"},
		{"300", "float", "tinyint", 0, "Msg 232: Arithmetic overflow error for type tinyint, value = 300.000000."},
		{"1e19", "float", "bigint", 0, "Msg 8115: Arithmetic overflow error converting expression to data type bigint."},
		{"0x0102", "varbinary(10)", "int", 0, "258"},
		{"0xFFFFFFFF", "varbinary(10)", "int", 0, "-1"},
		{"0xFFFFFFFF", "varbinary(10)", "bigint", 0, "4294967295"},
		{"0x0100000002", "varbinary(10)", "int", 0, "2"},
		{"1900-01-02 12:00", "datetime", "int", 0, "2"},
		{"1900-01-02 11:59", "datetime", "int", 0, "1"},
		// To decimals.
		{"1.005", "varchar(10)", "decimal(9,2)", 0, "1.01"},
		{"-1.005", "varchar(10)", "decimal(9,2)", 0, "-1.01"},
		{"1e3", "varchar(10)", "decimal(9,2)", 0, "Msg 8114: Error converting data type varchar to numeric."},
		{"", "varchar(10)", "decimal(9,2)", 0, "Msg 8114: Error converting data type varchar to numeric."},
		{"1000", "varchar(10)", "decimal(5,2)", 0, "Msg 8115: Arithmetic overflow error converting varchar to data type numeric."},
		{"1000", "int", "decimal(5,2)", 0, "Msg 8115: Arithmetic overflow error converting int to data type numeric."},
		{"999.995", "decimal(9,3)", "decimal(5,2)", 0, "Msg 8115: Arithmetic overflow error converting numeric to data type numeric."},
		{"12345678901234567890123456789012345678", "decimal(38,0)", "decimal(38,0)", 0, "12345678901234567890123456789012345678"},
		{"99999999999999999999999999999999999.995", "decimal(38,3)", "decimal(38,2)", 0, "100000000000000000000000000000000000.00"},
		{"1.1", "float", "decimal(38,20)", 0, "1.10000000000000010000"},
		{"123456.789", "float", "decimal(10,2)", 0, "123456.79"},
		{"1e40", "float", "decimal(38,0)", 0, "Msg 8115: Arithmetic overflow error converting float to data type numeric."},
		{"1e-50", "float", "decimal(38,38)", 0, "0.00000000000000000000000000000000000000"},
		// To money.
		{"$1,234.56789", "varchar(20)", "money", 0, "1234.5679"},
		{"-$5", "varchar(20)", "money", 0, "-5.0000"},
		{"£5", "nvarchar(20)", "money", 0, "5.0000"},
		{"", "varchar(20)", "money", 0, "0.0000"},
		{"x", "varchar(20)", "money", 0, "Msg 235: Cannot convert a char value to money. The char value has incorrect syntax."},
		{"300000", "varchar(20)", "smallmoney", 0, "Msg 294: The conversion from char data type to smallmoney data type resulted in a smallmoney overflow error."},
		{"300000", "int", "smallmoney", 0, "Msg 8115: Arithmetic overflow error converting int to data type smallmoney."},
		{"1.23456", "decimal(9,5)", "money", 0, "1.2346"},
		// To float.
		{" 1.5E2 ", "varchar(20)", "float", 0, "150"},
		{"1d2", "varchar(20)", "float", 0, "100"},
		{"", "varchar(20)", "float", 0, "0"},
		{"inf", "varchar(20)", "float", 0, "Msg 8114: Error converting data type varchar to float."},
		{"1.1", "varchar(20)", "real", 0, "1.100000023841858"},
		{"1e39", "float", "real", 0, "Msg 232: Arithmetic overflow error for type real, value = 999999999999999939709166371603178586112.000000."},
		// Numbers to text.
		{"-5", "int", "varchar(10)", 0, "-5"},
		{"12345", "int", "varchar(3)", 0, "*"},
		{"12345", "int", "nvarchar(3)", 0, "Msg 8115: Arithmetic overflow error converting expression to data type nvarchar."},
		{"12345", "bigint", "varchar(3)", 0, "Msg 8115: Arithmetic overflow error converting expression to data type varchar."},
		{"5", "int", "char(3)", 0, "5  "},
		{"0.50", "decimal(9,2)", "varchar(10)", 0, "0.50"},
		{"-0.05", "decimal(9,2)", "varchar(10)", 0, "-0.05"},
		{"123.45", "decimal(9,2)", "varchar(3)", 0, "Msg 8115: Arithmetic overflow error converting numeric to data type varchar."},
		{"1234567.891", "money", "varchar(20)", 0, "1234567.89"},
		{"1234567.895", "money", "varchar(20)", 1, "1,234,567.90"},
		{"-1234567.8912", "money", "varchar(20)", 2, "-1234567.8912"},
		{"123", "money", "varchar(3)", 0, "Msg 234: There is insufficient result space to convert a money value to varchar."},
		{"123456", "float", "varchar(20)", 0, "123456"},
		{"1234567", "float", "varchar(20)", 0, "1.23457e+006"},
		{"0.0001", "float", "varchar(20)", 0, "0.0001"},
		{"0.00001", "float", "varchar(20)", 0, "1e-005"},
		{"0", "float", "varchar(20)", 0, "0"},
		{"1.5", "real", "varchar(20)", 0, "1.5"},
		{"999999.5", "float", "varchar(20)", 0, "1e+006"},
		{"1.5", "float", "varchar(30)", 1, "1.5000000e+000"},
		{"1.5", "float", "varchar(30)", 2, "1.500000000000000e+000"},
		{"0.1", "float", "varchar(30)", 3, "1.0000000000000001e-001"},
		// Text to text.
		{"abcdef", "varchar(10)", "varchar(3)", 0, "abc"},
		{"abc", "varchar(10)", "nchar(5)", 0, "abc  "},
		{"é€Ж", "nvarchar(10)", "varchar(10)", 0, "é€?"},
		{"āｂ", "nvarchar(10)", "varchar(10)", 0, "ab"},
		{"😀", "nvarchar(10)", "varchar(10)", 0, "??"},
		{"😀", "nvarchar(10)", "varchar(10) COLLATE Latin1_General_100_CI_AS_SC_UTF8", 0, "😀"},
		{"ÄÖ", "nvarchar(10)", "varchar(3) COLLATE Latin1_General_100_BIN2_UTF8", 0, "Ä"},
		// Binaries.
		{"0x616263", "varbinary(10)", "varchar(10)", 0, "abc"},
		{"0x61006200", "varbinary(10)", "nvarchar(10)", 0, "ab"},
		{"0x0AFF", "varbinary(10)", "varchar(10)", 1, "0x0AFF"},
		{"0x0AFF", "varbinary(10)", "varchar(10)", 2, "0AFF"},
		{"0x0AFF", "varbinary(10)", "varchar(4)", 1, "0x0A"},
		{"abc", "varchar(10)", "varbinary(10)", 0, "0x616263"},
		{"abc", "nvarchar(10)", "varbinary(10)", 0, "0x610062006300"},
		{"0x0aff", "varchar(10)", "varbinary(10)", 1, "0x0AFF"},
		{"0aff", "varchar(10)", "varbinary(10)", 2, "0x0AFF"},
		{"0aff", "varchar(10)", "varbinary(10)", 1, "Msg 8114: Error converting data type varchar to varbinary."},
		{"abc", "varchar(10)", "binary(5)", 0, "0x6162630000"},
		{"1", "int", "varbinary(10)", 0, "0x00000001"},
		{"1", "int", "binary(6)", 0, "0x000000000001"},
		{"258", "int", "binary(1)", 0, "0x02"},
		{"1", "bigint", "rowversion", 0, "0x0000000000000001"},
		{"1.5", "decimal(5,2)", "varbinary(20)", 0, "0x0502000196000000"},
		{"-1.5", "decimal(5,2)", "varbinary(20)", 0, "0x0502000096000000"},
		{"0x0502000096000000", "varbinary(20)", "decimal(5,2)", 0, "-1.50"},
		{"1", "float", "varbinary(20)", 0, "0x3FF0000000000000"},
		{"1", "money", "varbinary(20)", 0, "0x0000000000002710"},
		{"2000-01-01 12:00", "datetime", "varbinary(20)", 0, "0x00008EAC00C5C100"},
		{"0x00008EAC00C5C100", "varbinary(20)", "datetime", 0, "2000-01-01 12:00:00.000"},
		{"2000-01-01 12:00", "smalldatetime", "varbinary(20)", 0, "0x8EAC02D0"},
		{"0001-01-02", "date", "varbinary(20)", 0, "0x010000"},
		{"00:00:00.0000001", "time(7)", "varbinary(20)", 0, "0x070100000000"},
		// uniqueidentifier.
		{"6f9619ff-8b86-d011-b42d-00c04fc964ff", "varchar(36)", "uniqueidentifier", 0, "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"{6F9619FF-8B86-D011-B42D-00C04FC964FF}", "varchar(38)", "uniqueidentifier", 0, "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"6F9619FF-8B86-D011-B42D-00C04FC964FFwrong", "varchar(50)", "uniqueidentifier", 0, "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"6F9619FF", "varchar(50)", "uniqueidentifier", 0, "Msg 8169: Conversion failed when converting from a character string to uniqueidentifier."},
		{"6F9619FF-8B86-D011-B42D-00C04FC964FF", "uniqueidentifier", "varbinary(16)", 0, "0xFF19966F868B11D0B42D00C04FC964FF"},
		{"0xFF19966F868B11D0B42D00C04FC964FF", "varbinary(16)", "uniqueidentifier", 0, "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"6F9619FF-8B86-D011-B42D-00C04FC964FF", "uniqueidentifier", "char(20)", 0, "Msg 8170: Insufficient result space to convert uniqueidentifier value to char."},
	}
	for _, test := range tests {
		from, to := typ(t, test.from), typ(t, test.to)
		v, err := value.Convert(val(t, test.text, from), from, to, test.style)
		if got := outcome(v, err); got != test.want {
			t.Errorf("CONVERT(%s, %s %q, %d) = %s\nwant %s", test.to, test.from, test.text, test.style, got, test.want)
		}
	}
}

func TestConvertVariant(t *testing.T) {
	t.Parallel()
	variant := typ(t, "sql_variant")
	v, err := value.Convert(value.OfInt(5), typ(t, "int"), variant, 0)
	if err != nil || v.Kind() != value.Variant {
		t.Fatalf("%v, %v", v, err)
	}
	v, err = value.Convert(v, variant, typ(t, "nvarchar(10)"), 0)
	if err != nil || v.Kind() != value.String || v.Str() != "5" {
		t.Errorf("%v, %v", v, err)
	}
	_, err = value.Convert(value.OfString("x"), typ(t, "nvarchar(max)"), variant, 0)
	if got := outcome(value.Value{}, err); got != "Msg 529: Explicit conversion from data type nvarchar to sql_variant is not allowed." {
		t.Error(got)
	}
}

func TestConvertNull(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"int", "nvarchar(5)", "datetime", "sql_variant", "uniqueidentifier"} {
		if v, err := value.Convert(value.Value{}, typ(t, "int"), typ(t, to), 0); err != nil || !v.IsNull() {
			t.Errorf("NULL as %s: %v, %v", to, v, err)
		}
	}
}
