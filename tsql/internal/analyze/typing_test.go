package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// typingSchema is what the cases of this file read and write.
const typingSchema = `
CREATE TABLE dbo.t (
    id bigint NOT NULL PRIMARY KEY,
    i int NOT NULL, i_null int NULL, ti tinyint NOT NULL, si smallint NOT NULL, b bit NOT NULL,
    d decimal(10, 2) NOT NULL, m money NOT NULL, f float NOT NULL, r real NOT NULL,
    v varchar(20) NOT NULL, n nvarchar(50) NOT NULL, n_null nvarchar(50) NULL, c char(5) NOT NULL, nc nchar(5) NOT NULL,
    vmax varchar(max) NOT NULL, nmax nvarchar(max) NOT NULL,
    bin varbinary(16) NOT NULL, bmax varbinary(max) NULL,
    da date NOT NULL, tm time(3) NOT NULL, dt datetime NOT NULL, dt2 datetime2(3) NOT NULL, dto datetimeoffset(2) NOT NULL,
    sdt smalldatetime NOT NULL, g uniqueidentifier NOT NULL, x xml NULL, rv rowversion,
    double_i AS (i * 2), label AS (n + N'!')
);
CREATE TABLE dbo.orders (id bigint NOT NULL PRIMARY KEY, customer nvarchar(50) NOT NULL, note nvarchar(100) NULL, total decimal(10, 2) NOT NULL);
CREATE TABLE dbo.lines (order_id bigint NOT NULL, line int NOT NULL, sku varchar(20) NOT NULL, qty int NULL, PRIMARY KEY (order_id, line));
CREATE TABLE dbo.log (id bigint IDENTITY NOT NULL PRIMARY KEY, at datetime2(3) NOT NULL DEFAULT SYSUTCDATETIME(), text nvarchar(200) NULL);
CREATE TABLE dbo.slots (name nvarchar(20) NOT NULL UNIQUE, owner nvarchar(20) NULL, code varchar(10) NOT NULL);
GO
CREATE SCHEMA app;
GO
CREATE TABLE app.orders (id int NOT NULL PRIMARY KEY, label varchar(10) NOT NULL);
CREATE TYPE dbo.ids AS TABLE (id bigint NOT NULL PRIMARY KEY);
CREATE SEQUENCE dbo.seq AS int;
CREATE SYNONYM dbo.o FOR dbo.orders;
GO
CREATE VIEW dbo.big_orders AS SELECT id, customer, total * 2 AS twice FROM dbo.orders WHERE total > 100;
GO
CREATE VIEW dbo.renamed (a, b) AS SELECT id, note FROM dbo.orders;
GO
CREATE FUNCTION dbo.double_it (@n int, @by int = 2) RETURNS int AS BEGIN RETURN @n * @by; END;
GO
CREATE FUNCTION dbo.lines_of (@id bigint) RETURNS TABLE AS RETURN (SELECT line, sku, qty FROM dbo.lines WHERE order_id = @id);
GO
CREATE FUNCTION dbo.words (@text nvarchar(max)) RETURNS @r TABLE (pos int NOT NULL PRIMARY KEY, word nvarchar(100) NULL) AS BEGIN RETURN; END;
GO
CREATE FUNCTION dbo.count_ids (@ids dbo.ids READONLY) RETURNS int AS BEGIN RETURN (SELECT COUNT(*) FROM @ids); END;
GO
`

// typing holds the catalog of typingSchema and what was found wrong while a test used it.
type typing struct {
	a     *analyzer
	env   *env
	found *diag.List
	stmts []syntax.Stmt
}

