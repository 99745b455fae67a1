package tsqltest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// exchange is a batch with all that comes back: rows with bars between values, result sets with a semicolon between
// them, and errors with number and place.
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

// A column of a chain of set operations that is the literal NULL in the first queries has the type of the first query
// that has one; if none has, it is int.
//
// The reference of UNION says only that different types are combined by precedence, and a literal NULL has none. That
// SQL Server does not make int of the first two is known from Entity Framework, whose query for a hierarchy of classes
// selects NULL three times and then a bit: its tests on SQL Server read the column as a bit, which an int is not. A
// query inside FROM or WITH has columns with types of their own, so NULL is int there.
func TestUntypedChains(t *testing.T) {
	t.Parallel()
	const text = `245 :1 Conversion failed when converting the varchar value 'a' to data type int.`
	kind := func(chain string) string {
		return `SELECT TOP (1) SQL_VARIANT_PROPERTY(v, 'BaseType') FROM (` + chain + `) AS d (v) WHERE v IS NOT NULL`
	}
	exchanges(t, []exchange{
		{`SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT 'a'`, `NULL, NULL, a`},                                                                                //nolint:dupword // rows
		{`SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT CAST('2024-02-29' AS DATE)`, `NULL, NULL, NULL, 2024-02-29 00:00:00 +0000 UTC`}, //nolint:dupword // rows
		{`SELECT 'a' UNION ALL SELECT NULL UNION ALL SELECT NULL`, `a, NULL, NULL`},
		{`SELECT NULL UNION ALL (SELECT NULL UNION ALL SELECT 'a')`, `NULL, NULL, a`}, //nolint:dupword // rows
		{`(SELECT NULL UNION ALL SELECT NULL) UNION ALL SELECT 'a'`, `NULL, NULL, a`}, //nolint:dupword // rows
		{`SELECT NULL, 1 UNION ALL SELECT NULL, NULL UNION ALL SELECT 'a', 2`, `NULL|1, NULL|NULL, a|2`},
		{`SELECT NULL UNION SELECT NULL UNION SELECT 'a'`, `NULL, a`},
		{`SELECT NULL INTERSECT SELECT NULL UNION ALL SELECT 'a'`, `NULL, a`},
		{`SELECT 'a' EXCEPT (SELECT NULL UNION ALL SELECT NULL)`, `a`},
		{`SELECT NULL AS a UNION ALL SELECT NULL UNION ALL SELECT 'a' ORDER BY a DESC`, `a, NULL, NULL`},
		{`SELECT 1 WHERE 'a' IN (SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT 'a')`, `1`},
		{kind(`SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT CAST(1 AS BIT)`), `bit`},
		{kind(`SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT CAST(1 AS TINYINT) UNION ALL SELECT CAST(2 AS SMALLINT)`), `smallint`},
		{kind(`SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT NEWID()`), `uniqueidentifier`},
		{kind(`SELECT NULL UNION ALL SELECT '1' UNION ALL SELECT NULL UNION ALL SELECT 2`), `int`},
		{`SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT 'a' UNION ALL SELECT 1`, `NULL, NULL; ` + text},

		// Nothing but NULL is int.
		{`SELECT NULL AS a INTO one UNION ALL SELECT NULL UNION ALL SELECT NULL`, ``},
		{`SELECT NULL AS a INTO two UNION ALL SELECT NULL UNION ALL SELECT CAST(NULL AS DATE)`, ``},
		{`SELECT OBJECT_NAME(object_id), TYPE_NAME(system_type_id) FROM sys.columns WHERE name = 'a' AND object_id IN (OBJECT_ID('one'), OBJECT_ID('two'))`, `one|int, two|date`},
		{`SELECT d.a FROM (SELECT NULL AS a UNION ALL SELECT NULL) AS d UNION ALL SELECT 'a'`, `NULL, NULL; ` + text},
		{`WITH c AS (SELECT NULL AS a UNION ALL SELECT NULL) SELECT a FROM c UNION ALL SELECT 'a'`, `NULL, NULL; ` + text},
		{`SELECT d.a FROM (SELECT NULL AS a) AS d UNION ALL SELECT CAST('2024-02-29' AS DATE)`, `206 :1 Operand type clash: int is incompatible with date`},
		{`SELECT v.a FROM (VALUES (NULL), (NULL), ('a')) AS v (a)`, `NULL, NULL, a`}, //nolint:dupword // rows
	})
}

