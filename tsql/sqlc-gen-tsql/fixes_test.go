package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// A fix is a script in which somebody has done what a finding says, and what the configuration has to say besides. A
// script of its own is one that the configuration names in addition.
type fix struct {
	script, other string
	exclude       []string
	placeholders  map[string]string
}

// excludes is the fix that leaves the script as it is.
var excludes = fix{exclude: []string{"dbo.p"}}

// fixes has, for each refusal of the manual, all that its finding says one can do.
var fixes = map[string][]fix{
	"a table, view or function that no script defines": {
		{other: "CREATE TABLE dbo.missing (id int NOT NULL);"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (id int null)\nSELECT m.id FROM dbo.missing AS m;"},
	},
	"another database": {
		excludes,
		{script: "CREATE PROCEDURE dbo.p AS SELECT o.id FROM dbo.t AS o;"},
		{script: "CREATE PROCEDURE dbo.p @o dbo.rows READONLY AS SELECT o.id FROM @o AS o;", other: "CREATE TYPE dbo.rows AS TABLE (id int NOT NULL);"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (id int null)\nSELECT o.id FROM other.dbo.t AS o;"},
	},
	"a linked server": {
		excludes,
		{script: "CREATE PROCEDURE dbo.p @o dbo.rows READONLY AS SELECT o.id FROM @o AS o;", other: "CREATE TYPE dbo.rows AS TABLE (id int NOT NULL);"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (id int null)\nSELECT o.id FROM far.other.dbo.t AS o;"},
	},
	"CONTAINSTABLE and FREETEXTTABLE without the full-text index": {
		excludes,
		{other: "ALTER TABLE dbo.t ADD CONSTRAINT uq UNIQUE (id);\nGO\nCREATE FULLTEXT INDEX ON dbo.t (name) KEY INDEX uq;"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns ([KEY] int not null)\nSELECT k.[KEY] FROM CONTAINSTABLE(dbo.t, *, N'owl') AS k;"},
	},
	"OPENQUERY, OPENROWSET, OPENXML": {
		excludes,
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (id int null)\nSELECT q.id FROM OPENQUERY(far, 'SELECT 1 AS id') AS q;"},
	},
	"a temp table that the caller creates": {
		{script: "CREATE PROCEDURE dbo.p AS CREATE TABLE #handed_over (id int NOT NULL); SELECT h.id FROM #handed_over AS h;"},
		{script: "CREATE PROCEDURE dbo.p AS IF OBJECT_ID('tempdb..#handed_over') IS NULL CREATE TABLE #handed_over (id int NOT NULL);\nSELECT h.id FROM #handed_over AS h;"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (id int null)\nSELECT h.id FROM #handed_over AS h;"},
	},
	"dynamic SQL": {
		{script: "CREATE PROCEDURE dbo.p @sql nvarchar(max) AS EXEC sp_executesql @sql WITH RESULT SETS ((id int NOT NULL));"},
		{script: "CREATE PROCEDURE dbo.p @sql nvarchar(max) AS EXEC sp_executesql @sql WITH RESULT SETS NONE;"},
		{script: "CREATE PROCEDURE dbo.p @sql nvarchar(max) AS\n-- gen:columns (id int not null)\nEXEC sp_executesql @sql;"},
		{script: "CREATE PROCEDURE dbo.p @sql nvarchar(max) AS\n-- gen:columns none\nEXEC sp_executesql @sql;"},
	},
	"EXEC of a procedure that no script defines": {
		{script: "CREATE PROCEDURE dbo.p AS EXEC dbo.unknown WITH RESULT SETS ((id int NOT NULL));"},
		{script: "CREATE PROCEDURE dbo.p AS EXEC dbo.unknown WITH RESULT SETS NONE;"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (id int not null)\nEXEC dbo.unknown;"},
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns none\nEXEC dbo.unknown;"},
	},
	"EXEC of a procedure in a variable": {
		{script: "CREATE PROCEDURE dbo.p @name sysname AS EXEC @name WITH RESULT SETS ((id int NOT NULL));"},
		{script: "CREATE PROCEDURE dbo.p @name sysname AS EXEC @name WITH RESULT SETS NONE;"},
		{script: "CREATE PROCEDURE dbo.p @name sysname AS\n-- gen:columns (id int not null)\nEXEC @name;"},
		{script: "CREATE PROCEDURE dbo.p @name sysname AS\n-- gen:columns none\nEXEC @name;"},
	},
	"a result set in a loop that is streamed": {
		{script: "CREATE PROCEDURE dbo.p AS\nWHILE 1 = 1\n\t-- gen:result rows\n\tSELECT t.id FROM dbo.t AS t;"},
	},
	"FETCH without INTO": {
		{script: "CREATE PROCEDURE dbo.p AS\nDECLARE @id int;\nDECLARE c CURSOR FOR SELECT t.id FROM dbo.t AS t;\nOPEN c;\nFETCH NEXT FROM c INTO @id;"},
	},
	"branches that a client can't tell apart": {
		{script: "CREATE PROCEDURE dbo.p @a int AS IF @a = 1 SELECT CAST(t.id AS nvarchar(50)) AS v FROM dbo.t AS t; ELSE SELECT t.name AS v FROM dbo.t AS t;"},
		{script: "CREATE PROCEDURE dbo.p @a int AS IF @a = 1 SELECT t.id AS v FROM dbo.t AS t; ELSE SELECT t.name AS w FROM dbo.t AS t;"},
	},
	"FOR JSON or FOR XML as a result set": {
		{script: "CREATE PROCEDURE dbo.p AS SELECT (SELECT t.id FROM dbo.t AS t FOR JSON PATH) AS document;"},
	},
	"rare methods of geography and geometry": {
		{script: "CREATE PROCEDURE dbo.p AS\n-- gen:columns (a int null)\nSELECT geography::Point(1, 2, 4326).Rare() AS a;"},
	},
	"Service Broker": {excludes},
	"sql_variant, hierarchyid, geometry, geography": {
		{script: "CREATE PROCEDURE dbo.p @v int AS SELECT 1 AS a;"},
	},
	"an OUTPUT parameter of type xml": {
		{script: "CREATE PROCEDURE dbo.p AS SELECT CAST(N'<a/>' AS xml) AS x;"},
	},
	"a parameter whose name begins with a line": {
		{script: "CREATE PROCEDURE dbo.p @x int AS SELECT 1 AS a;"},
	},
	"DDL in a procedure": {
		{script: "CREATE PROCEDURE dbo.p AS SELECT t.extra FROM dbo.t AS t;", other: "ALTER TABLE dbo.t ADD extra int NULL;"},
	},
	"text that a migration executes, if it is not known": {
		{script: "CREATE TABLE dbo.made (id int NOT NULL);"},
		{script: "DECLARE @sql nvarchar(max) = (SELECT MAX(t.name) FROM dbo.t AS t);\n-- gen:changes none\nEXEC (@sql);"},
	},
	"a migration that calls a procedure which changes a table": {
		{script: "CREATE PROCEDURE dbo.p AS EXEC (N'DROP TABLE dbo.u') WITH RESULT SETS NONE;\nGO\nDROP TABLE dbo.u;", other: "CREATE TABLE dbo.u (id int NOT NULL);"},
		{script: "CREATE PROCEDURE dbo.p AS EXEC (N'DROP TABLE dbo.u') WITH RESULT SETS NONE;\nGO\n-- gen:changes none\nEXEC dbo.p;"},
	},
	"OUTPUT without INTO where a trigger is enabled": {
		{script: "CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS RETURN;\nGO\nCREATE PROCEDURE dbo.p AS\nDECLARE @new TABLE (id int NOT NULL);\n" +
			"INSERT INTO dbo.t (id) OUTPUT inserted.id INTO @new (id) VALUES (1);\nSELECT n.id FROM @new AS n;"},
	},
	"a view with SELECT * of a table that a migration changes": {
		{script: "CREATE VIEW dbo.v AS SELECT id, name FROM dbo.t;\nGO\nALTER TABLE dbo.t ADD extra int NULL;"},
		{script: "CREATE VIEW dbo.v AS SELECT * FROM dbo.t;\nGO\nALTER TABLE dbo.t ADD extra int NULL;\nEXEC sp_refreshsqlmodule N'dbo.v';"},
	},
	"a trigger that sends a result set": {
		{script: "CREATE TRIGGER dbo.tr ON dbo.t AFTER INSERT AS INSERT INTO dbo.log (id) SELECT i.id FROM inserted AS i;", other: "CREATE TABLE dbo.log (id int NOT NULL);"},
	},
	"a placeholder without a value": {{placeholders: map[string]string{"owner": "dbo."}}},
	"sqlcmd's commands that include files, connect or end": {
		{script: "PRINT 'made';", other: "CREATE TABLE dbo.made (id int NOT NULL);"},
	},
	"a reserved word as a name": {
		{script: "CREATE PROCEDURE dbo.p AS SELECT t.[user] FROM dbo.t AS t;", other: "ALTER TABLE dbo.t ADD [user] int NULL;"},
	},
	"an annotated query whose parameter has no type": {
		{script: "-- gen:param @x int\n-- name: Echo :one\nSELECT @x AS x;"},
	},
}

// TestFixesWork does what each finding of the manual's table says, and demands that nothing is found any more.
func TestFixesWork(t *testing.T) {
	t.Parallel()
	for _, r := range refusals {
		if len(fixes[r.construct]) == 0 {
			t.Errorf("%s: nobody has tried what its finding says", r.construct)
		}
	}
	for construct, list := range fixes {
		i := slices.IndexFunc(refusals, func(r refusal) bool { return r.construct == construct })
		if i < 0 {
			t.Errorf("%s: the manual doesn't have it", construct)
			continue
		}
		for _, f := range list {
			if f.script == "" {
				f.script = refusals[i].script
			}
			if findings := f.run(); len(findings) > 0 {
				t.Errorf("%s: after\n%s\nthere is\n%s", construct, f.script, findings.Format())
			}
		}
	}
}

// run generates code from the fix's scripts.
func (f fix) run() diag.List {
	options := config.Default()
	options.Model.Package, options.Exclude, options.Placeholders = "db", f.exclude, f.placeholders
	_, findings := generate.Run([]generate.Source{
		{Name: "t.sql", Text: "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name nvarchar(50) NULL);", Role: generate.Schema},
		{Name: "other.sql", Text: f.other, Role: generate.Schema},
		{Name: "p.sql", Text: f.script, Role: generate.Any},
	}, options)
	return findings
}

// mistakes are what the generator finds most often besides the manual's table, as a run over public projects has shown.
// A script without CREATE is what a procedure does.
var mistakes = []struct {
	script, fix string
	// followed are scripts in which somebody has done what the fix says.
	followed []string
}{
	{
		script: "SELECT t.other FROM dbo.t AS t;", fix: "name a column that is there, or add this one in a script of the table",
		followed: []string{
			"SELECT t.name FROM dbo.t AS t;",
			"ALTER TABLE dbo.t ADD other int NULL;\nGO\nCREATE PROCEDURE dbo.p AS SELECT t.other FROM dbo.t AS t;",
		},
	},
	{
		script: "SELECT t.naem FROM dbo.t AS t;", fix: "did you mean name?",
		followed: []string{"SELECT t.name FROM dbo.t AS t;"},
	},
	{
		script: "SELECT id FROM dbo.t AS a JOIN dbo.t AS b ON a.id = b.id;", fix: "qualify it with the table's name or alias",
		followed: []string{"SELECT a.id FROM dbo.t AS a JOIN dbo.t AS b ON a.id = b.id;"},
	},
	{
		script: "SELECT owl;", fix: "add a FROM clause, or put quotes around a text",
		followed: []string{"SELECT name FROM dbo.t;", "SELECT N'owl' AS bird;"},
	},
	{
		script: "SELECT a.id FROM dbo.t AS a, dbo.t AS a;", fix: "give one of them another alias",
		followed: []string{"SELECT a.id FROM dbo.t AS a, dbo.t AS b;"},
	},
	{
		script: "SELECT dbo.f(t.id) AS a FROM dbo.t AS t;",
		fix:    "name the script that defines it in the configuration, or say what is sent: -- gen:columns (column type, …) above the statement",
		followed: []string{
			"CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN RETURN @x; END;\nGO\nCREATE PROCEDURE dbo.p AS SELECT dbo.f(t.id) AS a FROM dbo.t AS t;",
			"\n-- gen:columns (a int null)\nSELECT dbo.f(t.id) AS a FROM dbo.t AS t;",
		},
	},
	{
		script: "SELECT rare(t.id) AS a FROM dbo.t AS t;",
		fix:    "use another one, or wrap it in a function of a script, or say what is sent: -- gen:columns (column type, …) above the statement",
		followed: []string{
			"SELECT ABS(t.id) AS a FROM dbo.t AS t;",
			"CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN RETURN @x; END;\nGO\nCREATE PROCEDURE dbo.p AS SELECT dbo.f(t.id) AS a FROM dbo.t AS t;",
			"\n-- gen:columns (a int null)\nSELECT rare(t.id) AS a FROM dbo.t AS t;",
		},
	},
	{
		script: "SELECT t.id FROM dbo.t AS t WHERE t.id = @b;", fix: "declare it",
		followed: []string{"DECLARE @b int = 1; SELECT t.id FROM dbo.t AS t WHERE t.id = @b;"},
	},
	{
		script: "SELECT t.id FROM @b AS t;", fix: "declare it",
		followed: []string{"DECLARE @b TABLE (id int NOT NULL); SELECT t.id FROM @b AS t;"},
	},
	{
		script: "SELECT t.name, COUNT(*) AS n FROM dbo.t AS t;", fix: "add it to GROUP BY or put it into an aggregate",
		followed: []string{
			"SELECT t.name, COUNT(*) AS n FROM dbo.t AS t GROUP BY t.name;",
			"SELECT MAX(t.name) AS name, COUNT(*) AS n FROM dbo.t AS t;",
		},
	},
	{
		script: "SELECT t.id FROM dbo.t AS t UNION SELECT t.id, t.name FROM dbo.t AS t;", fix: "select as many columns in each part",
		followed: []string{"SELECT t.id, NULL AS name FROM dbo.t AS t UNION SELECT t.id, t.name FROM dbo.t AS t;"},
	},
	{
		script: "INSERT INTO dbo.t (name) VALUES (N'a');", fix: "add it to the list",
		followed: []string{"INSERT INTO dbo.t (id, name) VALUES (1, N'a');"},
	},
	{
		script: "CREATE PROCEDURE dbo.q @a int AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q;", fix: "pass it, or give it a default",
		followed: []string{
			"CREATE PROCEDURE dbo.q @a int AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q @a = 1;",
			"CREATE PROCEDURE dbo.q @a int = 1 AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q;",
		},
	},
	{
		script: "CREATE PROCEDURE dbo.q AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q @a = 1;", fix: "leave it out, or add the parameter",
		followed: []string{
			"CREATE PROCEDURE dbo.q AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q;",
			"CREATE PROCEDURE dbo.q @a int AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q @a = 1;",
		},
	},
	{
		script: "CREATE PROCEDURE dbo.q AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q 1;", fix: "leave the rest out, or add parameters",
		followed: []string{
			"CREATE PROCEDURE dbo.q AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q;",
			"CREATE PROCEDURE dbo.q @a int AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS EXEC dbo.q 1;",
		},
	},
	{
		script: "CREATE PROCEDURE dbo.q AS SELECT t.id, t.name FROM dbo.t AS t;\nGO\nCREATE PROCEDURE dbo.p AS DECLARE @x TABLE (id int); INSERT INTO @x EXEC dbo.q;",
		fix:    "insert as many columns as the procedure sends",
		followed: []string{
			"CREATE PROCEDURE dbo.q AS SELECT t.id, t.name FROM dbo.t AS t;\nGO\n" +
				"CREATE PROCEDURE dbo.p AS DECLARE @x TABLE (id int, name nvarchar(50)); INSERT INTO @x EXEC dbo.q;",
		},
	},
	{
		script: "CREATE PROCEDURE dbo.r AS SELECT t.id FROM dbo.t AS t;\nGO\n" +
			"CREATE PROCEDURE dbo.q AS DECLARE @x TABLE (id int); INSERT INTO @x EXEC dbo.r; SELECT x.id FROM @x AS x;\nGO\n" +
			"CREATE PROCEDURE dbo.p AS DECLARE @x TABLE (id int); INSERT INTO @x EXEC dbo.q;",
		fix: "let the procedure fill a temp table of the caller",
		followed: []string{
			"CREATE PROCEDURE dbo.r AS SELECT t.id FROM dbo.t AS t;\nGO\n" +
				"CREATE PROCEDURE dbo.q AS IF OBJECT_ID('tempdb..#x') IS NULL CREATE TABLE #x (id int); INSERT INTO #x EXEC dbo.r;\nGO\n" +
				"CREATE PROCEDURE dbo.p AS CREATE TABLE #x (id int); EXEC dbo.q; SELECT x.id FROM #x AS x;",
		},
	},
	{
		script: "SELECT t.id, t.name INTO dbo.log FROM dbo.t AS t;", fix: "INSERT into the table, or use a temp table",
		followed: []string{
			"INSERT INTO dbo.log (id) SELECT t.id FROM dbo.t AS t;",
			"SELECT t.id, t.name INTO #log FROM dbo.t AS t; SELECT l.id FROM #log AS l;",
		},
	},
	{
		script: "CREATE FUNCTION dbo.f () RETURNS int AS BEGIN EXEC dbo.q; RETURN 1; END;\nGO\nCREATE PROCEDURE dbo.q AS RETURN 0;", fix: "make it a procedure",
		followed: []string{"CREATE PROCEDURE dbo.f AS BEGIN EXEC dbo.q; RETURN 1; END;\nGO\nCREATE PROCEDURE dbo.q AS RETURN 0;"},
	},
	{
		script: "SET NOEXEC ON; SELECT t.id FROM dbo.t AS t;", fix: "remove it",
		followed: []string{"SELECT t.id FROM dbo.t AS t;"},
	},
	{
		script: "CREATE PROCEDURE dbo.p AS RETURN 0;\nGO\nCREATE PROCEDURE dbo.p AS RETURN 1;", fix: "remove one of them",
		followed: []string{"CREATE PROCEDURE dbo.p AS RETURN 1;"},
	},
}

// TestFixesOfMistakesWork demands that each mistake is found with its fix, and nothing any more when the fix was
// followed.
func TestFixesOfMistakesWork(t *testing.T) {
	t.Parallel()
	run := func(script string) diag.List {
		if !strings.Contains(script, "CREATE PROCEDURE") {
			script = "CREATE PROCEDURE dbo.p AS " + script
		}
		return fix{script: script, other: "CREATE TABLE dbo.log (id int NOT NULL);"}.run()
	}
	for _, m := range mistakes {
		if found := run(m.script).Format(); strings.Count(found, "  fix: ") != 1 || !strings.Contains(found, "  fix: "+m.fix+"\n") {
			t.Errorf("%s\nwant the fix %q, and found\n%s", m.script, m.fix, found)
		}
		for _, script := range m.followed {
			if findings := run(script); len(findings) > 0 {
				t.Errorf("after %q in\n%s\nthere is\n%s", m.fix, script, findings.Format())
			}
		}
	}
}
