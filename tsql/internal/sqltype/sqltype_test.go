package sqltype_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// split takes "decimal(10, 2)" apart into the name and the arguments.
func split(text string) (name string, args []string) {
	name, rest, found := strings.Cut(text, "(")
	if !found {
		return name, nil
	}
	for arg := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ",") {
		args = append(args, strings.TrimSpace(arg))
	}
	return name, args
}

// typ reads a type of a test table. "NULL", "unknown", "table t" and "cursor" are the kinds that have no name.
func typ(t *testing.T, text string) sqltype.Type {
	t.Helper()
	switch {
	case text == "NULL":
		return sqltype.Type{Kind: sqltype.Null}
	case text == "unknown":
		return sqltype.Type{}
	case strings.HasPrefix(text, "table "):
		return sqltype.Type{Kind: sqltype.Table, Name: text[len("table "):]}
	}
	name, args := split(text)
	parsed, err := sqltype.Parse(name, args)
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return parsed
}

// check compares a result with the text of the type that is wanted, or with "error: " and a part of the message.
func check(t *testing.T, what string, got sqltype.Type, err error, want string) {
	t.Helper()
	if part, wanted := strings.CutPrefix(want, "error: "); wanted {
		if err == nil {
			t.Errorf("%s = %s, want an error with %q", what, got, part)
		} else if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %q lacks %q", what, err, part)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v, want %s", what, err, want)
	} else if got.String() != want {
		t.Errorf("%s = %s, want %s", what, got, want)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"bit", "bit"},
		{"INT", "int"},
		{"Integer", "int"},
		{"tinyint", "tinyint"},
		{"bigint", "bigint"},
		{"int(11)", "error: leave (11) out"},
		{"decimal", "decimal(18,0)"},
		{"dec(5)", "decimal(5,0)"},
		{"numeric(10, 2)", "decimal(10,2)"},
		{"decimal(38,38)", "decimal(38,38)"},
		{"decimal(39)", "error: from 1 to 38"},
		{"decimal(0)", "error: from 1 to 38"},
		{"decimal(5,6)", "error: at most the precision"},
		{"decimal(1,2,3)", "error: not 3 numbers"},
		{"decimal(5,max)", "error: the scale is not a number"},
		{"decimal(max)", "error: not a number"},
		{"money", "money"},
		{"float", "float"},
		{"float(53)", "float"},
		{"float(25)", "float"},
		{"float(24)", "real"},
		{"float(1)", "real"},
		{"float(0)", "error: from 1 to 53"},
		{"float(54)", "error: from 1 to 53"},
		{"float(max)", "error: not a number"},
		{"float(1,2)", "error: write float(n)"},
		{"double  precision", "float"},
		{"double precision(3)", "error: write float(n)"},
		{"real", "real"},
		{"char", "char(1)"},
		{"character(10)", "char(10)"},
		{"char(8000)", "char(8000)"},
		{"char(8001)", "error: at most 8000; use varchar(max)"},
		{"char(max)", "error: use varchar(max)"},
		{"varchar", "varchar(1)"},
		{"character varying(7)", "varchar(7)"},
		{"char varying(7)", "varchar(7)"},
		{"varchar(MAX)", "varchar(max)"},
		{"varchar(0)", "error: at least 1"},
		{"varchar(-1)", "error: not a number"},
		{"varchar(1,2)", "error: one length"},
		{"nchar(5)", "nchar(5)"},
		{"national character(5)", "nchar(5)"},
		{"national char varying(5)", "nvarchar(5)"},
		{"NATIONAL CHARACTER VARYING(5)", "nvarchar(5)"},
		{"nvarchar(4000)", "nvarchar(4000)"},
		{"nvarchar(4001)", "error: at most 4000; use nvarchar(max)"},
		{"sysname", "nvarchar(128)"},
		{"sysname(5)", "error: nvarchar(128)"},
		{"text", "text"},
		{"national text", "ntext"},
		{"binary", "binary(1)"},
		{"binary varying(9)", "varbinary(9)"},
		{"varbinary(max)", "varbinary(max)"},
		{"image", "image"},
		{"date", "date"},
		{"time", "time(7)"},
		{"time(0)", "time(0)"},
		{"time(max)", "error: not a number"},
		{"time(8)", "error: at most 7"},
		{"datetime2", "datetime2(7)"},
		{"datetime2(3)", "datetime2(3)"},
		{"datetime2(3,4)", "error: not 2 numbers"},
		{"datetimeoffset(2)", "datetimeoffset(2)"},
		{"datetime", "datetime"},
		{"datetime(3)", "error: use datetime2(3)"},
		{"smalldatetime", "smalldatetime"},
		{"timestamp", "rowversion"},
		{"rowversion", "rowversion"},
		{"uniqueidentifier", "uniqueidentifier"},
		{"xml", "xml"},
		{"xml(1)", "error: nothing in parentheses"},
		{"sql_variant", "sql_variant"},
		{"hierarchyid", "hierarchyid"},
		{"geography", "geography"},
		{"cursor", "cursor"},
		{"json", "error: json needs SQL Server 2025"},
		{"table", "error: unknown type"},
		{"null", "error: unknown type"},
		{"", "error: unknown type"},
		{"nvarchr(5)", "error: unknown type nvarchr"},
		{"boolean", "error: unknown type boolean"},
	}
	for _, test := range tests {
		name, args := split(test.text)
		got, err := sqltype.Parse(name, args)
		check(t, "Parse("+test.text+")", got, err, test.want)
		if known := sqltype.Known(name); err == nil && !known {
			t.Errorf("Known(%s) = false", name)
		}
	}
}