// Below EXISTS a star stands for no columns, so GROUP BY and HAVING do not limit it. A named column is limited
// everywhere.
func TestExistsOfGroups(t *testing.T) {
	t.Parallel()
	const ungrouped = `8120 :1 Column 'dbo.t.b' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.`
	exchanges(t, []exchange{
		{`CREATE TABLE t (a INT, b INT); INSERT t VALUES (1, 1), (1, 2), (2, 1)`, ``},
		{`IF EXISTS (SELECT * FROM t GROUP BY a HAVING COUNT(*) > 1) PRINT 'two'; IF NOT EXISTS (SELECT * FROM t GROUP BY a HAVING COUNT(*) > 2) PRINT 'not three'`, `[two]; [not three]`},
		{`SELECT DISTINCT a FROM t WHERE EXISTS (SELECT * FROM t AS u WHERE u.a = t.a GROUP BY u.a HAVING MAX(u.b) > 1)`, `1`},
		{`SELECT 1 WHERE EXISTS (SELECT t.* FROM t GROUP BY a)`, `1`},
		{`SELECT 1 WHERE EXISTS (SELECT * FROM t HAVING COUNT(*) = 3)`, `1`},
		{`SELECT 1 WHERE EXISTS (SELECT * FROM t WHERE a = 9 GROUP BY a)`, ``},
		{`SELECT 1 WHERE EXISTS (SELECT * FROM t GROUP BY a UNION ALL SELECT * FROM t GROUP BY b)`, `1`},
		{`SELECT 1 WHERE EXISTS (SELECT b FROM t GROUP BY a)`, ungrouped},
		{`SELECT 1 WHERE EXISTS (SELECT *, 1 AS one FROM t GROUP BY a)`, ungrouped},
		{`SELECT 1 WHERE EXISTS (SELECT * FROM (SELECT * FROM t GROUP BY a) AS d)`, ungrouped},
		{`SELECT * FROM t GROUP BY a`, ungrouped},
	})
}

// GROUP BY takes any expression with a column of the query, also a call of the user's own function, but no subquery
// (error 144) and no constant (error 164).
func TestGroupByFunction(t *testing.T) {
	t.Parallel()
	const subquery = `144 :1 Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.`
	exchanges(t, []exchange{
		{`CREATE FUNCTION dbo.odd (@x INT) RETURNS INT AS BEGIN RETURN @x % 2 END`, ``},
		{`CREATE TABLE t (a INT, b INT); INSERT t VALUES (1, 1), (2, 2), (3, 3), (4, 4)`, ``},
		{`SELECT dbo.odd(a), SUM(b) FROM t GROUP BY dbo.odd(a) ORDER BY dbo.odd(a)`, `0|6, 1|4`},
		{`SELECT dbo.Odd(q.a) + 10, COUNT(*) FROM t AS q GROUP BY dbo.odd(a) HAVING dbo.odd(a) = 1`, `11|2`},
		{`SELECT dbo.odd(a), b, COUNT(*) FROM t WHERE a > 2 GROUP BY ROLLUP (dbo.odd(a), b) ORDER BY 1, 2`, `NULL|NULL|2, 0|NULL|1, 0|4|1, 1|NULL|1, 1|3|1`},
		{`SELECT COUNT(*) FROM t GROUP BY ABS(dbo.odd(a)), YEAR(DATEADD(YEAR, a, '2000-01-01')) ORDER BY dbo.odd(a)`, `8127 :1 Column "dbo.t.a" is invalid in the ORDER BY clause because it is not contained in either an aggregate function or the GROUP BY clause.`},
		{`SELECT dbo.odd(b) FROM t GROUP BY dbo.odd(a)`, `8120 :1 Column 'dbo.t.b' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.`},
		{`SELECT COUNT(*) FROM t GROUP BY dbo.odd((SELECT 1)), a`, subquery},
		{`SELECT COUNT(*) FROM t GROUP BY CASE WHEN EXISTS (SELECT 1) THEN a END`, subquery},
		{`SELECT COUNT(*) FROM t GROUP BY dbo.odd(COUNT(*))`, subquery},
		{`SELECT COUNT(*) FROM t GROUP BY dbo.odd(1)`, `164 :1 Each GROUP BY expression must contain at least one column that is not an outer reference.`},
	})
}

