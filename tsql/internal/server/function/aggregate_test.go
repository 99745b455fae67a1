package function_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// group is a call of an aggregate, the type of its first argument and the values of that, written with blanks between.
type group struct{ call, column, values, want string }

// columnValues reads the values of a column.
func columnValues(t *testing.T, column, values string) (value.Type, []value.Value) {
	t.Helper()
	typ, err := value.ParseType(column)
	if err != nil {
		t.Fatal(err)
	}
	var list []value.Value
	for text := range strings.FieldsSeq(values) {
		v := value.Value{}
		if text != "NULL" {
			if v, err = value.Convert(value.OfString(text), value.NVarChar(50), typ, 0); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, v)
	}
	return typ, list
}

// callOf reads a call, and its arguments as the column and literals behind it.
func callOf(t *testing.T, text string, typ value.Type) (*syntax.Call, []function.Argument, []value.Value) {
	t.Helper()
	call, ok := parse(t, text).(*syntax.Call)
	if !ok {
		t.Fatalf("%s is no call", text)
	}
	var args []function.Argument
	var values []value.Value
	for i, x := range append(append([]syntax.Expr{}, call.Args...), call.Keys...) {
		if _, column := x.(*syntax.ColumnRef); column {
			args, values = append(args, function.Argument{Type: typ, Nullable: true, Expr: x}), append(values, value.Value{})
			continue
		}
		v, arg, err := argument(&session{}, x)
		if err != nil {
			t.Fatalf("argument %d of %s: %v", i, text, err)
		}
		args, values = append(args, arg), append(values, v)
	}
	return call, args, values
}