// Every name can be parsed, and no name is missing that another one stands for.
func TestNames(t *testing.T) {
	t.Parallel()
	names := sqltype.Names()
	for _, name := range names {
		if _, err := sqltype.Parse(name, nil); err != nil || !sqltype.Known(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"sysname", "int", "integer", "nvarchar", "national text", "timestamp", "rowversion"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing", name)
		}
	}
	if !slices.IsSorted(names) || slices.Contains(names, "table") || sqltype.Known("table") {
		t.Errorf("the names are unsorted, or too many: %s", names)
	}
	if !sqltype.IsSysname("SYSNAME") || sqltype.IsSysname("nvarchar") {
		t.Error("IsSysname")
	}
}

func TestParseCast(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"varchar": "varchar(30)", "nchar": "nchar(30)", "varbinary": "varbinary(30)", "varchar(5)": "varchar(5)",
		"decimal": "decimal(18,0)", "datetime2": "datetime2(7)",
	} {
		name, args := split(text)
		got, err := sqltype.ParseCast(name, args)
		check(t, "ParseCast("+text+")", got, err, want)
	}
}

func TestStringOfSpecialKinds(t *testing.T) {
	t.Parallel()
	for want, given := range map[string]sqltype.Type{
		"unknown":    {},
		"NULL":       {Kind: sqltype.Null},
		"dbo.events": {Kind: sqltype.Table, Name: "dbo.events"},
		"table":      {Kind: sqltype.Table},
	} {
		if got := given.String(); got != want {
			t.Errorf("%#v.String() = %q, want %q", given, got, want)
		}
	}
}

