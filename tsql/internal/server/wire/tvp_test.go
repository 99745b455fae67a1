package wire_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/golang-sql/civil"
	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// line is a row of a table-valued parameter.
type line struct {
	ID   int64 `tvp:"@identity"`
	N    int64
	Text string
	Null *int32
	Blob []byte
	When time.Time
	Day  civil.Date
	Flag sql.NullBool
	Skip string `tvp:"-"`
	F    float64
}

// echoTable returns the rows of a table-valued parameter.
func echoTable(q *query) error {
	table := q.params[0].Table
	columns := append([]request.Column(nil), table.Columns...)
	for i := range columns {
		columns[i].Name, columns[i].Nullable = strings.Repeat("c", i+1), true
	}
	return q.set(columns, table.Rows...)
}

func TestTable(t *testing.T) {
	t.Parallel()
	server, db := start(t, scripts{"p": echoTable})
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456700, time.UTC)
	n := int32(5)
	lines := []line{
		{N: 1, Text: astral, Null: &n, Blob: []byte{1, 2}, When: at, Day: civil.DateOf(at), Flag: sql.NullBool{Bool: true, Valid: true}, F: 1.5},
		{N: -2, Text: "", When: at},
		{N: 3, Text: strings.Repeat("long ", 2000), Blob: make([]byte, 10000), When: at},
	}
	rows, err := db.QueryContext(t.Context(), "p", sql.Named("t", mssql.TVP{TypeName: "dbo.lines", Value: lines}))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for i, want := range lines {
		var id sql.NullInt64
		var got line
		var day time.Time
		if !rows.Next() {
			t.Fatalf("row %d is missing: %v", i, rows.Err())
		}
		if err := rows.Scan(&id, &got.N, &got.Text, &got.Null, &got.Blob, &got.When, &day, &got.Flag, &got.F); err != nil {
			t.Fatal(err)
		}
		got.Day = civil.DateOf(day)
		if want.Day == (civil.Date{}) {
			want.Day = civil.Date{Year: 1, Month: 1, Day: 1} // which is what the driver sends
		}
		if id.Valid {
			t.Errorf("row %d: the identity has a value", i)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("row %d: %s", i, diff)
		}
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("there is more: %v", rows.Err())
	}
	call := server.sessions[0].requests()[0].(request.Call)
	table := call.Params[0].Table
	if table.TypeSchema != "dbo" || table.TypeName != "lines" || call.Params[0].Type.Name != "dbo.lines" || call.Params[0].Name != "@t" {
		t.Errorf("the parameter is %+v", call.Params[0])
	}
	if diff := cmp.Diff([]bool{true, false, false, false, false, false, false, false, false}, table.Defaulted); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyTable(t *testing.T) {
	t.Parallel()
	server, db := start(t, scripts{"exec p @t": echoTable})
	rows, err := db.QueryContext(t.Context(), "exec p @t", sql.Named("t", mssql.TVP{TypeName: "lines", Value: []line{}}))
	if err != nil {
		t.Fatal(err)
	}
	if sets, err := list(rows); err != nil || len(sets) != 1 || strings.Contains(sets[0], "[") {
		t.Errorf("%v, %v", sets, err)
	}
	params := server.sessions[0].requests()[0].(request.Call).Params
	if got := params[1].Value.Str(); got != "@t lines READONLY" {
		t.Errorf("the declaration is %q", got)
	}
	if table := params[2].Table; table.TypeSchema != "" || table.TypeName != "lines" || len(table.Columns) != 9 || len(table.Rows) != 0 {
		t.Errorf("%+v", table)
	}
}

// Tables may be large, and stand among other parameters.
func TestLargeTable(t *testing.T) {
	t.Parallel()
	const many = 20_000
	type row struct {
		N    int64
		Text string
	}
	lines := make([]row, many)
	for i := range lines {
		lines[i] = row{int64(i), astral}
	}
	_, db := start(t, scripts{"p": func(q *query) error {
		rows := q.params[1].Table.Rows
		return q.set([]request.Column{
			{Name: "before", Type: q.params[0].Type},
			{Name: "n", Type: value.OfKind("int")},
			{Name: "last", Type: value.OfKind("bigint")},
			{Name: "after", Type: q.params[2].Type},
		}, []value.Value{q.params[0].Value, value.OfInt(int64(len(rows))), rows[len(rows)-1][0], q.params[2].Value})
	}})
	var before, after string
	var n, last int
	err := db.QueryRowContext(t.Context(), "p", "b", mssql.TVP{TypeName: "t", Value: lines}, "a").Scan(&before, &n, &last, &after)
	if err != nil || before != "b" || after != "a" || n != many || last != many-1 {
		t.Errorf("%q, %d, %d, %q: %v", before, n, last, after, err)
	}
}
