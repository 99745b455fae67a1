package tsqltest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsqltest"
)

// exchange is a batch with all that comes back: rows with bars between values, result sets with a semicolon between them, and
// errors with number and place.
type exchange struct{ batch, want string }

// exchanges executes batches in one session of a new server.
func exchanges(t *testing.T, list []exchange) {
	t.Helper()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	for _, s := range list {
		result, err := conn.Exec(t.Context(), s.batch)
		if got := exchanged(result, err); got != s.want {
			t.Errorf("%s\n got %s\nwant %s", s.batch, got, s.want)
		}
	}
}

// exchanged writes down what a batch returned: its rows, its messages in brackets and its errors.
func exchanged(result *tsqltest.Result, err error) string {
	var parts []string
	for _, set := range result.Sets {
		var rows []string
		for _, row := range set.Rows {
			var cells []string
			for _, cell := range row {
				switch cell := cell.(type) {
				case nil:
					cells = append(cells, "NULL")
				case []byte:
					cells = append(cells, fmt.Sprintf("0x%X", cell))
				default:
					cells = append(cells, fmt.Sprint(cell))
				}
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		parts = append(parts, strings.Join(rows, ", "))
	}
	for _, m := range result.Messages {
		parts = append(parts, "["+m+"]")
	}
	for _, e := range severalOf(err) {
		if one, ok := errors.AsType[*tsqltest.Error](e); ok {
			parts = append(parts, fmt.Sprintf("%d %s:%d %s", one.Number, one.Procedure, one.Line, one.Message))
			continue
		}
		parts = append(parts, e.Error())
	}
	return strings.Join(parts, "; ")
}

// severalOf are the errors that are joined in one.
func severalOf(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// Columns of a table variable without an alias are qualified by its name in brackets.
func TestNameOfTableVariable(t *testing.T) {
	t.Parallel()
	const declare = `DECLARE @t TABLE (id INT, n INT); INSERT @t VALUES (1, 10), (2, 20); `
	exchanges(t, []exchange{
		{`CREATE TABLE u (id INT, n INT); INSERT u VALUES (2, 5), (3, 6)`, ``},
		{declare + `SELECT [@T].id, u.n FROM @t JOIN u ON u.id = [@t].[id]; SELECT [@t].* FROM @t ORDER BY [@t].n DESC`, `2|5; 2|20, 1|10`},
		{declare + `UPDATE @t SET n = u.n FROM u WHERE u.id = [@t].id; SELECT n FROM @t ORDER BY id`, `10, 5`},
		{declare + `DELETE @t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = [@t].id); SELECT id FROM @t`, `1`},
		{declare + `UPDATE @t SET n += 1 FROM @t JOIN u ON u.id = [@t].id; SELECT n FROM @t ORDER BY id`, `10, 21`},
		{declare + `SELECT [@t].id FROM @t AS x`, `4104 :1 The multi-part identifier "@t.id" could not be bound.`},
		{declare + `SELECT 1 FROM @t, @t`, `1013 :1 The objects "@t" and "@t" in the FROM clause have the same exposed names. Use correlation names to distinguish them.`},
	})
}

// An error in a column that is computed deep inside a query is the query's error, whatever reads the column.
func TestErrorsOfInnerColumns(t *testing.T) {
	t.Parallel()
	const zero, text = `8134 :1 Divide by zero error encountered.`, `245 :1 Conversion failed when converting the varchar value 'x' to data type int.`
	exchanges(t, []exchange{
		{`CREATE TABLE t (a INT, s VARCHAR(5)); INSERT t VALUES (0, 'x')`, ``},
		{`SELECT 1 AS a UNION SELECT 'x'`, `1; ` + text},
		{`SELECT 1 AS a UNION SELECT s FROM t`, `1; ` + text},
		{`SELECT COUNT(*) FROM (SELECT 1 / a AS b FROM t UNION ALL SELECT 1) AS d WHERE d.b > 0`, `; ` + zero},
		{`SELECT d.b FROM (SELECT 1 / a AS b FROM t) AS d LEFT JOIN t AS u ON u.a = 5`, `; ` + zero},
		{`SELECT DISTINCT d.b FROM (SELECT 1 / a AS b FROM t) AS d`, `; ` + zero},
		{`SELECT d.b FROM (SELECT DISTINCT 1 / a AS b FROM t) AS d WHERE d.b > 0`, `; ` + zero},
		{`SELECT d.b FROM (SELECT MAX(a) AS m, 1 / MAX(a) AS b FROM t) AS d CROSS JOIN t`, `; ` + zero},
		{`SELECT d.b FROM (VALUES (1), (1 / 0)) AS d (b) CROSS JOIN t ORDER BY d.b`, `; ` + zero},
		{`SELECT d.b, ROW_NUMBER() OVER (ORDER BY d.b) FROM (SELECT 1 / a AS b FROM t) AS d`, `; ` + zero},
		{`SELECT 1 WHERE EXISTS (SELECT 1 FROM (SELECT 1 / a AS b FROM t) AS d WHERE d.b = 1)`, `; ` + zero},
		{`INSERT t (a) SELECT 1 AS a UNION SELECT s FROM t`, text},
		{`SELECT COUNT(*) FROM t`, `1`},
	})
}

// A number that becomes text has the collation of the text that it meets, also as the default of LAG.
func TestCollationOfConverted(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{`CREATE TABLE t (a INT, s VARCHAR(40)); INSERT t VALUES (7, '7')`, ``},
		{`SELECT CASE WHEN LAG('x', 1, a) OVER (ORDER BY a) = s THEN 1 END FROM t`, `1`},
	})
}

// A trigger sees how many rows fired it and which columns were set, and what it does may fire others.
func TestTriggers(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]exchange{
		"what it knows": {
			{`CREATE TABLE t (a INT, b INT, c INT, d INT, e INT, f INT, g INT, h INT, i INT); CREATE TABLE log (n INT IDENTITY, s VARCHAR(100))`, ``},
			{`CREATE TRIGGER tr ON t AFTER INSERT, UPDATE, DELETE AS INSERT log (s) VALUES (CONCAT(@@ROWCOUNT, ' ', CONVERT(VARCHAR(9), COLUMNS_UPDATED(), 1),
				' ', TRIGGER_NESTLEVEL(), TRIGGER_NESTLEVEL(@@PROCID), TRIGGER_NESTLEVEL(0)))`, ``},
			{`INSERT t (a) VALUES (1), (2); UPDATE t SET b = 1, i = 2 WHERE a = 1; UPDATE t SET h = 1 WHERE 1 = 0; DELETE t`, ``},
			{`SELECT s FROM log ORDER BY n; SELECT TRIGGER_NESTLEVEL(), COLUMNS_UPDATED()`, `2 0xFF01 111, 1 0x0201 111, 0 0x8000 111, 2 0x0000 111; 0|NULL`},
		},
		"of a MERGE": {
			{`CREATE TABLE t (a INT PRIMARY KEY, b INT); INSERT t VALUES (1, 1)`, ``},
			{`CREATE TRIGGER tr ON t AFTER INSERT, UPDATE AS SELECT @@ROWCOUNT, COUNT(*) FROM inserted`, ``},
			{`MERGE t USING (VALUES (1), (2), (3)) AS s (a) ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 2 WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a);`, `3|2; 3|1`},
		},
		"that returns if no row changed": {
			{`CREATE TABLE t (a INT); CREATE TABLE log (s INT)`, ``},
			{"CREATE TRIGGER tr ON t AFTER UPDATE AS IF @@ROWCOUNT = 0 RETURN; INSERT log VALUES (1)", ``},
			{`INSERT t VALUES (1); UPDATE t SET a = 2 WHERE a = 9; UPDATE t SET a = 2; SELECT COUNT(*) FROM log`, `1`},
		},
		"that changes its own table": {
			{`CREATE TABLE t (a INT)`, ``},
			{`CREATE TRIGGER tr ON t AFTER INSERT AS INSERT t SELECT a + 1 FROM inserted`, ``},
			{`INSERT t VALUES (1); SELECT a FROM t ORDER BY a`, `1, 2`},
		},
		"that others fire in a circle": {
			{`CREATE TABLE t (a INT); CREATE TABLE u (a INT)`, ``},
			{`CREATE TRIGGER t1 ON t AFTER INSERT AS INSERT u SELECT a FROM inserted`, ``},
			{`CREATE TRIGGER t2 ON u AFTER INSERT AS INSERT t SELECT a + 1 FROM inserted WHERE a < 3`, ``},
			{`INSERT t VALUES (9)`, `217 t2:1 Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).`},
			{`SELECT COUNT(*) FROM t`, `0`},
		},
		"that raises an error and rolls back": {
			{`CREATE TABLE t (a INT)`, ``},
			{"CREATE TRIGGER tr ON t AFTER INSERT AS\nRAISERROR('no', 16, 1);\nROLLBACK", ``},
			{"SELECT 1;\nINSERT t VALUES (1);\nSELECT 2", `1; 50000 tr:2 no; 3609 :2 The transaction ended in the trigger. The batch has been aborted.`},
			{`BEGIN TRY INSERT t VALUES (1) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_PROCEDURE(), ERROR_LINE(), XACT_STATE() END CATCH`, `50000|tr|2|0`},
			{`SELECT COUNT(*), @@TRANCOUNT FROM t`, `0|0`},
		},
		"that stands for a change and calls a procedure": {
			{`CREATE TABLE t (a INT)`, ``},
			{`CREATE PROCEDURE p AS INSERT t VALUES (2)`, ``},
			{`CREATE TRIGGER tr ON t INSTEAD OF INSERT AS EXEC p`, ``},
			{`INSERT t VALUES (1)`, `49900 p:1 a change of the table of an INSTEAD OF trigger by a module that the trigger calls is not supported by tsqltest`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exchanges(t, list)
		})
	}
}