// rowsOf makes the arguments of each row: the column's value, and what is the same for all.
func rowsOf(t *testing.T, args []function.Argument, constants []value.Value, types []value.Type, column []value.Value) [][]value.Value {
	t.Helper()
	var rows [][]value.Value
	for _, v := range column {
		row := append([]value.Value{}, constants...)
		for i := range row {
			if _, isColumn := args[i].Expr.(*syntax.ColumnRef); isColumn {
				row[i] = v
			}
			if types[i].Kind != sqltype.Invalid {
				var err error
				if row[i], err = value.Convert(row[i], args[i].Type, types[i], 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// aggregate evaluates a group; a warning follows if a NULL was left out.
func aggregate(t *testing.T, g group) string {
	t.Helper()
	typ, column := columnValues(t, g.column, g.values)
	call, args, constants := callOf(t, g.call, typ)
	a, err := function.BindAggregate(call, args)
	if err != nil {
		return failure(err)[0]
	}
	sum := a.New()
	for _, row := range rowsOf(t, args, constants, a.Args, column) {
		if err := sum.Add(row); err != nil {
			return failure(err)[0]
		}
	}
	v, err := sum.Result()
	if err != nil {
		return failure(err)[0]
	}
	out := printed(t, v, a.Type)
	if sum.SkippedNull() {
		out += " (NULL skipped)"
	}
	return out + " " + a.Type.String()
}

func TestAggregates(t *testing.T) {
	t.Parallel()
	for _, g := range []group{
		{`COUNT(*)`, "int", "1 NULL 3", `3 int`},
		{`COUNT(x)`, "int", "1 NULL 3", `2 (NULL skipped) int`},
		{`COUNT(x)`, "int", "", `0 int`},
		{`COUNT(DISTINCT x)`, "varchar(5)", "a A b NULL", `2 (NULL skipped) int`},
		{`COUNT_BIG(x)`, "int", "1 1", `2 bigint`},
		{`APPROX_COUNT_DISTINCT(x)`, "int", "1 1 2 NULL", `2 (NULL skipped) bigint`},
		{`SUM(x)`, "int", "1 2 NULL", `3 (NULL skipped) int`},
		{`SUM(x)`, "int", "", `NULL int`},
		{`SUM(x)`, "int", "NULL", `NULL (NULL skipped) int`},
		{`SUM(x)`, "tinyint", "200 200", `400 int`},
		{`SUM(x)`, "int", "2147483647 1", `error 8115`},
		{`SUM(x)`, "bigint", "9223372036854775807 1", `error 8115`},
		{`SUM(x)`, "decimal(10,2)", "1.25 2.50", `3.75 decimal(38,2)`},
		{`SUM(x)`, "money", "1.25 2.5", `3.7500 money`},
		{`SUM(x)`, "float", "0.5 0.25", `0.75 float`},
		{`SUM(DISTINCT x)`, "int", "1 1 2", `3 int`},
		{`AVG(x)`, "int", "1 2 2", `1 int`},
		{`AVG(x)`, "int", "-1 -2 -2", `-1 int`},
		{`AVG(x)`, "decimal(10,2)", "1 1 0", `0.666666 decimal(38,6)`},
		{`AVG(x)`, "float", "1 2", `1.5 float`},
		{`AVG(x)`, "money", "1 2", `1.5000 money`},
		{`AVG(x)`, "int", "NULL", `NULL (NULL skipped) int`},
		{`MIN(x)`, "varchar(5)", "b A c", `A varchar(5)`},
		{`MAX(x)`, "date", "2020-01-01 2021-01-01 NULL", `2021-01-01 (NULL skipped) date`},
		{`MAX(x)`, "int", "", `NULL int`},
		{`STDEV(x)`, "int", "2 4 4 4 5 5 7 9", `2.13809 float`},
		{`STDEVP(x)`, "int", "2 4 4 4 5 5 7 9", `2 float`},
		{`VAR(x)`, "int", "1", `NULL float`},
		{`VARP(x)`, "decimal(5,1)", "1.5", `0 float`},
		{`VAR(x)`, "int", "1 2 3 4", `1.66667 float`},
		{`STRING_AGG(x, ',')`, "varchar(5)", "a NULL b", `a,b (NULL skipped) varchar(8000)`},
		{`STRING_AGG(x, N', ')`, "int", "1 2", `1, 2 nvarchar(4000)`},
		{`STRING_AGG(x, ',')`, "varchar(5)", "NULL", `NULL (NULL skipped) varchar(8000)`},
		{`STRING_AGG(x, '` + strings.Repeat("-", 4000) + `')`, "varchar(5)", "a b c", `error 9829`},
		{`CHECKSUM_AGG(x)`, "int", "5 3 NULL", `6 (NULL skipped) int`},
		{`JSON_ARRAYAGG(x)`, "int", "1 NULL 2", `[1,2] nvarchar(max)`},
		{`JSON_ARRAYAGG(x NULL ON NULL)`, "int", "1 NULL", `[1,null] nvarchar(max)`},
		{`JSON_OBJECTAGG('k': x)`, "varchar(5)", "a", `{"k":"a"} nvarchar(max)`},
		{`SUM(x)`, "varchar(5)", "a", `error 8117`},
		{`SUM(x)`, "bit", "1", `error 8117`},
		{`MAX(x)`, "bit", "1", `error 8117`},
	} {
		t.Run(g.call+" of "+g.column+" "+g.values, func(t *testing.T) {
			t.Parallel()
			if got := aggregate(t, g); got != g.want {
				t.Errorf("got  %s\nwant %s", got, g.want)
			}
		})
	}
}

// window evaluates a call over one partition that is in the order of its int column; equal values are peers.
func window(t *testing.T, g group) string {
	t.Helper()
	typ, column := columnValues(t, g.column, g.values)
	call, args, constants := callOf(t, g.call, typ)
	over := function.Over{Ordered: len(call.Over.OrderBy) > 0, Frame: call.Over.Frame}
	if len(call.WithinGroup) > 0 {
		over.Within, over.Desc = function.Argument{Type: typ}, call.WithinGroup[0].Desc
	}
	w, err := function.BindWindow(call, args, over)
	if err != nil {
		return failure(err)[0]
	}
	p := &function.Partition{Rows: len(column)}
	if over.Ordered {
		for i := range column {
			p.Peers = append(p.Peers, i)
			if i > 0 && column[i].Equal(column[i-1]) {
				p.Peers[i] = p.Peers[i-1]
			}
		}
	}
	if len(call.WithinGroup) > 0 {
		args, constants = append(args, function.Argument{Type: typ, Expr: &syntax.ColumnRef{}}), append(constants, value.Value{})
	}
	if len(args) > 0 {
		p.Args = rowsOf(t, args, constants, w.Args, column)
	}
	values, err := w.Eval(&session{}, p)
	if err != nil {
		return failure(err)[0]
	}
	var out []string
	for _, v := range values {
		out = append(out, printed(t, v, w.Type))
	}
	return strings.Join(out, " ") + " " + w.Type.String()
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for _, g := range []group{
		{`ROW_NUMBER() OVER (ORDER BY x)`, "int", "5 5 7", `1 2 3 bigint`},
		{`RANK() OVER (ORDER BY x)`, "int", "5 5 7 7 9", `1 1 3 3 5 bigint`},
		{`DENSE_RANK() OVER (ORDER BY x)`, "int", "5 5 7 7 9", `1 1 2 2 3 bigint`},
		{`PERCENT_RANK() OVER (ORDER BY x)`, "int", "5 5 7 7 9", `0 0 0.5 0.5 1 float`},
		{`PERCENT_RANK() OVER (ORDER BY x)`, "int", "5", `0 float`},
		{`CUME_DIST() OVER (ORDER BY x)`, "int", "5 5 7 9", `0.5 0.5 0.75 1 float`},
		{`NTILE(2) OVER (ORDER BY x)`, "int", "1 2 3 4 5", `1 1 1 2 2 bigint`},
		{`NTILE(4) OVER (ORDER BY x)`, "int", "1 2", `1 2 bigint`},
		{`NTILE(0) OVER (ORDER BY x)`, "int", "1", `error 4116`},
		{`LAG(x) OVER (ORDER BY x)`, "int", "1 2 3", `NULL 1 2 int`},
		{`LEAD(x, 2, 0) OVER (ORDER BY x)`, "int", "1 2 3", `3 0 0 int`},
		{`LAG(x, 0) OVER (ORDER BY x)`, "int", "1 2", `1 2 int`},
		{`LAG(x, -1) OVER (ORDER BY x)`, "int", "1 2", `error 8730`},
		{`LAG(x) IGNORE NULLS OVER (ORDER BY x)`, "int", "1 NULL 3", `NULL 1 1 int`},
		{`FIRST_VALUE(x) OVER (ORDER BY x)`, "int", "1 2 3", `1 1 1 int`},
		{`LAST_VALUE(x) OVER (ORDER BY x)`, "int", "1 2 2", `1 2 2 int`},
		{`LAST_VALUE(x) OVER (ORDER BY x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)`, "int", "1 2 3", `3 3 3 int`},
		{`FIRST_VALUE(x) IGNORE NULLS OVER (ORDER BY x)`, "int", "NULL 2 3", `NULL 2 2 int`},
		{`SUM(x) OVER ()`, "int", "1 2 3", `6 6 6 int`},
		{`SUM(x) OVER (ORDER BY x)`, "int", "1 2 2 3", `1 5 5 8 int`},
		{`SUM(x) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING)`, "int", "1 2 2 3", `1 3 5 8 int`},
		{`SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)`, "int", "1 2 3 4", `3 6 9 7 int`},
		{`SUM(x) OVER (ORDER BY x ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)`, "int", "1 2 3 4", `NULL 1 3 5 int`},
		{`SUM(x) OVER (ORDER BY x RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)`, "int", "1 2 2 3", `8 7 7 3 int`},
		{`COUNT(*) OVER (ORDER BY x ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)`, "int", "1 2 3", `2 1 0 int`},
		{`MAX(x) OVER (ORDER BY x ROWS 1 PRECEDING)`, "int", "3 2 1", `3 3 2 int`},
		{`AVG(x) OVER (ORDER BY x)`, "decimal(5,1)", "1 2", `1.000000 1.500000 decimal(38,6)`},
		{`PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER ()`, "int", "4 1 2 NULL 3", `2.5 2.5 2.5 2.5 2.5 float`},
		{`PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x) OVER ()`, "int", "4 1 2 3", `2 2 2 2 int`},
		{`PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x DESC) OVER ()`, "int", "4 1 2 3", `3 3 3 3 int`},
		{`PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY x) OVER ()`, "int", "4", `error 1023`},
		{`SUM(x) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)`, "int", "1", `error 4194`},
		{`SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)`, "int", "1", `error 4193`},
		{`COUNT(DISTINCT x) OVER ()`, "int", "1", `error 10759`},
		{`RANK() OVER (ORDER BY x ROWS UNBOUNDED PRECEDING)`, "int", "1", `error 10752`},
		{`ROW_NUMBER() OVER ()`, "int", "1", `error 4112`},
	} {
		t.Run(g.call+" of "+g.values, func(t *testing.T) {
			t.Parallel()
			if got := window(t, g); got != g.want {
				t.Errorf("got  %s\nwant %s", got, g.want)
			}
		})
	}
}
