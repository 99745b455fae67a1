package value_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

func TestArithmetic(t *testing.T) {
	t.Parallel()
	const (
		overflow = "Msg 8115: Arithmetic overflow error converting expression to data type "
		divide   = "Msg 8134: Divide by zero error encountered."
	)
	tests := []struct{ a, ta, op, b, tb, want string }{
		{"7", "int", "+", "5", "int", "12"},
		{"2147483647", "int", "+", "1", "int", overflow + "int."},
		{"2147483647", "int", "+", "1", "bigint", "2147483648"},
		{"9223372036854775807", "bigint", "+", "1", "bigint", overflow + "bigint."},
		{"-9223372036854775808", "bigint", "-", "1", "bigint", overflow + "bigint."},
		{"9223372036854775807", "bigint", "*", "2", "bigint", overflow + "bigint."},
		{"-9223372036854775808", "bigint", "/", "-1", "bigint", overflow + "bigint."},
		{"-9223372036854775808", "bigint", "%", "-1", "bigint", "0"},
		{"1", "tinyint", "-", "2", "tinyint", overflow + "tinyint."},
		{"7", "int", "/", "2", "int", "3"},
		{"-7", "int", "/", "2", "int", "-3"},
		{"-7", "int", "%", "3", "int", "-1"},
		{"1", "int", "/", "0", "int", divide},
		{"1", "int", "%", "0", "int", divide},
		{"NULL", "int", "/", "0", "int", "NULL"},
		{"1", "int", "+", "NULL", "int", "NULL"},
		{"5", "varchar(5)", "+", "1", "int", "6"},
		{"x", "varchar(5)", "+", "1", "int", "Msg 245: Conversion failed when converting the varchar value 'x' to data type int."},
		{"6", "int", "&", "3", "int", "2"},
		{"6", "int", "|", "3", "int", "7"},
		{"6", "int", "^", "3", "int", "5"},
		{"255", "int", "&", "0x0F", "varbinary(1)", "15"},
		{"1", "bit", "^", "1", "bit", "0"},
		{"1", "int", "<<", "31", "int", "-2147483648"},
		{"-1", "int", ">>", "31", "int", "1"},
		{"1", "int", "<<", "32", "int", "0"},
		{"4", "int", "<<", "-1", "int", "2"},
		// Decimals: sums and products are rounded where their type has too few digits, quotients cut off.
		{"1.10", "decimal(3,2)", "+", "2.205", "decimal(4,3)", "3.305"},
		{"2.0", "decimal(2,1)", "/", "3", "decimal(1,0)", "0.666666"},
		{"1", "decimal(10,0)", "/", "3", "int", "0.33333333333"},
		{"1.5", "decimal(2,1)", "*", "1.5", "decimal(2,1)", "2.25"},
		{"1.5", "decimal(2,1)", "%", "0.4", "decimal(2,1)", "0.3"},
		{"-1.5", "decimal(2,1)", "%", "0.4", "decimal(2,1)", "-0.3"},
		{"1", "decimal(2,1)", "/", "0", "int", divide},
		{"1", "decimal(2,1)", "%", "0.0", "decimal(2,1)", divide},
		{"99999999999999999999999999999999999999", "decimal(38,0)", "+", "1", "decimal(38,0)", overflow + "numeric."},
		{"0.0000000005", "decimal(38,10)", "*", "1000", "decimal(38,10)", "0.000001"},
		{"12345678901234567890.5", "decimal(38,10)", "*", "2", "decimal(38,10)", "24691357802469135781.000000"},
		{"1.5", "decimal(2,1)", "+", "1", "int", "2.5"},
		{"1.5", "decimal(2,1)", "+", "2.25", "varchar(5)", "3.8"},
		// Money.
		{"1.5", "money", "+", "1", "int", "2.5000"},
		{"2", "money", "/", "3", "int", "0.6666"},
		{"1.5", "money", "*", "1.5", "money", "2.2500"},
		{"0.0001", "money", "*", "0.5", "money", "0.0001"},
		{"922337203685477.5807", "money", "+", "0.0001", "money", overflow + "money."},
		{"1", "money", "/", "0", "money", divide},
		// Floats.
		{"1", "float", "/", "4", "int", "0.25"},
		{"1e308", "float", "*", "10", "float", overflow + "float."},
		{"1", "float", "/", "0", "float", divide},
		{"16777216", "real", "+", "1", "real", "1.6777216e+07"},
		// Text and binaries.
		{"ab", "varchar(5)", "+", "cd", "nvarchar(5)", "abcd"},
		{"ab", "char(4)", "+", "cd", "varchar(5)", "ab  cd"},
		{"a", "varchar(5)", "+", "NULL", "varchar(5)", "NULL"},
		{"0x01", "varbinary(1)", "+", "0x02", "varbinary(1)", "0x0102"},
		{"0x0180", "varbinary(2)", "<<", "1", "int", "0x0300"},
		// A datetime is a number of days.
		{"2024-02-28 12:00", "datetime", "+", "1.5", "decimal(2,1)", "2024-03-01 00:00:00.000"},
		{"2024-03-01", "datetime", "-", "1", "int", "2024-02-29 00:00:00.000"},
		{"2024-03-01", "datetime", "-", "2024-02-29", "datetime", "1900-01-02 00:00:00.000"},
		{"9999-12-31", "datetime", "+", "1", "int", "Msg 517: Adding a value to a 'datetime' column caused an overflow."},
	}
	for _, test := range tests {
		ta, tb := typ(t, test.ta), typ(t, test.tb)
		result, err := sqltype.Arithmetic(test.op, ta.Type, tb.Type)
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.Arithmetic(test.op, val(t, test.a, ta), val(t, test.b, tb), ta, tb, value.Type{Type: result})
		if got := outcome(v, err); got != test.want {
			t.Errorf("%s %s %s (%s and %s, %s) = %s, want %s", test.a, test.op, test.b, test.ta, test.tb, result, got, test.want)
		}
	}
}

