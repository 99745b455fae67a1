package analyze

import (
	"fmt"
	"strings"
	"testing"
)

// The order in which result sets come, as a client sees it. Sets are named by their first column.
func TestFlow(t *testing.T) {
	t.Parallel()
	runFlow(t, []flowCase{
		{"nothing", `SET NOCOUNT ON;`, `-`},
		{"one set", `SELECT 1 AS a;`, `a`},
		{"two sets", `SELECT 1 AS a; SELECT 2 AS b;`, `a b`},
		{"the same columns twice", `SELECT 1 AS a; SELECT 2 AS a;`, `a a'`},
		{"block", `BEGIN SELECT 1 AS a; BEGIN SELECT 2 AS b; END; END`, `a b`},
		{"assignment", `DECLARE @v int; SELECT @v = 1; SET @v = 2;`, `-`},
		{"select into", `SELECT 1 AS a INTO #t; SELECT a FROM #t;`, `a`},
		{"insert", `INSERT dbo.log (line) VALUES (N'x');`, `-`},
		{"output", `INSERT dbo.log (line) OUTPUT inserted.id VALUES (N'x');`, `id`},
		{"output into", `DECLARE @t TABLE (id bigint NOT NULL); INSERT dbo.log (line) OUTPUT inserted.id INTO @t VALUES (N'x');`, `-`},
		{"delete with output", `DELETE dbo.log OUTPUT deleted.line WHERE id = @x;`, `line`},

		{"if", `IF @x = 1 SELECT 1 AS a;`, `a?`},
		{"if else", `IF @x = 1 SELECT 1 AS a; ELSE SELECT 2 AS b;`, `(a | b)`},
		{"if else of the same columns", `IF @x = 1 SELECT 1 AS a; ELSE SELECT 2 AS a;`, `a`},
		{"if with a set before and after", `SELECT 1 AS a; IF @x = 1 SELECT 1 AS b; SELECT 1 AS c;`, `a b? c`},
		{"constant condition", `IF 1 = 0 SELECT 1 AS a; SELECT 2 AS b;`, `a? b`},
		{"else if", `IF @x = 1 SELECT 1 AS a; ELSE IF @x = 2 SELECT 2 AS b; ELSE SELECT 3 AS c;`, `(a | b | c)`},
		{"else if without the last", `IF @x = 1 SELECT 1 AS a; ELSE IF @x = 2 SELECT 2 AS b;`, `(a | b)?`},
		{"nested if", `IF @x = 1 BEGIN SELECT 1 AS a; IF @x = 2 SELECT 1 AS b; END SELECT 1 AS c;`, `(a b?)? c`},
		{"alternatives between", `SELECT 1 AS a; IF @x = 1 SELECT 1 AS b; ELSE IF @x = 2 SELECT 1 AS c; SELECT 1 AS d;`, `a (b | c)? d`},
		{"alternatives and an optional before the same columns", `IF @x = 1 SELECT 1 AS a; ELSE SELECT 2 AS a; IF @x = 2 SELECT 3 AS b; SELECT 4 AS b;`, `a b b'?`},
		{"optional before the same columns", `IF @x = 1 SELECT 1 AS a; SELECT 2 AS a;`, `a a'?`},

		{"return", `SELECT 1 AS a; RETURN; SELECT 2 AS b;`, `a`},
		{"early return", `IF @x = 1 RETURN; SELECT 1 AS a;`, `a?`},
		{"early return with a set", `IF @x = 1 BEGIN SELECT 1 AS a; RETURN; END SELECT 2 AS b;`, `(a | b)`},
		{"return in both branches", `IF @x = 1 RETURN; ELSE RETURN; SELECT 1 AS a;`, `-`},
		{"throw is no way out", `IF @x = 1 THROW 50001, N'no', 1; SELECT 1 AS a;`, `a`},
		{"set before throw", `IF @x = 1 BEGIN SELECT 0 AS e; THROW 50001, N'no', 1; END SELECT 1 AS a;`, `a`},
		{"always throws", `THROW 50001, N'no', 1;`, `!`},
		{"raiserror is no way out", `IF @x = 1 BEGIN RAISERROR (N'no', 16, 1); RETURN; END SELECT 1 AS a;`, `a`},
		{"raiserror without return", `IF @x = 1 RAISERROR (N'no', 16, 1); SELECT 1 AS a;`, `a`},
		{"raiserror as message", `IF @x = 1 BEGIN RAISERROR (N'hello', 10, 1); RETURN; END SELECT 1 AS a;`, `a?`},
		{"raiserror of unknown severity", `DECLARE @s int = 10; IF @x = 1 BEGIN RAISERROR (N'x', @s, 1); RETURN; END SELECT 1 AS a;`, `a?`},

		{"while", `WHILE @x < 3 SET @x += 1; SELECT @x AS a;`, `a`},
		{"set in a loop", `
WHILE @x < 3
BEGIN
    SELECT @x AS a;
    SET @x += 1;
END`, `0 a>0 $`},
		{"set before break", `WHILE 1 = 1 BEGIN SELECT 1 AS a; BREAK; END SELECT 2 AS b;`, `a? b`},
		{"set before return in a loop", `WHILE @x < 3 BEGIN IF @x = 2 BEGIN SELECT 1 AS a; RETURN; END SET @x += 1; END SELECT 2 AS b;`, `(a | b)`},
		{"set in and after a loop", `WHILE @x < 3 BEGIN SELECT 1 AS a; END SELECT 2 AS b;`, `0 a>0 b>1, 1 $`},
		{"set before and in a loop", `SELECT 1 AS a; WHILE @x < 3 SELECT 2 AS a;`, `0 a>1, 1 a'>1 $`},
		{"two sets in a loop", `WHILE @x < 3 BEGIN SELECT 1 AS a; SELECT 2 AS b; END`, `0 a>1 $, 1 b>0`},
		{"one of two sets in a loop", `WHILE @x < 3 IF @x = 1 SELECT 1 AS a; ELSE SELECT 2 AS b;`, `0 a>0 b>0 $`},
		{"sets of one name in a loop", `WHILE @x < 3 BEGIN SELECT 1 AS a; SELECT 2 AS a; END`, `0 a>1 $, 1 a'>0`},
		{"set before continue", `WHILE @x < 3 BEGIN SELECT 1 AS a; CONTINUE; END`, `0 a>0 $`},
		{"break of the inner loop", `WHILE @x < 3 BEGIN WHILE @x < 2 BEGIN SELECT 1 AS a; BREAK; END; END`, `0 a>0 $`},
		{"break without loop", `BREAK;`, `1:1 flow: there is no WHILE around this statement`},
		{"continue without loop", `CONTINUE;`, `1:1 flow: there is no WHILE around this statement`},

		{"goto forward", `IF @x = 1 GOTO done; SELECT 1 AS a; done: SELECT 2 AS b;`, `a? b`},
		{"goto over all", `GOTO done; SELECT 1 AS a; done:`, `-`},
		{"goto backward without sets", `again: SET @x += 1; IF @x < 3 GOTO again; SELECT 1 AS a;`, `a`},
		{"goto backward over a set", `
again:
SELECT 1 AS a;
IF @x < 3 GOTO again;`, `0 a>1, 1 a>1 $`},
		{"goto nowhere", `GOTO done;`, `1:1 flow: there is no label done`},
		{"label twice", `done: SET @x = 1; done: SET @x = 2;`, `1:19 flow: the label done is there twice`},
		{"goto out of try", `BEGIN TRY IF @x = 1 GOTO done; SELECT 1 AS a; END TRY BEGIN CATCH THROW; END CATCH done: SELECT 2 AS b;`, `a? b`},
		{
			"goto into try", `GOTO inside; BEGIN TRY inside: SET @x = 1; END TRY BEGIN CATCH THROW; END CATCH`,
			`1:1 flow: GOTO cannot lead into a TRY or CATCH block, where inside is`,
		},

		{"try with throw", `BEGIN TRY SELECT 1 AS a; SELECT 2 AS b; END TRY BEGIN CATCH ROLLBACK; THROW; END CATCH`, `a b`},
		{"try with raiserror", `BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH RAISERROR (N'no', 16, 1); RETURN; END CATCH`, `a`},
		{"try that swallows", `BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH SET @x = 2; END CATCH`, `a?`},
		{"try that swallows after two", `BEGIN TRY SELECT 1 AS a; SELECT 2 AS b; END TRY BEGIN CATCH SET @x = 2; END CATCH`, `(a b?)?`},
		{"catch with a set", `BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH SELECT 2 AS b; END CATCH`, `(a b? | b)`},
		{"catch with a set and throw", `BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH SELECT 2 AS b; THROW; END CATCH`, `a`},
		{"catch that throws in one branch", `BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH IF @x = 1 THROW; SELECT 2 AS b; END CATCH`, `(a b? | b)`},
		{"throw in try is caught", `BEGIN TRY THROW 50001, N'no', 1; END TRY BEGIN CATCH SELECT 2 AS b; END CATCH`, `b`},
		{"return in try", `BEGIN TRY SELECT 1 AS a; RETURN; END TRY BEGIN CATCH THROW; END CATCH SELECT 2 AS b;`, `a`},
		{"return in catch", `BEGIN TRY SET @x = 1; END TRY BEGIN CATCH RETURN; END CATCH SELECT 2 AS b;`, `b?`},
		{"nested try", `
BEGIN TRY
    BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH THROW; END CATCH
END TRY
BEGIN CATCH
    SELECT 2 AS b;
END CATCH`, `(a b? | b)`},
		{"set after try", `BEGIN TRY SET @x = 1; END TRY BEGIN CATCH SET @x = 2; END CATCH SELECT @x AS a;`, `a`},
		{"try in a loop with return", `
WHILE @x < 3
BEGIN;
    BEGIN TRY
        SELECT 1 AS a;
        RETURN;
    END TRY
    BEGIN CATCH
        SET @x += 1;
    END CATCH
END`, `0 a>0 $`},
		{"throw without number outside catch", `THROW;`, `1:1 error: THROW without a number is for CATCH blocks`},

		{
			"for json", `SELECT id AS a FROM dbo.orders FOR JSON PATH;`,
			`1:32 type: the server cuts the document of FOR JSON into rows of about 2,000 characters`,
		},
		{"for json in a subquery", `SELECT (SELECT id FROM dbo.orders FOR JSON PATH) AS a;`, `a`},
		{"fetch without into", `
DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.orders;
OPEN c;
FETCH NEXT FROM c;`, `3:1 shape: FETCH without INTO sends a result set for each row`},
		{"cursor", `
DECLARE @id bigint;
DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.orders;
OPEN c;
FETCH NEXT FROM c INTO @id;
CLOSE c;
DEALLOCATE c;
SELECT @id AS a;`, `a`},
	})
}

