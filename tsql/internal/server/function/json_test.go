package function_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	run(t, []example{
		{`ISJSON('{}')`, `1`},
		{`ISJSON('[1]')`, `1`},
		{`ISJSON('1')`, `0`},
		{`ISJSON('"a"')`, `0`},
		{`ISJSON('{a:1}')`, `0`},
		{`ISJSON('[1,]')`, `0`},
		{`ISJSON('{} x')`, `0`},
		{`ISJSON('')`, `0`},
		{`ISJSON(NULL)`, `NULL`},
		{`ISJSON('[01]')`, `0`},
		{`ISJSON('[1.]')`, `0`},
		{`ISJSON('[-1.5e+3]')`, `1`},
		{`ISJSON('["\x"]')`, `0`},
		{`ISJSON('["\u00e9\n"]')`, `1`},
		{`ISJSON('[' + CHAR(10) + ']')`, `1`},
		{`ISJSON('["' + CHAR(10) + '"]')`, `0`},
		{`ISJSON('true', VALUE)`, `1`},
		{`ISJSON('"a"', SCALAR)`, `1`},
		{`ISJSON('true', SCALAR)`, `0`},
		{`ISJSON('[]', ARRAY)`, `1`},
		{`ISJSON('[]', OBJECT)`, `0`},
		{`ISJSON(' { "a" : [ 1 , { } ] } ')`, `1`},
		{`JSON_VALUE('{"a":{"b":[1,"two",true,null]}}', '$.a.b[1]')`, `two`},
		{`JSON_VALUE('{"a":{"b":[1]}}', '$.a.b[0]')`, `1`},
		{`JSON_VALUE('[true]', '$[0]')`, `true`},
		{`JSON_VALUE('[null]', '$[0]')`, `NULL`},
		{`JSON_VALUE('[null]', 'strict $[0]')`, `NULL`},
		{`JSON_VALUE('{"a":1}', '$.b')`, `NULL`},
		{`JSON_VALUE('{"a":1}', 'strict $.b')`, `error 13608`},
		{`JSON_VALUE('{"a":[]}', '$.a')`, `NULL`},
		{`JSON_VALUE('{"a":[]}', 'strict $.a')`, `error 13623`},
		{`JSON_VALUE('{"a":1,"a":2}', '$.a')`, `1`},
		{`JSON_VALUE('{"A":1}', '$.a')`, `NULL`},
		{`JSON_VALUE('{"a b":1}', '$."a b"')`, `1`},
		{`JSON_VALUE('{"a":"x\"\u00e9\/\ud83d\ude00"}', '$.a')`, `x"é/😀`},
		{`JSON_VALUE('{"\u0061":1}', '$.a')`, `1`},
		{`JSON_VALUE('{"a":1', '$.a')`, `1`},
		{`JSON_VALUE('{"a" 1}', '$.a')`, `error 13609`},
		{`JSON_VALUE('abc', '$.a')`, `error 13609`},
		{`JSON_VALUE('{"a":1}', 'a')`, `error 13607`},
		{`JSON_VALUE('{"a":1}', '$.')`, `error 13607`},
		{`JSON_VALUE('{"a":1}', '$.a-b')`, `error 13607`},
		{`JSON_VALUE('{"a":1}', 'append $.a')`, `error 13607`},
		{`JSON_VALUE('{"a":1.50}', 'lax $.a')`, `1.50`},
		{`JSON_VALUE(NULL, '$.a')`, `NULL`},
		{`LEN(JSON_VALUE('{"a":"' + REPLICATE('x', 4000) + '"}', '$.a'))`, `4000`},
		{`JSON_VALUE('{"a":"' + REPLICATE('x', 4001) + '"}', '$.a')`, `NULL`},
		{`JSON_VALUE('{"a":"' + REPLICATE('x', 4001) + '"}', 'strict $.a')`, `error 13625`},
		{`JSON_QUERY('{"a":{"b" : [1, 2] }}', '$.a')`, `{"b" : [1, 2] }`},
		{`JSON_QUERY('{"a":1}', '$.a')`, `NULL`},
		{`JSON_QUERY('{"a":1}', 'strict $.a')`, `error 13624`},
		{`JSON_QUERY(' [1] ')`, `[1]`},
		{`JSON_QUERY('{"a":1}', 'strict $.b')`, `error 13608`},
		{`JSON_PATH_EXISTS('{"a":{"b":null}}', '$.a.b')`, `1`},
		{`JSON_PATH_EXISTS('{"a":1}', '$.a.b')`, `0`},
		{`JSON_PATH_EXISTS('abc', '$.a')`, `0`},
		{`JSON_MODIFY('{"a":1}', '$.a', 2)`, `{"a":2}`},
		{`JSON_MODIFY('{"a":1}', '$.a', 'x"y')`, `{"a":"x\"y"}`},
		{`JSON_MODIFY('{"a":1}', '$.b', 'x')`, `{"a":1,"b":"x"}`},
		{`JSON_MODIFY('{}', '$.b', 'x')`, `{"b":"x"}`},
		{`JSON_MODIFY('{"a":1,"b":2}', '$.a', NULL)`, `{"b":2}`},
		{`JSON_MODIFY('{"a":1,"b":2}', '$.b', NULL)`, `{"a":1}`},
		{`JSON_MODIFY('{"a":1}', 'strict $.a', NULL)`, `{"a":null}`},
		{`JSON_MODIFY('{"a":1}', '$.c', NULL)`, `{"a":1}`},
		{`JSON_MODIFY('{"a":1}', 'strict $.b', 2)`, `error 13608`},
		{`JSON_MODIFY('{"a":[1]}', 'append $.a', 2)`, `{"a":[1,2]}`},
		{`JSON_MODIFY('{"a":[]}', 'append $.a', 'x')`, `{"a":["x"]}`},
		{`JSON_MODIFY('[1]', 'append $', 2)`, `[1,2]`},
		{`JSON_MODIFY('{"a":1}', 'append $.b', 2)`, `{"a":1,"b":[2]}`},
		{`JSON_MODIFY('{"a":1}', 'append strict $.a', 2)`, `error 13621`},
		{`JSON_MODIFY('{"a":1}', '$', 2)`, `error 13619`},
		{`JSON_MODIFY('{"a":[1,2]}', '$.a[0]', NULL)`, `{"a":[null,2]}`},
		{`JSON_MODIFY('{"a":1}', '$.a', JSON_QUERY('[1,2]'))`, `{"a":[1,2]}`},
		{`JSON_MODIFY('{"a":1}', '$.a', '[1,2]')`, `{"a":"[1,2]"}`},
		{`JSON_MODIFY('{"a":1}', '$.a', CAST(1 AS bit))`, `{"a":true}`},
		{`JSON_MODIFY('{"a":1}', '$.b.c', 1)`, `{"a":1}`},
		{`JSON_OBJECT('a': 1, 'b': NULL, 'c': 'x/y')`, `{"a":1,"b":null,"c":"x\/y"}`},
		{`JSON_OBJECT('a': 1, 'b': NULL ABSENT ON NULL)`, `{"a":1}`},
		{`JSON_OBJECT()`, `{}`},
		{`JSON_OBJECT('a': JSON_ARRAY(1, NULL, 'x'))`, `{"a":[1,"x"]}`},
		{`JSON_ARRAY(1, NULL, N'ä' NULL ON NULL)`, `[1,null,"ä"]`},
		{`JSON_ARRAY()`, `[]`},
		{`JSON_ARRAY(1.50, 1.5e0, 0x0102, CAST('2020-01-02 03:04:05' AS datetime2(3)))`, `[1.50,1.500000000000000e+000,"AQI=","2020-01-02T03:04:05"]`},
		{`JSON_VALUE('` + strings.Repeat("[", 128) + "1" + strings.Repeat("]", 128) + `', '$[0]')`, `NULL`},
		{`JSON_QUERY('` + strings.Repeat("[", 129) + "1" + strings.Repeat("]", 129) + `', '$')`, `error 13606`},
	})
}

