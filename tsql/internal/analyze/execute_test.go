package analyze

import "testing"

// callees are procedures that the cases call.
const callees = `
CREATE PROCEDURE dbo.quiet @a int, @b nvarchar(20) = N'x', @c bigint = NULL OUTPUT AS SET @c = @a;
GO
CREATE PROCEDURE dbo.item @id bigint AS SELECT id, customer FROM dbo.orders WHERE id = @id;
GO
CREATE PROCEDURE dbo.pair AS SELECT 1 AS a; SELECT 2 AS b;
GO
CREATE PROCEDURE dbo.either @x int AS IF @x = 1 SELECT 1 AS a; ELSE SELECT 2 AS b;
GO
CREATE PROCEDURE dbo.perhaps @x int AS IF @x = 1 SELECT 1 AS a;
GO
CREATE PROCEDURE dbo.fails AS THROW 50001, N'no', 1;
GO
CREATE PROCEDURE dbo.take @ids dbo.ids READONLY AS SELECT id FROM @ids;
GO
CREATE PROCEDURE dbo.stores AS DECLARE @t TABLE (a int NOT NULL); INSERT @t EXEC dbo.one;
GO
CREATE PROCEDURE dbo.one AS SELECT 1 AS a;
GO
CREATE SYNONYM dbo.other_item FOR dbo.item;
GO
`

