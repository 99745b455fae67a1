package vet_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// A ruleCase is a text and the findings of one family of rules in it, as "line id".
type ruleCase struct {
	name string
	text string
	want []string
}

// tables are there for every case, behind its text, so that a case begins on line 1.
const tables = `
GO
CREATE TABLE dbo.users (id int NOT NULL PRIMARY KEY, name nvarchar(50) NOT NULL, code varchar(10) NOT NULL UNIQUE, born datetime2 NULL);
CREATE TABLE dbo.orders (id bigint NOT NULL PRIMARY KEY, user_id int NOT NULL, state int NOT NULL, lock_token int NULL, locked_until bigint NULL);
CREATE TABLE dbo.lines (order_id bigint NOT NULL, line int NOT NULL, item nvarchar(20) NOT NULL, PRIMARY KEY (order_id, line));
`

// proc wraps a body in a procedure; the body's first line is line 2.
func proc(body string) string {
	return "CREATE PROCEDURE dbo.p @id int = 1, @name nvarchar(50) = N'' AS SET NOCOUNT ON; SET XACT_ABORT ON; DECLARE @n int;\n" + body
}

// check runs the cases with only the rules of one family in view.
func check(t *testing.T, family string, options vet.Options, cases []ruleCase) {
	t.Helper()
	options.Enable = []string{"all"}
	for _, f := range []string{"D1", "D2", "D3", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "Q1", "Q2", "Q3", "Q5", "Q6", "Q7", "Q9", "Q10", "Q12", "T1", "T2", "T3", "T4", "T5", "T6"} {
		if f != family {
			options.Disable = append(options.Disable, f)
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == nil {
				want = []string{}
			}
			got := slices.DeleteFunc(run(t, c.text+tables, options), func(s string) bool { // findings in the tables
				line, _ := strconv.Atoi(strings.Fields(s)[0])
				return line > strings.Count(c.text, "\n")+1
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, c.text)
			}
		})
	}
}

const rollback = "BEGIN CATCH IF XACT_STATE() <> 0 ROLLBACK TRANSACTION; THROW; END CATCH;"