// TestJSONErrors says where a text goes wrong.
func TestJSONErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, want string }{
		{`JSON_VALUE('abc', '$.a')`, `JSON text is not properly formatted. Unexpected character 'a' is found at position 0.`},
		{`JSON_QUERY(N'{"ä😀":x}', '$.a')`, `JSON text is not properly formatted. Unexpected character 'x' is found at position 7.`},
		{`JSON_QUERY('{"a":1', '$')`, `JSON text is not properly formatted. Unexpected character '.' is found at position 6.`},
		{`JSON_VALUE('', '$.a')`, `JSON text is not properly formatted. Unexpected character '.' is found at position 0.`},
		{`JSON_VALUE('{}', 'lax a')`, `JSON path is not properly formatted. Unexpected character 'a' is found at position 4.`},
		{`JSON_VALUE('{}', '$.a[x]')`, `JSON path is not properly formatted. Unexpected character 'x' is found at position 4.`},
	} {
		_, _, err := evaluate(&session{}, parse(t, c.expr))
		var f *fault.Error
		if !errors.As(err, &f) || f.Message != c.want {
			t.Errorf("%s: %v\nwant %s", c.expr, err, c.want)
		}
	}
}

// open lists the rows of OPENJSON as key=value(type).
func open(doc, path string) string {
	rows, err := function.OpenJSON(doc, path)
	var out []string
	for err == nil {
		var ok bool
		if ok, err = rows.Next(); !ok {
			break
		}
		key, val, kind := rows.Row()
		text := "NULL"
		if !val.IsNull() {
			text = val.Str()
		}
		out = append(out, fmt.Sprintf("%s=%s(%d)", key.Str(), text, kind.Int()))
	}
	return strings.Join(append(out, failure(err)...), " ")
}

