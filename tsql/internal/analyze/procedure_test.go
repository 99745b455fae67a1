package analyze

import "testing"

// Parameters, status, and what stands between procedures in a schema file.
func TestProcedure(t *testing.T) {
	t.Parallel()
	runPrograms(t, []programCase{
		{name: "parameters", definitions: `
CREATE PROCEDURE dbo.p
    @a int,
    @b nvarchar(20) = N'x',
    @c decimal(10, 2) = NULL,
    @d varbinary(max) = NULL OUTPUT,
    @e dbo.ids READONLY,
    @f datetime2(3) = '2020-01-01'
AS RETURN;`, want: `
dbo.p(@a int, @b nvarchar(20) = N'x', @c decimal(10,2) = NULL null, @d varbinary(max) = NULL null out, @e dbo.ids, @f datetime2(3) = '2020-01-01')
  flow: -`},
		{name: "gen:null", definitions: `
-- gen:null @b
CREATE PROCEDURE dbo.p @a int, @b int AS RETURN;`, want: `
dbo.p(@a int, @b int null)
  flow: -`},
		{name: "gen:null of no parameter", definitions: `
-- gen:null @z
CREATE PROCEDURE dbo.p @a int AS RETURN;`, want: `
1:1 override: gen:null names @z, which is no parameter`},
		{name: "gen:null not needed", definitions: `
-- gen:null @a
CREATE PROCEDURE dbo.p @a int = NULL AS RETURN;`, want: `
1:1 override: gen:null names @a, which may be NULL without saying`},
		{name: "gen:null of a table", definitions: `
-- gen:null @t
CREATE PROCEDURE dbo.p @t dbo.ids READONLY AS RETURN;`, want: `
1:1 override: gen:null names @t, but a table is never NULL`},
		{name: "gen:param", definitions: `
-- gen:param @a int
CREATE PROCEDURE dbo.p @a int AS RETURN;`, want: `
1:1 override: the parameters of a procedure are declared; gen:param is for queries`},
		{name: "cursor", definitions: `
CREATE PROCEDURE dbo.p @c CURSOR VARYING OUTPUT AS RETURN;`, want: `
1:24 param: a client cannot pass a cursor`},
		{name: "default of another type", definitions: `
CREATE PROCEDURE dbo.p @a date = 1 AS RETURN;`, want: `
1:34 type: the parameter @a: int doesn't convert to date`},

		{name: "status", definitions: `CREATE PROCEDURE dbo.p @x int AS IF @x = 1 RETURN 1; RETURN 0;`, want: `
dbo.p(@x int) status
  flow: -`},
		{name: "status in a variable", definitions: `CREATE PROCEDURE dbo.p @x int AS RETURN @x;`, want: `
dbo.p(@x int) status
  flow: -`},
		{name: "status 0", definitions: `CREATE PROCEDURE dbo.p AS RETURN (0);`, want: `
dbo.p()
  flow: -`},
		{name: "sorted", definitions: `
CREATE PROCEDURE dbo.b AS RETURN;
GO
CREATE PROCEDURE dbo.a AS RETURN;`, want: `
dbo.a()
  flow: -
dbo.b()
  flow: -`},

		{name: "use", definitions: `CREATE PROCEDURE dbo.p AS USE other;`, want: `
1:27 statement: USE is not allowed in a procedure`},
		{name: "create table", definitions: `CREATE PROCEDURE dbo.p AS CREATE TABLE dbo.t (a int);`, want: `
dbo.p()
  flow: -`},
		{name: "alter table", definitions: `CREATE PROCEDURE dbo.p AS ALTER TABLE dbo.t ADD a int;`, want: `
1:27 statement: a procedure that changes the schema cannot be checked: what comes after it sees other objects`},
		{name: "temp table", definitions: `CREATE PROCEDURE dbo.p AS CREATE TABLE #t (a int NOT NULL); SELECT a FROM #t; DROP TABLE #t;`, want: `
dbo.p()
  a: a int; many
  flow: a`},
		{name: "statements of the server", definitions: `
CREATE PROCEDURE dbo.p AS
UPDATE STATISTICS dbo.orders;
DBCC CHECKIDENT ('dbo.log', RESEED, 1);
DBCC SHOWCONTIG ('dbo.log');`, want: `
4:1 statement: it is not known whether DBCC SHOWCONTIG sends a result set`},
		{name: "cursor variable", definitions: `
CREATE PROCEDURE dbo.p AS
DECLARE @c CURSOR, @id bigint, @n int;
SET @c = CURSOR LOCAL FAST_FORWARD FOR SELECT id, LEN(customer) FROM dbo.orders;
OPEN @c;
FETCH NEXT FROM @c INTO @id, @n;
CLOSE @c;`, want: `
dbo.p()
  flow: -`},
		{name: "fetch of too few", definitions: `
CREATE PROCEDURE dbo.p AS
DECLARE @id bigint;
DECLARE c CURSOR FOR SELECT id, customer FROM dbo.orders;
FETCH NEXT FROM c INTO @id;
FETCH NEXT FROM d INTO @id;`, want: `
4:1 type: the cursor c has 2 columns, but 1 variables are given
5:1 name: there is no cursor d`},
		{name: "dropped temp table", definitions: `
CREATE PROCEDURE dbo.p AS CREATE TABLE #t (a int NOT NULL); DROP TABLE #t; SELECT a FROM #t;`, want: `
1:90 name: temp table #t isn't known here`},
		{name: "own schema", definitions: `
CREATE SCHEMA dt;
GO
CREATE TABLE dt.settings (name nvarchar(20) NOT NULL PRIMARY KEY, value int NOT NULL);
CREATE TYPE dt.names AS TABLE (name nvarchar(20) NOT NULL);
GO
CREATE FUNCTION dt.f() RETURNS int AS BEGIN RETURN (SELECT value FROM settings WHERE name = N'x'); END;
GO
CREATE TRIGGER dt.tr ON dt.settings AFTER INSERT AS DELETE s FROM settings AS s WHERE s.value < 0;
GO
CREATE PROCEDURE dt.inner_one AS SELECT value FROM settings;
GO
CREATE PROCEDURE dt.p @rows names READONLY AS
DECLARE @n names;
INSERT @n (name) SELECT name FROM settings;
EXEC inner_one;`, want: `
dt.inner_one()
  value: value int; many
  flow: value
dt.p(@rows dt.names)
  value: value int; many
  flow: value`},
		{name: "view of old", definitions: `
CREATE PROCEDURE dbo.p AS
IF EXISTS (SELECT * FROM sysobjects WHERE id = OBJECT_ID('x') AND sysstat & 0xf = 4) SELECT name FROM dbo.sysobjects;
SELECT name FROM dbo.systables;`, want: `
3:18 name: no script defines a table or a view dbo.systables`},
		{name: "property of an unknown table's column", definitions: `
CREATE PROCEDURE dbo.p AS SELECT l.place.Lat AS lat FROM dbo.locations AS l;`, want: `
1:58 name: no script defines a table or a view dbo.locations`},
		{name: "in another language", definitions: `
CREATE PROCEDURE dbo.p AS EXTERNAL NAME lib.class.method;`, want: `
1:18 statement: dbo.p is written in another language, so that its result sets are unknown`},
		{name: "set unknown", definitions: `CREATE PROCEDURE dbo.p AS SET NOCOUNT ON; SET XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET DEADLOCK_PRIORITY LOW; SET LOCK_TIMEOUT 5000;`, want: `
dbo.p()
  flow: -`},
		{name: "unreachable statements are checked", definitions: `CREATE PROCEDURE dbo.p AS RETURN; SELECT nothing AS a FROM dbo.orders;`, want: `
1:42 name: no table of this statement has a column nothing`},

		{name: "function", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN DECLARE @y int = @x; RETURN @y + 1; END;`, want: ``},
		{name: "function that sends", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN SELECT 1 AS a; RETURN 1; END;`, want: `
1:53 statement: a function cannot send a result set`},
		{name: "function without value", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN RETURN; END;`, want: `
1:53 flow: a scalar function must return a value`},
		{name: "table function", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS @t TABLE (a int) AS BEGIN INSERT @t (a) VALUES (@x); RETURN; END;`, want: ``},
		{name: "unused view", definitions: `
CREATE VIEW dbo.v AS SELECT nothing FROM dbo.orders;`, want: `
1:29 name: no table of this statement has a column nothing`},
		{name: "unused inline function", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS TABLE AS RETURN (SELECT nothing FROM dbo.orders);`, want: `
1:64 name: no table of this statement has a column nothing`},
		{name: "trigger", definitions: `
CREATE TRIGGER dbo.t ON dbo.orders AFTER UPDATE AS INSERT dbo.log (line) SELECT customer FROM inserted;`, want: ``},
		{name: "function that writes", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN INSERT dbo.log (line) VALUES (N'x'); RETURN 1; END;`, want: `
1:60 statement: a function cannot change a table`},
		{name: "function that calls", definitions: `
CREATE FUNCTION dbo.f (@x int) RETURNS int AS BEGIN EXEC dbo.p; RETURN 1; END;
GO
CREATE PROCEDURE dbo.p AS RETURN;`, want: `
1:53 statement: a function cannot call procedures`},
		{name: "trigger on a view", definitions: `
CREATE VIEW dbo.v AS SELECT id, customer AS who FROM dbo.orders;
GO
CREATE TRIGGER dbo.t ON dbo.v INSTEAD OF INSERT AS INSERT dbo.log (line) SELECT who FROM inserted;`, want: ``},
		{name: "trigger on nothing", definitions: `
CREATE TRIGGER dbo.t ON dbo.nothing AFTER INSERT AS RETURN;`, want: `
1:25 name: there is no table dbo.nothing`},
		{name: "trigger that sends", definitions: `
CREATE TRIGGER dbo.t ON dbo.orders AFTER UPDATE AS SELECT id FROM inserted;`, want: `
1:52 shape: a trigger that sends a result set disturbs every statement on its table`},

		{name: "seed data", definitions: `
INSERT dbo.log (line) VALUES (N'x');
GRANT EXECUTE ON SCHEMA::dbo TO public;
SET QUOTED_IDENTIFIER ON;
IF NOT EXISTS (SELECT 1 FROM dbo.log) INSERT dbo.log (line) VALUES (N'y');`, want: ``},
		{name: "what decides nothing", definitions: `
INSERT dbo.log (lin) VALUES (N'x');
SELECT id FROM dbo.orders;
EXEC dbo.nowhere @x;
SET ROWCOUNT 1;
SET CONCAT_NULL_YIELDS_NULL OFF;`, want: ``},
		{name: "name in a script", definitions: `
-- name: X :many
SELECT id FROM dbo.orders;
-- gen:columns (id int)
SELECT id FROM dbo.orders;
-- gen:columns none
EXEC dbo.nowhere;`, want: `
1:1 override: this name belongs to nothing
3:1 override: this gen:columns belongs to nothing
5:1 override: this gen:columns belongs to nothing`},
	})
}