func TestShape(t *testing.T) {
	t.Parallel()
	check(t, "P1", vet.Options{}, []ruleCase{
		{"reading needs no settings", "CREATE PROCEDURE dbo.p AS SELECT 1 AS one;", nil},
		{
			"a table variable sends a row count, but leaves nothing open",
			"CREATE PROCEDURE dbo.p AS DECLARE @t TABLE (a int); INSERT @t (a) VALUES (1); SELECT a FROM @t;",
			[]string{"1 P1-settings"},
		},
		{"settings in one statement", "CREATE PROCEDURE dbo.p AS SET NOCOUNT, XACT_ABORT ON; DELETE dbo.users;", nil},
		{"settings behind BEGIN", "CREATE PROCEDURE dbo.p AS BEGIN SET NOCOUNT ON; SET XACT_ABORT ON; DELETE dbo.users; END;", nil},
		{"settings behind other settings", "CREATE PROCEDURE dbo.p AS SET LOCK_TIMEOUT 100; DECLARE @a int = 1; SET NOCOUNT ON; SET XACT_ABORT ON; DELETE dbo.users;", nil},
		{
			"settings too late", "CREATE PROCEDURE dbo.p AS DELETE dbo.users; SET NOCOUNT ON; SET XACT_ABORT ON;",
			[]string{"1 P1-settings", "1 P1-settings"},
		},
		{"a setting switched off again", proc("DELETE dbo.users;\nSET XACT_ABORT OFF;"), []string{"3 P1-settings"}},
		{"BEGIN just before TRY", proc("BEGIN TRANSACTION;\nBEGIN TRY DELETE dbo.users; COMMIT; END TRY\n" + rollback), nil},
		{"BEGIN without TRY", proc("BEGIN TRANSACTION;\nDELETE dbo.users;\nCOMMIT;"), []string{"2 P1-try"}},
		{
			"THROW before ROLLBACK", proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH\nTHROW;\nEND CATCH;"),
			[]string{"4 P1-catch"},
		},
		{
			"CATCH ends with the transaction open",
			proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH\nPRINT 'x';\nEND CATCH;"),
			[]string{"4 P1-catch"},
		},
		{
			"ROLLBACK that may find nothing", proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH\nROLLBACK;\nTHROW;\nEND CATCH;"),
			[]string{"4 P1-catch"},
		},
		{"the sides of the test may be swapped", proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH IF 0 <> XACT_STATE() ROLLBACK; THROW; END CATCH;"), nil},
		{"@@TRANCOUNT, swapped", proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH IF 0 < @@TRANCOUNT ROLLBACK; THROW; END CATCH;"), nil},
		{"@@TRANCOUNT does as well", proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK; THROW; END CATCH;"), nil},
		{
			"the two tests of the documentation",
			proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH IF (XACT_STATE()) = -1 ROLLBACK; IF (XACT_STATE()) = 1 COMMIT; THROW; END CATCH;"),
			nil,
		},
		{
			"doomed transactions only", proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; COMMIT; END TRY\nBEGIN CATCH IF XACT_STATE() = -1 ROLLBACK;\nTHROW; END CATCH;"),
			[]string{"4 P1-catch"},
		},
		{
			"RETURN, THROW and loops inside a transaction",
			proc("BEGIN TRY BEGIN TRAN;\nWHILE @n < 3 BEGIN SET @n += 1; IF @n = 2 BREAK; END;\nIF @n = 9 THROW 50010, N'x', 1;\nIF @n = 8 RETURN;\nCOMMIT; END TRY " + rollback),
			[]string{"5 P1-open"},
		},
		{
			"RETURN behind COMMIT in a branch",
			proc("BEGIN TRY BEGIN TRAN; DELETE dbo.users; IF @n = 1 BEGIN COMMIT; RETURN; END; ROLLBACK; END TRY " + rollback),
			nil,
		},
		{
			"COMMIT on one path only",
			proc("BEGIN TRY\nBEGIN TRAN; DELETE dbo.users;\nIF @n = 1 COMMIT; END TRY " + rollback),
			[]string{"3 P1-open"},
		},
		{"COMMIT without BEGIN", proc("DELETE dbo.users;\nCOMMIT;"), []string{"3 P1-open"}},
		{
			"one transaction for each turn of a loop",
			proc("BEGIN TRY WHILE 1 = 1 BEGIN SET @n = 0; BEGIN TRAN; DELETE TOP (10) dbo.users; SET @n = @@ROWCOUNT; COMMIT; IF @n < 10 BREAK; END; END TRY " + rollback),
			nil,
		},
		{
			"a turn that doesn't end its transaction",
			proc("BEGIN TRY WHILE @n < 9 BEGIN SET @n += 1;\nBEGIN TRAN;\nDELETE dbo.users; END; COMMIT; END TRY " + rollback),
			[]string{"3 P1-nested"},
		},
		{
			"a savepoint",
			proc("BEGIN TRY BEGIN TRAN; SAVE TRAN s; DELETE dbo.users; IF @n = 1 ROLLBACK TRAN s; COMMIT; END TRY " + rollback),
			nil,
		},
		{
			"who joins the caller's transaction isn't judged",
			proc("DECLARE @Outer int = @@TRANCOUNT;\nIF @outer = 0 BEGIN TRAN ELSE SAVE TRAN s;\nDELETE dbo.users; DELETE dbo.orders;\nIF @outer = 0 COMMIT;"),
			nil,
		},
		{
			"who insists on the caller's transaction needs none",
			proc("IF @@TRANCOUNT = 0 THROW 50010, N'a transaction is needed', 1;\nDELETE dbo.users; DELETE dbo.orders;"),
			nil,
		},
		{"two writes by themselves", proc("DELETE dbo.users;\nDELETE dbo.orders;"), []string{"3 P1-atomic"}},
		{"one of two writes", proc("IF @n = 1 DELETE dbo.users;\nELSE DELETE dbo.orders;"), nil},
		{"a branch that leaves", proc("IF @n = 1 BEGIN DELETE dbo.users; RETURN; END;\nDELETE dbo.orders;"), nil},
		{"a temp table is nobody's business", proc("CREATE TABLE #t (a int); INSERT #t (a) VALUES (1); DELETE dbo.users;"), nil},
		{"a purge in batches", proc("WHILE @n > 0 BEGIN DELETE TOP (9) dbo.lines; DELETE TOP (9) dbo.orders; SET @n = @@ROWCOUNT; END;"), nil},
		{"loops without end", proc(strings.Repeat("WHILE 1 = 1\n", 150) + "DELETE dbo.users;"), nil},
		{"GOTO can't be followed", proc("BEGIN TRAN;\nGOTO x;\nx: COMMIT;"), nil},
		{
			"a nested TRY throws to the outer one",
			proc("BEGIN TRY BEGIN TRAN;\nBEGIN TRY DELETE dbo.users; END TRY BEGIN CATCH THROW; END CATCH;\nCOMMIT; END TRY " + rollback),
			nil,
		},
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	check(t, "P3", vet.Options{}, []ruleCase{
		{"aliases, CTEs and temp tables have no schema", proc("WITH c AS (SELECT u.id FROM dbo.users AS u)\nUPDATE u SET name = N'x' FROM dbo.users AS u JOIN c ON c.id = u.id;\nCREATE TABLE #t (a int); SELECT a FROM #t;"), nil},
		{"a CTE is gone behind its statement", proc("WITH c AS (SELECT 1 AS a) SELECT a FROM c;\nSELECT a FROM c;"), []string{"3 P3-schema"}},
		{"inserted in a trigger", "CREATE TRIGGER dbo.t ON dbo.users AFTER INSERT AS INSERT dbo.orders (id) SELECT i.id FROM inserted AS i;", nil},
		{"DML, EXEC and types", "CREATE PROCEDURE p AS\nDELETE users;\nEXEC q;\nEXEC sp_executesql N'x';\nTRUNCATE TABLE users;", []string{"1 P3-schema", "2 P3-schema", "3 P3-schema", "4 P3-dynamic", "5 P3-schema"}},
		{"a table type without its schema", "CREATE TYPE dbo.ids AS TABLE (id int);\nGO\nCREATE PROCEDURE dbo.q @a ids READONLY AS SELECT id FROM @a;", []string{"3 P3-schema"}},
		{"a script that runs once may leave it out, an annotated query not", "CREATE TABLE t (a int);\nDELETE t;\nGO\n-- name: A :many\nSELECT a FROM t;", []string{"5 P3-schema"}},
		{"built-in types and functions have none", "CREATE FUNCTION dbo.f (@a sysname) RETURNS TABLE AS RETURN SELECT value AS v FROM STRING_SPLIT(@a, N',');", nil},
		{"EXISTS (SELECT *) reads no columns", "SELECT id FROM dbo.users AS u WHERE EXISTS (SELECT * FROM dbo.orders AS o WHERE o.user_id = u.id);", nil},
		{"stars", proc("SELECT u.*\nFROM dbo.users AS u;\nDELETE dbo.users OUTPUT deleted.*;\nSELECT COUNT(*) AS n FROM dbo.users;"), []string{"2 P3-star", "4 P3-star"}},
		{
			"an unqualified column in a subquery and in a join",
			"SELECT u.id FROM dbo.users AS u JOIN dbo.orders AS o ON o.user_id = u.id\nWHERE state = 1;\nSELECT id FROM dbo.users WHERE id IN\n(SELECT user_id FROM dbo.orders);",
			[]string{"2 P3-qualify", "4 P3-qualify"},
		},
		{"a derived table sees only itself", "SELECT d.a FROM (SELECT id AS a FROM dbo.users) AS d JOIN dbo.orders AS o ON o.id = d.a;", nil},
		{"APPLY sees what stands left of it", "SELECT u.id, x.s FROM dbo.users AS u CROSS APPLY\n(SELECT TOP (1) state AS s FROM dbo.orders AS o WHERE o.user_id = u.id) AS x;", []string{"2 P3-qualify"}},
		{"date parts and aliases in ORDER BY are no columns", "SELECT DATEDIFF(DAY, u.born, u.born) AS days FROM dbo.users AS u, dbo.orders AS o ORDER BY days;", nil},
		{"the target of SET needs no qualifier", "UPDATE u SET name = l.item OUTPUT inserted.id FROM dbo.users AS u JOIN dbo.lines AS l ON l.line = u.id;", nil},
		{"one table and variables", proc("SELECT id, @name AS name FROM dbo.users WHERE name = @name;"), nil},
		{"a MERGE reads two", "MERGE dbo.users AS t USING dbo.lines AS s ON t.id = s.line WHEN MATCHED AND item = N'' THEN UPDATE SET name = s.item;", []string{"1 P3-qualify"}},
		{"names of results", proc("SELECT 1;\nSELECT @n = 1;\nSELECT 1 AS a UNION ALL SELECT 2;\nINSERT dbo.users (id) OUTPUT inserted.id + 1 VALUES (1);\nINSERT dbo.users (id) SELECT 1;"), []string{"2 P3-named", "5 P3-named"}},
		{"a view may name its columns itself", "CREATE VIEW dbo.v (a) AS SELECT 1;\nGO\nCREATE VIEW dbo.w AS SELECT 1;", []string{"3 P3-named"}},
		{"dynamic SQL in a script that runs once is fine", "EXEC (N'CREATE SCHEMA shop');", nil},
		{"dynamic SQL in procedures", proc("DECLARE @p sysname = N'dbo.q';\nEXEC @p;\nEXEC (N'x');"), []string{"3 P3-dynamic", "4 P3-dynamic"}},
	})
}

func TestConfiguredSchema(t *testing.T) {
	t.Parallel()
	check(t, "P3", vet.Options{Schema: "dbo"}, []ruleCase{
		{"another schema", "SELECT a FROM shop.t;\nSELECT name FROM sys.tables;\nSELECT a FROM other.dbo.t;", []string{"1 P3-schema", "3 P3-schema"}},
		{"a type of another schema, and a reference", "CREATE TABLE dbo.t (a int NOT NULL REFERENCES shop.u (a));", []string{"1 P3-schema"}},
		{"the name in a string", proc("SELECT OBJECT_ID(N'dbo.t') AS a, SCHEMA_ID('dbo') AS b,\nN'[dbo].[t]' AS c, N'a dbox.t, dbo and so on.' AS d;"), []string{"2 P3-text", "2 P3-text", "3 P3-text"}},
		{"texts for people", proc("THROW 50010, N'dbo.users is empty', 1;"), nil},
	})
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	check(t, "P4", vet.Options{}, []ruleCase{
		{"a join hint is no MERGE", "SELECT u.id FROM dbo.users AS u INNER MERGE JOIN dbo.orders AS o ON o.id = u.id;", nil},
		{"READ UNCOMMITTED in all its forms", "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;\nSELECT id FROM dbo.users WITH (READUNCOMMITTED);\nSELECT id FROM dbo.users WITH (READCOMMITTED);", []string{"1 P4-nolock", "2 P4-nolock"}},
		{"a call of a system procedure", proc("EXEC sp_getapplock @Resource = N'x', @LockMode = 'Exclusive';"), nil},
		{"SP_ in capitals", "CREATE PROCEDURE dbo.SP_one AS SELECT 1 AS one;", []string{"1 P4-prefix"}},
		{
			"FORCESEEK with columns, by an alias and without one, and where it is allowed",
			"DELETE o FROM dbo.users AS u INNER LOOP JOIN dbo.orders AS o WITH (FORCESEEK (pk_orders (id))) ON o.id = u.id;\n" +
				"DELETE FROM dbo.orders WITH (FORCESEEK (pk_orders (id))) WHERE id = 1;\n" +
				"DELETE o FROM dbo.users AS u WITH (FORCESEEK (pk_users (id))) INNER LOOP JOIN dbo.orders AS o WITH (FORCESEEK) ON o.id = u.id;",
			[]string{"1 P4-forceseek", "2 P4-forceseek"},
		},
		{"a cursor, in each statement", proc("DECLARE c CURSOR FOR SELECT id FROM dbo.users;\nOPEN c;"), []string{"2 P4-cursor", "3 P4-cursor"}},
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	try := "BEGIN TRY DELETE dbo.users; END TRY\nBEGIN CATCH\n"
	check(t, "P5", vet.Options{}, []ruleCase{
		{"a computed number", proc("THROW @n, N'x', 1;"), []string{"2 P5-number"}},
		{"numbers out of range", proc("IF @n = 1 THROW 49000, N'x', 1;\nTHROW 50000, N'x', 1;"), []string{"2 P5-number", "3 P5-number"}},
		{"a message is no error", proc("RAISERROR (N'half way', 0, 1) WITH NOWAIT;\nRAISERROR (N'x', 16, 1);"), []string{"3 P5-raiserror"}},
		{"an empty CATCH", proc("BEGIN TRY DELETE dbo.users; END TRY\nBEGIN CATCH END CATCH;"), []string{"2 P5-swallow"}},
		{"RETURN in CATCH", proc(try + "RETURN 1;\nEND CATCH;"), []string{"4 P5-swallow"}},
		{"THROW on one path", proc(try + "IF @n = 1 THROW;\nEND CATCH;"), []string{"4 P5-swallow"}},
		{"a variable with the number", proc(try + "DECLARE @e int = ERROR_NUMBER();\nIF @e IN (2601, 2627) RETURN; THROW;\nEND CATCH;"), nil},
		{"the number as a result", proc(try + "SELECT ERROR_NUMBER() AS n, ERROR_MESSAGE() AS m;\nEND CATCH;"), nil},
		{"a variable with the number as a result", proc(try + "DECLARE @e int = ERROR_NUMBER();\nSELECT @e AS n;\nEND CATCH;"), nil},
		{"the message alone as a result", proc(try + "SELECT ERROR_MESSAGE() AS m;\nEND CATCH;"), []string{"4 P5-swallow"}},
		{"a result of somebody else's number", proc(try + "SELECT @n AS n;\nEND CATCH;"), []string{"4 P5-swallow"}},
		{"the number into a variable", proc(try + "SELECT @n = ERROR_NUMBER();\nEND CATCH;"), []string{"4 P5-swallow"}},
		{"a loop around TRY", proc("WHILE @n < 3 BEGIN SET @n += 1;\nBEGIN TRY DELETE dbo.users; BREAK; END TRY\nBEGIN CATCH IF ERROR_NUMBER() <> 1205 THROW; SET @n += 1; END CATCH;\nEND;"), nil},
		{"BREAK out of CATCH", proc("WHILE @n < 3 BEGIN SET @n += 1;\nBEGIN TRY DELETE dbo.users; END TRY\nBEGIN CATCH\nBREAK; END CATCH;\nEND;"), []string{"5 P5-swallow"}},
		{"RAISERROR for any error", proc(try + "RAISERROR (N'it failed', 16, 1);\nEND CATCH;"), []string{"4 P5-raiserror", "4 P5-rethrow"}},
		{"a variable in other letters", proc("DECLARE @E int;\n" + try + "SET @E = ERROR_NUMBER(); IF @e <> 2627 THROW;\nEND CATCH;"), nil},
		{"ROLLBACK, then THROW", proc(try + "IF XACT_STATE() <> 0 ROLLBACK; THROW;\nEND CATCH;"), nil},
		{"listed and thrown", "-- P.\n-- Errors:\n--   50010 a: x\n--   50011 b: y\n" + proc("IF @n = 1 THROW 50010, N'x', 1;\nIF @n = 2 THROW 50012, N'x', 1;"), []string{"4 P5-documented", "7 P5-documented"}},
		{"errors of a procedure that is called may be listed", "-- P.\n-- Errors:\n--   50010 a: x\n" + proc("EXEC dbo.q;"), nil},
		{"without a list nothing is said here", "-- P.\n" + proc("THROW 50010, N'x', 1;"), nil},
		{
			"one name with two numbers",
			"-- P.\n-- Errors:\n--   50010 gone: x\nCREATE PROCEDURE dbo.a AS THROW 50010, N'x', 1;\nGO\n-- Q.\n-- Errors:\n--   50011 gone: x\nCREATE PROCEDURE dbo.b AS THROW 50011, N'x', 1;",
			[]string{"8 P5-meaning"},
		},
		{
			"the same twice is right",
			"-- P.\n-- Errors:\n--   50010 gone: x\nCREATE PROCEDURE dbo.a AS THROW 50010, N'x', 1;\nGO\n-- Q.\n-- Errors:\n--   50010 gone: of another kind\nCREATE PROCEDURE dbo.b AS THROW 50010, N'x', 1;",
			nil,
		},
	})
}

func TestGrants(t *testing.T) {
	t.Parallel()
	procedure := "CREATE PROCEDURE dbo.one AS SELECT 1 AS one;\nGO\n"
	check(t, "P9", vet.Options{Roles: []string{"workers", "admins"}, Helpers: []string{"dbo.helper"}}, []ruleCase{
		{"granted to one role", procedure + "GRANT EXECUTE ON dbo.one TO admins;", nil},
		{"with its class", procedure + "GRANT EXECUTE ON OBJECT::dbo.one TO workers;", nil},
		{"to nobody", procedure, []string{"1 P9-grant"}},
		{"to two", procedure + "GRANT EXECUTE ON dbo.one TO workers, admins;", []string{"1 P9-grant"}},
		{"to two, one by one", procedure + "GRANT EXECUTE ON dbo.one TO workers;\nGRANT EXECUTE ON dbo.one TO admins;", []string{"1 P9-grant"}},
		{"to another", procedure + "GRANT EXECUTE ON dbo.one TO guests;", []string{"1 P9-grant"}},
		{"of another right", procedure + "GRANT CONTROL ON dbo.one TO workers;", []string{"1 P9-grant"}},
		{"to hand on", procedure + "GRANT EXECUTE ON dbo.one TO workers WITH GRANT OPTION;", []string{"1 P9-grant"}},
		{"taken away", procedure + "REVOKE EXECUTE ON dbo.one TO workers;", []string{"1 P9-grant"}},
		{"a helper", "CREATE PROCEDURE dbo.helper AS SELECT 1 AS one;", nil},
		{"a helper that is granted", "CREATE PROCEDURE dbo.helper AS SELECT 1 AS one;\nGO\nGRANT EXECUTE ON dbo.helper TO workers;", []string{"3 P9-grant"}},
		{"a view", "CREATE VIEW dbo.v AS SELECT 1 AS one;\nGO\nGRANT SELECT ON dbo.v TO workers;", nil},
		{"a view for nobody", "CREATE VIEW dbo.v AS SELECT 1 AS one;", []string{"1 P9-grant"}},
		{"a type", "GRANT EXECUTE ON TYPE::dbo.ids TO workers;", nil},
		{"the schema", "GRANT EXECUTE ON SCHEMA::dbo TO workers;", []string{"1 P9-grant"}},
		{"the database", "GRANT EXECUTE TO workers;", []string{"1 P9-grant"}},
	})
}