// failure shows the number of an error.
func failure(err error) []string {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return []string{fmt.Sprintf("error %d", f.Number)}
	default:
		return []string{err.Error()}
	}
}

func TestOpenJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, path, want string }{
		{`{"s":"x\ty","n":-1.50,"t":true,"f":false,"z":null,"a":[1, 2],"o":{"b" :1}}`, "", "s=x\ty(1) n=-1.50(2) t=true(3) f=false(3) z=NULL(0) a=[1, 2](4) o={\"b\" :1}(5)"},
		{`["a","b"]`, "", `0=a(1) 1=b(1)`},
		{`{"a":1,"a":2}`, "", `a=1(2) a=2(2)`},
		{`{"a":{"b":[7]}}`, "$.a.b", `0=7(2)`},
		{`{"a":1}`, "$.a", ``},
		{`{"a":1}`, "strict $.a", `error 13611`},
		{`{"a":1}`, "$.b", ``},
		{`{"a":1}`, "strict $.b", `error 13608`},
		{`{"a":1}`, "b", `error 13607`},
		{`[]`, "", ``},
		{`  {}  `, "", ``},
		{`1`, "", `error 13609`},
		{``, "", `error 13609`},
		{`[1,2`, "", `0=1(2) 1=2(2) error 13609`},
		{`[1 2]`, "", `0=1(2) error 13609`},
		{`{"a b":"\u00e9"}`, "", `a b=é(1)`},
	} {
		if got := open(c.doc, c.path); got != c.want {
			t.Errorf("OPENJSON('%s', '%s')\ngot  %s\nwant %s", c.doc, c.path, got, c.want)
		}
	}
}

// withClause is OPENJSON … WITH for a list of columns, each "name type [path] [AS JSON]" with the path in '.
func withClause(t *testing.T, doc, path string, columns []string) string {
	t.Helper()
	var shaped []function.JSONColumn
	for _, text := range columns {
		c := function.JSONColumn{}
		text, c.AsJSON = strings.CutSuffix(text, " AS JSON")
		text, rest, found := strings.Cut(text, " '")
		if found {
			c.Path = strings.TrimSuffix(rest, "'")
		}
		name, typ, _ := strings.Cut(text, " ")
		c.Name = name
		var err error
		if c.Type, err = value.ParseType(typ); err != nil {
			t.Fatal(err)
		}
		shaped = append(shaped, c)
	}
	var out []string
	shape, err := function.NewJSONShape(shaped)
	var rows *function.JSONTable
	if err == nil {
		rows, err = shape.Open(doc, path)
	}
	for err == nil {
		var row []value.Value
		var ok bool
		if row, ok, err = rows.Next(); !ok {
			break
		}
		var cells []string
		for i, v := range row {
			cells = append(cells, printed(t, v, shaped[i].Type))
		}
		out = append(out, strings.Join(cells, ","))
	}
	return strings.Join(append(out, failure(err)...), "; ")
}

func TestOpenJSONWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc, path string
		columns   []string
		want      string
	}{
		{`[{"id":1,"name":"a"},{"id":2},{"name":"c","id":3}]`, "", []string{"id int", "name nvarchar(10)"}, `1,a; 2,NULL; 3,c`},
		{`{"id":1}`, "", []string{"id bigint", "x int"}, `1,NULL`},
		{`{"rows":[{"a":{"b":[1,2]}}]}`, "$.rows", []string{"x int '$.a.b[1]'", "y nvarchar(max) '$.a' AS JSON"}, `2,{"b":[1,2]}`},
		{`[{"ID":1}]`, "", []string{"id int"}, `NULL`},
		{`[{"a":1,"a":2}]`, "", []string{"a int"}, `1`},
		{`[1,"2",null]`, "", []string{"v int '$'"}, `1; 2; NULL`},
		{`[[1,2],[3]]`, "", []string{"x int '$[0]'", "y int '$[1]'"}, `1,2; 3,NULL`},
		{`[{"a":"abcdef"}]`, "", []string{"a nvarchar(3)"}, `NULL`},
		{`[{"a":"abcdef"}]`, "", []string{"a nvarchar(3) 'strict $.a'"}, `error 13625`},
		{`[{"b":1}]`, "", []string{"a int 'strict $.a'"}, `error 13608`},
		{`[{"a":{}}]`, "", []string{"a int"}, `NULL`},
		{`[{"a":{}}]`, "", []string{"a int 'strict $.a'"}, `error 13623`},
		{`[{"a":1}]`, "", []string{"a nvarchar(max) AS JSON"}, `NULL`},
		{`[{"a":1}]`, "", []string{"a nvarchar(max) 'strict $.a' AS JSON"}, `error 13624`},
		{`[{"a":true,"b":1.5,"c":"2020-01-02T03:04:05Z","d":"AQI=","e":null}]`, "", []string{"a bit", "b decimal(5,2)", "c datetime2(0)", "d varbinary(8)", "e int"}, `1,1.50,2020-01-02 03:04:05,0x0102,NULL`},
		{`[{"d":"*"}]`, "", []string{"d varbinary(8)"}, `error 13612`},
		{`[{"a":"x"}]`, "", []string{"a int"}, `error 245`},
		{`[{"a":1},{"a":2]`, "", []string{"a int"}, `1; error 13609`},
		{`[{"a":1},{"a":2}]`, "", []string{"n bigint '$.sql:identity()'", "a int"}, `0,1; 1,2`},
		{`[{"a":"caf\u00e9 \ud83d\ude00"}]`, "", []string{"a nvarchar(max)"}, `café 😀`},
		{`{"a":1}`, "$.b", []string{"a int"}, ``},
	} {
		if got := withClause(t, c.doc, c.path, c.columns); got != c.want {
			t.Errorf("OPENJSON('%s', '%s') WITH %v\ngot  %s\nwant %s", c.doc, c.path, c.columns, got, c.want)
		}
	}
}