// A computed column may be NULL unless its expression never is, which SQL Server says of few: most may overflow
// ("CREATE TABLE", computed columns). ISNULL with a constant is one, COALESCE is not ("ISNULL", remarks), and PERSISTED
// NOT NULL says it of any. A primary key needs a column that may not be NULL; it need not be persisted.
func TestComputedKeys(t *testing.T) {
	t.Parallel()
	refused := func(table string) string {
		return `1711 :1 Cannot define PRIMARY KEY constraint on column 'b' in table '` + table + `'. The computed column has to be persisted and not nullable.; ` +
			`1750 :1 Could not create constraint or index. See previous errors.`
	}
	exchanges(t, []exchange{
		{`CREATE TABLE k1 (a VARCHAR(10), b AS ISNULL(CONVERT(INT, a), 0) PERSISTED CONSTRAINT pk1 PRIMARY KEY)`, ``},
		{`INSERT k1 (a) VALUES ('7'), (NULL); SELECT b FROM k1`, `0, 7`},
		{`INSERT k1 (a) VALUES ('7')`, `[The statement has been terminated.]; 2627 :1 Violation of PRIMARY KEY constraint 'pk1'. Cannot insert duplicate key in object 'dbo.k1'. The duplicate key value is (7).`},
		{`CREATE TABLE k2 (a VARCHAR(10), c INT NOT NULL, b AS ISNULL(CONVERT(INT, a), 0) PERSISTED, CONSTRAINT pk2 PRIMARY KEY (c, b))`, ``},
		{`CREATE TABLE k3 (a INT, b AS ISNULL(a, 0) PERSISTED); ALTER TABLE k3 ADD CONSTRAINT pk3 PRIMARY KEY (b)`, ``},
		{`CREATE TABLE k4 (a INT); ALTER TABLE k4 ADD b AS ISNULL(a, 0) PERSISTED CONSTRAINT pk4 PRIMARY KEY`, ``},
		{`CREATE TABLE k5 (a INT, b AS a + 1 PERSISTED NOT NULL); ALTER TABLE k5 ADD CONSTRAINT pk5 PRIMARY KEY (b)`, ``},
		{`CREATE TABLE k6 (a INT NOT NULL, b AS a PERSISTED PRIMARY KEY)`, ``},
		{`CREATE TABLE k7 (a INT, b AS ISNULL(a, 0) PRIMARY KEY)`, ``},
		{`INSERT k7 (a) VALUES (NULL); SELECT b FROM k7`, `0`},
		{`DECLARE @t TABLE (a INT, b AS ISNULL(CONVERT(VARCHAR(5), a), '') PERSISTED PRIMARY KEY); INSERT @t (a) VALUES (1); SELECT b FROM @t`, `1`},
		{`CREATE TABLE parent (id INT PRIMARY KEY); INSERT parent VALUES (0)`, ``},
		{`CREATE TABLE child (a INT, b AS ISNULL(a, 0) PERSISTED PRIMARY KEY REFERENCES parent); INSERT child (a) VALUES (NULL)`, ``},
		{`SELECT OBJECT_NAME(object_id) FROM sys.computed_columns WHERE is_nullable = 0 ORDER BY 1`, `child, k1, k2, k3, k4, k5, k6, k7`},
		{`CREATE TABLE n1 (a INT, b AS COALESCE(a, 0) PERSISTED PRIMARY KEY)`, refused("n1")},
		{`CREATE TABLE n2 (a INT NOT NULL, b AS a + 1 PERSISTED PRIMARY KEY)`, refused("n2")},
		{`CREATE TABLE n3 (a INT, c INT, b AS ISNULL(a, c) PERSISTED PRIMARY KEY)`, refused("n3")},
		{`CREATE TABLE n4 (a INT, b AS CONVERT(BIGINT, a) PERSISTED); ALTER TABLE n4 ADD PRIMARY KEY (b)`, refused("n4")},
		{`CREATE TABLE n5 (a INT, b AS ISNULL(a, 0), c AS a + 1, UNIQUE (b), UNIQUE (c))`, ``},
	})
}

