package tsqltest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

const employees = `
	CREATE TABLE dbo.emp (
		id INT NOT NULL PRIMARY KEY, name VARCHAR(10) NOT NULL,
		vf DATETIME2(0) GENERATED ALWAYS AS ROW START HIDDEN, vt DATETIME2(0) GENERATED ALWAYS AS ROW END HIDDEN,
		PERIOD FOR SYSTEM_TIME (vf, vt)
	) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.past));
	`

// table returns the rows of the last set of a batch, one to a line.
func table(t *testing.T, conn *tsqltest.Conn, batch string) string {
	t.Helper()
	sets := must(t, conn, batch).Sets
	var lines []string
	for _, row := range sets[len(sets)-1].Rows {
		lines = append(lines, strings.Trim(fmt.Sprint(row), "[]"))
	}
	return strings.Join(lines, "\n")
}

// TestVersions: what changes is kept with the time of its transaction, and FOR SYSTEM_TIME finds it again.
func TestVersions(t *testing.T) {
	t.Parallel()
	clock := tsqltest.NewClock(time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC))
	conn := session(t, tsqltest.New(t, tsqltest.Options{Clock: clock}))
	must(t, conn, employees)
	must(t, conn, "INSERT dbo.emp VALUES (1, 'ada'), (2, 'bob')")
	clock.Advance(time.Hour) // 13:00
	must(t, conn, "BEGIN TRANSACTION")
	clock.Advance(time.Hour) // the transaction began at 13:00
	must(t, conn, "UPDATE dbo.emp SET name = 'eve' WHERE id = 1; UPDATE dbo.emp SET name = 'eva' WHERE id = 1; COMMIT")
	must(t, conn, "DELETE dbo.emp WHERE id = 2") // 14:00
	must(t, conn, "INSERT dbo.emp VALUES (3, 'cid'); MERGE dbo.emp AS t USING (VALUES (3), (4)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = 'zoe' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (4, 'max');")
	must(t, conn, "CREATE VIEW dbo.names AS SELECT e.* FROM dbo.emp AS e WHERE e.id < 3") //nolint:unqueryvet // hidden columns are none of them
	const query = "SELECT e.id, e.name, FORMAT(e.vf, 'HH'), FORMAT(e.vt, 'HH') FROM dbo.emp %s AS e ORDER BY e.id, e.vf, e.vt"
	for _, c := range []struct{ clause, want string }{
		{"", "1 eva 13 23\n3 zoe 14 23\n4 max 14 23"},
		{"FOR SYSTEM_TIME ALL", "1 ada 12 13\n1 eva 13 23\n2 bob 12 14\n3 zoe 14 23\n4 max 14 23"},
		{"FOR SYSTEM_TIME AS OF '2024-01-01 12:30'", "1 ada 12 13\n2 bob 12 14"},
		{"FOR SYSTEM_TIME AS OF '2024-01-01 13:00'", "1 eva 13 23\n2 bob 12 14"},
		{"FOR SYSTEM_TIME AS OF '2024-01-01 11:00'", ""},
		{"FOR SYSTEM_TIME FROM '2024-01-01 13:00' TO '2024-01-01 14:00'", "1 eva 13 23\n2 bob 12 14"},
		{"FOR SYSTEM_TIME BETWEEN '2024-01-01 13:00' AND '2024-01-01 14:00'", "1 eva 13 23\n2 bob 12 14\n3 zoe 14 23\n4 max 14 23"},
		{"FOR SYSTEM_TIME CONTAINED IN ('2024-01-01 12:00', '2024-01-01 14:00')", "1 ada 12 13\n2 bob 12 14"},
	} {
		if got := table(t, conn, fmt.Sprintf(query, c.clause)); got != c.want {
			t.Errorf("%s finds\n%s\nwant\n%s", c.clause, got, c.want)
		}
	}
	for _, c := range []struct{ batch, want string }{
		{"DECLARE @t DATETIME2 = '2024-01-01 12:30'; SELECT * FROM dbo.names FOR SYSTEM_TIME AS OF @t ORDER BY id", "1 ada\n2 bob"},
		{"SELECT name, FORMAT(vf, 'HH'), FORMAT(vt, 'HH') FROM dbo.past ORDER BY id, vf, vt, name", "ada 12 13\neve 13 13\nbob 12 14\ncid 14 14"},
		{"SELECT o.name, e.name FROM dbo.emp AS e JOIN dbo.emp FOR SYSTEM_TIME AS OF '2024-01-01 12:00' AS o ON o.id = e.id", "ada eva"},
		{"SELECT name, temporal_type_desc, OBJECT_NAME(history_table_id) FROM sys.tables ORDER BY name", "emp SYSTEM_VERSIONED_TEMPORAL_TABLE past" + "\n" + "past HISTORY_TABLE <nil>"},
		{"SELECT name, generated_always_type_desc, is_hidden FROM sys.columns WHERE object_id = OBJECT_ID('dbo.emp') AND column_id > 2", "vf AS_ROW_START true\nvt AS_ROW_END true"},
		{"SELECT OBJECT_NAME(object_id), name, start_column_id, end_column_id FROM sys.periods", "emp SYSTEM_TIME 3 4"},
		{"SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.past')", "ix_past CLUSTERED"},
	} {
		if got := table(t, conn, c.batch); got != c.want {
			t.Errorf("%s finds\n%s\nwant\n%s", c.batch, got, c.want)
		}
	}
	clock.Set(time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC))
	_, err := conn.Exec(t.Context(), "UPDATE dbo.emp SET name = 'old' WHERE id = 1")
	wantError(t, err, 13535)
	if got := table(t, conn, "SELECT COUNT(*) FROM dbo.past"); got != "4" {
		t.Errorf("an update that has failed leaves %s versions, want 4", got)
	}
}

