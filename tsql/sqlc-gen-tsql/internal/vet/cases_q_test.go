package vet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	const body = "CREATE PROCEDURE dbo.p AS SET NOCOUNT ON; SET XACT_ABORT ON;\n"
	check(t, "P6", vet.Options{}, []ruleCase{
		{"the header may stand behind AS", "CREATE PROCEDURE dbo.p AS\n-- Returns one.\nSELECT 1 AS one;", nil},
		{"a header of sections only", "-- Errors:\n--   50010 a: x\nCREATE PROCEDURE dbo.p AS THROW 50010, N'x', 1;", []string{"3 P6-header"}},
		{"a directive is no header", "-- gen:null @id\nCREATE PROCEDURE dbo.p @id int AS SELECT @id AS one;", []string{"2 P6-header"}},
		{"functions need none", "CREATE FUNCTION dbo.f () RETURNS int AS BEGIN RETURN 1; END;", nil},
		{"a bare THROW has no number", "-- P.\n" + body + "BEGIN TRY DELETE dbo.users; END TRY BEGIN CATCH THROW; END CATCH;", nil},
		{"errors without their section", "-- P.\n" + body + "THROW 50010, N'x', 1;", []string{"2 P6-errors"}},
		{"one table, twice", "-- P.\n" + body + "DELETE dbo.users; UPDATE u SET name = N'' FROM dbo.users AS u;", nil},
		{"two tables, one through an alias", "-- P.\n" + body + "DELETE dbo.users; UPDATE o SET state = 1 FROM dbo.orders AS o;", []string{"2 P6-locks"}},
		{"a table variable isn't locked", "-- P.\n" + body + "DECLARE @t TABLE (a int); DELETE dbo.users; INSERT @t (a) VALUES (1);", nil},
		{"a hint named in the header", "-- P.\n-- Hints: FORCESEEK, since estimates are wrong at first.\n" + body + "\n\nSELECT id FROM dbo.users WITH (FORCESEEK);", nil},
		{"a hint with a comment on its line", "-- P.\n" + body + "\nSELECT id FROM dbo.users WITH (FORCESEEK); -- estimates are wrong", nil},
		{"a suppression is no reason", "-- P.\n" + body + "\n-- vet:allow P6-errors: no\n\nSELECT id FROM dbo.users WITH (FORCESEEK);", []string{"4 allow", "6 P6-hints"}},
		{"the header of a function", "-- F. FORCESEEK is needed, because.\nCREATE FUNCTION dbo.f () RETURNS TABLE AS RETURN (\n\n    SELECT u.id FROM dbo.users AS u WITH (FORCESEEK));", nil},
		{"a function without", "-- F.\nCREATE FUNCTION dbo.f () RETURNS TABLE AS RETURN (\n\n    SELECT u.id FROM dbo.users AS u WITH (FORCESEEK));", []string{"4 P6-hints"}},
		{"hints of a statement and of a join", "-- P.\n" + body + "\nSELECT u.id FROM dbo.users AS u\nINNER LOOP JOIN dbo.orders AS o ON o.user_id = u.id\nOPTION (MAXDOP 1);", []string{"5 P6-hints", "6 P6-hints"}},
		{"RECOMPILE is another rule's", "-- P.\n" + body + "\nSELECT id FROM dbo.users OPTION (RECOMPILE);", nil},
	})
}

// Hints that one text explains for all scripts need no reason beside them.
func TestHintsExplainedElsewhere(t *testing.T) {
	t.Parallel()
	const text = "-- P.\nCREATE PROCEDURE dbo.p AS\n\nSELECT u.id FROM dbo.users AS u WITH (FORCESEEK)\nINNER LOOP JOIN dbo.orders AS o ON o.user_id = u.id\nOPTION (KEEPFIXED PLAN);"
	check(t, "P6", vet.Options{Hints: []string{"FORCESEEK", "loop", "KEEPFIXED PLAN"}}, []ruleCase{{"all three", text, nil}})
	check(t, "P6", vet.Options{Hints: []string{"FORCESEEK"}}, []ruleCase{{"one of three", text, []string{"5 P6-hints", "6 P6-hints"}}})
}

