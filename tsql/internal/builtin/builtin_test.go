package builtin_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// TestType types calls whose arguments are literals and NULL alone, as a caller without a catalog can. Package analyze
// tests the rest on expressions.
func TestType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, want string }{
		{`LEN('abc')`, `int`},
		{`LEFT('abcdef', 3)`, `varchar(3)`},
		{`LEFT(N'abcdef', (3))`, `nvarchar(3)`},
		{`COALESCE(NULL, N'a')`, `nvarchar(1)`},
		{`COALESCE(NULL, NULL)`, `COALESCE: at least one value must have a type: CAST a NULL`},
		{`LOWER(NULL)`, `varchar(1) null`},
		{`JSON_VALUE('{}', '$.a')`, `nvarchar(4000) null`},
		{`DATEADD(day, 1, '20200101')`, `datetime`},
		{`DATEADD(isowk, 1, '20200101')`, `DATEADD doesn't count in isowk`},
		{`CHAR(65)`, `char(1)`},
		{`SUM(1)`, `int null`},
		{`SUM(1) OVER ()`, `int`},
		{`COUNT(1)`, `int`},
		{`LAG(1, 1, 0) OVER (ORDER BY x)`, `int`},
		{`LAG(1) OVER (ORDER BY x)`, `int null`},
		{`SUM(NULL)`, `SUM: NULL has no type: CAST it`},
		{`PERCENTILE_DISC(1.5) OVER ()`, `PERCENTILE_DISC: has the type of the ordered values`},
		{`LEN()`, `takes 1 argument`},
		{`IIF(1 = 1, 2, 3, 4)`, `takes 3 arguments`},
		{`ROUND(1)`, `takes 2 to 3 arguments`},
		{`CONCAT()`, `takes at least 2 arguments`},
		{`dbo.LEN('abc')`, `no built-in function`},
		{`FROB('abc')`, `no built-in function`},
	} {
		t.Run(c.call, func(t *testing.T) {
			t.Parallel()
			if got := describe(t, c.call); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// describe returns the type of a call in SELECT … without FROM, or what is wrong with it.
func describe(t *testing.T, text string) string {
	t.Helper()
	script, found := syntax.Parse(diag.NewFile("q.sql", "SELECT "+text))
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	var call *syntax.Call
	for call = range syntax.All[*syntax.Call](script.Batches[0].Stmts[0]) {
		break
	}
	f, ok := builtin.Lookup(call)
	if !ok {
		return "no built-in function"
	}
	kinds, ok := f.Kinds(len(call.Args))
	if !ok {
		return "takes " + f.Takes()
	}
	known := &builtin.Call{Syntax: call, Name: strings.ToUpper(call.Name.Parts[0].Value)}
	for i, x := range call.Args {
		known.Args = append(known.Args, argument(t, kinds[i], x))
	}
	result, err := f.Type(known)
	if err != nil {
		return err.Error()
	}
	if f.Nullable(known, builtin.Rows{Over: call.Over != nil, Empty: true}) {
		return result.String() + " null"
	}
	return result.String()
}

func argument(t *testing.T, kind builtin.Kind, x syntax.Expr) builtin.Argument {
	t.Helper()
	literal, ok := syntax.Unparen(x).(*syntax.Literal)
	if !ok {
		return builtin.Argument{Type: sqltype.Type{Kind: sqltype.Int}}
	}
	result := builtin.Argument{Literal: literal}
	switch literal.Kind {
	case syntax.NullLiteral:
		result.Type, result.Nullable = sqltype.Type{Kind: sqltype.Null}, true
	case syntax.StringLiteral, syntax.NStringLiteral:
		result.Type = sqltype.StringLiteral(literal.Value, literal.Kind == syntax.NStringLiteral)
	case syntax.IntLiteral:
		result.Type, _ = sqltype.IntLiteral(literal.Value)
	default:
		result.Type, _ = sqltype.DecimalLiteral(literal.Value)
	}
	if !kind.Accepts(result.Type) {
		t.Errorf("%s is refused where it takes %s", literal.Value, kind.Wants())
	}
	return result
}

// TestKinds says which types a kind of argument accepts.
func TestKinds(t *testing.T) {
	t.Parallel()
	integer, date := sqltype.Type{Kind: sqltype.Int}, sqltype.Type{Kind: sqltype.Date}
	document := sqltype.Type{Kind: sqltype.XML}
	for _, c := range []struct {
		kind builtin.Kind
		t    sqltype.Type
		want bool
	}{
		{builtin.Anything, document, true},
		{builtin.Text, integer, true},
		{builtin.Text, document, false},
		{builtin.Number, date, false},
		{builtin.Whole, integer, true},
		{builtin.Date, integer, true},
		{builtin.Date, document, false},
		{builtin.TextOrBinary, integer, false},
		{builtin.TextOrBinary, sqltype.Type{Kind: sqltype.VarBinary, Length: 5}, true},
		{builtin.TextOrBinary, sqltype.Type{Kind: sqltype.Null}, true},
	} {
		if got := c.kind.Accepts(c.t); got != c.want {
			t.Errorf("%c accepts %s: %v", c.kind, c.t, got)
		}
	}
}

// TestPartOf reads the words of dates, and prints each part as its full word.
func TestPartOf(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]builtin.Part{
		"DAY": builtin.Day, "dw": builtin.Weekday, "n": builtin.Minute, "isoww": builtin.ISOWeek, "y": builtin.DayOfYear,
		"tz": builtin.Offset, "sunday": builtin.NoPart,
	} {
		got := builtin.PartOf(&syntax.ColumnRef{Parts: []syntax.Ident{{Value: word}}})
		if got != want {
			t.Errorf("%s is %s, not %s", word, got, want)
		}
	}
	if got := builtin.Millisecond.String(); got != "millisecond" {
		t.Errorf("a millisecond prints as %s", got)
	}
}

// TestVariables has all system variables known by the name that lists them.
func TestVariables(t *testing.T) {
	t.Parallel()
	for _, name := range builtin.Variables() {
		if v, ok := builtin.Variable(name); !ok || !v.Type.IsScalar() {
			t.Errorf("%s is %v, known %v", name, v.Type, ok)
		}
	}
	if v, ok := builtin.Variable("@@IDENTITY"); !ok || !v.Nullable || v.Type.String() != "decimal(38,0)" {
		t.Errorf("@@IDENTITY is %v", v)
	}
}