// Parameters of modules that are not natively compiled, and variables in a batch, are never NOT NULL (error 11555; the
// syntax of DECLARE has no such words). NULL may be said of both.
func TestNotNullParameters(t *testing.T) {
	t.Parallel()
	const parameter, variable = "11555 :1 the parameter @x is NOT NULL in a module that is not natively compiled: leave NOT NULL out (column %d)",
		"156 :1 the variable @x is NOT NULL outside a natively compiled module: leave NOT NULL out (column %d)"
	exchanges(t, []exchange{
		{"CREATE PROCEDURE p @x INT NOT NULL AS SELECT @x", fmt.Sprintf(parameter, 20)},
		{"CREATE FUNCTION f (@x INT NOT NULL) RETURNS INT AS BEGIN RETURN @x END", fmt.Sprintf(parameter, 20)},
		{"CREATE FUNCTION f (@x INT NOT NULL) RETURNS TABLE AS RETURN SELECT @x AS x", fmt.Sprintf(parameter, 20)},
		{"EXEC sp_executesql N'SELECT @x', N'@x INT NOT NULL', 1", fmt.Sprintf(parameter, 20)},
		{"SELECT 1; DECLARE @x INT NOT NULL = 1", fmt.Sprintf(variable, 26)},
		{"CREATE PROCEDURE p AS DECLARE @x INT NOT NULL = 1", fmt.Sprintf(variable, 38)},
		{"EXEC ('DECLARE @x INT NOT NULL = 1')", fmt.Sprintf(variable, 16)},
		{"CREATE PROCEDURE p @x INT NOT NULL WITH NATIVE_COMPILATION, SCHEMABINDING AS SELECT 1", "49900 :1 NATIVE_COMPILATION is not supported by tsqltest (batch:1:41)"},
		{"CREATE PROCEDURE p @x INT NULL, @y INT NULL = 2 AS DECLARE @z INT NULL = 3; SELECT @x, @y, @z", ""},
		{"EXEC p NULL", "NULL|2|3"},
		{"DECLARE @x TABLE (a INT NOT NULL); INSERT @x VALUES (1); SELECT a FROM @x", "1"},
		{"CREATE TYPE word FROM VARCHAR(9) NOT NULL", ""},
		{"DECLARE @x word; SELECT @x", "NULL"},
	})
}