func TestPredicates(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"bit", "numeric scalar"},
		{"int", "integer numeric scalar"},
		{"decimal", "numeric scalar"},
		{"smallmoney", "money numeric scalar"},
		{"real", "approximate numeric scalar"},
		{"char(5)", "character scalar"},
		{"varchar(max)", "character max lob scalar"},
		{"nvarchar(5)", "character national scalar"},
		{"ntext", "character national lob scalar"},
		{"text", "character lob scalar"},
		{"varbinary(max)", "binary max lob scalar"},
		{"image", "binary lob scalar"},
		{"rowversion", "binary scalar"},
		{"time", "temporal scalar"},
		{"datetimeoffset", "temporal scalar"},
		{"xml", "lob scalar"},
		{"uniqueidentifier", "scalar"},
		{"NULL", ""},
		{"unknown", ""},
		{"cursor", ""},
		{"table t", ""},
	}
	for _, test := range tests {
		is := typ(t, test.text)
		var got []string
		for _, p := range []struct {
			name string
			ok   bool
		}{
			{"character", is.IsCharacter()},
			{"national", is.IsNational()},
			{"binary", is.IsBinary()},
			{"integer", is.IsExactInteger()},
			{"money", is.IsMoney()},
			{"approximate", is.IsApproximate()},
			{"numeric", is.IsNumeric()},
			{"temporal", is.IsTemporal()},
			{"max", is.IsMax()},
			{"lob", is.IsLOB()},
			{"scalar", is.IsScalar()},
		} {
			if p.ok {
				got = append(got, p.name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s is %q, want %q", test.text, got, test.want)
		}
	}
}

// The documented order, highest first.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	order := strings.Fields(`hierarchyid sql_variant xml datetimeoffset datetime2 datetime smalldatetime date time float
		real decimal money smallmoney bigint int smallint tinyint bit ntext text image timestamp uniqueidentifier nvarchar
		nchar varchar char varbinary binary NULL`)
	for i := range order[1:] {
		high, low := typ(t, order[i]), typ(t, order[i+1])
		if high.Precedence() >= low.Precedence() {
			t.Errorf("%s has rank %d, %s has %d", high, high.Precedence(), low, low.Precedence())
		}
	}
	if rank := typ(t, "table t").Precedence(); rank != 0 {
		t.Errorf("a table has rank %d", rank)
	}
}

func TestUnion(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, want string }{
		{"int", "int", "int"},
		{"tinyint", "bigint", "bigint"},
		{"bit", "tinyint", "tinyint"},
		{"NULL", "date", "date"},
		{"NULL", "NULL", "NULL"},
		{"unknown", "date", "unknown"},
		{"unknown", "table t", "unknown"},
		{"varchar(5)", "varchar(9)", "varchar(9)"},
		{"char(5)", "char(9)", "char(9)"},
		{"char(5)", "varchar(3)", "varchar(5)"},
		{"varchar(5)", "nvarchar(3)", "nvarchar(5)"},
		{"varchar(8000)", "nvarchar(10)", "nvarchar(4000)"},
		{"varchar(max)", "nvarchar(10)", "nvarchar(max)"},
		{"varchar(max)", "nchar(10)", "nvarchar(max)"},
		{"varchar(max)", "char(10)", "varchar(max)"},
		{"binary(4)", "varbinary(2)", "varbinary(4)"},
		{"varbinary(max)", "binary(2)", "varbinary(max)"},
		{"varbinary(9)", "varchar(2)", "varchar(9)"},
		{"varbinary(9)", "int", "int"},
		{"varchar(9)", "int", "int"},
		{"varchar(9)", "decimal(5,2)", "decimal(5,2)"},
		{"varchar(9)", "uniqueidentifier", "uniqueidentifier"},
		{"varchar(9)", "datetime2(3)", "datetime2(3)"},
		{"varchar(9)", "xml", "xml"},
		{"nvarchar(9)", "text", "text"},
		{"decimal(10,2)", "decimal(5,4)", "decimal(12,4)"},
		{"decimal(10,2)", "int", "decimal(12,2)"},
		{"decimal(5,2)", "bigint", "decimal(21,2)"},
		{"decimal(5,2)", "tinyint", "decimal(5,2)"},
		{"decimal(5,2)", "bit", "decimal(5,2)"},
		{"decimal(5,2)", "money", "decimal(19,4)"},
		{"decimal(38,10)", "decimal(38,0)", "decimal(38,0)"},
		{"decimal(38,10)", "decimal(38,20)", "decimal(38,10)"},
		{"decimal(5,2)", "float", "float"},
		{"real", "float", "float"},
		{"money", "int", "money"},
		{"smallmoney", "money", "money"},
		{"datetime2(3)", "datetime2(7)", "datetime2(7)"},
		{"datetime2(0)", "datetime", "datetime2(3)"},
		{"datetime2(1)", "date", "datetime2(1)"},
		{"datetime2(1)", "smalldatetime", "datetime2(1)"},
		{"datetimeoffset(1)", "datetime2(5)", "datetimeoffset(5)"},
		{"datetime", "smalldatetime", "datetime"},
		{"datetime", "date", "datetime"},
		{"datetime", "time", "datetime"},
		{"datetime", "int", "datetime"},
		{"time(2)", "time(4)", "time(4)"},
		{"date", "int", "error: no conversion"},
		{"date", "time", "error: no conversion"},
		{"uniqueidentifier", "int", "error: no conversion"},
		{"uniqueidentifier", "binary(16)", "uniqueidentifier"},
		{"float", "varbinary(8)", "error: no conversion"},
		{"date", "varbinary(3)", "error: only by CAST"},
		{"int", "rowversion", "int"},
		{"rowversion", "varbinary(8)", "rowversion"},
		{"sql_variant", "int", "sql_variant"},
		{"sql_variant", "nvarchar(max)", "error: no conversion"},
		{"xml", "int", "error: no conversion"},
		{"geometry", "geography", "error: no conversion"},
		{"hierarchyid", "varchar(9)", "hierarchyid"},
		{"table t", "int", "error: not a value"},
		{"int", "cursor", "error: not a value"},
	}
	for _, test := range tests {
		a, b := typ(t, test.a), typ(t, test.b)
		got, err := sqltype.Union(a, b)
		check(t, "Union("+test.a+", "+test.b+")", got, err, test.want)
		// The order of the operands never matters.
		got, err = sqltype.Union(b, a)
		check(t, "Union("+test.b+", "+test.a+")", got, err, test.want)
	}
}

func TestArithmetic(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, op, b, want string }{
		// Integers.
		{"int", "+", "int", "int"},
		{"tinyint", "/", "tinyint", "tinyint"},
		{"int", "/", "bigint", "bigint"},
		{"smallint", "%", "int", "int"},
		{"bit", "+", "int", "int"},
		{"bit", "+", "bit", "error: bits are not numbers"},
		{"int", "+", "NULL", "int"},
		{"NULL", "*", "NULL", "int"},
		{"bigint", "-", "NULL", "bigint"},
		{"unknown", "+", "xml", "unknown"},
		{"int", "**", "int", "error: unknown operator"},
		// Decimals, by the documented formulas.
		{"decimal(10,2)", "+", "decimal(10,2)", "decimal(11,2)"},
		{"decimal(10,2)", "-", "decimal(5,4)", "decimal(13,4)"},
		{"decimal(10,2)", "*", "decimal(5,4)", "decimal(16,6)"},
		{"decimal(10,2)", "/", "decimal(5,4)", "decimal(20,8)"},
		{"decimal(10,2)", "/", "decimal(3,0)", "decimal(14,6)"},
		{"decimal(10,2)", "%", "decimal(5,4)", "decimal(5,4)"},
		{"decimal(10,2)", "%", "decimal(5,1)", "decimal(6,2)"},
		{"decimal(5,2)", "+", "int", "decimal(13,2)"},
		{"decimal(5,2)", "*", "bigint", "decimal(25,2)"},
		{"decimal(5,2)", "+", "tinyint", "decimal(6,2)"},
		{"decimal(5,2)", "+", "smallint", "decimal(8,2)"},
		{"decimal(5,2)", "+", "bit", "decimal(6,2)"},
		{"decimal(5,2)", "+", "money", "decimal(20,4)"},
		{"decimal(5,2)", "*", "smallmoney", "decimal(16,6)"},
		{"decimal(2,1)", "/", "decimal(1,0)", "decimal(7,6)"},
		{"decimal(5,2)", "+", "varchar(9)", "decimal(6,2)"},
		{"varchar(9)", "*", "decimal(5,2)", "decimal(11,4)"},
		{"decimal(5,2)", "+", "NULL", "decimal(13,2)"},
		// Decimals beyond 38 digits.
		{"decimal(38,10)", "+", "decimal(38,10)", "decimal(38,10)"},
		{"decimal(38,0)", "+", "decimal(38,10)", "decimal(38,0)"},
		{"decimal(38,38)", "+", "decimal(38,0)", "decimal(38,0)"},
		{"decimal(30,20)", "-", "decimal(30,2)", "decimal(38,10)"},
		{"decimal(38,10)", "*", "decimal(38,10)", "decimal(38,6)"},
		{"decimal(38,0)", "*", "decimal(38,0)", "decimal(38,0)"},
		{"decimal(38,3)", "*", "decimal(38,2)", "decimal(38,5)"},
		{"decimal(30,15)", "*", "decimal(30,15)", "decimal(38,7)"},
		{"decimal(38,9)", "/", "decimal(38,9)", "decimal(38,6)"},
		{"decimal(20,10)", "*", "decimal(20,10)", "decimal(38,17)"},
		{"decimal(18,6)", "/", "decimal(18,6)", "decimal(38,20)"},
		{"decimal(38,20)", "/", "decimal(38,2)", "decimal(38,18)"},
		{"decimal(38,4)", "%", "decimal(38,20)", "decimal(38,20)"},
		// Money.
		{"money", "*", "int", "money"},
		{"smallmoney", "+", "smallmoney", "smallmoney"},
		{"smallmoney", "/", "money", "money"},
		{"money", "%", "int", "money"},
		{"money", "+", "varchar(9)", "money"},
		// Floating point.
		{"real", "+", "real", "real"},
		{"real", "*", "float", "float"},
		{"float", "+", "decimal(38,10)", "float"},
		{"real", "-", "int", "real"},
		{"float", "%", "int", "error: doesn't take real or float"},
		{"float", "+", "varbinary(8)", "error: no conversion"},
		// Dates.
		{"datetime", "+", "int", "datetime"},
		{"float", "+", "datetime", "datetime"},
		{"smalldatetime", "-", "int", "smalldatetime"},
		{"datetime", "-", "datetime", "datetime"},
		{"datetime", "-", "smalldatetime", "datetime"},
		{"datetime", "+", "varchar(9)", "datetime"},
		{"datetime", "+", "NULL", "datetime"},
		{"datetime", "*", "int", "error: use DATEADD"},
		{"datetime2", "+", "int", "error: use DATEADD"},
		{"date", "-", "date", "error: use DATEADD or DATEDIFF"},
		{"int", "+", "time", "error: can't be an operand"},
		// Strings.
		{"varchar(5)", "+", "varchar(9)", "varchar(14)"},
		{"char(5)", "+", "char(9)", "char(14)"},
		{"char(5)", "+", "varchar(9)", "varchar(14)"},
		{"varchar(5)", "+", "nvarchar(9)", "nvarchar(14)"},
		{"varchar(8000)", "+", "varchar(9)", "varchar(8000)"},
		{"nvarchar(4000)", "+", "nvarchar(9)", "nvarchar(4000)"},
		{"varchar(8000)", "+", "nvarchar(9)", "nvarchar(4000)"},
		{"varchar(max)", "+", "varchar(9)", "varchar(max)"},
		{"nvarchar(9)", "+", "varchar(max)", "nvarchar(max)"},
		{"varchar(5)", "||", "varchar(9)", "varchar(14)"},
		{"varchar(5)", "+", "NULL", "varchar(6)"},
		{"NULL", "||", "nvarchar(max)", "nvarchar(max)"},
		{"varchar(5)", "+", "int", "int"},
		{"varchar(5)", "-", "int", "int"},
		{"varchar(5)", "-", "varchar(5)", "error: neither side is a number"},
		{"varchar(5)", "||", "int", "error: CAST one side"},
		{"varchar(5)", "+", "uniqueidentifier", "error: CAST it first"},
		{"varchar(5)", "+", "varbinary(5)", "error: neither side"},
		{"varchar(5)", "+", "text", "error: CAST it first"},
		{"varchar(5)", "+", "date", "error: can't be an operand"},
		// Binaries.
		{"binary(5)", "+", "varbinary(9)", "varbinary(14)"},
		{"varbinary(8000)", "+", "varbinary(9)", "varbinary(8000)"},
		{"varbinary(max)", "||", "varbinary(9)", "varbinary(max)"},
		{"varbinary(4)", "+", "int", "int"},
		{"varbinary(4)", "*", "varbinary(4)", "error: neither side is a number"},
		{"rowversion", "+", "bigint", "bigint"},
		// Bits.
		{"int", "&", "bigint", "bigint"},
		{"bit", "|", "bit", "bit"},
		{"int", "^", "varbinary(4)", "int"},
		{"int", "&", "NULL", "int"},
		{"varbinary(4)", "&", "varbinary(4)", "error: at most one is binary"},
		{"decimal(5,2)", "&", "int", "error: the operands are integers"},
		{"varchar(5)", "|", "int", "int"},
		{"varchar(5)", "|", "varchar(5)", "error: the operands are integers"},
		{"bigint", "<<", "int", "bigint"},
		{"varbinary(4)", ">>", "int", "varbinary(4)"},
		{"decimal(5,0)", "<<", "int", "error: shift an integer"},
		{"int", "<<", "varchar(4)", "error: shift an integer"},
		// No operands at all.
		{"sql_variant", "+", "int", "error: CAST it first"},
		{"xml", "+", "xml", "error: can't be an operand of + (add)"},
		{"table t", "+", "int", "error: can't be an operand"},
	}
	for _, test := range tests {
		got, err := sqltype.Arithmetic(test.op, typ(t, test.a), typ(t, test.b))
		check(t, test.a+" "+test.op+" "+test.b, got, err, test.want)
	}
}

func TestUnary(t *testing.T) {
	t.Parallel()
	tests := []struct{ op, a, want string }{
		{"-", "int", "int"},
		{"-", "tinyint", "smallint"},
		{"-", "decimal(5,2)", "decimal(5,2)"},
		{"-", "NULL", "int"},
		{"-", "bit", "error: unary -"},
		{"-", "varchar(5)", "error: unary -"},
		{"-", "datetime", "error: unary -"},
		{"+", "varchar(5)", "varchar(5)"},
		{"+", "bit", "bit"},
		{"+", "date", "error: unary +"},
		{"~", "tinyint", "tinyint"},
		{"~", "bit", "bit"},
		{"~", "decimal(5,0)", "error: unary ~"},
		{"~", "unknown", "unknown"},
		{"!", "int", "error: unknown operator"},
	}
	for _, test := range tests {
		got, err := sqltype.Unary(test.op, typ(t, test.a))
		check(t, test.op+test.a, got, err, test.want)
	}
}