// TestVersionedDefinitions: a history has the columns of its table, and follows their changes.
func TestVersionedDefinitions(t *testing.T) {
	t.Parallel()
	const off = "ALTER TABLE dbo.emp SET (SYSTEM_VERSIONING = OFF);"
	columns := "SELECT STRING_AGG(name + ' ' + TYPE_NAME(user_type_id) + IIF(is_nullable = 1, ' NULL', ''), ', ') WITHIN GROUP (ORDER BY column_id) FROM sys.columns WHERE object_id = OBJECT_ID('dbo.past')"
	answers(t, []answer{
		{employees + columns, "id int, name varchar, vf datetime2, vt datetime2"},
		{employees + "INSERT dbo.emp VALUES (1, 'a'); UPDATE dbo.emp SET name = 'b'; ALTER TABLE dbo.emp ADD n INT NOT NULL DEFAULT 7; SELECT n FROM dbo.past", "7"},
		{employees + "ALTER TABLE dbo.emp ALTER COLUMN name VARCHAR(20) NOT NULL; ALTER TABLE dbo.emp ADD b BIT NULL; ALTER TABLE dbo.emp DROP COLUMN b;" + columns, "id int, name varchar, vf datetime2, vt datetime2"},
		{employees + off + "SELECT temporal_type + COUNT(*) OVER () FROM sys.tables WHERE name = 'emp'", "1"},
		{employees + off + "DROP TABLE dbo.past; DROP TABLE dbo.emp; SELECT 1", "1"},
		{employees + off + "INSERT dbo.past VALUES (9, 'x', '2020-01-01', '2021-01-01'); ALTER TABLE dbo.emp SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.past)); SELECT name FROM dbo.emp FOR SYSTEM_TIME AS OF '2020-06-01'", "x"},
		{employees + off + "ALTER TABLE dbo.emp DROP PERIOD FOR SYSTEM_TIME; UPDATE dbo.emp SET vf = '2020-01-01'; ALTER TABLE dbo.emp ADD PERIOD FOR SYSTEM_TIME (vf, vt); SELECT COUNT(*) FROM sys.periods", "1"},
		{"CREATE TABLE dbo.e (id INT PRIMARY KEY); INSERT dbo.e VALUES (1); ALTER TABLE dbo.e ADD a DATETIME2 GENERATED ALWAYS AS ROW START NOT NULL DEFAULT '2020-01-01', b DATETIME2 GENERATED ALWAYS AS ROW END NOT NULL DEFAULT '9999-12-31 23:59:59.9999999', PERIOD FOR SYSTEM_TIME (a, b); ALTER TABLE dbo.e SET (SYSTEM_VERSIONING = ON); SELECT IIF(OBJECT_NAME(history_table_id) = CONCAT('MSSQL_TemporalHistoryFor_', object_id), 'yes', 'no') FROM sys.tables WHERE name = 'e'", "yes"},
		{"CREATE TABLE dbo.e (id INT PRIMARY KEY, a DATETIME2 GENERATED ALWAYS AS ROW START, b DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)); INSERT dbo.e VALUES (1, DEFAULT, DEFAULT), (2, DEFAULT, DEFAULT); SELECT COUNT(*) FROM dbo.e WHERE b = '9999-12-31 23:59:59.9999999'", "2"},
		{"CREATE TABLE dbo.p (id INT PRIMARY KEY); INSERT dbo.p VALUES (1);" + employees + "ALTER TABLE dbo.emp ADD p INT NULL REFERENCES dbo.p ON DELETE SET NULL; INSERT dbo.emp VALUES (1, 'a', 1); DELETE dbo.p; SELECT p FROM dbo.past", "1"},

		{employees + "INSERT dbo.emp (id, name, vf) VALUES (1, 'a', '2020-01-01')", "13536: Cannot insert an explicit value into a GENERATED ALWAYS column in table 'test.dbo.emp'. Use INSERT with a column list to exclude the GENERATED ALWAYS column, or insert a DEFAULT into GENERATED ALWAYS column."},
		{employees + "UPDATE dbo.emp SET vt = '2020-01-01'", "13537: Cannot update GENERATED ALWAYS columns in table 'test.dbo.emp'."},
		{employees + "INSERT dbo.past VALUES (1, 'a', '2020-01-01', '2020-01-01')", "13559: Cannot insert rows in a temporal history table 'test.dbo.past'."},
		{employees + "DELETE dbo.emp OUTPUT deleted.id, deleted.name, deleted.vf, deleted.vt INTO dbo.past", "13559: Cannot insert rows in a temporal history table 'test.dbo.past'."},
		{employees + "DELETE dbo.past", "13560: Cannot delete rows from a temporal history table 'test.dbo.past'."},
		{employees + "UPDATE dbo.past SET name = 'a'", "13561: Cannot update rows in a temporal history table 'test.dbo.past'."},
		{employees + "TRUNCATE TABLE dbo.emp", "13545: Truncate failed on table 'test.dbo.emp' because it is not a supported operation on system-versioned tables."},
		{employees + "DROP TABLE dbo.emp", "13552: Drop table operation failed on table 'test.dbo.emp' because it is not a supported operation on system-versioned temporal tables."},
		{employees + "ALTER TABLE dbo.past ADD a INT", "13550: Add column operation failed on table 'test.dbo.past' because it is not a supported operation on system-versioned temporal tables."},
		{employees + "ALTER TABLE dbo.emp DROP COLUMN vf", "13588: Column 'vf' in table 'test.dbo.emp' cannot be dropped because it is a part of period definition."},
		{employees + "ALTER TABLE dbo.emp DROP PERIOD FOR SYSTEM_TIME", "13592: Cannot drop SYSTEM_TIME period from table 'test.dbo.emp' when SYSTEM_VERSIONING is ON."},
		{employees + "SELECT 1 FROM dbo.past FOR SYSTEM_TIME ALL", "13544: Temporal FOR SYSTEM_TIME clause can only be used with system-versioned tables. 'test.dbo.past' is not a system-versioned table."},
		{employees + "SELECT 1 FROM dbo.emp FOR SYSTEM_TIME AS OF SYSUTCDATETIME()", "102: Incorrect syntax near 'SYSUTCDATETIME()'."},
		{employees + "ALTER TABLE dbo.emp SET (SYSTEM_VERSIONING = ON)", "13596: SYSTEM_VERSIONING is already turned ON for table 'test.dbo.emp'."},
		{employees + off + off, "13591: SYSTEM_VERSIONING is not turned ON for table 'test.dbo.emp'."},
		{employees + off + "INSERT dbo.past VALUES (9, 'x', '2021-01-01', '2020-01-01'); ALTER TABLE dbo.emp SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.past))", "13541: Setting SYSTEM_VERSIONING to ON failed because history table 'test.dbo.past' contains invalid records with end of period set before start."},
		{employees + off + "INSERT dbo.past VALUES (9, 'x', '2020-01-01', '2022-01-01'), (9, 'y', '2021-01-01', '2023-01-01'); ALTER TABLE dbo.emp SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.past))", "13573: Setting SYSTEM_VERSIONING to ON failed because history table 'test.dbo.past' contains overlapping records."},
		{employees + off + "INSERT dbo.emp VALUES (1, 'a'); ALTER TABLE dbo.emp DROP PERIOD FOR SYSTEM_TIME; UPDATE dbo.emp SET vf = '9000-01-01'; ALTER TABLE dbo.emp ADD PERIOD FOR SYSTEM_TIME (vf, vt)", "13542: ADD PERIOD FOR SYSTEM_TIME on table 'test.dbo.emp' failed because there are open records with start of period set to a value in the future."},
		{"CREATE TABLE dbo.e (id INT, a DATETIME2 GENERATED ALWAYS AS ROW START)", "13509: Cannot create generated always column when SYSTEM_TIME period is not defined."},
		{"CREATE TABLE dbo.e (id INT, a DATETIME GENERATED ALWAYS AS ROW START, b DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b))", "13501: Temporal generated always column 'a' has invalid data type."},
		{"CREATE TABLE dbo.e (id INT, a DATETIME2 GENERATED ALWAYS AS ROW START, b DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)) WITH (SYSTEM_VERSIONING = ON)", "13553: System versioned temporal table 'test.dbo.e' must have primary key defined."},
		{"CREATE TABLE dbo.e (id INT PRIMARY KEY) WITH (SYSTEM_VERSIONING = ON)", "13510: Cannot set SYSTEM_VERSIONING to ON when SYSTEM_TIME period is not defined."},
		{"CREATE TABLE dbo.e (id INT PRIMARY KEY, a DATETIME2 GENERATED ALWAYS AS ROW START, b DATETIME2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (a, b)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = past))", "13539: Setting SYSTEM_VERSIONING to ON failed because history table 'past' is not specified in two-part name format."},
		{"DECLARE @t TABLE (a DATETIME2 GENERATED ALWAYS AS ROW START)", "13572: Creating table variables containing PERIOD is not allowed."},
	})
}

