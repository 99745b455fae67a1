package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// A missing name is drift in a procedure, and none in a text that it executes.
func TestOfText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  mssql.Error
		want bool
	}{
		{mssql.Error{Number: 207}, true},
		{mssql.Error{Number: 208, ProcName: "p"}, false},
		{mssql.Error{Number: 2812}, false},
	} {
		if got := ofText(fmt.Errorf("it ended with: %w", c.err)); got != c.want {
			t.Errorf("%d in %q: %t", c.err.Number, c.err.ProcName, got)
		}
	}
}

// However a module was deployed and commented, its text is the same; the least other change is one.
func TestModuleText(t *testing.T) {
	t.Parallel()
	const want = "CREATE PROCEDURE dbo.p AS\nSELECT 1 AS one,\n    2 AS two"
	same := map[string]string{
		"itself":          want,
		"a semicolon":     want + ";\n\n",
		"comments around": "-- before\n" + want + "\n-- behind\n",
		"or alter":        "create or\talter PROCEDURE dbo.p AS\nSELECT 1 AS one,\n    2 AS two",
		"alter":           "ALTER PROC dbo.p AS\nSELECT 1 AS one,\n    2 AS two",
		"blanks":          "CREATE   PROCEDURE dbo.p AS\nSELECT 1 AS one,\n    2 AS two",
		"other line ends": "CREATE PROCEDURE dbo.p AS\r\nSELECT 1 AS one,\r\n    2 AS two\r\n",
		"an annotation":   "CREATE PROCEDURE dbo.p AS\n    -- gen:result One\nSELECT 1 AS one,\n    2 AS two",
		"a long one":      "CREATE PROCEDURE dbo.p AS\n/* gen:columns (one int,\n  two int) */  \nSELECT 1 AS one,\n    2 AS two",
		"several":         "CREATE PROCEDURE dbo.p AS\n/* a */ /* b */\n-- c\nSELECT 1 AS one,\n    2 AS two",
		"behind code":     "CREATE PROCEDURE dbo.p AS -- vet:allow P4: x\nSELECT 1 AS one, -- one\n    2 AS two -- two",
		"between words":   "CREATE PROCEDURE dbo.p AS\nSELECT 1 /* one */ AS one,\n    2/* two */AS two",
	}
	for name, text := range same {
		if line, a, b, differ := firstDifference(moduleText(want), moduleText(text)); differ {
			t.Errorf("%s: line %d: %q, %q", name, line, a, b)
		}
	}
	for text, difference := range map[string]string{
		"CREATE PROCEDURE dbo.p AS\nSELECT 2 AS one,\n    2 AS two":   "2: SELECT 1 AS one, | SELECT 2 AS one,",
		"CREATE PROCEDURE dbo.p AS\nSELECT 1 AS one,\n  2 AS two":     "3: 2 AS two | 2 AS two",
		"CREATE PROCEDURE dbo.p AS\n\nSELECT 1 AS one,\n    2 AS two": "2: SELECT 1 AS one, | (an empty line)",
		"CREATE PROCEDURE dbo.p AS\n-- a\nSELECT 1 AS one":            "2: SELECT 1 AS one, | SELECT 1 AS one",
		"not T-SQL": "1: CREATE PROCEDURE dbo.p AS | not T-SQL",
	} {
		line, a, b, _ := firstDifference(moduleText(want), moduleText(text))
		if got := fmt.Sprintf("%d: %s | %s", line, a, b); got != difference {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, difference)
		}
	}
	// The number is that of the line in the script, comments counted.
	annotated := "CREATE PROCEDURE dbo.p AS\n-- a\n/* b\n c */\nSELECT 1 AS one"
	if line, _, _, _ := firstDifference(moduleText(annotated), moduleText("CREATE PROCEDURE dbo.p AS\nSELECT 2 AS one")); line != 5 {
		t.Errorf("the difference is on line %d, not 5", line)
	}
}

// A set that several statements send may have the type of any of them.
func TestDiffers(t *testing.T) {
	t.Parallel()
	nvarchar := func(n int) sqltype.Type { return sqltype.Type{Kind: sqltype.NVarChar, Length: n} }
	varchar := sqltype.Type{Kind: sqltype.VarChar, Length: 2}
	sent := analyze.Column{Type: nvarchar(6), Types: []sqltype.Type{nvarchar(6), varchar}}
	for have, want := range map[sqltype.Type]bool{nvarchar(6): false, varchar: false, nvarchar(5): true} {
		if got := differs(sent, column{Type: have}); got != want {
			t.Errorf("%s: %t", have, got)
		}
	}
}

// One DENY outweighs every GRANT, wherever it stands.
func TestMayExecute(t *testing.T) {
	t.Parallel()
	name := catalog.Name{Schema: "shop", Name: "add"}
	cases := map[string]struct {
		permissions []permission
		want        bool
	}{
		"nothing":              {},
		"the object":           {[]permission{{"r", "G", "Shop", "ADD"}}, true},
		"another object":       {[]permission{{"r", "G", "shop", "drop"}}, false},
		"its schema":           {[]permission{{"r", "W", "shop", ""}}, true},
		"another schema":       {[]permission{{"r", "G", "dbo", ""}}, false},
		"the database":         {[]permission{{"r", "G", "", ""}}, true},
		"denied on the schema": {[]permission{{"r", "G", "shop", "add"}, {"public", "D", "shop", ""}}, false},
		"revoked grant option": {[]permission{{"r", "R", "shop", "add"}}, false},
	}
	for name2, c := range cases {
		if got := mayExecute(name, c.permissions); got != c.want {
			t.Errorf("%s: %t", name2, got)
		}
	}
}

