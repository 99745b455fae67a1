package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// build reads scripts, the first of which is 1.sql, and returns the catalog with what is wrong with it.
func build(t *testing.T, texts ...string) (*catalog.Catalog, diag.List) {
	t.Helper()
	var scripts []*syntax.Script
	for i, text := range texts {
		script, found := syntax.Parse(diag.NewFile(fmt.Sprintf("%d.sql", i+1), text))
		_, more := directive.Read(script)
		if found = append(found, more...); len(found) > 0 {
			t.Fatalf("%s", found.Format())
		}
		scripts = append(scripts, script)
	}
	return catalog.Build(scripts, catalog.Options{})
}

// good is build for scripts with nothing wrong.
func good(t *testing.T, texts ...string) *catalog.Catalog {
	t.Helper()
	c, found := build(t, texts...)
	if len(found) > 0 {
		t.Errorf("unexpected findings:\n%s", found.Format())
	}
	return c
}

func name(text string) catalog.Name {
	schema, last, found := strings.Cut(text, ".")
	if !found {
		schema, last = "dbo", text
	}
	return catalog.Name{Schema: schema, Name: last}
}

// describe renders a table: columns with what is said about them, keys and indexes.
func describe(table *catalog.Table) string {
	if table == nil {
		return "none"
	}
	var parts []string
	for _, c := range table.Columns {
		words := []string{c.Name, c.Type.String()}
		for _, flag := range []struct {
			word string
			set  bool
		}{
			{"null", c.Nullable},
			{"identity", c.Identity},
			{"computed", c.Computed},
			{"generated", c.Generated},
			{"default", c.HasDefault},
			{"collate " + c.Collation, c.Collation != ""},
			{"-- " + c.Doc, c.Doc != ""},
		} {
			if flag.set {
				words = append(words, flag.word)
			}
		}
		parts = append(parts, strings.Join(words, " "))
	}
	for _, k := range table.Keys {
		text := "key"
		if k.Primary {
			text = "primary"
		}
		parts = append(parts, fmt.Sprintf("%s %s(%s)", text, k.Name, strings.Join(k.Columns, " ")))
	}
	return strings.Join(parts, "; ")
}