// A row that MERGE inserts has no deleted row, one that it deletes no inserted row, whatever the columns are.
func TestMergeOutput(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{`CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL); INSERT t VALUES (1, 1), (2, 2)`, ``},
		{
			`MERGE t USING (VALUES (1), (3)) AS s (a) ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 9 WHEN NOT MATCHED THEN INSERT VALUES (3, 3)
			WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action, inserted.a, deleted.a, IIF(deleted.a IS NULL, 'new', 'old'), s.a;`,
			`UPDATE|1|1|old|1, INSERT|3|NULL|new|3, DELETE|NULL|2|old|NULL`,
		},
		{
			`MERGE t USING (VALUES (5)) AS s (a) ON t.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (5, 5)`,
			`10713 :1 expected ;, found the end of the file: end MERGE with a semicolon (column 92)`,
		},
	})
}

// A function may change its own table variables and nothing else.
func TestFunctionsWithoutEffects(t *testing.T) {
	t.Parallel()
	const effect = "443 f:1 Invalid use of a side-effecting operator '%s' within a function."
	list := []exchange{{`CREATE TABLE t (a INT)`, ``}}
	for _, c := range []struct{ body, word string }{
		{"INSERT t VALUES (1)", "INSERT"},
		{"UPDATE t SET a = 1", "UPDATE"},
		{"DELETE t", "DELETE"},
		{"UPDATE x SET a = 1 FROM t AS x", "UPDATE"},
		{"PRINT 'x'", "PRINT"},
		{"EXEC ('SELECT 1')", "EXECUTE STRING"},
		{"BEGIN TRANSACTION", "BEGIN TRANSACTION"},
		{"IF RAND() > 1 RETURN 1", "rand"},
		{"WHILE 1 = 0 RAISERROR('x', 16, 1)", "RAISERROR"},
		{"SET NOCOUNT ON", "SET OPTION ON/OFF"},
		{"DECLARE @g UNIQUEIDENTIFIER = NEWID()", "newid"},
	} {
		list = append(list, exchange{"CREATE FUNCTION f () RETURNS INT AS BEGIN " + c.body + "; RETURN 1 END", fmt.Sprintf(effect, c.word)})
	}
	exchanges(t, append(list,
		exchange{"CREATE FUNCTION f () RETURNS INT AS BEGIN SELECT 1; RETURN 1 END", "444 f:1 Select statements included within a function cannot return data to a client."},
		exchange{`CREATE FUNCTION own () RETURNS @r TABLE (a INT) AS BEGIN DECLARE @x TABLE (a INT); DECLARE @n INT; INSERT @x VALUES (1), (2); UPDATE x SET a = a + 1 FROM @x AS x;
			DELETE @x WHERE a = 2; SELECT @n = a FROM @x; INSERT @r VALUES (@n); RETURN END`, ``},
		exchange{"SELECT a FROM own()", "3"},
		exchange{"CREATE FUNCTION calls () RETURNS INT AS BEGIN EXEC sp_executesql N'SELECT 1'; RETURN 1 END", ``},
		exchange{"SELECT dbo.calls()", "; 557 calls:1 Only functions and some extended stored procedures can be executed from within a function."},
	))
}