// What SQL Server has and tsqltest has not is error 49900, whatever it is; what neither has is SQL Server's error. A
// name of the system is looked for when it is needed, and something of the user's with the same name comes first.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	absent := func(what, place string) string {
		return "49900 :1 " + what + " is not supported by tsqltest (" + place + ")"
	}
	exchanges(t, []exchange{
		{`CREATE TABLE t (a INT, s VARCHAR(MAX))`, ``},

		{`EXEC sp_addrole 'x'`, absent("sp_addrole", "batch:1:1")},
		{`EXEC sys.sp_helpindex 't'`, absent("sys.sp_helpindex", "batch:1:1")},
		{`EXEC master..xp_cmdshell 'dir'`, absent("master..xp_cmdshell", "batch:1:1")},
		{`EXEC msdb.dbo.sp_send_dbmail @recipients = 'x'`, absent("msdb.dbo.sp_send_dbmail", "batch:1:1")},
		{`DECLARE @p SYSNAME = N'sp_who2'; EXEC @p`, absent("sp_who2", "batch:1:34")},
		{`INSERT t (a) EXEC sp_lock`, absent("sp_lock", "batch:1:14")},
		{`EXEC sp_nothing`, `2812 :1 Could not find stored procedure 'sp_nothing'.`},
		{`EXEC master..xp_nothing`, `2812 :1 Could not find stored procedure 'master..xp_nothing'.`},

		{`SELECT 1 FROM sysusers`, absent("sysusers", "batch:1:15")},
		{`SELECT 1 FROM dbo.sysindexes`, absent("dbo.sysindexes", "batch:1:15")},
		{`SELECT 1 FROM sys.dm_os_sys_info`, absent("sys.dm_os_sys_info", "batch:1:15")},
		{`SELECT 1 FROM INFORMATION_SCHEMA.VIEW_COLUMN_USAGE`, absent("INFORMATION_SCHEMA.VIEW_COLUMN_USAGE", "batch:1:15")},
		{`SELECT 1 FROM master.dbo.spt_values`, absent("master.dbo.spt_values", "batch:1:15")},
		{`SELECT 1 FROM msdb..backupset`, absent("msdb..backupset", "batch:1:15")},
		{`DELETE msdb.dbo.sysjobs`, absent("msdb.dbo.sysjobs", "batch:1:8")},
		{`DELETE sysusers`, `259 :1 Ad hoc updates to system catalogs are not allowed.`},
		{`UPDATE sys.objects SET name = 'x'`, `259 :1 Ad hoc updates to system catalogs are not allowed.`},
		{`SELECT 1 FROM sys.nothing`, `208 :1 Invalid object name 'sys.nothing'.`},
		{`SELECT 1 FROM sysnothing`, `208 :1 Invalid object name 'sysnothing'.`},
		{`SELECT 1 FROM msdb.dbo.nothing`, `208 :1 Invalid object name 'msdb.dbo.nothing'.`},

		{`SELECT TEXTPTR(s) FROM t`, absent("TEXTPTR", "batch:1:8")},
		{`SELECT index_col('t', 1, 1)`, absent("INDEX_COL", "batch:1:8")},
		{`SELECT $PARTITION.f(1)`, absent("$PARTITION", "batch:1:8")},
		{`SELECT sys.fn_varbintohexstr(0x01)`, absent("sys.fn_varbintohexstr", "batch:1:8")},
		{`SELECT 1 FROM sys.dm_db_index_physical_stats(1, 1, 1, 1, NULL)`, absent("sys.dm_db_index_physical_stats", "batch:1:15")},
		{`SELECT 1 FROM fn_helpcollations()`, absent("fn_helpcollations", "batch:1:15")},
		{`SELECT NOTHING(1)`, `195 :1 'NOTHING' is not a recognized built-in function name.`},
		{`SELECT sys.fn_nothing(1)`, `4121 :1 Cannot find either column "sys" or the user-defined function or aggregate "sys.fn_nothing", or the name is ambiguous.`},
		{`SELECT 1 FROM sys.fn_nothing()`, `208 :1 Invalid object name 'sys.fn_nothing'.`},

		{`SELECT a FROM t WHERE a = 1 AND FREETEXT(s, 'x')`, absent("FREETEXT", "batch:1:33")},
		{`SELECT 'a' COLLATE Chinese_PRC_CI_AS`, `49900 :1 the collation Chinese_PRC_CI_AS is not supported by tsqltest`},
		{`CREATE TABLE u (a VARCHAR(1) COLLATE Korean_Wansung_CS_AS_KS_WS)`, `49900 :1 the collation Korean_Wansung_CS_AS_KS_WS is not supported by tsqltest`},
		{`SELECT 'a' COLLATE Klingon_CI_AS`, `448 :1 Invalid collation 'Klingon_CI_AS'.`},
		{`SELECT 'a' COLLATE Japanese_XX`, `448 :1 Invalid collation 'Japanese_XX'.`},
		{`SELECT CAST('{}' AS JSON)`, `49900 :1 the type JSON is not supported by tsqltest`},
		{`CREATE TABLE u (a NOTHING)`, `2715 :1 Column, parameter, or variable #1: Cannot find data type NOTHING.`},

		{`CREATE RULE r AS @x > 1`, `49900 :1 CREATE RULE is not supported by tsqltest (batch:1:1)`},
		{`DROP DEFAULT d`, absent("DROP DEFAULT", "batch:1:1")},
		{`CREATE NOTHING x`, `102 :1 CREATE NOTHING isn't supported (column 8)`},
		{`SETUSER 'x'`, `49900 :1 SETUSER is not supported by tsqltest (column 1)`},
		{`GRANT SELECT ON sysusers TO public`, `49900 :1 GRANT … ON sysusers is not supported by tsqltest (batch:1:1)`},
		{`GRANT EXECUTE ON sp_OACreate TO public`, `49900 :1 GRANT … ON sp_OACreate is not supported by tsqltest (batch:1:1)`},
		{`GRANT SELECT ON nothing TO public`, `15151 :1 Cannot find the object 'nothing', because it does not exist or you do not have permission.`},

		{`CREATE PROCEDURE p @n INT AS IF @n = 1 SELECT 1 FROM sys.dm_os_sys_info; IF @n = 2 EXEC sp_lock; SELECT 2`, ``},
		{`EXEC p 0`, `2`},
		{`EXEC p 1`, `49900 p:1 sys.dm_os_sys_info is not supported by tsqltest (dbo.p:1:54)`},
		{`EXEC p 2`, `49900 p:1 sp_lock is not supported by tsqltest (dbo.p:1:84)`},
		{`CREATE TABLE dbo.sysusers (a INT)`, ``},
		{`INSERT sysusers VALUES (3); SELECT a FROM sysusers`, `3`},
		{`CREATE PROCEDURE dbo.sp_add_job AS SELECT 4`, ``},
		{`EXEC sp_add_job`, `4`},
	})
}

