package model_test

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
)

func TestGoName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"order_id": "OrderID", "OrderID": "OrderID", "orderId": "OrderID", "ORDER_ID": "OrderID", "Order Id": "OrderID",
		"HTTPServerURL": "HTTPServerURL", "sql_ids": "SQLIDs", "lockIDs": "LockIDs", "utc_now": "UTCNow", "v2": "V2",
		"type": "Type", "@p1": "P1", "2fa": "X2fa", "größe": "Größe", "名前": "X名前", "#%": "", "a-b": "AB", "ÄpfelListe": "ÄpfelListe",
	} {
		if got := model.GoName(name); got != want {
			t.Errorf("GoName(%q) = %q, want %q", name, got, want)
		}
	}
}

var (
	script = diag.NewFile("a.sql", "CREATE PROCEDURE …")
	place  = catalog.Place{File: script}
	intOf  = sqltype.Type{Kind: sqltype.Int}
)

func procedure(schema, name string, params ...analyze.Param) *analyze.Procedure {
	return &analyze.Procedure{Place: place, Name: catalog.Name{Schema: schema, Name: name}, Params: params}
}

func set(columns ...string) analyze.ResultSet {
	s := analyze.ResultSet{File: script}
	for _, c := range columns {
		s.Columns = append(s.Columns, analyze.Column{Name: c, Type: intOf})
	}
	return s
}

// TestFindings has for each finding a program that it is about.
func TestFindings(t *testing.T) {
	t.Parallel()
	param := func(name string, kind sqltype.Kind) analyze.Param {
		return analyze.Param{Name: name, Type: sqltype.Type{Kind: kind}}
	}
	withSets := func(f analyze.Flow, sets ...analyze.ResultSet) *analyze.Program {
		p := procedure("dbo", "p")
		p.Results, p.Flow = sets, f
		return &analyze.Program{Procedures: []*analyze.Procedure{p}}
	}
	of := func(p ...*analyze.Procedure) *analyze.Program { return &analyze.Program{Procedures: p} }
	output := param("@x", sqltype.XML)
	output.Output = true
	stream := set("a")
	stream.Stream = true
	other := set("b")
	other.Stream = true
	skipped := &catalog.Table{Place: place, Name: catalog.Name{Schema: "dbo", Name: "t"}, Columns: []catalog.Column{{Name: "id", Type: intOf, Identity: true}}}
	for name, c := range map[string]struct {
		program *analyze.Program
		options model.Options
		want    string
	}{
		"refused type":     {of(procedure("dbo", "p", param("@v", sqltype.SQLVariant))), model.Options{}, "parameter @v of dbo.p has the type sql_variant, which can't be generated"},
		"two fields":       {of(procedure("dbo", "p", param("@a_b", sqltype.Int), param("@aB", sqltype.Int))), model.Options{}, "parameter @aB would be AB in Go, and so is parameter @a_b"},
		"two methods":      {of(procedure("dbo", "a_b"), procedure("dbo", "aB")), model.Options{}, "procedure dbo.aB would be AB in Go, and so is procedure dbo.a_b"},
		"taken method":     {of(procedure("dbo", "with_tx")), model.Options{}, "procedure dbo.with_tx would be WithTx in Go, and so is something in every generated package"},
		"first character":  {of(procedure("dbo", "p", param("@_a", sqltype.Int))), model.Options{}, "database/sql can't pass the parameter @_a"},
		"own parameter":    {of(procedure("dbo", "p", param("@gen_status", sqltype.Int))), model.Options{}, "names like @gen_status are for parameters of generated calls"},
		"no letters":       {of(procedure("dbo", "%%")), model.Options{}, `"%%" of dbo can't be turned into a Go name`},
		"output":           {of(procedure("dbo", "p", output)), model.Options{}, "the driver can't receive the output parameter @x of dbo.p, of type xml"},
		"unused rename":    {of(), model.Options{Rename: map[string]string{"ttl": "TimeToLive"}}, "the option rename is for ttl, and nothing has that name"},
		"bad rename":       {of(), model.Options{Rename: map[string]string{"ttl": "ttl"}}, `the option rename ttl can't be "ttl"`},
		"bad option":       {of(), model.Options{Nulls: "none"}, `the option nulls can't be "none"`},
		"two streams":      {withSets(analyze.Flow{}, stream, other), model.Options{}, "procedure dbo.p streams two result sets"},
		"nothing to send":  {&analyze.Program{TableTypes: []*catalog.Table{skipped}}, model.Options{}, "the table type dbo.t has no column to be sent"},
		"batch of nothing": {&analyze.Program{Queries: []*analyze.Query{{Place: place, Name: "Q", Command: analyze.CommandBatch}}}, model.Options{}, "query Q is a :batch without parameters"},
		"same columns": {
			withSets(analyze.Flow{States: []analyze.State{{Edges: []analyze.Edge{{Set: 0, To: 1}, {Set: 1, To: 1}}}, {Final: true}}}, set("a"), set("A")),
			model.Options{},
			"procedure dbo.p can yield this result set or another with the same columns",
		},
		"again": {
			withSets(analyze.Flow{States: []analyze.State{{Edges: []analyze.Edge{{Set: 0, To: 1}}}, {Edges: []analyze.Edge{{Set: 0, To: 1}}, Final: true}}}, set("a")),
			model.Options{},
			"procedure dbo.p can yield this result set more than once",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.options.Package == "" {
				c.options.Package = "db"
			}
			_, found := model.Build(c.program, c.options)
			text := found.Format()
			if !strings.Contains(text, c.want) || !strings.Contains(text, "fix: ") {
				t.Errorf("got\n%swant %s", text, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	text := &diag.File{Name: "x/fetch_windows.sql"}
	third := procedure("dbo", "ttl")
	third.File = text
	p := &analyze.Program{Procedures: []*analyze.Procedure{procedure("dbo", "get_order"), procedure("sales", "get_order"), third}}
	m, found := model.Build(p, model.Options{Package: "db", Rename: map[string]string{"sales.get_order": "SalesOrder", "TTL": "TimeToLive"}})
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	var got []string
	for _, f := range m.Files {
		got = append(got, f.Name)
		for _, method := range f.Methods {
			got = append(got, method.Name)
		}
	}
	if want := "a.sql.go DboGetOrder SalesOrder fetch_windows_.sql.go TimeToLive"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

func TestDoc(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 17) + "word"
	for doc, want := range map[string]string{
		"":                              "GetOrder calls procedure dbo.get_order.",
		"Returns an order.":             "GetOrder returns an order.",
		"get_order returns an order.":   "GetOrder returns an order.",
		"The order with its lines.":     "GetOrder: The order with its lines.",
		"Lines of an order.":            "GetOrder: Lines of an order.",
		"Returns it.\n\nResult sets:\n": "GetOrder returns it.||Result sets:",
		// What does not fit goes on with the next line, unless that begins something else.
		"Returns " + long + " too long\nfor a line.":   "GetOrder returns " + long + "|too long for a line.",
		"Returns " + long + " too long:\n- for a line": "GetOrder returns " + long + "|too long:|- for a line",
		"Returns " + long + " too long":                "GetOrder returns " + long + "|too long",
	} {
		p := procedure("dbo", "get_order")
		p.Doc = doc
		m, _ := model.Build(&analyze.Program{Procedures: []*analyze.Procedure{p}}, model.Options{Package: "db"})
		if got := strings.Join(m.Files[0].Methods[0].Doc, "|"); got != want {
			t.Errorf("%q: got %q, want %q", doc, got, want)
		}
	}
}
