package planner_test

import "testing"

func TestInsert(t *testing.T) {
	t.Parallel()
	const table = `CREATE TABLE t (id int IDENTITY (10, 5) PRIMARY KEY, a varchar(5) NOT NULL DEFAULT 'new', b int NULL, c AS (b * 2))`
	for name, steps := range map[string][]step{
		"values": {
			{`INSERT t (a, b) VALUES ('x', 1), ('y', NULL), (DEFAULT, 3)`, `3`},
			{`SELECT * FROM t ORDER BY id`, `10|x|1|2 15|y|NULL|NULL 20|new|3|6`},
		},
		"without a list": {
			{`INSERT t VALUES ('x', 1)`, `1`},
			{`INSERT t VALUES ('x', 1, 2)`, "8101: An explicit value for the identity column in table 't' can only be specified when a column list is used and IDENTITY_INSERT is ON."},
			{`INSERT t VALUES ('x')`, `213: Column name or number of supplied values does not match table definition.`},
		},
		"defaults": {
			{`INSERT t DEFAULT VALUES`, `1`},
			{`INSERT t (b) VALUES (DEFAULT)`, `1`},
			{`SELECT id, a, b FROM t ORDER BY id`, `10|new|NULL 15|new|NULL`},
		},
		"select": {
			{`INSERT t (a, b) SELECT x, y FROM (VALUES ('p', 2), ('q', 1)) AS v (x, y) ORDER BY y`, `2`},
			{`INSERT TOP (1) INTO t (b) SELECT b + 10 FROM t ORDER BY id`, `1`},
			{`SELECT id, a, b FROM t ORDER BY id`, `10|q|1 15|p|2 20|new|11`},
			{`INSERT t (a) SELECT a, b FROM t`, `121: The select list for the INSERT statement contains more items than the insert list. The number of SELECT values must match the number of INSERT columns.`},
			{`INSERT t (a, b) SELECT a FROM t`, `120: The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.`},
			{`WITH v AS (SELECT 5 AS n) INSERT t (b) SELECT n FROM v`, `1`},
		},
		"output": {
			{`INSERT t (a) OUTPUT inserted.id, inserted.a, inserted.c VALUES ('x'), ('y')`, `10|x|NULL 15|y|NULL`},
			{`DECLARE @o TABLE (n int, w varchar(9), d int DEFAULT 7)`, ``},
			{`INSERT t (a) OUTPUT inserted.id, inserted.a + '!' INTO @o (n, w) OUTPUT inserted.id VALUES ('z')`, `20`},
			{`SELECT n, w, d FROM @o`, `20|z!|7`},
		},
		"null": {
			{`INSERT t (a) VALUES (NULL)`, `515: Cannot insert the value NULL into column 'a', table 'lab.dbo.t'; column does not allow nulls. INSERT fails.`},
		},
		"too long": {
			{`INSERT t (a) VALUES ('abcdef')`, `2628: String or binary data would be truncated in table 'lab.dbo.t', column 'a'. Truncated value: 'abcde'.`},
		},
		"no such column":      {{`INSERT t (z) VALUES (1)`, `207: Invalid column name 'z'.`}},
		"twice the column":    {{`INSERT t (a, a) VALUES (1, 2)`, `264: The column name 'a' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.`}},
		"a computed column":   {{`INSERT t (c) VALUES (1)`, `271: The column "c" cannot be modified because it is either a computed column or is the result of a UNION operator.`}},
		"the identity column": {{`INSERT t (id) VALUES (1)`, `544: Cannot insert explicit value for identity column in table 't' when IDENTITY_INSERT is set to OFF.`}},
		"identities that a failure leaves out": {
			{`INSERT t (a) VALUES ('x')`, `1`},
			{`INSERT t (a) VALUES (NULL)`, `515: Cannot insert the value NULL into column 'a', table 'lab.dbo.t'; column does not allow nulls. INSERT fails.`},
			{`INSERT t (a) OUTPUT inserted.id VALUES ('y')`, `20`},
			{`SELECT SCOPE_IDENTITY()`, `20`},
		},
		"identity insert": {
			{`SET IDENTITY_INSERT t ON`, ``},
			{`INSERT t (id, a) VALUES (100, 'x')`, `1`},
			{`INSERT t (a) VALUES ('y')`, `545: Explicit value must be specified for identity column in table 't' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.`},
			{`SET IDENTITY_INSERT t OFF`, ``},
			{`INSERT t (a) OUTPUT inserted.id VALUES ('y')`, `105`},
		},
		"a primary key": {
			{`CREATE TABLE k (a int, b varchar(9), CONSTRAINT pk PRIMARY KEY (a, b))`, ``},
			{`INSERT k VALUES (1, 'x'), (1, 'x')`, `2627: Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.k'. The duplicate key value is (1, x).`},
			{`SELECT COUNT(*) FROM k`, `0`},
		},
		"a unique index": {
			{`CREATE TABLE k (a int, b int); CREATE UNIQUE INDEX u ON k (a) WHERE b > 0`, ``},
			{`INSERT k VALUES (1, 0), (1, 0), (1, 1)`, `3`},
			{`INSERT k VALUES (1, 2)`, `2601: Cannot insert duplicate key row in object 'dbo.k' with unique index 'u'. The duplicate key value is (1).`},
		},
		"duplicates that are ignored": {
			{`CREATE TABLE k (a int); CREATE UNIQUE INDEX u ON k (a) WITH (IGNORE_DUP_KEY = ON)`, ``},
			{`INSERT k VALUES (1), (2), (1)`, `2`},
		},
		"a check": {
			{`CREATE TABLE k (a int CONSTRAINT c CHECK (a > 0))`, ``},
			{`INSERT k VALUES (NULL)`, `1`},
			{`INSERT k VALUES (0)`, `547: The INSERT statement conflicted with the CHECK constraint "c". The conflict occurred in database "lab", table "dbo.k", column 'a'.`},
		},
		"a view": {
			{"CREATE VIEW v AS SELECT a AS x, b AS y FROM t WHERE b > 0 WITH CHECK OPTION", ``},
			{`INSERT v (x, y) VALUES ('x', 1)`, `1`},
			{`INSERT v (x, y) VALUES ('x', 0)`, `550: The attempted insert or update failed because the target view either specifies WITH CHECK OPTION or spans a view that specifies WITH CHECK OPTION and one or more rows resulting from the operation did not qualify under the CHECK OPTION constraint.`},
			{`UPDATE v SET x = 'z' WHERE y = 1; SELECT a, b FROM t`, `z|1`},
			{`DELETE v; SELECT COUNT(*) FROM t`, `0`},
		},
		"rowversion": {
			{`CREATE TABLE k (a int, v rowversion)`, ``},
			{`INSERT k (a) VALUES (1), (2)`, `2`},
			{`INSERT k (a, v) VALUES (3, DEFAULT)`, `1`},
			{`UPDATE k SET a = 1 WHERE a = 1; SELECT a FROM k ORDER BY v`, `2 3 1`},
			{`INSERT k (v) VALUES (0x01)`, `273: Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.`},
			{`UPDATE k SET v = 0x01`, `272: Cannot update a timestamp column.`},
		},
		"a variable": {
			{`DECLARE @v TABLE (a int IDENTITY PRIMARY KEY, b int)`, ``},
			{`INSERT @v (b) VALUES (5), (6)`, `2`},
			{`UPDATE @v SET b += 1 WHERE a = 2`, `1`},
			{`DELETE @v WHERE a = 1`, `1`},
			{`SELECT * FROM @v`, `2|7`},
		},
		"into": {
			{`SELECT id, b + 1 AS c, a INTO #n FROM t`, `0`},
			{`INSERT t (a) VALUES ('q')`, `1`},
			{`SELECT id, a INTO u FROM t; SELECT id, a FROM u`, `10|q`},
			{`INSERT u (a) OUTPUT inserted.id VALUES ('r')`, `15`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.do(table)
			w.steps(t, steps)
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	const table = `CREATE TABLE t (id int PRIMARY KEY, a varchar(5) NULL, n int NOT NULL DEFAULT 9, u int NULL);
CREATE UNIQUE INDEX x ON t (u) WHERE u IS NOT NULL; INSERT t VALUES (1, 'one', 10, 1), (2, 'two', 20, 2), (3, 'three', 30, NULL)`
	const all = `SELECT id, a, n FROM t ORDER BY id`
	for name, steps := range map[string][]step{
		"all":        {{`UPDATE t SET n = n + 1`, `3`}, {all, `1|one|11 2|two|21 3|three|31`}},
		"where":      {{`UPDATE t SET n = n * 2, a = NULL WHERE id = 2`, `1`}, {all, `1|one|10 2|NULL|40 3|three|30`}},
		"default":    {{`UPDATE t SET n = DEFAULT, a = DEFAULT WHERE id = 1`, `1`}, {all, `1|NULL|9 2|two|20 3|three|30`}},
		"compound":   {{`UPDATE t SET n += id, a += '!' WHERE id < 3`, `2`}, {all, `1|one!|11 2|two!|22 3|three|30`}},
		"swap":       {{`UPDATE t SET u = 3 - u WHERE u IS NOT NULL`, `2`}, {`SELECT id, u FROM t ORDER BY id`, `1|2 2|1 3|NULL`}},
		"shift keys": {{`UPDATE t SET id = id + 1`, `3`}, {all, `2|one|10 3|two|20 4|three|30`}},
		"old values": {{`UPDATE t SET id = n, n = id WHERE id = 1`, `1`}, {all, `2|two|20 3|three|30 10|one|1`}},
		"alias": {
			{`UPDATE x SET x.n = x.n + y.id FROM t AS x INNER JOIN t AS y ON y.id = x.id + 1`, `2`}, {all, `1|one|12 2|two|23 3|three|30`},
		},
		"joined several times": {
			{`UPDATE t SET n = v.k FROM t INNER JOIN (VALUES (1, 100), (1, 200)) AS v (i, k) ON v.i = t.id`, `1`}, {`SELECT COUNT(*) FROM t WHERE n IN (100, 200)`, `1`},
		},
		"a table beside FROM": {
			{`UPDATE t SET n = v.k FROM (VALUES (2, 5)) AS v (i, k) WHERE v.i = t.id`, `1`}, {all, `1|one|10 2|two|5 3|three|30`},
		},
		"top": {{`UPDATE TOP (2) t SET n = 0`, `2`}, {`SELECT COUNT(*) FROM t WHERE n = 0`, `2`}},
		"CTE": {{`WITH c AS (SELECT TOP (1) n, a FROM t ORDER BY n DESC) UPDATE c SET n = 0, a = 'top'`, `1`}, {all, `1|one|10 2|two|20 3|top|0`}},
		"a CTE with a join": {
			{`WITH c AS (SELECT t.n, v.k FROM t INNER JOIN (VALUES (1, 5), (1, 5)) AS v (i, k) ON v.i = t.id) UPDATE c SET n += k`, `1`}, {all, `1|one|15 2|two|20 3|three|30`},
		},
		"output": {{`UPDATE t SET n = n + 1 OUTPUT deleted.n, inserted.n, inserted.id WHERE id > 1`, `20|21|2 30|31|3`}},
		"output of a join": {
			{`UPDATE t SET n = 0 OUTPUT deleted.n, v.k FROM t INNER JOIN (VALUES (2, 'z')) AS v (i, k) ON v.i = t.id`, `20|z`},
		},
		"variables": {
			{`DECLARE @a int = 0, @b int = 0`, ``},
			{`UPDATE t SET @a = n, n = n + 1, @b = u = 7 WHERE id = 2`, `1`},
			{`SELECT @a, @b`, `20|7`},
			{all, `1|one|10 2|two|21 3|three|30`},
			{`UPDATE t SET @a = @a + 1, n = @a WHERE id = 1`, `1`},
			{all, `1|one|21 2|two|21 3|three|30`},
			{`UPDATE t SET @a = 0 WHERE id = 99`, `0`},
			{`SELECT @a`, `21`},
		},
		"null":         {{`UPDATE t SET n = NULL WHERE id = 1`, `515: Cannot insert the value NULL into column 'n', table 'lab.dbo.t'; column does not allow nulls. UPDATE fails.`}},
		"duplicate":    {{`UPDATE t SET u = 2 WHERE id = 1`, `2601: Cannot insert duplicate key row in object 'dbo.t' with unique index 'x'. The duplicate key value is (2).`}, {`SELECT u FROM t WHERE id = 1`, `1`}},
		"too long":     {{`UPDATE t SET a = 'abcdefg'`, `2628: String or binary data would be truncated in table 'lab.dbo.t', column 'a'. Truncated value: 'abcde'.`}},
		"twice":        {{`UPDATE t SET n = 1, N = 2`, `264: The column name 'n' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.`}},
		"no column":    {{`UPDATE t SET z = 1`, `207: Invalid column name 'z'.`}},
		"no table":     {{`UPDATE z SET a = 1`, `208: Invalid object name 'z'.`}},
		"ambiguous":    {{`UPDATE t SET n = 1 FROM t AS x, t AS y`, `8154: The table 't' is ambiguous.`}},
		"a parameter":  {{"CREATE TYPE l AS TABLE (a int)", ``}, {`DECLARE @p l`, ``}, {`UPDATE @p SET a = 1`, `0`}},
		"not an order": {{`WITH c AS (SELECT n, COUNT(*) AS k FROM t GROUP BY n) UPDATE c SET n = 1`, `4406: Update or insert of view or function 'c' failed because it contains a derived or constant field.`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.do(table)
			w.steps(t, steps)
		})
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	const table = `CREATE TABLE t (id int PRIMARY KEY, n int); INSERT t VALUES (1, 10), (2, 20), (3, 30)`
	for name, steps := range map[string][]step{
		"where":   {{`DELETE FROM t WHERE n > 15`, `2`}, {`SELECT id FROM t`, `1`}},
		"all":     {{`DELETE t`, `3`}},
		"alias":   {{`DELETE x FROM t AS x INNER JOIN t AS y ON y.id = x.id + 1`, `2`}, {`SELECT id FROM t`, `3`}},
		"top":     {{`DELETE TOP (1) FROM t WHERE id > 1`, `1`}, {`SELECT COUNT(*) FROM t`, `2`}},
		"CTE":     {{`WITH c AS (SELECT TOP (2) * FROM t ORDER BY n DESC) DELETE FROM c OUTPUT deleted.id, deleted.n`, `3|30 2|20`}},
		"derived": {{`DELETE d FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS k FROM t) AS d WHERE d.k = 1`, `1`}, {`SELECT id FROM t ORDER BY id`, `1 2`}},
		"output":  {{`DELETE t OUTPUT deleted.n WHERE id = 2`, `20`}},
		"truncate": {
			{`CREATE TABLE k (a int IDENTITY); INSERT k DEFAULT VALUES; INSERT k DEFAULT VALUES`, `1`},
			{`TRUNCATE TABLE k`, `0`},
			{`INSERT k OUTPUT inserted.a DEFAULT VALUES`, `1`},
			{`TRUNCATE TABLE nope`, `4701: Cannot find the object "nope" because it does not exist or you do not have permissions.`},
			{`CREATE TABLE r (a int REFERENCES t); TRUNCATE TABLE t`, `4712: Cannot truncate table 't' because it is being referenced by a FOREIGN KEY constraint.`},
		},
		"exists": {{`DELETE FROM t WHERE EXISTS (SELECT 1 FROM t AS o WHERE o.id = t.id + 1)`, `2`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.do(table)
			w.steps(t, steps)
		})
	}
}

func TestForeignKeys(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE p (id int PRIMARY KEY, x int); INSERT p VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE c (id int PRIMARY KEY, p int DEFAULT 3 CONSTRAINT f REFERENCES p%s); INSERT c VALUES (10, 1), (11, 1), (12, NULL)`
	for name, c := range map[string]struct {
		actions string
		steps   []step
	}{
		"child": {``, []step{
			{`INSERT c VALUES (13, 9)`, `547: The INSERT statement conflicted with the FOREIGN KEY constraint "f". The conflict occurred in database "lab", table "dbo.p", column 'id'.`},
			{`UPDATE c SET p = 9 WHERE id = 12`, `547: The UPDATE statement conflicted with the FOREIGN KEY constraint "f". The conflict occurred in database "lab", table "dbo.p", column 'id'.`},
			{`UPDATE c SET p = 2 WHERE id = 12`, `1`},
		}},
		"parent": {``, []step{
			{`DELETE p WHERE id = 1`, `547: The DELETE statement conflicted with the REFERENCE constraint "f". The conflict occurred in database "lab", table "dbo.c", column 'p'.`},
			{`UPDATE p SET id = 7 WHERE id = 1`, `547: The UPDATE statement conflicted with the REFERENCE constraint "f". The conflict occurred in database "lab", table "dbo.c", column 'p'.`},
			{`UPDATE p SET x = 7 WHERE id = 1`, `1`},
			{`DELETE p WHERE id = 2`, `1`},
		}},
		"cascade": {` ON DELETE CASCADE ON UPDATE CASCADE`, []step{
			{`UPDATE p SET id = 7 WHERE id = 1`, `1`},
			{`SELECT id, p FROM c ORDER BY id`, `10|7 11|7 12|NULL`},
			{`DELETE p WHERE id = 7`, `1`},
			{`SELECT id, p FROM c ORDER BY id`, `12|NULL`},
		}},
		"set null":    {` ON DELETE SET NULL`, []step{{`DELETE p WHERE id = 1`, `1`}, {`SELECT id, p FROM c ORDER BY id`, `10|NULL 11|NULL 12|NULL`}}},
		"set default": {` ON DELETE SET DEFAULT`, []step{{`DELETE p WHERE id = 1`, `1`}, {`SELECT id, p FROM c ORDER BY id`, `10|3 11|3 12|NULL`}}},
		"disabled":    {``, []step{{`ALTER TABLE c NOCHECK CONSTRAINT f`, ``}, {`INSERT c VALUES (13, 9)`, `1`}, {`DELETE p WHERE id = 1`, `1`}}},
		"itself": {``, []step{
			{`CREATE TABLE s (id int PRIMARY KEY, up int CONSTRAINT g REFERENCES s)`, ``},
			{`INSERT s VALUES (2, 1), (1, NULL), (3, 3)`, `3`},
			{`DELETE s WHERE id = 1`, `547: The DELETE statement conflicted with the SAME TABLE REFERENCE constraint "g". The conflict occurred in database "lab", table "dbo.s", column 'up'.`},
			{`DELETE s WHERE id IN (1, 2)`, `2`},
			{`INSERT s VALUES (5, 4)`, `547: The INSERT statement conflicted with the FOREIGN KEY SAME TABLE constraint "g". The conflict occurred in database "lab", table "dbo.s", column 'id'.`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			if got := w.do(replaceOnce(tables, c.actions)); got != `3` {
				t.Fatal(got)
			}
			w.steps(t, c.steps)
		})
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	const table = `CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, w varchar(5) DEFAULT 'd'); INSERT t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')`
	const source = ` USING (VALUES (2, 200), (3, 300), (4, 400)) AS s (id, n) ON s.id = t.id `
	const all = `SELECT id, n, w FROM t ORDER BY id`
	for name, steps := range map[string][]step{
		"upsert": {
			{`MERGE t` + source + `WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, s.n);`, `3`},
			{all, `1|10|a 2|200|b 3|300|c 4|400|d`},
		},
		"all of it": {
			{`MERGE INTO t AS t` + source + `WHEN MATCHED AND s.n > 250 THEN DELETE WHEN MATCHED THEN UPDATE SET n += s.n
WHEN NOT MATCHED BY TARGET THEN INSERT VALUES (id, n, DEFAULT) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET w = 'gone'
OUTPUT $action, inserted.id, deleted.id, s.n;`, `UPDATE|2|2|200 DELETE|NULL|3|300 INSERT|4|NULL|400 UPDATE|1|1|NULL`},
			{all, `1|10|gone 2|220|b 4|400|d`},
		},
		"only what is not in the source": {{`MERGE t` + source + `WHEN NOT MATCHED BY SOURCE THEN DELETE;`, `1`}, {all, `2|20|b 3|30|c`}},
		"twice": {
			{
				`MERGE t USING (VALUES (2), (2)) AS s (id) ON s.id = t.id WHEN MATCHED THEN UPDATE SET n = 0;`,
				`8672: The MERGE statement attempted to UPDATE or DELETE the same row more than once. This happens when a target row matches more than one source row. A MERGE statement cannot UPDATE/DELETE the same row of the target table multiple times. Refine the ON clause to ensure a target row matches at most one source row, or use the GROUP BY clause to group the source rows.`,
			},
		},
		"keys move": {{`MERGE t USING t AS s ON s.id = t.id WHEN MATCHED THEN UPDATE SET id = 4 - t.id;`, `3`}, {all, `1|30|c 2|20|b 3|10|a`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.do(table)
			w.steps(t, steps)
		})
	}
}

// outputBesideTrigger is the error of OUTPUT without INTO on table t while a trigger is enabled on it.
const outputBesideTrigger = `334: The target table 't' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT clause without INTO clause.`

func TestTriggers(t *testing.T) {
	t.Parallel()
	const tables = "CREATE TABLE t (id int PRIMARY KEY, n int); CREATE TABLE log (no int IDENTITY, what varchar(20), i int, d int)\nGO\n"
	for name, c := range map[string]struct {
		trigger string
		steps   []step
	}{
		"after insert": {"CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log (what, i) SELECT 'ins', SUM(n) FROM inserted", []step{
			{`INSERT t VALUES (1, 10), (2, 20)`, `2`}, {`INSERT t SELECT 9, 9 WHERE 1 = 0`, `0`}, {`SELECT what, i FROM log ORDER BY no`, `ins|30 ins|NULL`},
		}},
		"after update": {"CREATE TRIGGER tr ON t AFTER UPDATE AS INSERT log (what, i, d) SELECT 'upd', i.n, d.n FROM inserted AS i INNER JOIN deleted AS d ON d.id = i.id", []step{
			{`INSERT t VALUES (1, 10), (2, 20)`, `2`}, {`UPDATE t SET n += 1`, `2`}, {`SELECT what, i, d FROM log ORDER BY no`, `upd|11|10 upd|21|20`},
		}},
		"after delete": {"CREATE TRIGGER tr ON t AFTER DELETE AS INSERT log (what, d) SELECT 'del', n FROM deleted", []step{
			{`INSERT t VALUES (1, 10)`, `1`}, {`DELETE t`, `1`}, {`SELECT what, d FROM log`, `del|10`},
		}},
		"a change of its own": {"CREATE TRIGGER tr ON t AFTER INSERT AS UPDATE t SET n = t.n * 2 FROM t INNER JOIN inserted AS i ON i.id = t.id", []step{
			{`INSERT t VALUES (1, 10)`, `1`},
			{`SELECT * FROM t`, `1|20`},
			{`INSERT t OUTPUT inserted.n VALUES (2, 5)`, `334: The target table 't' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT clause without INTO clause.`},
		}},
		"output beside a trigger": {"CREATE TRIGGER tr ON t AFTER UPDATE, DELETE AS INSERT log (what) VALUES ('x')", []step{
			{`INSERT t OUTPUT inserted.n VALUES (1, 5)`, `5`},
			{`UPDATE t SET n = 6 OUTPUT inserted.n`, outputBesideTrigger},
			{`UPDATE t SET n = 6 OUTPUT inserted.n WHERE 1 = 0`, outputBesideTrigger},
			{`DELETE t OUTPUT deleted.n`, outputBesideTrigger},
			{`DECLARE @n TABLE (n int); UPDATE t SET n = 7 OUTPUT inserted.n INTO @n; SELECT n FROM @n`, `7`},
			{`DECLARE @n TABLE (n int); UPDATE t SET n = 7 OUTPUT inserted.n INTO @n OUTPUT inserted.n`, outputBesideTrigger},
			{`WITH c AS (SELECT n FROM t) UPDATE c SET n = 8 OUTPUT inserted.n`, outputBesideTrigger},
			{`MERGE t USING (SELECT 2 AS id) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (2, 8) OUTPUT inserted.n;`, `8`},
			{`MERGE t USING (SELECT 2 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE OUTPUT deleted.n;`, outputBesideTrigger},
			{`DISABLE TRIGGER tr ON t; UPDATE t SET n = 9 OUTPUT inserted.n WHERE id = 1`, `9`},
		}},
		"output beside an instead of trigger": {"CREATE TRIGGER tr ON t INSTEAD OF INSERT AS RETURN", []step{
			{`INSERT t OUTPUT inserted.n VALUES (1, 5)`, outputBesideTrigger},
		}},
		"instead of insert": {"CREATE TRIGGER tr ON t INSTEAD OF INSERT AS INSERT t SELECT id, n + 1 FROM inserted", []step{
			{`INSERT t VALUES (1, 10)`, `1`}, {`SELECT * FROM t`, `1|11`},
		}},
		"instead of delete": {"CREATE TRIGGER tr ON t INSTEAD OF DELETE AS UPDATE t SET n = -1 WHERE id IN (SELECT id FROM deleted)", []step{
			{`INSERT t VALUES (1, 10), (2, 20)`, `2`}, {`DELETE t WHERE id = 1`, `1`}, {`SELECT * FROM t ORDER BY id`, `1|-1 2|20`},
		}},
		"a view": {"CREATE VIEW v AS SELECT id, n + 1 AS m FROM t\nGO\nCREATE TRIGGER tr ON v INSTEAD OF INSERT, UPDATE AS INSERT t SELECT id, m - 1 FROM inserted", []step{
			{`INSERT v OUTPUT inserted.m VALUES (1, 11)`, `334: The target table 'v' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT clause without INTO clause.`},
			{`INSERT v (id, m) VALUES (1, 10)`, `1`},
			{`SELECT * FROM t`, `1|9`},
			{`UPDATE v SET id = id + 1, m = 5`, `1`},
			{`SELECT * FROM t ORDER BY id`, `1|9 2|4`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			if got := w.do(tables + c.trigger); got != `` {
				t.Fatal(got)
			}
			w.steps(t, c.steps)
		})
	}
}