func TestExecFlow(t *testing.T) {
	t.Parallel()
	for _, c := range []flowCase{
		{"silent", `EXEC dbo.quiet 1;`, `-`},
		{"inlined", `EXEC dbo.pair; SELECT 3 AS c;`, `a b c`},
		{"inlined twice", `EXEC dbo.pair; EXEC dbo.pair;`, `a b a' b'`},
		{"branches of the callee", `SELECT 0 AS z; EXEC dbo.either @x; SELECT 3 AS c;`, `z (a | b) c`},
		{"optional call", `IF @x = 1 EXEC dbo.pair; SELECT 3 AS c;`, `(a b)? c`},
		{"callee that fails", `EXEC dbo.fails; SELECT 1 AS a;`, `!`},
		{"callee that fails, caught", `BEGIN TRY EXEC dbo.fails; SELECT 1 AS a; END TRY BEGIN CATCH SELECT 2 AS b; END CATCH`, `b`},
		{"callee in try", `BEGIN TRY EXEC dbo.pair; END TRY BEGIN CATCH SET @x = 1; END CATCH`, `(a b?)?`},
		{"synonym", `EXEC dbo.other_item 1;`, `id`},
		{"in a loop", `WHILE @x < 3 EXEC dbo.pair;`, `0 a>1 $, 1 b>0`},
		{"unqualified", `EXEC pair;`, `a b`},

		{"system procedure", `EXEC sp_set_session_context N'k', 1; EXEC sys.sp_releaseapplock @Resource = N'r';`, `-`},
		{"status of a system procedure", `DECLARE @rc int; EXEC @rc = sp_getapplock @Resource = N'r', @LockMode = 'Exclusive'; SELECT @rc AS a;`, `a`},
		{"unknown procedure", `EXEC dbo.nobody;`, `1:1 exec: the procedure dbo.nobody is not defined in the scripts`},
		{"dynamic", `EXEC (N'SELECT 1 AS a');`, `a`},
		{"sp_executesql", `EXEC sp_executesql N'SELECT 1 AS a';`, `a`},
		{"dynamic of an argument", `EXEC (@x);`, `1:1 exec: what dynamic SQL sends is not known`},
		{"procedure in a variable", `DECLARE @p sysname = N'dbo.one'; EXEC @p;`, `1:34 exec: which procedure @p names is not known`},
		{"result sets none", `EXEC dbo.nobody WITH RESULT SETS NONE;`, `-`},
		{"result sets undefined", `EXEC dbo.nobody WITH RESULT SETS UNDEFINED;`, `1:1 exec: the procedure dbo.nobody is not defined in the scripts`},
		{"result sets", `EXEC dbo.nobody WITH RESULT SETS ((a int), (b int, c int));`, `a b`},
		{"result sets of dynamic SQL", `EXEC sp_executesql N'SELECT 1' WITH RESULT SETS ((a int NOT NULL));`, `a`},
		{"columns of dynamic SQL", `
-- gen:columns (a int not null)
EXEC (N'SELECT 1 AS a');`, `a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkText(t, bodyOf(t, callees, c.body, true), c.want)
		})
	}
}

func TestExecArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []flowCase{
		{"positional and named", `EXEC dbo.quiet 1, @b = N'y';`, `-`},
		{"output", `DECLARE @v bigint; EXEC dbo.quiet 1, @c = @v OUTPUT;`, `-`},
		{"default", `EXEC dbo.quiet 1, DEFAULT;`, `-`},
		{"missing", `EXEC dbo.quiet;`, `1:1 exec: dbo.quiet also needs @a`},
		{"too many", `EXEC dbo.one 1;`, `1:14 exec: dbo.one has only 0 parameters`},
		{"unknown name", `EXEC dbo.quiet 1, @z = 2;`, `1:19 exec: dbo.quiet has no parameter @z`},
		{"given twice", `EXEC dbo.quiet 1, @a = 2;`, `1:19 exec: the parameter @a is given twice`},
		{"no default", `EXEC dbo.quiet DEFAULT;`, `1:16 exec: the parameter @a of dbo.quiet has no default`},
		{"output of an input", `DECLARE @v int; EXEC dbo.quiet @v OUTPUT;`, `1:32 exec: the parameter @a of dbo.quiet is not declared OUTPUT`},
		{"bare word", `EXEC dbo.quiet 1, word;`, `-`},
		{"unknown variable", `EXEC dbo.quiet @nothing;`, `1:16 name: variable @nothing isn't declared`},
		{"wrong type", `DECLARE @d date; EXEC dbo.quiet @d;`, `1:33 type: the parameter @a: date doesn't convert to int`},
		{"table", `DECLARE @t dbo.ids; EXEC dbo.take @t;`, `id`},
		{"table left out", `EXEC dbo.take;`, `id`},
		{"table of no type", `DECLARE @t TABLE (id bigint); EXEC dbo.take @t;`, `1:45 type: @t is not of the table type dbo.ids`},
		{"no table", `EXEC dbo.take 1;`, `1:15 exec: the parameter @ids needs a table variable of type dbo.ids`},
		{"unknown table", `EXEC dbo.take @t;`, `1:15 name: there is no table variable @t`},
		{"status", `DECLARE @rc nvarchar(10); EXEC @rc = dbo.one;`, `a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkText(t, bodyOf(t, callees, c.body, true), c.want)
		})
	}
}

func TestInsertExec(t *testing.T) {
	t.Parallel()
	for _, c := range []flowCase{
		{"fits", `DECLARE @t TABLE (id bigint NOT NULL, customer nvarchar(50)); INSERT @t EXEC dbo.item 1; SELECT id FROM @t;`, `id`},
		{"column list", `INSERT dbo.log (line) EXEC dbo.nobody;`, `-`},
		{
			"wrong number", `DECLARE @t TABLE (id bigint NOT NULL); INSERT @t EXEC dbo.item 1;`,
			`1:50 exec: the result set at a.sql:3:41 has 2 columns for 1 column`,
		},
		{"no set", `INSERT dbo.log (line) EXEC dbo.quiet 1;`, `-`},
		{"nested", `DECLARE @t TABLE (a int); INSERT @t EXEC dbo.stores;`, `1:37 exec: INSERT … EXEC cannot be nested, and dbo.stores has one`},
		{"identity left out", `INSERT dbo.log EXEC dbo.one;`, `-`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkText(t, bodyOf(t, callees, c.body, true), c.want)
		})
	}
}

func TestResultSets(t *testing.T) {
	t.Parallel()
	for _, c := range []flowCase{
		{"renames", `EXEC dbo.pair WITH RESULT SETS ((x int NOT NULL), (y bigint));`, `
dbo.p(@x int = 1)
  x: x int; one
  y: y bigint?; one
  flow: x y`},
		{
			"not needed", `EXEC dbo.pair WITH RESULT SETS ((a int NOT NULL), (b int NOT NULL));`,
			`1:20 override: the procedure sends exactly these columns without it`,
		},
		{"too few", `EXEC dbo.pair WITH RESULT SETS ((x int));`, `1:20 override: 1 result set defined here, but the procedure sends 2 sets`},
		{"too few columns", `EXEC dbo.item 1 WITH RESULT SETS ((x int));`, `1:35 override: 1 column defined here, but the procedure sends 2`},
		{"impossible", `EXEC dbo.one WITH RESULT SETS ((x date));`, `1:33 override: column x is date, which int cannot become`},
		{"none of one", `EXEC dbo.one WITH RESULT SETS NONE;`, `1:19 override: 0 result sets defined here, but the procedure sends 1 set`},
		{"none of none", `EXEC dbo.quiet 1 WITH RESULT SETS NONE;`, `1:23 override: the procedure is known to send no result set`},
		{
			"not always", `EXEC dbo.perhaps 1 WITH RESULT SETS ((x int));`,
			`1:25 override: 1 result set defined here, but the procedure sends more in some cases than in others`,
		},
		{"either", `EXEC dbo.either 1 WITH RESULT SETS ((x int NOT NULL));`, `
dbo.p(@x int = 1)
  x: x int; one
  flow: x`},
		{"as object", `EXEC dbo.nobody WITH RESULT SETS (AS OBJECT dbo.log);`, `
dbo.p(@x int = 1)
  id: id bigint, line nvarchar(200)?; many
  flow: id`},
		{"as type", `EXEC dbo.nobody WITH RESULT SETS (AS TYPE dbo.ids);`, `
dbo.p(@x int = 1)
  id: id bigint; many
  flow: id`},
		{"named", `
-- gen:result Item
EXEC dbo.item 1;`, `
dbo.p(@x int = 1)
  Item: id bigint, customer nvarchar(50); optional
  flow: Item`},
		{"named with rows", `
-- gen:result Item :one
EXEC dbo.item 1;`, `
dbo.p(@x int = 1)
  Item: id bigint, customer nvarchar(50); one
  flow: Item`},
		{"two sets, one name", `
-- gen:result Item
EXEC dbo.pair;`, `1:1 override: the procedure has 2 result sets, so that one name does not do`},
		{"known columns", `
-- gen:columns (a int not null)
EXEC dbo.one;`, `1:1 override: gen:columns above the call of a procedure whose result sets are known is not needed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkText(t, bodyOf(t, callees, c.body, false), c.want)
		})
	}
}