// A client that calls a procedure by its name has no text with a place.
func TestCallElsewhere(t *testing.T) {
	t.Parallel()
	conn := session(t, tsqltest.New(t, tsqltest.Options{}))
	for name, want := range map[string]string{
		"sp_helpindex":        "49900 :1 sp_helpindex is not supported by tsqltest",
		"msdb.dbo.sp_add_job": "49900 :1 msdb.dbo.sp_add_job is not supported by tsqltest",
		"sp_nothing":          "2812 :1 Could not find stored procedure 'sp_nothing'.",
	} {
		result, err := conn.Call(t.Context(), name)
		if got := exchanged(result, err); got != want {
			t.Errorf("a call of %s returns %s, want %s", name, got, want)
		}
	}
}

// The reference of ORDER BY says that behind UNION and its like the columns are those that the first query specifies;
// that of IDENTITY that it numbers the rows of SELECT … INTO.
func TestOrderOfSetOperations(t *testing.T) {
	t.Parallel()
	const unselected = "104 :1 ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator."
	exchanges(t, []exchange{
		{"CREATE TABLE o (a int, b int); INSERT o VALUES (1, 30), (2, 20)", ""},
		{"SELECT o.b, o.a AS c FROM o UNION ALL SELECT 10, 3 ORDER BY o.b", "10|3, 20|2, 30|1"},
		{"SELECT x.a + 1, x.b FROM o AS x UNION SELECT 10, 3 ORDER BY (X.a+1) DESC", "10|3, 3|20, 2|30"},
		{"SELECT x.a FROM o AS x UNION SELECT y.b FROM o AS y ORDER BY y.b", unselected},
		{"SELECT x.a FROM o AS x UNION SELECT y.b FROM o AS y ORDER BY x.b", unselected},
		{"SELECT x.a FROM o AS x UNION SELECT y.b FROM o AS y ORDER BY x.a + 1", unselected},
		{"SELECT IDENTITY(int, 5, -2) AS n, b INTO #o FROM o ORDER BY b; INSERT #o VALUES (7); SELECT n, b FROM #o", "5|20, 3|30, 1|7"},
		{"SELECT IDENTITY(int, 1, 1) AS n, b FROM o", "177 :1 The IDENTITY function can only be used when the SELECT statement has an INTO clause."},
		{"SELECT IDENTITY(bit, 1, 1) AS n, b INTO #p FROM o", "2749 :1 Identity column 'n' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, " +
			"unencrypted, and constrained to be nonnullable."},
	})
}

// EXECUTE of a scalar function is not there, and says so.
func TestExecuteFunction(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE FUNCTION dbo.f (@a int) RETURNS int AS BEGIN RETURN @a END", ""},
		{"DECLARE @x int; EXEC @x = dbo.f 1", "49900 :1 EXECUTE of a function is not supported by tsqltest (batch:1:17)"},
		{"DECLARE @x int; EXEC @x = dbo.g 1", "2812 :1 Could not find stored procedure 'dbo.g'."},
	})
}
