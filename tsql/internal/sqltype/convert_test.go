package sqltype_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The matrix of Microsoft's documentation of CAST and CONVERT: i is implicit, x explicit, . neither. Both tables have
// the same order of types.
//
//nolint:dupword // letters of a matrix repeat
const documented = `
             bit int dec mon flt chr nch txt ntx bin img dat tim dt  dt2 uid rv  xml var hid
bit          i   i   i   i   i   i   i   .   .   i   .   .   .   i   .   .   i   .   i   .
int          i   i   i   i   i   i   i   .   .   i   .   .   .   i   .   .   i   .   i   .
decimal(9,2) i   i   i   i   i   i   i   .   .   i   .   .   .   i   .   .   i   .   i   .
money        i   i   i   i   i   i   i   .   .   i   .   .   .   i   .   .   i   .   i   .
float        i   i   i   i   i   i   i   .   .   i   .   .   .   i   .   .   .   .   i   .
varchar(9)   i   i   i   i   i   i   i   i   i   x   i   i   i   i   i   i   x   i   i   i
nvarchar(9)  i   i   i   i   i   i   i   i   i   x   .   i   i   i   i   i   x   i   i   i
text         .   .   .   .   .   i   i   i   i   .   .   .   .   .   .   .   .   i   .   .
ntext        .   .   .   .   .   i   i   i   i   .   .   .   .   .   .   .   .   i   .   .
varbinary(9) i   i   i   i   .   i   i   .   .   i   i   x   x   i   x   i   i   i   i   x
image        .   .   .   .   .   .   .   .   .   i   i   .   .   .   .   .   i   .   .   .
date         .   .   .   .   .   i   i   .   .   x   .   i   .   i   i   .   .   .   i   .
time(7)      .   .   .   .   .   i   i   .   .   x   .   .   i   i   i   .   .   .   i   .
datetime     x   x   x   x   x   i   i   .   .   x   .   i   i   i   i   .   x   .   i   .
datetime2(7) .   .   .   .   .   i   i   .   .   x   .   i   i   i   i   .   .   .   i   .
uniqueidentifier . . .   .   .   i   i   .   .   i   .   .   .   .   .   i   .   .   i   .
rowversion   i   i   i   i   .   i   .   .   .   i   i   .   .   i   .   .   i   .   .   .
xml          .   .   .   .   .   x   x   .   .   x   .   .   .   .   .   .   .   i   .   .
sql_variant  x   x   x   x   x   x   x   .   .   x   .   x   x   x   x   x   .   .   i   .
hierarchyid  .   .   .   .   .   x   x   .   .   x   .   .   .   .   .   .   .   .   .   i
`

func TestConversionMatrix(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(documented), "\n")[1:]
	types := make([]sqltype.Type, len(lines))
	for i, line := range lines {
		types[i] = typ(t, strings.Fields(line)[0])
	}
	for i, line := range lines {
		for j, want := range strings.Fields(line)[1:] {
			from, to := types[i], types[j]
			got := "i"
			if err := sqltype.Assignable(from, to); err != nil {
				got = "x"
				if strings.Contains(err.Error(), "CAST(… AS "+to.String()+")") != (sqltype.Castable(from, to) == nil) {
					t.Errorf("%s to %s: the advice %q is not what Castable says", from, to, err)
				}
			}
			if sqltype.Castable(from, to) != nil {
				got = "."
			}
			if got != want {
				t.Errorf("%s to %s: %s, want %s", from, to, got, want)
			}
		}
	}
}

func TestAssignableOutsideTheMatrix(t *testing.T) {
	t.Parallel()
	tests := []struct{ from, to, want string }{
		{"NULL", "date", ""},
		{"unknown", "table t", ""},
		{"int", "unknown", ""},
		{"table t", "table t", ""},
		{"table t", "table u", "t is not u"},
		{"int", "table t", "int is not t"},
		{"cursor", "cursor", ""},
		{"int", "cursor", "int is not cursor"},
		{"geometry", "geometry", ""},
		{"geometry", "geography", "doesn't convert"},
		{"nvarchar(max)", "sql_variant", "doesn't convert"},
		{"nvarchar(max)", "nvarchar(5)", ""},
		{"datetime", "int", "write CAST(… AS int)"},
	}
	for _, test := range tests {
		err := sqltype.Assignable(typ(t, test.from), typ(t, test.to))
		checkError(t, test.from+" to "+test.to, err, test.want)
	}
	if err := sqltype.Castable(typ(t, "xml"), typ(t, "int")); err == nil || !strings.Contains(err.Error(), "not even by CAST") {
		t.Errorf("xml to int: %v", err)
	}
}

