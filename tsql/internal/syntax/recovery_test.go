package syntax

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// statementList reads a text as the statements of one batch.
func statementList(p *parser) []Stmt { return p.statements(batchScope) }

// TestRecovery checks that an error costs its own statement and nothing else.
func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		text   string
		errors string
		tree   string // the batches, one a line
	}{
		{
			name: "three errors in one file",
			text: `
SELCT 1
PRINT 'a'
UPDATE t SET WHERE a = 1;
PRINT 'b'
GO
DECLARE x int
PRINT 'c'
`,
			errors: `2:1: unknown statement "SELCT"
4:14: expected the name of a column, found WHERE
7:11: expected CURSOR, found int`,
			tree: `[(Print 'a') (Print 'b')]
[(Print 'c')]`,
		},
		{
			name: "statements of a block",
			text: `
CREATE PROCEDURE dbo.p @a int AS
BEGIN
    SET NOCOUNT ON
    SELECT a b c FROM t
    IF @a = 1
    BEGIN
        UPDATE t SET a 1
        PRINT 'kept'
    END
    ELSE
        PRINT 'else'
    SELECT CASE WHEN @a = 1 THEN 2 ELSE END AS x
    RETURN 0
END`,
			errors: `5:16: unknown statement "c"
8:24: expected =, found 1
13:41: expected an expression, found END`,
			tree: `[(CreateProcedure Name=dbo.p Params=[(Param Name=@a Type=type:int)] Body=[(Block Stmts=[(SetOption Name=NOCOUNT Value=ON) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem a Alias=b)]))) (If Cond=(Compare = @a 1) Then=(Block Stmts=[(Print 'kept')]) Else=(Print 'else')) (Return 0)])])]`,
		},
		{
			name: "the header of a module owns its batch",
			text: `
CREATE PROCEDURE dbo.p @a AS
SELECT 1
SELECT 2
GO
CREATE PROCEDURE dbo.q AS
SELECT 3`,
			errors: `3:1: expected a data type, found SELECT`,
			tree:   `[(CreateProcedure Name=dbo.q Body=[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 3)])))])]`,
		},
		{
			name: "a forgotten GO",
			text: `
CREATE PROCEDURE dbo.p AS
PRINT 'p'
CREATE PROCEDURE dbo.q AS
PRINT 'q'`,
			errors: `4:1: CREATE PROCEDURE must be the first statement of its batch`,
			tree:   `[(CreateProcedure Name=dbo.p Body=[(Print 'p')]) (CreateProcedure Name=dbo.q Body=[(Print 'q')])]`,
		},
		{
			name: "a forgotten END",
			text: `
CREATE PROCEDURE dbo.p AS
BEGIN TRY
    BEGIN
        PRINT 'a'
END TRY
BEGIN CATCH
    THROW
END CATCH
PRINT 'b'
GO
PRINT 'c'`,
			errors: `6:1: expected END, found END TRY; the BEGIN of line 4 has none`,
			tree: `[(CreateProcedure Name=dbo.p Body=[(TryCatch Try=[(Block Stmts=[(Print 'a')])] Catch=[(Throw)]) (Print 'b')])]
[(Print 'c')]`,
		},
		{
			name: "the condition of an IF with a block",
			text: `
BEGIN
    IF @a = = 1 BEGIN PRINT 'a' END ELSE PRINT 'b'
    PRINT 'c'
END
PRINT 'd'`,
			errors: `3:13: expected an expression, found =`,
			tree:   `[(Block Stmts=[(Block Stmts=[(Print 'a')]) (Print 'b') (Print 'c')]) (Print 'd')]`,
		},
		{
			name: "parts of a statement that look like statements",
			text: `
INSERT INTO t (a b)
SELECT 1
UPDATE t
SET a = = 1
WHERE b = 2
MERGE t USING s ON t.a = = s.a
WHEN MATCHED THEN
UPDATE SET a = 1;
DELETE FROM t`,
			errors: `2:18: expected ) to close the list of columns, found b
5:9: expected an expression, found =
7:26: expected an expression, found =`,
			tree: `[(Delete Target=(TableRef Name=t))]`,
		},
		{
			name:   "nothing but errors",
			text:   "FROM\nGO\n)\nGO\nCREATE",
			errors: "1:1: expected a statement, found FROM\n3:1: expected a statement, found )\n5:7: expected the kind of an object, found the end of the file",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			script, found := Parse(diag.NewFile("t.sql", c.text))
			if got := errorsOf(found); got != c.errors {
				t.Errorf("errors\n%s\nwant\n%s", got, c.errors)
			}
			var trees []string
			for _, b := range script.Batches {
				trees = append(trees, sexpr(b.Stmts))
			}
			if got := strings.Join(trees, "\n"); got != c.tree {
				t.Errorf("tree\n%s\nwant\n%s", got, c.tree)
			}
		})
	}
}

// TestBatches checks how GO divides a file.
func TestBatches(t *testing.T) {
	t.Parallel()
	const text = "PRINT 'a'\nGO\n;\nGO\nPRINT 'b'; PRINT 'c'\ngo 3\nPRINT 'd'"
	script, found := Parse(diag.NewFile("t.sql", text))
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	want := []struct {
		text  string
		count int
	}{{"PRINT 'a'", 1}, {"PRINT 'b'; PRINT 'c'", 3}, {"PRINT 'd'", 1}}
	if len(script.Batches) != len(want) {
		t.Fatalf("%d batches, want %d", len(script.Batches), len(want))
	}
	for i, b := range script.Batches {
		if got := script.File.Slice(b.Span); got != want[i].text || b.Count != want[i].count {
			t.Errorf("batch %d is %q × %d, want %q × %d", i, got, b.Count, want[i].text, want[i].count)
		}
	}
}

// TestFixes checks the advice that comes with some errors.
func TestFixes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELCT 1":                             "write SELECT; or EXEC SELCT to call a procedure",
		"dbo.sp_who 1":                        "write EXEC dbo.sp_who to call a procedure",
		"SET NOCUONT ON":                      "write NOCOUNT",
		"SET a = 1":                           "the names of variables begin with @",
		"CREATE TABEL t":                      "write TABLE",
		"DECLARE a int":                       "the names of variables begin with @",
		"UPDATE t u SET a":                    "name the table with its alias in FROM, and the alias here",
		"SELECT 1\nCREATE VIEW v AS SELECT 1": "put GO before it",
		"PRINT 'x'\nTHROW":                    "end the statement before it with a semicolon",
		"CREATE TABLE t (order int)":          "write [order] if that is the name",
	} {
		if _, found := Parse(diag.NewFile("t.sql", text)); len(found) != 1 || found[0].Fix != want {
			t.Errorf("%s\n%swant fix: %s", text, found.Format(), want)
		}
	}
}