// A statement that stands where it may not is refused before anything is executed.
func TestMisplacedStatements(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"SELECT 1; IF 1 = 0 BREAK", `135 :1 Cannot use a BREAK statement outside the scope of a WHILE statement.`},
		{"SELECT 1; IF 1 = 0 CONTINUE", `136 :1 Cannot use a CONTINUE statement outside the scope of a WHILE statement.`},
		{"WHILE 1 = 1 BEGIN TRY BREAK END TRY BEGIN CATCH CONTINUE END CATCH; SELECT 1", `1`},
		{"SELECT 1;\nGOTO x", `133 :2 A GOTO statement references the label 'x' but the label has not been declared.`},
		{"x: SELECT 1; x: SELECT 2", `132 :1 The label 'x' has already been declared. Label names must be unique within a query batch or stored procedure.`},
		{"GOTO x; IF 1 = 0 BEGIN x: SELECT 1 END", `49900 :1 GOTO into a block is not supported by tsqltest (batch:1:1)`},
		{"SELECT 1; RETURN 1", `178 :1 A RETURN statement with a return value cannot be used in this context.`},
		{"SELECT 1; THROW;", `10704 :1 To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.`},
		{"CREATE TYPE tt AS TABLE (a INT)", ``},
		{"CREATE PROCEDURE p @t tt AS SELECT 1", `352 p:1 The table-valued parameter "@t" must be declared with the READONLY option.`},
		{"CREATE TABLE t (a INT, b INT)", ``},
		{"INSERT t (a, b) VALUES (1)", `109 :1 expected as many values as there are columns, 2, found 1 (column 25)`},
		{"INSERT t (a, b) VALUES (1, 2, 3)", `110 :1 expected as many values as there are columns, 2, found 3 (column 25)`},
	})
}

