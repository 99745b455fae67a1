package wire_test

import (
	"bytes"
	"database/sql"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/golang-sql/civil"
	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// astral has text from all over Unicode, beyond the first plane too.
const astral = "plain, ünïcödé, Ελληνικά, 漢字, 😀𝄞𠮷 and e\u0301"

// parameter is a value that go-mssqldb sends, and what it gets back.
type parameter struct {
	name string
	send any
	typ  string // that the server sees
	want any
}

func parameters() []parameter {
	long := strings.Repeat(astral, 10<<20/len(astral))
	blob := bytes.Repeat([]byte{0, 1, 254, 255}, 10<<20/4)
	at := time.Date(2024, 2, 29, 23, 59, 59, 999999900, time.FixedZone("", -(3*60+30)*60))
	id := mssql.UniqueIdentifier{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	stored, _ := id.Value()
	utc := func(y, m, d, hour, minute, second, ns int) time.Time {
		return time.Date(y, time.Month(m), d, hour, minute, second, ns, time.UTC)
	}
	return []parameter{
		{"untyped NULL", nil, "NULL", nil},
		{"bit true", true, "bit", true},
		{"bit false", false, "bit", false},
		{"bit NULL", sql.NullBool{}, "bit", nil},
		{"tinyint", byte(255), "tinyint", int64(255)},
		{"smallint", int16(math.MinInt16), "smallint", int64(math.MinInt16)},
		{"int", int32(math.MinInt32), "int", int64(math.MinInt32)},
		{"int NULL", sql.NullInt32{}, "int", nil},
		{"bigint min", int64(math.MinInt64), "bigint", int64(math.MinInt64)},
		{"bigint max", int64(math.MaxInt64), "bigint", int64(math.MaxInt64)},
		{"bigint NULL", sql.NullInt64{}, "bigint", nil},
		{"float max", math.MaxFloat64, "float", math.MaxFloat64},
		{"float min", math.SmallestNonzeroFloat64, "float", math.SmallestNonzeroFloat64},
		{"float NULL", sql.NullFloat64{}, "float", nil},
		{"real", float32(-1.5), "real", float64(-1.5)},
		{"nvarchar", astral, "nvarchar(43)", astral},
		{"nvarchar empty", "", "nvarchar(max)", ""},
		{"nvarchar NULL", sql.NullString{}, "nvarchar(4000)", nil},
		{"nvarchar 4000", strings.Repeat("x", 4000), "nvarchar(4000)", strings.Repeat("x", 4000)},
		{"nvarchar 4001", strings.Repeat("x", 4001), "nvarchar(max)", strings.Repeat("x", 4001)},
		{"nvarchar 10 MB", long, "nvarchar(max)", long},
		{"nvarchar(max)", mssql.NVarCharMax("x"), "nvarchar(max)", "x"},
		{"nchar", mssql.NChar("abc"), "nchar(3)", "abc"},
		{"varchar", mssql.VarChar("abc"), "varchar(3)", "abc"},
		{"varchar 1252", mssql.VarChar("\x80\xe4"), "varchar(2)", "€ä"},
		{"varchar(max)", mssql.VarCharMax("abc"), "varchar(max)", "abc"},
		{"varbinary", []byte{0, 255}, "varbinary(2)", []byte{0, 255}},
		{"varbinary empty", []byte{}, "varbinary(max)", []byte{}},
		{"varbinary NULL", []byte(nil), "varbinary(max)", []byte(nil)},
		{"varbinary 8001", make([]byte, 8001), "varbinary(max)", make([]byte, 8001)},
		{"varbinary 10 MB", blob, "varbinary(max)", blob},
		{"uniqueidentifier", id, "uniqueidentifier", stored},
		{"datetimeoffset", at, "datetimeoffset(7)", at},
		{"datetimeoffset least", utc(1, 1, 1, 0, 0, 0, 0), "datetimeoffset(7)", utc(1, 1, 1, 0, 0, 0, 0)},
		{"datetimeoffset NULL", sql.NullTime{}, "datetimeoffset(7)", nil},
		{"date", civil.Date{Year: 9999, Month: 12, Day: 31}, "date", utc(9999, 12, 31, 0, 0, 0, 0)},
		{"time", civil.Time{Hour: 23, Minute: 59, Second: 59, Nanosecond: 999999900}, "time(7)", utc(1, 1, 1, 23, 59, 59, 999999900)},
		{
			"datetime2", civil.DateTimeOf(utc(1066, 10, 14, 9, 0, 0, 100)), "datetime2(7)",
			utc(1066, 10, 14, 9, 0, 0, 100),
		},
		{"datetime", mssql.DateTime1(utc(1753, 1, 1, 12, 0, 0, 3333333)), "datetime", utc(1753, 1, 1, 12, 0, 0, 3000000)},
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	server, db := start(t, scripts{"select @p1": echo})
	for _, p := range parameters() {
		for _, text := range []string{"echo", "select @p1"} {
			var got any
			if err := db.QueryRowContext(t.Context(), text, p.send).Scan(&got); err != nil {
				t.Fatalf("%s: %s: %v", p.name, text, err)
			}
			if diff := different(p.want, got); diff != "" {
				t.Errorf("%s: %s: %.2000s", p.name, text, diff)
			}
		}
		asked := server.sessions[0].requests()
		call := asked[len(asked)-1].(request.Call)
		if got := call.Params[len(call.Params)-1].Type.String(); got != p.typ {
			t.Errorf("%s: the server sees %s, not %s", p.name, got, p.typ)
		}
	}
}

// different compares what is expected of the driver with what it returned. Megabytes would take cmp seconds.
func different(want, got any) string {
	a, isBytes := want.([]byte)
	if isBytes && a == nil {
		want = nil
	}
	if b, ok := got.([]byte); ok && isBytes && bytes.Equal(a, b) {
		return ""
	}
	return cmp.Diff(want, got)
}

// cell is a value of a column, and what go-mssqldb makes of it.
type cell struct {
	typ  string // of the column
	v    value.Value
	want any
}

func cells() []cell {
	wide, _ := new(big.Int).SetString("-"+strings.Repeat("9", 38), 10)
	date := value.Days
	utc := func(y, m, d, hour, minute, second, ns int) time.Time {
		return time.Date(y, time.Month(m), d, hour, minute, second, ns, time.UTC)
	}
	const day = 24 * 60 * 60 * 300
	return []cell{
		{"bit", value.OfBool(true), true},
		{"tinyint", value.OfInt(255), int64(255)},
		{"smallint", value.OfInt(-1), int64(-1)},
		{"int", value.OfInt(math.MinInt32), int64(math.MinInt32)},
		{"bigint", value.OfInt(math.MinInt64), int64(math.MinInt64)},
		{"decimal(38,0)", value.OfDecimal(wide, 0), []byte(wide.String())},
		{"decimal(9,2)", value.OfDecimal(big.NewInt(-123456789), 2), []byte("-1234567.89")},
		{"decimal(19,4)", value.OfDecimal(big.NewInt(math.MaxInt64), 4), []byte("922337203685477.5807")},
		{"decimal(20,3)", value.OfDecimal(big.NewInt(5), 1), []byte("0.500")},
		{"money", value.OfMoney(math.MinInt64), []byte("-922337203685477.5808")},
		{"smallmoney", value.OfMoney(math.MinInt32), []byte("-214748.3648")},
		{"float", value.OfFloat(-math.MaxFloat64), -math.MaxFloat64},
		{"real", value.OfFloat(math.MaxFloat32), math.MaxFloat32},
		{"char(3)", value.OfString("ab "), "ab "},
		{"varchar(10)", value.OfString("äöü€"), "äöü€"},
		{"varchar(max)", value.OfString(""), ""},
		{"nchar(3)", value.OfString("ab "), "ab "},
		{"nvarchar(100)", value.OfString(astral), astral},
		{"nvarchar(max)", value.OfString(astral), astral},
		{"nvarchar(5)", value.OfString("a\xed\xa0\xbdb"), "a\uFFFDb"}, // half of a surrogate pair, which Go does not have
		{"text", value.OfString("ä"), "ä"},
		{"ntext", value.OfString("😀"), "😀"},
		{"binary(2)", value.OfBytes([]byte{0, 1}), []byte{0, 1}},
		{"varbinary(8000)", value.OfBytes(make([]byte, 8000)), make([]byte, 8000)},
		{"varbinary(max)", value.OfBytes([]byte{}), []byte{}},
		{"image", value.OfBytes([]byte{9}), []byte{9}},
		{"rowversion", value.OfBytes([]byte{0, 0, 0, 0, 0, 0, 7, 209}), []byte{0, 0, 0, 0, 0, 0, 7, 209}},
		{"xml", value.OfString("<a>😀</a>"), "<a>😀</a>"},
		{"uniqueidentifier", value.OfGUID([16]byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}), []byte{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"date", value.OfDate(date(1, 1, 1)), utc(1, 1, 1, 0, 0, 0, 0)},
		{"date", value.OfDate(date(9999, 12, 31)), utc(9999, 12, 31, 0, 0, 0, 0)},
		{"time(0)", value.OfTime(86399 * 10_000_000), utc(1, 1, 1, 23, 59, 59, 0)},
		{"time(3)", value.OfTime(1230000), utc(1, 1, 1, 0, 0, 0, 123000000)},
		{"time(7)", value.OfTime(863999999999), utc(1, 1, 1, 23, 59, 59, 999999900)},
		{"datetime2(0)", value.OfDateTime2(date(2024, 2, 29), 0), utc(2024, 2, 29, 0, 0, 0, 0)},
		{"datetime2(7)", value.OfDateTime2(date(9999, 12, 31), 863999999999), utc(9999, 12, 31, 23, 59, 59, 999999900)},
		{"datetimeoffset(7)", value.OfDateTimeOffset(date(2024, 1, 1), 1, 14*60), time.Date(2024, 1, 1, 14, 0, 0, 100, time.FixedZone("", 14*60*60))},
		{"datetime", value.OfDateTime(-53690 * day), utc(1753, 1, 1, 0, 0, 0, 0)},
		{"datetime", value.OfDateTime(2958463*day + day - 1), utc(9999, 12, 31, 23, 59, 59, 997000000)},
		{"datetime", value.OfDateTime(-1), utc(1899, 12, 31, 23, 59, 59, 997000000)},
		{"smalldatetime", value.OfDateTime(day + 300*60), utc(1900, 1, 2, 0, 1, 0, 0)},
		{"sql_variant", value.OfVariant(value.OfInt(7), value.OfKind(sqltype.Int)), int64(7)},
		{"sql_variant", value.OfVariant(value.OfString("ä"), value.VarChar(5)), "ä"},
		{"sql_variant", value.OfVariant(value.OfString("😀"), value.NVarChar(2)), "😀"},
		{"sql_variant", value.OfVariant(value.OfDecimal(big.NewInt(15), 1), value.DecimalType(3, 1)), []byte("1.5")},
		{"sql_variant", value.OfVariant(value.OfTime(0), value.Type{Type: sqltype.Type{Kind: sqltype.Time, Scale: 3}}), utc(1, 1, 1, 0, 0, 0, 0)},
		{"sql_variant", value.OfVariant(value.OfBytes([]byte{1}), value.VarBinary(3)), []byte{1}},
		{"sql_variant", value.OfVariant(value.OfMoney(10000), value.OfKind(sqltype.Money)), []byte("1.0000")},
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	all := cells()
	columns := func(nullable bool) []request.Column {
		list := make([]request.Column, len(all))
		for i, c := range all {
			typ, err := value.ParseType(c.typ)
			if err != nil {
				t.Fatal(err)
			}
			list[i] = request.Column{Name: c.typ, Type: typ, Nullable: nullable}
		}
		return list
	}
	row, nulls := make([]value.Value, len(all)), make([]value.Value, len(all))
	for i, c := range all {
		row[i] = c.v
	}
	_, db := start(t, scripts{
		"not null": func(q *query) error { return q.set(columns(false), row) },
		"null":     func(q *query) error { return q.set(columns(true), row, nulls, row) },
		"few nulls": func(q *query) error {
			few := append([]value.Value(nil), row...)
			few[0] = value.Value{}
			return q.set(columns(true), few)
		},
	})
	for text, present := range map[string][]bool{"not null": {true}, "null": {true, false, true}, "few nulls": {true}} {
		rows, err := db.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		for i, is := range types {
			if nullable, ok := is.Nullable(); !ok || nullable != (text != "not null") {
				t.Errorf("%s: column %s: nullable is %v, %v", text, all[i].typ, nullable, ok)
			}
			want, _, _ := strings.Cut(strings.ToUpper(all[i].typ), "(")
			if want == "ROWVERSION" {
				want = "BINARY"
			}
			if is.DatabaseTypeName() != want {
				t.Errorf("%s: column %s is a %s", text, all[i].typ, is.DatabaseTypeName())
			}
		}
		for _, there := range present {
			if !rows.Next() {
				t.Fatalf("%s: too few rows: %v", text, rows.Err())
			}
			got := make([]any, len(all))
			into := make([]any, len(all))
			for i := range got {
				into[i] = &got[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for i, c := range all {
				want := c.want
				if !there || text == "few nulls" && i == 0 {
					want = nil
				}
				if diff := cmp.Diff(want, got[i]); diff != "" {
					t.Errorf("%s: column %s: %s", text, c.typ, diff)
				}
			}
		}
		if rows.Next() || rows.Close() != nil || rows.Err() != nil { //nolint:sqlclosecheck // that closing works is part of the test
			t.Errorf("%s: there is more: %v", text, rows.Err())
		}
	}
}

// A client of go-mssqldb does not read UTF-8; the server sends nvarchar.
func TestUTF8Collation(t *testing.T) {
	t.Parallel()
	collation, ok := value.CollationByName("Latin1_General_100_CI_AS_SC_UTF8")
	if !ok {
		t.Fatal("there is no collation in UTF-8")
	}
	column := func(n int) request.Column { return request.Column{Name: "c", Type: value.VarChar(n).With(collation)} }
	_, db := start(t, scripts{"q": func(q *query) error {
		return q.set([]request.Column{column(200), column(8000), column(sqltype.Max)}, []value.Value{
			value.OfString(astral), value.OfString(astral), value.OfString(astral),
		})
	}})
	var a, b, c string
	if err := db.QueryRowContext(t.Context(), "q").Scan(&a, &b, &c); err != nil || a != astral || b != astral || c != astral {
		t.Errorf("%q, %q, %q, %v", a, b, c, err)
	}
}

// What is not of its column's type is a mistake of the server, which ends the connection and says so.
func TestWrongValues(t *testing.T) {
	t.Parallel()
	column := func(text string) request.Column {
		typ, err := value.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		return request.Column{Name: "c", Type: typ}
	}
	for name, c := range map[string]struct {
		column request.Column
		v      value.Value
		want   string
	}{
		"kind":    {column("int"), value.OfString("7"), "in column \"c\" of type int"},
		"NULL":    {column("int"), value.Value{}, "said to have none"},
		"long":    {column("nvarchar(2)"), value.OfString("abc"), "6 bytes in a column of type nvarchar(2)"},
		"scale":   {column("decimal(5,1)"), value.OfDecimal(big.NewInt(1), 2), "2 fractional digits"},
		"digits":  {column("decimal(5,1)"), value.OfDecimal(big.NewInt(123456), 1), "123456 of scale 1"},
		"variant": {column("sql_variant"), value.OfInt(1), "in a column of type sql_variant"},
		"table":   {request.Column{Type: value.OfKind(sqltype.Cursor)}, value.Value{}, "no place in a response"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, scripts{"q": func(q *query) error { return q.set([]request.Column{c.column}, []value.Value{c.v}) }}, wire.Options{})
			db := open(t, server.addr)
			var got any
			err := db.QueryRowContext(t.Context(), "q").Scan(&got)
			if err == nil || !strings.Contains(chain(err), c.want) {
				t.Errorf("%v, which does not say %q", chain(err), c.want)
			}
		})
	}
}

// chain is all that an error of the driver says. Errors that end a connection hide what the server has said.
func chain(err error) string {
	if err == nil {
		return "no error"
	}
	type wrapper interface{ Unwrap() error }
	var text strings.Builder
	text.WriteString(err.Error())
	for w, ok := err.(wrapper); ok; w, ok = err.(wrapper) {
		if err = w.Unwrap(); err == nil {
			break
		}
		text.WriteString(": " + err.Error())
	}
	return text.String()
}