// What a set that several statements can send looks like.
func TestMerge(t *testing.T) {
	t.Parallel()
	runPrograms(t, []programCase{
		{name: "nullable in one", definitions: `
CREATE PROCEDURE dbo.p @x int AS
IF @x = 1 SELECT note AS a FROM dbo.orders; ELSE SELECT customer AS a FROM dbo.orders;`, want: `
dbo.p(@x int)
  a: a nvarchar(100)?; many
  flow: a`},
		{name: "weakened number of rows", definitions: `
CREATE PROCEDURE dbo.p @x bigint AS
IF @x = 1 SELECT id FROM dbo.orders WHERE id = @x; ELSE SELECT CAST(1 AS bigint) AS id;`, want: `
dbo.p(@x bigint)
  id: id bigint; optional
  flow: id`},
		{name: "different kinds", definitions: `
CREATE PROCEDURE dbo.p @x bigint AS
IF @x = 1
    SELECT id AS a FROM dbo.orders;
ELSE
    SELECT customer AS a FROM dbo.orders;`, want: `
5:5 shape: column a is nvarchar(50) here and bigint at a.sql:3:5, and a client cannot tell the two result sets apart`},
		{name: "two names for what cannot be told apart", definitions: `
CREATE PROCEDURE dbo.p @x bigint AS
IF @x = 1
    -- gen:result First
    SELECT id FROM dbo.orders;
ELSE
    -- gen:result Second
    SELECT id FROM dbo.orders;`, want: `
7:5 shape: a client cannot tell this result set from First at a.sql:4:5: both have the columns id`},
		{name: "one name for two branches", definitions: `
CREATE PROCEDURE dbo.p @x bigint AS
IF @x = 1
BEGIN
    SELECT customer FROM dbo.orders;
    -- gen:result Ids
    SELECT id FROM dbo.orders;
END
ELSE
    -- gen:result Ids
    SELECT id FROM dbo.orders;`, want: `
dbo.p(@x bigint)
  customer: customer nvarchar(50); many maybe
  Ids: id bigint; many
  flow: customer? Ids`},
		{name: "one name twice on one way", definitions: `
CREATE PROCEDURE dbo.p AS
-- gen:result Ids
SELECT id FROM dbo.orders;
-- gen:result Ids
SELECT id FROM dbo.orders;`, want: `
5:1 shape: the result set at a.sql:3:1 is also called Ids`},
	})
}