func TestExclude(t *testing.T) {
	t.Parallel()
	definitions := `CREATE PROCEDURE dbo.p AS
-- gen:result Unknown
EXEC (N'SELECT 1');
GO
CREATE PROCEDURE dbo.q AS RETURN;`
	p, found := programOf(t, definitions, "", Options{Exclude: []string{"p"}})
	checkText(t, renderProgram(p, found), "dbo.q()\nflow: -")
	p, found = programOf(t, definitions, "", Options{Exclude: []string{"dbo.P"}})
	checkText(t, renderProgram(p, found), "dbo.q()\nflow: -")
	p, found = programOf(t, definitions, "", Options{Exclude: []string{"dbo.p", "nobody"}})
	checkText(t, renderProgram(p, found), "option: there is no procedure nobody that could be excluded")
	for name, fix := range map[string]string{
		"dbo.publsh": "did you mean dbo.publish?", "PUBLIHS": "did you mean publish?", "nobody": "remove it from exclude",
	} {
		_, found = programOf(t, `CREATE PROCEDURE dbo.publish AS RETURN;`, "", Options{Exclude: []string{name}})
		if len(found) != 1 || found[0].Advice() != fix {
			t.Errorf("exclude %s: %s\nwant the fix %q", name, found.Format(), fix)
		}
	}
}