// TestRecursion has procedures that call themselves.
func TestRecursion(t *testing.T) {
	t.Parallel()
	runPrograms(t, []programCase{
		{name: "without sets", definitions: `
CREATE PROCEDURE dbo.p @n int AS SET @n -= 1; IF @n > 0 EXEC dbo.p @n;`, want: `
dbo.p(@n int)
  flow: -`},
		{name: "with a set", definitions: `
CREATE PROCEDURE dbo.p @n int AS SELECT @n AS a; SET @n -= 1; IF @n > 0 EXEC dbo.p @n;`, want: `
1:73 shape: dbo.p calls itself here and sends result sets, so that their number is unknown`},
		{name: "through another", definitions: `
CREATE PROCEDURE dbo.p @n int AS EXEC dbo.q @n;
GO
CREATE PROCEDURE dbo.q @n int AS SELECT @n AS a; EXEC dbo.p @n;`, want: `
3:50 shape: dbo.p calls itself here and sends result sets, so that their number is unknown`},
		{name: "errors of both", definitions: `
CREATE PROCEDURE dbo.p @n int AS IF @n = 0 THROW 50001, N'p', 1; EXEC dbo.q @n;
GO
CREATE PROCEDURE dbo.q @n int AS IF @n = 1 THROW 50002, N'q', 1; EXEC dbo.p @n;`, want: `
dbo.p(@n int) errors 50001 50002
  flow: -
dbo.q(@n int) errors 50001 50002
  flow: -`},
	})
}