func TestTables(t *testing.T) {
	t.Parallel()
	tests := []struct{ title, text, want string }{
		{"nullability that is not said", `CREATE TABLE t (a int, b int NULL, c int NOT NULL)`, "a int null; b int null; c int"},
		{
			"what is never NULL",
			`CREATE TABLE t (a int PRIMARY KEY, b int IDENTITY(1,1), c rowversion, d sysname, e sysname NULL)`,
			"a int; b int identity; c rowversion generated; d nvarchar(128); e nvarchar(128) null; primary (a)",
		},
		{
			"a primary key of the table", `CREATE TABLE t (a int, b int, c int, CONSTRAINT pk PRIMARY KEY (B, a))`,
			"a int; b int; c int null; primary pk(b a)",
		},
		{
			"the primary key comes first",
			`CREATE TABLE t (a int NOT NULL UNIQUE, b int CONSTRAINT uq UNIQUE, c int NOT NULL CONSTRAINT pk PRIMARY KEY NONCLUSTERED)`,
			"a int; b int null; c int; primary pk(c); key (a); key uq(b)",
		},
		{
			"unique indexes", `CREATE TABLE t (a int, b int, INDEX i UNIQUE (a), INDEX j (b), INDEX k UNIQUE (b) WHERE b > 1)
				CREATE UNIQUE INDEX l ON t (b, A) CREATE UNIQUE INDEX m ON t (b) WHERE a > 1 CREATE INDEX n ON t (b)`,
			"a int null; b int null; key i(a); key l(b a)",
		},
		{
			"computed columns", `CREATE TABLE t (a int NOT NULL, b AS a + 1, c AS a * 2 PERSISTED NOT NULL)`,
			"a int; b unknown null computed; c unknown computed",
		},
		{
			"defaults and collations", `CREATE TABLE t (a int DEFAULT 1, b varchar(5) COLLATE Latin1_General_BIN2 NOT NULL, c int)
				ALTER TABLE t ADD CONSTRAINT d DEFAULT 2 FOR c`,
			"a int null default; b varchar(5) collate Latin1_General_BIN2; c int null default",
		},
		{
			"alias types", `CREATE TYPE dbo.id FROM nvarchar(40) NOT NULL; CREATE TYPE note FROM nvarchar(max); CREATE TYPE n FROM sysname;
				CREATE TABLE t (a id, b id NULL, c dbo.note, d n)`,
			"a nvarchar(40); b nvarchar(40) null; c nvarchar(max) null; d nvarchar(128)",
		},
		{
			"columns of a temporal table", `CREATE TABLE t (a int NOT NULL, f datetime2(3) GENERATED ALWAYS AS ROW START, u datetime2(3)
				GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (f, u))`,
			"a int; f datetime2(3) generated; u datetime2(3) generated",
		},
		{
			"ADD", `CREATE TABLE t (a int) ALTER TABLE dbo.t ADD b int NOT NULL, c int CONSTRAINT u UNIQUE, CONSTRAINT pk PRIMARY KEY (b)`,
			"a int null; b int; c int null; primary pk(b); key u(c)",
		},
		{
			"ALTER COLUMN", `CREATE TABLE t (a int NOT NULL DEFAULT 1, b int IDENTITY, c varchar(5) COLLATE Latin1_General_BIN2 NOT NULL)
				ALTER TABLE t ALTER COLUMN a bigint ALTER TABLE t ALTER COLUMN b bigint
				ALTER TABLE t ALTER COLUMN C nvarchar(9) NOT NULL ALTER TABLE t ALTER COLUMN c ADD SPARSE`,
			"a bigint null default; b bigint identity; c nvarchar(9)",
		},
		{
			"ALTER COLUMN of the primary key", `CREATE TABLE t (a int PRIMARY KEY) ALTER TABLE t ALTER COLUMN a bigint`,
			"a bigint; primary (a)",
		},
		{
			"DROP of columns, constraints and indexes",
			`CREATE TABLE t (a int NOT NULL, b int, c int, CONSTRAINT pk PRIMARY KEY (a), CONSTRAINT uq UNIQUE (b), CONSTRAINT ck CHECK (c > 1))
				CREATE UNIQUE INDEX i ON t (c) CREATE UNIQUE INDEX j ON t (b)
				ALTER TABLE t DROP CONSTRAINT UQ, CONSTRAINT ck DROP INDEX i ON t, t.j ALTER TABLE t DROP COLUMN b ALTER TABLE t DROP COLUMN IF EXISTS x`,
			"a int; c int null; primary pk(a)",
		},
		{
			"indexes that are disabled are no keys until they are built again",
			`CREATE TABLE t (a int NOT NULL, b int, c int, d int, CONSTRAINT pk PRIMARY KEY (a), CONSTRAINT uq UNIQUE (b), INDEX i UNIQUE (c), INDEX j UNIQUE (d))
				ALTER INDEX ALL ON t DISABLE; ALTER INDEX UQ ON dbo.t REBUILD; ALTER INDEX pk ON t REBUILD; ALTER INDEX i ON t REORGANIZE;
				DROP INDEX j ON t; ALTER INDEX j ON t REBUILD; ALTER INDEX x ON unknown DISABLE`,
			"a int; b int null; c int null; d int null; primary pk(a); key uq(b)",
		},
		{
			"DROP_EXISTING replaces an index", `CREATE TABLE t (a int, b int) CREATE UNIQUE INDEX i ON t (a)
				CREATE UNIQUE INDEX I ON t (a, b) WITH (DROP_EXISTING = ON)`,
			"a int null; b int null; key I(a b)",
		},
		{
			"a condition is taken as true", `IF OBJECT_ID(N'dbo.t') IS NULL CREATE TABLE t (a int)
				IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = 'b') BEGIN ALTER TABLE t ADD b int; CREATE UNIQUE INDEX i ON t (b); END`,
			"a int null; b int null; key i(b)",
		},
		{
			"a condition that guards what exists already", `CREATE TABLE t (a int CONSTRAINT u UNIQUE)
				IF OBJECT_ID('t') IS NULL CREATE TABLE t (b int)
				IF COL_LENGTH('t', 'a') IS NULL ALTER TABLE t ADD a bigint, c int, CONSTRAINT u UNIQUE (a)
				IF 1 = 0 CREATE INDEX u ON t (a)
				IF 1 = 0 ALTER TABLE t DROP COLUMN x
				IF 1 = 0 ALTER TABLE unknown DROP COLUMN x
				IF 1 = 0 DROP TABLE unknown
				IF 1 = 0 DROP INDEX x ON t`,
			"a int null; c int null; key u(a)",
		},
		{
			"the first branch that defines something", `IF 1 = 0 PRINT 'x' ELSE CREATE TABLE t (a int)
				IF 1 = 0 ALTER TABLE t ADD b int ELSE ALTER TABLE t ADD c int`,
			"a int null; b int null",
		},
		{
			"a TRY block", `BEGIN TRY CREATE TABLE t (a int) END TRY BEGIN CATCH CREATE TABLE t (b int) END CATCH`,
			"a int null",
		},
		{"IF EXISTS", `DROP TABLE IF EXISTS t; CREATE TABLE t (a int)`, "a int null"},
		{"DROP and CREATE", `CREATE TABLE t (a int) DROP TABLE t CREATE TABLE t (b int)`, "b int null"},
		{"temp tables are not kept", `CREATE TABLE #t (a nosuchtype) ALTER TABLE #t ADD b int DROP TABLE #t`, "none"},
		{"a loop is taken as executed once", `WHILE 1 = 0 CREATE TABLE t (a int)`, "a int null"},
	}
	for _, test := range tests {
		t.Run(test.title, func(t *testing.T) {
			t.Parallel()
			if got := describe(good(t, test.text).Table(name("t"))); got != test.want {
				t.Errorf("got:  %s\nwant: %s", got, test.want)
			}
		})
	}
}