// checkError compares an error with a part of its message; "" wants none.
func checkError(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: error %v lacks %q", what, err, want)
	}
}

func TestComparable(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, want string }{
		{"int", "bigint", ""},
		{"int", "varchar(5)", ""},
		{"NULL", "int", ""},
		{"unknown", "int", ""},
		{"rowversion", "varbinary(8)", ""},
		{"uniqueidentifier", "varchar(36)", ""},
		{"uniqueidentifier", "int", "don't mix"},
		{"datetime", "int", ""},
		{"date", "int", "don't mix"},
		{"date", "datetime2(3)", ""},
		{"time", "time(3)", ""},
		{"time", "varchar(8)", ""},
		{"time", "datetime", "can't be compared with datetime"},
		{"text", "varchar(5)", "CAST it to varchar(max)"},
		{"ntext", "ntext", "CAST it to nvarchar(max)"},
		{"xml", "xml", "CAST it to nvarchar(max)"},
		{"image", "image", "CAST it to varbinary(max)"},
		{"geometry", "geometry", "can't be compared"},
		{"int", "table t", "can't be compared"},
		{"hierarchyid", "hierarchyid", ""},
		{"sql_variant", "int", ""},
	}
	for _, test := range tests {
		a, b := typ(t, test.a), typ(t, test.b)
		checkError(t, test.a+" = "+test.b, sqltype.Comparable(a, b), test.want)
		if (sqltype.Comparable(a, b) == nil) != (sqltype.Comparable(b, a) == nil) {
			t.Errorf("%s = %s depends on the order", a, b)
		}
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	integer, decimal, binary := sqltype.IntLiteral, sqltype.DecimalLiteral, sqltype.BinaryLiteral
	tests := []struct {
		read       func(string) (sqltype.Type, error)
		text, want string
	}{
		{integer, "0", "int"},
		{integer, "2147483647", "int"},
		{integer, "2147483648", "decimal(10,0)"},
		{integer, "0000000000001", "int"},
		{integer, "00000000002147483648", "decimal(10,0)"},
		{integer, "9223372036854775808", "decimal(19,0)"},
		{integer, strings.Repeat("9", 38), "decimal(38,0)"},
		{integer, strings.Repeat("9", 39), "error: 39 digits"},
		{integer, "-1", "error: not an integer"},
		{integer, "", "error: not an integer"},
		{sqltype.IntLiteralBesideDecimal, "3", "decimal(1,0)"},
		{sqltype.IntLiteralBesideDecimal, "0", "decimal(1,0)"},
		{sqltype.IntLiteralBesideDecimal, "00120", "decimal(3,0)"},
		{sqltype.IntLiteralBesideDecimal, "x", "error: not an integer"},
		{decimal, "12.345", "decimal(5,3)"},
		{decimal, "1.50", "decimal(3,2)"},
		{decimal, "2.", "decimal(1,0)"},
		{decimal, ".5", "decimal(1,1)"},
		{decimal, "0.5", "decimal(1,1)"},
		{decimal, "0.05", "decimal(2,2)"},
		{decimal, "0.", "decimal(1,0)"},
		{decimal, "744.0", "decimal(4,1)"},
		{decimal, "1." + strings.Repeat("0", 38), "error: 39 digits"},
		{decimal, ".", "error: not a decimal"},
		{decimal, "5", "error: not a decimal"},
		{decimal, "1.5e", "error: not a decimal"},
		{binary, "0x", "varbinary(1)"},
		{binary, "0xFF", "varbinary(1)"},
		{binary, "0XABC", "varbinary(2)"},
		{binary, "0x" + strings.Repeat("00", 8000), "varbinary(8000)"},
		{binary, "0x" + strings.Repeat("00", 8001), "varbinary(max)"},
		{binary, "0xG", "error: not a binary"},
		{binary, "FF", "error: not a binary"},
	}
	for _, test := range tests {
		got, err := test.read(test.text)
		check(t, test.text, got, err, test.want)
	}
	if got := sqltype.FloatLiteral().String() + " " + sqltype.MoneyLiteral().String(); got != "float money" {
		t.Errorf("float and money literals: %s", got)
	}
}