// A table that a call does not pass is empty.
func TestTablesAreOptional(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE TYPE tt AS TABLE (a INT)", ``},
		{"CREATE PROCEDURE p @t tt READONLY, @b INT AS\nSELECT COUNT(*), @b FROM @t", ``},
		{"EXEC p @b = 2", `0|2`},
	})
}

// Errors that belong to a call name the procedure and line 0, and values are named by their kinds of type.
func TestCallErrors(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE PROCEDURE p @a INT, @b DATE AS\nSELECT @a", ``},
		{"SELECT 1;\nEXEC p 1", `1; 201 p:0 Procedure or function 'p' expects parameter '@b', which was not supplied.`},
		{"EXEC p 'x', NULL", `8114 p:0 Error converting data type varchar to int.`},
		{"EXEC p 1, 2, 3", `8144 p:0 Procedure or function p has too many arguments specified.`},
		{"BEGIN TRY EXEC p END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_PROCEDURE(), ERROR_LINE() END CATCH", `201|p|0`},
		{"EXEC sp_executesql N'SELECT @a', N'@a INT, @b INT'", `8178 :1 The parameterized query '(@a INT, @b INT)SELECT @a' expects the parameter '@a', which was not supplied.`},
		{"CREATE PROCEDURE q AS BEGIN TRANSACTION", ``},
		{"EXEC q", `266 q:0 Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = 0, current count = 1.`},
		{"ROLLBACK; RAISERROR(50099, 16, 1)", `18054 :1 Error 50099, severity 16, state 1 was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage.`},
		{"RAISERROR('x', 20, 1)", `2754 :1 Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.`},
	})
}

// The client is told that a statement has been terminated if it is one that changes something.
func TestTerminated(t *testing.T) {
	t.Parallel()
	const zero, note = "8134 :1 Divide by zero error encountered.", "[The statement has been terminated.]"
	exchanges(t, []exchange{
		{"SELECT 1 / 0", "; " + zero},
		{"DECLARE @x INT = 1 / 0", zero},
		{"CREATE TABLE t (a INT)", ``},
		{"INSERT t VALUES (1 / 0)", note + "; " + zero},
		{"SELECT 1 / 0 AS a INTO u", note + "; " + zero},
		{"INSERT t VALUES (1), (1)", ``},
		{"CREATE UNIQUE INDEX i ON t (a)", note + "; 1505 :1 The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name 'dbo.t' and the index name 'i'. The duplicate key value is (1)."},
	})
}

// A statement draws one value of a sequence for each row, however often it asks.
func TestNextValueOfARow(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE SEQUENCE s AS INT START WITH 1; CREATE SEQUENCE u AS INT START WITH 10", ``},
		{"SELECT NEXT VALUE FOR s, NEXT VALUE FOR u, NEXT VALUE FOR s FROM (VALUES (1), (2)) AS v (x)", `1|10|1, 2|11|2`},
		{"SELECT NEXT VALUE FOR s", `3`},
	})
}

// CONTEXT_INFO gives back 128 bytes.
func TestContextInfo(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"SELECT CONTEXT_INFO()", `NULL`},
		{"DECLARE @who VARBINARY(128) = CAST('ada' AS VARBINARY(128)); SET CONTEXT_INFO @who", ``},
		{"SELECT REPLACE(CAST(CONTEXT_INFO() AS VARCHAR(128)), CHAR(0), ''), DATALENGTH(CONTEXT_INFO())", `ada|128`},
		{"SET CONTEXT_INFO 0x01; SELECT SUBSTRING(CONTEXT_INFO(), 1, 2)", `0x0100`},
	})
}

// A separator of STRING_SPLIT is one character.
func TestSplitSeparator(t *testing.T) {
	t.Parallel()
	const refused = "214 :1 Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'."
	exchanges(t, []exchange{
		{"SELECT value FROM STRING_SPLIT('a--b', '--')", "; " + refused},
		{"DECLARE @s NVARCHAR(10) = N',;'; SELECT value FROM STRING_SPLIT(N'a,;b', @s)", "; " + refused},
		{"SELECT value FROM STRING_SPLIT('a-b', '-')", "a, b"},
	})
}
