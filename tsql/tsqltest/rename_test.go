package tsqltest_test

import "testing"

// sp_rename without a type finds an object, a column, an index or a type by its name alone.
func TestRenameWithoutAType(t *testing.T) {
	t.Parallel()
	const caution = "[Caution: Changing any part of an object name could break scripts and stored procedures.]"
	exchanges(t, []exchange{
		{"CREATE TABLE dbo.t (a INT, b INT, INDEX i (a)); CREATE TYPE dbo.code FROM CHAR(3)", ""},
		{"EXEC sp_rename 'dbo.t.a', 'first'", caution},
		{"EXEC sp_rename 't.b', 'second'", caution},
		{"EXEC sp_rename 'dbo.t.i', 'by_first'", caution},
		{"EXEC sp_rename 'dbo.code', 'short'", caution},
		{"EXEC sp_rename 'dbo.t', 'u'", caution},
		{"SELECT first, second FROM dbo.u WITH (INDEX (by_first)) WHERE first = 1; DECLARE @x dbo.short", ""},
		{
			"EXEC sp_rename 'dbo.u.nothing', 'x'",
			"15225 :1 No item by the name of 'dbo.u.nothing' could be found in the current database 'test', given that @itemtype was input as '(null)'.",
		},
	})
}

// A column of a filtered index can be renamed, unless the filter names it.
func TestRenameColumnOfFilteredIndex(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE TABLE dbo.t (a INT, b INT, c INT); CREATE UNIQUE INDEX i ON dbo.t (a) INCLUDE (c) WHERE b = 1", ""},
		{"EXEC sp_rename 'dbo.t.a', 'key', 'COLUMN'", "[Caution: Changing any part of an object name could break scripts and stored procedures.]"},
		{"EXEC sp_rename 'dbo.t.c', 'value', 'COLUMN'", "[Caution: Changing any part of an object name could break scripts and stored procedures.]"},
		{
			"EXEC sp_rename 'dbo.t.b', 'flag', 'COLUMN'",
			"15336 :1 Object 'dbo.t.b' cannot be renamed because the object participates in enforced dependencies.",
		},
	})
}

// A column that refers to another table may become NOT NULL and nullable again, but not of another type; nor may the
// column that it refers to change.
func TestAlterColumnOfForeignKey(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE TABLE dbo.p (a CHAR(1) NOT NULL CONSTRAINT u UNIQUE); INSERT INTO dbo.p VALUES ('x')", ""},
		{"CREATE TABLE dbo.t (a CHAR(1) NULL CONSTRAINT f REFERENCES dbo.p (a)); INSERT INTO dbo.t VALUES ('x'), (NULL)", ""},
		{
			"ALTER TABLE dbo.t ALTER COLUMN a CHAR(1) NOT NULL",
			"[The statement has been terminated.]; 515 :1 Cannot insert the value NULL into column 'a', table 'test.dbo.t'; column does not allow nulls. UPDATE fails.",
		},
		{"DELETE FROM dbo.t WHERE a IS NULL; ALTER TABLE dbo.t ALTER COLUMN a CHAR(1) NOT NULL", ""},
		{"SELECT is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t')", "false"},
		{"ALTER TABLE dbo.t ALTER COLUMN a CHAR(1) NULL", ""},
		{
			"ALTER TABLE dbo.t ALTER COLUMN a CHAR(2) NULL",
			"5074 :1 The object 'f' is dependent on column 'a'.; 4922 :1 ALTER TABLE ALTER COLUMN a failed because one or more objects access this column.",
		},
		{
			"ALTER TABLE dbo.p ALTER COLUMN a CHAR(1) NULL",
			"5074 :1 The object 'u' is dependent on column 'a'.; 4922 :1 ALTER TABLE ALTER COLUMN a failed because one or more objects access this column.",
		},
	})
}