// Many optional sets give an automaton with an edge between any two of them; that must not take long.
func TestFlowOfManySets(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 120 {
		fmt.Fprintf(&body, "IF @x = %d SELECT %d AS c%d;\n", i, i, i)
	}
	p, found := programOf(t, "CREATE PROCEDURE dbo.p @x int AS\n"+body.String(), "", Options{})
	if len(found) > 0 {
		t.Fatal(renderFound(found))
	}
	proc := p.Procedures[0]
	if len(proc.Results) != 120 || len(proc.Flow.States) != 121 || len(proc.Flow.States[0].Edges) != 120 {
		t.Errorf("%d results, %d states, %d edges", len(proc.Results), len(proc.Flow.States), len(proc.Flow.States[0].Edges))
	}
}

// Too many sets are refused, not computed.
func TestTooManySets(t *testing.T) {
	t.Parallel()
	var definitions strings.Builder
	definitions.WriteString("CREATE PROCEDURE dbo.p0 AS SELECT 1 AS a;\nGO\n")
	for i := range 30 {
		fmt.Fprintf(&definitions, "CREATE PROCEDURE dbo.p%d AS EXEC dbo.p%d; EXEC dbo.p%d;\nGO\n", i+1, i, i)
	}
	_, found := programOf(t, definitions.String(), "", Options{})
	if len(found) == 0 || found[0].Rule != ruleShape {
		t.Errorf("findings: %s", renderFound(found))
	}
}