// TestLongDocument reads some megabytes. It would not end soon if a row cost more than its own text.
func TestLongDocument(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	doc.WriteString(`[`)
	const rows = 50_000
	for i := range rows {
		if i > 0 {
			doc.WriteByte(',')
		}
		doc.WriteString(`{"id":` + strconv.Itoa(i) + `,"data":"` + strings.Repeat("x", 100) + `"}`)
	}
	doc.WriteString(`]`)
	shape, err := function.NewJSONShape([]function.JSONColumn{
		{Name: "id", Type: value.OfKind(sqltype.Int)}, {Name: "data", Type: value.NVarChar(sqltype.Max)},
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	table, err := shape.Open(doc.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		row, ok, err := table.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if row[0].Int() != int64(n) || len(row[1].Str()) != 100 {
			t.Fatalf("row %d is %v", n, row)
		}
	}
	if n != rows || time.Since(start) > 10*time.Second {
		t.Errorf("%d rows in %v", n, time.Since(start))
	}
}

// forJSON writes rows of two or more columns; NULL is the text NULL, and a number is an int.
func forJSON(t *testing.T, options function.JSONOptions, fields []function.JSONField, rows ...[]string) string {
	t.Helper()
	for i := range fields {
		fields[i].Type = value.NVarChar(50)
	}
	w, err := function.NewJSONWriter(options, fields)
	if err != nil {
		return failure(err)[0]
	}
	for _, row := range rows {
		var values []value.Value
		for _, text := range row {
			v := value.OfString(text)
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				v = value.OfInt(n)
			}
			if text == "NULL" {
				v = value.Value{}
			}
			values = append(values, v)
		}
		if err := w.Row(values); err != nil {
			t.Fatal(err)
		}
	}
	return printed(t, w.Text(), value.NVarChar(sqltype.Max))
}

// fields are columns; "t:name" is one of a table.
func fields(names ...string) []function.JSONField {
	var list []function.JSONField
	for _, name := range names {
		table, column, found := strings.Cut(name, ":")
		if !found {
			table, column = "", name
		}
		list = append(list, function.JSONField{Name: column, Table: table})
	}
	return list
}

func TestForJSON(t *testing.T) {
	t.Parallel()
	path, auto := function.JSONOptions{}, function.JSONOptions{Auto: true}
	for _, c := range []struct {
		name    string
		options function.JSONOptions
		fields  []function.JSONField
		rows    [][]string
		want    string
	}{
		{"rows", path, fields("a", "b"), [][]string{{"1", "x"}, {"2", "NULL"}}, `[{"a":1,"b":"x"},{"a":2}]`},
		{"no rows", path, fields("a"), nil, `NULL`},
		{"all NULL", path, fields("a"), [][]string{{"NULL"}}, `[{}]`},
		{"nested", path, fields("id", "o.a", "o.b.c", "z"), [][]string{{"1", "2", "3", "4"}}, `[{"id":1,"o":{"a":2,"b":{"c":3}},"z":4}]`},
		{"nested NULLs", path, fields("id", "o.a", "o.b"), [][]string{{"1", "NULL", "NULL"}}, `[{"id":1}]`},
		{"include NULLs", function.JSONOptions{IncludeNulls: true}, fields("id", "o.a"), [][]string{{"1", "NULL"}}, `[{"id":1,"o":{"a":null}}]`},
		{"root", function.JSONOptions{HasRoot: true, Root: "r"}, fields("a"), [][]string{{"1"}}, `{"r":[{"a":1}]}`},
		{"default root", function.JSONOptions{HasRoot: true}, fields("a"), [][]string{{"1"}}, `{"root":[{"a":1}]}`},
		{"no wrapper", function.JSONOptions{WithoutWrapper: true}, fields("a"), [][]string{{"1"}, {"2"}}, `{"a":1},{"a":2}`},
		{"root without wrapper", function.JSONOptions{HasRoot: true, WithoutWrapper: true}, fields("a"), nil, `error 13620`},
		{"reopened", path, fields("o.a", "b", "o.c"), nil, `error 13601`},
		{"twice", path, fields("a", "a"), nil, `error 13601`},
		{"value and object", path, fields("a", "a.b"), nil, `error 13601`},
		{"bad name", path, fields("a..b"), nil, `error 13603`},
		{"no name", path, fields(""), nil, `error 13605`},
		{"escapes", path, fields("a\"b"), [][]string{{"</x>\n"}}, `[{"a\"b":"<\/x>\n"}]`},
		{"auto of one table", auto, fields("t:a", "t:b"), [][]string{{"1", "2"}, {"1", "2"}}, `[{"a":1,"b":2},{"a":1,"b":2}]`},
		{
			"auto of two tables", auto, fields("o:id", "l:n", "l:sku"),
			[][]string{{"1", "1", "x"}, {"1", "2", "y"}, {"2", "1", "z"}},
			`[{"id":1,"l":[{"n":1,"sku":"x"},{"n":2,"sku":"y"}]},{"id":2,"l":[{"n":1,"sku":"z"}]}]`,
		},
		{
			"auto of three", auto, fields("a:x", "b:y", "c:z"),
			[][]string{{"1", "1", "1"}, {"1", "1", "2"}, {"1", "2", "3"}, {"2", "2", "4"}},
			`[{"x":1,"b":[{"y":1,"c":[{"z":1},{"z":2}]},{"y":2,"c":[{"z":3}]}]},{"x":2,"b":[{"y":2,"c":[{"z":4}]}]}]`,
		},
		{"auto with an expression", auto, fields("a:x", "sum", "b:y"), [][]string{{"1", "5", "2"}}, `[{"x":1,"sum":5,"b":[{"y":2}]}]`},
		{"auto with the outer columns apart", auto, fields("a:x", "b:y", "a:z"), [][]string{{"1", "2", "3"}}, `[{"x":1,"z":3,"b":[{"y":2}]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := forJSON(t, c.options, c.fields, c.rows...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