func TestStringLiteral(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value          string
		plain, unicode string
	}{
		{"", "varchar(1)", "nvarchar(1)"},
		{"abc", "varchar(3)", "nvarchar(3)"},
		{"é", "varchar(1)", "nvarchar(1)"},
		{"𝄞", "varchar(2)", "nvarchar(2)"},
		{strings.Repeat("x", 4000), "varchar(4000)", "nvarchar(4000)"},
		{strings.Repeat("x", 4001), "varchar(4001)", "nvarchar(max)"},
		{strings.Repeat("x", 8001), "varchar(max)", "nvarchar(max)"},
	}
	for _, test := range tests {
		check(t, "'…'", sqltype.StringLiteral(test.value, false), nil, test.plain)
		check(t, "N'…'", sqltype.StringLiteral(test.value, true), nil, test.unicode)
	}
}

func TestAggregates(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, sum, avg, extreme, statistic, joined string }{
		{"tinyint", "int", "int", "tinyint", "float", "nvarchar(4000)"},
		{"smallint", "int", "int", "smallint", "float", "nvarchar(4000)"},
		{"int", "int", "int", "int", "float", "nvarchar(4000)"},
		{"bigint", "bigint", "bigint", "bigint", "float", "nvarchar(4000)"},
		{"decimal(10,2)", "decimal(38,2)", "decimal(38,6)", "decimal(10,2)", "float", "nvarchar(4000)"},
		{"decimal(10,8)", "decimal(38,8)", "decimal(38,8)", "decimal(10,8)", "float", "nvarchar(4000)"},
		{"smallmoney", "money", "money", "smallmoney", "float", "nvarchar(4000)"},
		{"real", "float", "float", "real", "float", "nvarchar(4000)"},
		{"bit", "error: CAST it to int", "error: CAST it to int", "error: CAST it to tinyint", "error: take numbers", "nvarchar(4000)"},
		{"varchar(9)", "error: SUM takes numbers", "error: AVG takes numbers", "varchar(9)", "error: take numbers", "varchar(8000)"},
		{"nchar(9)", "error: not nchar(9)", "error: not nchar(9)", "nchar(9)", "error: take numbers", "nvarchar(4000)"},
		{"nvarchar(max)", "error: takes", "error: takes", "nvarchar(max)", "error: take", "nvarchar(max)"},
		{"date", "error: takes", "error: takes", "date", "error: take", "nvarchar(4000)"},
		{"uniqueidentifier", "error: takes", "error: takes", "uniqueidentifier", "error: take", "nvarchar(4000)"},
		{"xml", "error: takes", "error: takes", "error: don't take xml", "error: take", "error: CAST it"},
		{"NULL", "error: not NULL", "error: not NULL", "error: don't take NULL", "error: take", "error: CAST it"},
		{"varbinary(9)", "error: takes", "error: takes", "varbinary(9)", "error: take", "error: CAST it"},
		{"unknown", "unknown", "unknown", "unknown", "unknown", "unknown"},
	}
	for _, test := range tests {
		x := typ(t, test.text)
		for _, call := range []struct {
			name string
			f    func(sqltype.Type) (sqltype.Type, error)
			want string
		}{
			{"SUM", sqltype.Sum, test.sum},
			{"AVG", sqltype.Avg, test.avg},
			{"MIN", sqltype.MinMax, test.extreme},
			{"STDEV", sqltype.Statistic, test.statistic},
			{"STRING_AGG", sqltype.StringAgg, test.joined},
		} {
			got, err := call.f(x)
			check(t, call.name+"("+test.text+")", got, err, call.want)
		}
	}
}