// newTyping reads the schema and the statements of a case; findings before the analysis end the test.
func newTyping(t *testing.T, schema, text string) typing {
	t.Helper()
	ddl, early := syntax.Parse(diag.NewFile("schema.sql", schema))
	cat, found := catalog.Build([]*syntax.Script{ddl}, catalog.Options{})
	early = append(early, found...)
	script, found := syntax.Parse(diag.NewFile("q.sql", text))
	early = append(early, found...)
	if len(early) > 0 {
		t.Fatalf("findings before the analysis:\n%s", early.Format())
	}
	result := typing{found: new(diag.List)}
	result.a = newAnalyzer(cat, result.found, catalog.Names{})
	result.env = newEnv(nil, script.File)
	for _, batch := range script.Batches {
		result.stmts = append(result.stmts, batch.Stmts...)
	}
	return result
}

// columns analyzes statements one after the other and returns a line per column of the last one's result, "name type
// [null]", before them how many rows there are, and after them the findings as "line:column rule: message | fix".
func columns(t *testing.T, schema, text string) string {
	t.Helper()
	ty := newTyping(t, schema, text)
	rows, sent := ty.run(ty.env)
	return renderRows(rows, sent) + renderTyping(*ty.found)
}

// run analyzes the statements and returns what the last of them sends.
func (ty typing) run(e *env) (rows rowset, sent bool) {
	for _, s := range ty.stmts {
		rows, sent = rowset{}, false
		switch s := s.(type) {
		case *syntax.SelectStmt:
			rows = ty.a.query(e, s.Query)
			sent = !rows.none
		case *syntax.Declare:
			ty.a.declareStmt(e, s)
		case *syntax.SetVariable:
			ty.a.assignVariable(e, s.Variable, s.Op, ty.a.scalar(e, s.X), s.X)
		case *syntax.CreateTable:
			ty.a.createTemp(e, s)
		case *syntax.If:
			ty.a.condition(e, s.Cond)
		default:
			rows, sent = ty.a.dml(e, s)
		}
	}
	return rows, sent
}

func renderRows(rows rowset, sent bool) string {
	if !sent {
		return ""
	}
	var out strings.Builder
	out.WriteString(map[Cardinality]string{Many: "many", Optional: "optional", One: "one"}[rows.Rows] + "\n")
	for _, c := range rows.Columns {
		fmt.Fprintf(&out, "%s %s%s\n", c.Name, c.Type, map[bool]string{true: " null"}[c.Nullable])
	}
	return out.String()
}

func renderTyping(found diag.List) string {
	found.Sort()
	var out strings.Builder
	for _, d := range found {
		line, column := d.File.Position(d.Span.From)
		fmt.Fprintf(&out, "%d:%d %s: %s", line, column, d.Rule, d.Message)
		if d.File.Name != "q.sql" {
			out.WriteString(" (" + d.File.Name + ")")
		}
		if d.Advice() != "" {
			out.WriteString(" | " + d.Advice())
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// flat puts the lines of a result into one, as the tables of cases write them.
func flat(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "; ")
}

// inferredColumns is columns for an annotated query: before the result it has a line per parameter. Given are the types
// that directives say, as in a DECLARE, and nulls the parameters that gen:null names.
func inferredColumns(t *testing.T, text, given, nulls string) string {
	t.Helper()
	ty := newTyping(t, typingSchema, text)
	var params []Param
	if given != "" {
		declared := newTyping(t, typingSchema, "DECLARE "+given)
		for _, v := range declared.stmts[0].(*syntax.Declare).Vars {
			typ, table, err := ty.a.cat.Type(v.Type)
			if err != nil {
				t.Fatal(err)
			}
			params = append(params, Param{Name: v.Name, Type: typ, Table: table})
		}
	}
	ty.env.infer = newInference(params, strings.Fields(nulls))
	var rows rowset
	var sent bool
	found := ty.a.inferParams(ty.env, func(e *env) { rows, sent = ty.run(e) })
	var out strings.Builder
	for _, p := range found {
		fmt.Fprintf(&out, "%s %s%s\n", p.Name, p.Type, map[bool]string{true: " null"}[p.Nullable])
	}
	return out.String() + renderRows(rows, sent) + renderTyping(*ty.found)
}