// TestVersionsOfComputedColumns: a history has the columns of its table, those that are computed as ordinary ones
// ("Creating a temporal table": the history is aligned with the current table in names and types of columns). So an old
// version keeps the value of the time, however the row was changed.
func TestVersionsOfComputedColumns(t *testing.T) {
	t.Parallel()
	const period = `s DATETIME2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL, u DATETIME2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (s, u)`
	const table = `CREATE TABLE dbo.p (n INT NOT NULL PRIMARY KEY, x INT NOT NULL, ten AS x * 10, hundred AS x * 100 PERSISTED, tag AS CONCAT('x', x), ` + period + `)`
	const on = `ALTER TABLE dbo.p SET (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.ph))`
	setup := []exchange{{table, ``}, {on, ``}, {`INSERT dbo.p (n, x) VALUES (1, 1), (2, 2)`, ``}}
	for name, list := range map[string][]exchange{
		"UPDATE": {{`UPDATE dbo.p SET x = 7 WHERE n = 1`, ``}, {`SELECT n, x, ten, hundred, tag FROM dbo.ph`, `1|1|10|100|x1`}},
		"UPDATE of keys": {
			{`UPDATE dbo.p SET n = n + 1, x = x + 6 OUTPUT deleted.ten, inserted.ten`, `10|70, 20|80`},
			{`SELECT ten, hundred, tag FROM dbo.ph ORDER BY n`, `10|100|x1, 20|200|x2`},
		},
		"DELETE": {{`DELETE dbo.p OUTPUT deleted.ten WHERE n = 2`, `20`}, {`SELECT ten, hundred, tag FROM dbo.ph`, `20|200|x2`}},
		"MERGE": {
			{`MERGE dbo.p AS t USING (VALUES (1), (3)) AS s (n) ON t.n = s.n WHEN MATCHED THEN UPDATE SET x = 5 WHEN NOT MATCHED THEN INSERT (n, x) VALUES (3, 3)
				WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT deleted.ten, inserted.ten;`, `10|50, NULL|30, 20|NULL`},
			{`SELECT ten, tag FROM dbo.ph ORDER BY n`, `10|x1, 20|x2`},
		},
		"a cascade": {
			{`CREATE TABLE dbo.c (n INT NOT NULL PRIMARY KEY, p INT NULL REFERENCES dbo.p (n) ON DELETE SET NULL, twice AS p * 2, ` + period + `) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.ch))`, ``},
			{`INSERT dbo.c (n, p) VALUES (1, 2); DELETE dbo.p; SELECT n, p, twice FROM dbo.ch; SELECT n, p, twice FROM dbo.c`, `1|2|4; 1|NULL|NULL`},
		},
		"read through the table": {{`DELETE dbo.p`, ``}, {`SELECT n, ten, tag FROM dbo.p FOR SYSTEM_TIME ALL ORDER BY n`, `1|10|x1, 2|20|x2`}},
		"a plan from before": {
			{`ALTER TABLE dbo.p SET (SYSTEM_VERSIONING = OFF)`, ``},
			{`CREATE PROCEDURE dbo.up AS UPDATE dbo.p SET x += 1`, ``},
			{`EXEC dbo.up`, ``},
			{on, ``},
			{`EXEC dbo.up; SELECT ten FROM dbo.ph ORDER BY n`, `20, 30`},
		},
		"a column that is added later": {
			{`ALTER TABLE dbo.p SET (SYSTEM_VERSIONING = OFF); ALTER TABLE dbo.p ADD minus AS -x; ALTER TABLE dbo.ph ADD minus INT NULL`, ``},
			{on, ``},
			{`DELETE dbo.p; SELECT minus FROM dbo.ph ORDER BY n`, `-1, -2`},
		},
		"an expression that fails": {
			{`ALTER TABLE dbo.p SET (SYSTEM_VERSIONING = OFF); ALTER TABLE dbo.p ADD part AS 10 / (x - 1); ALTER TABLE dbo.ph ADD part INT NULL`, ``},
			{on, ``},
			{`DELETE dbo.p`, `[The statement has been terminated.]; 8134 :1 Divide by zero error encountered.`},
			{`SELECT COUNT(*) FROM dbo.p; SELECT COUNT(*) FROM dbo.ph`, `2; 0`},
		},
		"the columns": {{
			`SELECT name, is_computed, is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.ph') AND name <> 'tag' ORDER BY column_id`,
			`n|false|false, x|false|false, ten|false|true, hundred|false|true, s|false|false, u|false|false`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exchanges(t, append(slices.Clone(setup), list...))
		})
	}
}