// TestHeadersFromAnalysis covers what only the analysis knows: result sets, and errors of procedures that are called.
func TestHeadersFromAnalysis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		results    int
		errors     []int32
		want       []string
	}{
		{"sets without a section", "-- P.\nCREATE PROCEDURE dbo.p AS SELECT 1 AS a;", 1, nil, []string{"2 P6-results"}},
		{"a section without sets", "-- P.\n-- Results:\n--   one row\nCREATE PROCEDURE dbo.p AS PRINT 1;", 0, nil, []string{"4 P6-results"}},
		{"both", "-- P.\n-- Results: one row\nCREATE PROCEDURE dbo.p AS SELECT 1 AS a;", 1, nil, []string{}},
		{"errors of another procedure", "-- P.\nCREATE PROCEDURE dbo.p AS EXEC dbo.q;", 0, []int32{50010}, []string{"2 P6-errors"}},
		{"swallowed, so that no caller sees it", "-- P.\n-- Errors:\n--   50011 a: x\nCREATE PROCEDURE dbo.p @n int AS IF @n = 0 THROW 50011, N'x', 1;\nBEGIN TRY THROW 50010, N'y', 1; END TRY\nBEGIN CATCH IF ERROR_NUMBER() <> 50010 SET @n = 1 / 0; END CATCH;", 0, []int32{50011}, []string{}},
		{"listed, and not thrown by the other", "-- P.\n-- Errors:\n--   50010 a: x\nCREATE PROCEDURE dbo.p AS EXEC dbo.q;", 0, nil, []string{"3 P5-documented"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := input(t, c.text, vet.Options{Enable: []string{"all"}, Disable: []string{"D2"}})
			in.Program = &analyze.Program{Procedures: []*analyze.Procedure{{
				Place:   catalog.Place{File: in.Scripts[0].File},
				Name:    catalog.Name{Schema: "dbo", Name: "p"},
				Results: make([]analyze.ResultSet, c.results),
				Errors:  c.errors,
			}}}
			if diff := cmp.Diff(c.want, brief(vet.Run(in))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	check(t, "P7", vet.Options{}, []ruleCase{
		{"two at once", "SET ANSI_NULLS, QUOTED_IDENTIFIER OFF;", []string{"1 P7", "1 P7"}},
		{"the odd one out", "SET NUMERIC_ROUNDABORT ON;\nSET NUMERIC_ROUNDABORT OFF;", []string{"1 P7"}},
		{"other settings", "SET NOCOUNT OFF; SET DATEFIRST 1; SET IDENTITY_INSERT dbo.users ON;", nil},
		{"in a body", proc("SET ARITHABORT OFF;"), []string{"2 P7"}},
		{"ANSI_PADDING", "SET ANSI_PADDING OFF;\nGO\n", []string{"1 P7"}},
	})
}

func TestSpelling(t *testing.T) {
	t.Parallel()
	check(t, "P8", vet.Options{}, []ruleCase{
		{"variables", proc("SET @N = 1;\nSELECT @ID AS a, @name AS b;"), []string{"2 P8", "3 P8"}},
		{"tables, schemas and columns", "SELECT u.Name FROM dbo.Users AS u;\nSELECT id FROM DBO.users;", []string{"1 P8", "1 P8", "2 P8"}},
		{"aliases", "SELECT U.id FROM dbo.users AS u ORDER BY\nU.id;", []string{"1 P8", "2 P8"}},
		{"columns of INSERT, SET and indexes", "INSERT dbo.users (ID, name) VALUES (1, N'');\nUPDATE dbo.users SET NAME = N'';\nCREATE INDEX i ON dbo.users (Name) INCLUDE (CODE);", []string{"1 P8", "2 P8", "3 P8", "3 P8"}},
		{"through a CTE and a derived table", "WITH c AS (SELECT id AS a FROM dbo.users) SELECT A FROM C;\nSELECT d.A FROM (SELECT 1 AS a) AS d;", []string{"1 P8", "1 P8", "2 P8"}},
		{"inserted is the system's", "UPDATE dbo.users SET name = N'' OUTPUT INSERTED.id, Inserted.name;", nil},
		{"table variables and temp tables", proc("DECLARE @t TABLE (Key1 int);\nSELECT key1 FROM @t;\nCREATE TABLE #T (A int); SELECT A FROM #T;"), []string{"3 P8"}},
		{"names of the system", "SELECT name FROM SYS.tables;\nSELECT TABLE_NAME FROM information_schema.TABLES;\nDECLARE @a SYSNAME;\nSELECT COUNT(*) AS n FROM sys.Tables;", []string{"1 P8", "2 P8", "3 P8"}},
		{"unknown names are not this rule's", "SELECT X.Y FROM dbo.nothing AS X WHERE Z = 1;", nil},
		{"procedures", proc("SELECT 1 AS a;") + "\nGO\nCREATE PROCEDURE dbo.q AS EXEC dbo.P;", []string{"4 P8"}},
		{"OPENJSON", proc("SELECT j.A FROM OPENJSON(@name) WITH (a int) AS j;"), []string{"2 P8"}},
	})
}

func TestClaims(t *testing.T) {
	t.Parallel()
	const all = "WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)"
	check(t, "Q1", vet.Options{}, []ruleCase{
		{"all four", "UPDATE TOP (1) dbo.orders " + all + " SET state = 1 OUTPUT inserted.id WHERE state = 0;", nil},
		{"READPAST alone", "SELECT COUNT(*) AS n FROM dbo.orders WITH (READPAST);", []string{"1 Q1"}},
		{"a row by its key is waited for", "SELECT state FROM dbo.orders WITH (UPDLOCK, ROWLOCK) WHERE id = 1;", nil},
		{"half a key is a scan", "SELECT item FROM dbo.lines WITH (UPDLOCK, ROWLOCK)\nWHERE order_id = 1;", []string{"1 Q1"}},
		{"the key through a join", "UPDATE o SET state = 1 FROM dbo.lines AS l JOIN dbo.orders AS o WITH (UPDLOCK, ROWLOCK) ON o.id = l.order_id;", nil},
		{"UPDLOCK, HOLDLOCK guards an insert", "SELECT id FROM dbo.orders WITH (UPDLOCK, HOLDLOCK) WHERE state = 1;", nil},
		{"ROWLOCK and READCOMMITTEDLOCK claim nothing", "SELECT id FROM dbo.orders WITH (ROWLOCK, READCOMMITTEDLOCK) WHERE state = 1;", nil},
		{"a purge may skip what is locked", "DELETE TOP (9) FROM dbo.orders WITH (ROWLOCK, READPAST) WHERE state = 9;", nil},
		{"a DELETE that returns its rows claims them", "DELETE TOP (1) FROM dbo.orders WITH (ROWLOCK, READPAST) OUTPUT deleted.id;", []string{"1 Q1"}},
		{"in a CTE and in a subquery", "UPDATE dbo.orders SET state = 1 WHERE id IN\n(SELECT TOP (1) o.id FROM dbo.orders AS o WITH (UPDLOCK, READPAST) WHERE o.state = 0);", []string{"2 Q1"}},
		{"an unknown table, by TOP", "SELECT TOP (1) a FROM dbo.x WITH (UPDLOCK);\nSELECT a FROM dbo.x WITH (UPDLOCK) WHERE b = 1;", []string{"1 Q1"}},
	})
	check(t, "Q2", vet.Options{}, []ruleCase{
		{"outside of a transaction", proc("SELECT @n = state FROM dbo.orders WITH (UPDLOCK) WHERE id = 1;"), []string{"2 Q2"}},
		{"inside", proc("BEGIN TRY BEGIN TRAN; SELECT @n = state FROM dbo.orders WITH (UPDLOCK) WHERE id = 1; COMMIT; END TRY " + rollback), nil},
		{"behind its end", proc("BEGIN TRY BEGIN TRAN; COMMIT;\nSELECT @n = state FROM dbo.orders WITH (XLOCK) WHERE id = 1; END TRY " + rollback), []string{"3 Q2"}},
		{"a hint that holds nothing", proc("SELECT @n = state FROM dbo.orders WITH (READCOMMITTEDLOCK) WHERE id = 1;"), nil},
		{"the caller's transaction", proc("IF @@TRANCOUNT = 0 THROW 50010, N'x', 1;\nSELECT @n = state FROM dbo.orders WITH (UPDLOCK) WHERE id = 1;"), nil},
		{"a write holds for its own time", proc("UPDATE dbo.orders WITH (UPDLOCK, HOLDLOCK) SET state = 1 WHERE id = 1;"), nil},
	})
}

func TestLeases(t *testing.T) {
	t.Parallel()
	options := vet.Options{LockTokens: []string{"lock_token"}, LockedUntil: []string{"locked_until"}}
	check(t, "Q3", options, []ruleCase{
		{"a claim of what is free", "UPDATE dbo.orders SET lock_token = 1, locked_until = 2 WHERE id = 1 AND (lock_token IS NULL OR locked_until <= 5);", nil},
		{"a claim that trusts its subquery", "UPDATE dbo.orders SET lock_token = 1, locked_until = 2\nWHERE id IN (SELECT TOP (1) o.id FROM dbo.orders AS o WHERE o.lock_token IS NULL);", []string{"1 Q3"}},
		{"a renewal that passes over its row", "UPDATE dbo.orders WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) SET locked_until = 9 WHERE id = 1 AND lock_token = 2 AND locked_until > 3;", []string{"1 Q3-wait"}},
		{"a sweep that passes over rows", "UPDATE dbo.orders WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK) SET lock_token = NULL WHERE id = 1 AND (lock_token IS NULL OR locked_until <= 3);", nil},
		{"IS NOT NULL is no test of freedom", "UPDATE dbo.orders SET lock_token = NULL WHERE lock_token IS NOT NULL;", []string{"1 Q3"}},
		{"a lock that changes nothing", "UPDATE o SET locked_until = o.locked_until FROM dbo.orders AS o WHERE o.id = 1;", nil},
		{"a renewal without the token", "UPDATE dbo.orders SET locked_until = 9 WHERE id = 1 AND locked_until > 3;", []string{"1 Q3"}},
		{"an acknowledgement without the end", "DELETE dbo.orders WHERE id = 1 AND lock_token = 2;", []string{"1 Q3"}},
		{"conditions of a join count", "DELETE o FROM dbo.lines AS l JOIN dbo.orders AS o ON o.id = l.order_id AND o.lock_token = l.line AND o.locked_until > 5;", nil},
		{"what touches no lease", "UPDATE dbo.orders SET state = 1 WHERE id = 1;\nDELETE dbo.users WHERE id = 1;", nil},
		{"a table variable has no owner", proc("DECLARE @t TABLE (lock_token int); DELETE @t WHERE lock_token = 1;"), nil},
		{"the count is read by SELECT", proc("DELETE dbo.orders WHERE lock_token = @id AND locked_until > 5;\nSELECT @n = @@ROWCOUNT;"), nil},
		{"something comes between", proc("DELETE dbo.orders WHERE lock_token = @id AND locked_until > 5;\nSET @n = 1; IF @@ROWCOUNT = 0 THROW 50010, N'x', 1;"), []string{"2 Q3-rowcount"}},
		{"behind the end of a block", proc("IF @n = 1 BEGIN DELETE dbo.orders WHERE lock_token = @id AND locked_until > 5; END;\nIF @@ROWCOUNT = 0 THROW 50010, N'x', 1;"), nil},
		{"the rows are returned", proc("DELETE dbo.orders OUTPUT deleted.id WHERE lock_token = @id AND locked_until > 5;"), nil},
	})
	check(t, "Q3", vet.Options{}, []ruleCase{
		{"without the option nothing is said", "UPDATE dbo.orders SET lock_token = 1;", nil},
	})
}

func TestTables(t *testing.T) {
	t.Parallel()
	check(t, "Q5", vet.Options{QueueTables: []string{"jobs", "dbo.steps"}}, []ruleCase{
		{"ALTER INDEX ALL does for every index", "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY, a int UNIQUE);\nALTER INDEX ALL ON dbo.jobs SET (ALLOW_PAGE_LOCKS = OFF);", nil},
		{"ALTER INDEX of another table", "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY);\nALTER INDEX ALL ON dbo.users SET (ALLOW_PAGE_LOCKS = OFF);", []string{"1 Q5"}},
		{"ALTER INDEX that switches page locks on", "CREATE TABLE dbo.jobs (id int NOT NULL PRIMARY KEY);\nALTER INDEX ALL ON dbo.jobs SET (ALLOW_PAGE_LOCKS = ON);", []string{"1 Q5"}},
		{"a heap", "CREATE TABLE dbo.steps (id int NOT NULL PRIMARY KEY NONCLUSTERED WITH (ALLOW_PAGE_LOCKS = OFF));", []string{"1 Q5"}},
		{"clustered by a later index", "CREATE TABLE dbo.steps (id int NOT NULL);\nCREATE CLUSTERED INDEX i ON dbo.steps (id) WITH (ALLOW_PAGE_LOCKS = OFF);", nil},
		{"ON is not OFF", "CREATE TABLE dbo.jobs (id int NOT NULL, CONSTRAINT pk PRIMARY KEY (id) WITH (ALLOW_PAGE_LOCKS = ON));", []string{"1 Q5"}},
		{"other tables", "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);\nCREATE TYPE dbo.jobs AS TABLE (id int NOT NULL PRIMARY KEY);", nil},
	})
	check(t, "Q5", vet.Options{QueueTables: []string{"orders"}}, []ruleCase{
		{"a look that waits", "SELECT id FROM dbo.orders WITH (READCOMMITTEDLOCK);", []string{"1 Q5-locks"}},
		{"a look that sees versions", "SELECT id FROM dbo.orders WITH (READPAST,\nROWLOCK);", []string{"1 Q5-locks"}},
		{"a write by its key", "UPDATE o SET state = 1 FROM dbo.orders AS o WITH (ROWLOCK) WHERE o.id = 1;", nil},
		{"both are missing", "UPDATE dbo.orders WITH (UPDLOCK) SET state = 1 WHERE id = 1;", []string{"1 Q5-locks", "1 Q5-locks"}},
		{"REPEATABLEREAD locks anyway", "SELECT id FROM dbo.orders WITH (REPEATABLEREAD, ROWLOCK);", nil},
		{"HOLDLOCK is for ranges", "SELECT id FROM dbo.orders WITH (UPDLOCK, HOLDLOCK);", nil},
		{"no hint about locks", "SELECT id FROM dbo.orders;\nSELECT id FROM dbo.orders WITH (FORCESEEK);", nil},
		{"no queue", "SELECT id FROM dbo.users WITH (READCOMMITTEDLOCK);", nil},
		{"once for a statement in a block", proc("IF @n = 1\nBEGIN\nSELECT @n = id FROM dbo.orders WITH (READCOMMITTEDLOCK);\nEND;"), []string{"4 Q5-locks"}},
	})
	check(t, "Q9", vet.Options{Disable: []string{"Q9-fixed"}, QueueTables: []string{"orders"}}, []ruleCase{
		{"a look without an index", "SELECT id FROM dbo.orders WITH (READCOMMITTEDLOCK, ROWLOCK) WHERE state = 0;", []string{"1 Q9-index"}},
		{"INDEX", "SELECT id FROM dbo.orders WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (ix)) WHERE state = 0;", nil},
		{"FORCESEEK", "SELECT id FROM dbo.orders WITH (READPAST, FORCESEEK) WHERE state = 0;", nil},
		{"a row by its key has one way", "SELECT state FROM dbo.orders WITH (READCOMMITTEDLOCK, ROWLOCK) WHERE id = 1;", nil},
		{"no hint about locks", "SELECT COUNT(*) AS n FROM dbo.orders;", nil},
	})
	check(t, "Q2", vet.Options{}, []ruleCase{
		{"EXISTS that waits", "SELECT u.id FROM dbo.users AS u WHERE EXISTS (SELECT 1 FROM dbo.orders AS o WHERE o.id = u.id);", nil},
		{"EXISTS that passes over", "SELECT u.id FROM dbo.users AS u\nWHERE EXISTS (SELECT 1 FROM dbo.orders AS o WITH (READPAST) WHERE o.id = u.id);", []string{"2 Q2-exists"}},
		{"its neighbour passes over", "SELECT u.id FROM dbo.users AS u WITH (READPAST)\nWHERE EXISTS (SELECT 1 FROM dbo.orders AS o WHERE o.id = u.id);", nil},
	})
	const names = "CREATE TABLE dbo.names (id int NOT NULL, name int NOT NULL, version int NOT NULL, CONSTRAINT pk PRIMARY KEY (id), CONSTRAINT uq UNIQUE (name, version), token int);\n" +
		"CREATE UNIQUE INDEX uf ON dbo.names (token) WHERE token IS NOT NULL;\nGO\n"
	check(t, "Q9", vet.Options{HotTables: []string{"names"}}, []ruleCase{
		{"by a unique key", names + "SELECT n.id FROM dbo.names AS n WHERE n.name = 1 AND n.version = 2;", []string{"4 Q9-key"}},
		{"in a subquery", names + "SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM dbo.names AS n WHERE n.name = 1 AND n.version = 2);", []string{"4 Q9-key"}},
		{"with an index", names + "SELECT n.id FROM dbo.names AS n WITH (INDEX (uq)) WHERE n.name = 1 AND n.version = 2;", nil},
		{"by a part of it", names + "SELECT n.id FROM dbo.names AS n WHERE n.name = 1;", nil},
		{"by the clustered key too", names + "SELECT n.id FROM dbo.names AS n WHERE n.id = 3 AND n.name = 1 AND n.version = 2;", nil},
		{"an index with a filter", names + "SELECT n.id FROM dbo.names AS n WHERE n.token = 1;", []string{"4 Q9-key"}},
		{"in a condition", names + "IF EXISTS (SELECT 1 FROM dbo.names AS n WHERE n.token = 1)\nSELECT n.id FROM dbo.names AS n;", []string{"4 Q9-key"}},
		{"a table variable", "DECLARE @t TABLE (id int);\nSELECT n.id FROM @t AS t\nINNER JOIN dbo.names AS n ON n.id = t.id;", []string{"2 Q9-loop"}},
		{"on the other side", "DECLARE @t TABLE (id int);\nSELECT n.id FROM dbo.names AS n\nLEFT HASH JOIN @t AS t ON n.id = t.id;", []string{"2 Q9-loop"}},
		{"LOOP", "DECLARE @t TABLE (id int);\nSELECT n.id FROM @t AS t INNER LOOP JOIN dbo.names AS n ON n.id = t.id;", nil},
		{"LOOP JOIN for all", "DECLARE @t TABLE (id int);\nSELECT n.id FROM @t AS t INNER JOIN dbo.names AS n ON n.id = t.id OPTION (LOOP JOIN);", nil},
		{"APPLY", "DECLARE @t TABLE (id int);\nSELECT n.id FROM @t AS t CROSS APPLY (SELECT m.id FROM dbo.names AS m WHERE m.id = t.id) AS n;", nil},
		{"two table variables", "DECLARE @t TABLE (id int);\nSELECT n.id FROM @t AS t INNER JOIN @t AS n ON n.id = t.id;", nil},
		{"a write", names + "UPDATE dbo.names SET token = 1 WHERE id = 1;\nDELETE FROM dbo.names WHERE id = 1;", []string{"4 Q9-write", "5 Q9-write"}},
		{"a write through an alias", names + "UPDATE n SET token = 1\nFROM dbo.names AS n WHERE n.id = 1;", []string{"5 Q9-write"}},
		{"a write by an index", names + "UPDATE n SET token = 1 FROM dbo.names AS n WITH (ROWLOCK, FORCESEEK (pk (id))) WHERE n.id = 1;\nDELETE n FROM dbo.names AS n WITH (ROWLOCK, INDEX (pk)) WHERE n.id = 1;", nil},
		{"a write that may lock more", names + "DELETE n FROM dbo.names AS n WITH (INDEX (pk)) WHERE n.id = 1;", []string{"4 Q9-write"}},
		{"an insert, and a write to a table with one index", names + "INSERT INTO dbo.names (id) VALUES (1);\nDELETE FROM dbo.orders WHERE id = 1;", nil},
		{"two tables", "SELECT n.id FROM dbo.names AS n INNER JOIN dbo.orders AS o ON n.id = o.id;", nil},
	})
	const filtered = "CREATE TABLE dbo.names (id int NOT NULL, ready int NOT NULL, token int, CONSTRAINT pk PRIMARY KEY (id));\n" +
		"CREATE INDEX uf ON dbo.names (token) WHERE ready = 1 AND token IS NOT NULL;\nGO\n"
	check(t, "Q9", vet.Options{}, []ruleCase{
		{"half of the filter", filtered + "SELECT n.id FROM dbo.names AS n WITH (INDEX (uf)) WHERE n.token = 1 AND n.ready = 1;", []string{"4 Q9-filter"}},
		{"all of it", filtered + "SELECT n.id FROM dbo.names AS n WITH (FORCESEEK (uf (token))) WHERE n.token IS NOT NULL AND n.ready = 1;", nil},
		{"another value", filtered + "SELECT n.id FROM dbo.names AS n WITH (INDEX (uf)) WHERE n.token IS NOT NULL AND n.ready = 0;", []string{"4 Q9-filter"}},
		{"of another table", filtered + "SELECT n.id FROM dbo.names AS n WITH (INDEX (uf))\nINNER JOIN dbo.names AS m ON m.token IS NOT NULL AND m.ready = 1;", []string{"4 Q9-filter"}},
		{"an index without a filter", filtered + "SELECT n.id FROM dbo.names AS n WITH (INDEX (pk)) WHERE n.token = 1;", nil},
		{"in a condition", filtered + "IF EXISTS (SELECT 1 FROM dbo.names AS n WITH (INDEX (uf)) WHERE n.token = 1) PRINT 1;", []string{"4 Q9-filter"}},
	})
	const list = "DECLARE @t TABLE (id int);\n"
	check(t, "Q9", vet.Options{}, []ruleCase{
		{"a plain join", list + "SELECT o.id FROM @t AS t\nINNER JOIN dbo.orders AS o ON o.id = t.id OPTION (KEEPFIXED PLAN);", []string{"3 Q9-pinned"}},
		{"no plan is kept", list + "SELECT o.id FROM @t AS t INNER JOIN dbo.orders AS o ON o.id = t.id;", nil},
		{"LOOP", list + "SELECT o.id FROM @t AS t INNER LOOP JOIN dbo.orders AS o ON o.id = t.id OPTION (KEEPFIXED PLAN);", nil},
		{"FORCESEEK", list + "SELECT o.id FROM @t AS t INNER JOIN dbo.orders AS o WITH (FORCESEEK) ON o.id = t.id OPTION (KEEPFIXED PLAN);", nil},
		{"IN", list + "DELETE o FROM dbo.orders AS o\nWHERE o.id IN (SELECT u.id FROM dbo.users AS u) OPTION (KEEPFIXED PLAN);", []string{"3 Q9-pinned"}},
		{"in SET and in the list", list + "UPDATE o SET state = (SELECT MAX(u.id) FROM dbo.users AS u) FROM dbo.orders AS o OPTION (KEEPFIXED PLAN);\nSELECT (SELECT MAX(u.id) FROM dbo.users AS u) AS a OPTION (KEEPFIXED PLAN);", []string{"2 Q9-pinned", "3 Q9-pinned"}},
		{"an APPLY", list + "SELECT n.id FROM @t AS t CROSS APPLY (SELECT TOP (1) o.id FROM dbo.orders AS o WHERE o.id = t.id ORDER BY o.id) AS n OPTION (KEEPFIXED PLAN);", nil},
		{"an APPLY of a function", list + "SELECT n.id FROM @t AS t\nCROSS APPLY dbo.f(t.id) AS n OPTION (KEEPFIXED PLAN);", []string{"3 Q9-pinned"}},
		{"a union of single tables", "SELECT o.id FROM dbo.orders AS o UNION ALL SELECT u.id FROM dbo.users AS u OPTION (KEEPFIXED PLAN);", nil},
		{"LOOP JOIN", list + "INSERT INTO @t (id) SELECT u.id FROM dbo.users AS u WHERE NOT EXISTS (SELECT 1 FROM dbo.orders AS o WHERE o.id = u.id) OPTION (LOOP JOIN, KEEPFIXED PLAN);", nil},
	})
	tran := func(body string) string {
		return proc("BEGIN TRY BEGIN TRAN;\n" + body + "\nCOMMIT; END TRY " + rollback)
	}
	check(t, "Q6", vet.Options{HotTables: []string{"orders"}, LockOrder: []string{"users", "orders", "lines"}}, []ruleCase{
		{"a foreign key by ALTER TABLE", "ALTER TABLE dbo.lines ADD CONSTRAINT fk FOREIGN KEY (order_id) REFERENCES dbo.orders (id);\nALTER TABLE dbo.lines ADD CONSTRAINT fk2 FOREIGN KEY (line) REFERENCES dbo.users (id);", []string{"1 Q6-foreign-key"}},
		{"in order", tran("UPDATE dbo.users SET name = N''; DELETE dbo.orders; DELETE dbo.lines; DELETE dbo.users;"), nil},
		{"out of order", tran("DELETE dbo.lines;\nDELETE o FROM dbo.orders AS o;"), []string{"4 Q6-order"}},
		{"a read under UPDLOCK locks", tran("DELETE dbo.orders;\nSELECT @n = id FROM dbo.users WITH (UPDLOCK) WHERE id = 1;"), []string{"4 Q6-order"}},
		{"a plain read doesn't", tran("DELETE dbo.orders;\nSELECT @n = id FROM dbo.users WHERE id = 1;"), nil},
		{"one branch or the other", tran("IF @n = 1 DELETE dbo.lines;\nELSE DELETE dbo.orders;"), nil},
		{"behind a branch", tran("IF @n = 1 DELETE dbo.lines;\nDELETE dbo.orders;"), []string{"4 Q6-order"}},
		{"behind a branch that leaves", tran("IF @n = 1 BEGIN DELETE dbo.lines; COMMIT; RETURN; END;\nDELETE dbo.orders;"), nil},
		{"behind the other branch, which leaves", tran("IF @n = 1 SET @n = 2; ELSE BEGIN DELETE dbo.lines; THROW 50010, N'x', 1; END;\nDELETE dbo.orders;"), nil},
		{"both branches leave", tran("IF @n = 1 RETURN; ELSE BEGIN DELETE dbo.lines; THROW 50010, N'x', 1; END;"), nil},
		{"behind an ELSE that leaves, the locks of THEN stay", tran("IF @n = 1 DELETE dbo.lines; ELSE THROW 50010, N'x', 1;\nDELETE dbo.orders;"), []string{"4 Q6-order"}},
		{"a new transaction begins anew", tran("DELETE dbo.lines;\nCOMMIT; BEGIN TRAN;\nDELETE dbo.orders;"), nil},
		{"without a transaction nothing is held", proc("DELETE dbo.lines; DELETE dbo.orders;"), nil},
	})
}

func TestWrites(t *testing.T) {
	t.Parallel()
	purge := func(body string) string {
		return "CREATE PROCEDURE dbo.prune_orders @id int AS SET DEADLOCK_PRIORITY LOW; DECLARE @b TABLE (id int);\n" + body
	}
	const unescalated = "\nGO\nALTER TABLE dbo.orders SET (LOCK_ESCALATION = DISABLE);"
	check(t, "Q7", vet.Options{}, []ruleCase{
		{"too many at once", purge("DELETE TOP (5000) dbo.orders;"), []string{"2 Q7-top"}},
		{"a variable number", purge("DELETE TOP (@id) dbo.orders;"), nil},
		{"one row by its key", purge("DELETE dbo.orders WHERE id = @id;"), nil},
		{"half of a key", purge("DELETE dbo.lines WHERE order_id = @id;"), []string{"2 Q7-top"}},
		{"a table variable", purge("DELETE @b;"), nil},
		{"priority as a number", "CREATE PROCEDURE dbo.purge_all AS SET DEADLOCK_PRIORITY -5; DELETE TOP (10) dbo.orders;", nil},
		{"a procedure of another name", proc("DELETE dbo.orders;"), nil},
		{"a key of a joined table is none", purge("DELETE o FROM dbo.orders AS o JOIN dbo.users AS u ON u.id = o.user_id WHERE u.id = @id;"), []string{"2 Q7-top"}},
		{"a batch that a CTE bounds", purge("WITH old AS (SELECT TOP (1000) o.id FROM dbo.orders AS o ORDER BY o.id) DELETE FROM old;"), nil},
		{"a batch that a subquery bounds", purge("DELETE dbo.orders WHERE id IN (SELECT TOP (1000) o.id FROM dbo.orders AS o ORDER BY o.id);"), nil},
		{"a subquery of too many", purge("DELETE dbo.orders WHERE id IN (SELECT TOP (5000) o.id FROM dbo.orders AS o ORDER BY o.id);"), []string{"2 Q7-top"}},
		{"percent", purge("DELETE TOP (10) PERCENT dbo.orders;"), []string{"2 Q7-top"}},
		{"for the caller's transaction", "-- P.\n-- Transaction: the caller's.\n" + purge("DELETE dbo.orders;") + unescalated, nil},
		{"of a table that may be locked whole", "-- P.\n-- Transaction: the caller's.\n" + purge("DELETE dbo.lines;") + unescalated, []string{"4 Q7-top"}},
		{"in its own transaction", "-- P.\n-- Transaction: its own.\n" + purge("DELETE dbo.orders;") + unescalated, []string{"4 Q7-top"}},
	})
	check(t, "Q9", vet.Options{}, []ruleCase{
		{"of the procedure", "CREATE PROCEDURE dbo.p\nWITH RECOMPILE AS SELECT 1 AS a;", []string{"2 Q9"}},
		{"with a reason above", proc("-- all or nothing\nSELECT id FROM dbo.users OPTION (RECOMPILE);"), nil},
		{"named in the header", "-- P. RECOMPILE, since it runs once a day.\nCREATE PROCEDURE dbo.p AS\n\nSELECT id FROM dbo.users\nOPTION (RECOMPILE);", nil},
		{"an EXEC", proc("EXEC dbo.q;\n\nEXEC dbo.q WITH RECOMPILE;"), []string{"4 Q9"}},
		{"other options", proc("SELECT id FROM dbo.users OPTION (MAXDOP 1);"), nil},
	})
	check(t, "Q10", vet.Options{}, []ruleCase{
		{"UPDATE, then INSERT", proc("UPDATE dbo.users SET name = N'' WHERE id = @id;\nIF @@ROWCOUNT = 0 INSERT dbo.users (id) VALUES (@id);"), []string{"2 Q10"}},
		{"the same under both hints", proc("UPDATE dbo.users WITH (UPDLOCK, HOLDLOCK) SET name = N'' WHERE id = @id;\nIF @@ROWCOUNT = 0 INSERT dbo.users (id) VALUES (@id);"), nil},
		{"through an alias", proc("UPDATE u SET name = N'' FROM dbo.users AS u WITH (UPDLOCK, SERIALIZABLE) WHERE u.id = @id;\nIF @@ROWCOUNT = 0 INSERT dbo.users (id) VALUES (@id);"), nil},
		{"one hint only", proc("IF NOT EXISTS (SELECT 1 FROM dbo.users WITH (HOLDLOCK) WHERE id = @id)\nBEGIN INSERT dbo.users (id) VALUES (@id); END;"), []string{"2 Q10"}},
		{"EXISTS with the INSERT in ELSE", proc("IF EXISTS (SELECT 1 FROM dbo.users WHERE id = @id) SET @n = 1;\nELSE INSERT dbo.users (id) VALUES (@id);"), []string{"2 Q10"}},
		{"EXISTS, then an INSERT beside it", proc("IF EXISTS (SELECT 1 FROM dbo.users WHERE id = @id) INSERT dbo.users (id) VALUES (@id + 1);"), nil},
		{"EXISTS that leaves", proc("IF EXISTS (SELECT 1 FROM dbo.users WHERE id = @id) RETURN;\nINSERT dbo.users (id) VALUES (@id);"), []string{"2 Q10"}},
		{"a test of another table", proc("IF NOT EXISTS (SELECT 1 FROM dbo.orders WHERE id = @id) INSERT dbo.users (id) VALUES (@id);"), nil},
		{"INSERT … WHERE NOT EXISTS", proc("INSERT dbo.users (id) SELECT @id\nWHERE NOT EXISTS (SELECT 1 FROM dbo.users AS u WHERE u.id = @id);"), []string{"3 Q10"}},
		{"duplicates are handled", proc("BEGIN TRY IF NOT EXISTS (SELECT 1 FROM dbo.users WHERE id = @id) INSERT dbo.users (id) VALUES (@id); END TRY\nBEGIN CATCH IF ERROR_NUMBER() NOT IN (2601, 2627) THROW; END CATCH;"), nil},
		{"a script that runs once", "IF NOT EXISTS (SELECT 1 FROM dbo.users) INSERT dbo.users (id) VALUES (1);", nil},
		{"a table variable", proc("DECLARE @t TABLE (id int); IF NOT EXISTS (SELECT 1 FROM @t) INSERT @t (id) VALUES (1);"), nil},
	})
	check(t, "Q12", vet.Options{Helpers: []string{"dbo.helper", "other"}}, []ruleCase{
		{"a procedure that sets its level", proc("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT id FROM dbo.orders;"), nil},
		{"one that does not", proc("SELECT id FROM dbo.orders;"), []string{"1 Q12-set"}},
		{"a helper", "CREATE PROCEDURE dbo.helper AS SELECT id FROM dbo.orders;", nil},
		{"a helper without its schema", "CREATE PROCEDURE dbo.other AS SELECT id FROM dbo.orders;", nil},
		{"SNAPSHOT", proc("SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\nSET TRANSACTION ISOLATION LEVEL SNAPSHOT;"), []string{"3 Q12-level"}},
	})
}

func TestTypesAndTimes(t *testing.T) {
	t.Parallel()
	check(t, "T1", vet.Options{}, []ruleCase{
		{"a variable, from either side", proc("DECLARE @c nvarchar(10);\nSELECT id FROM dbo.users WHERE @c = code;"), []string{"3 T1-unicode"}},
		{"IN, LIKE and BETWEEN", "SELECT id FROM dbo.users WHERE code IN ('a', N'b');\nSELECT id FROM dbo.users WHERE code LIKE N'a%';\nSELECT id FROM dbo.users WHERE code BETWEEN 'a' AND N'b';", []string{"1 T1-unicode", "2 T1-unicode", "3 T1-unicode"}},
		{"two columns", "SELECT u.id FROM dbo.users AS u JOIN dbo.lines AS l ON l.item = u.code;", []string{"1 T1-unicode"}},
		{"an nvarchar column takes both", "SELECT id FROM dbo.users WHERE name = 'a' OR name = N'a';", nil},
		{"through a CTE", "WITH c AS (SELECT u.code AS x FROM dbo.users AS u) SELECT c.x FROM c WHERE c.x = N'a';", []string{"1 T1-unicode"}},
		{"a cast to varchar", proc("SELECT id FROM dbo.users WHERE code = CAST(@name AS varchar(10));"), nil},
		{"an assignment converts no column", "UPDATE dbo.users SET code = N'a' WHERE id = 1;", nil},
		{"exact parameters", proc("UPDATE dbo.users SET name = @name WHERE id = @id;\nINSERT dbo.users (id, name) VALUES (@id, @name);"), nil},
		{"a parameter of another integer", proc("SELECT state FROM dbo.orders WHERE id = @id;"), []string{"2 T1-param"}},
		{"in INSERT, by position", proc("INSERT dbo.lines (order_id, line, item) SELECT 1, @id, @name;"), []string{"2 T1-param"}},
		{"a shorter parameter, assigned and compared", "CREATE PROCEDURE dbo.q @a nvarchar(5), @b nvarchar(60) AS\nUPDATE dbo.users SET name = @a\nWHERE name = @a;\nUPDATE dbo.users SET name = @b;", []string{"2 T1-length", "3 T1-length", "4 T1-param"}},
		{"a temp table is no contract", proc("CREATE TABLE #t (a bigint); INSERT #t (a) VALUES (@id);"), nil},
		{"a local variable is its own business", proc("SELECT state FROM dbo.orders WHERE id = @n;"), nil},
		{"an expression isn't compared", proc("SELECT state FROM dbo.orders WHERE id = @id + 1;"), nil},
	})
	check(t, "T2", vet.Options{}, []ruleCase{
		{"an int variable and a constant fit", proc("SELECT DATEADD(SECOND, @n, born) AS a, DATEADD(ms, -5, born) AS b, DATEADD(DAY, state, born) AS c FROM dbo.users;"), nil},
		{"the sign, and a difference, fit", proc("SELECT DATEADD(SECOND, @n * -1, born) AS a, DATEADD(SECOND, DATEDIFF(SECOND, born, born), born) AS b, DATEADD(ms, -@n, born) AS c FROM dbo.users;"), nil},
		{"a product may not", proc("SELECT DATEADD(SECOND, @n * 60, born) AS a FROM dbo.users;"), []string{"2 T2-overflow"}},
		{"a remainder does", proc("DECLARE @ms bigint; SELECT DATEADD(MILLISECOND, @ms % 86400000, DATEADD(DAY, @ms / 86400000, '19700101')) AS a;"), nil},
		{"a bigint may not", proc("DECLARE @ms bigint;\nSELECT DATEADD(MILLISECOND, @ms, '19700101') AS a;"), []string{"3 T2-overflow"}},
		{"seconds since a fixed day", "SELECT DATEDIFF(SECOND, '19700101', born) AS a FROM dbo.users;\nSELECT DATEDIFF(SECOND, born, born) AS a FROM dbo.users;", []string{"1 T2-overflow"}},
		{"clocks of local time", "SELECT GETDATE() AS a;\nSELECT CURRENT_TIMESTAMP AS a;\nSELECT SYSDATETIMEOFFSET() AS a;\nSELECT GETUTCDATE() AS a;", []string{"1 T2-utc", "2 T2-utc"}},
		{"a time budget in a loop", proc("DECLARE @end datetime = SYSUTCDATETIME();\nWHILE SYSUTCDATETIME() < @end SET @n += 1;"), nil},
		{"two reads", proc("SELECT SYSUTCDATETIME() AS a;\nSELECT SYSUTCDATETIME() AS b;"), []string{"3 T2-once"}},
		{"columns of a table variable and a type", "CREATE TYPE dbo.x AS TABLE (a datetime, b date);\nDECLARE @t TABLE (a time);", []string{"1 T2-column", "2 T2-column"}},
	})
}
