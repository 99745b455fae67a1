package analyze

import "testing"

// TestRelations reads what other definitions yield, each case with a schema of its own.
func TestRelations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, text, want string }{
		{
			"what is wrong in a view is said once, in its file", `
CREATE TABLE dbo.a (id int NOT NULL);
GO
CREATE VIEW dbo.v AS SELECT id, nope FROM dbo.a;`,
			`SELECT id FROM dbo.v; SELECT nope, whatever FROM dbo.v`,
			"many; nope unknown; whatever unknown; 4:33 name: no table of this statement has a column nope (schema.sql) | name a column that is there, or add this one in a script of the table",
		},
		{
			"views in a circle", `
CREATE VIEW dbo.v AS SELECT id FROM dbo.w;
GO
CREATE VIEW dbo.w AS SELECT id FROM dbo.v;`,
			`SELECT id FROM dbo.v`,
			"many; id unknown; 2:13 name: dbo.v is defined by means of itself (schema.sql)",
		},
		{
			"a view looks in its own schema first", `
CREATE SCHEMA app;
GO
CREATE TABLE dbo.a (id int NOT NULL);
CREATE TABLE dbo.b (id int NOT NULL);
CREATE TABLE app.a (id date NOT NULL);
GO
CREATE VIEW app.v AS SELECT a.id AS a, b.id AS b FROM a CROSS JOIN b;`,
			`SELECT a, b FROM app.v`,
			"many; a date; b int",
		},
		{
			"a computed column that is wrong", `
CREATE TABLE dbo.a (id int NOT NULL, d date NOT NULL, twice AS (d * 2), next AS (id + 1), more AS (next + 1));`,
			`SELECT id, twice, next FROM dbo.a`,
			"many; id int; twice unknown; next int; " +
				"2:65 type: date can't be an operand of * (multiply): use DATEADD or DATEDIFF (schema.sql); " +
				"2:100 name: column next is computed, and a computed column can't read another one (schema.sql) | write its expression instead",
		},
		{
			"a computed column says what it says", `
CREATE TABLE dbo.a (id int NOT NULL, half AS (id / 2) PERSISTED NOT NULL, n AS (NULLIF(id, 0)));`,
			`SELECT half, n FROM dbo.a`,
			"many; half int; n int null",
		},
		{
			"columns without a name in a view", `
CREATE TABLE dbo.a (id int NOT NULL);
GO
CREATE VIEW dbo.v AS SELECT id + 1 FROM dbo.a;`,
			`SELECT * FROM dbo.v`,
			"many;  int; 4:29 name: column 1 of view dbo.v has no name (schema.sql) | add an alias: … AS name",
		},
		{
			"a function's parameter", `
CREATE FUNCTION dbo.f (@n int, @s nvarchar(20)) RETURNS TABLE AS RETURN (SELECT @n + 1 AS n, @s AS s, @x AS x);`,
			`SELECT n, s FROM dbo.f(1, N'a')`,
			"many; n int null; s nvarchar(20) null; 2:103 name: variable @x isn't declared (schema.sql) | declare it",
		},
		{
			"what a CLR type has", `CREATE TABLE dbo.a (place geography NOT NULL);`,
			`SELECT a.place.Lat AS lat, a.place.STAsText() AS text FROM dbo.a AS a`,
			"many; lat float null; text nvarchar(max) null",
		},
		{
			"EXISTS needs no columns", `CREATE TABLE dbo.a (id int NOT NULL);`,
			`IF EXISTS (SELECT * FROM sys.tables) AND EXISTS (SELECT * FROM dbo.a GROUP BY id) PRINT 1`,
			"",
		},
		{
			"columns of the server's views", `CREATE TABLE dbo.a (id int NOT NULL);`,
			`SELECT frob FROM sys.tables`,
			"many; frob unknown; 1:8 name: column frob of sys.tables is not known to the generator",
		},
		{
			"views of the server", `CREATE TABLE dbo.a (id int NOT NULL);`,
			`SELECT frob FROM sys.frobs`,
			"many; frob unknown; 1:18 name: sys.frobs is not known to the generator",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := flat(columns(t, c.schema, c.text)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