func TestConcatenationIsCut(t *testing.T) {
	t.Parallel()
	long := value.OfString(string(make([]byte, 5000)))
	vc := typ(t, "varchar(5000)")
	v, err := value.Arithmetic("+", long, long, vc, vc, typ(t, "varchar(8000)"))
	if err != nil || len(v.Str()) != 8000 {
		t.Errorf("%d characters, %v", len(v.Str()), err)
	}
	high, low := value.OfString("\xED\xA0\xBD"), value.OfString("\xED\xB8\x80")
	n := typ(t, "nvarchar(1)")
	if v, err = value.Arithmetic("+", high, low, n, n, typ(t, "nvarchar(2)")); err != nil || v.Str() != "😀" {
		t.Errorf("two halves make %q, %v", v.Str(), err)
	}
}

func TestUnary(t *testing.T) {
	t.Parallel()
	tests := []struct{ op, text, typ, want string }{
		{"-", "5", "int", "-5"},
		{"-", "5", "tinyint", "-5"},
		{"-", "-2147483648", "int", "Msg 8115: Arithmetic overflow error converting expression to data type int."},
		{"-", "1.5", "decimal(2,1)", "-1.5"},
		{"-", "1.5", "money", "-1.5000"},
		{"-", "0", "float", "0"},
		{"-", "NULL", "int", "NULL"},
		{"~", "5", "int", "-6"},
		{"~", "5", "tinyint", "250"},
		{"~", "1", "bit", "0"},
	}
	for _, test := range tests {
		typ := typ(t, test.typ)
		result, err := sqltype.Unary(test.op, typ.Type)
		if err != nil {
			t.Fatal(err)
		}
		v := val(t, test.text, typ)
		if test.op == "-" {
			v, err = value.Negate(v, typ, value.Type{Type: result})
		} else {
			v, err = value.BitNot(v, typ)
		}
		if got := outcome(v, err); got != test.want {
			t.Errorf("%s%s (%s) = %s, want %s", test.op, test.text, test.typ, got, test.want)
		}
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind       syntax.LiteralKind
		text       string
		typ, value string
	}{
		{syntax.NullLiteral, "NULL", "NULL", "NULL"},
		{syntax.IntLiteral, "007", "int", "7"},
		{syntax.IntLiteral, "2147483648", "decimal(10,0)", "2147483648"},
		{syntax.IntLiteral, "123456789012345678901234567890123456789", "", "Msg 1007: The number '123456789012345678901234567890123456789' is out of the range for numeric representation (maximum precision 38)."},
		{syntax.DecimalLiteral, "1.50", "decimal(3,2)", "1.50"},
		{syntax.DecimalLiteral, ".5", "decimal(1,1)", "0.5"},
		{syntax.DecimalLiteral, "5.", "decimal(1,0)", "5"},
		{syntax.FloatLiteral, "1e3", "float", "1000"},
		{syntax.FloatLiteral, "1e400", "", "Msg 168: The floating point value '1e400' is out of the range of computer representation (8 bytes)."},
		{syntax.MoneyLiteral, "$1.5", "money", "1.5000"},
		{syntax.StringLiteral, "aЖ", "varchar(2)", "a?"},
		{syntax.NStringLiteral, "aЖ", "nvarchar(2)", "aЖ"},
		{syntax.NStringLiteral, "", "nvarchar(1)", ""},
		{syntax.BinaryLiteral, "0xABC", "varbinary(2)", "0x0ABC"},
		{syntax.BinaryLiteral, "0x", "varbinary(1)", "0x"},
	}
	for _, test := range tests {
		v, typ, err := value.Literal(&syntax.Literal{Kind: test.kind, Value: test.text})
		if got := outcome(v, err); got != test.value || err == nil && typ.String() != test.typ {
			t.Errorf("%s is %s of %s, want %s of %s", test.text, got, typ, test.value, test.typ)
		}
	}
}