// The first call is the most harmless; the others go where the body branches.
func TestCalls(t *testing.T) {
	t.Parallel()
	result, findings := generate.Analyze([]generate.Source{{Name: "a.sql", Role: generate.Any, Text: `
CREATE TYPE dbo.ids AS TABLE (id int NOT NULL);
GO
-- gen:null @kind
CREATE PROCEDURE dbo.p @mode int, @kind varchar(5), @ids dbo.ids READONLY, @most int = 10, @n int OUTPUT
AS
IF @mode = 7 OR @mode IN (8) RETURN 1;
IF @mode > 20 RETURN 2;
SET @n = CASE @kind WHEN 'cat' THEN 1 ELSE 2 END;
`}}, config.Default())
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	p := result.Program.Procedures[0]
	got := calls(p, result.Catalog.Procedures[p.Name.Key()])
	const first = "DECLARE @table_ids [dbo].[ids];\nDECLARE @out_n int = 0;\n" +
		"EXEC [dbo].[p] @mode = 0, @kind = NULL, @ids = @table_ids, @n = @out_n OUTPUT;"
	if got[0] != first {
		t.Errorf("the first call is:\n%s\nwant:\n%s", got[0], first)
	}
	for _, value := range []string{"@mode = 7", "@mode = 8", "@mode = 20", "@mode = 21", "@kind = 'cat'", "@most = 0"} {
		if !slices.ContainsFunc(got, func(batch string) bool { return strings.Contains(batch, value+",") }) {
			t.Errorf("no call passes %s", value)
		}
	}
	seen := map[string]bool{}
	for _, batch := range got {
		if seen[batch] {
			t.Errorf("a call is there twice:\n%s", batch)
		}
		seen[batch] = true
	}
}

// A constant of every type can be declared with it.
func TestConstants(t *testing.T) {
	t.Parallel()
	for _, kind := range []sqltype.Kind{
		sqltype.Bit, sqltype.Int, sqltype.Decimal, sqltype.Money, sqltype.Float, sqltype.Char, sqltype.VarChar, sqltype.NChar,
		sqltype.NVarChar, sqltype.Binary, sqltype.VarBinary, sqltype.Date, sqltype.Time, sqltype.DateTime, sqltype.DateTime2,
		sqltype.DateTimeOffset, sqltype.UniqueIdentifier, sqltype.XML,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			typ := sqltype.Type{Kind: kind}
			if zero(typ) == "NULL" || sample(typ) == "NULL" {
				t.Errorf("zero %s, sample %s", zero(typ), sample(typ))
			}
			if !typ.IsTemporal() && zero(typ) == sample(typ) {
				t.Errorf("zero and sample are both %s", zero(typ))
			}
		})
	}
}

func TestServerTypes(t *testing.T) {
	t.Parallel()
	cases := map[string]sqltype.Type{
		"nvarchar(50)":    {Kind: sqltype.NVarChar, Length: 50},
		"nvarchar(max)":   {Kind: sqltype.NVarChar, Length: sqltype.Max},
		"numeric(10,2)":   {Kind: sqltype.Decimal, Precision: 10, Scale: 2},
		"datetime2(3)":    {Kind: sqltype.DateTime2, Scale: 3},
		"timestamp":       {Kind: sqltype.RowVersion},
		"something(else)": {},
	}
	for text, want := range cases {
		if d := cmp.Diff(want, writtenType(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
	if got := metadataType("nvarchar", 100, 0, 0); got.Length != 50 {
		t.Errorf("100 bytes of nvarchar are %s", got)
	}
	if got := metadataType("nvarchar", -1, 0, 0); !got.IsMax() {
		t.Errorf("-1 bytes of nvarchar are %s", got)
	}
	if got := serverType("VARBINARY", 2147483645, 0, 0); !got.IsMax() {
		t.Errorf("2 GB of varbinary are %s", got)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	r := Report{Server: "test", Counts: Counts{Procedures: 1, Queries: 1}}
	r.drift("procedure b", catalog.Place{}, "parameter @x", "int", "bigint")
	r.drift("procedure a", catalog.Place{}, "", "defined", "missing")
	r.drift("procedure b", catalog.Place{}, "parameter @y", "defined", "missing")
	r.unchecked("", "something: %s", "why")
	r.unseen("procedure a", "result set 1")
	r.sort()
	var out strings.Builder
	r.Print(&out)
	const want = `server: test
procedure a
    scripts: defined
    server:  missing
procedure b
  parameter @x
    scripts: int
    server:  bigint
  parameter @y
    scripts: defined
    server:  missing
not seen: procedure a: result set 1
not checked: something: why
compared: 1 procedure, 1 query
drift: 3 differences
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