func TestColumnDocs(t *testing.T) {
	t.Parallel()
	c := good(t, `
-- What was ordered.
-- vet:allow P4: not part of the text
CREATE TABLE dbo.t (
	id int NOT NULL, -- the order's number
	-- Above, on
	-- two lines.
	a int NULL,
	b int NULL, c int NULL, -- shared: nobody's
	-- vet:allow P4: no text
	d int NULL, -- vet:allow P4: none either

	-- A paragraph about nothing in particular.

	e int NULL DEFAULT (
		1), /* at the end */
	f int NULL -- the last
)
ALTER TABLE t ADD g int NULL -- added
GO
-- A condition's.
IF OBJECT_ID('u') IS NULL
	CREATE TABLE u (a int NULL) -- no column's
GO
-- A list.
CREATE TYPE v AS TABLE (
	a int NOT NULL -- of the type
)
`)
	want := "id int -- the order's number; a int null -- Above, on\ntwo lines.; b int null; c int null; d int null; " +
		"e int null default -- at the end; f int null -- the last; g int null -- added"
	if got := describe(c.Table(name("t"))); got != want {
		t.Errorf("got:  %s\nwant: %s", got, want)
	}
	if got := c.Table(name("t")).Doc; got != "What was ordered." {
		t.Errorf("doc of t: %q", got)
	}
	if got := c.Table(name("u")); got.Doc != "A condition's." || describe(got) != "a int null" {
		t.Errorf("u: %q, %s", got.Doc, describe(got))
	}
	v := c.TableTypes["dbo.v"]
	if v == nil || v.Doc != "A list." || !v.Type || describe(v) != "a int -- of the type" {
		t.Errorf("v: %+v", v)
	}
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	c := good(t, `CREATE TABLE t (a int PRIMARY KEY, b int, INDEX i (b) INCLUDE (a))
		CREATE INDEX j ON t (b, a) INCLUDE (A) WHERE b > 1 WITH (ALLOW_PAGE_LOCKS = OFF)
		CREATE TABLE u (a int, INDEX c CLUSTERED (a), CONSTRAINT pk PRIMARY KEY NONCLUSTERED (a))`)
	var got []string
	for _, table := range []string{"t", "u"} {
		for _, i := range c.Table(name(table)).Indexes {
			got = append(got, fmt.Sprintf("%s.%s(%s) include(%s) unique=%t clustered=%t filtered=%t options=%d", table, i.Name,
				strings.Join(i.Columns, " "), strings.Join(i.Include, " "), i.Unique, i.Clustered, i.Where != nil, len(i.Options)))
		}
	}
	want := []string{
		"t.(a) include() unique=true clustered=true filtered=false options=0",
		"t.i(b) include(a) unique=false clustered=false filtered=false options=1",
		"t.j(b a) include(a) unique=false clustered=false filtered=true options=1",
		"u.pk(a) include() unique=true clustered=false filtered=false options=1",
		"u.c(a) include() unique=false clustered=true filtered=false options=0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	c := good(t, `
CREATE PROCEDURE old AS SELECT 1
GO
CREATE OR ALTER PROCEDURE old @list dbo.list READONLY, @id ids.id = NULL, @out decimal(10, 2) OUTPUT, @c CURSOR VARYING OUTPUT AS SELECT 2
GO
ALTER PROCEDURE dbo.made_elsewhere AS SELECT 1
GO
CREATE FUNCTION scalar (@a int) RETURNS ids.id AS BEGIN RETURN N'' END
GO
CREATE FUNCTION inline (@a int) RETURNS TABLE AS RETURN (SELECT @a AS a)
GO
CREATE FUNCTION multi (@a int) RETURNS @t TABLE (a int PRIMARY KEY, b ids.id) AS BEGIN RETURN END
GO
CREATE VIEW v AS SELECT 1 AS a
GO
ALTER VIEW v AS SELECT 2 AS a
GO
CREATE SEQUENCE s1; CREATE SEQUENCE s2 AS int; CREATE SEQUENCE s3 AS decimal(9, 0)
CREATE SYNONYM syn FOR scalar; CREATE SYNONYM syn2 FOR dbo.syn; CREATE SYNONYM a FOR b; CREATE SYNONYM b FOR a
CREATE SYNONYM objects FOR sys.objects
`,
		// A later script may define the types of parameters.
		`CREATE TYPE list AS TABLE (a int) CREATE TYPE ids.id FROM nvarchar(40)`)

	p := c.Procedure(name("old"))
	if len(p.Params) != 4 || p.Script == nil || p.Batch == nil || p.Def.OrAlter == false {
		t.Fatalf("old: %+v", p)
	}
	var got []string
	for _, param := range p.Params {
		got = append(got, fmt.Sprintf("%s %s table=%t default=%t output=%t readonly=%t", param.Name, param.Type,
			param.Table != nil, param.Default != nil, param.Output, param.ReadOnly))
	}
	want := []string{
		"@list dbo.list table=true default=false output=false readonly=true",
		"@id nvarchar(40) table=false default=true output=false readonly=false",
		"@out decimal(10,2) table=false default=false output=true readonly=false",
		"@c cursor table=false default=false output=true readonly=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("parameters:\n%s", strings.Join(got, "\n"))
	}
	if c.Procedure(name("made_elsewhere")) == nil {
		t.Error("ALTER of a procedure that dynamic SQL made does not define it")
	}
	if f := c.Function(name("scalar")); f.Returns.String() != "nvarchar(40)" || f.Params[0].Type.String() != "int" {
		t.Errorf("scalar: %+v", f)
	}
	if f := c.Function(name("multi")); describe(f.Table) != "a int; b nvarchar(40) null; primary (a)" {
		t.Errorf("multi: %s", describe(f.Table))
	}
	if f := c.Function(name("inline")); f.Table != nil || f.Def.Inline == nil {
		t.Errorf("inline: %+v", f)
	}
	if v := c.View(name("V")); !v.Def.Alter {
		t.Errorf("ALTER VIEW did not replace the view: %+v", v)
	}
	for seq, want := range map[string]string{"s1": "bigint", "s2": "int", "s3": "decimal(9,0)"} {
		if got := c.Sequence(name(seq)).Type.String(); got != want {
			t.Errorf("%s is %s, want %s", seq, got, want)
		}
	}
	if c.Function(name("syn2")) != c.Function(name("scalar")) || c.Lookup(name("a")) != nil || c.Table(name("objects")) == nil {
		t.Error("synonyms are not followed")
	}
	if c.Table(name("scalar")) != nil || c.Lookup(name("nothing")) != nil || c.View(name("list")) != nil {
		t.Error("a look-up found what is not there")
	}
	var order []string
	for _, o := range c.Order {
		order = append(order, o.ObjectName().Name)
	}
	if got := strings.Join(order, " "); got != "old made_elsewhere scalar inline multi v s1 s2 s3 syn syn2 a b objects list id" {
		t.Errorf("order: %s", got)
	}
	if at := p.Where(); at.File.Slice(at.Span) != "old" {
		t.Errorf("old is defined at %q", at.File.Slice(at.Span))
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	c := good(t, `CREATE TABLE t (a int); CREATE TYPE l AS TABLE (a int); CREATE TYPE id FROM int; CREATE SEQUENCE s
CREATE SYNONYM y FOR t
GO
CREATE VIEW v WITH SCHEMABINDING AS SELECT a FROM dbo.t
GO
CREATE UNIQUE CLUSTERED INDEX i ON v (a) -- a view's indexes are not kept
DROP INDEX i ON v
GO
CREATE FUNCTION f () RETURNS int AS BEGIN RETURN 1 END
GO
CREATE PROCEDURE p AS SELECT 1 AS x
GO
IF OBJECT_ID('p') IS NOT NULL DROP PROC p
DROP FUNCTION F; DROP VIEW v; DROP SYNONYM y; DROP TABLE #temp, dbo.t; DROP TYPE l, id; DROP SEQUENCE IF EXISTS s, s2
DROP SCHEMA unknown; DROP TRIGGER unknown`)
	if len(c.Order) != 0 || c.Lookup(name("t")) != nil || c.Lookup(name("v")) != nil || len(c.TableTypes) != 0 {
		t.Errorf("left: %v", c.Order)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want string // position, a part of the message, and a part of the fix
	}{
		{"CREATE TABLE t (a int)\nCREATE TABLE t (a int)", "2:14|dbo.t is defined twice: it is a table, defined at 1.sql:1|remove one"},
		{"CREATE TABLE t (a int)\nCREATE TABLE T (a int)", "2:14|dbo.T differs only in case from a table dbo.t|write dbo.t"},
		{"CREATE TABLE t (a int)\nIF 1=1 CREATE TABLE T (a int)", "2:21|differs only in case|write dbo.t"},
		{"CREATE TABLE t (a int)\nGO\nCREATE VIEW t AS SELECT 1 AS a", "3:13|defined twice: it is a table|"},
		{"CREATE TABLE t (a int)\nGO\nCREATE OR ALTER VIEW t AS SELECT 1 AS a", "3:22|dbo.t is a table|"},
		{"CREATE TYPE t FROM int\nCREATE TYPE t AS TABLE (a int)", "2:13|defined twice: it is an alias type|"},
		{"CREATE TABLE sys.t (a int)", "1:14|belongs to the server|another schema"},
		{"CREATE TABLE db.dbo.t (a int)", "1:14|in the database db|"},
		{"CREATE TABLE t (a int, a int)", "1:24|column a is defined twice|remove"},
		{"CREATE TABLE t (a int, A int)", "1:24|column A differs only in case from a|rename"},
		{"CREATE TABLE t (a itn)", "1:19|unknown type itn|did you mean int?"},
		{"CREATE TABLE t (a json)", "1:19|needs SQL Server 2025|write nvarchar(max)"},
		{"CREATE TABLE t (a bool)", "1:19|unknown type bool|write bit"},
		{"CREATE TABLE t (a ids.x)", "1:19|unknown type ids.x|"},
		{"CREATE TYPE orders AS TABLE (a int)\nCREATE TABLE t (a ordres)", "2:19|unknown type|did you mean orders?"},
		{"CREATE TYPE orders AS TABLE (a int)\nCREATE TABLE t (a orders)", "2:19|column a can't be of type dbo.orders|"},
		{"CREATE TYPE id FROM int\nCREATE TABLE t (a id(5))", "2:19|dbo.id takes nothing in parentheses: it is an alias type|"},
		{"CREATE TABLE t (a varchar(9000))", "1:19|at most 8000; use varchar(max)|"},
		{"CREATE TABLE t (a [cursor])", "1:19|can't be of type cursor|"},
		{"CREATE TYPE x AS TABLE (a int)\nCREATE TYPE y FROM x", "2:20|can't be the base of a type|built-in"},
		{"CREATE TYPE x FROM int\nCREATE TYPE y FROM x", "2:20|x can't be the base of a type|built-in"},
		{"CREATE TABLE t (a dbo.orderz)\nCREATE TYPE dbo.orders FROM int", "1:19|unknown type dbo.orderz|"},
		{"CREATE TYPE dbo.orders FROM int\nCREATE TABLE t (a dbo.ordres)", "2:19|unknown type|did you mean dbo.orders?"},
		{"CREATE TYPE y FROM x", "1:20|unknown type x|"},
		{"CREATE TABLE t (a int NULL PRIMARY KEY)", "1:17|column a can't be NULL: it is in the primary key|NOT NULL"},
		{"CREATE TABLE t (a int NULL IDENTITY)", "1:17|it is an identity|NOT NULL"},
		{"CREATE TABLE t (a int)\nALTER TABLE t ADD PRIMARY KEY (a)", "2:19|in the primary key but may be NULL|NOT NULL first"},
		{"CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL, PRIMARY KEY (b))", "1:52|second primary key|UNIQUE"},
		{"CREATE TABLE t (column1 int, UNIQUE (colunm1))", "1:38|t has no column colunm1|did you mean column1?"},
		{"CREATE TABLE t (a int, UNIQUE (zzz))", "1:32|no column zzz|the columns are a"},
		{"CREATE TABLE t (a int, FOREIGN KEY (zzz) REFERENCES u (a))", "1:37|no column zzz|"},
		{"CREATE TABLE t (a int)\nALTER TABLE t ADD DEFAULT 1 FOR b", "2:33|no column b|"},
		{"CREATE TABLE t (a int)\nCREATE INDEX i ON t (b)", "2:22|no column b|"},
		{"CREATE TABLE t (a int)\nCREATE INDEX i ON t (a) INCLUDE (b)", "2:34|no column b|"},
		{"CREATE TABLE t (a int, INDEX i (a))\nCREATE INDEX I ON t (a)", "2:1|two indexes I|rename"},
		{"CREATE TABLE orders (a int)\nALTER TABLE ordres ADD b int", "2:13|no table dbo.ordres|did you mean dbo.orders?"},
		{"CREATE TABLE sales.orders (a int)\nALTER TABLE orders ADD b int", "2:13|no table dbo.orders|did you mean sales.orders?"},
		{"CREATE SEQUENCE s\nALTER TABLE s ADD b int", "2:13|dbo.s is a sequence, not a table|"},
		{"CREATE VIEW v AS SELECT 1 AS a\nGO\nALTER TABLE v ADD b int", "3:13|dbo.v is a view, not a table|"},
		{"CREATE TABLE t (a int)\nALTER TABLE t ALTER COLUMN b int", "2:28|no column b|"},
		{"CREATE TABLE t (a int, b AS a)\nALTER TABLE t ALTER COLUMN b int", "2:28|computed and can't be altered|drop"},
		{"CREATE TABLE t (a int PRIMARY KEY)\nALTER TABLE t ALTER COLUMN a int NULL", "2:28|in the primary key|NOT NULL"},
		{"CREATE TABLE t (a int, b int)\nALTER TABLE t DROP COLUMN c", "2:27|no column c|"},
		{"CREATE TABLE t (a int, b int, INDEX i (b))\nALTER TABLE t DROP COLUMN b", "2:27|column b is in the index i|first"},
		{"CREATE TABLE t (a int, b int UNIQUE)\nALTER TABLE t DROP COLUMN b", "2:27|column b is in a key|first"},
		{"CREATE TABLE t (a int)\nDROP INDEX i ON t", "2:12|dbo.t has no index i|IF EXISTS"},
		{"DROP TABLE t", "1:12|no table dbo.t to drop|IF EXISTS"},
		{"CREATE SEQUENCE v\nALTER TABLE t ADD b int", "2:13|there is no table dbo.t|create it before"},
		{"CREATE SEQUENCE t\nDROP TABLE t", "2:12|dbo.t is a sequence, defined at 1.sql:1|"},
		{"CREATE PROC sys.p AS SELECT 1 AS x", "1:13|belongs to the server|another schema"},
		{"DROP TABLE db..t", "1:12|in the database db|"},
		{"CREATE SEQUENCE sys.t", "1:17|belongs to the server|"},
		{"CREATE SYNONYM sys.t FOR u", "1:16|belongs to the server|"},
		{"CREATE TYPE sys.t FROM int", "1:13|belongs to the server|"},
		{"CREATE TABLE t (a db.dbo.u)", "1:19|in the database db|"},
		{"CREATE TABLE t (a int, INDEX i (a))\nCREATE INDEX i ON t (a) WITH (DROP_EXISTING = OFF)", "2:1|two indexes i|"},
		{"CREATE TABLE t (a int, INDEX i (a), INDEX i (a))", "1:37|two indexes i|"},
		{"CREATE TABLE t (a int)\nALTER TABLE t ALTER COLUMN a itn", "2:30|unknown type|did you mean int?"},
		{"CREATE TABLE f (a int)\nGO\nCREATE FUNCTION f () RETURNS int AS BEGIN RETURN 1 END", "3:17|it is a table|"},
		{"CREATE SEQUENCE s AS float", "1:22|can't be of type float|integer"},
		{"CREATE SEQUENCE s AS folat", "1:22|unknown type|did you mean float?"},
		{"SET NOEXEC ON\nGO\nCREATE TABLE t (a int)", "1:1|keeps what follows from running|under the IF"},
		{"SET PARSEONLY ON\nIF 1 = 1 CREATE TABLE t (a int)\nCREATE TABLE u (a int)", "1:1|keeps what follows from running|remove"},
		{"CREATE TABLE t (a int)\nEXEC sp_rename 't.b', 'c', 'COLUMN'", "2:6|t has no column b|the columns are a"},
		{"CREATE TABLE t (a int, b int)\nEXEC sp_rename 't.a', 'b', 'COLUMN'", "2:6|t has a column b|another name"},
		{"CREATE TABLE t (a int)\nCREATE TABLE u (a int)\nEXEC sp_rename 't', 'u'", "3:6|dbo.u is a table, defined at 1.sql:2|another name"},
		{"EXEC sp_rename 't.a', 'b', 'COLUMM'", "1:1|COLUMM is not a type of object|COLUMN"},
		{"EXEC sp_addtype 'email', 'varhcar(20)'", "1:1|sp_addtype: unknown type varhcar|did you mean varchar?"},
		{"EXEC sp_addtype 'email', 'table'", "1:1|sp_addtype: table is not a type|built-in"},
		{"CREATE TYPE x FROM int\nEXEC sp_addtype 'y', 'x'", "2:1|sp_addtype: x can't be the base of a type|built-in"},
		{"CREATE TYPE l AS TABLE (a int)\nGO\nCREATE PROC p @l l AS SELECT 1", "3:15|must be READONLY|add READONLY"},
		{"CREATE PROC p @l int READONLY AS SELECT 1", "1:15|only table types are READONLY|leave READONLY out"},
		{"CREATE PROC p @a int, @A int AS SELECT 1", "1:23|two parameters @A|rename"},
		{"CREATE PROC p @a itn AS SELECT 1", "1:18|unknown type|did you mean int?"},
		{"CREATE FUNCTION f () RETURNS itn AS BEGIN RETURN 1 END", "1:30|unknown type|did you mean int?"},
		{"CREATE FUNCTION f () RETURNS [cursor] AS BEGIN RETURN 1 END", "1:30|can't return cursor|"},
		{"CREATE FUNCTION f () RETURNS @t TABLE (a itn) AS BEGIN RETURN END", "1:42|unknown type|did you mean int?"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			_, found := build(t, test.text)
			want := strings.SplitN(test.want, "|", 3)
			if len(found) != 1 {
				t.Fatalf("%d findings, want one\n%s", len(found), found.Format())
			}
			d := found[0]
			if !strings.HasPrefix(d.Error(), "1.sql:"+want[0]+":") || !strings.Contains(d.Message, want[1]) ||
				!strings.Contains(d.Fix, want[2]) || d.Rule != "catalog" {
				t.Errorf("want %s\n%s", test.want, found.Format())
			}
		})
	}
}

// objectName splits "a.b.c".
func objectName(text string) *syntax.ObjectName {
	n := &syntax.ObjectName{}
	for part := range strings.SplitSeq(text, ".") {
		n.Parts = append(n.Parts, syntax.Ident{Value: part})
	}
	return n
}

func TestResolve(t *testing.T) {
	t.Parallel()
	c := good(t, "CREATE TYPE ids.id FROM int; CREATE TYPE l AS TABLE (a int)")
	for text, want := range map[string]string{
		"t": "dbo.t", "s.t": "s.t", ".t": "dbo.t", "..t": "dbo.t", "...t": "dbo.t", ".s.t": "s.t",
		"db..t":      "error: in the database db",
		"db.s.t":     "error: s.t is in the database db",
		"srv.db.s.t": "error: s.t is on another server (srv)",
		"srv...t":    "error: on another server",
	} {
		n, err := c.Resolve(objectName(text))
		got := n.String()
		if part, wanted := strings.CutPrefix(want, "error: "); wanted {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("Resolve(%s): %v lacks %q", text, err, part)
			}
		} else if err != nil || got != want {
			t.Errorf("Resolve(%s) = %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"varchar": "varchar(30), varchar(1)", "sys.BIT": "bit, bit", "INT": "int, int", "sysname": "nvarchar(128), nvarchar(128)",
		"ids.id": "error: write int", "l": "error: write dbo.l", "cursor": "error: nothing converts to cursor",
		"x.int": "error: unknown type x.int", "a.b.c": "error: in the database a",
	} {
		name := &syntax.TypeName{Name: objectName(text)}
		cast, err := c.CastType(name)
		if part, wanted := strings.CutPrefix(want, "error: "); wanted {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("CastType(%s): %v lacks %q", text, err, part)
			}
			continue
		}
		declared, _, _ := c.Type(name)
		if got := cast.String() + ", " + declared.String(); err != nil || got != want {
			t.Errorf("CastType and Type of %s: %s, %v, want %s", text, got, err, want)
		}
	}
	if custom, _ := catalog.Build(nil, catalog.Options{DefaultSchema: "shop"}); custom.DefaultSchema != "shop" {
		t.Errorf("default schema %s", custom.DefaultSchema)
	}
}

func TestTableFromDef(t *testing.T) {
	t.Parallel()
	c := good(t, "CREATE TYPE id FROM int NOT NULL")
	file := diag.NewFile("x.sql", "DECLARE @t TABLE (a id, b itn, -- no doc\nUNIQUE (a))")
	script, _ := syntax.Parse(file)
	def := script.Batches[0].Stmts[0].(*syntax.Declare).Vars[0].Table
	table, found := c.TableFromDef(file, catalog.Name{Name: "@t"}, def)
	if got := describe(table); got != "a int; b unknown null; key (a)" {
		t.Errorf("got %s", got)
	}
	if len(found) != 1 || !strings.HasPrefix(found[0].Error(), "x.sql:1:27: unknown type itn") {
		t.Errorf("%s", found.Format())
	}
	if len(c.Tables) != 0 {
		t.Error("the table is in the catalog")
	}
	if table.Column("A") != &table.Columns[0] || table.Column("z") != nil {
		t.Error("Column does not find what is there, or finds what is not")
	}
}

func TestSystemViews(t *testing.T) {
	t.Parallel()
	c := good(t, "")
	objects := c.Table(catalog.Name{Schema: "SYS", Name: "Objects"})
	if objects == nil || objects.Column("object_id").Type.String() != "int" || !objects.Column("type").Nullable {
		t.Errorf("sys.objects: %s", describe(objects))
	}
	columns := c.Table(catalog.Name{Schema: "INFORMATION_SCHEMA", Name: "COLUMNS"})
	if columns == nil || columns.Column("is_nullable").Type.String() != "varchar(3)" {
		t.Errorf("INFORMATION_SCHEMA.COLUMNS: %s", describe(columns))
	}
	for view := range strings.FieldsSeq("tables columns indexes schemas types procedures sql_modules dm_tran_locks") {
		if c.Lookup(catalog.Name{Schema: "sys", Name: view}) == nil {
			t.Errorf("sys.%s is not known", view)
		}
	}
	if c.Lookup(catalog.Name{Schema: "sys", Name: "nothing"}) != nil || len(c.Order) != 0 {
		t.Error("the server's views are mixed up with those of scripts")
	}
}

// A history table that only HISTORY_TABLE names can have indexes, and its columns follow those of its table.
func TestHistory(t *testing.T) {
	t.Parallel()
	c := good(t, `CREATE TABLE t (a int NOT NULL PRIMARY KEY, f datetime2 GENERATED ALWAYS AS ROW START, u datetime2 GENERATED ALWAYS AS ROW END,
		PERIOD FOR SYSTEM_TIME (f, u)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h))
		CREATE UNIQUE INDEX i ON h (a, f)
		ALTER TABLE t SET (SYSTEM_VERSIONING = OFF)
		ALTER TABLE t ADD b int
		ALTER TABLE h ADD b int
		ALTER TABLE t SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h))`)
	if got, want := describe(c.Table(name("h"))), "a int; f datetime2(7); u datetime2(7); b int null"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestPasses checks what decides nothing about what scripts define, and is passed over.
func TestPasses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"CREATE INDEX i ON t (a)",
		"CREATE TABLE t (a int)\nDROP INDEX i ON u",
		"CREATE TABLE t (a int)\nIF @@ERROR <> 0 SET NOEXEC ON\nGO\nCREATE TABLE u (a int)",
		"SET NOEXEC ON\nINSERT t (a) VALUES (1)\nSET NOEXEC OFF\nCREATE TABLE t (a int)",
		"SET NOEXEC OFF\nCREATE TABLE t (a int)",
		"CREATE TABLE t (a int PRIMARY KEY, x xml)\nCREATE PRIMARY XML INDEX p ON t (x)\nCREATE XML INDEX i ON t (x) USING XML INDEX p FOR PATH\nDROP INDEX i ON t",
		"CREATE SPATIAL INDEX i ON t (g) USING GEOMETRY_GRID WITH (BOUNDING_BOX = (0, 0, 1, 1), GRIDS = (LOW, MEDIUM, HIGH, LOW)) ON [PRIMARY]",
		"CREATE FULLTEXT CATALOG c AS DEFAULT\nCREATE FULLTEXT INDEX ON t (a) KEY INDEX p ON c WITH CHANGE_TRACKING AUTO",
		"CREATE XML SCHEMA COLLECTION c AS N'<schema/>'\nDROP XML SCHEMA COLLECTION c",
		"CREATE RULE r AS @v LIKE 'a%'\nGO\nCREATE DEFAULT d AS 0\nGO\nEXEC sp_bindefault 'd', 't.a'",
	} {
		if _, found := build(t, text); len(found) > 0 {
			t.Errorf("%s\n%s", text, found.Format())
		}
	}
}
